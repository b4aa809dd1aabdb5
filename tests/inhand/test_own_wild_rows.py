"""Rows of a recording in hand that jump away from their neighbours, and rows in which a sensor is
stuck, are left out by their number."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.inhand.own.prepare import read_own_recording

FORCE = "contact_force_index_z"
EXAMPLE = Path(__file__).parents[2] / "examples/estimate"


def _of_the_example(change):
    rows = pd.read_csv(EXAMPLE / "recording.csv", comment="#")
    change(rows)
    return read_own_recording(rows, EXAMPLE / "hull.csv", EXAMPLE / "noise.yaml")


@pytest.mark.parametrize("off", [[40, 90], [40, 41, 90]])
@pytest.mark.parametrize(
    "columns",
    [["object_position_x"], ["object_orientation_y"], ["contact_force_index_z"]],
)
def test_rows_that_jump_away_and_back_are_left_out_by_their_number(columns, off):
    def spoil(rows):
        rows.loc[off, columns] += 0.1 if "force" not in columns[0] else 8.0

    spoiled, clean = _of_the_example(spoil), _of_the_example(lambda rows: None)
    assert spoiled.lost == clean.lost + len(off)
    assert not any("jump" in line for line in clean.warnings)
    (named,) = [line for line in spoiled.warnings if "jump" in line]
    assert named.startswith(f"{len(off)} rows jump away") and "the first is row 41" in named


def _repeats(rows, until=59):
    force = [f"contact_force_index_{axis}" for axis in "xyz"]
    rows.loc[50:until, force] = rows.loc[50, force].to_numpy()


def _saturates(rows, at=0.9):
    force = rows["contact_force_index_z"]
    rows["contact_force_index_z"] = force.clip(upper=force.quantile(at))


@pytest.mark.parametrize(
    ("spoil", "name"), [(_repeats, "contact_force_index"), (_saturates, "contact_force_index_z")]
)
def test_a_sensor_that_repeats_itself_or_is_at_its_limit_is_left_out_by_rows(spoil, name):
    spoiled, clean = _of_the_example(spoil), _of_the_example(lambda rows: None)
    (named,) = [line for line in spoiled.warnings if "stays the same" in line]
    assert named.startswith(f"{name} stays the same in {spoiled.lost - clean.lost} rows")
    assert spoiled.lost > clean.lost and not any("stays" in line for line in clean.warnings)


@pytest.mark.parametrize(
    "spoil", [lambda rows: _repeats(rows, 170), lambda rows: _saturates(rows, 0.4)]
)
def test_a_sensor_that_mostly_repeats_itself_or_is_at_its_limit_is_refused(spoil):
    with pytest.raises(ContactIdError, match=r"contact_force_index\S* stays the same in"):
        _of_the_example(spoil)


def test_what_steps_and_stays_is_no_jump():
    def step(rows):
        rows.loc[75:, "contact_force_index_z"] += 8.0

    def round_off(rows):
        rows["object_position_x"] = rows["object_position_x"].round(2)

    def slower_sensor(rows):
        force = [name for name in rows if name.startswith("contact_force")]
        rows[force] = rows.loc[rows.index // 10 * 10, force].to_numpy()

    for change in (step, round_off, slower_sensor):
        told = _of_the_example(change).warnings
        assert not any("jump" in line or "stays the same" in line for line in told)


def _without(columns):
    def spoil(rows):
        rows.loc[50:52, columns] = float("nan")

    return spoil


POSE = [f"object_position_{axis}" for axis in "xyz"]
TURN = [f"object_orientation_{part}" for part in "wxyz"]


@pytest.mark.parametrize("columns", [TURN[:1], TURN, POSE + TURN, [*POSE, *TURN, FORCE]])
def test_rows_that_lack_an_orientation_are_lost_alone(columns):
    spoiled, clean = _of_the_example(_without(columns)), _of_the_example(lambda rows: None)
    assert spoiled.lost == clean.lost + 3
    assert "3 rows lack a number, the first is row 51." in spoiled.notes


def _of_one_sensor(change):
    """Of a wrist's force and torque, at 50 rows a second."""
    turned = Rotation.from_rotvec(np.outer(np.sin(np.arange(200) / 15.0), [0.8, 0.5, -0.3]))
    force = turned.inv().apply([0.0, 0.0, 9.81]) + np.random.default_rng(0).normal(size=(200, 3))
    rows = pd.DataFrame({"time": np.arange(200) / 50.0})
    rows[POSE] = np.random.default_rng(1).normal(0.0, 1e-4, (200, 3))
    rows[TURN] = turned.as_quat(scalar_first=True)
    for i, axis in enumerate("xyz"):
        rows[f"contact_position_wrist_{axis}"] = 0.0
        rows[f"contact_force_wrist_{axis}"] = force[:, i]
        rows[f"contact_torque_wrist_{axis}"] = 0.01 * force[:, i - 1]
    change(rows)
    return read_own_recording(rows, EXAMPLE / "hull.csv", EXAMPLE / "noise.yaml")


@pytest.mark.parametrize("channel", ["contact_force_wrist_x", "contact_torque_wrist_z"])
def test_a_dead_channel_of_a_single_sensor_is_refused_by_its_name(channel):
    def die(rows):
        rows[channel] = 0.0

    with pytest.raises(ContactIdError, match=f"{channel} is 0 in 200 of 200 rows"):
        _of_one_sensor(die)
    # a sensor beside the object is no doubt, nor is one without torques
    assert _of_one_sensor(lambda rows: None).warnings == ()


def test_poses_that_are_held_for_most_rows_are_used_once_each():
    """Of a camera beside a sensor that is fifteen times as fast; those of a still object are kept."""

    def hold(every):
        def change(rows):
            rows[POSE + TURN] = rows[POSE + TURN].to_numpy()[np.arange(200) // every * every]

        return change

    assert _of_one_sensor(hold(8)).lost == 200 - 25
    assert _of_one_sensor(hold(200)).lost == 0

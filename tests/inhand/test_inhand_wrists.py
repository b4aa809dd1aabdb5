"""Recordings of wrists as published: two layouts read alike, and masses against a linear fit, on
files made of a body that is known.
"""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.inhand.artefacts.wrists import draw_wrists, wrist_tables
from contactid.inhand.own.wrists import THINNED, own_table, sensor_turn, write_wrists
from contactid.inhand.readers.wrist import RATE, read_wrist, recordings_of, wrist_signals
from contactid.sources.motion import write_dataset

MASS, CENTER, GRAVITY = 1.3, np.array([0.01, -0.02, 0.1]), 9.81
ZERO = np.array([1.5, -2.0, 17.0, 0.1, -0.2, 0.05])  # of the sensor, as large as a real one
TURN = Rotation.from_euler("zyx", [130.0, 4.0, -3.0], degrees=True)  # hand to sensor
LOST = 49  # row of a moved recording
HERE = {"source": "here", "licence": "none"}


def sensed(to_world: Rotation) -> np.ndarray:
    """(n, 6) what a sensor whose axes these turn into the world shows of the weight."""
    weight = to_world.inv().apply([0.0, 0.0, -MASS * GRAVITY])
    return np.column_stack([weight, np.cross(CENTER, weight)]) + ZERO


def write_motion(folder, samples=16000, name="one") -> None:
    """A slow turn of the hand, by 20 degrees/s at most, at a place that stays."""
    time = np.arange(samples) / RATE
    angles = np.column_stack([0.8 * np.sin(0.4 * time), 0.6 * np.sin(0.5 * time), 0.05 * time])
    hand = Rotation.from_euler("xyz", angles)
    place = np.broadcast_to([0.4, 0.0, 0.5], (samples, 3))
    noise = 0.1 * np.random.default_rng(1).normal(size=(samples, 6)) * [1, 1, 1, 0.1, 0.1, 0.1]
    wrench = sensed(hand * TURN.inv()) + noise
    none = np.zeros((samples, 3))
    rows = np.column_stack([place, none, hand.as_quat(scalar_first=True), none, wrench])
    lines = ["position\taccelerometer", *(" ".join(f"{x:.9g}" for x in row) for row in rows)]
    lines[LOST + 1] = "0.1 0.2"  # a row that lacks numbers, below the header
    (folder / f"data_file_{name}.txt").write_text("\n".join(lines) + "\n")


def write_poses(folder, count=40, name="") -> None:
    to_base = Rotation.random(count, random_state=np.random.default_rng(2))
    wrench = sensed(to_base)
    in_base = np.column_stack([to_base.apply(wrench[:, part]) for part in np.s_[:3, 3:]])
    pose = np.column_stack([np.zeros((count, 3)), to_base.as_quat()])
    for kind, values in (("pose", pose), ("wrench", in_base)):
        np.savetxt(folder / f"recorded_messages_{kind}{name}.txt", values, delimiter=", ")


def test_both_layouts_give_what_acts_on_the_payload_in_the_sensors_axes(tmp_path):
    for write, still in ((write_motion, False), (write_poses, True)):
        folder = tmp_path / write.__name__
        folder.mkdir()
        write(folder)
        wrist = read_wrist(folder, **HERE)
        assert wrist.attrs["aligned"] == still
        assert np.isnan(wrist["time"].values).all() == still
        to_world = Rotation.from_quat(wrist["orientation"].values, scalar_first=True)
        expected = -sensed(to_world if still else to_world * TURN.inv())
        assert wrist["wrench"].values == pytest.approx(expected, abs=1e-9 if still else 0.6)
        assert wrist_signals(wrist).recordings == 1


def test_rows_that_lack_numbers_are_left_out_and_recordings_keep_apart(tmp_path):
    write_motion(tmp_path, 300, "a")
    write_motion(tmp_path, 200, "b")
    found = recordings_of(read_wrist(tmp_path, **HERE))
    assert {name: one.sizes["sample"] for name, one in found.items()} == {"a": 299, "b": 199}
    assert all(one["time"].values[0] == 0.0 for one in found.values())


def test_a_row_that_is_left_out_took_its_time(tmp_path):
    write_motion(tmp_path, 300)
    rows = read_wrist(tmp_path, **HERE)["time"].values * RATE
    assert rows == pytest.approx(np.delete(np.arange(300.0), LOST))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nothing.txt", ""),
        ("data_file_a.txt", "header\n1 2 3\n"),
        ("data_file_a.txt", "header\n" + " ".join(["nan"] * 19) + "\n"),
        ("data_file_a.txt", "header\n" + " ".join(["1"] * 19) + "\n"),
        ("recorded_messages_pose.txt", "0,0,0,0,0,0,1\n"),
        ("recorded_messages_pose.txt", "0,0,x,0,0,0,1\n"),
    ],
)
def test_other_files_are_refused_with_their_names(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(ContactIdError) as refused:
        read_wrist(tmp_path, **HERE)
    assert str(tmp_path) in refused.value.problem


def test_poses_and_wrenches_of_different_number_are_refused(tmp_path):
    write_poses(tmp_path)
    wrench = tmp_path / "recorded_messages_wrench.txt"
    wrench.write_text("\n".join(wrench.read_text().splitlines()[:-1]))
    with pytest.raises(ContactIdError, match="beside"):
        read_wrist(tmp_path, **HERE)


def test_a_sensor_s_turn_follows_from_weight_and_zero_alone():
    vertical = Rotation.random(30, random_state=np.random.default_rng(3)).apply([0.0, 0.0, 1.0])
    force = MASS * GRAVITY * TURN.apply(vertical) + ZERO[:3]
    assert sensor_turn(vertical, force) == pytest.approx(TURN.as_matrix(), abs=1e-12)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrists")
    forms = []
    for write in (write_motion, write_poses):
        raw = folder / write.__name__
        raw.mkdir()
        write(raw)
        forms.append(str(folder / f"{write.__name__}.nc"))
        write_dataset(read_wrist(raw, **HERE), forms[-1])
    files = [str(folder / name) for name in ("estimates.csv", "predictions.csv")]
    write_wrists(forms, *files)
    return wrist_tables(*files)


def test_mass_and_centre_are_the_body_s_from_all_rows_and_from_few(tables):
    found = tables["tables/ext_wrist"].set_index("rows")
    assert set(found.index) == {*THINNED, "poses"}
    assert found["mass_kg"].to_numpy() == pytest.approx(MASS, rel=0.01)
    assert found["linear_kg"].to_numpy() == pytest.approx(MASS, rel=2e-3)
    assert found["center_mm"].to_numpy() == pytest.approx(1e3 * np.linalg.norm(CENTER), rel=0.02)
    assert (abs(found["mass_kg"] - MASS) < 3.0 * found["mass_se_kg"]).all()
    assert found["mass_se_kg"].max() < 0.03 * MASS
    off = 100.0 * (found["mass_kg"] / found["linear_kg"] - 1.0)
    assert found["off_pct"].to_numpy() == pytest.approx(off.to_numpy())


def test_what_was_left_out_is_predicted_to_the_stated_noise(tables):
    found = tables["tables/ext_wrist_predictions"]
    assert len(found) == 2 + 10
    assert found["force_n"].max() < 0.2 and found["torque_nm"].max() < 0.015
    assert found["linear_force_n"].max() < 0.03 and found["linear_torque_nm"].max() < 0.003
    assert found["mass_kg"].to_numpy() == pytest.approx(MASS, rel=0.01)


def test_the_zero_of_the_sensor_belongs_to_the_recording_and_not_to_the_body(tmp_path):
    """Without an unknown zero the mass would be off by as much as a kilogram."""
    write_poses(tmp_path)
    (one,) = recordings_of(read_wrist(tmp_path, **HERE)).values()
    table = own_table(one, aligned=True)
    force = table[[f"contact_force_wrist_{axis}" for axis in "xyz"]].to_numpy()
    assert abs(np.linalg.norm(force, axis=1).mean() / GRAVITY - MASS) > 0.5


def test_the_figure_has_an_estimate_and_a_linear_fit_in_each_row(tables):
    data = tables["figures/ext_wrist"]
    assert "seconds" not in data
    figure = draw_wrists(data)
    assert isinstance(figure, Figure)
    (axes,) = figure.axes
    assert len(axes.containers) == 2
    assert [text.get_text() for text in axes.get_yticklabels()][-1] == "40 poses"
    assert isinstance(data, pd.DataFrame) and len(data) == 4

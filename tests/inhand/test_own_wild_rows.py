"""Rows of a recording in hand that jump away from their neighbours are left out by their number."""

from pathlib import Path

import pandas as pd
import pytest

from contactid.inhand.own.prepare import read_own_recording

EXAMPLE = Path(__file__).parents[2] / "examples/estimate"


def _of_the_example(change):
    rows = pd.read_csv(EXAMPLE / "recording.csv", comment="#")
    change(rows)
    return read_own_recording(rows, EXAMPLE / "hull.csv", EXAMPLE / "noise.yaml")


@pytest.mark.parametrize(
    "columns",
    [["object_position_x"], ["object_orientation_y"], ["contact_force_index_z"]],
)
def test_a_row_that_jumps_away_and_back_is_left_out_by_its_number(columns):
    def spoil(rows):
        rows.loc[[40, 90], columns] += 0.1 if "force" not in columns[0] else 8.0

    spoiled, clean = _of_the_example(spoil), _of_the_example(lambda rows: None)
    assert spoiled.lost == clean.lost + 2
    assert not any("jump" in line for line in clean.warnings)
    (named,) = [line for line in spoiled.warnings if "jump" in line]
    assert named.startswith("2 rows jump away") and "the first is row 41" in named


def test_what_steps_and_stays_is_no_jump():
    def step(rows):
        rows.loc[75:, "contact_force_index_z"] += 8.0

    def round_off(rows):
        rows["object_position_x"] = rows["object_position_x"].round(2)

    for change in (step, round_off):
        assert not any("jump" in line for line in _of_the_example(change).warnings)

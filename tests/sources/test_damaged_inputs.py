"""Every damaged input ends in one plain line that names what is wrong, and leaves no output behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from reading_for_tests import run_reader
from small_files import save
from spoil_planar_and_arm import ARM, ELLIPSE, SQUARES, good_impacts, good_throws
from spoil_tosses import CONTACTNETS, IAM, good_archive, good_tosses

GOOD = {
    "iam": good_archive,
    "contactnets": good_tosses,
    "squares": good_throws,
    "ellipse": good_impacts,
    "arm": lambda folder: save(folder / "raw").parent,
}
DAMAGED = {
    "iam": IAM,
    "contactnets": CONTACTNETS,
    "squares": SQUARES,
    "ellipse": ELLIPSE,
    "arm": ARM,
}
CASES = [(reader, name) for reader, cases in DAMAGED.items() for name in cases]


@pytest.mark.parametrize("reader", GOOD)
def test_the_good_input_that_the_others_were_made_from_is_read(tmp_path: Path, reader: str) -> None:
    outcome = run_reader(reader, GOOD[reader](tmp_path), tmp_path)
    assert outcome.status == 0, outcome.log
    assert outcome.files == ("data.nc",)
    assert outcome.terminal == ""


@pytest.mark.parametrize(
    ("reader", "name"), CASES, ids=[f"{reader}: {name}" for reader, name in CASES]
)
def test_a_damaged_input_is_one_plain_line_and_leaves_nothing(
    tmp_path: Path, reader: str, name: str
) -> None:
    spoil, said = DAMAGED[reader][name]
    outcome = run_reader(reader, spoil(tmp_path), tmp_path)
    assert outcome.status == 1, outcome.log
    assert outcome.files == ()
    assert outcome.terminal.startswith("ERROR read_data dataset=mine: ")
    assert outcome.terminal.count("\n") == 1
    assert outcome.terminal.endswith(f"Log: {tmp_path / 'reader.log'}\n")
    assert said in outcome.terminal
    assert "unexpected" not in outcome.terminal
    assert outcome.log.endswith(outcome.terminal)
    assert len(outcome.terminal) < 2000

"""``contactid inspect`` says of a file what its reader decides, and nothing about the machine."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import yaml

from contactid.__main__ import main
from contactid.sources.inspect import inspect
from contactid.sources.motion import read_data
from contactid.sources.registry import OWN, READERS, Dataset
from contactid.tossing.own.usable import EVENTS
from contactid.tossing.prepare.preprocess import prepare
from iam_files import MOCAP, NAMES, POSES, write
from motion_in_memory import read_iam_archive
from small_files import save
from spoil_planar_and_arm import good_throws
from spoil_tosses import good_tosses

ROOT = Path(__file__).parents[2]


def said(path: Path, **options: str) -> str:
    text = "\n".join(inspect(path, **options))
    assert str(path.parent) not in text and "/tmp" not in text
    return text


def test_an_archive_s_tree_bodies_and_decisions(tmp_path: Path) -> None:
    path = write(tmp_path / "archive.h5")
    with h5py.File(path, "r+") as file:
        file[NAMES[0]].attrs["note"] = "copied from /data/ann/a.h5"
        file[f"{NAMES[1]}/{POSES}"][:, :, 20:40] = np.nan
    text = said(path, surface="ConveyorPart001")
    assert "3 recordings hold this" in text and "transforms (4, 4, 150) float32" in text
    assert "copied from <path>" in text
    assert "Box006: 0.365 kg, 205 x 155 x 100 mm" in text and "(in 3 recordings)" in text
    motion = read_iam_archive(path, "Box006", surface_name="ConveyorPart001", licence="")
    # these motions never end
    assert (
        f"0 used, {motion.sizes['recording']} for their impacts alone, 1 left out, 360 Hz" in text
    )
    (reason,) = json.loads(motion.attrs["left_out"]).values()
    assert f"{NAMES[1]}: left out: {reason}" in text
    reason = "not at rest at the end of the recording"
    assert f"{NAMES[0]}: no toss of a run ({reason}) on ConveyorPart001, 150 frames" in text


def test_of_tosses_those_are_used_that_a_run_uses(tmp_path: Path) -> None:
    """By the rules' own functions and the default configuration; the twins of drops have all that
    stops a toss.
    """
    settings = yaml.safe_load((ROOT / "config/default.yaml").read_text())["tossing"]
    assert settings["events"] == EVENTS
    path = ROOT / "workflow/resources/embedded/box004_drops_twin.h5"
    entry = Dataset("mine", OWN, "iam", str(path), object="Box004")
    motion, prepared, table = (
        str(tmp_path / name) for name in ("motion.nc", "tosses.nc", "tosses.csv")
    )
    read_data(READERS["iam"].read, vars(entry), str(path), motion)
    chosen = {name: settings[name] for name in ("exclude_tumbling", "events")}
    prepare(motion, "mine", 1.0, 1, **chosen, require_usable=False, prepared=prepared, table=table)
    text, rows = said(path), pd.read_csv(table, keep_default_na=False)
    assert 0 < rows["used"].sum() < len(rows) and rows["reason"].nunique() == 4
    assert (
        f"  {rows['used'].sum()} used, {(~rows['used']).sum()} for their impacts alone, 0 left out, 360 Hz"
        in text
    )
    for row in rows.itertuples():
        line = next(line for line in text.splitlines() if line.startswith(f"  {row.toss}: "))
        assert line.startswith(f"  {row.toss}: used on ") == row.used and row.reason in line


def test_where_nothing_is_usable_the_reason_is_there(tmp_path: Path) -> None:
    path = write(tmp_path / "archive.h5")
    with h5py.File(path, "r+") as file:
        for name in NAMES:
            del file[f"{name}/{MOCAP}/datalog"]
    text = said(path)
    assert "0 used, 3 left out" in text
    assert all(f"{name}: left out: datalog is missing in {MOCAP}" in text for name in NAMES)


def test_other_files(tmp_path: Path) -> None:
    recording = said(save(tmp_path / "arm"))
    assert "q (" in recording and "1 used, 0 left out" in recording
    throw = next(good_throws(tmp_path).glob("traj_*.csv"))
    text = said(throw)
    assert "as a planar throw of a square" in text and "1 used, 0 left out" in text
    (tmp_path / "tosses").mkdir()
    toss = next(good_tosses(tmp_path / "tosses").rglob("*.pt"))
    assert "0 used, 1 for their impacts alone, 0 left out, 148 Hz" in said(toss)
    # the folder that predict takes
    assert "4 used, 2 for their impacts alone, 0 left out, 148 Hz" in said(
        ROOT / "examples/predict/cube"
    )
    own = tmp_path / "own.csv"
    own.write_text("t,x,y,angle\n0,0,1,0\n")
    assert "1 rows of t, x, y, angle" in said(own) and "no reader knows these columns" in said(own)


def test_a_recording_in_hand(tmp_path: Path) -> None:
    pose = [f"object_position_{axis}" for axis in "xyz"] + [
        f"object_orientation_{axis}" for axis in "wxyz"
    ]
    columns = [
        "time",
        *pose,
        *(f"contact_{what}_tip_{axis}" for what in ("force", "position") for axis in "xyz"),
    ]
    row = [0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0.02, 0, 0]
    path = tmp_path / "held.csv"
    for separator in ",;\t":
        lines = [
            separator.join(columns),
            *(separator.join(map(str, [0.01 * k, *row])) for k in range(9)),
        ]
        path.write_text("\n".join(lines) + "\n")
        assert "9 rows of time" in said(path)
        assert "as a recording of an object in hand:\n  used" in said(path)
    path.write_text(path.read_text().replace("contact_force_tip_x", "fx"))
    assert "  left out: " in said(path) and "contact_force_tip_x" in said(path)


@pytest.mark.parametrize("name", ["absent.h5", "notes.txt", "empty.h5"])
def test_what_cannot_be_read_is_one_line_without_a_path(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if name != "absent.h5":
        (tmp_path / name).write_bytes(b"")
    assert main(["inspect", str(tmp_path / name)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("ERROR ") and error.count("\n") == 1 and str(tmp_path) not in error


def test_a_commands_own_process_seldom_searches_for_garbage_and_a_callers_as_before(
    tmp_path, monkeypatch
):
    usual = gc.get_threshold()
    words = ["inspect", str(tmp_path / "none.csv")]
    try:
        assert main(words) == 1 and gc.get_threshold() == usual
        monkeypatch.setattr(sys, "argv", ["contactid", *words])
        assert main() == 1 and gc.get_threshold()[0] > 100 * usual[0]
    finally:
        gc.set_threshold(*usual)

"""A user's own recordings of an arm: .mat files as the study reads them, and tables with the
columns t, q1, ..., q7, or as many joints as the robot has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from contactid.arm.readers.impacts import N_JOINTS, ArmRecording, iterate_arm_recordings
from contactid.arm.readers.mat import Entry, named_apart, parts_of, read_manifest, read_recording
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError
from contactid.sources.conventions import STATED, Convention
from contactid.sources.left_out import joined, nothing_usable
from contactid.sources.matlab_files import mat_files, read_variables
from contactid.sources.recorded_table import (
    SUFFIXES,
    RecordedTable,
    Source,
    name_of,
    several,
    table_parts,
)

RECORDING = "recording"
_MATLAB = (".mat", ".zip")  # which the study reads
_TABLES = tuple(suffix for suffix in SUFFIXES if suffix not in _MATLAB)
_LISTED = "recordings.csv"  # a list of a folder's recordings, and none itself
_MOST_NAMED = 12  # columns in a message

Recordings = Source | Sequence[str | Path]
_Variables = dict[str, np.ndarray]


def read_own(
    given: Recordings, robot: Robot, convention: Convention = STATED
) -> tuple[dict[str, ArmRecording], dict[str, str]]:
    """Recordings by file, or by their names in a table, and why others can't be used.

    Recordings have names that differ. A Dataset may be the study's own
    (:mod:`contactid.arm.readers.impacts`).

    Raises
    ------
    ContactIdError
        Where a path is no file or folder, or nothing is usable.
    """
    if isinstance(given, xr.Dataset) and "experiment" in given.dims:
        return {one.name: one for one in iterate_arm_recordings(given)}, {}
    found: dict[str, ArmRecording] = {}
    left_out: dict[str, str] = {}
    joints = robot.model.nv
    for name, variables, entry in _sources(given, left_out, convention, joints):
        problems: list[str] = []
        recording = read_recording(name, variables, problems, entry, robot.position_limits)
        if recording is None:
            left_out[name] = joined(problems)
        else:
            found[name] = recording
    if not found:
        where = name_of(given) if isinstance(given, Source) else ", ".join(map(str, given))
        raise nothing_usable(
            where,
            "recordings of an impact",
            left_out,
            "Mend the files, or say which of their columns are the joints' positions and the time (--columns)",
        )
    return dict(zip(found, named_apart(list(found.values())), strict=True)), left_out


def read_own_table(
    source: Source, convention: Convention = STATED, n_joints: int = N_JOINTS
) -> _Variables:
    """``t`` (n,) and ``q`` (n, joints) of a table, in its units or those stated; its columns may
    come in any order.

    Raises
    ------
    ContactIdError
        Where it is no table, or lacks a joint.
    """
    table = RecordedTable.read(source, convention, free_body=False)
    # joints may count from 0
    first = 0 if "joint_0" in table.places else 1
    joints = [f"joint_{first + k}" for k in range(n_joints)]
    if not set(joints) <= set(table.places):
        shown = ", ".join(table.header[:_MOST_NAMED]) or "none"
        raise ContactIdError(
            f"{table.name}: has no columns q1 to q{n_joints}; its columns are {shown}",
            "Name them so, or say which they are: --columns q1=...,q2=...",
        )
    variables = {"q": table.values(joints)}
    if "time" in table.places:
        variables["t"] = table.values(["time"])[:, 0]
    return variables


def _sources(
    given: Recordings, left_out: dict[str, str], convention: Convention, n_joints: int
) -> Iterator[tuple[str, _Variables, Entry | None]]:
    """Name and variables of every recording, and what a list beside it says of it."""
    if isinstance(given, pd.DataFrame | xr.Dataset):
        for name, part in table_parts(given, RECORDING):
            yield name, read_own_table(part, convention, n_joints), None
        return
    for path in map(Path, several(given)):
        if path.is_file() and path.suffix.lower() not in (*_MATLAB, *_TABLES):
            kinds = ", ".join((*_MATLAB, *_TABLES))
            raise ContactIdError(f"{path}: none of {kinds}", "Give recordings, or a folder of them")
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        # a list of recordings is a table, and none itself
        tables = [one for one in files if _is(one, _TABLES) and one.name != _LISTED]
        yield from _of_tables(tables, path, left_out, convention, n_joints)
        # a folder may hold both kinds
        if not tables or any(_is(one, _MATLAB) for one in files):
            yield from _of_matlab(path, left_out)


def _is(file: Path, kinds: Sequence[str]) -> bool:
    return file.suffix.lower() in kinds


def _of_tables(
    tables: Sequence[Path],
    path: Path,
    left_out: dict[str, str],
    convention: Convention,
    n_joints: int,
) -> Iterator[tuple[str, _Variables, None]]:
    for table in tables:
        try:
            yield str(table), read_own_table(table, convention, n_joints), None
        except ContactIdError as error:
            # a file that was named alone is refused, one of a folder left out
            if table == path:
                raise
            left_out[str(table)] = error.problem


def _of_matlab(
    path: Path, left_out: dict[str, str]
) -> Iterator[tuple[str, _Variables, Entry | None]]:
    manifest = read_manifest(path)
    folder = path if path.is_dir() else path.parent
    for file, content in mat_files(path):
        try:
            for name, part in parts_of(file, read_variables(content), manifest).items():
                yield str(folder / name), part, manifest.get(name)
        except ContactIdError as error:
            left_out[str(folder / file)] = error.problem

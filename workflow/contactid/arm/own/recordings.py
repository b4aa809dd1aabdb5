"""A user's own recordings of an arm: .mat files as the study reads them, and tables with the
columns t, q1, ..., q7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from contactid.arm.readers.impacts import JOINTS, ArmRecording
from contactid.arm.readers.mat import Entry, named_apart, parts_of, read_manifest, read_recording
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError
from contactid.sources.conventions import STATED, Convention
from contactid.sources.csv_files import rows_of
from contactid.sources.left_out import joined, nothing_usable, reason_of
from contactid.sources.matlab_files import mat_files, read_variables

_MOST_NAMED = 12  # columns in a message


def read_own(
    paths: Sequence[str | Path], robot: Robot, convention: Convention = STATED
) -> tuple[dict[str, ArmRecording], dict[str, str]]:
    """Recordings by file, under names that differ, and why others can't be used, by file.

    Raises
    ------
    ContactIdError
        Where a path is no file or folder, or nothing is usable.
    """
    found: dict[str, ArmRecording] = {}
    left_out: dict[str, str] = {}
    for path in paths:
        for name, variables, entry in _sources(Path(path), left_out, convention):
            problems: list[str] = []
            recording = read_recording(name, variables, problems, entry, robot.position_limits)
            if recording is None:
                left_out[name] = joined(problems)
            else:
                found[name] = recording
    if not found:
        where = ", ".join(map(str, paths))
        raise nothing_usable(
            where, "recordings of an impact", left_out, "Give joint positions q (n, 7) and time t"
        )
    return dict(zip(found, named_apart(list(found.values())), strict=True)), left_out


def read_own_table(path: str | Path, convention: Convention = STATED) -> dict[str, np.ndarray]:
    """``t`` (n,) and ``q`` (n, 7) of a table, in its units or those stated; its columns may come in
    any order.

    Raises
    ------
    ContactIdError
        Where it is no table, lacks a joint, or a cell isn't a number.
    """
    path = Path(path)
    rows = rows_of(path)
    header = next(rows, [])
    try:
        places = convention.places(header)
    except ContactIdError as error:
        raise ContactIdError(f"{path}: {error.problem}", error.remedy) from None
    first = 0 if "joint_0" in places else 1
    joints = [f"joint_{first + k}" for k in range(len(JOINTS))]
    if not set(joints) <= set(places):
        shown = ", ".join(name.strip() for name in header[:_MOST_NAMED]) or "none"
        raise ContactIdError(
            f"{path}: has no columns q1 to q{len(JOINTS)}; its columns are {shown}",
            "Name them so, or say which they are: --columns q1=...,q2=...",
        )
    try:
        values = np.array(
            [[float(cell) if cell.strip() else np.nan for cell in row] for row in rows]
        )
    except ValueError as error:
        raise ContactIdError(
            f"{path}: {reason_of(error)}", "Give numbers in rows of the same length"
        ) from None
    if values.ndim != 2 or values.shape[1] < len(header):
        raise ContactIdError(
            f"{path}: has no rows of {len(header)} numbers below its header", "Give some"
        )
    wanted = {"q": [places[joint] for joint in joints]} | (
        {"t": [places["time"]]} if "time" in places else {}
    )
    table = {
        name: values[:, [place.column for place in at]] * [place.factor for place in at]
        for name, at in wanted.items()
    }
    return table | ({"t": table["t"][:, 0]} if "t" in table else {})


def _sources(
    path: Path, left_out: dict[str, str], convention: Convention
) -> Iterator[tuple[str, dict[str, np.ndarray], Entry | None]]:
    """Name and variables of every recording at a path, and what a list beside it says of it."""
    if path.is_file() and path.suffix.lower() not in (".csv", ".mat", ".zip"):
        raise ContactIdError(
            f"{path}: neither a .mat nor a .csv file", "Give recordings, or a folder of them"
        )
    tables = [path] if path.suffix.lower() == ".csv" else []
    if path.is_dir():
        tables = sorted(one for one in path.rglob("*.csv") if one.name != "recordings.csv")
    for table in tables:
        try:
            yield str(table), read_own_table(table, convention), None
        except ContactIdError as error:
            if table == path:
                raise
            left_out[str(table)] = error.problem
    if tables and not (
        path.is_dir() and any(one.suffix.lower() in (".mat", ".zip") for one in path.rglob("*"))
    ):
        return
    manifest = read_manifest(path)
    folder = path if path.is_dir() else path.parent
    for file, content in mat_files(path):
        try:
            for name, part in parts_of(file, read_variables(content), manifest).items():
                yield str(folder / name), part, manifest.get(name)
        except ContactIdError as error:
            left_out[str(folder / file)] = error.problem

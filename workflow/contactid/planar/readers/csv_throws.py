"""Read files of measured planar throws: the public ones of a square, and the user's own.

A file is one throw: columns of finite numbers, separated by commas, below a header. One that can't be used is left out
with everything that is wrong with it, where there are others.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.readers.throws import SQUARE_FREQUENCY, SQUARE_SIDE, PlanarThrow, build_throws, square
from contactid.sources.left_out import joined, log_left_out, nothing_usable, reason_of

FEWEST_ROWS = 8
_MOST_HEADER = 200  # characters of a header that a message repeats
_SQUARE_COLUMNS = ("x", "z", "th", "vx", "vz", "vth")
_OWN_COLUMNS = ("t", "x", "y", "theta")
_LONGEST_INTERVAL = 0.2  # s between frames; beyond it milliseconds were taken for seconds
_LARGEST_POSITION, _FASTEST = 100.0, 30.0  # m and m/s; beyond them millimetres were taken for metres
_FASTEST_TURN = 150.0  # rad/s; beyond it degrees were taken for radians
_LARGEST_TURN = 3.0 * np.pi  # rad from frame to frame; an angle in radians that is wrapped jumps by 2 pi
_UNEVEN = 0.01  # largest relative spread of the sample times' differences
_VELOCITY_AGREEMENT = 1e-6  # m/s, of a file's velocities with its positions' differences


def columns_of(path: Path, columns: Sequence[str], problems: list[str]) -> np.ndarray | None:
    """(n, columns) finite numbers in the order asked for; None, and all problems, where the file hasn't got them.

    Rows are counted from 1, below the header; empty ones are passed over.
    """
    if not path.is_file():
        problems.append("no such file" if not path.exists() else "a folder instead of a file")
        return None
    try:
        with path.open("rb") as stream:
            start = stream.read(64).lstrip()
        if start[:1] == b"<":
            problems.append("a web page instead of numbers: the download failed")
            return None
        if start[:2] == b"PK":
            problems.append("a zip file instead of a table: unpack it")
            return None
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _table(csv.reader(file), columns, problems)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        problems.append(f"not readable as text ({reason_of(error)})")
        return None


def _table(reader: Iterator[list[str]], columns: Sequence[str], problems: list[str]) -> np.ndarray | None:
    rows = (row for row in reader if any(cell.strip() for cell in row))
    header = next(rows, None)
    if header is None:
        problems.append("an empty file")
        return None
    header = [name.strip() for name in header]
    missing = [name for name in columns if name not in header]
    if missing:
        shown = ", ".join(header)[:_MOST_HEADER]
        problems.append(
            f"no column {', '.join(missing)} (its header is {shown}; the first line must name {', '.join(columns)}, "
            "with commas between them)"
        )
    twice = [name for name in columns if header.count(name) > 1]
    if twice:
        problems.append(f"column {', '.join(twice)} is there twice")
    if missing or twice:
        return None
    places = [header.index(name) for name in columns]
    values = array("d")
    bad: list[str] = []
    n_bad = n_rows = 0
    for n_rows, row in enumerate(rows, start=1):
        for place, name in zip(places, columns, strict=True):
            text = row[place].strip() if place < len(row) else ""
            value = _finite(text)
            values.append(value)
            if np.isnan(value):
                n_bad += 1
                if not bad:
                    bad.append(f"row {n_rows}, column {name} is {text[:40] or 'empty'!r}")
    if n_rows < FEWEST_ROWS:
        problems.append(f"only {n_rows} frames, where at least {FEWEST_ROWS} are needed")
    if bad:
        problems.append(f"{n_bad} of its values {'is' if n_bad == 1 else 'are'} no finite number: {bad[0]}")
    return None if problems else np.array(values).reshape(-1, len(columns))


def _finite(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return float("nan")
    return value if np.isfinite(value) else float("nan")


def read_square_throws(path: str | Path, *, licence: str, synthetic: bool = False) -> xr.Dataset:
    """Read the public throws of a square, ``traj_<id>.csv`` with the columns x, z, th, vx, vz, vth.

    z becomes y. The files have no time: frames are taken to be 1/250 s apart. Their velocities are the backward
    differences of the poses times 250, to the last digit; they only serve to check that. Where the camera lost frames,
    the file goes on without a gap: :mod:`contactid.planar.squares.events` finds such jumps.

    The tracked point is not quite the square's centre, nor are its axes the sides' directions: see there, too.

    Raises
    ------
    ContactIdError
        Without files, or where none of them is as described; files and their problems are named.
    """
    folder = Path(path)
    files = sorted(folder.glob("traj_*.csv"), key=lambda file: (len(file.stem), file.stem))
    if not files:
        raise ContactIdError(f"{folder}: no throws there (looked for traj_*.csv)", "Check data_mirror or fetch again")
    throws: list[PlanarThrow] = []
    left_out: dict[str, str] = {}
    for file in files:
        problems: list[str] = []
        throw = _square_throw(file, problems)
        if throw is None:
            left_out[file.name] = joined(problems)
        else:
            throws.append(throw)
    log_left_out(left_out)
    if not throws:
        raise nothing_usable(
            folder, "throws", left_out, "Fetch them again, or write t, x, y, theta and read them as your own"
        )
    shape = square(SQUARE_SIDE)
    return build_throws(
        throws,
        shape,
        object_name="Square60",
        source="planar throws of a square",
        licence=licence,
        synthetic=synthetic,
        inertia_ratio=shape.uniform_inertia_ratio,
        left_out=left_out,
    )


def _square_throw(path: Path, problems: list[str]) -> PlanarThrow | None:
    table = columns_of(path, _SQUARE_COLUMNS, problems)
    if table is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(table[:, :2], axis=0) * SQUARE_FREQUENCY
        off = np.median(np.abs(steps - table[1:, 3:5]))
    if not off <= _VELOCITY_AGREEMENT:
        problems.append(
            f"velocities that are not the differences of its positions at {SQUARE_FREQUENCY:g} frames/s, so it is no "
            "throw of this dataset"
        )
    problems += _unit_problems(1.0 / SQUARE_FREQUENCY, table[:, :3])
    if problems:
        return None
    return PlanarThrow(path.stem, np.arange(len(table)) / SQUARE_FREQUENCY, _continuous(table[:, :3]))


def read_own_throw(path: str | Path) -> PlanarThrow:
    """Read a user's file: a header with t, x, y, theta (any order, other columns are passed over), commas, SI units.

    x and y are the tracked point's (m, y up), theta is counter-clockwise from x (rad, wrapped or not), t is in s and
    evenly spaced; the throw's time starts at 0.

    Raises
    ------
    ContactIdError
        With everything wrong: a column is missing, a value is no finite number, sampling is uneven, or the units can't
        be SI.
    """
    path = Path(path)
    problems: list[str] = []
    table = columns_of(path, _OWN_COLUMNS, problems)
    if table is not None:
        problems += _own_problems(table[:, 0], table[:, 1:])
    if table is None or problems:
        raise ContactIdError(f"{path}: {joined(problems)}", "Correct the file")
    return PlanarThrow(path.stem, table[:, 0] - table[0, 0], _continuous(table[:, 1:]))


def _own_problems(time: np.ndarray, position: np.ndarray) -> list[str]:
    problems = []
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.diff(time)
        even = (step > 0.0).all() and np.ptp(step) <= _UNEVEN * step.mean()
    if not even:
        worst = int(np.argmax(np.abs(step - np.median(step)))) if (step > 0.0).all() else int(np.argmin(step))
        problems.append(
            f"t is not evenly spaced (rows {worst + 1} and {worst + 2} are {step[worst]:g} s apart, the median is "
            f"{np.median(step):g} s): resample it, or cut the throw at the gap"
        )
    interval = float(np.median(step))
    return problems + (_unit_problems(interval, position) if interval > 0.0 else [])


def _unit_problems(interval: float, position: np.ndarray) -> list[str]:
    """Where t, x, y or theta can't be in s, m and rad."""
    problems = []
    if interval > _LONGEST_INTERVAL:
        problems.append(f"t has {interval:g} s between frames: give t in seconds")
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.abs(np.diff(position, axis=0))
        speed = float(np.quantile(np.hypot(steps[:, 0], steps[:, 1]), 0.9)) / interval
        farthest = float(np.abs(position[:, :2]).max())
        turn = float(np.quantile(np.abs(np.diff(np.unwrap(position[:, 2]))), 0.9)) / interval
    if not (farthest <= _LARGEST_POSITION and speed <= _FASTEST):
        problems.append(f"positions of {farthest:g} m and speeds of {speed:g} m/s: give x and y in metres")
    if not (turn <= _FASTEST_TURN and steps[:, 2].max() <= _LARGEST_TURN):
        problems.append(f"theta turns by {turn:g} rad/s and jumps by {steps[:, 2].max():g} rad: give theta in radians")
    return problems


def _continuous(position: np.ndarray) -> np.ndarray:
    return np.column_stack([position[:, :2], np.unwrap(position[:, 2])])

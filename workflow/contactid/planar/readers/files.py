"""Read files of measured planar throws: the public ones of a square, and the user's own.

A file is one throw. One that can't be used is left out with everything that is wrong with it, where there are others.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.readers.csv_columns import columns_of
from contactid.planar.readers.throws import SQUARE_FREQUENCY, SQUARE_SIDE, PlanarThrow, build_throws, square
from contactid.planar.simulate.geometry import Shape
from contactid.sources.left_out import joined, log_left_out, nothing_usable

_SQUARE_COLUMNS = ("x", "z", "th", "vx", "vz", "vth")
_OWN_COLUMNS = ("t", "x", "y", "theta")
_LONGEST_INTERVAL = 0.2  # s between frames; beyond it milliseconds were taken for seconds
_LARGEST_POSITION, _FASTEST = 100.0, 30.0  # m and m/s; beyond them millimetres were taken for metres
_FASTEST_TURN = 150.0  # rad/s; beyond it degrees were taken for radians
_LARGEST_TURN = 3.0 * np.pi  # rad from frame to frame; an angle in radians that is wrapped jumps by 2 pi
_UNEVEN = 0.01  # largest relative spread of the sample times' differences
_VELOCITY_AGREEMENT = 1e-6  # m/s, of a file's velocities with its positions' differences


def read_square_throws(path: str | Path, *, licence: str, synthetic: bool = False) -> xr.Dataset:
    """Read the public throws of a square, ``traj_<id>.csv`` with the columns x, z, th, vx, vz, vth.

    z becomes y. The files have no time: frames are taken to be 1/250 s apart. Their velocities are the backward
    differences of the poses times 250, to the last digit; they only serve to check that. Where the camera lost frames,
    the file goes on without a gap: :mod:`contactid.planar.throw_preprocess` finds such jumps.

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


def read_own_throws(
    path: str | Path,
    shape: Shape,
    *,
    licence: str = "unknown",
    inertia_ratio: float | None = None,
    object_name: str = "own",
) -> xr.Dataset:
    """Read a user's file, or every ``*.csv`` of a folder, as throws of one body; see :func:`read_own_throw`."""
    path = Path(path)
    files: Sequence[Path] = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not files:
        raise ContactIdError(f"{path}: no *.csv there", "Name a file or a folder of files with t, x, y, theta")
    return build_throws(
        [read_own_throw(file) for file in files],
        shape,
        object_name=object_name,
        source=path.name,
        licence=licence,
        synthetic=False,
        inertia_ratio=inertia_ratio,
    )


def _continuous(position: np.ndarray) -> np.ndarray:
    return np.column_stack([position[:, :2], np.unwrap(position[:, 2])])

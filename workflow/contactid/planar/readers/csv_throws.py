"""Read files of measured planar throws: the public ones of a square, and the user's own.

A file is one throw: columns of finite numbers, separated by commas, below a header. One that can't
be used is left out with everything that is wrong with it, where there are others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.readers.throws import (
    SQUARE_FREQUENCY,
    SQUARE_SIDE,
    PlanarThrow,
    build_throws,
    iterate_throws,
    square,
)
from contactid.planar.simulate.geometry import Ellipse, Polygon, Shape
from contactid.sources.conventions import STATED, Convention
from contactid.sources.frames import in_plane
from contactid.sources.left_out import joined, log_left_out, nothing_usable
from contactid.sources.recorded_table import RecordedTable, frame_of, several, table_parts

FEWEST_ROWS = 8
_MOST_HEADER = 200  # characters of a header that a message repeats
_SQUARE_COLUMNS = ("x", "z", "th", "vx", "vz", "vth")
_QUANTITIES = {"t": "time", "x": "position_x", "y": "position_y", "theta": "theta"}
_OWN_COLUMNS = tuple(_QUANTITIES)
_LONGEST_INTERVAL = 0.2  # s between frames; beyond it milliseconds were taken for seconds
# m and m/s; beyond them millimetres were taken for metres
_LARGEST_POSITION, _FASTEST = 100.0, 30.0
_FASTEST_TURN = 150.0  # rad/s; beyond it degrees were taken for radians
# rad from frame to frame; an angle in radians that is wrapped jumps by 2 pi
_LARGEST_TURN = 3.0 * np.pi
# what a cell holds where there is nothing, as pandas or a text says it
_EMPTY = ("", "nan", "na", "null", "none", "<na>", "nat")
_JITTER = 0.2  # of the interval: how far a frame may lie from an even time
_EVEN = 0.01  # of the interval: a jitter that isn't worth a note
_MOST_LOST, _LONGEST_GAP = 0.4, 12  # share of the frames, and frames in a row, that may be lost
# m and rad within a few frames: a body that moves by more doesn't repeat a pose
_HELD, _HELD_TURN = 2e-3, 0.05
_VELOCITY_AGREEMENT = 1e-6  # m/s, of a file's velocities with its positions' differences


@dataclass(frozen=True, eq=False)
class PartOfTable:
    """A throw's rows of a table in memory, in place of a file.

    Attributes
    ----------
    stem : what it is called, as a file is without its ending
    frame : columns as in a file
    """

    stem: str
    frame: pd.DataFrame

    def __str__(self) -> str:
        """What messages call it."""
        return self.stem


ThrowSource: TypeAlias = Path | PartOfTable
#: What a user gives: files, or a table whose column ``throw`` names the throws, where it has several.
Throws: TypeAlias = str | Path | Sequence[str | Path] | pd.DataFrame | xr.Dataset


def sources_of(throws: Throws) -> list[ThrowSource]:
    """Each throw's file or table. A Dataset may be canonical, too."""
    if isinstance(throws, str | Path):
        return [Path(throws)]
    if isinstance(throws, xr.Dataset) and "row_size" in throws:
        return [
            PartOfTable(one.name, pd.DataFrame(dict(zip(_OWN_COLUMNS, columns, strict=True))))
            for one in iterate_throws(throws)
            for columns in [(one.time, *one.position.T)]
        ]
    if isinstance(throws, pd.DataFrame | xr.Dataset):
        return [PartOfTable(name, frame) for name, frame in table_parts(throws, "throw")]
    return [Path(path) for path in several(throws)]


def columns_of(path: Path, columns: Sequence[str]) -> np.ndarray:
    """(n, columns) finite numbers in the order asked for; letter case in the header doesn't matter.

    Raises
    ------
    ContactIdError
        With everything wrong, where it is no table, or hasn't got them.
    """
    frame = frame_of(path)
    frame.columns = [str(name).strip().lower() for name in frame.columns]
    missing = [name for name in columns if name not in frame]
    if missing:
        shown, wanted = ", ".join(frame.columns)[:_MOST_HEADER], ", ".join(columns)
        lacks = f"no column {', '.join(missing)} (its header is {shown}; the first line must name {wanted})"
        raise _bad(path, lacks)
    cells = frame[list(columns)].dropna(how="all")
    numbers = cells.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    return _checked(path, numbers, cells.to_numpy(dtype=object), columns)


def _checked(
    source: ThrowSource,
    values: np.ndarray,
    cells: np.ndarray,
    columns: Sequence[str],
    may_lack: Sequence[str] = (),
) -> np.ndarray:
    """The values (n, columns), unless some are no finite number; columns that ``may_lack`` one may
    have empty cells.
    """
    bad, first = 0, ""
    for row, k in np.argwhere(~np.isfinite(values)):
        text = str(cells[row, k]).strip()
        if columns[k] not in may_lack or text.lower() not in _EMPTY:
            first = first or f"row {row + 1}, column {columns[k]} is {text[:40]!r}"
            bad += 1
    problems = []
    if len(values) < FEWEST_ROWS:
        problems.append(f"only {len(values)} frames, where at least {FEWEST_ROWS} are needed")
    if bad:
        problems.append(
            f"{bad} of its values {'is' if bad == 1 else 'are'} no finite number: {first}"
        )
    if problems:
        raise _bad(source, *problems)
    return values


def _bad(source: ThrowSource, *problems: str) -> ContactIdError:
    return ContactIdError(f"{source}: {joined(problems)}", "Correct the file")


def read_throws(
    path: str | Path,
    *,
    licence: str,
    synthetic: bool = False,
    name: str = "",
    outline: Sequence[Sequence[float]] = (),
    semi_axes: Sequence[float] = (),
    frame_rate: float | None = None,
) -> xr.Dataset:
    """The public throws of a square, or, of a body whose ``outline`` or ``semi_axes`` (m) are
    given, the user's own.

    Raises
    ------
    ContactIdError
        As :func:`read_square_throws` and :func:`read_own_throws`, and where both are given.
    """
    if outline and semi_axes:
        raise ContactIdError(f"datasets.{name} has outline and semi_axes", "Give one of them")
    if not (outline or semi_axes):
        return read_square_throws(path, licence=licence, synthetic=synthetic)
    corners = tuple((float(x), float(y)) for x, y in outline)
    shape = Polygon(corners) if corners else Ellipse(*(float(axis) for axis in semi_axes))
    return read_own_throws(path, shape, licence=licence, object_name=name, frame_rate=frame_rate)


def read_own_throws(
    path: str | Path,
    shape: Shape,
    *,
    licence: str,
    object_name: str,
    frame_rate: float | None = None,
) -> xr.Dataset:
    """Read a file, or every csv of a folder, as throws of one body.

    Columns are those of :func:`read_own_throw`; with ``frame_rate`` (Hz) x, y and theta will do.

    Raises
    ------
    ContactIdError
        Without files, or where none of them can be used; files and their problems are named.
    """
    folder = Path(path)
    files = (
        sorted(folder.glob("*.csv"), key=lambda file: (len(file.stem), file.stem))
        if folder.is_dir()
        else [folder]
    )
    remedy = "Give csv files with the columns t, x, y, theta"
    throws, left_out = _usable(
        folder, files, partial(read_own_throw, frame_rate=frame_rate), remedy
    )
    return build_throws(
        throws,
        shape,
        object_name=object_name,
        source=folder.name,
        licence=licence,
        synthetic=False,
        left_out=left_out,
    )


def read_square_throws(path: str | Path, *, licence: str, synthetic: bool = False) -> xr.Dataset:
    """Read the public throws of a square, ``traj_<id>.csv`` with the columns x, z, th, vx, vz, vth.

    ``trajSim_<id>.csv``, too: those that its publishers simulated (PyBullet, gravity 10 m/s2, J/m =
    600 mm2).

    z becomes y. The files have no time: frames are taken to be 1/250 s apart. Their velocities are
    the backward differences of the poses times 250, to the last digit; they only serve to check
    that. Where the camera lost frames, the file goes on without a gap:
    :mod:`contactid.planar.squares.events` finds such jumps.

    The tracked point is not quite the square's centre, nor are its axes the sides' directions: see
    there, too.

    Raises
    ------
    ContactIdError
        Without files, or where none of them is as described; files and their problems are named.
    """
    folder = Path(path)
    named = [*folder.glob("traj_*.csv"), *folder.glob("trajSim_*.csv")]
    files = sorted(named, key=lambda file: (len(file.stem), file.stem))
    if not files:
        raise ContactIdError(
            f"{folder}: no throws there (looked for traj_*.csv and trajSim_*.csv)",
            "Check data_mirror or fetch again; for throws of your own body give outline or semi_axes beside path",
        )
    remedy = "Fetch them again, or write t, x, y, theta and read them as your own"
    throws, left_out = _usable(folder, files, _square_throw, remedy)
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


def _usable(
    folder: Path, files: Sequence[Path], read: Callable[[Path], PlanarThrow], remedy: str
) -> tuple[list[PlanarThrow], dict[str, str]]:
    """What can be read of the files, and why the others can't; an error where none can."""
    throws, left_out = [], {}
    for file in files:
        try:
            throws.append(read(file))
        except ContactIdError as error:
            left_out[file.name] = error.problem.removeprefix(f"{file}: ")
    log_left_out(left_out)
    if not throws:
        raise nothing_usable(folder, "throws", left_out, remedy)
    return throws, left_out


def _square_throw(path: Path) -> PlanarThrow:
    table, problems = columns_of(path, _SQUARE_COLUMNS), []
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
        raise _bad(path, *problems)
    return PlanarThrow(
        path.stem, np.arange(len(table)) / SQUARE_FREQUENCY, _continuous(table[:, :3])
    )


def read_own_throw(
    source: str | ThrowSource, frame_rate: float | None = None, convention: Convention = STATED
) -> PlanarThrow:
    """Read a user's file: a header with t, x, y, theta (any order, other columns are passed over),
    SI units.

    x and y are the tracked point's (m, y up), theta is counter-clockwise from x (rad, wrapped or
    not), t is in s; the throw's time starts at 0. Frames come out evenly spaced. Those that are
    missing (a gap in t, rows with an empty cell or ``nan``, the same pose once more while the body
    moves) are marked as lost. Times that scatter are put right by a local parabola. The throw's
    notes say what was done.

    Raises
    ------
    ContactIdError
        With everything wrong: a column is missing, a value is no number, t goes back or is not that
        of a camera, too many frames are missing, or the units can't be SI.
    """
    source = Path(source) if isinstance(source, str) else source
    if frame_rate is None:
        table = columns_in_si(source, convention)
    else:
        poses = columns_in_si(source, convention, _OWN_COLUMNS[1:])
        table = np.column_stack([np.arange(len(poses)) / frame_rate, poses])
    time, position, problems = table[:, 0], in_plane(table[:, 1:], convention.frame), []
    finite = np.isfinite(position).all(axis=1)
    if finite.sum() < FEWEST_ROWS:
        few = f"only {finite.sum()} frames with a pose, where at least {FEWEST_ROWS} are needed"
        raise _bad(source, few)
    step = np.diff(time)
    if (step < 0.0).any():
        row = int(np.argmax(step < 0.0))
        back = f"({time[row]:g} s, {time[row + 1]:g} s)"
        raise _bad(source, f"t goes back from row {row + 1} to row {row + 2} {back}")
    interval = float(np.median(step[step > 0.0])) if (step > 0.0).any() else 0.0
    if interval == 0.0:
        raise _bad(source, "t doesn't change")
    problems += _unit_problems(interval, position[finite])
    if problems:
        raise _bad(source, *problems)
    return _even_throw(source, time, _continuous(position), interval)


def columns_in_si(
    source: ThrowSource, convention: Convention, columns: Sequence[str] = _OWN_COLUMNS
) -> np.ndarray:
    """(n, columns) t, x, y, theta of a user's throw in the units that are stated, in its own frame;
    NaN where lost.

    Raises
    ------
    ContactIdError
        With everything wrong, where it is no table, lacks a column, or holds words among numbers.
    """
    frame = source.frame if isinstance(source, PartOfTable) else frame_of(source)
    table = RecordedTable.read(frame, convention)
    missing = [name for name in columns if _QUANTITIES[name] not in table.places]
    if missing:
        shown = ", ".join(table.header)[:_MOST_HEADER]
        raise ContactIdError(
            f"{source}: no column {', '.join(missing)} (its header is {shown})",
            f"Name them {', '.join(columns)}, or say which they are: --columns",
        )
    values = table.values([_QUANTITIES[name] for name in columns])
    places = [table.places[_QUANTITIES[name]].column for name in columns]
    cells = table.frame.to_numpy(dtype=object)[:, places]
    # a pose may be lost in a frame, but not its time
    return _checked(source, values, cells, columns, may_lack=_OWN_COLUMNS[1:])


def _even_throw(
    source: ThrowSource, time: np.ndarray, position: np.ndarray, interval: float
) -> PlanarThrow:
    """The throw on even frames, those without a pose marked."""
    notes, finite = [], np.isfinite(position).all(axis=1)
    # rows of one instant are one frame, the first of them
    again = np.concatenate([[False], np.diff(time) <= 0.1 * interval])
    held = _held(position, finite)
    if held.mean() > _MOST_LOST:
        problem = f"{held.sum()} of {len(held)} rows repeat the pose before: give each pose once"
        raise _bad(source, problem)
    good = finite & ~again & ~held
    # from row to row first: a scattered clock's median step is off, and adds up over a throw
    places = np.concatenate([[0.0], np.cumsum(np.round(np.diff(time) / interval))])
    for _ in range(3):  # the interval of all frames, not of a few
        slope, start = np.polyfit(places[good], time[good], 1)
        places = np.round((time - start) / slope)
    away = np.abs(time[good] - start - slope * places[good]) / slope
    if away.max() > _JITTER or (np.diff(places[good]) < 1).any():
        worst = int(np.flatnonzero(good)[np.argmax(away)])
        step = np.diff(time)
        problem = (
            f"t is not evenly spaced (row {worst + 1} is {1e3 * away.max() * slope:.3g} ms from an even time, the "
            f"median step is {1e3 * np.median(step):.3g} ms): resample the poses to even times"
        )
        raise _bad(source, problem)
    frames = (places[good] - places[good][0]).astype(int)
    n = int(frames[-1]) + 1
    lost = np.ones(n, dtype=bool)
    lost[frames] = False
    longest = int(np.diff(frames).max()) - 1
    if lost.mean() > _MOST_LOST or longest > _LONGEST_GAP:
        missing = f"{lost.sum()} of {n} frames are missing, up to {longest} in a row"
        raise _bad(source, f"{missing}: cut the throw at the gap")
    measured = position[good]
    if away.max() > _EVEN:
        measured = _moved(measured, time[good], start + slope * places[good], slope)
        notes.append(
            f"times scatter by up to {1e3 * away.max() * slope:.2g} ms: poses are moved to even times."
        )
    if lost.any():
        kinds = f" ({int(held.sum())} repeat the one before)" if held.any() else ""
        notes.append(f"{int(lost.sum())} of {n} frames have no pose{kinds}: bridged, not used.")
    even = np.arange(n) * slope
    filled = np.column_stack([np.interp(even, frames * slope, measured[:, i]) for i in range(3)])
    named = tuple(f"{source.stem}: {note}" for note in notes)
    return PlanarThrow(source.stem, even, filled, lost, named)


def _held(position: np.ndarray, finite: np.ndarray) -> np.ndarray:
    """(n,) poses equal to the one before, while the body moves between those around them."""
    held = np.zeros(len(position), dtype=bool)
    same = np.concatenate([[False], (np.diff(position, axis=0) == 0.0).all(axis=1)])
    for k in np.flatnonzero(same & finite):
        # at rest a pose repeats itself rightly
        around = position[max(k - 4, 0) : k + 5]
        spread = np.nanmax(around, axis=0) - np.nanmin(around, axis=0)
        held[k] = np.hypot(spread[0], spread[1]) > _HELD or spread[2] > _HELD_TURN
    return held


def _moved(position: np.ndarray, time: np.ndarray, even: np.ndarray, interval: float) -> np.ndarray:
    """Poses at even times, each moved by the velocity of its nearer neighbours."""
    found = position.copy()
    for k in range(len(time)):
        other = k + 1 if (even[k] > time[k] and k + 1 < len(time)) or k == 0 else k - 1
        # a velocity over a long gap isn't the frame's
        if abs(time[other] - time[k]) < 3.0 * interval:
            rate = (position[other] - position[k]) / (time[other] - time[k])
            found[k] += rate * (even[k] - time[k])
    return found


def _unit_problems(interval: float, position: np.ndarray) -> list[str]:
    """Where t, x, y or theta can't be in s, m and rad."""
    problems = []
    if interval > _LONGEST_INTERVAL:
        problems.append(
            f"t has {interval:g} s between frames: give t in seconds, or its unit (--units time=ms)"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.abs(np.diff(position, axis=0))
        # nine tenths of the steps: single wild poses aren't a wrong unit
        speed = float(np.quantile(np.hypot(steps[:, 0], steps[:, 1]), 0.9)) / interval
        farthest = float(np.abs(position[:, :2]).max())
        turn = float(np.quantile(np.abs(np.diff(np.unwrap(position[:, 2]))), 0.9)) / interval
    if not (farthest <= _LARGEST_POSITION and speed <= _FASTEST):
        problems.append(
            f"positions of {farthest:g} m and speeds of {speed:g} m/s: give x and y in metres, or their unit "
            "(--units position=mm); pixels: divided by those of a metre, with --frame up=-y,theta=clockwise"
        )
    if not (turn <= _FASTEST_TURN and steps[:, 2].max() <= _LARGEST_TURN):
        problems.append(
            f"theta turns by {turn:g} rad/s and jumps by {steps[:, 2].max():g} rad: give theta in radians, or its unit "
            "(--units theta=deg)"
        )
    return problems


def _continuous(position: np.ndarray) -> np.ndarray:
    """Poses (n, 3) with angles that don't jump by whole turns; NaN where there is none."""
    found, finite = position.copy(), np.isfinite(position[:, 2])
    found[finite, 2] = np.unwrap(position[finite, 2])
    return found

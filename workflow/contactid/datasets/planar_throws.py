"""Measured planar throws in one canonical form: a public dataset of a square, and the user's own files.

Throws have different lengths, so samples are stored one after the other (the CF convention's *contiguous ragged
array*): ``row_size[throw]`` says how many samples each throw has.

================ ==================== ======= =================================================================
variable         dimensions           unit    meaning
================ ==================== ======= =================================================================
time             sample               s       since the throw's first sample
x, y             sample               m       tracked point, y up
theta            sample               rad     orientation, counter-clockwise from x, continuous
row_size         throw                1       samples per throw
vertices         vertex, xy           m       a polygon's corners about its centre, in the body's axes
semi_axes        axis                 m       an ellipse's, instead of vertices
inertia_ratio                         m2      J/m as known beforehand; NaN where it is not
================ ==================== ======= =================================================================

Attributes: ``object``, ``sample_frequency`` (Hz), ``source``, ``licence``, ``synthetic`` (0 or 1), ``left_out``
(JSON: name to reason).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.errors import ContactIdError
from contactid.simulate.planar_geometry import Ellipse, Polygon, Shape

UNITS = {"time": "s", "x": "m", "y": "m", "theta": "rad", "row_size": "1", "inertia_ratio": "m2"}
SQUARE_SIDE = 0.06  # m
SQUARE_FREQUENCY = 250.0  # Hz
_SQUARE_COLUMNS = ("x", "z", "th", "vx", "vz", "vth")
_OWN_COLUMNS = ("t", "x", "y", "theta")
_FEWEST_FRAMES = 8
_LONGEST_INTERVAL = 0.2  # s between frames; beyond it milliseconds were taken for seconds
_LARGEST_POSITION, _FASTEST = 100.0, 30.0  # m and m/s; beyond them millimetres were taken for metres
_FASTEST_TURN = 150.0  # rad/s; beyond it degrees were taken for radians
_LARGEST_TURN = 3.0 * np.pi  # rad from frame to frame; an angle in radians that is wrapped jumps by 2 pi
_UNEVEN = 0.01  # largest relative spread of the sample times' differences


@dataclass(frozen=True)
class PlanarThrow:
    """One throw.

    Attributes
    ----------
    name : of the file, without its ending
    time : (n,) s, evenly spaced from 0
    position : (n, 3) x, y (m) and theta (rad, continuous)
    """

    name: str
    time: np.ndarray
    position: np.ndarray

    @property
    def sample_frequency(self) -> float:
        """Frames per second, Hz."""
        return (len(self.time) - 1) / float(self.time[-1] - self.time[0])


def square(side: float) -> Polygon:
    """A square about its centre, sides along the body's axes, m."""
    half = side / 2.0
    return Polygon(((-half, -half), (half, -half), (half, half), (-half, half)))


def build_throws(
    throws: Sequence[PlanarThrow],
    shape: Shape,
    *,
    object_name: str,
    source: str,
    licence: str,
    synthetic: bool,
    inertia_ratio: float | None = None,
    left_out: Mapping[str, str] | None = None,
) -> xr.Dataset:
    """Assemble and validate the canonical dataset.

    Raises
    ------
    ContactIdError
        Without a throw, or where throws differ in their sample frequency.
    """
    if not throws:
        raise ContactIdError(f"{source}: no usable throw of {object_name}", "Check the folder or file")
    frequency = throws[0].sample_frequency
    for throw in throws:
        if abs(throw.sample_frequency - frequency) > _UNEVEN * frequency:
            raise ContactIdError(
                f"{source}: {throw.name} has {throw.sample_frequency:g} frames/s, {throws[0].name} has {frequency:g}",
                "Make a dataset of each frequency",
            )
    position = np.concatenate([throw.position for throw in throws])
    data = xr.Dataset(
        {
            "time": ("sample", np.concatenate([throw.time for throw in throws])),
            **{name: ("sample", position[:, i]) for i, name in enumerate(("x", "y", "theta"))},
            "row_size": ("throw", np.array([len(throw.time) for throw in throws], dtype="int64")),
            "inertia_ratio": ((), np.nan if inertia_ratio is None else float(inertia_ratio)),
        },
        coords={"throw": np.array([throw.name for throw in throws], dtype=object)},
        attrs={
            "object": object_name,
            "sample_frequency": frequency,
            "source": source,
            "licence": licence,
            "synthetic": int(synthetic),
            "left_out": json.dumps(dict(left_out or {})),
        },
    )
    if isinstance(shape, Polygon):
        data["vertices"] = (("vertex", "xy"), np.array(shape.vertices, dtype=float))
    else:
        data["semi_axes"] = ("axis", np.array([shape.a, shape.b]))
    for name in data.data_vars:
        data[name].attrs["units"] = UNITS.get(str(name), "m")
    validate_throws(data)
    return data


def validate_throws(data: xr.Dataset) -> None:
    """Raise :class:`ContactIdError` naming the first thing that is not as the canonical form says."""
    source = data.attrs.get("source", "planar throws")
    for name, unit in UNITS.items():
        if name not in data:
            raise ContactIdError(f"{source}: variable {name} is missing", "Read the data again")
        if data[name].attrs.get("units") != unit:
            raise ContactIdError(
                f"{source}: {name} is in {data[name].attrs.get('units')!r} instead of {unit!r}", "Convert to SI units"
            )
    if ("vertices" in data) == ("semi_axes" in data):
        raise ContactIdError(f"{source}: not one shape", "Give vertices or semi_axes")
    if int(data["row_size"].sum()) != data.sizes["sample"]:
        raise ContactIdError(f"{source}: row_size doesn't add up to the samples", "Read the data again")
    for throw in iterate_throws(data):
        if not np.isfinite(throw.position).all():
            raise ContactIdError(f"{source}: throw {throw.name} has a NaN", "Leave the throw out")


def shape_of(data: xr.Dataset) -> Shape:
    """The thrown body's shape."""
    if "vertices" in data:
        return Polygon(tuple((float(x), float(y)) for x, y in data["vertices"].values))
    return Ellipse(*(float(value) for value in data["semi_axes"].values))


def iterate_throws(data: xr.Dataset) -> Iterator[PlanarThrow]:
    """The throws of a canonical dataset."""
    position = np.column_stack([data[name].values for name in ("x", "y", "theta")])
    ends = np.cumsum(data["row_size"].values)
    for name, end, size in zip(data["throw"].values, ends, data["row_size"].values, strict=True):
        part = slice(int(end - size), int(end))
        yield PlanarThrow(str(name), data["time"].values[part], position[part])


def read_square_throws(folder: str | Path, *, licence: str) -> xr.Dataset:
    """Read the public throws of a square, ``traj_<id>.csv`` with the columns x, z, th, vx, vz, vth.

    z becomes y. The files have no time: frames are taken to be 1/250 s apart. Their velocities are the backward
    differences of the poses times 250, to the last digit; they only serve to check that. Where the camera lost frames,
    the file goes on without a gap: :mod:`contactid.planar.throw_preprocess` finds such jumps.

    The tracked point is not quite the square's centre, nor are its axes the sides' directions: see there, too.

    Raises
    ------
    ContactIdError
        Without files, or where one is not as described; the file and the remedy are named.
    """
    files = sorted(Path(folder).glob("traj_*.csv"), key=lambda file: (len(file.stem), file.stem))
    if not files:
        raise ContactIdError(f"{folder}: no throws there (looked for traj_*.csv)", "Check data_mirror or fetch again")
    shape = square(SQUARE_SIDE)
    return build_throws(
        [_read_square_throw(file) for file in files],
        shape,
        object_name="Square60",
        source="planar throws of a square",
        licence=licence,
        synthetic=False,
        inertia_ratio=shape.uniform_inertia_ratio,
    )


def _read_square_throw(path: Path) -> PlanarThrow:
    table = read_columns(path, _SQUARE_COLUMNS)
    steps = np.diff(table[:, :2], axis=0) * SQUARE_FREQUENCY
    if np.median(np.abs(steps - table[1:, 3:5])) > 1e-6:
        raise ContactIdError(
            f"{path}: velocities that are not the differences of its positions at {SQUARE_FREQUENCY:g} frames/s",
            "It's no throw of this dataset: write t, x, y, theta and read it as your own",
        )
    return PlanarThrow(path.stem, np.arange(len(table)) / SQUARE_FREQUENCY, _continuous(table[:, :3]))


def read_own_throw(path: str | Path) -> PlanarThrow:
    """Read a user's file: a header with t, x, y, theta (any order, other columns are passed over), commas, SI units.

    x and y are the tracked point's (m, y up), theta is counter-clockwise from x (rad, wrapped or not), t is in s and
    evenly spaced; the throw's time starts at 0.

    Raises
    ------
    ContactIdError
        Where a column is missing, a value is no finite number, sampling is uneven, or the units can't be SI.
    """
    path = Path(path)
    table = read_columns(path, _OWN_COLUMNS)
    time, position = table[:, 0], table[:, 1:]
    step = np.diff(time)
    if not (step > 0.0).all() or np.ptp(step) > _UNEVEN * step.mean():
        worst = int(np.argmax(np.abs(step - np.median(step))))
        raise ContactIdError(
            f"{path}: t is not evenly spaced (rows {worst + 1} and {worst + 2} are {step[worst]:g} s apart, "
            f"the median is {np.median(step):g} s)",
            "Resample it, or cut the throw at the gap",
        )
    _check_units(path, float(step.mean()), position)
    return PlanarThrow(path.stem, time - time[0], _continuous(position))


def _check_units(path: Path, interval: float, position: np.ndarray) -> None:
    """Raise where t, x, y or theta can't be in s, m and rad."""
    if interval > _LONGEST_INTERVAL:
        raise ContactIdError(f"{path}: t has {interval:g} s between frames", "Give t in seconds")
    steps = np.abs(np.diff(position, axis=0))
    speed = float(np.quantile(np.hypot(steps[:, 0], steps[:, 1]), 0.9)) / interval
    farthest = float(np.abs(position[:, :2]).max())
    if farthest > _LARGEST_POSITION or speed > _FASTEST:
        raise ContactIdError(
            f"{path}: positions of {farthest:g} m and speeds of {speed:g} m/s", "Give x and y in metres"
        )
    turn = float(np.quantile(np.abs(np.diff(np.unwrap(position[:, 2]))), 0.9)) / interval
    if turn > _FASTEST_TURN or steps[:, 2].max() > _LARGEST_TURN:
        raise ContactIdError(
            f"{path}: theta turns by {turn:g} rad/s and jumps by {steps[:, 2].max():g} rad", "Give theta in radians"
        )


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
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
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


def read_columns(path: Path, columns: Sequence[str]) -> np.ndarray:
    """(n, columns) finite numbers of a comma-separated file with a header, in the order asked for.

    Raises
    ------
    ContactIdError
        Naming the file, and the row (below the header, from 1) and column where there is one.
    """
    if not path.is_file():
        raise ContactIdError(f"{path}: no such file", "Correct the path")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ContactIdError(f"{path}: not readable as text ({error})", "Give a comma-separated file") from None
    if not rows:
        raise ContactIdError(f"{path}: an empty file", "Fetch or record it again")
    header = [name.strip() for name in rows[0]]
    missing = [name for name in columns if name not in header]
    if missing:
        raise ContactIdError(
            f"{path}: no column {', '.join(missing)} (its header is {', '.join(header)})",
            f"The first line must name {', '.join(columns)}, with commas between them",
        )
    twice = [name for name in columns if header.count(name) > 1]
    if twice:
        raise ContactIdError(f"{path}: column {', '.join(twice)} is there twice", "Rename or drop one")
    if len(rows) <= _FEWEST_FRAMES:
        raise ContactIdError(f"{path}: only {len(rows) - 1} frames", f"At least {_FEWEST_FRAMES} are needed")
    places = [header.index(name) for name in columns]
    table = np.empty((len(rows) - 1, len(columns)))
    for i, row in enumerate(rows[1:]):
        for j, place in enumerate(places):
            table[i, j] = _number(path, row, place, i + 1, columns[j])
    return table


def _number(path: Path, row: Sequence[str], place: int, line: int, column: str) -> float:
    text = row[place].strip() if place < len(row) else ""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise ContactIdError(f"{path}: row {line}, column {column} is {text or 'empty'!r}", "Cut or repair the file")
    return value

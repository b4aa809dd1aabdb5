"""Measured planar throws in one canonical form; :mod:`contactid.planar.readers.csv_throws` reads
them.

Throws have different lengths, so samples are stored one after the other (the CF convention's
*contiguous ragged array*): ``row_size[throw]`` says how many samples each throw has.

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

Attributes: ``object``, ``sample_frequency`` (Hz), ``source``, ``licence``, ``synthetic`` (0 or 1),
``left_out`` (JSON: name to reason).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.geometry import Ellipse, Polygon, Shape

UNITS = {"time": "s", "x": "m", "y": "m", "theta": "rad", "row_size": "1", "inertia_ratio": "m2"}
SQUARE_SIDE = 0.06  # m
SQUARE_FREQUENCY = 250.0  # Hz
_UNEVEN = 0.01  # largest relative spread of the sample times' differences


@dataclass(frozen=True)
class PlanarThrow:
    """One throw.

    Attributes
    ----------
    name : of the file, without its ending
    time : (n,) s, evenly spaced from 0
    position : (n, 3) x, y (m) and theta (rad, continuous)
    lost : (n,) frames without a measured pose, which is interpolated there; empty where all were
        measured
    notes : sentences on what was done to the file's frames
    """

    name: str
    time: np.ndarray
    position: np.ndarray
    lost: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    notes: tuple[str, ...] = ()

    @property
    def seen(self) -> np.ndarray:
        """(n,) frames with a measured pose."""
        return ~self.lost if len(self.lost) else np.ones(len(self.time), dtype=bool)

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
    """Assemble the canonical dataset.

    Raises
    ------
    ContactIdError
        Without a throw, where one has a pose that isn't finite, or where they differ in their
        sample frequency.
    """
    if not throws:
        raise ContactIdError(
            f"{source}: no usable throw of {object_name}", "Check the folder or file"
        )
    frequency = throws[0].sample_frequency
    for throw in throws:
        if not np.isfinite(throw.position).all():
            raise ContactIdError(f"{source}: throw {throw.name} has a NaN", "Leave such throws out")
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
    return data


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
        # contiguous ragged array: a throw's samples end where the sum of sizes so far does
        part = slice(int(end - size), int(end))
        yield PlanarThrow(str(name), data["time"].values[part], position[part])

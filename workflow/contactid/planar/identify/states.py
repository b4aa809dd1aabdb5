"""Identified throws: states and impulses, and their files with the measured poses and the truth
where it is known.

Throws, frames, steps and corners have different numbers, so each is stored one after the other with
its number per throw, as in :mod:`contactid.planar.readers.throws`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, Shape
from contactid.planar.simulate.throws import MeasuredThrow, Truth
from contactid.sources.motion import read_dataset, write_dataset

_PUSHES = 1e-4  # m/s: impulses per mass below it are none
_SMALL = 0.01  # of the largest impulse: below it, ratios of impulses are noise
NUMBERS = ("inertia_ratio", "inertia_ratio_se", "friction_mu", "friction_mu_se")


@dataclass(frozen=True)
class ThrowStates:
    """Identified motion of one throw on its grid of n steps, n_c contacts.

    Attributes
    ----------
    time : (n + 1,) s, as measured
    frame : (n_m,) indices of the grid at which frames lie
    position, velocity : (n + 1, 3) m, rad, m/s, rad/s; v[k] leads to q[k]
    impulse_n, impulse_t : (n, n_c) per mass at q[k], m/s
    gap : (n + 1, n_c) m
    sliding : (n, n_c) speed of the contact point along t after the impulse at q[k], m/s
    """

    time: np.ndarray
    frame: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray
    gap: np.ndarray
    sliding: np.ndarray

    @property
    def mean_sliding(self) -> float:
        """Mean sliding speed of the contacts, weighted by their normal impulses, m/s; 0 without
        contact.
        """
        whole = float(self.impulse_n.sum())
        return float((self.impulse_n * np.abs(self.sliding)).sum()) / whole if whole > 0.0 else 0.0

    @property
    def largest_ratio(self) -> float:
        """Largest ratio of tangential to normal impulse, of impulses that aren't small; 0 without
        contact.
        """
        pushes = self.impulse_n > max(_PUSHES, _SMALL * float(self.impulse_n.max(initial=0.0)))
        return float((np.abs(self.impulse_t[pushes]) / self.impulse_n[pushes]).max(initial=0.0))

    @property
    def n_impacts(self) -> int:
        """Contacts that close: impulses at instants without one at the instant before."""
        pushes = self.impulse_n > _PUSHES
        # a lasting contact counts once, when it closes
        return int(pushes[0].sum() + (pushes[1:] & ~pushes[:-1]).sum())


@dataclass(frozen=True)
class StoredFit:
    """One identified throw of a file.

    Attributes
    ----------
    label : of the throw
    frames_per_second : Hz
    shape : of the body
    throw : as measured
    states : as identified
    inertia_ratio, inertia_ratio_se : J/m, m2
    friction_mu, friction_mu_se : friction
    friction_is_bound : nothing slides
    truth : the simulated throw, where there is one
    mass : kg, NaN where unknown
    """

    label: str
    frames_per_second: float
    shape: Shape
    throw: MeasuredThrow
    states: ThrowStates
    inertia_ratio: float
    inertia_ratio_se: float
    friction_mu: float
    friction_mu_se: float
    friction_is_bound: bool
    truth: Truth | None = None
    mass: float = float("nan")


def write_fits(fits: Sequence[StoredFit], path: str | Path) -> None:
    """Write identified throws of bodies with the same number of contacts."""
    states, throws = [fit.states for fit in fits], [fit.throw for fit in fits]
    truths = [fit.truth for fit in fits if fit.truth is not None]
    ground = [[throw.ground.slope, throw.ground.x0, throw.ground.y0] for throw in throws]

    def joined(parts: Sequence[Any], name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    def of_fits(name: str, dtype: str | None = None) -> tuple[str, np.ndarray]:
        return "throw", np.array([getattr(fit, name) for fit in fits], dtype=dtype)

    data = xr.Dataset(
        {
            "frames": ("throw", np.array([len(throw.time) for throw in throws])),
            "instants": ("throw", np.array([len(state.time) for state in states])),
            "true_instants": (
                "throw",
                np.array([0 if fit.truth is None else len(fit.truth.time) for fit in fits]),
            ),
            "measured_time": ("sample", joined(throws, "time"), {"units": "s"}),
            "measured_position": (
                ("sample", "coordinate"),
                joined(throws, "position"),
                {"units": "m, m, rad"},
            ),
            "sigma": (
                ("throw", "coordinate"),
                np.array([throw.sigma for throw in throws]),
                {"units": "m, m, rad"},
            ),
            "ground": (("throw", "line"), np.array(ground), {"units": "rad, m, m"}),
            "frame": ("sample", joined(states, "frame")),
            "time": ("instant", joined(states, "time"), {"units": "s"}),
            "position": (
                ("instant", "coordinate"),
                joined(states, "position"),
                {"units": "m, m, rad"},
            ),
            "velocity": (
                ("instant", "coordinate"),
                joined(states, "velocity"),
                {"units": "m/s, m/s, rad/s"},
            ),
            **{
                name: (
                    ("instant", "contact"),
                    np.concatenate([_padded(getattr(s, name), s) for s in states]),
                )
                for name in ("impulse_n", "impulse_t", "gap", "sliding")
            },
            **{name: of_fits(name) for name in NUMBERS},
            "friction_is_bound": of_fits("friction_is_bound", "int8"),
            "frames_per_second": (*of_fits("frames_per_second"), {"units": "Hz"}),
            "mass": (*of_fits("mass"), {"units": "kg"}),
            "outline": (
                ("throw", "corner", "xy"),
                np.array([_outline(fit.shape) for fit in fits]),
                {"units": "m"},
            ),
            "corner_radius": (
                "throw",
                np.array([getattr(fit.shape, "radius", 0.0) for fit in fits]),
                {"units": "m"},
            ),
        },
        coords={"throw": np.array([fit.label for fit in fits], dtype=object)},
        attrs={"ellipse": int(isinstance(fits[0].shape, Ellipse))},
    )
    if truths:
        data["true_time"] = ("true_instant", joined(truths, "time"))
        data["true_position"] = (("true_instant", "coordinate"), joined(truths, "position"))
        for name in ("impulse_n", "impulse_t"):
            data[f"true_{name}"] = ("true_instant", joined(truths, name))
    write_dataset(data, path)


def read_fits(path: str | Path) -> list[StoredFit]:
    """The identified throws of a file, in its order."""
    data = read_dataset(path)
    parts = [_parts(data[name].values) for name in ("frames", "instants", "true_instants")]
    return [_read_one(data, i, *slices) for i, slices in enumerate(zip(*parts, strict=True))]


def _read_one(data: xr.Dataset, i: int, sample: slice, instant: slice, true: slice) -> StoredFit:
    throw = MeasuredThrow(
        time=data["measured_time"].values[sample],
        position=data["measured_position"].values[sample],
        sigma=data["sigma"].values[i],
        ground=Ground(*data["ground"].values[i].tolist()),
    )
    steps = slice(instant.start, instant.stop - 1)
    states = ThrowStates(
        frame=data["frame"].values[sample],
        **{name: data[name].values[instant] for name in ("time", "position", "velocity", "gap")},
        **{name: data[name].values[steps] for name in ("impulse_n", "impulse_t", "sliding")},
    )
    truth = None
    if true.stop > true.start:
        truth = Truth(
            *(
                data[f"true_{name}"].values[true]
                for name in ("time", "position", "impulse_n", "impulse_t")
            )
        )
    corners, radius = data["outline"].values[i].tolist(), float(data["corner_radius"].values[i])
    return StoredFit(
        label=str(data["throw"].values[i]),
        shape=Ellipse(*corners[0])
        if data.attrs["ellipse"]
        else Polygon(tuple(map(tuple, corners)), radius),
        throw=throw,
        states=states,
        friction_is_bound=bool(data["friction_is_bound"].values[i]),
        truth=truth,
        **{name: float(data[name].values[i]) for name in (*NUMBERS, "frames_per_second", "mass")},
    )


def _outline(shape: Shape) -> list[tuple[float, float]]:
    return [(shape.a, shape.b)] if isinstance(shape, Ellipse) else list(shape.vertices)


def _padded(values: np.ndarray, states: ThrowStates) -> np.ndarray:
    """Values of steps get a last row for the last instant, at which no step starts."""
    return (
        values
        if len(values) == len(states.time)
        else np.vstack([values, np.zeros_like(values[:1])])
    )


def _parts(sizes: np.ndarray) -> list[slice]:
    ends = np.cumsum(sizes)
    return [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]

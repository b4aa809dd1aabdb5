"""Identified throws: states and impulses, and their files with the measured poses and the truth where it is known.

Throws, frames, steps and corners have different numbers, so each is stored one after the other with its number per
throw, as in :mod:`contactid.planar.readers.throws`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, Shape
from contactid.planar.simulate.throws import MeasuredThrow, Truth
from contactid.sources.motion import read_dataset, write_dataset

_PUSHES = 1e-4  # m/s: impulses per mass below it are none
_SMALL = 0.01  # of the largest impulse: below it, ratios of impulses are noise
_NUMBERS = ("inertia_ratio", "inertia_ratio_se", "friction_mu", "friction_mu_se")


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
        """Mean sliding speed of the contacts, weighted by their normal impulses, m/s; 0 without contact."""
        whole = float(self.impulse_n.sum())
        return float((self.impulse_n * np.abs(self.sliding)).sum()) / whole if whole > 0.0 else 0.0

    @property
    def largest_ratio(self) -> float:
        """Largest ratio of tangential to normal impulse, of impulses that aren't small; 0 without contact."""
        pushes = self.impulse_n > max(_PUSHES, _SMALL * float(self.impulse_n.max(initial=0.0)))
        return float((np.abs(self.impulse_t[pushes]) / self.impulse_n[pushes]).max(initial=0.0))

    @property
    def n_impacts(self) -> int:
        """Contacts that close: impulses at instants without one at the instant before."""
        pushes = self.impulse_n > _PUSHES
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
    states = [fit.states for fit in fits]
    outline = [_outline(fit.shape) for fit in fits]
    data = xr.Dataset(
        {
            "frames": ("throw", np.array([len(fit.throw.time) for fit in fits])),
            "instants": ("throw", np.array([len(state.time) for state in states])),
            "true_instants": ("throw", np.array([0 if f.truth is None else len(f.truth.time) for f in fits])),
            "measured_time": ("sample", np.concatenate([fit.throw.time for fit in fits]), {"units": "s"}),
            "measured_position": (
                ("sample", "coordinate"),
                np.concatenate([fit.throw.position for fit in fits]),
                {"units": "m, m, rad"},
            ),
            "sigma": (("throw", "coordinate"), np.array([fit.throw.sigma for fit in fits]), {"units": "m, m, rad"}),
            "ground": (
                ("throw", "line"),
                np.array([[f.throw.ground.slope, f.throw.ground.x0, f.throw.ground.y0] for f in fits]),
                {"units": "rad, m, m"},
            ),
            "frame": ("sample", np.concatenate([state.frame for state in states])),
            "time": ("instant", np.concatenate([state.time for state in states]), {"units": "s"}),
            "position": (
                ("instant", "coordinate"), np.concatenate([s.position for s in states]), {"units": "m, m, rad"}
            ),
            "velocity": (
                ("instant", "coordinate"),
                np.concatenate([state.velocity for state in states]),
                {"units": "m/s, m/s, rad/s"},
            ),
            **{
                name: (("instant", "contact"), np.concatenate([_padded(getattr(s, name), s) for s in states]))
                for name in ("impulse_n", "impulse_t", "gap", "sliding")
            },
            **{name: ("throw", np.array([getattr(fit, name) for fit in fits])) for name in _NUMBERS},
            "friction_is_bound": ("throw", np.array([fit.friction_is_bound for fit in fits], dtype="int8")),
            "frames_per_second": ("throw", np.array([fit.frames_per_second for fit in fits]), {"units": "Hz"}),
            "mass": ("throw", np.array([fit.mass for fit in fits]), {"units": "kg"}),
            "outline": (("throw", "corner", "xy"), np.array(outline), {"units": "m"}),
        },
        coords={"throw": np.array([fit.label for fit in fits], dtype=object)},
        attrs={"ellipse": int(isinstance(fits[0].shape, Ellipse))},
    )  # fmt: skip
    known = [fit.truth for fit in fits if fit.truth is not None]
    if known:
        data["true_time"] = ("true_instant", np.concatenate([truth.time for truth in known]))
        data["true_position"] = (("true_instant", "coordinate"), np.concatenate([truth.position for truth in known]))
        for name in ("impulse_n", "impulse_t"):
            data[f"true_{name}"] = ("true_instant", np.concatenate([getattr(truth, name) for truth in known]))
    write_dataset(data, path)


def read_fits(path: str | Path) -> list[StoredFit]:
    """The identified throws of a file, in its order."""
    data = read_dataset(path)
    samples, instants, truths = (_parts(data[name].values) for name in ("frames", "instants", "true_instants"))
    return [
        _read_one(data, i, sample, instant, truth)
        for i, (sample, instant, truth) in enumerate(zip(samples, instants, truths, strict=True))
    ]


def _read_one(data: xr.Dataset, i: int, sample: slice, instant: slice, truth: slice) -> StoredFit:
    slope, x0, y0 = map(float, data["ground"].values[i])
    throw = MeasuredThrow(
        time=data["measured_time"].values[sample],
        position=data["measured_position"].values[sample],
        sigma=data["sigma"].values[i],
        ground=Ground(slope, x0, y0),
    )
    states = ThrowStates(
        time=data["time"].values[instant],
        frame=data["frame"].values[sample],
        position=data["position"].values[instant],
        velocity=data["velocity"].values[instant],
        impulse_n=data["impulse_n"].values[instant][:-1],
        impulse_t=data["impulse_t"].values[instant][:-1],
        gap=data["gap"].values[instant],
        sliding=data["sliding"].values[instant][:-1],
    )
    corners = data["outline"].values[i]
    shape: Shape = (
        Ellipse(*map(float, corners[0])) if data.attrs["ellipse"] else Polygon(tuple(map(tuple, corners.tolist())))
    )
    return StoredFit(
        label=str(data["throw"].values[i]),
        frames_per_second=float(data["frames_per_second"].values[i]),
        shape=shape,
        throw=throw,
        states=states,
        inertia_ratio=float(data["inertia_ratio"].values[i]),
        inertia_ratio_se=float(data["inertia_ratio_se"].values[i]),
        friction_mu=float(data["friction_mu"].values[i]),
        friction_mu_se=float(data["friction_mu_se"].values[i]),
        friction_is_bound=bool(data["friction_is_bound"].values[i]),
        truth=Truth(*(data[f"true_{name}"].values[truth] for name in ("time", "position", "impulse_n", "impulse_t")))
        if truth.stop > truth.start
        else None,
        mass=float(data["mass"].values[i]),
    )


def _outline(shape: Shape) -> list[tuple[float, float]]:
    return [(shape.a, shape.b)] if isinstance(shape, Ellipse) else list(shape.vertices)


def _padded(values: np.ndarray, states: ThrowStates) -> np.ndarray:
    """Values of steps get a last row for the last instant, at which no step starts."""
    return values if len(values) == len(states.time) else np.vstack([values, np.zeros_like(values[:1])])


def _parts(sizes: np.ndarray) -> list[slice]:
    ends = np.cumsum(sizes)
    return [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]

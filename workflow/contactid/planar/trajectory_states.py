"""Identified states and impulses of a throw, read from a solved trajectory model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.planar.measured_throw import MeasuredThrow
from contactid.planar.models.trajectory import TrajectoryModel
from contactid.planar.simulate.geometry import Shape, contacts

_PUSHES = 1e-4  # m/s: impulses per mass below it are none
_SMALL = 0.01  # of the largest impulse: below it, ratios of impulses are noise


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


def read_states(built: TrajectoryModel, j: int, shape: Shape, throw: MeasuredThrow) -> ThrowStates:
    """States and impulses of throw j at the model's present point, SI units."""
    block, n_s, scales = built.model.throws[j], built.sub_steps[j], built.scales
    n = n_s * throw.n_frames
    q = np.array([[pyo.value(block.q[k, i]) for i in range(3)] for k in range(n + 1)]) * scales.pose
    v = np.array([[pyo.value(block.v[k, i]) for i in range(3)] for k in range(n + 1)]) * scales.pose / scales.time
    impulses = np.zeros((2, n, shape.n_contacts))
    for k, c in block.c_n:
        impulses[:, k, c] = pyo.value(block.c_n[k, c]), pyo.value(block.c_t[k, c])
    shares = np.array([pyo.value(block.share[k]) if k in block.share else 1.0 for k in range(n)])
    time = throw.time[0] + np.concatenate([[0.0], np.cumsum(shares)]) * throw.frame_interval / n_s
    at = contacts(shape, throw.ground, q)
    return ThrowStates(
        time=time,
        frame=n_s * np.arange(throw.n_frames + 1),
        position=q,
        velocity=v,
        impulse_n=impulses[0] * scales.speed,
        impulse_t=impulses[1] * scales.speed,
        gap=at.gap,
        sliding=(at.tangent[:-1] * v[1:, None, :]).sum(axis=-1),
    )

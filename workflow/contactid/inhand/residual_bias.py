"""Unmodelled contact forces as extra unknowns: which kinds can be told apart from an object's own dynamics.

A fingertip's mounting frame touches the object too, so part of what acts on it isn't sensed (section VI, in-hand
paper). Newton and Euler's equations then read ``Y theta = W_m + Z beta``, with columns Z of a wrench that is known up
to its coefficients beta:

* ``constant``: six columns, a wrench that is constant in the body frame. Gravity turns in that frame as the object
  turns, a constant doesn't, so the two are told apart by reorientation. Constant forces at fixed contact points, one
  per finger, span nothing but these six.
* ``drifting``: the same, linear between knots in time, with departures of a given standard deviation. The faster it
  may drift, the more of the slow motion it explains away.
What can't be told apart is a share of the load that all fingertips miss: it is another mass at every motion. Unknown
gains ``f = (1 + beta_c) f_m`` aren't offered for that reason; gains towards zero shrink the errors of the forces along
with the forces, so least squares with given weights prefers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.inhand.recording_arrays import recorded_signals

CONSTANT, DRIFTING = "constant", "drifting"
KINDS = (CONSTANT, DRIFTING)


@dataclass(frozen=True)
class ResidualBias:
    """Which unmodelled wrenches to estimate.

    Attributes
    ----------
    kinds : some of :data:`KINDS`
    knot_interval : s between the knots of a drifting wrench
    drift_sd : N, standard deviation of a drifting force's departure at a knot; its torque's is that times the contacts'
        root mean square distance from B's origin
    """

    kinds: Sequence[str] = ()
    knot_interval: float = 1.0
    drift_sd: float = 0.1

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown:
            raise ContactIdError(f"unknown residual force {unknown[0]!r}", f"Choose from {', '.join(KINDS)}")
        if min(self.knot_interval, self.drift_sd) <= 0.0:
            raise ContactIdError("a residual force has a scale that isn't positive", "Give positive numbers")


def bias_columns(recording: xr.Dataset, bias: ResidualBias) -> tuple[np.ndarray, np.ndarray]:
    """Z ``(n, 6, b)`` in N and N m, and the standard deviations ``(b,)`` of beta; infinite where nothing is known."""
    signals = recorded_signals(recording)
    n = signals.samples
    columns, deviations = [np.zeros((n, 6, 0))], [np.zeros(0)]
    if CONSTANT in bias.kinds or DRIFTING in bias.kinds:
        columns.append(np.broadcast_to(np.eye(6), (n, 6, 6)))
        deviations.append(np.full(6, np.inf))
    if DRIFTING in bias.kinds:
        hats = _hats(signals.time, bias.knot_interval)
        arm = float(np.sqrt(np.mean(np.sum(signals.points**2, axis=-1))))
        columns.append(np.einsum("nj,il->nijl", hats, np.eye(6)).reshape(n, 6, -1))
        deviations.append(np.tile(bias.drift_sd * np.repeat([1.0, arm], 3), hats.shape[1]))
    return np.concatenate(columns, axis=2), np.concatenate(deviations)


def _hats(time: np.ndarray, interval: float) -> np.ndarray:
    """(n, j) piecewise linear basis functions at knots about ``interval`` apart, the ends included."""
    count = max(2, round((time[-1] - time[0]) / interval) + 1)
    knots = np.linspace(time[0], time[-1], count)
    return np.column_stack([np.interp(time, knots, unit) for unit in np.eye(count)])

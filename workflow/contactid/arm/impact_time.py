"""When a recorded motion hits the table: a bend in the tip's height, found and timed without anyone's help.

Sensors on the motors' side see no jump of velocity, since an elastic joint lies between them and the impact, but the
velocity starts to bend there. Two steps:

1. A scan over all samples for the first one where the height is much better described by a line that bends there
   (``+ c_2 s^2 + c_3 s^3 + c_4 s^4``, s the time since the bend) than by any smooth polynomial with as many
   coefficients, and where the bend takes a part of the approach speed.
2. From there the impact time is fitted to all recorded positions together with everything else: lines before, and the
   integrals of eq. 7 behind it (:mod:`contactid.arm.impact_fit`). Its standard error follows from the same fit.

The height alone leaves the time open by a millisecond or more, since a second mode's phase imitates a shift; together
with the motion along the table, two modes determine it well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from contactid.arm.impact_fit import ImpactFit, fit_impact
from contactid.core.errors import ContactIdError

_UNEVEN = 0.01  # of the sampling interval
_DEGREES = (2, 3, 4)  # of the bend in the scan


@dataclass(frozen=True)
class ImpactOptions:
    """How to find an impact.

    Attributes
    ----------
    before : length of the line before the impact, s
    bend : length of the bend in the scan, s
    after : length of the oscillation in the fit, s
    modes : of the oscillation in the fit
    shifts : of the fit's starts from the scan's answer, samples
    slowest : approach speed below which nothing counts as an impact, m/s
    share : of the approach speed that has to be lost at the bend's end
    significance : variance explained by the bend beyond a smooth curve, in units of that left, above which it counts
    """

    before: float = 0.06
    bend: float = 0.02
    after: float = 0.15
    modes: int = 2
    shifts: tuple[float, ...] = (-2.0, 0.0, 2.0)
    slowest: float = 0.01
    share: float = 0.2
    significance: float = 20.0


@dataclass(frozen=True)
class Impact:
    """An impact in a recording.

    Attributes
    ----------
    time, time_se : of the impact and its standard error, s
    significance : of the bend in the scan, see :class:`ImpactOptions`
    fit : the positions around the impact
    """

    time: float
    time_se: float
    significance: float
    fit: ImpactFit


def detect_impact(
    time: ArrayLike,
    position: ArrayLike,
    *,
    options: ImpactOptions | None = None,
    noise_covariance: np.ndarray | None = None,
    name: str = "recording",
) -> Impact:
    """Find the first impact of a tip that comes down.

    Parameters
    ----------
    time, position
        (n,) s, evenly spaced; (n,) or (n, d) m, of which the last column is the height along the table's normal. NaN
        at the end, beyond a recording, is cut.
    noise_covariance
        (d, d), up to a factor, of the positions' noise at one instant; unit if None.
    name
        For messages.

    Raises
    ------
    ContactIdError
        For a recording without impact, too short, with gaps or with NaN inside.
    """
    options = options or ImpactOptions()
    t, y = _recorded(np.asarray(time, dtype=float), np.asarray(position, dtype=float), name)
    step = float(t[-1] - t[0]) / max(len(t) - 1, 1)
    lengths = (options.before, options.bend, options.after)
    before, bend, after = (round(length / step) if step > 0.0 else len(t) for length in lengths)
    if len(t) < before + bend + 2:
        raise ContactIdError(
            f"{name}: {len(t)} samples are too few to find an impact", f"Record {sum(lengths):g} s or more"
        )
    index, significance = _scan(t, y[:, -1], before, bend, options, name)
    if index + after >= len(t):
        raise ContactIdError(
            f"{name}: the recording ends {t[-1] - t[index]:.3g} s after the impact", f"Record {options.after:g} s"
        )
    window = slice(index - before, index + after + 1)
    fit = fit_impact(
        t[window], y[window], float(t[index]), modes=options.modes, noise_covariance=noise_covariance,
        shifts=tuple(step * shift for shift in options.shifts),
    )  # fmt: skip
    return Impact(time=fit.impact_time, time_se=fit.impact_time_se, significance=significance, fit=fit)


def _recorded(t: np.ndarray, y: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) and positions (n, d) up to the last finite sample."""
    y = y[:, None] if y.ndim == 1 else y
    if t.ndim != 1 or y.ndim != 2 or len(t) != len(y):
        raise ContactIdError(f"{name}: times {t.shape} and positions {y.shape} differ", "Give one position per time")
    there = np.flatnonzero(np.isfinite(t) & np.isfinite(y).all(axis=1))
    if not len(there):
        raise ContactIdError(f"{name}: no finite sample", "Check the recording")
    t, y = t[: there[-1] + 1], y[: there[-1] + 1]
    if len(there) < len(t):
        raise ContactIdError(f"{name}: {len(t) - len(there)} samples aren't finite", "Cut or repair the recording")
    steps = np.diff(t)
    if len(steps) and np.abs(steps - np.median(steps)).max() > _UNEVEN * abs(np.median(steps)):
        raise ContactIdError(f"{name}: samples are missing or uneven in time", "Cut or resample the recording")
    return t, y


def _scan(t: np.ndarray, z: np.ndarray, before: int, bend: int, options: ImpactOptions, name: str) -> tuple[int, float]:
    """Sample nearest to the first impact, and the bend's significance there."""
    s = np.arange(-before, bend + 1) / bend
    powers = np.array(_DEGREES)
    bent = np.column_stack([np.ones_like(s), s, np.maximum(s, 0.0)[:, None] ** powers])
    smooth = np.polynomial.legendre.legvander(s / np.abs(s).max(), bent.shape[1] - 1)
    windows = sliding_window_view(z, len(s))
    windows = windows - windows[:, :1]  # less cancellation
    coefficients = windows @ np.linalg.pinv(bent).T
    left = ((windows - coefficients @ bent.T) ** 2).sum(axis=1)
    left_smooth = ((windows - windows @ np.linalg.pinv(smooth).T @ smooth.T) ** 2).sum(axis=1)
    floor = (np.finfo(float).eps * np.abs(z).max()) ** 2 * len(s) + np.finfo(float).tiny
    ratio = (left_smooth - left) / np.maximum(left, floor) * (len(s) - bent.shape[1])
    speed = coefficients[:, 1] / (bend * (t[1] - t[0]))
    kept = 1.0 + (coefficients[:, 2:] @ powers) / np.where(coefficients[:, 1] == 0.0, np.inf, coefficients[:, 1])
    falling = speed < -options.slowest
    hits = np.flatnonzero(falling & (kept < 1.0 - options.share) & (ratio > options.significance))
    if not len(hits):
        raise ContactIdError(
            f"{name}: no impact found in {t[-1] - t[0]:.3g} s"
            f" (fastest approach {max(0.0, -float(speed.min())):.3g} m/s)",
            "Check the recording and the direction of the height",
        )
    first = hits[hits <= hits[0] + 2 * bend]
    best = first[np.argmax(ratio[first])]
    return int(best) + before, float(ratio[best])

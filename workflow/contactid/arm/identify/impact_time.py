"""When a recorded motion hits the table: a bend in the tip's height, found and timed without
anyone's help.

Sensors on the motors' side see no jump of velocity, since an elastic joint lies between them and
the impact, but the velocity starts to bend there. Two steps:

1. A scan over all samples for the first one where the height is much better described by a line
   that bends there (``+ c_2 s^2 + c_3 s^3 + c_4 s^4``, s the time since the bend) than by any
   smooth polynomial with as many coefficients, and where the bend takes a part of the approach
   speed.
2. From there the impact time is fitted to all recorded positions together with everything else:
   lines before, and the integrals of eq. 7 behind it. Its standard error follows from the same fit.

With ``s = max(t - t_i, 0)`` a position in this fit is

``y(t) = y_i + v- (t - t_i) + a s^2 / 2 + sum_k Re(z_k ((e^{s_k s} - 1) / s_k - s))``, ``s_k =
gamma_k + i omega_k``,

``z_k = A_k e^{i phi_k}`` (arm paper, eq. 7): continuous, with a continuous velocity. Several
positions share the impact time and the poles, each has its own coefficients, so only t_i and the
poles are searched (variable projection, as in :mod:`contactid.arm.identify.modal_search`).
Positions have white noise: ordinary least squares is efficient, and its Jacobian gives the standard
error of t_i.

The height alone leaves the time open by a millisecond or more, since a second mode's phase imitates
a shift; together with the motion along the table, two modes determine it well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.optimize import OptimizeResult, least_squares

from contactid.arm.identify.modal_fit import fit_modes_jointly
from contactid.arm.models.modal_signal import (
    DIFFERENCED,
    HIGH,
    LOW,
    parts_of,
    poles_of,
    scaled_inverse,
)
from contactid.core.errors import ContactIdError

_TIME = 1e-3  # s, unit of the impact time in the search
_LEAD = 3  # linear coefficients before those of the modes: y_i, v-, a
_UNEVEN = 0.01  # of the sampling interval
_DEGREES = (2, 3, 4)  # of the bend in the scan
# s of an approach: fewer samples don't give v- to a hundredth; in still fewer none is seen
_SHORTEST, _SEEN = 0.02, 0.005
_FARTHEST = (
    20.0  # ms that a fit may be off the scan's answer: beyond the window it has nothing to fit
)
_SHIFT = 2.0  # samples, of two of the fit's starts from the scan's answer
# A link's jump: the rate over so many s before it, at least so much of the approach's, and behind it at
# most. A motor behind its spring loses less within that time, unless it swings at 40 Hz.
_SPAN, _STILL, _LOST = 3e-3, 0.85, 0.5
_NEAR = 0.025  # s from the scan's answer, which may be early by the length of a bend


@dataclass(frozen=True)
class ImpactFit:
    """When an impact was, and the standard error, s."""

    time: float
    time_se: float


def fit_impact(
    time: np.ndarray,
    position: np.ndarray,
    near: float,
    shift: float,
    *,
    modes: int,
    noise_covariance: np.ndarray | None = None,
) -> ImpactFit:
    """Fit positions (n, d) at evenly spaced times (n,), s, around an impact near the time ``near``.

    The search starts from there and from ``shift`` s before and behind; ``noise_covariance`` (d,
    d), up to a factor, is that of the positions at one instant.
    """
    channels = position.shape[1]
    # channels made independent, of equal noise; (y - y_0) against cancellation
    mixing = np.linalg.cholesky(np.eye(channels) if noise_covariance is None else noise_covariance)
    white = np.linalg.solve(mixing, (position - position[0]).T).T
    problem = _Problem(time, white, near)
    low = np.array([-_FARTHEST, *np.tile(LOW, modes)])
    high = np.array([_FARTHEST, *np.tile(HIGH, modes)])
    found: list[OptimizeResult] = []
    # three starts: a mode's phase imitates a shift, so there are several minima
    for moment in (near - shift, near, near + shift):
        start = np.clip(_start(problem, moment, modes), low, high)
        found.append(least_squares(problem.rest, start, jac=problem.slopes, bounds=(low, high), x_scale="jac",
                                   xtol=1e-12, ftol=1e-13, gtol=1e-14, max_nfev=100))  # fmt: skip
    return _described(problem, min(found, key=lambda one: one.cost).x)


@dataclass(frozen=True)
class _Problem:
    """Whitened positions (n, d); a point is t_i in ms after ``near``, then gamma and omega of every
    mode.
    """

    time: np.ndarray
    target: np.ndarray
    near: float

    def design(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Columns (n, p), time since impact (n,), ``e^{s s}`` and its integral (n, m)."""
        # s since the impact, negative before it
        lag = self.time - self.near - _TIME * point[0]
        since = np.maximum(lag, 0.0)[:, None]
        s = poles_of(point[1:])
        wave = np.exp(since * s)
        integral = (wave - 1.0) / s
        # integrals of eq. 7's modes less their part at the impact, cosine and sine
        modal = np.stack([integral.real - since, -integral.imag], axis=-1).reshape(len(lag), -1)
        # y_i, v- and a
        lead = np.column_stack([np.ones_like(lag), lag, 0.5 * since[:, 0] ** 2])
        return np.column_stack([lead, modal]), since, wave, integral

    def solved(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Orthonormal columns (n, p), coefficients (p, d), rest (n, d)."""
        columns = self.design(point)[0]
        # unit columns: they have other units
        scale = np.linalg.norm(columns, axis=0)
        basis, _ = np.linalg.qr(columns / scale)
        beta = np.linalg.lstsq(columns / scale, self.target, rcond=None)[0] / scale[:, None]
        return basis, beta, self.target - basis @ (basis.T @ self.target)

    def rest(self, point: np.ndarray) -> np.ndarray:
        """(n d,) residuals after the best coefficients."""
        return self.solved(point)[2].ravel()

    def slopes(self, point: np.ndarray) -> np.ndarray:
        """(n d, q) their projected derivatives."""
        basis, beta, _ = self.solved(point)
        full = self.full_slopes(point, beta)
        flat = full.reshape(len(self.time), -1)
        # Kaufman: what the columns can't take up themselves
        return -(flat - basis @ (basis.T @ flat)).reshape(-1, len(point))

    def full_slopes(self, point: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """(n, d, q) derivatives of the model at fixed coefficients."""
        _, since, wave, integral = self.design(point)
        s = poles_of(point[1:])
        z = (beta[_LEAD::2] + 1j * beta[_LEAD + 1 :: 2]).T[None]  # (1, d, m)
        by_pole = z * ((since * wave - integral) / s)[:, None, :]
        # m/s: by the impact time everything moves by minus the velocity
        rate = beta[1] + since * beta[2] + ((wave - 1.0)[:, None, :] * z).real.sum(axis=-1)
        poles = np.stack([by_pole.real, -by_pole.imag], axis=-1).reshape(*by_pole.shape[:2], -1)
        return np.concatenate([-_TIME * rate[..., None], poles], axis=-1)


def _start(problem: _Problem, moment: float, modes: int) -> np.ndarray:
    """A line before ``moment`` and the tied fit behind it."""
    time, y = problem.time, problem.target
    earlier = time < moment
    # v- from the samples before
    line = np.polynomial.polynomial.polyfit(time[earlier] - moment, y[earlier], 1)
    behind = np.flatnonzero(~earlier)
    step = float(time[-1] - time[0]) / (len(time) - 1)
    # differences belong to the middles of intervals
    middle = 0.5 * (time[behind[1:]] + time[behind[:-1]]) - moment
    velocity = np.diff(y[behind], axis=0) / step
    poles = fit_modes_jointly(
        middle, velocity, line[1], modes=modes, noise=DIFFERENCED, averaging=step
    )[0].poles
    return np.array([(moment - problem.near) / _TIME, *parts_of(poles)])


def _described(problem: _Problem, point: np.ndarray) -> ImpactFit:
    columns = problem.design(point)[0]
    _, beta, rest = problem.solved(point)
    channels = np.eye(beta.shape[1])
    by_point = problem.full_slopes(point, beta).reshape(-1, len(point))
    jacobian = np.column_stack([np.kron(columns, channels), by_point])
    # row of the pseudo-inverse: the impact time by each sample
    of_time = _TIME * scaled_inverse(jacobian)[beta.size]  # by every sample
    # of the samples, by the residuals
    variance = float((rest**2).sum()) / max(rest.size - jacobian.shape[1], 1)
    return ImpactFit(
        time=problem.near + _TIME * float(point[0]),
        time_se=float(np.sqrt(variance * (of_time @ of_time))),
    )


def detect_impact(
    time: np.ndarray,
    position: np.ndarray,
    block: Mapping[str, float],
    *,
    noise_covariance: np.ndarray | None = None,
    name: str = "recording",
) -> ImpactFit:
    """Find the first impact of a tip that comes down, by ``arm: fit: impact`` of the configuration.

    Parameters
    ----------
    time, position
        (n,) s, evenly spaced; (n, d) m, of which the last column is the height along the table's
        normal.
    noise_covariance
        (d, d), up to a factor, of the positions' noise at one instant; unit if None.

    Raises
    ------
    ContactIdError
        For a recording without impact, too short, or with gaps; it begins with ``name``.
    """
    steps = np.diff(time)
    # the scan counts samples, so they must be even
    if np.abs(steps - np.median(steps)).max() > _UNEVEN * abs(np.median(steps)):
        raise ContactIdError(
            f"{name}: samples are missing or uneven in time", "Cut or resample the recording"
        )
    step = float(time[-1] - time[0]) / (len(time) - 1)
    lengths = (block["before"], block["bend"], block["after"])
    before, bend, after = (round(length / step) for length in lengths)
    least = round(_SHORTEST / step)
    if len(time) < least + bend + 2:
        raise ContactIdError(
            f"{name}: {len(time)} samples are too few to find an impact",
            f"Record {sum(lengths):g} s or more",
        )
    index = _scan(time, position[:, -1], before, bend, block, name)
    if index < least:
        raise ContactIdError(
            f"{name}: the recording begins {1e3 * (time[index] - time[0]):.0f} ms before the impact",
            f"Begin it {lengths[0]:g} s before",
        )
    if index + after >= len(time):
        raise ContactIdError(
            f"{name}: the recording ends {time[-1] - time[index]:.3g} s after the impact",
            f"Record {lengths[-1]:g} s after it",
        )
    # the first impact alone, with its approach
    window = slice(max(index - before, 0), index + after + 1)
    jump = link_jump(time[window], position[window, -1], float(time[index]))
    # eq. 7 is continuous: it would take a jump for a bend some milliseconds before it
    if jump is not None:
        return ImpactFit(jump, step)
    return fit_impact(
        time[window], position[window], float(time[index]), _SHIFT * step, modes=int(block["modes"]),
        noise_covariance=noise_covariance,
    )  # fmt: skip


def link_jump(time: np.ndarray, height: np.ndarray, near: float) -> float | None:
    """When the tip's normal velocity jumps near the time ``near``, s, or None where it only bends,
    as encoders at the motors see it. Times (n,), s, evenly spaced; heights (n,), m.
    """
    before = time < near
    falls = np.polynomial.polynomial.polyfit(time[before] - near, height[before], 1)[1]
    part = max(round(_SPAN * (len(time) - 1) / (time[-1] - time[0])), 1)
    rate = (height[part:] - height[:-part]) / (time[part] - time[0]) / falls
    # (n - 2 part,) spans on either side of a sample
    jumps = (rate[:-part] > _STILL) & (rate[part:] < _LOST)
    moments = time[part:-part][jumps]
    moments = moments[np.abs(moments - near) < _NEAR]
    # a tip that bounces jumps again
    return float(moments[0]) if len(moments) else None


def _scan(
    t: np.ndarray, z: np.ndarray, before: int, bend: int, block: Mapping[str, float], name: str
) -> int:
    """Sample nearest to the first impact."""
    # a recording may begin late: its first candidates have a shorter approach
    shortest = round(_SEEN / float(t[1] - t[0]))
    early = [_bends(z[: lead + bend + 1], lead, bend) for lead in range(shortest, before)]
    ratio, slope, kept = np.concatenate([*early, _bends(z, before, bend)], axis=1)
    speed = slope / (bend * (t[1] - t[0]))
    falling = speed < -block["slowest"]
    hits = np.flatnonzero(falling & (kept < 1.0 - block["share"]) & (ratio > block["significance"]))
    if not len(hits):
        raise ContactIdError(
            f"{name}: no impact found in {t[-1] - t[0]:.3g} s"
            f" (fastest approach {max(0.0, -float(speed.min())):.3g} m/s)",
            "Record an arm whose tip comes down on a table and stays there; if it does, say which columns are the"
            " joints' positions, and their signs (--columns q2=-q4)",
        )
    # of the hits within two bends of the first one the clearest
    first = hits[hits <= hits[0] + 2 * bend]
    return int(first[np.argmax(ratio[first])]) + shortest


def _bends(z: np.ndarray, before: int, bend: int) -> np.ndarray:
    """(3, m) of heights (n,), m, at every sample that has so many before and behind it: by how much
    a bend there explains more than a smooth motion does, the slope before it, m per ``bend``
    samples, and the share of it that is kept behind it.
    """
    # in lengths of the bend, zero at the candidate
    s = np.arange(-before, bend + 1) / bend
    powers = np.array(_DEGREES)
    # (samples, 5): line, and a bend of three powers from zero on
    bent = np.column_stack([np.ones_like(s), s, np.maximum(s, 0.0)[:, None] ** powers])
    # as many coefficients without a bend; Legendre's, for their condition
    smooth = np.polynomial.legendre.legvander(s / np.abs(s).max(), bent.shape[1] - 1)
    windows = sliding_window_view(z, len(s))
    windows = windows - windows[:, :1]  # less cancellation
    # one pseudo-inverse for all windows, which are alike
    coefficients = windows @ np.linalg.pinv(bent).T
    left = ((windows - coefficients @ bent.T) ** 2).sum(axis=1)
    left_smooth = ((windows - windows @ np.linalg.pinv(smooth).T @ smooth.T) ** 2).sum(axis=1)
    # a noise-free motion leaves rounding only
    floor = (np.finfo(float).eps * np.abs(z).max()) ** 2 * len(s) + np.finfo(float).tiny
    # F-like: what the bend explains over what is left per degree of freedom
    ratio = (left_smooth - left) / np.maximum(left, floor) * (len(s) - bent.shape[1])
    slope = coefficients[:, 1]
    kept = 1.0 + (coefficients[:, 2:] @ powers) / np.where(slope == 0.0, np.inf, slope)
    return np.stack([ratio, slope, kept])

"""J/m without any impact: a body that tips over a corner that stays on the ground.

While one rounded corner carries the body, the moment about its contact point leaves (eq. 31 for
lasting contact)

    J/m alpha = r_t (a_y + g) - r_n a_x - couple,

with a and alpha the measured accelerations (less what braking in flight takes), whether the corner
sticks or slides. The lever r_n reaches to the ground, rounding included. ``couple`` is what resists
besides: a body between plates leans against them, so that it may even stand on a corner. Without it
J/m comes out too large, so the estimate without a couple is an upper bound. With one constant
couple per pivot, J/m follows from how the moment varies along the pivot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.simulate.geometry import contacts
from contactid.planar.squares.events import REST_FRAMES, ThrowEvents
from contactid.planar.squares.flight import runs
from contactid.planar.squares.windows import PreparedThrows

_TOUCHING = 2.5e-3  # m: largest distance of a pivot's corner from the ground
_STEADY = 4e-4  # m: how far its gap may leave the pivot's mean
_CLEAR = 3e-3  # m: how much higher the next corner must be
_HALF_WIDTH, _DEGREE = 5, 3  # of the local polynomials
_NOISE = 3.5  # standard deviations by which a pose may leave them
_FEWEST = 6  # poses of a pivot
_LEAST_TURNING = 0.5  # rad/s
_BOOTSTRAPS = 200  # of the standard error over pivots
_SCALE = 2e-3  # m2/s2: moments per mass that leave the line by more count less

Pivot = tuple[np.ndarray, np.ndarray]
"""n instants of a body tipping about one corner: moment without a couple, m2/s2, and alpha, rad/s2,
the way it tips.
"""


@dataclass(frozen=True)
class TippingRatio:
    """J/m from several pivots.

    Attributes
    ----------
    ratio, error : J/m and its standard error by a bootstrap over pivots, m2
    couple : median or given one, per mass, m2/s2
    """

    ratio: float
    error: float
    couple: float


def find_pivots(prepared: PreparedThrows) -> list[Pivot]:
    """All pivots of aligned throws."""
    found = []
    for event in prepared.events:
        found += [
            _pivot(event, run, corner, prepared) for run, corner in _steady_runs(event, prepared)
        ]
    return [pivot for pivot in found if pivot is not None]


def _steady_runs(event: ThrowEvents, prepared: PreparedThrows) -> list[tuple[slice, int]]:
    """Runs in which one corner stays on the ground and the others are clear, and the corner."""
    gap = contacts(prepared.shape, prepared.ground, event.position).gap
    lowest, ordered = gap.argmin(axis=1), np.sort(gap, axis=1)
    # one corner on the ground, the next clear of it
    fine = (np.abs(ordered[:, 0]) < _TOUCHING) & (ordered[:, 1] - ordered[:, 0] > _CLEAR)
    for jump in event.jumps:
        fine[max(jump - 1, 0) : jump + 2] = False
    found, k = [], 0
    while k < len(fine):
        end, corner = k, int(lowest[k])
        while (
            end < len(fine)
            and fine[end]
            and lowest[end] == corner
            and abs(gap[end, corner] - gap[k : end + 1, corner].mean()) < _STEADY
        ):
            end += 1
        # derivatives need half a width of poses on either side
        if end - k >= 2 * _HALF_WIDTH + _FEWEST:
            found.append((slice(k, end), corner))
        k = max(end, k + 1)
    return found


def _pivot(event: ThrowEvents, run: slice, corner: int, prepared: PreparedThrows) -> Pivot | None:
    """Derivatives by local polynomials, where these fit and the body turns one way."""
    w = _HALF_WIDTH
    time = prepared.interval * np.arange(-w, w + 1)
    # (11, 4) local cubics, whose coefficients at 0 are q, v and a / 2
    powers = np.vander(time, _DEGREE + 1, increasing=True)
    windows = np.lib.stride_tricks.sliding_window_view(event.position[run], 2 * w + 1, axis=0)
    found = np.einsum("pk,nik->pni", np.linalg.pinv(powers), windows)
    left = windows - np.einsum("kp,pni->nik", powers, found)
    # (n, 3) of 2 w + 1 poses less the cubic's 4 coefficients
    noise = np.sqrt((left**2).sum(axis=2) / (2 * w - _DEGREE))
    position, velocity, acceleration = found[0], found[1], 2.0 * found[2]
    fine = (noise < _NOISE * prepared.flight.sigma).all(axis=1) & (
        np.abs(velocity[:, 2]) > _LEAST_TURNING
    )
    one_way = runs(fine & (np.sign(velocity[:, 2]) == np.sign(np.median(velocity[:, 2]))))
    # the longest part, in which the couple acts against one way of turning
    kept = max(one_way, key=lambda part: part.stop - part.start, default=slice(0, 0))
    if kept.stop - kept.start < _FEWEST:
        return None
    velocity = velocity[kept]
    # what gravity and braking leave: a_y + g is what the contact does
    acceleration = acceleration[kept] - prepared.flight.acceleration(velocity)
    at = contacts(prepared.shape, prepared.ground, position[kept])
    # (n,) lever, as N = (n, r_t) and T = (t, -r_n)
    arm_t, arm_n = at.normal[:, corner, 2], -at.tangent[:, corner, 2]
    way = np.sign(np.median(velocity[:, 2]))
    # r_t a_y - r_n a_x, as on level ground
    moment = arm_t * acceleration[:, 1] - arm_n * acceleration[:, 0]
    return way * moment, way * acceleration[:, 2]


def ratio_of_moments(pivots: Sequence[Pivot], couple: float | None) -> TippingRatio:
    """Robust ``moment = J/m alpha + couple`` with a common J/m.

    ``couple``, per mass (m2/s2), is the same for all pivots, or None: fitted to each.
    """
    reduced = [
        # a constant couple drops out with each pivot's mean
        (moment - moment.mean(), alpha - alpha.mean())
        if couple is None
        else (moment - couple, alpha)
        for moment, alpha in pivots
    ]
    ratio, random = _robust(reduced), np.random.default_rng(1)
    drawn = [
        # pivots are drawn whole: neighbouring instants share their poses
        _robust([reduced[i] for i in random.integers(0, len(reduced), len(reduced))])
        for _ in range(_BOOTSTRAPS)
    ]
    resisting = [float((moment - ratio * alpha).mean()) for moment, alpha in pivots]
    return TippingRatio(
        ratio, float(np.std(drawn)), float(np.median(resisting)) if couple is None else couple
    )


def _robust(data: Sequence[Pivot]) -> float:
    """The slope in units of the plain one, residuals beyond the scale counting less than their
    square.
    """
    moment, alpha = (np.concatenate(columns) for columns in zip(*data, strict=True))
    # plain least squares, the unit of the robust slope
    start = float(alpha @ moment / (alpha @ alpha))

    def residuals(z: np.ndarray) -> np.ndarray:
        return (moment - z[0] * start * alpha) / _SCALE

    return start * float(least_squares(residuals, np.ones(1), loss="soft_l1").x[0])


def standing_couples(prepared: PreparedThrows) -> dict[str, float]:
    """Throws that end at rest on a single corner, and the couple per mass (m2/s2) that must hold
    them there.
    """
    found = {}
    for event in prepared.events:
        last = event.position[-REST_FRAMES:]
        if event.rest is None or not np.isfinite(last).all():
            continue
        at = contacts(prepared.shape, prepared.ground, last.mean(axis=0))
        order = at.gap.argsort()
        if at.gap[order[1]] - at.gap[order[0]] > _CLEAR:
            # the weight's moment about the contact point
            found[event.name] = float(GRAVITY * abs(at.normal[order[0], 2]))
    return found

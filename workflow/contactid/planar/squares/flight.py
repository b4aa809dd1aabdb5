"""What the free flight and the impacts of measured planar throws tell (planar paper, sections 5.2 and 6.2).

Flight is cut into short stretches, so that slow disturbances (air, plates, lens) stay below the noise: in each, x and y
follow parabolas and theta a line. What is left is the noise; what the parabolas' curvature says about gravity and
braking is ``a = -g e_y - c v``, one rate c for x and y, which a robust line over all stretches gives.

Impacts of a single corner are bridged by two such fits of a few frames, before and after, that must meet: what isn't
one brief impact doesn't. Both sides of eq. 31 follow from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.simulate.geometry import Polygon
from contactid.planar.squares.events import MAD, SKIPPED_FRAMES, Alignment, ThrowEvents

STRETCH = 9  # frames of one stretch of flight
DEGREES = (2, 2, 1)  # of the polynomials in x, y, theta
SETTLING = 5  # frames after an impact within which the fit after it must begin
_CLEAR = 6e-3  # m: lowest gap in flight
_MEETING = np.array([5e-4, 1.5e-3, 0.03])  # m, m, rad: how far apart the flights around an impact may be at it
_DRAWS = 200  # of the radius's bootstrap
_CLEAR_CORNER = 5e-3  # m: how much lower the touching corner must be than the next


@dataclass(frozen=True)
class FlightReport:
    """What all stretches of free flight say.

    Attributes
    ----------
    sigma : (3,) noise of x, y (m) and theta (rad), from what the polynomials leave
    gravity : m/s2, at no speed
    braking : c, 1/s
    """

    sigma: np.ndarray
    gravity: float
    braking: float


def flight_stretches(events: Sequence[ThrowEvents]) -> Iterator[np.ndarray]:
    """Positions (9, 3) of stretches of free flight without contact and jump; throws' first frames are left out."""
    for event in events:
        free = event.gap.min(axis=1) > _CLEAR
        free[:SKIPPED_FRAMES] = False
        for contact in event.contacts:
            free[contact.before : contact.after + 1] = False
        for jump in event.jumps:
            free[max(jump - 1, 0) : jump + 2] = False
        for run in runs(free):
            for first in range(run.start, run.stop - STRETCH + 1, STRETCH):
                yield event.position[first : first + STRETCH]


def runs(flags: np.ndarray) -> list[slice]:
    """Where flags (n,) are true without a break."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [slice(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def left_by_polynomial(time: np.ndarray, degree: int) -> np.ndarray:
    """(n, n) projection onto what a polynomial of that degree leaves."""
    powers = np.vander(time, degree + 1)
    return np.eye(len(time)) - powers @ np.linalg.pinv(powers)


def flight_report(events: Sequence[ThrowEvents], interval: float) -> FlightReport:
    """Noise, gravity and braking from all stretches of flight; ``interval`` is the time between frames, s.

    Raises
    ------
    ContactIdError
        With fewer than three stretches.
    """
    stretches = np.array(list(flight_stretches(events)))
    if len(stretches) < 3:
        raise ContactIdError(
            f"only {len(stretches)} stretches of {STRETCH} frames in free flight", "Throw higher or more often"
        )
    time = (np.arange(STRETCH) - (STRETCH - 1) / 2.0) * interval
    projections = [left_by_polynomial(time / time[-1], degree) for degree in DEGREES]
    left = np.stack([stretches[..., i] @ projections[i] for i in range(3)])
    # the median of chi-square leaves out the few stretches with a disturbance
    variance = (left**2).sum(axis=-1) / np.array([[np.trace(projection)] for projection in projections])
    calm = (variance < 9.0 * np.median(variance, axis=1, keepdims=True)).all(axis=0)
    fits = [np.polynomial.polynomial.polyfit(time, stretches[calm][..., i].T, 2) for i in range(3)]
    velocity = np.stack([fit[1] for fit in fits], axis=1)
    acceleration = np.stack([2.0 * fit[2] for fit in fits], axis=1)
    gravity, braking = _gravity_and_braking(acceleration, velocity)
    return FlightReport(np.sqrt(variance[:, calm].mean(axis=1)), gravity, braking)


def _gravity_and_braking(acceleration: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """(2,) g and c of robust ``a_x = -c v_x``, ``a_y = -g - c v_y``."""
    n = len(acceleration)
    design = np.column_stack([np.repeat([0.0, -1.0], n), -np.concatenate([velocity[:, 0], velocity[:, 1]])])
    value = np.concatenate([acceleration[:, 0], acceleration[:, 1]])
    scale = np.concatenate([np.full(n, spread(acceleration[:, 0])), np.full(n, spread(acceleration[:, 1]))])

    def misfit(parameters: np.ndarray) -> np.ndarray:
        return (design @ parameters - value) / scale

    return least_squares(misfit, np.array([GRAVITY, 0.0]), loss="soft_l1").x


def spread(values: np.ndarray) -> float:
    """Robust standard deviation, greater than 0."""
    return float(MAD * np.median(np.abs(values - np.median(values)))) + 1e-12


def corner_radius(events: Sequence[ThrowEvents], shape: Polygon, alignment: Alignment) -> tuple[float, float]:
    """Radius (m) that explains how far corners seem to sink in while the body slowly turns about them, and its error.

    A corner rounded with radius r lies ``r (cos psi / sin(half angle) - 1)`` inside the sharp one, psi being the angle
    between the corner's bisector and the vertical. The standard error is by a bootstrap over throws. 0 with fewer than
    five frames.
    """
    corners = np.array(shape.vertices)
    one, two = np.roll(corners, 1, axis=0) - corners, np.roll(corners, -1, axis=0) - corners
    one, two = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (one, two))
    bisector = (one + two) / np.linalg.norm(one + two, axis=1, keepdims=True)
    sine = np.sqrt(0.5 * (1.0 - (one * two).sum(axis=1)))
    seen: list[list[float]] = []  # by throw, the radius that each frame tells
    for event in events:
        level = event.gap[event.rest :].min(axis=1).mean() if event.rest is not None else 0.0
        seen.append([])
        for k in _slow_pivots(event, corners):
            phi = event.position[k, 2] - alignment.ground.slope
            j = int(event.gap[k].argmin())
            rise = bisector[j] @ [np.sin(phi), np.cos(phi)]
            seen[-1].append((level - event.gap[k, j]) / (rise / sine[j] - 1.0))
    told = [np.array(one) for one in seen if one]
    if sum(map(len, told)) < 5:
        return 0.0, 0.0
    random = np.random.default_rng(1)
    drawn = [
        np.median(np.concatenate([told[i] for i in random.integers(0, len(told), len(told))])) for _ in range(_DRAWS)
    ]
    return max(float(np.median(np.concatenate(told))), 0.0), float(np.std(drawn))


def _slow_pivots(event: ThrowEvents, corners: np.ndarray) -> Iterator[int]:
    """Frames in whose neighbourhood the lowest gap stays while the body turns, tilted from lying on a side."""
    low = event.gap.min(axis=1)
    ordered = np.sort(event.gap, axis=1)
    tilted = ordered[:, 1] - ordered[:, 0] > 0.15 * np.ptp(corners[:, 0])
    for k in range(3, len(low) - 3):
        turned = abs(event.position[k + 2, 2] - event.position[k - 2, 2])
        if np.ptp(low[k - 2 : k + 3]) < 2e-4 and turned > 0.016 and tilted[k] and low[k] < 3e-3:
            yield k


@dataclass(frozen=True)
class Bridge:
    """Two flights that meet in one instant.

    Attributes
    ----------
    position : (3,) where, m and rad
    before, after : (3,) velocities there, m/s and rad/s
    instant : s after the last frame before the contact
    """

    position: np.ndarray
    before: np.ndarray
    after: np.ndarray
    instant: float


def single_corner(gap: np.ndarray) -> int | None:
    """The lowest of the potential contacts with gaps (n_c,), or None where the next is nearly as low."""
    order = gap.argsort()
    return None if gap[order[1]] - gap[order[0]] < _CLEAR_CORNER else int(order[0])


def bridge(event: ThrowEvents, interval: float, frames: int, lost: int = 0) -> Bridge | None:
    """Where the flights before and after the first contact meet; None where they don't: it was no brief impact.

    Parameters
    ----------
    interval
        Time between frames, s.
    frames
        Of each flight.
    lost
        Frames of the contact that were put back, which may last that much longer.
    """
    if not event.contacts:
        return None
    last, first_after = event.contacts[0].before, event.contacts[0].after
    next_contact = event.contacts[1].before if len(event.contacts) > 1 else len(event.position)
    start = last - frames + 1
    if start < SKIPPED_FRAMES or first_after + frames > min(next_contact + 1, len(event.position)):
        return None
    if first_after - last > SETTLING + lost or any(start <= jump <= first_after + frames for jump in event.jumps):
        return None

    def fit(flight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        time = (flight - last) * interval
        straight = event.position[flight].copy()
        straight[:, 1] += 0.5 * GRAVITY * time**2
        at_zero, slope = np.polynomial.polynomial.polyfit(time, straight, 1)
        return at_zero, slope

    (here, before), (there, after) = fit(np.arange(start, last + 1)), fit(np.arange(first_after, first_after + frames))
    apart, closing = (there - here) / _MEETING, (before - after) / _MEETING
    instant = float(apart @ closing / (closing @ closing))
    missed = np.abs(apart - closing * instant)
    if (missed > 1.0).any() or not -interval < instant < (first_after - last + 1) * interval:
        return None
    fall = np.array([0.0, GRAVITY * instant, 0.0])
    return Bridge(here + before * instant - 0.5 * fall * instant, before - fall, after - fall, instant)

"""What the free flight and the impacts of measured planar throws tell (planar paper, sections 5.2
and 6.2).

Flight is cut into short stretches, so that slow disturbances (air, plates, lens) stay below the
noise: in each, x and y follow parabolas and theta a line. What is left is the noise. What
curvatures say of gravity and braking is ``a = -g e_y - (c + q |v|) v`` and ``alpha = -(c' + q'
|omega|) omega``, by robust lines over all stretches.

Impacts of a single corner are bridged by two fits of a few frames, before and after, that must
meet: what isn't one brief impact doesn't. Both sides of eq. 31 follow from them, so each flight has
its own acceleration: with 10 ms between a flight's middle and the impact, braking by 0.5 /s or more
would move a change of spin by a percent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.simulate.geometry import Polygon
from contactid.planar.squares.events import MAD, SKIPPED_FRAMES, Alignment, ThrowEvents

STRETCH = 9  # frames of one stretch of flight
DEGREES = (2, 2, 1)  # of the polynomials in x, y, theta
_SETTLING = 5  # frames after an impact within which the fit after it must begin
_CLEAR = 6e-3  # m: lowest gap in flight
# m, m, rad: how far apart the flights around an impact may be at it
_MEETING = np.array([5e-4, 1.5e-3, 0.03])
# What few stretches leave open stays at no braking: plates or air brake by 1 /s at most, mean and
# standard deviation.
_BRAKING, _QUADRATIC, _SPIN_QUADRATIC = (0.0, 1.0), (0.0, 0.3), (0.0, 0.1)
_DRAWS = 200  # of the radius's bootstrap
_CLEAR_CORNER = 5e-3  # m: how much lower the touching corner must be than the next


@dataclass(frozen=True)
class FlightReport:
    """What all stretches of free flight say.

    Attributes
    ----------
    sigma : (3,) noise of x, y (m) and theta (rad), from what the polynomials leave
    gravity : m/s2, at no speed
    braking, quadratic : c of x and y, 1/s, and q, 1/m
    spin_braking, spin_quadratic : c' of theta, 1/s, and q', 1/rad
    """

    sigma: np.ndarray
    gravity: float
    braking: float
    quadratic: float = 0.0
    spin_braking: float = 0.0
    spin_quadratic: float = 0.0

    def acceleration(self, velocity: np.ndarray) -> np.ndarray:
        """(..., 3) of a body that flies with velocity (..., 3), m/s2 and rad/s2."""
        slowing = (self.braking + self.quadratic * np.hypot(velocity[..., 0], velocity[..., 1]))[
            ..., None
        ]
        spin = (self.spin_braking + self.spin_quadratic * np.abs(velocity[..., 2]))[..., None]
        rate = np.concatenate([slowing, slowing, spin], axis=-1)
        return -rate * velocity - np.array([0.0, self.gravity, 0.0])


def flight_stretches(events: Sequence[ThrowEvents]) -> Iterator[np.ndarray]:
    """Positions (9, 3) of stretches of free flight without contact and jump; throws' first frames
    are left out.
    """
    for event in events:
        free = event.gap.min(axis=1) > _CLEAR
        # the release disturbs the first frames
        free[:SKIPPED_FRAMES] = False
        for contact in event.contacts:
            free[contact.before : contact.after + 1] = False
        for jump in event.jumps:
            # a jump is seen in the second difference of three frames
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
    """Noise, gravity and braking from all stretches of flight; ``interval`` is the time between
    frames, s.

    Raises
    ------
    ContactIdError
        With fewer than three stretches.
    """
    stretches = np.array(list(flight_stretches(events)))
    if len(stretches) < 3:
        raise ContactIdError(
            f"only {len(stretches)} stretches of {STRETCH} frames in free flight",
            "Throw higher or more often",
        )
    # centred, so that velocity and acceleration are those of the stretch's middle
    time = (np.arange(STRETCH) - (STRETCH - 1) / 2.0) * interval
    projections = [left_by_polynomial(time / time[-1], degree) for degree in DEGREES]
    # (3, n, 9) what polynomials leave of x, y, theta
    left = np.stack([stretches[..., i] @ projections[i] for i in range(3)])
    # the median of chi-square leaves out the few stretches with a disturbance
    variance = (left**2).sum(axis=-1) / np.array(
        [[np.trace(projection)] for projection in projections]
    )
    # three times the usual noise in any channel is a disturbance
    calm = (variance < 9.0 * np.median(variance, axis=1, keepdims=True)).all(axis=0)
    # parabolas for all, as theta's curvature tells how the spin brakes
    fits = [np.polynomial.polynomial.polyfit(time, stretches[calm][..., i].T, 2) for i in range(3)]
    velocity = np.stack([fit[1] for fit in fits], axis=1)
    acceleration = np.stack([2.0 * fit[2] for fit in fits], axis=1)
    return FlightReport(
        np.sqrt(variance[:, calm].mean(axis=1)), *_gravity_and_braking(acceleration, velocity)
    )


def _gravity_and_braking(acceleration: np.ndarray, velocity: np.ndarray) -> tuple[float, ...]:
    """g, c, q, c' and q' of the accelerations (n, 3) of flights with these velocities (n, 3)."""
    speed, spin = np.hypot(velocity[:, 0], velocity[:, 1]), velocity[:, 2]
    # rows of x, then of y: gravity acts on y alone, braking on both
    fall = np.repeat([[0.0], [-1.0]], len(speed), axis=0)
    along = np.concatenate([velocity[:, 0], velocity[:, 1]])
    plane = _robust_line(
        # a = -g e_y - (c + q |v|) v
        np.column_stack([fall, -along, -along * np.tile(speed, 2)]),
        np.concatenate([acceleration[:, 0], acceleration[:, 1]]),
        np.repeat([spread(acceleration[:, 0]), spread(acceleration[:, 1])], len(speed)),
        np.array([[GRAVITY, 1.0], _BRAKING, _QUADRATIC]),
    )
    turning = _robust_line(
        # alpha = -(c' + q' |omega|) omega
        np.column_stack([-spin, -spin * np.abs(spin)]),
        acceleration[:, 2],
        np.full(len(spin), spread(acceleration[:, 2])),
        np.array([_BRAKING, _SPIN_QUADRATIC]),
    )
    return *plane, *turning


def _robust_line(
    design: np.ndarray, value: np.ndarray, scale: np.ndarray, prior: np.ndarray
) -> tuple[float, ...]:
    """Robust coefficients (k,) of ``value = design @ coefficients``; prior (k, 2) means and
    standard deviations.
    """
    from scipy.optimize import (
        least_squares,
    )  # takes as long as half a throw, and most throws don't come here

    def misfit(coefficients: np.ndarray) -> np.ndarray:
        # the priors are residuals, too: they steer what few stretches leave open
        return np.concatenate(
            [(design @ coefficients - value) / scale, (coefficients - prior[:, 0]) / prior[:, 1]]
        )

    return tuple(float(one) for one in least_squares(misfit, prior[:, 0], loss="soft_l1").x)


def spread(values: np.ndarray) -> float:
    """Robust standard deviation, greater than 0."""
    return float(MAD * np.median(np.abs(values - np.median(values)))) + 1e-12


def corner_radius(
    events: Sequence[ThrowEvents], shape: Polygon, alignment: Alignment
) -> tuple[float, float]:
    """Radius (m) that explains how far corners seem to sink in while the body slowly turns about
    them, and its error.

    A corner rounded with radius r lies ``r (cos psi / sin(half angle) - 1)`` inside the sharp one,
    psi being the angle between the corner's bisector and the vertical. The standard error is by a
    bootstrap over throws. 0 with fewer than five frames.
    """
    corners = np.array(shape.vertices)
    one, two = np.roll(corners, 1, axis=0) - corners, np.roll(corners, -1, axis=0) - corners
    one, two = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (one, two))
    bisector = (one + two) / np.linalg.norm(one + two, axis=1, keepdims=True)
    # (n_c,) of half the corner's angle: sin^2 = (1 - cos) / 2
    sine = np.sqrt(0.5 * (1.0 - (one * two).sum(axis=1)))
    seen: list[list[float]] = []  # by throw, the radius that each frame tells
    for event in events:
        # each throw's own ground at rest, where it came to rest
        level = event.gap[event.rest :].min(axis=1).mean() if event.rest is not None else 0.0
        seen.append([])
        for k in _slow_pivots(event, corners):
            phi = event.position[k, 2] - alignment.ground.slope
            j = int(event.gap[k].argmin())
            # cos psi: the bisector's share along the normal
            rise = bisector[j] @ [np.sin(phi), np.cos(phi)]
            # apparent depth of the sharp corner by the depth of a radius of 1
            seen[-1].append((level - event.gap[k, j]) / (rise / sine[j] - 1.0))
    told = [np.array(one) for one in seen if one]
    if sum(map(len, told)) < 5:
        return 0.0, 0.0
    random = np.random.default_rng(1)
    drawn = [
        np.median(np.concatenate([told[i] for i in random.integers(0, len(told), len(told))]))
        for _ in range(_DRAWS)
    ]
    return max(float(np.median(np.concatenate(told))), 0.0), float(np.std(drawn))


def _slow_pivots(event: ThrowEvents, corners: np.ndarray) -> Iterator[int]:
    """Frames in whose neighbourhood the lowest gap stays while the body turns, tilted from lying on
    a side.
    """
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
    error : (3,) standard errors of after minus before, by the poses' noise; 0 where it isn't stated
    """

    position: np.ndarray
    before: np.ndarray
    after: np.ndarray
    instant: float
    error: np.ndarray = field(default_factory=lambda: np.zeros(3))


def single_corner(gap: np.ndarray) -> int | None:
    """The lowest of the potential contacts with gaps (n_c,), or None where the next is nearly as
    low. An ellipse has one.
    """
    order = gap.argsort()
    if len(order) == 1:
        return 0
    return None if gap[order[1]] - gap[order[0]] < _CLEAR_CORNER else int(order[0])


def bridge(
    event: ThrowEvents, interval: float, frames: int, report: FlightReport, lost: int = 0
) -> Bridge | None:
    """Where the flights before and after the first contact meet; None where they don't: it was no
    brief impact.

    Parameters
    ----------
    interval
        Time between frames, s.
    frames
        Of each flight.
    report
        How these flights accelerate, and the poses' noise.
    lost
        Frames of the contact that were put back, which may last that much longer.
    """
    if not event.contacts:
        return None
    last, first_after = event.contacts[0].before, event.contacts[0].after
    next_contact = event.contacts[1].before if len(event.contacts) > 1 else len(event.position)
    # as many frames on either side, clear of release and next contact
    start = last - frames + 1
    if start < SKIPPED_FRAMES or first_after + frames > min(next_contact + 1, len(event.position)):
        return None
    if first_after - last > _SETTLING + lost:
        return None

    def fit(flight: np.ndarray) -> np.ndarray:
        """(3, 3) position, velocity and half the acceleration at the last frame before the contact."""
        time, position = (flight - last) * interval, event.position[flight]
        # braking by the flight's mean velocity, so that a line is left to fit
        half = 0.5 * report.acceleration(
            np.polynomial.polynomial.polyfit(time - time.mean(), position, 1)[1]
        )
        line = np.polynomial.polynomial.polyfit(time, position - half * time[:, None] ** 2, 1)
        return np.vstack([line, half])

    one, two = fit(np.arange(start, last + 1)), fit(np.arange(first_after, first_after + frames))
    instant = 0.0
    for _ in range(3):  # both curvatures are nearly the same
        # both flights in units of how far they may miss each other
        apart = (two[0] - one[0] + (two[2] - one[2]) * instant**2) / _MEETING
        closing = (one[1] - two[1]) / _MEETING
        instant = float(apart @ closing / (closing @ closing))
    # they must meet, between both frames or at most an interval before or after
    if (np.abs(apart - closing * instant) > 1.0).any() or not -interval < instant < (
        first_after - last + 1
    ) * interval:
        return None
    # of two lines' slopes: each has the variance 12 sigma^2 / (n (n^2 - 1) interval^2)
    error = report.sigma * np.sqrt(24.0 / (frames * (frames**2 - 1.0))) / interval
    before, after = (flight[1] + 2.0 * flight[2] * instant for flight in (one, two))
    return Bridge(one[0] + one[1] * instant + one[2] * instant**2, before, after, instant, error)

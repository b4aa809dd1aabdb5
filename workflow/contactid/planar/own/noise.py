"""Noise of a user's poses that isn't stated: what short flights leave of parabolas and lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import chdtri, fdtr

from contactid.core.errors import ContactIdError
from contactid.planar.engine.unknowns import reach_of
from contactid.planar.readers.throws import PlanarThrow
from contactid.planar.simulate.geometry import contacts
from contactid.planar.squares.flight import DEGREES, STRETCH, left_by_polynomial, runs
from contactid.sources.explaining import FINE

if TYPE_CHECKING:
    from contactid.planar.own.body import OwnBody

# frames of flight, as fitted by a parabola, and by a line less gravity
_SHORTEST_STRETCH, _SHORTEST_LINE = 5, 3
# of freedom; share of the noises that exceed what few frames are said to tell
_FEWEST_DEGREES, _SELDOM = 2, 0.2
FEWEST_IN_FLIGHT = 8  # frames, from which flight tells the noise
_LEAST_NOISE = 2e-5  # rad, and of the largest radius
_PLAIN = 0.005  # probability of a ratio of variances beyond which x and y have a noise of their own
# times the median variance of a stretch: something touched the body, or the camera slipped
_DISTURBED = 9.0
# standard errors of an acceleration that noise doesn't explain; rad, as far as a camera may be off;
# and the share of gravity that may be missing, which a camera's clock or a ruler is better than
_CLEAR, _TILTED, _LIGHTER = 4.0, 0.02, 0.02
# of the squares that a centre explains: drag, one unknown, that explains so many is likelier
_DRAG = 0.5
# ratio of the noise to that of second differences, which smoothing makes smaller; 1/n is chance's
_NOT_WHITE = 1.25


class Noise(NamedTuple):
    """Standard deviations (3,) of x, y, theta, m, m, rad, sentences on how they were found, and of
    how many degrees of freedom: infinitely many where they are stated, or at most as large.
    """

    sigma: np.ndarray
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    degrees: float = np.inf


def lowest_gaps(body: OwnBody, throw: PlanarThrow) -> np.ndarray:
    """(n,) of a throw's frames, m."""
    return contacts(body.shape, body.ground, throw.position).gap.min(axis=1)


def _in_flight(body: OwnBody, throw: PlanarThrow) -> np.ndarray:
    """(n,) frames next to which, on neither side, the body reaches the ground."""
    gap = lowest_gaps(body, throw)
    # (n - 1,) m from frame to frame: as far may the body come between two frames
    fall = np.abs(np.diff(gap))
    around = np.maximum(np.concatenate([fall[:1], fall]), np.concatenate([fall, fall[-1:]]))
    return gap > 1.2 * around + 2e-3


def stretches(
    body: OwnBody,
    throws: Sequence[PlanarThrow],
    shortest: int = _SHORTEST_STRETCH,
    longest: int = STRETCH,
) -> list[tuple[np.ndarray, float]]:
    """Poses (``shortest`` to ``longest`` frames, 3) of flights with the time between their frames,
    s; short ones by default, so that braking and lens stay below the noise.
    """
    found = []
    for throw in throws:
        for run in runs(_in_flight(body, throw) & throw.seen):
            start, end = run.start, run.stop
            cuts = [
                throw.position[first : min(first + longest, end)]
                for first in range(start, end, longest)
            ]
            found += [(cut, 1.0 / throw.sample_frequency) for cut in cuts if len(cut) >= shortest]
    return found


def frames_of(flights: Sequence[tuple[np.ndarray, float]]) -> int:
    """Of all stretches together."""
    return sum(len(stretch) for stretch, _ in flights)


def fall_warnings(body: OwnBody, throws: Sequence[PlanarThrow], sigma: np.ndarray) -> list[str]:
    """Whether bodies fall along -y and with gravity, by the noise (3,) of poses: flights tell which
    way is down, and whether lengths and times have one scale.
    """
    flights = stretches(body, throws, longest=max(len(throw.time) for throw in throws))
    if not flights:
        return []
    times = [interval * np.arange(len(flight)) for flight, interval in flights]
    # a parabola's curvature from n frames over a time T has the variance 720 sigma^2 / (n T^4)
    weights = [len(time) * time[-1] ** 4 for time in times]
    accelerations = [
        2.0 * np.polyfit(time, flight[:, :2], 2)[0]
        for time, (flight, _) in zip(times, flights, strict=True)
    ]
    across, along = np.average(accelerations, axis=0, weights=weights)
    error = np.sqrt(720.0 / np.sum(weights)) * sigma[0]
    tilt = float(np.arctan2(-across, -along))
    fall = float(np.hypot(across, along))
    missing = 1.0 - fall / body.gravity
    warnings = []
    if abs(fall - body.gravity) > _CLEAR * error and abs(missing) > _LIGHTER:
        # g is a length over a time squared
        long_by, short_by = 100.0 * (1.0 / (1.0 - missing) - 1.0), 50.0 * missing
        warnings.append(
            f"In flight the body falls with {fall:.3g} +- {error:.1g} m/s2 instead of {body.gravity:.3g}: lengths are "
            f"{-long_by:+.2g} % off or times {short_by:+.2g} % (the frame rate, a scale), or drag brakes it. J/m "
            "and mu are off by as much and more."
        )
    if abs(across) <= _CLEAR * error or abs(tilt) <= _TILTED:
        return warnings
    return [
        *warnings,
        f"In flight x accelerates by {across:.2g} +- {error:.2g} m/s2: y is {abs(tilt):.2g} rad off upwards (a "
        "sloped ground taken for level, a tilted camera), or drag brakes the body. If y is off, turn x, y and "
        f"theta by {tilt:.2g} rad, and give ground: {{slope: {tilt + body.ground.slope:.2g}, start: ...}}.",
    ]


def centre_in_flight(
    body: OwnBody, throws: Sequence[PlanarThrow], sigma: np.ndarray
) -> tuple[np.ndarray, float]:
    """The centre of mass (2,) from the tracked point, in its axes, and the larger error of the two,
    m: it alone falls along a parabola, and the point goes round it. By the noise (3,) of poses;
    infinite where that doesn't explain the flights, or drag does nearly as well.
    """
    matrix, right = np.zeros((2, 2)), np.zeros(2)
    squares, degrees = 0.0, -2
    drag_square, drag_pull = 0.0, 0.0
    for flight, interval in stretches(body, throws, longest=max(len(one.time) for one in throws)):
        time = interval * np.arange(len(flight))
        left = left_by_polynomial(np.linspace(-1.0, 1.0, len(flight)), 1)
        cos, sin = left @ np.cos(flight[:, 2]), left @ np.sin(flight[:, 2])
        # where the point would be in x and y, were it 1 m along either axis of the body
        slopes = np.column_stack([np.concatenate([cos, sin]), np.concatenate([-sin, cos])])
        fallen = 0.5 * body.gravity * time**2
        poses = np.concatenate([left @ flight[:, 0], left @ (flight[:, 1] + fallen)])
        matrix += slopes.T @ slopes
        right += slopes.T @ poses
        squares += float(poses @ poses)
        # what drag of 1/s would do: v is less by the way gone, and the way by its integral
        gone = -interval * np.cumsum(flight[:, :2] - flight[0, :2], axis=0)
        braked = (left @ gone).T.ravel()
        drag_square += float(braked @ braked)
        drag_pull += float(braked @ poses)
        # less a line's two coefficients in x, and in y
        degrees += 2 * len(flight) - 4
    if np.linalg.matrix_rank(matrix) < 2:
        return np.zeros(2), np.inf
    centre = -np.linalg.solve(matrix, right)
    noise, by_centre = float(sigma[:2].max()), -float(right @ centre)
    # an impact that wasn't seen looks like a centre that lies off
    is_noise = squares - by_centre <= FINE * degrees * noise**2
    if not is_noise or drag_pull**2 > _DRAG * by_centre * drag_square:
        return centre, np.inf
    return centre, noise * float(np.sqrt(np.diag(np.linalg.inv(matrix)).max()))


def noise_of(body: OwnBody, throws: Sequence[PlanarThrow]) -> Noise:
    """The stated noise, or that of what parabolas and lines leave of flight.

    Raises :class:`ContactIdError` where no noise is stated and too few frames lie in flight.
    """
    if body.sigma is not None:
        return Noise(body.sigma)
    flights = stretches(body, throws)
    if frames_of(flights) < FEWEST_IN_FLIGHT:
        return _noise_of_few(body, throws)
    # of each stretch squared sums (3,) and degrees of freedom (3,)
    leavings = [_left_by_polynomials(stretch) for stretch, _ in flights]
    squares = np.array([left for left, _ in leavings])
    freedom = np.array([free for _, free in leavings])
    # in every channel, by the median, in which a few disturbed stretches don't count
    calm = (squares / freedom <= _DISTURBED * np.median(squares / freedom, axis=0)).all(axis=1)
    sigma = _pooled(squares[calm].sum(axis=0), freedom[calm].sum(axis=0))
    # second differences less gravity's g h^2
    fallen = [
        np.diff(stretch, 2, axis=0) + np.array([0.0, body.gravity * step**2, 0.0])
        for stretch, step in flights
    ]
    quiet = [differences for differences, use in zip(fallen, calm, strict=True) if use]
    # white noise has the variance 6 sigma^2 in second differences; smoothed poses have less
    from_frame_to_frame = np.sqrt(np.mean(np.concatenate(quiet) ** 2, axis=0) / 6.0)
    warnings: tuple[str, ...] = ()
    if (sigma > (_NOT_WHITE + 1.0 / len(quiet)) * from_frame_to_frame + 1e-9).any():
        warnings = (
            "The noise is not independent from frame to frame (smoothed or interpolated poses): standard errors are "
            "too small.",
        )
    # noise-free data aren't the model's to the last digit
    sigma = np.maximum(sigma, _least_noise(body))
    note = (
        f"Noise, estimated from {int(calm.sum())} stretches of flight: {1e3 * sigma[0]:.3g} mm in x, "
        f"{1e3 * sigma[1]:.3g} mm in y, {1e3 * sigma[2]:.3g} mrad in theta."
    )
    return Noise(sigma, (note,), warnings, float(freedom[calm].sum()))


def _pooled(squares: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """(3,) standard deviations; one for x and y where theirs differ by no more than chance."""
    variance = squares / freedom
    ratio = variance[0] / max(variance[1], 1e-300)
    # the F distribution of a ratio of variances of one noise
    if _PLAIN < fdtr(freedom[0], freedom[1], ratio) < 1.0 - _PLAIN:
        variance[:2] = squares[:2].sum() / freedom[:2].sum()
    return np.sqrt(variance)


def _least_noise(body: OwnBody) -> np.ndarray:
    """(3,) m, m, rad."""
    reach = reach_of(body.shape)
    return _LEAST_NOISE * np.array([reach, reach, 1.0])


def _noise_of_few(body: OwnBody, throws: Sequence[PlanarThrow]) -> Noise:
    """The same of short flights: lines, as gravity is known; a value that noise seldom exceeds."""
    squares, freedom = np.zeros(2), np.zeros(2)
    for stretch, step in stretches(body, throws, _SHORTEST_LINE):
        straight = stretch.copy()
        # flight less gravity's part is a line in all channels
        straight[:, 1] += 0.5 * body.gravity * (step * np.arange(len(stretch))) ** 2
        left = left_by_polynomial(np.linspace(-1.0, 1.0, len(stretch)), 1) @ straight
        # x and y together: with so few frames one noise for both
        squares += [(left[:, :2] ** 2).sum(), (left[:, 2] ** 2).sum()]
        # a line takes two of each channel
        freedom += (len(stretch) - 2) * np.array([2.0, 1.0])
    if freedom.min() < _FEWEST_DEGREES:
        raise ContactIdError(
            f"{', '.join(throw.name for throw in throws)}: too few frames in flight to tell the noise",
            "Give noise: {position: ..., orientation: ...} in the description",
        )
    # an upper limit: a noise seldom leaves as little as this or less
    position, orientation = np.sqrt(squares / chdtri(freedom, 1.0 - _SELDOM))
    sigma = np.maximum([position, position, orientation], _least_noise(body))
    note = (
        f"Noise, at most, from few frames of flight: {1e3 * sigma[0]:.3g} mm in x and y, {1e3 * sigma[2]:.3g} mrad in "
        "theta. Standard errors are on the safe side; state the noise if you know it."
    )
    return Noise(sigma, (note,))


def _left_by_polynomials(stretch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(3,) squared sums of what parabolas in x and y and a line in theta leave, and their degrees
    of freedom.
    """
    projections = [
        left_by_polynomial(np.linspace(-1.0, 1.0, len(stretch)), degree) for degree in DEGREES
    ]
    left = np.column_stack([projection @ stretch[:, i] for i, projection in enumerate(projections)])
    return (left**2).sum(axis=0), np.array([np.trace(projection) for projection in projections])

"""A first guess of everything: motions simulated from a start, fitted to measured poses over
growing horizons.

The nonlinear program needs a start from which the contacts are about right. This makes it from the
data alone: many motions with drawn velocities, J/m, mu and restitution are simulated through the
first contact, the best are fitted to the poses by least squares, over a horizon that grows until it
holds the whole throw, and at each extension the worst are dropped. One number e_N serves all
impacts here; it is the guess's crutch and no part of the identified model.

Motions are those of :mod:`contactid.planar.simulate.events`, nearly smooth in what is fitted.

Further starts come from the first impacts: free flights that meet on the ground. After an impact,
some frames of free flight tell the path; before it, so do the frames there are, and where it is one
alone, the path from that pose to the meeting point. The meeting point is where the body touches the
ground. The jump of the velocities there gives J/m (eq. 31), a bound of mu and a restitution. Two
impacts may follow each other with one frame between them: its pose and the second meeting point are
the path between. Which frames an impact lies between isn't known, so every interval gives starts,
and most of them are wrong; a simulation tells which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.simulate.events import EventMotion, event_motion, frames_of_motions
from contactid.planar.simulate.geometry import Shape, contacts
from contactid.planar.simulate.kernel import Outline, outline_of
from contactid.planar.simulate.throws import MeasuredThrow

_FRAMES = (2, 3, 4)  # of free flight after the last impact
_IMPACTS = 2  # at most, one after the other
_INSTANTS = 81  # within an interval, looked at for the meeting point
_AROUND = (-0.1, 0.0, 0.1)  # of an interval, by which the meeting point may be off
_APART = 1e-2  # m, from the ground: a flight that comes no nearer began with no impact there
_MORE_FRICTION = (
    1.0,
    1.6,
)  # times the ratio of impulses, which is less than mu where the contact sticks
N_PARAMETERS = 9  # q (3), v (3), J/m, mu, e_N
RATIO, MU, E_N = 6, 7, 8
_NEAR = 3e-3  # m: a measured gap below it may be a contact
_FLIGHT = 4.0  # standard deviations that a frame of free flight may be off
_AWAY = 1e6  # residual of poses that aren't finite
_CAP = 30.0  # residuals grow with their logarithm above that many standard deviations
_SAMPLES = 8192  # motions drawn, a power of 2; more where a throw has few frames
_PLENTY = 50  # frames; with fewer, unlike motions fit alike
_KEPT = 16  # of each group of starts, fitted over the first horizon; more in the same way
_DROPPED = 0.3  # share of a group that goes at each extension of the horizon
_FEWEST = 4  # of a group that stay
_HORIZONS = 8  # extensions
_COARSE, _FINE = 1e-3, 2.5e-4  # s, time steps of the drawn and of the finally fitted motions
_SMALLEST_RATIO = (
    0.1  # of J/m, by the uniform body's; the largest is the outline's largest radius squared
)
_LARGEST_MU = 1.5


def weightless(throw: MeasuredThrow, gravity: float) -> np.ndarray:
    """(n_m, 3) poses less gravity's part since the first frame, m, m, rad: free flight is a
    straight line in them.
    """
    time = throw.time - throw.time[0]
    return throw.position + 0.5 * gravity * time[:, None] ** 2 * np.array([0.0, 1.0, 0.0])


class _Flights:
    """Free flights of one throw; a flight is the line (2, 3), constant and slope, of its poses less
    gravity's part.
    """

    def __init__(self, shape: Shape, throw: MeasuredThrow, gravity: float) -> None:
        self.shape, self.throw = shape, throw
        self.time = throw.time - throw.time[0]
        self.pull = np.array([0.0, -gravity, 0.0])
        self.poses = weightless(throw, gravity)

    def after(self, interval: int) -> Iterator[np.ndarray]:
        """Flights through the frames after an interval."""
        for frames in _FRAMES:
            if interval + frames <= self.throw.n_frames:
                yield self._through(slice(interval + 1, interval + 1 + frames))

    def _through(self, rows: slice) -> np.ndarray:
        return np.polynomial.polynomial.polyfit(self.time[rows], self.poses[rows], 1)

    def starts(self, after: np.ndarray, interval: int, impacts: int) -> Iterator[np.ndarray]:
        """(9,) starts of throws whose last impact lies in an interval, before a flight."""
        for instant in self._instants(after, interval):
            meeting = after[0] + instant * after[1]
            slope = (meeting - self.poses[interval]) / (instant - self.time[interval])
            since_frame = np.array([meeting - instant * slope, slope])
            whole = since_frame if interval == 0 else self._through(slice(0, interval + 1))
            for more in _MORE_FRICTION:
                start = self._start(whole, after, instant, more)
                if start is not None:
                    yield start
            if interval > 0 and impacts > 1:
                yield from self.starts(since_frame, interval - 1, impacts - 1)

    def _instants(self, after: np.ndarray, interval: int) -> Iterator[float]:
        """Times within an interval around that at which the flight after it touches the ground."""
        step = self.throw.frame_interval
        times = (interval + np.linspace(0.02, 0.98, _INSTANTS)) * step
        poses = after[0] + times[:, None] * after[1] + 0.5 * times[:, None] ** 2 * self.pull
        gap = contacts(self.shape, self.throw.ground, poses).gap.min(axis=1)
        touching = times[np.argmin(np.abs(gap))]
        if np.abs(gap).min() > _APART:
            return
        for shift in _AROUND:
            instant = float(touching + shift * step)
            if interval + 0.02 <= instant / step <= interval + 0.98:
                yield instant

    def _start(
        self, before: np.ndarray, after: np.ndarray, instant: float, more: float
    ) -> np.ndarray | None:
        """The start of two flights that meet at an instant; None where they don't push each other
        apart.
        """
        pose = after[0] + instant * after[1] + 0.5 * instant**2 * self.pull
        at = contacts(self.shape, self.throw.ground, pose)
        touching = int(np.argmin(at.gap))
        normal, tangent = at.normal[touching], at.tangent[touching]
        jump = after[1] - before[1]
        push_n, push_t = float(normal[:2] @ jump[:2]), float(tangent[:2] @ jump[:2])
        closing = float(normal @ (before[1] + instant * self.pull))
        if push_n <= 0.0 or closing >= 0.0:
            return None
        twist = normal[2] * push_n + tangent[2] * push_t
        ratio = twist / jump[2] if jump[2] * twist > 0.0 else self.shape.uniform_inertia_ratio
        opening = float(normal @ (after[1] + instant * self.pull))
        return np.concatenate(
            [before[0], before[1], [ratio, more * abs(push_t) / push_n, -opening / closing]]
        )


def first_impact_starts(
    shape: Shape, throw: MeasuredThrow, gravity: float, last: int, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """(k, 9) starts: q, v at the first frame (m, rad, m/s, rad/s), J/m (m2), mu and e_N.

    Parameters
    ----------
    last
        Intervals that are looked at end at this frame.
    low, high : (9,)
        Bounds; starts are clipped.
    """
    flights = _Flights(shape, throw, gravity)
    starts = [
        start
        for interval in range(min(last, throw.n_frames - _FRAMES[0]))
        for after in flights.after(interval)
        for start in flights.starts(after, interval, _IMPACTS)
    ]
    found = np.array(starts).reshape(-1, 9)
    return np.clip(found[np.isfinite(found).all(axis=1)], low, high)


@dataclass(frozen=True)
class Candidate:
    """A fitted motion.

    Attributes
    ----------
    parameters : (9,) q and v at the first frame (m, rad, m/s, rad/s), J/m (m2), mu, e_N
    misfit : half the sum of squared residuals in units of their noise
    """

    parameters: np.ndarray
    misfit: float


@dataclass(frozen=True)
class _Problem:
    """Residuals of one throw over a horizon."""

    outline: Outline
    throw: MeasuredThrow
    gravity: float
    low: np.ndarray
    high: np.ndarray
    steps: np.ndarray  # of numerical differences, and units of the parameters
    centre: np.ndarray
    spread: np.ndarray  # of weak preferences, infinite where there is none

    def poses(self, parameters: np.ndarray, frames: int, step: float) -> np.ndarray:
        return frames_of_motions(
            self.outline, parameters, self.gravity, self.throw.frame_interval, frames, step
        )

    def residuals(
        self, parameters: np.ndarray, frames: int, step: float, floor: np.ndarray
    ) -> np.ndarray:
        """A row for each of the parameters (n, 9): capped residuals, in units of noise and
        ``floor``; preferences.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            apart = (self.poses(parameters, frames, step) - self.throw.position[: frames + 1]) / (
                self.throw.sigma + floor
            )
            capped = _CAP * np.arcsinh(apart.reshape(len(parameters), 3 * (frames + 1)) / _CAP)
            runs_away = ~np.isfinite(capped.sum(axis=1))
            capped[runs_away] = np.nan_to_num(
                capped[runs_away], nan=_AWAY, posinf=_AWAY, neginf=-_AWAY
            )
        preferred = (parameters - self.centre) / self.spread
        return np.hstack([capped, preferred[:, RATIO:]])

    def misfit(self, parameters: np.ndarray) -> float:
        apart = (
            self.poses(parameters[None], self.throw.n_frames, _FINE)[0] - self.throw.position
        ) / self.throw.sigma
        return 0.5 * float((apart**2).sum())


def shoot(
    shape: Shape, throw: MeasuredThrow, gravity: float = GRAVITY, seed: int = 1
) -> list[Candidate]:
    """Fitted motions of one throw, best first; ``gravity`` in m/s2, ``seed`` of the drawn motions."""
    problem = _problem(shape, throw, gravity)
    first = _first_horizon(shape, throw)
    floor = np.array([1e-3, 1e-3, 2e-2])
    more = 2 ** int(
        np.clip(np.floor(np.log2(_PLENTY / throw.n_frames)), 0, 2)
    )  # times as many motions
    groups = [
        *np.array_split(_draw(problem, more * _SAMPLES, seed), 2),
        first_impact_starts(shape, throw, gravity, first, problem.low, problem.high),
    ]
    horizons = np.unique(np.round(np.geomspace(first, throw.n_frames, _HORIZONS)).astype(int))
    fitted: list[np.ndarray] = []
    for group in groups:  # each has its hypothesis about the first frames
        costs = [float(row.sum()) for row in problem.residuals(group, first, _COARSE, floor) ** 2]
        pool = list(group[np.argsort(costs)[: more * _KEPT]])
        for number, frames in enumerate(horizons):
            step = _COARSE if number < 2 else 2.0 * _FINE
            last = number == len(horizons) - 1
            fits = [_fit(problem, p, frames, step, 0.0 * floor if last else floor, 6) for p in pool]
            fits.sort(key=lambda fit: fit[1])
            pool = [fit[0] for fit in fits[: max(_FEWEST, int(len(fits) * (1.0 - _DROPPED)))]]
        fitted += [
            _fit(problem, p, throw.n_frames, _FINE, 0.0 * floor, 15)[0] for p in pool[:_FEWEST]
        ]
    found = [Candidate(p, problem.misfit(p)) for p in fitted]
    return sorted(found, key=lambda candidate: candidate.misfit)


def motion_of(
    shape: Shape, throw: MeasuredThrow, candidate: Candidate, gravity: float = GRAVITY
) -> EventMotion:
    """A candidate's whole motion."""
    outline = outline_of(shape, throw.ground)
    return event_motion(
        outline, candidate.parameters, gravity, throw.frame_interval, throw.n_frames, _FINE
    )


def _problem(shape: Shape, throw: MeasuredThrow, gravity: float) -> _Problem:
    ratio = shape.uniform_inertia_ratio
    largest = 0.99 * float(
        (shape.outline() ** 2).sum(axis=1).max()
    )  # no body within the outline has more
    free = np.full(6, np.inf)
    return _Problem(
        outline=outline_of(shape, throw.ground),
        throw=throw,
        gravity=gravity,
        low=np.concatenate([-free, [_SMALLEST_RATIO * ratio, 0.0, 0.0]]),
        high=np.concatenate([free, [largest, _LARGEST_MU, 1.0]]),
        steps=np.array([3e-4, 3e-4, 3e-3, 0.03, 0.03, 0.5, 0.03 * ratio, 0.015, 0.015]),
        centre=np.concatenate([np.zeros(6), [ratio, 0.4, 0.3]]),
        spread=np.concatenate([free, [0.7 * ratio, 0.7, 0.5]]),
    )


def _first_horizon(shape: Shape, throw: MeasuredThrow) -> int:
    """Frames up to some after the first that is close to the ground."""
    near = contacts(shape, throw.ground, throw.position).gap.min(axis=1) < _NEAR
    first = int(np.argmax(near)) if near.any() else throw.n_frames
    after = max(4, int(0.03 / throw.frame_interval))
    return min(throw.n_frames, max(first, 1) + after)


def _draw(problem: _Problem, number: int, seed: int) -> np.ndarray:
    """(number, 9) starts: velocities, J/m, mu and e_N drawn evenly.

    Half of the velocities are near that of a free flight through the first frames; the others
    assume nothing, since the first contact may come before the second frame.
    """
    throw = problem.throw
    change = np.diff(throw.position, axis=0)[:4] / throw.frame_interval
    anywhere = (
        2.0 * np.abs(np.diff(change, axis=0)).max(axis=0) + 3.0 * throw.sigma / throw.frame_interval
    )
    flight, error = _flight_velocity(throw, problem.gravity)
    u = qmc.Sobol(6, rng=np.random.default_rng(seed)).random(number)
    flying = np.arange(number) < number // 2  # halves of the sequence, each of which fills the cube
    ratio = problem.centre[RATIO]
    drawn = np.empty((number, N_PARAMETERS))
    drawn[:, :3] = throw.position[0]
    centre = np.where(flying[:, None], flight, change[0])
    drawn[:, 3:6] = centre + (2.0 * u[:, :3] - 1.0) * np.where(
        flying[:, None], 3.0 * error, anywhere
    )
    drawn[:, RATIO] = np.minimum(ratio * 2.0 ** (2.0 * u[:, 3] - 1.0), problem.high[RATIO])
    drawn[:, MU] = 0.02 + 0.9 * u[:, 4]
    drawn[:, E_N] = 0.8 * u[:, 5]
    return drawn


def _flight_velocity(throw: MeasuredThrow, gravity: float) -> tuple[np.ndarray, np.ndarray]:
    """(3,) velocity at the first frame and its standard error, by as many first frames as fly
    freely; at least two.
    """
    time = throw.time - throw.time[0]
    fallen = weightless(throw, gravity)
    velocity = error = np.zeros(3)
    for frames in range(2, len(time) + 1):
        line = np.column_stack([np.ones(frames), time[:frames]])
        fitted, *_ = np.linalg.lstsq(line, fallen[:frames], rcond=None)
        if (np.abs(fallen[:frames] - line @ fitted) > _FLIGHT * throw.sigma).any():
            break
        velocity, error = fitted[1], throw.sigma * np.sqrt(np.linalg.inv(line.T @ line)[1, 1])
    return velocity, error


def _fit(
    problem: _Problem,
    start: np.ndarray,
    frames: int,
    step: float,
    floor: np.ndarray,
    iterations: int,
) -> tuple[np.ndarray, float]:
    """Levenberg-Marquardt with central differences over the given steps: small kinks must not count
    as slopes.
    """
    changes = np.diag(problem.steps)

    def residuals(z: np.ndarray) -> np.ndarray:
        return problem.residuals(z, frames, step, floor)

    def inside(z: np.ndarray) -> np.ndarray:
        return np.clip(z, problem.low, problem.high)

    point = inside(start)
    at = residuals(point[None])[0]
    cost, damping = float(at @ at), 1e-2
    for _ in range(iterations):
        around = residuals(inside(np.concatenate([point + changes, point - changes])))
        slopes = np.ascontiguousarray(0.5 * (around[:N_PARAMETERS] - around[N_PARAMETERS:]).T)
        square, gradient = slopes.T @ slopes, slopes.T @ at
        better = None
        for _ in range(5):
            move = -np.linalg.solve(square + damping * np.diag(np.diag(square) + 1e-9), gradient)
            trial = inside(point + problem.steps * move)
            there = residuals(trial[None])[0]
            if float(there @ there) < cost:
                better = trial, there
                break
            damping *= 5.0
        if better is None:
            break
        gain = cost - float(better[1] @ better[1])
        point, at = better
        cost, damping = cost - gain, max(damping / 5.0, 1e-6)
        if gain < 1e-2:
            break
    return point, cost

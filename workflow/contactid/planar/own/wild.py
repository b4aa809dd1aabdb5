"""Poses that are far from an otherwise good motion: what no law of bodies rules out before the fit
(:mod:`contactid.planar.own.outliers`), the identified motion does.

Noise that is estimated from flights holds the wild poses among them, which then hide in it. So
poses that are far off the usual departure are taken out, the others tell the noise, and by that
noise each of them is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from contactid.planar.engine.answer import inverse_of
from contactid.planar.engine.problem import Point, Problem, Throw
from contactid.planar.engine.steering import Steering
from contactid.planar.engine.unknowns import N_COMMON, Geometry
from contactid.planar.own.body import OwnBody, OwnThrows
from contactid.planar.squares.events import MAD

# of a residual's variance that a motion leaves: with less, nothing but itself tells that pose
_LEAST_LEFT = 0.1


def problem_of(geometry: Geometry, throws: OwnThrows, steering: Steering) -> Problem:
    """The engine's problem of a user's throws."""
    tracked = [Throw(throw, seen) for throw, seen in zip(throws.throws, throws.seen, strict=True)]
    return Problem(geometry, tracked, steering)


def without_wild_poses(
    body: OwnBody, throws: OwnThrows, problem: Problem, best: Point
) -> tuple[OwnThrows, list[str]]:
    """Throws whose wild frames aren't seen, with the noise of the others, and a warning of each.

    Parameters
    ----------
    problem, best : of the throws, and their motion
    """
    residuals = [residuals_of(problem, best, k) for k in range(len(problem.throws))]
    departures = _studentised(problem, best, residuals)
    if not throws.sigma_given:
        # (3,) by the median, in which a few wild poses don't count
        usual = MAD * np.median(np.abs(_pooled(departures, throws.seen)), axis=0)
        # a noise that wild poses have enlarged shrinks to the usual departure; it never grows here
        scale = np.minimum(1.0, usual)
        suspect = [
            _wild(residual / scale, departure / scale, problem)
            for residual, departure in zip(residuals, departures, strict=True)
        ]
        if any(mine.any() for mine in suspect):
            others = throws.seen_only(body, _less(throws.seen, suspect))
            # suspects are judged by the others' noise, but as poses of the motion like all others
            judged = replace(others, seen=throws.seen)
            problem = problem_of(problem.geometry, judged, problem.steering)
            best = problem.fit(best, problem.whole)
            residuals = [residuals_of(problem, best, k) for k in range(len(problem.throws))]
            departures = _studentised(problem, best, residuals)
    # by the noise that is stated, or that the poses without suspects tell
    wild = [
        _confirmed(problem, best, k, _wild(residuals[k], departures[k], problem))
        for k in range(len(problem.throws))
    ]
    warnings = []
    for name, throw, departure, mine in zip(
        throws.names, throws.throws, departures, wild, strict=True
    ):
        for frame in np.flatnonzero(mine):
            where = f"frame {frame} (t = {throw.time[frame]:.4g} s)"
            off = f"{np.abs(departure[frame]).max():.2g} standard deviations of the noise"
            warnings.append(
                f"{name}: {where} is {off} off the identified motion, and was left out."
            )
    return throws.seen_only(body, _less(throws.seen, wild)) if warnings else throws, warnings


def _confirmed(problem: Problem, best: Point, k: int, suspect: np.ndarray) -> np.ndarray:
    """(n,) those frames of throw k without each of which the motion's squared residuals are fewer
    by a wild pose's.

    A leverage is of slopes at the fit; contacts have kinks.
    """
    squares, confirmed = problem.misfit(best)[0], suspect.copy()
    for frame in np.flatnonzero(suspect):
        # the same problem without the one frame, fitted from the same motion
        others = list(problem.throws)
        seen = others[k].seen.copy()
        seen[frame] = False
        others[k] = replace(others[k], seen=seen)
        without = Problem(problem.geometry, others, problem.steering)
        gain = squares - without.misfit(without.fit(best, without.whole))[0]
        # a pose that is so many deviations off costs their square
        confirmed[frame] = gain > problem.steering.wild**2
    return confirmed


def residuals_of(problem: Problem, best: Point, k: int) -> np.ndarray:
    """(n, 3) of throw k, in units of its noise; 0 where no pose was measured."""
    row, n_frames = np.concatenate([best.common, best.own[k]]), problem.throws[k].n_frames
    return problem.residuals(k, row[None], n_frames, limited=False)[0].reshape(n_frames, 3)


def _studentised(
    problem: Problem, best: Point, residuals: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The same in units of the noise that the motion leaves of them.

    A motion follows its poses, the few of a short flight most: r / sqrt(1 - h), h being a pose's
    leverage (Belsley, Kuh and Welsch 1980), is how far a pose is off a motion of the others.
    """
    # (m, m) of common unknowns first, then of each throw's own
    covariance = inverse_of(problem.system(best, problem.whole))
    n_common = int(problem.table.free[:N_COMMON].sum())
    start, departures = n_common, []
    for k, residual in enumerate(residuals):
        row = np.concatenate([best.common, best.own[k]])
        slopes = problem.slopes(k, row, len(residual))[1]
        end = start + slopes.shape[1] - n_common
        # the block of this throw
        columns = np.r_[:n_common, start:end]
        # (3 frames,) diagonal of J C J^T
        leverage = ((slopes @ covariance[np.ix_(columns, columns)]) * slopes).sum(axis=1)
        remains = np.sqrt(np.maximum(1.0 - leverage, _LEAST_LEFT)).reshape(residual.shape)
        departures.append(residual / remains)
        start = end
    return departures


def _pooled(residuals: Sequence[np.ndarray], seen: Sequence[np.ndarray]) -> np.ndarray:
    """(m, 3) of the measured frames of all throws."""
    return np.concatenate([one[mine] for one, mine in zip(residuals, seen, strict=True)])


def _less(seen: Sequence[np.ndarray], wild: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [mine & ~without for mine, without in zip(seen, wild, strict=True)]


def _wild(residual: np.ndarray, departure: np.ndarray, problem: Problem) -> np.ndarray:
    """(n,) frames, a few at most, whose studentised residuals (n, 3) are no noise.

    None where more than a few of the residuals themselves aren't: these tell of the motion.
    """
    steering = problem.steering
    most = max(1, int(steering.most_wild * len(residual)))
    wild = np.zeros(len(residual), dtype=bool)
    far = np.abs(residual).max(axis=1) > steering.wild
    # a motion is off over frames that follow each other: single ones may be more, and impacts that
    # last leave none of several
    if not (far[1:] & far[:-1]).any():
        most = int(steering.single_wild * most)
    elif problem.geometry.incremental:
        return wild
    # many large residuals are a wrong motion's, not wild poses
    if far.sum() <= most:
        farthest = np.abs(departure).max(axis=1)
        frames = np.argsort(farthest)[-most:]
        wild[frames] = farthest[frames] > steering.wild
    return wild

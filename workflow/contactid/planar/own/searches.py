"""Searches of a user's throws after the first: for motions that it dropped, for those of throws
whose wild poses are out, and for impacts that no frame parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtrc

from contactid.planar.engine.problem import Point, Problem
from contactid.planar.engine.search import Say, search
from contactid.planar.engine.steering import Steering

UNLIKELY = 1e-3  # probability of a misfit below which noise doesn't explain it
# times as many motions at once: enough for the throw that this was learnt from; more wasn't tried
_WIDENED = 2


def refitted(problem: Problem, minima: Sequence[Point], say: Say | None) -> list[Point]:
    """Motions, best first, of throws that have lost the poses which the ``minima`` followed; where
    these are good, with those of another search, as wild poses may have misled the first one.
    """
    fits = sorted(
        (problem.fit(point, problem.whole) for point in minima), key=lambda point: point.cost
    )
    squares, degrees = problem.misfit(fits[0])
    # above it impacts are taken by themselves, and no motion is asked for
    if not _can_search(problem) or squares > problem.steering.not_whole * degrees:
        return fits
    return _with_another_search(problem, fits, problem.steering, say)


def searched_with_wider_beam(problem: Problem, minima: list[Point], say: Say | None) -> list[Point]:
    """Motions, best first, with those of a search that follows more of them, where noise doesn't
    explain the best one.

    The throw's own motion may have been dropped on the way, as others fitted its beginning better.
    Poses that contradict the one that stayed would be taken for wild.
    """
    squares, degrees = problem.misfit(minima[0])
    explained = chdtrc(degrees, squares) > UNLIKELY
    # far from any motion are mostly poses of no rigid body, and no search makes them one's
    hopeless = squares > problem.steering.not_whole * degrees
    if explained or hopeless or not _can_search(problem):
        return minima
    if say:
        say("noise doesn't explain this motion: the search again, with more motions at once")
    steering = problem.steering
    wider = replace(steering, beam=_WIDENED * steering.beam, final=_WIDENED * steering.final)
    return _with_another_search(problem, minima, wider, say)


def searched_finer(problem: Problem, minima: list[Point], say: Say | None) -> list[Point]:
    """Motions, best first, with those of a finer grid of restitutions where no frame lies between
    two impacts.

    Poses hardly tell such impacts' restitutions, but what comes after depends on both, so a coarse
    grid may have no motion near the throw's.
    """
    if not _can_search(problem) or not _has_unseen_flight(problem, minima[0]):
        return minima
    if say:
        say("no frame lies between two impacts: the search again, with more restitutions")
    # 343 combinations of three impacts in place of 64
    finer = replace(problem.steering, restitutions=problem.steering.fine_restitutions)
    return _with_another_search(problem, minima, finer, say)


def _with_another_search(
    problem: Problem, minima: Sequence[Point], steering: Steering, say: Say | None
) -> list[Point]:
    """Motions, best first, with those of a search with its own steering."""
    others = search(Problem(problem.geometry, problem.throws, steering), say)
    return sorted([*minima, *others], key=lambda point: point.cost)


def _can_search(problem: Problem) -> bool:
    """Whether each throw begins with two poses: a search begins with a line through them."""
    return all(bool(throw.seen[:2].all()) for throw in problem.throws)


def _has_unseen_flight(problem: Problem, point: Point) -> bool:
    """Whether two impacts follow each other within the time from one frame to the next."""
    for k, throw in enumerate(problem.throws):
        row = np.concatenate([point.common, point.own[k]])
        impacts = problem.impacts(k, row, throw.n_frames)
        # s, from impact to impact
        between = np.diff(impacts[np.isfinite(impacts)])
        # two impacts may be closer than a frame and still have one between them: searched again all
        # the same
        if (between < throw.measured.frame_interval).any():
            return True
    return False

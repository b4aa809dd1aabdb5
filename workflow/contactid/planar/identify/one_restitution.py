"""The answer that the paper warns of (section 5.1): a motion with one restitution for all impacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from contactid.planar.engine.problem import Point, Problem, Throw
from contactid.planar.engine.search import search
from contactid.planar.engine.steering import STEERING
from contactid.planar.engine.unknowns import N_STATE, RATIO, Geometry
from contactid.planar.simulate.geometry import Shape
from contactid.planar.simulate.throws import MeasuredThrow

_GRID = np.linspace(0.0, 0.9, 10)  # restitutions that are tried first
_AROUND = np.array([-0.06, -0.03, 0.03, 0.06])  # and then, around the best of these
# m, m, rad: added to the noise at first, as the search does, so that a far start isn't caught
_SMOOTHING = STEERING.floor * np.array([1.0, 1.0, 20.0])
_STARTS = 3  # free motions to begin with: they differ in their first impacts
_ITERATIONS = 40  # twice the search's: a restitution that is held makes a bent valley


def one_restitution_ratio(shape: Shape, throw: MeasuredThrow, gravity: float) -> float:
    """J/m (m2) of the motion that fits a throw best with one restitution for all of its impacts."""
    geometry = Geometry(shape, throw.ground, gravity)
    every_frame = np.ones(len(throw.time), dtype=bool)
    throws = [Throw(throw, every_frame)]
    starts = search(Problem(geometry, throws))[:_STARTS]
    coarse = [(e_n, _with_restitution(geometry, throws, starts, e_n)) for e_n in _GRID]
    best_e_n, best = min(coarse, key=lambda tried: tried[1].cost)
    for e_n in best_e_n + _AROUND[best_e_n + _AROUND >= 0.0]:
        fitted = _with_restitution(geometry, throws, [best, starts[0]], e_n)
        best = min(best, fitted, key=lambda point: point.cost)
    return float(best.common[RATIO])


def _with_restitution(
    geometry: Geometry, throws: Sequence[Throw], starts: Sequence[Point], e_n: float
) -> Point:
    """The best point from several starts, where every impact has this restitution."""
    # a prior of no width holds every impact's restitution
    steering = replace(STEERING, restitution_prior=e_n, restitution_spread=0.0)
    problem = Problem(geometry, throws, steering)
    fitted = []
    for start in starts:
        own = start.own.copy()
        own[:, N_STATE:] = e_n
        # the start's motion had other restitutions, so it is far off now
        near = problem.fit(Point(start.common, own), problem.whole, _SMOOTHING)
        fitted.append(problem.fit(near, problem.whole, iterations=_ITERATIONS))
    return min(fitted, key=lambda point: point.cost)

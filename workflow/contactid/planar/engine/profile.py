"""How far an unknown may be from its best value: its profile, all else fitted again at each value.

The cost isn't a parabola: contacts stick or slide, corners hit in another order, and geometry gives
way with J/m. So an interval reaches to where the cost, with everything else at its best, exceeds
the least one by what noise allows (profile likelihood; Venzon and Moolgavkar 1988). A lower cost on
the way is a better answer, and the walk begins anew from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from contactid.planar.engine.problem import Point, Problem

DEVIATIONS = 1.96  # standard deviations of an interval that holds the truth 95 times of 100


@dataclass(frozen=True)
class Profile:
    """What the poses allow of one common unknown.

    Attributes
    ----------
    low, high : ends of the interval; a bound where the poses set none
    low_open, high_open : whether an end is a bound of the unknown, not one that the poses set
    points : fitted points within the interval, by the unknown's value
    """

    low: float
    high: float
    low_open: bool
    high_open: bool
    points: tuple[Point, ...]


class _Side(NamedTuple):
    """Fitted points on one side of the best, the interval's end there, and whether that is a bound."""

    points: list[Point]
    end: float
    is_open: bool


def profile(problem: Problem, best: Point, unknown: int, rise: float) -> tuple[Profile, Point]:
    """The profile of a common unknown up to a rise of the cost, and the best point, which may be a
    new one.

    Where each of several walks comes to a better point, the last one goes on to both ends all the
    same.
    """
    steering = problem.steering
    for restart in range(steering.profile_restarts + 1):
        may_restart = restart < steering.profile_restarts
        sides: list[_Side] = []
        for sign in (-1.0, 1.0):
            side = _side(problem, best, unknown, rise, sign, may_restart)
            least = min(side.points, key=lambda point: point.cost)
            if may_restart and least.cost < best.cost - steering.better:
                # the unknown is free again, and the walk begins anew from there
                best = problem.fit(least, problem.whole, 0.0, 20)
                break
            sides.append(side)
        else:
            break
    below, above = sides
    inside = [point for point in (*below.points, *above.points) if point.cost <= best.cost + rise]
    inside.sort(key=lambda point: point.common[unknown])
    return Profile(below.end, above.end, below.is_open, above.is_open, tuple(inside)), best


def _side(
    problem: Problem, best: Point, unknown: int, rise: float, sign: float, may_restart: bool
) -> _Side:
    """Walk to one side of the best, up to the interval's end, or to a better point where a restart
    may follow.

    Where the steps run out, the poses set no end within reach, and the bound is the end.
    """
    table, held, steering = problem.table, problem.holding(unknown), problem.steering
    bound = float(table.low[unknown] if sign < 0.0 else table.high[unknown])
    shortest = steering.profile_start * float(table.scale[unknown])
    step, limit = shortest, float(np.sqrt(rise))
    value, at = float(best.common[unknown]), 0.0  # ``at``: root of the cost's rise so far
    points = [best]
    for _ in range(steering.profile_steps):
        if value == bound:
            break
        former, former_at = value, at
        value = float(np.clip(value + sign * step, table.low[unknown], table.high[unknown]))
        starts = [problem.followed(points[-1], unknown, value), _moved(points[-1], unknown, value)]
        fits = [
            held.fit(start, problem.whole, 0.0, steering.profile_iterations) for start in starts
        ]
        point = min(fits, key=lambda fit: fit.cost)
        # of a parabola it would grow in proportion to the distance
        at = float(np.sqrt(max(point.cost - best.cost, 0.0)))
        if at > steering.overshoot * limit and step > shortest:
            value, at = former, former_at  # far beyond the end: the same with a shorter step
            step *= steering.shortening
            continue
        points.append(point)
        if may_restart and point.cost < best.cost - steering.better:
            return _Side(points, value, False)
        if at > limit:
            # linear between the two values, as the root of a parabola's rise is
            share = (limit - former_at) / (at - former_at)
            return _Side(points, float(former + share * (value - former)), False)
        # to raise the root by a part of its standard deviation, if it rises as in the last step
        wanted = steering.profile_step * limit / DEVIATIONS / max(at - former_at, 1e-3)
        step *= float(np.clip(wanted, 0.5, 3.0))
    return _Side(points, bound, True)


def _moved(point: Point, unknown: int, value: float) -> Point:
    """The point with one common unknown elsewhere."""
    common = point.common.copy()
    common[unknown] = value
    return replace(point, common=common)

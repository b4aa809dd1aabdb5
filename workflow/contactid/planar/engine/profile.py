"""How far an unknown may be from its best value: its profile, all else fitted again at each value.

The cost isn't a parabola: contacts stick or slide, corners hit in another order, and geometry gives way with J/m. So an
interval reaches to where the cost, with everything else at its best, exceeds the least one by what noise allows
(profile likelihood; Venzon and Moolgavkar 1988). A lower cost on the way is a better answer, and the walk begins anew
from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from contactid.planar.engine.problem import Point, Problem

_STEP = 0.7  # standard deviations from one value to the next, as the cost tells
_FIRST = 0.1  # of an unknown's scale: the first step
_BEYOND, _SHORTER = 1.5, 0.3  # of the rise's root, beyond which a step was too long, and what is left of it
_STEPS = 40  # to one side
_RESTARTS = 4  # from a better answer
_BETTER = 0.1  # of the cost, by which an answer is better
_ITERATIONS = 12  # of the fit at each value


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


def profile(problem: Problem, best: Point, unknown: int, rise: float) -> tuple[Profile, Point]:
    """The profile of a common unknown up to a rise of the cost, and the best point, which may be a new one."""
    for _ in range(_RESTARTS):
        sides = []
        for sign in (-1.0, 1.0):
            points, end, is_open = _side(problem, best, unknown, rise, sign)
            sides.append((points, end, is_open))
            least = min(points, key=lambda point: point.cost)
            if least.cost < best.cost - _BETTER:
                best = problem.fit(least, problem.whole, 0.0, 20)
                break
        else:
            break
    while len(sides) < 2:  # the last restart's other side
        sides.append(_side(problem, best, unknown, rise, 1.0))
    (below, low, low_open), (above, high, high_open) = sides
    inside = [point for point in (*below, *above) if point.cost <= best.cost + rise]
    inside.sort(key=lambda point: point.common[unknown])
    return Profile(low, high, low_open, high_open, tuple(inside)), best


def _side(problem: Problem, best: Point, unknown: int, rise: float, sign: float) -> tuple[Sequence[Point], float, bool]:
    """Fitted points on one side, the interval's end there, and whether that is a bound."""
    table, held = problem.table, problem.holding(unknown)
    bound = float(table.low[unknown] if sign < 0.0 else table.high[unknown])
    step = _FIRST * float(table.scale[unknown])
    value, at = float(best.common[unknown]), 0.0  # ``at``: standard deviations that the cost has risen by
    points = [best]
    for _ in range(_STEPS):
        if value == bound:
            return points, bound, True
        former, former_at = value, at
        value = float(np.clip(value + sign * step, table.low[unknown], table.high[unknown]))
        starts = [problem.followed(points[-1], unknown, value), _moved(points[-1], unknown, value)]
        fits = [held.fit(start, problem.whole, 0.0, _ITERATIONS) for start in starts]
        point = min(fits, key=lambda fit: fit.cost)
        if point.cost < best.cost - _BETTER:
            return [*points, point], value, False
        at = float(np.sqrt(max(point.cost - best.cost, 0.0)))
        if at > _BEYOND * np.sqrt(rise) and step > _FIRST * table.scale[unknown]:
            value, at = former, former_at  # far beyond the end: the same with a shorter step
            step *= _SHORTER
            continue
        points.append(point)
        if at**2 > rise:
            share = (np.sqrt(rise) - former_at) / (at - former_at)
            return points, float(former + share * (value - former)), False
        step *= float(np.clip(_STEP * np.sqrt(rise) / 1.96 / max(at - former_at, 1e-3), 0.5, 3.0))
    return points, value, False


def _moved(point: Point, unknown: int, value: float) -> Point:
    """The point with one common unknown elsewhere."""
    common = point.common.copy()
    common[unknown] = value
    return replace(point, common=common)

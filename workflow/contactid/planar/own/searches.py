"""Searches of a user's throws: by the law of impact that explains them, and where poses contradict a
motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import fdtrc

from contactid.planar.engine.problem import Point, Problem
from contactid.planar.engine.search import Say, search, search_closely, search_widely
from contactid.planar.engine.unknowns import Geometry
from contactid.planar.own.wild import residuals_of
from contactid.planar.simulate.geometry import Polygon


def far_from_motions(problem: Problem, say: Say | None) -> tuple[float, int] | None:
    """Squared residuals and degrees of freedom of a throw that no motion by either law comes near:
    then searches of the others, and wider ones, take a minute and help no more.

    None where there is no such throw, or noise explains one: the body is rigid then.
    """
    most = problem.steering.not_whole
    laws = (problem.geometry, _with_other_law(problem.geometry))
    # the longest one goes through most contacts
    for throw in sorted(problem.throws, key=lambda throw: -throw.n_frames):
        nearest = (np.inf, 1)
        # rounds that lower the misfit by less than one per residual don't decide
        hasty = replace(problem.steering, new=3.0 * throw.n_frames)
        for one in (Problem(geometry, [throw], hasty) for geometry in laws):
            point = search_closely(one, say)[0][0]
            if one.plausible(point):
                return None
            nearest = min(nearest, one.misfit(point))
            if _misfit_without_wild(one, point) <= most:
                break
        else:
            return nearest
    return None


def searched(
    problem: Problem, noise_degrees: float, say: Say | None, impacts_tell: bool
) -> tuple[Problem, list[Point]]:
    """The problem and its motions, best first, by the law of impact that explains the poses.

    The paper's law (eq. 18) has friction oppose the slip that an impact leaves. A real corner's
    opposes the slip at each instant, which may turn round while the corner is pressed: then the two
    differ, by far more than noise. The law is chosen by throws by themselves, near the stated
    geometry; the other one is searched as widely only where the chosen one fails. Where
    an ellipse's ``impacts_tell`` J/m by themselves, wider searches take a minute and help no more.
    ``noise_degrees`` are those of the noise, infinite where it is stated.
    """
    steering = problem.steering
    each = [problem.of_throw(k) for k in range(len(problem.throws))]
    close = [
        _with_finer(one, points, say)
        for one, points in zip(each, search_closely(problem, say), strict=True)
    ]
    if all(
        _is_noise(one, points[0], noise_degrees) for one, points in zip(each, close, strict=True)
    ):
        minima = _explaining(problem, close, noise_degrees, say)
        # noise may hide a law that the same motion fits less well by
        other, fitted = by_other_law(problem, minima[0])
        if fitted.cost > minima[0].cost - steering.near_best:
            return problem, minima
        return other, _explaining(other, search_closely(other), noise_degrees, say)
    if say:
        say("friction that follows the slip during an impact")
    # impacts that last depart from it: more motions help only where none is an answer, and rounds
    # that gain a little of a large misfit don't
    most = steering.not_whole
    lenient = replace(steering, lasting_impact=most, new=most * steering.new)
    other = Problem(_with_other_law(problem.geometry), problem.throws, lenient)
    laws = [(problem, close), (other, search_closely(other))]
    costs, degrees = np.transpose([_close_cost(law, points) for law, points in laws])
    beyond_noise = np.maximum(costs - degrees, 0.0)
    if beyond_noise[1] < steering.other_law * beyond_noise[0]:
        laws.reverse()
    one_contact = not isinstance(problem.geometry.shape, Polygon)
    # with no corners that hit in another order, more motions are of no use to either law
    no_more = one_contact and (
        impacts_tell or bool((costs <= steering.lasting_impact * degrees).any())
    )
    tried = []
    for law, points in laws:
        minima = _together(law, points) if no_more else _explaining(law, points, noise_degrees, say)
        tried.append((law, minima))
        squares, degrees = law.misfit(minima[0])
        if squares <= steering.not_whole * degrees:
            return law, minima
    return min(tried, key=lambda one: one[1][0].cost)


def _explaining(
    problem: Problem, close: Sequence[list[Point]], noise_degrees: float, say: Say | None
) -> list[Point]:
    """Motions of all throws, best first: with more motions of those that noise doesn't explain by
    themselves, and of all where it doesn't explain them together.
    """
    each, alone = [problem.of_throw(k) for k in range(len(close))], list(close)
    doubtful = {k for k, one in enumerate(each) if _needs_more(one, alone[k][0], noise_degrees)}

    def widen(throws: set[int]) -> list[Point]:
        for k in throws:
            if say:
                say(f"more motions of throw {k + 1} of {len(alone)}")
            others = search_widely(_finer(each[k], alone[k][0]))
            alone[k] = sorted([*alone[k], *others], key=lambda point: point.cost)
        return _together(problem, alone)

    minima = widen(doubtful)
    # of several throws each may follow another body's motion
    if len(alone) > 1 and _needs_more(problem, minima[0], noise_degrees):
        others = widen(set(range(len(alone))) - doubtful)
        minima = sorted([*minima, *others], key=lambda point: point.cost)
    return minima


def _together(problem: Problem, alone: Sequence[list[Point]]) -> list[Point]:
    """Motions of all throws by those of each, best first, and no others."""
    as_they_are = replace(problem.steering, plausible_tail=0.0)
    return search(Problem(problem.geometry, problem.throws, as_they_are), None, alone)


def _needs_more(problem: Problem, point: Point, noise_degrees: float) -> bool:
    """Whether more motions may help: not where noise explains this one, and not where it is so far
    off that the body isn't as modelled.
    """
    # three residuals a frame
    is_near = point.cost <= problem.steering.beyond * 3.0 * sum(problem.whole)
    return is_near and not _is_noise(problem, point, noise_degrees)


def _is_noise(problem: Problem, point: Point, noise_degrees: float) -> bool:
    """Whether noise explains a motion's misfit, also noise that few frames of flight tell."""
    if not np.isfinite(noise_degrees) or problem.plausible(point):
        return problem.plausible(point)
    squares, degrees = problem.misfit(point)
    # a ratio of two variances
    tail = float(fdtrc(degrees, noise_degrees, squares / degrees))
    return tail >= problem.steering.plausible_tail


def _with_finer(problem: Problem, points: list[Point], say: Say | None) -> list[Point]:
    """Motions of a throw, best first, with those of the :func:`_finer` grid where they may help."""
    squares, degrees = problem.misfit(points[0])
    finer = _finer(problem, points[0])
    # a motion that leaves no more than noise does is hardly a wrong one, and one that is far off
    # isn't a rigid body's
    if finer is problem or not degrees < squares <= problem.steering.not_whole * degrees:
        return points
    if say:
        say("no frame lies between two impacts: the search again, with more restitutions")
    return sorted([*points, *search_closely(finer)[0]], key=lambda point: point.cost)


def _finer(problem: Problem, point: Point) -> Problem:
    """The problem, with a finer grid of restitutions where no frame lies between two impacts.

    Poses hardly tell such impacts' restitutions, but what comes after depends on both, so a coarse
    grid may have no motion near the throw's.
    """
    impacts = problem.impacts(0, np.concatenate([point.common, point.own[0]]), problem.whole[0])
    between = np.diff(impacts[np.isfinite(impacts)])  # s
    # two impacts may be closer than a frame and still have one between them: finer all the same
    if not (between < problem.throws[0].measured.frame_interval).any():
        return problem
    # 343 combinations of three impacts in place of 64
    finer = replace(problem.steering, restitutions=problem.steering.fine_restitutions)
    return Problem(problem.geometry, problem.throws, finer)


def by_other_law(problem: Problem, point: Point) -> tuple[Problem, Point]:
    """The problem with the other law of impact, and the motion that it fits from one by this law."""
    other = Problem(_with_other_law(problem.geometry), problem.throws, problem.steering)
    return other, other.fit(point, other.whole)


def _with_other_law(geometry: Geometry) -> Geometry:
    """The same with the other law of impact."""
    return replace(geometry, incremental=not geometry.incremental)


def _misfit_without_wild(problem: Problem, point: Point) -> float:
    """Per degree, of a throw's motion, without as many of its frames as may be wild."""
    squares = np.sort((residuals_of(problem, point, 0) ** 2).sum(axis=1))
    tame = len(squares) - int(problem.steering.most_wild * len(squares))
    return float(squares[:tame].sum()) / problem.misfit(point)[1]


def _close_cost(problem: Problem, close: Sequence[Sequence[Point]]) -> tuple[float, int]:
    """Cost of the best motions of throws by themselves, and degrees of freedom."""
    degrees = sum(problem.of_throw(k).misfit(points[0])[1] for k, points in enumerate(close))
    return sum(points[0].cost for points in close), degrees


def searched_without_wild_poses(
    problem: Problem, minima: Sequence[Point], say: Say | None
) -> list[Point]:
    """Motions with those of a wider search in which the poses that contradict the ``minima`` don't
    count: wild ones misled the first search, or good ones contradict a wrong motion.

    ``problem`` is that without the wild poses.
    """
    squares, degrees = problem.misfit(problem.fit(minima[0], problem.whole))
    # above it impacts are taken by themselves, and no motion is asked for
    hopeless = squares > problem.steering.not_whole * degrees
    # impacts that last contradict single poses of the right motion, too
    if hopeless or problem.geometry.incremental or not _can_search(problem):
        return list(minima)
    if say:
        say("poses contradict this motion: the search again without them, with more motions")
    return [*minima, *search_widely(problem, say)]


def refitted(problem: Problem, minima: Sequence[Point]) -> list[Point]:
    """Motions fitted to other poses of the same throws, best first."""
    fits = [problem.fit(point, problem.whole) for point in minima]
    return sorted(fits, key=lambda point: point.cost)


def _can_search(problem: Problem) -> bool:
    """Whether each throw begins with two poses: a search begins with a line through them."""
    return all(bool(throw.seen[:2].all()) for throw in problem.throws)

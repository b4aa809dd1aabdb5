"""The engine's answer: body and geometry with intervals, the motions, and how well they explain the
poses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from contactid.planar.engine.problem import Point, Problem, System
from contactid.planar.engine.profile import DEVIATIONS, Profile, profile
from contactid.planar.engine.search import Say, search
from contactid.planar.engine.unknowns import HEIGHT, MU, N_COMMON, RADIUS, RATIO, SLOPE
from contactid.planar.simulate.geometry import Ground, Polygon, Shape

_ONE_SIDED = 1.645  # standard deviations of a bound that holds 95 times of 100
_FEWEST_CLUSTERS = 3  # throws from which their scatter tells an error


@dataclass(frozen=True)
class Answer:
    """An identified body.

    Attributes
    ----------
    problem, point : what was fitted, and the best point
    errors : (:data:`N_COMMON`,) standard errors: a 1.96th of the longer side of the interval of 95
        %
    ratio, friction : profiles of J/m and mu
    friction_is_bound : whether the poses set no upper end of mu: then ``mu`` is a lower bound of 95
        %
    squares, degrees : squared residuals in units of noise, and their degrees of freedom
    converged : whether one more fit gains nothing
    """

    problem: Problem
    point: Point
    errors: np.ndarray
    ratio: Profile
    friction: Profile
    friction_is_bound: bool
    squares: float
    degrees: int
    converged: bool

    @property
    def mu(self) -> float:
        """Friction, or its lower bound."""
        return float(self.friction.low if self.friction_is_bound else self.point.common[MU])

    @property
    def shape(self) -> Shape:
        """With the corners' fitted radius."""
        shape = self.problem.geometry.shape
        return (
            replace(shape, radius=float(self.point.common[RADIUS]))
            if isinstance(shape, Polygon)
            else shape
        )

    @property
    def ground(self) -> Ground:
        """With the fitted slope and height."""
        ground, slope = self.problem.geometry.ground, float(self.point.common[SLOPE])
        lift = float(self.point.common[HEIGHT])
        return Ground(
            slope, ground.x0 - lift * float(np.sin(slope)), ground.y0 + lift * float(np.cos(slope))
        )

    @property
    def misfit_per_degree(self) -> float:
        """About 1 where noise is all there is."""
        return self.squares / self.degrees


def identify(
    problem: Problem,
    minima: Sequence[Point] | None = None,
    *,
    noise_stated: bool = True,
    say: Say | None = None,
) -> Answer:
    """The best motion, and how far J/m and friction may be off.

    Parameters
    ----------
    problem
        Geometry and throws.
    minima
        Fitted motions, best first; they are searched for where none are given.
    noise_stated
        Whether the throws' noise is stated. An estimated one may be too large, too: then the misfit
        tells the noise.
    say
        Takes a line on what begins.
    """
    minima = minima or search(problem, say)
    best = minima[0]
    if say:
        say("how far J/m and friction may be off")
    squares, degrees = problem.misfit(best)
    # noise that isn't stated may also be smaller than estimated, but not by any amount
    excess = max(1.0 if noise_stated else problem.steering.least_excess, squares / degrees)
    orders = _choice_of_order(problem, best)
    # 95 % of chi-square with one degree, in units of the noise that the misfit tells
    rise = (DEVIATIONS**2 + orders) * excess
    ratio, best = profile(problem, best, RATIO, rise)
    friction, better = profile(problem, best, MU, rise)
    # the profile of J/m belonged to another best point
    if better is not best:
        ratio, best = profile(problem, better, RATIO, rise)
    is_bound = friction.high_open
    if is_bound:
        # open above, so the whole 5 % lie below the bound
        friction = profile(problem, best, MU, (_ONE_SIDED**2 + orders) * excess)[0]
    points = [
        point
        for point in (*ratio.points, *friction.points, *minima)
        if point.cost <= best.cost + rise
    ]
    errors = _errors(problem, best, points, {RATIO: ratio, MU: friction}, excess)
    squares, degrees = problem.misfit(best)
    polygon = isinstance(problem.geometry.shape, Polygon)
    # intervals of a polygon, which take in other orders of its corners, are on the safe side
    if not polygon or squares > float(chdtri(degrees, problem.steering.plausible_tail)):
        # a rigid law is off alike in every throw, so that neither the cost's rise nor throws'
        # scatter tells it: where noise hides it, and the more the more noise leaves unexplained
        share = problem.steering.model_error * float(np.sqrt(max(squares / degrees, 1.0)))
        errors[[RATIO, MU]] = np.hypot(errors[[RATIO, MU]], share * best.common[[RATIO, MU]])
    converged = best.cost - problem.fit(best, problem.whole).cost < problem.steering.better
    return Answer(problem, best, errors, ratio, friction, is_bound, squares, degrees, converged)


def _choice_of_order(problem: Problem, best: Point) -> float:
    """By how much more the best cost is below the truth's, where the poses also choose in which
    order corners hit.

    Each impact after a throw's first can be that of another corner, or not be there: the best of
    2^k orders costs less than the true one by up to 2 log(2^k), without being any truer.
    """
    if not isinstance(problem.geometry.shape, Polygon):
        return 0.0  # one contact: nothing to choose
    impacts = 0
    for k, throw in enumerate(problem.throws):
        row = np.concatenate([best.common, best.own[k]])
        impacts += max(int(np.isfinite(problem.impacts(k, row, throw.n_frames)).sum()) - 1, 0)
    return 2.0 * float(np.log(2.0)) * impacts


def _errors(
    problem: Problem,
    best: Point,
    points: Sequence[Point],
    profiles: Mapping[int, Profile],
    excess: float,
) -> np.ndarray:
    """(N_COMMON,) standard errors: how far the unknowns go in points that fit as well, and what the
    curvature adds.

    An unknown with a profile goes as far as its longer side does.

    From three throws on their scatter counts, too, where it is larger: noise may not be all that
    differs (a sandwich; Liang and Zeger 1986).
    """
    free = np.flatnonzero(problem.table.free[:N_COMMON])
    # (N_COMMON,) farthest of all points within the rise
    reached = np.abs([point.common - best.common for point in points]).max(axis=0)
    for unknown, walked in profiles.items():
        value = best.common[unknown]
        reached[unknown] = max(reached[unknown], value - walked.low, walked.high - value)
    # points reach as far as an interval of 95 %
    variance = (reached[free] / DEVIATIONS) ** 2
    steering = problem.steering
    widths = steering.difference, steering.wide_difference, steering.kink_difference
    systems = [problem.system(best, problem.whole, 0.0, width) for width in widths]
    for system in systems:  # at a kink of the cost the curvature of either side counts
        variance = np.maximum(variance, excess * np.diag(inverse_of(system))[: len(free)])
    if len(problem.throws) >= _FEWEST_CLUSTERS:
        # by narrow slopes, those of the pulls
        common = inverse_of(systems[0])[: len(free), : len(free)]
        variance = np.maximum(variance, np.diag(sandwich(systems[0].pulls, common)))
    errors = np.zeros(N_COMMON)
    errors[free] = np.sqrt(variance)
    return errors


def inverse_of(system: System) -> np.ndarray:
    """(m, m) of the normal matrix; what moves nothing has a large one."""
    # unknowns have different units: scaled to a diagonal of ones before small values are cut
    scale = np.sqrt(np.maximum(np.diag(system.matrix), 1e-12))
    return np.linalg.pinv(system.matrix / np.outer(scale, scale), hermitian=True) / np.outer(
        scale, scale
    )


def sandwich(pulls: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """(k, k) covariance of k unknowns from how n clusters pull, whatever the noise within a cluster
    is.

    The cluster-robust estimate of Liang and Zeger (1986); with the factor n / (n - 1) it is
    unbiased for a mean.

    Parameters
    ----------
    pulls : (n, k) gradient of each cluster's half squared residuals at the fit
    inverse : (k, k) of the normal matrix
    """
    n = len(pulls)
    moved = pulls @ inverse
    return moved.T @ moved * n / (n - 1)

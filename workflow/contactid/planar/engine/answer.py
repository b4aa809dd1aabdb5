"""The engine's answer: body and geometry with intervals, the motions, and how well they explain the poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from contactid.planar.engine.problem import DIFFERENCES, Point, Problem, System
from contactid.planar.engine.profile import Profile, profile
from contactid.planar.engine.search import Say, Search, search
from contactid.planar.engine.unknowns import HEIGHT, MU, N_COMMON, RADIUS, RATIO, SLOPE
from contactid.planar.simulate.geometry import Ground, Polygon, Shape

DEVIATIONS = 1.96  # standard deviations of an interval that holds the truth 95 times of 100
_ONE_SIDED = 1.645  # the same of a bound
_UNLIKELY = 0.95  # quantile of chi-square up to which a misfit is noise
_LEAST_EXCESS = 0.25  # of the misfit per degree, down to which estimated noise is corrected
_WIDE = 1.0  # of the unknowns' scales: differences that average over the kinks of many contacts
_FEWEST_CLUSTERS = 3  # throws from which their scatter tells an error


@dataclass(frozen=True)
class Answer:
    """An identified body.

    Attributes
    ----------
    problem, point : what was fitted, and the best point
    errors : (:data:`N_COMMON`,) standard errors: a 1.96th of the longer side of the interval of 95 %
    ratio, friction : profiles of J/m and mu
    friction_is_bound : whether the poses set no upper end of mu: then ``mu`` is a lower bound of 95 %
    squares, degrees : squared residuals in units of noise, and their degrees of freedom
    """

    problem: Problem
    point: Point
    errors: np.ndarray
    ratio: Profile
    friction: Profile
    friction_is_bound: bool
    squares: float
    degrees: int

    @property
    def mu(self) -> float:
        """Friction, or its lower bound."""
        return float(self.friction.low if self.friction_is_bound else self.point.common[MU])

    @property
    def shape(self) -> Shape:
        """With the corners' fitted radius."""
        shape = self.problem.geometry.shape
        return replace(shape, radius=float(self.point.common[RADIUS])) if isinstance(shape, Polygon) else shape

    @property
    def ground(self) -> Ground:
        """With the fitted slope and height."""
        ground, slope = self.problem.geometry.ground, float(self.point.common[SLOPE])
        lift = float(self.point.common[HEIGHT])
        return Ground(slope, ground.x0 - lift * float(np.sin(slope)), ground.y0 + lift * float(np.cos(slope)))

    @property
    def misfit_per_degree(self) -> float:
        """About 1 where noise is all there is."""
        return self.squares / self.degrees

    @property
    def plausible(self) -> bool:
        """Whether noise explains the misfit."""
        return self.squares <= float(chdtri(self.degrees, 1.0 - _UNLIKELY))


def identify(
    problem: Problem,
    breadth: Search | None = None,
    *,
    noise_stated: bool = True,
    start: Point | None = None,
    say: Say | None = None,
) -> Answer:
    """Search, fit and judge.

    Parameters
    ----------
    problem
        Geometry and throws.
    breadth
        Of the search.
    noise_stated
        Whether the throws' noise is stated. An estimated one may be too large, too: then the misfit tells the noise.
    start
        A motion to follow; no search is made then.
    say
        Takes a line on what begins.
    """
    minima = search(problem, breadth, say) if start is None else [problem.fit(start, problem.whole)]
    best = minima[0]
    if say:
        say("how far J/m and friction may be off")
    squares, degrees = problem.misfit(best)
    excess = max(1.0 if noise_stated else _LEAST_EXCESS, squares / degrees)
    orders = _choice_of_order(problem, best)
    rise = (DEVIATIONS**2 + orders) * excess
    ratio, best = profile(problem, best, RATIO, rise)
    friction, best = profile(problem, best, MU, rise)
    is_bound = friction.high_open
    if is_bound:
        friction = profile(problem, best, MU, (_ONE_SIDED**2 + orders) * excess)[0]
    points = [*ratio.points, *friction.points, *_as_good(minima, best, rise)]
    squares, degrees = problem.misfit(best)
    return Answer(problem, best, _errors(problem, best, points, excess), ratio, friction, is_bound, squares, degrees)


def _choice_of_order(problem: Problem, best: Point) -> float:
    """By how much more the best cost is below the truth's, where the poses also choose in which order corners hit.

    Each impact after a throw's first can be that of another corner, or not be there: the best of 2^k orders costs less
    than the true one by up to 2 log(2^k), without being any truer.
    """
    if not isinstance(problem.geometry.shape, Polygon):
        return 0.0  # one contact: nothing to choose
    impacts = 0
    for k, throw in enumerate(problem.throws):
        row = np.concatenate([best.common, best.own[k]])
        impacts += max(int(np.isfinite(problem.impacts(k, row, throw.n_frames)).sum()) - 1, 0)
    return 2.0 * float(np.log(2.0)) * impacts


def _as_good(minima: Sequence[Point], best: Point, rise: float) -> list[Point]:
    """Other motions that explain the poses about as well."""
    return [point for point in minima if point.cost <= best.cost + rise]


def _errors(problem: Problem, best: Point, points: Sequence[Point], excess: float) -> np.ndarray:
    """(N_COMMON,) standard errors: how far the unknowns go along the profiles, and what the curvature adds.

    From three throws on their scatter counts, too, where it is larger: noise may not be all that differs (a sandwich;
    Liang and Zeger 1986).
    """
    free = np.flatnonzero(problem.table.free[:N_COMMON])
    reached = np.abs([point.common - best.common for point in points]).max(axis=0)
    variance = (reached[free] / DEVIATIONS) ** 2
    for difference in (*DIFFERENCES, _WIDE):  # at a kink of the cost the curvature of either side counts
        system = problem.system(best, problem.whole, 0.0, difference)
        inverse = _inverse(system)
        variance = np.maximum(variance, excess * np.diag(inverse)[: len(free)])
    if len(problem.throws) >= _FEWEST_CLUSTERS:
        variance = np.maximum(variance, np.diag(sandwich(system.pulls, inverse[: len(free), : len(free)])))
    errors = np.zeros(N_COMMON)
    errors[free] = np.sqrt(variance)
    return errors


def _inverse(system: System) -> np.ndarray:
    """Of the normal matrix; what moves nothing has a large one."""
    scale = np.sqrt(np.maximum(np.diag(system.matrix), 1e-12))
    return np.linalg.pinv(system.matrix / np.outer(scale, scale), hermitian=True) / np.outer(scale, scale)


def sandwich(pulls: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """(k, k) covariance of k unknowns from how n clusters pull, whatever the noise within a cluster is.

    The cluster-robust estimate of Liang and Zeger (1986); with the factor n / (n - 1) it is unbiased for a mean.

    Parameters
    ----------
    pulls : (n, k) gradient of each cluster's half squared residuals at the fit
    inverse : (k, k) of the normal matrix
    """
    n = len(pulls)
    moved = pulls @ inverse
    return moved.T @ moved * n / (n - 1)

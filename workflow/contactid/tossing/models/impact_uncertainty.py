"""How well impacts determine friction and restitution: standard errors, intervals, and whether friction shows at all.

Two covariances of the parameters ``p``, both at the minimum of the likelihood's F
(:mod:`contactid.tossing.models.impact_likelihood`):

* information: the inverse of the Gauss-Newton Hessian in ``p`` with every impact's own unknowns eliminated (the reduced
  Hessian). Right where the measurements' covariances are right and the impact law holds;
* sandwich: ``H^-1 (sum_c s_c s_c^T) H^-1 (m - 1) / m`` with m tosses, ``s_c = (1 - H_c H^-1)^-1 g_c``, g_c the sum of
  the scores of toss c and H_c its share of the Hessian H. Impacts of a toss share its calibration and its body, so
  the toss counts, not the impact; the factor undoes what every toss pulls the optimum towards itself (the jackknife,
  linearised). It holds whatever the size of the errors, given enough tosses.

Few impacts carry most of what is known of mu: those that slide fast. Normal approximations are as good as the
*effective* number of tosses ``(sum h)^2 / sum h^2`` is large, h being a toss's share of a parameter's information.
Intervals take Student's quantile: with that number less one for the sandwich, whose errors are estimated; with twice
that number for the information, whose errors are known but whose likelihood has kinks where an impact begins to
slide.

Impacts that stick say of mu only that it is not small. Whether any slides is asked of the data by a likelihood ratio:
where F without a limit on friction is not significantly larger than at the optimum, mu is not identified, and what the
data give is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtri, ndtri, stdtrit

from contactid.tossing.models.impact_likelihood import Likelihood

_NO_LIMIT = 1e3  # a mu that no impact of a convex body can need
_SIGNIFICANT = 0.5 * float(chdtri(1, 0.05))  # of F, two-sided
_ONE_SIDED = 0.5 * float(ndtri(0.95)) ** 2


@dataclass(frozen=True)
class Uncertainty:
    """Covariances at an optimum; k parameters in the order mu, e_N and, where it was free, e_T.

    Attributes
    ----------
    information, sandwich : (k, k)
    reduced_chi_square : 2 F per degree of freedom; about 1 where noise and law are right
    clusters : number of tosses
    effective : (k,) number of tosses that each parameter effectively rests on
    """

    information: np.ndarray
    sandwich: np.ndarray
    reduced_chi_square: float
    clusters: int
    effective: np.ndarray

    @property
    def robust(self) -> bool:
        """Whether the sandwich is the one to trust: the errors aren't as assumed, and there are tosses enough."""
        return self.reduced_chi_square > 1.5 and self.clusters >= 10

    @property
    def covariance(self) -> np.ndarray:
        """The one to trust; the information's is widened by the misfit where tosses are too few for the other."""
        return self.sandwich if self.robust else self.information * max(1.0, self.reduced_chi_square)

    @property
    def standard_errors(self) -> np.ndarray:
        """(k,) of :attr:`covariance`."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def degrees(self) -> np.ndarray:
        """(k,) degrees of freedom of the intervals."""
        return np.maximum(self.effective - 1.0, 1.0) if self.robust else np.maximum(2.0 * self.effective, 1.0)


@dataclass(frozen=True)
class FrictionEvidence:
    """Whether sliding impacts determine mu.

    Attributes
    ----------
    identified : infinite friction is significantly worse than the optimum
    lower_bound : 95 % one-sided lower bound of mu, by profile likelihood
    evidence : rise of F (scaled by the misfit) without a limit on friction
    """

    identified: bool
    lower_bound: float
    evidence: float


def uncertainty(problem: Likelihood, mu: float, e_n: float, e_t: float = 0.0, *, free_e_t: bool = False) -> Uncertainty:
    """Both covariances at an optimum of F."""
    free = (0, 1, 2) if free_e_t else (0, 1)
    at = problem.fit(mu, e_n, e_t)
    names, cluster = np.unique(problem.table.toss.astype(str), return_inverse=True)
    m, k = len(names), len(free)
    shares, scores = np.zeros((m, k, k)), np.zeros((m, k))
    np.add.at(shares, cluster, problem.information(at, mu, e_n, e_t, free))
    np.add.at(scores, cluster, problem.scores(at, mu, e_n, e_t, free))
    information = _inverse(shares.sum(axis=0))
    known = np.isfinite(np.diag(information))
    spread = np.where(np.outer(known, known), information, 0.0)
    scores -= scores.mean(axis=0)  # their sum is zero already, but for parameters at a bound
    freed = [np.linalg.lstsq(np.eye(k) - share @ spread, score)[0] for share, score in zip(shares, scores, strict=True)]
    sandwich = spread @ (np.transpose(freed) @ np.array(freed)) @ spread * ((m - 1) / m)
    sandwich[~known, ~known] = np.inf
    parts = np.diagonal(shares, axis1=1, axis2=2)
    effective = parts.sum(axis=0) ** 2 / np.maximum((parts**2).sum(axis=0), np.finfo(float).tiny)
    degrees = 6 * len(problem.table) - len(free)  # 12 measured, 6 unknown; the law fixes the impulse
    chi_square = 2.0 * float(at.cost.sum()) / max(degrees, 1)
    return Uncertainty(information, sandwich, chi_square, m, effective)


def _inverse(hessian: np.ndarray) -> np.ndarray:
    """Inverse of an information matrix; a parameter that nothing depends on gets an infinite variance."""
    seen = np.diag(hessian) > 0.0
    result = np.full_like(hessian, 0.0)
    result[np.ix_(seen, seen)] = np.linalg.inv(hessian[np.ix_(seen, seen)])
    result[~seen, ~seen] = np.inf
    return result


def interval(value: float, error: float, degrees: float, low: float = 0.0, high: float = np.inf) -> tuple[float, float]:
    """95 % interval of a parameter that can only lie between ``low`` and ``high``.

    Parameters
    ----------
    error
        Standard error; infinite where nothing depends on the parameter.
    degrees
        Of freedom of Student's quantile.
    """
    if not np.isfinite(error):
        return low, high
    reach = float(stdtrit(degrees, 0.975)) * error
    return max(value - reach, low), min(value + reach, high)


def friction_evidence(problem: Likelihood, mu: float, e_n: float, e_t: float = 0.0) -> FrictionEvidence:
    """Ask the likelihood whether mu is determined; ``(mu, e_n, e_t)`` is its optimum."""
    lowest = problem.objective(mu, e_n, e_t)
    degrees = max(6 * len(problem.table) - 2, 1)
    scale = max(1.0, 2.0 * lowest / degrees)

    def rise(friction: float) -> float:
        best = minimize_scalar(
            lambda value: problem.objective(friction, value, e_t), bounds=(0.0, 1.0), method="bounded",
            options={"xatol": 1e-4},
        )  # fmt: skip
        return max((min(float(best.fun), problem.objective(friction, e_n, e_t)) - lowest) / scale, 0.0)

    evidence = rise(_NO_LIMIT)
    bound = 0.0
    if mu > 0.0 and rise(0.0) > _ONE_SIDED:
        bound = float(brentq(lambda friction: rise(friction) - _ONE_SIDED, 0.0, mu, xtol=1e-4))
    return FrictionEvidence(evidence > _SIGNIFICANT, bound, evidence)

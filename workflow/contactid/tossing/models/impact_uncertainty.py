"""How well impacts determine friction and restitution: intervals, whether the law fits, whether
friction shows at all.

Two covariances of the parameters, both at the minimum of the likelihood's F
(:mod:`contactid.tossing.models.impact_likelihood`):

* sandwich, ``H^-1 (sum_c s_c s_c^T) H^-1 (m - 1) / m`` with H the Hessian, every impact's own
  unknowns eliminated, over m tosses c: ``s_c = (1 - H_c H^-1)^-1 g_c``, g_c the sum of the scores
  of a toss and H_c its share of H (the jackknife, linearised). Impacts of a toss share its
  calibration, its slow drift and its body, so the toss counts, not the impact. It holds whatever
  the size of the errors, and is taken where tosses are enough;
* information, ``H^-1`` times the misfit, where they aren't. With many tosses it is far too small:
  it takes what drifts over a toss for noise of each impact.

Few impacts carry most of what is known of mu: those that slide fast. Normal approximations are as
good as the *effective* number of tosses ``(sum h)^2 / sum h^2`` is large, h being a toss's share of
a parameter's information. Intervals take Student's quantile: with that number less one for the
sandwich, whose errors are estimated; with twice that number for the information, whose errors are
known but whose likelihood has kinks where an impact begins to slide.

Neither sees what all impacts have in common. The law's impact has no duration; a real one, and one
of a simulator that steps, lasts. Gravity's velocity within that time is in the twist before it and
in the one after it with opposite signs. What it does to the parameters is added as one more
standard deviation.

An interval under a law that the impacts refute says nothing of the body. They refute it where they
deviate from it by more than twice what the measured noise explains. Slow drifts of the poses, which
the noise doesn't have, make half of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtri, ndtri, stdtrit

from contactid.tossing.models.impact_likelihood import Likelihood, Point

_ENOUGH = 10  # tosses for a sandwich
# the median impact's chi-square by measured noise alone, over its own, up to which the law fits
_LARGEST_NOISE = 4.0
# of the chi-square of an impact: 12 measured, 6 unknown; the law fixes the impulse
_MEDIAN = float(chdtri(6, 0.5))
_NO_LIMIT = 1e3  # a mu that no impact of a convex body can need
_SIGNIFICANT = 0.5 * float(chdtri(1, 0.05))  # of F, two-sided
_ONE_SIDED = 0.5 * float(ndtri(0.95)) ** 2


@dataclass(frozen=True)
class Uncertainty:
    """What an optimum is worth; k parameters in the order mu, e_N and, where it was free, e_T."""

    covariance: np.ndarray  # (k, k)
    information: np.ndarray  # (k,) variances by the information alone, the naive answer
    degrees: np.ndarray  # (k,) of freedom of Student's quantile
    kind: str  # what the covariance is
    reduced_chi_square: float  # 2 F per degree of freedom
    # the median impact's by measured noise alone, without the model's error; 1 is expected
    noise_chi_square: float

    @property
    def reach(self) -> np.ndarray:
        """(k,) half widths of the 95 % intervals; infinite where nothing depends on a parameter."""
        return stdtrit(self.degrees, 0.975) * np.sqrt(np.diag(self.covariance))

    @property
    def law_fits(self) -> bool:
        """Whether impacts deviate from the law by little more than the measured noise explains."""
        return self.noise_chi_square <= _LARGEST_NOISE


class FrictionEvidence(NamedTuple):
    """Whether sliding impacts determine mu."""

    identified: bool  # infinite friction is significantly worse than the optimum
    lower_bound: float  # 95 % one-sided lower bound of mu, by profile likelihood


def uncertainty(
    problem: Likelihood, at: Point, *, free_e_t: bool = False, lasting: np.ndarray | None = None
) -> Uncertainty:
    """Covariance at an optimum of F; ``lasting`` as in ``identify_from_impacts``."""
    free = (0, 1, 2) if free_e_t else (0, 1)
    k = len(free)
    names, toss = np.unique(problem.table.toss.astype(str), return_inverse=True)
    m = len(names)
    # summed over each toss's impacts: see the module
    shares, scores = np.zeros((m, k, k)), np.zeros((m, k))
    np.add.at(shares, toss, problem.curvatures(at, free))
    np.add.at(scores, toss, problem.scores(at, free))
    inverse, seen = _inverse(shares.sum(axis=0))
    # 12 measured, 6 unknown; the law fixes the impulse
    freedom = max(6 * len(problem.table) - k, 1)
    misfit = 2.0 * problem.objective(*at) / freedom
    parts = np.diagonal(shares, axis1=1, axis2=2)
    effective = parts.sum(axis=0) ** 2 / np.maximum((parts**2).sum(axis=0), np.finfo(float).tiny)
    if m >= _ENOUGH:
        kind = "sandwich by toss"
        degrees = effective - 1.0
        covariance = sandwich(shares, scores, inverse)
    else:
        kind, degrees, covariance = "information", 2.0 * effective, inverse * max(1.0, misfit)
    if lasting is not None:
        moved = problem.moved(np.concatenate([lasting, np.zeros(3)]))
        # one Newton step: how far the optimum moves
        shift = inverse @ (moved.scores(at, free) - problem.scores(at, free)).sum(axis=0)
        covariance = covariance + np.outer(shift, shift)
    # nothing depends on it, so nothing bounds it
    covariance[~seen, ~seen] = np.inf
    # half of the impacts decide, not the few that the law misses altogether
    noise = 2.0 * float(np.median(problem.by_noise_alone().fit(*at).cost)) / _MEDIAN
    return Uncertainty(covariance, np.diag(inverse), np.maximum(degrees, 1.0), kind, misfit, noise)


def _inverse(hessian: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Its inverse among parameters that anything depends on, 0 elsewhere; and which those are."""
    seen = np.diag(hessian) > 0.0
    inverse = np.zeros_like(hessian)
    inverse[np.ix_(seen, seen)] = np.linalg.inv(hessian[np.ix_(seen, seen)])
    return inverse, seen


def sandwich(shares: np.ndarray, scores: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """(k, k) covariance from each toss's share of the Hessian (m, k, k), its score (m, k) and the
    Hessian's inverse.
    """
    m, k = scores.shape
    # their sum is zero already, but for parameters at a bound
    scores = scores - scores.mean(axis=0)
    freed = [
        # (1 - H_c H^-1)^-1 g_c; singular where one toss alone tells a parameter, hence least
        # squares
        np.linalg.lstsq(np.eye(k) - share @ inverse, score)[0]
        for share, score in zip(shares, scores, strict=True)
    ]
    return inverse @ (np.transpose(freed) @ np.array(freed)) @ inverse * ((m - 1) / m)


def friction_evidence(problem: Likelihood, at: Point) -> FrictionEvidence:
    """Ask the likelihood whether mu is determined; ``at`` is its optimum."""
    mu, e_n, e_t = at
    lowest = problem.objective(*at)
    # misfit inflates the errors, a good fit doesn't shrink them
    scale = max(1.0, 2.0 * lowest / max(6 * len(problem.table) - 2, 1))

    def rise(friction: float) -> float:
        # profile likelihood: e_N is the best for each mu
        best = minimize_scalar(
            lambda value: problem.objective(friction, value, e_t), bounds=(0.0, 1.0), method="bounded",
            options={"xatol": 1e-4},
        )  # fmt: skip
        return max(
            (min(float(best.fun), problem.objective(friction, e_n, e_t)) - lowest) / scale, 0.0
        )

    bound = 0.0
    # else even no friction is as good as the optimum, within the level
    if mu > 0.0 and rise(0.0) > _ONE_SIDED:
        bound = float(brentq(lambda friction: rise(friction) - _ONE_SIDED, 0.0, mu, xtol=1e-4))
    return FrictionEvidence(rise(_NO_LIMIT) > _SIGNIFICANT, bound)

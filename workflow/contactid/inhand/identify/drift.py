"""A drift of the unsensed wrench, in the equations of one recording.

The estimate knows unsensed forces that are constant, and ones that go together over a second at
most (:mod:`contactid.inhand.identify.latent_errors`). A sensor's zero as it warms up, or a cable
that follows the hand, goes on for longer, and a slow motion doesn't average it away: neighbours
then count as if each told something new, and errors are too small.

Here the constant wrench walks at random beside what is estimated. Less its mean, a random walk over
a recording is a sum of cosines of the time with independent sizes, the k-th of half k turns and of
variance ``2 / (k pi)^2`` times the walk's (its Karhunen-Loeve expansion). The walk's variances, of
force and torque, are those of restricted maximum likelihood beside an answer without a drift
(:func:`drift_of`). With the terms integrated out, the equations' errors have a covariance with the
walk in it (:class:`DriftingErrors`), and the answer is that of generalised least squares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from contactid.inhand.identify.disturbance_models import Model
from contactid.inhand.identify.latent_errors import LatentErrors
from contactid.inhand.identify.linearised import Linearised
from contactid.inhand.identify.wrench import WRENCH

# cosines: the slowest hold 90 % of a walk's variance; twice as many tell no more (on twins)
_TERMS = 6
_KINDS = np.repeat([0, 1], 3)  # of a wrench's components: force, torque
_STEPS = 60  # of the search for the variances, at most; each costs a matrix of 36 by 36
_SETTLED = 0.02  # relative change of both, from which on the search ends
# logarithm of likelihood that a walk has to bring: half of the recordings without one show a little
# more than nothing, which moves nothing but doubles the time that an answer takes
_LEAST_GAIN = 0.5
# of the variance that the recording could tell from none: a smaller one would change a thousandth
# of what the recording says, and counts as none
_LEAST = 1e-3


@dataclass(frozen=True)
class Drift:
    """A walk of the wrench that isn't sensed.

    Attributes
    ----------
    force, torque : N and N m about B's origin, how far a component walks: one deviation, from the
        first sample to the last
    gain : of the data's logarithm of likelihood over no walk
    """

    force: float
    torque: float
    gain: float

    @property
    def walks(self) -> bool:
        """Whether there is one at all."""
        return self.force > 0.0 or self.torque > 0.0

    @property
    def sizes(self) -> np.ndarray:
        """(w,) N and N m, a deviation of every term."""
        return np.tile(np.array([self.force, self.torque])[_KINDS], _TERMS)


#: What isn't sensed stays, or comes and goes within a second.
STEADY = Drift(0.0, 0.0, 0.0)


class DriftingErrors(LatentErrors):
    """Errors with those of a drift, whose terms are integrated out: their precision is that of the
    latent errors less what the terms could take up.
    """

    def __init__(self, present: Linearised, levels: np.ndarray, drift: Drift) -> None:
        equations = present.equations
        self._walk = _walk(present) * drift.sizes
        # terms of unit variance are columns behind the parameters'
        slope = np.concatenate([equations.slope, self._walk], axis=2)
        super().__init__(replace(equations, slope=slope), levels)
        unknowns = equations.slope.shape[2]
        self._own, self._terms = slice(1, 1 + unknowns), slice(1 + unknowns, None)
        # value and parameters, by the terms
        self._by_terms = self._gram[: 1 + unknowns, self._terms]
        precision = np.eye(len(drift.sizes)) + self._gram[self._terms, self._terms]
        self._covariance = np.linalg.inv(precision)

    @property
    def information(self) -> np.ndarray:
        """(p, p) of the parameters."""
        return self._marginal[1:, 1:]

    @property
    def score(self) -> np.ndarray:
        """(p,): the information times the least-squares answer."""
        return self._marginal[1:, 0]

    @property
    def _marginal(self) -> np.ndarray:
        """(1 + p, 1 + p) products of value and parameters."""
        both = slice(0, self._own.stop)
        taken = self._by_terms @ self._covariance @ self._by_terms.T
        return np.asarray(self._gram[both, both] - taken)

    def errors(self, answer: np.ndarray) -> np.ndarray:
        """(n, d) likeliest errors for an answer (p,), beside the likeliest drift."""
        terms = self._covariance @ self._by_terms.T @ np.append(1.0, -answer)
        return super().errors(np.concatenate([answer, terms]))

    def _products(self, columns: np.ndarray, right: np.ndarray) -> np.ndarray:
        flat, walk = (one.reshape(-1, one.shape[2]) for one in (columns, self._walk))
        error = right.reshape(-1, right.shape[2])
        response = self._response[:, :, self._terms].reshape(len(error), -1)
        by_terms = (flat.T @ walk - error.T @ response) / self.levels[0]
        return super()._products(columns, right) - by_terms @ self._covariance @ by_terms.T


def errors_with(present: Linearised, levels: np.ndarray, drift: Drift) -> LatentErrors:
    """Errors of equations at noise levels, with a drift where there is one."""
    if drift.walks:
        return DriftingErrors(present, levels, drift)
    return LatentErrors(present.equations, levels)


def drift_of(present: Linearised, errors: LatentErrors, model: Model) -> Drift:
    """The walk that equations and their errors without a drift show beside a model's answer."""
    slope, walk = present.equations.slope[:, :, model.columns], _walk(present)
    residual = present.equations.value - present.equations.slope @ model.answer
    products = errors.inner(np.concatenate([residual[..., None], slope, walk], axis=2))
    of_slope = slice(1, 1 + slope.shape[2])
    of_walk = slice(of_slope.stop, None)
    by_walk = products[of_slope, of_walk]
    # what the unknowns of the answer don't take up
    taken = by_walk.T @ np.linalg.solve(model.information, by_walk)
    information = products[of_walk, of_walk] - taken
    score = products[of_walk, 0]
    variances = likeliest_variances(information, score, np.tile(_KINDS, _TERMS))
    root = np.sqrt(np.tile(variances[_KINDS], _TERMS))
    gain = _gain(root[:, None] * information * root, root * score)
    if gain < _LEAST_GAIN:
        return STEADY
    return Drift(float(np.sqrt(variances[0])), float(np.sqrt(variances[1])), gain)


def _walk(present: Linearised) -> np.ndarray:
    """(m, 6, w) whitened wrench of every term of a walk of unit variance, N and N m."""
    time = present.equations.time[present.equations.rows]
    share = (time - time[0]) / (time[-1] - time[0])
    order = np.pi * np.arange(1, _TERMS + 1)
    terms = np.sqrt(2.0) / order * np.cos(order * share[:, None])
    white = np.linalg.inv(present.roots)
    return np.einsum("mvw,mk->mvkw", white, terms).reshape(len(time), WRENCH, -1)


def likeliest_variances(
    information: np.ndarray, score: np.ndarray, kinds: np.ndarray
) -> np.ndarray:
    """(k,) likeliest variances of independent terms (t,) of k kinds, one of each kind; zero where
    there is none. Of the terms' information (t, t) with all else projected out, and score (t,).
    """
    counts = np.bincount(kinds)
    # a variance at which the data say as much of a term as the walk itself
    start = counts / np.bincount(kinds, np.diag(information))
    variances = start
    for _ in range(_STEPS):
        covariance = np.linalg.inv(information + np.diag(1.0 / variances[kinds]))
        uncertain = np.bincount(kinds, np.diag(covariance)) / variances
        squares = np.bincount(kinds, (covariance @ score) ** 2) / variances
        # multiplied by the terms' squares over what is expected of them, as levels of noise are
        change = squares / np.maximum(counts - uncertain, np.finfo(float).tiny)
        variances = np.maximum(variances * np.clip(change, 0.1, 10.0), _LEAST * start)
        # a variance at the least has no such end: its search takes all steps
        if np.all(np.abs(change - 1.0) < _SETTLED):
            break
    # at the least the search has found none
    return np.where(variances > _LEAST * start, variances, 0.0)


def _gain(information: np.ndarray, score: np.ndarray) -> float:
    """Logarithm of the likelihood over that without, by terms of unit variance."""
    whole = np.eye(len(score)) + information
    volume = np.linalg.slogdet(whole)[1]
    return float(0.5 * (score @ np.linalg.solve(whole, score) - volume))

"""Which disturbances a recording has, by the likelihood of the data with all unknowns integrated
out.

A model is a subset of the disturbances that :mod:`contactid.inhand.identify.linearised` has columns
for. Every unknown has a normal distribution beforehand, wide enough for what is met
(:func:`thinkable`). The equations are linear, so the data's likelihood under every subset follows
from one information matrix, that of all columns; an unknown that is out is fixed. Models are
weighed jointly, for a lag alone may pass for what a cable does. A disturbance that the data don't
speak of is left out: each has to make the logarithm of their likelihood larger by :data:`PENALTY`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from contactid.inhand.identify.linearised import (
    ANCHOR,
    AXES,
    LAG,
    PLACES,
    SPRING,
    UNKNOWNS,
    WORLD,
)
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH

DISTURBANCES = (WORLD, SPRING, LAG, AXES)
# noise that isn't quite as modelled feigns a few; a lag of 50 ms or a cable brings a hundred
PENALTY = 10.0
# the same where a force of the world leaves the mass to accelerations that hardly tell it (by more
# than this share): it can take nearly all of a slow weight, so gains, crosstalk and hysteresis of a
# real sensor bring thirty
_SLOW, _SLOW_PENALTY = 0.1, 50.0
_LARGEST = (
    10.0  # deviation of parameters, in those of a body of the hull's size with the weighed mass
)
_WORLD = 1.0  # deviation of a force fixed in the world, in weights
# deviation of where it acts, in sizes of the hull: anywhere in it, at its middle or its ends
_ANCHOR = 0.6
_SPRING = 1.0  # deviation of its stiffness, in weights per size of the hull
_LAG = 0.05  # s
# of M's entries: accelerations wrong by their own size
_AXES = 1.0
# relative eigenvalue of an information; below it, what is lost to rounding is taken to be so large
_FLAT = 1e-13


@dataclass(frozen=True, eq=False)
class Model:
    """A subset of the disturbances.

    Attributes
    ----------
    names : of the disturbances
    log_likelihood : of the data, up to a constant that all models share, less the penalties
    columns : (q,) of all unknowns, those that are in
    information : (q, q) of these, what is thinkable included
    answer : (p,) of all unknowns; those that are out as they are fixed
    slow_penalty : in the log likelihood, of a force of the world beside a slow motion; where other
        recordings tell the mass, the force need not bring it
    """

    names: tuple[str, ...]
    log_likelihood: float
    columns: np.ndarray
    information: np.ndarray
    answer: np.ndarray
    slow_penalty: float = 0.0

    @property
    def mass(self) -> tuple[float, float]:
        """Kg, and its standard error; the body's shape free."""
        unit = np.eye(len(self.columns))[0]
        return float(self.answer[0]), float(np.sqrt(np.linalg.solve(self.information, unit)[0]))

    def given(self, body: np.ndarray) -> np.ndarray:
        """(p,) the answer where the parameters are those (10,) of a body."""
        # conditional mean of the rest, given the body
        moved, rest = body - self.answer[:PARAMETERS], self.information[PARAMETERS:, PARAMETERS:]
        answer = np.concatenate([body, self.answer[PARAMETERS:]])
        answer[self.columns[PARAMETERS:]] -= np.linalg.solve(
            rest, self.information[PARAMETERS:, :PARAMETERS] @ moved
        )
        return answer


def thinkable(mass: float, size: float, gravity: float) -> np.ndarray:
    """(p,) deviations of all unknowns beforehand, of an object's mass (kg) and size (m); infinite
    for the wrench.
    """
    deviations = np.empty(UNKNOWNS)
    # mass, first moments, tensor: m, m L, m L^2
    deviations[:PARAMETERS] = _LARGEST * mass * np.repeat([1.0, size, size**2], [1, 3, 6])
    deviations[PARAMETERS : PARAMETERS + WRENCH] = np.inf
    # a tiny or absent gravity still leaves a scale
    deviations[PLACES[WORLD]] = _WORLD * mass * max(gravity, 1.0)
    deviations[PLACES[ANCHOR]] = _ANCHOR * size
    deviations[PLACES[SPRING]] = _SPRING * mass * max(gravity, 1.0) / size
    deviations[PLACES[LAG]], deviations[PLACES[AXES]] = _LAG, _AXES
    return deviations


def models(
    information: np.ndarray,
    score: np.ndarray,
    deviations: np.ndarray,
    about: np.ndarray,
    offered: Sequence[str],
    wrench: bool,
) -> list[Model]:
    """Every model, likeliest first.

    Parameters
    ----------
    information, score
        (p, p) and (p,) of the data alone: their likelihood's curvature, and that times the
        least-squares answer.
    deviations
        (p,) of all unknowns beforehand.
    about
        (p,) what is in the equations already: where there is none, what remains is its opposite.
    offered
        Disturbances that a model may have.
    wrench
        Whether a constant wrench is unknown, too.
    """
    subsets = [names for size in range(len(offered) + 1) for names in combinations(offered, size)]
    every = []
    for names in subsets:
        # neither the weight nor accelerations would tell the mass
        if {WORLD, AXES} <= set(names):
            continue
        # a spring's force has a mean
        if SPRING in names and WORLD not in names:
            continue
        kept = np.zeros(len(score), dtype=bool)
        kept[: PARAMETERS + (WRENCH if wrench else 0)] = True
        for name in names:
            kept[PLACES[name]] = True
        middle = -about
        # a force of the world acts somewhere; where there is none, its place adds nothing
        kept[PLACES[ANCHOR]] = WORLD in names
        if WORLD not in names:
            middle[PLACES[ANCHOR]] = 0.0
        every.append(_model(names, information, score, kept, deviations, middle))
    return sorted(every, key=lambda one: -one.log_likelihood)


def _model(
    names: tuple[str, ...], information: np.ndarray, score: np.ndarray, kept: np.ndarray, deviations: np.ndarray,
    middle: np.ndarray,
) -> Model:  # fmt: skip
    """Normal unknowns about ``middle`` where they are kept, and fixed there where not: evidence and
    answer.
    """
    # infinite deviations have precision zero: no prior
    columns, precision = np.flatnonzero(kept), deviations[kept] ** -2.0
    fixed = np.where(kept, 0.0, middle)
    # normal prior times linear likelihood: precisions add up
    own = information[np.ix_(columns, columns)] + np.diag(precision)
    right = (score - information @ fixed)[columns] + precision * middle[columns]
    scale = np.sqrt(np.diag(own))
    values, vectors = np.linalg.eigh(own / np.outer(scale, scale))
    # what rounding loses must not look like evidence
    values = np.maximum(values, _FLAT * values[-1])
    answer = fixed.copy()
    answer[columns] = vectors @ ((vectors.T @ (right / scale)) / values) / scale
    # quadratic form at the optimum, with the prior's and the fixed unknowns' parts
    explained = right @ answer[columns] - precision @ middle[columns] ** 2
    explained += 2.0 * score @ fixed - fixed @ information @ fixed
    # a flat prior has no volume; all models share those of the wrench
    finite = precision > 0.0
    # Occam's factor: posterior precision over prior precision
    log_volume = np.log(values).sum() + 2.0 * np.log(scale).sum() - np.log(precision[finite]).sum()
    likelihood = float(0.5 * (explained - log_volume))
    model = Model(names, likelihood - PENALTY * len(names), columns, own, answer)
    if WORLD in names and model.mass[1] > _SLOW * abs(model.mass[0]):
        alone = model.log_likelihood - _SLOW_PENALTY
        return replace(model, log_likelihood=alone, slow_penalty=_SLOW_PENALTY)
    return model


def inverse(matrix: np.ndarray) -> np.ndarray:
    """Of a symmetric positive matrix whose entries have different units; what is lost to rounding
    is left large.
    """
    # unit diagonal first, so that the threshold doesn't depend on units
    scale = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    return (vectors / np.maximum(values, 1e-13 * values[-1])) @ vectors.T / np.outer(scale, scale)

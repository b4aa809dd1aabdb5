"""What a drift of the unsensed wrench adds to the errors of an estimate.

The estimate knows unsensed forces that are constant, and ones that go together over a second at
most (:mod:`contactid.inhand.identify.latent_errors`). A sensor's zero as it warms up, or a cable
that follows the hand, goes on for longer, and a slow motion doesn't average it away: neighbours
then count as if each told something new, and errors are too small.

Here the constant wrench walks at random beside what was found. Less its mean, a random walk over a
recording is a sum of cosines of the time with independent sizes, the k-th of half k turns and of
variance ``2 / (k pi)^2`` times the walk's (its Karhunen-Loeve expansion). The walk's variances, of
force and torque, are those of restricted maximum likelihood. The answer stays; its errors take in
what such a walk moves it by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from contactid.inhand.identify.joint import (
    Evidence,
    FittedRecording,
    JointFit,
    followed,
    inverse,
    told_covariance,
)
from contactid.inhand.identify.likelihood import RecordingFit
from contactid.inhand.identify.linearised import Linearised
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH
from contactid.inhand.readers.recordings import RecordedSignals

# cosines: the slowest hold 90 % of a walk's variance; twice as many tell no more (on twins)
_TERMS = 6
_KINDS = np.repeat([0, 1], 3)  # of a wrench's components: force, torque
_STEPS = 60  # of the search for the variances, at most; each costs a matrix of 36 by 36
_SETTLED = 0.02  # relative change of both, from which on the search ends
_LEAST = 1e-6  # of the variance that the recording could tell from none


@dataclass(frozen=True, eq=False)
class Drift:
    """A walk of the wrench that isn't sensed.

    Attributes
    ----------
    force, torque : N and N m about B's origin, how far a component walks: one deviation, from the
        first sample to the last
    gain : of the data's logarithm of likelihood over no walk
    moved : (q, w) one deviation of each of w terms, as a change of the answer's q unknowns, the
        body's ten parameters first and the constant wrench's six next
    information : (10, 10) of the body's parameters, by the equations as they were solved
    """

    force: float
    torque: float
    gain: float
    moved: np.ndarray
    information: np.ndarray

    @property
    def covariance(self) -> np.ndarray:
        """(q, q) that is added to that of the answer."""
        return self.moved @ self.moved.T


@dataclass(frozen=True, eq=False)
class AtAnswer:
    """A moved recording's equations, made anew at its answer.

    Attributes
    ----------
    fitted : the recording, whose poses have followed the answer
    evidence : what it says there
    drift : of the unsensed wrench
    """

    fitted: FittedRecording
    evidence: Evidence
    drift: Drift

    @classmethod
    def of(cls, stretches: Sequence[RecordedSignals], fit: RecordingFit) -> AtAnswer:
        """Of the fit of a recording's stretches."""
        fitted = FittedRecording.of(stretches, fit)
        (evidence,) = followed([fitted], fit.body.vector)
        return cls(fitted, evidence, drift_of(evidence))


def drift_of(evidence: Evidence) -> Drift:
    """The walk that a fitted recording shows beside its answer."""
    present, model = evidence.present, evidence.model
    slope, walk = present.equations.slope[:, :, model.columns], _walk(present)
    left = present.equations.value - present.equations.slope @ model.answer
    products = evidence.errors.inner(np.concatenate([left[..., None], slope, walk], axis=2))
    of_slope = slice(1, 1 + slope.shape[2])
    of_walk = slice(of_slope.stop, None)
    covariance = inverse(model.information)
    by_walk = covariance @ products[of_slope, of_walk]
    # what the unknowns of the answer don't take up
    information = products[of_walk, of_walk] - products[of_walk, of_slope] @ by_walk
    score = products[of_walk, 0]
    variances = _variances(information, score)
    root = np.sqrt(np.tile(variances[_KINDS], _TERMS))
    return Drift(
        force=float(np.sqrt(variances[0])),
        torque=float(np.sqrt(variances[1])),
        gain=_gain(root[:, None] * information * root, root * score),
        moved=by_walk * root,
        information=inverse(covariance[:PARAMETERS, :PARAMETERS]),
    )


def with_drift(fit: RecordingFit, drift: Drift) -> RecordingFit:
    """The fit, its errors with the drift."""
    added = drift.covariance
    body, wrench = slice(0, PARAMETERS), slice(PARAMETERS, PARAMETERS + WRENCH)
    of_body = np.sqrt(np.diag(told_covariance(added[body, body], fit.body.vector)))
    each = np.sqrt(np.diag(added))
    return replace(
        fit,
        errors=np.hypot(fit.errors, of_body),
        fit_errors=np.hypot(fit.fit_errors, of_body),
        vector_errors=np.hypot(fit.vector_errors, each[body]),
        wrench_errors=np.hypot(fit.wrench_errors, each[wrench]),
    )


def joint_with_drift(joint: JointFit, drifts: Sequence[Drift]) -> JointFit:
    """One body from several recordings, its covariances with the drift of each."""
    # the joint answer weighs each recording's own by its information
    together = inverse(np.sum([one.information for one in drifts], axis=0))
    root = together @ np.hstack([one.information @ one.moved[:PARAMETERS] for one in drifts])
    added = root @ root.T
    return replace(joint, covariance=joint.covariance + added, calibrated=joint.calibrated + added)


def _walk(present: Linearised) -> np.ndarray:
    """(m, 6, w) whitened wrench of every term of a walk of unit variance, N and N m."""
    time = present.equations.time[present.equations.rows]
    share = (time - time[0]) / (time[-1] - time[0])
    order = np.pi * np.arange(1, _TERMS + 1)
    terms = np.sqrt(2.0) / order * np.cos(order * share[:, None])
    white = np.linalg.inv(present.roots)
    return np.einsum("mvw,mk->mvkw", white, terms).reshape(len(time), WRENCH, -1)


def _variances(information: np.ndarray, score: np.ndarray) -> np.ndarray:
    """(2,) N2 and N2 m2, likeliest variances of the walks of force and torque."""
    kinds = np.tile(_KINDS, _TERMS)
    counts = np.bincount(kinds)
    # a variance at which the data say as much of a term as the walk itself
    start = counts / np.bincount(kinds, np.diag(information))
    variances = start
    for _ in range(_STEPS):
        covariance = np.linalg.inv(information + np.diag(1.0 / variances[kinds]))
        known = np.bincount(kinds, np.diag(covariance)) / variances
        shown = np.bincount(kinds, (covariance @ score) ** 2) / variances
        # multiplied by what the terms show over what they should show, as levels of noise are
        change = shown / np.maximum(counts - known, np.finfo(float).tiny)
        variances = np.maximum(variances * np.clip(change, 0.1, 10.0), _LEAST * start)
        if np.all(np.abs(change - 1.0) < _SETTLED):
            break
    return variances


def _gain(information: np.ndarray, score: np.ndarray) -> float:
    """Logarithm of the likelihood over that without, by terms of unit variance."""
    whole = np.eye(len(score)) + information
    volume = np.linalg.slogdet(whole)[1]
    return float(0.5 * (score @ np.linalg.solve(whole, score) - volume))

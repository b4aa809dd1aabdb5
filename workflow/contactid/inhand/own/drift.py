"""The estimate of a recording with what drifts in it (:mod:`contactid.inhand.identify.drift`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from contactid.inhand.identify.disturbance_models import inverse
from contactid.inhand.identify.drift import STEADY, Drift, drift_of
from contactid.inhand.identify.joint import (
    Evidence,
    FittedRecording,
    JointFit,
    fit_jointly,
    followed,
)
from contactid.inhand.identify.likelihood import RecordingFit
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH
from contactid.inhand.readers.recordings import RecordedSignals


@dataclass(frozen=True, eq=False)
class AtAnswer:
    """A moved recording's equations, made anew at its answer.

    Attributes
    ----------
    fitted : the recording, whose poses have followed the answer
    evidence : what it says there, beside the drift
    drift : of the unsensed wrench
    steady : the fit as if nothing drifted
    """

    fitted: FittedRecording
    evidence: Evidence
    drift: Drift
    steady: RecordingFit


def with_drift(
    stretches: Sequence[RecordedSignals], steady: RecordingFit
) -> tuple[RecordingFit, AtAnswer]:
    """A recording's fit beside what drifts in it, from the fit as if nothing did.

    Noise levels and misfit stay those of the latter, which is the answer itself where nothing
    drifts.
    """
    vector = steady.body.vector
    fitted = FittedRecording.of(stretches, steady)
    (evidence,) = followed([fitted], vector)
    drift = drift_of(evidence.present, evidence.errors, evidence.model)
    if not drift.walks:
        return steady, AtAnswer(fitted, evidence, STEADY, steady)
    # a force fixed in the world may have stood for the drift: disturbances are weighed anew beside
    # it, and it beside the likeliest
    beside = FittedRecording(fitted.recording, steady, evidence.model.names, drift).evidence(vector)
    likeliest = max(beside.models, key=lambda one: one.log_likelihood)
    model = next(one for one in evidence.models if one.names == likeliest.names)
    drift = drift_of(evidence.present, evidence.errors, model)
    joint = fit_jointly([stretches], [replace(steady, models=(model,))], [drift])
    (fitted,), (evidence,) = joint.recordings, joint.evidence
    return _fit_of(joint, steady), AtAnswer(fitted, evidence, drift, steady)


def _fit_of(joint: JointFit, steady: RecordingFit) -> RecordingFit:
    """The fit of the one recording."""
    ((_, left),), (fitted,), (evidence,) = joint.residuals, joint.recordings, joint.evidence
    answer = evidence.model.given(joint.body.vector)
    answer += fitted.recording.about
    wrench = slice(PARAMETERS, PARAMETERS + WRENCH)
    return replace(
        steady,
        body=joint.body,
        uniform=joint.uniform,
        errors=joint.errors,
        fit_errors=joint.fit_errors,
        vector_errors=np.sqrt(np.diag(joint.calibrated)),
        answer=answer,
        residuals=fitted.recording.split(left),
        wrench_errors=np.sqrt(np.diag(inverse(evidence.model.information))[wrench]),
        models=evidence.models,
        iterations=steady.iterations + joint.iterations,
        converged=steady.converged and joint.converged,
    )

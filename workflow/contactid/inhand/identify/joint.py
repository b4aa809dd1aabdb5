"""What fitted recordings of one object say of it together: one body, and for each recording a zero
and disturbances of its own.

The equations of a recording are linear (:mod:`contactid.inhand.identify.linearised`), so its
likelihood is that of an information matrix and a score, at the noise levels and with the
disturbances that its own estimate found (:class:`FittedRecording`). Those of several recordings add
up in the body's ten parameters. The answer is found as for one recording: poses follow it, noise of
the poses is taken off (:mod:`contactid.inhand.identify.pose_noise`), and the body can exist
(:mod:`contactid.inhand.identify.likeliest_body`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from contactid.core.inertia import InertialParameters, uniform_body
from contactid.inhand.identify.channel_gains import Gains, calibration_covariance, without_gains
from contactid.inhand.identify.disturbance_models import (
    DISTURBANCES,
    Model,
    inverse,
    models,
    thinkable,
)
from contactid.inhand.identify.drift import STEADY, Drift, errors_with
from contactid.inhand.identify.latent_errors import LatentErrors
from contactid.inhand.identify.likeliest_body import PRIOR_WEIGHT, likeliest_body
from contactid.inhand.identify.likelihood import (
    RecordingFit,
    moved_by_data,
    pulled,
    told_errors,
)
from contactid.inhand.identify.linearised import (
    ANCHOR,
    LAG,
    PLACES,
    WORLD,
    Linearised,
    PresentRecording,
    linearised,
    started,
)
from contactid.inhand.identify.pose_noise import NoiseInformation, without_noise
from contactid.inhand.identify.wrench import PARAMETERS
from contactid.inhand.readers.recordings import RecordedSignals

_ROUNDS = 10  # of linearisation, at most; each recording is near its own answer already
_LEAST_ROUNDS = 3  # poses start smoothed, and follow the answer within these
_ARRIVED = 0.1  # standard errors that the answer moves in the last round, as for one recording
_SETTLED = 0.5  # the same, from which on the answer isn't called settled
# relative standard error up to which the data know a mass, as :mod:`.advice` names it
_KNOWN = 0.1
_FIXED = 1e4  # by which the mass's information grows so that nothing else moves it


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one recording says of the body and of what is its own.

    Attributes
    ----------
    models : information and answer under each; that of the recording's disturbances is first, and
        the body's ten parameters come first in it
    gains : errors of calibration
    errors : at these equations, for the poses to follow an answer
    present : the equations
    feigned : information that the poses' noise feigns there
    longer : by this factor than these equations is the recording of the same motion
    """

    models: tuple[Model, ...]
    gains: Gains
    errors: LatentErrors
    present: Linearised
    feigned: NoiseInformation
    longer: float = 1.0

    @property
    def noise(self) -> np.ndarray:
        """(10, 10) of the information, what the poses' noise feigns."""
        return self.longer * self.feigned.matrix

    @property
    def model(self) -> Model:
        """With the recording's disturbances."""
        return self.models[0]

    def times(self, share: float) -> Evidence:
        """Of a recording of the same motion that is longer by a factor."""
        model = replace(self.model, information=share * self.model.information)
        longer, gains = share * self.longer, self.gains.times(share)
        return replace(self, models=(model,), gains=gains, longer=longer)


class FittedRecording:
    """A recording with the noise levels and disturbances that its own estimate found.

    Parameters
    ----------
    recording
        Its poses are moved by :meth:`follow`.
    fit
        Of the same recording, or of another one with the same sensors.
    disturbances
        That are taken out.
    drift
        Of the unsensed wrench, in this recording.
    """

    def __init__(
        self,
        recording: PresentRecording,
        fit: RecordingFit,
        disturbances: tuple[str, ...],
        drift: Drift = STEADY,
    ) -> None:
        self.recording, self._levels, self._disturbances = recording, fit.levels, disturbances
        self.drift, self._gain_sd = drift, fit.gain_sd
        size = float(np.abs(recording.signals.hull).max())
        self._thinkable = thinkable(fit.body.mass, size, recording.signals.gravity)

    @classmethod
    def of(
        cls,
        stretches: Sequence[RecordedSignals],
        fit: RecordingFit,
        disturbances: tuple[str, ...] | None = None,
        drift: Drift = STEADY,
    ) -> FittedRecording:
        """At smoothed poses, and forces shifted by the lag that was found; the fit's own
        disturbances by default.
        """
        recording, _ = started(stretches)
        recording.lag = float(fit.answer[PLACES[LAG]][0])
        # a fit without a force of the world has looked for its place in vain
        if WORLD in fit.models[0].names:
            recording.pull = fit.answer[PLACES[WORLD]]
            recording.anchor = fit.answer[PLACES[ANCHOR]]
        names = fit.models[0].names if disturbances is None else disturbances
        return cls(recording, fit, names, drift)

    def evidence(self, vector: np.ndarray) -> Evidence:
        """At the present poses, for parameters (10,) near which their errors count."""
        recording = self.recording
        present = linearised(recording, vector)
        errors = errors_with(present, self._levels, self.drift)
        # all subsets are weighed, and the one that the fit settled on is taken
        every = models(
            errors.information,
            errors.score,
            self._thinkable,
            recording.about,
            DISTURBANCES,
            True,
        )
        every.sort(key=lambda one: one.names != self._disturbances)
        every[0], gains = without_gains(recording, present, errors, every[0], self._gain_sd)
        feigned = NoiseInformation(present, recording.stated, errors)
        return Evidence(tuple(every), gains, errors, present, feigned)

    def residuals(self, evidence: Evidence, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Times (m,) s, and (m, 6) N and N m, sensed wrench less what a body (10,) asks for."""
        equations, answer = evidence.present.equations, evidence.model.given(vector)
        white = equations.value - equations.slope @ answer
        left = (evidence.present.roots @ white[..., None])[..., 0]
        return self.recording.signals.time[self.recording.rows], left

    def follow(self, evidence: Evidence, vector: np.ndarray) -> None:
        """Move the poses to the likeliest ones of a body (10,), and a force of the world to its
        likeliest place.
        """
        answer = evidence.model.given(vector)
        self.recording.follow(evidence.errors.pose_errors(answer))
        if WORLD in evidence.model.names:
            self.recording.pull_anew(answer)


@dataclass(frozen=True, eq=False)
class Summed:
    """Evidence of several recordings, of the body alone.

    Attributes
    ----------
    answer : (10,) parameters that the data want
    information : (10, 10) without what the poses' noise feigns
    covariance : (10, 10) of the estimate, calibration left out
    by_gain : (10, c) change of the answer by every gain, the same in all recordings
    common_sd : relative deviation of a factor that all forces have in common
    """

    answer: np.ndarray
    information: np.ndarray
    covariance: np.ndarray
    by_gain: np.ndarray
    common_sd: float

    def calibrated(self, vector: np.ndarray) -> np.ndarray:
        """(10, 10) covariance with calibration, of a body (10,)."""
        return self.covariance + calibration_covariance(self.by_gain, self.common_sd, vector)


def summed(every: Sequence[Evidence]) -> Summed:
    """The body's ten parameters with all else integrated out."""
    # body first, then the wrench and disturbances of each recording in turn
    sizes = [len(one.model.columns) - PARAMETERS for one in every]
    ends = PARAMETERS + np.cumsum([0, *sizes])
    count = max(one.gains.scores.shape[1] for one in every)
    information, noise = np.zeros((2, ends[-1], ends[-1]))
    score, scores = np.zeros(ends[-1]), np.zeros((ends[-1], count))
    for one, start, end in zip(every, ends[:-1], ends[1:], strict=True):
        places = np.concatenate([np.arange(PARAMETERS), np.arange(start, end)])
        own = one.model.information
        information[np.ix_(places, places)] += own
        # information times answer is the score again, with what is thinkable beforehand in it
        score[places] += own @ one.model.answer[one.model.columns]
        # all recordings have the same sensors: what a gain does to each adds up
        scores[places, : one.gains.scores.shape[1]] += one.gains.scores
    noise[:PARAMETERS, :PARAMETERS] = sum(one.noise for one in every)
    body = slice(0, PARAMETERS)
    without, covariance = without_noise(information, noise)
    return Summed(
        # the score is zero on average at the truth, so its zero is the answer, the noise left in A
        answer=(inverse(information) @ score)[body],
        # the marginal of the body: inverse of its block of the covariance
        information=inverse(inverse(without)[body, body]),
        covariance=covariance[body, body],
        by_gain=(inverse(without) @ scores)[body],
        common_sd=max(one.gains.common_sd for one in every),
    )


def followed(recordings: Sequence[FittedRecording], vector: np.ndarray) -> list[Evidence]:
    """Evidence of recordings whose poses have followed a body (10,)."""
    for _ in range(_LEAST_ROUNDS):
        every = [one.evidence(vector) for one in recordings]
        for one, evidence in zip(recordings, every, strict=True):
            one.follow(evidence, vector)
    return every


@dataclass(frozen=True, eq=False)
class JointFit:
    """One body from several recordings.

    Attributes
    ----------
    body, uniform : the estimate, and the body of uniform density in the hull with its mass
    covariance, calibrated : (10, 10) of ``body.vector``, of the data alone, and with calibration and
        what the prior moved
    disturbances : that are taken out of every recording
    recordings, evidence : of each, what it says at the answer
    iterations : rounds of linearisation
    converged : whether the last one moved the answer by less than half a standard error, and its
        search ended
    """

    body: InertialParameters
    uniform: InertialParameters
    covariance: np.ndarray
    calibrated: np.ndarray
    disturbances: tuple[str, ...]
    recordings: list[FittedRecording]
    evidence: list[Evidence]
    iterations: int
    converged: bool

    @property
    def residuals(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each recording, times (m,) s, and (m, 6) N and N m, sensed less asked for."""
        return [
            recording.residuals(one, self.body.vector)
            for recording, one in zip(self.recordings, self.evidence, strict=True)
        ]

    @property
    def errors(self) -> np.ndarray:
        """(16,) standard errors of :func:`.likelihood.told_parameters`, calibration included."""
        return told_errors(self.calibrated, self.body.vector)

    @property
    def fit_errors(self) -> np.ndarray:
        """(16,) the same of the fit alone."""
        return told_errors(self.covariance, self.body.vector)

    @property
    def by_data(self) -> np.ndarray:
        """(16,) as :attr:`.likelihood.RecordingFit.by_data`."""
        return moved_by_data(self.body, self.uniform, self.fit_errors)


def fit_jointly(
    every: Sequence[Sequence[RecordedSignals]],
    fits: Sequence[RecordingFit],
    drifts: Sequence[Drift] = (),
) -> JointFit:
    """One body from the stretches of several recordings with fits of their own.

    All have the disturbances that are likeliest by the sum of their evidence: a cable that a small
    turn doesn't show carries weight there, too. drifts are those of the recordings' unsensed
    wrenches, none by default.
    """
    weighed: dict[tuple[str, ...], float] = {}
    # what no recording shows by itself isn't a compromise between them
    shown = {name for fit in fits for name in fit.models[0].names}
    # models by name; log likelihoods of independent recordings add up
    for model in (one for fit in fits for one in fit.models if shown.issuperset(one.names)):
        likelihood = model.log_likelihood + model.slow_penalty
        weighed[model.names] = weighed.get(model.names, 0.0) + likelihood
    likeliest = max(weighed, key=lambda names: weighed[names])
    recordings = [
        FittedRecording.of(stretches, fit, likeliest, drift)
        for stretches, fit, drift in zip(every, fits, drifts or [STEADY] * len(fits), strict=True)
    ]
    hull = recordings[0].recording.signals.hull
    # the soft prior's mass; it is known within a factor of e only
    mass = float(np.mean([one.body.mass for one in fits]))
    # start from the recording that knows the mass best
    body = min(fits, key=lambda one: one.fit_errors[0] / one.body.mass).body
    for turn in range(_ROUNDS):
        near = body.vector
        found = [one.evidence(near) for one in recordings]
        total = summed(found)
        information = total.information.copy()
        # a drift makes the data's mass less sure, so that the prior, which knows the shape alone,
        # would draw it by way of the centre: where the data know the mass, it stays theirs, and the
        # rest is likeliest beside it
        by_data = np.sqrt(total.covariance[0, 0]) < _KNOWN * total.answer[0]
        if by_data and any(drift.walks for drift in drifts):
            information[0, 0] *= _FIXED
        body, solved = likeliest_body(total.answer, information, hull, PRIOR_WEIGHT, body, mass)
        for recording, one in zip(recordings, found, strict=True):
            recording.follow(one, body.vector)
        steps = np.abs(body.vector - near) / np.sqrt(np.diag(total.covariance))
        # poses start smoothed, and have followed the answer by then
        if turn >= _LEAST_ROUNDS and steps.max() <= _ARRIVED:
            break
    return JointFit(
        body=body,
        uniform=uniform_body(body.mass, hull),
        covariance=total.covariance,
        calibrated=total.calibrated(body.vector) + pulled(body, total.answer),
        disturbances=likeliest,
        recordings=recordings,
        evidence=found,
        iterations=turn + 1,
        converged=solved and bool(steps.max() <= _SETTLED),
    )

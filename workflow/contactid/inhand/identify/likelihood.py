"""Inertial parameters of one recording, with noise levels and disturbances that the recording
itself tells.

Newton and Euler's equations (eqs. 8 and 9; :mod:`contactid.inhand.identify.wrench`), forces and
contact points eliminated, poses unknown, a constant unsensed wrench beside. Linearised about poses
that follow the answer (:mod:`contactid.inhand.identify.linearised`), a sample's wrench is linear in
the parameters, in what disturbs it, and in errors that are correlated in time
(:mod:`contactid.inhand.identify.latent_errors`): those of the poses are white, or correlated over a
tenth of a second (a tracker's jitter), position and orientation apart; forces at the contacts that
aren't sensed are correlated over a tenth of a second and over a second.

The poses' factors are those that poses show by themselves
(:mod:`contactid.inhand.identify.signal_noise`). The others are found by restricted maximum
likelihood: each is multiplied by what the residuals show over what they should show. The root of
that ratio would never lower the likelihood (Zhou, Hu, Qiao, Lange, J. Comput. Graph. Stat. 28,
2019), but takes twice the steps. So a noise that is stated wrongly, or that isn't white, widens the
standard errors by itself, and lets the prior count for more. Disturbances are those that make the
data likelier (:mod:`contactid.inhand.identify.disturbance_models`).

The answer is a body that can exist (:mod:`contactid.inhand.identify.likeliest_body`), near the
uniform one in the hull where the data say little. What the poses' noise adds to the information is
taken off before the prior is weighed against the data
(:mod:`contactid.inhand.identify.pose_noise`). Standard errors are the data's, without that prior,
and with an error of the force sensors' calibration that is stated: a common factor of all forces is
another mass at every motion, so no recording shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from contactid.core.inertia import InertialParameters, parallel_axis, tensor_entries, uniform_body
from contactid.inhand.identify.channel_gains import calibration_covariance, without_gains
from contactid.inhand.identify.disturbance_models import (
    DISTURBANCES,
    Model,
    inverse,
    models,
    thinkable,
)
from contactid.inhand.identify.kinematics import FOURTH_ORDER, REACH
from contactid.inhand.identify.latent_errors import COMING, LEVELS, POSES, Equations, LatentErrors
from contactid.inhand.identify.likeliest_body import PRIOR_WEIGHT, likeliest_body
from contactid.inhand.identify.linearised import (
    LAG,
    PLACES,
    WORLD,
    Linearised,
    PresentRecording,
    linearised,
    started,
)
from contactid.inhand.identify.pose_noise import noise_information, without_noise
from contactid.inhand.identify.signal_noise import STATED, pose_levels
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH
from contactid.inhand.readers.recordings import RecordedSignals

INTERVAL = 1.96  # standard errors to either side, of 95 %
GAIN_SD = 0.05  # of the forces' calibration, where nothing else is stated
_ROUNDS = 14  # of linearisation, at most
_STEPS, _FEW = 3, 2  # of the noise levels, in each of the first rounds and of the later ones
_FIRST = 3
_ARRIVED = 0.1  # standard errors that the answer moves in the last round
_SETTLED = 0.02  # relative change of every level that still counts, from which on the steps end
_SETTLING = 0.5  # the same, from which on the answer isn't called settled
# unsensed forces start at 0.01 N: the search multiplies, so it can't leave zero
_START = np.array([1.0] * 5 + [1e-4] * len(COMING))  # factors; those of unsensed forces in N2
# forces and points, positions, orientations: white and as stated; all else absent
_AS_STATED = np.array([1.0, 1.0, 1.0] + [0.0] * (len(LEVELS) - 3))
_STATED = STATED * np.eye(len(LEVELS))[0]  # degrees of freedom that a stated level counts for
# of noise over signal; a still body has no signal, and the ratio no bound
_LARGEST_SHARE = 100.0
_LEAST = 1e-8  # of a level
_STEP = 1e-6  # relative, of the parameters' slopes by differences
_LATEST = 0.15  # s, by which forces are shifted at most


@dataclass(frozen=True)
class Uses:
    """What an estimate makes use of: all of it, except in the ablation.

    Attributes
    ----------
    wrench : a constant unsensed wrench is estimated beside
    body : the answer is a body that can exist
    prior : and near the hull's uniform body in what the data leave open
    noise : noise levels are those that the recording shows; else as stated
    disturbances : and so are disturbances; else there are none
    """

    wrench: bool = True
    body: bool = True
    prior: bool = True
    noise: bool = True
    disturbances: bool = True


ALL = Uses()


@dataclass(frozen=True, eq=False)
class RecordingFit:
    """What was found in a recording.

    Attributes
    ----------
    body : the estimate
    uniform : the body of uniform density in the hull with the estimate's mass
    errors : (16,) standard errors of :func:`told_parameters`, with calibration and what the prior
        moved
    fit_errors : (16,) the same of the data alone
    vector_errors : (10,) standard errors of ``body.vector``, as ``errors``
    levels : (k,) factors of the noise, in the order of :data:`LEVELS`; those of unsensed forces in
        N2
    answer : (p,) all unknowns: the body, a constant unsensed wrench in B about its origin (N and N
        m; sensed is what acts less this), and the disturbances as :data:`.linearised.PLACES` has
        them; zero where the model has none
    residuals : of each stretch, (m, 6) N and N m, sensed wrench less what the estimate's motion
        asks for
    times : of each stretch, (m,) s
    wrench_errors : (6,) its standard errors, fit alone
    gain_sd : relative deviation of the forces' calibration that is stated
    models : of disturbances, likeliest first: that one was taken
    pose_share : variance that the poses' noise puts into the wrenches, over that of the motion
        itself
    misfit : squared residuals by the stated noise, per degree of freedom
    degrees : of freedom
    iterations : rounds of linearisation
    converged : whether the last one moved the answer by less than half a standard error, and its
        search ended
    """

    body: InertialParameters
    uniform: InertialParameters
    errors: np.ndarray
    fit_errors: np.ndarray
    vector_errors: np.ndarray
    levels: np.ndarray
    answer: np.ndarray
    residuals: list[np.ndarray]
    times: list[np.ndarray]
    wrench_errors: np.ndarray
    gain_sd: float
    models: tuple[Model, ...]
    pose_share: float
    misfit: float
    degrees: int
    iterations: int
    converged: bool

    def mass_interval(self, share: float = 0.0) -> tuple[float, float]:
        """Kg, of 95 %: calibration included, and upwards a share of the load that is stated to
        bypass the sensors.
        """
        # sensed is (1 - share) of the load at least, so the mass is at most that much larger
        error = INTERVAL * float(self.errors[0])
        return self.body.mass - error, (self.body.mass + error) / (1.0 - share)

    @property
    def wrench(self) -> np.ndarray:
        """(6,) N and N m, constant and not sensed."""
        return self.answer[PARAMETERS : PARAMETERS + WRENCH]

    @property
    def by_data(self) -> np.ndarray:
        """(16,) whether the data move a told parameter by a standard error of the fit or more from
        the uniform body.

        The mass, which the prior knows within a factor of e, is the data's where they know it
        better.
        """
        return moved_by_data(self.body, self.uniform, self.fit_errors)


TENSOR = slice(4, 10)  # about the centre of mass, of told parameters


def told_parameters(vector: np.ndarray) -> np.ndarray:
    """(16,): mass, centre of mass, tensor about it, tensor about B's origin (xx, yy, zz, xy, xz,
    yz), of a (10,).
    """
    center = vector[1:4] / vector[0]
    # Steiner: the tensor about the origin holds the mass's at its centre, too
    at_center = vector[4:] - tensor_entries(parallel_axis(vector[0], center))
    return np.concatenate([vector[:1], center, at_center, vector[4:]])


def told_covariance(covariance: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """(16, 16) of :func:`told_parameters`, of that (10, 10) of a vector (10,)."""
    size = _STEP * float(np.abs(vector).max())
    # one step for all: told parameters are smooth on the scale of the largest entry
    up, down = (
        np.array([told_parameters(vector + step) for step in sign * size * np.eye(PARAMETERS)])
        for sign in (1.0, -1.0)
    )
    slope = (up - down).T / (2.0 * size)
    return slope @ covariance @ slope.T


def told_errors(covariance: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """(16,) standard errors of the same."""
    return np.sqrt(np.diag(told_covariance(covariance, vector)))


def moved_by_data(
    body: InertialParameters, uniform: InertialParameters, fit_errors: np.ndarray
) -> np.ndarray:
    """(16,) whether a body's told parameters are off the uniform one's by their error or more."""
    away = told_parameters(body.vector) - told_parameters(uniform.vector)
    moved = np.abs(away) >= fit_errors
    # the uniform body takes the estimate's own mass, so its distance tells nothing of it
    moved[0] = fit_errors[0] < body.mass
    return moved


def fit_recording(
    stretches: Sequence[RecordedSignals], gain_sd: float = GAIN_SD, uses: Uses = ALL
) -> RecordingFit:
    """Estimate an object from stretches of one recording.

    Parameters
    ----------
    stretches
        Each of even samples without a gap; stated deviations start the search for the noise levels.
    gain_sd
        Relative standard deviation of the forces' calibration: of each contact's and of all in
        common, or of a single sensor's channels.
    uses
        What the estimate makes use of.
    """
    # the first body is fitted to smoothed poses, before any noise level is known
    recording, start = started(stretches)
    hull, mass = stretches[0].hull, _weighed(stretches)
    weight = PRIOR_WEIGHT if uses.prior else 0.0
    body = _first_body(start, hull, weight, mass)
    # white noise as stated where the recording isn't asked for its levels
    levels = _AS_STATED
    if uses.noise:
        levels = _START.copy()
        # what the poses show by themselves: a body that is too light would hide their noise, and a
        # torque's noise or drift that isn't as stated would pass for it, which makes slow bodies
        # heavier to turn
        levels[list(POSES)] = pose_levels(stretches)
    levels = np.maximum(levels, _LEAST)
    deviations = thinkable(mass, float(np.abs(hull).max()), stretches[0].gravity)
    offered = DISTURBANCES if uses.disturbances else ()

    def weighed(errors: LatentErrors) -> list[Model]:
        return models(
            errors.information, errors.score, deviations, recording.about, offered, uses.wrench
        )

    def nearest(
        answer: np.ndarray, known: np.ndarray, start: InertialParameters
    ) -> tuple[InertialParameters, bool]:
        parameters = answer[:PARAMETERS]
        if not uses.body:
            return InertialParameters.from_vector(parameters), True
        return likeliest_body(parameters, known, hull, weight, start, mass)

    for turn in range(_ROUNDS):
        # poses follow the last answer, so the equations are taken anew there
        near = body.vector
        present = linearised(recording, near)
        if uses.noise:
            # more steps in the first rounds, which come from the stated levels
            levels = _noise_levels(
                present.equations, levels, _STEPS if turn < _FIRST else _FEW, weighed
            )
        errors = LatentErrors(present.equations, levels)
        candidates = weighed(errors)
        model = candidates[0]
        # the poses' noise enters the ten parameters' columns only: those hold the motion
        noise = np.zeros_like(model.information)
        noise[:PARAMETERS, :PARAMETERS] = noise_information(present, recording.stated, errors)
        information, covariance = without_noise(model.information, noise)
        # with the wrench and the disturbances integrated out
        known = _of_parameters(information)
        body, solved = nearest(model.answer, known, body)
        step, sizes = np.abs(body.vector - near), np.sqrt(np.diag(covariance)[:PARAMETERS])
        answer = model.given(body.vector)
        # the poses for the next round: the likeliest ones of this body, not of the free answer
        recording.follow(errors.pose_errors(answer))
        # not before the levels had their longer steps
        if turn >= _FIRST and np.all(step <= _ARRIVED * sizes):
            break
        # lag columns are slopes, so the forces are shifted by what they say, and sloped again
        recording.lag = float(np.clip(recording.lag + answer[PLACES[LAG]][0], -_LATEST, _LATEST))
        _anchor(recording, candidates)
    model, gains = without_gains(recording, present, errors, model, gain_sd)
    by_gain = (inverse(information) @ gains.scores)[:PARAMETERS]
    body, solved = nearest(model.answer, known, body)
    candidates = [model, *candidates[1:]]
    calibration = calibration_covariance(by_gain, gains.common_sd, body.vector)
    fit = _fit_of(recording, present, levels, candidates, covariance, calibration, body, gain_sd)
    settled = bool(np.all(step <= _SETTLING * sizes))
    return replace(fit, iterations=turn + 1, converged=solved and settled)


def _anchor(recording: PresentRecording, candidates: Sequence[Model]) -> None:
    """Move a force of the world to where the likeliest model with one has it, whether or not that is
    taken: without a place of its own it would have no chance.
    """
    pulled = next((one for one in candidates if WORLD in one.names), None)
    if pulled is not None:
        recording.pull_anew(pulled.answer)


def _first_body(
    start: np.ndarray, hull: np.ndarray, weight: float, mass: float
) -> InertialParameters:
    """By least squares on the equations at smoothed poses (6 n, 17)."""
    columns, value = start[:, :-1], start[:, -1]
    information = columns.T @ columns
    answer = inverse(information) @ columns.T @ value
    # one variance for all rows, by what the fit leaves: stated noise isn't trusted yet
    misfit = float(np.mean((value - columns @ answer) ** 2))
    known = _of_parameters(information / misfit)
    return likeliest_body(answer[:PARAMETERS], known, hull, weight, uniform_body(mass, hull), mass)[
        0
    ]


def _of_parameters(information: np.ndarray) -> np.ndarray:
    """(10, 10) information of the parameters where the wrench is free, of that (16, 16) of both."""
    return inverse(inverse(information)[:PARAMETERS, :PARAMETERS])


def _weighed(stretches: Sequence[RecordedSignals]) -> float:
    """Mass (kg) that weighs what the sensed forces add up to; a tenth of a kg where that is
    nothing.
    """
    force = np.concatenate([one.wrench[:, :3] for one in stretches])
    mean = float(np.median(np.linalg.norm(force, axis=1))) / max(stretches[0].gravity, 1.0)
    # without force the search still needs a positive mass to start from
    return mean if mean > 1e-4 else 0.1


def _noise_levels(
    equations: Equations,
    levels: np.ndarray,
    steps: int,
    weighed: Callable[[LatentErrors], list[Model]],
) -> np.ndarray:
    """Levels after some steps towards the most likely ones, under the model that is likeliest at
    each; those of the poses stay.
    """
    for _ in range(steps):
        errors = LatentErrors(equations, levels)
        model = weighed(errors)[0]
        # of all columns; a disturbance that the model leaves out has no error
        covariance = np.zeros_like(errors.information)
        covariance[np.ix_(model.columns, model.columns)] = inverse(model.information)
        shown, expected = errors.shown_and_expected(model.answer, covariance)
        # a stated level counts as _STATED residuals that show exactly what it says; a step of at
        # most ten keeps a bad start from running away
        change = np.clip((shown + _STATED / levels**2) / (expected + _STATED / levels), 0.1, 10.0)
        change[list(POSES)] = 1.0
        counts = levels * expected > 1.0  # degrees of freedom that a level explains
        levels = np.maximum(levels * change, _LEAST)
        # levels that explain less than one degree of freedom may wander: nothing depends on them
        if not counts.any() or np.all(np.abs(change[counts] - 1.0) < _SETTLED):
            break
    return levels


def _fit_of(
    recording: PresentRecording, present: Linearised, levels: np.ndarray, candidates: list[Model],
    covariance: np.ndarray, calibration: np.ndarray, body: InertialParameters, gain_sd: float,
) -> RecordingFit:  # fmt: skip
    model, equations = candidates[0], present.equations
    kept = covariance[:PARAMETERS, :PARAMETERS]
    calibrated = kept + calibration + pulled(body, model.answer)
    deviations, alone = (told_errors(one, body.vector) for one in (calibrated, kept))
    answer = model.given(body.vector)
    # the roots undo the whitening: N and N m
    residuals = (present.roots @ (equations.value - equations.slope @ answer)[..., None])[..., 0]
    degrees = max(equations.value.size - len(model.columns), 1)
    # by the stated white noise alone, whatever levels were found
    misfit = LatentErrors(equations, np.maximum(_AS_STATED, _LEAST)).misfit(answer) / degrees
    wrench = np.arange(PARAMETERS, PARAMETERS + WRENCH)
    return RecordingFit(
        body=body,
        uniform=uniform_body(abs(body.mass), recording.signals.hull),
        errors=deviations,
        fit_errors=alone,
        vector_errors=np.sqrt(np.diag(calibrated)),
        levels=levels,
        # columns that are slopes have what remains of an unknown: the sum is the whole
        answer=answer + recording.about,
        residuals=recording.split(residuals),
        times=recording.split(recording.signals.time[recording.rows]),
        wrench_errors=np.sqrt(np.diag(covariance)[wrench])
        if wrench[-1] in model.columns
        else np.zeros(WRENCH),
        gain_sd=gain_sd,
        models=tuple(candidates),
        pose_share=_pose_share(present, levels, body.vector),
        misfit=misfit,
        degrees=degrees,
        iterations=0,
        converged=False,
    )


def pulled(body: InertialParameters, answer: np.ndarray) -> np.ndarray:
    """(10, 10) what the prior adds to the square of an error: how far it moved the answer of the data
    alone, ``answer`` (10 or more,).

    A body that is far from the uniform one (a tool in a wide box) is drawn away from the truth, in
    what the data half know by several of their standard errors.
    """
    moved = body.vector - answer[:PARAMETERS]
    return np.outer(moved, moved)


def _pose_share(present: Linearised, levels: np.ndarray, vector: np.ndarray) -> float:
    """Variance of the wrenches by the poses' noise over that by the motion; the median of the six
    components.
    """
    equations, coordinates = present.equations, np.repeat([1, 0], 3)
    # positions are before orientations in the levels and behind them in an increment; white and
    # correlated parts add up, (30,)
    each = np.tile(levels[1 + coordinates] + levels[3 + coordinates], 2 * REACH[FOURTH_ORDER] + 1)
    noise = ((present.roots @ equations.by_pose) ** 2 @ each).mean(axis=0)
    # wrench that the motion asks for, (m, 6); what is constant of it isn't signal
    moved = (present.roots @ (equations.slope[:, :, :PARAMETERS] @ vector)[..., None])[..., 0]
    signal = np.maximum(moved.var(axis=0), np.finfo(float).tiny)
    return min(float(np.median(noise / signal)), _LARGEST_SHARE)

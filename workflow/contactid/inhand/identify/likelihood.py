"""Inertial parameters of one recording, with noise levels that the recording itself tells.

Newton and Euler's equations (eqs. 8 and 9; :mod:`contactid.inhand.identify.wrench`), forces and contact points
eliminated, poses unknown, a constant unsensed wrench beside. Linearised about poses that follow the answer, a sample's
wrench is ``w = Y theta - beta + error`` with the error's covariance

    ``S = s_1 C + sum_i s_i J K_i J^T + sum_j s_j G_j``:

C is of the stated deviations of forces, points and torques. J is the slope by the poses; their errors K are white, or
correlated over a tenth of a second (a tracker's jitter), position and orientation apart. G are forces at the contacts
that aren't sensed, correlated over a tenth of a second and over a second. The factors s are found by restricted maximum
likelihood: each is multiplied by what the residuals show over what they should show. The root of that ratio would
never lower the likelihood (Zhou, Hu, Qiao, Lange, J. Comput. Graph. Stat. 28, 2019), but takes twice the steps. So a
noise that is stated wrongly, or that isn't white, widens the standard errors by itself, and lets the prior count for
more.

The answer is a body that can exist (:mod:`contactid.inhand.identify.likeliest_body`), near the uniform one in the hull
where the data say little. What the poses' noise adds to the information is taken off before the prior is weighed
against the data (:mod:`contactid.inhand.identify.pose_noise`). Standard errors are the data's, without that prior, and
with an error of the force sensors' calibration that is stated: a common factor of all forces is another mass at every
motion, so no recording shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve, lapack

from contactid.core.inertia import InertialParameters, parallel_axis, tensor_entries, uniform_body
from contactid.core.rotations import matrices, skew
from contactid.inhand.identify.information import banded
from contactid.inhand.identify.kinematics import (
    FOURTH_ORDER,
    POSE,
    REACH,
    BodyMotion,
    body_motion,
    rotation_exp,
    rotation_log,
)
from contactid.inhand.identify.likeliest_body import PRIOR_WEIGHT, likeliest_body
from contactid.inhand.identify.pose_noise import noise_information, through, without_noise
from contactid.inhand.identify.signal_noise import SHORT, STATED, pose_levels, steady_points
from contactid.inhand.identify.smoothing import smoothed_motion
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH, regressor, wrench_covariance, wrench_slope
from contactid.inhand.readers.recordings import RecordedSignals

GAIN_SD = 0.05  # of the forces' calibration, where nothing else is stated
_REACH = REACH[FOURTH_ORDER]
_ROUNDS = 14  # of linearisation, at most
_STEPS, _FEW = 5, 3  # of the noise levels, in each of the first rounds and of the later ones
_FIRST = 3
_ARRIVED = 0.1  # standard errors that the answer moves in the last round
_SETTLED = 0.02  # relative change of every level that still counts, from which on the steps end
_SETTLING = 0.5  # the same, from which on the answer isn't called settled
_UNSENSED = (0.1, 0.3, 1.0)  # s, the same of unsensed forces
_START = (1.0, 1.0, 1.0, 1.0, 1.0, 1e-4, 1e-4, 1e-4)  # factors; those of unsensed forces in N2
_AS_STATED = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
_STATED = STATED * _AS_STATED  # degrees of freedom that a stated level counts for
LEVELS = (
    "forces and contact points", "positions, white", "orientations, white", "positions, over 0.1 s",
    "orientations, over 0.1 s", "unsensed forces, over 0.1 s", "unsensed forces, over 0.3 s",
    "unsensed forces, over 1 s",
)  # fmt: skip
_POSES, _POSITIONS, _SLOW = (1, 2, 3, 4), (1, 3), (3, 4)  # levels of the poses, of positions, and correlated
_COMING = (5, 6, 7)  # of unsensed forces that come and go
_LARGEST_SHARE = 100.0
_LEAST = 1e-12  # of a level
_WIDER = 2.5  # times the stated deviations of the poses, for the first smoothing
_FLOOR = np.diag(np.repeat([1e-5, 1e-6], 3) ** 2)  # N and N m, least deviations of a wrench
_NO_WRENCH = 1e12  # information (1/N2, 1/N2m2) that there is no unsensed wrench


@dataclass(frozen=True)
class Uses:
    """What an estimate makes use of: all of it, except in the ablation.

    Attributes
    ----------
    wrench : a constant unsensed wrench is estimated beside
    body : the answer is a body that can exist
    prior : and near the hull's uniform body in what the data leave open
    noise : noise levels are those that the recording shows; else as stated
    """

    wrench: bool = True
    body: bool = True
    prior: bool = True
    noise: bool = True


ALL = Uses()


@dataclass(frozen=True, eq=False)
class RecordingFit:
    """What was found in a recording.

    Attributes
    ----------
    body : the estimate
    uniform : the body of uniform density in the hull with the estimate's mass
    errors : (16,) standard errors of :func:`told_parameters`, calibration included
    fit_errors : (16,) the same of the fit alone
    vector_errors : (10,) standard errors of ``body.vector``, calibration included
    levels : (8,) factors of the noise, in the order of :data:`LEVELS`; the last three in N2
    wrench : (6,) constant unsensed wrench in B about its origin, N and N m: sensed is what acts less this
    residuals : of each stretch, (m, 6) N and N m, sensed wrench less what the estimate's motion asks for
    times : of each stretch, (m,) s
    wrench_errors : (6,) its standard errors, fit alone
    pose_share : variance that the poses' noise puts into the wrenches, over that of the motion itself
    misfit : squared residuals by the stated noise, per degree of freedom
    degrees : of freedom
    iterations : rounds of linearisation
    converged : whether the last one moved the answer by less than half a standard error, and its search ended
    """

    body: InertialParameters
    uniform: InertialParameters
    errors: np.ndarray
    fit_errors: np.ndarray
    vector_errors: np.ndarray
    levels: np.ndarray
    wrench: np.ndarray
    residuals: list[np.ndarray]
    times: list[np.ndarray]
    wrench_errors: np.ndarray
    pose_share: float
    misfit: float
    degrees: int
    iterations: int
    converged: bool

    @property
    def by_data(self) -> np.ndarray:
        """(16,) whether the data move a told parameter by a standard error of the fit or more from the uniform body.

        The mass, which the prior knows within a factor of e, is the data's where they know it better.
        """
        moved = np.abs(told_parameters(self.body.vector) - told_parameters(self.uniform.vector)) >= self.fit_errors
        moved[0] = self.fit_errors[0] < self.body.mass
        return moved


@dataclass
class _Stretch:
    """A stretch of even samples: measured signals, present poses, and the linear equations there."""

    signals: RecordedSignals
    rotations: np.ndarray
    positions: np.ndarray
    value: np.ndarray  # (6 m,)
    slope: np.ndarray  # (6 m, 16)
    by_pose: np.ndarray  # (m, 6, s), by the poses around each
    motion: BodyMotion  # at m samples
    kernels: np.ndarray  # (8, 6 m, 6 m)
    gains: np.ndarray  # (6 m, k) wrench of every contact


TENSOR = slice(4, 10)  # about the centre of mass, of told parameters


def told_parameters(vector: np.ndarray) -> np.ndarray:
    """(16,): mass, centre of mass, tensor about it, tensor about B's origin (xx, yy, zz, xy, xz, yz), of a (10,)."""
    center = vector[1:4] / vector[0]
    at_center = vector[4:] - tensor_entries(parallel_axis(vector[0], center))
    return np.concatenate([vector[:1], center, at_center, vector[4:]])


def fit_recording(stretches: Sequence[RecordedSignals], gain_sd: float = GAIN_SD, uses: Uses = ALL) -> RecordingFit:
    """Estimate an object from stretches of one recording.

    Parameters
    ----------
    stretches
        Each of even samples without a gap; stated deviations start the search for the noise levels.
    gain_sd
        Relative standard deviation of the forces' calibration, of each contact's and of all in common.
    uses
        What the estimate makes use of.
    """
    stretches = [steady_points(one) for one in stretches]
    started = [_start(one) for one in stretches]
    parts, hull = [part for part, _ in started], stretches[0].hull
    weight = PRIOR_WEIGHT if uses.prior else 0.0
    beforehand = np.zeros((PARAMETERS + WRENCH, PARAMETERS + WRENCH))
    if not uses.wrench:
        beforehand[PARAMETERS:, PARAMETERS:] = _NO_WRENCH * np.eye(WRENCH)
    rows = np.concatenate([rows for _, rows in started])
    information = rows[:, :-1].T @ rows[:, :-1] + beforehand
    answer = _inverse(information) @ rows[:, :-1].T @ rows[:, -1]
    misfit = float(np.mean((rows[:, -1] - rows[:, :-1] @ answer) ** 2))
    weighed = _weighed(stretches)
    uniform = uniform_body(weighed, hull)
    body, _ = likeliest_body(answer[:PARAMETERS], _of_parameters(information / misfit), hull, weight, uniform, weighed)
    levels, least = np.array(_START) if uses.noise else _AS_STATED, np.full(len(LEVELS), _LEAST)
    if uses.noise:
        least[list(_POSES)] = pose_levels(stretches)
        levels = np.maximum(levels, least)
    near = body.vector
    for turn in range(_ROUNDS):
        for part in parts:
            _linearise(part, near)
        if uses.noise:
            levels = _noise_levels(parts, levels, _STEPS if turn < _FIRST else _FEW, beforehand, least)
        weights = [_weights(part, levels) for part in parts]
        information, answer = _solved(parts, weights, beforehand)
        noise = np.zeros((PARAMETERS, PARAMETERS))
        for part, white in zip(parts, weights, strict=True):
            noise += noise_information(part.motion, near, white, _pose_covariance(part.signals, levels))
        left, covariance = without_noise(information, noise)
        if uses.body:
            body, solved = likeliest_body(answer[:PARAMETERS], _of_parameters(left), hull, weight, body, weighed)
        else:
            body, solved = InertialParameters.from_vector(answer[:PARAMETERS]), True
        step = body.vector - near
        near = body.vector
        for part, white in zip(parts, weights, strict=True):
            _follow(part, levels, white, near, answer[PARAMETERS:])
        errors = np.sqrt(np.diag(covariance)[:PARAMETERS])
        arrived = turn >= _FIRST and bool(np.all(np.abs(step) <= _ARRIVED * errors))
        if arrived:
            break
    found = _told(parts, levels, weights, left, covariance, body, answer[PARAMETERS:], hull, gain_sd)
    settled = bool(np.all(np.abs(step) <= _SETTLING * errors))
    return replace(found, iterations=turn + 1, converged=solved and settled)


def _of_parameters(information: np.ndarray) -> np.ndarray:
    """(10, 10) information of the parameters where the wrench is free, of that (16, 16) of both."""
    return _inverse(_inverse(information)[:PARAMETERS, :PARAMETERS])


def _weighed(stretches: Sequence[RecordedSignals]) -> float:
    """Mass (kg) that weighs what the sensed forces add up to; a tenth of a kg where that is nothing."""
    force = np.concatenate([one.wrench[:, :3] for one in stretches])
    mean = float(np.median(np.linalg.norm(force, axis=1))) / max(stretches[0].gravity, 1.0)
    return mean if mean > 1e-4 else 0.1


def _start(signals: RecordedSignals) -> tuple[_Stretch, np.ndarray]:
    """A stretch at smoothed poses, and the equations there with the wrench as last column, whitened by its noise."""
    positions, orientations, seen = smoothed_motion(signals, _WIDER)
    constant = np.broadcast_to(-np.eye(WRENCH), (signals.samples, WRENCH, WRENCH))
    rows = np.concatenate([regressor(seen), constant, signals.wrench[..., None]], axis=2)
    factors = np.linalg.cholesky(wrench_covariance(signals) + _FLOOR)
    empty = np.zeros(0)
    part = _Stretch(signals, matrices(orientations), positions, empty, empty, empty, seen, empty, empty)
    return part, np.linalg.solve(factors, rows).reshape(-1, rows.shape[2])


def _linearise(part: _Stretch, vector: np.ndarray) -> None:
    """Set the linear equations at the present poses and parameters."""
    signals, inner = part.signals, slice(_REACH, part.signals.samples - _REACH)
    part.motion = body_motion(signals.time, part.rotations, part.positions, signals.gravity, FOURTH_ORDER)
    motion, m = part.motion, len(part.motion.rate)
    part.by_pose = wrench_slope(motion, vector)
    part.value = signals.wrench[inner].ravel() + through(part.by_pose, _pose_errors(part)[:, None])[:, 0]
    constant = np.broadcast_to(-np.eye(WRENCH), (m, WRENCH, WRENCH))
    part.slope = np.concatenate([regressor(motion), constant], axis=2).reshape(m * WRENCH, -1)
    points, forces = signals.points[inner], signals.forces[inner]
    each = np.concatenate([forces, np.cross(points, forces)], axis=2)
    part.gains = np.moveaxis(each, 1, 2).reshape(m * WRENCH, -1)
    part.kernels = np.empty((len(LEVELS), m * WRENCH, m * WRENCH))
    part.kernels[0] = block_diag(*(wrench_covariance(signals)[inner] + _FLOOR))
    for i in _POSES:
        part.kernels[i] = through(part.by_pose, through(part.by_pose, _pose_kernel(signals, i)).T)
    unsensed, lag = _unit_forces(points.mean(axis=0)), _lag(signals.time[inner])
    for i, span in zip(_COMING, _UNSENSED, strict=True):
        part.kernels[i] = np.kron(np.exp(-lag / span), unsensed)


def _lag(time: np.ndarray) -> np.ndarray:
    return np.abs(time[:, None] - time)


def _pose_kernel(signals: RecordedSignals, level: int) -> np.ndarray:
    """(6 n, 6 n) covariance of the errors of the measured poses that one of the levels of the poses stands for."""
    axes = np.zeros(POSE)
    axes[slice(3, 6) if level in _POSITIONS else slice(0, 3)] = 1.0
    sd = signals.position_sd if level in _POSITIONS else signals.orientation_sd
    together = np.exp(-_lag(signals.time) / SHORT) if level in _SLOW else np.eye(signals.samples)
    return np.kron(together, sd**2 * np.diag(axes))


def _unit_forces(points: np.ndarray) -> np.ndarray:
    """(6, 6) covariance of the wrench of a unit force, shared by contacts at (k, 3) m."""
    each = np.concatenate([np.broadcast_to(np.eye(3), (len(points), 3, 3)), skew(points)], axis=1)
    return np.einsum("kij,klj->il", each, each) / len(points)


def _pose_errors(part: _Stretch) -> np.ndarray:
    """(6 n,) present poses less measured ones."""
    turned = rotation_log(np.swapaxes(part.signals.rotations, 1, 2) @ part.rotations)
    return np.concatenate([turned, part.positions - part.signals.positions], axis=1).ravel()


def _covariance(part: _Stretch, levels: np.ndarray) -> np.ndarray:
    return np.tensordot(levels, part.kernels, 1)


def _noise_levels(
    parts: list[_Stretch], levels: np.ndarray, steps: int, beforehand: np.ndarray, least: np.ndarray
) -> np.ndarray:
    for _ in range(steps):
        inverses, weighted, matrix, right = [], [], beforehand, np.zeros(len(beforehand))
        for part in parts:
            inverses.append(_weights(part, levels))
            weighted.append(inverses[-1] @ part.slope)
            matrix = matrix + part.slope.T @ weighted[-1]
            right = right + weighted[-1].T @ part.value
        known = _inverse(matrix)
        answer = known @ right
        shown, expected = np.zeros(len(levels)), np.zeros(len(levels))
        for part, inverse, white in zip(parts, inverses, weighted, strict=True):
            left = inverse @ (part.value - part.slope @ answer)
            for i, kernel in enumerate(part.kernels):
                shown[i] += left @ kernel @ left
                expected[i] += np.vdot(inverse, kernel) - np.vdot(known, white.T @ kernel @ white)
        change = np.clip((shown + _STATED / levels**2) / (expected + _STATED / levels), 0.1, 10.0)
        counts = levels * expected > 1.0  # degrees of freedom that a level explains
        levels = np.maximum(levels * change, least)
        if not counts.any() or np.all(np.abs(change[counts] - 1.0) < _SETTLED):
            break
    return levels


def _inverse(matrix: np.ndarray) -> np.ndarray:
    """Of a symmetric positive matrix whose entries have different units; what is lost to rounding is left large."""
    scale = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    return (vectors / np.maximum(values, 1e-13 * values[-1])) @ vectors.T / np.outer(scale, scale)


def _weights(part: _Stretch, levels: np.ndarray) -> np.ndarray:
    """(6 m, 6 m) inverse of the wrenches' covariance."""
    half = np.tril(lapack.dpotri(cho_factor(_covariance(part, levels), lower=True)[0], lower=1)[0])
    half[np.diag_indices(len(half))] *= 0.5
    return half + half.T


def _solved(parts: list[_Stretch], weights: list[np.ndarray], beforehand: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Information (16, 16) of parameters and wrench, and their least-squares answer (16,)."""
    matrix, right = beforehand, np.zeros(len(beforehand))
    for part, white in zip(parts, weights, strict=True):
        weighted = white @ part.slope
        matrix, right = matrix + part.slope.T @ weighted, right + weighted.T @ part.value
    return matrix, _inverse(matrix) @ right


def _pose_covariance(signals: RecordedSignals, levels: np.ndarray) -> np.ndarray:
    """(6 n, 6 n) of the errors of the measured poses."""
    return sum(levels[i] * _pose_kernel(signals, i) for i in _POSES)


def _follow(part: _Stretch, levels: np.ndarray, weights: np.ndarray, vector: np.ndarray, wrench: np.ndarray) -> None:
    """Move the poses to where the answer and their measurements have them."""
    left = part.value - part.slope @ np.concatenate([vector, wrench])
    moved = _pose_covariance(part.signals, levels) @ (banded(part.by_pose).T @ (weights @ left))
    moved = moved.reshape(-1, POSE)
    part.rotations = part.signals.rotations @ rotation_exp(moved[:, :3])
    part.positions = part.signals.positions + moved[:, 3:]


def _told(
    parts: list[_Stretch], levels: np.ndarray, weights: list[np.ndarray], known: np.ndarray, covariance: np.ndarray,
    body: InertialParameters, wrench: np.ndarray, hull: np.ndarray, gain_sd: float,
) -> RecordingFit:  # fmt: skip
    by_gain = 0.0
    for part, white in zip(parts, weights, strict=True):
        by_gain = by_gain + part.slope.T @ (white @ part.gains)
    shift = (_inverse(known) @ by_gain)[:PARAMETERS]
    kept, slope = covariance[:PARAMETERS, :PARAMETERS], _slope(body.vector)
    calibrated = kept + gain_sd**2 * (shift @ shift.T + np.outer(body.vector, body.vector))
    errors, alone = (np.sqrt(np.diag(slope @ one @ slope.T)) for one in (calibrated, kept))
    residuals, times, square, count = [], [], 0.0, 0
    parameters = np.concatenate([body.vector, wrench])
    for part in parts:
        left = part.value - part.slope @ parameters
        square += left @ cho_solve(cho_factor(_covariance(part, _AS_STATED), lower=True), left)
        count += len(left)
        residuals.append(left.reshape(-1, WRENCH))
        times.append(part.signals.time[_REACH:-_REACH])
    return RecordingFit(
        body=body,
        uniform=uniform_body(abs(body.mass), hull),
        errors=errors,
        fit_errors=alone,
        vector_errors=np.sqrt(np.diag(calibrated)),
        levels=levels,
        wrench=wrench,
        residuals=residuals,
        times=times,
        wrench_errors=np.sqrt(np.diag(covariance)[PARAMETERS:]),
        pose_share=_pose_share(parts, levels, body.vector),
        misfit=float(square / max(count - len(parameters), 1)),
        degrees=max(count - len(parameters), 1),
        iterations=0,
        converged=False,
    )


def _pose_share(parts: list[_Stretch], levels: np.ndarray, vector: np.ndarray) -> float:
    """Variance of the wrenches by the poses' noise over that by the motion; the median of the six components."""
    noise, moved = [], []
    for part in parts:
        noisy = sum(levels[i] * np.diag(part.kernels[i]) for i in _POSES)
        noise.append(noisy.reshape(-1, WRENCH))
        moved.append((part.slope[:, :PARAMETERS] @ vector).reshape(-1, WRENCH))
    signal = np.maximum(np.concatenate(moved).var(axis=0), np.finfo(float).tiny)
    return min(float(np.median(np.concatenate(noise).mean(axis=0) / signal)), _LARGEST_SHARE)


def _slope(vector: np.ndarray) -> np.ndarray:
    """(16, 10) of :func:`told_parameters`."""
    steps = 1e-6 * np.maximum(np.abs(vector), 1e-3 * np.abs(vector).max() * np.array([1.0] * 4 + [0.01] * 6))
    return np.column_stack(
        [
            (told_parameters(vector + step) - told_parameters(vector - step)) / (2.0 * size)
            for step, size in zip(np.diag(steps), steps, strict=True)
        ]
    )

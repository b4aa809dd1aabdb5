"""Mass and centre of mass from an object that is held still in several poses, without a time:
weight and zero alone.

The contacts' wrench is ``[m s; h x s] - beta``, with ``s`` gravity's opposite in the body, the
first moment h and a constant wrench beta (a sensor's zero). Least squares on the ten numbers,
whitened by the stated noise; where residuals are larger than stated, standard errors grow with
them. The tensor is that of the uniform body in the hull, moved to the estimate's centre: no still
pose tells it.
"""

from __future__ import annotations

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.core.inertia import moved_to, uniform_body
from contactid.inhand.identify.disturbance_models import Model
from contactid.inhand.identify.kinematics import BodyMotion
from contactid.inhand.identify.latent_errors import LEVELS
from contactid.inhand.identify.likelihood import RecordingFit
from contactid.inhand.identify.linearised import UNKNOWNS
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH, regressor, wrench_covariance
from contactid.inhand.readers.recordings import RecordedSignals

_FEWEST = 5  # poses
_FLOOR = 1e-12 * np.eye(WRENCH)  # N2 and N2 m2, where contacts measure no torque
_MOMENTS = 4  # mass and first moment
# root mean square of the vertical's direction about its mean, from which on the weight is told
_TURNED = 0.2


def fit_poses(signals: RecordedSignals, gain_sd: float) -> RecordingFit:
    """Estimate from n still poses; the sample number stands for the time.

    Raises
    ------
    ContactIdError
        Where the poses are too few, or too much alike to tell the weight from a constant force.
    """
    # world's z in B at each pose
    vertical = signals.to_body(signals.rotations)[:, :, 2]
    turned = float(np.sqrt(np.mean(np.sum((vertical - vertical.mean(axis=0)) ** 2, axis=1))))
    if signals.samples < _FEWEST or turned < _TURNED:
        raise ContactIdError(
            f"{signals.samples} poses without a time, whose vertical is {np.degrees(turned):.0f} degrees off its mean",
            f"Give {_FEWEST} poses or more that are turned well against the vertical, or a time",
        )
    numbers, information, misfit, degrees = weight_and_zero(signals)
    # residuals larger than stated widen the errors; smaller ones don't narrow them
    information = information / max(misfit, 1.0)
    covariance = np.linalg.inv(information)
    mass, center = float(numbers[0]), numbers[1:_MOMENTS] / numbers[0]
    if mass <= 0.0:
        raise ContactIdError(
            "the forces pull the object down", "Give the forces that act on the object"
        )
    uniform = uniform_body(mass, signals.hull)
    body = moved_to(uniform, center)
    untold = np.full(
        PARAMETERS + WRENCH, np.trace(body.inertia)
    )  # of the tensor: no still pose tells it
    # slopes of (m, c) by (m, m c)
    by_moments = np.eye(_MOMENTS) / mass
    by_moments[0, 0], by_moments[1:, 0] = 1.0, -center / mass
    fit_errors = untold.copy()
    fit_errors[:_MOMENTS] = np.sqrt(
        np.diag(by_moments @ covariance[:_MOMENTS, :_MOMENTS] @ by_moments.T)
    )
    errors, vector_errors = fit_errors.copy(), untold[:PARAMETERS].copy()
    # a calibration's factor moves the mass, and not the centre
    errors[0] = np.hypot(fit_errors[0], gain_sd * mass)
    vector_errors[:_MOMENTS] = np.hypot(
        np.sqrt(np.diag(covariance)[:_MOMENTS]), gain_sd * body.vector[:_MOMENTS]
    )
    answer = np.zeros(UNKNOWNS)
    answer[:PARAMETERS], answer[PARAMETERS : PARAMETERS + WRENCH] = body.vector, numbers[_MOMENTS:]
    places = np.concatenate([np.arange(_MOMENTS), np.arange(PARAMETERS, PARAMETERS + WRENCH)])
    return RecordingFit(
        body=body,
        uniform=uniform,
        errors=errors,
        fit_errors=fit_errors,
        vector_errors=vector_errors,
        # forces by their misfit; poses as stated
        levels=np.array([misfit, 1.0, 1.0] + [0.0] * (len(LEVELS) - 3)),
        answer=answer,
        residuals=[signals.wrench - still_wrench(signals, numbers)],
        times=[signals.time],
        wrench_errors=np.sqrt(np.diag(covariance)[_MOMENTS:]),
        gain_sd=gain_sd,
        models=(Model((), 0.0, places, information, answer),),
        pose_share=0.0,
        misfit=misfit,
        degrees=degrees,
        iterations=1,
        converged=True,
    )


def weight_and_zero(signals: RecordedSignals) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Mass, first moment and constant wrench (10,) by least squares, whitened by the stated noise.

    Returns them with their information (10, 10), squared residuals per degree of freedom, and
    degrees of freedom. Accelerations are left out.
    """
    roots = np.linalg.cholesky(wrench_covariance(signals) + _FLOOR)
    white_columns = np.linalg.solve(roots, _columns(signals))
    white_wrench = np.linalg.solve(roots, signals.wrench[..., None]).ravel()
    slope = white_columns.reshape(len(white_wrench), -1)
    information = slope.T @ slope
    numbers = np.linalg.solve(information, slope.T @ white_wrench)
    degrees = len(white_wrench) - len(numbers)
    misfit = float(np.sum((white_wrench - slope @ numbers) ** 2)) / degrees
    return numbers, information, misfit, degrees


def still_wrench(signals: RecordedSignals, numbers: np.ndarray) -> np.ndarray:
    """(n, 6) N and N m that sensors show without accelerations, by the numbers (10,) of
    :func:`weight_and_zero`.
    """
    return _columns(signals) @ numbers


def _columns(signals: RecordedSignals) -> np.ndarray:
    """(n, 6, 10) by mass, first moment and constant wrench."""
    vertical = signals.to_body(signals.rotations)[:, :, 2]
    still = np.zeros_like(vertical)
    # at rest the specific force is g along the vertical
    weight = regressor(BodyMotion.alone(still, still, signals.gravity * vertical))[:, :, :_MOMENTS]
    constant = np.broadcast_to(-np.eye(WRENCH), (signals.samples, WRENCH, WRENCH))
    return np.concatenate([weight, constant], axis=2)

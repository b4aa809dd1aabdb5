"""Residuals and standard errors of an estimate, computed apart from the program that found it.

Everything is from the sampled poses by the finite differences of :mod:`contactid.inhand.kinematics`, so it also
checks the program. With X the slope of the whitened wrench equations by (theta, beta), J that by the poses in units
of their deviations, the information of (theta, beta) that is left when all poses are unknown, too, is ``X^T X - X^T J
(Id + J^T J)^-1 J^T X``, the Schur complement of the Gauss-Newton matrix. All of it is banded. Bounds, hulls and a
prior body are left out: the errors say what the data say, and are not made small by a parameter that sits on its
bound.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from contactid.core.rotations import as_rotation, matrices
from contactid.inhand.kinematics import FOURTH_ORDER, POSE, REACH, BodyMotion, body_motion
from contactid.inhand.models.inertia import MeasuredMotion
from contactid.inhand.newton_euler import WRENCH, regressor, wrench_slope

_NOTHING = 1e-150  # information below it is none; its inverse would overflow
_LOST = 1e-12  # relative curvature below which a direction isn't determined


def wrench_errors(
    motion: MeasuredMotion,
    position: np.ndarray,
    orientation: np.ndarray,
    vector: np.ndarray,
    bias: np.ndarray,
    scheme: str = FOURTH_ORDER,
) -> np.ndarray:
    """(m, 6) whitened errors of the measured wrench at the samples that have the neighbours, for given poses."""
    derived, inner = _motion(motion, position, orientation, scheme)
    asked = regressor(derived) @ vector - motion.bias_columns[inner] @ bias
    return np.linalg.solve(motion.wrench.factors[inner], (motion.wrench.value[inner] - asked)[..., None])[..., 0]


def pose_errors(motion: MeasuredMotion, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
    """(n, 6) whitened corrections of the measured orientations and positions."""
    turned = (as_rotation(motion.orientation).inv() * as_rotation(orientation)).as_rotvec()
    return np.hstack([turned / motion.orientation_sd, (position - motion.position) / motion.position_sd])


def standard_errors(
    motion: MeasuredMotion, position: np.ndarray, orientation: np.ndarray, vector: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors (10,) of the parameters' vector and (b,) of the residual wrench; infinite where undetermined."""
    derived, inner = _motion(motion, position, orientation)
    m = len(derived.rate)
    points = derived.d_rate.shape[2] // POSE
    columns = np.concatenate([regressor(derived), -motion.bias_columns[inner]], axis=2)
    slopes = wrench_slope(derived, vector) * np.tile(np.repeat([motion.orientation_sd, motion.position_sd], 3), points)
    whitening = np.linalg.inv(motion.wrench.factors[inner])
    rows = np.repeat(np.arange(WRENCH * m), POSE * points)
    places = (POSE * np.repeat(np.arange(m), WRENCH)[:, None] + np.arange(POSE * points)).ravel()
    entries = ((whitening @ slopes).ravel(), (rows, places))
    jacobian = sp.csr_matrix(entries, shape=(WRENCH * m, POSE * len(motion.time)))
    white = (whitening @ columns).reshape(WRENCH * m, -1)
    across = jacobian.T @ white
    precision = sp.csc_matrix(sp.identity(POSE * len(motion.time), format="csr") + jacobian.T @ jacobian)
    information = white.T @ white - across.T @ splu(precision).solve(across)
    finite = np.isfinite(motion.bias_sd)
    information[10:, 10:] += np.diag(np.where(finite, 1.0 / np.where(finite, motion.bias_sd, 1.0) ** 2, 0.0))
    errors = _errors(information)
    return errors[:10], errors[10:]


def reduced_misfit(motion: MeasuredMotion, objective: float) -> float:
    """Sum of squares per degree of freedom: about 1 where the noise is as stated and nothing is unmodelled.

    There are as many measured as unknown pose coordinates; the inner samples' equations are what is left to spare.
    """
    spare = WRENCH * (len(motion.time) - 2) - 10 - len(motion.bias_sd)
    return 2.0 * objective / max(spare, 1)


def _motion(
    motion: MeasuredMotion, position: np.ndarray, orientation: np.ndarray, scheme: str = FOURTH_ORDER
) -> tuple[BodyMotion, slice]:
    reach = REACH[scheme]
    derived = body_motion(motion.time, matrices(orientation), position, motion.gravity, scheme)
    return derived, slice(reach, len(motion.time) - reach)


def _errors(information: np.ndarray) -> np.ndarray:
    """Roots of the inverse's diagonal; infinite for parameters that take part in what isn't determined."""
    diagonal = np.diag(information)
    seen = diagonal > _LOST * np.finfo(float).tiny ** 0.5
    scale = np.sqrt(np.where(seen, diagonal, 1.0))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    lost = values <= _LOST * values[-1]
    errors = np.sqrt(np.sum(vectors[:, ~lost] ** 2 / values[~lost], axis=1)) / scale
    return np.where(seen & (np.linalg.norm(vectors[:, lost], axis=1) <= 1e-4), errors, np.inf)

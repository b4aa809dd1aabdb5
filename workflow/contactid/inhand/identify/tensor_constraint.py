"""What a constraint on the tensor alone does to an estimate whose tensor is about the body frame's
origin.

The paper keeps the principal second moments of the tensor from becoming negative (eqs. 26 to 30 and
36). About the centre of mass that is what makes a body. About the origin it isn't: there the second
moments must also exceed those of the mass at its centre, ``Sigma - m c c^T > 0``, and a constraint
on Sigma alone forgets the first moments. That the paper's code did so is a hypothesis; here is what
it would do, on recordings whose truth is known.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from contactid.core.inertia import tensor_entries
from contactid.inhand.identify.smoothing import smoothed_motion
from contactid.inhand.identify.wrench import PARAMETERS, regressor, wrench_covariance
from contactid.inhand.readers.recordings import RecordedSignals

# times the stated deviations of the poses, for the smoothing; as in the first one of our estimate
_WIDER = 2.5
_FLOOR = np.diag(np.repeat([1e-5, 1e-6], 3) ** 2)  # N and N m, least deviations of a wrench
_LOWER = np.tril_indices(3)


def linear_fit(signals: RecordedSignals) -> tuple[np.ndarray, np.ndarray]:
    """Weighted linear least squares, as the paper's methods without an unsensed wrench.

    Returns
    -------
    estimate : (10,) ``m, m c, I`` about the origin, in SI units
    information : (10, 10) of it
    """
    motion = smoothed_motion(signals, _WIDER)[2]
    factors = np.linalg.cholesky(wrench_covariance(signals) + _FLOOR)
    matrix = np.linalg.solve(factors, regressor(motion)).reshape(-1, PARAMETERS)
    values = np.linalg.solve(factors, signals.wrench[..., None]).ravel()
    return np.linalg.lstsq(matrix, values, rcond=None)[0], matrix.T @ matrix


def with_constrained_tensor(estimate: np.ndarray, information: np.ndarray) -> np.ndarray:
    """(10,) the nearest parameters by the information whose tensor about the origin has no negative
    second moment.

    Sigma = F F^T with a triangular F has none; mass and first moments follow freely, as the linear
    fit has them for a given tensor.
    """
    # minimised over mass and first moments: Schur complement of the tensor
    free, tensor = information[:4, :4], information[4:, 4:]
    coupling = np.linalg.solve(free, information[:4, 4:])
    of_tensor = tensor - information[4:, :4] @ coupling
    root = np.linalg.cholesky(of_tensor).T
    # factors of about one, whatever the object
    unit = max(np.abs(estimate[4:]).max(), np.finfo(float).tiny)  # kg m2

    def entries(factor: np.ndarray) -> np.ndarray:
        matrix = np.zeros((3, 3))
        matrix[_LOWER] = factor
        second_moments = unit * matrix @ matrix.T
        return tensor_entries(np.trace(second_moments) * np.eye(3) - second_moments)

    # well inside; zero would have no slope
    start = 0.5 * np.eye(3)[_LOWER]
    size = float(np.linalg.norm(root @ estimate[4:]))

    def residuals(factor: np.ndarray) -> np.ndarray:
        return root @ (entries(factor) - estimate[4:]) / size

    solved = least_squares(residuals, start, xtol=1e-12, ftol=1e-12)
    moved = entries(solved.x) - estimate[4:]
    return np.concatenate([estimate[:4] - coupling @ moved, estimate[4:] + moved])

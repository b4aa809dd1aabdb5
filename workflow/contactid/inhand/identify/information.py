"""What motion and noise say about a moved object's ten inertial parameters, before anything is
estimated.

At every sample the wrench that the contacts exert is ``w = Y theta`` (eqs. 6 to 9, in-hand paper),
with a regressor Y (6, 10) of the motion alone and theta as
:attr:`contactid.core.inertia.InertialParameters.vector`. Stacked over the samples and whitened by
the noise of w, the information matrix of theta is ``Y^T S^-1 Y``; standard errors come of its
inverse.

*Noise.* ``S = C + J D J^T``: C is block-diagonal, from the deviations of forces, contact points and
torques; D holds those of the poses, and J is the slope of ``Y theta`` by the poses. Accelerations
are differences of neighbouring poses, so S is banded. This is the information that is left when all
poses are estimated together with theta, to first order.

*Condition.* That of the whitened regressor with columns scaled to unit length, so that it doesn't
depend on units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import xarray as xr
from scipy.sparse.linalg import splu

from contactid.core import rotations
from contactid.inhand.identify.kinematics import FOURTH_ORDER, POSE, REACH, BodyMotion, body_motion
from contactid.inhand.identify.wrench import PARAMETERS, regressor, wrench_covariance, wrench_slope
from contactid.inhand.readers.recordings import recorded_signals

_FLAT = 1e-10  # relative; singular values below are rounding


@dataclass(frozen=True, eq=False)
class Information:
    """What motion and noise say about theta.

    Attributes
    ----------
    matrix : (10, 10) information, inverse covariance of theta in the units of its entries
    condition_number : of the whitened regressor with columns of unit length; infinite where it has
        no full rank
    """

    matrix: np.ndarray
    condition_number: float

    @property
    def standard_errors(self) -> np.ndarray:
        """(10,) of theta; infinite where it isn't determined."""
        return errors_of(self.matrix, _FLAT**2, np.sqrt(_FLAT))

    def body_errors(self, theta: np.ndarray) -> np.ndarray:
        """(10,) standard errors of mass (kg), centre of mass (m) and tensor entries (kg m2) at
        ``theta`` (10,).
        """
        errors = self.standard_errors
        if not np.isfinite(errors).all():
            return np.full(PARAMETERS, np.inf)
        slope = np.eye(PARAMETERS)
        slope[1:4, 0] = -theta[1:4] / theta[0] ** 2
        slope[[1, 2, 3], [1, 2, 3]] = 1.0 / theta[0]
        scale = _scales(self.matrix)
        covariance = np.linalg.inv(self.matrix / np.outer(scale, scale)) / np.outer(scale, scale)
        return np.sqrt(np.diag(slope @ covariance @ slope.T))


def pose_information(
    motion: BodyMotion,
    covariance: np.ndarray,
    theta: np.ndarray,
    orientation_sd: float,
    position_sd: float,
) -> Information:
    """Information that is left where the poses behind the motion are measured with noise, too.

    Parameters
    ----------
    motion
        m inner samples, with derivatives by the poses.
    covariance
        (m, 6, 6) of the wrenches.
    theta
        (10,) parameters at which the slope by the poses is taken.
    orientation_sd, position_sd
        rad and m, of independent noise in the poses' coordinates.
    """
    slopes = wrench_slope(motion, theta)
    slopes *= np.tile([orientation_sd] * 3 + [position_sd] * 3, slopes.shape[2] // POSE)
    by_pose = banded(slopes)
    noise = sp.block_diag(list(covariance), format="csc") + by_pose @ by_pose.T
    stacked = regressor(motion).reshape(-1, PARAMETERS)
    matrix = stacked.T @ splu(sp.csc_matrix(noise)).solve(stacked)
    matrix = 0.5 * (matrix + matrix.T)
    scale = _scales(matrix)
    values = np.linalg.eigvalsh(matrix / np.outer(scale, scale))
    small = values[0] <= _FLAT**2 * values[-1]
    return Information(matrix, np.inf if small else float(np.sqrt(values[-1] / values[0])))


def recording_information(recording: xr.Dataset, truth: xr.Dataset) -> Information:
    """Information in a synthetic recording: its stated noise, at the true motion and parameters."""
    signals = recorded_signals(recording)
    motion = body_motion(
        signals.time,
        rotations.matrices(truth["object_orientation"].values),
        truth["object_position"].values,
        signals.gravity,
        FOURTH_ORDER,
    )
    covariance = wrench_covariance(signals)[REACH[FOURTH_ORDER] : -REACH[FOURTH_ORDER]]
    theta = np.array(truth.attrs["vector"])
    return pose_information(motion, covariance, theta, signals.orientation_sd, signals.position_sd)


def errors_of(matrix: np.ndarray, least: float, most: float) -> np.ndarray:
    """Roots (d,) of the diagonal of an information matrix's inverse; infinite where it says
    nothing.

    Parameters
    ----------
    matrix
        (d, d), scaled to a unit diagonal before anything is decided.
    least
        Share of the largest eigenvalue up to which a direction isn't determined.
    most
        Share of a parameter in such directions from which on its error is infinite.
    """
    scale = _scales(matrix)
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    lost = values <= least * max(values[-1], np.finfo(float).tiny)
    errors = np.sqrt(np.sum(vectors[:, ~lost] ** 2 / values[~lost], axis=1)) / scale
    return np.where(np.linalg.norm(vectors[:, lost], axis=1) > most, np.inf, errors)


def banded(blocks: np.ndarray) -> sp.csr_matrix:
    """(r m, 6 m - 6 + s): derivatives of r values at m samples by all poses, of those (m, r, s) by
    the poses around.
    """
    m, height, width = blocks.shape
    rows = np.repeat(np.arange(m * height), width)
    columns = (POSE * np.repeat(np.arange(m), height)[:, None] + np.arange(width)).ravel()
    return sp.csr_matrix(
        (blocks.ravel(), (rows, columns)), shape=(m * height, POSE * (m - 1) + width)
    )


def _scales(matrix: np.ndarray) -> np.ndarray:
    """(d,) lengths of the whitened regressor's columns; 1 for columns that vanish."""
    scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    return np.where(scale > 0.0, scale, 1.0)

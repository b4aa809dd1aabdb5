"""Losses of simulated trajectories (eqs. 16 and 18 of the tossing paper), and errors of rest poses
(eqs. 19 to 21).
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from contactid.core import rotations


def trajectory_errors(
    measured_position: np.ndarray,
    measured_orientation: np.ndarray,
    position: np.ndarray,
    orientation: np.ndarray,
    length: float,
) -> dict[str, float]:
    """Eq. 18 of a simulated trajectory, and its two terms.

    Parameters
    ----------
    measured_position, measured_orientation, position, orientation : (n, 3) m and (n, 4), from
        release to rest, measured and simulated
    length : l of eq. 18, m.

    Returns ``loss``, ``position_error_pct`` (of ``length``) and ``rotation_error_deg``: means over
    the samples.
    """
    position_error = float(np.linalg.norm(measured_position - position, axis=1).mean()) / length
    rotation_error = float(rotations.angle_between(measured_orientation, orientation).mean())
    return {
        "loss": position_error + rotation_error,
        "position_error_pct": 100.0 * position_error,
        "rotation_error_deg": np.degrees(rotation_error),
    }


def rest_position_error(measured: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    """e_pos of eq. 21 in m: distance in the surface between positions (..., 3) given in C."""
    return np.linalg.norm(np.asarray(measured)[..., :2] - np.asarray(simulated)[..., :2], axis=-1)


def rest_rotation_error(measured: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    """e_rot of eqs. 19 and 20 in rad, in (-pi, pi]: the relative turn about the normal z_C, for
    (..., 4) of R_CB.

    The twist about z_C of ``R~ R^-1``, which is eq. 20's angle where both bodies lie on the same
    face.

    Deviation: eq. 20's printed matrix lacks the minus sign of one sine; a rotation has it.
    """
    relative = rotations.as_quaternions(
        rotations.as_rotation(simulated) * rotations.as_rotation(measured).inv()
    )
    # of a quaternion the twist about z has its real and its z part alone
    angle = 2.0 * np.arctan2(relative[..., 3], relative[..., 0])
    # into (-pi, pi]
    return np.pi - np.mod(np.pi - angle, 2.0 * np.pi)


def mean_loss(swept: xr.Dataset) -> xr.DataArray:
    """Eq. 16's mean of losses (experiment, friction_mu, restitution_e_n) over experiments."""
    return swept["loss"].mean(str(swept["loss"].dims[0]))

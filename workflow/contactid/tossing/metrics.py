"""Errors of predicted rest poses (eqs. 19 to 21 of the tossing paper)."""

from __future__ import annotations

import numpy as np

from contactid.core import rotations


def rest_position_error(measured: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    """e_pos of eq. 21 in m: distance in the surface between positions (..., 3) given in C."""
    return np.linalg.norm(np.asarray(measured)[..., :2] - np.asarray(simulated)[..., :2], axis=-1)


def rest_rotation_error(measured: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    """e_rot of eqs. 19 and 20 in rad, in (-pi, pi]: the relative turn about the normal z_C, for (..., 4) of R_CB.

    The twist about z_C of ``R~ R^-1``, which is eq. 20's angle where both bodies lie on the same face.

    Deviation: eq. 20's printed matrix lacks the minus sign of one sine; a rotation has it.
    """
    relative = rotations.as_quaternions(rotations.as_rotation(simulated) * rotations.as_rotation(measured).inv())
    angle = 2.0 * np.arctan2(relative[..., 3], relative[..., 0])
    return np.pi - np.mod(np.pi - angle, 2.0 * np.pi)

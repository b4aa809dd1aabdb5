"""Newton and Euler's equations of a grasped object about the body frame's origin (eqs. 6 to 9, 18 and 19, in-hand
paper).

With the rate w, its derivative w', ``s = R^T (p'' - g)``, mass m, first moment ``h = m c`` and the tensor I about the
origin of B,

    force   m s + w' x h + w x (w x h)
    torque  I w' + w x (I w) + h x s

must be what the contacts exert about B's origin. Both are linear in the ten inertial parameters.
"""

from __future__ import annotations

import numpy as np

from contactid.core.inertia import tensor
from contactid.inhand.kinematics import BodyMotion, skew

PARAMETERS = 10
WRENCH = 6


def regressor(motion: BodyMotion) -> np.ndarray:
    """(m, 6, 10): force and torque by the parameters' vector; force in the first three rows."""
    rate, change, force = motion.rate, motion.rate_change, motion.specific_force
    rows = np.zeros((len(rate), WRENCH, PARAMETERS))
    turning = skew(rate)
    rows[:, :3, 0] = force
    rows[:, :3, 1:4] = skew(change) + turning @ turning
    rows[:, 3:, 1:4] = -skew(force)
    rows[:, 3:, 4:] = _tensor_columns(change) + turning @ _tensor_columns(rate)
    return rows


def wrench_slope(motion: BodyMotion, vector: np.ndarray) -> np.ndarray:
    """(m, 6, s): derivative of the required wrench by the s increments of the poses around, for a vector (10,)."""
    mass, first, inertia = vector[0], vector[1:4], tensor(vector[4:])
    crossing, turning = skew(first), skew(motion.rate)
    force = mass * motion.d_specific_force - crossing @ motion.d_rate_change
    force -= (skew(np.cross(motion.rate, first)) + turning @ crossing) @ motion.d_rate
    torque = inertia @ motion.d_rate_change + crossing @ motion.d_specific_force
    torque += (turning @ inertia - skew(motion.rate @ inertia)) @ motion.d_rate
    return np.concatenate([force, torque], axis=1)


def _tensor_columns(vectors: np.ndarray) -> np.ndarray:
    """(m, 3, 6) with ``I a = columns [I_xx, I_yy, I_zz, I_xy, I_xz, I_yz]`` for vectors a (m, 3)."""
    x, y, z = vectors.T
    columns = np.zeros((len(vectors), 3, 6))
    columns[:, 0, 0], columns[:, 0, 3], columns[:, 0, 4] = x, y, z
    columns[:, 1, 1], columns[:, 1, 3], columns[:, 1, 5] = y, x, z
    columns[:, 2, 2], columns[:, 2, 4], columns[:, 2, 5] = z, x, y
    return columns

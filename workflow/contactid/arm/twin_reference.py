"""What a twin's reported tip velocity tends to after the oscillation: the rigid map, and what bending adds to it.

The arm reports positions on the motors' side with the deflection under gravity taken out. A force F that presses the
tip onto the table deflects the joints by ``K^-1 J_z^T F``, which the reported position contains: the reported tip is
off by ``-F J K^-1 J_z^T``. While the tip slides, the posture changes and with it this offset, so the reported velocity
of an arm that moves as one with its motors is not eq. 5's but

``v+ = J q+ - d/dt (F J K^-1 J_z^T)`` along q+.

The second part is quadratic in speed for a force in proportion to speed, and below 1 mm/s; it belongs to the sensor's
place, and no fit can tell it from the rigid response.
"""

from __future__ import annotations

import numpy as np

from contactid.arm.impact_map import impact_map
from contactid.arm.robots import Robot
from contactid.arm.tip_velocity import AXES

_STEP = 1e-3  # s, of the central difference along q+


def bending_velocity(
    robot: Robot,
    q: np.ndarray,
    velocity_pre: np.ndarray,
    motor_inertia: np.ndarray,
    stiffness: np.ndarray,
    force: float,
) -> np.ndarray:
    """(2,) x and z parts of ``-d/dt (F J K^-1 J_z^T)``, m/s.

    Parameters
    ----------
    q, velocity_pre
        (n,) rad and rad/s, of the links just before the impact.
    motor_inertia, stiffness
        (n,) kg m2 and N m/rad.
    force
        F, N.
    """
    after = impact_map(robot.mass_matrix(q) + np.diag(motor_inertia), robot.tip_jacobian(q)[2], velocity_pre)

    def offset(time: float) -> np.ndarray:
        jacobian = robot.tip_jacobian(q + time * after)
        return -force * (jacobian[list(AXES)] / stiffness) @ jacobian[2]

    return (offset(_STEP) - offset(-_STEP)) / (2.0 * _STEP)

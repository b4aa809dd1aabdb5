"""The arm's motion before the impact: its tip on a straight line at constant velocity, the probe vertical.

The motion lies in the x-z plane, where joints 2, 4 and 6 move a tip of three coordinates x, z and tilt, so inverse
kinematics is exact. Its controller tracks perfectly: motors are where elastic joints need them for the links to move
so. With D = K T (T the damping time) the joints' law K d + K T d' = M q'' + n, d = theta - q, gives
d = u - T u' + O(T^2 u''), u = K^-1 (M q'' + n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from contactid.arm.postures import PLANE_JOINTS
from contactid.arm.robots import Robot
from contactid.arm.simulate.flexible_arm import FlexibleArm
from contactid.core.errors import ContactIdError

_TIP_ROWS = (0, 2, 4)  # v_x, v_z, omega_y
_TOLERANCE = 1e-13  # m and rad
_MOST_STEPS = 30
_DIFFERENCE = 1e-4  # s, of central differences in time


@dataclass(frozen=True, eq=False)
class Approach:
    """Links (q) and motors (theta) at m times: positions (m, n) in rad, velocities (m, n) in rad/s."""

    q: np.ndarray
    theta: np.ndarray
    q_velocity: np.ndarray
    theta_velocity: np.ndarray


def posture_at(robot: Robot, near: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """Posture (n,) in rad with the tip at (x, z) = ``tip`` in m and the probe vertical, from one nearby.

    Raises
    ------
    ContactIdError
        Where there is none nearby.
    """
    q = np.array(near, dtype=float)
    for _ in range(_MOST_STEPS):
        x, _y, z = robot.tip_position(q)
        down = robot.tip_orientation(q)[:, 2]
        # turning about y by +a takes the downward axis from (0, 0, -1) to (-sin a, 0, -cos a)
        missing = np.array([tip[0] - x, tip[1] - z, -np.arctan2(-down[0], -down[2])])
        if np.abs(missing).max() < _TOLERANCE:
            return q
        q[list(PLANE_JOINTS)] += _solve(robot, q, missing)
    raise ContactIdError(
        f"the arm cannot put its tip at x = {tip[0]:.3f} m, z = {tip[1]:.3f} m with a vertical probe",
        "Choose a place within reach",
    )


def approach(arm: FlexibleArm, q_impact: np.ndarray, velocity: np.ndarray, time: np.ndarray) -> Approach:
    """The motion that brings the tip to its place at ``q_impact`` at time 0.

    Parameters
    ----------
    arm
        Robot and drives.
    q_impact
        (n,) rad, in the plane.
    velocity
        (2,) tip's v_x and v_z, m/s.
    time
        (m,) s, at most 0.
    """
    x, _, z = arm.robot.tip_position(q_impact)
    place = np.array([x, z])
    q, q_velocity, theta, theta_velocity = [], [], [], []
    near = q_impact
    for now in np.asarray(time, dtype=float)[::-1]:
        near = posture_at(arm.robot, near, place + velocity * now)
        ahead, behind = (
            _stretch(arm, posture_at(arm.robot, near, place + velocity * (now + step)), velocity)
            for step in (_DIFFERENCE, -_DIFFERENCE)
        )
        here = _stretch(arm, near, velocity)
        rate = (ahead - behind) / (2.0 * _DIFFERENCE)
        curvature = (ahead - 2.0 * here + behind) / _DIFFERENCE**2
        lag = arm.drives.damping_time
        links = _velocity(arm.robot, near, velocity)
        q.append(near)
        q_velocity.append(links)
        theta.append(near + here - lag * rate)
        theta_velocity.append(links + rate - lag * curvature)
    return Approach(*(np.array(rows[::-1]) for rows in (q, theta, q_velocity, theta_velocity)))


def _stretch(arm: FlexibleArm, q: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """K^-1 (M q'' + n) (n,), rad, where the tip moves at constant velocity."""
    model, data = arm.robot.model, arm.robot.model.createData()
    rate = _velocity(arm.robot, q, velocity)
    pin.forwardKinematics(model, data, q, rate, np.zeros(model.nv))
    drift = pin.getFrameClassicalAcceleration(model, data, arm.robot.tip, pin.LOCAL_WORLD_ALIGNED)
    acceleration = np.zeros(model.nv)
    acceleration[list(PLANE_JOINTS)] = _solve(arm.robot, q, -drift.vector[list(_TIP_ROWS)])
    return pin.rnea(model, data, q, rate, acceleration) / arm.stiffness


def _velocity(robot: Robot, q: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    rate = np.zeros(robot.model.nv)
    rate[list(PLANE_JOINTS)] = _solve(robot, q, np.array([velocity[0], velocity[1], 0.0]))
    return rate


def _solve(robot: Robot, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Rates of the planar joints that move the tip by (v_x, v_z, omega_y)."""
    data = robot.model.createData()
    full = pin.computeFrameJacobian(robot.model, data, q, robot.tip, pin.LOCAL_WORLD_ALIGNED)
    return np.linalg.solve(full[np.ix_(_TIP_ROWS, PLANE_JOINTS)], wanted)

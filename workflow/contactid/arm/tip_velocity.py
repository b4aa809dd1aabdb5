"""The tip's motion from recorded joint positions.

Velocities are differences of neighbouring tip positions, that is, means over one sampling interval, at its middle. They
equal J(q) q' with q' the differences of joint positions and q their mean, up to third order in one sample's step (some
nanometres per second), and their noise is that of differenced positions exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.arm.robots import Robot
from contactid.core.errors import ContactIdError

AXES = (0, 2)  # x forward, z up: the plane of the motion


@dataclass(frozen=True)
class TipMotion:
    """A tip's motion in the base frame.

    Attributes
    ----------
    time, position : (n,) s and (n, 2) m, x and z, at the samples
    mid_time, velocity : (n - 1,) s and (n - 1, 2) m/s, between them
    """

    time: np.ndarray
    position: np.ndarray

    @property
    def mid_time(self) -> np.ndarray:
        """Middles of the sampling intervals, s."""
        return 0.5 * (self.time[1:] + self.time[:-1])

    @property
    def velocity(self) -> np.ndarray:
        """Means over the sampling intervals, m/s."""
        return np.diff(self.position, axis=0) / np.diff(self.time)[:, None]


def tip_motion(robot: Robot, time: np.ndarray, joint_position: np.ndarray) -> TipMotion:
    """Motion of a robot's tip for joint positions (n, joints), rad, at times (n,), s.

    Raises
    ------
    ContactIdError
        Where shapes don't match the robot, or a sample isn't finite.
    """
    if joint_position.shape != (len(time), robot.model.nq):
        raise ContactIdError(
            f"joint positions {joint_position.shape} for {len(time)} times and {robot.model.nq} joints",
            "Give one row per time and one column per joint",
        )
    if not np.isfinite(joint_position).all():
        raise ContactIdError("joint positions have values that aren't finite", "Cut the recording to its samples")
    return TipMotion(
        np.asarray(time, dtype=float), np.array([robot.tip_position(q)[list(AXES)] for q in joint_position])
    )


def linearised_motion(motion: TipMotion, jacobians: np.ndarray, change: np.ndarray) -> TipMotion:
    """The motion after a small change (n, joints) of the joint positions, with Jacobians (n, 2, joints) of x and z.

    For noise of 1e-5 rad it is exact to 1e-10 m, and far cheaper than the robot's kinematics.
    """
    return TipMotion(motion.time, motion.position + np.einsum("nij,nj->ni", jacobians, change))

"""The vertical plane that an arm moves in, found from its motion, and the arm seen in that plane.

The paper's arm moves along x of its base frame. Turned about its first joint it hits the table as
well, but the velocity along the table is then no longer the x component. So x is replaced by the
horizontal direction of the motion before the impact: the tip's own, or, where the tip comes
straight down, the one that the joints between base and tip move along. It points away from the
base. The normal stays z: a level table, an upright base.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from contactid.arm.rigid.robot import Robot

_ALONG_X = np.deg2rad(0.5)  # a plane this near to x is x
_OBLIQUE = np.tan(np.deg2rad(10.0))  # of an approach whose own horizontal direction counts
_AT_REST = 1e-4  # m; what moves less has no direction


def heading(robot: Robot, joint_position: np.ndarray) -> float:
    """Direction of the motion through joint positions (n, joints), rad, at even steps: an approach,
    n >= 2.

    It is an angle from x about z, rad, 0 where it is as good as x.
    """
    origins = np.array([robot.joint_placements(q) for q in joint_position])  # (n, joints, 3)
    tips = np.array([robot.tip_position(q) for q in joint_position])
    points = np.concatenate([origins, tips[:, None]], axis=1)
    # slope of a line through even steps, with the sum of squares below
    share = np.linspace(-0.5, 0.5, len(points))
    # (joints + 1, 3) m, by the best straight line
    moved = np.tensordot(share, points, axes=1) / (share @ share)
    outward = tips.mean(axis=0)[:2]
    flat, tip = moved[:, :2], moved[-1]
    oblique = np.hypot(tip[0], tip[1]) > max(_OBLIQUE * abs(tip[2]), _AT_REST)
    # in one vertical plane all horizontal motions have one direction
    _, (along, _across), (of_joints, _) = np.linalg.svd(flat, full_matrices=False)
    # at rest: the plane through base and tip
    straight_down = of_joints if along >= _AT_REST else outward
    direction = tip[:2] if oblique else straight_down
    # away from the base
    if direction @ outward < 0.0:
        direction = -direction
    angle = float(np.arctan2(direction[1], direction[0]))
    return angle if abs(angle) > _ALONG_X else 0.0


def turned(robot: Robot, angle: float) -> Robot:
    """The same arm in a base frame that is turned by ``angle`` (rad) about z: motion along it is
    motion along x.
    """
    if angle == 0.0:
        return robot
    model = pin.Model(robot.model)
    # the base turns the other way, so that the motion is along x
    turn = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, -angle), np.zeros(3))
    for joint in range(1, model.njoints):
        # joints at the base carry all others
        if model.parents[joint] == 0:
            model.jointPlacements[joint] = turn * model.jointPlacements[joint]
    return Robot(model, robot.tip, robot.links, model.createData())

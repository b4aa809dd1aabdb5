"""Velocities of the biped Cassie right after a landing, by rigid laws: a floating base, loops of
rods, and two feet.

Coordinates q are pinocchio's: the pelvis' place and quaternion, then the joints; velocities v (22,)
are those of the pelvis in its own axes and the joints' rates. In each leg a rod joins thigh and
heel spring, and closes a loop: a row of constraints. The springs of shin and heel are joints.

Every law is a projection in the metric of the kinetic energy (eqs. 3 to 5 of the arm paper, with
more rows):

``v+ = v- - M^-1 J^T (J M^-1 J^T)^-1 J v-``,

J the rows of the loops and of what the law stops at the feet. Motors are behind gears: their
rotors' inertia, times the gear's ratio squared, is part of M. Source of rods, feet, rotors and
ratios: DAIRLab/dairlib at 2407831 (MIT).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pinocchio as pin

from contactid.arm.rigid.impact_map import impact_map

#: In the order of the published recordings.
JOINTS = (
    "hip_roll_left", "hip_roll_right", "hip_yaw_left", "hip_yaw_right", "hip_pitch_left", "hip_pitch_right",
    "knee_left", "knee_right", "knee_joint_left", "knee_joint_right", "ankle_joint_left", "ankle_joint_right",
    "ankle_spring_joint_left", "toe_left", "ankle_spring_joint_right", "toe_right",
)  # fmt: skip
NONE = "no impact"
FRICTIONLESS, FRICTIONLESS_LINKS = "frictionless, eq. 5", "frictionless, links alone"
STICKING, STICKING_LINKS, LOCKED = "sticking", "sticking, links alone", "sticking, springs locked"
LAWS = (NONE, FRICTIONLESS, FRICTIONLESS_LINKS, STICKING, STICKING_LINKS, LOCKED)

# kg m2 of a rotor, and the gear's ratio
_ROTORS = {
    "hip_roll": (61e-6, 25.0), "hip_yaw": (61e-6, 25.0), "hip_pitch": (365e-6, 16.0), "knee": (365e-6, 16.0),
    "toe": (4.9e-6, 50.0),
}  # fmt: skip
_SPRINGS = ("knee_joint", "ankle_spring_joint")
_SIDES = ("left", "right")
# m, in the toe's frame: heel and tip
_TOE_ENDS = np.array([-0.0457, 0.112, 0.0]), np.array([0.088, 0.0, 0.0])
_ROD_HEEL = np.array([0.11877, -0.01, 0.0])  # m, of a rod's end in the heel spring's frame
# m, in the thigh's
_ROD_THIGH = {"left": np.array([0.0, 0.0, 0.045]), "right": np.array([0.0, 0.0, -0.045])}
_INDEPENDENT = 1e-6  # of the largest singular value: rows of constraints below it repeat others


@dataclass(frozen=True, eq=False)
class Stance:
    """A posture.

    Attributes
    ----------
    mass : (22, 22) of the links, kg m2 and kg
    loops : (2, 22) rate of each rod's length, by v
    place, jacobian : (4, 3) m and (4, 3, 22) of the feet's ends in the world: left heel and tip,
        right heel and tip
    rods : (2,) lengths between the rods' ends, m
    """

    mass: np.ndarray
    loops: np.ndarray
    place: np.ndarray
    jacobian: np.ndarray
    rods: np.ndarray


class Biped:
    """Cassie, from its URDF."""

    def __init__(self, urdf: str | Path) -> None:
        self.model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
        self.data = self.model.createData()

    @cached_property
    def joint_places(self) -> tuple[np.ndarray, np.ndarray]:
        """(16,) places of :data:`JOINTS` in q, and in v."""
        joints = [self.model.joints[self.model.getJointId(name)] for name in JOINTS]
        return np.array([one.idx_q for one in joints]), np.array([one.idx_v for one in joints])

    @cached_property
    def rotors(self) -> np.ndarray:
        """(22,) kg m2 that rotors add to M's diagonal."""
        added = np.zeros(self.model.nv)
        for name, place in zip(JOINTS, self.joint_places[1], strict=True):
            # seen through the gear: ratio squared
            inertia, ratio = _ROTORS.get(name.rsplit("_", 1)[0], (0.0, 0.0))
            added[place] = inertia * ratio**2
        return added

    def posture(
        self, orientation: np.ndarray, position: np.ndarray, joints: np.ndarray
    ) -> np.ndarray:
        """Q (23,) from a quaternion (4,), real part first, the pelvis' place (3,), m, and joints
        (16,), rad.
        """
        q = pin.neutral(self.model)
        q[:3] = position
        # pinocchio has the real part last
        q[3:7] = orientation[[1, 2, 3, 0]] / np.linalg.norm(orientation)
        q[self.joint_places[0]] = joints
        return q

    def velocity(
        self, q: np.ndarray, linear: np.ndarray, angular: np.ndarray, rates: np.ndarray
    ) -> np.ndarray:
        """V (22,) from the pelvis' velocities (3,) in world axes, m/s and rad/s, and joints' rates
        (16,), rad/s.
        """
        x, y, z, w = q[3:7]
        # pinocchio's velocities of a free base are in its own axes
        to_pelvis = pin.Quaternion(w, x, y, z).toRotationMatrix().T
        v = np.zeros(self.model.nv)
        v[:3], v[3:6] = to_pelvis @ linear, to_pelvis @ angular
        v[self.joint_places[1]] = rates
        return v

    def stance(self, q: np.ndarray) -> Stance:
        """Mass, loops and feet at a posture q (23,)."""
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        # crba fills the upper triangle alone
        upper = np.triu(pin.crba(self.model, self.data, q))
        loops, rods = [], []
        for side in _SIDES:
            heel, of_heel = self._point(f"heel_spring_{side}", _ROD_HEEL)
            thigh, of_thigh = self._point(f"thigh_{side}", _ROD_THIGH[side])
            along = heel - thigh
            rods.append(np.linalg.norm(along))
            # rate of the rod's length: along it, the difference of its ends' velocities
            loops.append(along / rods[-1] @ (of_heel - of_thigh))
        feet = [self._point(f"toe_{side}", end) for side in _SIDES for end in _TOE_ENDS]
        place, jacobian = (np.array(part) for part in zip(*feet, strict=True))
        return Stance(upper + np.triu(upper, 1).T, np.array(loops), place, jacobian, np.array(rods))

    def after(
        self, law: str, stance: Stance, touching: np.ndarray, before: np.ndarray
    ) -> np.ndarray:
        """V+ (22,) by a law, for v- ``before`` (22,); ``touching`` (4,): which ends of the feet are
        on the ground.
        """
        if law == NONE:
            return before
        rows = [stance.loops]
        # frictionless: vertical rows; sticking: all three of each end
        if law in (FRICTIONLESS, FRICTIONLESS_LINKS):
            rows.append(stance.jacobian[touching, 2])
        else:
            rows.append(stance.jacobian[touching].reshape(-1, self.model.nv))
        if law == LOCKED:
            # a locked spring's joint has no rate after the impact
            springs = [k for k, name in enumerate(JOINTS) if name.rsplit("_", 1)[0] in _SPRINGS]
            rows.append(np.eye(self.model.nv)[self.joint_places[1][springs]])
        links_alone = law in (FRICTIONLESS_LINKS, STICKING_LINKS)
        mass = stance.mass if links_alone else self.with_rotors(stance)
        # two ends of a stiff foot can't move apart: one of their rows repeats the others
        _, size, basis = np.linalg.svd(np.concatenate(rows), full_matrices=False)
        return impact_map(mass, basis[size > _INDEPENDENT * size[0]], before)

    def with_rotors(self, stance: Stance) -> np.ndarray:
        """(22, 22) M with the rotors."""
        return stance.mass + np.diag(self.rotors)

    def _point(self, link: str, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place (3,), m, and Jacobian (3, 22) in the world of a point of a link."""
        frame = self.model.getFrameId(link, pin.BODY)
        jacobian = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
        origin = self.data.oMf[frame]
        arm = origin.rotation @ at
        # velocity of a point off the frame's origin: v - [r]x w
        return origin.translation + arm, jacobian[:3] - pin.skew(arm) @ jacobian[3:]

"""An impact that the table allows: no tip goes on into it. Where one does, or flies off, a joint
may have the other sign.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contactid.arm.identify.methods import NORMAL
from contactid.arm.own.impacts import NoImpact, OwnImpact, own_impact
from contactid.arm.readers.impacts import ArmRecording
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError
from contactid.sources.conventions import REFUTED

_ASIDE = 0.1  # of the speed: velocity across the plane of motion that the right signs don't have
# standard errors of v_z+ of a tip that stays on the table; REFUTED is of their squares
_FARTHEST = np.sqrt(REFUTED)
# Of the approach speed: v_z+ that the motors' rebound leaves, and that none leaves. Simulated arms
# lift off with up to 0.19; a joint of the wrong sign does with 0.35, and one whose zero is off by
# half a radian with 0.4.
_REBOUND, _NO_REBOUND = 0.2, 0.35
_INTO = 0.3  # of the approach speed, into the table: simulated tips that are told right have 0.23
# of the stated signs' v_z+: the right ones' is less, where the tip does lift off a little
_LESS = 1.0 / 3.0


def explained_impact(robot: Robot, recording: ArmRecording, file: str = "") -> OwnImpact:
    """Evaluate a recording whose tip stays on the table, or lifts off by every joint's sign.

    Raises
    ------
    ContactIdError
        As :func:`.impacts.own_impact`, where the tip would go on into the table, and where it flies
        off by the stated signs alone; it names the joint whose other sign explains the recording,
        where one does.
    """
    try:
        found = own_impact(robot, recording, file)
    # a joint of the wrong sign may lift the tip where it falls
    except NoImpact as error:
        hint = _hint(_turned_joints(robot, recording))
        if not hint:
            raise
        raise ContactIdError(f"as stated the motion has no answer: {hint}") from error
    upwards = _upwards(found)
    # an interval may be too wide to tell, yet no tip goes on into the table that fast
    stays = abs(upwards) <= _FARTHEST and found.velocity[1] > -_INTO * found.speed
    if stays or 0.0 < found.velocity[1] <= _REBOUND * found.speed:
        return found
    joints = _turned_joints(robot, recording, _LESS * abs(found.velocity[1]))
    # a tip may lift off, unless another sign leaves it on the table
    if 0.0 < found.velocity[1] <= _NO_REBOUND * found.speed and not joints:
        return found
    way = "up from" if upwards > 0.0 else "on into"
    speed = 1e3 * abs(found.velocity[1])
    raise ContactIdError(
        f"the tip would go {way} the table with {speed:.0f} mm/s, {abs(upwards):.2g} standard errors: "
        + (_hint(joints) or "joints, their signs or zeros, or the link table are others")
    )


def _upwards(found: OwnImpact) -> float:
    """Standard errors by which v_z+ points up."""
    return float(found.velocity[1] / found.half_width[1] * NORMAL)


def _turned_joints(robot: Robot, recording: ArmRecording, less: float = 0.0) -> list[int]:
    """The joints (from 1) whose other sign explains a recording. ``less``: m/s, a v_z+ that counts
    as none.
    """
    # each joint alone: two wrong signs aren't looked for
    joints = range(recording.joint_position.shape[1])
    return [k + 1 for k in joints if _explains(robot, recording, k, less)]


def _hint(joints: list[int]) -> str:
    """The option that states a joint's other sign; of two that explain it alike neither is the one."""
    if len(joints) != 1:
        return ""
    return f"joint {joints[0]} has the other sign (give --columns q{joints[0]}=-q{joints[0]})"


def _explains(robot: Robot, recording: ArmRecording, joint: int, less: float) -> bool:
    """Whether with a joint's other sign the tip stays on the table and in its plane."""
    position = recording.joint_position.copy()
    position[:, joint] = -position[:, joint]
    turned = replace(recording, joint_position=position)
    try:
        # a mechanism's tip stays on the table by its making
        found = own_impact(robot, turned, mechanisms=False)
    except ContactIdError:
        return False
    # the right signs keep the tip in its plane, too
    aside = max(abs(value) for value in found.evaluated.lateral) / found.speed
    stays = abs(_upwards(found)) <= _FARTHEST or abs(found.velocity[1]) <= less
    return bool(stays and aside < _ASIDE)

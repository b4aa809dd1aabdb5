"""An impact that the table allows: no tip goes on into it. Where one does, a joint may have the
other sign.
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


def explained_impact(robot: Robot, recording: ArmRecording, file: str = "") -> OwnImpact:
    """Evaluate a recording whose tip stays on the table.

    Raises
    ------
    ContactIdError
        As :func:`.impacts.own_impact`, and where the tip would go on into the table; it names the
        joint whose other sign explains the recording, where one does.
    """
    try:
        found = own_impact(robot, recording, file)
    # a joint of the wrong sign may lift the tip where it falls
    except NoImpact as error:
        joints = _turned_joints(robot, recording)
        raise NoImpact(f"{error.problem}: {joints}" if joints else error.problem) from None
    into = _into_the_table(found)
    # standard errors; REFUTED is of their squares
    if into <= np.sqrt(REFUTED):
        return found
    joints = _turned_joints(robot, recording)
    speed = -1e3 * found.velocity[1]
    raise ContactIdError(
        f"the tip would go on into the table with {speed:.0f} mm/s, {into:.2g} standard errors: "
        + (joints or "joints, their signs or the link table are others")
    )


def _into_the_table(found: OwnImpact) -> float:
    """Standard errors by which v_z+ points down."""
    return float(-found.velocity[1] / found.half_width[1] * NORMAL)


def _turned_joints(robot: Robot, recording: ArmRecording) -> str:
    """The joints whose other sign explains a recording, each with the option that states it; empty
    where none does.
    """
    joints = range(recording.joint_position.shape[1])
    # each joint alone: two wrong signs aren't looked for
    return " or ".join(
        f"joint {k + 1} has the other sign (give --columns q{k + 1}=-q{k + 1})"
        for k in joints
        if _explains(robot, recording, k)
    )


def _explains(robot: Robot, recording: ArmRecording, joint: int) -> bool:
    """Whether with a joint's other sign the tip stays on the table and in its plane."""
    position = recording.joint_position.copy()
    position[:, joint] = -position[:, joint]
    try:
        found = own_impact(robot, replace(recording, joint_position=position))
    except ContactIdError:
        return False
    # the right signs keep the tip in its plane, too
    aside = max(abs(value) for value in found.evaluated.lateral) / found.speed
    return bool(abs(found.velocity[1]) <= found.half_width[1] and aside < _ASIDE)

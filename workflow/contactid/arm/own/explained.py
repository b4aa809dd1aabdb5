"""An impact that the table allows: no tip goes on into it. Where one does, a joint may have the
other sign.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contactid.arm.identify.methods import NORMAL
from contactid.arm.own.impacts import OwnImpact, own_impact
from contactid.arm.readers.impacts import ArmRecording
from contactid.arm.rigid.robot import Robot
from contactid.sources.conventions import REFUTED

_NO_IMPACT = "no impact found"
_ASIDE = 0.1  # of the speed: velocity across the plane of motion that the right signs don't have


def explained_impact(robot: Robot, recording: ArmRecording, file: str = "") -> OwnImpact | str:
    """Evaluate a recording; a text says why it can't be, and which joint's sign would explain it."""
    found = own_impact(robot, recording, file)
    if isinstance(found, str):
        refuted = found if _NO_IMPACT in found else ""
    else:
        into = _into_the_table(found)
        speed = -1e3 * found.velocity[1]
        told = (
            f"the tip would go on into the table with {speed:.0f} mm/s, {into:.2g} standard errors"
        )
        refuted = told if into > np.sqrt(REFUTED) else ""
    if not refuted:
        return found
    turned = [
        k + 1 for k in range(recording.joint_position.shape[1]) if _explains(robot, recording, k)
    ]
    if not turned:
        return (
            refuted
            if isinstance(found, str)
            else f"{refuted}: joints, their signs or the link table are others"
        )
    named = " or ".join(
        f"joint {joint} has the other sign (give --columns q{joint}=-q{joint})" for joint in turned
    )
    return f"{refuted}: {named}"


def _into_the_table(found: OwnImpact) -> float:
    """Standard errors by which v_z+ points down."""
    return float(-found.velocity[1] / found.half_width[1] * NORMAL)


def _explains(robot: Robot, recording: ArmRecording, joint: int) -> bool:
    """Whether with a joint's other sign the tip stays on the table and in its plane."""
    position = recording.joint_position.copy()
    position[:, joint] = -position[:, joint]
    found = own_impact(robot, replace(recording, joint_position=position))
    if isinstance(found, str):
        return False
    aside = max(abs(value) for value in found.evaluated.lateral) / found.speed
    return bool(abs(found.velocity[1]) <= found.half_width[1] and aside < _ASIDE)

"""An impact that the table allows: no tip goes on into it, and none comes to it bent as stated, and
straight by another sign of a joint.

Arms that are told to hit a table come straight down and don't turn the probe. A joint of the wrong
sign bends the tip's path and turns the probe, by more than noise or friction do, whatever the tip
does behind the impact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contactid.arm.identify.methods import NORMAL
from contactid.arm.identify.reconstruction import impact_of
from contactid.arm.own.impacts import SETTINGS, OwnImpact, own_impact
from contactid.arm.readers.impacts import ArmRecording
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError
from contactid.sources.explaining import REFUTED

_APPROACH = 0.15  # s of it, at most, in which the path is looked at
_AT_IMPACT = 5e-3  # s before an impact that don't count, which may be found that much late
# 1/s, how fast a straight approach turns. By the right signs simulated arms that are told to go straight
# have 0.09, and 0.2 with friction; by a wrong one 0.3 to 6. The right sign leaves up to 0.13 of it.
_STRAIGHT, _LEFT = 0.15, 0.15
# standard errors of v_z+ of a tip that stays on the table; REFUTED is of their squares
_FARTHEST = np.sqrt(REFUTED)
_INTO = 0.3  # of the approach speed, into the table: simulated tips that are told right have 0.23
# Of the approach speed: v_z+ by wrong signs, zeros or links. Springs and motors throw a tip up with up
# to 0.65 where its path is straight.
_UP = 0.35


def explained_impact(robot: Robot, recording: ArmRecording, file: str = "") -> OwnImpact:
    """Evaluate a recording whose tip comes straight, and stays on the table or lifts off.

    Raises
    ------
    ContactIdError
        As :func:`.impacts.own_impact`, where the tip would go on into the table, and where its path
        is bent; it names the joint whose other sign makes it straight, where one alone does.
    """
    bend = _bend(robot, recording)
    bent = bend > _STRAIGHT
    if bent:
        # each joint alone: two wrong signs aren't looked for
        joints = range(recording.joint_position.shape[1])
        most = min(_STRAIGHT, _LEFT * bend)
        straight = [k for k in joints if _bend(robot, _turned(recording, k)) <= most]
        # of two that explain it alike neither is the one
        if len(straight) == 1:
            joint = straight[0] + 1
            raise ContactIdError(
                f"the tip doesn't come straight to the table, and does where joint {joint} has the other sign",
                f"Give --columns q{joint}=-q{joint}",
            )
    found = own_impact(robot, recording, file)
    normal = found.velocity[1]
    refuted = _FARTHEST * found.half_width[1] / NORMAL
    # an interval may be too wide to tell, yet no tip goes on into the table that fast
    into = normal < -min(refuted, _INTO * found.speed)
    if into or (bent and normal > _UP * found.speed):
        raise ContactIdError(
            f"the tip would go {'on into' if into else 'up from'} the table with {1e3 * abs(normal):.0f} mm/s",
            "Look at the joints' signs and zeros, and at the link table",
        )
    return found


def _turned(recording: ArmRecording, joint: int) -> ArmRecording:
    """The recording with the other sign of a joint, from 0."""
    position = recording.joint_position.copy()
    position[:, joint] *= -1.0
    return replace(recording, joint_position=position)


def _bend(robot: Robot, recording: ArmRecording) -> float:
    """1/s, how fast the tip's velocity turns before the impact, over its speed and by more than two
    standard errors, together with the probe; infinite where there is no impact.
    """
    try:
        moment = impact_of(robot, recording, SETTINGS)[1].time
    except ContactIdError:
        return np.inf
    approach = (recording.time > moment - _APPROACH) & (recording.time < moment - _AT_IMPACT)
    since = recording.time[approach] - moment
    path = np.array([robot.tip_position(q) for q in recording.joint_position[approach]])
    # a parabola in each direction
    terms = np.polynomial.polynomial.polyvander(since, 2)
    inverse = np.linalg.pinv(terms)
    _, velocity, half_turn = inverse @ path
    # rms over all directions
    noise = np.sqrt(((path - terms @ (inverse @ path)) ** 2).sum() / (len(since) - 3))
    error = noise * np.linalg.norm(inverse[2])
    turn = 2.0 * max(np.linalg.norm(half_turn) - 2.0 * error, 0.0) / np.linalg.norm(velocity)
    first, last = (
        robot.tip_orientation(recording.joint_position[approach][k])[:, 2] for k in (0, -1)
    )
    return float(np.hypot(turn, np.linalg.norm(last - first) / (since[-1] - since[0])))

"""``contactid impact`` on impacts of another simulator: ``python tests/helpers/own_impacts.py``
writes the table.

MuJoCo (``mujoco_arm.py``, in the environment of ``make peers``) simulates the arm; the recordings
are what its encoders report. The truth of v_x+ is eq. 5 of the arm paper with links and motors, at
the true posture and v-. That of v_z+ is what an answer states: under the vibration, the line of the
normal velocity that links and motors have in common, at the impact; of arms with friction eq. 5's
0. Beside each answer stand the paper's method on the same recording and a naive one, v+ = v- along
the table and 0 normal to it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pinocchio as pin

from arm_for_tests import CONFIG, ROOT, lwr4
from contactid.arm.identify.methods import PAPER
from contactid.arm.identify.reconstruction import evaluate_experiment
from contactid.arm.own.explained import explained_impact
from contactid.arm.own.impacts import SETTINGS, OwnImpact
from contactid.arm.readers.impacts import ArmRecording, Setting
from contactid.arm.readers.twins import reported
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import TABLE_HEIGHT, stated_posture
from contactid.arm.rigid.robot import Robot
from contactid.arm.simulate.flexible_arm import FlexibleArm, FlexibleState, approach, posture_at
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.tossing.peers.sessions import peer_python

KINDS = (
    "elastic joints",
    "joint friction",
    "late switch",
    "lift-off",
    "heavy motors",
    "soft base",
    "noisy encoders",
    "viscous friction",
    "both frictions",
)
#: No method, interval or refusal was chosen on these, nor on the last kind.
SEEDS = range(1300, 1312)
TABLE = ROOT / "workflow/resources/own_impacts.csv"
# direction (deg) whose stated posture an arm has, by the direction that its tip falls in
_POSTURE_OF = {30: 53, 60: 70, 90: 90}
_BEFORE, _AFTER = 0.25, 0.3  # s
# s since the impact: until then the blow travels through the springs, until the end fits look
_COMMON = (0.03, SETTINGS["window"])
_SAMPLE = 1e-3  # s
_NOISE, _RESOLUTION = CONFIG["twin"]["noise"], CONFIG["twin"]["resolution"]  # rad
# Dry friction of the joints, N m, in the range of what was identified on an LWR 4+ without torque
# control (Jubien, Gautier and Janot 2014: 4.7 to 11.9). Torque control leaves a part of it: drawn
# from a share of _FRICTION_LEFT.
_FRICTION = np.array([11.0, 11.0, 9.0, 9.0, 5.0, 5.0, 5.0])
_FRICTION_LEFT = (0.02, 0.2)
_SHARES = {
    "joint friction": (1.0, 0.0),
    "viscous friction": (0.0, 1.0),
    "both frictions": (0.2, 0.5),
}  # of the dry and of the viscous one
_AS_DRY = 0.5  # rad/s, of joints that viscous friction brakes as hard as the dry one; they reach it


@dataclass(frozen=True, eq=False)
class Recorded:
    """A recording and its truth: velocities (2,) along the motion and normal to the table, m/s."""

    recording: ArmRecording
    velocity_pre: np.ndarray
    velocity_post: np.ndarray
    impact_time: float


def simulated(kind: str, seed: int, folder: Path) -> Recorded:
    """One recording; ``folder`` takes what MuJoCo reads and writes."""
    random = np.random.default_rng([seed, KINDS.index(kind)])
    robot = lwr4()
    robot.model.gravity.linear[:] = 0.0
    drives = _drives(kind, random)
    speed = float(random.uniform(0.1, 0.2))
    nominal = (30, 60, 90)[seed % 3]
    pressing = 0.0 if kind == "lift-off" else 16.0 * speed
    near = stated_posture(_POSTURE_OF[nominal])
    tip_x = robot.tip_position(near)[0] + 0.004 * random.normal()
    q_impact = posture_at(robot, near, np.array([tip_x, TABLE_HEIGHT]))
    angle = np.deg2rad(nominal)
    velocity = speed * np.array([np.cos(angle), -np.sin(angle)])
    arm = FlexibleArm(robot, drives, TABLE_HEIGHT, pressing)
    part = random.uniform(*_FRICTION_LEFT) if kind in _SHARES else 0.0
    dry, viscous = _SHARES.get(kind, (0.0, 0.0))
    friction = dry * part * _FRICTION
    viscous_friction = viscous * part * _FRICTION / _AS_DRY
    case = {
        "joints": _joints(robot, arm, friction, viscous_friction),
        "tip": robot.model.frames[robot.tip].placement.translation.tolist(),
        "table_height": TABLE_HEIGHT,
        "contact_time": float(random.uniform(2e-4, 1e-3)),  # s, MuJoCo's time constant of a contact
        "delay": float(random.uniform(1e-3, 8e-3)) if kind == "late switch" else 0.0,  # s
        "pressing_force": pressing,  # N
        "base": _base(random) if kind == "soft base" else None,
        "duration": _BEFORE + _AFTER,
        "reference": _reference(arm, q_impact, velocity),
    }
    (folder / "case.json").write_text(json.dumps(case))
    player = Path(__file__).with_name("mujoco_arm.py")
    subprocess.run([peer_python("mujoco"), player, folder], check=True)
    motion = json.loads((folder / "motion.json").read_text())
    side = "links" if seed % 2 else "motors"  # where the encoder sits
    coarser = 10.0 if kind == "noisy encoders" else 1.0
    positions = reported(np.array(motion[side]), coarser * _NOISE, coarser * _RESOLUTION, random)
    time = np.array(motion["time"]) + _BEFORE
    q, rate = np.array(motion["q"]), np.array(motion["q_velocity"])
    jacobian = robot.tip_jacobian(q)
    after = jacobian[[0, 2]] @ impact_map(arm.total_inertia(q), jacobian[2], rate)
    if kind not in _SHARES:
        after[1] = _common_velocity(arm, motion)
    return Recorded(
        ArmRecording(Setting(1, speed, nominal), time, positions),
        jacobian[[0, 2]] @ rate,
        after,
        motion["impact_time"] + _BEFORE,
    )


def _common_velocity(arm: FlexibleArm, motion: dict[str, Any]) -> float:
    """v_z+, m/s: the normal velocity of links and motors that share their momentum, M v_l + B v_m =
    (M + B) v, by a line at the impact.
    """
    since = np.array(motion["time"]) - motion["impact_time"]
    of_links, of_motors = (
        np.gradient(np.array(motion[name]), since, axis=0) for name in ("links", "motors")
    )
    behind = np.flatnonzero((since > _COMMON[0]) & (since < _COMMON[1]))
    normal = []
    for k in behind:
        q = np.array(motion["links"][k])
        momentum = arm.robot.mass_matrix(q) @ of_links[k] + arm.motor_inertia * of_motors[k]
        common = np.linalg.solve(arm.total_inertia(q), momentum)
        normal.append(arm.robot.tip_jacobian(q)[2] @ common)
    return float(np.polynomial.polynomial.polyfit(since[behind], normal, 1)[0])


def _drives(kind: str, random: np.random.Generator) -> dict[str, Any]:
    """Drives (``arm: twin: drives``) near the study's, each joint's motor and spring another."""
    twin = CONFIG["twin"]["drives"]
    heavier = 10.0 if kind == "heavy motors" else 1.0
    spread = np.exp(0.3 * random.normal(size=(2, 7)))
    return {
        "motor_inertia": (heavier * spread[0] * twin["motor_inertia"]).tolist(),
        "stiffness": (heavier * spread[1] * twin["stiffness"]).tolist(),
        "damping_time": float(random.uniform(2e-3, 5e-3)),
    }


def _base(random: np.random.Generator) -> dict[str, Any]:
    """A stand of some tens of kg that shakes at 25 to 50 Hz, faster than the arm, and decays within
    a few periods.
    """
    mass, inertia = 60.0, 10.0  # kg, kg m2
    frequency = 2.0 * np.pi * random.uniform(25.0, 50.0, 3)  # rad/s
    share = random.uniform(0.03, 0.1, 3)  # of critical damping
    moved = np.array([mass, mass, inertia])
    names = ("x", "z", "pitch")
    return {
        "mass": mass,
        "inertia": inertia,
        "stiffness": dict(zip(names, (moved * frequency**2).tolist(), strict=True)),
        "damping": dict(zip(names, (2.0 * share * moved * frequency).tolist(), strict=True)),
    }


def _joints(
    robot: Robot, arm: FlexibleArm, friction: np.ndarray, viscous_friction: np.ndarray
) -> list[dict[str, Any]]:
    """What MuJoCo needs of each joint and of the link behind it."""
    joints = []
    axes = [link.axis for link in robot.links if link.joint_type == "revolute"]
    for k, axis in enumerate(axes):
        place, body = robot.model.jointPlacements[k + 1], robot.model.inertias[k + 1]
        x, y, z, w = pin.Quaternion(place.rotation).coeffs()
        tensor = body.inertia
        joints.append(
            {
                "axis": axis.tolist(),
                "position": place.translation.tolist(),
                "quaternion": [w, x, y, z],
                "mass": body.mass,
                "centre": body.lever.tolist(),
                "inertia": tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist(),
                "motor_inertia": arm.motor_inertia[k],
                "stiffness": arm.stiffness[k],
                "damping": arm.damping_time * arm.stiffness[k],
                "friction": friction[k],
                "viscous_friction": viscous_friction[k],
            }
        )
    return joints


def _reference(arm: FlexibleArm, q_impact: np.ndarray, velocity: np.ndarray) -> dict[str, Any]:
    """What the motors follow until they switch: the tip at constant velocity, on into the table."""
    time = np.arange(-_BEFORE, 0.02, _SAMPLE)
    ahead = _away(arm, q_impact, velocity, time)
    torque = arm.motor_inertia * np.gradient(ahead.theta_velocity, _SAMPLE, axis=0)
    stretch = ahead.theta - ahead.q
    stretch_rate = ahead.theta_velocity - ahead.q_velocity
    torque = torque + arm.stiffness * (stretch + arm.damping_time * stretch_rate)
    return {
        "time": time.tolist(),
        "torque": torque.tolist(),
        **{k: v.tolist() for k, v in vars(ahead).items()},
    }


def _away(
    arm: FlexibleArm, q_impact: np.ndarray, velocity: np.ndarray, time: np.ndarray
) -> FlexibleState:
    """The approach at times (m,), s, some of them behind the impact, as if there were no table."""
    late = time[-1]
    tip = arm.robot.tip_position(q_impact)[[0, 2]] + velocity * late
    return approach(arm, posture_at(arm.robot, q_impact, tip), velocity, time - late)


def row_of(kind: str, seed: int) -> dict[str, Any]:
    """A row of the table; velocities in mm/s."""
    with tempfile.TemporaryDirectory() as folder:
        made = simulated(kind, seed, Path(folder))
    robot = lwr4()
    answer = _answer(robot, made.recording)
    row: dict[str, Any] = {
        "kind": kind,
        "seed": seed,
        "speed_mm_s": 1e3 * float(np.linalg.norm(made.velocity_pre)),
        **_pair("truth", made.velocity_post),
        **_pair("naive", np.array([made.velocity_pre[0], 0.0])),
        "answered": isinstance(answer, OwnImpact),
    }
    if isinstance(answer, OwnImpact):
        held = np.abs(answer.velocity - made.velocity_post) <= answer.half_width
        row |= _pair("found", answer.velocity) | _pair("half_width", answer.half_width)
        row |= {"held_x": bool(held[0]), "held_z": bool(held[1]), "state": answer.state}
        row |= {"warnings": len(answer.warnings)}
        row |= {"time_error_ms": 1e3 * (answer.evaluated.window.impact_time - made.impact_time)}
    else:
        row["note"] = answer.problem
    paper = evaluate_experiment(robot, made.recording, SETTINGS, (PAPER,))
    if PAPER in paper.answers:
        row |= _pair("paper", paper.answers[PAPER].velocity)
    return row


def _answer(robot: Robot, recording: ArmRecording) -> OwnImpact | ContactIdError:
    try:
        return explained_impact(robot, recording)
    except ContactIdError as error:
        return error


def _pair(name: str, velocity: np.ndarray) -> dict[str, float]:
    """Two columns in mm/s of a velocity (2,) in m/s, x and z."""
    return {f"{name}_x_mm_s": 1e3 * float(velocity[0]), f"{name}_z_mm_s": 1e3 * float(velocity[1])}


if __name__ == "__main__":
    kinds = sys.argv[1:] or KINDS  # those not asked for keep their rows
    rows = [row_of(kind, seed) for kind in kinds for seed in SEEDS]
    kept = pd.read_csv(TABLE)
    kept = kept[~kept["kind"].isin(kinds)]
    table = pd.concat([kept, pd.DataFrame(rows)])
    order = table["kind"].map(KINDS.index)
    write_csv(table.iloc[np.argsort(order, kind="stable")], TABLE)

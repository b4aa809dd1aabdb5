"""``contactid impact`` on impacts of another simulator: ``python tests/helpers/own_impacts.py``
writes the tables.

MuJoCo (``mujoco_arm.py``, in the environment of ``make peers``) simulates the arms; the recordings
are what their encoders report. The truth of v_x+ is eq. 5 of the arm paper with links and motors,
at the true posture and v-. That of v_z+ is what an answer states: under the vibration, the line of
the normal velocity that links and motors have in common, at the impact. Beside each answer stand
the paper's method on the same recording and a naive one, v+ = v- along the table and 0 normal to
it.

The study's arm is simulated by kinds. Other arms, each with a mixture of friction, late switches
and heavier motors, have their links from public tables: ``arms/ur5.csv`` from ur_description
(github.com/ros-industrial/universal_robot, ``ur_macro.xacro`` and ``config/ur5``), ``arms/panda.csv``
from franka_description (github.com/frankaemika/franka_ros, ``inertial.yaml``: Gaz, Cognetti,
Oliva, Robuffo Giordano and De Luca 2019), ``arms/xarm7.csv`` from example-robot-data
(github.com/Gepetto/example-robot-data, ``xarm_description/urdf/xarm7.urdf``). Their motors, springs
and friction are the study's.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
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
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.arm.simulate.flexible_arm import FlexibleArm
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
TABLE = ROOT / "workflow/resources/own_impacts.csv"
#: Other arms: a posture near that of the impact (rad), the probe's length (m), the encoder's time
#: step (s) and the study's joints (from 0) that have motors like theirs.
ARMS: dict[str, tuple[tuple[float, ...], float, float, list[int]]] = {
    "ur5": ((0.0, -1.3, 1.6, -1.9, -np.pi / 2, 0.0), 0.15, 2e-3, [0, 1, 2, 4, 5, 6]),
    "panda": ((0.0, -0.6, 0.0, -2.4, 0.0, 1.8, 0.8), 0.2, 1e-3, [0, 1, 2, 3, 4, 5, 6]),
    "xarm7": ((0.0, 0.3, 0.0, 1.4, 0.0, 1.1, 0.0), 0.15, 1e-3, [0, 1, 2, 3, 4, 5, 6]),
}
OTHERS = ROOT / "workflow/resources/own_arms.csv"
#: No method, interval or refusal was chosen on these. What a slope says of braking was chosen on
#: the other arms' seeds 2000 to 2023.
SEEDS = {TABLE: range(1700, 1712), OTHERS: range(1700, 1712)}
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
    """A recording and its truth: velocities (3,) in the base frame, m/s."""

    recording: ArmRecording
    velocity_pre: np.ndarray
    velocity_post: np.ndarray
    impact_time: float


@dataclass(frozen=True, eq=False)
class Impact:
    """What an arm does: its posture at the impact (n,), the tip's velocity before it (3,), m/s,
    friction (n,) of both kinds, N m and N m s/rad, a controller that is late by ``delay``, s, and
    how its encoders report.
    """

    arm: FlexibleArm
    q: np.ndarray
    velocity: np.ndarray
    friction: np.ndarray
    viscous_friction: np.ndarray
    delay: float
    base: dict[str, Any] | None
    side: str
    noise: float
    resolution: float
    step: float = _SAMPLE


def of_the_study(kind: str, seed: int, random: np.random.Generator) -> Impact:
    """The LWR 4+, with one thing that differs from the study's twin."""
    robot = _weightless(_robot(kind))
    drives = _drives(10.0 if kind == "heavy motors" else 1.0, random)
    speed = float(random.uniform(0.1, 0.2))
    degrees = (30, 60, 90)[seed % 3]
    near = stated_posture(_POSTURE_OF[degrees])
    x = robot.tip_position(near)[0] + 0.004 * random.normal()
    angle = np.deg2rad(degrees)
    part = random.uniform(*_FRICTION_LEFT) if kind in _SHARES else 0.0
    dry, viscous = _SHARES.get(kind, (0.0, 0.0))
    coarser = 10.0 if kind == "noisy encoders" else 1.0
    return Impact(
        FlexibleArm(robot, drives, TABLE_HEIGHT, 0.0 if kind == "lift-off" else 16.0 * speed),
        _upright(robot, near, np.array([x, 0.0, TABLE_HEIGHT])),
        speed * np.array([np.cos(angle), 0.0, -np.sin(angle)]),
        dry * part * _FRICTION,
        viscous * part * _FRICTION / _AS_DRY,
        float(random.uniform(1e-3, 8e-3)) if kind == "late switch" else 0.0,
        _base(random) if kind == "soft base" else None,
        "links" if seed % 2 else "motors",
        coarser * _NOISE,
        coarser * _RESOLUTION,
    )


def of_another(name: str, random: np.random.Generator) -> Impact:
    """Another arm, anywhere round its base, with a mixture of what the study's kinds have."""
    near, _probe, step, alike = ARMS[name]
    robot = _weightless(_robot(name))
    q = np.array(near) + 0.05 * random.normal(size=len(near))
    q[0] = random.uniform(-2.5, 2.5)
    q = _upright(robot, q, robot.tip_position(q))
    tip = robot.tip_position(q)
    # outwards, some degrees off the plane through base and tip
    around = np.arctan2(tip[1], tip[0]) + 0.1 * random.normal()
    speed, angle = random.uniform(0.08, 0.25), np.deg2rad(random.uniform(40.0, 90.0))
    outwards = np.cos(angle) * np.array([np.cos(around), np.sin(around), 0.0])
    drives = _drives(random.uniform(1.0, 4.0), random, alike)
    dry, viscous = ((0.0, 0.0), *_SHARES.values())[random.integers(4)]
    # half as much as the study's kinds, each of which has nothing else
    friction = 0.5 * random.uniform(*_FRICTION_LEFT) * _FRICTION[alike]
    return Impact(
        FlexibleArm(robot, drives, tip[2], 16.0 * speed * random.integers(2)),
        q,
        speed * (outwards - [0.0, 0.0, np.sin(angle)]),
        dry * friction,
        viscous * friction / _AS_DRY,
        random.uniform(0.0, 3e-3),
        None,
        ("links", "motors")[random.integers(2)],
        _NOISE,
        random.choice([1e-5, 3e-5]),
        step,
    )


def simulated(kind: str, seed: int, folder: Path) -> Recorded:
    """One recording; ``folder`` takes what MuJoCo reads and writes."""
    random = np.random.default_rng([seed, (*KINDS, *ARMS).index(kind)])
    one = of_another(kind, random) if kind in ARMS else of_the_study(kind, seed, random)
    arm, robot = one.arm, one.arm.robot
    case = {
        "joints": _joints(one),
        "tip": robot.model.frames[robot.tip].placement.translation.tolist(),
        "table_height": arm.table_height,
        "contact_time": float(random.uniform(2e-4, 1e-3)),  # s, MuJoCo's time constant of a contact
        "delay": one.delay,
        "pressing_force": arm.pressing_force,  # N
        "base": one.base,
        "duration": _BEFORE + _AFTER,
        "reference": _reference(arm, one.q, one.velocity),
    }
    (folder / "case.json").write_text(json.dumps(case))
    player = Path(__file__).with_name("mujoco_arm.py")
    subprocess.run([peer_python("mujoco"), player, folder], check=True)
    motion = json.loads((folder / "motion.json").read_text())
    every = slice(None, None, round(one.step / _SAMPLE))
    positions = reported(np.array(motion[one.side])[every], one.noise, one.resolution, random)
    time = np.array(motion["time"])[every] + _BEFORE
    q, rate = np.array(motion["q"]), np.array(motion["q_velocity"])
    jacobian = robot.tip_jacobian(q)
    after = jacobian @ impact_map(arm.total_inertia(q), jacobian[2], rate)
    after[2] = _common_velocity(arm, motion)
    return Recorded(
        ArmRecording(Setting(1, float(np.linalg.norm(one.velocity)), 0.0), time, positions),
        jacobian @ rate,
        after,
        motion["impact_time"] + _BEFORE,
    )


def _weightless(robot: Robot) -> Robot:
    robot.model.gravity.linear[:] = 0.0
    return robot


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


def _drives(
    heavier: float, random: np.random.Generator, joints: Sequence[int] = range(7)
) -> dict[str, Any]:
    """Drives (``arm: twin: drives``) near the study's, each joint's motor and spring another."""
    twin = CONFIG["twin"]["drives"]
    spread = heavier * np.exp(0.3 * random.normal(size=(2, len(joints))))
    return {
        "motor_inertia": (spread[0] * np.array(twin["motor_inertia"])[joints]).tolist(),
        "stiffness": (spread[1] * np.array(twin["stiffness"])[joints]).tolist(),
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


def _joints(one: Impact) -> list[dict[str, Any]]:
    """What MuJoCo needs of each joint and of the link behind it."""
    arm, robot = one.arm, one.arm.robot
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
                "friction": one.friction[k],
                "viscous_friction": one.viscous_friction[k],
            }
        )
    return joints


def _reference(arm: FlexibleArm, q_impact: np.ndarray, velocity: np.ndarray) -> dict[str, Any]:
    """What the motors follow until they switch: the tip at constant velocity, the probe upright, on
    into the table.
    """
    robot, count = arm.robot, round(_BEFORE / _SAMPLE)
    time = _SAMPLE * np.arange(-count, 20)
    q = np.empty((len(time), len(q_impact)))
    q[count] = q_impact
    for ahead, places in ((1.0, range(count + 1, len(time))), (-1.0, range(count - 1, -1, -1))):
        near = q_impact
        for k in places:
            # the middle's rate: the tip is off by some nanometres
            middle = near + 0.5 * ahead * _SAMPLE * _rate(robot, near, velocity)
            near = near + ahead * _SAMPLE * _rate(robot, middle, velocity)
            q[k] = near

    def slope(values: np.ndarray) -> np.ndarray:
        return np.gradient(values, _SAMPLE, axis=0, edge_order=2)

    rate = slope(q)
    data = robot.model.createData()
    load = np.array(
        [pin.rnea(robot.model, data, *row) for row in zip(q, rate, slope(rate), strict=True)]
    )
    # K d + K T d' = load, the series of FlexibleArm
    still = load / arm.stiffness
    theta = q + still - arm.damping_time * slope(still)
    torque = load + arm.motor_inertia * slope(slope(theta))
    motion = {"q": q, "theta": theta, "q_velocity": rate, "theta_velocity": slope(theta)}
    return {
        "time": time.tolist(),
        "torque": torque.tolist(),
        **{name: values.tolist() for name, values in motion.items()},
    }


def _rate(robot: Robot, q: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Joint velocities (n,) that move the tip (3,), m/s, and don't turn it."""
    twist = np.concatenate([velocity, np.zeros(3)])
    return np.linalg.pinv(robot.tip_twist_jacobian(q), rcond=1e-3) @ twist


def _upright(robot: Robot, near: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """The posture nearby whose probe points down, with the tip at a place (3,), m."""
    q = np.array(near)
    for _ in range(100):
        tilt = np.cross(robot.tip_orientation(q)[:, 2], [0.0, 0.0, -1.0])
        missing = np.concatenate([tip - robot.tip_position(q), tilt])
        if np.abs(missing).max() < 1e-10:
            return q
        # short of Newton's step, which may go too far
        q += 0.7 * np.linalg.pinv(robot.tip_twist_jacobian(q), rcond=1e-3) @ missing
    raise RuntimeError("no upright probe nearby")


def row_of(kind: str, seed: int) -> dict[str, Any]:
    """A row of the table; velocities in mm/s, x along the motion that the command finds."""
    with tempfile.TemporaryDirectory() as folder:
        made = simulated(kind, seed, Path(folder))
    robot = _robot(kind)
    paper = evaluate_experiment(robot, made.recording, SETTINGS, (PAPER,))
    angle = paper.heading
    axes = np.array([[np.cos(angle), np.sin(angle), 0.0], [0.0, 0.0, 1.0]])
    before, truth = axes @ made.velocity_pre, axes @ made.velocity_post
    began = process_time()
    answer = _answer(robot, made.recording)
    row: dict[str, Any] = {
        "kind": kind,
        "seed": seed,
        "speed_mm_s": 1e3 * float(np.linalg.norm(made.velocity_pre)),
        **_pair("truth", truth),
        **_pair("naive", np.array([before[0], 0.0])),
        "cpu_s": process_time() - began,
        "answered": isinstance(answer, OwnImpact),
    }
    if isinstance(answer, OwnImpact):
        held = np.abs(answer.velocity - truth) <= answer.half_width
        row |= _pair("found", answer.velocity) | _pair("half_width", answer.half_width)
        row |= {"held_x": bool(held[0]), "held_z": bool(held[1]), "state": answer.state}
        row |= {"warnings": len(answer.warnings)}
        row |= {"time_error_ms": 1e3 * (answer.evaluated.window.impact_time - made.impact_time)}
    else:
        row["note"] = answer.problem
    if PAPER in paper.answers:
        row |= _pair("paper", paper.answers[PAPER].velocity)
    return row


def _robot(kind: str) -> Robot:
    """As a user has it."""
    if kind not in ARMS:
        return lwr4()
    table = Path(__file__).parent / "arms" / f"{kind}.csv"
    return load_robot(table, name=kind, probe_length=ARMS[kind][1])


def _answer(robot: Robot, recording: ArmRecording) -> OwnImpact | ContactIdError:
    try:
        return explained_impact(robot, recording)
    except ContactIdError as error:
        return error


def _pair(name: str, velocity: np.ndarray) -> dict[str, float]:
    """Two columns in mm/s of a velocity (2,) in m/s, x and z."""
    return {f"{name}_x_mm_s": 1e3 * float(velocity[0]), f"{name}_z_mm_s": 1e3 * float(velocity[1])}


if __name__ == "__main__":
    for table, kinds in ((TABLE, KINDS), (OTHERS, ARMS)):
        rows = [row_of(kind, seed) for kind in kinds for seed in SEEDS[table]]
        write_csv(pd.DataFrame(rows), table)

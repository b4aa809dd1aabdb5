"""One recorded impact, from joint positions to the two post-impact velocities that the paper
compares (section V).

Joint positions -> tip positions and velocities -> impact time -> posture, v- -> impact map's
prediction, and the reconstruction from the recorded oscillation
(:mod:`contactid.arm.identify.methods`). x is the horizontal direction that the arm moves in
(:mod:`contactid.arm.rigid.heading`), z the table's normal.

Velocities are differences of neighbouring tip positions, that is, means over one sampling interval,
at its middle. They equal J(q) q' with q' the differences of joint positions and q their mean, up to
third order in one sample's step (some nanometres per second), and their noise is that of
differenced positions exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import linregress

from contactid.arm.identify.braked import braked
from contactid.arm.identify.impact_time import ImpactFit, detect_impact
from contactid.arm.identify.methods import (
    ADMISSIBLE,
    FIRST_SWING,
    METHODS,
    SLOWED,
    Answer,
    Window,
    joints,
)
from contactid.arm.readers.impacts import ArmRecording
from contactid.arm.rigid.heading import heading, turned
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError

AXES = (0, 2)  # x forward, z up: the plane of the motion
COMPONENTS = ("x", "z")
_POSTURE_DEGREE = 2  # of the polynomial for the joints' positions before the impact
# Of the approach speed: a joint that moves the tip slower than this tells nothing by stopping
_MOVES = 0.1
# Of the rate right behind the impact: joints that have stopped. Where friction stops most of them within the
# window, modes state 0.3 of the speed too much (2 of 10 of MuJoCo's arms with dry friction).
_RESTS = 0.1
# rad; a tip this near to x, or to the direction that was looked along, needs no second look
_ASIDE = 0.01
_ON_SAMPLE = 1e-9  # s, by which a sample may precede the impact and still count as behind it


@dataclass(frozen=True)
class TipMotion:
    """A tip's motion in the base frame, or that of joints.

    Attributes
    ----------
    time, position : (n,) s and (n, 2) m, x and z, or (n, joints) rad, at the samples
    mid_time, velocity : (n - 1,) s and their rates between them
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
    """Motion of a robot's tip for joint positions (n, joints), rad, at times (n,), s."""
    if joint_position.shape[1] != robot.model.nq:
        raise ContactIdError(
            f"recordings of {joint_position.shape[1]} joints for a robot of {robot.model.nq}",
            "Name the recorded robot",
        )
    return TipMotion(time, np.array([robot.tip_position(q)[list(AXES)] for q in joint_position]))


@dataclass(frozen=True)
class ExperimentFit:
    """An experiment's evaluation.

    Attributes
    ----------
    heading : the direction called x, rad from x of the base about z
    motion : of the tip, the whole recording
    lateral : v- and v+ of the tip across that direction, by straight lines, m/s
    q, velocity : (n,) joint positions (rad) and velocities (rad/s) just before the impact
    map_velocity, map_links : (2,) v+ of the impact map with the motors' inertia and without it, m/s
    window : what was fitted
    answers : v+ by method
    failures : why a method gave none, by method
    """

    heading: float
    motion: TipMotion
    lateral: tuple[float, float]
    q: np.ndarray
    velocity: np.ndarray
    map_velocity: np.ndarray
    map_links: np.ndarray
    window: Window
    answers: dict[str, Answer]
    failures: Mapping[str, ContactIdError]


def evaluate_experiment(
    robot: Robot,
    recording: ArmRecording,
    block: Mapping[str, Any],
    methods: Sequence[str] = tuple(METHODS),
) -> ExperimentFit:
    """Evaluate a recording by ``arm: fit`` of the configuration.

    Its ``motor_inertia`` (joints,), kg m2, is added to the links' for the impact map; None or
    empty, as in the paper, adds nothing.

    Raises
    ------
    ContactIdError
        Where there is no impact or too little of the recording around it.
    """
    time, joint_position, name = recording.time, recording.joint_position, recording.name
    # first look: towards where the tip is
    place = robot.tip_position(joint_position[len(time) // 2])
    aside = abs(place[1]) >= _ASIDE * abs(place[0])
    angle = float(np.arctan2(place[1], place[0])) if aside else 0.0
    motion, impact = impact_of(turned(robot, angle), recording, block)
    approach = joint_position[_before(time, impact.time, block)]
    # second look: along the motion, if that is another direction
    if len(approach) > 1:
        first, angle = angle, heading(robot, approach)
        if abs(angle - first) > _ASIDE:
            motion, impact = impact_of(turned(robot, angle), recording, block)
    robot = turned(robot, angle)
    near = _before(time, impact.time, block)
    if near.sum() < _POSTURE_DEGREE + 3:
        raise ContactIdError(
            f"{near.sum()} samples before the impact don't give a velocity",
            "Record more before the impact",
        )
    # a parabola: its first two coefficients are posture and rates at the impact
    joints = np.polynomial.polynomial.polyfit(
        time[near] - impact.time, joint_position[near], _POSTURE_DEGREE
    )
    jacobian = robot.tip_jacobian(joints[0])[list(AXES)]
    window = fit_window(motion, impact.time, impact.time_se, jacobian, block, name)
    end = impact.time + block["window"]
    around = (time >= impact.time - block["before"]) & (time <= end)
    # the smallest change of the joints' velocities that gives the tip its better known one
    velocity = joints[1] + np.linalg.pinv(jacobian) @ (window.pre_velocity - jacobian @ joints[1])
    answers: dict[str, Answer] = {}
    failures: dict[str, ContactIdError] = {}
    for method in methods:
        try:
            if method == ADMISSIBLE:
                since = time[around] - impact.time
                answers[method] = _admissible(robot, window, since, joint_position[around])
            else:
                answers[method] = METHODS[method](window)
        except ContactIdError as error:
            failures[method] = error
        except np.linalg.LinAlgError as error:
            failures[method] = ContactIdError(f"the fit isn't defined ({error})")
    return ExperimentFit(
        heading=angle, motion=motion, lateral=_lateral(robot, recording, impact.time, block),
        q=joints[0], velocity=velocity,
        map_velocity=map_velocity(robot, joints[0], velocity, block["motor_inertia"] or ()),
        map_links=map_velocity(robot, joints[0], velocity), window=window, answers=answers, failures=failures,
    )  # fmt: skip


def _admissible(robot: Robot, window: Window, since: np.ndarray, position: np.ndarray) -> Answer:
    """v+ by models that explain the vibration: modes, or mechanisms with friction, from positions
    (n, joints), rad, at times (n,), s since the impact.
    """
    modes = METHODS[ADMISSIBLE]
    # a mechanism's tip stays down
    if window.flies:
        return modes(window)
    behind = since >= 0.0
    along = robot.tip_jacobian(position[behind][0])[0]
    # no sum of modes holds where friction stops a joint; what turns back may swing, too
    rates = joint_rates(since[behind], position[behind], along, window.speed)
    # stopped or turned back, against the rate right behind the impact
    if (rates <= 0.0).any():
        try:
            return braked(robot, since, position)
        except (ContactIdError, np.linalg.LinAlgError):
            # what has ended within the window is no line
            if np.median(np.abs(rates[-1])) < _RESTS:
                problem = "v+ isn't found: friction stops the tip, and no mechanism explains how"
                raise ContactIdError(problem, SLOWED) from None
            return modes(window)
    try:
        return modes(window)
    except ContactIdError:
        # friction that stops no joint bends the rigid response
        try:
            return braked(robot, since, position)
        except (ContactIdError, np.linalg.LinAlgError):
            pass
        # what the modes lack says more than a mechanism's misfit
        raise


def joint_velocities(
    robot: Robot, recording: ArmRecording, found: ExperimentFit, block: Mapping[str, Any]
) -> Answer:
    """q'+ (n,) of an evaluated recording, rad/s, by all joints' velocities at once.

    Raises
    ------
    ContactIdError
        Where no models agree on it.
    """
    motion = TipMotion(recording.time, recording.joint_position)
    every_joint = np.eye(len(found.q))
    impact = found.window
    window = fit_window(
        motion, impact.impact_time, impact.impact_time_se, every_joint, block, recording.name
    )
    # v- of the joints that agree with the tip's
    window = replace(window, pre_velocity=found.velocity)
    return joints(window, robot.tip_jacobian(found.q)[2])


def impact_of(
    robot: Robot, recording: ArmRecording, block: Mapping[str, Any]
) -> tuple[TipMotion, ImpactFit]:
    """The tip's motion in the robot's plane x-z, and when it hits the table."""
    time, joint_position = recording.time, recording.joint_position
    motion = tip_motion(robot, time, joint_position)
    # covariance of the tip's noise, for joints of equal noise
    middle = robot.tip_jacobian(joint_position[len(time) // 2])[list(AXES)]
    impact = detect_impact(
        time,
        motion.position,
        block["impact"],
        noise_covariance=middle @ middle.T,
        name=recording.name,
    )
    return motion, impact


def _lateral(
    robot: Robot, recording: ArmRecording, moment: float, block: Mapping[str, Any]
) -> tuple[float, float]:
    """Velocities of the tip across the plane x-z, before and after an impact, m/s."""
    since = recording.time - moment
    across = []
    for begin, end in ((-block["before"], 0.0), (0.0, block["window"])):
        part = (since >= begin) & (since <= end)
        y = [robot.tip_position(q)[1] for q in recording.joint_position[part]]
        line = np.polynomial.polynomial.polyfit(since[part], y, 1) if len(y) > 1 else None
        across.append(np.nan if line is None else float(line[1]))
    return across[0], across[1]


def _before(time: np.ndarray, moment: float, block: Mapping[str, Any]) -> np.ndarray:
    """(n,) which samples give the posture and v-."""
    return (time >= moment - block["before"]) & (time <= moment)


def pre_impact_velocity(since: np.ndarray, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocity (d,) of a steady motion through positions (n, d) at times (n,), and its standard
    error, m/s.
    """
    lines = [linregress(since, column) for column in position.T]
    return np.array([one.slope for one in lines]), np.array([one.stderr for one in lines])


def fit_window(
    motion: TipMotion,
    moment: float,
    moment_se: float,
    jacobian: np.ndarray,
    block: Mapping[str, Any],
    name: str,
) -> Window:
    """Sampling intervals behind an impact at the time ``moment`` (s); ``jacobian`` (d, joints) of
    the motion there.
    """
    # a sample on the edge counts, whatever rounding did to its time
    begin, end = moment - _ON_SAMPLE, moment + block["window"] + _ON_SAMPLE
    if motion.time[-1] < end - 2.0 * _ON_SAMPLE:
        raise ContactIdError(
            f"{name}: the recording ends {motion.time[-1] - moment:.3g} s after the impact",
            f"Record {block['window']:g} s after it",
        )
    # whole intervals behind the impact
    inside = (motion.time[:-1] >= begin) & (motion.time[1:] <= end)
    near = _before(motion.time, moment, block)
    pre, pre_se = pre_impact_velocity(motion.time[near] - moment, motion.position[near])
    return Window(
        time=motion.mid_time[inside] - moment,
        velocity=motion.velocity[inside],
        pre_velocity=pre,
        pre_velocity_se=pre_se,
        impact_time=moment,
        impact_time_se=moment_se,
        noise_covariance=jacobian @ jacobian.T,
    )


def joint_rates(
    since: np.ndarray, joint_position: np.ndarray, along: np.ndarray, speed: float
) -> np.ndarray:
    """(m, k) rates of the joints that move the tip, over those right behind an impact.

    From positions (n, joints), rad, at times (n,), s since the impact. A joint moves the tip if its
    mean rate behind the impact times ``along`` (joints,), m, its column of the tip's Jacobian, is a
    tenth of the approach's ``speed``, m/s, or more. The mean is taken over what a vibration swings.
    """
    # samples over which a vibration averages out
    swing = round(FIRST_SWING * (len(since) - 1) / float(since[-1] - since[0]))
    rate = (joint_position[swing:] - joint_position[:-swing]) / FIRST_SWING
    moves = np.abs(along * rate[0]) >= _MOVES * speed
    shares: np.ndarray = rate[:, moves] / rate[0, moves]
    return shares


def map_velocity(
    robot: Robot, q: np.ndarray, velocity: np.ndarray, motor_inertia: Sequence[float] = ()
) -> np.ndarray:
    """(2,) the impact map's v+ of the tip, x and z, m/s (eq. 5)."""
    mass = robot.mass_matrix(q)
    # motors as one with the links
    if len(motor_inertia):
        mass = mass + np.diag(motor_inertia)
    jacobian = robot.tip_jacobian(q)
    return (jacobian @ impact_map(mass, jacobian[2], velocity))[list(AXES)]

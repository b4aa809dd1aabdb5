"""One recorded impact, from joint positions to the two post-impact velocities that the paper compares (section V).

Joint positions -> tip positions and velocities -> impact time -> posture, v- -> impact map's prediction, and the
reconstruction from the recorded oscillation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from contactid.arm.fit_methods import Method, Window, apply
from contactid.arm.impact_map import impact_map
from contactid.arm.impact_time import ImpactOptions, detect_impact
from contactid.arm.modal_fit import ModalFit
from contactid.arm.robots import Robot
from contactid.arm.tip_velocity import AXES, TipMotion, tip_motion
from contactid.core.errors import ContactIdError

_ON_SAMPLE = 1e-9  # s, by which a sample may precede the impact and still count as behind it


@dataclass(frozen=True)
class PipelineOptions:
    """How an experiment is evaluated.

    Attributes
    ----------
    window : length of the fitted signal after the impact, s (the paper: 0.15)
    before : length of the signal that gives v-, s
    pre_degree : of the polynomial for the tip's positions there; 1 is constant velocity
    posture_degree : of the polynomial for the joints' positions there
    impact : how the impact is found
    """

    window: float = 0.15
    before: float = 0.06
    pre_degree: int = 1
    posture_degree: int = 2
    impact: ImpactOptions = field(default_factory=ImpactOptions)


@dataclass(frozen=True)
class ImpactState:
    """What is known at the impact.

    Attributes
    ----------
    time, time_se : s
    q, velocity : (n,) joint positions (rad) and velocities (rad/s) just before
    pre_velocity, pre_velocity_se : (2,) of the tip, x and z, m/s
    """

    time: float
    time_se: float
    q: np.ndarray
    velocity: np.ndarray
    pre_velocity: np.ndarray
    pre_velocity_se: np.ndarray


@dataclass(frozen=True)
class ExperimentFit:
    """An experiment's evaluation.

    Attributes
    ----------
    name : of the experiment
    motion : of the tip, the whole recording
    state : at the impact
    map_velocity : (2,) v+ of the impact map, m/s
    window : what was fitted
    fits : of x and z, by method
    failures : why a method gave none, by method
    """

    name: str
    motion: TipMotion
    state: ImpactState
    map_velocity: np.ndarray
    window: Window
    fits: dict[str, tuple[ModalFit, ModalFit]]
    failures: dict[str, str]


def evaluate_experiment(
    robot: Robot,
    name: str,
    time: np.ndarray,
    joint_position: np.ndarray,
    methods: Sequence[Method],
    options: PipelineOptions | None = None,
    *,
    motor_inertia: np.ndarray | None = None,
) -> ExperimentFit:
    """Evaluate joint positions (n, joints), rad, at times (n,), s.

    ``motor_inertia`` (joints,), kg m2, is added to the links' for the impact map; the paper's model has none.

    Raises
    ------
    ContactIdError
        Where there is no impact or too little of the recording around it.
    """
    options = options or PipelineOptions()
    motion = tip_motion(robot, time, joint_position)
    middle = robot.tip_jacobian(joint_position[len(time) // 2])[list(AXES)]
    impact = detect_impact(time, motion.position, options=options.impact, noise_covariance=middle @ middle.T, name=name)
    state = impact_state(robot, motion, joint_position, impact.time, impact.time_se, options)
    window = fit_window(
        motion, state.time, state.time_se, state.pre_velocity, state.pre_velocity_se,
        robot.tip_jacobian(state.q)[list(AXES)], options, name,
    )  # fmt: skip
    fits, failures = {}, {}
    for method in methods:
        try:
            fits[method.name] = apply(method, window)
        except (ContactIdError, np.linalg.LinAlgError) as error:
            failures[method.name] = str(error)
    predicted = map_velocity(robot, state, motor_inertia)
    return ExperimentFit(name, motion, state, predicted, window, fits, failures)


def impact_state(
    robot: Robot,
    motion: TipMotion,
    joint_position: np.ndarray,
    moment: float,
    moment_se: float,
    options: PipelineOptions,
) -> ImpactState:
    """Posture and velocities just before an impact at the time ``moment``, s."""
    near = (motion.time >= moment - options.before) & (motion.time <= moment)
    if near.sum() < options.posture_degree + 3:
        raise ContactIdError(
            f"{near.sum()} samples before the impact don't give a velocity", "Record more before the impact"
        )
    since = motion.time[near] - moment
    joints = np.polynomial.polynomial.polyfit(since, joint_position[near], options.posture_degree)
    pre, pre_se = pre_impact_velocity(since, motion.position[near], options.pre_degree)
    jacobian = robot.tip_jacobian(joints[0])[list(AXES)]
    # the smallest change of the joints' velocities that gives the tip its better known one
    velocity = joints[1] + np.linalg.pinv(jacobian) @ (pre - jacobian @ joints[1])
    return ImpactState(moment, moment_se, joints[0], velocity, pre, pre_se)


def pre_impact_velocity(since: np.ndarray, position: np.ndarray, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Velocity (d,) at time 0 from positions (n, d) at times (n,) before it, and its standard error, m/s."""
    design = np.vander(since, degree + 1, increasing=True)
    inverse = np.linalg.pinv(design)
    coefficients = inverse @ position
    rest = position - design @ coefficients
    variance = (rest**2).sum(axis=0) / max(len(since) - degree - 1, 1)
    return coefficients[1], np.sqrt(variance * (inverse[1] ** 2).sum())


def fit_window(
    motion: TipMotion,
    moment: float,
    moment_se: float,
    pre_velocity: np.ndarray,
    pre_velocity_se: np.ndarray,
    jacobian: np.ndarray,
    options: PipelineOptions,
    name: str = "recording",
) -> Window:
    """Sampling intervals behind an impact at the time ``moment`` (s); ``jacobian`` (2, joints) of the tip there."""
    begin, end = moment - _ON_SAMPLE, moment + options.window + _ON_SAMPLE
    if motion.time[-1] < end - 2.0 * _ON_SAMPLE:
        raise ContactIdError(
            f"{name}: the recording ends {motion.time[-1] - moment:.3g} s after the impact",
            f"Record {options.window:g} s",
        )
    inside = (motion.time[:-1] >= begin) & (motion.time[1:] <= end)
    return Window(
        time=motion.mid_time[inside] - moment,
        velocity=motion.velocity[inside],
        pre_velocity=pre_velocity,
        pre_velocity_se=pre_velocity_se,
        impact_time_se=moment_se,
        noise_covariance=jacobian @ jacobian.T,
    )


def map_velocity(robot: Robot, state: ImpactState, motor_inertia: np.ndarray | None = None) -> np.ndarray:
    """(2,) the impact map's v+ of the tip, x and z, m/s (eq. 5)."""
    mass = robot.mass_matrix(state.q)
    if motor_inertia is not None and len(motor_inertia):
        mass = mass + np.diag(motor_inertia)
    jacobian = robot.tip_jacobian(state.q)
    return (jacobian @ impact_map(mass, jacobian[2], state.velocity))[list(AXES)]

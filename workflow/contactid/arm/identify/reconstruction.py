"""One recorded impact, from joint positions to the two post-impact velocities that the paper compares (section V).

Joint positions -> tip positions and velocities -> impact time -> posture, v- -> impact map's prediction, and the
reconstruction from the recorded oscillation, by the paper's method or by others.

Velocities are differences of neighbouring tip positions, that is, means over one sampling interval, at its middle. They
equal J(q) q' with q' the differences of joint positions and q their mean, up to third order in one sample's step (some
nanometres per second), and their noise is that of differenced positions exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from contactid.arm.identify.impact_time import ImpactOptions, detect_impact
from contactid.arm.identify.modal_fit import TIED, ModalFit, ModalOptions, fit_modes, fit_modes_jointly
from contactid.arm.models.modal_signal import DIFFERENCED
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError

AXES = (0, 2)  # x forward, z up: the plane of the motion
COMPONENTS = ("x", "z")


@dataclass(frozen=True)
class TipMotion:
    """A tip's motion in the base frame.

    Attributes
    ----------
    time, position : (n,) s and (n, 2) m, x and z, at the samples
    mid_time, velocity : (n - 1,) s and (n - 1, 2) m/s, between them
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
    """Motion of a robot's tip for joint positions (n, joints), rad, at times (n,), s.

    Raises
    ------
    ContactIdError
        Where shapes don't match the robot, or a sample isn't finite.
    """
    if joint_position.shape != (len(time), robot.model.nq):
        raise ContactIdError(
            f"joint positions {joint_position.shape} for {len(time)} times and {robot.model.nq} joints",
            "Give one row per time and one column per joint",
        )
    if not np.isfinite(joint_position).all():
        raise ContactIdError("joint positions have values that aren't finite", "Cut the recording to its samples")
    return TipMotion(
        np.asarray(time, dtype=float), np.array([robot.tip_position(q)[list(AXES)] for q in joint_position])
    )


def linearised_motion(motion: TipMotion, jacobians: np.ndarray, change: np.ndarray) -> TipMotion:
    """The motion after a small change (n, joints) of the joint positions, with Jacobians (n, 2, joints) of x and z.

    For noise of 1e-5 rad it is exact to 1e-10 m, and far cheaper than the robot's kinematics.
    """
    return TipMotion(motion.time, motion.position + np.einsum("nij,nj->ni", jacobians, change))


@dataclass(frozen=True)
class Method:
    """A way to fit x and z.

    Attributes
    ----------
    name : used in tables
    modes : number of modes
    offset : ``pre_velocity`` (eq. 7) or ``free``
    joint : fit z and x at once with shared poles; else z first, and x with z's poles, as the paper does
    curved : add a term b t^2 to the rigid response
    noise : ``white`` velocities, as in the paper, or ``differenced`` positions
    """

    name: str
    modes: int = 1
    offset: str = TIED
    joint: bool = False
    curved: bool = False
    noise: str = DIFFERENCED


@dataclass(frozen=True)
class Window:
    """A tip's velocity behind an impact and what is known of it.

    Attributes
    ----------
    time : (n,) s since the impact, middles of sampling intervals
    velocity : (n, 2) m/s, x and z
    pre_velocity, pre_velocity_se : (2,) m/s
    impact_time_se : s
    noise_covariance : (2, 2) of the tip's position at one instant, up to a factor
    """

    time: np.ndarray
    velocity: np.ndarray
    pre_velocity: np.ndarray
    pre_velocity_se: np.ndarray
    impact_time_se: float
    noise_covariance: np.ndarray


def methods_of(block: Sequence[Mapping[str, Any]]) -> tuple[Method, ...]:
    """Methods as the configuration lists them; names must differ."""
    methods = tuple(Method(**entry) for entry in block)
    names = [method.name for method in methods]
    if len(set(names)) < len(names) or not names:
        raise ContactIdError("the arm's fit needs methods with different names", "Correct arm: fit: methods")
    return methods


def options_of(method: Method, window: Window) -> ModalOptions:
    """Options of the modal fit; a difference is a mean over one interval."""
    step = float(window.time[-1] - window.time[0]) / (len(window.time) - 1)
    return ModalOptions(noise=method.noise, averaging=step, curved=method.curved)


def apply(method: Method, window: Window) -> tuple[ModalFit, ModalFit]:
    """Fits of x and of z."""
    options = options_of(method, window)
    if method.joint:
        x, z = fit_modes_jointly(
            window.time, window.velocity, window.pre_velocity, modes=method.modes, offset=method.offset,
            options=options, noise_covariance=window.noise_covariance, impact_time_se=window.impact_time_se,
            pre_velocity_se=list(window.pre_velocity_se),
        )  # fmt: skip
        return x, z
    z = fit_modes(
        window.time, window.velocity[:, 1], float(window.pre_velocity[1]), modes=method.modes, offset=method.offset,
        options=options, pre_velocity_se=float(window.pre_velocity_se[1]), impact_time_se=window.impact_time_se,
    )  # fmt: skip
    x = fit_modes(
        window.time, window.velocity[:, 0], float(window.pre_velocity[0]), offset=method.offset, options=options,
        poles=z.poles, pole_covariance=z.pole_covariance, pre_velocity_se=float(window.pre_velocity_se[0]),
        impact_time_se=window.impact_time_se,
    )  # fmt: skip
    return x, z


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

    window: float
    before: float
    pre_degree: int
    impact: ImpactOptions
    posture_degree: int = 2


def pipeline_options(block: Mapping[str, Any]) -> PipelineOptions:
    """Of the block ``arm: fit``."""
    return PipelineOptions(
        window=block["window"],
        before=block["before"],
        pre_degree=block["pre_degree"],
        impact=ImpactOptions(**block["impact"]),
    )


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
    options: PipelineOptions,
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
    motion = tip_motion(robot, time, joint_position)
    middle = robot.tip_jacobian(joint_position[len(time) // 2])[list(AXES)]
    impact = detect_impact(time, motion.position, options.impact, noise_covariance=middle @ middle.T, name=name)
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

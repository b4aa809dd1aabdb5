"""How well the post-impact velocity is reconstructed: the twin's clean recordings with many samples of sensor noise.

A sample adds white noise to the clean joint positions and rounds them to the encoder's resolution. The tip's motion is
linearised in this change (exact to 1e-10 m), everything after it is the pipeline's own code. Errors count from three
references:

* ``map``: eq. 5 with links and motors as one, what the impact map predicts;
* ``bent``: the same and the rate at which the pressing force bends the joints (:func:`bending_velocity`);
* ``noise_free``: the same method on the clean recording with the true impact time, so what is left is the noise's.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.arm.identify.impact_time import detect_impact
from contactid.arm.identify.modal_fit import ModalFit
from contactid.arm.identify.reconstruction import (
    AXES,
    COMPONENTS,
    Method,
    TipMotion,
    Window,
    apply,
    fit_window,
    methods_of,
    tip_motion,
)
from contactid.arm.readers.twins import reported
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset

TRUE, DETECTED = "true", "detected"
CLEAN = 0  # number of the sample without noise
_STEP = 1e-3  # s, of the central difference along q+


@dataclass(frozen=True)
class SensorNoise:
    """Standard deviation of white noise, and the encoder's steps, rad; ``seed`` of all samples."""

    noise: float
    resolution: float
    seed: int

    def change(self, clean: np.ndarray, experiment: str, sample: int) -> np.ndarray:
        """What a sample (1, 2, ...) adds to clean joint positions, rad; nothing for sample 0."""
        if sample == CLEAN:
            return np.zeros_like(clean)
        key = (zlib.crc32(experiment.encode()), sample)
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))
        return reported(clean, self.noise, self.resolution, random) - clean


@dataclass(frozen=True)
class KnownImpact:
    """A twin's clean recording and what is true of it, as of ``truth.nc``.

    ``joint_position`` (n, joints), ``motion`` and ``jacobians`` (n, 2, joints) at its samples, ``references`` (2,) m/s,
    ``noise`` of its sensors.
    """

    name: str
    joint_position: np.ndarray
    motion: TipMotion
    jacobians: np.ndarray
    at_impact: np.ndarray
    impact_time: float
    references: Mapping[str, np.ndarray]
    noise: SensorNoise

    def noisy(self, sample: int) -> TipMotion:
        """The tip's motion as recorded in a noise sample, by the Jacobians: far cheaper than the robot's kinematics."""
        change = self.noise.change(self.joint_position, self.name, sample)
        return TipMotion(self.motion.time, self.motion.position + np.einsum("nij,nj->ni", self.jacobians, change))


def known_impact(robot: Robot, truth: xr.Dataset, name: str) -> KnownImpact:
    """One experiment of ``truth.nc``.

    Raises
    ------
    ContactIdError
        Where the twin has no such experiment.
    """
    names = [str(value) for value in truth["experiment"].values]
    if name not in names:
        raise ContactIdError(f"the arm's twin has no experiment {name!r}", f"Choose from {', '.join(names)}")
    one, given = truth.isel(experiment=names.index(name)), truth.attrs
    q = one["joint_position_clean"].values
    q = q[np.isfinite(q).all(axis=1)]
    time = float(given["sample_interval"]) * np.arange(len(q))
    posture, before = one["q_impact"].values, one["joint_velocity_pre"].values
    predicted = one["tip_velocity_post_map"].values
    force = float(given["pressing"]) * float(np.linalg.norm(one["tip_velocity_pre"].values))
    bending = bending_velocity(robot, posture, before, truth["motor_inertia"].values, truth["stiffness"].values, force)
    return KnownImpact(
        name=name,
        joint_position=q,
        motion=tip_motion(robot, time, q),
        jacobians=np.array([robot.tip_jacobian(row)[list(AXES)] for row in q]),
        at_impact=robot.tip_jacobian(posture)[list(AXES)],
        impact_time=float(one["impact_time"]),
        references={"map": predicted, "bent": predicted + bending},
        noise=SensorNoise(float(given["noise"]), float(given["resolution"]), int(given["seed"])),
    )


def bending_velocity(
    robot: Robot,
    q: np.ndarray,
    velocity_pre: np.ndarray,
    motor_inertia: np.ndarray,
    stiffness: np.ndarray,
    force: float,
) -> np.ndarray:
    """(2,) what bending adds to the reported tip velocity: x and z parts of ``-d/dt (F J K^-1 J_z^T)``, m/s.

    The arm reports positions on the motors' side with the deflection under gravity taken out. A force F that presses
    the tip onto the table deflects the joints by ``K^-1 J_z^T F``, which the reported position contains: the reported
    tip is off by ``-F J K^-1 J_z^T``. While the tip slides, the posture changes and with it this offset, so the
    reported velocity of an arm that moves as one with its motors is not eq. 5's but

    ``v+ = J q+ - d/dt (F J K^-1 J_z^T)`` along q+.

    The second part is quadratic in speed for a force in proportion to speed, and below 1 mm/s; it belongs to the
    sensor's place, and no fit can tell it from the rigid response.

    ``q, velocity_pre`` (n,), rad and rad/s, are those of the links just before the impact; ``motor_inertia, stiffness``
    (n,) in kg m2 and N m/rad; ``force`` F in N.
    """
    after = impact_map(robot.mass_matrix(q) + np.diag(motor_inertia), robot.tip_jacobian(q)[2], velocity_pre)

    def offset(time: float) -> np.ndarray:
        jacobian = robot.tip_jacobian(q + time * after)
        return -force * (jacobian[list(AXES)] / stiffness) @ jacobian[2]

    return (offset(_STEP) - offset(-_STEP)) / (2.0 * _STEP)


def fit_samples(
    truth: str, links: str, experiment: str, block: Mapping[str, Any], robot: Mapping[str, Any], table: str
) -> None:
    """Write :func:`sample_rows` of a twin's experiment; ``block`` and ``robot`` are ``arm: fit`` and ``arm: robot``."""
    twin = known_impact(load_robot(links, **robot), read_dataset(truth), experiment)
    samples = range(1, block["accuracy"]["samples"] + 1)
    write_csv(sample_rows(twin, methods_of(block["methods"]), samples, block), table)


def sample_window(twin: KnownImpact, sample: int, timing: str, block: Mapping[str, Any]) -> Window:
    """What is fitted in a noise sample."""
    motion = twin.noisy(sample)
    moment, moment_se = twin.impact_time, 0.0
    if timing == DETECTED:
        covariance = twin.at_impact @ twin.at_impact.T
        impact = detect_impact(
            motion.time, motion.position, block["impact"], name=twin.name, noise_covariance=covariance
        )
        moment, moment_se = impact.time, impact.time_se
    return fit_window(motion, moment, moment_se, twin.at_impact, block, twin.name)


def sample_rows(
    twin: KnownImpact, methods: Sequence[Method], samples: Sequence[int], block: Mapping[str, Any]
) -> pd.DataFrame:
    """One row per sample, timing, method and component; a fit that failed has a reason and no numbers.

    Columns ``experiment, sample, timing, method, component, v_plus, v_plus_se, v_minus, impact_time_error_s, converged,
    at_bound, reason``; velocities in m/s. The noise-free reference is sample 0.
    """
    rows = []
    for sample in (CLEAN, *samples):
        for timing in (TRUE,) if sample == CLEAN else (TRUE, DETECTED):
            head = {"experiment": twin.name, "sample": sample, "timing": timing}
            try:
                window = sample_window(twin, sample, timing, block)
            except ContactIdError as error:
                rows += [head | {"method": one.name, **_nothing(component, str(error))}
                         for one in methods for component in COMPONENTS]  # fmt: skip
                continue
            late = window.impact_time - twin.impact_time
            for method in methods:
                named = head | {"method": method.name, "impact_time_error_s": late}
                rows += [named | row for row in _fitted(method, window)]
    return pd.DataFrame(rows)


def _fitted(method: Method, window: Window) -> list[dict[str, object]]:
    try:
        fits: tuple[ModalFit, ModalFit] = apply(method, window)
    except (ContactIdError, np.linalg.LinAlgError) as error:
        return [_nothing(component, str(error)) for component in COMPONENTS]
    return [
        {
            "component": component,
            "v_plus": fit.post_velocity,
            "v_plus_se": fit.post_velocity_se,
            "v_minus": fit.pre_velocity,
            "converged": fits[1].converged,
            "at_bound": fits[1].at_bound,
            "reason": "",
        }
        for component, fit in zip(COMPONENTS, fits, strict=True)
    ]


def _nothing(component: str, reason: str) -> dict[str, object]:
    empty = dict.fromkeys(("v_plus", "v_plus_se", "v_minus"), np.nan)
    return {"component": component, **empty, "converged": False, "at_bound": False, "reason": reason}

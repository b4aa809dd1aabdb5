"""How well the post-impact velocity is reconstructed: twins' clean recordings with samples of
sensor noise.

Methods were chosen on the study's own twin. So they are scored on others as well, with another
seed, other drives, or links that aren't those of the impact map (``arm: fit: accuracy: twins``). A
sample adds white noise to the clean joint positions and rounds them to the encoder's resolution.
The tip's motion is linearised in this change (exact to 1e-10 m), everything after it is the
pipeline's own code. Errors count from the truth: eq. 5 with the twin's links and motors as one.
Beside them stand what explains them and what a reader would have without a recording, also less the
truth:

* ``bent``: the truth and the rate at which the pressing force bends the joints
  (:func:`bending_velocity`);
* ``clean``: the same method on the clean recording with the true impact time, so what is left is
  the noise's;
* ``described``: eq. 5 with the described links and the twin's motors;
* ``links``: eq. 5 with the described links alone, the paper's map.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.identify.impact_time import detect_impact
from contactid.arm.identify.methods import METHODS, Window
from contactid.arm.identify.reconstruction import (
    AXES,
    COMPONENTS,
    TipMotion,
    fit_window,
    map_velocity,
    tip_motion,
)
from contactid.arm.readers.twins import TwinExperiment, reported, simulate_experiment, twin_falls
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.printed_table import printed_table
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv, write_csv

CHOSEN_ON, HELD_OUT = "study", "held_out"  # the twin that methods were chosen on, and all others
CLEAN = 0  # number of the sample without noise
_STEP = 1e-3  # s, of the central difference along q+
_DECIMALS = 5  # of a number in mm/s or ms


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
        # a key of its own for each experiment and sample: any of them can be made alone
        key = (zlib.crc32(experiment.encode()), sample)
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))
        # noise and rounding as the twin reports them, less the clean positions
        return reported(clean, self.noise, self.resolution, random) - clean


@dataclass(frozen=True)
class KnownImpact:
    """A twin's clean recording and what is true of it.

    ``joint_position`` (n, joints), ``motion`` and ``jacobians`` (n, 2, joints) at its samples,
    ``at_impact`` (2, joints); ``truth`` (2,) m/s, eq. 5 with links and motors; ``references`` (2,)
    m/s, those of the module's list but ``clean``; ``noise`` of its sensors.
    """

    name: str
    joint_position: np.ndarray
    motion: TipMotion
    jacobians: np.ndarray
    at_impact: np.ndarray
    impact_time: float
    truth: np.ndarray
    references: Mapping[str, np.ndarray]
    noise: SensorNoise

    def noisy(self, sample: int) -> TipMotion:
        """The tip's motion as recorded in a noise sample, by the Jacobians: far cheaper than the
        robot's kinematics.
        """
        change = self.noise.change(self.joint_position, self.name, sample)
        return TipMotion(
            self.motion.time, self.motion.position + np.einsum("nij,nj->ni", self.jacobians, change)
        )


def known_impact(
    described: Robot, made_with: Robot, one: TwinExperiment, block: Mapping[str, Any]
) -> KnownImpact:
    """What is known of an experiment of the twin ``block`` (as ``arm: twin``).

    ``made_with`` is the robot that it was simulated with, ``described`` the one that a reader
    knows: the same joints, maybe other links.
    """
    q, before, drives = one.q_impact, one.velocity_pre, block["drives"]
    # N, in proportion to the speed as the twin presses
    force = block["pressing"] * float(np.linalg.norm(one.tip_velocity_pre))
    motors, stiffness = np.array(drives["motor_inertia"]), np.array(drives["stiffness"])
    return KnownImpact(
        name=one.setting.name,
        joint_position=one.clean,
        motion=tip_motion(described, one.time, one.clean),
        # (n, 2, joints), for the noise's way to the tip
        jacobians=np.array([described.tip_jacobian(row)[list(AXES)] for row in one.clean]),
        at_impact=described.tip_jacobian(q)[list(AXES)],
        impact_time=one.impact_time,
        truth=one.tip_velocity_post_map,
        # all without a recording: what the fits must be better than
        references={
            "bent": one.tip_velocity_post_map
            + bending_velocity(made_with, q, before, motors, stiffness, force),
            "described": map_velocity(described, q, before, motors),  # type: ignore[arg-type]
            "links": map_velocity(described, q, before),
        },
        noise=SensorNoise(block["noise"], block["resolution"], block["seed"]),
    )


def bending_velocity(
    robot: Robot,
    q: np.ndarray,
    velocity_pre: np.ndarray,
    motor_inertia: np.ndarray,
    stiffness: np.ndarray,
    force: float,
) -> np.ndarray:
    """(2,) what bending adds to the reported tip velocity: x and z parts of ``-d/dt (F J K^-1
    J_z^T)``, m/s.

    The arm reports positions on the motors' side with the deflection under gravity taken out. A
    force F that presses the tip onto the table deflects the joints by ``K^-1 J_z^T F``, which the
    reported position contains: the reported tip is off by ``-F J K^-1 J_z^T``. While the tip
    slides, the posture changes and with it this offset, so the reported velocity of an arm that
    moves as one with its motors is not eq. 5's but

    ``v+ = J q+ - d/dt (F J K^-1 J_z^T)`` along q+.

    The second part is quadratic in speed for a force in proportion to speed, and below 1 mm/s; it
    belongs to the sensor's place, and no fit can tell it from the rigid response.

    ``q, velocity_pre`` (n,), rad and rad/s, are those of the links just before the impact;
    ``motor_inertia, stiffness`` (n,) in kg m2 and N m/rad; ``force`` F in N.
    """
    after = impact_map(
        robot.mass_matrix(q) + np.diag(motor_inertia), robot.tip_jacobian(q)[2], velocity_pre
    )

    def offset(time: float) -> np.ndarray:
        jacobian = robot.tip_jacobian(q + time * after)
        # K^-1 J_z^T F of the joints, seen at the tip
        return -force * (jacobian[list(AXES)] / stiffness) @ jacobian[2]

    # central difference along q+
    return (offset(_STEP) - offset(-_STEP)) / (2.0 * _STEP)


def fit_samples(
    links: str,
    corrections: str,
    published: str,
    twin: str,
    settings: Mapping[str, Any],
    block: Mapping[str, Any],
    robot: Mapping[str, Any],
    table: str,
) -> None:
    """Simulate experiments of the twin of a name, and write :func:`sample_rows` of each.

    ``settings``, ``block`` and ``robot`` are ``arm: twin``, ``arm: fit`` and ``arm: robot``;
    ``corrections`` is the table of divisors of twins with corrected links, ``published`` what the
    paper prints.

    Raises
    ------
    ContactIdError
        Where the twin has no experiment of a name.
    """
    # what differs from the study's own twin
    changes = dict(block["accuracy"]["twins"][twin])
    corrected = changes.pop("corrected_links", False)
    described, changed = load_robot(links, **robot), {**settings, **changes}
    arm = load_robot(links, **robot, corrections=corrections) if corrected else described
    falls = twin_falls(changed, printed_table(read_csv(published)))
    by_name = {setting.name: (setting, fall) for setting, fall in falls}
    rows, samples = [], range(1, block["accuracy"]["samples"] + 1)
    for name in block["accuracy"]["experiments"]:
        if name not in by_name:
            raise ContactIdError(
                f"the arm's twin has no experiment {name!r}", f"Choose from {', '.join(by_name)}"
            )
        known = known_impact(
            described, arm, simulate_experiment(*by_name[name], changed, arm), changed
        )
        rows.append(sample_rows(known, samples, block))
    write_csv(pd.concat(rows, ignore_index=True).assign(twin=twin), table)


def sample_window(twin: KnownImpact, sample: int, block: Mapping[str, Any]) -> Window:
    """What is fitted in a noise sample, from the impact time that is found in it; the clean one's
    is known.
    """
    motion = twin.noisy(sample)
    moment, moment_se = twin.impact_time, 0.0
    # the clean recording keeps its true impact time, so that what is left is the method's
    if sample != CLEAN:
        # of white joint noise, at the tip
        covariance = twin.at_impact @ twin.at_impact.T
        impact = detect_impact(
            motion.time,
            motion.position,
            block["impact"],
            name=twin.name,
            noise_covariance=covariance,
        )
        moment, moment_se = impact.time, impact.time_se
    return fit_window(motion, moment, moment_se, twin.at_impact, block, twin.name)


def sample_rows(
    twin: KnownImpact, samples: Sequence[int], block: Mapping[str, Any]
) -> pd.DataFrame:
    """One row per sample and method; a fit that failed has a reason and no numbers.

    Columns ``experiment, sample, method, late_ms`` (of the impact time), ``reason``, and by
    component, in mm/s, ``error_x`` (fit less truth), ``se_x``, ``bent_x``, ``clean_x``,
    ``described_x``, ``links_x`` (less the truth), and the same of z.
    """
    at_truth = {
        f"{name}_{c}": 1e3 * float(value[k] - twin.truth[k])
        for name, value in twin.references.items()
        for k, c in enumerate(COMPONENTS)
    }
    rows, clean = [], {}
    # the clean sample first: its errors stand beside all others
    for sample in (CLEAN, *samples):
        try:
            window: Window | str = sample_window(twin, sample, block)
        except ContactIdError as error:
            window = str(error)
        for method in METHODS:
            found = _fitted(twin, method, window)
            if sample == CLEAN:
                clean[method] = {f"clean_{c}": found[f"error_{c}"] for c in COMPONENTS}
                continue
            named = {"experiment": twin.name, "sample": sample, "method": method}
            rows.append(named | found | at_truth | clean[method])
    return pd.DataFrame(rows).round(_DECIMALS)


def _fitted(twin: KnownImpact, method: str, window: Window | str) -> dict[str, Any]:
    """Errors and standard errors in mm/s, or the reason why there are none."""
    found: dict[str, Any] = {"late_ms": np.nan, "reason": window}
    found |= {
        f"{number}_{component}": np.nan for component in COMPONENTS for number in ("error", "se")
    }
    if isinstance(window, str):
        return found
    try:
        answer = METHODS[method](window)
    except (ContactIdError, np.linalg.LinAlgError) as error:
        return found | {"reason": str(error)}
    found |= {"late_ms": 1e3 * (window.impact_time - twin.impact_time), "reason": ""}
    for component, velocity, se, truth in zip(
        COMPONENTS, answer.velocity, answer.se, twin.truth, strict=True
    ):
        found[f"error_{component}"] = 1e3 * float(velocity - truth)
        found[f"se_{component}"] = 1e3 * float(se)
    return found

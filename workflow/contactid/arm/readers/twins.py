"""A synthetic twin of the recorded arm impacts: known truth, in files laid out as the reader
expects the real ones.

An LWR 4+ with elastic joints comes down in a straight line at constant speed, its probe vertical,
and hits the table (:mod:`contactid.arm.simulate.flexible_arm`). Before the impact its controller
tracks perfectly; from the impact on it compensates gravity, as the paper's does, and goes on
pressing, with a small force in proportion to the speed it arrived with. Without the force the
motors' rebound lifts the tip off for good, which the paper's arm, sliding on the table, doesn't do.

*Falls and postures.* Every row of the paper's table II is an experiment: the tip hits the table
with the row's printed v-, and the recording has the row's labels. The posture at the impact is the
one that reproduces the printed predictions near that direction (about 53, 70 or 90 degrees to the
table). The place on the table scatters a little, so no two recordings of a fall are alike.

*Drives.* Motor inertia, stiffness and damping are chosen for what was observed, oscillations near
20 Hz that last about 100 ms. Stiffness is below that of the gears: a stand-in for gear and inner
torque loop together. Joints whose K / B are equal vibrate at nearly equal frequencies, so that one
mode dominates but isn't alone.

*Truth.* ``tip_velocity_post_map`` is eq. 5 with M(q) + B: links and motors that move as one. The
affine part of what the arm reports tends to it as speeds tend to zero; at 0.2 m/s it is off by
about 1 mm/s, since the posture changes as the tip slides (curved velocity) and the pressing force
bends the joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.io

from contactid.arm.readers.impacts import SAMPLE_INTERVAL, ArmRecording, Setting
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import (
    TABLE_HEIGHT,
    nearest_direction,
    stated_posture,
    upright_posture,
)
from contactid.arm.rigid.printed_table import printed_table
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.arm.simulate.flexible_arm import (
    FlexibleArm,
    FlexibleMotion,
    approach,
    simulate_impact,
)
from contactid.core.atomic import replacing, write_text
from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv

_HEADER_LENGTH = 116


@dataclass(frozen=True, eq=False)
class TwinExperiment:
    """One simulated impact.

    Attributes
    ----------
    setting : its labels
    time : (n,) s
    impact_time : s, between two samples
    clean : (n, 7) rad, reported joint positions without noise
    q_impact, velocity_pre : (7,) rad and rad/s, links just before the impact
    tip_velocity_pre, tip_velocity_post_map : (2,) m/s, x and z
    tip_velocity_post_links : (2,) m/s, eq. 5 with M(q) alone: what a model without motors predicts
    motion : links and motors from the impact on, at the recording's samples
    """

    setting: Setting
    time: np.ndarray
    impact_time: float
    clean: np.ndarray
    q_impact: np.ndarray
    velocity_pre: np.ndarray
    tip_velocity_pre: np.ndarray
    tip_velocity_post_map: np.ndarray
    tip_velocity_post_links: np.ndarray
    motion: FlexibleMotion


def twin_falls(
    block: Mapping[str, Any], printed: pd.DataFrame
) -> list[tuple[Setting, tuple[float, float]]]:
    """Labels and v- (x and z, m/s) of a twin's experiments (``arm: twin`` of the configuration).

    They are the rows of the printed table II whose labels the twin has, in the table's order.

    Raises
    ------
    ContactIdError
        Where there is none.
    """
    chosen = printed[
        printed["dataset"].isin(block["sets"])
        & printed["velocity_m_s"].isin(block["velocities"])
        & printed["angle_deg"].isin(block["angles_deg"])
    ]
    if chosen.empty:
        raise ContactIdError(
            "no row of Table II has the labels of arm: twin",
            "Choose sets, velocities and angles_deg that the paper has",
        )
    labels = ["dataset", "velocity_m_s", "angle_deg", "vx_minus", "vz_minus"]
    return [
        (Setting(int(number), velocity, angle), (v_x, v_z))
        for number, velocity, angle, v_x, v_z in chosen[labels].itertuples(index=False)
    ]


def simulate_experiment(
    setting: Setting, fall: tuple[float, float], block: Mapping[str, Any], robot: Robot
) -> TwinExperiment:
    """Simulate an experiment of a twin: the tip hits the table with v- = ``fall``, x and z, m/s."""
    random = _stream(setting, block, 0)
    velocity = np.array(fall)
    speed = float(np.linalg.norm(velocity))
    # one of three postures, by the direction of the fall
    near = stated_posture(int(nearest_direction(*fall)))
    # so that no two recordings of a fall are alike
    x = robot.tip_position(near)[0] + block["tip_scatter"] * random.normal()
    q_impact = upright_posture(robot, x, start=near)
    arm = FlexibleArm(robot, block["drives"], TABLE_HEIGHT, block["pressing"] * speed)
    n_before = round(block["before"] / SAMPLE_INTERVAL)
    time = SAMPLE_INTERVAL * np.arange(n_before + round(block["after"] / SAMPLE_INTERVAL))
    # between two samples, and not next to one
    impact_time = float(time[n_before - 1] + SAMPLE_INTERVAL * random.uniform(0.05, 0.95))
    # before the impact by inverse kinematics, behind it by simulation
    earlier = approach(arm, q_impact, velocity, time[:n_before] - impact_time)
    state = approach(arm, q_impact, velocity, np.zeros(1)).at(0)
    motion = simulate_impact(arm, state, time[n_before:] - impact_time)
    # encoders are at the motors
    theta = np.concatenate([earlier.theta, motion.theta])
    jacobian = robot.tip_jacobian(q_impact)
    # truth: links and motors move as one
    after = impact_map(arm.total_inertia(q_impact), jacobian[2], state.q_velocity)
    links_after = impact_map(robot.mass_matrix(q_impact), jacobian[2], state.q_velocity)
    return TwinExperiment(
        setting=setting, time=time, impact_time=impact_time,
        clean=np.array([arm.reported_position(row) for row in theta]),
        q_impact=q_impact, velocity_pre=state.q_velocity, tip_velocity_pre=jacobian[[0, 2]] @ state.q_velocity,
        tip_velocity_post_map=jacobian[[0, 2]] @ after, tip_velocity_post_links=jacobian[[0, 2]] @ links_after,
        motion=motion,
    )  # fmt: skip


def record(experiment: TwinExperiment, block: Mapping[str, Any]) -> ArmRecording:
    """What the arm's encoders report of an experiment: noisy and rounded."""
    random = _stream(experiment.setting, block, 1)
    return ArmRecording(
        experiment.setting,
        experiment.time,
        reported(experiment.clean, block["noise"], block["resolution"], random),
    )


def reported(
    clean: np.ndarray, noise: float, resolution: float, random: np.random.Generator
) -> np.ndarray:
    """Joint positions of any shape, rad, as encoders report them.

    ``noise`` is the standard deviation of white noise, ``resolution`` the steps that positions are
    rounded to (0 leaves them unrounded), rad.
    """
    # noise before rounding, as an encoder does
    noisy = clean + noise * random.normal(size=clean.shape)
    return resolution * np.round(noisy / resolution) if resolution > 0.0 else noisy


def write_arm_twin(
    links: str,
    published: str,
    block: Mapping[str, Any],
    robot: Mapping[str, Any],
    raw: str,
) -> None:
    """Simulate every experiment; write a .mat file each into a folder, and a README beside them.

    The same settings give the same files, to a last digit on another processor. ``links`` is the
    robot's link table, ``published`` what the paper prints; ``block`` and ``robot`` are ``arm:
    twin`` and ``arm: robot`` of the configuration.
    """
    arm, folder = load_robot(links, **robot), Path(raw)
    falls = twin_falls(block, printed_table(read_csv(published)))
    for fall in falls:
        recording = record(simulate_experiment(*fall, block, arm), block)
        write_mat(
            folder / f"{recording.setting.name}.mat",
            {"time": recording.time, "q": recording.joint_position},
        )
    write_text(folder / "README.md", _README)


def write_mat(path: str | Path, variables: Mapping[str, np.ndarray]) -> None:
    """Write a MATLAB v5 file whose header, unlike scipy's, has no date, so that equal contents are
    equal bytes.
    """
    with replacing(path) as partial:
        scipy.io.savemat(
            partial, dict(variables), do_compression=True, oned_as="column", appendmat=False
        )
        with partial.open("r+b") as file:
            # scipy writes the date into the header
            file.write(b"MATLAB 5.0 MAT-file, synthetic data of contactid".ljust(_HEADER_LENGTH))


def _stream(setting: Setting, block: Mapping[str, Any], number: int) -> np.random.Generator:
    # of the labels and not of a count: an experiment is the same among any others
    key = (setting.set_number, round(1e4 * setting.velocity), round(setting.angle_deg), number)
    return np.random.default_rng(np.random.SeedSequence(block["seed"], spawn_key=key))


_README = """# Synthetic data

These files are not measured: they were simulated by contactid (an LWR 4+ with elastic joints that hits a table).
One file per experiment, `set<1|2>_v<cm/s>_a<degrees>.mat`: `time` (n, 1) in s and `q` (n, 7), joint positions in rad as
the arm reports them, 1 kHz.
"""

"""All recorded impacts by all methods: post-impact velocities, and fitted curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.identify.methods import ADMISSIBLE, METHODS, NORMAL, PAPER, Answer
from contactid.arm.identify.reconstruction import (
    COMPONENTS,
    ExperimentFit,
    evaluate_experiment,
    joint_velocities,
)
from contactid.arm.readers.impacts import ArmRecording, iterate_arm_recordings
from contactid.arm.rigid.heading import turned
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import PLANE_JOINTS
from contactid.arm.rigid.printed_table import relative_error
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_exact
from contactid.sources.left_out import joined
from contactid.sources.motion import read_dataset

_BEFORE = 0.02  # s that figure 6 shows before the impact
_POINTS = 200  # of its curves
Row = dict[str, object]


def fit_recordings(
    data: str,
    links: str,
    block: Mapping[str, Any],
    robot: Mapping[str, Any],
    fits: str,
    curves: str,
    joints: str,
) -> None:
    """Evaluate every experiment of a canonical netCDF; ``block`` and ``robot`` are ``arm: fit`` and
    ``arm: robot``.

    Writes :func:`fit_rows` and :func:`joint_rows` of every experiment, and :func:`curves_of` those
    of figure 6: of the impacts that are nearest to the speed and directions of ``shown``, as
    measured.

    Raises
    ------
    ContactIdError
        Where no recording shows an impact.
    """
    impacts, arm = read_dataset(data), load_robot(links, **robot)
    shown = block["shown"]
    evaluated: dict[str, tuple[Row, ExperimentFit | str]] = {}  # a text says why there is none
    of_joints: list[Row] = []
    for one in iterate_arm_recordings(impacts):
        setting = one.setting
        label: Row = {
            "experiment": one.name, "set": setting.set_number, "nominal_velocity_m_s": setting.velocity,
            "nominal_angle_deg": setting.angle_deg, "remarks": joined(one.remarks),
        }  # fmt: skip
        try:
            fit = evaluate_experiment(arm, one, block)
            evaluated[one.name] = label, fit
            of_joints += joint_rows(arm, one, fit, block)
        except ContactIdError as error:
            evaluated[one.name] = label, str(error)
    rows = [label | row for label, fit in evaluated.values() for row in fit_rows(fit)]
    write_exact(pd.DataFrame(rows), fits)
    fitted = [(name, fit) for name, (_, fit) in evaluated.items() if not isinstance(fit, str)]
    if not fitted:
        raise ContactIdError(
            f"none of {len(evaluated)} recordings shows an impact: {next(iter(evaluated.values()))[1]}",
            "See arm: fit: impact of the configuration for what an impact is",
        )
    write_exact(pd.DataFrame(of_joints), joints)
    kind = "synthetic data" if impacts.attrs["synthetic"] else "recorded data"
    source = f"{kind}: {impacts.attrs['source']}"
    names = nearest_impacts(dict(fitted), shown["velocity"], shown["angles_deg"])
    parts = [
        curves_of(evaluated[name][0], dict(fitted)[name], PAPER).assign(source=source)
        for name in names
    ]
    write_exact(pd.concat(parts, ignore_index=True), curves)


def nearest_impacts(
    fits: Mapping[str, ExperimentFit], speed: float, angles_deg: Sequence[float]
) -> list[str]:
    """For each direction (degrees against the table) the impact that is nearest in speed and
    direction, none twice.
    """
    chosen: list[str] = []
    for angle in angles_deg[: len(fits)]:
        # down at this angle against the table
        wanted = speed * np.array([np.cos(np.deg2rad(angle)), -np.sin(np.deg2rad(angle))])
        # each impact once
        off = {
            name: np.linalg.norm(fit.window.pre_velocity - wanted)
            for name, fit in fits.items()
            if name not in chosen
        }
        chosen.append(min(off, key=off.__getitem__))
    return chosen


def fit_rows(fit: ExperimentFit | str) -> list[Row]:
    """Rows of ``ext_fit_methods``: an experiment by every method, or the reason why it has none.

    Velocities in m/s, x along the arm's motion, ``direction_deg`` from x of its base; ``lateral_*``
    across it; ``eta_x`` and ``eta_z`` are ``|v+_map - v+_fit|``, ``relative_x`` is ``2 |a - b| / |a
    + b|``; ``v*_plus_map`` is eq. 5 with the motors' inertia that the configuration gives,
    ``v*_plus_map_links`` without it.
    """
    if isinstance(fit, str):
        return [{"method": method, **_nothing(fit)} for method in METHODS]
    known: Row = {
        "impact_time_s": fit.window.impact_time,
        "impact_time_se_s": fit.window.impact_time_se,
        "direction_deg": float(np.rad2deg(fit.heading)),
        "lateral_minus": fit.lateral[0],
        "lateral_plus": fit.lateral[1],
        "vx_minus": fit.window.pre_velocity[0],
        "vz_minus": fit.window.pre_velocity[1],
        "vx_plus_map": fit.map_velocity[0],
        "vz_plus_map": fit.map_velocity[1],
        "vx_plus_map_links": fit.map_links[0],
        "vz_plus_map_links": fit.map_links[1],
    }
    found = {name: _nothing(str(error)) for name, error in fit.failures.items()}
    found |= {name: _numbers(answer, fit.map_velocity) for name, answer in fit.answers.items()}
    return [{"method": method, **known, **found[method]} for method in METHODS]


def _numbers(answer: Answer, predicted: np.ndarray) -> Row:
    (x, z), (along, normal) = answer.fits, answer.velocity
    return {
        "vx_plus_fit": along,
        "vz_plus_fit": normal,
        "vx_plus_fit_se": answer.se[0],
        "vz_plus_fit_se": answer.se[1],
        "eta_x": abs(predicted[0] - along),
        "eta_z": abs(predicted[1] - normal),
        "relative_x": float(relative_error(predicted[0], along)),
        "modes": len(z.poles),
        "frequency_hz": z.frequency_hz,
        "decay_1_s": z.decay,
        "residual_rms": z.residual_rms,
        "residual_rms_x": x.residual_rms,
        "at_bound": z.at_bound,
        "converged": z.converged,
        "reason": "",
    }


def _nothing(reason: str) -> Row:
    return {"vx_plus_fit": np.nan, "vz_plus_fit": np.nan, "converged": False, "reason": reason}


def joint_rows(
    arm: Robot, one: ArmRecording, fit: ExperimentFit, block: Mapping[str, Any]
) -> list[Row]:
    """Eq. 5 in its own space: a row per joint, rad/s.

    ``experiment, joint`` (from 1); ``before``; ``after`` with its 95 % interval ``low, high``;
    ``map``: eq. 5 with the motors' inertia that the configuration gives, ``map_links`` without;
    ``in_plane``: whether the joint moves the tip in its plane; ``off_pct`` of the map's, ``held``:
    whether the interval holds it; ``reason`` where there is no ``after``. And ``tip_off_m_s``: v_x+
    as J q'+ less that of the fit at the tip, in every row.
    """
    mass, jacobian = arm.mass_matrix(fit.q), arm.tip_jacobian(fit.q)
    motors = np.diag(block["motor_inertia"] or np.zeros(len(fit.q)))
    by_map = impact_map(mass + motors, jacobian[2], fit.velocity)
    by_links = impact_map(mass, jacobian[2], fit.velocity)
    after = half = np.full(len(fit.q), np.nan)
    reason, tip_off = "", np.nan
    try:
        answer = joint_velocities(arm, one, fit, block)
        after, half = answer.velocity, NORMAL * answer.se
        if ADMISSIBLE in fit.answers:
            # in the plane that the fit at the tip has
            tip_off = (turned(arm, fit.heading).tip_jacobian(fit.q) @ after)[0]
            tip_off -= fit.answers[ADMISSIBLE].velocity[0]
    except ContactIdError as error:
        reason = error.problem
    return [
        {
            "experiment": one.name, "joint": k + 1, "before": fit.velocity[k], "after": after[k],
            "low": after[k] - half[k], "high": after[k] + half[k], "map": by_map[k], "map_links": by_links[k],
            "in_plane": k in PLANE_JOINTS, "off_pct": 100.0 * abs(after[k] / by_map[k] - 1.0),
            "held": abs(after[k] - by_map[k]) <= half[k], "tip_off_m_s": tip_off, "reason": reason,
        }
        for k in range(len(fit.q))
    ]  # fmt: skip


def curves_of(label: Row, fit: ExperimentFit, method: str) -> pd.DataFrame:
    """Curves of one experiment in figure 6: ``experiment, speed_m_s, angle_deg, component, series,
    t_s, v_m_s``.

    Speed and angle against the table are those before the impact, as measured. Series
    ``recording``, ``fit``, ``affine`` (the rigid response under the fit) and, one point each,
    ``map`` and, where motors are given, ``map_links`` without them; time since the impact.
    """
    shown = fit.motion.mid_time - fit.window.impact_time
    inside = (shown >= -_BEFORE) & (shown <= fit.window.time[-1])
    time = np.linspace(0.0, fit.window.time[-1], _POINTS)
    before = fit.window.pre_velocity
    head = {
        "experiment": label["experiment"], "speed_m_s": float(np.linalg.norm(before)),
        "angle_deg": float(np.rad2deg(np.arctan2(-before[1], before[0]))),
    }  # fmt: skip
    parts = []
    for k, component in enumerate(COMPONENTS):
        curves = {"recording": (shown[inside], fit.motion.velocity[inside, k])}
        if method in fit.answers:
            modal = fit.answers[method].fits[k]
            curves |= {"fit": (time, modal.evaluate(time)), "affine": (time, modal.affine(time))}
        # a point at the impact
        curves["map"] = (np.zeros(1), fit.map_velocity[k : k + 1])
        # without motors both are one point
        if not np.array_equal(fit.map_links, fit.map_velocity):
            curves["map_links"] = (np.zeros(1), fit.map_links[k : k + 1])
        parts += [
            pd.DataFrame({**head, "component": component, "series": name, "t_s": t, "v_m_s": v})
            for name, (t, v) in curves.items()
        ]
    return pd.concat(parts, ignore_index=True)

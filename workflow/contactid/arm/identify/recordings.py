"""All recorded impacts by all methods: post-impact velocities, criteria for the number of modes, and fitted curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.identify.modal_fit import ModalFit
from contactid.arm.identify.reconstruction import (
    COMPONENTS,
    ExperimentFit,
    Method,
    apply,
    evaluate_experiment,
    map_velocity,
    methods_of,
    pipeline_options,
)
from contactid.arm.readers.impacts import ArmRecording, experiment_at, iterate_arm_recordings
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_exact
from contactid.sources.motion import read_dataset

_BEFORE = 0.02  # s that figure 6 shows before the impact
_POINTS = 200  # of its curves


@dataclass(frozen=True)
class Label:
    """An experiment's name, set, and nominal velocity (m/s) and angle (degrees)."""

    experiment: str
    set: int
    nominal_velocity_m_s: float
    nominal_angle_deg: float


def fit_recordings(
    data: str, links: str, block: Mapping[str, Any], robot: Mapping[str, Any], fits: str, modes: str, curves: str
) -> None:
    """Evaluate every experiment.

    Parameters
    ----------
    data, links
        Canonical netCDF, and the robot's link table.
    block, robot
        ``arm: fit`` and ``arm: robot`` of the configuration.
    fits, modes, curves
        Files to write: :func:`fit_row` of every experiment and method, :func:`modes_rows`, and :func:`curves_of` the
        experiments that figure 6 shows.

    Raises
    ------
    ContactIdError
        Where ``table_method`` isn't among the methods, or no experiment has the shown velocity.
    """
    impacts, arm = read_dataset(data), load_robot(links, **robot)
    methods, main, shown = methods_of(block["methods"]), block["table_method"], block["shown"]
    if main not in {method.name for method in methods}:
        raise ContactIdError(f"arm: fit: table_method {main!r} is no method", "Name one of arm: fit: methods")
    evaluated = [_evaluated(arm, one, methods, block) for one in iterate_arm_recordings(impacts)]
    rows = [row for label, fit, reason in evaluated for row in _rows(arm, label, fit, reason, methods)]
    write_exact(_frame(rows), fits)
    criteria = [row for label, fit, _ in evaluated if fit for row in modes_rows(label, fit, block["most_modes"])]
    write_exact(_frame(criteria), modes)
    kind = "synthetic data" if impacts.attrs["synthetic"] else "recorded data"
    source = f"{kind}: {impacts.attrs['source']}; contactid arm"
    by_name = {label.experiment: (label, fit, reason) for label, fit, reason in evaluated}
    names = [experiment_at(impacts, velocity=shown["velocity"], angle_deg=angle) for angle in shown["angles_deg"]]
    write_exact(pd.concat([curves_of(*by_name[name], main, source) for name in names], ignore_index=True), curves)


_Evaluated = tuple[Label, ExperimentFit | None, str]


def _evaluated(arm: Robot, one: ArmRecording, methods: Sequence[Method], block: Mapping[str, Any]) -> _Evaluated:
    setting = one.setting
    label = Label(setting.name, setting.set_number, setting.velocity, setting.angle_deg)
    try:
        fit = evaluate_experiment(
            arm, setting.name, one.time, one.joint_position, methods, pipeline_options(block),
            motor_inertia=np.array(block["motor_inertia"]),
        )  # fmt: skip
    except ContactIdError as error:
        return label, None, str(error)
    return label, fit, ""


def _rows(
    arm: Robot, label: Label, fit: ExperimentFit | None, reason: str, methods: Sequence[Method]
) -> list[dict[str, object]]:
    if fit is None:
        return [{**vars(label), "method": method.name, **_nothing(reason)} for method in methods]
    links = map_velocity(arm, fit.state)
    return [fit_row(label, fit, method.name, links) for method in methods]


def fit_row(label: Label, fit: ExperimentFit, method: str, links_map: np.ndarray) -> dict[str, object]:
    """A row of ``ext_fit``: an experiment by one method.

    Velocities in m/s; ``eta_x`` and ``eta_z`` are ``|v+_map - v+_fit|``, ``relative_x`` is ``2 |a - b| / |a + b|``;
    ``v*_plus_map`` is eq. 5 with the motors' inertia that the configuration gives, ``v*_plus_map_links`` without it.
    """
    row: dict[str, object] = {
        **vars(label),
        "method": method,
        "impact_time_s": fit.state.time,
        "impact_time_se_s": fit.state.time_se,
        "vx_minus": fit.state.pre_velocity[0],
        "vz_minus": fit.state.pre_velocity[1],
        "vx_plus_map": fit.map_velocity[0],
        "vz_plus_map": fit.map_velocity[1],
        "vx_plus_map_links": links_map[0],
        "vz_plus_map_links": links_map[1],
    }
    if method not in fit.fits:
        return {**row, **_nothing(fit.failures.get(method, "not fitted"))}
    x, z = fit.fits[method]
    return {**row, **_numbers(x, z, fit.map_velocity)}


def _numbers(x: ModalFit, z: ModalFit, predicted: np.ndarray) -> dict[str, object]:
    return {
        "vx_plus_fit": x.post_velocity,
        "vz_plus_fit": z.post_velocity,
        "vx_plus_fit_se": x.post_velocity_se,
        "vz_plus_fit_se": z.post_velocity_se,
        "eta_x": abs(predicted[0] - x.post_velocity),
        "eta_z": abs(predicted[1] - z.post_velocity),
        "relative_x": relative_error(float(predicted[0]), x.post_velocity),
        "modes": len(z.poles),
        "frequency_hz": z.frequency_hz,
        "decay_1_s": z.decay,
        "slope_x_m_s2": x.slope,
        "slope_z_m_s2": z.slope,
        "residual_rms": z.residual_rms,
        "residual_rms_x": x.residual_rms,
        "by_impact_time_x_m_s2": x.by_impact_time,
        "by_impact_time_z_m_s2": z.by_impact_time,
        "bic": z.bic,
        "at_bound": z.at_bound,
        "converged": z.converged,
        "reason": "",
    }


def _nothing(reason: str) -> dict[str, object]:
    return {"vx_plus_fit": np.nan, "vz_plus_fit": np.nan, "converged": False, "reason": reason}


def relative_error(a: float, b: float) -> float:
    """``2 |a - b| / |a + b|``, as the paper defines it."""
    return float(2.0 * abs(a - b) / abs(a + b)) if a + b != 0.0 else float("nan")


def modes_rows(label: Label, fit: ExperimentFit, most: int) -> list[dict[str, object]]:
    """Criteria for the number of modes, of z alone and of x and z with shared poles, with the noise of differences.

    ``experiment, signal, modes, bic, aic, noise_sd_um, vx_plus_fit, vz_plus_fit, converged, at_bound, chosen_by_bic``.
    """
    rows: list[dict[str, object]] = []
    for signal, joint in (("z", False), ("xz", True)):
        found = []
        for modes in range(1, most + 1):
            try:
                x, z = apply(Method(f"{signal}{modes}", modes=modes, joint=joint), fit.window)
            except (ContactIdError, np.linalg.LinAlgError):
                continue
            found.append((modes, x, z))
        best = min((z.bic for _, _, z in found), default=np.nan)
        rows += [
            {
                "experiment": label.experiment,
                "signal": signal,
                "modes": modes,
                "bic": z.bic,
                "aic": z.aic,
                "noise_sd_um": 1e6 * z.noise_sd,
                "vx_plus_fit": x.post_velocity,
                "vz_plus_fit": z.post_velocity,
                "converged": z.converged,
                "at_bound": z.at_bound,
                "chosen_by_bic": z.bic == best,
            }
            for modes, x, z in found
        ]
    return rows


def _frame(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Rows as a table; ``converged`` stays boolean."""
    table = pd.DataFrame(list(rows))
    return table.astype({"converged": bool}) if "converged" in table else table


def curves_of(label: Label, fit: ExperimentFit | None, reason: str, method: str, source: str) -> pd.DataFrame:
    """Curves of one experiment in figure 6.

    ``experiment, nominal_angle_deg, component, series, t_s, v_m_s, source``; series ``measured``, ``fit``, ``affine``
    (the rigid response under the fit) and ``map`` (one point), time since the impact.
    """
    if fit is None:
        raise ContactIdError(
            f"figure 6 can't show {label.experiment} ({reason})", "Choose another velocity below arm: fit: shown"
        )
    shown = fit.motion.mid_time - fit.state.time
    inside = (shown >= -_BEFORE) & (shown <= fit.window.time[-1])
    time = np.linspace(0.0, fit.window.time[-1], _POINTS)
    head = {"experiment": label.experiment, "nominal_angle_deg": label.nominal_angle_deg}
    parts = []
    for k, component in enumerate(COMPONENTS):
        curves = {"measured": (shown[inside], fit.motion.velocity[inside, k])}
        if method in fit.fits:
            modal = fit.fits[method][k]
            curves |= {"fit": (time, modal.evaluate(time)), "affine": (time, modal.affine(time))}
        curves["map"] = (np.zeros(1), fit.map_velocity[k : k + 1])
        parts += [
            pd.DataFrame({**head, "component": component, "series": name, "t_s": t, "v_m_s": v, "source": source})
            for name, (t, v) in curves.items()
        ]
    return pd.concat(parts, ignore_index=True)

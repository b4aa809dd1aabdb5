"""Rows about evaluated experiments: the reconstructed velocities by method, the number of modes, and their summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from contactid.arm.identify.modal_fit import ModalFit
from contactid.arm.identify.reconstruction import ExperimentFit, Method, apply
from contactid.core.errors import ContactIdError

COMPONENTS = ("x", "z")


@dataclass(frozen=True)
class Label:
    """An experiment's name, set, and nominal velocity (m/s) and angle (degrees)."""

    experiment: str
    set: int
    nominal_velocity_m_s: float
    nominal_angle_deg: float


def relative_error(a: float, b: float) -> float:
    """``2 |a - b| / |a + b|``, as the paper defines it."""
    return float(2.0 * abs(a - b) / abs(a + b)) if a + b != 0.0 else float("nan")


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


def failed_row(label: Label, method: str, reason: str) -> dict[str, object]:
    """The row of an experiment that could not be evaluated at all."""
    return {**vars(label), "method": method, **_nothing(reason)}


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


def summary_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Errors against the impact map by method, over all experiments, as the paper reports them for its 18.

    ``method, experiments, fitted, mean_eta_x_mm_s, median_eta_x_mm_s, largest_eta_x_mm_s, mean_relative_x_pct,
    mean_eta_z_mm_s, largest_eta_z_mm_s, mean_error_x_mm_s, mean_error_z_mm_s`` (the last two signed, fit less map).
    """
    table = []
    for method, part in rows.groupby("method", sort=False):
        eta_x, eta_z = 1e3 * part["eta_x"], 1e3 * part["eta_z"]
        table.append(
            {
                "method": method,
                "experiments": len(part),
                "fitted": int(part["vx_plus_fit"].notna().sum()),
                "mean_eta_x_mm_s": eta_x.mean(),
                "median_eta_x_mm_s": eta_x.median(),
                "largest_eta_x_mm_s": eta_x.max(),
                "mean_relative_x_pct": 100.0 * part["relative_x"].mean(),
                "mean_eta_z_mm_s": eta_z.mean(),
                "largest_eta_z_mm_s": eta_z.max(),
                "mean_error_x_mm_s": 1e3 * (part["vx_plus_fit"] - part["vx_plus_map"]).mean(),
                "mean_error_z_mm_s": 1e3 * (part["vz_plus_fit"] - part["vz_plus_map"]).mean(),
            }
        )
    return pd.DataFrame(table)


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


def chosen_table(rows: pd.DataFrame) -> pd.DataFrame:
    """``signal, modes, experiments, chosen``: how often BIC chooses each number of modes."""
    counted = rows.groupby(["signal", "modes"], sort=False)["chosen_by_bic"].agg(["count", "sum"]).reset_index()
    return counted.rename(columns={"count": "experiments", "sum": "chosen"})


def frame(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Rows as a table; ``converged`` stays boolean."""
    table = pd.DataFrame(list(rows))
    return table.astype({"converged": bool}) if "converged" in table else table

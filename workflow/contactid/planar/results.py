"""The planar study's tables about its simulators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from contactid.planar.names import IGC, IRC

_CONVERGED_FROM = 1e-3  # s: IGC's peaks are judged at and below this time step
_SLIPPING = 1.0 - 1e-9  # share of mu c_n from which a tangential impulse lies on the cone's edge


def energy_table(motions: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """One row per scene and law: energies, losses, how well the balance closes, largest gain in one step."""
    rows = []
    for name, scene in motions.items():
        total = (scene["kinetic"] + scene["potential"]).values
        staggered = total + scene["scheme"].values
        for run in range(scene.sizes["run"]):
            rows.append(
                {
                    "scene": name,
                    "friction_mu": float(scene["friction_mu"][run]),
                    "restitution_e_n": float(scene["restitution_e_n"][run]),
                    "time_step_ms": 1e3 * float(scene.attrs["time_step"]),
                    "energy_start_j": total[run, 0],
                    "energy_end_j": total[run, -1],
                    "lost_in_restitution_j": float(scene["restitution"][run, -1]),
                    "lost_in_friction_j": float(scene["friction"][run, -1]),
                    "lost_by_scheme_j": float(scene["scheme"][run, -1]),
                    "scheme_largest_j": float(np.abs(scene["scheme"].values[run]).max()),
                    "closure": float(scene["closure"][run]),
                    "largest_gain_j": max(float(np.diff(staggered[run]).max()), 0.0),
                    "deepest_penetration_mm": -1e3 * min(float(scene["gap"].values[run].min()), 0.0),
                }
            )
    return pd.DataFrame(rows)


def tangential_table(motions: xr.Dataset) -> pd.DataFrame:
    """Whether tangential impulses take no energy in the motions of figure 14, as section 4.4 says.

    The paper sets friction so high that no impact slides, and infers that friction takes nothing. A sticking impact
    does take energy: it stops the contact point's tangential velocity. It can also give some, where it acts against a
    tangential velocity that the normal impulse of the same impact makes.
    """
    rows = []
    for run in range(motions.sizes["run"]):
        lost = np.diff(motions["friction"].values[run])
        normal, tangential = motions["impulse_n"].values[run, 1:, 0], motions["impulse_t"].values[run, 1:, 0]
        mu = float(motions["friction_mu"][run])
        pushed = normal > 0.0
        slides = pushed & (np.abs(tangential) >= _SLIPPING * mu * normal)
        total = (motions["kinetic"] + motions["potential"]).values[run]
        rows.append(
            {
                "restitution_e_n": float(motions["restitution_e_n"][run]),
                "friction_mu": mu,
                "steps_in_contact": int(pushed.sum()),
                "steps_sliding": int(slides.sum()),
                "lost_in_restitution_j": float(motions["restitution"][run, -1]),
                "lost_in_friction_j": float(lost.sum()),
                "lost_in_friction_sticking_j": float(lost[~slides].sum()),
                "largest_loss_in_one_step_j": max(float(lost.max()), 0.0),
                "largest_gain_in_one_step_j": max(-float(lost.min()), 0.0),
                "energy_change_pct": 100.0 * (total[-1] / total[0] - 1.0),
            }
        )
    return pd.DataFrame(rows)


def convergence_table(peaks: Mapping[str, pd.DataFrame], errors: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Order of convergence, error at customary time steps, and spread of the peaks, per scene and model.

    The order of the IRC is that of the error over many neighbouring time steps; the IGC's is fitted to single ones.
    ``split`` is the share of the first impact's impulse that is left to its second instant.
    """
    rows = []
    for scene, table in peaks.items():
        for model in (IRC, IGC):
            part = table[table["model"] == model].sort_values("time_step_ms")
            limit = float(part["limit_ns"].iloc[0])
            error = (part["peak_impulse_ns"] - limit).abs()
            if model == IRC:
                many = errors[scene]
                order, spread = order_of(many["time_step_ms"].to_numpy(), many["error_rms_ns"].to_numpy())
            else:
                order, spread = order_of(part["time_step_ms"].to_numpy(), error.to_numpy())
            fine = part[part["time_step_ms"] <= 1e3 * _CONVERGED_FROM * (1.0 + 1e-9)]
            relative = 100.0 * (fine["peak_impulse_ns"] / limit - 1.0)
            rows.append(
                {
                    "scene": scene,
                    "model": model,
                    "limit_ns": limit,
                    "time_steps": len(part),
                    "shortest_ms": part["time_step_ms"].iloc[0],
                    "longest_ms": part["time_step_ms"].iloc[-1],
                    "order": order,
                    "order_se": spread,
                    "error_pct_up_to_1_ms_median": float(relative.abs().median()) if len(fine) else np.nan,
                    "error_pct_up_to_1_ms_largest": float(relative.abs().max()) if len(fine) else np.nan,
                    "peak_least_ns": part["peak_impulse_ns"].min(),
                    "peak_largest_ns": part["peak_impulse_ns"].max(),
                    "split_median": float((1.0 - part["peak_impulse_ns"] / part["total_impulse_ns"]).median()),
                    "steps_solved": int(part["steps_solved"].sum()),
                    "steps_converged": int(part["steps_converged"].sum()),
                }
            )
    return pd.DataFrame(rows)


def impact_time_table(peaks: Mapping[str, pd.DataFrame], shown: Sequence[float]) -> pd.DataFrame:
    """Impact times of figures 7 and 10, by the IRC."""
    rows = []
    for scene, table in peaks.items():
        part = table[(table["model"] == IRC)]
        for h in shown:
            near = part.iloc[(part["time_step_ms"] - 1e3 * h).abs().argmin()]
            if abs(near["time_step_ms"] - 1e3 * h) < 1e-6 * h:
                rows.append(
                    {"scene": scene, "time_step_ms": 1e3 * h, "impact_time_ms": near["impact_time_ms"],
                     "peak_impulse_ns": near["peak_impulse_ns"]}
                )  # fmt: skip
    return pd.DataFrame(rows, columns=["scene", "time_step_ms", "impact_time_ms", "peak_impulse_ns"])


def order_of(time_steps: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """Slope of log error over log time step, with its standard error: the order of convergence."""
    x, y = np.log(time_steps), np.log(errors)
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    left = y - y.mean() - slope * x
    return slope, float(np.sqrt(left @ left / max(len(x) - 2, 1) / (x @ x)))

"""Table 1 of the planar paper and what goes with it, from the rows of all cells."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from contactid.planar.identify.cells import covered

_CELL = ["noise_model", "mu", "fps"]


def error_table(cells: pd.DataFrame, published: pd.DataFrame, truth_mm2: float) -> pd.DataFrame:
    """Table 1: a row per noise model, friction and frame rate.

    Parameters
    ----------
    cells
        Rows of :func:`contactid.planar.identify.cells.identify_cells`; errors count where the solve converged.
    published
        ``published/planar.csv``: the printed errors in %, where the printed table has a number.
    truth_mm2
        J/m that the throws were simulated with.
    """
    printed = published_errors(published)
    rows = []
    for (noise, mu_of_cell, fps), group in cells.groupby(_CELL, sort=False):
        mu = float(str(mu_of_cell))
        good = group[group["converged"]]
        error = good["error_pct"].to_numpy(dtype=float)
        mu_error = good["friction_mu"].to_numpy(dtype=float) - mu
        mu_quarter, mu_three = np.quantile(good["friction_mu"], [0.25, 0.75]) if len(good) else (np.nan, np.nan)
        quarter, three_quarters = np.quantile(error, [0.25, 0.75]) if len(error) else (np.nan, np.nan)
        rows.append(
            {
                "mu": mu,
                "fps": fps,
                "noise_model": noise,
                "reformulation": ", ".join(sorted(set(group["reformulation"]))),
                "n_seeds": len(group),
                "n_converged": len(good),
                "n_plausible": int(good["plausible"].sum()),
                "error_median_pct": _median(error),
                "error_abs_median_pct": _median(np.abs(error)),
                "error_q25_pct": quarter,
                "error_q75_pct": three_quarters,
                "mu_median": _median(good["friction_mu"].to_numpy(dtype=float)),
                "mu_q25": mu_quarter,
                "mu_q75": mu_three,
                "mu_error_median": _median(mu_error),
                "mu_is_bound_share": float(good["friction_is_bound"].mean()) if len(good) else np.nan,
                "interval_coverage": float(covered(good, truth_mm2).mean()) if len(good) else np.nan,
                "ratio_is_limit_share": float(good["ratio_is_limit"].mean()) if len(good) else np.nan,
                "inertia_ratio_se_median_pct": _median(100.0 * good["inertia_ratio_se_mm2"].to_numpy() / truth_mm2),
                "complementarity_largest": float(good["complementarity"].max()) if len(good) else np.nan,
                "tries_mean": float(group["tries"].mean()),
                "seconds_median": float(group["seconds"].median()),
                "build_share": float((group["build_seconds"] / group["seconds"]).median()),
                "published_pct": printed.get((round(mu, 6), round(float(str(fps)), 6)), np.nan),
            }
        )
    return pd.DataFrame(rows)


def rate_table(errors: pd.DataFrame) -> pd.DataFrame:
    """By noise model and frame rate over mu from 0.2 on, beside the mean of the printed absolute errors."""
    rows = []
    for (noise, fps), group in errors[errors["mu"] > 0.15].groupby(["noise_model", "fps"], sort=False):
        rows.append(
            {
                "noise_model": noise,
                "fps": fps,
                "cells": len(group),
                "n_seeds": int(group["n_seeds"].sum()),
                "n_converged": int(group["n_converged"].sum()),
                "error_abs_median_pct": float(group["error_abs_median_pct"].median()),
                "error_abs_mean_pct": float(group["error_abs_median_pct"].mean()),
                "interval_coverage": float((group["interval_coverage"] * group["n_converged"]).sum())
                / max(int(group["n_converged"].sum()), 1),
                "published_abs_mean_pct": float(group["published_pct"].abs().mean()),
            }
        )
    return pd.DataFrame(rows)


def failed_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Every solve that did not converge, or whose misfit noise doesn't explain."""
    wanted = [
        *_CELL, "seed", "converged", "plausible", "error_pct", "friction_mu", "misfit", "degrees", "complementarity",
        "tries", "seconds",
    ]  # fmt: skip
    return cells.loc[~(cells["converged"] & cells["plausible"]), wanted].reset_index(drop=True)


def reformulation_table(cells: Mapping[str, pd.DataFrame], truth_mm2: float) -> pd.DataFrame:
    """A row per reformulation: accuracy, success, residual, iterations and seconds on the same cells."""
    rows = []
    for name, table in cells.items():
        good = table[table["converged"]]
        rows.append(
            {
                "reformulation": name,
                "n": len(table),
                "n_converged": len(good),
                "n_plausible": int(good["plausible"].sum()),
                "error_abs_median_pct": _median(good["error_pct"].abs().to_numpy(dtype=float)),
                "error_abs_median_all_pct": _median(table["error_pct"].abs().to_numpy(dtype=float)),
                "misfit_median": float(table["misfit"].median()),
                "complementarity_median": float(table["complementarity"].median()),
                "complementarity_largest": float(table["complementarity"].max()),
                "iterations_median": float(table["iterations"].median()),
                "seconds_median": float(table["seconds"].median()),
                "interval_coverage": float(covered(good, truth_mm2).mean()) if len(good) else np.nan,
            }
        )
    return pd.DataFrame(rows)


def published_errors(published: pd.DataFrame) -> dict[tuple[float, float], float]:
    """(mu, frames/s) to the printed error of J/m, %."""
    found = {}
    for row in published[published["quantity"] == "inertia_ratio_error_pct"].to_dict("records"):
        if row["artefact"] == "tab01":
            condition = dict(part.split("=") for part in str(row["condition"]).split(";"))
            found[float(condition["friction_mu"]), float(condition["fps"])] = float(row["value"])
    return found


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else float("nan")

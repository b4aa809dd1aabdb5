"""How good force models are: median errors, and whether their stated uncertainty is as large as
their errors.

Predictions are a mean and a standard deviation per force component. A calibrated Gaussian one holds
the true component within one standard deviation in 68.3 % of the samples, and within the central
interval of a level in that share.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import erfinv

from contactid.core.errors import ContactIdError

LEVELS = np.linspace(0.05, 0.95, 19)
# each model, and the one without its way to uncertainty that it is compared with
REFERENCES = {"bayesian_features": "linear"}


def share_within(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray, factor: float = 1.0) -> float:
    """Share of components (any shape) whose error is at most ``factor`` standard deviations."""
    _check(sd)
    return float(np.mean(np.abs(truth - mean) <= factor * sd))


def calibration_curve(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Shares of components inside the central Gaussian intervals of :data:`LEVELS`."""
    return np.array(
        # a central interval of a level reaches sqrt(2) erfinv(level) deviations
        [share_within(truth, mean, sd, np.sqrt(2.0) * erfinv(level)) for level in LEVELS]
    )


def scale_of(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> float:
    """Factor that a model's standard deviations lack: median |error| / sd over that of a normal
    variable, 0.6745.
    """
    _check(sd)
    # median of |x| of a normal variable is 0.6745
    return float(np.median(np.abs(truth - mean) / sd) / (np.sqrt(2.0) * erfinv(0.5)))


def magnitude_and_angle(
    truth: np.ndarray, mean: np.ndarray, least_force: float
) -> dict[str, float]:
    """Median errors over the samples (n, 3), N, with |f_true| >= ``least_force``.

    Of the magnitude, | |f| - |f_true| |, in N and in % of |f_true|; of the angle between both
    forces, degrees.
    """
    size = np.linalg.norm(truth, axis=1)
    loaded = size >= least_force
    if not loaded.any():
        raise ContactIdError(f"no test force reaches {least_force:g} N", "Lower least_force")
    true, found, size = truth[loaded], mean[loaded], size[loaded]
    error = np.abs(np.linalg.norm(found, axis=1) - size)
    # arctan2 keeps its digits where the angle is small
    angle = np.arctan2(np.linalg.norm(np.cross(found, true), axis=1), np.sum(found * true, axis=1))
    return {
        "magnitude_error_n": float(np.median(error)),
        "magnitude_error_pct": float(100.0 * np.median(error / size)),
        "angle_error_deg": float(np.rad2deg(np.median(angle))),
    }


def calibration(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> dict[str, float]:
    """Share of all components within one standard deviation, and the mean over the levels of |share
    - level|.
    """
    return {
        "share_within_one_sd": share_within(truth, mean, sd),
        "calibration_error": float(np.mean(np.abs(calibration_curve(truth, mean, sd) - LEVELS))),
    }


def scale_on_validation(trained: xr.Dataset) -> float:
    """:func:`scale_of` one training's predictions (:func:`.training.train_models`) on the
    validation sessions.
    """
    return scale_of(*(trained[f"validation_{name}"].values for name in ("force", "mean", "sd")))


def accuracy_table(predictions: xr.Dataset, least_force: float) -> pd.DataFrame:
    """A row per model and seed: errors, calibration as trained and after scaling, improvement over
    its reference.
    """
    truth, rows = predictions["test_force"].values, []
    for number in range(predictions.sizes["training"]):
        one = predictions.isel(training=number)
        mean, sd, scale = one["test_mean"].values, one["test_sd"].values, scale_on_validation(one)
        model, scaled = str(one["model"].values), calibration(truth, mean, scale * sd)
        rows.append(
            {
                "model": model,
                "reference": REFERENCES.get(model, ""),
                "seed": int(one["seed"]),
                "n_test": len(truth),
            }
            | magnitude_and_angle(truth, mean, least_force)
            | {**calibration(truth, mean, sd), "validation_sd_scale": scale}
            | {f"{name}_scaled": value for name, value in scaled.items()}
        )
    table = pd.DataFrame(rows)
    for error, column in (("magnitude", "magnitude_error_n"), ("angle", "angle_error_deg")):
        table[f"{error}_improvement"] = [
            _improvement(table, row, column) for row in table.itertuples()
        ]
    return table


def _improvement(table: pd.DataFrame, row: Any, column: str) -> float:
    """The reference's error over the model's, of the same seed where the reference has one; nan
    without a reference.
    """
    part = table[table["model"] == row.reference]
    same = part[part["seed"] == row.seed]
    chosen = same if len(same) else part
    return float(chosen[column].iloc[0] / getattr(row, column)) if len(chosen) else float("nan")


def _check(sd: np.ndarray) -> None:
    if not (sd > 0.0).all():
        raise ContactIdError(
            "a force model states a standard deviation that is not positive", "Check its training"
        )

"""How good force models are: median errors, and whether their stated uncertainty is as large as their errors.

Predictions are a mean and a standard deviation per force component. A calibrated Gaussian one holds the true component
within one standard deviation in 68.3 % of the samples, and within the central interval of a level in that share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import erf, erfinv

from contactid.core.errors import ContactIdError

ONE_SD_SHARE = float(erf(1.0 / np.sqrt(2.0)))
LEVELS = np.linspace(0.05, 0.95, 19)
# each model, and the one without its way to uncertainty that it is compared with
REFERENCES = {"dropout_network": "plain_network", "bayesian_features": "linear"}


@dataclass(frozen=True)
class ForceAccuracy:
    """Of predictions over samples.

    Attributes
    ----------
    magnitude_error : N, median of | |f| - |f_true| |
    magnitude_error_pct : the same over |f_true|, %
    angle_error_deg : median angle between predicted and true force, degrees
    share_within_one_sd : of all components
    calibration_error : mean over the levels of |share - level|
    sd_scale : factor on the standard deviations that makes the median |error| / sd that of a normal distribution
    """

    magnitude_error: float
    magnitude_error_pct: float
    angle_error_deg: float
    share_within_one_sd: float
    calibration_error: float
    sd_scale: float


def share_within(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray, factor: float = 1.0) -> float:
    """Share of components (any shape) whose error is at most ``factor`` standard deviations."""
    _check(truth, mean, sd)
    return float(np.mean(np.abs(truth - mean) <= factor * sd))


def calibration_curve(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Shares (l,) of components inside the central Gaussian intervals of the given levels (l,), each in (0, 1)."""
    return np.array([share_within(truth, mean, sd, np.sqrt(2.0) * erfinv(level)) for level in levels])


def scale_of(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> float:
    """Factor that a model's standard deviations lack: median |error| / sd over that of a normal variable, 0.6745."""
    _check(truth, mean, sd)
    return float(np.median(np.abs(truth - mean) / sd) / (np.sqrt(2.0) * erfinv(0.5)))


def force_accuracy(
    truth: np.ndarray, mean: np.ndarray, sd: np.ndarray, levels: np.ndarray, least_force: float
) -> ForceAccuracy:
    """Errors and calibration over samples (n, 3), N; magnitudes and angles only where |f_true| >= ``least_force``."""
    _check(truth, mean, sd)
    size = np.linalg.norm(truth, axis=1)
    loaded = size >= least_force
    if not loaded.any():
        raise ContactIdError(f"no test force reaches {least_force:g} N", "Lower least_force")
    true, found, size = truth[loaded], mean[loaded], size[loaded]
    error = np.abs(np.linalg.norm(found, axis=1) - size)
    angle = np.arctan2(np.linalg.norm(np.cross(found, true), axis=1), np.sum(found * true, axis=1))
    return ForceAccuracy(
        magnitude_error=float(np.median(error)),
        magnitude_error_pct=float(100.0 * np.median(error / size)),
        angle_error_deg=float(np.rad2deg(np.median(angle))),
        share_within_one_sd=share_within(truth, mean, sd),
        calibration_error=float(np.mean(np.abs(calibration_curve(truth, mean, sd, levels) - levels))),
        sd_scale=scale_of(truth, mean, sd),
    )


def scale_on_validation(trained: xr.Dataset) -> float:
    """:func:`scale_of` one training's predictions (:func:`.training.train_models`) on the validation sessions."""
    return scale_of(*(trained[f"validation_{name}"].values for name in ("force", "mean", "sd")))


def accuracy_table(predictions: xr.Dataset, least_force: float) -> pd.DataFrame:
    """A row per model and seed: errors, calibration as trained and after scaling, improvement over its reference."""
    truth, rows = predictions["test_force"].values, []
    for number in range(predictions.sizes["training"]):
        one = predictions.isel(training=number)
        mean, sd, scale = one["test_mean"].values, one["test_sd"].values, scale_on_validation(one)
        raw = force_accuracy(truth, mean, sd, LEVELS, least_force)
        scaled = force_accuracy(truth, mean, scale * sd, LEVELS, least_force)
        model = str(one["model"].values)
        rows.append(
            {
                "model": model, "reference": REFERENCES.get(model, ""), "seed": int(one["seed"]), "n_test": len(truth),
                "epochs": int(one["epochs"]), "magnitude_error_n": raw.magnitude_error,
                "magnitude_error_pct": raw.magnitude_error_pct, "angle_error_deg": raw.angle_error_deg,
                "share_within_one_sd": raw.share_within_one_sd, "calibration_error": raw.calibration_error,
                "validation_sd_scale": scale, "share_within_one_sd_scaled": scaled.share_within_one_sd,
                "calibration_error_scaled": scaled.calibration_error,
            }
        )  # fmt: skip
    table = pd.DataFrame(rows)
    for error, column in (("magnitude", "magnitude_error_n"), ("angle", "angle_error_deg")):
        table[f"{error}_improvement"] = [_improvement(table, row, column) for row in table.itertuples()]
    return table


def _improvement(table: pd.DataFrame, row: Any, column: str) -> float:
    """The reference's error over the model's, of the same seed where the reference has one; nan without a reference."""
    part = table[table["model"] == row.reference]
    same = part[part["seed"] == row.seed]
    chosen = same if len(same) else part
    return float(chosen[column].iloc[0] / getattr(row, column)) if len(chosen) else float("nan")


def _check(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> None:
    if not truth.shape == mean.shape == sd.shape:
        raise ContactIdError(
            f"true forces {truth.shape}, means {mean.shape} and standard deviations {sd.shape} differ in shape",
            "Predict every sample",
        )
    if not (sd > 0.0).all():
        raise ContactIdError("a force model states a standard deviation that is not positive", "Check its training")

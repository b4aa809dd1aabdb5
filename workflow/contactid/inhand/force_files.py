"""The force-sensing study: simulate sessions, train the configured models, judge them; table and figure 5's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.inhand.force_calibration import ForceAccuracy, force_accuracy, scale_of
from contactid.inhand.force_environment import train_network
from contactid.inhand.force_features import ForceData, Predictor, fit_bayesian_features, fit_linear
from contactid.inhand.force_figure_data import force_figure
from contactid.inhand.force_network import NETWORKS, NetworkOptions
from contactid.inhand.readers.electrode_twins import ElectrodeSensor, TactileSessions, simulate_sessions
from contactid.output.tables import write_csv, write_tex

# each model, and the one without its way to uncertainty that it is compared with
REFERENCES = {"dropout_network": "plain_network", "bayesian_features": "linear"}
MODELS = (*NETWORKS, "bayesian_features", "linear")
LEVELS = np.linspace(0.05, 0.95, 19)
CAPTION = (
    "Force models on test sessions of the simulated sensor: median errors where the force is at least the configured "
    "one, share of components within one standard deviation (68.3 % expected), as trained and scaled on the validation "
    "sessions; improvement is the reference's median error over the model's"
)


@dataclass(frozen=True)
class Prediction:
    """Of one trained model, on validation and test samples (n, 3), N; standard deviations as trained."""

    model: str
    seed: int
    validation_mean: np.ndarray
    validation_sd: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    epochs: int


@dataclass(frozen=True)
class SplitSessions:
    """Sessions for training, validation and test; no session is in two of them."""

    training: ForceData
    validation: ForceData
    test: ForceData
    test_sessions: TactileSessions


def split_sessions(block: Mapping[str, Any]) -> SplitSessions:
    """Simulate and split the sessions of the block ``inhand.force_sensing``."""
    counts = [block["sessions"][part] for part in ("training", "validation", "test")]
    sensor = ElectrodeSensor(noise=block["noise"], drift=block["drift"])
    found = simulate_sessions(sensor, sum(counts), block["samples"], block["sample_rate"], block["seed"])
    ends = np.cumsum(counts)
    training, validation, test = (slice(end - count, end) for count, end in zip(counts, ends, strict=True))
    kept = TactileSessions(found.time, found.signals[test], found.force[test], found.place[test])
    return SplitSessions(_samples(found, training), _samples(found, validation), _samples(found, test), kept)


def train_models(data: SplitSessions, block: Mapping[str, Any]) -> list[Prediction]:
    """Train every model of the block with every seed; linear regression has no seed and is trained once."""
    options = NetworkOptions(**block["network"])
    found = []
    for model in block["models"]:
        for seed in block["training_seeds"][: 1 if model == "linear" else None]:
            found.append(_trained(model, seed, data, block, options))
    return found


def accuracy_table(data: SplitSessions, predictions: Sequence[Prediction], least_force: float) -> pd.DataFrame:
    """A row per model and seed: errors, calibration as trained and after scaling, improvement over its reference."""
    rows = []
    for one in predictions:
        scale = scale_of(data.validation.force, one.validation_mean, one.validation_sd)
        raw = force_accuracy(data.test.force, one.mean, one.sd, LEVELS, least_force)
        scaled = force_accuracy(data.test.force, one.mean, scale * one.sd, LEVELS, least_force)
        rows.append(_accuracy_row(one, raw, scaled, scale, len(data.test.force)))
    table = pd.DataFrame(rows)
    for error in ("magnitude", "angle"):
        column = "magnitude_error_n" if error == "magnitude" else "angle_error_deg"
        table[f"{error}_improvement"] = [_improvement(table, row, column) for row in table.itertuples()]
    return table


def write_force_sensing(folder: str | Path, *, block: Mapping[str, Any]) -> None:
    """Write ``ext_force_sensing`` and figure 5's data.

    Parameters
    ----------
    folder
        The study's results.
    block
        ``inhand.force_sensing`` of the configuration; its first model is the one whose predictions figure 5 shows.
    """
    folder, data = Path(folder), split_sessions(block)
    predictions = train_models(data, block)
    table = accuracy_table(data, predictions, block["least_force"])
    write_csv(table, folder / "tables/ext_force_sensing.csv")
    write_tex(table, folder / "tables/ext_force_sensing.tex", caption=CAPTION)
    first_seed = [one for one in predictions if one.seed == block["training_seeds"][0]]
    scales = [scale_of(data.validation.force, one.validation_mean, one.validation_sd) for one in first_seed]
    curves = [(one.model, one.mean, one.sd, scale) for one, scale in zip(first_seed, scales, strict=True)]
    figure = force_figure(data.test_sessions, curves, block["shown_session"], LEVELS)
    write_csv(figure, folder / "figures/fig05_force_sensing.csv")


def _samples(sessions: TactileSessions, kept: slice) -> ForceData:
    signals, force = sessions.signals[kept], sessions.force[kept]
    return ForceData(signals.reshape(-1, signals.shape[-1]), force.reshape(-1, 3))


def _trained(
    model: str, seed: int, data: SplitSessions, block: Mapping[str, Any], options: NetworkOptions
) -> Prediction:
    if model in NETWORKS:
        samples = {f"{part}_signals": getattr(data, part).signals for part in ("training", "validation", "test")}
        samples |= {f"{part}_force": getattr(data, part).force for part in ("training", "validation")}
        answer = train_network(model, seed, options, samples)
        return Prediction(
            model, seed, answer.validation_mean, answer.validation_sd, answer.test_mean, answer.test_sd, answer.epochs
        )
    if model == "bayesian_features":
        predict: Predictor = fit_bayesian_features(data.training, data.validation, block["features"], seed)
    elif model == "linear":
        predict = fit_linear(data.training, data.validation)
    else:
        raise ContactIdError(f"unknown force model {model!r}", f"Choose from {', '.join(MODELS)}")
    return Prediction(model, seed, *predict(data.validation.signals), *predict(data.test.signals), 0)


def _accuracy_row(
    one: Prediction, raw: ForceAccuracy, scaled: ForceAccuracy, scale: float, count: int
) -> dict[str, object]:
    return {
        "model": one.model, "reference": REFERENCES.get(one.model, ""), "seed": one.seed, "n_test": count,
        "epochs": one.epochs, "magnitude_error_n": raw.magnitude_error, "magnitude_error_pct": raw.magnitude_error_pct,
        "angle_error_deg": raw.angle_error_deg, "share_within_one_sd": raw.share_within_one_sd,
        "calibration_error": raw.calibration_error, "validation_sd_scale": scale,
        "share_within_one_sd_scaled": scaled.share_within_one_sd, "calibration_error_scaled": scaled.calibration_error,
    }  # fmt: skip


def _improvement(table: pd.DataFrame, row: Any, column: str) -> float:
    """The reference's error over the model's, of the same seed where the reference has one; nan without a reference."""
    part = table[table["model"] == row.reference]
    same = part[part["seed"] == row.seed]
    chosen = same if len(same) else part
    return float(chosen[column].iloc[0] / getattr(row, column)) if len(chosen) else float("nan")

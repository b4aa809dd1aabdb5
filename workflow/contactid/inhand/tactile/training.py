"""Force models trained on simulated sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from contactid.inhand.simulate.electrode_sensor import simulate_sessions
from contactid.inhand.tactile.regression import fit_bayesian_features, fit_linear
from contactid.sources.motion import write_dataset

PARTS = ("training", "validation", "test")
_ANSWERS = ("validation_mean", "validation_sd", "test_mean", "test_sd")


def write_predictions(block: Mapping[str, Any], predictions: str) -> None:
    """Train the models of the block ``inhand: force_sensing`` and keep what they predict
    (:func:`train_models`).
    """
    write_dataset(train_models(simulated_samples(block), block), predictions)


def simulated_samples(block: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Sessions for training, validation and test; no session is in two of them.

    Returns
    -------
    dict
        Of each part ``<part>_signals`` (n, 19) and ``<part>_force`` (n, 3) N, session after
        session; ``time`` (k,) s of a session.
    """
    counts = [block["sessions"][part] for part in PARTS]
    found = simulate_sessions(sum(counts), block)
    samples, start = {"time": found.time}, 0
    for part, count in zip(PARTS, counts, strict=True):
        kept = slice(start, start + count)
        samples[f"{part}_signals"] = found.signals[kept].reshape(-1, found.signals.shape[-1])
        samples[f"{part}_force"] = found.force[kept].reshape(-1, 3)
        start += count
    return samples


def train_models(samples: Mapping[str, np.ndarray], block: Mapping[str, Any]) -> xr.Dataset:
    """Train every model of the block with every seed; linear regression has no seed and is trained
    once.

    Returns
    -------
    xarray.Dataset
        ``model`` and ``seed`` of every ``training``; on the samples of ``validation`` and ``test``
        its predictions ``validation_mean`` and so on, standard deviations ``_sd`` as trained, and
        the true ``validation_force`` and ``test_force``, N; ``time``, s, of a session.
    """
    runs = [
        (model, seed, *_predictions(model, seed, samples, block))
        for model in block["models"]
        # least squares has nothing to draw
        for seed in block["training_seeds"][: 1 if model == "linear" else None]
    ]
    models, seeds, *predicted = (list(column) for column in zip(*runs, strict=True))
    variables: dict[str, Any] = {"model": ("training", models), "seed": ("training", seeds)}
    variables["time"] = ("sample", samples["time"], {"units": "s"})
    for name, values in zip(_ANSWERS, predicted, strict=True):
        variables[name] = (
            ("training", name.partition("_")[0], "axis"),
            np.stack(values),
            {"units": "N"},
        )
    for part in PARTS[1:]:
        variables[f"{part}_force"] = ((part, "axis"), samples[f"{part}_force"], {"units": "N"})
    return xr.Dataset(variables)


def _predictions(
    model: str, seed: int, samples: Mapping[str, np.ndarray], block: Mapping[str, Any]
) -> tuple[np.ndarray, ...]:
    """Mean and standard deviation (n, 3) on validation and on test samples."""
    predict = (
        fit_linear(samples)
        if model == "linear"
        else fit_bayesian_features(samples, block["features"], seed)
    )
    return *predict(samples["validation_signals"]), *predict(samples["test_signals"])

"""Simulate sessions of pressing on a tactile sensor, and train the configured force models on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.inhand.simulate.electrode_sensor import ElectrodeSensor, simulate_sessions
from contactid.inhand.tactile.environment import train_network
from contactid.inhand.tactile.network import NETWORKS, NetworkOptions
from contactid.inhand.tactile.regression import ForceData, fit_bayesian_features, fit_linear
from contactid.sources.motion import write_dataset

PARTS = ("training", "validation", "test")
MODELS = (*NETWORKS, "bayesian_features", "linear")


def write_predictions(block: Mapping[str, Any], predictions: str) -> None:
    """Train the models of the block ``inhand: force_sensing`` and keep what they predict (:func:`train_models`)."""
    write_dataset(train_models(simulated_samples(block), block), predictions)


def simulated_samples(block: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Sessions for training, validation and test; no session is in two of them.

    Returns
    -------
    dict
        Of each part ``<part>_signals`` (n, 19) and ``<part>_force`` (n, 3) N, session after session; ``time`` (k,) s of
        a session.
    """
    counts = [block["sessions"][part] for part in PARTS]
    sensor = ElectrodeSensor(noise=block["noise"], drift=block["drift"])
    found = simulate_sessions(sensor, sum(counts), block["samples"], block["sample_rate"], block["seed"])
    samples, start = {"time": found.time}, 0
    for part, count in zip(PARTS, counts, strict=True):
        kept = slice(start, start + count)
        samples[f"{part}_signals"] = found.signals[kept].reshape(-1, found.signals.shape[-1])
        samples[f"{part}_force"] = found.force[kept].reshape(-1, 3)
        start += count
    return samples


def train_models(samples: Mapping[str, np.ndarray], block: Mapping[str, Any]) -> xr.Dataset:
    """Train every model of the block with every seed; linear regression has no seed and is trained once.

    Returns
    -------
    xarray.Dataset
        ``model``, ``seed`` and ``epochs`` of every ``training``; on the samples of ``validation`` and ``test`` its
        predictions ``validation_mean`` and so on, standard deviations ``_sd`` as trained, and the true
        ``validation_force`` and ``test_force``, N; ``time``, s, of a session.
    """
    runs = [
        (model, seed, *_predictions(model, seed, samples, block))
        for model in block["models"]
        for seed in block["training_seeds"][: 1 if model == "linear" else None]
    ]
    models, seeds, *predicted, epochs = (list(column) for column in zip(*runs, strict=True))
    names = ("validation_mean", "validation_sd", "test_mean", "test_sd")
    variables: dict[str, Any] = {"model": ("training", models), "seed": ("training", seeds)}
    variables |= {"epochs": ("training", epochs), "time": ("sample", samples["time"], {"units": "s"})}
    for name, values in zip(names, predicted, strict=True):
        variables[name] = (("training", name.partition("_")[0], "axis"), np.stack(values), {"units": "N"})
    for part in PARTS[1:]:
        variables[f"{part}_force"] = ((part, "axis"), samples[f"{part}_force"], {"units": "N"})
    return xr.Dataset(variables)


def _predictions(model: str, seed: int, samples: Mapping[str, np.ndarray], block: Mapping[str, Any]) -> tuple[Any, ...]:
    """Mean and standard deviation (n, 3) on validation and on test samples, and the epochs of training."""
    if model in NETWORKS:
        answer = train_network(model, seed, NetworkOptions(**block["network"]), samples)
        return answer.validation_mean, answer.validation_sd, answer.test_mean, answer.test_sd, answer.epochs
    if model not in MODELS:
        raise ContactIdError(f"unknown force model {model!r}", f"Choose from {', '.join(MODELS)}")
    training, validation = (ForceData(samples[f"{part}_signals"], samples[f"{part}_force"]) for part in PARTS[:2])
    if model == "linear":
        predict = fit_linear(training, validation)
    else:
        predict = fit_bayesian_features(training, validation, block["features"], seed)
    return *predict(samples["validation_signals"]), *predict(samples["test_signals"]), 0

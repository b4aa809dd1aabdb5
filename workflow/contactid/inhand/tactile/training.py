"""Force models trained on simulated sessions: regressions here, networks by PyTorch in an environment of its own.

That environment is ``.venv-torch`` beside the checkout (``make tactile``), or whatever the environment variable
``CONTACTID_TORCH_PYTHON`` names.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.inhand.simulate.electrode_sensor import ElectrodeSensor, simulate_sessions
from contactid.inhand.tactile.network import NETWORKS, NetworkAnswer, NetworkOptions, read_answer, write_request
from contactid.inhand.tactile.regression import ForceData, fit_bayesian_features, fit_linear
from contactid.sources.motion import write_dataset

_WORKFLOW = Path(__file__).resolve().parents[3]
_VARIABLE = "CONTACTID_TORCH_PYTHON"
_REMEDY = "Run make tactile"
_PROGRAM = "contactid.inhand.tactile.network:main"


def torch_python() -> Path:
    """The Python of PyTorch's environment.

    Raises
    ------
    ContactIdError
        Where it is missing.
    """
    named = os.environ.get(_VARIABLE)
    python = Path(named) if named else _WORKFLOW.parent / ".venv-torch" / "bin" / "python"
    if not python.is_file():
        raise ContactIdError(
            f"{python}, the Python that PyTorch is in, does not exist", f"{_REMEDY} or set {_VARIABLE}"
        )
    return python


def train_network(
    network: str,
    seed: int,
    options: NetworkOptions,
    samples: Mapping[str, np.ndarray],
    *,
    python: str | Path | None = None,
    timeout: float = 3600.0,
) -> NetworkAnswer:
    """Train a network of :mod:`.network` in PyTorch's environment.

    Raises
    ------
    ContactIdError
        Where the environment is missing, or the program fails, takes longer than ``timeout`` seconds or answers with
        something else than finite predictions of every sample.
    """
    program = str(Path(python or torch_python()).absolute())
    with tempfile.TemporaryDirectory(prefix="contactid-") as folder:
        request, answer = Path(folder) / "request.npz", Path(folder) / "answer.npz"
        write_request(request, network, seed, options, samples)
        command = [program, "-m", _PROGRAM.partition(":")[0], str(request), str(answer)]
        try:
            finished = subprocess.run(
                command,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(_WORKFLOW), "OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
                timeout=timeout,
            )
        except OSError as error:
            raise ContactIdError(f"{program} can't be run ({error.strerror or error})", _REMEDY) from error
        except subprocess.TimeoutExpired as error:
            raise ContactIdError(
                f"training {network} took more than {timeout:g} s", "Choose a smaller network"
            ) from error
        if finished.returncode or not answer.is_file():
            lines = [line.strip() for line in finished.stderr.splitlines() if line.strip()]
            last = lines[-1].removeprefix("ERROR ") if lines else f"no message, exit code {finished.returncode}"
            raise ContactIdError(f"training {network} failed ({last.rstrip('.')})", _REMEDY)
        found = read_answer(answer)
    _check(network, found, samples)
    return found


def _check(network: str, answer: NetworkAnswer, samples: Mapping[str, np.ndarray]) -> None:
    for part in ("validation", "test"):
        for field in ("mean", "sd"):
            values = getattr(answer, f"{part}_{field}")
            if values.shape != (len(samples[f"{part}_signals"]), 3) or not np.isfinite(values).all():
                raise ContactIdError(
                    f"{network} gave no finite {part}_{field} for every sample", "Choose a smaller learning_rate"
                )


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

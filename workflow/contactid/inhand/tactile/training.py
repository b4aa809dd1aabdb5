"""Force models trained on simulated sessions: regressions here, networks by PyTorch in an
environment of its own.

That environment is ``.venv-torch`` beside the checkout (``make tactile``), or whatever the
environment variable ``CONTACTID_TORCH_PYTHON`` names.
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
from contactid.inhand.simulate.electrode_sensor import simulate_sessions
from contactid.inhand.tactile.network import ANSWERS, NETWORKS, write_request
from contactid.inhand.tactile.regression import fit_bayesian_features, fit_linear
from contactid.sources.motion import write_dataset

_WORKFLOW = Path(__file__).resolve().parents[3]
_VARIABLE = "CONTACTID_TORCH_PYTHON"
_REMEDY = "Run make tactile"
_TIMEOUT = 3600  # s, of one training
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
            f"{python}, the Python that PyTorch is in, does not exist",
            f"{_REMEDY} or set {_VARIABLE}",
        )
    return python


def train_network(
    network: str, seed: int, options: Mapping[str, Any], samples: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Train a network of :mod:`.network` in PyTorch's environment.

    Raises
    ------
    ContactIdError
        Where the environment is missing, or the program fails, takes longer than an hour or answers
        with something else than finite predictions of every sample.
    """
    program = str(torch_python().absolute())
    with tempfile.TemporaryDirectory(prefix="contactid-") as folder:
        request, answer = Path(folder) / "request.npz", Path(folder) / "answer.npz"
        write_request(request, network, seed, options, samples)
        try:
            finished = subprocess.run(
                [program, "-m", _PROGRAM.partition(":")[0], str(request), str(answer)],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(_WORKFLOW), "OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
                timeout=_TIMEOUT,
            )
        except OSError as error:
            raise ContactIdError(
                f"{program} can't be run ({error.strerror or error})", _REMEDY
            ) from error
        except subprocess.TimeoutExpired as error:
            raise ContactIdError(
                f"training {network} took more than {_TIMEOUT} s", "Choose a smaller network"
            ) from error
        if finished.returncode or not answer.is_file():
            lines = [line.strip() for line in finished.stderr.splitlines() if line.strip()]
            last = (
                lines[-1].removeprefix("ERROR ")
                if lines
                else f"no message, exit code {finished.returncode}"
            )
            raise ContactIdError(f"training {network} failed ({last.rstrip('.')})", _REMEDY)
        with np.load(answer, allow_pickle=False) as file:
            found = dict(file)
    for name in ANSWERS:
        count = len(samples[f"{name.partition('_')[0]}_signals"])
        if found[name].shape != (count, 3) or not np.isfinite(found[name]).all():
            raise ContactIdError(
                f"{network} gave no finite {name} for every sample",
                "Choose a smaller learning_rate",
            )
    return found


PARTS = ("training", "validation", "test")


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
        ``model``, ``seed`` and ``epochs`` of every ``training``, and where there is a network
        ``seconds``, CPU time of its prediction of all test forces (nan of other models); on the
        samples of ``validation`` and ``test`` its predictions ``validation_mean`` and so on,
        standard deviations ``_sd`` as trained, and the true ``validation_force`` and
        ``test_force``, N; ``time``, s, of a session.
    """
    runs = [
        (model, seed, *_predictions(model, seed, samples, block))
        for model in block["models"]
        for seed in block["training_seeds"][: 1 if model == "linear" else None]
    ]
    models, seeds, *predicted, epochs, seconds = (
        list(column) for column in zip(*runs, strict=True)
    )
    variables: dict[str, Any] = {"model": ("training", models), "seed": ("training", seeds)}
    variables |= {
        "epochs": ("training", epochs),
        "time": ("sample", samples["time"], {"units": "s"}),
    }
    for name, values in zip(ANSWERS, predicted, strict=True):
        variables[name] = (
            ("training", name.partition("_")[0], "axis"),
            np.stack(values),
            {"units": "N"},
        )
    if np.isfinite(seconds).any():
        variables["seconds"] = ("training", seconds, {"units": "s"})
    for part in PARTS[1:]:
        variables[f"{part}_force"] = ((part, "axis"), samples[f"{part}_force"], {"units": "N"})
    return xr.Dataset(variables)


def _predictions(
    model: str, seed: int, samples: Mapping[str, np.ndarray], block: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Mean and standard deviation (n, 3) on validation and on test samples, epochs, and seconds of
    a prediction.
    """
    if model in NETWORKS:
        answer = train_network(model, seed, block["network"], samples)
        return *(answer[name] for name in ANSWERS), int(answer["epochs"]), float(answer["seconds"])
    predict = (
        fit_linear(samples)
        if model == "linear"
        else fit_bayesian_features(samples, block["features"], seed)
    )
    return *predict(samples["validation_signals"]), *predict(samples["test_signals"]), 0, np.nan

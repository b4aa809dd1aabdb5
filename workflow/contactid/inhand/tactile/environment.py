"""Ask PyTorch, which lives in its own environment, to train a force model.

The environment is ``.venv-torch`` beside the checkout (``make tactile``), or whatever the environment variable
``CONTACTID_TORCH_PYTHON`` names.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.inhand.tactile import network as force_network
from contactid.inhand.tactile.network import NetworkAnswer, NetworkOptions, read_answer, write_request

_WORKFLOW = Path(__file__).resolve().parents[3]
_VARIABLE = "CONTACTID_TORCH_PYTHON"
_REMEDY = "Run make tactile"


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
    """Train a network of :mod:`.force_network` in PyTorch's environment.

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
        command = [program, "-m", force_network.__name__, str(request), str(answer)]
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

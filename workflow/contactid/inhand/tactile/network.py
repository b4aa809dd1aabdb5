"""The program that runs in PyTorch's own environment: networks from 19 electrode signals to a 3D
force.

``python -m contactid.inhand.tactile.network request.npz answer.npz``

* ``dropout_network``: multi-sample dropout (Inoue 2019) on the last fully connected layers, as the
  in-hand paper adds to the model it starts from. Behind the shared layers the head is evaluated for
  K dropout masks; training averages the K losses, and prediction keeps dropout on and gives the
  masks' mean and standard deviation.
* ``plain_network``: the same layers without dropout; its standard deviation is that of its
  validation residuals.

Deviation: the paper starts from a network that places the electrodes in a voxel grid and takes
other inputs besides (its reference 28); here the shared layers are fully connected, so only the
effect of the head is studied.

Both are trained by Adam with early stopping on the validation sessions, on one thread,
deterministic for a seed. Nothing but PyTorch and NumPy is needed here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

NETWORKS = ("dropout_network", "plain_network")
REPEATS = (
    5  # of timed predictions, of which the fastest counts: other processes only ever slow one down
)
ANSWERS = ("validation_mean", "validation_sd", "test_mean", "test_sd")
_SAMPLES = (
    "training_signals",
    "training_force",
    "validation_signals",
    "validation_force",
    "test_signals",
)


def write_request(
    path: str | Path,
    network: str,
    seed: int,
    options: Mapping[str, float],
    samples: Mapping[str, np.ndarray],
) -> None:
    """Write what :func:`main` reads: samples named ``training_signals``, ``training_force``, ...
    and the settings.
    """
    content: dict[str, Any] = {f"option_{key}": value for key, value in options.items()}
    content |= {"network": network, "seed": seed} | {name: samples[name] for name in _SAMPLES}
    with Path(path).open("wb") as file:
        np.savez(file, **content)


def train(
    network: str, seed: int, options: Mapping[str, Any], samples: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Train a network and predict the validation and test forces.

    ``options`` are the block ``inhand: force_sensing: network``. Returned are :data:`ANSWERS` (n,
    3), N, ``epochs``, those of training, and ``seconds``, process CPU time of a prediction of all
    test forces.
    """
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    centre, scale = (
        samples["training_signals"].mean(axis=0),
        samples["training_signals"].std(axis=0),
    )
    force_scale = samples["training_force"].std()

    def inputs(name: str) -> Any:
        return torch.tensor((samples[f"{name}_signals"] - centre) / scale, dtype=torch.float32)

    def outputs(name: str) -> Any:
        return torch.tensor(samples[f"{name}_force"] / force_scale, dtype=torch.float32)

    dropping = network == "dropout_network"
    model = _Model(options, dropping)
    epochs = _fit(
        model,
        options,
        (inputs("training"), outputs("training")),
        (inputs("validation"), outputs("validation")),
    )
    means, sds = zip(*(model.predict(inputs(name)) for name in ("validation", "test")), strict=True)
    if not dropping:
        residual = np.std(outputs("validation").numpy() - means[0], axis=0)
        sds = tuple(np.broadcast_to(residual, mean.shape) for mean in means)
    mean, sd = ([force_scale * part for part in parts] for parts in (means, sds))
    answers = dict(zip(ANSWERS, (mean[0], sd[0], mean[1], sd[1]), strict=True))
    return answers | {"epochs": epochs, "seconds": least_seconds(model, inputs("test"))}


def least_seconds(model: Any, inputs: Any) -> float:
    """Process CPU time of the fastest of several predictions, s."""
    spent = []
    for _ in range(REPEATS):
        begin = time.process_time()
        model.predict(inputs)
        spent.append(time.process_time() - begin)
    return min(spent)


class _Model:
    """Shared layers, and a head that is evaluated for several dropout masks."""

    def __init__(self, options: Mapping[str, Any], dropping: bool) -> None:
        from torch import nn

        width, rate = options["hidden"], options["dropout"] if dropping else 0.0
        self.masks = options["masks"] if dropping else 1
        self.shared = nn.Sequential(
            nn.Linear(19, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.head = nn.Sequential(
            nn.Dropout(rate),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Dropout(rate),
            nn.Linear(width, 3),
        )

    def parameters(self) -> Iterator[Any]:
        yield from self.shared.parameters()
        yield from self.head.parameters()

    def outputs(self, inputs: Any) -> Any:
        """Outputs (K, n, 3), one per mask."""
        self.head.train()
        shared = self.shared(inputs)
        return self.head(shared.expand(self.masks, *shared.shape))

    def predict(self, inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation (n, 3) over the masks; one mask has no deviation."""
        import torch

        with torch.no_grad():
            found = self.outputs(inputs).numpy().astype(float)
        return found.mean(axis=0), found.std(axis=0, ddof=1) if self.masks > 1 else np.zeros(
            found.shape[1:]
        )

    def loss(self, inputs: Any, force: Any) -> Any:
        """Mean squared error, averaged over the masks."""
        return ((self.outputs(inputs) - force) ** 2).mean()

    def state(self) -> list[Any]:
        return [parameter.detach().clone() for parameter in self.parameters()]

    def restore(self, state: list[Any]) -> None:
        import torch

        with torch.no_grad():
            for parameter, value in zip(self.parameters(), state, strict=True):
                parameter.copy_(value)


def _fit(
    model: _Model,
    options: Mapping[str, Any],
    training: tuple[Any, Any],
    validation: tuple[Any, Any],
) -> int:
    """Train until the validation error of the mean stops falling; the best state is kept. Returns
    the epochs.
    """
    import torch

    optimizer = torch.optim.Adam(list(model.parameters()), lr=options["learning_rate"])
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=0.5, patience=options["patience"] // 3
    )
    signals, force = training
    best, state, waited, epoch = np.inf, model.state(), 0, 0
    for epoch in range(1, options["longest"] + 1):  # noqa: B007 - told to the caller
        order = torch.randperm(len(signals))
        for batch in order.split(options["batch"]):
            optimizer.zero_grad()
            model.loss(signals[batch], force[batch]).backward()
            optimizer.step()
        error = float(np.mean((model.predict(validation[0])[0] - validation[1].numpy()) ** 2))
        schedule.step(error)
        if error < best:
            best, state, waited = error, model.state(), 0
        else:
            waited += 1
        if waited >= options["patience"]:
            break
    model.restore(state)
    return epoch


def main(arguments: list[str]) -> int:
    """Run with the command line's arguments; returns the exit code."""
    if len(arguments) != 2:
        print(
            "usage: python -m contactid.inhand.tactile.network request.npz answer.npz",
            file=sys.stderr,
        )
        return 2
    with np.load(arguments[0], allow_pickle=False) as file:
        options = {
            name.removeprefix("option_"): file[name].item()
            for name in file.files
            if name.startswith("option_")
        }
        samples = {name: file[name] for name in _SAMPLES}
        answer = train(str(file["network"]), int(file["seed"]), options, samples)
    with Path(arguments[1]).open("wb") as file:
        np.savez(file, **answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

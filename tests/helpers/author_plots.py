"""A stand-in of the authors' plot data: the names and shapes of their plotting scripts, and a truth
of our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.io
from scipy.spatial.transform import Rotation

GRID = np.arange(21) / 20.0
SURFACES = {
    ("velocity", "matlab"): "SUMMATLAB",
    ("velocity", "algoryx"): "SUMAGX",
    ("trajectory", "matlab"): "SUMMATLABtraj",
    ("trajectory", "algoryx"): "SUMAGXtraj",
}
#: Table II's optima of Box006.
OPTIMA = {
    ("velocity", "matlab"): (0.25, 0.4),
    ("velocity", "algoryx"): (0.25, 0.4),
    ("trajectory", "matlab"): (0.4, 0.25),
    ("trajectory", "algoryx"): (0.4, 0.25),
}
#: Errors at rest by kind and simulator: of every other toss twice as large, m and rad about the
#: normal.
ERRORS = {
    ("Vel", "M"): (0.2, 0.1),
    ("Vel", "AGX"): (0.3, 0.2),
    ("Traj", "M"): (0.05, 0.15),
    ("Traj", "AGX"): (0.06, 0.12),
}
TOSSES = 50
FIRST_SAMPLE = 270  # k_im - 5 of figures 5 to 8
LAST_PRE, FIRST_POST = 5, 7  # counted from 1


@dataclass(frozen=True)
class Truth:
    """What is true of a stand-in; ``losses`` are eq. 17's of either simulator at the impact, m/s."""

    optima: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=lambda: OPTIMA)
    losses: tuple[float, float] = (0.03, 0.05)


def bowl(optimum: tuple[float, float], mu: np.ndarray = GRID, e_n: np.ndarray = GRID) -> np.ndarray:
    """A cost (mu, eN) that is least at the optimum alone, and steeper in friction."""
    return 0.3 + 4.0 * (mu[:, None] - optimum[0]) ** 2 + (e_n[None, :] - optimum[1]) ** 2


def variables(truth: Truth = Truth(), seed: int = 1) -> dict[str, Any]:
    """The file's variables in MATLAB's shapes; structures are dictionaries."""
    random = np.random.default_rng(seed)
    costs = {name: bowl(truth.optima[of]) for of, name in SURFACES.items()}
    before, after = np.zeros((6, 11)), np.zeros((6, 11))
    before[2], after[2] = -1.5, 0.5
    simulated = {}
    for name, loss in zip(("BCV_MB_M", "BCV_MB_AGX"), truth.losses, strict=True):
        simulated[name] = random.normal(size=(6, 15, 441))
        simulated[name][:, :11, 99] = after
        simulated[name][3, :11, 99] += 10.0 * loss  # rad/s, whose weight is a tenth
    scalars = {
        "Ia": FIRST_SAMPLE, "Ib": FIRST_SAMPLE + LAST_PRE - 1, "Ic": FIRST_SAMPLE + FIRST_POST - 1,
        "Id": FIRST_SAMPLE + 10, "indx_b": LAST_PRE, "indx_c": FIRST_POST, "optMATLAB_idx": 100, "optAGX_idx": 100,
    }  # fmt: skip
    return {
        "mu": GRID, "eN": GRID, **costs, "BCV_CB": after, "BCV_CBaf": before, "BCV_CBef": after, **simulated,
        **{name: float(value) for name, value in scalars.items()}, "ObjStr": "Box006",
        "Val": {f"{box}{kind}": _rest_poses(kind, random) for box in ("Box005", "Box006") for kind in ("Vel", "Traj")},
    }  # fmt: skip


def _rest_poses(kind: str, random: np.random.Generator) -> dict[str, np.ndarray]:
    turns = _about_z(random.uniform(-3.0, 3.0, TOSSES))
    places = random.normal(size=(TOSSES, 3))
    poses = {"MH_B_rest": _matrices(turns, places)}
    size = 1.0 + np.arange(TOSSES) % 2
    for simulator in ("M", "AGX"):
        distance, angle = ERRORS[kind, simulator]
        aside = (
            _about_z(random.uniform(-3.0, 3.0, TOSSES)).apply([distance, 0.0, 0.0]) * size[:, None]
        )
        turned = _about_z(angle * size * random.choice([-1.0, 1.0], TOSSES)) * turns
        poses[f"MH_B_rest{simulator}"] = _matrices(turned, places + aside + [0.0, 0.0, 0.002])
    return poses


def _about_z(angles: np.ndarray) -> Rotation:
    return Rotation.from_rotvec(angles[:, None] * [0.0, 0.0, 1.0])


def _matrices(turns: Rotation, places: np.ndarray) -> np.ndarray:
    matrices = np.zeros((4, 4, len(places)))
    matrices[:3, :3] = np.moveaxis(turns.as_matrix(), 0, 2)
    matrices[:3, 3], matrices[3, 3] = places.T, 1.0
    return matrices


def write_plots(folder: Path, content: Mapping[str, Any] | None = None, version: str = "5") -> Path:
    """Write the file as MATLAB does, in its version 5 or 7.3."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "230120_DataForPlots.mat"
    content = variables() if content is None else content
    if version == "5":
        scipy.io.savemat(file, dict(content), do_compression=True)
        return file
    with h5py.File(file, "w", userblock_size=512) as archive:
        _write_group(archive, content)
    return file


def _write_group(group: h5py.Group, content: Mapping[str, Any]) -> None:
    for name, value in content.items():
        if isinstance(value, Mapping):
            _write_group(group.create_group(name), value)
        elif isinstance(value, str):
            group[name] = np.array([[ord(letter)] for letter in value], dtype="<u2")
            group[name].attrs["MATLAB_class"] = np.bytes_("char")
        else:
            group[name] = np.atleast_2d(value).T
            group[name].attrs["MATLAB_class"] = np.bytes_("double")

"""Read the ContactNets cube tosses (Pfrommer, Halm, Posa 2020) into the canonical form.

A folder holds ``tosses_processed/<id>.pt`` and ``params_processed/experiment.json``. Each ``.pt`` file is one tensor
(1, T, 19): position (3, in half-widths), quaternion (4, real part first), linear velocity (3, half-widths/s), angular
velocity (3, rad/s, in the *body* frame: a test establishes it), control (6, zero). Only the poses are read; velocities
are derived from them later, because the file's differ from the poses' differences by more than the noise.

The reference frame M has its z axis up and its origin in the surface, so the surface frame C is M itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from contactid import rotations
from contactid.datasets.motion import BodyProperties, Recording, build_motion
from contactid.datasets.torch_file import read_tensor
from contactid.errors import ContactIdError

OBJECT = "ContactNetsCube"
HALF_WIDTH = 0.0524  # m, half the side of the acrylic cube: the file's unit of length
_COLUMNS = 19
_LARGEST_POSITION = 100.0  # half-widths; beyond it the file is in another unit
_FEWEST_FRAMES = 8


def read_contactnets(folder: str | Path, *, licence: str) -> xr.Dataset:
    """Read a folder of ContactNets tosses.

    Tosses that can't be used are left out, with the reason in ``attrs["left_out"]`` (JSON: name to reason).

    Parameters
    ----------
    folder
        Holds ``tosses_processed/`` (or the ``.pt`` files themselves) and, optionally, ``params_processed``; without the
        latter the published body and frame rate are taken.

    Raises
    ------
    ContactIdError
        Where the folder or its tosses are missing, or a file is damaged.
    """
    folder = Path(folder)
    toss_folder = folder / "tosses_processed" if (folder / "tosses_processed").is_dir() else folder
    files = sorted(toss_folder.glob("*.pt"), key=lambda file: (len(file.stem), file.stem))
    if not files:
        raise ContactIdError(
            f"{folder}: no ContactNets tosses there (looked for tosses_processed/*.pt)",
            "Check data_mirror or fetch again",
        )
    experiment = _read_experiment(folder / "params_processed" / "experiment.json")
    recordings: list[Recording] = []
    left_out: dict[str, str] = {}
    for file in files:
        recording, reason = _read_toss(file)
        if recording is None:
            left_out[file.stem] = reason
        else:
            recordings.append(recording)
    if not recordings:
        raise ContactIdError(
            f"{folder}: none of the {len(files)} tosses can be used (first: {next(iter(left_out.values()))})",
            "Check the files",
        )
    motion = build_motion(
        recordings,
        _body(experiment),
        object_name=OBJECT,
        sample_frequency=1.0 / experiment["dt"],
        source="ContactNets cube tosses",
        licence=licence,
        synthetic=False,
    )
    motion.attrs["left_out"] = json.dumps(left_out)
    return motion


def _read_experiment(path: Path) -> Mapping[str, float]:
    published = {"dt": 1.0 / 148.0, "mass": 0.37, "inertia": 0.2950002913583124}
    if not path.exists():
        return published
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        experiment = {key: float(content[key]) for key in published}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ContactIdError(f"{path}: not a ContactNets experiment file ({error})", "Fetch it again") from None
    if not all(np.isfinite(value) and value > 0 for value in experiment.values()):
        raise ContactIdError(f"{path}: dt, mass and inertia must be positive numbers", "Fetch it again")
    return experiment


def _body(experiment: Mapping[str, float]) -> BodyProperties:
    """The cube as its authors describe it: centre of mass in the middle, mass and inertia from the experiment file.

    The file's inertia is in kg half-widths^2; 0.295 of them are 8.1e-4 kg m2, a fifth more than a solid cube's.
    """
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    mass = experiment["mass"]
    inertia = experiment["inertia"] * HALF_WIDTH**2
    return BodyProperties(vertices=HALF_WIDTH * corners, mass=mass, inertia=inertia * np.eye(3))


def read_toss_table(path: str | Path) -> np.ndarray:
    """The table (T, 19) of one ``.pt`` file, in the file's own units.

    Raises
    ------
    ContactIdError
        Where the file is damaged or its tensor has another shape.
    """
    tensor = read_tensor(path)
    if tensor.ndim != 3 or tensor.shape[0] != 1 or tensor.shape[2] != _COLUMNS:
        raise ContactIdError(
            f"{path}: a tensor of shape {tensor.shape} instead of (1, T, {_COLUMNS})", "It's no ContactNets toss"
        )
    return tensor[0].astype(float)


def _read_toss(path: Path) -> tuple[Recording | None, str]:
    """One toss, or the reason why it can't be used."""
    table = read_toss_table(path)
    pose = table[:, :7]
    if len(table) < _FEWEST_FRAMES:
        return None, f"only {len(table)} frames (at least {_FEWEST_FRAMES} are needed)"
    if not np.isfinite(pose).all():
        return None, "a NaN in its poses"
    norms = np.linalg.norm(pose[:, 3:7], axis=1)
    if np.abs(norms - 1.0).max() > 1e-3:
        return None, "quaternions that are not of unit length"
    if np.abs(pose[:, :3]).max() > _LARGEST_POSITION:
        return None, "positions that are not in half-widths"
    orientation = rotations.continuous(pose[:, 3:7] / norms[:, None])
    return Recording(name=path.stem, position=HALF_WIDTH * pose[:, :3], orientation=orientation), ""

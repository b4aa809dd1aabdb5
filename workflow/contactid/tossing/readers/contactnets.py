"""Read the ContactNets cube tosses (Pfrommer, Halm, Posa 2020) into the canonical form.

A folder holds ``tosses_processed/<id>.pt`` and ``params_processed/experiment.json``. Each ``.pt``
file is one tensor (1, T, 19): position (3, in half-widths), quaternion (4, real part first), linear
velocity (3, half-widths/s), angular velocity (3, rad/s, in the *body* frame: a test establishes
it), control (6, zero). Only the poses are read; velocities are derived from them later, because the
file's differ from the poses' differences by more than the noise.

The reference frame M has its z axis up and its origin in the surface, so the surface frame C is M
itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.core.reading import content_of
from contactid.sources.left_out import joined, log_left_out, nothing_usable, reason_of
from contactid.sources.motion import BodyProperties, MotionStream, Recording
from contactid.sources.torch_file import read_tensor

OBJECT = "ContactNetsCube"
HALF_WIDTH = 0.0524  # m, half the side of the acrylic cube: the file's unit of length
_COLUMNS = 19
_LARGEST_POSITION = 100.0  # half-widths; beyond it the file is in another unit
_FEWEST_FRAMES = 8
_LARGEST_EXPERIMENT = 1 << 20  # bytes
# s, kg, kg half-widths^2
_PLAUSIBLE = {"dt": (1e-5, 1.0), "mass": (1e-3, 100.0), "inertia": (1e-4, 1e3)}
_NORM_TOLERANCE = 1e-3  # of quaternions written in double precision


def stream_contactnets(path: str | Path, *, licence: str) -> MotionStream:
    """The tosses of a folder, each read when it is asked for.

    Tosses that can't be used are left out, with all their problems in the attribute ``left_out``
    (JSON: name to reason).

    Parameters
    ----------
    path : folder with ``tosses_processed/`` (or the ``.pt`` files themselves) and, optionally,
        ``params_processed``; without the latter the published body and frame rate are taken
    licence : licence of the data, kept as an attribute

    Raises :class:`ContactIdError` where the folder or its tosses are missing, the experiment file
    is damaged, or no toss can be used.
    """
    folder = Path(path)
    toss_folder = folder / "tosses_processed" if (folder / "tosses_processed").is_dir() else folder
    # 10 comes after 9: by length first, then by name
    files = sorted(toss_folder.glob("*.pt"), key=lambda file: (len(file.stem), file.stem))
    if not files:
        raise ContactIdError(
            f"{folder}: no ContactNets tosses there (looked for tosses_processed/*.pt)",
            "Check data_mirror or fetch again",
        )
    experiment = _read_experiment(folder / "params_processed" / "experiment.json")
    attributes: dict[str, str] = {}
    return MotionStream(
        body=_body(experiment),
        object_name=OBJECT,
        sample_frequency=1.0 / experiment["dt"],
        source="ContactNets cube tosses",
        licence=licence,
        synthetic=False,
        recordings=_tosses(folder, files, attributes),
        attributes=attributes,
    )


def _tosses(folder: Path, files: Sequence[Path], attributes: dict[str, str]) -> Iterator[Recording]:
    left_out: dict[str, str] = {}
    for file in files:
        problems: list[str] = []
        recording = _read_toss(file, problems)
        if recording is None:
            left_out[file.stem] = joined(problems)
        else:
            yield recording
    log_left_out(left_out)
    if len(left_out) == len(files):
        raise nothing_usable(folder, "tosses", left_out, "Check the files, or fetch them again")
    attributes["left_out"] = json.dumps(left_out)


def _read_experiment(path: Path) -> Mapping[str, float]:
    # s, kg and kg half-widths^2, taken where the folder has no such file
    published = {"dt": 1.0 / 148.0, "mass": 0.37, "inertia": 0.2950002913583124}
    if not path.exists():
        return published
    try:
        content = json.loads(content_of(path, _LARGEST_EXPERIMENT))
        experiment = {key: float(content[key]) for key in published}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ContactIdError(
            f"{path}: not a ContactNets experiment file ({reason_of(error)})", "Fetch it again"
        ) from None
    wrong = [
        f"{key} is {value:g}, not between {_PLAUSIBLE[key][0]:g} and {_PLAUSIBLE[key][1]:g}"
        for key, value in experiment.items()
        if not _PLAUSIBLE[key][0] <= value <= _PLAUSIBLE[key][1]
    ]
    if wrong:
        raise ContactIdError(f"{path}: {joined(wrong)}", "Fetch it again")
    return experiment


def _body(experiment: Mapping[str, float]) -> BodyProperties:
    """The cube as its authors describe it: centre of mass in the middle, mass and inertia from the
    experiment file.

    The file's inertia is in kg half-widths^2; 0.295 of them are 8.1e-4 kg m2, a fifth more than a
    solid cube's.
    """
    corners = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    mass = experiment["mass"]
    inertia = experiment["inertia"] * HALF_WIDTH**2
    return BodyProperties(vertices=HALF_WIDTH * corners, mass=mass, inertia=inertia * np.eye(3))


def read_toss_table(path: str | Path) -> np.ndarray:
    """The table (T, 19) of one ``.pt`` file, in the file's own units.

    Raises :class:`ContactIdError` where the file is damaged or its tensor has another shape.
    """
    tensor = read_tensor(path)
    if tensor.ndim != 3 or tensor.shape[0] != 1 or tensor.shape[2] != _COLUMNS:
        raise ContactIdError(
            f"{path}: a tensor of shape {tensor.shape} instead of (1, T, {_COLUMNS})",
            "It's no ContactNets toss",
        )
    return tensor[0].astype(float)


def read_first_row(path: str | Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a toss's file has in its first row: unit quaternion (4,) of R_MB, velocity (3,) in M,
    m/s, and spin (3,).

    The spin is in rad/s in the body frame. The rest of the study takes its velocities from the
    poses.
    """
    row = read_toss_table(path)[0]
    quaternion = row[3:7] / np.linalg.norm(row[3:7])
    return quaternion, HALF_WIDTH * row[7:10], row[10:13]


def _read_toss(path: Path, problems: list[str]) -> Recording | None:
    """One toss, or None with everything that is wrong with it added to ``problems``."""
    try:
        table = read_toss_table(path)
    except ContactIdError as error:
        problems.append(error.problem.removeprefix(f"{path}: "))
        return None
    pose = table[:, :7]
    if len(table) < _FEWEST_FRAMES:
        problems.append(f"only {len(table)} frames (at least {_FEWEST_FRAMES} are needed)")
    seen = np.isfinite(pose).all(axis=1)
    if not seen.all():
        problems.append(
            f"NaN in {np.count_nonzero(~seen)} of {len(seen)} frames (first: frame {np.argmin(seen)})"
        )
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(pose[:, 3:7], axis=1)
    off = seen & ~(np.abs(norms - 1.0) <= _NORM_TOLERANCE)
    if off.any():
        problems.append(
            f"quaternions that are not of unit length in {np.count_nonzero(off)} frames (first: frame {np.argmax(off)})"
        )
    farthest = np.abs(pose[seen, :3]).max(initial=0.0)
    if farthest > _LARGEST_POSITION:
        problems.append(f"positions that are not in half-widths (they reach {farthest:g})")
    if problems:
        return None
    orientation = rotations.continuous(pose[:, 3:7] / norms[:, None])
    return Recording(name=path.stem, position=HALF_WIDTH * pose[:, :3], orientation=orientation)

"""The files through which the authors of the tossing paper had AGX Dynamics simulate, read and written.

Input, csv: one state per row under the header ``t11,t12,...,t44,vx,vy,vz,avx,avy,avz``. The 16 numbers are the pose H
column by column, so ``t12`` is H(2, 1) and the position stands in ``t41,t42,t43``.

Result, HDF5: ``/box/<number>``, (n, 22) per simulation: at each sample the pose column by column and the six
velocities. Its attribute ``configuration_data_names`` holds ``friction=...,normal_restitution=...,
tangential_restitution=...``, maybe after other things. Numbered with states outside and parameters inside; the numbers
count, not the order of the names (10 comes after 9).

Velocities are those of B's origin and the angular velocity, both in the world's orientation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np

from contactid.core import rotations
from contactid.core.atomic import replacing
from contactid.core.errors import ContactIdError
from contactid.tossing.peers.number_table import read_numbers, write_numbers
from contactid.tossing.simulate.box import ContactParameters, Trajectory

HEADER = (
    *(f"t{column}{row}" for column in range(1, 5) for row in range(1, 5)),
    "vx", "vy", "vz", "avx", "avy", "avz",
)  # fmt: skip
_COLUMNS = len(HEADER)
_GROUP, _ATTRIBUTE = "box", "configuration_data_names"
_PARAMETERS = ("friction", "normal_restitution", "tangential_restitution")
_ROTATION_TOLERANCE = 1e-4  # of R^T R against the identity, elementwise: what six written digits leave


@dataclass(frozen=True)
class AgxRun:
    """One simulation.

    Attributes
    ----------
    parameters : friction, normal and tangential restitution
    states : (n, 13) position (m), quaternion (real part first), velocity of B's origin, angular velocity
    """

    parameters: ContactParameters
    states: np.ndarray


def run_of(parameters: ContactParameters, motion: Trajectory) -> AgxRun:
    """A motion of this package's own simulator as a run to be written for users of AGX."""
    states = [motion.position, motion.orientation, motion.linear_velocity, motion.angular_velocity]
    return AgxRun(parameters, np.hstack(states))


def write_states(path: str | Path, states: np.ndarray) -> None:
    """Write states (n, 13), as in :class:`AgxRun`, as AGX's input csv."""
    write_numbers(path, _to_columns(states), HEADER)


def read_states(path: str | Path) -> np.ndarray:
    """Read AGX's input csv: states (n, 13).

    Raises
    ------
    ContactIdError
        Where the columns are others, a number is not finite or a pose is no rotation and translation.
    """
    return _from_columns(read_numbers(path, _COLUMNS, HEADER), str(path))


def write_results(path: str | Path, runs: Sequence[Sequence[AgxRun]]) -> None:
    """Write simulations ``runs[state][parameter set]`` as AGX's result file; every state has the same sets."""
    if not runs or not runs[0]:
        raise ContactIdError(f"{path}: no simulation to write", "Give at least one")
    sets = [run.parameters for run in runs[0]]
    for index, of_state in enumerate(runs):
        if [run.parameters for run in of_state] != sets:
            raise ContactIdError(f"{path}: state {index} has other parameters than state 0", "Simulate all alike")
    with replacing(path) as partial, h5py.File(partial, "w") as file:
        group = file.create_group(_GROUP)
        for number, run in enumerate(run for of_state in runs for run in of_state):
            columns = _to_columns(run.states)
            if not np.isfinite(columns).all():
                raise ContactIdError(f"{path}: simulation {number} is not finite", "Leave failed simulations out")
            group[str(number)] = columns
            values = (run.parameters.friction_mu, run.parameters.restitution_e_n, run.parameters.restitution_e_t)
            named = zip(_PARAMETERS, values, strict=True)
            group[str(number)].attrs[_ATTRIBUTE] = ",".join(f"{name}={float(value)!r}" for name, value in named)


def read_results(path: str | Path) -> list[list[AgxRun]]:
    """Read AGX's result file: ``runs[state][parameter set]``, every state with the same sets.

    Raises
    ------
    ContactIdError
        Where the file or one of its parts is missing or damaged, or the states don't have the same parameter sets.
    """
    try:
        with h5py.File(path, "r") as file:
            runs = _read_runs(file, str(path))
    except OSError as error:
        raise ContactIdError(f"{path}: can't be read as HDF5 ({error})", "Check the file") from error
    sets = [run.parameters for run in runs]
    again = [index for index, values in enumerate(sets) if index and values == sets[0]]
    size = again[0] if again else len(sets)
    if len(sets) % size or any(sets[index] != sets[index % size] for index in range(len(sets))):
        raise ContactIdError(
            f"{path}: its {len(sets)} simulations are not the same {size} parameter sets for every state",
            "Check the attributes, or whether a simulation is missing",
        )
    return [runs[first : first + size] for first in range(0, len(runs), size)]


def _read_runs(file: h5py.File, path: str) -> list[AgxRun]:
    group = file.get(_GROUP)
    if not isinstance(group, h5py.Group) or not len(group):
        raise ContactIdError(f"{path}: has no simulations under /{_GROUP}", "Check that it is a result of AGX")
    names = list(group)
    strange = [name for name in names if not re.fullmatch(r"[0-9]+", name)]
    if strange:
        raise ContactIdError(f"{path}: /{_GROUP}/{strange[0]} is not numbered", "Check that it is a result of AGX")
    names.sort(key=int)
    for before, after in pairwise(names):
        if int(after) != int(before) + 1:
            raise ContactIdError(f"{path}: no simulation between {before} and {after}", "Simulate it again")
    runs = []
    for name in names:
        where = f"{path}: /{_GROUP}/{name}"
        data = group[name]
        if not isinstance(data, h5py.Dataset) or data.ndim != 2 or data.shape[1] != _COLUMNS or not data.shape[0]:
            raise ContactIdError(f"{where} is not a table of {_COLUMNS} columns", "Check that it is a result of AGX")
        try:
            values = np.asarray(data[()], dtype=float)
        except (TypeError, ValueError) as error:
            raise ContactIdError(f"{where} holds no numbers ({error})", "Check the file") from error
        if not np.isfinite(values).all():
            raise ContactIdError(f"{where} holds a NaN or infinity", "Check the simulation")
        runs.append(AgxRun(_parameters(data, where), _from_columns(values, where)))
    return runs


def _parameters(data: h5py.Dataset, where: str) -> ContactParameters:
    text = data.attrs.get(_ATTRIBUTE, "")
    text = ",".join(
        part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part) for part in np.ravel(text).tolist()
    )
    values = []
    for name in _PARAMETERS:
        found = re.search(rf"(?<![A-Za-z_]){name}\s*=\s*([-+.0-9eE]+)", text)
        try:
            values.append(float(found[1]) if found else np.nan)
        except ValueError:
            values.append(np.nan)
        if not np.isfinite(values[-1]):
            raise ContactIdError(f"{where}: its attribute {_ATTRIBUTE} has no number for {name}", "Check the file")
    try:
        return ContactParameters(*values)
    except ContactIdError as error:
        raise ContactIdError(f"{where}: {error.problem}", error.remedy) from error


def _to_columns(states: np.ndarray) -> np.ndarray:
    """States (n, 13) as rows of AGX's 22 numbers."""
    states = np.asarray(states, dtype=float)
    pose = np.zeros((len(states), 4, 4))
    pose[:, :3, :3] = rotations.matrices(states[:, 3:7])
    pose[:, :3, 3] = states[:, :3]
    pose[:, 3, 3] = 1.0
    return np.hstack([pose.transpose(0, 2, 1).reshape(-1, 16), states[:, 7:13]])


def _from_columns(values: np.ndarray, where: str) -> np.ndarray:
    """Rows of AGX's 22 numbers as states (n, 13)."""
    pose = values[:, :16].reshape(-1, 4, 4).transpose(0, 2, 1)
    rotation = pose[:, :3, :3]
    wrong = np.abs(rotation.transpose(0, 2, 1) @ rotation - np.eye(3)).max(axis=(1, 2)) > _ROTATION_TOLERANCE
    wrong |= np.linalg.det(rotation) < 0.0
    wrong |= np.abs(pose[:, 3] - [0.0, 0.0, 0.0, 1.0]).max(axis=1) > _ROTATION_TOLERANCE
    if wrong.any():
        raise ContactIdError(
            f"{where}: the pose of row {int(wrong.argmax())} (from 0) is no rotation and translation",
            "Poses are written column by column",
        )
    return np.hstack([pose[:, :3, 3], rotations.from_matrices(rotation), values[:, 16:]])

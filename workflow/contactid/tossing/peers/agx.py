"""Give tosses to AGX Dynamics and take its answers: the manual half of the authors' comparison, as two commands.

    python -m contactid.tossing.peers.agx states tosses.nc states.csv [--split test] [--start flight_fit]
    python -m contactid.tossing.peers.agx losses tosses.nc results.h5 losses.csv [--split test] [--start flight_fit]

``states`` writes the start of every usable toss (of one part) in the order of the dataset. ``losses`` reads what AGX
made of them, in the same order and at the recording's own rate, and writes eq. 18 and the rest-pose errors of every
toss and parameter set; the mean over tosses per parameter set is eq. 16, whose least value is AGX's entry of Table II.

The files are those through which the authors of the tossing paper had AGX Dynamics simulate. Input, csv: one state per
row under the header ``t11,t12,...,t44,vx,vy,vz,avx,avy,avz``. The 16 numbers are the pose H column by column, so
``t12`` is H(2, 1) and the position stands in ``t41,t42,t43``.

Result, HDF5: ``/box/<number>``, (n, 22) per simulation: at each sample the pose column by column and the six
velocities. Its attribute ``configuration_data_names`` holds ``friction=...,normal_restitution=...,
tangential_restitution=...``, maybe after other things. Numbered with states outside and parameters inside; the numbers
count, not the order of the names (10 comes after 9).

Velocities are those of B's origin and the angular velocity, both in the world's orientation.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import astuple
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.core.reading import require_plain
from contactid.output.tables import write_csv
from contactid.sources.hdf5_files import outside, stored_values
from contactid.sources.motion import body_of, read_dataset
from contactid.tossing.prepare.metrics import rest_position_error, rest_rotation_error, trajectory_errors
from contactid.tossing.prepare.preprocess import upper_face
from contactid.tossing.prepare.tosses import PreparedToss, usable_tosses
from contactid.tossing.simulate.box import ContactParameters

HEADER = (
    *(f"t{column}{row}" for column in range(1, 5) for row in range(1, 5)),
    "vx", "vy", "vz", "avx", "avy", "avz",
)  # fmt: skip
_COLUMNS = len(HEADER)
_GROUP, _ATTRIBUTE = "box", "configuration_data_names"
_PARAMETERS = ("friction", "normal_restitution", "tangential_restitution")
_ROTATION_TOLERANCE = 1e-4  # of R^T R against the identity, elementwise: what six written digits leave


class AgxRun(NamedTuple):
    """One simulation: friction, normal and tangential restitution, and states (n, 13).

    A state is position (m), quaternion (real part first), velocity of B's origin and angular velocity.
    """

    parameters: ContactParameters
    states: np.ndarray


def write_states(path: str | Path, states: np.ndarray) -> None:
    """Write states (n, 13), as in :class:`AgxRun`, as AGX's input csv, so that they are read back bit for bit."""
    values = _to_columns(states)
    if not np.isfinite(values).all():
        raise ContactIdError(f"{path}: a number to be written is not finite", "Leave failed simulations out")
    lines = [",".join(HEADER), *(",".join(repr(float(value)) for value in row) for row in values)]
    write_text(path, "\n".join(lines) + "\n")


def read_results(path: str | Path) -> list[list[AgxRun]]:
    """Read AGX's result file: ``runs[state][parameter set]``, every state with the same sets.

    Raises
    ------
    ContactIdError
        Where the file or one of its parts is missing or damaged, or the states don't have the same parameter sets.
    """
    require_plain(path, None)
    try:
        with h5py.File(path, "r") as file:
            if problem := outside(file):
                raise ContactIdError(f"{path}: {problem}", "Give one file with all of it")
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
        problems: list[str] = []
        stored = stored_values(data, problems, where)
        if stored is None:
            raise ContactIdError(problems[0], "Check the file")
        try:
            values = np.asarray(stored, dtype=float)
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


def losses_of(tosses: Sequence[PreparedToss], results: Sequence[Sequence[AgxRun]], length: float) -> pd.DataFrame:
    """Eq. 18 and rest-pose errors (eqs. 20, 21), one row per toss and parameter set; ``length`` is l of eq. 18.

    Raises
    ------
    ContactIdError
        Where the results are not of these tosses: another number of states, or too few samples.
    """
    if len(results) != len(tosses):
        raise ContactIdError(
            f"the results hold {len(results)} states, the dataset {len(tosses)} tosses", "Simulate the exported states"
        )
    return pd.DataFrame([_row(item, run, length) for item, runs in zip(tosses, results, strict=True) for run in runs])


def _row(item: PreparedToss, run: AgxRun, length: float) -> dict[str, object]:
    toss, n = item.toss, len(item.toss.position)
    if len(run.states) < n:
        raise ContactIdError(
            f"toss {toss.name} has {len(run.states)} simulated samples, but {n} measured ones",
            "Simulate at the recording's rate until the box lies still",
        )
    position, orientation = run.states[:n, :3], run.states[:n, 3:7]
    return {
        "toss": toss.name,
        "friction_mu": run.parameters.friction_mu,
        "restitution_e_n": run.parameters.restitution_e_n,
        **trajectory_errors(toss.position, toss.orientation, position, orientation, length),
        "rest_position_error_cm": 100.0 * float(rest_position_error(item.rest_position, position[-1])),
        "e_rot_deg": float(np.degrees(rest_rotation_error(item.rest_orientation, orientation[-1]))),
        "same_face": bool(upper_face(orientation[-1]) == upper_face(item.rest_orientation)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the two commands; an error is one plain line and status 1."""
    parser = argparse.ArgumentParser(prog="contactid.tossing.peers.agx", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["states", "losses"])
    parser.add_argument("tosses", help="prepared dataset, results/<run>/data/<dataset>/tosses.nc")
    parser.add_argument("files", nargs="+", help="states.csv, or results.h5 and losses.csv")
    parser.add_argument("--split", choices=["identification", "test"], default=None)
    parser.add_argument("--start", choices=["central_difference", "flight_fit"], default="central_difference")
    given = parser.parse_args(arguments)
    wanted = 1 if given.command == "states" else 2
    if len(given.files) != wanted:
        parser.error(f"{given.command} takes {wanted} file(s) after the dataset")
    try:
        dataset = read_dataset(given.tosses)
        tosses = usable_tosses(dataset, start=given.start, split=given.split)
        if given.command == "states":
            write_states(given.files[0], np.stack([np.concatenate(astuple(item.toss.start)) for item in tosses]))
        else:
            table = losses_of(tosses, read_results(given.files[0]), body_of(dataset).length)
            write_csv(table, given.files[1])
            best = table.groupby(["friction_mu", "restitution_e_n"])["loss"].mean()
            print(f"least mean loss {best.min():.4f} at (mu, e_N) = {best.idxmin()}")
    except ContactIdError as error:
        print(f"ERROR {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

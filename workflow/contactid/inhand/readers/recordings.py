"""Recordings of an object held at contacts, in one canonical form: an xarray dataset, as netCDF or from a csv file.

=================== ========================= ====== =================================================================
variable            dimensions                unit   meaning
=================== ========================= ====== =================================================================
time                sample                    s      increasing
object_position     sample, axis              m      origin of the body frame B in the world frame W
object_orientation  sample, quaternion        1      unit quaternion of R_WB, real part first
contact_force       sample, contact, axis     N      acting on the object, in B; zero where a contact is broken
contact_position    sample, contact, axis     m      in B
contact_force_sd    sample, contact, axis     N      standard deviation of ``contact_force``
contact_torque      sample, contact, axis     N m    optional: in B about the contact, of a force-torque sensor
hull                vertex, axis              m      optional: points in B whose convex hull holds the object
=================== ========================= ====== =================================================================

Attributes: ``source``, ``object``, ``noise_level``, ``seed``, ``synthetic`` (0 or 1), ``source_label``, ``gravity``
(m/s2, along -z of W), ``position_sd`` (m), ``orientation_sd`` (rad), ``contact_position_sd`` (m) and
``contact_torque_sd`` (N m).

A csv file has the columns ``time``, ``object_position_x`` to ``_z``, ``object_orientation_w`` to ``_z``, and for every
contact ``contact_force_<contact>_x`` and so on for ``contact_position``, ``contact_force_sd`` and, with a force-torque
sensor, ``contact_torque``. Attributes are given beside it.

The truth behind a synthetic recording is a dataset of its own: noise-free poses and their exact derivatives,
``contact_force_true`` (all that a contact exerts), ``residual_force`` (the part of it that isn't sensed), and the
inertial parameters as the attribute ``vector``.

Validation is about form: still objects and zero forces are well-formed, whatever they tell about the object
(:mod:`contactid.inhand.identify.identifiability`). Estimators work on a recording's :class:`RecordedSignals`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters
from contactid.sources.motion import read_dataset, write_dataset

LEAST_SAMPLES = 3
UNITS = {
    "time": "s",
    "object_position": "m",
    "object_orientation": "1",
    "contact_force": "N",
    "contact_position": "m",
    "contact_force_sd": "N",
    "contact_torque": "N m",
    "hull": "m",
}
DIMENSIONS = {
    "time": ("sample",),
    "object_position": ("sample", "axis"),
    "object_orientation": ("sample", "quaternion"),
    "contact_force": ("sample", "contact", "axis"),
    "contact_position": ("sample", "contact", "axis"),
    "contact_force_sd": ("sample", "contact", "axis"),
    "contact_torque": ("sample", "contact", "axis"),
    "hull": ("vertex", "axis"),
}
OPTIONAL = ("contact_torque", "hull")
TEXTS = ("source", "object", "source_label")
DEVIATIONS = ("position_sd", "orientation_sd", "contact_position_sd")
_LENGTHS = {"axis": 3, "quaternion": 4}
_NORM_TOLERANCE = 1e-6
_AXES = ("x", "y", "z")
_QUATERNION = ("w", "x", "y", "z")
_PER_CONTACT = ("contact_force", "contact_position", "contact_force_sd", "contact_torque")
_DEFAULTS: Mapping[str, Any] = {
    "source": "recording", "object": "object", "noise_level": 0, "seed": 0, "synthetic": 0, "gravity": 9.81,
}  # fmt: skip


def write_recording(recording: xr.Dataset, path: str | Path) -> None:
    """Validate and write a recording; the file appears only once it is complete."""
    validate_recording(recording, str(path))
    write_dataset(recording, path)


def read_recording(path: str | Path) -> xr.Dataset:
    """Read and validate a recording, wholly into memory."""
    recording = read_dataset(path)
    validate_recording(recording, str(path))
    return recording


def true_parameters(truth: xr.Dataset) -> InertialParameters:
    """The object's own inertial parameters, of the truth behind a recording."""
    return InertialParameters.from_vector(np.array(truth.attrs["vector"]))


def validate_recording(recording: xr.Dataset, where: str) -> None:
    """Raise :class:`ContactIdError` with everything that isn't as the canonical form says; ``where`` names the file."""
    problems = recording_problems(recording)
    if problems:
        raise ContactIdError(f"{where}: {'; '.join(problems)}", "Correct the recording")


def recording_problems(recording: xr.Dataset) -> list[str]:
    """Everything that makes a recording ill-formed, a phrase each; empty where it is well-formed."""
    problems = _shape_problems(recording)
    known = [name for name in UNITS if name in recording and recording[name].dims == DIMENSIONS[name]]
    for name in known:
        problems += _value_problems(name, recording[name])
    if "time" in known:
        problems += _time_problems(recording["time"].values)
    if "object_orientation" in known:
        problems += _quaternion_problems(recording["object_orientation"].values)
    if "contact_force_sd" in known and np.any(recording["contact_force_sd"].values <= 0.0):
        problems.append("contact_force_sd isn't positive everywhere")
    return problems + _attribute_problems(recording)


def _shape_problems(recording: xr.Dataset) -> list[str]:
    problems = []
    for name, dimensions in DIMENSIONS.items():
        if name not in recording:
            problems += [] if name in OPTIONAL else [f"{name} is missing"]
        elif recording[name].dims != dimensions:
            found = ", ".join(map(str, recording[name].dims))
            problems.append(f"{name} has dimensions ({found}) instead of ({', '.join(dimensions)})")
    for name, length in _LENGTHS.items():
        if recording.sizes.get(name, length) != length:
            problems.append(f"{name} has length {recording.sizes[name]} instead of {length}")
    if recording.sizes.get("sample", LEAST_SAMPLES) < LEAST_SAMPLES:
        problems.append(f"{recording.sizes['sample']} samples where accelerations need at least {LEAST_SAMPLES}")
    if recording.sizes.get("contact", 1) < 1:
        problems.append("no contact")
    return problems


def _value_problems(name: str, variable: xr.DataArray) -> list[str]:
    problems = []
    if variable.attrs.get("units") != UNITS[name]:
        problems.append(f"{name} is in {variable.attrs.get('units')!r} instead of {UNITS[name]!r}")
    bad = ~np.isfinite(variable.values)
    if bad.any():
        rows = bad.reshape(len(bad), -1).any(axis=1)
        problems.append(
            f"{name} isn't a number in {np.count_nonzero(rows)} {variable.dims[0]}s, first at {np.argmax(rows)}"
        )
    return problems


def _time_problems(time: np.ndarray) -> list[str]:
    backward = np.diff(time) <= 0.0
    return [f"time doesn't increase at sample {np.argmax(backward) + 1}"] if backward.any() else []


def _quaternion_problems(orientation: np.ndarray) -> list[str]:
    off = np.abs(np.linalg.norm(orientation, axis=1) - 1.0) > _NORM_TOLERANCE
    if not off.any():
        return []
    return [f"object_orientation isn't of unit length in {np.count_nonzero(off)} samples, first at {np.argmax(off)}"]


def _attribute_problems(recording: xr.Dataset) -> list[str]:
    attributes = recording.attrs
    numbers = [*DEVIATIONS, "gravity", "noise_level", "seed", "synthetic"]
    numbers += ["contact_torque_sd"] if "contact_torque" in recording else []
    problems = [f"attribute {name} is missing" for name in [*TEXTS, *numbers] if name not in attributes]
    for name in numbers:
        value = attributes.get(name, 1.0)
        if not isinstance(value, int | float | np.number):
            problems.append(f"attribute {name} isn't a number")
        elif not np.isfinite(value) or (name.endswith("_sd") and value <= 0.0):
            problems.append(
                f"attribute {name} is {value:g}, where it must be {'positive' if '_sd' in name else 'finite'}"
            )
    return problems


def recording_from_csv(path: str | Path, attributes: Mapping[str, Any], hull: np.ndarray | None = None) -> xr.Dataset:
    """A recording from a csv file with the module's columns.

    Parameters
    ----------
    path
        The file.
    attributes
        At least ``position_sd``, ``orientation_sd``, ``contact_position_sd``, and with torques ``contact_torque_sd``.
        The others have defaults.
    hull
        (v, 3) m in B, where the object's shape is known.

    Raises
    ------
    ContactIdError
        For a file that can't be read, and for all columns that are missing and all values that are wrong, at once.
    """
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise ContactIdError(f"{path}: not a readable csv file ({error})", "Check the file") from None
    contacts = _contacts(table)
    columns = _columns(contacts, torque=any(name.startswith("contact_torque_") for name in table.columns))
    missing = [name for names in columns.values() for name in names if name not in table.columns]
    if missing or not contacts:
        what = f"the columns {', '.join(missing)} are missing" if missing else "no contact_force_<contact>_x"
        raise ContactIdError(f"{path}: {what}", "Name the columns as in contactid.inhand.readers.recordings")
    numbers = table.apply(pd.to_numeric, errors="coerce")
    variables: dict[str, Any] = {}
    for name, names in columns.items():
        values = numbers[names].to_numpy(dtype=float)
        shape = {"time": (-1,), "object_position": (-1, 3), "object_orientation": (-1, 4)}.get(
            name, (len(table), len(contacts), 3)
        )
        variables[name] = (DIMENSIONS[name], values.reshape(shape), {"units": UNITS[name]})
    if hull is not None:
        variables["hull"] = (DIMENSIONS["hull"], np.asarray(hull, dtype=float), {"units": "m"})
    label = {"source_label": f"recording {Path(path).name}; contactid inhand"}
    recording = xr.Dataset(
        variables,
        coords={
            "contact": np.array(contacts, dtype=object),
            "axis": np.array(_AXES, dtype=object),
            "quaternion": np.array(_QUATERNION, dtype=object),
        },
        attrs={**_DEFAULTS, **label, **attributes},
    )
    validate_recording(recording, str(path))
    return recording


def _contacts(table: pd.DataFrame) -> list[str]:
    """Names of the contacts, in the order of their forces' first columns."""
    start, end = "contact_force_", "_x"
    forces = [name for name in table.columns if name.startswith(start) and not name.startswith("contact_force_sd_")]
    return [name.removeprefix(start).removesuffix(end) for name in forces if name.endswith(end)]


def _columns(contacts: list[str], *, torque: bool) -> dict[str, list[str]]:
    columns = {
        "time": ["time"],
        "object_position": [f"object_position_{axis}" for axis in _AXES],
        "object_orientation": [f"object_orientation_{part}" for part in _QUATERNION],
    }
    for name in _PER_CONTACT if torque else _PER_CONTACT[:-1]:
        columns[name] = [f"{name}_{contact}_{axis}" for contact in contacts for axis in _AXES]
    return columns


_SHORTEST = 5  # samples; three inner ones give more equations than there are parameters


@dataclass(frozen=True)
class RecordedSignals:
    """n samples of a grasped object with c contacts; SI units.

    Attributes
    ----------
    time : (n,)
    rotations : (n, 3, 3), B to W
    positions : (n, 3), B's origin in W
    forces : (n, c, 3) on the object, in B
    force_sd : (n, c, 3), standard deviations of the forces
    points : (n, c, 3), contact points in B
    torques : (n, c, 3) about the contact points, in B; None where torques aren't measured
    gravity : m/s2, along -z of W
    """

    time: np.ndarray
    rotations: np.ndarray
    positions: np.ndarray
    forces: np.ndarray
    force_sd: np.ndarray
    points: np.ndarray
    torques: np.ndarray | None
    gravity: float

    @property
    def samples(self) -> int:
        """Number n of samples."""
        return len(self.time)

    @property
    def contacts(self) -> int:
        """Number c of contacts."""
        return self.forces.shape[1]

    @property
    def wrench(self) -> np.ndarray:
        """(n, 6): sum of the forces and of their torques about B's origin, in B (left sides of eqs. 8 and 9)."""
        torque = np.cross(self.points, self.forces).sum(axis=1)
        if self.torques is not None:
            torque = torque + self.torques.sum(axis=1)
        return np.concatenate([self.forces.sum(axis=1), torque], axis=1)


def recorded_signals(recording: xr.Dataset) -> RecordedSignals:
    """Arrays of a canonical recording.

    Raises
    ------
    ContactIdError
        Where there are fewer than five samples, or a value isn't finite.
    """
    values = {
        name: np.asarray(recording[name].values, dtype=float)
        for name in (
            "time", "object_position", "object_orientation", "contact_force", "contact_force_sd", "contact_position",
            "contact_torque",
        )
        if name in recording
    }  # fmt: skip
    if len(values["time"]) < _SHORTEST:
        raise ContactIdError(
            f"a recording has {len(values['time'])} samples", f"Accelerations by differences need {_SHORTEST} or more"
        )
    broken = [name for name, value in values.items() if not np.all(np.isfinite(value))]
    if broken:
        raise ContactIdError(f"{', '.join(broken)} of a recording isn't finite", "Remove or fill these samples")
    return RecordedSignals(
        time=values["time"],
        rotations=rotations.matrices(values["object_orientation"]),
        positions=values["object_position"],
        forces=values["contact_force"],
        force_sd=values["contact_force_sd"],
        points=values["contact_position"],
        torques=values.get("contact_torque"),
        gravity=float(recording.attrs["gravity"]),
    )

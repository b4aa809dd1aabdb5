"""Recordings of an object held at contacts, in one canonical form: an xarray dataset, kept as
netCDF.

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
hull                vertex, axis              m      points in B whose convex hull holds the object
=================== ========================= ====== =================================================================

Attributes: ``source``, ``object``, ``noise_level``, ``seed``, ``synthetic`` (0 or 1),
``source_label``, ``gravity`` (m/s2, along -z of W), ``position_sd`` (m), ``orientation_sd`` (rad),
``contact_position_sd`` (m) and ``contact_torque_sd`` (N m).

The truth behind a synthetic recording is a dataset of its own: noise-free poses and their exact
derivatives, ``contact_force_true`` (all that a contact exerts), ``residual_force`` (the part of it
that isn't sensed), and the inertial parameters as the attribute ``vector``.

Validation is about form: still objects and zero forces are well-formed, whatever they tell about
the object (:mod:`contactid.inhand.identify.identifiability`). Estimators work on a recording's
:class:`RecordedSignals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters
from contactid.sources.motion import read_dataset, write_dataset

LEAST_SAMPLES = 5  # three inner ones give more equations than there are parameters
_SERIES, _OF_CONTACTS = ("sample", "axis"), ("sample", "contact", "axis")
FORM = {  # dimensions and unit of every variable
    "time": (("sample",), "s"),
    "object_position": (_SERIES, "m"),
    "object_orientation": (("sample", "quaternion"), "1"),
    "contact_force": (_OF_CONTACTS, "N"),
    "contact_position": (_OF_CONTACTS, "m"),
    "contact_force_sd": (_OF_CONTACTS, "N"),
    "hull": (("vertex", "axis"), "m"),
    "contact_torque": (_OF_CONTACTS, "N m"),
}
_OPTIONAL = "contact_torque"
_TEXTS = ("source", "object", "source_label")
_NUMBERS = (
    "position_sd", "orientation_sd", "contact_position_sd", "contact_torque_sd", "gravity", "noise_level", "seed",
    "synthetic",
)  # fmt: skip
_LENGTHS = {"axis": 3, "quaternion": 4}
_NORM_TOLERANCE = 1e-6


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
    """Raise :class:`ContactIdError` with everything that isn't as the canonical form says;
    ``where`` names the file.
    """
    problems = recording_problems(recording)
    if problems:
        raise ContactIdError(f"{where}: {'; '.join(problems)}", "Correct the recording")


def recording_problems(recording: xr.Dataset) -> list[str]:
    """Everything that makes a recording ill-formed, a phrase each; empty where it is well-formed."""
    problems = _shape_problems(recording)
    # values are judged only where the form allows it
    readable = [
        name
        for name, (dimensions, _) in FORM.items()
        if name in recording and recording[name].dims == dimensions
    ]
    for name in readable:
        problems += _value_problems(name, recording[name])
    if "time" in readable:
        backward = np.diff(recording["time"].values) <= 0.0
        problems += (
            [f"time doesn't increase at sample {np.argmax(backward) + 1}"] if backward.any() else []
        )
    if "object_orientation" in readable:
        off = (
            np.abs(np.linalg.norm(recording["object_orientation"].values, axis=1) - 1.0)
            > _NORM_TOLERANCE
        )
        if off.any():
            where = f"{np.count_nonzero(off)} samples, first at {np.argmax(off)}"
            problems.append(f"object_orientation isn't of unit length in {where}")
    if "contact_force_sd" in readable and np.any(recording["contact_force_sd"].values <= 0.0):
        problems.append("contact_force_sd isn't positive everywhere")
    return problems + _attribute_problems(recording)


def _shape_problems(recording: xr.Dataset) -> list[str]:
    problems = []
    for name, (dimensions, _) in FORM.items():
        if name not in recording:
            problems += [] if name == _OPTIONAL else [f"{name} is missing"]
        elif recording[name].dims != dimensions:
            found = ", ".join(map(str, recording[name].dims))
            problems.append(f"{name} has dimensions ({found}) instead of ({', '.join(dimensions)})")
    for name, length in _LENGTHS.items():
        if recording.sizes.get(name, length) != length:
            problems.append(f"{name} has length {recording.sizes[name]} instead of {length}")
    if recording.sizes.get("sample", LEAST_SAMPLES) < LEAST_SAMPLES:
        problems.append(
            f"{recording.sizes['sample']} samples where accelerations need at least {LEAST_SAMPLES}"
        )
    if recording.sizes.get("contact", 1) < 1:
        problems.append("no contact")
    return problems


def _value_problems(name: str, variable: xr.DataArray) -> list[str]:
    problems, unit = [], FORM[name][1]
    if variable.attrs.get("units") != unit:
        problems.append(f"{name} is in {variable.attrs.get('units')!r} instead of {unit!r}")
    bad = ~np.isfinite(variable.values)
    if bad.any():
        rows = bad.reshape(len(bad), -1).any(axis=1)
        problems.append(
            f"{name} isn't a number in {np.count_nonzero(rows)} {variable.dims[0]}s, first at {np.argmax(rows)}"
        )
    return problems


def _attribute_problems(recording: xr.Dataset) -> list[str]:
    attributes = recording.attrs
    problems = [
        f"attribute {name} is missing" for name in [*_TEXTS, *_NUMBERS] if name not in attributes
    ]
    for name in _NUMBERS:
        value = attributes.get(name, 1.0)
        if not isinstance(value, int | float | np.number):
            problems.append(f"attribute {name} isn't a number")
        elif not np.isfinite(value) or (name.endswith("_sd") and value <= 0.0):
            problems.append(
                f"attribute {name} is {value:g}, where it must be {'positive' if '_sd' in name else 'finite'}"
            )
    return problems


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
    position_sd, orientation_sd : m and rad, standard deviations of the poses
    point_sd, torque_sd : m and N m, standard deviations of the contact points and of measured
        torques
    hull : (v, 3) m in B, points whose convex hull holds the object
    blur : (n, 3, 3); the mean of R^T over the time that a sample averages is this times R^T of the
        sample; None where samples are of an instant
    """

    time: np.ndarray
    rotations: np.ndarray
    positions: np.ndarray
    forces: np.ndarray
    force_sd: np.ndarray
    points: np.ndarray
    torques: np.ndarray | None
    gravity: float
    position_sd: float
    orientation_sd: float
    point_sd: float
    torque_sd: float
    hull: np.ndarray
    blur: np.ndarray | None = None

    @property
    def samples(self) -> int:
        """Number n of samples."""
        return len(self.time)

    @property
    def contacts(self) -> int:
        """Number c of contacts."""
        return self.forces.shape[1]

    def to_body(self, rotations: np.ndarray) -> np.ndarray:
        """(n, 3, 3) that turn a constant of the world to its mean in B, at poses of these rotations
        (n, 3, 3).
        """
        turned = np.swapaxes(rotations, 1, 2)
        return turned if self.blur is None else self.blur @ turned

    @property
    def wrench(self) -> np.ndarray:
        """(n, 6): sum of the forces and of their torques about B's origin, in B (left sides of eqs.
        8 and 9).
        """
        # r x f of each contact, about B's origin
        torque = np.cross(self.points, self.forces).sum(axis=1)
        if self.torques is not None:
            torque = torque + self.torques.sum(axis=1)
        return np.concatenate([self.forces.sum(axis=1), torque], axis=1)


def recorded_signals(recording: xr.Dataset) -> RecordedSignals:
    """Arrays of a canonical recording.

    Raises
    ------
    ContactIdError
        Where there are fewer than five samples.
    """
    stated, count = recording.attrs, recording.sizes["sample"]
    if count < LEAST_SAMPLES:
        raise ContactIdError(
            f"a recording has {count} samples",
            f"Accelerations by differences need {LEAST_SAMPLES} or more",
        )
    return RecordedSignals(
        time=recording["time"].values,
        rotations=rotations.matrices(recording["object_orientation"].values),
        positions=recording["object_position"].values,
        forces=recording["contact_force"].values,
        force_sd=recording["contact_force_sd"].values,
        points=recording["contact_position"].values,
        torques=recording["contact_torque"].values if "contact_torque" in recording else None,
        gravity=stated["gravity"],
        position_sd=stated["position_sd"],
        orientation_sd=stated["orientation_sd"],
        point_sd=stated["contact_position_sd"],
        torque_sd=stated["contact_torque_sd"],
        hull=recording["hull"].values,
    )

"""Read the Impact-Aware Manipulation (I.AM.) archives of box tosses into the canonical form.

An archive is one HDF5 file, or a folder of them, in which each group ``Rec_<time stamp>`` is one recording:

* ``OBJECT/<box>/`` with ``vertices`` (8, 3) in m and ``inertia`` (6, 6) = diag(m I3, I), both in the body frame B whose
  origin is the centre of mass, and ``mass`` in kg;
* ``SENSOR_MEASUREMENT/Mocap/datalog``, a table with the column ``Time(s)`` and the attribute ``sample_frequency``;
* ``SENSOR_MEASUREMENT/Mocap/POSTPROCESSING/<box or plane>/transforms`` (4, 4, N): frame k's pose in the motion capture
  frame M is ``[:, :, k]`` (eq. 1, tossing).

The archives were written over years, so names may carry a prefix (``Result_0mass``), attribute names a space in place
of an underscore, and numbers any numeric type or, for the frequency, text.

The plane is fixed: its pose is the mean over the recording (Karcher mean for the orientation). The *belt's* velocity is
not in that pose. It is taken from the attribute ``surface_velocity`` of the plane's group (3 values, m/s, in C) where
there is one. Otherwise, where the note says that the conveyor is moving or running, it is the velocity with which the
box is carried over the last 0.2 s, as the authors did; ``surface_velocity_estimated`` lists these recordings.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import h5py
import numpy as np
import xarray as xr

from contactid import rotations
from contactid.datasets.iam_fields import (
    attribute,
    child,
    numbers,
    open_archive,
    sample_frequency_of,
    text_of,
    time_problems,
    transforms,
)
from contactid.datasets.motion import BodyProperties, Recording, build_motion
from contactid.errors import ContactIdError

_SUFFIXES = (".h5", ".hdf5")
_BELT_WORDS = re.compile(r"(?<!not )(?<!non-)(?<!n't )\b(moving|running)\b", re.IGNORECASE)
_BELT_WINDOW = 0.2  # s at the end of a recording in which the box is taken to be carried by the belt
_BELT_STEADY = 0.05  # m/s; a normal velocity beyond it means that the box isn't lying on the belt
_BELT_STANDSTILL = 0.02  # m/s; the authors' threshold of rest
_BODY_AGREEMENT = 1e-3  # relative; float32 rounding is far below, another box far above
_LARGEST_PLAUSIBLE_POSITION = 100.0  # m; motion capture volumes are smaller, millimetres are larger


@dataclass(frozen=True)
class _Request:
    """Which box on which plane is read."""

    object_name: str
    surface_name: str | None
    surface_height: float | None


@dataclass(frozen=True)
class _Surface:
    """Pose of C in M, and how it came about."""

    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray | None
    assumed: bool


@dataclass(frozen=True)
class _Reading:
    """A usable recording with what the dataset as a whole needs to know of it."""

    recording: Recording
    body: BodyProperties
    sample_frequency: float
    surface_assumed: bool
    belt_estimated: bool


def read_iam_archive(
    path: str | Path,
    object_name: str,
    *,
    licence: str,
    surface_name: str | None = None,
    surface_height: float | None = None,
    synthetic: bool | None = None,
) -> xr.Dataset:
    """Read all recordings of one box.

    Parameters
    ----------
    path
        An HDF5 file, or a folder which is searched for ``.h5`` and ``.hdf5`` files.
    object_name
        The box, for example ``Box006``. Recordings without it are passed over.
    licence
        Licence of the data, kept as an attribute.
    surface_name
        The tracked plane, for example ``ConveyorPart001``; None where no plane was tracked.
    surface_height
        Where a recording doesn't have the plane: take C parallel to M at this height (m) above M's origin. None leaves
        such a recording out. Without a ``surface_name`` None means 0.
    synthetic
        Whether the data are simulated; None takes the file's own attribute ``synthetic``, absent in measured data.

    Returns
    -------
    xr.Dataset
        The canonical form of :mod:`contactid.datasets.motion`. Its attributes ``left_out`` (recording: reason),
        ``surface_assumed`` and ``surface_velocity_estimated`` (names) are JSON texts.

    Raises
    ------
    ContactIdError
        Where a file can't be read, or where no recording of the box is usable.
    """
    request = _Request(object_name, surface_name, 0.0 if surface_name is None else None)
    if surface_height is not None:
        request = _Request(object_name, surface_name, float(surface_height))
    readings: list[_Reading] = []
    left_out: dict[str, str] = {}
    found: set[str] = set()
    declared_synthetic = False
    for file_path in _archive_files(Path(path)):
        with open_archive(file_path) as archive:
            declared_synthetic = declared_synthetic or bool(attribute(archive, "synthetic") or False)
            for name in sorted(key for key in archive if key.startswith("Rec_")):
                group = archive[name]
                objects = _objects_in(group)
                found |= objects
                if not any(key.endswith(object_name) for key in objects):
                    continue
                if name in left_out or any(name == reading.recording.name for reading in readings):
                    left_out[f"{file_path.name}:{name}"] = "a recording of this name was read already"
                    continue
                problems: list[str] = []
                reading = _read_recording(name, group, request, problems)
                if reading is None:
                    left_out[name] = "; ".join(problems)
                else:
                    readings.append(reading)
    readings, inconsistent = _consistent(readings)
    left_out |= inconsistent
    if not readings:
        raise _nothing_usable(path, object_name, found, left_out)
    motion = build_motion(
        [reading.recording for reading in readings],
        readings[0].body,
        object_name=object_name,
        sample_frequency=readings[0].sample_frequency,
        source=str(path),
        licence=licence,
        synthetic=declared_synthetic if synthetic is None else synthetic,
    )
    motion.attrs["left_out"] = json.dumps(left_out)
    motion.attrs["surface_assumed"] = json.dumps([r.recording.name for r in readings if r.surface_assumed])
    motion.attrs["surface_velocity_estimated"] = json.dumps([r.recording.name for r in readings if r.belt_estimated])
    return motion


def _archive_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file())
    if not files:
        raise ContactIdError(f"{path}: the folder holds no .h5 or .hdf5 file", "Unpack or fetch the archive first")
    return files


def _objects_in(group: h5py.Group) -> set[str]:
    """Names of everything that the recording describes or tracks."""
    names: set[str] = set()
    for place in ("OBJECT", "SENSOR_MEASUREMENT/Mocap/POSTPROCESSING"):
        node = group.get(place) if isinstance(group, h5py.Group) else None
        if isinstance(node, h5py.Group):
            names |= set(node)
    return names


def _nothing_usable(path: str | Path, object_name: str, found: set[str], left_out: dict[str, str]) -> ContactIdError:
    if left_out:
        name, reason = next(iter(left_out.items()))
        return ContactIdError(
            f"{path}: none of the {len(left_out)} recordings of {object_name} is usable; {name}: {reason}",
            "Check the archive, or name another plane",
        )
    if not found:
        return ContactIdError(
            f"{path}: no recording of {object_name}, nor of anything else", "Is this an I.AM. archive with Rec_ groups?"
        )
    close = get_close_matches(object_name, sorted(found), n=1)
    remedy = f"Did you mean {close[0]}?" if close else "Choose one of these"
    return ContactIdError(f"{path}: no recording of {object_name}, only of {', '.join(sorted(found))}", remedy)


def _consistent(readings: list[_Reading]) -> tuple[list[_Reading], dict[str, str]]:
    """Keep the recordings that share the commonest sample frequency and the first one's body."""
    if not readings:
        return [], {}
    (frequency, _), *_ = Counter(reading.sample_frequency for reading in readings).most_common(1)
    body = next(reading.body for reading in readings if reading.sample_frequency == frequency)
    kept, left_out = [], {}
    for reading in readings:
        reasons = []
        if reading.sample_frequency != frequency:
            reasons.append(f"sampled at {reading.sample_frequency:g} Hz, the others at {frequency:g} Hz")
        if not _same_body(reading.body, body):
            reasons.append("its box has another shape, mass or inertia than in the other recordings")
        if reasons:
            left_out[reading.recording.name] = "; ".join(reasons)
        else:
            kept.append(reading)
    return kept, left_out


def _same_body(first: BodyProperties, second: BodyProperties) -> bool:
    return all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=_BODY_AGREEMENT, atol=_BODY_AGREEMENT * np.abs(b).max())
        for a, b in (
            (first.vertices, second.vertices),
            (np.array(first.mass), np.array(second.mass)),
            (first.inertia, second.inertia),
        )
    )


def _read_recording(name: str, group: h5py.Group, request: _Request, problems: list[str]) -> _Reading | None:
    """One recording, or None with everything that is wrong with it added to ``problems``."""
    body = _read_body(group, request.object_name, problems)
    tracked = child(group, "SENSOR_MEASUREMENT/Mocap/POSTPROCESSING", problems, h5py.Group)
    datalog = child(group, "SENSOR_MEASUREMENT/Mocap/datalog", problems, h5py.Dataset)
    frequency = None if datalog is None else sample_frequency_of(datalog, problems)
    poses = None
    if tracked is not None:
        box = child(tracked, request.object_name, problems, h5py.Group)
        poses = None if box is None else transforms(box, request.object_name, problems)
    if poses is None:
        return None
    if np.abs(poses[:, :3, 3]).max() > _LARGEST_PLAUSIBLE_POSITION:
        problems.append(f"positions reach {np.abs(poses[:, :3, 3]).max():.3g} m, so they may be in millimetres")
    if datalog is not None and frequency is not None:
        problems.extend(time_problems(datalog, len(poses), frequency))
    surface = _read_surface(tracked, request, len(poses), problems)
    note = text_of(attribute(group, "note"))
    velocity, estimated = np.zeros(3), False
    if surface is not None and surface.velocity is not None:
        velocity = surface.velocity
    elif surface is not None and frequency is not None and _BELT_WORDS.search(note):
        velocity, estimated = _carried_velocity(poses, surface, frequency, problems), True
    if problems or body is None or surface is None or frequency is None:
        return None
    recording = Recording(
        name=name,
        position=poses[:, :3, 3],
        orientation=rotations.from_matrices(poses[:, :3, :3]),
        surface_position=surface.position,
        surface_orientation=surface.orientation,
        surface_velocity=velocity,
        note=note,
    )
    return _Reading(recording, body, frequency, surface.assumed, estimated)


def _read_body(group: h5py.Group, object_name: str, problems: list[str]) -> BodyProperties | None:
    """Vertices, mass and inertia about the centre of mass, which is the origin of B."""
    node = child(group, "OBJECT", problems, h5py.Group)
    box = None if node is None else child(node, object_name, problems, h5py.Group)
    if box is None:
        return None
    vertices = numbers(box, "vertices", problems, shape=(None, 3))
    generalised = numbers(box, "inertia", problems, shape=(6, 6))
    if vertices is None or generalised is None:
        return None
    mass = float(generalised[0, 0])
    if any(key.endswith("mass") for key in box):
        stated = numbers(box, "mass", problems, shape=None)
        if stated is None or stated.size != 1:
            problems.append("the mass is not one number")
            return None
        if not np.isclose(stated.item(), mass, rtol=0.01):
            problems.append(f"the mass is {stated.item():g} kg but {mass:g} kg in the inertia matrix")
        mass = float(stated.item())
    inertia = 0.5 * (generalised[3:, 3:] + generalised[3:, 3:].T)
    # No body within its vertices has a larger moment than all its mass at the farthest one: catches kg mm2.
    with np.errstate(over="ignore"):
        farthest = float(np.max(np.sum((vertices - vertices.mean(axis=0)) ** 2, axis=1)))
    if mass > 0 and inertia.max() > 1.01 * mass * farthest:
        problems.append(f"the inertia {inertia.max():.3g} kg m2 is too large for the box's mass and size")
    return BodyProperties(vertices=vertices, mass=mass, inertia=inertia)


def _read_surface(tracked: h5py.Group | None, request: _Request, n_frames: int, problems: list[str]) -> _Surface | None:
    """Mean pose of the plane over the box's frames, or the assumed one."""
    missing: list[str] = []
    plane = None
    if request.surface_name is not None and tracked is not None:
        plane = child(tracked, request.surface_name, missing, h5py.Group)
    if plane is None:
        if request.surface_height is None:
            problems.extend(missing)
            return None
        return _Surface(
            np.array([0.0, 0.0, request.surface_height]), np.array([1.0, 0.0, 0.0, 0.0]), None, assumed=True
        )
    poses = transforms(plane, str(request.surface_name), problems, skip_unseen=True, at_least=n_frames)
    if poses is None:
        return None
    try:
        orientation = rotations.karcher_mean(rotations.from_matrices(poses[:, :3, :3]))
    except ContactIdError as error:
        problems.append(f"{request.surface_name}: {error.problem}")
        return None
    velocity = attribute(plane, "surface_velocity")
    if velocity is not None:
        velocity = np.asarray(velocity, dtype=float).reshape(-1)
        if velocity.shape != (3,) or not np.isfinite(velocity).all():
            problems.append(f"{request.surface_name}: surface_velocity is not three numbers")
            return None
    return _Surface(poses[:, :3, 3].mean(axis=0), orientation, velocity, assumed=False)


def _carried_velocity(poses: np.ndarray, surface: _Surface, frequency: float, problems: list[str]) -> np.ndarray:
    """Tangential velocity (3,) in C of the box over the last 0.2 s: the slope of a straight line, m/s."""
    window = poses[-max(3, round(_BELT_WINDOW * frequency)) :, :3, 3] - surface.position
    in_surface = window @ rotations.matrices(surface.orientation)
    slope = np.polyfit(np.arange(len(window)) / frequency, in_surface, deg=1)[0]
    if abs(slope[2]) > _BELT_STEADY:
        problems.append("the note says that the belt moves, but the box doesn't lie on it at the end")
    speed = np.hypot(slope[0], slope[1])
    return np.array([slope[0], slope[1], 0.0]) if speed > _BELT_STANDSTILL else np.zeros(3)

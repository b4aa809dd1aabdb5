"""One recording of an I.AM. archive: the box, its poses, its time and the surface, with everything wrong named.

The plane is fixed: its pose is the mean over the recording (Karcher mean for the orientation). The *belt's* velocity is
not in that pose. It is taken from the attribute ``surface_velocity`` of the plane's group (3 values, m/s, in C) where
there is one. Otherwise, where the note says that the conveyor is moving or running, it is the velocity with which the
box is carried over the last 0.2 s, as the authors did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import h5py
import numpy as np

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties, Recording, body_problems
from contactid.tossing.readers.iam_fields import (
    Poses,
    attribute,
    child,
    damage_noted,
    numbers,
    read_poses,
    sample_frequency_of,
    text_of,
    time_problems,
)

_MOCAP = "SENSOR_MEASUREMENT/Mocap"
_BELT_WORDS = re.compile(r"(?<!not )(?<!non-)(?<!n't )\b(moving|running)\b", re.IGNORECASE)
_BELT_WINDOW = 0.2  # s at the end of a recording in which the box is taken to be carried by the belt
_BELT_STEADY = 0.05  # m/s; a normal velocity beyond it means that the box isn't lying on the belt
_BELT_STANDSTILL = 0.02  # m/s; the authors' threshold of rest


@dataclass(frozen=True)
class Request:
    """Which box on which plane ("": none) to read; with a height (m) one without the plane lies level there."""

    object_name: str
    surface_name: str
    surface_height: float | None


@dataclass(frozen=True)
class Reading:
    """A usable recording, and how its surface and the belt's velocity came about."""

    recording: Recording
    surface_assumed: bool
    belt_estimated: bool


@dataclass(frozen=True)
class _Surface:
    """Pose of C in M, the belt's velocity in C where the file states it, and whether the pose is an assumption."""

    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray | None
    assumed: bool


def objects_in(group: h5py.Group | None) -> set[str]:
    """Names of everything that a recording describes or tracks."""
    names: set[str] = set()
    for place in ("OBJECT", f"{_MOCAP}/POSTPROCESSING"):
        node = group.get(place) if isinstance(group, h5py.Group) else None
        if isinstance(node, h5py.Group):
            names |= set(node)
    return names


def read_body(group: h5py.Group, object_name: str, problems: list[str]) -> BodyProperties | None:
    """Vertices, mass and inertia about the centre of mass, which is the origin of B."""
    with damage_noted(problems):
        node = child(group, "OBJECT", problems, h5py.Group)
        box = None if node is None else child(node, object_name, problems, h5py.Group)
        return None if box is None else _body_of(box, problems)
    return None


def read_frequency(group: h5py.Group, problems: list[str]) -> float | None:
    """Samples per second, Hz."""
    with damage_noted(problems):
        datalog = child(group, f"{_MOCAP}/datalog", problems, h5py.Dataset)
        return None if datalog is None else sample_frequency_of(datalog, problems)
    return None


def read_recording(name: str, group: h5py.Group, request: Request, problems: list[str]) -> Reading | None:
    """One recording, or None with everything that is wrong with it added to ``problems``."""
    read_body(group, request.object_name, problems)
    frequency = read_frequency(group, problems)
    reading = None
    with damage_noted(problems):
        reading = _read_motion(name, group, request, frequency, problems)
    return None if problems else reading


def _read_motion(
    name: str, group: h5py.Group, request: Request, frequency: float | None, problems: list[str]
) -> Reading | None:
    tracked = child(group, f"{_MOCAP}/POSTPROCESSING", problems, h5py.Group)
    box = None if tracked is None else child(tracked, request.object_name, problems, h5py.Group)
    poses = None if box is None else read_poses(box, request.object_name, problems)
    if poses is None:
        return None
    n_frames = len(poses.position)
    if frequency is not None:
        problems.extend(time_problems(group[f"{_MOCAP}/datalog"], n_frames, frequency))
    surface = _read_surface(tracked, request, n_frames, problems)
    if surface is None:
        return None
    note = text_of(attribute(group, "note"))
    velocity, estimated = surface.velocity, False
    if velocity is None:
        velocity = np.zeros(3)
        if frequency is not None and _BELT_WORDS.search(note):
            velocity, estimated = _carried_velocity(poses, surface, frequency, problems), True
    recording = Recording(
        name=name,
        position=poses.position,
        orientation=poses.orientation,
        surface_position=surface.position,
        surface_orientation=surface.orientation,
        surface_velocity=velocity,
        note=note,
    )
    return Reading(recording, surface.assumed, estimated)


def _body_of(box: h5py.Group, problems: list[str]) -> BodyProperties | None:
    vertices = numbers(box, "vertices", problems, shape=(None, 3))
    generalised = numbers(box, "inertia", problems, shape=(6, 6))
    stated = None
    if any(key.endswith("mass") for key in box):
        stated = numbers(box, "mass", problems, shape=None)
        if stated is not None and stated.size != 1:
            problems.append("the mass is not one number")
            stated = None
    if vertices is None or generalised is None or not len(vertices):
        return None
    mass = float(generalised[0, 0])
    if stated is not None:
        if not np.isclose(stated.item(), mass, rtol=0.01):
            problems.append(f"the mass is {stated.item():g} kg but {mass:g} kg in the inertia matrix")
        mass = float(stated.item())
    inertia = 0.5 * generalised[3:, 3:] + 0.5 * generalised[3:, 3:].T
    body = BodyProperties(vertices=vertices, mass=mass, inertia=inertia)
    problems.extend(body_problems(body))
    # No body within its vertices has a larger moment than all its mass at the farthest one: catches kg mm2.
    with np.errstate(over="ignore", invalid="ignore"):
        farthest = float(np.max(np.sum((vertices - vertices.mean(axis=0)) ** 2, axis=1)))
        if mass > 0 and inertia.max() > 1.01 * mass * farthest:
            problems.append(f"the inertia {inertia.max():.3g} kg m2 is too large for the box's mass and size")
    return body


def _read_surface(tracked: h5py.Group, request: Request, n_frames: int, problems: list[str]) -> _Surface | None:
    """Mean pose of the plane over the box's frames, or the assumed one."""
    missing: list[str] = []
    plane = child(tracked, request.surface_name, missing, h5py.Group) if request.surface_name else None
    if plane is None:
        if request.surface_height is None:
            problems.extend(missing)
            return None
        return _Surface(
            np.array([0.0, 0.0, request.surface_height]), np.array([1.0, 0.0, 0.0, 0.0]), None, assumed=True
        )
    poses = read_poses(plane, request.surface_name, problems, skip_unseen=True, at_least=n_frames)
    if poses is None:
        return None
    try:
        orientation = rotations.karcher_mean(poses.orientation)
    except ContactIdError as error:
        problems.append(f"{request.surface_name}: {error.problem}")
        return None
    velocity = attribute(plane, "surface_velocity")
    if velocity is not None:
        velocity = np.asarray(velocity, dtype=float).reshape(-1)
        if velocity.shape != (3,) or not np.isfinite(velocity).all():
            problems.append(f"{request.surface_name}: surface_velocity is not three numbers")
            return None
    return _Surface(poses.position.mean(axis=0), orientation, velocity, assumed=False)


def _carried_velocity(poses: Poses, surface: _Surface, frequency: float, problems: list[str]) -> np.ndarray:
    """Tangential velocity (3,) in C of the box over the last 0.2 s: the slope of a straight line, m/s."""
    window = poses.position[-max(3, round(min(_BELT_WINDOW * frequency, len(poses.position)))) :] - surface.position
    in_surface = window @ rotations.matrices(surface.orientation)
    slope = np.polyfit(np.arange(len(window)) / frequency, in_surface, deg=1)[0]
    if abs(slope[2]) > _BELT_STEADY:
        problems.append("the note says that the belt moves, but the box doesn't lie on it at the end")
    speed = np.hypot(slope[0], slope[1])
    return np.array([slope[0], slope[1], 0.0]) if speed > _BELT_STANDSTILL else np.zeros(3)

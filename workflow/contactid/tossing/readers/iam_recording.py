"""One recording of an I.AM. archive: the box, its poses, its time and the surface, with everything
wrong named.

Which frames can be used is said in :mod:`contactid.tossing.readers.iam_frames`, which plane is the
surface and how fast it moves in :mod:`contactid.tossing.readers.iam_surface`. Here both come
together: what lies before or after the toss and can't be used is cut off, as is what the box does
after it rested (taken away, or carried against a stop); a recording with a long gap within the toss
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np

from contactid.core import rotations
from contactid.sources.motion import BodyProperties, Recording, body_problems, uniform_box
from contactid.tossing.prepare.events import FALL_TOLERANCE, REST_SPEED, find_events
from contactid.tossing.prepare.poses import in_surface_frame, vertex_positions
from contactid.tossing.readers.iam_fields import (
    attribute,
    child,
    damage_noted,
    fewer_times,
    numbers,
    sample_frequency_of,
    text_of,
    time_columns,
    time_problems,
)
from contactid.tossing.readers.iam_frames import (
    LONGEST_BRIDGE,
    Track,
    read_track,
    runs,
)
from contactid.tossing.readers.iam_surface import Box, Surface, find_surface

_MOCAP = "SENSOR_MEASUREMENT/Mocap"
_TRACKED = f"{_MOCAP}/POSTPROCESSING"
_BELT_WORDS = re.compile(r"(?<!not )(?<!non-)(?<!n't )\b(moving|running)\b", re.IGNORECASE)
_GRAVITY = 9.81
_MOVED_ON = 3e-3  # m relative to the surface, after the rest
_EDGE = 0.03  # s; near a change of speed a fitted velocity has some of both
_FALLING, _ALOFT = 9, 0.02  # frames that tell a free fall, and m


@dataclass(frozen=True)
class Request:
    """Which box to read, on which planes (names in order; none: found), with the height (m) of a
    level surface.

    ``size`` (m, along x_B, y_B, z_B) stands in the place of what the file says; empty: it says
    right.
    """

    object_name: str
    surfaces: tuple[str, ...]
    surface_height: float | None
    size: tuple[float, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A usable recording, the name of its surface, what was done to it, and its flawed frames by
    kind.
    """

    recording: Recording
    surface: str
    remarks: tuple[str, ...]
    frames: Mapping[str, int]


def objects_in(group: h5py.Group | None) -> set[str]:
    """Names of everything that a recording describes or tracks."""
    nodes = (
        [group.get(place) for place in ("OBJECT", _TRACKED)]
        if isinstance(group, h5py.Group)
        else []
    )
    return {name for node in nodes if isinstance(node, h5py.Group) for name in node}


def bodies_with_inertia(group: h5py.Group) -> set[str]:
    """Bodies that the recording describes with an inertia: boxes, not planes."""
    objects = group.get("OBJECT")
    if not isinstance(objects, h5py.Group):
        return set()
    return {
        name
        for name in objects
        if isinstance(node := objects.get(name), h5py.Group)
        and any(key.endswith("inertia") for key in node)
    }


def read_body(
    group: h5py.Group, object_name: str, problems: list[str], size: tuple[float, ...] = ()
) -> BodyProperties | None:
    """Vertices, mass and inertia about the centre of mass, which is the origin of B.

    With a ``size`` (m) it is the uniform box of that size and of the file's mass.
    """
    with damage_noted(problems):
        node = child(group, "OBJECT", problems, h5py.Group)
        box = None if node is None else child(node, object_name, problems, h5py.Group)
        body = None if box is None else _body_of(box, problems)
        return uniform_box(size, body.mass) if body is not None and size else body
    return None


def read_frequency(group: h5py.Group, problems: list[str]) -> float | None:
    """Samples per second, Hz."""
    with damage_noted(problems):
        datalog = child(group, f"{_MOCAP}/datalog", problems, h5py.Dataset)
        return None if datalog is None else sample_frequency_of(datalog, problems)
    return None


def read_recording(
    name: str, group: h5py.Group, request: Request, problems: list[str]
) -> Reading | None:
    """One recording, or None with everything that is wrong with it added to ``problems``."""
    body = read_body(group, request.object_name, problems, request.size)
    frequency = read_frequency(group, problems)
    reading = None
    with damage_noted(problems):
        reading = _read_motion(name, group, request, body, frequency, problems)
    return None if problems else reading


def _read_motion(
    name: str,
    group: h5py.Group,
    request: Request,
    body: BodyProperties | None,
    frequency: float | None,
    problems: list[str],
) -> Reading | None:
    tracked = child(group, _TRACKED, problems, h5py.Group)
    node = None if tracked is None else child(tracked, request.object_name, problems, h5py.Group)
    datalog = group.get(f"{_MOCAP}/datalog")
    datalog = datalog if isinstance(datalog, h5py.Dataset) else None
    time_step = None if frequency is None else 1.0 / frequency
    if datalog is not None and node is not None and (problem := fewer_times(datalog, node)):
        problems.append(problem)
        return None
    track = None if node is None else read_track(node, request.object_name, problems, time_step)
    if track is None:
        return None
    remarks: list[str] = []
    if frequency is not None and datalog is not None:
        problems.extend(time_problems(datalog, len(track.position), frequency))
        if not time_columns(datalog):
            remarks.append(
                "the datalog has no column Time(s), so the sample frequency alone tells the time"
            )
    if body is None or time_step is None or node is None:
        return None
    box = Box(track, body.vertices, time_step)
    surface = _read_surface(group, tracked, node.name, request, box, problems)
    if surface is None:
        return None
    note = text_of(attribute(group, "note"))
    if _BELT_WORDS.search(note) and not surface.velocity.any():
        if surface.rest is None:
            problems.append("the note says that the belt moves, but the box doesn't lie on it")
            return None
        remarks.append(
            "the note says that the belt moves, but neither the plane nor the resting box does"
        )
    part = _part(box, surface, body, request.object_name, problems, remarks)
    if part is None:
        return None
    counts = track.counts(part)
    bridged = sum(counts.values())
    if bridged:
        remarks.append(
            f"{bridged} frames bridged ({', '.join(f'{kind}: {n}' for kind, n in counts.items())})"
        )
    recording = Recording(
        name=name,
        position=track.position[part],
        orientation=rotations.continuous(track.orientation[part])
        if bridged
        else track.orientation[part],
        surface_position=surface.position,
        surface_orientation=surface.orientation,
        surface_velocity=surface.velocity,
        note=note,
    )
    return Reading(recording, surface.name, (*surface.remarks, *remarks), counts)


def _part(
    box: Box,
    surface: Surface,
    body: BodyProperties,
    name: str,
    problems: list[str],
    remarks: list[str],
) -> slice | None:
    """The frames that hold the toss; None, and a problem, where a long gap lies within it."""
    track = box.track
    n_frames = len(track.position)
    position, orientation = in_surface_frame(
        track.position, track.orientation, surface.position, surface.orientation
    )
    # markers have a height: what the box lies on is z = 0
    position = position - [0.0, 0.0, surface.height]
    end = _end_of_rest(position, surface, box.time_step)
    if end < n_frames:
        remarks.append(
            f"{n_frames - end} frames after the rest cut off: the box or the belt goes another way then"
        )
    parts = [(begin, min(last + 1, end)) for begin, last in runs(~track.lost) if begin < end]
    gaps = [(begin, last) for begin, last in runs(track.lost) if begin < end]
    if not gaps:
        return slice(0, end)
    gravity = rotations.as_rotation(surface.orientation).inv().apply([0.0, 0.0, -_GRAVITY])
    lowest = vertex_positions(position, orientation, body.vertices)[:, :, 2].min(axis=1)
    for begin, stop in reversed(parts):
        whole = slice(begin, stop)
        # a gap within the toss hides part of it, so what comes after it won't do
        if any(
            last < begin and first > 0 and _in_toss(position, lowest, first, box.time_step)
            for first, last in gaps
        ):
            continue
        common = (
            position[whole],
            rotations.continuous(orientation[whole]),
            body.vertices,
            body.center_of_mass,
        )
        if stop - begin <= 2 * LONGEST_BRIDGE:
            continue
        known: dict[str, Any] = {
            "gravity": gravity, "surface_velocity": surface.velocity,
            "rest_speed": REST_SPEED, "fall_tolerance": FALL_TOLERANCE,
        }  # fmt: skip
        events = find_events(*common, box.time_step, **known)
        # the box never lies on a surface: a flight and an impact are enough
        if events.reason and surface.rest is None:
            events = find_events(*common, box.time_step, **known, rest=stop - begin - 1)
        before = [first for first, last in gaps if first > 0 and last < begin]
        if events.reason or (before and events.release == 0):
            continue
        kinds = ", ".join({**track.counts(slice(0, begin)), **track.counts(slice(stop, end))})
        if begin or stop < end:
            remarks.append(
                f"{begin + end - stop} frames before or after the toss cut off ({kinds})"
            )
        return whole
    first, last = max(gaps, key=lambda gap: gap[1] - gap[0])
    kinds = ", ".join(track.counts(slice(first, last + 1)))
    many = f" ({len(gaps)} such gaps)" if len(gaps) > 1 else ""
    problems.append(
        f"{name}: {kinds} in {last - first + 1} of {n_frames} frames in a row (first: frame {first}){many}; at most"
        f" {LONGEST_BRIDGE} are bridged within a toss"
    )
    return None


def _in_toss(position: np.ndarray, lowest: np.ndarray, first: int, time_step: float) -> bool:
    """Whether the body falls freely just before frame ``first``, or has come down already after it
    was aloft.
    """
    aloft = np.flatnonzero(lowest[:first] > _ALOFT)
    if len(aloft) and (lowest[aloft[0] : first] < 0.5 * _ALOFT).any():
        return True
    before = position[max(first - _FALLING, 0) : first]
    if len(before) < _FALLING:
        return False
    acceleration = 2.0 * np.polyfit(np.arange(len(before)) * time_step, before, 2)[0]
    free = abs(float(np.linalg.norm(acceleration)) - _GRAVITY) < 0.3 * _GRAVITY
    return free and float(acceleration[2]) < -0.7 * _GRAVITY


def _end_of_rest(position: np.ndarray, surface: Surface, time_step: float) -> int:
    """How many frames there are until the box, at rest on the surface, is moved again; all where it
    isn't.
    """
    n_frames = len(position)
    if surface.rest is None:
        return n_frames
    last = surface.rest[1] if surface.steady is None else min(surface.rest[1], surface.steady)
    if surface.steady is not None and surface.steady <= surface.rest[0]:
        return n_frames
    # a box on a belt is expected to travel on
    later = np.arange(n_frames - last)[:, None] * time_step * surface.velocity
    moved = np.linalg.norm(position[last:] - later - position[last], axis=1).max()
    return (
        n_frames
        if moved < _MOVED_ON
        else max(last + 1 - round(_EDGE / time_step), surface.rest[0] + 2)
    )


def _read_surface(
    group: h5py.Group,
    tracked: h5py.Group,
    own: str,
    request: Request,
    box: Box,
    problems: list[str],
) -> Surface | None:
    """The surface among the other tracked bodies; every named one that can't be read is a problem
    if none serves.
    """
    unread: list[str] = []
    named = [child(tracked, name, unread, h5py.Group) for name in request.surfaces]
    wanted = [node.name.rpartition("/")[2] for node in named if node is not None]
    # another box is no surface, unless it is named as one
    no_planes = bodies_with_inertia(group) - {*wanted}
    tracks: dict[str, Track] = {}
    for name, node in tracked.items():
        if isinstance(node, h5py.Group) and node.name != own and name not in no_planes:
            said = unread if name in wanted else []
            track = read_track(node, name, said, box.time_step, n_frames=len(box.track.position))
            if track is not None:
                tracks[name] = track
    found: list[str] = []
    surface = find_surface(
        box, tracks, wanted or list(request.surfaces), request.surface_height, found
    )
    if surface is None:
        problems.extend([*unread, *found])
    return surface


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
            problems.append(
                f"the mass is {stated.item():g} kg but {mass:g} kg in the inertia matrix"
            )
        mass = float(stated.item())
    inertia = 0.5 * generalised[3:, 3:] + 0.5 * generalised[3:, 3:].T
    body = BodyProperties(vertices=vertices, mass=mass, inertia=inertia)
    problems.extend(body_problems(body))
    # No body within its vertices has a larger moment than all its mass at the farthest one: catches
    # kg mm2.
    with np.errstate(over="ignore", invalid="ignore"):
        farthest = float(np.max(np.sum((vertices - vertices.mean(axis=0)) ** 2, axis=1)))
        if mass > 0 and inertia.max() > 1.01 * mass * farthest:
            problems.append(
                f"the inertia {inertia.max():.3g} kg m2 is too large for the box's mass and size"
            )
    return body

"""What figures 1, 2, 4 and 9 of the in-hand paper show, as tidy tables, from the study's own objects and twins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.inhand.names import IN_HAND_KINEMATIC, WRIST
from contactid.inhand.readers.objects import SIMULATED, InHandObject, Part, load_objects, object_of
from contactid.inhand.readers.twin_options import TwinOptions, twin_options
from contactid.inhand.readers.twins import hold_object, recording_motion, simulate_recording
from contactid.inhand.simulate.grasped_object import GRAVITY, ContactSet, required_wrench, share_wrench, shortest_forces
from contactid.output.tables import write_csv

_VIEW = np.deg2rad([-52.0, 24.0])  # of the drawings: turn about the vertical, then tilt
_FORCE_SCALE = 0.02  # m in the drawing per N
_FRAME = 0.035  # m, length of a drawn axis
_EDGES = tuple((i, j) for i in range(8) for j in range(i + 1, 8) if bin(i ^ j).count("1") == 1)


@dataclass(frozen=True)
class GraspFigures:
    """What the figures show.

    Attributes
    ----------
    object : one of the boxes
    seed : of the recording
    contact_finger, scale_finger : whose forces figures 2 and 9 show
    time : s, when figures 1 and 2 show the forces
    samples : of the recording
    """

    object: str = "box_2"
    seed: int = 1
    contact_finger: str = "middle"
    scale_finger: str = "thumb"
    time: float = 1.2
    samples: int = 300


def _lower_left(points: np.ndarray) -> np.ndarray:
    """(3,) m: a place that is drawn below and to the left of points (v, 3), where W has room."""
    low = projected(points).min(axis=0) + np.array([0.0, 0.25 * _FRAME])
    return low @ _screen().T


def _screen() -> np.ndarray:
    """(3, 2): the drawing's directions to the right and up, unit vectors of the space drawn."""
    turn, tilt = _VIEW
    right = np.array([np.cos(turn), -np.sin(turn), 0.0])
    up = np.array([np.sin(turn) * np.sin(tilt), np.cos(turn) * np.sin(tilt), np.cos(tilt)])
    return np.stack([right, up], axis=1)


def projected(points: np.ndarray) -> np.ndarray:
    """(..., 2) m: points (..., 3) seen along a slanting direction, without perspective; the second axis points up."""
    return np.asarray(points) @ _screen()


def nearness(points: np.ndarray) -> np.ndarray:
    """(...,) m: how near points (..., 3) are to the onlooker, from the origin on."""
    turn, tilt = _VIEW
    return np.asarray(points) @ np.array([-np.sin(turn) * np.cos(tilt), -np.cos(turn) * np.cos(tilt), np.sin(tilt)])


def held_object(options: TwinOptions, shown: GraspFigures) -> pd.DataFrame:
    """Figure 1: ``kind, label, x0, y0, x1, y1, value`` in m of the drawing; ``value`` is a force in N.

    Kinds: ``edge`` and ``hidden`` (label: material), ``force``, ``gravity``, ``world`` and ``body`` (axes), ``com``,
    ``offset`` (from W to B), ``contact``.
    """
    held = hold_object(IN_HAND_KINEMATIC, shown.object, shown.seed, replace(options, samples=shown.samples))
    index = _index_at(held.trajectory.time, shown.time)
    turn = rotations.matrices(held.trajectory.orientation[index])
    origin = held.trajectory.position[index]

    def world(points: np.ndarray) -> np.ndarray:
        return np.asarray(points) @ turn.T + origin

    rows = [row for part in held.body.parts for row in _edges(part, world)]
    for name, place, force in zip(held.contact_names, held.contact_positions, held.force[index], strict=True):
        at = world(place)
        rows.append(_line("force", name, at - _FORCE_SCALE * (turn @ force), at, float(np.linalg.norm(force))))
        rows.append(_line("contact", name, at, at))
    center = world(held.body.parameters.center_of_mass)
    weight = held.body.parameters.mass * GRAVITY
    rows.append(_line("com", "", center, center))
    rows.append(_line("gravity", "", center, center - [0.0, 0.0, _FORCE_SCALE * weight], weight))
    corner = _lower_left(world(held.body.hull_vertices))
    rows += [_line("world", "xyz"[k], corner, corner + _FRAME * np.eye(3)[k]) for k in range(3)]
    rows += [_line("body", "xyz"[k], origin, origin + _FRAME * turn[:, k]) for k in range(3)]
    rows.append(_line("offset", "", corner, origin))
    return pd.DataFrame(rows)


def _line(kind: str, label: str, start: np.ndarray, end: np.ndarray, value: float = np.nan) -> dict[str, Any]:
    (x0, y0), (x1, y1) = projected(start), projected(end)
    return {"kind": kind, "label": label, "x0": x0, "y0": y0, "x1": x1, "y1": y1, "value": value}


def _edges(part: Part, placed: Any) -> list[dict[str, Any]]:
    """A part's twelve edges; those at its farthest corner are hidden."""
    corners = placed(part.vertices)
    farthest = int(np.argmin(nearness(corners)))
    return [_line("hidden" if farthest in (i, j) else "edge", part.material, corners[i], corners[j]) for i, j in _EDGES]


def contact_forces(options: TwinOptions, shown: GraspFigures) -> pd.DataFrame:
    """Figure 2: ``finger, shown, t_s, normal_n, tangential_n, friction`` of every fingertip over a recording.

    ``shown`` marks the one sample of the one finger that the sketch shows.
    """
    held = hold_object(IN_HAND_KINEMATIC, shown.object, shown.seed, replace(options, samples=shown.samples))
    time, parts = held.trajectory.time, []
    index = _index_at(time, shown.time)
    _finger(held.contact_names, shown.contact_finger)
    for name, normal, force in zip(
        held.contact_names, held.body.contact_normals, np.swapaxes(held.force, 0, 1), strict=True
    ):
        along = force @ normal
        across = np.linalg.norm(force - along[:, None] * normal, axis=1)
        marked = (np.arange(len(time)) == index) & (name == shown.contact_finger)
        parts.append(
            pd.DataFrame(
                {
                    "finger": name, "shown": marked, "t_s": time, "normal_n": along, "tangential_n": across,
                    "friction": held.body.friction,
                }
            )
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def objects(friction_objects: pd.DataFrame) -> pd.DataFrame:
    """Figure 4: ``panel, kind, label, x0, y0, x1, y1, value`` in m of the drawing, a panel per object.

    Kinds: ``edge``, ``hidden`` (label: material), ``com``, ``contact``, ``body`` (axes), ``mass`` (value, kg); and, in
    a panel of its own, ``friction``: objects and regions of the friction experiments (value: coefficient).
    """
    known = load_objects()
    rows = [
        {"panel": name, **row}
        for name in [*(name for name in known if name != SIMULATED), SIMULATED]
        for row in _object_rows(known[name])
    ]
    for entry in friction_objects.to_dict("records"):
        label = f"{entry['object']}/{entry['region']}"
        rows.append({"panel": "friction", "kind": "friction", "label": label, "value": entry["friction_mu"]})
    return pd.DataFrame(rows)


def _object_rows(body: InHandObject) -> list[dict[str, Any]]:
    rows = [row for part in body.parts for row in _edges(part, np.asarray)]
    center = body.parameters.center_of_mass
    rows += [_line("com", "", center, center), _line("mass", "", center, center, body.parameters.mass)]
    rows += [
        _line("contact", name, at, at) for name, at in zip(body.contact_names, body.contact_positions, strict=True)
    ]
    rows += [_line("body", "xyz"[k], np.zeros(3), 0.25 * _size(body) * np.eye(3)[k]) for k in range(3)]
    return rows


def _size(body: InHandObject) -> float:
    return float(np.ptp(body.hull_vertices, axis=0).max())


def force_scale(options: TwinOptions, shown: GraspFigures) -> pd.DataFrame:
    """Figure 9: ``sensor, component, t_s, reported_n, true_n, squeeze_n``, of one fingertip and of the wrist.

    The motion is the same. Components are those of B. ``squeeze_n`` is the constant part that doesn't move the object.
    """
    options = replace(options, samples=shown.samples)
    motion = recording_motion(IN_HAND_KINEMATIC, shown.seed, options)
    body = object_of(shown.object)
    parts = []
    for source in (WRIST, IN_HAND_KINEMATIC):
        recording, truth = simulate_recording(source, shown.object, shown.seed, options, motion=motion)
        names = [str(name) for name in recording["contact"].values]
        one = 0 if source == WRIST else _finger(names, shown.scale_finger)
        squeezed = np.zeros(3) if source == WRIST else _squeeze(body, options, motion)[one]
        for k, component in enumerate("xyz"):
            parts.append(
                pd.DataFrame(
                    {
                        "sensor": "wrist" if source == WRIST else shown.scale_finger,
                        "component": component,
                        "t_s": recording["time"].values,
                        "reported_n": recording["contact_force"].values[:, one, k],
                        "true_n": truth["contact_force_true"].values[:, one, k],
                        "squeeze_n": squeezed[k],
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def _squeeze(body: InHandObject, options: TwinOptions, motion: Any) -> np.ndarray:
    """(k, 3) N: forces of the grip that cancel each other."""
    trajectory = motion.evaluate(options.time_step * np.arange(options.samples))
    wrench = required_wrench(body.parameters, trajectory)
    contacts = ContactSet(body.contact_positions, body.contact_normals, body.friction)
    grip = options.source(IN_HAND_KINEMATIC).grip
    return share_wrench(wrench, contacts, grip)[0] - shortest_forces(wrench, contacts.positions)[0]


def _index_at(time: np.ndarray, wanted: float) -> int:
    if not time[0] <= wanted <= time[-1]:
        raise ContactIdError(
            f"the in-hand figures show {wanted:g} s, after the recording's end at {time[-1]:g} s", "Choose less"
        )
    return int(np.argmin(np.abs(time - wanted)))


def _finger(names: Any, wanted: str) -> int:
    if wanted not in names:
        raise ContactIdError(f"no finger {wanted!r}", f"There are {', '.join(names)}")
    return list(names).index(wanted)


def write_grasp_figures(
    folder: str | Path, twin: Mapping[str, Any], block: Mapping[str, Any], friction: str | Path
) -> None:
    """Write the data of figures 1, 2, 4 and 9 into a folder; blocks ``inhand: twin`` and ``inhand: grasp_figures``."""
    options, shown, out = twin_options(twin), GraspFigures(**block), Path(folder)
    write_csv(held_object(options, shown), out / "fig01_inhand.csv")
    write_csv(contact_forces(options, shown), out / "fig02_contact.csv")
    write_csv(objects(pd.read_csv(friction)), out / "fig04_objects.csv")
    write_csv(force_scale(options, shown), out / "fig09_force_scale.csv")

"""Drawings of objects, seen along a slanting direction, without perspective: figure 1, one held at
four fingertips, and figure 4, all of them.

Tables have a row per point in three dimensions: ``object``, ``part``, ``item``, ``x, y, z`` (m) and
``value``. A part is a ``block`` (its corners; ``item`` is its material), the ``mass`` (its centre;
kg), a ``frame`` (origin, and the tips of x, y and z), a ``contact`` (the rim of a disc in the face
that a fingertip touches), a ``force`` (of a fingertip or the weight, from foot to tip; N) or
``friction`` (a coefficient).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.core import rotations
from contactid.inhand.artefacts.contact_forces import FINGER_COLOURS, held_object
from contactid.inhand.readers.objects import InHandObject, load_objects
from contactid.inhand.simulate.grasped_object import GRAVITY
from contactid.output import pen, style
from contactid.output.pen import DARK, QUIET

_VIEW = pen.view(-38.0, 24.0)
_SEEN = _VIEW[:2].T
_FORCE_SCALE = 0.02  # m in the drawing per N
_FINGERTIP = 0.009  # m, radius of a fingertip on a face
_AROUND = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
_ROOM = np.array([0.035, 0.012])  # m beside and over figure 1's drawing, for its texts
_WOOD = "#a8622b"
_XYZ = ["x", "y", "z"]
_LEGEND = "brown: wooden block inside\n$\\oplus$: centre of mass\ndiscs: contacts (dotted: hidden)"


def object_in_hand(objects: str, twin: Mapping[str, Any], shown: Mapping[str, Any]) -> pd.DataFrame:
    """Figure 1: an object at four fingertips, with the forces on it (N) and the frames W and B."""
    held, index = held_object(objects, twin, shown)
    turn = rotations.matrices(held.trajectory.orientation[index])
    origin = held.trajectory.position[index]
    parts = _object(held.body, turn, origin)
    for finger, at, force in zip(
        held.contact_names, held.contact_positions, held.force[index], strict=True
    ):
        tip = origin + turn @ at
        foot = tip - _FORCE_SCALE * turn @ force
        parts.append(_rows("force", finger, np.array([foot, tip]), float(np.linalg.norm(force))))
    center = origin + turn @ held.body.parameters.center_of_mass
    weight = GRAVITY * held.body.parameters.mass
    below = center - [0.0, 0.0, _FORCE_SCALE * weight]
    parts.append(_rows("force", "weight", np.array([center, below]), weight))
    # W stands below the object and to its left, where there is room
    left, low = ((origin + held.body.hull_vertices @ turn.T) @ _SEEN).min(axis=0)
    ends = 0.035 * np.vstack([np.zeros(3), np.eye(3)])
    parts.append(_rows("frame", "W", _SEEN @ [left, low + 0.01] + ends))
    return pd.concat(parts, ignore_index=True).assign(object=held.body.name)


def _object(body: InHandObject, turn: np.ndarray, origin: np.ndarray) -> list[pd.DataFrame]:
    """Blocks, mass, contacts and frame B of an object at a pose."""
    mass, center = body.parameters.mass, body.parameters.center_of_mass
    axis = 0.2 * np.ptp(body.hull_vertices, axis=0).max()
    parts = [
        *(_rows("block", part.material, part.vertices) for part in body.parts),
        _rows("frame", "B", axis * np.vstack([np.zeros(3), np.eye(3)])),
        _rows("mass", "", center[None], mass),
    ]
    for name, at, inward in zip(
        body.contact_names, body.contact_positions, body.contact_normals, strict=True
    ):
        # so that the rim runs anticlockwise as seen from outside
        across = np.linalg.svd(inward[None])[2][1]
        along = np.cross(across, inward)
        rim = np.column_stack([np.cos(_AROUND), np.sin(_AROUND)]) @ [across, along]
        parts.append(_rows("contact", name, at + _FINGERTIP * rim))
    for part in parts:
        part[_XYZ] = origin + part[_XYZ].to_numpy() @ turn.T
    return parts


def _rows(part: str, item: str, points: np.ndarray, value: float = np.nan) -> pd.DataFrame:
    return pd.DataFrame(points, columns=_XYZ).assign(part=part, item=item, value=value)


def all_objects(objects: str, surfaces: str) -> pd.DataFrame:
    """Figure 4: every object, and the friction experiments' objects and regions."""
    parts = []
    for name, body in load_objects(objects).items():
        parts += [part.assign(object=name) for part in _object(body, np.eye(3), np.zeros(3))]
    friction = pd.read_csv(surfaces).rename(columns={"region": "item", "friction_mu": "value"})
    parts.append(friction[["object", "item", "value"]].assign(part="friction"))
    return pd.concat(parts, ignore_index=True)


def _seen(rows: pd.DataFrame) -> np.ndarray:
    """Points (n, 2) of rows as they are seen."""
    return rows[_XYZ].to_numpy() @ _SEEN


def _draw_object(axes: Axes, data: pd.DataFrame) -> None:
    """Blocks, fingertips on faces, frames and the centre of mass."""
    for (part, item), rows in data.groupby(["part", "item"], sort=False):
        points = rows[_XYZ].to_numpy()
        match part:
            case "block":
                look = (0.0, _WOOD) if item == "wood" else (0.35, DARK)
                pen.box(axes, points, _VIEW, pen.BODY, *look)
            case "contact":
                colour = FINGER_COLOURS.get(str(item), style.LINE)
                pen.side(axes, points, _VIEW, colour, 0.6, colour)
            case "frame":
                origin, *tips = points @ _SEEN
                names = [f"${axis}_{item}$" for axis in "xyz"]
                pen.frame(axes, origin, tips - origin, names, width=1.1)
            case "mass":
                pen.say(axes, points[0] @ _SEEN, r"$\oplus$")


def draw_held_object(data: pd.DataFrame) -> Figure:
    """Figure 1: an object at four fingertips, with the forces on it and the frames W and B."""
    places = _seen(data)
    low, high = places.min(axis=0) - _ROOM, places.max(axis=0) + _ROOM
    figure, (axes,) = pen.page(style.SINGLE_COLUMN, [(low, high)])
    _draw_object(axes, data)
    for name, rows in data[data["part"] == "force"].groupby("item"):
        foot, tip = _seen(rows)
        colour, away = FINGER_COLOURS.get(str(name), QUIET), (foot - tip) / np.hypot(*(foot - tip))
        pen.arrow(axes, foot, tip, colour, 1.6)
        # the weight's foot is the centre of mass
        at, shift = (tip, (19, 2)) if name == "weight" else (foot, 16.0 * away)
        pen.say(axes, at, f"{name}\n{rows['value'].iloc[0]:.1f} N", shift, colour)
    frames = data[data["part"] == "frame"]
    ends = [_seen(frames[frames["item"] == name])[0] for name in ("W", "B")]
    pen.dashed(axes, ends)
    pen.say(axes, 0.7 * ends[0] + 0.3 * ends[1], "$p, R$", (14, 0))
    return figure


def draw_objects(data: pd.DataFrame) -> Figure:
    """Figure 4: the objects with outer sizes, and the friction experiments' objects."""
    figure, panels = plt.subplots(2, 4, figsize=(style.DOUBLE_COLUMN, 3.3))
    for axes in panels.flat:
        axes.set_axis_off()
        axes.set(aspect="equal")
    friction = data["part"] == "friction"
    solids = data[~friction].groupby("object", sort=False)
    for axes, (name, rows) in zip(panels[:, :3].flat, solids, strict=True):
        _draw_object(axes, rows)
        sides = 1e3 * np.ptp(rows.loc[rows["part"] == "block", _XYZ], axis=0)
        size = r"$\times$".join(f"{side:.4g}" for side in sides)
        mass = rows.loc[rows["part"] == "mass", "value"].iloc[0]
        axes.set_title(f"{str(name).replace('_', ' ')}, {mass:g} kg\n{size} mm")
    listed = [r"friction objects, $\mu$ (chosen)"]
    for row in pen.rows_of(data[friction]):
        region = "" if row.item == "all" else f" ({row.item})"
        listed.append(f"{row.object.replace('_', ' ')}{region}: {row.value:.2f}")
    for axes, text in zip(panels[:, 3], (_LEGEND, "\n".join(listed)), strict=True):
        axes.text(0.0, 0.5, text, va="center", fontsize=7)
    return figure

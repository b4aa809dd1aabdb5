"""Drawings of objects, as tables of :mod:`contactid.output.sketch` in m of what is seen along a
slanting direction, without perspective: figure 1, one held at four fingertips, and figure 4, all of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.core import rotations
from contactid.inhand.artefacts.contact_forces import FINGER_COLOURS, held_object
from contactid.inhand.readers.objects import SIMULATED, InHandObject, load_objects
from contactid.inhand.simulate.grasped_object import GRAVITY
from contactid.output import pen, sketch, style
from contactid.output.pen import QUIET, THIN
from contactid.output.sketch import Look, Rows

_VIEW = pen.view(-38.0, 24.0)
_FORCE_SCALE = 0.02  # m in the drawing per N
_FRAME = 0.035  # m, length of a drawn axis
_PAD = 0.009  # m, radius of a fingertip on a face
_AROUND = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)  # its rim
# pairs of a box's corners, which are numbered so that one binary digit changes along an edge
_BOX_EDGES = [(i, j) for i, j in combinations(range(8), 2) if (i ^ j).bit_count() == 1]
_BARS = {SIMULATED: 0.2}  # m of a bar that shows the scale
_BAR = 0.05
_ROOM = np.array([0.035, 0.012])  # m beside and over figure 1's drawing, for its texts
_FAINT, _WOOD = "#c9c9c9", "#a8622b"
_LOOKS = {
    **sketch.LOOKS,
    "printed": Look(),
    "printed, hidden": Look(_FAINT, THIN, ":"),
    "solid": Look(),
    "solid, hidden": Look(_FAINT, THIN, ":"),
    "wood": Look(_WOOD),
    "wood, hidden": Look(_WOOD, THIN, ":"),
    "weight": Look(QUIET, 1.6, ink=QUIET),
    "contact": Look(style.LINE),
    "bar": Look(width=1.4),
    **{finger: Look(colour, 1.6, ink=colour) for finger, colour in FINGER_COLOURS.items()},
    **{
        f"{finger} on a face": Look(colour, THIN, face=colour, opacity=0.45)
        for finger, colour in FINGER_COLOURS.items()
    },
    **{
        f"{finger} behind": Look(colour, 0.8, (0, (1.5, 1.0)))
        for finger, colour in FINGER_COLOURS.items()
    },
    **{axis: Look(colour, 1.1) for axis, colour in zip("xyz", pen.AXIS_COLOURS, strict=True)},
}


def object_in_hand(objects: str, twin: Mapping[str, Any], shown: Mapping[str, Any]) -> pd.DataFrame:
    """Figure 1: an object at four fingertips, with the forces on it (N) and the frames W and B."""
    held, index = held_object(objects, twin, shown)
    turn = rotations.matrices(held.trajectory.orientation[index])
    origin = held.trajectory.position[index]
    seen = _VIEW[:2] @ turn  # from B to the drawing
    middle = _VIEW[:2] @ origin
    rows = _edges(held.body, turn, middle)
    contacts = zip(
        held.contact_names,
        held.contact_positions,
        held.body.contact_normals,
        held.force[index],
        strict=True,
    )
    for name, place, normal, force in contacts:
        along, at = seen @ force, middle + seen @ place
        rows += _pad(name, place, normal, turn, middle)
        foot = at - _FORCE_SCALE * along
        rows += sketch.arrow(f"force {name}", foot, along, name, _FORCE_SCALE, unit="N")
        said = f"{name}\n{np.linalg.norm(force):.1f} N", -16.0 * along / np.linalg.norm(along)
        rows += sketch.point(f"force {name}", foot, *said, look=name)
    weight = held.body.parameters.mass * GRAVITY
    center = middle + seen @ held.body.parameters.center_of_mass
    down = -weight * _VIEW[:2, 2]
    named = f"$m g$, {weight:.1f} N", (19, 4), "N"
    rows += sketch.arrow("gravity", center, down, "weight", _FORCE_SCALE, *named)
    rows += sketch.number("weight", weight, "N") + _center(center)
    # W stands below the object and to its left, where there is room
    corner = (middle + held.body.hull_vertices @ seen.T).min(axis=0)
    corner[1] += 0.25 * _FRAME
    rows += sketch.line("offset", [corner, middle], look="dashed")
    rows += sketch.point("offset", 0.7 * corner + 0.3 * middle, "$p, R$", (14, 0), look="faint")
    rows += _frame("W", corner, _VIEW[:2], _FRAME) + _frame("B", middle, seen, _FRAME)
    rows += sketch.point("W", corner, "$W$", (-9, -7), look="dashed")
    rows += sketch.point("B", middle, "$B$", (-9, 7), look="dashed")
    return sketch.table(rows)


def _pad(
    finger: str, place: np.ndarray, normal: np.ndarray, turn: np.ndarray, middle: np.ndarray
) -> Rows:
    """A fingertip on the face that it touches: a disc in its plane, dotted where the object hides it.

    ``normal`` points into the object.
    """
    across = np.linalg.svd(normal[None])[2][1:]
    rim = place + _PAD * (np.column_stack([np.cos(_AROUND), np.sin(_AROUND)]) @ across)
    outward = _VIEW[2] @ turn @ -normal
    look = f"{finger} on a face" if outward > 0.0 else f"{finger} behind"
    return sketch.line(f"contact {finger}", middle + rim @ (_VIEW[:2] @ turn).T, "area", look=look)


def _frame(name: str, origin: np.ndarray, seen: np.ndarray, length: float) -> Rows:
    """The axes of a frame, whose directions are seen as the columns of a matrix (2, 3)."""
    rows = []
    for axis, along in zip("xyz", seen.T, strict=True):
        rows += sketch.arrow(f"{axis} {name}", origin, along, axis, length)
    return rows


def _center(at: np.ndarray) -> Rows:
    return sketch.point("centre of mass", at, r"$\oplus$", look="bar")


def _edges(body: InHandObject, turn: np.ndarray, origin: np.ndarray) -> Rows:
    """Its parts' edges, seen turned and moved; those at a part's farthest corner are hidden."""
    rows = []
    for part in body.parts:
        corners = part.vertices @ turn.T @ _VIEW.T
        farthest = int(np.argmin(corners[:, 2]))
        for i, j in _BOX_EDGES:
            look = f"{part.material}, hidden" if farthest in (i, j) else part.material
            rows += sketch.line(f"{part.name} {i}{j}", origin + corners[[i, j], :2], look=look)
    return rows


def all_objects(objects: str, surfaces: str) -> pd.DataFrame:
    """Figure 4: a panel per object, the simulated one last, and one with the coefficients of
    friction of the friction experiments' objects and regions.
    """
    loaded = load_objects(objects)
    names = [*(name for name in loaded if name != SIMULATED), SIMULATED]
    friction: Rows = []
    for surface in pd.read_csv(surfaces).to_dict("records"):
        item = f"{surface['object']}/{surface['region']}"
        friction += sketch.number(item, surface["friction_mu"], "1")
    return sketch.table(*(_object_rows(loaded[name]) for name in names), friction)


def _object_rows(body: InHandObject) -> Rows:
    rows = _edges(body, np.eye(3), np.zeros(2))
    size = float(np.ptp(body.hull_vertices, axis=0).max())
    rows += _frame("B", np.zeros(2), _VIEW[:2], 0.25 * size)
    for name, at in zip(body.contact_names, body.contact_positions @ _VIEW[:2].T, strict=True):
        rows += sketch.point(f"contact {name}", at, look="contact", size=3.0)
    rows += _center(_VIEW[:2] @ body.parameters.center_of_mass)
    outline = body.hull_vertices @ _VIEW[:2].T
    right, low = outline[:, 0].max(), outline[:, 1].min() - 0.1 * size
    length = _BARS.get(body.name, _BAR)
    said: dict[str, Any] = {"text": f"{1e3 * length:g} mm", "shift_y": 6.0}
    ends = [(right - length, low), (right, low)]
    rows += sketch.line("bar", ends, look="bar", **said)
    return rows + sketch.heading(f"{body.name.replace('_', ' ')}, {body.parameters.mass:g} kg")


def draw_held_object(data: pd.DataFrame) -> Figure:
    """Figure 1: an object at four fingertips, with the forces on it and the frames W and B."""
    places = data[["x", "y"]].agg(["min", "max"]).to_numpy() + np.array([-_ROOM, _ROOM])
    figure, (axes,) = pen.page(style.SINGLE_COLUMN, [(places[0], places[1])])
    sketch.draw(axes, data, _LOOKS)
    return figure


def draw_objects(data: pd.DataFrame) -> Figure:
    """Figure 4: boxes to one scale, the simulated object to its own, and the friction experiments'
    objects.
    """
    widths = (1.0, 1.0, 1.0, 1.15)
    figure, panels = plt.subplots(2, 4, figsize=(style.DOUBLE_COLUMN, 3.3), width_ratios=widths)
    *objects, friction = (rows for _, rows in data.groupby("panel"))
    boxes = pd.concat(objects[:-1])
    for axes, rows in zip(panels[:, :3].flat, objects, strict=True):
        shown = rows if rows is objects[-1] else boxes
        low, high = shown[["x", "y"]].min() - 0.1 * _BAR, shown[["x", "y"]].max() + 0.1 * _BAR
        axes.set(xlim=(low["x"], high["x"]), ylim=(low["y"], high["y"]), aspect="equal")
        axes.set_axis_off()
        sketch.draw(axes, rows, _LOOKS)
    for axes in panels[:, 3]:
        axes.set_axis_off()
    _object_legend(panels[0, 3])
    _friction_list(panels[1, 3], friction)
    return figure


def _object_legend(axes: Axes) -> None:
    mark: dict[str, Any] = {"color": pen.DARK, "ls": "none", "ms": 7.0, "mew": 0.1}
    contact: dict[str, Any] = {"color": style.LINE, "marker": "o", "ls": "none", "ms": 3.0}
    handles = [
        Line2D([], [], color=pen.DARK, lw=0.9, label="outline"),
        Line2D([], [], color=_WOOD, lw=0.9, label="wooden block inside"),
        Line2D([], [], marker=r"$\oplus$", label="centre of mass", **mark),
        Line2D([], [], label="contact point", **contact),
    ]
    for axis, colour in zip("xyz", pen.AXIS_COLOURS, strict=True):
        handles.append(Line2D([], [], color=colour, lw=1.2, label=f"${axis}_B$"))
    axes.legend(handles=handles, loc="center left", borderaxespad=0.0)


def _friction_list(axes: Axes, rows: pd.DataFrame) -> None:
    look: dict[str, Any] = {"va": "top", "transform": axes.transAxes}
    axes.text(0.0, 1.0, r"friction objects, $\mu$ (chosen)", fontsize=7, **look)
    for place, row in enumerate(rows.itertuples(), start=1):
        name, _, region = str(row.item).partition("/")
        text = name.replace("_", " ") + ("" if region == "all" else f" ({region})")
        height = 1.0 - 0.095 * (place + 0.3)
        axes.text(0.0, height, text, fontsize=6, **look)
        axes.text(1.0, height, f"{row.value:.2f}", fontsize=6, ha="right", **look)

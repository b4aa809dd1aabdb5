"""Drawings of objects, seen along a slanting direction, without perspective: figure 1, one held at
four fingertips, and figure 4, all of them.

Tables have a row per point in three dimensions: ``object``, ``part``, ``item``, ``x, y, z`` (m) and
``value``. A part is a ``block`` (its corners; ``item`` is its material), the ``mass`` (its centre;
kg), a ``frame`` (origin, and the tips of x, y and z), a ``contact``, the ``force`` of a fingertip
(from foot to tip; N), the ``weight`` (N) or ``friction`` (a coefficient).
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
from contactid.inhand.readers.objects import SIMULATED, InHandObject, load_objects
from contactid.inhand.simulate.grasped_object import GRAVITY
from contactid.output import pen, style
from contactid.output.pen import DARK, QUIET

_VIEW = pen.view(-38.0, 24.0)
_SEEN = _VIEW[:2].T
_FORCE_SCALE = 0.02  # m in the drawing per N
_FRAME = 0.035  # m, length of a drawn axis
_BAR = 0.05  # m of a bar that shows the scale
_SIMULATED_BAR = 0.2
_ROOM = np.array([0.035, 0.012])  # m beside and over figure 1's drawing, for its texts
_WOOD = "#a8622b"
_LEGEND = "brown: wooden block inside\n$\\oplus$: centre of mass\nblue points: contacts"


def object_in_hand(objects: str, twin: Mapping[str, Any], shown: Mapping[str, Any]) -> pd.DataFrame:
    """Figure 1: an object at four fingertips, with the forces on it (N) and the frames W and B."""
    held, index = held_object(objects, twin, shown)
    turn = rotations.matrices(held.trajectory.orientation[index])
    origin = held.trajectory.position[index]
    parts = _object(held.body, turn, origin, _FRAME)
    tips = origin + held.contact_positions @ turn.T
    feet = tips - _FORCE_SCALE * held.force[index] @ turn.T
    newtons = np.linalg.norm(held.force[index], axis=1)
    for finger, *ends, size in zip(held.contact_names, feet, tips, newtons, strict=True):
        parts.append(_rows("force", finger, np.array(ends), size))
    parts.append(_rows("weight", "", np.full((1, 3), np.nan), GRAVITY * held.body.parameters.mass))
    # W stands below the object and to its left, where there is room
    corner = ((origin + held.body.hull_vertices @ turn.T) @ _SEEN).min(axis=0)
    corner[1] += 0.25 * _FRAME
    start = _SEEN @ corner
    parts.append(_rows("frame", "W", start + _FRAME * np.vstack([np.zeros(3), np.eye(3)])))
    return pd.concat(parts, ignore_index=True).assign(object=held.body.name)


def _object(
    body: InHandObject, turn: np.ndarray, origin: np.ndarray, axis: float
) -> list[pd.DataFrame]:
    """Blocks, mass, contacts and frame B of an object at a pose; ``axis`` is a length (m)."""

    def placed(points: np.ndarray) -> np.ndarray:
        return origin + points @ turn.T

    mass, center = body.parameters.mass, body.parameters.center_of_mass
    return [
        *(_rows("block", part.material, placed(part.vertices)) for part in body.parts),
        _rows("frame", "B", placed(axis * np.vstack([np.zeros(3), np.eye(3)]))),
        _rows("contact", "", placed(body.contact_positions)),
        _rows("mass", "", placed(center[None]), mass),
    ]


def _rows(part: str, item: str, points: np.ndarray, value: float = np.nan) -> pd.DataFrame:
    table = pd.DataFrame(points, columns=["x", "y", "z"])
    return table.assign(part=part, item=item, value=value)


def all_objects(objects: str, surfaces: str) -> pd.DataFrame:
    """Figure 4: every object, the simulated one last, and the coefficients of friction of the
    friction experiments' objects and regions.
    """
    loaded = load_objects(objects)
    parts = []
    for name in [*(name for name in loaded if name != SIMULATED), SIMULATED]:
        axis = 0.25 * float(np.ptp(loaded[name].hull_vertices, axis=0).max())
        rows = _object(loaded[name], np.eye(3), np.zeros(3), axis)
        parts += [part.assign(object=name) for part in rows]
    friction = pd.read_csv(surfaces).rename(columns={"region": "item", "friction_mu": "value"})
    parts.append(friction[["object", "item", "value"]].assign(part="friction"))
    return pd.concat(parts, ignore_index=True)


def _seen(rows: pd.DataFrame) -> np.ndarray:
    """Points (n, 2) of rows as they are seen."""
    return rows[["x", "y", "z"]].to_numpy() @ _SEEN


def _draw_object(axes: Axes, data: pd.DataFrame) -> None:
    """Blocks, frames and the centre of mass."""
    for material, rows in data[data["part"] == "block"].groupby("item", sort=False):
        corners, wooden = rows[["x", "y", "z"]].to_numpy(), material == "wood"
        look = (pen.BODY, 0.0, _WOOD) if wooden else (pen.BODY, 0.35, DARK)
        pen.box(axes, corners, _VIEW, *look)
    for name, rows in data[data["part"] == "frame"].groupby("item"):
        origin, *tips = _seen(rows)
        names = [f"${axis}_{name}$" for axis in "xyz"]
        pen.frame(axes, origin, tips - origin, names, width=1.1)
    contacts = data[data["part"] == "contact"]
    axes.plot(*_seen(contacts).T, "o", color=style.LINE, ms=3.0, mew=0.0, zorder=7)
    pen.say(axes, _seen(data[data["part"] == "mass"])[0], r"$\oplus$")


def draw_held_object(data: pd.DataFrame) -> Figure:
    """Figure 1: an object at four fingertips, with the forces on it and the frames W and B."""
    places = _seen(data[data["part"] != "weight"])
    low, high = places.min(axis=0) - _ROOM, places.max(axis=0) + _ROOM
    figure, (axes,) = pen.page(style.SINGLE_COLUMN, [(low, high)])
    _draw_object(axes, data)
    for finger, rows in data[data["part"] == "force"].groupby("item"):
        foot, tip = _seen(rows)
        colour, away = FINGER_COLOURS[str(finger)], 16.0 * (foot - tip) / np.hypot(*(foot - tip))
        pen.arrow(axes, foot, tip, colour, 1.6)
        pen.say(axes, foot, f"{finger}\n{rows['value'].iloc[0]:.1f} N", away, colour)
    weight = data.loc[data["part"] == "weight", "value"].iloc[0]
    center = _seen(data[data["part"] == "mass"])[0]
    down = center - (0.0, _FORCE_SCALE * weight * _VIEW[1, 2])
    pen.arrow(axes, center, down, QUIET, 1.6, f"$m g$, {weight:.1f} N", (19, 4))
    frames = data[data["part"] == "frame"]
    ends = [_seen(frames[frames["item"] == name])[0] for name in ("W", "B")]
    pen.dashed(axes, ends)
    pen.say(axes, 0.7 * ends[0] + 0.3 * ends[1], "$p, R$", (14, 0))
    return figure


def draw_objects(data: pd.DataFrame) -> Figure:
    """Figure 4: boxes to one scale, the simulated object to its own, and the friction experiments'
    objects.
    """
    widths = (1.0, 1.0, 1.0, 1.15)
    figure, panels = plt.subplots(2, 4, figsize=(style.DOUBLE_COLUMN, 3.3), width_ratios=widths)
    for axes in panels.flat:
        axes.set_axis_off()
    solids = data[data["part"] != "friction"]
    simulated = solids["object"].iloc[-1]
    boxes = _seen(solids[solids["object"] != simulated])
    for axes, (name, rows) in zip(
        panels[:, :3].flat, solids.groupby("object", sort=False), strict=True
    ):
        shown, bar = (_seen(rows), _SIMULATED_BAR) if name == simulated else (boxes, _BAR)
        low, high = shown.min(axis=0) - 0.4 * bar, shown.max(axis=0) + 0.1 * bar
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        _draw_object(axes, rows)
        right, below = _seen(rows).max(axis=0)[0], low[1] + 0.1 * bar
        axes.plot([right - bar, right], [below, below], color=DARK, lw=1.4)
        pen.say(axes, (right - 0.5 * bar, below), f"{1e3 * bar:g} mm", (0, 6))
        mass = rows.loc[rows["part"] == "mass", "value"].iloc[0]
        axes.set_title(f"{str(name).replace('_', ' ')}, {mass:g} kg")
    panels[0, 3].text(0.0, 0.5, _LEGEND, va="center", fontsize=7)
    _friction_list(panels[1, 3], data[data["part"] == "friction"])
    return figure


def _friction_list(axes: Axes, rows: pd.DataFrame) -> None:
    regions = rows["item"].map(lambda region: "" if region == "all" else f" ({region})")
    names = rows["object"].str.replace("_", " ") + regions
    coefficients = rows["value"].map("{:.2f}".format)
    look: dict[str, Any] = {"va": "top", "transform": axes.transAxes, "fontsize": 6}
    axes.text(0.0, 1.0, "\n".join(["friction objects", *names]), **look)
    axes.text(1.0, 1.0, "\n".join([r"$\mu$ (chosen)", *coefficients]), ha="right", **look)

"""Figures 20 and 21: drawings to scale in place of the planar paper's two photographs, of a file of
shapes.

============== ================================================================================================
column         meaning
============== ================================================================================================
panel          1, 2, ... from the left
part           ``area`` and ``line`` (points of an outline or polyline), ``arrow`` (foot, tip), ``length`` (two
               ends of a dimension), ``angle`` (apex, then points of an arc), ``name`` (place of a text, then the
               place that it names)
item           which one; of a length and a name, its text
material       what it's made of or drawn as: ``wood``, ``sheet``, ``metal``, ``magnet``, ``frame``, ``circle``, ...
order          of the point
x_mm, y_mm     place in the panel's own axes, mm
given          ``paper`` or ``assumed``
============== ================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.core.reading import read_yaml
from contactid.output import style
from contactid.planar.artefacts import pen
from contactid.planar.artefacts.time_lapse import polyline

COLUMNS = ["panel", "part", "item", "material", "order", "x_mm", "y_mm", "given"]
_CORNERS = 61  # points of a drawn circle
INSTEAD_OF_PHOTOGRAPH = (
    "Drawing in place of the photograph, to scale. "
    "Solid outlines: sizes stated in the paper; dashed: assumed."
)
_QUIET = "#666666"
_FILLS = {
    "wood": "#ecd9b4",
    "platform": "#f3e8cf",
    "sheet": "#dcebf5",
    "paper": "#ffffff",
    "frame": "#e6e6e6",
    "metal": "#b9bec4",
    "magnet": "#5a5a5a",
    "circle": "#222222",
}
_SEEN_THROUGH = {"sheet": 0.55, "frame": 0.75, "magnet": 0.7}
_AROUND = np.array([[-16.0, -8.0], [16.0, 8.0]])  # mm left and below, right and above what is shown
_HEAD = 0.45  # inches of the note above


def rig(rig_shapes: str) -> pd.DataFrame:
    """Figure 20: the set-up from the front (1) and from the side, cut (2)."""
    return _table(read_yaml(rig_shapes)["rig"])


def release(rig_shapes: str) -> pd.DataFrame:
    """Figure 21: the end-effector from the front (1) and from the side (2)."""
    return _table(read_yaml(rig_shapes)["release"])


def _table(shapes: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The points of all shapes."""
    said = ("panel", "part", "item", "material", "given")
    parts = []
    for shape in shapes:
        points = _points(shape)
        columns = {name: shape[name] for name in said}
        parts.append(polyline(points, "mm", **columns, order=range(len(points))))
    return pd.concat(parts, ignore_index=True)[COLUMNS]


def _points(shape: Mapping[str, Any]) -> np.ndarray:
    """(n, 2) of a rectangle, disc, ellipse, arc or points, mm."""
    whole = np.linspace(0.0, 2.0 * np.pi, _CORNERS)
    match shape:
        case {"rectangle": [left, low, right, top]}:
            return np.array([[left, low], [right, low], [right, top], [left, top], [left, low]])
        case {"arc": [x, y, radius, start, end]}:
            return np.vstack(
                [[x, y], _around(x, y, radius, radius, 0.0, np.linspace(start, end, _CORNERS))]
            )
        case {"disc": [x, y, radius]}:
            return _around(x, y, radius, radius, 0.0, whole)
        case {"ellipse": [x, y, a, b, turn]}:
            return _around(x, y, a, b, turn, whole)
    return np.array(shape["points"], dtype=float)


def _around(x: float, y: float, a: float, b: float, turn: float, angle: np.ndarray) -> np.ndarray:
    """(n, 2) points of an ellipse at angles (n,) of its own axes."""
    along, across = a * np.cos(angle), b * np.sin(angle)
    c, s = np.cos(turn), np.sin(turn)
    return np.column_stack([x + c * along - s * across, y + s * along + c * across])


def draw_rig(data: pd.DataFrame) -> Figure:
    """Figure 20: the set-up from the front (a) and from the side (b)."""
    return _draw_views(data, ("(a) from the front", "(b) from the side, cut"))


def draw_release(data: pd.DataFrame) -> Figure:
    """Figure 21: the end-effector from the front (a) and from the side (b)."""
    titles = (
        "(a) along the servo's axis, seen through",
        "(b) from the side; inverting the field lets go",
    )
    return _draw_views(data, titles)


def _draw_views(data: pd.DataFrame, titles: Sequence[str]) -> Figure:
    """Panels beside each other, of one scale and height."""
    parts = [part for _, part in data.groupby("panel")]
    low, high = data["y_mm"].min() + _AROUND[0, 1], data["y_mm"].max() + _AROUND[1, 1]
    sides = [part["x_mm"].agg(["min", "max"]).to_numpy() + _AROUND[:, 0] for part in parts]
    figure, panels = pen.page(
        style.DOUBLE_COLUMN, [((left, low), (right, high)) for left, right in sides], _HEAD
    )
    for axes, part, title in zip(panels, parts, titles, strict=True):
        axes.set_title(title, loc="left")
        for place, (_, item) in enumerate(part.groupby(["part", "item"], sort=False)):
            _draw_item(axes, item, 1.0 + 0.01 * place)
    figure.suptitle(INSTEAD_OF_PHOTOGRAPH, fontsize=7, color=_QUIET)
    return figure


def _draw_item(axes: Axes, item: pd.DataFrame, order: float) -> None:
    """One area, line, arrow, length, angle or name; later ones lie over earlier ones."""
    first = item.iloc[0]
    points = item[["x_mm", "y_mm"]].to_numpy(dtype=float)
    if first["part"] == "area":
        _draw_area(axes, points, first["material"], first["given"] == "paper", order)
    elif first["part"] == "line":
        ghost = first["material"] == "ghost"
        axes.plot(
            *points.T, color=style.LINE if ghost else _QUIET, lw=0.9 if ghost else 0.5, zorder=order
        )
    elif first["part"] == "angle":
        axes.plot(*points[1:-3].T, color=_QUIET, lw=0.7, zorder=order)
        pen.arrow(axes, points[-4], points[-1], _QUIET, 0.7, joins="round")
        pen.say(axes, points[len(points) // 2], first["item"], (4, 0), pen.DARK, ha="left")
    elif first["part"] == "length":
        pen.arrow(axes, points[0], points[1], _QUIET, 0.7, "<|-|>", joins="round")
        box = {"fc": "white", "ec": "none", "pad": 1.0}
        pen.say(axes, points.mean(axis=0), first["item"], (0, 0), pen.DARK, bbox=box)
    elif first["part"] == "arrow":
        pen.arrow(axes, points[0], points[1], style.RELEASE, 1.1, "<|-|>", joins="round")
    else:
        _name(axes, points[0], points[-1], first["item"])


def _draw_area(axes: Axes, points: np.ndarray, material: str, stated: bool, order: float) -> None:
    """A filled outline, dashed where its size is assumed; circles are too small for dashes."""
    axes.fill(
        *points.T,
        fc=_FILLS[material],
        ec="none",
        alpha=_SEEN_THROUGH.get(material, 1.0),
        zorder=order,
    )
    if material != "circle":
        axes.plot(
            *points.T, color=pen.DARK, lw=0.7, ls="-" if stated else (0, (4.0, 2.0)), zorder=order
        )


def _name(axes: Axes, place: np.ndarray, named: np.ndarray, text: str) -> None:
    """A text, and a thin line from it to what it names."""
    look = {"arrowstyle": "-", "color": _QUIET, "lw": 0.5, "shrinkA": 1.0, "shrinkB": 0.0}
    pointing = None if np.allclose(place, named) else look
    axes.annotate(
        text, xy=tuple(named), xytext=tuple(place), arrowprops=pointing, ha="center", va="center", fontsize=7,
        color=pen.DARK, path_effects=pen.HALO, zorder=6,
    )  # fmt: skip

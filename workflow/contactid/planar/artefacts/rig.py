"""Figures 20 and 21: drawings to scale in place of the planar paper's two photographs, of a file of
shapes, as tables of :mod:`contactid.output.sketch` in mm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.core.reading import read_yaml
from contactid.output import pen, sketch, style
from contactid.output.sketch import Look, Rows
from contactid.planar.simulate.geometry import Ellipse, outline_at

INSTEAD_OF_PHOTOGRAPH = (
    "Drawing in place of the photograph, to scale. "
    "Solid outlines: sizes stated in the paper; dashed: assumed."
)
_WIDTH = 0.7  # points
_MATERIALS = {
    "wood": Look(width=_WIDTH, face="#ecd9b4"),
    "platform": Look(width=_WIDTH, face="#f3e8cf"),
    "sheet": Look(width=_WIDTH, face="#dcebf5", opacity=0.55),
    "paper": Look(width=_WIDTH, face="#ffffff"),
    "frame": Look(width=_WIDTH, face="#e6e6e6", opacity=0.75),
    "metal": Look(width=_WIDTH, face="#b9bec4"),
    "magnet": Look(width=_WIDTH, face="#5a5a5a", opacity=0.7),
    "circle": Look(width=0.0, face="#222222"),  # too small for an outline
    "ghost": Look(style.LINE),
    "motion": Look(style.RELEASE, 1.1),
}
_ASSUMED = {
    f"{name}, assumed": replace(look, dash=(0, (4.0, 2.0))) for name, look in _MATERIALS.items()
}
_LOOKS = {**sketch.LOOKS, **_MATERIALS, **_ASSUMED}
_AROUND = np.array([[-16.0, -8.0], [16.0, 8.0]])  # mm left and below, right and above what is shown
_HEAD = 0.45  # inches of the note above


def rig(rig_shapes: str) -> pd.DataFrame:
    """Figure 20: the set-up from the front (1) and from the side, cut (2)."""
    return _table(read_yaml(rig_shapes)["rig"])


def release(rig_shapes: str) -> pd.DataFrame:
    """Figure 21: the end-effector from the front (1) and from the side (2)."""
    return _table(read_yaml(rig_shapes)["release"])


def _table(shapes: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    panels: dict[int, Rows] = {}
    for shape in shapes:
        panels.setdefault(shape["panel"], []).extend(_rows(shape))
    return sketch.table(*panels.values())


def _rows(shape: Mapping[str, Any]) -> Rows:
    """The rows of a rectangle, disc, ellipse, arc or points, mm."""
    item, part, shift = shape["item"], shape["part"], shape.get("shift", (0, 0))
    look = shape["look"] + (", assumed" if shape["given"] == "assumed" else "")
    match shape:
        case {"arc": [x, y, radius, value]}:
            return sketch.angle(item, (x, y), (1.0, 0.0), value, radius, item, shift)
        case {"rectangle": [left, low, right, top]}:
            points: Any = [(left, low), (right, low), (right, top), (left, top)]
        case {"disc": [x, y, radius]}:
            points = outline_at(Ellipse(radius, radius), (x, y, 0.0))
        case {"ellipse": [x, y, a, b, turn]}:
            points = outline_at(Ellipse(a, b), (x, y, turn))
        case _:
            points = shape["points"]
    said = item if part == "name" or "shift" in shape else ""
    said = {"text": said, "shift_x": shift[0], "shift_y": shift[1]}
    return sketch.line(item, points, part, look=look, unit="mm", **said)


def draw_rig(data: pd.DataFrame) -> Figure:
    """Figure 20: the set-up from the front (a) and from the side (b)."""
    return _draw_views(data, ("(a) from the front", "(b) from the side, cut"))


def draw_release(data: pd.DataFrame) -> Figure:
    """Figure 21: the end-effector from the front (a) and from the side (b)."""
    front, side = (
        "along the servo's axis, seen through",
        "from the side; inverting the field lets go",
    )
    return _draw_views(data, (f"(a) {front}", f"(b) {side}"))


def _draw_views(data: pd.DataFrame, titles: Sequence[str]) -> Figure:
    """Panels beside each other, of one scale and height."""
    parts = [part for _, part in data.groupby("panel")]
    low, high = data["y"].min() + _AROUND[0, 1], data["y"].max() + _AROUND[1, 1]
    sides = [part["x"].agg(["min", "max"]).to_numpy() + _AROUND[:, 0] for part in parts]
    boxes = [((left, low), (right, high)) for left, right in sides]
    figure, panels = pen.page(style.DOUBLE_COLUMN, boxes, _HEAD)
    for axes, part, title in zip(panels, parts, titles, strict=True):
        axes.set_title(title, loc="left")
        sketch.draw(axes, part, _LOOKS)
    figure.suptitle(INSTEAD_OF_PHOTOGRAPH, fontsize=7, color=pen.QUIET)
    return figure

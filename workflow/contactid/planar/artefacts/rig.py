"""Figures 20 and 21: drawings to scale in place of the planar paper's two photographs, of a file of
shapes, in mm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.core.reading import read_yaml
from contactid.output import pen, style
from contactid.planar.simulate.geometry import Ellipse, outline_at

INSTEAD_OF_PHOTOGRAPH = (
    "Drawing in place of the photograph, to scale. "
    "Solid outlines: sizes stated in the paper; dashed: assumed."
)
# colour and opacity of areas
_MATERIALS = {
    "wood": ("#ecd9b4", 1.0),
    "platform": ("#f3e8cf", 1.0),
    "sheet": ("#dcebf5", 0.55),
    "paper": ("#ffffff", 1.0),
    "frame": ("#e6e6e6", 0.75),
    "metal": ("#b9bec4", 1.0),
    "magnet": ("#5a5a5a", 0.7),
    "circle": ("#222222", 1.0),
}
_LINES = {"ghost": style.LINE, "motion": style.RELEASE, "quiet": pen.QUIET}


def rig_figures(rig_shapes: str) -> dict[str, pd.DataFrame]:
    """Figure 20, the set-up, and figure 21, the end-effector: from the front (1) and the side (2).

    A row is a point of a shape: ``panel``, ``part``, ``item``, ``look`` and ``given`` (by the paper
    or assumed) as in the file, ``x``, ``y`` (mm), and where its name stands, ``shift_x, shift_y``
    (points of type). An angle has its apex and its end; it is measured from the horizontal.
    """
    shapes = read_yaml(rig_shapes)
    return {f"figures/{figure}": _table(shapes[figure]) for figure in shapes}


def _table(shapes: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    parts = []
    for shape in shapes:
        same = {name: shape[name] for name in ("panel", "part", "item", "look", "given")}
        shift_x, shift_y = shape.get("shift", (np.nan, np.nan))
        rows = pd.DataFrame(_points(shape), columns=["x", "y"])
        parts.append(rows.assign(**same, shift_x=shift_x, shift_y=shift_y))
    return pd.concat(parts, ignore_index=True)


def _points(shape: Mapping[str, Any]) -> Any:
    """The points (n, 2) of a shape, mm."""
    match shape:
        case {"arc": [x, y, radius, turn]}:
            return [(x, y), (x + radius * np.cos(turn), y + radius * np.sin(turn))]
        case {"rectangle": [left, low, right, top]}:
            return [(left, low), (right, low), (right, top), (left, top)]
        case {"disc": [x, y, radius]}:
            return outline_at(Ellipse(radius, radius), (x, y, 0.0))
        case {"ellipse": [x, y, a, b, turn]}:
            return outline_at(Ellipse(a, b), (x, y, turn))
    return shape["points"]


def draw_rig(data: pd.DataFrame) -> Figure:
    """Figures 20 and 21: panels beside each other, of one scale and height."""
    parts = [part for _, part in data.groupby("panel")]
    # mm beside, below and above what is shown
    low, high = data["y"].min() - 8.0, data["y"].max() + 8.0
    boxes = [((part["x"].min() - 16.0, low), (part["x"].max() + 16.0, high)) for part in parts]
    figure, panels = pen.page(style.DOUBLE_COLUMN, boxes, head=0.45)
    for axes, part in zip(panels, parts, strict=True):
        for _, shape in part.groupby(["part", "item"], sort=False):
            _draw_shape(axes, shape.iloc[0], shape[["x", "y"]].to_numpy())
    figure.suptitle(INSTEAD_OF_PHOTOGRAPH, fontsize=7, color=pen.QUIET)
    return figure


def _draw_shape(axes: Axes, row: pd.Series, points: np.ndarray) -> None:
    """One shape; later areas lie over earlier ones."""
    shift, colour = row[["shift_x", "shift_y"]].fillna(0.0), _LINES.get(row["look"], pen.DARK)
    match row["part"]:
        case "area":
            face, opacity = _MATERIALS[row["look"]]
            dash = (0, (4.0, 2.0)) if row["given"] == "assumed" else "-"
            # a circle is too small for an outline
            width = 0.0 if row["look"] == "circle" else 0.7
            pen.area(axes, points, face, alpha=opacity, lw=width, ls=dash)
        case "line":
            axes.plot(*points.T, color=colour, lw=pen.NORMAL)
        case "angle":
            x, y = points[1] - points[0]
            pen.angle(axes, points[0], 0.0, np.arctan2(y, x), np.hypot(x, y), row["item"], shift)
        case "length":
            named = "" if np.isnan(row["shift_x"]) else row["item"]
            pen.length(axes, points[0], points[1], named, shift, colour)
        case "name":
            pen.point_out(axes, points[-1], row["item"], points[0])
        case "title":
            axes.set_title(row["item"], loc="left")

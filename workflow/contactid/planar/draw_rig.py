"""Draw figures 20 and 21 of the planar paper to scale from their geometry; nothing is computed here.

The tables are those of :mod:`contactid.planar.rig_figure_data`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style

INSTEAD_OF_PHOTOGRAPH = (
    "Drawing in place of the photograph, to scale. Solid outlines: sizes stated in the paper; dashed: assumed."
)
_DARK, _QUIET = "#222222", "#666666"
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
_HALO = [patheffects.withStroke(linewidth=2.0, foreground="white")]


def draw_rig(data: pd.DataFrame, width: float = style.DOUBLE_COLUMN) -> Figure:
    """Figure 20: the set-up from the front (a) and from the side (b).

    Parameters
    ----------
    data
        As :func:`~contactid.planar.rig_figure_data.rig` returns it.
    width
        Inches.
    """
    return _draw_views(data, ("(a) from the front", "(b) from the side, cut"), width)


def draw_release(data: pd.DataFrame, width: float = style.DOUBLE_COLUMN) -> Figure:
    """Figure 21: the end-effector from the front (a) and from the side (b).

    Parameters
    ----------
    data
        As :func:`~contactid.planar.rig_figure_data.release` returns it.
    width
        Inches.
    """
    titles = "(a) along the servo's axis, seen through", "(b) from the side; inverting the field lets go"
    return _draw_views(data, titles, width)


def _draw_views(data: pd.DataFrame, titles: Sequence[str], width: float) -> Figure:
    """Panels beside each other, of one scale."""
    parts = [part for _, part in data.groupby("panel")]
    boxes = [part[["x_mm", "y_mm"]].agg(["min", "max"]).to_numpy() + _AROUND for part in parts]
    wide = [float(box[1, 0] - box[0, 0]) for box in boxes]
    low, top = min(box[0, 1] for box in boxes), max(box[1, 1] for box in boxes)
    height = (width - 0.2) * (top - low) / sum(wide) + _HEAD + 0.15
    figure, panels = plt.subplots(1, len(parts), figsize=(width, height), width_ratios=wide, squeeze=False)
    for axes, part, box, title in zip(panels[0], parts, boxes, titles, strict=True):
        axes.set(xlim=box[:, 0], ylim=(low, top), aspect="equal")
        axes.set_axis_off()
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
        axes.plot(*points.T, color=style.LINE if ghost else _QUIET, lw=0.9 if ghost else 0.5, zorder=order)
    elif first["part"] == "angle":
        axes.plot(*points[1:-3].T, color=_QUIET, lw=0.7, zorder=order)
        _arrow(axes, points[-4], points[-1], _QUIET)
        _say(axes, points[len(points) // 2], first["item"], (4, 0), ha="left")
    elif first["part"] == "length":
        _arrow(axes, points[0], points[1], _QUIET, "<|-|>")
        _say(axes, points.mean(axis=0), first["item"], (0, 0), bbox={"fc": "white", "ec": "none", "pad": 1.0})
    elif first["part"] == "arrow":
        _arrow(axes, points[0], points[1], style.RELEASE, "<|-|>", 1.1)
    else:
        _name(axes, points[0], points[-1], first["item"])


def _draw_area(axes: Axes, points: np.ndarray, material: str, stated: bool, order: float) -> None:
    """A filled outline, dashed where its size is assumed; circles are too small for dashes."""
    axes.fill(*points.T, fc=_FILLS[material], ec="none", alpha=_SEEN_THROUGH.get(material, 1.0), zorder=order)
    if material != "circle":
        axes.plot(*points.T, color=_DARK, lw=0.7, ls="-" if stated else (0, (4.0, 2.0)), zorder=order)


def _arrow(axes: Axes, foot: np.ndarray, tip: np.ndarray, colour: str, heads: str = "-|>", width: float = 0.7) -> None:
    look = {"arrowstyle": heads, "color": colour, "lw": width, "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tuple(tip), xytext=tuple(foot), arrowprops=look, zorder=5)


def _name(axes: Axes, place: np.ndarray, named: np.ndarray, text: str) -> None:
    """A text, and a thin line from it to what it names."""
    look = {"arrowstyle": "-", "color": _QUIET, "lw": 0.5, "shrinkA": 1.0, "shrinkB": 0.0}
    pointing = None if np.allclose(place, named) else look
    axes.annotate(
        text, xy=tuple(named), xytext=tuple(place), arrowprops=pointing, ha="center", va="center", fontsize=7,
        color=_DARK, path_effects=_HALO, zorder=6,
    )  # fmt: skip


def _say(axes: Axes, place: np.ndarray, text: str, shift: Sequence[float], **more: Any) -> None:
    """A text ``shift`` points of type from a place."""
    look = {"ha": "center", **more}
    axes.annotate(
        text, xy=tuple(place), xytext=(shift[0], shift[1]), textcoords="offset points", va="center", fontsize=7,
        color=_DARK, path_effects=_HALO, zorder=6, **look,
    )  # fmt: skip


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig20_rig": draw_rig,
    "fig21_release": draw_release,
}

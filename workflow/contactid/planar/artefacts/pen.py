"""Strokes and texts of the explanatory figures, drawn from the rows of :mod:`contactid.planar.artefacts.sketch`.

How long an arrow is drawn and where a label stands is the figures' own; places, directions and numbers are the table's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure

DARK, QUIET = "#222222", "#555555"
BODY, SOLID = "#dfe9f2", "#e3e3e3"
THIN, NORMAL, BOLD = 0.5, 0.9, 1.4  # line widths, points
HALO = [patheffects.withStroke(linewidth=2.0, foreground="white")]
SLACK = 1e-6  # in the table's units: what is written as zero is zero
Place = Sequence[float] | np.ndarray


def page(width: float, boxes: list[tuple[Place, Place]], head: float = 0.05) -> tuple[Figure, list[Axes]]:
    """Panels side by side, of equal scales, with the views ((x, y), (x, y)); ``width`` and ``head`` in inches."""
    low, high = (np.array([box[end] for box in boxes], dtype=float) for end in (0, 1))
    size = high - low
    figure, panels = plt.subplots(
        1, len(boxes), figsize=(width, width * float(size[:, 1].max() / size[:, 0].sum()) + head), squeeze=False
    )
    for axes, start, end in zip(panels[0], low, high, strict=True):
        axes.set(xlim=(start[0], end[0]), ylim=(start[1], end[1]), aspect="equal")
        axes.set_axis_off()
    return figure, list(panels[0])


def row(data: pd.DataFrame, item: str, part: str) -> pd.Series:
    """The row of an item and part."""
    return data[(data["item"] == item) & (data["part"] == part)].iloc[0]


def line(data: pd.DataFrame, item: str) -> np.ndarray:
    """(n, 2) points of a polyline, m."""
    return data[(data["item"] == item) & (data["part"] == "line")][["x_m", "y_m"]].to_numpy(dtype=float)


def place(data: pd.DataFrame, item: str, part: str = "point") -> np.ndarray:
    """(2,) place of an item's part, m."""
    return row(data, item, part)[["x_m", "y_m"]].to_numpy(dtype=float)


def foot(data: pd.DataFrame, item: str) -> np.ndarray:
    """(2,) foot of an arrow, m."""
    return place(data, item, "arrow")


def vector(data: pd.DataFrame, item: str, part: str = "arrow") -> np.ndarray:
    """(2,) an arrow, in its unit."""
    return row(data, item, part)[["vector_x", "vector_y"]].to_numpy(dtype=float)


def tip(data: pd.DataFrame, item: str, length: float) -> np.ndarray:
    """End of an arrow drawn ``length`` m long per unit."""
    return foot(data, item) + length * vector(data, item)


def number(data: pd.DataFrame, item: str) -> float:
    """The value of a number."""
    return float(row(data, item, "number")["value"])


def sign(data: pd.DataFrame, item: str) -> str:
    """How a number compares with zero."""
    value = number(data, item)
    return "=" if abs(value) <= SLACK else ">" if value > 0.0 else "<"


def fill(axes: Axes, outline: np.ndarray) -> None:
    """A body's area and outline."""
    axes.fill(*outline.T, facecolor=BODY, edgecolor=DARK, lw=NORMAL)


def ground(axes: Axes, line: np.ndarray, depth: float) -> None:
    """The ground's surface, and its solid side to the right of the line's direction."""
    along = (line[-1] - line[0]) / np.linalg.norm(line[-1] - line[0])
    inward = depth * np.array([along[1], -along[0]])
    axes.fill(*np.vstack([line, line[::-1] + inward]).T, facecolor=SOLID, lw=0)
    axes.plot(*line.T, color=DARK, lw=NORMAL)


def arrow(
    axes: Axes, foot: Place, tip: Place, colour: str, width: float = NORMAL, heads: str = "-|>", joins: str = "miter"
) -> None:
    """An arrow from foot to tip, ``width`` points wide."""
    look = {"arrowstyle": heads, "color": colour, "lw": width, "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tuple(tip), tuple(foot), arrowprops={**look, "joinstyle": joins}, zorder=4, annotation_clip=False)


def heading(axes: Axes, first: str, second: str) -> None:
    """Two centred lines over a panel, on the same base lines in every panel."""
    for text, rise in ((first, 15), (second, 4)):
        axes.annotate(text, (0.5, 1.0), (0, rise), "axes fraction", "offset points", ha="center", annotation_clip=False)


def say(axes: Axes, at: Place, text: str, shift: Place, colour: str, size: float = 7, **more: Any) -> None:
    """A text ``shift`` points of type from a place, centred unless ``ha`` says otherwise."""
    axes.annotate(
        text, tuple(at), tuple(shift), textcoords="offset points", va="center", color=colour, fontsize=size,
        path_effects=HALO, zorder=6, annotation_clip=False, **{"ha": "center", **more},
    )  # fmt: skip


def dot(axes: Axes, at: Place, text: str, shift: Place, colour: str = DARK) -> None:
    """A point and its name."""
    axes.plot(*at, "o", color=colour, ms=2.6, zorder=5)
    say(axes, at, text, shift, colour)


def dashed(axes: Axes, start: Place, end: Place, colour: str = QUIET) -> None:
    """A thin dashed line."""
    axes.plot(*np.array([start, end]).T, color=colour, lw=THIN, ls="--", zorder=3)


def dimension(axes: Axes, start: Place, end: Place, text: str, shift: Place, colour: str = DARK) -> None:
    """An arrow with two heads, named at its middle."""
    arrow(axes, start, end, colour, THIN, "<|-|>")
    say(axes, 0.5 * (np.asarray(start) + np.asarray(end)), text, shift, colour)


def frame_arrows(axes: Axes, data: pd.DataFrame, frame: str, length: float, *names: str) -> None:
    """The two axes of a frame, ``length`` m long."""
    for axis, name in zip("xy", names, strict=True):
        item = f"{axis} {frame}"
        arrow(axes, foot(data, item), tip(data, item, length), DARK)
        say(axes, tip(data, item, length), name, 7.0 * vector(data, item), DARK)


def angle(
    axes: Axes, data: pd.DataFrame, item: str, radius: float, name: str, shift: Place, named: float = 0.5
) -> None:
    """An arc from the side an angle is measured from, with a head at its end; named at a fraction of its way."""
    found = row(data, item, "angle")
    apex, side = place(data, item, "angle"), vector(data, item, "angle")
    turned = np.arctan2(side[1], side[0]) + np.linspace(0.0, float(found["value"]), 60)
    arc = apex + radius * np.column_stack([np.cos(turned), np.sin(turned)])
    axes.plot(*arc[:-5].T, color=QUIET, lw=THIN)
    arrow(axes, arc[-6], arc[-1], QUIET, THIN)
    say(axes, arc[int(named * len(arc))], name, shift, DARK)

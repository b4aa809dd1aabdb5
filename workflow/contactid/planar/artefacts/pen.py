"""Strokes and texts of the explanatory figures, drawn from the rows of
:mod:`contactid.planar.artefacts.sketch`.

How long an arrow is drawn and where a label stands is the figures' own; places, directions and
numbers are the table's.
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
Box = tuple[Place, Place]


def page(width: float, boxes: Sequence[Box], head: float = 0.05) -> tuple[Figure, list[Axes]]:
    """Panels side by side, of equal scales, with the views ((x, y), (x, y)); ``width`` and ``head``
    in inches.
    """
    low, high = (np.array([box[end] for box in boxes], dtype=float) for end in (0, 1))
    size = high - low
    height = width * float(size[:, 1].max() / size[:, 0].sum()) + head
    widths = size[:, 0].tolist()
    figure, panels = plt.subplots(
        1, len(boxes), figsize=(width, height), width_ratios=widths, squeeze=False
    )
    for axes, start, end in zip(panels[0], low, high, strict=True):
        axes.set(xlim=(start[0], end[0]), ylim=(start[1], end[1]), aspect="equal")
        axes.set_axis_off()
    return figure, list(panels[0])


def pens(
    data: pd.DataFrame, width: float, box: Box, head: float = 0.05
) -> tuple[Figure, list[Pen]]:
    """A page with one view of each panel of a table."""
    parts = [part for _, part in data.groupby("panel")]
    figure, panels = page(width, [box] * len(parts), head)
    return figure, [Pen(axes, part) for axes, part in zip(panels, parts, strict=True)]


class Pen:
    """Draws what it is told by its item in the rows of one panel; ``shift`` is in points of type."""

    def __init__(self, axes: Axes, rows: pd.DataFrame) -> None:
        self.axes = axes
        self._parts = dict(list(rows.groupby(["part", "item"])))

    def row(self, item: str, part: str) -> pd.Series:
        """The row of an item and part."""
        return self._parts[part, item].iloc[0]

    def line(self, item: str) -> np.ndarray:
        """(n, 2) points of a polyline, m."""
        return self._parts["line", item][["x_m", "y_m"]].to_numpy(dtype=float)

    def place(self, item: str, part: str = "point") -> np.ndarray:
        """(2,) place of an item's part, m."""
        return self.row(item, part)[["x_m", "y_m"]].to_numpy(dtype=float)

    def vector(self, item: str, part: str = "arrow") -> np.ndarray:
        """(2,) an arrow, in its unit."""
        return self.row(item, part)[["vector_x", "vector_y"]].to_numpy(dtype=float)

    def tip(self, item: str, length: float) -> np.ndarray:
        """End of an arrow drawn ``length`` m long per unit."""
        return self.place(item, "arrow") + length * self.vector(item)

    def number(self, item: str) -> float:
        """The value of a number."""
        return float(self.row(item, "number")["value"])

    def sign(self, item: str) -> str:
        """How a number compares with zero."""
        value = self.number(item)
        return "=" if abs(value) <= SLACK else ">" if value > 0.0 else "<"

    def fill(self, item: str) -> None:
        """A body's area and outline."""
        self.axes.fill(*self.line(item).T, facecolor=BODY, edgecolor=DARK, lw=NORMAL)

    def ground(self, item: str, depth: float) -> None:
        """A ground, drawn so deep (m)."""
        ground(self.axes, self.line(item), depth)

    def arrow(
        self,
        item: str,
        length: float,
        colour: str = DARK,
        name: str = "",
        shift: Place = (0, 0),
        width: float = BOLD,
    ) -> None:
        """An arrow and its name at the tip."""
        tip = self.tip(item, length)
        arrow(self.axes, self.place(item, "arrow"), tip, colour, width)
        say(self.axes, tip, name, shift, colour)

    def frame(self, frame: str, length: float, *names: str) -> None:
        """The two axes of a frame, ``length`` m long."""
        for axis, name in zip("xy", names, strict=True):
            item = f"{axis} {frame}"
            self.arrow(item, length, DARK, name, 7.0 * self.vector(item), NORMAL)

    def dot(self, item: str, name: str, shift: Place) -> None:
        """A point and its name."""
        dot(self.axes, self.place(item), name, shift)

    def dashed(self, *places: Place) -> None:
        """A thin dashed line."""
        self.axes.plot(*np.array(places).T, color=QUIET, lw=THIN, ls="--", zorder=3)

    def dimension(self, start: str, end: str, name: str, shift: Place, colour: str = DARK) -> None:
        """An arrow with two heads between two points, named at its middle."""
        places = self.place(start), self.place(end)
        arrow(self.axes, *places, colour, THIN, "<|-|>")
        say(self.axes, 0.5 * (places[0] + places[1]), name, shift, colour)

    def angle(self, item: str, radius: float, name: str, shift: Place) -> None:
        """An arc from the side an angle is measured from, with a head at its end; named at its
        middle.
        """
        side, value = self.vector(item, "angle"), float(self.row(item, "angle")["value"])
        turned = np.arctan2(side[1], side[0]) + np.linspace(0.0, value, 60)
        arc = self.place(item, "angle") + radius * np.column_stack([np.cos(turned), np.sin(turned)])
        self.axes.plot(*arc[:-5].T, color=QUIET, lw=THIN)
        arrow(self.axes, arc[-6], arc[-1], QUIET, THIN)
        say(self.axes, arc[30], name, shift, DARK)

    def heading(self, first: str, second: str) -> None:
        """Two centred lines over a panel, on the same base lines in every panel."""
        for text, rise in ((first, 15), (second, 4)):
            place = (0.5, 1.0), (0, rise)
            self.axes.annotate(
                text, *place, "axes fraction", "offset points", ha="center", annotation_clip=False
            )


def ground(axes: Axes, line: np.ndarray, depth: float) -> None:
    """The ground's surface, and its solid side to the right of the line's direction."""
    along = (line[-1] - line[0]) / np.linalg.norm(line[-1] - line[0])
    inward = depth * np.array([along[1], -along[0]])
    axes.fill(*np.vstack([line, line[::-1] + inward]).T, facecolor=SOLID, lw=0)
    axes.plot(*line.T, color=DARK, lw=NORMAL)


def arrow(
    axes: Axes,
    foot: Place,
    tip: Place,
    colour: str,
    width: float = NORMAL,
    heads: str = "-|>",
    joins: str = "miter",
) -> None:
    """An arrow from foot to tip, ``width`` points wide."""
    look = {
        "arrowstyle": heads,
        "color": colour,
        "lw": width,
        "mutation_scale": 7,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate(
        "",
        tuple(tip),
        tuple(foot),
        arrowprops={**look, "joinstyle": joins},
        zorder=4,
        annotation_clip=False,
    )


def say(
    axes: Axes, at: Place, text: str, shift: Place, colour: str, size: float = 7, **more: Any
) -> None:
    """A text ``shift`` points of type from a place, centred unless ``ha`` says otherwise."""
    axes.annotate(
        text, tuple(at), tuple(shift), textcoords="offset points", va="center", color=colour, fontsize=size,
        path_effects=HALO, zorder=6, annotation_clip=False, **{"ha": "center", **more},
    )  # fmt: skip


def dot(axes: Axes, at: Place, text: str, shift: Place) -> None:
    """A point and its name."""
    axes.plot(*at, "o", color=DARK, ms=2.6, zorder=5)
    say(axes, at, text, shift, DARK)

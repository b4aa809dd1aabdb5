"""Strokes and texts of explanatory drawings, and the view of those in three dimensions.

Line widths, letters and shifts are in points of type, places in the axes' own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation

from contactid.output import style

DARK, QUIET = "#222222", "#555555"
BODY, SOLID = "#dfe9f2", "#e3e3e3"
THIN, NORMAL, BOLD = 0.5, 0.9, 1.4
SMALL = 7.0  # of letters
AXIS_COLOURS = (style.RELEASE, style.ACCENT, style.LINE)  # of x, y, z
Place = Any  # two numbers; matplotlib's types know tuples where it takes arrays
Box = tuple[Place, Place]


def view(azimuth: float, elevation: float) -> np.ndarray:
    """(3, 3) with the rows right, up and towards the viewer, from a direction about and over the xy
    plane (deg).

    Points (..., 3) are seen at ``points @ view[:2].T``, without perspective; z stays upright.
    """
    angles = np.radians([azimuth, elevation])
    (sa, se), (ca, ce) = np.sin(angles), np.cos(angles)
    return np.array([[-sa, ca, 0.0], [-ca * se, -sa * se, ce], [ca * ce, sa * ce, se]])


def page(width: float, boxes: Sequence[Box], head: float = 0.05) -> tuple[Figure, list[Axes]]:
    """Panels side by side, of equal scales, with the views ((x, y), (x, y)); ``width`` and ``head``
    in inches.
    """
    low, high = (np.array([box[end] for box in boxes], dtype=float) for end in (0, 1))
    size = high - low
    height = width * float(size[:, 1].max() / size[:, 0].sum()) + head
    shares: dict[str, Any] = {"width_ratios": size[:, 0].tolist(), "squeeze": False}
    figure, panels = plt.subplots(1, len(boxes), figsize=(width, height), **shares)
    for axes, start, end in zip(panels[0], low, high, strict=True):
        axes.set(xlim=(start[0], end[0]), ylim=(start[1], end[1]), aspect="equal")
        axes.set_axis_off()
    return figure, list(panels[0])


def halo(width: float) -> list[Any]:
    """A white edge that lifts a stroke or a text off what is below it."""
    return [withStroke(linewidth=width, foreground="white")]


def arrow(
    axes: Axes, foot: Place, tip: Place, colour: str = DARK, width: float = NORMAL, **more: Any
) -> None:
    """An arrow from foot to tip; ``more`` replaces parts of its look, as ``arrowstyle``."""
    look = {"arrowstyle": "-|>", "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0, **more}
    look |= {"color": colour, "lw": width, "joinstyle": "miter"}
    axes.annotate("", tuple(tip), tuple(foot), arrowprops=look, zorder=4, annotation_clip=False)


def say(
    axes: Axes, at: Place, text: str, shift: Place = (0, 0), colour: str = DARK, **more: Any
) -> None:
    """A text ``shift`` from a place, centred there unless ``more`` says otherwise."""
    look = {"fontsize": SMALL, "ha": "center", "va": "center", "path_effects": halo(2.0), **more}
    where = {"textcoords": "offset points", "annotation_clip": False, "zorder": 6}
    axes.annotate(text, tuple(at), tuple(shift), color=colour, **{**where, **look})


def point_out(axes: Axes, named: Place, text: str, at: Place, **more: Any) -> None:
    """A text at a place, and a thin line from it to what it names."""
    look: dict[str, Any] = {
        "arrowstyle": "-",
        "color": QUIET,
        "lw": THIN,
        "shrinkA": 1.0,
        "shrinkB": 0.0,
    }
    where: dict[str, Any] = {"textcoords": "data", "arrowprops": look}
    say(axes, named, text, at, **where, **more)


def dimension(axes: Axes, ends: np.ndarray, text: str, aside: float = 0.0) -> None:
    """A length between two places (2, 2), written ``aside`` to the left of their line."""
    along = np.diff(ends, axis=0)[0] / np.linalg.norm(np.diff(ends, axis=0))
    left = np.array([-along[1], along[0]])
    right, up = aside * left / 72.0  # inches
    there = axes.transData + ScaledTranslation(right, up, axes.figure.dpi_scale_trans)
    look = {"arrowstyle": "|-|,widthA=0.25,widthB=0.25", "lw": 0.6, "shrinkA": 0, "shrinkB": 0}
    start, end = ends
    axes.annotate("", end, start, xycoords=there, textcoords=there, arrowprops=look)
    turn = float(np.degrees(np.arctan2(along[1], along[0])))
    turn = (turn + 89.0) % 180.0 - 89.0  # never upside down
    beyond = (aside + np.copysign(0.5 * SMALL + 2.5, aside)) * left
    turned: dict[str, Any] = {"rotation": turn, "rotation_mode": "anchor", "va": "center_baseline"}
    say(axes, ends.mean(axis=0), text, beyond, "black", **turned)


def dot(axes: Axes, at: Place, text: str = "", shift: Place = (0, 0)) -> None:
    """A point and its name."""
    axes.plot(*at, "o", color=DARK, ms=2.6, zorder=5)
    say(axes, at, text, shift)


def ground(axes: Axes, line: np.ndarray, depth: float) -> None:
    """The ground's surface, and its solid side, so deep, to the right of the line's direction."""
    along = (line[-1] - line[0]) / np.linalg.norm(line[-1] - line[0])
    inward = depth * np.array([along[1], -along[0]])
    axes.fill(*np.vstack([line, line[::-1] + inward]).T, facecolor=SOLID, lw=0)
    axes.plot(*line.T, color=DARK, lw=NORMAL)

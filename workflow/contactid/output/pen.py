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
    """(3, 3) with the rows right, up and towards the viewer, from an azimuth and elevation in deg.

    The azimuth is about z, from x; the elevation is over the xy plane. Points (..., 3) are seen at
    ``points @ view[:2].T``, without perspective; z stays upright.
    """
    angles = np.radians([azimuth, elevation])
    (sa, se), (ca, ce) = np.sin(angles), np.cos(angles)
    right = [-sa, ca, 0.0]
    up = [-ca * se, -sa * se, ce]
    towards_viewer = [ca * ce, sa * ce, se]
    return np.array([right, up, towards_viewer])


def page(width: float, boxes: Sequence[Box], head: float = 0.05) -> tuple[Figure, list[Axes]]:
    """Panels side by side, of equal scales, with the views ((x, y), (x, y)); sizes in inches."""
    # (panels, 2): the views' lower left and upper right corners
    low = np.array([corner for corner, _ in boxes], dtype=float)
    high = np.array([corner for _, corner in boxes], dtype=float)
    widths, heights = (high - low).T
    # of one scale: the widths share the page, and the highest panel decides its height
    height = width * float(heights.max() / widths.sum()) + head
    shares: dict[str, Any] = {"width_ratios": widths.tolist(), "squeeze": False}
    figure, grid = plt.subplots(1, len(boxes), figsize=(width, height), **shares)
    panels = list(grid[0])
    for axes, (left, bottom), (right, top) in zip(panels, low, high, strict=True):
        axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
        axes.set_axis_off()
    return figure, panels


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
    start, end = ends
    along = (end - start) / np.linalg.norm(end - start)
    # the line's left, as axes count: y is up
    normal = np.array([-along[1], along[0]])
    # 72 points of type are an inch
    right, up = aside * normal / 72.0
    shifted = axes.transData + ScaledTranslation(right, up, axes.figure.dpi_scale_trans)
    look = {"arrowstyle": "|-|,widthA=0.25,widthB=0.25", "lw": 0.6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, xycoords=shifted, textcoords=shifted, arrowprops=look)
    # from -89 to 91 deg, so that no text is upside down and one upwards reads from below
    turn = float(np.degrees(np.arctan2(along[1], along[0])))
    turn = (turn + 89.0) % 180.0 - 89.0
    # half the letters' height and a gap of 2.5 points beyond the line
    distance = aside + np.copysign(0.5 * SMALL + 2.5, aside)
    turned: dict[str, Any] = {"rotation": turn, "rotation_mode": "anchor", "va": "center_baseline"}
    say(axes, ends.mean(axis=0), text, distance * normal, "black", **turned)


def ground(axes: Axes, line: np.ndarray, depth: float) -> None:
    """The ground's surface, and its solid side, so deep, to the right of the line's direction."""
    length = line[-1] - line[0]
    along = length / np.linalg.norm(length)
    inward = depth * np.array([along[1], -along[0]])
    # along the surface, and back below it
    outline = np.vstack([line, line[::-1] + inward])
    axes.fill(*outline.T, facecolor=SOLID, lw=0)
    axes.plot(*line.T, color=DARK, lw=NORMAL)

"""Strokes and texts of explanatory drawings, and the view of those in three dimensions.

Line widths, letters and shifts are in points of type, places in the axes' own units.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from contactid.output import style

DARK, QUIET = "#222222", "#555555"
BODY, SOLID = "#dfe9f2", "#e3e3e3"
THIN, NORMAL, BOLD = 0.5, 0.9, 1.4
# of letters
SMALL = 7.0
# of x, y, z
AXIS_COLOURS = (style.RELEASE, style.ACCENT, style.LINE)
# two numbers; matplotlib's types know tuples where it takes arrays
Place = Any
Box = tuple[Place, Place]
# from an axis's tip to its name
_AXIS_NAME = 8.0
# places of an arc: as many as make it look round
_ARC = 60
# of an arc's places, those below its arrow's head, which is straight
_HEAD = 6
# corners of a box's faces, anticlockwise from outside
_FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
# to the right, up and towards the viewer: so that the sides that are seen differ in brightness
_LIGHT = (0.5, 0.8, 0.3)
# brightness of sides in the dark
_DARKEST = 0.62


def rows_of(data: pd.DataFrame) -> list[Any]:
    """A table's rows, with what their columns are named; of those the types of pandas know nothing."""
    return list(data.itertuples())


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
    # (panels, 2, 2): x and y of the views' lower left and upper right corners
    corners = np.array(boxes, dtype=float)
    widths, heights = (corners[:, 1] - corners[:, 0]).T
    # of one scale: the widths share the page, and the highest panel decides its height
    height = width * float(heights.max() / widths.sum()) + head
    figure, grid = plt.subplots(
        1,
        len(boxes),
        figsize=(width, height),
        width_ratios=widths.tolist(),
        squeeze=False,
    )
    panels = list(grid[0])
    for axes, (lower, upper) in zip(panels, corners, strict=True):
        xlim, ylim = zip(lower, upper, strict=True)
        axes.set(xlim=xlim, ylim=ylim, aspect="equal", xticks=[], yticks=[])
        axes.set_axis_off()
    return figure, panels


def say(
    axes: Axes, at: Place, text: str, shift: Place = (0, 0), colour: str = DARK, **more: Any
) -> None:
    """A text ``shift`` from a place, centred there unless ``more`` says otherwise."""
    lifted = [withStroke(linewidth=2.0, foreground="white")]
    look = {"fontsize": SMALL, "ha": "center", "va": "center", "path_effects": lifted, **more}
    where = {"textcoords": "offset points", "annotation_clip": False, "zorder": 6}
    axes.annotate(text, tuple(at), tuple(shift), color=colour, **{**where, **look})


def point_out(axes: Axes, named: Place, text: str, at: Place, **more: Any) -> None:
    """A text at a place, and a thin line from it to what it names."""
    look = {"arrowstyle": "-", "color": QUIET, "lw": THIN, "shrinkA": 1.0, "shrinkB": 0.0}
    say(axes, named, text, at, textcoords="data", arrowprops=look, **more)


def point(axes: Axes, at: Place, text: str, shift: Place) -> None:
    """A point and its name."""
    axes.plot(*at, "o", color=DARK, ms=3.6, mew=0.0, zorder=5)
    say(axes, at, text, shift)


def arrow(
    axes: Axes,
    foot: Place,
    tip: Place,
    colour: str = DARK,
    width: float = NORMAL,
    text: str = "",
    shift: Place = (0, 0),
    **more: Any,
) -> None:
    """An arrow from foot to tip, named at its tip; ``more`` replaces parts of its look."""
    look = {"arrowstyle": "-|>", "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0, **more}
    look |= {"color": colour, "lw": width, "joinstyle": "miter"}
    axes.annotate("", tuple(tip), tuple(foot), arrowprops=look, zorder=4, annotation_clip=False)
    if text:
        say(axes, tip, text, shift, colour)


def length(
    axes: Axes, start: Place, end: Place, text: str, shift: Place, colour: str = QUIET
) -> None:
    """A length between two places, named at its middle."""
    arrow(axes, start, end, colour, THIN, arrowstyle="<|-|>")
    middle = 0.5 * (np.asarray(start) + end)
    # letters in grey are hard to read
    say(axes, middle, text, shift, DARK if colour == QUIET else colour)


def angle(
    axes: Axes, apex: Place, start: float, value: float, radius: float, text: str, shift: Place
) -> None:
    """An angle (rad), counter-clockwise from a direction (rad), named at its middle."""
    angles = start + np.linspace(0.0, value, _ARC)
    arc = apex + radius * np.column_stack([np.cos(angles), np.sin(angles)])
    axes.plot(*arc[: 1 - _HEAD].T, color=QUIET, lw=THIN)
    arrow(axes, arc[-_HEAD], arc[-1], QUIET, THIN)
    say(axes, arc[_ARC // 2], text, shift)


def frame(
    axes: Axes,
    origin: Place,
    directions: np.ndarray,
    names: Iterable[str],
    colours: Iterable[str] = AXIS_COLOURS,
    width: float = BOLD,
) -> None:
    """The axes of a frame, as long as they are seen (n, 2), with names at their tips."""
    for along, name, colour in zip(directions, names, colours, strict=False):
        shift = _AXIS_NAME * along / np.linalg.norm(along)
        arrow(axes, origin, origin + along, colour, width, name, shift)


def dashed(axes: Axes, points: Place) -> None:
    """A dashed line through points."""
    axes.plot(*np.transpose(points), color=QUIET, lw=THIN, ls="--")


def area(axes: Axes, outline: np.ndarray, face: str = BODY, **more: Any) -> None:
    """A body or another area with an outline (n, 2)."""
    axes.fill(*outline.T, **{"fc": face, "ec": DARK, "lw": NORMAL, "zorder": 1, **more})


def ground(axes: Axes, line: np.ndarray, depth: float) -> None:
    """The ground's surface, and its solid side, so deep, to the right of the line's direction."""
    chord = line[-1] - line[0]
    x, y = chord / np.linalg.norm(chord)
    # a quarter turn to the right
    inward = depth * np.array([y, -x])
    # along the surface, and back below it
    outline = np.vstack([line, line[::-1] + inward])
    area(axes, outline, SOLID, lw=0)
    axes.plot(*line.T, color=DARK, lw=NORMAL)


def side(
    axes: Axes, outline: np.ndarray, seen: np.ndarray, face: str, alpha: float, edge: str = "black"
) -> None:
    """A body's flat side over what was drawn before, in a view (3, 3); dotted where it's hidden.

    Its outline (n, 3) runs anticlockwise as seen from outside.
    """
    # to the right, up and towards the viewer
    corners = outline @ seen.T
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
    # Lambert's law
    lit = max(0.0, float(normal @ _LIGHT / np.linalg.norm(normal)))
    brightness = _DARKEST + (1.0 - _DARKEST) * lit
    shade = np.array(to_rgb(face)) * brightness
    look: dict[str, Any] = {"fc": (*shade, alpha), "ec": edge, "lw": 0.6, "zorder": 1.1}
    # it looks away from the viewer
    if normal[2] <= 0.0:
        look |= {"fc": "none", "ls": ":", "zorder": 1.0}
    area(axes, corners[:, :2], joinstyle="round", **look)


def box(axes: Axes, corners: np.ndarray, seen: np.ndarray, face: str, *look: Any) -> None:
    """A box's sides; its corners (8, 3) are counted with z fastest and x slowest."""
    for outline in corners[_FACES]:
        side(axes, outline, seen, face, *look)

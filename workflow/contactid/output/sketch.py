"""Explanatory drawings in the plane as tables, and the one way to draw such a table.

A row is a point of an outline, an arrow, an angle or a number. Places, vectors and values come from
the studies' own models, so that a drawing can't say something else than they do; the last columns
say how they are shown.

================== ==============================================================================
column             meaning
================== ==============================================================================
panel              1, 2, ... from the left
part               ``line``, ``area`` and ``ground`` (points of a polyline), ``point``, ``arrow``,
                   ``angle``, ``length`` (its two ends), ``name`` (place of a text, then what it
                   names, if that is elsewhere), ``heading`` (over the panel), ``number`` (not drawn)
item               which one
order              of the point within its polyline
x, y               the place in the drawing's unit of length; the foot of an arrow, the apex of an
                   angle; empty for a heading and a number
vector_x, vector_y arrow, in ``unit``; for an angle, the unit vector that it is measured from
value, unit        an angle (rad, counter-clockwise) or a number
look               a name of :data:`LOOKS`
scale              length that an arrow is drawn per unit, radius of an angle, depth of a ground, size
                   of a point's mark (points of type); empty where an arrow or a mark isn't drawn
text               what is written, ``shift_x`` and ``shift_y`` (points of type) from the tip of an
                   arrow, or the middle of an angle, a length or a line
================== ==============================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import pen, style
from contactid.output.pen import BOLD, DARK, NORMAL, QUIET, THIN, Box, Place

Rows = list[dict[str, Any]]
_NUMBERS = ("x", "y", "vector_x", "vector_y", "value", "scale", "shift_x", "shift_y")
COLUMNS = (
    *("panel", "part", "item", "order", "x", "y", "vector_x", "vector_y", "value", "unit"),
    *("look", "scale", "text", "shift_x", "shift_y"),
)
# points of type, of a named point's mark
_MARK = 3.6
# places of an arc: as many as make it look round
_ARC = 60
# of an arc's places, those below its arrow's head, which is straight
_HEAD = 6
# points of type over a panel, of headings
_FIRST_LINE, _LINE_HEIGHT = 4.0, 11.0
# points of type from an axis's tip to its name
_AXIS_NAME = 7.0


@dataclass(frozen=True)
class Look:
    """Colour, width (points) and dash of a stroke, colour of its text, and how an area is filled."""

    colour: str = DARK
    width: float = NORMAL
    dash: Any = "-"
    ink: str = DARK
    face: str = "none"
    opacity: float = 1.0


LOOKS = {
    "plain": Look(),
    "quiet": Look(QUIET, THIN),
    "faint": Look(QUIET, THIN, ink=QUIET),
    "dashed": Look(QUIET, THIN, "--", ink=QUIET),
    "green": Look(style.ACCENT, BOLD, ink=style.ACCENT),
    "blue": Look(style.LINE, BOLD, ink=style.LINE),
    "thin blue": Look(style.LINE, NORMAL, ink=style.LINE),
    "red": Look(style.RELEASE, BOLD, ink=style.RELEASE),
    "thin red": Look(style.RELEASE, NORMAL, ink=style.RELEASE),
    "red dashed": Look(style.RELEASE, NORMAL, "--", ink=style.RELEASE),
    "body": Look(face=pen.BODY),
    "solid": Look(face=pen.SOLID),
}


def line(item: str, points: Iterable[Place], part: str = "line", **more: Any) -> Rows:
    """A polyline, or what else is given by points."""
    shared = {"part": part, "item": item, "look": "plain", **_text("", (0, 0)), **more}
    return [{**shared, "order": order, "x": x, "y": y} for order, (x, y) in enumerate(points)]


def point(
    item: str,
    at: Place,
    text: str = "",
    shift: Place = (0, 0),
    look: str = "plain",
    size: float = np.nan,
) -> Rows:
    """A point, with a mark where it has a ``size`` (points of type) or a name in the plain look."""
    size = _MARK if text and look == "plain" else size
    return line(item, [at], "point", look=look, scale=size, **_text(text, shift))


def arrow(
    item: str,
    foot: Place,
    vector: Place,
    look: str = "plain",
    scale: float = np.nan,
    text: str = "",
    shift: Place = (0, 0),
    unit: str = "1",
) -> Rows:
    """An arrow."""
    components = {"vector_x": vector[0], "vector_y": vector[1], "unit": unit, "scale": scale}
    return line(item, [foot], "arrow", look=look, **components, **_text(text, shift))


def frame(name: str, origin: Place, angle: float, scale: float, *texts: str) -> Rows:
    """The two axes of a frame turned by an angle (rad), ``scale`` long, named at their tips."""
    rows = []
    for axis, turn, text in zip("xy", (0.0, 0.5 * np.pi), texts, strict=True):
        along = np.array([np.cos(angle + turn), np.sin(angle + turn)])
        shift = _AXIS_NAME * along
        rows += arrow(f"{axis} {name}", origin, along, "plain", scale, text, shift)
    return rows


def angle(
    item: str, apex: Place, start: Place, value: float, radius: float, text: str, shift: Place
) -> Rows:
    """An angle from the direction ``start``."""
    shown = {"look": "quiet", "scale": radius, **_text(text, shift)}
    measured = {"vector_x": start[0], "vector_y": start[1], "value": value, "unit": "rad"}
    return line(item, [apex], "angle", **measured, **shown)


def length(
    item: str, ends: Iterable[Place], text: str = "", shift: Place = (0, 0), look: str = "quiet"
) -> Rows:
    """A length between two places, named at its middle."""
    return line(item, ends, "length", look=look, **_text(text, shift))


def name(text: str, at: Place) -> Rows:
    """A text at a place."""
    return line(text, [at], "name", text=text)


def number(item: str, value: float, unit: str) -> Rows:
    """A number, which isn't drawn."""
    return line(item, [(np.nan, np.nan)], "number", value=value, unit=unit)


def heading(*texts: str) -> Rows:
    """Centred lines over a panel, on the same base lines in every panel."""
    rows = []
    for above, text in enumerate(reversed(texts)):
        shift = 0.0, _FIRST_LINE + above * _LINE_HEIGHT
        rows += line(f"heading {above}", [(np.nan, np.nan)], "heading", **_text(text, shift))
    return rows


def _text(text: str, shift: Place) -> dict[str, Any]:
    return {"text": text, "shift_x": shift[0], "shift_y": shift[1]}


def sign(value: float) -> str:
    """How a number compares with zero; what a table writes as zero is zero."""
    # a number of six digits, as other tables write it
    if abs(value) <= 1e-6:
        return "="
    return ">" if value > 0.0 else "<"


def table(*panels: Rows) -> pd.DataFrame:
    """The rows of panels, numbers to nine decimals: what is zero but for rounding is zero."""
    rows = [{**row, "panel": number} for number, panel in enumerate(panels, 1) for row in panel]
    drawing = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    numbers = drawing[list(_NUMBERS)].astype(float).round(9)
    # adding zero takes the sign off a negative one, which depends on rounding
    drawing[list(_NUMBERS)] = numbers + 0.0
    return drawing


def draw_panels(
    data: pd.DataFrame,
    width: float,
    box: Box,
    head: float = 0.05,
    looks: Mapping[str, Look] = LOOKS,
) -> tuple[Figure, list[Axes]]:
    """A page with one view of each panel of a table; ``width`` and ``head`` in inches."""
    parts = [part for _, part in data.groupby("panel")]
    figure, panels = pen.page(width, [box] * len(parts), head)
    for axes, part in zip(panels, parts, strict=True):
        draw(axes, part, looks)
    return figure, panels


def draw(axes: Axes, data: pd.DataFrame, looks: Mapping[str, Look] = LOOKS) -> None:
    """The rows of one panel; later ones lie over earlier ones."""
    drawn = data[data["part"] != "number"]
    for order, (_, item) in enumerate(drawn.groupby(["part", "item"], sort=False)):
        row = item.iloc[0]
        look = looks[row["look"]]
        points = item[["x", "y"]].to_numpy(dtype=float)
        # all between 1 and 2: below arrows (4), points (5) and texts (6)
        layer = 1.0 + 0.001 * order
        at = _PARTS[row["part"]](axes, points, row, look, layer)
        # a column of nothing else than empty texts is read as numbers
        if at is not None and isinstance(row["text"], str) and row["text"]:
            pen.say(axes, at, row["text"], row[["shift_x", "shift_y"]], look.ink)


def _line(axes: Axes, points: np.ndarray, _: pd.Series, look: Look, order: float) -> np.ndarray:
    axes.plot(*points.T, color=look.colour, lw=look.width, ls=look.dash, zorder=order)
    return points.mean(axis=0)


def _area(axes: Axes, points: np.ndarray, row: pd.Series, look: Look, order: float) -> np.ndarray:
    axes.fill(*points.T, fc=look.face, ec="none", alpha=look.opacity, zorder=order)
    _line(axes, np.vstack([points, points[:1]]), row, look, order)
    return points.mean(axis=0)


def _ground(axes: Axes, points: np.ndarray, row: pd.Series, *_: Any) -> None:
    pen.ground(axes, points, row["scale"])


def _point(axes: Axes, points: np.ndarray, row: pd.Series, look: Look, _: float) -> np.ndarray:
    if not np.isnan(row["scale"]):
        axes.plot(*points[0], "o", color=look.colour, ms=row["scale"], mew=0.0, zorder=5)
    return points[0]


def _arrow(axes: Axes, points: np.ndarray, row: pd.Series, look: Look, _: float) -> Any:
    if np.isnan(row["scale"]):
        return None
    vector = row[["vector_x", "vector_y"]].to_numpy(dtype=float)
    tip = points[0] + row["scale"] * vector
    pen.arrow(axes, points[0], tip, look.colour, look.width)
    return tip


def _angle(axes: Axes, points: np.ndarray, row: pd.Series, look: Look, order: float) -> np.ndarray:
    start = np.arctan2(row["vector_y"], row["vector_x"])
    angles = start + np.linspace(0.0, row["value"], _ARC)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    arc = points[0] + row["scale"] * directions
    _line(axes, arc[: 1 - _HEAD], row, look, order)
    pen.arrow(axes, arc[-_HEAD], arc[-1], look.colour, look.width)
    return arc[_ARC // 2]


def _length(axes: Axes, points: np.ndarray, _: pd.Series, look: Look, __: float) -> np.ndarray:
    start, end = points
    pen.arrow(axes, start, end, look.colour, look.width, arrowstyle="<|-|>")
    return points.mean(axis=0)


def _name(axes: Axes, points: np.ndarray, row: pd.Series, *_: Any) -> None:
    pen.point_out(axes, points[-1], row["text"], points[0])


def _heading(axes: Axes, _: np.ndarray, row: pd.Series, *__: Any) -> None:
    look: dict[str, Any] = {"fontsize": 8, "va": "baseline", "xycoords": "axes fraction"}
    pen.say(axes, (0.5, 1.0), row["text"], row[["shift_x", "shift_y"]], "black", **look)


_PARTS: dict[str, Callable[..., Any]] = {
    "line": _line,
    "area": _area,
    "ground": _ground,
    "point": _point,
    "arrow": _arrow,
    "angle": _angle,
    "length": _length,
    "name": _name,
    "heading": _heading,
}

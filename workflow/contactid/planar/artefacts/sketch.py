"""What the explanatory figures 1, 2, 3 and 5 are drawn from, as rows of a table, from the study's
own code.

The paper shows sketches. Here every contact point, normal, gap, velocity and impulse is what
``contacts`` and ``simulate`` give for a stated body, so that a sketch can't say something else than
the models. A table has one row per point, arrow, angle or number, in the fixed frame S:

================== ============================================================================================
column             meaning
================== ============================================================================================
panel              1, 2, ... from the left
part               ``line`` (a point of a polyline), ``point``, ``arrow``, ``angle``, ``number``
item               which one
order              of the point within its line
x_m, y_m           point of the line, point, foot of the arrow, apex of the angle; empty for a number
vector_x, vector_y arrow, in ``unit``; for an angle, the unit vector that it is measured from
value, unit        an angle (rad, counter-clockwise) or a number; the unit of points is m, that of directions 1
================== ============================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from contactid.planar.simulate.bodies import PlanarBody
from contactid.planar.simulate.geometry import Ellipse, Ground, Shape, contacts, outline_at

COLUMNS = ("panel", "part", "item", "order", "x_m", "y_m", "vector_x", "vector_y", "value", "unit")
SMALL_ELLIPSE = Ellipse(0.050, 0.025)  # the plywood ellipse of section 6.2, m
SMALL_MASS, SMALL_INERTIA_RATIO = 0.064, 756e-6  # kg, m2
TOUCHING = -1e-12  # m: closed for the simulator in spite of rounding


def posture(
    shape: Shape, ground: Ground, theta: float, gap: float, along: float = 0.0
) -> np.ndarray:
    """(3,) configuration of a body at an angle (rad) whose least gap is as stated.

    The centre of mass lies over the point of the ground ``along`` (m) from its origin.
    """
    start = ground.origin + along * ground.tangent
    height = gap - float(contacts(shape, ground, (*start, theta)).gap.min())
    return np.array([*(start + height * ground.normal), theta])


def ellipse_body(ellipse: Ellipse) -> PlanarBody:
    """An ellipse of the mass and J/m of section 6.2."""
    return PlanarBody(ellipse, SMALL_MASS, SMALL_MASS * SMALL_INERTIA_RATIO)


def posture_lines(
    shape: Shape, ground: Ground, q: np.ndarray, reach: float
) -> list[dict[str, Any]]:
    """Outline of a body, and ground under it as far as ``reach`` (m) to both sides."""
    foot = q[:2] - ((q[:2] - ground.origin) @ ground.normal) * ground.normal
    ends = foot + np.outer([-reach, reach], ground.tangent)
    return [*line("outline", outline_at(shape, q)), *line("ground", ends)]


def frame(name: str, origin: Iterable[float], angle: float) -> list[dict[str, Any]]:
    """The axes of a frame turned by an angle (rad)."""
    first, second = (np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))
    return [arrow(f"x {name}", origin, first, "1"), arrow(f"y {name}", origin, second, "1")]


def row(
    part: str, item: str, at: Iterable[float] = (np.nan, np.nan), **more: Any
) -> dict[str, Any]:
    """One row; ``more`` replaces its defaults."""
    x, y = at
    return {"part": part, "item": item, "order": 0, "x_m": x, "y_m": y, "unit": "m", **more}


def line(item: str, points: Iterable[Iterable[float]]) -> list[dict[str, Any]]:
    """Rows of a polyline."""
    return [row("line", item, point, order=order) for order, point in enumerate(points)]


def point(item: str, at: Iterable[float]) -> dict[str, Any]:
    """Row of a point."""
    return row("point", item, at)


def arrow(item: str, foot: Iterable[float], vector: Iterable[float], unit: str) -> dict[str, Any]:
    """Row of an arrow."""
    x, y = vector
    return row("arrow", item, foot, vector_x=x, vector_y=y, unit=unit)


def angle(item: str, apex: Iterable[float], start: Iterable[float], value: float) -> dict[str, Any]:
    """Row of an angle from the direction ``start``."""
    x, y = start
    return row("angle", item, apex, vector_x=x, vector_y=y, value=value, unit="rad")


def number(item: str, value: float, unit: str) -> dict[str, Any]:
    """Row of a number."""
    return row("number", item, value=value, unit=unit)


def table(*panels: list[dict[str, Any]]) -> pd.DataFrame:
    """The rows of panels to a nanometre (and as fine in other units): what is zero but for rounding
    is zero.
    """
    rows = [
        {**row, "panel": number} for number, panel in enumerate(panels, start=1) for row in panel
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["x_m", "y_m", "vector_x", "vector_y", "value"]
    table[numbers] = table[numbers].astype(float).round(9) + 0.0
    return table

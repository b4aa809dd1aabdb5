"""Draw figure 3 from its data; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle

from contactid.output import style

_RADIUS, _HALF = 0.44, 0.16
_LINE, _QUIET = "#444444", "#bbbbbb"
_SYMBOLS = {"pose": r"$x_{%s}$", "force": r"$f_{%s}$", "contact": r"$r_{%s}$", "parameters": r"$\pi$"}
_STEPS = {-1: "k-1", 0: "k", 1: "k+1"}
_COLOURS = {
    "pose": style.MEASURED,
    "force": style.MEASURED,
    "contact": style.MEASURED,
    "dynamics": style.LINE,
    "consistency": style.RELEASE,
    "geodesic": style.ACCENT,
}
_UNKNOWNS = r"unknown: pose $x$, force $f$ and point $r$ of every contact, inertial parameters $\pi$"
_LEGEND = (
    ("measurement of a pose, a force or a contact point", style.MEASURED),
    ("dynamics (eqs. 18, 19)", style.LINE),
    ("physical consistency (eqs. 35 to 37)", style.RELEASE),
    ("geodesic prior (eq. 20)", style.ACCENT),
)


def draw_factor_graph(data: pd.DataFrame) -> Figure:
    """Figure 3: three samples with their unknowns (circles) and factors (squares); neighbours are faded."""
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, 3.6))
    edges, factors, variables = (data[data["element"] == name] for name in ("edge", "factor", "variable"))
    for _, row in edges.iterrows():
        quiet = not row["inner"]
        axes.plot(
            [row["x"], row["x_end"]], [row["y"], row["y_end"]], color=_QUIET if quiet else _LINE, lw=0.7, zorder=1
        )
    for _, row in factors.iterrows():
        corner = (row["x"] - _HALF, row["y"] - _HALF)
        colour = _COLOURS[row["kind"]] if row["inner"] else _QUIET
        axes.add_patch(Rectangle(corner, 2.0 * _HALF, 2.0 * _HALF, color=colour, lw=0.0, zorder=3))
    inner = sorted(set(variables.loc[variables["inner"] & (variables["sample"] >= 0), "sample"]))
    middle = inner[len(inner) // 2]
    for _, row in variables.iterrows():
        _draw_variable(axes, row, middle)
    axes.set_aspect("equal")
    axes.axis("off")
    handles = [Line2D([], [], marker="s", ms=5.0, ls="none", color=colour, label=text) for text, colour in _LEGEND]
    handles.insert(0, Line2D([], [], marker="o", ms=6.0, ls="none", mfc="white", mec="black", label=_UNKNOWNS))
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def _draw_variable(axes: Axes, row: pd.Series, middle: int) -> None:
    quiet = not row["inner"]
    edge = _QUIET if quiet else "black"
    axes.add_patch(Circle((row["x"], row["y"]), _RADIUS, facecolor="white", edgecolor=edge, lw=0.8, zorder=4))
    symbol = _SYMBOLS[row["kind"]]
    if row["sample"] >= 0:
        away = int(row["sample"] - middle)
        symbol = symbol % _STEPS.get(away, f"k{away:+d}")
    axes.annotate(symbol, (row["x"], row["y"]), ha="center", va="center", fontsize=7, color=edge, zorder=5)
    if row["count"] > 1:
        side, align = (-1.0, "right") if row["kind"] == "force" else (1.0, "left")
        place = (row["x"] + 0.8 * side * _RADIUS, row["y"] + _RADIUS)
        axes.annotate(rf"$\times${row['count']}", place, ha=align, va="center", fontsize=5.5, color=edge, zorder=5)


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {"fig03_factor_graph": draw_factor_graph}

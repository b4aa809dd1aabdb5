"""Figure 3: the factors of a real graph, as the estimator enumerates them, with a place for each.

The graph is that of the method with all factors and the paper's differences, on a recording of five
samples; its three inner samples are those that have a dynamics factor. A sample's contacts share a
circle, with their number beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.inhand.identify.factor_graph import PARAMETERS_NAME, Factor, FactorGraph
from contactid.inhand.identify.kinematics import PAPER
from contactid.inhand.identify.methods import GRAPH_METHODS
from contactid.inhand.readers.recordings import recorded_signals, true_parameters
from contactid.inhand.readers.sources import SIMULATION
from contactid.inhand.readers.twins import simulate_recording, twin_options
from contactid.output import pen, style

VARIABLE, FACTOR, EDGE = "variable", "factor", "edge"
_SAMPLES = 5
_SPACING = 4.0  # of the samples
# offset along the row of a sample, and height
_PLACES = {
    "pose": (0.0, 1.2), "force": (-0.66, 4.1), "contact": (0.66, 4.1), PARAMETERS_NAME: (0.0, 7.0),
}  # fmt: skip
_FACTOR_PLACES = {
    "pose": (0.0, 0.0), "dynamics": (0.0, 2.6), "force": (-0.66, 5.2), "contact": (0.66, 5.2),
    "consistency": (-1.5, 7.0), "geodesic": (1.5, 7.0),
}  # fmt: skip
_SOURCE = "drawn from the estimator's factors: a graph of five samples with four contacts; contactid inhand"
_CIRCLE, _SQUARE = 20.0, 7.0  # points
_LINE, _QUIET = "#444444", "#bbbbbb"
_SYMBOLS = {
    "pose": r"$x_{%s}$",
    "force": r"$f_{%s}$",
    "contact": r"$r_{%s}$",
    "parameters": r"$\pi$",
}
_STEPS = {-1: "k-1", 0: "k", 1: "k+1"}
_COLOURS = {
    "pose": style.MEASURED,
    "force": style.MEASURED,
    "contact": style.MEASURED,
    "dynamics": style.LINE,
    "consistency": style.RELEASE,
    "geodesic": style.ACCENT,
}
_UNKNOWNS = (
    r"unknown: pose $x$, force $f$ and point $r$ of every contact, inertial parameters $\pi$"
)
_LEGEND = (
    ("measurement of a pose, a force or a contact point", style.MEASURED),
    ("dynamics (eqs. 18, 19)", style.LINE),
    ("physical consistency (eqs. 35 to 37)", style.RELEASE),
    ("geodesic prior (eq. 20)", style.ACCENT),
)


def factor_graph(
    objects: str, twin: Mapping[str, Any], weights: Mapping[str, float]
) -> pd.DataFrame:
    """The data: the factors' circles, squares and lines; blocks ``inhand: twin`` and ``inhand:
    graph: weights``.
    """
    options = twin_options({**twin, "samples": _SAMPLES}, objects)
    recording, truth = simulate_recording(SIMULATION, "noise_level_0", 0, options)
    method, prior = GRAPH_METHODS["constraint_geodesic"], true_parameters(truth)
    graph = FactorGraph(recorded_signals(recording), method, weights, PAPER, prior)
    return factor_graph_points(graph.factors())


def factor_graph_points(factors: Iterable[Factor]) -> pd.DataFrame:
    """Circles, squares and lines of figure 3.

    ``element`` (``variable``, ``factor`` or ``edge``), ``kind``, ``sample`` (-1 for the
    parameters), ``count`` (of what shares the place), ``inner`` (whether the sample has a dynamics
    factor), ``x``, ``y``, ``x_end``, ``y_end``, ``source``.
    """
    listed = list(factors)
    inner = {factor.sample for factor in listed if factor.kind == "dynamics"}
    middle = float(np.mean([sample for sample in inner if sample is not None]))
    rows: Counter[tuple[object, ...]] = Counter()
    for name in dict.fromkeys(unknown for factor in listed for unknown in factor.unknowns):
        kind, sample = _kind_and_sample(name)
        rows[VARIABLE, kind, sample, *_place(_PLACES, kind, sample, middle), np.nan, np.nan] += 1
    for factor in listed:
        sample = -1 if factor.sample is None else factor.sample
        place = _place(_FACTOR_PLACES, factor.kind, sample, middle)
        rows[FACTOR, factor.kind, sample, *place, np.nan, np.nan] += 1
        for name in factor.unknowns:
            kind, of = _kind_and_sample(name)
            rows[EDGE, factor.kind, sample, *place, *_place(_PLACES, kind, of, middle)] += 1
    names = ["element", "kind", "sample", "x", "y", "x_end", "y_end"]
    table = pd.DataFrame([*rows], columns=names).assign(count=[*rows.values()], source=_SOURCE)
    return table.assign(inner=table["sample"].isin([-1, *inner]))


def _kind_and_sample(name: str) -> tuple[str, int]:
    """Of an unknown's name; -1 for the parameters, which belong to no sample."""
    kind, *numbers = name.split("_")
    return kind, int(numbers[0]) if numbers else -1


def _place(
    places: dict[str, tuple[float, float]], kind: str, sample: int, middle: float
) -> tuple[float, float]:
    offset, height = places[kind]
    return _SPACING * (middle if sample < 0 else sample) + offset, height


def draw_factor_graph(data: pd.DataFrame) -> Figure:
    """Figure 3: three samples with their unknowns (circles) and factors (squares); neighbours are
    faded.
    """
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, 3.6))
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.05, 0.08)
    kinds = {str(name): rows for name, rows in data.groupby("element")}
    for _, row in kinds[EDGE].iterrows():
        colour = _LINE if row["inner"] else _QUIET
        axes.plot(row[["x", "x_end"]], row[["y", "y_end"]], color=colour, lw=0.7, zorder=1)
    for _, row in kinds[FACTOR].iterrows():
        colour = _COLOURS[row["kind"]] if row["inner"] else _QUIET
        axes.plot(row["x"], row["y"], "s", ms=_SQUARE, color=colour, mew=0.0, zorder=3)
    inner = sorted(set(data.loc[data["inner"] & (data["sample"] >= 0), "sample"]))
    for _, row in kinds[VARIABLE].iterrows():
        _draw_variable(axes, row, inner[len(inner) // 2])
    look: dict[str, Any] = {"marker": "o", "ms": 6.0, "ls": "none", "mfc": "white", "mec": "black"}
    handles = [Line2D([], [], label=_UNKNOWNS, **look)]
    for text, colour in _LEGEND:
        handles.append(Line2D([], [], marker="s", ms=5.0, ls="none", color=colour, label=text))
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def _draw_variable(axes: Axes, row: pd.Series, middle: int) -> None:
    """A circle with its symbol, and beside it how many unknowns share it."""
    at, edge = (row["x"], row["y"]), "black" if row["inner"] else _QUIET
    axes.plot(*at, "o", ms=_CIRCLE, mfc="white", mec=edge, mew=0.8, zorder=4)
    symbol = _SYMBOLS[row["kind"]]
    if row["sample"] >= 0:
        away = int(row["sample"] - middle)
        symbol = symbol % _STEPS.get(away, f"k{away:+d}")
    pen.say(axes, at, symbol, colour=edge)
    if row["count"] > 1:
        side, align = (-1.0, "right") if row["kind"] == "force" else (1.0, "left")
        shift = 0.4 * side * _CIRCLE, 0.5 * _CIRCLE
        pen.say(axes, at, rf"$\times${row['count']}", shift, edge, fontsize=6, ha=align)

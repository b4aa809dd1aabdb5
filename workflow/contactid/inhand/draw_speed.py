"""Draw the time of an estimate against the number of samples; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.inhand.names import FACTOR_GRAPH, IPOPT, LEAST_SQUARES, SOLVER_LABELS
from contactid.output import style

_MEASURED, _LINE = "measured", "line"  # series of the data
_LOOKS = {LEAST_SQUARES: (style.ACCENT, "^"), FACTOR_GRAPH: (style.RELEASE, "s"), IPOPT: (style.LINE, "o")}
_PANELS = {"seconds": "CPU time of an estimate (s)", "ms_per_iteration": "CPU time per iteration (ms)"}


def draw_speed(data: pd.DataFrame) -> Figure:
    """Time, with the number of iterations, and time per iteration against samples, with straight lines."""
    figure, panels = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN, 2.7))
    solvers = [solver for solver in _LOOKS if solver in set(data["solver"])]
    for axes, (quantity, label) in zip(panels, _PANELS.items(), strict=True):
        for solver in solvers:
            colour, marker = _LOOKS[solver]
            part = data[(data["quantity"] == quantity) & (data["solver"] == solver)]
            points, line = part[part["series"] == _MEASURED], part[part["series"] == _LINE]
            axes.plot(line["samples"], line["value"], color=colour, lw=0.9)
            axes.plot(points["samples"], points["value"], marker, color=colour, ms=4.0, mfc="white")
            if quantity == "seconds":
                _number_iterations(axes, points, colour)
        axes.set(xlabel="samples", ylabel=label, xlim=(0.0, None), ylim=(0.0, None))
        axes.margins(y=0.12)
    handles = [
        Line2D([], [], color=_LOOKS[solver][0], marker=_LOOKS[solver][1], ms=4.0, mfc="white", label=_label(solver))
        for solver in solvers
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _number_iterations(axes: Axes, points: pd.DataFrame, colour: str) -> None:
    for _, point in points.iterrows():
        axes.annotate(
            f"{point['iterations']:.0f}", (point["samples"], point["value"]), xytext=(0.0, 4.0),
            textcoords="offset points", fontsize=5.5, color=colour, ha="center", va="bottom",
        )  # fmt: skip


def _label(solver: str) -> str:
    return f"{SOLVER_LABELS[solver]}; numbers: iterations"


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {"ext_speed": draw_speed}

"""Figures 7, 8, 10 and 11: box plots of the inertial error by method and object, and the printed rows' own errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator

from contactid.inhand.artefacts.estimates import PRINTED, gathered, is_true, matching, printed_verdict
from contactid.inhand.identify.methods import (
    FACTOR_GRAPH,
    IPOPT,
    LEAST_SQUARES,
    METHOD_LABELS,
    METHODS,
    SOLVERS,
)
from contactid.inhand.readers.sources import ERROR_FIGURES, OBJECTS, SOURCE_LABELS
from contactid.output import style
from contactid.output.tables import read_csv

BOX, OUTLIER = "box", "outlier"  # what a row of the data is, besides a printed one
_STATISTICS = {  # of a box, by Matplotlib's names
    "q25": "q1", "median": "med", "q75": "q3", "whisker_low": "whislo", "whisker_high": "whishi",
}  # fmt: skip
COLUMNS = (
    "object", "method", "solver", "kind", "value", *_STATISTICS, "runs", "unphysical", "not_converged", "source",
)  # fmt: skip
_WHISKERS = 1.5  # interquartile ranges, as in the paper
_COLOURS = dict(zip(METHODS, (style.MEASURED, style.SIMULATED, style.ACCENT, style.LINE, style.RELEASE), strict=True))
_ROWS = {
    "constraint as a cost": (LEAST_SQUARES, FACTOR_GRAPH),
    "hard constraints, IPOPT": (IPOPT,),
}
_WIDTH = 0.8  # of the group of one object's boxes
_WIDE = 300.0  # the largest over the smallest error from which powers of ten are ticks enough
_STRIP = {"unphysical": 2.0, "not_converged": 1.0, PRINTED: 0.0}  # heights of what stands above a panel


def error_figures(shards: Sequence[str], verdicts: str) -> dict[str, pd.DataFrame]:
    """The data of all four, of the estimates and ``ext_printed_consistency.csv``."""
    runs, rows = gathered(shards), read_csv(verdicts)
    return {f"figures/{name}": error_figure_data(source, rows, runs) for source, name in ERROR_FIGURES.items()}


def error_figure_data(source: str, printed_consistency: pd.DataFrame, estimates: pd.DataFrame) -> pd.DataFrame:
    """Statistics of the geodesic error (eq. 38) by object, method and solver, of both tables: :data:`COLUMNS`.

    A row ``box`` has the statistics of the **finite** errors of the runs that converged, whiskers at the last value
    within 1.5 interquartile ranges, and beside them how many runs there are, how many are unphysical (an infinite
    error, which no box can hold) and how many did not converge. A row ``outlier`` has a value beyond the whiskers, a
    row ``printed`` the printed row's error, infinite where no reading makes it a body.
    """
    rows: list[dict[str, Any]] = []
    ours = estimates[estimates["source"] == source]
    theirs = printed_consistency[printed_consistency["source"] == source]
    for name in OBJECTS[source]:
        for method in METHODS:
            labels = {"object": name, "method": method}
            printed = matching(theirs, labels)
            if len(printed):
                solver = LEAST_SQUARES if method == METHODS[0] else FACTOR_GRAPH
                value, _ = printed_verdict(printed)
                rows.append(labels | {"solver": solver, "kind": PRINTED, "value": value})
            for solver in SOLVERS:
                runs = matching(ours, labels | {"solver": solver})
                if len(runs):
                    rows += [labels | {"solver": solver} | row for row in _statistics(runs)]
    label = f"synthetic data: twin of the paper's recordings, {SOURCE_LABELS[source]}; crosses: the rows printed there"
    return pd.DataFrame(rows, columns=list(COLUMNS)).assign(source=label)


def _statistics(runs: pd.DataFrame) -> list[dict[str, Any]]:
    done = runs[is_true(runs["converged"])]
    errors = done["geodesic_error"].to_numpy(dtype=float)
    finite = errors[np.isfinite(errors)]
    counts = {"runs": len(runs), "unphysical": len(done) - len(finite), "not_converged": len(runs) - len(done)}
    if not len(finite):
        return [{"kind": BOX} | counts]
    box = boxplot_stats(finite, whis=_WHISKERS)[0]
    statistics = {name: box[key] for name, key in _STATISTICS.items()}
    return [{"kind": BOX} | statistics | counts] + [{"kind": OUTLIER, "value": value} for value in box["fliers"]]


def draw_errors(data: pd.DataFrame) -> Figure:
    """Box plots by object and method, a panel per kind of solver; above them what no box can show.

    Boxes: first to third quartile, line at the median, whiskers at the last value within 1.5 interquartile ranges.
    Above: of all runs those whose error is infinite because the estimate is no body, and those that did not converge;
    and the printed rows that are no body.
    """
    objects = list(dict.fromkeys(data["object"]))
    figure, panels = plt.subplots(
        4, 1, figsize=(style.DOUBLE_COLUMN, 4.9), sharex=True, height_ratios=[0.24, 1.0, 0.24, 1.0]
    )
    low, high = _limits(data)
    for (title, solvers), strip, axes in zip(_ROWS.items(), panels[::2], panels[1::2], strict=True):
        part = data[data["solver"].isin(solvers)]
        methods = [method for method in METHODS if (part["method"] == method).any()]
        for row in part.to_dict("records"):
            place = _place(objects.index(row["object"]), methods.index(row["method"]), len(methods))
            _draw_row(axes, strip, row, place, _WIDTH / len(methods))
        axes.set(yscale="log", ylim=(low, high), ylabel=f"inertial error,\n{title}")
        _scale(axes, wide=high > _WIDE * low)
        axes.grid(axis="y", which="major", lw=0.3, color="#dddddd")
        axes.set_axisbelow(True)
        _dress(strip, has_printed=bool((part["kind"] == PRINTED).any()))
    bottom = panels[-1]
    bottom.set_xticks(range(len(objects)), [name.replace("_", " ") for name in objects])
    bottom.set_xlim(-0.5, len(objects) - 0.5)
    for axes in panels:
        axes.tick_params(axis="x", length=0.0)
        for edge in range(1, len(objects)):
            axes.axvline(edge - 0.5, color="#bbbbbb", lw=0.4)
    figure.legend(handles=_handles(data), loc="outside upper center", ncols=6)
    return figure


def _place(group: int, method: int, methods: int) -> float:
    return group + _WIDTH * ((method + 0.5) / methods - 0.5)


def _limits(data: pd.DataFrame) -> tuple[float, float]:
    shown = data[["value", "whisker_low", "whisker_high", "median"]].to_numpy(dtype=float)
    shown = shown[np.isfinite(shown) & (shown > 0.0)]
    return (0.6 * float(shown.min()), 1.6 * float(shown.max())) if len(shown) else (0.1, 10.0)


def _scale(axes: Axes, *, wide: bool) -> None:
    """Ticks at powers of ten where the range is wide, else at 1, 2 and 5 of each."""
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    if not wide:
        axes.yaxis.set_major_formatter("{x:g}")


def _draw_row(axes: Axes, strip: Axes, row: dict[Any, Any], place: float, width: float) -> None:
    colour = _COLOURS[row["method"]]
    if row["kind"] == OUTLIER:
        axes.plot([place], [row["value"]], "o", ms=2.2, mfc="none", mec=colour, mew=0.6)
    elif row["kind"] == PRINTED:
        unphysical = np.isinf(row["value"])
        target, height = (strip, _STRIP[PRINTED]) if unphysical else (axes, row["value"])
        target.plot([place], [height], "x", ms=3.6, color="black", mew=0.8, zorder=4)
    else:
        _draw_box(axes, row, place, 0.7 * width, colour)
        for name in ("unphysical", "not_converged"):
            _write_count(strip, row[name], row["runs"], place, _STRIP[name], colour)


def _write_count(strip: Axes, count: float, runs: float, place: float, height: float, colour: str) -> None:
    heavy = "bold" if count else "normal"
    strip.text(
        place, height, f"{count:.0f}/{runs:.0f}", ha="center", va="center", fontsize=4.8, color=colour, weight=heavy
    )


def _draw_box(axes: Axes, row: dict[Any, Any], place: float, width: float, colour: str) -> None:
    if not np.isfinite(row["median"]):
        return
    statistics = {key: row[name] for name, key in _STATISTICS.items()}
    line = {"color": colour, "lw": 0.9}
    axes.bxp(
        [statistics], positions=[place], widths=width, showfliers=False, manage_ticks=False, boxprops=line,
        whiskerprops=line, capprops=line, medianprops={"color": colour, "lw": 1.8},
    )  # fmt: skip


def _dress(strip: Axes, *, has_printed: bool) -> None:
    labels = ["unphysical runs", "not converged", "printed, unphysical"][: len(_STRIP) - (not has_printed)]
    strip.set_yticks(list(_STRIP.values())[: len(labels)], labels, fontsize=5.5)
    strip.set_ylim(-0.6, 2.6)
    strip.tick_params(axis="y", length=0.0)
    for side in ("left", "bottom"):
        strip.spines[side].set_visible(False)


def _handles(data: pd.DataFrame) -> list[Any]:
    shown = [method for method in METHODS if (data["method"] == method).any()]
    handles: list[Any] = [Patch(fc="none", ec=_COLOURS[method], label=METHOD_LABELS[method]) for method in shown]
    handles.append(Line2D([], [], ls="none", marker="x", ms=3.6, color="black", label="printed row"))
    return handles

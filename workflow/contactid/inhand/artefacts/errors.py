"""Figures 7, 8, 10 and 11: box plots of the inertial error by method and object, and the printed
rows' own errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns  # type: ignore[import-untyped]
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator

from contactid.inhand.artefacts.estimates import PRINTED, is_true, matching, printed_verdict
from contactid.inhand.identify.methods import (
    FACTOR_GRAPH,
    LEAST_SQUARES,
    LIKELIHOOD,
    METHOD_LABELS,
    METHODS,
    UNIFORM,
)
from contactid.inhand.readers.sources import ERROR_FIGURES, IN_HAND, OBJECTS, SOURCE_LABELS
from contactid.output import style
from contactid.output.stored import read_stored
from contactid.output.tables import read_csv

RUN, NAIVE = "run", "naive"  # what a row of the data is, besides a printed one
COLUMNS = (
    "object",
    "method",
    "solver",
    "kind",
    "value",
    "converged",
    "physically_consistent",
    "source",
)
_WHISKERS = 1.5  # interquartile ranges, as in the paper
_COLOURS = dict(
    zip(
        METHODS,
        (style.MEASURED, style.SIMULATED, style.ACCENT, style.LINE, style.RELEASE),
        strict=True,
    )
)
_ROWS = {(LEAST_SQUARES, FACTOR_GRAPH): "constraint as a cost", (LIKELIHOOD,): "ours"}
_WIDTH = 0.8  # of the group of one object's boxes
_WIDE = 300.0  # the largest over the smallest error from which powers of ten are ticks enough
_STRIP = {
    "unphysical": 2.0,
    "not_converged": 1.0,
    PRINTED: 0.0,
}  # heights of what stands above a panel


def error_figures(stored_estimates: Sequence[str], verdicts: str) -> dict[str, pd.DataFrame]:
    """The data of all four, of the stored estimates of many seeds and
    ``ext_printed_consistency.csv``.
    """
    runs, rows = read_stored(stored_estimates)[0], read_csv(verdicts)
    return {
        f"figures/{name}": error_figure_data(source, rows, runs)
        for source, name in ERROR_FIGURES.items()
    }


def error_figure_data(
    source: str, printed_consistency: pd.DataFrame, estimates: pd.DataFrame
) -> pd.DataFrame:
    """Geodesic errors (eq. 38) by object, method and solver, of both tables: :data:`COLUMNS`.

    A row ``run`` is an estimate, infinite where no body can have it; a row ``naive`` the uniform
    body in the hull with that run's mass; a row ``printed`` the printed row's error, infinite where
    no sign makes it a body.
    """
    rows: list[dict[str, Any]] = []
    theirs = printed_consistency[printed_consistency["source"] == source]
    for name in OBJECTS[source]:
        for method in METHODS:
            labels = {"object": name, "method": method}
            printed = matching(theirs, labels)
            if len(printed):
                solver = LEAST_SQUARES if method == METHODS[0] else FACTOR_GRAPH
                value, _ = printed_verdict(printed)
                rows.append(labels | {"solver": solver, "kind": PRINTED, "value": value})
    ours = estimates[
        (estimates["source"] == source) & estimates["method"].isin([*METHODS, UNIFORM])
    ]
    kind = np.where(ours["method"] == UNIFORM, NAIVE, RUN)
    ours = ours.assign(kind=kind, value=ours["geodesic_error"].fillna(np.inf))
    label = f"synthetic data: twin of the paper's recordings, {SOURCE_LABELS[source]}, stored; crosses: printed rows"
    both = pd.concat([pd.DataFrame(rows), ours]) if rows else ours
    return both.reindex(columns=COLUMNS).assign(source=label)


def draw_errors(data: pd.DataFrame) -> Figure:
    """Box plots by object and method, a panel per kind of solver; above them what no box can show.

    Boxes: finite errors of the runs that converged, first to third quartile, line at the median,
    whiskers at the last value within 1.5 interquartile ranges. Dashes: median error of the uniform
    body in the hull. Above: of all runs those whose estimate isn't physically consistent, and those
    that did not converge; and the printed rows that are no body.
    """
    objects = list(dict.fromkeys(data["object"]))
    figure, panels = plt.subplots(
        4, 1, figsize=(style.DOUBLE_COLUMN, 4.9), sharex=True, height_ratios=[0.24, 1.0, 0.24, 1.0]
    )
    low, high = _limits(data)
    in_hand = any(SOURCE_LABELS[source] in data["source"].iloc[0] for source in IN_HAND)
    naive = data[data["kind"] == NAIVE].groupby("object")["value"].median()
    for (solvers, title), strip, axes in zip(_ROWS.items(), panels[::2], panels[1::2], strict=True):
        part = data[data["solver"].isin(solvers) & (data["kind"] != NAIVE)]
        methods = [method for method in METHODS if (part["method"] == method).any()]
        runs, rows = part[part["kind"] == RUN], part[part["kind"] == PRINTED]
        drawn = runs[is_true(runs["converged"]) & np.isfinite(runs["value"])]
        sns.boxplot(
            drawn, x="object", y="value", hue="method", order=objects, hue_order=methods, palette=_COLOURS, fill=False,
            whis=_WHISKERS, width=_WIDTH, gap=0.3, linewidth=0.9, fliersize=2.2, legend=False, ax=axes,
        )  # fmt: skip
        for (name, method), group in runs.groupby(["object", "method"], sort=False):
            place = _place(objects.index(str(name)), methods.index(str(method)), len(methods))
            done = is_true(group["converged"])
            lacking = {
                "unphysical": done & ~is_true(group["physically_consistent"]),
                "not_converged": ~done,
            }
            for kind, which in lacking.items():
                _write_count(
                    strip, int(which.sum()), len(group), place, _STRIP[kind], _COLOURS[str(method)]
                )
        for row in rows.to_dict("records"):
            place = _place(objects.index(row["object"]), methods.index(row["method"]), len(methods))
            target, height = (
                (strip, _STRIP[PRINTED]) if np.isinf(row["value"]) else (axes, row["value"])
            )
            target.plot([place], [height], "x", ms=3.6, color="black", mew=0.8, zorder=4)
        for number, name in enumerate(objects):
            if name in naive:
                ends = (number - 0.5 * _WIDTH, number + 0.5 * _WIDTH)
                axes.plot(ends, [naive[name]] * 2, "--", color="black", lw=0.8, zorder=1)
        if in_hand and solvers == (LIKELIHOOD,):
            title += ", with an\nunsensed wrench"
        axes.set(yscale="log", ylim=(low, high), xlabel="", ylabel=f"inertial error,\n{title}")
        _scale(axes, wide=high > _WIDE * low)
        axes.grid(axis="y", which="major", lw=0.3, color="#dddddd")
        axes.set_axisbelow(True)
        _dress(strip, has_printed=bool(len(rows)))
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
    settled = (data["kind"] != RUN) | is_true(data["converged"])
    shown = data.loc[settled, "value"].to_numpy(dtype=float)
    shown = shown[np.isfinite(shown) & (shown > 0.0)]
    return (0.6 * float(shown.min()), 1.6 * float(shown.max())) if len(shown) else (0.1, 10.0)


def _scale(axes: Axes, *, wide: bool) -> None:
    """Ticks at powers of ten where the range is wide, else at 1, 2 and 5 of each."""
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    if not wide:
        axes.yaxis.set_major_formatter("{x:g}")


def _write_count(
    strip: Axes, count: float, runs: float, place: float, height: float, colour: str
) -> None:
    heavy = "bold" if count else "normal"
    strip.text(
        place,
        height,
        f"{count:.0f}/{runs:.0f}",
        ha="center",
        va="center",
        fontsize=4.8,
        color=colour,
        weight=heavy,
    )


def _dress(strip: Axes, *, has_printed: bool) -> None:
    labels = ["unphysical runs", "not converged", "printed, unphysical"][
        : len(_STRIP) - (not has_printed)
    ]
    strip.set_yticks(list(_STRIP.values())[: len(labels)], labels, fontsize=5.5)
    strip.set_ylim(-0.6, 2.6)
    strip.tick_params(axis="y", length=0.0)
    for side in ("left", "bottom"):
        strip.spines[side].set_visible(False)


def _handles(data: pd.DataFrame) -> list[Any]:
    shown = [method for method in METHODS if (data["method"] == method).any()]
    handles: list[Any] = [
        Patch(fc="none", ec=_COLOURS[method], label=METHOD_LABELS[method]) for method in shown
    ]
    handles.append(
        Line2D([], [], ls="none", marker="x", ms=3.6, color="black", label="printed row")
    )
    handles.append(Line2D([], [], ls="--", color="black", lw=0.8, label="uniform body in the hull"))
    return handles

"""Figures 7, 8, 10 and 11: the inertial error of every run by method and object, and the printed
rows' own errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
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
_COLOURS = dict(
    zip(
        METHODS,
        (style.MEASURED, style.SIMULATED, style.ACCENT, style.LINE, style.RELEASE),
        strict=True,
    )
)
_OURS = "ours"  # its answer by likelihood stands beside the paper's methods
_SPREAD = 0.5  # of a method's place, over which its runs lie side by side
_WIDE = 300.0  # the largest over the smallest error from which powers of ten are ticks enough
_NO_BODY, _NOT_SETTLED = 0.0, 1.0  # heights above the errors


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
    """A dot per run, by object and method; above the errors the runs that have none.

    Dots are the errors of the runs that settled, hollow where the centre of mass is outside the
    hull. Runs whose estimate is no body's, and printed rows that are none, lie in the row above,
    runs that didn't settle in the next one. Dashes: median error of the uniform body in the hull.
    """
    objects = list(dict.fromkeys(data["object"]))
    data = data.assign(ours=data["solver"] == LIKELIHOOD)
    rows = data[data["kind"].isin([RUN, PRINTED])]
    shown = set(zip(rows["method"], rows["ours"], strict=True))
    methods = [(one, ours) for ours in (False, True) for one in METHODS if (one, ours) in shown]
    figure, (above, axes) = plt.subplots(
        2, 1, figsize=(style.DOUBLE_COLUMN, 3.6), sharex=True, height_ratios=[0.16, 1.0]
    )
    low, high = _limits(data)
    axes.set(yscale="log", ylim=(low, high), ylabel="inertial error")
    _scale(axes, wide=high > _WIDE * low)
    naive = data[data["kind"] == NAIVE].groupby("object")["value"].median()
    for number, name in enumerate(objects):
        first = number * (len(methods) + 1)
        of_object = rows[rows["object"] == name]
        for column, (method, ours) in enumerate(methods):
            of_both = (of_object["method"] == method) & (of_object["ours"] == ours)
            _draw_runs(above, axes, of_object[of_both], first + column, _COLOURS[method])
        if name in naive:
            ends = (first - 0.6, first + len(methods) - 0.4)
            axes.plot(ends, [naive[name]] * 2, "--", color="black", lw=0.8, zorder=1)
        middle = first + 0.5 * (len(methods) - 1)
        above.text(middle, 1.8, name.replace("_", " "), ha="center", va="bottom")
    _dress(above, axes, len(objects), methods)
    figure.legend(handles=_handles(data), loc="outside upper center", ncols=4)
    return figure


def _draw_runs(above: Axes, axes: Axes, rows: pd.DataFrame, place: float, colour: str) -> None:
    """The runs and the printed row of one method on one object, a mark each."""
    runs = rows[rows["kind"] == RUN]
    settled = is_true(runs["converged"])
    errors = runs["value"].where(settled & np.isfinite(runs["value"].astype(float)))
    no_error = np.where(settled, _NO_BODY, _NOT_SETTLED)
    hollow = ~is_true(runs["physically_consistent"]) & errors.notna()
    beside = place + _SPREAD * np.linspace(-0.5, 0.5, len(runs))
    # one run stands in the middle
    beside = beside if len(runs) > 1 else np.full(len(runs), place)
    for at, error, height, is_hollow in zip(beside, errors, no_error, hollow, strict=True):
        look = {"ms": 2.8, "mew": 0.7, "mec": colour, "mfc": "none" if is_hollow else colour}
        _mark(above, axes, at, error, height, "o", **look)
    for value in rows.loc[rows["kind"] == PRINTED, "value"]:
        error = value if np.isfinite(value) else np.nan
        _mark(above, axes, place, error, _NO_BODY, "x", ms=4.2, color="black", mew=0.8, zorder=4)


def _mark(
    above: Axes, axes: Axes, at: float, error: float, height: float, mark: str, **look: Any
) -> None:
    """A mark at an error, or in the row above at a height where there is none."""
    if np.isnan(error):
        above.plot(at, height, mark, **look)
    else:
        axes.plot(at, error, mark, **look)


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


def _dress(above: Axes, axes: Axes, objects: int, methods: Sequence[tuple[str, bool]]) -> None:
    above.set_yticks([_NO_BODY, _NOT_SETTLED], ["no body", "not settled"])
    above.set_ylim(-0.6, 1.6)
    above.tick_params(axis="both", length=0.0)
    above.spines["bottom"].set_visible(False)
    above.spines["left"].set_visible(False)
    group = len(methods) + 1
    names = [_OURS if ours else METHOD_LABELS[method] for method, ours in methods]
    places = [number * group + k for number in range(objects) for k in range(len(methods))]
    axes.set_xticks(places, names * objects, rotation=90, fontsize=5.5)
    axes.set_xlim(-1.0, objects * group - 1.0)
    axes.tick_params(axis="x", length=0.0)
    axes.grid(axis="y", which="major", lw=0.3, color="#dddddd")
    axes.set_axisbelow(True)
    for one in (above, axes):
        for number in range(1, objects):
            one.axvline(number * group - 1.0, color="#bbbbbb", lw=0.4)


def _handles(data: pd.DataFrame) -> list[Line2D]:
    in_hand = any(SOURCE_LABELS[source] in data["source"].iloc[0] for source in IN_HAND)
    ours = "a run" + (" (ours: with an unsensed wrench)" if in_hand else "")
    marks: list[tuple[str, dict[str, Any]]] = [
        (ours, {"marker": "o", "ms": 2.8, "ls": "none"}),
        ("centre outside the hull", {"marker": "o", "ms": 2.8, "mfc": "none", "ls": "none"}),
        ("printed row", {"marker": "x", "ms": 4.2, "ls": "none"}),
        ("uniform body in the hull", {"ls": "--", "lw": 0.8}),
    ]
    return [Line2D([], [], color="black", label=label, **how) for label, how in marks]

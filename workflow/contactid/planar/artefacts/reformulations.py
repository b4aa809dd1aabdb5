"""The contest of reformulations: how often each method succeeds from each start, how well it fits,
and its time.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from contactid.output import style
from contactid.output.tables import read_csv

_THROW = ["truth", "mu", "fps", "seed"]
_GROUP = ["throws", "start", "reformulation"]
TABLE_1, HARD_TRUTHS = "table_1", "hard_truths"
# Of half the sum of squared residuals. An answer that is likelier by a factor exp(2) than another
# is better; noise decides between two that are nearer.
_ALIKE = 2.0
_SHOWN = {
    "scholtes": "Scholtes",
    "lin_fukushima": "Lin-Fukushima",
    "steffensen_ulbrich": "Steffensen-Ulbrich",
    "fischer_burmeister": "Fischer-Burmeister",
    "pyomo_mpec": "Pyomo's",
}
_LOOKS = {
    (TABLE_1, "fitted_motion"): ("fitted motion", style.LINE, "o"),
    (TABLE_1, "other_inertia"): ("the same, half its $J/m$", style.ACCENT, "s"),
    (TABLE_1, "measured_poses"): ("measured poses", style.RELEASE, "^"),
    (HARD_TRUTHS, "fitted_motion"): ("fitted motion, hard truths", style.MEASURED, "D"),
}


def contest_table(reformulations: str) -> pd.DataFrame:
    """``ext_reformulations``, of the stored samples."""
    return reformulation_table(read_csv(reformulations))


def contest_figure(reformulation_table: str) -> pd.DataFrame:
    """``ext_reformulations``, of the table."""
    return read_csv(reformulation_table)


def reformulation_table(attempts: pd.DataFrame) -> pd.DataFrame:
    """A row per start and method, over the throws of table 1's cells and over those of the hard
    truths.

    Returns
    -------
    ``throws, start, reformulation, n``; ``n_converged``; ``n_success`` (converged with a misfit
    that noise explains); ``n_at_best`` (converged with a misfit that is about the least that any
    method found from any start of that throw); errors of J/m in % of its truth, of successes and of
    all; ``misfit_over_best_median``; largest residual, iterations, and CPU seconds.
    """
    # pandas leaves out groups with a NaN, as the friction of hard truths is
    keyed = attempts.fillna({"mu": 0.0, "fps": 0.0})
    # a solve that wandered off may have any misfit
    held = keyed["misfit"].where(keyed["converged"])
    best = held.groupby([keyed[name] for name in _THROW]).transform("min")
    hard = keyed["truth"] != "as_table_1"
    judged = attempts.assign(
        throws=np.where(hard, HARD_TRUTHS, TABLE_1),
        at_best=attempts["converged"] & (attempts["misfit"] <= best + _ALIKE),
        over_best=attempts["misfit"] / best,
        size=attempts["error_pct"].abs(),
        answer_size=attempts["answer_error_pct"].abs(),
    )
    grouped = judged.groupby(_GROUP, sort=False)
    return grouped.agg(
        n=("success", "size"),
        n_converged=("converged", "sum"),
        n_success=("success", "sum"),
        n_at_best=("at_best", "sum"),
        error_abs_median_pct=("answer_size", "median"),
        error_abs_median_all_pct=("size", "median"),
        misfit_over_best_median=("over_best", "median"),
        complementarity_largest=("complementarity", "max"),
        iterations_median=("iterations", "median"),
        seconds_median=("seconds", "median"),
    ).reset_index()


def draw_reformulations(data: pd.DataFrame) -> Figure:
    """Success (a), misfit beside the best found (b), and time (c) of each method, by its start."""
    methods = list(dict.fromkeys(data["reformulation"]))[::-1]
    figure, panels = plt.subplots(
        1, 3, figsize=(style.DOUBLE_COLUMN, 0.3 * len(methods) + 1.3), sharey=True
    )
    shown = data.assign(success_pct=100.0 * data["n_success"] / data["n"])
    for (throws, start), (label, colour, marker) in _LOOKS.items():
        rows = shown[(shown["throws"] == throws) & (shown["start"] == start)]
        if rows.empty:
            continue
        places = [methods.index(name) for name in rows["reformulation"]]
        columns = ("success_pct", "misfit_over_best_median", "seconds_median")
        for axes, column in zip(panels, columns, strict=True):
            axes.plot(rows[column], places, marker, color=colour, ms=4.5, mfc="none", label=label)
    panels[0].set(xlim=(-4.0, 104.0), xlabel="converged and plausible (%)")
    panels[1].set(xscale="log", xlabel="misfit over the best found, median")
    panels[2].set(xscale="log", xlabel="CPU time (s), median")
    for axes, digits in ((panels[1], (1.0,)), (panels[2], (1.0, 2.0, 5.0))):
        axes.xaxis.set_major_locator(LogLocator(subs=digits))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    for letter, axes in zip("abc", panels, strict=True):
        axes.set_title(f"({letter})", loc="left")
        axes.grid(axis="y", lw=0.5, color="#ececec")
        axes.set_axisbelow(True)
    panels[0].set_yticks(
        range(len(methods)), [_SHOWN.get(name, name.replace("_", " ")) for name in methods]
    )
    panels[0].set_ylim(-0.6, len(methods) - 0.4)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, columnspacing=1.0)
    return figure

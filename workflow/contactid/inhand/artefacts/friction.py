"""Friction by trials against the slope method: tables, and figure 6's box plots of estimates and
their errors.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from contactid.inhand.friction.trials import friction_table
from contactid.output import style
from contactid.output.tables import read_csv

COLUMNS = ("kind", "object", "region", "warped", "friction_mu", "error", "source")
_SOURCE = "synthetic data: simulated fingertip; coefficients and warping chosen; contactid inhand"
_LABELS = {
    "friction_mu": r"coefficient of friction $\mu$ (1)",
    "error": r"error of $\mu$ against the slope method (1)",
}
_COLOURS = {False: style.LINE, True: style.RELEASE}  # by whether the surface warps


def friction_tables(trials: str, directions: str, ratios: str) -> dict[str, pd.DataFrame]:
    """The study by case, every trial, and what the force's direction and kinetic friction do to it."""
    rows = read_csv(trials)
    return {
        "tables/ext_friction": friction_table(rows),
        "tables/ext_friction_trials": rows,
        "tables/ext_friction_direction": read_csv(directions),
        "tables/ext_friction_kinetic": read_csv(ratios),
    }


def estimates_and_errors(trials: str, slopes: str) -> pd.DataFrame:
    """The data of figure 6."""
    return friction_figure(read_csv(trials), read_csv(slopes))


def friction_figure(trials: pd.DataFrame, slope: pd.DataFrame) -> pd.DataFrame:
    """Rows of figure 6, :data:`COLUMNS`: every repetition of the ``slope`` method, and every
    ``trial`` that slipped.

    Parameters
    ----------
    trials, slope
        Of :func:`contactid.inhand.friction.trials.simulate_and_estimate`.
    """
    cases = trials[["object", "region", "warped"]].drop_duplicates()
    rows = pd.concat(
        [cases.merge(slope).assign(kind="slope"), trials[trials["slipped"]].assign(kind="trial")]
    )
    return rows.assign(source=_SOURCE).reindex(columns=COLUMNS)


def draw_friction(data: pd.DataFrame) -> Figure:
    """Figure 6: a row per case, estimates on the left, errors on the right; warped cases in another
    colour.

    Boxes as in the paper: first to third quartile, line at the median, whiskers at the last value
    within 1.5 interquartile ranges.
    """
    import seaborn as sns  # type: ignore[import-untyped]  # half a second that only drawing needs

    data = data.assign(
        case=[_case_label(*case) for case in zip(data["object"], data["region"], strict=True)]
    )
    slope, trials = (data[data["kind"] == kind] for kind in ("slope", "trial"))
    measured = slope.groupby("case", sort=False)["friction_mu"].agg(["mean", "min", "max"])
    figure, panels = plt.subplots(
        1, 2, figsize=(style.DOUBLE_COLUMN, 0.27 * len(measured) + 1.1), sharey=True
    )
    for axes, (column, label) in zip(panels, _LABELS.items(), strict=True):
        sns.boxplot(
            trials, x=column, y="case", order=measured.index, hue="warped", palette=_COLOURS, saturation=1.0,
            dodge=False, width=0.55, linewidth=0.6, fliersize=2.5, boxprops={"alpha": 0.5},
            medianprops={"linewidth": 1.4}, legend=False, ax=axes,
        )  # fmt: skip
        axes.set(xlabel=label, ylabel="")
        axes.margins(x=0.03)
        axes.grid(axis="x", lw=0.3, color="#dddddd")
        axes.set_axisbelow(True)
    places = np.arange(len(measured))
    panels[0].set_yticks(places, measured.index)
    panels[0].errorbar(
        measured["mean"], places - 0.39, fmt="D", ms=3.0, color="black", elinewidth=0.6, zorder=4,
        xerr=[measured["mean"] - measured["min"], measured["max"] - measured["mean"]],
    )  # fmt: skip
    panels[1].axvline(0.0, color="black", lw=0.6, zorder=1)
    figure.legend(handles=_handles(), loc="outside upper center", ncols=4)
    return figure


def _case_label(name: str, region: str) -> str:
    plain = name.replace("_", " ")
    return plain if region == "all" else f"{plain}, {region}"


def _handles() -> list[Line2D | Patch]:
    return [
        Patch(facecolor=style.LINE, alpha=0.5, label="estimates, one per trial"),
        Patch(facecolor=style.RELEASE, alpha=0.5, label="surface warps under the finger"),
        Line2D(
            [], [], color="black", marker="D", ms=3.0, lw=0.6, label="slope method: mean and range"
        ),
        Line2D([], [], color="black", marker="o", ms=2.5, mfc="none", ls="none", label="outlier"),
    ]

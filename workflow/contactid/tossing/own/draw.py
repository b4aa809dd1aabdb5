"""Draw predictions of a user's own tosses; nothing is computed here."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.tossing.own.predict import NAIVE, label

_HEIGHT, _LEAST = 0.24, 2.2  # inches: of a scheme's row, of the figure


def draw_predictions(predictions: pd.DataFrame, means: pd.DataFrame, scheme: str, identified_on: str) -> Figure:
    """Losses of all schemes, and measured and predicted places at rest by one of them, seen from above.

    ``predictions`` and ``means`` are of :func:`contactid.tossing.own.predict.predict_own` and ``means`` there.
    """
    height = max(_LEAST, _HEIGHT * len(means) + 0.9)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(style.DOUBLE_COLUMN, height), gridspec_kw={"width_ratios": [1.15, 1.0]}
    )
    _draw_losses(left, predictions, means)
    shown = predictions[(predictions["scheme"] == scheme) & (predictions["identified_on"] == identified_on)]
    _draw_rest(right, shown, scheme)
    return figure


def _draw_losses(axes: Axes, predictions: pd.DataFrame, means: pd.DataFrame) -> None:
    for place, (_, row) in enumerate(means.iterrows()):
        of_scheme = predictions["scheme"] == row["scheme"]
        part = predictions[of_scheme & (predictions["identified_on"] == row["identified_on"])]
        colour = style.MEASURED if row["parameters"] == NAIVE else style.LINE
        axes.plot(part["loss"], np.full(len(part), place), ".", color=colour, ms=3, mew=0, alpha=0.5, zorder=2)
        error = row["sem_loss"] if np.isfinite(row["sem_loss"]) else 0.0
        axes.errorbar(row["mean_loss"], place, xerr=error, fmt="d", color="black", ms=3.5, lw=0.9, capsize=2, zorder=4)
        if np.isfinite(row["run_mean_loss"]):
            axes.plot(row["run_mean_loss"], place, "|", color=style.RELEASE, ms=9, mew=1.4, zorder=3)
    axes.set_yticks(range(len(means)), [label(row, means) for _, row in means.iterrows()])
    axes.set_ylim(len(means) - 0.5, -0.5)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("loss of a toss (eq. 18)")
    axes.plot([], [], ".", color=style.LINE, ms=4, mew=0, label="toss")
    axes.errorbar([], [], xerr=[], fmt="d", color="black", ms=3.5, lw=0.9, capsize=2, label="mean, standard error")
    axes.plot([], [], "|", color=style.RELEASE, ms=7, mew=1.4, label="the run's own test tosses")
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=6, columnspacing=0.8, handletextpad=0.2
    )


def _draw_rest(axes: Axes, predictions: pd.DataFrame, scheme: str) -> None:
    for _, toss in predictions.iterrows():
        ends = [[toss[f"{kind}_{axis}"] for kind in ("measured", "simulated")] for axis in "xy"]
        axes.plot(*ends, color=style.MEASURED, lw=0.6, zorder=1)
    for kind, colour, name in (
        ("measured", style.MEASURED, "measured at rest"),
        ("simulated", style.SIMULATED, f"predicted by {scheme}"),
    ):
        places = predictions[f"{kind}_x"], predictions[f"{kind}_y"]
        axes.plot(*places, "o", color=colour, ms=3.5, mew=0, zorder=2, label=name)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("$x_C$ (m)")
    axes.set_ylabel("$y_C$ (m)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=6, handletextpad=0.2)

"""Figures of a user's own predicted tosses."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.output import style
from contactid.tossing.own.predict import NAIVE, label

_HEIGHT, _LEAST = 0.24, 2.2  # inches: of a scheme's row, of the figure
_MEAN: dict[str, Any] = {"fmt": "d", "color": "black", "ms": 3.5, "lw": 0.9, "capsize": 2}


def draw_losses(predictions: pd.DataFrame, means: pd.DataFrame, said: str) -> Figure:
    """Losses of all schemes; ``said`` is what data they are of.

    ``predictions`` and ``means`` are of :mod:`contactid.tossing.own.predict`.
    """
    height = max(_LEAST, _HEIGHT * len(means) + 0.9)
    figure, axes = plt.subplots(figsize=(0.7 * style.DOUBLE_COLUMN, height))
    for place, (_, row) in enumerate(means.iterrows()):
        of_scheme = predictions["scheme"] == row["scheme"]
        part = predictions[of_scheme & (predictions["identified_on"] == row["identified_on"])]
        colour = style.MEASURED if row["parameters"] == NAIVE else style.LINE
        axes.plot(
            part["loss"],
            np.full(len(part), place),
            ".",
            color=colour,
            ms=3,
            mew=0,
            alpha=0.5,
            zorder=2,
        )
        error = row["sem_loss"] if np.isfinite(row["sem_loss"]) else 0.0
        axes.errorbar(row["mean_loss"], place, xerr=error, zorder=4, **_MEAN)
        if np.isfinite(row["run_mean_loss"]):
            axes.plot(
                row["run_mean_loss"], place, "|", color=style.RELEASE, ms=9, mew=1.4, zorder=3
            )
    axes.set_yticks(range(len(means)), [label(row, means) for _, row in means.iterrows()])
    axes.set_ylim(len(means) - 0.5, -0.5)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("loss of a toss (eq. 18)")
    axes.plot([], [], ".", color=style.LINE, ms=4, mew=0, label="toss")
    axes.errorbar([], [], xerr=[], label="mean, standard error", **_MEAN)
    axes.plot([], [], "|", color=style.RELEASE, ms=7, mew=1.4, label="the run's own test tosses")
    axes.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=3,
        fontsize=6,
        columnspacing=0.8,
        handletextpad=0.2,
    )
    style.label_data(figure, said)
    return figure

"""Real recordings of sensors at a robot's wrist: masses beside a linear fit's, and what is left of
the wrench where a part was left out.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.inhand.identify.likelihood import INTERVAL
from contactid.output import style
from contactid.output.tables import read_exact

_APART = 0.3  # of a row: the linear fit stands below the estimate


def wrist_tables(estimates: str, predictions: str) -> dict[str, pd.DataFrame]:
    """Tables and figure from what :func:`contactid.inhand.own.wrists.write_wrists` wrote.

    ``off_pct`` is the estimate's mass against the linear fit's, in percent.
    """
    found = read_exact(estimates)
    found = found.assign(off_pct=100.0 * (found["mass_kg"] / found["linear_kg"] - 1.0))
    return {
        "tables/ext_wrist": found,
        "tables/ext_wrist_predictions": read_exact(predictions),
        "figures/ext_wrist": found.drop(columns="seconds"),
    }


def draw_wrists(data: pd.DataFrame) -> Figure:
    """A row per recording and rows that count: the mass with 95 %, and the linear fit's below it."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.6))
    place = np.arange(len(data))
    kinds = [
        (place, "mass_kg", "mass_se_kg", "o", style.LINE, "by likelihood"),
        (place + _APART, "linear_kg", "linear_se_kg", "|", style.MEASURED, "linear fit"),
    ]
    for at, mass, error, mark, color, label in kinds:
        axes.errorbar(
            data[mass], at, xerr=INTERVAL * data[error], fmt=mark, ms=3.5, lw=1.0, color=color,
            label=label,
        )  # fmt: skip
    names = data["recording"] + np.where(data["rows"] == "poses", "", ", " + data["rows"])
    axes.set_yticks(place, names)
    axes.invert_yaxis()
    axes.set_xlabel("mass (kg), with intervals of 95 %")
    axes.legend(loc="center right")
    return figure

"""Real landings of a biped against rigid laws: medians of the errors, and how often each law is the
best.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import binom

from contactid.arm.rigid.biped import LAWS, STICKING
from contactid.output import style
from contactid.output.tables import read_csv

#: ms after the second foot's touch: from then on the feet's normal velocity is gone.
SHOWN_WAIT = 6
_OTHER_WAITS = {4: "<", 8: ">"}  # ms, and the mark of their medians
_BELOW = 0.3  # of a row, where those stand


def landing_tables(landings: str) -> dict[str, pd.DataFrame]:
    """Tables and figure from the rows of :func:`contactid.arm.identify.landings.write_landings`."""
    rows = read_csv(landings)
    shown = rows[rows["wait_ms"] == SHOWN_WAIT]
    return {
        "tables/ext_landings": summary(rows),
        "tables/ext_landings_errors": shown.pivot(index="landing", columns="law", values="error")[
            list(LAWS)
        ].reset_index(),
        "figures/ext_landings": rows,
    }


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """By ``wait_ms`` and ``law``: errors over the size of the jump, and comparisons landing by
    landing.

    ``landings``; ``median`` with the interval ``low, high`` of 95 % that order statistics give it;
    ``best`` (landings in which the law errs least); ``worse_than_sticking``.
    """
    found = []
    for wait, of_wait in rows.groupby("wait_ms"):
        errors = of_wait.pivot(index="landing", columns="law", values="error")
        best = errors.idxmin(axis=1)
        for law in LAWS:
            low, high = median_interval(errors[law].to_numpy())
            found.append(
                {
                    "wait_ms": wait,
                    "law": law,
                    "landings": len(errors),
                    "median": errors[law].median(),
                    "low": low,
                    "high": high,
                    "best": int((best == law).sum()),
                    "worse_than_sticking": int((errors[law] > errors[STICKING]).sum()),
                }
            )
    return pd.DataFrame(found)


def median_interval(values: np.ndarray) -> tuple[float, float]:
    """Order statistics that hold the median of what is sampled with 95 % or more."""
    ordered = np.sort(values)
    outside = int(binom.ppf(0.025, len(ordered), 0.5))  # of the sample's numbers beyond either end
    first = max(outside - 1, 0)
    return float(ordered[first]), float(ordered[len(ordered) - 1 - first])


def draw_landings(data: pd.DataFrame) -> Figure:
    """A row per law: every landing, the median with its interval, and the medians at other times."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.4))
    for place, law in enumerate(LAWS):
        of_law = data[data["law"] == law]
        errors = of_law.loc[of_law["wait_ms"] == SHOWN_WAIT, "error"]
        axes.plot(errors, np.full(len(errors), place), "|", ms=6.0, mew=0.6, color=style.MEASURED)
        axes.plot(median_interval(errors.to_numpy()), [place] * 2, color=style.LINE, lw=1.5)
        axes.plot(errors.median(), place, "o", ms=4.5, color=style.LINE)
        for wait, mark in _OTHER_WAITS.items():
            median = of_law.loc[of_law["wait_ms"] == wait, "error"].median()
            axes.plot(median, place + _BELOW, mark, ms=3.5, mew=0.8, mfc="none", color=style.LINE)
    axes.set_yticks(range(len(LAWS)), list(LAWS))
    axes.invert_yaxis()
    axes.set_xlabel("error of $v^+$ over the measured jump")
    return figure

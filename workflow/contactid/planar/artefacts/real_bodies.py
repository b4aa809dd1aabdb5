"""J/m of the real square and ellipse by several routes, and over subsets of their impacts, with
rivals beside.

The data are those of :mod:`contactid.planar.squares.bodies` and
:mod:`contactid.planar.squares.identification`.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.tables import read_exact
from contactid.planar.squares.bodies import (
    AS_PUBLISHED,
    ELLIPSE,
    EQ31,
    OF_ONE,
    PLATE,
    RIVAL,
    RIVALS,
    SQUARE,
    SUBSET,
)

_OF_RIVALS = f"{RIVAL}, {SUBSET}"
_NO_ROUTES = [SUBSET, RIVAL, OF_ONE, _OF_RIVALS, AS_PUBLISHED]
_COLOURS = dict(zip(RIVALS, (style.RELEASE, style.ACCENT, style.SKY, style.ROSE), strict=True))
_VALUE, _ERROR = "inertia_ratio_mm2", "inertia_ratio_se_mm2"
_BELOW, _ABOVE = 0.55, 1.4  # of the body's J/m, between which subsets are drawn


def bodies_table(bodies: str) -> dict[str, pd.DataFrame]:
    """``ext_real_bodies``, without the subsets of rivals, which its figure shows."""
    table = read_exact(bodies)
    return {"tables/ext_real_bodies": table[table["route"] != _OF_RIVALS].reset_index(drop=True)}


def square_table(squares: str) -> pd.DataFrame:
    """``ext_real_squares``, of :func:`contactid.planar.squares.identification.write_squares`."""
    return read_exact(squares)


def bodies_figure(bodies: str) -> pd.DataFrame:
    """The figure ``ext_real_bodies``: every row."""
    return read_exact(bodies).fillna({"case": ""})


def draw_bodies(data: pd.DataFrame) -> Figure:
    """J/m by route (a), and by subset of impacts, measured and with rivals, of the square (b) and
    the ellipse (c).
    """
    figure, panels = plt.subplots(
        3, 1, figsize=(style.DOUBLE_COLUMN, 7.6), height_ratios=(1.5, 1.0, 1.0)
    )
    _draw_routes(panels[0], data)
    for letter, body, axes in (("b", SQUARE, panels[1]), ("c", ELLIPSE, panels[2])):
        _draw_subsets(axes, data[data["body"] == body])
        axes.set_title(f"({letter}) {body}, by subset of its impacts", loc="left")
    panels[1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=3, fontsize=6)
    return figure


def _draw_routes(axes: Axes, data: pd.DataFrame) -> None:
    """One line for every route, the bodies below each other."""
    routes = data[~data["route"].isin(_NO_ROUTES) & data["body"].isin([SQUARE, ELLIPSE])]
    # the first route stands at the top
    routes = routes.iloc[::-1].reset_index(drop=True)
    for place, (_, row) in enumerate(routes.iterrows()):
        colour = style.LINE if row["body"] == SQUARE else style.ACCENT
        plate = row["route"] == PLATE
        axes.errorbar(row[_VALUE], place, xerr=row[_ERROR], fmt="D" if plate else "o", ms=3.5, lw=1.0, color=colour,
                      mfc="none" if plate else colour)  # fmt: skip
    cases = np.where(routes["case"] != "", ", " + routes["case"], "")
    names = routes["body"] + ": " + routes["route"] + cases
    axes.set_yticks(range(len(routes)), names, fontsize=6)
    axes.set(xlabel="$J/m$ (mm²), ± standard error", ylim=(-0.7, len(routes) - 0.3))
    axes.grid(axis="x", lw=0.3)
    axes.set_title("(a) by route", loc="left")


def _draw_subsets(axes: Axes, data: pd.DataFrame) -> None:
    """J/m of each subset, and a line for each rival at the size at which it comes nearest to the
    body.
    """
    real = data[data["route"] == SUBSET]
    place = _places(real["case"])
    value = float(data.loc[data["route"] == EQ31, _VALUE].iloc[0])
    for name, colour in _COLOURS.items():
        rival = data[(data["route"] == _OF_RIVALS) & data["case"].str.startswith(f"{name}: ")]
        if len(rival):
            # no line from one group of subsets to the next
            breaks = np.flatnonzero(np.diff(place) > 1.0) + 1
            at = np.insert(place, breaks, np.nan)
            values = np.insert(rival[_VALUE].to_numpy(), breaks, np.nan)
            axes.plot(at, values, ".-", color=colour, ms=4, lw=0.9, label=name)
    look: dict[str, Any] = {"color": "black", "ms": 3.0, "zorder": 4, "label": "measured"}
    axes.errorbar(place, real[_VALUE], yerr=real[_ERROR], fmt="o", **look)
    axes.axhline(float(data.loc[data["route"] == PLATE, _VALUE].iloc[-1]), color="black", ls="--", lw=0.8,
                 label="uniform plate")  # fmt: skip
    axes.set_xticks(place, [_short(case) for case in real["case"]], fontsize=6)
    axes.set(ylabel="$J/m$ (mm²)", ylim=(_BELOW * value, _ABOVE * value))
    groups = _groups(real["case"])
    for group in groups.unique():
        inside = place[(groups == group).to_numpy()]
        axes.text(inside.mean(), -0.17, group.replace("lever", "$|r_t|$"), transform=axes.get_xaxis_transform(),
                  ha="center", va="top", fontsize=7)  # fmt: skip


def _places(cases: pd.Series) -> np.ndarray:
    """Along the axis, with a space between groups."""
    groups = _groups(cases)
    return np.arange(len(cases)) + 1.0 * (groups != groups.shift()).cumsum().to_numpy()


def _groups(cases: pd.Series) -> pd.Series:
    return cases.str.replace(r", quarter.*| towards| away", "", regex=True)


def _short(case: str) -> str:
    return (
        case.rpartition("quarter ")[2]
        if "quarter" in case
        else "to"
        if "towards" in case
        else "from"
    )

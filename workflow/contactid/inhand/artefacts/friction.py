"""Friction by trials against the slope method: tables, and figure 6's box plots of estimates and their errors."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from contactid.inhand.friction.trials import friction_table
from contactid.output import style
from contactid.output.tables import read_csv

_SOURCE = "synthetic data: simulated fingertip; coefficients and warping chosen; contactid inhand"
_PANELS = {"friction": "friction_mu", "error": "error"}
_LIMITS = {"q25": "q1", "median": "med", "q75": "q3", "low": "whislo", "high": "whishi"}  # by Matplotlib's names
_LABELS = {
    "friction": r"coefficient of friction $\mu$ (1)",
    "error": r"error of $\mu$ against the slope method (1)",
}
_WIDTH = 0.55


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
    """Rows of figure 6: kind ``box`` (paper's convention: whiskers at the last value within 1.5 interquartile ranges),
    ``outlier`` (its ``median`` is the value) and ``slope`` (mean as ``median``, extremes as ``low`` and ``high``).

    Parameters
    ----------
    trials, slope
        Of :func:`contactid.inhand.friction.trials.simulate_and_estimate`.
    """
    rows: list[dict[str, object]] = []
    for (name, region), part in trials.groupby(["object", "region"], sort=False):
        label = {"object": name, "region": region, "warped": bool(part["warped"].iloc[0])}
        found = part[part["slipped"]]
        for panel, column in _PANELS.items():
            rows += [label | {"panel": panel} | one for one in _box(found[column])]
        measured = slope.loc[(slope["object"] == name) & (slope["region"] == region), "friction_mu"]
        level = {"kind": "slope", "median": measured.mean(), "low": measured.min(), "high": measured.max()}
        rows.append(label | {"panel": "friction"} | level)
    columns = ["panel", "object", "region", "warped", "kind", *_LIMITS, "n", "source"]
    return pd.DataFrame(rows).assign(source=_SOURCE).reindex(columns=columns)


def _box(values: pd.Series) -> list[dict[str, object]]:
    if values.empty:  # no trial slipped: the place in the figure stays empty
        return [{"kind": "box", "n": 0}]
    found = boxplot_stats(values.to_numpy())[0]
    box = {"kind": "box", "n": len(values)} | {name: found[key] for name, key in _LIMITS.items()}
    return [box, *({"kind": "outlier", "median": value} for value in found["fliers"])]


def draw_friction(data: pd.DataFrame) -> Figure:
    """Figure 6: a row per case, estimates on the left, errors on the right; warped cases in another colour."""
    cases = list(dict.fromkeys(zip(data["object"], data["region"], strict=True)))
    places = {case: float(place) for place, case in enumerate(cases)}
    figure, panels = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN, 0.27 * len(cases) + 1.1), sharey=True)
    for axes, (panel, label) in zip(panels, _LABELS.items(), strict=True):
        for row in data[data["panel"] == panel].itertuples():
            _draw_row(axes, row, places[str(row.object), str(row.region)])
        axes.set_xlabel(label)
        axes.margins(x=0.03)
        axes.grid(axis="x", lw=0.3, color="#dddddd")
        axes.set_axisbelow(True)
    panels[1].axvline(0.0, color="black", lw=0.6, zorder=1)
    panels[0].set_yticks(list(places.values()), [_case_label(*case) for case in cases])
    panels[0].invert_yaxis()
    figure.legend(handles=_handles(), loc="outside upper center", ncols=4)
    return figure


def _draw_row(axes: Axes, row: object, place: float) -> None:
    warped, kind = bool(getattr(row, "warped")), getattr(row, "kind")  # noqa: B009 - rows have no static type
    values = {name: float(getattr(row, name)) for name in _LIMITS}
    colour = style.RELEASE if warped else style.LINE
    if kind == "outlier":
        axes.plot(values["median"], place, marker="o", ms=2.5, mfc="none", mec=colour, mew=0.6)
    elif kind == "slope":
        reach = [[values["median"] - values["low"]], [values["high"] - values["median"]]]
        axes.errorbar(
            values["median"], place - 0.39, xerr=reach, fmt="D", ms=3.0, color="black", elinewidth=0.6, zorder=4
        )
    elif pd.notna(values["median"]):
        box = {key: values[name] for name, key in _LIMITS.items()}
        axes.bxp(
            [box | {"fliers": []}], positions=[place], widths=_WIDTH,
            orientation="horizontal", showfliers=False, patch_artist=True, manage_ticks=False,
            boxprops={"facecolor": colour, "alpha": 0.35, "lw": 0.6}, medianprops={"color": colour, "lw": 1.4},
            whiskerprops={"lw": 0.6}, capprops={"lw": 0.6},
        )  # fmt: skip


def _case_label(name: str, region: str) -> str:
    plain = name.replace("_", " ")
    return plain if region == "all" else f"{plain}, {region}"


def _handles() -> list[Line2D | Patch]:
    return [
        Patch(facecolor=style.LINE, alpha=0.35, label="estimates, one per trial"),
        Patch(facecolor=style.RELEASE, alpha=0.35, label="surface warps under the finger"),
        Line2D([], [], color="black", marker="D", ms=3.0, lw=0.6, label="slope method: mean and range"),
        Line2D([], [], color="black", marker="o", ms=2.5, mfc="none", ls="none", label="outlier"),
    ]

"""Draw figure 6: friction by case, and its error; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from contactid.output import style

_LABELS = {
    "friction": r"coefficient of friction $\mu$ (1)",
    "error": r"error of $\mu$ against the slope method (1)",
}
_WIDTH = 0.55


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
    values = {name: float(getattr(row, name)) for name in ("q25", "median", "q75", "low", "high")}
    colour = style.RELEASE if warped else style.LINE
    if kind == "outlier":
        axes.plot(values["median"], place, marker="o", ms=2.5, mfc="none", mec=colour, mew=0.6)
    elif kind == "slope":
        reach = [[values["median"] - values["low"]], [values["high"] - values["median"]]]
        axes.errorbar(
            values["median"], place - 0.39, xerr=reach, fmt="D", ms=3.0, color="black", elinewidth=0.6, zorder=4
        )
    elif pd.notna(values["median"]):
        box = {"med": values["median"], "q1": values["q25"], "q3": values["q75"], "whislo": values["low"]}
        axes.bxp(
            [box | {"whishi": values["high"], "fliers": []}], positions=[place], widths=_WIDTH,
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


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {"fig06_friction": draw_friction}

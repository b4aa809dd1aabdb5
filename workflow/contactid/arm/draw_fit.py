"""Draw figure 6 and the accuracy of the reconstruction; nothing is computed here."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from contactid.output import style

_SERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "measured": ("measured", {"color": style.MEASURED, "lw": 1.0}),
    "fit": ("fit, eq. 7", {"color": style.LINE, "lw": 1.0, "ls": "--"}),
    "affine": ("rigid response", {"color": style.RELEASE, "lw": 1.2}),
    "map": ("impact map", {"color": style.RELEASE, "marker": "s", "ms": 5.0, "mfc": "none", "ls": "none"}),
}
_COLUMNS = (("z", r"normal to the table, $v_z$"), ("x", r"along the table, $v_x$"))
_REFERENCES = {
    "map": ("against the impact map", style.RELEASE),
    "bent": ("against the map and the joints' bending", style.SIMULATED),
    "noise_free": ("against the noise-free fit", style.LINE),
}
_TICKS = (-30.0, -10.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 10.0, 30.0)  # mm/s
_ROW = 0.24  # between references of one method


def draw_cartesian_fit(data: pd.DataFrame) -> Figure:
    """Figure 6: a row per angle; z on the left, x on the right; time counts from the impact."""
    angles = sorted(data["nominal_angle_deg"].unique())
    figure, panels = plt.subplots(
        len(angles), 2, figsize=(style.DOUBLE_COLUMN, 1.55 * len(angles) + 0.6), sharex=True, squeeze=False
    )
    for row, angle in zip(panels, angles, strict=True):
        for axes, (component, _) in zip(row, _COLUMNS, strict=True):
            part = data[(data["nominal_angle_deg"] == angle) & (data["component"] == component)]
            _draw_series(axes, part)
        row[0].set_ylabel(f"{angle:g} degrees\nvelocity (m/s)")
    for axes, (_, title) in zip(panels[0], _COLUMNS, strict=True):
        axes.set_title(title, loc="left")
    for axes in panels[-1]:
        axes.set_xlabel("time since impact (ms)")
    handles = [Line2D([], [], **settings, label=label) for label, settings in _SERIES.values()]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw_series(axes: Axes, part: pd.DataFrame) -> None:
    axes.axvline(0.0, color="black", lw=0.4, zorder=0)
    for order, (name, (_, settings)) in enumerate(_SERIES.items(), start=2):
        one = part[part["series"] == name]
        axes.plot(1e3 * one["t_s"], one["v_m_s"], zorder=order, **settings)
    axes.margins(x=0.02, y=0.08)


def draw_accuracy(data: pd.DataFrame) -> Figure:
    """Errors of the reconstructed velocity by method: medians, quartiles and 95 % ranges, coverage written beside."""
    methods = list(dict.fromkeys(data["method"]))
    figure, panels = plt.subplots(
        1, 2, figsize=(style.DOUBLE_COLUMN, 0.42 * len(methods) + 1.3), sharey=True, squeeze=False
    )
    for axes, (component, _) in zip(panels[0], _COLUMNS, strict=True):
        part = data[data["component"] == component]
        for place, method in enumerate(methods):
            _draw_method(axes, part[part["method"] == method], float(place))
        axes.axvline(0.0, color="black", lw=0.5, zorder=0)
        axes.set_xscale("symlog", linthresh=1.0, linscale=1.6)
        axes.xaxis.set_major_locator(FixedLocator(_TICKS))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")
        axes.annotate("coverage", (1.0, 1.0), xycoords="axes fraction", fontsize=5.5, ha="left", va="bottom")
        axes.set(xlabel=rf"error of $v_{component}^+$ (mm/s)")
        axes.margins(x=0.02)
    panels[0][0].set_yticks(range(len(methods)), [method.replace("_", " ") for method in methods])
    panels[0][0].invert_yaxis()
    handles = [
        Line2D([], [], color=colour, marker="o", ms=3.0, lw=2.0, label=label) for label, colour in _REFERENCES.values()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _draw_method(axes: Axes, part: pd.DataFrame, place: float) -> None:
    for offset, (reference, (_, colour)) in zip((-_ROW, 0.0, _ROW), _REFERENCES.items(), strict=True):
        one = part[part["reference"] == reference]
        if one.empty:
            continue
        q025, q25, q50, q75, q975, coverage = one[["q025", "q25", "q50", "q75", "q975", "coverage"]].iloc[0]
        axes.plot([q025, q975], [place + offset] * 2, color=colour, lw=0.7)
        axes.plot([q25, q75], [place + offset] * 2, color=colour, lw=2.4)
        axes.plot([q50], [place + offset], "o", color=colour, ms=2.6)
        axes.annotate(
            f"{100.0 * coverage:.0f} %", (1.0, place + offset), xycoords=("axes fraction", "data"), fontsize=5.5,
            color=colour, ha="left", va="center", xytext=(2.0, 0.0), textcoords="offset points",
        )  # fmt: skip

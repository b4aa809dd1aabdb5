"""What impact laws predict of a real ellipse's impacts.

The figure's data are ``ext_real_ellipse_impacts`` of
:func:`contactid.planar.identify.impact_tables.ellipse_tables`.
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

_ERROR = ": error_m_s"
_OURS = {
    "best impulse of each impact": ("best impulse of each impact (bound)", "black", ":"),
    "incremental law, e_N by place": (r"incremental law, $e_N$ by place", style.ACCENT, "-"),
    "step law, e_N by place": (r"step law, $e_N$ by place", style.LINE, "--"),
    "incremental law": (r"incremental law", style.ACCENT, "-."),
    "step law": (r"step law", style.LINE, "-"),
}
_FITTED = "step law, e_N by place: restitution_e_n"
_RATIOS = {"step law": style.LINE, "incremental law": style.ACCENT}
_DOTS: Any = {"ls": "none", "marker": "o", "ms": 1.6, "mew": 0.0, "rasterized": True}
_SHOWN = (0.5, 99.5)  # percentiles of the impacts that axes show
_LARGEST = 3.2  # m/s, room for the legend beside the curves


def ellipse_tables(ellipse: str, ellipse_reasons: str) -> dict[str, pd.DataFrame]:
    """The tables of :func:`contactid.planar.identify.impact_tables.ellipse_tables`."""
    return {
        "tables/ext_real_ellipse": read_exact(ellipse),
        "tables/ext_real_ellipse_reasons": read_exact(ellipse_reasons),
    }


def ellipse_impacts(ellipse_impacts: str) -> pd.DataFrame:
    """The figure ``ext_real_ellipse``, a row per impact."""
    return read_exact(ellipse_impacts)


def draw_real_ellipse(data: pd.DataFrame) -> Figure:
    """Errors of each model (a), apparent restitution by approach speed (b) and place (c), impulse
    ratios by arm (d).

    Models that are missing are left out.
    """
    width = style.DOUBLE_COLUMN
    figure, panels = plt.subplots(2, 2, figsize=(width, 0.8 * width))
    _draw_errors(panels[0, 0], data)
    _draw_restitution(panels[0, 1], data, "approach_m_s", r"approach speed $-u_n^-$ (m/s)")
    _draw_restitution(panels[1, 0], data, "place_m", "place of the contact $x$ (m)")
    panels[0, 1].set_title("(b) restitution by speed", loc="left")
    panels[1, 0].set_title("(c) restitution by place", loc="left")
    if _FITTED in data:  # two curves: every impact's own comes from the half without it
        panels[1, 0].plot(
            data["place_m"], data[_FITTED], color=style.LINE, label=r"$e_N$ identified", **_DOTS
        )
        panels[1, 0].legend(loc="lower right", markerscale=3.0)
    _draw_ratios(panels[1, 1], data)
    return figure


def _draw_errors(axes: Axes, data: pd.DataFrame) -> None:
    """Share of impacts by error, a line per model."""
    for name, (label, colour, line) in _OURS.items():
        _draw_share(axes, data, name, colour, line, label)
    for suffix, colour, label in (
        (", recomputed", style.RELEASE, "two published laws, right-handed"),
        (", published", style.MEASURED, "six models as published"),
    ):
        names = [
            str(column).removesuffix(_ERROR)
            for column in data
            if str(column).endswith(suffix + _ERROR)
        ]
        for place, name in enumerate(names):
            _draw_share(axes, data, name, colour, "-", label if place == 0 else None)
    axes.set(xlim=(0.0, _LARGEST), ylim=(0.0, 1.0), xlabel="error of post-impact velocity (m/s)")
    axes.set_ylabel("share of impacts")
    axes.set_title("(a) errors of predictions", loc="left")
    axes.legend(loc="lower right", fontsize=6, handlelength=2.2)


def _draw_share(
    axes: Axes, data: pd.DataFrame, name: str, colour: str, line: str, label: str | None
) -> None:
    if name + _ERROR not in data:
        return
    errors = np.sort(data[name + _ERROR].to_numpy())
    share = np.arange(1, len(errors) + 1) / len(errors)
    width, order = (1.2, 3) if name in _OURS else (0.7, 2)
    axes.plot(errors, share, ls=line, color=colour, lw=width, zorder=order, label=label)


def _draw_restitution(axes: Axes, data: pd.DataFrame, column: str, label: str) -> None:
    axes.plot(data[column], data["apparent_restitution"], color=style.MEASURED, alpha=0.7, **_DOTS)
    axes.set(xlabel=label, ylabel=r"apparent restitution $-u_n^+/u_n^-$")
    axes.set_xlim(*_range(data[column]))
    axes.set_ylim(*_range(data["apparent_restitution"]))


def _draw_ratios(axes: Axes, data: pd.DataFrame) -> None:
    """Impulse ratios by the contact point's arm, measured and by both laws."""
    arm = data["arm_mm"]
    axes.plot(arm, data["impulse_ratio"], color=style.MEASURED, label="measured", **_DOTS)
    for name, colour in _RATIOS.items():
        column = f"{name}: impulse_ratio"
        if column in data:
            axes.plot(arm, data[column], color=colour, alpha=0.7, label=name, **_DOTS)
    axes.set(
        xlabel="contact point ahead of the centre of mass $r_t$ (mm)",
        ylabel="impulse ratio $c_t/c_n$",
    )
    axes.set_ylim(*_range(data["impulse_ratio"]))
    axes.set_title("(d) friction", loc="left")
    axes.legend(loc="upper right", markerscale=3.0)


def _range(values: pd.Series) -> tuple[float, float]:
    """Limits without the outermost impacts, and with a margin."""
    low, high = np.percentile(values, _SHOWN)
    margin = 0.06 * float(high - low)
    return float(low) - margin, float(high) + margin

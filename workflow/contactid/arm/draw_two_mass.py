"""Draw figures 4 and 5 of the arm paper and the damping sweep from their data; nothing is computed here."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from contactid.output import style

_QUIET = "#555555"
# the paper's blue, dashed black and dash-dot red, in hues that any colour vision tells apart
_LOOKS = {"A": (style.LINE, "-", 1.3), "B": ("black", "--", 0.9), "C": (style.RELEASE, "-.", 1.1)}
_NAMES = {
    "A": "A: compliant contact, flexible robot",
    "B": "B: hard contact, flexible robot",
    "C": "C: hard contact, rigid robot",
}
_WINDOWS = ((style.LINE, "o"), (style.RELEASE, "s"), (style.ACCENT, "^"), (style.SIMULATED, "D"))
_SETTLED_AFTER = 100.0  # ms, the paper's
_BAR = 0.34  # of a row


def draw_motions(data: pd.DataFrame, zoom: tuple[float, float]) -> Figure:
    """Figure 4: positions (first column), velocities (second) and these around the impact; rows m1 and m2."""
    figure, panels = plt.subplots(2, 3, figsize=(style.DOUBLE_COLUMN, 3.6), sharex="col")
    for row, body in enumerate((1, 2)):
        for axes, column in zip(panels[row], (f"x{body}_m", f"v{body}_m_s", f"v{body}_m_s"), strict=True):
            for model, (colour, dash, width) in _LOOKS.items():
                part = data[data["model"] == model]
                axes.plot(part["t_s"], part[column], color=colour, ls=dash, lw=width, label=_NAMES[model])
        panels[row, 0].set_ylabel(rf"$x_{body}$ (m)")
        panels[row, 1].set_ylabel(rf"$v_{body}$ (m/s)")
        panels[row, 2].set_ylabel(rf"$v_{body}$ (m/s)")
        _window(panels[row, 2], data, f"v{body}_m_s", zoom)
        panels[row, 1].axvspan(*zoom, color="#ececec", lw=0.0, zorder=0)
    for axes, title in zip(panels[0], ("position", "velocity", "velocity around the impact"), strict=True):
        axes.set_title(title)
    for axes in panels[1]:
        axes.set_xlabel("time (s)")
    for axes in panels[:, :2].flat:
        axes.margins(x=0.0)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def draw_decomposition(data: pd.DataFrame) -> Figure:
    """Figure 5: velocity of m2 as an affine and an oscillating part, and the impact map's prediction."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.9))
    series = {str(name): part for name, part in data.groupby("series", sort=False)}
    looks: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("velocity", r"velocity of $m_2$", {"color": style.MEASURED, "lw": 2.4}),
        ("fit", "fit: affine + one mode", {"color": style.LINE, "lw": 1.0}),
        ("oscillation", "oscillating part", {"color": style.ACCENT, "lw": 1.0, "ls": ":"}),
        ("affine", "affine part, back to the impact", {"color": style.RELEASE, "lw": 1.4, "ls": "--"}),
    )
    for name, label, look in looks:
        axes.plot(1e3 * series[name]["t_s"], series[name]["v_m_s"], label=label, **look)
    axes.plot(0.0, series["reconstructed"]["v_m_s"], "o", color=style.RELEASE, ms=4.0, clip_on=False, zorder=5,
              label=rf"reconstructed, ${series['reconstructed']['v_m_s'].iloc[0]:.3f}$ m/s")  # fmt: skip
    axes.plot(0.0, series["impact_map"]["v_m_s"], "s", color="black", mfc="none", ms=7.0, zorder=6,
              label=rf"impact map, ${series['impact_map']['v_m_s'].iloc[0]:.3f}$ m/s")  # fmt: skip
    axes.axvline(0.0, color=_QUIET, lw=0.5, zorder=0)
    axes.set(xlabel="time since the impact (ms)", ylabel="velocity (m/s)")
    axes.margins(x=0.0)
    figure.legend(loc="outside upper center", ncols=2, columnspacing=1.0, handlelength=1.8)
    return figure


def draw_sweep(data: pd.DataFrame) -> Figure:
    """What other dampings do to the fit (a), to settling (b) and to the contact (c, d)."""
    figure, panels = plt.subplots(2, 2, figsize=(style.DOUBLE_COLUMN, 5.0))
    _fit_errors(panels[0, 0], data[data["panel"] == "fit_error"])
    _settling(panels[0, 1], data[data["panel"] == "settling"])
    _apart(panels[1, 0], data[data["panel"] == "apart_d_rob"], r"$d_\mathrm{rob}$ (N s/m)")
    _apart(panels[1, 1], data[data["panel"] == "apart_d_env"], r"$d_\mathrm{env}$ (N s/m$^{c+1}$)")
    titles = (
        "(a) fit of model A against the rigid velocity",
        r"(b) $v_2$ within 2 % of the rigid velocity",
        r"(c) $m_0$ and $m_1$ apart",
        r"(d) $m_0$ and $m_1$ apart, model A",
    )
    for axes, title in zip(panels.flat, titles, strict=True):
        axes.set_title(title, loc="left")
    return figure


def _window(axes: Axes, data: pd.DataFrame, column: str, zoom: tuple[float, float]) -> None:
    """Limits that hold what lies within the zoom."""
    shown = data.loc[data["t_s"].between(*zoom), column]
    low, high = float(shown.min()), float(shown.max())
    axes.set(xlim=zoom, ylim=(low - 0.06 * (high - low), high + 0.06 * (high - low)))


def _fit_errors(axes: Axes, data: pd.DataFrame) -> None:
    """A line per window; a fit whose pole lies on its bound is hollow."""
    windows = sorted(data["series"].unique(), key=float)
    for (colour, marker), window in zip(_WINDOWS, windows, strict=False):
        part = data[data["series"] == window].sort_values("x")
        axes.plot(part["x"], part["y"], color=colour, lw=0.9)
        axes.plot([], [], color=colour, marker=marker, lw=0.9, ms=4.0, label=f"{float(window):g} ms")
        for marked, face in ((False, colour), (True, "white")):
            shown = part[part["marked"] == marked]
            axes.plot(shown["x"], shown["y"], marker, color=colour, mfc=face, ms=4.0, mew=0.9)
    axes.plot([], [], "o", color=_QUIET, mfc="white", ms=4.0, mew=0.9, label="overdamped")
    axes.set(yscale="log", ylabel="error of the reconstructed velocity (%)", xlabel=r"$d_\mathrm{rob}$ (N s/m)")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    _dampings(axes, data)
    axes.legend(title="fitted window", loc="lower left", alignment="left")


def _settling(axes: Axes, data: pd.DataFrame) -> None:
    for model, marker in (("A", "o"), ("B", "x")):
        part = data[data["series"] == model].sort_values("x")
        colour, dash, width = _LOOKS[model]
        axes.plot(part["x"], part["y"], color=colour, ls=dash, lw=width, marker=marker, ms=4.0, label=_NAMES[model])
    axes.axhline(_SETTLED_AFTER, color=_QUIET, lw=0.6, ls="--")
    axes.annotate("the paper's 100 ms", (1.0, _SETTLED_AFTER), (-2.0, 2.0), ("axes fraction", "data"),
                  textcoords="offset points", ha="right", va="bottom", fontsize=6, color=_QUIET)  # fmt: skip
    axes.set(ylabel="settling time (ms)", xlabel=r"$d_\mathrm{rob}$ (N s/m)", ylim=(0.0, None))
    _dampings(axes, data)
    axes.legend(loc="upper right")


def _dampings(axes: Axes, data: pd.DataFrame) -> None:
    """A logarithmic axis with plain numbers."""
    axes.set_xscale("log")
    low, high = float(data["x"].min()), float(data["x"].max())
    ticks = [digit * 10.0**power for power in range(-3, 12) for digit in (1, 2, 4)]
    axes.set_xticks([tick for tick in ticks if 0.999 * low <= tick <= 1.001 * high])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()


def _apart(axes: Axes, data: pd.DataFrame, label: str) -> None:
    """Bars over the time after the impact, a row per damping."""
    values = sorted(data["x"].unique())
    models = [model for model in _LOOKS if model in set(data["series"])]
    for model in models:
        part = data[(data["series"] == model) & data["y"].notna()]
        shift = 0.0 if len(models) == 1 else (0.5 if model == "A" else -0.5) * _BAR
        rows = np.array([values.index(value) for value in part["x"]], dtype=float) + shift
        colour = _LOOKS[model][0]
        axes.barh(rows, part["y_end"] - part["y"], left=part["y"], height=0.85 * _BAR, color=colour, lw=0.0,
                  label=f"model {model}")  # fmt: skip
    axes.set_xscale("log")
    top = float(np.nanmax(data["y_end"].to_numpy(), initial=100.0))
    axes.set_xlim(1.0, 1.1 * top)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_yticks(range(len(values)), [_plain(value) for value in values])
    axes.set(xlabel="time since the impact (ms)", ylabel=label, ylim=(-0.7, len(values) - 0.3))
    for row in range(len(values)):
        axes.axhline(row, color="#ececec", lw=0.6, zorder=0)
    if len(models) > 1:
        axes.legend(loc="upper right")


def _plain(value: float) -> str:
    """A number as it is, or as a power of ten where that is shorter."""
    if value < 1e4:
        return f"{value:g}"
    digits, power = f"{value:.0e}".split("e")
    return rf"${digits} \cdot 10^{{{int(power)}}}$"

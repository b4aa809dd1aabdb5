"""Draw contact impulses and energies of planar motions (figures 6 to 8, 10, 12 and 14); nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from contactid.output import style

_MODELS = {"IRC": (style.LINE, "o", 2.5), "IGC": (style.RELEASE, "s", 3.0)}
_STEPS = ((style.LINE, "o"), (style.RELEASE, "s"), (style.ACCENT, "^"), (style.SIMULATED, "D"))
_NAMED = 0.02  # of the largest impulse: weight carried in one step is smaller, and isn't spelt out
_MOST_NAMED = 3
_DARKEST, _LIGHTEST = 0.0, 0.88  # of the colour map; its end is too light for lines on white
_LETTERS = 9.0  # points from one line's name to the next


def draw_peaks(data: pd.DataFrame, *, limit: str) -> Figure:
    """Figures 6 and 8: peak of the normal impulse against the time step; ``limit`` names the line it should tend to."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.5))
    value = float(data["limit_ns"].iloc[0])
    axes.axhline(value, color="black", ls="--", lw=0.7, zorder=1, label=f"{limit}, {value:.1f} N s")
    for model, (colour, marker, size) in _MODELS.items():
        part = data[data["model"] == model].sort_values("time_step_ms")
        if part.empty:
            continue
        missing = int(part["peak_impulse_ns"].isna().sum())
        label = model + (f" ({missing} of {len(part)} not solved)" if missing else "")
        axes.plot(
            part["time_step_ms"], part["peak_impulse_ns"], color=colour, marker=marker, ms=size, lw=0.8, label=label,
            zorder=3 if model == "IRC" else 2,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=r"time step $h$ (ms)", ylabel=r"largest impulse $c_n$ (N s)")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles[1:] + handles[:1], labels[1:] + labels[:1], loc="outside upper center", ncols=2)
    return figure


def draw_impulses(data: pd.DataFrame) -> Figure:
    """Figures 7 and 10: normal impulses around the first impact, IRC (a) and IGC (b), for several time steps."""
    figure, panels = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN * 0.85, 2.4), sharex=True, sharey=True)
    top = float(data["impulse_ns"].max())
    for letter, model, axes in zip("ab", _MODELS, panels, strict=True):
        part = data[data["model"] == model]
        for place, (_, run) in enumerate(part.groupby("time_step_ms")):
            _stems(axes, run, place, _NAMED * top)
        axes.axhline(0.0, color="black", lw=0.5, zorder=1)
        axes.set(xlabel="time since release (ms)", ylim=(-0.04 * top, 1.65 * top))
        axes.set_title(f"({letter}) {model}", loc="left")
        axes.legend(loc="upper left", handlelength=1.0)
    panels[0].set_ylabel(r"impulse $c_n$ (N s)")
    return figure


def _stems(axes: Axes, run: pd.DataFrame, place: int, named: float) -> None:
    """Impulses at their instants; coarser steps get larger markers, so that coinciding ones stay visible."""
    colour, marker = _STEPS[place % len(_STEPS)]
    pushing = run[run["impulse_ns"] > named]
    axes.vlines(pushing["time_ms"], 0.0, pushing["impulse_ns"], color=colour, lw=0.9, zorder=3 - 0.1 * place)
    axes.plot(
        pushing["time_ms"], pushing["impulse_ns"], marker, color=colour, mfc=colour if place == 0 else "none",
        ms=3.0 + 2.0 * place, mew=0.9, zorder=3 - 0.1 * place, label=_spelt_out(run, pushing),
    )  # fmt: skip
    small = run[run["impulse_ns"] <= named]
    axes.plot(small["time_ms"], small["impulse_ns"], marker, color=colour, ms=2.0, mew=0.0, zorder=3 - 0.1 * place)


def _spelt_out(run: pd.DataFrame, pushing: pd.DataFrame) -> str:
    """The time step and the impulses that stop the body, in the order of time."""
    values = [f"{value:.1f}" for value in pushing["impulse_ns"]]
    shown = " + ".join(values[:_MOST_NAMED]) + (" + ..." if len(values) > _MOST_NAMED else "")
    return f"$h$ = {run['time_step_ms'].iloc[0]:g} ms: {shown or '0'} N s"


def draw_energies(data: pd.DataFrame, *, parameter: str, symbol: str) -> Figure:
    """Figures 12 and 14: mechanical energy over time, a line per value of the column ``parameter``."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.7))
    values = sorted(data[parameter].unique())
    shades = plt.get_cmap("viridis")(np.linspace(_DARKEST, _LIGHTEST, len(values)))
    for value, shade in zip(values, shades, strict=True):
        part = data[data[parameter] == value]
        axes.plot(part["time_s"], part["energy_j"], color=shade, lw=1.1, label=f"{value:g}")
    axes.set(xlabel="time (s)", ylabel="mechanical energy (J)")
    axes.margins(x=0.0, y=0.06)
    height = 72.0 * 0.7 * figure.get_figheight()
    if _LETTERS * len(values) <= height:
        _name_ends(axes, symbol, height)
    else:
        figure.legend(title=symbol, loc="outside right center", ncols=2, columnspacing=0.8, handlelength=1.0)
    return figure


def _name_ends(axes: Axes, symbol: str, height: float) -> None:
    """Each line's value beside its end, moved apart where ends are closer than letters; axes ``height`` in points."""
    low, high = axes.get_ylim()
    apart = _LETTERS / height * (high - low)
    lines = sorted(axes.get_lines(), key=lambda line: float(np.asarray(line.get_ydata())[-1]))
    ends = np.array([float(np.asarray(line.get_ydata())[-1]) for line in lines])
    for line, end, place in zip(lines, ends, spread(ends, apart, low, high), strict=True):
        at = float(np.asarray(line.get_xdata())[-1])
        axes.annotate(
            str(line.get_label()), (at, end), (14.0, (place - end) / (high - low) * height), va="center", fontsize=7,
            textcoords="offset points", color=line.get_color(), annotation_clip=False,
            arrowprops={"arrowstyle": "-", "lw": 0.5, "color": line.get_color(), "shrinkA": 0.5, "shrinkB": 0.5},
        )  # fmt: skip
    axes.annotate(symbol, (1.0, 1.0), (14.0, 4.0), xycoords="axes fraction", textcoords="offset points", fontsize=7)


def spread(values: np.ndarray, apart: float, low: float, high: float) -> np.ndarray:
    """Places (n,) nearest to ascending values that keep ``apart`` from each other and within ``low`` and ``high``."""
    steps = apart * np.arange(len(values))
    places = isotonic_regression(values - steps).x
    return np.clip(places, low, max(low, high - float(steps[-1]))) + steps


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig06_drop_peaks": lambda data: draw_peaks(data, limit="exact (eq. 22)"),
    "fig07_drop_impulses": draw_impulses,
    "fig08_throw_peaks": lambda data: draw_peaks(data, limit=r"limit $h \to 0$"),
    "fig10_throw_impulses": draw_impulses,
    "fig12_sliding_energy": lambda data: draw_energies(data, parameter="friction_mu", symbol=r"$\mu$"),
    "fig14_restitution_energy": lambda data: draw_energies(data, parameter="restitution_e_n", symbol=r"$e_N$"),
}

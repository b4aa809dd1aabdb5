"""Draw what many identifications say together: figure 19 of the planar paper and three extensions; nothing is computed.

Their tables are those of :mod:`contactid.planar.identification_figure_data`.
"""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from contactid.output import style

_QUIET, _SHADE = "#555555", "#ececec"
_RATES = ((style.LINE, "o"), (style.RELEASE, "s"), (style.ACCENT, "^"), (style.SIMULATED, "D"))
_APART = 0.016  # of friction, between the marks of frame rates at one true value
_FREE = 0.05  # of friction, around what figure 19 shows
_LINEAR = 1.0  # %: below it the scale of errors is linear, so that an error of zero can be shown
_DARKEST, _LIGHTEST = 0.0, 0.9  # of the colour map of friction
_SHOWN = (1.0, 99.0)  # percentiles of throws that axes hold at least
_MANY = 60  # throws from which on bars are drawn lighter
_LEAST_TOP = 1.25  # of the median throw, up to which axes reach at least


def draw_identified_friction(data: pd.DataFrame, width: float = style.SINGLE_COLUMN) -> Figure:
    """Figure 19: identified against true friction, medians and quartiles, a panel per noise model.

    Parameters
    ----------
    data
        As :func:`~contactid.planar.identification_figure_data.identified_friction` returns it.
    width
        Inches of one panel.
    """
    models = list(dict.fromkeys(data["noise_model"]))
    whole = min(width * len(models), style.DOUBLE_COLUMN)
    figure, panels = plt.subplots(1, len(models), figsize=(whole, 3.6), sharex=True, sharey=True, squeeze=False)
    reach = 0.0, float(data[["mu", "mu_q75"]].max().max()) + _FREE
    for letter, model, axes in zip("abcdef", models, panels[0], strict=False):
        _draw_friction(axes, data[data["noise_model"] == model], reach)
        axes.set(xlabel=r"true friction coefficient $\mu$", xlim=reach, ylim=reach, aspect="equal")
        axes.set_title(f"({letter}) noise: {_plain(model)}" if len(models) > 1 else "", loc="left")
    panels[0, 0].set_ylabel(r"identified $\mu$")
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2 if len(models) == 1 else 4, columnspacing=1.0)
    return figure


def draw_identification_error(data: pd.DataFrame, width: float = style.DOUBLE_COLUMN) -> Figure:
    """Size of the error of J/m by frame rate: a panel per noise model, and the printed Table 1.

    Parameters
    ----------
    data
        As :func:`~contactid.planar.identification_figure_data.identification_error` returns it.
    width
        Inches.
    """
    models = list(dict.fromkeys(data["noise_model"]))
    shown = [(f"noise: {_plain(model)}", model, "error_abs_pct") for model in models]
    shown.append(("printed (Table 1)", models[0], "published_abs_pct"))
    figure, panels = plt.subplots(1, len(shown), figsize=(width, 3.4), sharex=True, sharey=True)
    rates = sorted(data["fps"].unique())
    for letter, (title, model, column), axes in zip("abcdef", shown, panels, strict=False):
        part = data[data["noise_model"] == model]
        _draw_errors(axes, part, column, rates)
        axes.set_title(f"({letter}) {title}", loc="left")
        axes.set(xlabel="frames per second", xlim=(-0.3, len(rates) - 0.7))
        axes.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
        if column == "error_abs_pct":
            cells = part[part["series"] == "cell"]
            _note(axes, f"{cells['n_converged'].sum():.0f} of {cells['n_seeds'].sum():.0f} identifications converged")
    _error_scale(panels[0], data)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", handlelength=1.8)
    return figure


def draw_reformulations(data: pd.DataFrame, width: float = style.DOUBLE_COLUMN) -> Figure:
    """Error, success and time of each reformulation.

    Parameters
    ----------
    data
        As :func:`~contactid.planar.identification_figure_data.reformulations` returns it.
    width
        Inches.
    """
    figure, panels = plt.subplots(1, 3, figsize=(width, 0.24 * len(data) + 1.1), sharey=True)
    places = np.arange(len(data))[::-1]
    for letter, (column, label, scale), axes in zip(
        "abc",
        (
            ("error_abs_median_pct", "median error of $J/m$, size (%)", "log"),
            ("success_pct", "converged (%)", "linear"),
            ("seconds_median", "median time (s)", "log"),
        ),
        panels,
        strict=True,
    ):
        values = data[column].to_numpy(dtype=float)
        axes.set_xscale(scale)
        known = np.isfinite(values)
        axes.plot(values[known], places[known], "o", color=style.LINE, ms=4.0, zorder=3)
        axes.hlines(places, 0.0, 1.0, transform=axes.get_yaxis_transform(), color=_SHADE, lw=0.8, zorder=1)
        if scale == "log":
            _decades(axes, values[known & (values > 0.0)])
        else:
            axes.set_xlim(-4.0, 104.0)
        axes.set_xlabel(label)
        axes.set_title(f"({letter})", loc="left")
    for place, converged, n in zip(places, data["n_converged"], data["n"], strict=True):
        panels[1].annotate(f"{converged:.0f}/{n:.0f}", (0.0, place), (2.0, 5.0), fontsize=6, color=_QUIET,
                           textcoords="offset points", ha="left", va="center")  # fmt: skip
    panels[0].set_yticks(places, [_plain(name) for name in data["reformulation"]])
    panels[0].set_ylim(-0.7, len(data) - 0.3)
    return figure


def draw_real_squares(data: pd.DataFrame, width: float = style.DOUBLE_COLUMN) -> Figure:
    """J/m (a) and friction (b) of every throw, in ascending order, and of all throws together.

    Parameters
    ----------
    data
        As :func:`~contactid.planar.identification_figure_data.real_squares` returns it.
    width
        Inches.
    """
    figure, panels = plt.subplots(1, 2, figsize=(width, 3.0))
    said = (
        ("a", "inertia_ratio_mm2", "$J/m$ (mm²)", " mm²"),
        ("b", "friction_mu", r"friction coefficient $\mu$", ""),
    )
    for (letter, quantity, label, unit), axes in zip(said, panels, strict=True):
        part = data[data["quantity"] == quantity]
        throws = part[part["kind"] == "throw"]
        _draw_ranked(axes, throws)
        _draw_levels(axes, part, unit)
        axes.set(xlabel="throws, in ascending order", ylabel=label, xlim=(0.0, len(throws) + 1.0))
        axes.set_ylim(*_held(part))
        axes.set_title(f"({letter})", loc="left")
        axes.legend(loc="upper left")
        _note_outside(axes, throws)
    return figure


def _draw_friction(axes: Axes, cells: pd.DataFrame, reach: tuple[float, float]) -> None:
    """Cells of one noise model, the line of identity, and where most throws only roll."""
    first = cells.iloc[0]
    rolling, printed = float(first["rolling_from_mu"]), float(first["printed_rolling_mu"])
    if np.isfinite(rolling):
        axes.axvspan(rolling - _FREE, reach[1], color=_SHADE, lw=0.0, zorder=0, label="pure rolling")
    axes.plot(reach, reach, color="black", ls="--", lw=0.7, zorder=1, label="identified = true")
    axes.axvline(printed, color=_QUIET, ls=":", lw=0.9, zorder=1, label=rf"printed: rolling from {printed:g}")
    rates = sorted(cells["fps"].unique())
    for place, rate in enumerate(rates):
        colour, marker = _RATES[place % len(_RATES)]
        part = cells[cells["fps"] == rate]
        at = part["mu"].to_numpy() + _APART * (place - 0.5 * (len(rates) - 1))
        axes.vlines(at, part["mu_q25"], part["mu_q75"], color=colour, lw=0.9, zorder=2)
        for bound in (False, True):
            shown = part["is_bound"].to_numpy(dtype=bool) == bound
            axes.plot(
                at[shown], part["mu_median"][shown], marker, color=colour, mfc="white" if bound else colour, ms=3.6,
                mew=0.8, zorder=3, label=None if bound else f"{rate:g} frames/s",
            )  # fmt: skip
    axes.plot([], [], "o", color=_QUIET, mfc="white", ms=3.6, mew=0.8, label=r"least $\mu$ only (a bound)")


def _draw_errors(axes: Axes, data: pd.DataFrame, column: str, rates: list[float]) -> None:
    """A line per friction coefficient, and their means; the printed means are in every panel."""
    cells = data[data["series"] == "cell"]
    values = sorted(cells["mu"].unique())
    shades = plt.get_cmap("viridis")(np.linspace(_DARKEST, _LIGHTEST, len(values)))
    hollow = column == "published_abs_pct"
    for value, shade in zip(values, shades, strict=True):
        part = cells[cells["mu"] == value]
        axes.plot(
            [rates.index(rate) for rate in part["fps"]], part[column], marker="o", ms=3.4, mew=0.8, lw=0.6, color=shade,
            mfc="none" if hollow else shade, label=rf"$\mu$ = {value:g}", zorder=2, clip_on=False,
        )  # fmt: skip
    means = data[data["series"] == "mean"].sort_values("fps")
    at = [rates.index(rate) for rate in means["fps"]]
    if not hollow:
        axes.plot(at, means[column], color="black", lw=1.8, marker="s", ms=4.0, zorder=4, label=r"mean, $\mu \geq 0.2$")
    axes.plot(
        at, means["published_abs_pct"], color="black", lw=1.2, ls="--", marker="s", mfc="white", ms=4.0, zorder=3,
        label="the same, printed",
    )  # fmt: skip


def _error_scale(axes: Axes, data: pd.DataFrame) -> None:
    """A scale for errors from zero to more than a hundred percent."""
    axes.set_yscale("symlog", linthresh=_LINEAR, linscale=0.5)
    top = float(np.nanmax(data[["error_abs_pct", "published_abs_pct"]].to_numpy()))
    ticks = [0.0] + [digit * 10.0**power for power in range(4) for digit in (1, 2, 5)]
    axes.set_yticks([tick for tick in ticks if tick <= 2.0 * top])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
    axes.set_ylim(0.0, 2.0 * max(top, _LINEAR))
    axes.set_ylabel("size of the error of $J/m$, median (%)")


def _decades(axes: Axes, values: np.ndarray) -> None:
    """Limits around values and plain numbers on a logarithmic axis."""
    if len(values):
        axes.set_xlim(0.6 * float(values.min()), 1.7 * float(values.max()))
    low, high = axes.get_xlim()
    ticks = [digit * 10.0**power for power in range(-6, 8) for digit in (1, 2, 5)]
    inside = [tick for tick in ticks if low <= tick <= high]
    axes.set_xticks(inside if len(inside) <= 6 else [tick for tick in inside if f"{tick:e}"[0] == "1"])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.minorticks_off()


def _draw_ranked(axes: Axes, throws: pd.DataFrame) -> None:
    """Values by rank with their standard errors; throws that didn't converge are hollow."""
    faint = 0.45 if len(throws) > _MANY else 1.0
    size = 2.4 if len(throws) > _MANY else 3.6
    bars = throws[np.isfinite(throws["se"]) & throws["converged"]]
    if len(bars):
        axes.vlines(bars["rank"], bars["value"] - bars["se"], bars["value"] + bars["se"], color=style.LINE, lw=0.6,
                    alpha=faint, zorder=1)  # fmt: skip
    for converged, name in ((True, "throw"), (False, "not converged")):
        part = throws[throws["converged"] == converged]
        if len(part):
            axes.plot(
                part["rank"], part["value"], "o", color=style.LINE if converged else style.MEASURED, ms=size, mew=0.7,
                mfc=style.LINE if converged else "none", zorder=2,
                label=f"{name} ({len(part)})" + (", ± standard error" if converged and len(bars) else ""),
            )  # fmt: skip


def _draw_levels(axes: Axes, part: pd.DataFrame, unit: str) -> None:
    """The value of all throws together with its standard error, and the uniform body's."""
    for value, se in part.loc[part["kind"] == "pooled", ["value", "se"]].to_numpy(dtype=float):
        spread = f" ± {se:.2g}" if np.isfinite(se) else ""
        axes.axhline(value, color=style.RELEASE, lw=1.2, zorder=3, label=f"pooled, {value:.3g}{spread}{unit}")
        if spread:
            axes.axhspan(value - se, value + se, color=style.RELEASE, alpha=0.2, lw=0.0, zorder=0)
    for value in part.loc[part["kind"] == "uniform", "value"]:
        axes.axhline(value, color="black", ls="--", lw=0.9, zorder=3, label=f"uniform body, {value:g}{unit}")


def _held(part: pd.DataFrame) -> tuple[float, float]:
    """Limits that hold nearly all throws and all levels, and leave room for a legend."""
    throws, levels = (part.loc[(part["kind"] == "throw") == flag, "value"].dropna() for flag in (True, False))
    low, high = np.percentile(throws, _SHOWN) if len(throws) else (0.0, 1.0)
    low, high = min([low, *levels]), max([high, *levels, _LEAST_TOP * float(throws.median() if len(throws) else 1.0)])
    return max(float(low - 0.1 * (high - low)), 0.0 if low >= 0.0 else -np.inf), float(high + 0.45 * (high - low))


def _note_outside(axes: Axes, throws: pd.DataFrame) -> None:
    """Say how many throws lie beyond the limits."""
    low, high = axes.get_ylim()
    outside = int(((throws["value"] < low) | (throws["value"] > high)).sum())
    unknown = int(throws["value"].isna().sum())
    said = [f"{outside} beyond the axis"] * bool(outside) + [f"{unknown} without a value"] * bool(unknown)
    if said:
        axes.text(0.99, 0.02, ", ".join(said), transform=axes.transAxes, ha="right", fontsize=6, color=_QUIET)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))


def _note(axes: Axes, text: str) -> None:
    axes.text(0.02, 0.985, text, transform=axes.transAxes, va="top", fontsize=6, color=_QUIET)


def _plain(name: str) -> str:
    """A name from a table as words."""
    return str(name).replace("_", " ").replace("-", " ")


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig19_identified_friction": draw_identified_friction,
    "ext_identification_error": draw_identification_error,
    "ext_reformulations": draw_reformulations,
    "ext_real_squares": draw_real_squares,
}

"""J/m and friction from each measured throw of a square, and their medians."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from contactid.output import style
from contactid.output.tables import read_exact
from contactid.planar.artefacts.identified_motion import source_of
from contactid.planar.identify.states import read_fits
from contactid.planar.squares.identification import median_error

_QUIET = "#555555"
_UNIFORM = 600.0  # mm2, J/m of the uniform square
_SHOWN = (1.0, 99.0)  # percentiles of throws that axes hold at least
_MANY = 60  # throws from which on bars are drawn lighter
_LEAST_TOP = 1.25  # of the median throw, up to which axes reach at least


def square_tables(squares: str, squares_left_out: str) -> dict[str, pd.DataFrame]:
    """``ext_real_squares`` and ``ext_real_squares_left_out``."""
    return {
        "tables/ext_real_squares": read_exact(squares),
        "tables/ext_real_squares_left_out": read_exact(squares_left_out),
    }


def square_ratios(squares: str, square_fits: str) -> pd.DataFrame:
    """The figure ``ext_real_squares``."""
    return real_squares(read_exact(squares)).assign(source=source_of(read_fits(square_fits)[0]))


def real_squares(table: pd.DataFrame) -> pd.DataFrame:
    """What was identified from each throw of a real body in ascending order, and the medians over all throws.

    Returns
    -------
    ``quantity`` (``inertia_ratio_mm2``, ``friction_mu``), ``kind`` (``throw``, ``median``, ``uniform``), ``throw``,
    ``rank`` (from 1; empty for the other kinds), ``value``, ``se`` (NaN where there is none) and ``counted``: whether
    the throw tells J/m.
    """
    parts = []
    for quantity, se in (("inertia_ratio_mm2", "inertia_ratio_se_mm2"), ("friction_mu", None)):
        named = pd.DataFrame(
            {
                "quantity": quantity,
                "kind": "throw",
                "throw": table["throw"].astype(str),
                "value": table[quantity].astype(float),
                "se": table[se].astype(float) if se else np.nan,
                "counted": table["counted"].astype(bool),
            }
        ).sort_values("value")
        named.insert(3, "rank", np.arange(1.0, len(named) + 1.0))
        known = named["value"].dropna().to_numpy()
        middle = {"quantity": quantity, "kind": "median", "throw": "", "value": np.median(known), "counted": True}
        parts += [named, pd.DataFrame([{**middle, "se": median_error(known)}])]
    uniform = {"quantity": "inertia_ratio_mm2", "kind": "uniform", "throw": "", "value": _UNIFORM, "counted": True}
    return pd.concat([*parts, pd.DataFrame([uniform])], ignore_index=True)


def draw_real_squares(data: pd.DataFrame) -> Figure:
    """J/m (a) and friction (b) of every throw of :func:`real_squares`, in ascending order, and their medians."""
    figure, panels = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN, 3.0))
    said = (("a", "inertia_ratio_mm2", "$J/m$ (mm²)", " mm²"), ("b", "friction_mu", r"friction coefficient $\mu$", ""))
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


def _draw_ranked(axes: Axes, throws: pd.DataFrame) -> None:
    """Values by rank with their standard errors; throws that don't tell J/m are hollow."""
    faint = 0.45 if len(throws) > _MANY else 1.0
    size = 2.4 if len(throws) > _MANY else 3.6
    bars = throws[np.isfinite(throws["se"])]
    if len(bars):
        axes.vlines(bars["rank"], bars["value"] - bars["se"], bars["value"] + bars["se"], color=style.LINE, lw=0.6,
                    alpha=faint, zorder=1)  # fmt: skip
    for counted, name in ((True, "throw"), (False, "spin hardly changes")):
        part = throws[throws["counted"] == counted]
        if len(part):
            axes.plot(
                part["rank"], part["value"], "o", color=style.LINE if counted else style.MEASURED, ms=size, mew=0.7,
                mfc=style.LINE if counted else "none", zorder=2,
                label=f"{name} ({len(part)})" + (", ± standard error" if counted and len(bars) else ""),
            )  # fmt: skip


def _draw_levels(axes: Axes, part: pd.DataFrame, unit: str) -> None:
    """The median of all throws with its standard error, and the uniform body's value."""
    for value, se in part.loc[part["kind"] == "median", ["value", "se"]].to_numpy(dtype=float):
        spread = f" ± {se:.2g}" if np.isfinite(se) else ""
        axes.axhline(value, color=style.RELEASE, lw=1.2, zorder=3, label=f"median, {value:.3g}{spread}{unit}")
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

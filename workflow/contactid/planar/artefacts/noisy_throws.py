"""What identification from noisy throws found: table 1, figure 19, and what goes with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.output.tables import read_csv

_CELL = ["noise_model", "mu", "fps"]
LEAST_FPS = 120.0  # of figure 19
LEAST_MU = 0.2  # of the paper's summary of Table 1
PRINTED_ROLLING_MU = 0.6  # from which on the paper's ellipse rolls
MOSTLY = 0.5  # share of seeds from which on a cell's friction counts as a bound
_QUIET, _SHADE = "#555555", "#ececec"
_RATES = ((style.LINE, "o"), (style.RELEASE, "s"), (style.ACCENT, "^"), (style.SIMULATED, "D"))
_APART = 0.016  # of friction, between the marks of frame rates at one true value
_FREE = 0.05  # of friction, around what figure 19 shows
_LINEAR = 1.0  # %: below it the scale of errors is linear, so that an error of zero can be shown
_DARKEST, _LIGHTEST = 0.0, 0.9  # of the colour map of friction


def error_tables(published: str, cells: Sequence[str], body: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Table 1 and what goes with it.

    Parameters
    ----------
    published
        ``published/planar.csv``.
    cells
        Tables of :func:`contactid.planar.identify.cells.write_cells`.
    body
        The thrown body of the configuration.
    """
    rows = pd.concat([read_csv(path) for path in cells], ignore_index=True)
    errors = error_table(rows, read_csv(published), true_ratio_mm2(body))
    return {
        "tables/tab01_inertia_ratio_error": errors,
        "tables/ext_identification_by_rate": rate_table(errors),
        "tables/ext_identification_failed": failed_table(rows),
    }


def reformulation_comparison(reformulations: Sequence[str], body: Mapping[str, Any]) -> pd.DataFrame:
    """``ext_reformulations``, of the tables of :func:`contactid.planar.identify.cells.write_reformulation`."""
    compared = {str(table["reformulation"].iloc[0]): table for table in map(read_csv, reformulations)}
    return reformulation_table(compared, true_ratio_mm2(body))


def true_ratio_mm2(body: Mapping[str, Any]) -> float:
    """J/m of a body of the configuration."""
    return 1e6 * float(body["inertia"]) / float(body["mass"])


def error_figures(errors: str) -> dict[str, pd.DataFrame]:
    """Figure 19 and ``ext_identification_error``, of table 1."""
    table = read_csv(errors)
    return {
        "figures/fig19_identified_friction": identified_friction(table),
        "figures/ext_identification_error": identification_error(table),
    }


def reformulation_figure(reformulation_table: str) -> pd.DataFrame:
    """``ext_reformulations``, of the table."""
    return ranked_reformulations(read_csv(reformulation_table))


def error_table(cells: pd.DataFrame, published: pd.DataFrame, truth_mm2: float) -> pd.DataFrame:
    """Table 1: a row per noise model, friction and frame rate.

    Parameters
    ----------
    cells
        Rows of :func:`contactid.planar.identify.cells.identify_cells`; errors count where the solve converged.
    published
        ``published/planar.csv``: the printed errors in %, where the printed table has a number.
    truth_mm2
        J/m that the throws were simulated with.
    """
    printed = published_errors(published)
    rows = []
    for (noise, mu_of_cell, fps), group in cells.groupby(_CELL, sort=False):
        mu = float(str(mu_of_cell))
        good = group[group["converged"]]
        error = good["error_pct"].to_numpy(dtype=float)
        mu_error = good["friction_mu"].to_numpy(dtype=float) - mu
        mu_quarter, mu_three = np.quantile(good["friction_mu"], [0.25, 0.75]) if len(good) else (np.nan, np.nan)
        quarter, three_quarters = np.quantile(error, [0.25, 0.75]) if len(error) else (np.nan, np.nan)
        rows.append(
            {
                "mu": mu,
                "fps": fps,
                "noise_model": noise,
                "reformulation": ", ".join(sorted(set(group["reformulation"]))),
                "n_seeds": len(group),
                "n_converged": len(good),
                "n_plausible": int(good["plausible"].sum()),
                "error_median_pct": _median(error),
                "error_abs_median_pct": _median(np.abs(error)),
                "error_q25_pct": quarter,
                "error_q75_pct": three_quarters,
                "mu_median": _median(good["friction_mu"].to_numpy(dtype=float)),
                "mu_q25": mu_quarter,
                "mu_q75": mu_three,
                "mu_error_median": _median(mu_error),
                "mu_is_bound_share": float(good["friction_is_bound"].mean()) if len(good) else np.nan,
                "interval_coverage": float(covered(good, truth_mm2).mean()) if len(good) else np.nan,
                "ratio_is_limit_share": float(good["ratio_is_limit"].mean()) if len(good) else np.nan,
                "inertia_ratio_se_median_pct": _median(100.0 * good["inertia_ratio_se_mm2"].to_numpy() / truth_mm2),
                "complementarity_largest": float(good["complementarity"].max()) if len(good) else np.nan,
                "tries_mean": float(group["tries"].mean()),
                "seconds_median": float(group["seconds"].median()),
                "build_share": float((group["build_seconds"] / group["seconds"]).median()),
                "published_pct": printed.get((round(mu, 6), round(float(str(fps)), 6)), np.nan),
            }
        )
    return pd.DataFrame(rows)


def rate_table(errors: pd.DataFrame) -> pd.DataFrame:
    """By noise model and frame rate over mu from 0.2 on, beside the mean of the printed absolute errors."""
    rows = []
    for (noise, fps), group in errors[errors["mu"] > 0.15].groupby(["noise_model", "fps"], sort=False):
        rows.append(
            {
                "noise_model": noise,
                "fps": fps,
                "cells": len(group),
                "n_seeds": int(group["n_seeds"].sum()),
                "n_converged": int(group["n_converged"].sum()),
                "error_abs_median_pct": float(group["error_abs_median_pct"].median()),
                "error_abs_mean_pct": float(group["error_abs_median_pct"].mean()),
                "interval_coverage": float((group["interval_coverage"] * group["n_converged"]).sum())
                / max(int(group["n_converged"].sum()), 1),
                "published_abs_mean_pct": float(group["published_pct"].abs().mean()),
            }
        )
    return pd.DataFrame(rows)


def failed_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Every solve that did not converge, or whose misfit noise doesn't explain."""
    wanted = [
        *_CELL, "seed", "converged", "plausible", "error_pct", "friction_mu", "misfit", "degrees", "complementarity",
        "tries", "seconds",
    ]  # fmt: skip
    return cells.loc[~(cells["converged"] & cells["plausible"]), wanted].reset_index(drop=True)


def reformulation_table(cells: Mapping[str, pd.DataFrame], truth_mm2: float) -> pd.DataFrame:
    """A row per reformulation: accuracy, success, residual, iterations and seconds on the same cells."""
    rows = []
    for name, table in cells.items():
        good = table[table["converged"]]
        rows.append(
            {
                "reformulation": name,
                "n": len(table),
                "n_converged": len(good),
                "n_plausible": int(good["plausible"].sum()),
                "error_abs_median_pct": _median(good["error_pct"].abs().to_numpy(dtype=float)),
                "error_abs_median_all_pct": _median(table["error_pct"].abs().to_numpy(dtype=float)),
                "misfit_median": float(table["misfit"].median()),
                "complementarity_median": float(table["complementarity"].median()),
                "complementarity_largest": float(table["complementarity"].max()),
                "iterations_median": float(table["iterations"].median()),
                "seconds_median": float(table["seconds"].median()),
                "interval_coverage": float(covered(good, truth_mm2).mean()) if len(good) else np.nan,
            }
        )
    return pd.DataFrame(rows)


def published_errors(published: pd.DataFrame) -> dict[tuple[float, float], float]:
    """(mu, frames/s) to the printed error of J/m, %."""
    found = {}
    for row in published[published["quantity"] == "inertia_ratio_error_pct"].to_dict("records"):
        if row["artefact"] == "tab01":
            condition = dict(part.split("=") for part in str(row["condition"]).split(";"))
            found[float(condition["friction_mu"]), float(condition["fps"])] = float(row["value"])
    return found


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def covered(table: pd.DataFrame, truth_mm2: float) -> np.ndarray:
    """Which rows' 95 % intervals of J/m hold the truth; rows without a standard error don't, those at a limit do."""
    half = 1.96 * table["inertia_ratio_se_mm2"].to_numpy(dtype=float)
    return np.abs(table["inertia_ratio_mm2"].to_numpy(dtype=float) - truth_mm2) <= np.nan_to_num(half, nan=-1.0)


def identified_friction(cells: pd.DataFrame, least_fps: float = LEAST_FPS) -> pd.DataFrame:
    """Figure 19: identified friction of the cells at high frame rates.

    Parameters
    ----------
    cells
        ``mu, fps, noise_model, mu_median, mu_q25, mu_q75, mu_is_bound_share``, a row per cell.
    least_fps
        Frame rate from which on cells are shown.

    Returns
    -------
    The cells' columns, ``is_bound`` (most seeds found no sliding), ``rolling_from_mu`` (the least true friction from
    which on that holds at all of a noise model's frame rates, NaN without one) and ``printed_rolling_mu``.

    Raises
    ------
    ContactIdError
        Without a cell at such a frame rate.
    """
    kept = ["noise_model", "fps", "mu", "mu_median", "mu_q25", "mu_q75", "mu_is_bound_share"]
    shown = cells.loc[cells["fps"] >= least_fps, kept]
    if shown.empty:
        raise ContactIdError(f"no cell has {least_fps:g} frames/s or more", "Add a frame rate, or lower the least one")
    shown = shown.assign(is_bound=shown["mu_is_bound_share"] >= MOSTLY)
    parts = [
        part.sort_values(["fps", "mu"]).assign(rolling_from_mu=_first_of_tail(part))
        for _, part in shown.groupby("noise_model", sort=False)
    ]
    return pd.concat(parts, ignore_index=True).assign(printed_rolling_mu=PRINTED_ROLLING_MU)


def identification_error(cells: pd.DataFrame) -> pd.DataFrame:
    """Sizes of the errors of J/m by frame rate, beside the printed ones.

    Parameters
    ----------
    cells
        Table 1: ``mu, fps, noise_model, error_abs_median_pct, published_pct, n_seeds, n_converged``, a row per cell.

    Returns
    -------
    ``noise_model, series, mu, fps, error_abs_pct, published_abs_pct, n_seeds, n_converged``: series ``cell``, and
    ``mean`` over the cells with a friction of at least 0.2 that have a value (``mu`` is NaN there).
    """
    table = pd.DataFrame(
        {
            "noise_model": cells["noise_model"],
            "series": "cell",
            "mu": cells["mu"],
            "fps": cells["fps"],
            "error_abs_pct": cells["error_abs_median_pct"],
            "published_abs_pct": cells["published_pct"].abs(),
            "n_seeds": cells["n_seeds"],
            "n_converged": cells["n_converged"],
        }
    )
    grouped = table[table["mu"] >= LEAST_MU - 1e-9].groupby(["noise_model", "fps"], as_index=False, sort=False)
    means = grouped[["error_abs_pct", "published_abs_pct"]].mean()
    counts = grouped[["n_seeds", "n_converged"]].sum()
    summary = means.merge(counts, on=["noise_model", "fps"]).assign(series="mean", mu=np.nan)
    return pd.concat([table.sort_values(["mu", "fps"], kind="stable"), summary[table.columns]], ignore_index=True)


def ranked_reformulations(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy, success and time of each reformulation.

    Parameters
    ----------
    table
        ``reformulation, n, n_converged, error_abs_median_pct, complementarity_median, seconds_median``, and others.

    Returns
    -------
    Those columns and ``success_pct``, the most successful first, then the most accurate.
    """
    kept = [
        "reformulation", "n", "n_converged", "error_abs_median_pct", "complementarity_median", "seconds_median",
    ]  # fmt: skip
    found = table[kept].assign(success_pct=100.0 * table["n_converged"] / table["n"])
    return found.sort_values(["success_pct", "error_abs_median_pct"], ascending=[False, True], ignore_index=True)


def _first_of_tail(cells: pd.DataFrame) -> float:
    """Least friction from which on every cell is a bound; NaN without one."""
    free = cells.loc[~cells["is_bound"], "mu"].max()
    bound = cells.loc[cells["is_bound"] & ~(cells["mu"] <= free), "mu"]
    return float(bound.min()) if len(bound) else float("nan")


def draw_identified_friction(data: pd.DataFrame, width: float = style.SINGLE_COLUMN) -> Figure:
    """Figure 19: identified against true friction, medians and quartiles, a panel per noise model.

    ``data`` is what :func:`identified_friction` returns, ``width`` in inches of one panel.
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

    ``data`` is what :func:`identification_error` returns, ``width`` in inches.
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

    ``data`` is what :func:`ranked_reformulations` returns, ``width`` in inches.
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


def _note(axes: Axes, text: str) -> None:
    axes.text(0.02, 0.985, text, transform=axes.transAxes, va="top", fontsize=6, color=_QUIET)


def _plain(name: str) -> str:
    """A name from a table as words."""
    return str(name).replace("_", " ").replace("-", " ")

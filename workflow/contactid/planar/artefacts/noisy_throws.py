"""What identification from noisy throws found: table 1, figure 19, and what goes with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.output.stored import read_stored
from contactid.output.tables import read_csv
from contactid.planar.sweeps.measured import Measured
from contactid.planar.table1 import LEAST_MU, printed_cells

_CELL = ["noise_model", "mu", "fps"]
LEAST_FPS = 120.0  # of figure 19
PRINTED_ROLLING_MU = 0.6  # from which on the paper's ellipse rolls
MOSTLY = 0.5  # share of seeds from which on a cell's friction counts as a bound
_QUIET, _SHADE = "#555555", "#ececec"
_RATES = ((style.LINE, "o"), (style.RELEASE, "s"), (style.ACCENT, "^"), (style.SIMULATED, "D"))
_APART = 0.016  # of friction, between the marks of frame rates at one true value
_FREE = 0.05  # of friction, around what figure 19 shows


def error_tables(
    published: str,
    measures: str,
    cells: Sequence[str],
    samples: Sequence[str],
    settings: Mapping[str, Any],
) -> dict[str, pd.DataFrame]:
    """Table 1 and what goes with it, of the tables of
    :func:`contactid.planar.identify.cells.write_cells`.

    ``published`` is ``published/planar.csv``, ``measures`` says which frictions give one motion,
    ``cells`` are the run's, ``samples`` the stored ones: a reading of the noise that isn't stored
    is of the run. So are table 1's cells where the stored ones are of other ``settings``.
    """
    (stored, made), printed = read_stored(samples), read_csv(published)
    same = Measured(read_csv(measures)).same_motion()
    rows = pd.concat([stored.iloc[:0], *map(read_csv, cells)], ignore_index=True)
    # a reading of the noise that isn't stored is of the run
    every = pd.concat(
        [stored, rows[~rows["noise_model"].isin(stored["noise_model"])]], ignore_index=True
    )
    # by way of JSON, as the stored settings have come
    shown = every if made["settings"] == json.loads(json.dumps(settings)) else rows
    return {
        "tables/tab01_inertia_ratio_error": error_table(shown, printed, same),
        "tables/ext_identification_by_rate": rate_table(every, printed, same),
        "tables/ext_identification_failed": failed_table(shown, same),
    }


def stored_hard_truths(hard_truths: str) -> pd.DataFrame:
    """``ext_hard_truths``, of the stored samples."""
    return hard_truth_table(read_csv(hard_truths))


def table1_friction(errors: str) -> pd.DataFrame:
    """Figure 19, of table 1."""
    return identified_friction(read_csv(errors))


def error_table(
    cells: pd.DataFrame, published: pd.DataFrame, same_motion: Mapping[float, float]
) -> pd.DataFrame:
    """Table 1: a row per noise model, friction and frame rate, beside the printed errors where
    there are some.

    Errors of the cells count where the solve converged. ``same_motion`` is the least friction with
    the same motion; cells with one ``motion_mu`` are of the same throws.
    """
    printed = published_errors(published)
    rows = []
    for (noise, mu_of_cell, fps), group in cells.groupby(_CELL, sort=False):
        mu = float(str(mu_of_cell))
        good = group[group["converged"]]
        error, friction = good["error_pct"], good["friction_mu"]
        rows.append(
            {
                "mu": mu,
                "fps": fps,
                "noise_model": noise,
                "motion_mu": same_motion.get(mu, mu),
                "reformulation": ", ".join(sorted(set(group["reformulation"]))),
                "n_seeds": len(group),
                "n_converged": len(good),
                "n_plausible": int(good["plausible"].sum()),
                "n_solved_roughly": int(good["solved_roughly"].sum()),
                "error_median_pct": _median(error),
                "error_abs_median_pct": _median(error.abs()),
                "error_q25_pct": error.quantile(0.25),
                "error_q75_pct": error.quantile(0.75),
                "mu_median": _median(friction),
                "mu_q25": friction.quantile(0.25),
                "mu_q75": friction.quantile(0.75),
                "mu_error_median": _median(friction - mu),
                "mu_is_bound_share": good["friction_is_bound"].mean(),
                "n_intervals": len(covered(good)),
                "interval_coverage": covered(good).mean(),
                "ratio_is_limit_share": good["ratio_is_limit"].mean(),
                "inertia_ratio_se_median_pct": _median(
                    100.0 * good["inertia_ratio_se_mm2"] / _truth_mm2(good)
                ),
                "complementarity_largest": good["complementarity"].max(),
                "tries_mean": group["tries"].mean(),
                "seconds_median": group["seconds"].median(),
                "build_share": (group["build_seconds"] / group["seconds"]).median(),
                "published_pct": printed.get((round(mu, 6), round(float(str(fps)), 6)), np.nan),
            }
        )
    return pd.DataFrame(rows)


def rate_table(
    samples: pd.DataFrame, published: pd.DataFrame, same_motion: Mapping[float, float]
) -> pd.DataFrame:
    """By noise model and frame rate, over the cells with mu from 0.2 on that are printed: mean with
    mean.

    As in print every cell counts in a mean, though some are one motion; throws and their intervals
    count once.
    """
    printed = pd.DataFrame(
        [
            (mu, same_motion[mu], fps, abs(error))
            for (mu, fps), error in published_errors(published).items()
        ],
        columns=["cell", "mu", "fps", "published"],
    )
    motions = samples.assign(mu=[same_motion.get(mu, mu) for mu in samples["mu"]])
    # each printed cell gets the throws of its motion, so one motion may stand for several cells
    counted = motions.drop_duplicates([*_CELL, "seed"]).merge(
        printed[printed["cell"] > LEAST_MU], on=["mu", "fps"]
    )
    rows = []
    for (noise, fps), part in counted.groupby(["noise_model", "fps"]):
        size, distinct = (
            part.loc[part["converged"], "error_pct"].abs(),
            # intervals of one throw count once
            part.drop_duplicates(["mu", "seed"]),
        )
        held = covered(distinct[distinct["converged"]])
        rows.append(
            {
                "noise_model": noise,
                "fps": fps,
                "cells": part["cell"].nunique(),
                "distinct_motions": part["mu"].nunique(),
                "n_throws": len(distinct),
                "n_converged": int(distinct["converged"].sum()),
                "error_abs_median_pct": size.median(),
                "error_abs_mean_pct": size.mean(),
                "published_abs_mean_pct": part.groupby("cell")["published"].first().mean(),
                "n_intervals": len(held),
                "interval_coverage": held.mean(),
            }
        )
    return pd.DataFrame(rows)


def hard_truth_table(samples: pd.DataFrame) -> pd.DataFrame:
    """A row per hard truth: how far the best starts, what follows their contact sequences, and the
    answers are off.

    Beside them: by which method the answers came, how many have a misfit that noise explains, and
    how often their 95 % intervals hold the truth.
    """
    rows = []
    for truth, part in samples.groupby("truth", sort=False):
        row = {"truth": truth, "n": len(part)}
        for of in ("one_restitution_error", "start_error", "sequence_error", "error"):
            size = part[f"{of}_pct"].abs()
            row |= {f"{of}_abs_median_pct": size.median(), f"{of}_abs_largest_pct": size.max()}
        held = covered(part)
        rows.append(
            row
            | {
                "inertia_ratio_se_median_pct": (
                    100.0 * part["inertia_ratio_se_mm2"] / _truth_mm2(part)
                ).median(),
                "n_intervals": len(held),
                "n_held": int(held.sum()),
                "n_converged": int(part["converged"].sum()),
                "n_plausible": int(part["plausible"].sum()),
                "n_sequence_plausible": int(part["sequence_plausible"].sum()),
                "methods": ", ".join(
                    f"{name} {n}" for name, n in part["reformulation"].value_counts().items()
                ),
                "tries_median": part["tries"].median(),
                "seconds_median": part["seconds"].median(),
            }
        )
    return pd.DataFrame(rows)


def failed_table(cells: pd.DataFrame, same_motion: Mapping[float, float]) -> pd.DataFrame:
    """Every solve that did not converge, or whose misfit noise doesn't explain; one of throws that
    are the same.
    """
    wanted = [
        *_CELL, "seed", "converged", "plausible", "error_pct", "friction_mu", "misfit", "degrees", "complementarity",
        "tries", "seconds",
    ]  # fmt: skip
    # the same throws are in the cell of a smaller friction
    repeated = cells["mu"].map(lambda mu: same_motion.get(mu, mu) < mu)
    failed = ~repeated & ~(cells["converged"] & cells["plausible"])
    return cells.loc[failed, wanted].reset_index(drop=True)


def published_errors(published: pd.DataFrame) -> dict[tuple[float, float], float]:
    """(mu, frames/s) to the printed error of J/m, %."""
    cells = printed_cells(published)
    return dict(zip(zip(cells["mu"], cells["fps"], strict=True), cells["printed"], strict=True))


def _median(values: pd.Series) -> float:
    """NaN without a value, and where one is."""
    return values.median(skipna=False)


def covered(table: pd.DataFrame) -> pd.Series:
    """Of the rows whose standard error isn't infinite, whether the 95 % interval of J/m holds the
    truth.

    Rows without a standard error hold nothing; an infinite one, where J/m is at a limit, is no
    interval.
    """
    apart, error = (
        (table["inertia_ratio_mm2"] - _truth_mm2(table)).abs(),
        table["inertia_ratio_se_mm2"],
    )
    return (apart <= 1.96 * error)[~np.isinf(error)]


def _truth_mm2(table: pd.DataFrame) -> pd.Series:
    """J/m that the throws were simulated with, by the identified one and its error."""
    return table["inertia_ratio_mm2"] / (1.0 + table["error_pct"] / 100.0)


def identified_friction(cells: pd.DataFrame) -> pd.DataFrame:
    """Figure 19: identified friction of table 1's cells at high frame rates.

    Returns
    -------
    Columns of the cells, ``is_bound`` (most seeds found no sliding), ``rolling_from_mu`` (the least
    true friction from which on that holds at all of a noise model's frame rates, NaN without one)
    and ``printed_rolling_mu``.

    Raises
    ------
    ContactIdError
        Without a cell at such a frame rate.
    """
    kept = ["noise_model", "fps", "mu", "mu_median", "mu_q25", "mu_q75", "mu_is_bound_share"]
    shown = cells.loc[cells["fps"] >= LEAST_FPS, kept]
    if shown.empty:
        raise ContactIdError(f"no cell has {LEAST_FPS:g} frames/s or more", "Add a frame rate")
    shown = shown.assign(is_bound=shown["mu_is_bound_share"] >= MOSTLY)
    parts = [
        part.sort_values(["fps", "mu"]).assign(rolling_from_mu=_first_of_tail(part))
        for _, part in shown.groupby("noise_model", sort=False)
    ]
    return pd.concat(parts, ignore_index=True).assign(printed_rolling_mu=PRINTED_ROLLING_MU)


def _first_of_tail(cells: pd.DataFrame) -> float:
    """Least friction from which on every cell is a bound; NaN without one."""
    # the largest friction at which some cell still slides
    free = cells.loc[~cells["is_bound"], "mu"].max()
    return float(cells.loc[cells["is_bound"] & ~(cells["mu"] <= free), "mu"].min())


def draw_identified_friction(data: pd.DataFrame) -> Figure:
    """Figure 19: identified against true friction, and below their difference, a column per noise
    model.

    Marks are medians over noise samples, bands reach from quartile to quartile. A bound has no
    difference.
    """
    models = [
        str(model)
        for model, of in data.groupby("noise_model", sort=False)["mu"]
        if of.nunique() > 1
    ]
    models = models or list(dict.fromkeys(data["noise_model"]))
    whole = min(style.SINGLE_COLUMN * len(models), style.DOUBLE_COLUMN)
    figure, panels = plt.subplots(
        2,
        len(models),
        figsize=(whole, 5.2),
        sharex=True,
        sharey="row",
        squeeze=False,
        height_ratios=(2.0, 1.0),
    )
    reach = 0.0, float(data[["mu", "mu_q75"]].max().max()) + _FREE
    for letter, model, (axes, below) in zip("abcdef", models, panels.T, strict=False):
        cells = data[data["noise_model"] == model]
        _draw_friction(axes, cells, reach)
        _draw_difference(below, cells)
        axes.set(xlim=reach, ylim=reach)
        below.set_xlabel(r"true friction coefficient $\mu$")
        numbered = f"({letter}) " if len(models) > 1 else ""
        axes.set_title(f"{numbered}noise: {_plain(model)}", loc="left")
    panels[0, 0].set_ylabel(r"identified $\mu$")
    panels[1, 0].set_ylabel(r"identified less true $\mu$")
    handles, names = panels[0, 0].get_legend_handles_labels()
    columns = 2 if len(models) == 1 else 4
    figure.legend(handles, names, loc="outside upper center", ncols=columns, columnspacing=1.0)
    return figure


def _draw_difference(axes: Axes, cells: pd.DataFrame) -> None:
    """Medians and quartiles of identified less true friction, where the body slides."""
    axes.axhline(0.0, color="black", ls="--", lw=0.7)
    sliding = cells[~cells["is_bound"].to_numpy(dtype=bool)]
    for (_, part), (colour, marker) in zip(sliding.groupby("fps"), _RATES, strict=False):
        low, middle, high = (part[name] - part["mu"] for name in ("mu_q25", "mu_median", "mu_q75"))
        axes.fill_between(part["mu"], low, high, color=colour, alpha=0.2, lw=0.0)
        axes.plot(part["mu"], middle, marker, ls="-", color=colour, ms=3.0, lw=0.7)


def _draw_friction(axes: Axes, cells: pd.DataFrame, reach: tuple[float, float]) -> None:
    """Cells of one noise model, the line of identity, and where most throws only roll."""
    first = cells.iloc[0]
    rolling, printed = float(first["rolling_from_mu"]), float(first["printed_rolling_mu"])
    if np.isfinite(rolling):
        axes.axvspan(
            rolling - _FREE, reach[1], color=_SHADE, lw=0.0, zorder=0, label="pure rolling"
        )
    axes.plot(reach, reach, color="black", ls="--", lw=0.7, zorder=1, label="identified = true")
    axes.axvline(
        printed, color=_QUIET, ls=":", lw=0.9, zorder=1, label=rf"printed: rolling from {printed:g}"
    )
    rates = sorted(cells["fps"].unique())
    for place, rate in enumerate(rates):
        colour, marker = _RATES[place % len(_RATES)]
        part = cells[cells["fps"] == rate]
        # frame rates beside each other, centred on the true value
        at = part["mu"].to_numpy() + _APART * (place - 0.5 * (len(rates) - 1))
        for bound in (False, True):
            shown = part["is_bound"].to_numpy(dtype=bool) == bound
            axes.plot(
                at[shown], part["mu_median"][shown], marker, color=colour, mfc="white" if bound else colour, ms=3.6,
                mew=0.8, zorder=3, label=None if bound else f"{rate:g} frames/s",
            )  # fmt: skip
    axes.plot(
        [], [], "o", color=_QUIET, mfc="white", ms=3.6, mew=0.8, label=r"least $\mu$ only (a bound)"
    )


def _plain(name: str) -> str:
    """A name from a table as words."""
    return str(name).replace("_", " ").replace("-", " ")

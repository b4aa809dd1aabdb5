"""Table 1 of the planar paper against stored noise samples: one sample in print, a distribution of
ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from contactid.output.comparison import Key, Reproduced, Tolerance
from contactid.output.verdicts import UNDEFINED, Lack

#: What the paper prints of the body that it throws.
MASS, INERTIA, SEMI_AXES = 0.064, 4.84e-5, (0.05, 0.025)  # kg, kg m2, m
#: Error of J/m (%) of whoever takes the plywood ellipse for a homogeneous one.
UNIFORM_ERROR_PCT = 100.0 * ((SEMI_AXES[0] ** 2 + SEMI_AXES[1] ** 2) / 4.0 / (INERTIA / MASS) - 1.0)
LEAST_MU = 0.15  # table 1's errors count from friction 0.2 on, as the paper says
_ROUNDING = 0.5  # %, of the printed errors
_CASES = 0.95  # of further noise samples lie within the tolerance of table 1
_DEVIATIONS = 2.0
_QUARTILES = 1.349  # standard deviations between a normal distribution's quartiles
_UNDETERMINED = 0.5  # share of samples whose ratio runs to its limit
#: What every good estimator comes near to: a printed error of 0 can't tell ours from another.
_PERFECT = {"perfect estimator": 0.0}


def printed_cells(published: pd.DataFrame) -> pd.DataFrame:
    """Table 1 in print: ``mu, fps, condition, printed``, the error of J/m in %."""
    rows = published[
        (published["artefact"] == "tab01") & (published["quantity"] == "inertia_ratio_error_pct")
    ]
    cells = rows["condition"].str.extract("friction_mu=(?P<mu>[^;]+);fps=(?P<fps>.+)").astype(float)
    return cells.assign(condition=rows["condition"], printed=rows["value"].astype(float))


def table_numbers(
    published: pd.DataFrame, samples: pd.DataFrame, same_motion: Mapping[float, float]
) -> dict[Key, Reproduced]:
    """Table 1: each printed sample against our noise samples of its cell, and means by frame rate.

    Parameters
    ----------
    samples : columns mu, fps, seed, converged, error_pct, ratio_is_limit
    same_motion : the least friction with the same motion, by the frictions of table 1; its throws
        count once
    """
    cells = printed_cells(published)
    cells["motion"] = [same_motion[mu] for mu in cells["mu"]]
    # samples of each motion once, under the least friction that gives it
    good = samples[samples["converged"] & (samples["mu"].map(same_motion) == samples["mu"])]
    errors = {
        (float(str(mu)), float(str(fps))): part for (mu, fps), part in good.groupby(["mu", "fps"])
    }
    numbers: dict[Key, Reproduced] = {}
    for row in cells.to_dict("records"):
        key = ("tab01", "inertia_ratio_error_pct", str(row["condition"]))
        if (row["motion"], row["fps"]) in errors:
            one = _cell(errors[row["motion"], row["fps"]])
            repeated = (
                ""
                if row["motion"] == row["mu"]
                else f"friction_mu={row['motion']:g};fps={row['fps']:g}"
            )
            naive = {**one.naive, **_PERFECT} if row["printed"] == 0.0 else one.naive
            numbers[key] = replace(one, repeats=repeated, naive=naive)
    return numbers | _means(cells, good)


def _cell(part: pd.DataFrame) -> Reproduced:
    """One sample in print against the median of ours."""
    values, limit = part["error_pct"].to_numpy(), float(part["ratio_is_limit"].mean())
    n, median = len(values), float(np.median(values))
    mu, fps = part["mu"].iloc[0], part["fps"].iloc[0]
    lack = None
    if limit >= _UNDETERMINED:
        words = (
            f"J/m of table 1's cell friction {mu:g}, {fps:g} frames/s, which its poses don't determine: {limit:.0%} of "
            f"{n} noise samples run to a limit of the outline"
        )
        lack = Lack(UNDEFINED, words)
    return Reproduced(
        median, lack=lack, tolerance=sample_tolerance(values), naive={"uniform body": UNIFORM_ERROR_PCT},
        signed=True, is_error=True,
        note=f"median of {n} noise samples, which lie between {values.min():.3g} and {values.max():.3g} %; the paper "
        "has one",
    )  # fmt: skip


def sample_tolerance(values: np.ndarray) -> Tolerance:
    """Rounding, and what one further sample departs from the median of n in 19 of 20 cases.

    That is the k-th smallest of our own samples' departures, ``k = 0.95 (n + 1)`` rounded up, which
    holds for any distribution; but at most two standard deviations of the difference of a sample
    and the median, by the quartiles.
    """
    n, median = len(values), float(np.median(values))
    away, place = np.sort(np.abs(values - median)), int(np.ceil(_CASES * (n + 1)))
    low, high = np.quantile(values, [0.25, 0.75])
    # a median's variance is pi / (2 n) of a sample's, and the difference's is the sum of both
    normal = _DEVIATIONS * (high - low) / _QUARTILES * np.sqrt(1.0 + min(1.0, np.pi / (2.0 * n)))
    half = min(float(away[place - 1]) if place <= n else np.inf, float(normal))
    return Tolerance(
        _ROUNDING + half,
        f"rounding of the printed number ({_ROUNDING:g}), and {half:.3g} within which one further noise sample lies in "
        f"19 of 20 cases, by our {n}",
    )


def _means(cells: pd.DataFrame, good: pd.DataFrame) -> dict[Key, Reproduced]:
    """The mean magnitude of table 1's errors by frame rate, against as many means of ours as there
    are noise samples.

    In print each cell has noise of its own, so ours take another noise sample in each cell too.
    """
    numbers: dict[Key, Reproduced] = {}
    for fps, row in cells[cells["mu"] > LEAST_MU].groupby("fps"):
        table = good[good["fps"] == fps].pivot(index="seed", columns="mu", values="error_pct").abs()
        if not set(row["motion"]) <= set(table.columns):
            continue
        # shifted seeds: cells of one motion would else have the same noise
        columns = [np.roll(table[mu].to_numpy(), -place) for place, mu in enumerate(row["motion"])]
        means = np.nanmean(columns, axis=0)
        key = ("tab01", "inertia_ratio_error_abs_mean_pct", f"friction_mu=0.2..0.9;fps={fps:g}")
        numbers[key] = Reproduced(
            float(np.median(means)), tolerance=sample_tolerance(means), naive={"uniform body": UNIFORM_ERROR_PCT},
            is_error=True,
            note=f"median of {len(means)} means over {len(columns)} cells, which lie between {means.min():.3g} and "
            f"{means.max():.3g} %; the paper has one",
        )  # fmt: skip
    return numbers

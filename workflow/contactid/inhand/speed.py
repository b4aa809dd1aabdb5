"""Time of an estimate against the number of samples, for both solvers, and the straight line through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.inertia import InertialParameters
from contactid.inhand.estimate_rows import estimates, known_object

MEASURED, LINE = "measured", "line"


def speed_rows(
    record: Callable[[int], tuple[xr.Dataset, InertialParameters]],
    samples: Sequence[int],
    repeats: int,
    method: str,
    solvers: Sequence[str],
    study: Mapping[str, Any],
) -> pd.DataFrame:
    """Estimate recordings of several lengths.

    Parameters
    ----------
    record
        A recording of a number of samples, and the truth behind it.
    samples
        Lengths.
    repeats
        Estimates of each; the fastest counts, because other processes only ever slow one down.
    method, solvers
        What is timed.
    study
        The block ``inhand`` of the configuration.

    Returns
    -------
    pandas.DataFrame
        ``solver, method, samples, converged, iterations, seconds, ms_per_iteration``; seconds of process CPU time,
        model building included.
    """
    rows = []
    for count in samples:
        recording, truth = record(count)
        knowledge = known_object(recording, truth)
        for solver in solvers:
            runs = [estimates(recording, [method], solver, knowledge, study)[0] for _ in range(repeats)]
            best = min(runs, key=lambda run: run.seconds)
            rows.append(
                {
                    "solver": solver,
                    "method": method,
                    "samples": count,
                    "converged": best.converged,
                    "iterations": best.iterations,
                    "seconds": best.seconds,
                    "ms_per_iteration": 1e3 * best.seconds / max(best.iterations, 1),
                }
            )
    return pd.DataFrame(rows)


def with_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """Each solver's straight lines through time and through time per iteration, beside its rows.

    ``us_per_sample`` and ``fixed_ms`` of the time, ``us_per_sample_iteration`` and ``fixed_ms_iteration`` of an
    iteration's, and ``exponent``, the slope of the iteration's time over the samples in logarithms: 1 is linear.
    """
    lines = {}
    for solver, part in rows[rows["converged"]].groupby("solver", sort=False):
        slope, fixed = _line(part["samples"], part["seconds"])
        slope_each, fixed_each = _line(part["samples"], part["ms_per_iteration"])
        exponent, _ = _line(np.log(part["samples"]), np.log(part["ms_per_iteration"]))
        lines[solver] = (1e6 * slope, 1e3 * fixed, 1e3 * slope_each, fixed_each, exponent)
    names = ("us_per_sample", "fixed_ms", "us_per_sample_iteration", "fixed_ms_iteration", "exponent")
    none = (np.nan,) * len(names)
    extra = pd.DataFrame([lines.get(solver, none) for solver in rows["solver"]], columns=list(names), index=rows.index)
    return pd.concat([rows, extra], axis=1)


def speed_points(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """What the figure shows: ``quantity, solver, series, samples, value, iterations, source``; lines have none."""
    parts = []
    for solver, part in table.groupby("solver", sort=False):
        counts, first = part["samples"].to_numpy(dtype=float), part.iloc[0]
        ends = np.array([0.0, counts.max()])
        curves = {
            ("seconds", MEASURED): (counts, part["seconds"]),
            ("seconds", LINE): (ends, 1e-3 * first["fixed_ms"] + 1e-6 * first["us_per_sample"] * ends),
            ("ms_per_iteration", MEASURED): (counts, part["ms_per_iteration"]),
            ("ms_per_iteration", LINE): (
                ends, first["fixed_ms_iteration"] + 1e-3 * first["us_per_sample_iteration"] * ends
            ),
        }  # fmt: skip
        for (quantity, series), (x, y) in curves.items():
            known = {"quantity": quantity, "solver": solver, "series": series}
            iterations = part["iterations"].to_numpy() if series == MEASURED else np.nan
            points = {"samples": x, "value": np.asarray(y), "iterations": iterations, "source": source}
            parts.append(pd.DataFrame({**known, **points}))
    return pd.concat(parts, ignore_index=True)


def _line(x: pd.Series, y: pd.Series) -> tuple[float, float]:
    """Slope and intercept of the least-squares line; nan where there are fewer than two points."""
    if len(set(x)) < 2:
        return np.nan, np.nan
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(intercept)

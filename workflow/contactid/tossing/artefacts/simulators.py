"""Other simulators beside ours, identified and tested on the same tosses with the same budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.fits import read_json
from contactid.output.tables import read_csv
from contactid.tossing.configuration import EQUAL_BUDGET, Scheme

_ERRORS = ("position_error_pct", "rotation_error_deg", "rest_position_error_cm", "rest_rotation_error_deg")
IDENTIFICATION_COLUMNS = (
    "dataset", "identified_on", "simulator", "scheme", "parameters", "calibrated", "subset", "n_tosses",
    "friction_mu", "restitution_e_n", "mean_loss", "sem_loss", *_ERRORS,
)  # fmt: skip


def simulators_table(
    simulated: Sequence[tuple[str, str, str]],
    names: Sequence[str],
    predictions: Sequence[str],
    fits: Sequence[str],
    schemes: Mapping[str, Scheme],
    bootstrap: Mapping[str, int],
) -> pd.DataFrame:
    """``ext_simulators``: of every case the simulators ``names``, whose files ``predictions`` and ``fits`` are."""
    rows = []
    for k, case in enumerate(simulated):
        files = slice(k * len(names), (k + 1) * len(names))
        tables = dict(zip(names, map(read_csv, predictions[files]), strict=True))
        records = dict(zip(names, map(read_json, fits[files]), strict=True))
        rows.append(simulator_rows(tables, records, case, schemes[case[2]].calibrated, bootstrap))
    return pd.concat(rows, ignore_index=True)


def simulator_rows(
    tables: Mapping[str, pd.DataFrame],
    fits: Mapping[str, dict[str, Any]],
    case: tuple[str, str, str],
    calibrated: bool,
    bootstrap: Mapping[str, int],
) -> pd.DataFrame:
    """One row per simulator and subset: its parameters, test losses, and the paired difference to ours (the first).

    ``tables`` and ``fits`` are predictions and fits of ``case`` by simulator.
    """
    identified_on, dataset, variant = case
    ours, rows = next(iter(tables.values())), []
    for name, table in tables.items():
        fit = fits[name]
        for subset in ("all", "non_tumbling"):
            keep = ~table["tumbled"].to_numpy(dtype=bool) if subset == "non_tumbling" else np.full(len(table), True)
            if not keep.any():
                continue
            first, second = (each.loc[keep, "loss"].to_numpy() for each in (ours, table))
            difference, low, high = paired_difference(first, second, **bootstrap)
            rows.append(
                {
                    "dataset": dataset,
                    "identified_on": identified_on,
                    "calibrated": calibrated,
                    "scheme": variant,
                    "simulator": fit["simulator"],
                    "subset": subset,
                    **summarise(table[keep]),
                    **means_of(*errors_at_rest(table[keep & ~table["moving"]])),
                    "failed_tosses": int(table.loc[keep, "failed"].sum()),
                    "difference_to_ours": difference,
                    "difference_low": low,
                    "difference_high": high,
                    "friction_mu": next(iter(fit["parameters"].values())),  # every catalogue begins with it
                    "parameters": "; ".join(f"{key} = {value:.4g}" for key, value in fit["parameters"].items()),
                    "at_bound": ", ".join(fit["at_bound"]),
                    "identification_loss": fit["objective"],
                    "evaluations": fit["iterations"],
                    "failed_evaluations": fit["residuals"]["failed_evaluations"],
                    "seconds_per_evaluation": fit["seconds_per_evaluation"],
                }
            )
    return pd.DataFrame(rows)


def paired_difference(first: np.ndarray, second: np.ndarray, *, samples: int, seed: int) -> tuple[float, float, float]:
    """Mean of ``second - first`` over losses (t,) of the same tosses, with its 95 % percentile bootstrap interval.

    Tosses are resampled, not losses, so that what makes a toss hard for both simulators does not widen the interval.
    """
    difference = second - first
    n = len(difference)
    random = np.random.default_rng(seed)
    means = random.multinomial(n, np.full(n, 1.0 / n), size=samples) @ difference / n
    low, high = np.percentile(means, [2.5, 97.5])
    return float(difference.mean()), float(low), float(high)


def errors_at_rest(still: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """What Tables III and IV are about: position errors (cm), and angles (deg) of tosses that end on the same face."""
    return still["rest_position_error_cm"], still.loc[still["same_face"], "e_rot_deg"].abs()


def means_of(position: pd.Series, angle: pd.Series) -> dict[str, float]:
    """The columns of Tables III and IV, from :func:`errors_at_rest`."""
    return {
        "position_error_mean_cm": float(position.mean()),
        "position_error_std_cm": float(position.std(ddof=1)),
        "rotation_error_mean_deg": float(angle.mean()),
        "rotation_error_std_deg": float(angle.std(ddof=1)),
    }


def as_identification_rows(simulators: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``ext_simulators`` with the columns of ``ext_identification``; only our own have an e_N."""
    rows = simulators.assign(parameters="trajectory", scheme=simulators["scheme"] + EQUAL_BUDGET)
    return rows[[name for name in IDENTIFICATION_COLUMNS if name != "restitution_e_n"]]


def summarise(predictions: pd.DataFrame) -> dict[str, float]:
    """Mean errors over tosses, with the standard error of the mean loss."""
    n = len(predictions)
    return {
        "n_tosses": n,
        "mean_loss": float(predictions["loss"].mean()) if n else np.nan,
        "sem_loss": float(predictions["loss"].std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
        **{name: float(predictions[name].mean()) if n else np.nan for name in _ERRORS},
    }

"""Tables of what goes beyond the paper: a moving surface, sensitivity, rest-pose distributions, other simulators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.fits import read_json
from contactid.peers.compare import paired_difference
from contactid.tables import read_csv
from contactid.tossing.rest_pose_distribution import coverage_table
from contactid.tossing.rest_pose_files import read_scores
from contactid.tossing.results import Prediction, summarise
from contactid.tossing.sensitivity import largest_dimension, restitution_insensitive_below

_MOVING = ["dataset", "scheme", "moving_n", "still_n"]


def moving_table(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """Errors on a moving surface over those on one at rest; the paper says that they are of the same order.

    ``ratio`` columns are moving over still means; ``same_order`` says whether the position ratio is within 1/3 and 3
    (half an order of magnitude either way).
    """
    rows = []
    for prediction in predictions:
        moving = prediction.table[prediction.table["moving"]]
        still = prediction.table[~prediction.table["moving"]]
        if moving.empty or still.empty:
            continue
        row: dict[str, Any] = {
            "dataset": prediction.dataset,
            "scheme": prediction.scheme.name,
            "moving_n": len(moving),
            "still_n": len(still),
        }
        for name in ("rest_position_error_cm", "rest_rotation_error_deg"):
            row |= {f"moving_{name}": moving[name].mean(), f"still_{name}": still[name].mean()}
            row |= {f"ratio_{name}": moving[name].mean() / still[name].mean()}
        row["same_order"] = bool(1 / 3 <= row["ratio_rest_position_error_cm"] <= 3)
        rows.append(row | {"data": prediction.data})
    names = ("rest_position_error_cm", "rest_rotation_error_deg")
    columns = [*_MOVING, *(f"{kind}_{name}" for name in names for kind in ("moving", "still", "ratio"))]
    return pd.DataFrame(rows, columns=[*columns, "same_order", "data"])


def insensitive_below(profile: pd.DataFrame, prepared: xr.Dataset) -> float:
    """The largest e_N up to which the rest position hardly changes."""
    return restitution_insensitive_below(profile, largest_dimension(prepared["vertices"].values))


def rest_pose_tables(
    places: Sequence[tuple[Path, str]], variants: Sequence[str], data: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """``ext_rest_pose_coverage`` and ``ext_rest_pose_errors`` from the files of every case and variant."""
    coverage: list[pd.DataFrame] = []
    errors: list[pd.DataFrame] = []
    for variant in variants:
        scores = dict(read_scores(f"{stem}.{variant}.json") for stem, _ in places)
        label = ", ".join(dict.fromkeys(data[dataset] for _, dataset in places))
        coverage.append(coverage_table(scores).assign(scheme=variant, data=label))
        errors.extend(
            read_csv(f"{stem}.{variant}.csv").assign(dataset=dataset, scheme=variant, data=data[dataset])
            for stem, dataset in places
        )
    return {
        "ext_rest_pose_coverage": pd.concat(coverage, ignore_index=True),
        "ext_rest_pose_errors": pd.concat(errors, ignore_index=True),
    }


def simulator_rows(
    stem: Path, names: Sequence[str], dataset: str, variant: str, calibrated: bool, bootstrap: Mapping[str, int]
) -> pd.DataFrame:
    """One row per simulator and subset: its parameters, test losses, and the paired difference to ours (the first)."""
    tables = {name: read_csv(f"{stem}.{name}.csv") for name in names}
    ours, rows = tables[names[0]], []
    for name in names:
        fit, table = read_json(f"{stem}.{name}.json"), tables[name]
        for subset in ("all", "non_tumbling"):
            keep = ~table["tumbled"].to_numpy(dtype=bool) if subset == "non_tumbling" else np.full(len(table), True)
            if not keep.any():
                continue
            difference = paired_difference(
                ours["loss"].to_numpy(), table["loss"].to_numpy(), seed=bootstrap["seed"],
                samples=bootstrap["samples"], keep=keep,
            )  # fmt: skip
            rows.append(
                {
                    "dataset": dataset,
                    "body": "calibrated" if calibrated else "nominal",
                    "scheme": variant,
                    "simulator": fit["simulator"],
                    "subset": subset,
                    **summarise(table[keep]),
                    "failed_tosses": int(table.loc[keep, "failed"].sum()),
                    "difference_to_ours": difference.difference,
                    "difference_low": difference.low,
                    "difference_high": difference.high,
                    "parameters": "; ".join(f"{key} = {value:.4g}" for key, value in fit["parameters"].items()),
                    "at_bound": ", ".join(fit["at_bound"]),
                    "identification_loss": fit["objective"],
                    "evaluations": fit["iterations"],
                    "failed_evaluations": fit["residuals"]["failed_evaluations"],
                    "seconds_per_evaluation": fit["seconds_per_evaluation"],
                }
            )
    return pd.DataFrame(rows)

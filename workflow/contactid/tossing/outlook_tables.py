"""Tables of what goes beyond the paper: a moving surface, sensitivity, rest-pose distributions, other simulators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.fits import read_json
from contactid.output.tables import read_csv
from contactid.tossing.peers.compare import paired_difference
from contactid.tossing.rest_pose_distribution import coverage_table
from contactid.tossing.rest_pose_files import read_scores
from contactid.tossing.results import EQUAL_BUDGET, Prediction, summarise
from contactid.tossing.sensitivity import largest_dimension, restitution_insensitive_below

ALL = "all"
_ERRORS = ("rest_position_error_cm", "rest_rotation_error_deg")


def moving_table(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """Errors on a moving surface over those on one at rest; the paper says that they are of the same order.

    One row per dataset and scheme, and one over ``all`` datasets for each scheme. ``ratio`` columns are moving over
    still means; ``same_order``: the position's ratio is within half an order of magnitude either way.
    """
    rows: list[dict[str, Any]] = []
    for scheme in dict.fromkeys(prediction.scheme.name for prediction in predictions):
        parts = {item.dataset: item.table for item in predictions if item.scheme.name == scheme}
        if len(parts) > 1:
            parts[ALL] = pd.concat(list(parts.values()), ignore_index=True)
        data = ", ".join(dict.fromkeys(item.data for item in predictions if item.scheme.name == scheme))
        rows.extend(
            {"dataset": dataset, "scheme": scheme, **_ratios(table), "data": data}
            for dataset, table in parts.items()
            if table["moving"].any() and not table["moving"].all()
        )
    names = [f"{kind}_{name}" for name in _ERRORS for kind in ("moving", "still", "ratio")]
    return pd.DataFrame(rows, columns=["dataset", "scheme", "moving_n", "still_n", *names, "same_order", "data"])


def _ratios(table: pd.DataFrame) -> dict[str, Any]:
    moving, still = table[table["moving"]], table[~table["moving"]]
    row: dict[str, Any] = {"moving_n": len(moving), "still_n": len(still)}
    for name in _ERRORS:
        row |= {f"moving_{name}": moving[name].mean(), f"still_{name}": still[name].mean()}
        row |= {f"ratio_{name}": moving[name].mean() / still[name].mean()}
    ratio = float(row[f"ratio_{_ERRORS[0]}"])
    return row | {"same_order": bool(abs(np.log10(ratio)) <= 0.5)}


def disagreement_table(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """``ext_velocity_against_trajectory``: parameters from impacts less those from trajectories, with 95 % intervals.

    Each scheme on impacts is held against the trajectory scheme that steps as it predicts, which has the same body. The
    two are identified on different motion, so their errors are taken as independent and half-widths add in squares.
    """
    rows = []
    for item in predictions:
        if item.scheme.parameters != "velocity":
            continue
        others = [
            other
            for other in predictions
            if other.dataset == item.dataset and other.scheme.name == item.scheme.stepping["name"]
        ]
        for other in others:
            row: dict[str, Any] = {
                "object": item.object,
                "scheme": item.scheme.name,
                "against": other.scheme.name,
                "calibrated": item.scheme.calibrated,
            }
            for name in ("friction_mu", "restitution_e_n"):
                values = [each.fit["parameters"][name] for each in (item, other)]
                ends = np.array([each.fit["intervals"][name] for each in (item, other)], dtype=float)
                sides = np.abs(ends - np.array(values)[:, None])
                # upwards: the first's upper and the second's lower end
                up, down = np.hypot(sides[0, 1], sides[1, 0]), np.hypot(sides[0, 0], sides[1, 1])
                difference = values[0] - values[1]
                row |= {
                    f"{name}_velocity": values[0],
                    f"{name}_trajectory": values[1],
                    f"{name}_difference": difference,
                }
                row |= {f"{name}_difference_low": difference - down, f"{name}_difference_high": difference + up}
                row |= {f"{name}_differs": bool(difference - down > 0 or difference + up < 0)}
            rows.append(row | {"data": item.data})
    return pd.DataFrame(rows)


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
    stem: Path,
    names: Sequence[str],
    case: tuple[str, str, str],
    calibrated: bool,
    bootstrap: Mapping[str, int],
) -> pd.DataFrame:
    """One row per simulator and subset: its parameters, test losses, and the paired difference to ours (the first)."""
    identified_on, dataset, variant = case
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
                    "identified_on": identified_on,
                    "calibrated": calibrated,
                    "scheme": variant,
                    "simulator": fit["simulator"],
                    "subset": subset,
                    **summarise(table[keep]),
                    **_as_table_iii(table[keep]),
                    "failed_tosses": int(table.loc[keep, "failed"].sum()),
                    "difference_to_ours": difference.difference,
                    "difference_low": difference.low,
                    "difference_high": difference.high,
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


def _as_table_iii(table: pd.DataFrame) -> dict[str, float]:
    """The columns of Table III for another simulator, on a stationary surface."""
    still = table[~table["moving"]]
    angle = still.loc[still["same_face"], "e_rot_deg"].abs()
    position = still["rest_position_error_cm"]
    return {
        "position_error_mean_cm": float(position.mean()),
        "position_error_std_cm": float(position.std(ddof=1)),
        "rotation_error_mean_deg": float(angle.mean()),
        "rotation_error_std_deg": float(angle.std(ddof=1)),
    }


def as_identification_rows(simulators: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``ext_simulators`` with the columns of ``ext_identification``; only our own have an e_N."""
    rows = simulators.assign(parameters="trajectory", scheme=simulators["scheme"] + EQUAL_BUDGET)
    columns = [
        "dataset", "identified_on", "simulator", "scheme", "parameters", "calibrated", "subset", "n_tosses",
        "friction_mu", "mean_loss", "sem_loss", "position_error_pct", "rotation_error_deg", "rest_position_error_cm",
        "rest_rotation_error_deg",
    ]  # fmt: skip
    return rows[columns]

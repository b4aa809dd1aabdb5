"""Friction trials: simulate them all, estimate each, and compare with the slope method.

Objects and coefficients are settings of the simulation, chosen for this study
(``friction_objects.csv``): the paper prints neither the coefficients nor the names of all eight
objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.inhand.friction.slip import estimate_friction
from contactid.inhand.simulate.fingertip_friction import simulate_trials, slope_angles, slope_truth
from contactid.output.tables import read_csv, write_exact

DIRECTION, KINETIC = "direction_sd_deg", "kinetic_ratio"  # settings that are swept
RIGID, WARPED = "without the warped", "warped"
_OBJECT_COLUMNS = ("object", "region", "friction_mu", "warp_deg_per_n")


def write_trials(
    surfaces: str, block: Mapping[str, Any], trials: str, slopes: str, directions: str, ratios: str
) -> None:
    """Simulate and estimate the cases of a file by the block ``inhand: friction``, and keep the
    numbers.

    Parameters
    ----------
    surfaces
        The cases, :func:`read_friction_objects`.
    trials, slopes, directions, ratios
        Files to write: trials and slope measurements (:func:`simulate_and_estimate`), and
        :func:`sweep_table` over errors of the force's direction and over kinetic friction.
    """
    cases = read_friction_objects(surfaces)
    rows, measured = simulate_and_estimate(cases, block)
    write_exact(rows, trials)
    write_exact(measured, slopes)
    turned = {
        sd: {**block, "noise": {**block["noise"], DIRECTION: sd}}
        for sd in block["direction_sweep_deg"]
    }
    write_exact(sweep_table(cases, DIRECTION, turned), directions)
    sliding = {ratio: {**block, KINETIC: ratio} for ratio in block["kinetic_sweep"]}
    write_exact(sweep_table(cases, KINETIC, sliding), ratios)


def read_friction_objects(path: str | Path) -> pd.DataFrame:
    """The cases: object, region, friction_mu (1), warp_deg_per_n (degrees per N of normal force; 0
    for rigid ones).

    Raises
    ------
    ContactIdError
        Where a column is missing, a coefficient isn't positive or a case is there twice.
    """
    cases = read_csv(path)
    missing = sorted(set(_OBJECT_COLUMNS) - set(cases.columns))
    if missing:
        raise ContactIdError(
            f"{path}: no column {', '.join(missing)}", f"It needs {', '.join(_OBJECT_COLUMNS)}"
        )
    if not (cases["friction_mu"] > 0.0).all() or not (cases["warp_deg_per_n"] >= 0.0).all():
        raise ContactIdError(
            f"{path}: a coefficient isn't positive, or a warp is negative", "Check the rows"
        )
    if cases.duplicated(["object", "region"]).any():
        raise ContactIdError(f"{path}: a case is there twice", "Name its region")
    return cases


def simulate_and_estimate(
    cases: pd.DataFrame, block: Mapping[str, Any]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Trials and slope measurements of the cases of :func:`read_friction_objects`, as ``inhand:
    friction`` says.

    Returns
    -------
    tuple
        A row per trial: object, region, warped, truth, trial, slipped, friction_mu, standard_error,
        lower_bound, status, slope_truth, error; and a row per slope measurement: object, region,
        angle_rad, friction_mu.
    """
    count, repetitions, scatter = (
        block["trials"],
        block["slope_repetitions"],
        block["friction_scatter"],
    )
    # one generator, so the order of draws is part of the result
    random, slope_sd = np.random.default_rng(block["seed"]), block["noise"]["slope_angle_sd_deg"]
    truth = cases["friction_mu"].to_numpy(dtype=float)
    warp, stated = (
        np.deg2rad(cases["warp_deg_per_n"].to_numpy(dtype=float)),
        np.deg2rad(block["noise"][DIRECTION]),
    )
    angles = slope_angles(
        _scattered(truth, repetitions, scatter, random), float(np.deg2rad(slope_sd)), random
    )
    # each trial has a coefficient of its own
    drawn = _scattered(truth, count, scatter, random).ravel()
    simulated = simulate_trials(drawn, np.repeat(warp, count), block, random)
    rows: list[dict[str, object]] = []
    for number, (force, point) in enumerate(
        zip(simulated.force, simulated.contact_point, strict=True)
    ):
        case, trial = cases.iloc[number // count], number % count
        estimate = estimate_friction(force, point, simulated.normal, float(stated))
        rows.append(
            {
                "object": case["object"], "region": case["region"], "warped": case["warp_deg_per_n"] > 0.0,
                "truth": case["friction_mu"], "trial": trial, "slipped": estimate.slipped,
                "friction_mu": estimate.friction, "standard_error": estimate.standard_error,
                "lower_bound": estimate.lower_bound, "status": estimate.message,
            }
        )  # fmt: skip
    trials = pd.DataFrame(rows)
    trials["slope_truth"] = np.repeat(slope_truth(angles), count)
    trials["error"] = trials["friction_mu"] - trials["slope_truth"]
    named = cases[["object", "region"]].loc[cases.index.repeat(repetitions)].reset_index(drop=True)
    return trials, named.assign(angle_rad=angles.ravel(), friction_mu=np.tan(angles).ravel())


def friction_table(trials: pd.DataFrame) -> pd.DataFrame:
    """A row per case, then one over all cases that don't warp and one over those that do.

    ``error_median`` and ``error_abs_median`` are over trials. ``case_error`` is |error_median| of a
    case, and in the last rows its median over the cases. ``bound_below`` is the share of trials,
    with a slip or without, whose lower bound is below the slope method's truth, and
    ``bound_median`` the median of their ratio. Elsewhere trials without a slip count in
    ``n_trials`` alone.
    """
    rows = [_case_row(part) for _, part in trials.groupby(["object", "region"], sort=False)]
    for warped, name in ((False, RIGID), (True, WARPED)):
        part = trials[trials["warped"] == warped]
        if part.empty:
            continue
        cases = pd.Series([row["case_error"] for row in rows if row["warped"] == warped])
        pooled: dict[str, Any] = dict.fromkeys(
            ("truth", "slope_truth", "median", "q25", "q75"), np.nan
        )
        pooled |= {"object": "all", "region": name, "case_error": cases.median()}
        rows.append(_case_row(part) | pooled)
    return pd.DataFrame(rows)


def sweep_table(
    cases: pd.DataFrame, setting: str, blocks: Mapping[float, Mapping[str, Any]]
) -> pd.DataFrame:
    """How found slips, errors and bounds change with one setting: the pooled rows of
    :func:`friction_table`.

    A row per value of the setting, with the block that has it, and kind of case: medians over
    samples of noise.
    """
    columns = [
        "n_trials",
        "n_slipped",
        "error_median",
        "error_abs_median",
        "case_error",
        "bound_below",
        "bound_median",
    ]
    rows: list[dict[str, Any]] = []
    for value, block in blocks.items():
        seeds = range(block["seed"], block["seed"] + block["sweep_seeds"])
        runs = [simulate_and_estimate(cases, {**block, "seed": seed})[0] for seed in seeds]
        pooled = pd.concat([friction_table(trials) for trials in runs])
        for name, part in pooled[pooled["object"] == "all"].groupby("region", sort=False):
            medians = {str(column): found for column, found in part[columns].median().items()}
            rows.append({setting: value, "region": name, "seeds": len(seeds), **medians})
    return pd.DataFrame(rows)


def _scattered(
    truth: np.ndarray, count: int, relative: float, random: np.random.Generator
) -> np.ndarray:
    """Coefficients (cases, count), none below a tenth of the true one."""
    # scatter never makes a coefficient negative
    factors = np.maximum(1.0 + relative * random.normal(size=(len(truth), count)), 0.1)
    return truth[:, None] * factors


def _case_row(part: pd.DataFrame) -> dict[str, Any]:
    first, found = part.iloc[0], part.loc[part["slipped"], "friction_mu"]
    # bounds of all trials, errors of those that slipped
    errors, bounds = part.loc[part["slipped"], "error"], part["lower_bound"] / part["slope_truth"]
    return {
        "object": first["object"], "region": first["region"], "warped": bool(first["warped"]), "n_trials": len(part),
        "n_slipped": int(part["slipped"].sum()), "truth": first["truth"], "slope_truth": first["slope_truth"],
        "median": found.median(), "q25": found.quantile(0.25), "q75": found.quantile(0.75),
        "error_median": errors.median(), "error_abs_median": errors.abs().median(),
        "case_error": abs(errors.median()), "bound_below": (bounds < 1.0).mean(), "bound_median": bounds.median(),
    }  # fmt: skip

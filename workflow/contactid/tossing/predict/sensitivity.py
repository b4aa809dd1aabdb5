"""How the predicted rest pose depends on friction and restitution (section VI of the tossing
paper).

Each parameter is varied alone, by -0.05 to 0.05 in steps of 0.01 around the identified value, or
over [0, 0.10] where that is zero. A rest pose here is where the simulated body comes to lie,
whenever that is; :func:`contactid.tossing.predict.prediction.predict` takes the pose at the moment
the measured body came to rest, when the simulated one may still slide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.output.fits import read_json
from contactid.output.tables import write_csv
from contactid.tossing.predict.prediction import POSE
from contactid.tossing.prepare.metrics import rest_position_error
from contactid.tossing.prepare.preprocess import TEST
from contactid.tossing.prepare.tosses import (
    PreparedToss,
    Problem,
    Variant,
    load_problem,
    simulated_rests,
)
from contactid.tossing.simulate.batch import Runs
from contactid.tossing.simulate.box import ContactParameters

FRICTION, RESTITUTION = "friction_mu", "restitution_e_n"
PARAMETERS = (FRICTION, RESTITUTION)
_ZERO = 1e-3  # an optimum below this counts as the paper's "equal to zero"
_PROFILE = 21  # values of e_N from 0 to 1, as on the paper's grid
_TOLERANCE_PCT, _FEWEST_RESTED_PCT = 5.0, 90.0


def offsets_from(value: float, reach: float, step: float) -> np.ndarray:
    """Deviations from an identified value, ascending, 0 among them; all upwards where the value is
    zero.
    """
    count = round(reach / step)
    steps = np.arange(0, 2 * count + 1) if value < _ZERO else np.arange(-count, count + 1)
    return np.round(step * steps, 10)


def vary_parameters(
    problem: Problem, parameters: ContactParameters, reach: float, step: float
) -> pd.DataFrame:
    """Rest poses of every toss with one parameter varied at a time, by at most ``reach`` in steps
    of ``step``.

    A value outside the parameter's range is clipped to it.

    Returns one row per toss, varied parameter and value: ``toss``, ``parameter``, ``offset``,
    ``value``, the simulated rest pose ``simulated_x`` ... ``simulated_qz`` and the
    measured one, ``rested`` (false: still moving one second after the measured rest),
    and ``position_change_mm`` against the unvaried run.
    """
    tables = []
    for item in problem.tosses:
        for parameter in PARAMETERS:
            center = float(getattr(parameters, parameter))
            offsets = offsets_from(center, reach, step)
            # rounded, so that 0 stays 0 and a value isn't clipped by rounding
            wanted = np.round(center + offsets, 10)
            values = np.clip(wanted, 0.0, np.inf if parameter == FRICTION else 1.0)
            # the unvaried run, which the others are held against
            center_run = int(np.flatnonzero(offsets == 0.0)[0])
            about = pd.DataFrame(
                {"toss": item.toss.name, "parameter": parameter, "offset": offsets, "value": values}
            )
            runs = Runs.of(**{**asdict(parameters), parameter: values})
            poses = _compared(problem, item, runs, center_run)
            tables.append(pd.concat([about, poses], axis=1))
    return pd.concat(tables, ignore_index=True)


def _compared(problem: Problem, item: PreparedToss, runs: Runs, center: int) -> pd.DataFrame:
    """Rest poses of one toss beside its measured one and beside run ``center``."""
    poses = simulated_rests(problem, item.toss, runs)
    simulated = np.column_stack([poses.position, poses.orientation]).T
    measured = [*item.rest_position, *item.rest_orientation]
    return pd.DataFrame(
        {
            **dict(zip((f"simulated_{name}" for name in POSE), simulated, strict=True)),
            **dict(zip((f"measured_{name}" for name in POSE), measured, strict=True)),
            "rested": poses.rested,
            "position_change_mm": 1e3 * rest_position_error(poses.position[center], poses.position),
        }
    )


def half_ranges(varied: pd.DataFrame) -> pd.DataFrame:
    """Half the spread of each toss's rest poses over the values of each parameter.

    Half the largest distance (mm) and half the largest angle (deg) between any two of its rest
    poses: the ``+-`` of the paper's section VI. Runs that never came to rest have no rest pose and
    are left out.
    """
    rows = []
    for (toss, parameter), part in varied.groupby(["toss", "parameter"], sort=False):
        resting = part[part["rested"]]
        position = resting[["simulated_x", "simulated_y"]].to_numpy()
        orientation = resting.filter(like="simulated_q").to_numpy()
        distance, angle = np.full((2, 1), np.nan)
        if len(resting):
            distance = rest_position_error(position[:, None], position)
            angle = rotations.angle_between(orientation[:, None], orientation)
        rows.append(
            {
                "toss": toss,
                "parameter": parameter,
                # half of it, in mm
                "position_half_range_mm": 500.0 * float(distance.max()),
                "rotation_half_range_deg": 0.5 * float(np.degrees(angle.max())),
            }
        )
    return pd.DataFrame(rows)


def summarise_variation(varied: pd.DataFrame, largest_dimension: float) -> pd.DataFrame:
    """Section VI's statements as numbers, from :func:`vary_parameters` and the box's largest
    dimension (m).

    Returns one row per parameter and quantity (``position_mm``, ``position_pct`` of the largest
    dimension, ``rotation_deg``): the ``mean`` over tosses of :func:`half_ranges`, the parameter's
    ``value`` and the range it was varied over, and how many tosses there are.
    """
    ranges, rows = half_ranges(varied), []
    for parameter in PARAMETERS:
        values = varied[varied["parameter"] == parameter]
        part = ranges[ranges["parameter"] == parameter]
        about = {
            "value": float(values.loc[values["offset"] == 0.0, "value"].iloc[0]),
            "lowest_value": float(values["value"].min()),
            "highest_value": float(values["value"].max()),
        }
        quantities = {
            "position_mm": part["position_half_range_mm"],
            # 100 % and 1e-3 m per mm
            "position_pct": 0.1 * part["position_half_range_mm"] / largest_dimension,
            "rotation_deg": part["rotation_half_range_deg"],
        }
        for quantity, spread in quantities.items():
            row = {"parameter": parameter, "quantity": quantity, "mean": spread.mean()}
            rows.append(row | about | {"n_tosses": spread.count()})
    return pd.DataFrame(rows)


def restitution_profile(problem: Problem, parameters: ContactParameters) -> pd.DataFrame:
    """Rest poses with e_N from 0 to 1 against those with e_N = 0, mu being kept.

    Returns one row per e_N: median over tosses of the change of the rest position (mm), and the
    share (%) of runs that came to rest.
    """
    values = np.round(np.linspace(0.0, 1.0, _PROFILE), 10)
    runs = Runs.of(np.array(parameters.friction_mu), values)
    tables = [_compared(problem, item, runs, 0).assign(value=values) for item in problem.tosses]
    every = pd.concat(tables, ignore_index=True)
    # a run that bounces on for ever has no rest pose
    resting = every[every["rested"]].groupby("value")
    median = resting["position_change_mm"].median().rename("median_position_change_mm")
    profile = median.reindex(values).to_frame()
    profile["rested_pct"] = 100.0 * every.groupby("value")["rested"].mean()
    return profile.rename_axis(RESTITUTION).reset_index()


def restitution_insensitive_below(profile: pd.DataFrame, largest_dimension: float) -> float:
    """The largest e_N up to which the median rest position stays near that for e_N = 0.

    Near is within 5 % of the ``largest_dimension`` of the box (m); ``profile`` is from
    :func:`restitution_profile`. Where fewer than 90 % of the runs come to rest, their median says
    nothing and the search ends.
    """
    # mm: 1e3 per m and a hundredth per %
    within = (profile["median_position_change_mm"] <= 10.0 * _TOLERANCE_PCT * largest_dimension) & (
        profile["rested_pct"] >= _FEWEST_RESTED_PCT
    )
    # the first value beyond ends it, even if a later one is near again
    beyond = np.flatnonzero(~within.to_numpy())
    last = (beyond[0] if len(beyond) else len(profile)) - 1
    return float(profile[RESTITUTION].iloc[last]) if last >= 0 else float("nan")


def largest_dimension(vertices: Sequence[Sequence[float]] | np.ndarray) -> float:
    """The longest side of a box with vertices (8, 3), m."""
    return float(np.ptp(np.asarray(vertices), axis=0).max())


def vary_datasets(
    prepared: Sequence[str],
    fits: Sequence[str],
    calibrations: Sequence[str],
    variant: dict[str, Any],
    reach: float,
    step: float,
    varied: Sequence[str],
    variations: Sequence[str],
    profiles: Sequence[str],
) -> None:
    """Vary the fitted parameters on the test tosses of datasets; write rest poses, section VI's
    numbers and profiles.

    Lists of files are of every dataset; no calibrations where the variant isn't calibrated. Written
    are :func:`vary_parameters`, :func:`summarise_variation` and :func:`restitution_profile`.
    """
    files = zip(
        prepared, fits, calibrations or [""] * len(fits), varied, variations, profiles, strict=True
    )
    for tosses, fit, calibration, poses, summary, profile in files:
        problem = load_problem(tosses, calibration, Variant.from_config(variant), TEST)
        parameters = ContactParameters(**read_json(fit)["parameters"])
        table = vary_parameters(problem, parameters, reach, step)
        write_csv(table, poses)
        write_csv(summarise_variation(table, largest_dimension(problem.body.vertices)), summary)
        write_csv(restitution_profile(problem, parameters), profile)

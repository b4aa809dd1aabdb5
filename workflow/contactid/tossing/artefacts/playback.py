"""Measured tosses beside predicted ones, thinned and rounded for playing them on a page.

The tosses are the best, the median and the worst by the loss of eq. 18 of every case, predicted
with the parameters of the study's first variant, which fills the paper's tables. Errors are taken
from the poses as recorded, before anything is thinned or rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.core.atomic import write_text
from contactid.output.fits import compact_json, read_json
from contactid.output.tables import read_csv
from contactid.tossing.prepare.preprocess import TEST
from contactid.tossing.prepare.tosses import (
    PreparedToss,
    Problem,
    Variant,
    load_dataset,
    set_up,
    simulated,
)
from contactid.tossing.simulate.box import ContactParameters

LONGEST = 1500  # frames in all, about 100 bytes each
SMOOTH = 120.0  # Hz, more than a screen shows
_MM = 1e3  # per m
_POSITION, _QUATERNION, _LENGTH, _ERROR, _ANGLE = 1, 4, 2, 2, 3  # decimals of mm, 1, mm, mm, deg


def write_playback(
    prepared: Sequence[str],
    fits: Sequence[str],
    calibrations: Sequence[str],
    predictions: Sequence[str],
    cases: Sequence[tuple[str, str]],
    variant: Mapping[str, Any],
    playback: str,
) -> None:
    """Write the shown tosses of all cases (identified on, predicted on) as JSON.

    All lists of files are of the cases; no ``calibrations`` where the predicting ``variant`` isn't
    calibrated.
    """
    stepped = Variant.from_config(variant)
    shown = []
    files = zip(cases, prepared, fits, calibrations or [""] * len(cases), predictions, strict=True)
    for (identified_on, dataset), tosses, fit, calibration, predicted in files:
        data = load_dataset(tosses, calibration)
        shown += shown_tosses(
            set_up(data, stepped, TEST),
            ContactParameters(**read_json(fit)["parameters"]),
            read_csv(predicted).astype({"toss": str}),
            longest=LONGEST // len(cases),
            about={
                "object": str(data.attrs["object"]),
                "dataset": dataset,
                "identified_on": identified_on,
                "synthetic": bool(data.attrs["synthetic"]),
            },
        )
    write_text(playback, compact_json({"tosses": shown}))


def shown_tosses(
    problem: Problem,
    parameters: ContactParameters,
    predicted: pd.DataFrame,
    *,
    longest: int = LONGEST,
    about: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Best, median and worst toss of a case, as :func:`played_toss` describes them, with what else
    is said of them.

    ``predicted`` is the table of predictions for the same tosses and parameters, ``longest`` the
    frames of all shown.
    """
    by_name = {item.toss.name: item for item in problem.tosses}
    chosen = chosen_tosses(predicted)
    rate = 1.0 / problem.options.time_step
    n_samples = sum(len(by_name[name].toss.position) for name in chosen)
    # no smoother than a screen shows, and no longer than the page may be; the last sample is shown
    # besides
    every = max(int(rate // SMOOTH), -(-n_samples // (longest - len(chosen))), 1)
    losses = predicted.set_index("toss")["loss"]
    return [
        {
            **(about or {}),
            "toss": name,
            "rank": rank,
            "of": len(predicted),
            "loss": round(float(losses[name]), 4),
            **played_toss(problem, by_name[name], parameters, every),
        }
        for name, rank in chosen.items()
    ]


def chosen_tosses(predicted: pd.DataFrame) -> dict[str, str]:
    """Names of the tosses of least, median and largest loss, and which of it each is."""
    ordered = predicted.sort_values("loss", kind="stable")["toss"].tolist()
    # of few tosses two of the three may be one
    places = {"best": 0, "median": (len(ordered) - 1) // 2, "worst": len(ordered) - 1}
    chosen: dict[str, str] = {}
    for rank, place in places.items():
        chosen.setdefault(ordered[place], rank)
    return chosen


def played_toss(
    problem: Problem, item: PreparedToss, parameters: ContactParameters, every: int
) -> dict[str, Any]:
    """Every so manieth sample of a toss and of its prediction, the first and the last among them.

    Returns ``friction_mu``, ``restitution_e_n``; ``vertices`` (mm, in B) and ``faces`` (indices of
    their corners, anticlockwise from outside); ``surface_velocity`` (mm/s, in C); ``time_ms``;
    ``measured`` and ``predicted``, rows of x, y, z (mm) and qw, qx, qy, qz in C;
    ``position_error_mm`` and ``angle_error_deg``; ``mean_position_error_mm`` and
    ``mean_angle_error_deg`` over all samples.
    """
    toss = item.toss
    run = simulated(problem, toss, parameters)
    position_error = _MM * np.linalg.norm(toss.position - run.position, axis=1)
    angle_error = np.degrees(rotations.angle_between(toss.orientation, run.orientation))
    last = len(toss.position) - 1
    shown = np.unique([*range(0, last + 1, every), last])
    return {
        "friction_mu": round(parameters.friction_mu, 4),
        "restitution_e_n": round(parameters.restitution_e_n, 4),
        "vertices": np.round(_MM * problem.body.vertices, _LENGTH).tolist(),
        "faces": faces(problem.body.vertices),
        "surface_velocity": np.round(_MM * np.asarray(toss.surface_velocity), _POSITION).tolist(),
        "time_ms": np.round(1e3 * problem.options.time_step * shown, 1).tolist(),
        "measured": _poses(toss.position, toss.orientation, shown),
        "predicted": _poses(run.position, run.orientation, shown),
        "position_error_mm": np.round(position_error[shown], _ERROR).tolist(),
        "angle_error_deg": np.round(angle_error[shown], _ANGLE).tolist(),
        "mean_position_error_mm": round(float(position_error.mean()), _ERROR),
        "mean_angle_error_deg": round(float(angle_error.mean()), _ANGLE),
    }


def _poses(position: np.ndarray, orientation: np.ndarray, shown: np.ndarray) -> list[list[float]]:
    places = np.round(_MM * position[shown], _POSITION).tolist()
    turns = np.round(rotations.continuous(orientation[shown]), _QUATERNION).tolist()
    return [[*place, *turn] for place, turn in zip(places, turns, strict=True)]


def faces(vertices: np.ndarray) -> list[list[int]]:
    """Faces of a box with (8, 3) corners along its axes: indices of each one's corners,
    anticlockwise from outside.
    """
    around = np.sign(vertices - vertices.mean(axis=0))
    found = []
    for axis, side in product(range(3), (1.0, -1.0)):
        corners = np.flatnonzero(around[:, axis] == side)
        # the next axes are right-handed with this one, and left-handed with its opposite
        one, other = around[corners][:, [(axis + 1) % 3, (axis + 2) % 3]].T
        found.append(corners[np.argsort(side * np.arctan2(other, one))].tolist())
    return found

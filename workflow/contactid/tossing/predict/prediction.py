"""Predict tosses with identified parameters and measure how far off they come to rest (section V,
eqs. 18 to 21).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.output.fits import read_json
from contactid.output.tables import write_csv
from contactid.tossing.configuration import NO_RESTITUTION
from contactid.tossing.prepare.metrics import (
    rest_position_error,
    rest_rotation_error,
    trajectory_errors,
)
from contactid.tossing.prepare.preprocess import TEST, upper_face
from contactid.tossing.prepare.tosses import Problem, Variant, load_problem, simulated
from contactid.tossing.simulate.box import ContactParameters

SOLVED = 1e-9  # m/s: a contact step whose law is violated by more counts as unsolved
POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")


def predict(problem: Problem, parameters: ContactParameters) -> pd.DataFrame:
    """One row per toss: trajectory errors (eq. 18), rest-pose errors (eqs. 20, 21) and the
    simulated rest pose.

    Columns: ``toss``, ``tumbled``, ``moving`` (surface), ``loss``, ``position_error_pct`` (of the
    body's length), ``rotation_error_deg``, those of :func:`rest_errors`, steps with contact, with
    two contacts or more, and with a violation of the contact law above 1e-9 m/s,
    ``largest_residual`` (m/s), and measured and simulated rest poses in C.
    """
    rows = []
    for item in problem.tosses:
        toss, measured = item.toss, (item.rest_position, item.rest_orientation)
        run = simulated(problem, toss, parameters)
        # at the moment at which the measured body came to rest
        predicted = run.position[-1], run.orientation[-1]
        rows.append(
            {
                "toss": toss.name,
                "tumbled": item.tumbled,
                "moving": bool(np.any(toss.surface_velocity)),
                **trajectory_errors(
                    toss.position, toss.orientation, run.position, run.orientation, problem.length
                ),
                **rest_errors(*measured, *predicted),
                "contact_steps": int((run.contacts > 0).sum()),
                "hyperstatic_steps": int((run.contacts > 1).sum()),
                "unsolved_steps": int((run.residual > SOLVED).sum()),
                "largest_residual": float(run.residual.max(initial=0.0)),
                **dict(zip((f"measured_{k}" for k in POSE), np.concatenate(measured), strict=True)),
                **dict(
                    zip((f"simulated_{k}" for k in POSE), np.concatenate(predicted), strict=True)
                ),
            }
        )
    return pd.DataFrame(rows)


def rest_errors(
    measured_position: np.ndarray,
    measured_orientation: np.ndarray,
    position: np.ndarray,
    orientation: np.ndarray,
) -> dict[str, Any]:
    """Errors (...) of simulated rest poses (..., 3), (..., 4) against measured ones, both in C.

    ``rest_position_error_cm`` (eq. 21), ``rest_rotation_error_deg`` (geodesic angle), ``e_rot_deg``
    (eq. 20, signed) and ``same_face``.
    """
    return {
        "rest_position_error_cm": 100.0 * rest_position_error(measured_position, position),
        "rest_rotation_error_deg": np.degrees(
            rotations.angle_between(measured_orientation, orientation)
        ),
        "e_rot_deg": np.degrees(rest_rotation_error(measured_orientation, orientation)),
        "same_face": upper_face(measured_orientation) == upper_face(orientation),
    }


def predict_dataset(
    prepared: str,
    calibration: str | None,
    fits: Sequence[str],
    variants: Sequence[dict[str, Any]],
    kinds: Sequence[str],
    predictions: Sequence[str],
) -> None:
    """Predict a dataset's test tosses by several schemes, and write their tables.

    Of every scheme there are its fit, the trajectory variant that it steps as, its kind
    (:mod:`contactid.tossing.configuration`), and the file to write; the calibration is for those
    that ask for one.
    """
    problems: dict[Variant, Problem] = {}  # schemes with the same steps share one
    for fit, variant, kind, file in zip(fits, variants, kinds, predictions, strict=True):
        stepped = Variant.from_config(variant)
        if stepped not in problems:
            problems[stepped] = load_problem(
                prepared, calibration if stepped.calibrated else None, stepped, TEST
            )
        parameters = ContactParameters(**read_json(fit)["parameters"])
        if kind == NO_RESTITUTION:
            parameters = replace(parameters, restitution_e_n=0.0)
        write_csv(predict(problems[stepped], parameters), file)

"""Predict tosses with identified parameters and measure how far off they come to rest (section V, eqs. 18 to 21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.output.fits import read_json
from contactid.output.tables import write_csv
from contactid.sources.motion import BodyProperties
from contactid.tossing.configuration import NO_RESTITUTION
from contactid.tossing.prepare.metrics import rest_position_error, rest_rotation_error, trajectory_errors
from contactid.tossing.prepare.preprocess import TEST, upper_face
from contactid.tossing.prepare.tosses import PreparedToss, Variant, load_problem
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, simulate

SOLVED = 1e-9  # m/s: a contact step whose law is violated by more counts as unsolved
_POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")


def predict(
    body: BodyProperties,
    tosses: Sequence[PreparedToss],
    parameters: ContactParameters,
    options: SteppingOptions,
    length: float,
) -> pd.DataFrame:
    """One row per toss: trajectory errors (eq. 18), rest-pose errors (eqs. 20, 21) and the simulated rest pose.

    Columns: ``toss``, ``tumbled``, ``moving`` (surface), ``loss``, ``position_error_pct`` (of ``length``),
    ``rotation_error_deg``, ``rest_position_error_cm`` (eq. 21), ``rest_rotation_error_deg`` (geodesic angle),
    ``e_rot_deg`` (eq. 20, signed), ``same_face``, steps with contact, with two contacts or more, and with a violation
    of the contact law above 1e-9 m/s, ``largest_residual`` (m/s), and measured and simulated rest poses in C.
    """
    rows = []
    for item in tosses:
        toss = item.toss
        run = simulate(body, toss.start, parameters, options, len(toss.position), toss.surface_velocity)
        rest_position, rest_orientation = run.position[-1], run.orientation[-1]
        rows.append(
            {
                "toss": toss.name,
                "tumbled": item.tumbled,
                "moving": bool(np.any(toss.surface_velocity)),
                **trajectory_errors(toss.position, toss.orientation, run.position, run.orientation, length),
                "rest_position_error_cm": 100.0 * float(rest_position_error(item.rest_position, rest_position)),
                "rest_rotation_error_deg": np.degrees(
                    float(rotations.angle_between(item.rest_orientation, rest_orientation))
                ),
                "e_rot_deg": np.degrees(float(rest_rotation_error(item.rest_orientation, rest_orientation))),
                "same_face": bool(upper_face(item.rest_orientation) == upper_face(rest_orientation)),
                "contact_steps": int((run.contacts > 0).sum()),
                "hyperstatic_steps": int((run.contacts > 1).sum()),
                "unsolved_steps": int((run.residual > SOLVED).sum()),
                "largest_residual": float(run.residual.max(initial=0.0)),
                **dict(
                    zip((f"measured_{k}" for k in _POSE), (*item.rest_position, *item.rest_orientation), strict=True)
                ),
                **dict(zip((f"simulated_{k}" for k in _POSE), (*rest_position, *rest_orientation), strict=True)),
            }
        )
    return pd.DataFrame(rows)


def predict_dataset(
    prepared: str,
    calibration: str | None,
    fits: Sequence[str],
    variants: Sequence[dict[str, Any]],
    kinds: Sequence[str],
    predictions: Sequence[str],
) -> None:
    """Predict a dataset's test tosses by several schemes, and write their tables.

    Parameters
    ----------
    calibration
        For those of the schemes that ask for one.
    fits, variants, kinds, predictions
        Of every scheme its fit, the trajectory variant that it steps as, its kind
        (:mod:`contactid.tossing.configuration`), and the file to write.
    """
    for fit, variant, kind, file in zip(fits, variants, kinds, predictions, strict=True):
        stepped = Variant.from_config(variant)
        problem = load_problem(prepared, calibration if stepped.calibrated else None, stepped, TEST)
        parameters = ContactParameters(**read_json(fit)["parameters"])
        if kind == NO_RESTITUTION:
            parameters = replace(parameters, restitution_e_n=0.0)
        write_csv(predict(problem.body, problem.tosses, parameters, problem.options, problem.length), file)

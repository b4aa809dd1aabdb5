"""Run one simulator through the study: identify it on the identification tosses, predict the test tosses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from contactid.output.fits import write_fit
from contactid.output.tables import write_csv
from contactid.tossing.peers.search import evaluate, identify, open_session, penalised
from contactid.tossing.peers.sessions import peer_problem
from contactid.tossing.predict.prediction import rest_errors
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST
from contactid.tossing.prepare.tosses import Variant, load_problem


def compare_simulator(
    prepared: str,
    identified: str,
    calibration: str | None,
    variant: dict[str, Any],
    simulator: str,
    budget: dict[str, int],
    fit: str,
    predictions: str,
) -> None:
    """Search the simulator's own parameters within the budget, then simulate every test toss at the best ones.

    Parameters
    ----------
    prepared, identified
        Tosses to predict, and tosses to identify on.
    variant
        Of the configuration; says how a toss starts and which body it is.
    simulator
        ``contactid``, ``mujoco``, ``drake`` or ``pybullet``.
    budget
        Of :mod:`contactid.tossing.peers.search`.
    fit, predictions
        Files for the record and for one row per test toss.
    """
    chosen = Variant.from_config(variant)
    test = load_problem(prepared, calibration, chosen, TEST)
    record = identify(simulator, peer_problem(load_problem(identified, calibration, chosen, IDENTIFICATION)), budget)
    with open_session(simulator, peer_problem(test)) as session:
        answer = evaluate(session, record["parameters"], budget["substeps"])
    measured = np.stack([item.rest_position for item in test.tosses])
    orientation = np.stack([item.rest_orientation for item in test.tosses])
    table = pd.DataFrame(
        {
            "toss": [item.toss.name for item in test.tosses],
            "tumbled": [item.tumbled for item in test.tosses],
            "moving": [bool(np.any(item.toss.surface_velocity)) for item in test.tosses],
            "failed": answer.failed[0],
            "loss": penalised(answer)[0],
            "position_error_pct": 100.0 * answer.position_error[0],
            "rotation_error_deg": np.degrees(answer.rotation_error[0]),
            **rest_errors(measured, orientation, answer.rest_position[0], answer.rest_orientation[0]),
        }
    )
    record["residuals"]["failed_test_tosses"] = int(answer.failed.sum())
    write_csv(table, predictions)
    write_fit(fit, record)

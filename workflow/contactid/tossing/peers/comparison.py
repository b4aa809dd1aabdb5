"""Run one simulator through the study, and say how sure its difference to another is.

It is identified on the identification tosses and predicts the test tosses; differences are bootstrapped over tosses.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.output.tables import write_csv
from contactid.tossing.peers.search import Budget, evaluate, identify, open_session, penalised
from contactid.tossing.peers.sessions import peer_problem
from contactid.tossing.prepare.metrics import rest_position_error, rest_rotation_error
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST, upper_face
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
        Of :class:`contactid.tossing.peers.search.Budget`.
    fit, predictions
        Files for the record and for one row per test toss.
    """
    chosen, spent = Variant.from_config(variant), Budget(**budget)
    test = load_problem(prepared, calibration, chosen, TEST)
    found = identify(simulator, peer_problem(load_problem(identified, calibration, chosen, IDENTIFICATION)), spent)
    with open_session(simulator, peer_problem(test)) as session:
        answer = evaluate(session, found.parameters, spent.substeps)
    rest, turned = answer.rest_position[0], answer.rest_orientation[0]
    measured = np.stack([item.rest_position for item in test.tosses])
    orientation = np.stack([item.rest_orientation for item in test.tosses])
    same = upper_face(turned) == upper_face(orientation)
    table = pd.DataFrame(
        {
            "toss": [item.toss.name for item in test.tosses],
            "tumbled": [item.tumbled for item in test.tosses],
            "moving": [bool(np.any(item.toss.surface_velocity)) for item in test.tosses],
            "failed": answer.failed[0],
            "loss": penalised(answer)[0],
            "position_error_pct": 100.0 * answer.position_error[0],
            "rotation_error_deg": np.degrees(answer.rotation_error[0]),
            "rest_position_error_cm": 100.0 * rest_position_error(measured, rest),
            "rest_rotation_error_deg": np.degrees(rotations.angle_between(orientation, turned)),
            "e_rot_deg": np.degrees(rest_rotation_error(orientation, turned)),
            "same_face": same,
        }
    )
    record = {
        "parameters": found.parameters,
        "objective": found.loss,
        "status": "budget spent",
        "converged": not found.at_bound,
        "residuals": {"failed_evaluations": found.failed_evaluations, "failed_test_tosses": int(answer.failed.sum())},
        "iterations": found.evaluations,
        "seconds": found.seconds,
        "seed": spent.seed,
        "data": {"part": "identification", "n_tosses": found.tosses},
        "model": f"{found.simulator}, {spent.substeps} steps per sample",
        "reformulation": "simulation and search (eqs. 16 and 18)",
        "simulator": found.simulator,
        "at_bound": list(found.at_bound),
        "seconds_per_evaluation": found.seconds_per_evaluation,
        "budget": asdict(spent),
    }
    write_csv(table, predictions)
    write_fit(fit, record)


@dataclass(frozen=True)
class PairedDifference:
    """Mean of ``second - first`` over tosses, with its 95 % percentile bootstrap interval.

    Attributes
    ----------
    n : tosses
    first, second : mean losses
    difference : second - first; negative where the second simulator is better
    low, high : the interval
    """

    n: int
    first: float
    second: float
    difference: float
    low: float
    high: float

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0.0 or self.high < 0.0


def paired_difference(
    first: np.ndarray, second: np.ndarray, *, seed: int, samples: int = 10_000, keep: np.ndarray | None = None
) -> PairedDifference:
    """Compare losses (t,) of the same tosses, toss by toss.

    Tosses are resampled, not losses, so that what makes a toss hard for both simulators does not widen the interval.

    Parameters
    ----------
    first, second
        Losses, row for row of the same toss.
    seed
        Of the resampling.
    samples
        Number of resamples.
    keep
        (t,) bool: tosses to compare on; all by default.

    Raises
    ------
    ContactIdError
        Where the arrays don't belong together, hold a NaN, or no toss is left.
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise ContactIdError("two simulators' losses are not of the same tosses", "Evaluate both on one problem")
    if keep is not None:
        first, second = first[keep], second[keep]
    if not len(first) or not np.isfinite(first + second).all():
        raise ContactIdError("no toss to compare two simulators on, or a loss is NaN", "Give failed tosses a loss")
    difference = second - first
    n = len(difference)
    random = np.random.default_rng(seed)
    means = random.multinomial(n, np.full(n, 1.0 / n), size=samples) @ difference / n
    low, high = np.percentile(means, [2.5, 97.5])
    return PairedDifference(
        n, float(first.mean()), float(second.mean()), float(difference.mean()), float(low), float(high)
    )

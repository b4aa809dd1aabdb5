"""How often stated intervals hold on truths that identification doesn't share.

``python tests/helpers/interval_truths.py`` writes the table. A case is a box's drops and tosses by
one
:class:`Physics`; impacts are identified by the impact MPEC and on the grid, tosses by trajectories,
    all by
Newton's law.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.tables import write_csv
from contactid.tossing.identify.impact_mpec import (
    identify_from_impacts,
    lasting_of,
    options_with_model_error,
)
from contactid.tossing.identify.trajectories import Grid, grid_values, identify, sweep_grid
from contactid.tossing.identify.velocities import identify_velocities, sweep_velocities
from contactid.tossing.impacts.impact import ImpactWindow
from contactid.tossing.impacts.law import impact_table
from contactid.tossing.impacts.selection import find_impacts
from contactid.tossing.models.impact_likelihood import likelihood
from contactid.tossing.models.impact_uncertainty import uncertainty
from contactid.tossing.prepare.tosses import Variant, set_up
from contactid.tossing.simulate.box import SteppingOptions
from iam_tosses import BOXES, SAMPLE_FREQUENCY, Physics, box_model
from iam_twins import write_twin
from true_impacts import prepared_drops

KINDS = {
    "same law": Physics(),
    "other law": Physics(law="incremental"),
    "other inertia": Physics(inertia=1.1),
    "rounded corners": Physics(corner_radius=4e-3),
    "other time step": Physics(substeps=16),
}
SEEDS = {"impact MPEC": range(1), "velocities": range(1), "trajectories": range(2)}
TABLE = Path(__file__).parents[2] / "workflow/resources/tossing_intervals.csv"
_DROPS, _TOSSES = 36, 16
_GRID = Grid(grid_values(0.0, 1.0, 0.1), grid_values(0.0, 1.0, 0.05))
_FIRST_SEED = 9000
_BOOTSTRAP: dict[str, int] = {"samples": 1000, "seed": 0}
_VELOCITY = {"name": "velocity_refined", "refine": True, "substeps": 16}
_TRAJECTORY = {
    "name": "refined", "start": "flight_fit", "substeps": 4, "law": "newton", "solver": "newton", "refine": True,
    "calibrated": False,
}  # fmt: skip


@cache
def impacts_of(kind: str, box: str, seed: int) -> list[ImpactWindow]:
    """The kept impacts of a case's drops."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drops.h5"
        write_twin(path, box, "drops", _DROPS, _FIRST_SEED + seed, physics=KINDS[kind])
        return [one.impact for one in find_impacts(prepared_drops(path)) if one.impact is not None]


def rows_of(method: str, kind: str, box: str, seed: int) -> list[dict[str, Any]]:
    """Two rows of the table: truth, answer, interval, whether it holds, a naive half width, whether
    the law fits.
    """
    truth = box_model(box).parameters("trajectories" if method == "trajectories" else "drops")
    if method == "trajectories":
        record, naive = _of_trajectories(kind, box, seed)
    else:
        record, naive = _of_impacts(method, box, impacts_of(kind, box, seed))
    rows = []
    for name, reach in zip(("friction_mu", "restitution_e_n"), naive, strict=True):
        value, true = record["parameters"][name], float(getattr(truth, name))
        low, high = record["intervals"][name]
        rows.append(
            {
                "method": method, "kind": kind, "box": box, "seed": seed, "parameter": name,
                "experiments": record["experiments"], "noise_chi_square": record["noise_chi_square"],
                "law_fits": record["law_fits"], "truth": true, "value": value, "low": low, "high": high,
                "held": bool(low <= true and (high is None or true <= high)), "naive_half_width": float(reach),
                "naive_held": bool(abs(value - true) <= reach),
            }
        )  # fmt: skip
    return rows


def _of_impacts(
    method: str, box: str, windows: Sequence[ImpactWindow]
) -> tuple[dict[str, Any], np.ndarray]:
    """The record, and half widths by the information matrix and the measured noise alone."""
    body, impacts = box_model(box).body, [window.impact for window in windows]
    table = impact_table(body, impacts)
    options, at = options_with_model_error(table)
    if method == "impact MPEC":
        lasting = lasting_of(windows, 1.0 / SAMPLE_FREQUENCY)
        record = identify_from_impacts(body, impacts, options, near=at, lasting=lasting)
    else:
        stepping = SteppingOptions(1.0 / SAMPLE_FREQUENCY, substeps=16)
        swept = sweep_velocities(body, windows, _GRID, stepping)
        record = identify_velocities(
            body, windows, swept, stepping, _VELOCITY, dataset=box, **_BOOTSTRAP
        )
    found = (*list(record["parameters"].values())[:2], 0.0)
    by_noise = uncertainty(likelihood(table), found)
    naive = 1.96 * np.sqrt(by_noise.information)
    said = {"noise_chi_square": by_noise.noise_chi_square, "law_fits": by_noise.law_fits}
    return {**record, **said, "experiments": len(table)}, naive


def _of_trajectories(kind: str, box: str, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """The record, and half a step of the grid as half widths; trajectories don't ask whether the
    law fits.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tosses.h5"
        write_twin(path, box, "trajectories", _TOSSES, _FIRST_SEED + seed, physics=KINDS[kind])
        variant = Variant.from_config(_TRAJECTORY)
        problem = set_up(prepared_drops(path), variant, None)
    record, _ = identify(problem, sweep_grid(problem, _GRID), variant, dataset=box, **_BOOTSTRAP)
    half_steps = np.array([0.0025, 0.025])
    return {
        **record,
        "noise_chi_square": np.nan,
        "law_fits": True,
        "experiments": len(problem.tosses),
    }, half_steps


def main() -> None:
    """Write the table: half an hour."""
    rows: list[dict[str, Any]] = []
    for method, seeds in SEEDS.items():
        for kind, box, seed in itertools.product(KINDS, BOXES, seeds):
            rows += rows_of(method, kind, box.name, seed)
    write_csv(pd.DataFrame(rows), TABLE)


if __name__ == "__main__":
    main()

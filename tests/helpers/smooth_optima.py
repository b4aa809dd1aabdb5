"""Is the cube's friction from tosses another than from impacts because the loss is rough?

``python tests/helpers/smooth_optima.py FOLDER`` (of the data, ``data/contactnets``) writes the
table: friction and restitution of the calibrated cube by the incremental law, on identification
tosses alone, by estimators that a rough loss can't lead astray. Nothing is chosen by them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from contactid.output.tables import write_csv
from contactid.sources.motion import body_of
from contactid.tossing.identify.body import calibrate
from contactid.tossing.identify.trajectories import Grid, grid_values
from contactid.tossing.identify.velocities import sweep_velocities
from contactid.tossing.impacts.selection import SelectionOptions, find_impacts
from contactid.tossing.own.usable import EVENTS
from contactid.tossing.prepare.preprocess import IDENTIFICATION, preprocess
from contactid.tossing.prepare.tosses import Variant, set_up
from contactid.tossing.simulate.box import SteppingOptions
from contactid.tossing.simulate.sweep import sweep
from motion_in_memory import read_contactnets

TABLE = Path(__file__).parents[2] / "workflow/resources/tossing_smooth_optima.csv"
SPLIT = {
    "share": 0.7,
    "seed": 20230206,
    "exclude_tumbling": False,
    "require_usable": True,
}  # the public run's
VARIANT = Variant(
    "incremental", "flight_fit", 16, "incremental", "newton", refine=True, calibrated=True
)
SELECTION = SelectionOptions(largest_misfit=9.0, largest_imbalance=0.25)
GRID = Grid(grid_values(0.13, 0.23, 0.0025), grid_values(0.2, 0.36, 0.01))
NEAR = 0.03  # in mu, and in e_N twice as far: where a parabola is fitted to the mean loss
DRAWS = 2000


def bagged(losses: np.ndarray, tosses: np.ndarray, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (2,) of the grid's best point over draws of whole tosses; losses
    (n, mu, e_N).
    """
    names, index = np.unique(tosses, return_inverse=True)
    sums = np.zeros((len(names), *losses.shape[1:]))
    np.add.at(sums, index, losses)
    n = len(names)
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=DRAWS)
    # all draws divide by about as many losses, which moves no minimum
    best = (drawn @ sums.reshape(n, -1)).argmin(axis=1)
    i, j = np.unravel_index(best, losses.shape[1:])
    points = np.column_stack([GRID.friction_mu[i], GRID.restitution_e_n[j]])
    return points.mean(axis=0), points.std(axis=0)


def parabola(losses: np.ndarray) -> np.ndarray:
    """Where a parabola through the mean losses near the least one is least (2,)."""
    mean = losses.mean(axis=0)
    mu, e_n = (values.reshape(mean.shape) for values in GRID.pairs())
    least = np.unravel_index(mean.argmin(), mean.shape)
    x, y = mu - mu[least], e_n - e_n[least]
    near = (np.abs(x) <= NEAR + 1e-9) & (np.abs(y) <= 2.0 * NEAR + 1e-9)
    x, y = x[near], y[near]
    design = np.column_stack([np.ones_like(x), x, y, 0.5 * x**2, x * y, 0.5 * y**2])
    _, *slope, a, b, c = np.linalg.lstsq(design, mean[near], rcond=None)[0]
    return np.array([mu[least], e_n[least]]) - np.linalg.solve([[a, b], [b, c]], slope)


def optima(folder: str) -> pd.DataFrame:
    """A row per kind of loss: the best point of the grid, the parabola's, and the bagged one with
    its error.
    """
    prepared = preprocess(read_contactnets(folder, licence=""), events=EVENTS, **SPLIT)
    prepared = calibrate(prepared).apply(prepared)
    kept = [one.impact for one in find_impacts(prepared, SELECTION) if one.impact is not None]
    windows = [window for window in kept if window.split == IDENTIFICATION]
    options = SteppingOptions(1.0 / float(prepared.attrs["sample_frequency"]), 64, "incremental")
    impacts = sweep_velocities(body_of(prepared), windows, GRID, options)["loss"].values
    problem = set_up(prepared, VARIANT, IDENTIFICATION)
    swept = sweep(
        problem.body, problem.measured, *GRID.pairs(), problem.options, length=problem.length
    )
    shape = len(problem.tosses), len(GRID.friction_mu), len(GRID.restitution_e_n)
    position, rotation = swept.position_error.reshape(shape), swept.rotation_error.reshape(shape)
    each, loss = np.arange(len(position)), position + rotation
    kinds = {
        "impacts": (impacts, np.array([window.impact.toss for window in windows])),
        "tosses": (loss, each),
        "tosses log": (np.log(loss + 0.02), each),
        "tosses position": (position, each),
        "tosses rotation": (rotation, each),
    }
    rows = []
    for kind, (losses, tosses) in kinds.items():
        mean = losses.mean(axis=0)
        i, j = np.unravel_index(mean.argmin(), mean.shape)
        (mu, e_n), (mu_error, e_error) = bagged(losses, tosses)
        smooth = parabola(losses)
        rows.append(
            {
                "loss": kind, "n": len(losses), "grid_mu": GRID.friction_mu[i], "grid_e_n": GRID.restitution_e_n[j],
                "parabola_mu": smooth[0], "parabola_e_n": smooth[1], "bagged_mu": mu, "bagged_mu_se": mu_error,
                "bagged_e_n": e_n, "bagged_e_n_se": e_error,
            }
        )  # fmt: skip
    table = pd.DataFrame(rows)
    difference = table["bagged_mu"] - table["bagged_mu"].iloc[0]
    error = np.hypot(table["bagged_mu_se"], table["bagged_mu_se"].iloc[0])
    return table.assign(from_impacts=difference, from_impacts_se=error.where(table.index > 0))


if __name__ == "__main__":
    write_csv(optima(sys.argv[1]), TABLE)

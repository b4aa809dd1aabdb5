"""The paper's own scheme by a stored grid: its fixed point takes minutes for what the exact solver
does in seconds.

The mean losses over the grid are a stored result (``make store NAME=tossing_paper``). A run takes
the optimum from there and computes some drawn points of the grid again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.output.stored import read_stored
from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset
from contactid.tossing.identify.trajectories import FLAT, Grid
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.prepare.tosses import Variant, set_up
from contactid.tossing.simulate.sweep import sweep


def mean_losses(
    prepared: Sequence[str],
    datasets: Sequence[str],
    variant: dict[str, Any],
    grid: dict[str, dict[str, float]],
    number: int,
    seed: int,
    cells: str,
) -> None:
    """Write the mean loss (eqs. 16 and 18) at ``number`` drawn points of the grid, of every
    dataset's own draw.

    Columns: ``dataset``, ``friction_mu``, ``restitution_e_n``, ``mean_loss``, ``n_tosses``, and
    ``failed_steps``, contact steps of all tosses at which the solver gave up.
    """
    random, tables = np.random.default_rng(seed), []
    every = np.column_stack(Grid.of(grid).pairs())
    for file, dataset in zip(prepared, datasets, strict=True):
        problem = set_up(read_dataset(file), Variant.from_config(variant), IDENTIFICATION)
        # in the grid's order, which lets the sweep share steps of equal e_N
        mu, e_n = every[np.sort(random.permutation(len(every))[:number])].T.copy()
        swept = sweep(
            problem.body, problem.measured, mu, e_n, problem.options, length=problem.length
        )
        columns = {
            "dataset": dataset,
            "friction_mu": mu,
            "restitution_e_n": e_n,
            "mean_loss": swept.loss.mean(axis=0),
        }
        failed = swept.failed_steps.sum(axis=0).astype(int)
        tables.append(
            pd.DataFrame({**columns, "n_tosses": len(problem.tosses), "failed_steps": failed})
        )
    write_csv(pd.concat(tables, ignore_index=True), cells)


def identify_from_stored(
    stored: Sequence[str], datasets: Sequence[str], variant: dict[str, Any], fits: Sequence[str]
) -> None:
    """Write the fit of each dataset at the best point of its stored grid; no losses of tosses, no
    intervals.

    Raises :class:`ContactIdError` where the stored grid has no such dataset.
    """
    table, made = read_stored(stored)
    for dataset, fit in zip(datasets, fits, strict=True):
        grid = table[table["dataset"] == dataset]
        if grid.empty:
            raise ContactIdError(
                f"{stored[0]} has no {dataset}",
                "Set tossing.stored.variants to [], so that the run computes every variant",
            )
        write_fit(fit, _best_of(grid, made, dataset, variant))


def _best_of(
    grid: pd.DataFrame, made: Mapping[str, Any], dataset: str, variant: Mapping[str, Any]
) -> dict[str, Any]:
    best = grid.iloc[int(grid["mean_loss"].argmin())]
    along = grid.groupby("restitution_e_n")["mean_loss"].min()
    return {
        "parameters": {name: float(best[name]) for name in ("friction_mu", "restitution_e_n")},
        "objective": float(best["mean_loss"]),
        "status": f"best point of the stored grid, made at commit {made['git_commit'][:12]}",
        "converged": int(best["failed_steps"]) == 0,
        "residuals": {"failed_contact_steps": int(best["failed_steps"])},
        "iterations": len(grid),
        "seconds": made["seconds"],
        "seed": None,
        "data": {"dataset": dataset, "part": IDENTIFICATION, "n_tosses": int(best["n_tosses"])},
        "model": f"rigid box, {variant['substeps']} steps per sample, start by {variant['start']}, {variant['solver']}",
        "reformulation": "simulation and search (eqs. 16 and 18)",
        # the stored losses are means over tosses, which can't be resampled
        "intervals": {name: [None, None] for name in ("friction_mu", "restitution_e_n")},
        "restitution_flat_to": float(along[along <= (1.0 + FLAT) * along.min()].index.max()),
        "variant": variant["name"],
    }

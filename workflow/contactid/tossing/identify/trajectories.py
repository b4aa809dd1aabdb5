"""Trajectory-based identification of friction and restitution (eqs. 16 and 18 of the tossing
paper).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy.optimize import OptimizeResult, minimize

from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.sources.motion import write_dataset
from contactid.tossing.prepare.metrics import mean_loss
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.prepare.tosses import Problem, Variant, load_problem
from contactid.tossing.simulate.sweep import SweepResult, sweep

# a little more than a step of the paper's grid, 0.05
FINE_REACH = 0.06  # in mu, on either side of the coarse optimum
FINE_STEP = 0.005
FLAT = 0.02  # a loss within this share of the optimum is as good
_AXES = ("friction_mu", "restitution_e_n")


@dataclass(frozen=True)
class Grid:
    """The parameter grid: values of mu and of e_N, each ascending."""

    friction_mu: np.ndarray
    restitution_e_n: np.ndarray

    @classmethod
    def of(cls, block: Mapping[str, Mapping[str, float]]) -> Grid:
        """From the configuration's block: ``start``, ``stop`` and ``step`` of both parameters."""
        return cls(**{name: grid_values(**steps) for name, steps in block.items()})

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """All pairs, flattened with e_N running fastest."""
        mu, e_n = np.meshgrid(self.friction_mu, self.restitution_e_n, indexing="ij")
        return mu.ravel(), e_n.ravel()


def grid_values(start: float, stop: float, step: float) -> np.ndarray:
    """``start``, ``start + step``, ... up to and including ``stop``, rounded so that 0.15 prints as
    0.15.
    """
    if not step > 0 or stop < start:
        raise ContactIdError(
            f"a grid from {start} to {stop} in steps of {step} is empty", "Check the configuration"
        )
    return np.round(start + step * np.arange(round((stop - start) / step) + 1), 10)


def values_near(value: float, largest: float) -> np.ndarray:
    """Fine grid values near an optimum of a coarse grid, from 0 to the ``largest`` one at most."""
    low, high = max(value - FINE_REACH, 0.0), min(value + FINE_REACH, largest)
    return grid_values(round(low, 10), round(high, 10), FINE_STEP)


def sweep_grid(problem: Problem, grid: Grid) -> xr.Dataset:
    """Losses of all tosses over the whole grid: variables (toss, friction_mu, restitution_e_n)."""
    result = sweep(
        problem.body, problem.measured, *grid.pairs(), problem.options, length=problem.length
    )
    shape = (len(problem.tosses), len(grid.friction_mu), len(grid.restitution_e_n))
    dims = ("toss", *_AXES)
    return xr.Dataset(
        {
            "position_error": (dims, result.position_error.reshape(shape), {"units": "1"}),
            "rotation_error": (dims, result.rotation_error.reshape(shape), {"units": "rad"}),
            "failed_steps": (
                dims,
                result.failed_steps.reshape(shape).astype("int64"),
                {"units": "1"},
            ),
        },
        coords={
            "toss": np.array([toss.name for toss in problem.measured], dtype=object),
            "friction_mu": grid.friction_mu,
            "restitution_e_n": grid.restitution_e_n,
        },
    )


def identify(
    problem: Problem, coarse: xr.Dataset, variant: Variant, *, dataset: str, samples: int, seed: int
) -> tuple[dict[str, Any], xr.Dataset]:
    """Find the minimum of eq. 16.

    Parameters
    ----------
    coarse : :func:`sweep_grid` over the same tosses
    variant : unless it refines, the best point of the coarse grid is taken, as in the paper.
        Otherwise a finer grid in mu around it and then a Nelder-Mead search; the loss is continuous
        but not smooth (trajectories branch), so no gradient is used.
    samples, seed : resampling of tosses for the 95 % intervals, on the finest grid at hand

    Returns the record for ``fits/*.json``, and the losses on the finest grid at hand. ``objective``
    is eq. 16 at the optimum. ``converged``: the search ended regularly and every contact step at
    the optimum was solved. ``restitution_flat_to``: largest e_N whose mean loss, at its best mu, is
    within 2 % of the optimum. ``friction_flat``: mu values (low, high) within the same share at the
    best e_N. ``iterations``: parameter pairs simulated.
    """
    begin = time.perf_counter()

    def swept_at(mu: np.ndarray, e_n: np.ndarray) -> SweepResult:
        return sweep(
            problem.body, problem.measured, mu, e_n, problem.options, length=problem.length
        )

    coarse_mean = mean_loss(coarse)
    mu, e_n, loss = best_point(coarse_mean)
    evaluations, status, regular, finest = coarse_mean.size, "best point of the grid", True, coarse
    if variant.refine:
        # finer in mu alone, as the loss is far less sensitive to e_N
        finest = sweep_grid(
            problem, Grid(values_near(mu, np.inf), coarse["restitution_e_n"].values)
        )
        mu, e_n, loss = best_point(mean_loss(finest))
        search = polish(
            lambda point: float(swept_at(point[:1], point[1:]).loss.mean()), mu, e_n, (FINE_STEP, 0.025),
            xatol=5e-4, fatol=1e-5, maxfev=300,
        )  # fmt: skip
        evaluations += mean_loss(finest).size + search.nfev
        regular, status = bool(search.success), str(search.message)
        # the loss isn't smooth, so a simplex may end above the grid's best point
        if search.fun < loss:
            (mu, e_n), loss = map(float, search.x), float(search.fun)
    # asked once more at the very optimum
    failed = int(swept_at(np.array([mu]), np.array([e_n])).failed_steps.sum())
    intervals = bootstrap_intervals(
        finest["position_error"] + finest["rotation_error"], samples, seed
    )
    # (e_N,) at each one's best mu
    profile = coarse_mean.min("friction_mu")
    flat = profile["restitution_e_n"].values[
        profile.values <= (1.0 + FLAT) * float(coarse_mean.min())
    ]
    along = mean_loss(finest).sel(restitution_e_n=e_n, method="nearest")
    near = along["friction_mu"].values[along.values <= (1.0 + FLAT) * float(along.min())]
    record = {
        "parameters": {"friction_mu": mu, "restitution_e_n": e_n},
        "objective": loss,
        "status": status,
        "converged": regular and failed == 0,
        "residuals": {"failed_contact_steps": failed},
        "iterations": int(evaluations),
        "seconds": time.perf_counter() - begin,
        "seed": seed,
        "data": {"dataset": dataset, "part": "identification", "n_tosses": len(problem.tosses)},
        "model": f"rigid box, {variant.law} impacts, {variant.substeps} steps per sample, "
        f"start by {variant.start}, {variant.solver}",
        "reformulation": "simulation and search (eqs. 16 and 18)",
        "intervals": intervals,
        "restitution_flat_to": float(flat.max()),
        "friction_flat": [float(near.min()), float(near.max())],
        "variant": variant.name,
    }
    return record, finest


def best_point(mean: xr.DataArray) -> tuple[float, float, float]:
    """mu, e_N and mean loss at a grid's best point."""
    i, j = np.unravel_index(int(mean.values.argmin()), mean.shape)
    return float(mean["friction_mu"][i]), float(mean["restitution_e_n"][j]), float(mean[i, j])


def polish(
    objective: Callable[[np.ndarray], float],
    mu: float,
    e_n: float,
    reach: tuple[float, float],
    **options: float,
) -> OptimizeResult:
    """A Nelder-Mead search from (mu, e_N), whose first steps are ``reach``, that of e_N inwards."""
    steps = np.array([[0.0, 0.0], [reach[0], 0.0], [0.0, reach[1] if e_n < 0.5 else -reach[1]]])
    start = np.array([mu, e_n])
    settings: Any = {"initial_simplex": start + steps, **options}
    return minimize(
        objective, start, method="Nelder-Mead", bounds=[(0.0, None), (0.0, 1.0)], options=settings
    )


def resampled_best(
    losses: np.ndarray, samples: int, seed: int, tosses: Sequence[str] | np.ndarray | None = None
) -> tuple[np.ndarray, ...]:
    """Indices (samples,), (samples,) of the grid's best point where tosses are drawn with
    replacement.

    ``losses`` (experiment, mu, e_N) are of the ``tosses`` (experiment,), all experiments of a toss
    being drawn together; of tosses themselves by default.
    """
    sums, sizes = losses, None
    if tosses is not None:
        names, index = np.unique(np.asarray(tosses), return_inverse=True)
        sums, sizes = np.zeros((len(names), *losses.shape[1:])), np.bincount(index)
        np.add.at(sums, index, losses)
    n = len(sums)
    # (samples, n) how often each toss is drawn; a constant factor doesn't move the minimum
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=samples)
    drawn = draws @ sums.reshape(n, -1)
    if sizes is not None:
        # tosses differ in their number of experiments, so a draw's mean has its own
        drawn = drawn / (draws @ sizes)[:, None]
    return np.unravel_index(drawn.argmin(axis=1), sums.shape[1:])


def bootstrap_draws(
    loss: xr.DataArray, samples: int, seed: int, tosses: Sequence[str] | None = None
) -> np.ndarray:
    """The grid's best (mu, e_N), (samples, 2), of resampled tosses: draws from what is known of
    them.
    """
    best = resampled_best(loss.values, samples, seed, tosses)
    return np.column_stack(
        [loss[name].values[index] for name, index in zip(_AXES, best, strict=True)]
    )


def bootstrap_intervals(
    loss: xr.DataArray, samples: int, seed: int, tosses: Sequence[str] | None = None
) -> dict[str, list[float]]:
    """95 % intervals by parameter: :func:`interval_of` of :func:`bootstrap_draws`."""
    drawn = bootstrap_draws(loss, samples, seed, tosses).T
    return {
        name: interval_of(loss[name].values, values)
        for name, values in zip(_AXES, drawn, strict=True)
    }


def interval_of(values: np.ndarray, drawn: np.ndarray) -> list[float]:
    """95 % percentile interval of drawn grid values, half a step wider on each side, within the
    grid ``values``.

    Half a step is what the grid itself can't resolve.
    """
    half_step = 0.5 * float(np.diff(values).mean()) if len(values) > 1 else 0.0
    low, high = np.percentile(drawn, [2.5, 97.5])
    return [
        round(float(max(low - half_step, values[0])), 10),
        round(float(min(high + half_step, values[-1])), 10),
    ]


def identify_dataset(
    prepared: str,
    calibration: str | None,
    dataset: str,
    variant: dict[str, Any],
    grid: dict[str, dict[str, float]],
    bootstrap: dict[str, int],
    sweep: str,
    finest: str,
    fit: str,
) -> None:
    """Identify friction and restitution on a dataset's identification tosses; write both sweeps of
    grids and the fit.

    Variant, grid (``start``, ``stop`` and ``step`` of both parameters) and bootstrap are the
    configuration's.
    """
    chosen = Variant.from_config(variant)
    problem = load_problem(prepared, calibration, chosen, IDENTIFICATION)
    swept = sweep_grid(problem, Grid.of(grid))
    record, fine = identify(problem, swept, chosen, dataset=dataset, **bootstrap)
    write_dataset(swept, sweep)
    write_dataset(fine, finest)
    write_fit(fit, record)

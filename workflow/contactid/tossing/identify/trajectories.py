"""Trajectory-based identification of friction and restitution (eqs. 16 and 18 of the tossing paper)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy.optimize import minimize

from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.sources.motion import BodyProperties, write_dataset
from contactid.tossing.prepare.metrics import mean_loss
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.prepare.tosses import Variant, load_problem
from contactid.tossing.simulate.box import SteppingOptions
from contactid.tossing.simulate.sweep import MeasuredToss, sweep

FINE_REACH = 0.06  # in mu, on either side of the coarse optimum
FINE_STEP = 0.005


@dataclass(frozen=True)
class Grid:
    """The parameter grid: values of mu and of e_N, each ascending."""

    friction_mu: np.ndarray
    restitution_e_n: np.ndarray

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """All pairs, flattened with e_N running fastest."""
        mu, e_n = np.meshgrid(self.friction_mu, self.restitution_e_n, indexing="ij")
        return mu.ravel(), e_n.ravel()


def grid_values(start: float, stop: float, step: float) -> np.ndarray:
    """``start``, ``start + step``, ... up to and including ``stop``, rounded so that 0.15 prints as 0.15."""
    if not step > 0 or stop < start:
        raise ContactIdError(f"a grid from {start} to {stop} in steps of {step} is empty", "Check the configuration")
    return np.round(start + step * np.arange(round((stop - start) / step) + 1), 10)


def sweep_grid(
    body: BodyProperties, tosses: Sequence[MeasuredToss], grid: Grid, options: SteppingOptions, length: float
) -> xr.Dataset:
    """Losses of all tosses over the whole grid: variables (toss, friction_mu, restitution_e_n)."""
    result = sweep(body, tosses, *grid.pairs(), options, length=length)
    shape = (len(tosses), len(grid.friction_mu), len(grid.restitution_e_n))
    dims = ("toss", "friction_mu", "restitution_e_n")
    return xr.Dataset(
        {
            "position_error": (dims, result.position_error.reshape(shape), {"units": "1"}),
            "rotation_error": (dims, result.rotation_error.reshape(shape), {"units": "rad"}),
            "failed_steps": (dims, result.failed_steps.reshape(shape).astype("int64"), {"units": "1"}),
        },
        coords={
            "toss": np.array([toss.name for toss in tosses], dtype=object),
            "friction_mu": grid.friction_mu,
            "restitution_e_n": grid.restitution_e_n,
        },
    )


@dataclass(frozen=True)
class Identified:
    """The optimum of the mean loss.

    Attributes
    ----------
    friction_mu, restitution_e_n : the optimum
    loss : eq. 16 there
    friction_mu_interval, restitution_e_n_interval : 95 % percentile bootstrap over tosses
    restitution_flat_to : largest e_N whose mean loss, at its best mu, is within ``flat_share`` of the optimum
    friction_flat : mu values (low, high) within the same share at the best e_N
    converged : the search ended regularly and every contact step at the optimum was solved
    status : what the search said
    evaluations : parameter pairs simulated
    failed_steps : contact steps at the optimum whose solver didn't converge
    seconds : wall time
    """

    friction_mu: float
    restitution_e_n: float
    loss: float
    friction_mu_interval: tuple[float, float]
    restitution_e_n_interval: tuple[float, float]
    restitution_flat_to: float
    friction_flat: tuple[float, float]
    converged: bool
    status: str
    evaluations: int
    failed_steps: int
    seconds: float


def identify(
    body: BodyProperties,
    tosses: Sequence[MeasuredToss],
    coarse: xr.Dataset,
    options: SteppingOptions,
    length: float,
    *,
    refine: bool,
    bootstrap_samples: int,
    seed: int,
    flat_share: float = 0.02,
) -> Identified:
    """Find the minimum of eq. 16.

    Parameters
    ----------
    coarse
        :func:`sweep_grid` over the same tosses.
    refine
        ``False``: the best point of the coarse grid, as in the paper. ``True``: a finer grid in mu around it and then a
        Nelder-Mead search; the loss is continuous but not smooth (trajectories branch), so no gradient is used.
    bootstrap_samples, seed
        Resampling of tosses for the 95 % intervals, on the finest grid at hand.
    """
    begin = time.perf_counter()
    coarse_mean = mean_loss(coarse)
    mu, e_n, loss = _best(coarse_mean)
    evaluations, status, regular, finest = coarse_mean.size, "best point of the grid", True, coarse
    if refine:
        low, high = max(0.0, mu - FINE_REACH), mu + FINE_REACH
        fine_grid = Grid(grid_values(low, high, FINE_STEP), coarse["restitution_e_n"].values)
        finest = sweep_grid(body, tosses, fine_grid, options, length)
        mu, e_n, loss = _best(mean_loss(finest))
        search = _polish(body, tosses, options, length, mu, e_n)
        evaluations += mean_loss(finest).size + search.nfev
        regular, status = bool(search.success), str(search.message)
        if search.fun < loss:
            (mu, e_n), loss = map(float, search.x), float(search.fun)
    failed = int(sweep(body, tosses, np.array([mu]), np.array([e_n]), options, length=length).failed_steps.sum())
    intervals = _bootstrap(finest, bootstrap_samples, seed)
    profile = coarse_mean.min("friction_mu")
    flat = profile["restitution_e_n"].values[profile.values <= (1.0 + flat_share) * float(coarse_mean.min())]
    finest_mean = mean_loss(finest)
    along = finest_mean.sel(restitution_e_n=e_n, method="nearest")
    near = along["friction_mu"].values[along.values <= (1.0 + flat_share) * float(along.min())]
    return Identified(
        friction_mu=mu,
        restitution_e_n=e_n,
        loss=loss,
        friction_mu_interval=intervals[0],
        restitution_e_n_interval=intervals[1],
        restitution_flat_to=float(flat.max()),
        friction_flat=(float(near.min()), float(near.max())),
        converged=regular and failed == 0,
        status=status,
        evaluations=int(evaluations),
        failed_steps=failed,
        seconds=time.perf_counter() - begin,
    )


def _best(mean: xr.DataArray) -> tuple[float, float, float]:
    i, j = np.unravel_index(int(mean.values.argmin()), mean.shape)
    return float(mean["friction_mu"][i]), float(mean["restitution_e_n"][j]), float(mean[i, j])


def _polish(
    body: BodyProperties, tosses: Sequence[MeasuredToss], options: SteppingOptions, length: float, mu: float, e_n: float
):
    def objective(point: np.ndarray) -> float:
        result = sweep(body, tosses, point[:1], point[1:], options, length=length)
        return float(result.loss.mean())

    corner = np.array([mu, e_n])
    steps = np.array([[0.0, 0.0], [FINE_STEP, 0.0], [0.0, 0.025 if e_n < 0.5 else -0.025]])
    return minimize(
        objective,
        corner,
        method="Nelder-Mead",
        bounds=[(0.0, None), (0.0, 1.0)],
        options={"initial_simplex": corner + steps, "xatol": 5e-4, "fatol": 1e-5, "maxfev": 300},
    )


def _bootstrap(swept: xr.Dataset, samples: int, seed: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """95 % percentile intervals of the grid's best point over resampled tosses, wider by half a grid step on each side.

    Half a step is what the grid itself can't resolve; the intervals stay within the grid.
    """
    mu, e_n = bootstrap_draws(swept, samples, seed).T
    return interval_of(swept["friction_mu"].values, mu), interval_of(swept["restitution_e_n"].values, e_n)


def bootstrap_draws(swept: xr.Dataset, samples: int, seed: int) -> np.ndarray:
    """The grid's best (mu, e_N), (samples, 2), of tosses drawn with replacement: draws from what is known of them."""
    loss = (swept["position_error"] + swept["rotation_error"]).values
    n = len(loss)
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=samples)
    best = (draws @ loss.reshape(n, -1)).argmin(axis=1)
    mu_index, e_index = np.unravel_index(best, loss.shape[1:])
    return np.column_stack([swept["friction_mu"].values[mu_index], swept["restitution_e_n"].values[e_index]])


def interval_of(values: np.ndarray, drawn: np.ndarray) -> tuple[float, float]:
    """95 % percentile interval of drawn grid values, half a step wider on each side, within the grid ``values``."""
    half_step = 0.5 * float(np.diff(values).mean()) if len(values) > 1 else 0.0
    low, high = np.percentile(drawn, [2.5, 97.5])
    return round(float(max(low - half_step, values[0])), 10), round(float(min(high + half_step, values[-1])), 10)


def fit_record(identified: Identified, variant: Variant, *, dataset: str, n_tosses: int, seed: int) -> dict[str, Any]:
    """The fit as a record for ``fits/*.json``."""
    return {
        "parameters": {"friction_mu": identified.friction_mu, "restitution_e_n": identified.restitution_e_n},
        "objective": identified.loss,
        "status": identified.status,
        "converged": identified.converged,
        "residuals": {"failed_contact_steps": identified.failed_steps},
        "iterations": identified.evaluations,
        "seconds": identified.seconds,
        "seed": seed,
        "data": {"dataset": dataset, "part": "identification", "n_tosses": n_tosses},
        "model": f"rigid box, {variant.substeps} steps per sample, start by {variant.start}, {variant.solver}",
        "reformulation": "simulation and search (eqs. 16 and 18)",
        "intervals": {
            "friction_mu": list(identified.friction_mu_interval),
            "restitution_e_n": list(identified.restitution_e_n_interval),
        },
        "restitution_flat_to": identified.restitution_flat_to,
        "friction_flat": list(identified.friction_flat),
        "variant": variant.name,
    }


def identify_dataset(
    prepared: str,
    calibration: str | None,
    dataset: str,
    variant: dict[str, Any],
    grid: dict[str, dict[str, float]],
    bootstrap: dict[str, int],
    sweep: str,
    fit: str,
) -> None:
    """Identify friction and restitution on a dataset's identification tosses; write the sweep of the grid and the fit.

    Parameters
    ----------
    variant
        Of the configuration; says how a toss starts and is stepped.
    grid
        ``start``, ``stop`` and ``step`` of both parameters.
    bootstrap
        ``samples`` and ``seed``.
    """
    chosen, seed = Variant.from_config(variant), bootstrap["seed"]
    problem = load_problem(prepared, calibration, chosen, IDENTIFICATION)
    values = Grid(**{name: grid_values(**steps) for name, steps in grid.items()})
    swept = sweep_grid(problem.body, problem.measured, values, problem.options, problem.length)
    identified = identify(
        problem.body, problem.measured, swept, problem.options, problem.length,
        refine=chosen.refine, bootstrap_samples=bootstrap["samples"], seed=seed,
    )  # fmt: skip
    write_dataset(swept, sweep)
    write_fit(fit, fit_record(identified, chosen, dataset=dataset, n_tosses=len(problem.measured), seed=seed))

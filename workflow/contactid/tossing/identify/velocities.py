"""Velocity-based identification of friction and restitution on single impacts (eqs. 16 and 17, tossing paper)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import minimize

from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.output.tables import write_csv
from contactid.sources.motion import BodyProperties, write_dataset
from contactid.tossing.identify.trajectories import FINE_REACH, FINE_STEP, Grid, grid_values, interval_of
from contactid.tossing.impacts.impact import WEIGHTS, ImpactWindow, read_impacts
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.simulate.box import SteppingOptions
from contactid.tossing.simulate.sweep import end_twists

_OUT_OF_REACH = np.array([0.0, 0.0, 1e3])  # m
_POLISH_REACH = (0.003, 0.003)  # first steps of the search from there


def simulate_windows(
    body: BodyProperties,
    windows: Sequence[ImpactWindow],
    friction_mu: np.ndarray,
    restitution_e_n: np.ndarray,
    options: SteppingOptions,
    *,
    restitution_e_t: float = 0.0,
) -> np.ndarray:
    """Simulated hybrid twists (window, pair, 6) at k_im + c."""
    if not windows:
        raise ContactIdError("no impact is left to simulate", "Look at the reasons in impacts.csv")
    return end_twists(
        body,
        [window.start for window in windows],
        [window.n_steps for window in windows],
        [window.gravity for window in windows],
        [window.impact.surface_velocity for window in windows],
        friction_mu,
        restitution_e_n,
        options,
        restitution_e_t=restitution_e_t,
    )


def velocity_losses(windows: Sequence[ImpactWindow], simulated: np.ndarray) -> np.ndarray:
    """Eq. 17 for simulated twists (window, pair, 6): (window, pair)."""
    measured = np.stack([window.end_twist for window in windows])
    return np.linalg.norm((simulated - measured[:, None, :]) * WEIGHTS, axis=-1)


def no_impact_losses(body: BodyProperties, windows: Sequence[ImpactWindow], options: SteppingOptions) -> np.ndarray:
    """Eq. 17 where the surface isn't there, so that the body falls on: (window,); what a prediction must beat."""
    lifted = [
        replace(window, start=replace(window.start, position=window.start.position + _OUT_OF_REACH))
        for window in windows
    ]
    return velocity_losses(windows, simulate_windows(body, lifted, np.zeros(1), np.zeros(1), options))[:, 0]


def sweep_velocities(
    body: BodyProperties, windows: Sequence[ImpactWindow], grid: Grid, options: SteppingOptions
) -> xr.Dataset:
    """Loss of every impact over the grid: variable ``loss`` (impact, friction_mu, restitution_e_n)."""
    losses = velocity_losses(windows, simulate_windows(body, windows, *grid.pairs(), options))
    shape = (len(windows), len(grid.friction_mu), len(grid.restitution_e_n))
    return xr.Dataset(
        {"loss": (("impact", "friction_mu", "restitution_e_n"), losses.reshape(shape), {"units": "m/s"})},
        coords={
            "impact": [f"{window.impact.toss}:{window.impact.sample}" for window in windows],
            "friction_mu": grid.friction_mu,
            "restitution_e_n": grid.restitution_e_n,
        },
    )


@dataclass(frozen=True)
class VelocityFit:
    """Optimum of eq. 16 over impacts.

    Attributes
    ----------
    friction_mu, restitution_e_n, loss : the optimum and the mean loss there, m/s
    friction_mu_interval, restitution_e_n_interval : 95 % percentile bootstrap over tosses (impacts of a toss together)
    friction_flat_from : smallest mu from which the mean loss stays within 1 % of its value at the largest mu: all
        impacts stick there (inf where it never does)
    best_per_impact : mean over impacts of the smallest loss on the grid
    no_impact : mean loss without any contact
    converged, status, evaluations, seconds : of the search
    """

    friction_mu: float
    restitution_e_n: float
    loss: float
    friction_mu_interval: tuple[float, float]
    restitution_e_n_interval: tuple[float, float]
    friction_flat_from: float
    best_per_impact: float
    no_impact: float
    converged: bool
    status: str
    evaluations: int
    seconds: float


def identify_velocities(
    body: BodyProperties,
    windows: Sequence[ImpactWindow],
    swept: xr.Dataset,
    options: SteppingOptions,
    *,
    refine: bool,
    bootstrap_samples: int,
    seed: int,
) -> VelocityFit:
    """Find the minimum of eq. 16 on the grid, as the paper does, and refine it where asked."""
    begin = time.perf_counter()
    mean, finest = swept["loss"].mean("impact"), swept
    mu, e_n = _best_of(mean)
    loss, status, converged, evaluations = float(mean.min()), "best point of the grid", True, mean.size
    if refine:
        around = Grid(_around(mu, np.inf), _around(e_n, 1.0))
        finest = sweep_velocities(body, windows, around, options)
        mu, e_n = _best_of(finest["loss"].mean("impact"))
        evaluations += finest["loss"][0].size

        def objective(point: np.ndarray) -> float:
            simulated = simulate_windows(body, windows, point[:1], point[1:], options)
            return float(velocity_losses(windows, simulated).mean())

        start = np.array([mu, e_n])
        inward = np.array([1.0, 1.0 if e_n < 0.5 else -1.0]) * _POLISH_REACH
        search = minimize(
            objective,
            start,
            method="Nelder-Mead",
            bounds=[(0.0, None), (0.0, 1.0)],
            options={
                "initial_simplex": start + np.array([[0.0, 0.0], [inward[0], 0.0], [0.0, inward[1]]]),
                "xatol": 1e-4,
                "fatol": 1e-7,
                "maxfev": 400,
            },
        )
        (mu, e_n), loss = map(float, search.x), float(search.fun)
        status, converged, evaluations = str(search.message), bool(search.success), evaluations + int(search.nfev)
    intervals = _bootstrap(finest, [window.impact.toss for window in windows], bootstrap_samples, seed)
    along = mean.sel(restitution_e_n=e_n, method="nearest")
    flat = np.abs(along.values / along.values[-1] - 1.0) <= 0.01
    first_flat = len(flat) - int(np.argmin(flat[::-1])) if not flat.all() else 0
    mus = along["friction_mu"].values
    return VelocityFit(
        friction_mu=mu,
        restitution_e_n=e_n,
        loss=loss,
        friction_mu_interval=intervals[0],
        restitution_e_n_interval=intervals[1],
        friction_flat_from=float(mus[first_flat]) if first_flat < len(mus) - 1 else float("inf"),
        best_per_impact=float(swept["loss"].min(["friction_mu", "restitution_e_n"]).mean()),
        no_impact=float(no_impact_losses(body, windows, options).mean()),
        converged=converged,
        status=status,
        evaluations=evaluations,
        seconds=time.perf_counter() - begin,
    )


def _around(value: float, largest: float) -> np.ndarray:
    """Values near an optimum of the coarse grid, within the parameter's bounds."""
    low, high = max(value - FINE_REACH, 0.0), min(value + FINE_REACH, largest)
    return grid_values(round(low, 10), round(high, 10), FINE_STEP)


def _best_of(mean: xr.DataArray) -> tuple[float, float]:
    i, j = np.unravel_index(int(mean.values.argmin()), mean.shape)
    return float(mean["friction_mu"][i]), float(mean["restitution_e_n"][j])


def _bootstrap(
    swept: xr.Dataset, tosses: Sequence[str], samples: int, seed: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """95 % percentile intervals of the best point, resampling tosses, half a grid step wider."""
    names, index = np.unique(np.array(tosses), return_inverse=True)
    loss = swept["loss"].values
    summed = np.zeros((len(names), *loss.shape[1:]))
    np.add.at(summed, index, loss)
    counts = np.bincount(index, minlength=len(names)).astype(float)
    draws = np.random.default_rng(seed).multinomial(len(names), np.full(len(names), 1.0 / len(names)), size=samples)
    mean = np.tensordot(draws, summed, 1) / (draws @ counts)[:, None, None]
    best = np.unravel_index(mean.reshape(samples, -1).argmin(axis=1), loss.shape[1:])
    low_high = [
        interval_of(swept[name].values, swept[name].values[index])
        for name, index in zip(("friction_mu", "restitution_e_n"), best, strict=True)
    ]
    return low_high[0], low_high[1]


def loss_table(
    body: BodyProperties, windows: Sequence[ImpactWindow], fit: VelocityFit, options: SteppingOptions
) -> pd.DataFrame:
    """Eq. 17 of every impact, test impacts included, at the identified parameters (m/s), beside that of no contact."""
    found = np.array([fit.friction_mu]), np.array([fit.restitution_e_n])
    losses = velocity_losses(windows, simulate_windows(body, windows, *found, options))[:, 0]
    return pd.DataFrame(
        {
            "toss": [window.impact.toss for window in windows],
            "sample": [window.impact.sample for window in windows],
            "vertex": [window.impact.vertex + 1 for window in windows],
            "split": [window.split for window in windows],
            "loss": losses,
            "loss_without_contact": no_impact_losses(body, windows, options),
        }
    )


def velocity_fit_record(
    fit: VelocityFit, variant: Mapping[str, Any], windows: Sequence[ImpactWindow], *, dataset: str, seed: int
) -> dict[str, Any]:
    """The fit as a record for ``fits/*.json``; ``variant`` is the configuration's block, ``windows`` what was used."""
    n_tosses = len({window.impact.toss for window in windows})
    return {
        "parameters": {"friction_mu": fit.friction_mu, "restitution_e_n": fit.restitution_e_n},
        "objective": fit.loss,
        "status": fit.status,
        "converged": fit.converged,
        "residuals": {},
        "iterations": fit.evaluations,
        "seconds": fit.seconds,
        "seed": seed,
        "data": {"dataset": dataset, "part": "identification", "n_impacts": len(windows), "n_tosses": n_tosses},
        "model": f"rigid box in a window round each impact, {variant['substeps']} steps per sample",
        "reformulation": "simulation and search (eqs. 16 and 17)",
        "intervals": {
            "friction_mu": list(fit.friction_mu_interval),
            "restitution_e_n": list(fit.restitution_e_n_interval),
        },
        "friction_flat_from": fit.friction_flat_from if np.isfinite(fit.friction_flat_from) else None,
        "best_per_impact": fit.best_per_impact,
        "no_impact": fit.no_impact,
        "variant": variant["name"],
    }


def identify_on_impacts(
    impacts: str,
    dataset: str,
    variant: dict[str, Any],
    grid: dict[str, dict[str, float]],
    bootstrap: dict[str, int],
    sweep: str,
    fit: str,
    losses: str,
) -> None:
    """Identify friction and restitution on a file of impacts; write the sweep, the fit and every impact's loss.

    The parameters are identified on the identification part; the losses are those of all impacts.
    """
    body, windows, options = read_impacts(impacts, substeps=variant["substeps"])
    known = [window for window in windows if window.split == IDENTIFICATION]
    swept = sweep_velocities(body, known, Grid(**{name: grid_values(**grid[name]) for name in grid}), options)
    found = identify_velocities(
        body, known, swept, options, refine=variant["refine"], bootstrap_samples=bootstrap["samples"],
        seed=bootstrap["seed"],
    )  # fmt: skip
    write_dataset(swept, sweep)
    write_fit(fit, velocity_fit_record(found, variant, known, dataset=dataset, seed=bootstrap["seed"]))
    write_csv(loss_table(body, windows, found, options), losses)

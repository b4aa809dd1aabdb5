"""Velocity-based identification of friction and restitution on single impacts (eqs. 16 and 17,
tossing paper).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import Bounds, minimize

from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.output.tables import write_csv
from contactid.sources.motion import BodyProperties, write_dataset
from contactid.tossing.identify.trajectories import Grid, Search, best_point
from contactid.tossing.impacts.impact import WEIGHTS, ImpactWindow, read_impacts
from contactid.tossing.prepare.metrics import mean_loss
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.simulate.box import SteppingOptions
from contactid.tossing.simulate.sweep import end_twists

# so high that no window comes down to the surface
_OUT_OF_REACH = np.array([0.0, 0.0, 1e3])  # m
# of mu and e_N, which impacts tell alike. Half a step is what intervals are widened by: twins whose
# own law is identified are off by up to .002 in e_N, whatever the noise
_FINE_STEPS = (0.005, 0.005)
# of mu and e_N: a grid that ends there leaves nothing out
_BOUNDS = ((0.0, np.inf), (0.0, 1.0))


def simulate_windows(
    body: BodyProperties,
    windows: Sequence[ImpactWindow],
    friction_mu: np.ndarray,
    restitution_e_n: np.ndarray,
    options: SteppingOptions,
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
    )


def velocity_losses(windows: Sequence[ImpactWindow], simulated: np.ndarray) -> np.ndarray:
    """Eq. 17 for simulated twists (window, pair, 6): (window, pair)."""
    measured = np.stack([window.end_twist for window in windows])
    return np.linalg.norm((simulated - measured[:, None, :]) * WEIGHTS, axis=-1)


def no_impact_losses(
    body: BodyProperties, windows: Sequence[ImpactWindow], options: SteppingOptions
) -> np.ndarray:
    """Eq. 17 where the surface isn't there, so that the body falls on: (window,); what a prediction
    must beat.
    """
    lifted = [
        replace(window, start=replace(window.start, position=window.start.position + _OUT_OF_REACH))
        for window in windows
    ]
    return velocity_losses(
        windows, simulate_windows(body, lifted, np.zeros(1), np.zeros(1), options)
    )[:, 0]


def sweep_velocities(
    body: BodyProperties, windows: Sequence[ImpactWindow], grid: Grid, options: SteppingOptions
) -> xr.Dataset:
    """Loss of every impact over the grid: variable ``loss`` (impact, friction_mu, restitution_e_n)."""
    losses = velocity_losses(windows, simulate_windows(body, windows, *grid.pairs(), options))
    shape = (len(windows), len(grid.friction_mu), len(grid.restitution_e_n))
    return xr.Dataset(
        {
            "loss": (
                ("impact", "friction_mu", "restitution_e_n"),
                losses.reshape(shape),
                {"units": "m/s"},
            )
        },
        coords={
            "impact": [f"{window.impact.toss}:{window.impact.sample}" for window in windows],
            "friction_mu": grid.friction_mu,
            "restitution_e_n": grid.restitution_e_n,
        },
    )


def identify_velocities(
    body: BodyProperties,
    windows: Sequence[ImpactWindow],
    swept: xr.Dataset,
    options: SteppingOptions,
    variant: Mapping[str, Any],
    *,
    dataset: str,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """Find the minimum of eq. 16 on the grid, as the paper does, and refine it where the variant
    asks for it.

    Returns the record for ``fits/*.json``. ``objective`` is the mean loss at the optimum, m/s.
    ``converged``: no end of the searched grid holds the optimum; ``resampled_at_end`` is the share
    of resampled optima that lie there.
    ``intervals``: 95 % percentile bootstrap with ``samples`` over tosses (impacts of a toss
    together). ``friction_flat_from``: smallest mu from which the mean loss stays within 1 % of its
    value at the largest mu, as all impacts stick there (none where it never does).
    ``best_per_impact``: mean over impacts of the smallest loss on the grid. ``no_impact``: mean
    loss without any contact.
    """
    begin = time.perf_counter()
    tosses = [window.impact.toss for window in windows]
    if variant["refine"]:

        def swept_on(grid: Grid) -> xr.Dataset:
            return sweep_velocities(body, windows, grid, options)

        def loss(point: np.ndarray) -> float:
            simulated = simulate_windows(body, windows, point[:1], point[1:], options)
            return float(velocity_losses(windows, simulated).mean())

        search = _at_optimum(
            Search.about(swept, swept_on, samples, seed, steps=_FINE_STEPS, tosses=tosses), loss
        )
    else:
        search = Search.on_grid(swept, samples, seed, tosses)
    mu, e_n = (np.array([value]) for value in search.parameters.values())
    losses = velocity_losses(windows, simulate_windows(body, windows, mu, e_n, options))
    at_end = _at_end(search, np.array([[*mu, *e_n], *search.draws]))
    # (mu,) at the best e_N
    along = mean_loss(swept).sel(restitution_e_n=e_n[0], method="nearest")
    flat = np.abs(along.values / along.values[-1] - 1.0) <= 0.01
    # one behind the last mu that isn't flat, counted from the right
    first_flat = len(flat) - int(np.argmin(flat[::-1])) if not flat.all() else 0
    mus = along["friction_mu"].values
    no_impact = float(no_impact_losses(body, windows, options).mean())
    return {
        "parameters": search.parameters,
        "objective": float(losses.mean()),
        "status": search.status,
        "converged": not at_end[0],
        "residuals": {"resampled_at_end": float(at_end[1:].mean())},
        "iterations": search.evaluations,
        "seconds": time.perf_counter() - begin,
        "seed": seed,
        "data": {
            "dataset": dataset,
            "part": "identification",
            "n_impacts": len(windows),
            "n_tosses": len(set(tosses)),
        },
        "model": f"rigid box in a window round each impact, {options.law} impacts, "
        f"{variant['substeps']} steps per sample",
        "reformulation": "simulation and search (eqs. 16 and 17)",
        "intervals": search.intervals,
        "friction_flat_from": float(mus[first_flat]) if first_flat < len(mus) - 1 else None,
        "best_per_impact": float(swept["loss"].min(["friction_mu", "restitution_e_n"]).mean()),
        "no_impact": no_impact,
        "variant": variant["name"],
    }


def _at_optimum(search: Search, loss: Callable[[np.ndarray], float]) -> Search:
    """A search on a grid with the very optimum of the mean ``loss``, about which resampled optima
    lie as they do about the grid's best point.

    Single impacts don't branch, so their loss is smooth. The mean of resampled optima is no answer:
    of few impacts hardly any slides, and resamplings without one tell no friction.
    """
    names = list(search.parameters)
    within = Bounds(*np.transpose([search.swept[name].values[[0, -1]] for name in names]))
    best = np.array(best_point(mean_loss(search.swept))[:2])
    # to a fiftieth of the grid's step and a millionth of the loss
    found = minimize(
        loss, best, method="Nelder-Mead", bounds=within, options={"xatol": 1e-4, "fatol": 1e-7}
    )
    return replace(
        search,
        draws=search.draws + (found.x - best),
        parameters=dict(zip(names, map(float, found.x), strict=True)),
        status=str(found.message),
        evaluations=search.evaluations + int(found.nfev),
    )


def _at_end(search: Search, points: np.ndarray) -> np.ndarray:
    """Which points (n, 2) lie within half a step of an end of the search's grid beyond which there
    are values: (n,).
    """
    at_end = np.zeros(len(points), dtype=bool)
    for name, drawn, bounds in zip(search.parameters, points.T, _BOUNDS, strict=True):
        values = search.swept[name].values
        for end, bound in zip(values[[0, -1]], bounds, strict=True):
            if not np.isclose(end, bound):
                at_end |= np.abs(drawn - end) < 0.5 * (values[1] - values[0])
    return at_end


def loss_table(
    body: BodyProperties,
    windows: Sequence[ImpactWindow],
    parameters: Mapping[str, float],
    options: SteppingOptions,
) -> pd.DataFrame:
    """Eq. 17 of every impact, test impacts included, at the identified parameters (m/s), beside
    that of no contact.
    """
    found = np.array([parameters["friction_mu"]]), np.array([parameters["restitution_e_n"]])
    losses = velocity_losses(windows, simulate_windows(body, windows, *found, options))[:, 0]
    return pd.DataFrame(
        {
            "toss": [window.impact.toss for window in windows],
            "sample": [window.impact.sample for window in windows],
            # p_1 to p_8, as the paper counts
            "vertex": [window.impact.vertex + 1 for window in windows],
            "split": [window.split for window in windows],
            "loss": losses,
            "loss_without_contact": no_impact_losses(body, windows, options),
        }
    )


def identify_on_impacts(
    impacts: str,
    dataset: str,
    variant: dict[str, Any],
    law: str,
    grid: dict[str, dict[str, float]],
    bootstrap: dict[str, int],
    sweep: str,
    fit: str,
    losses: str,
) -> None:
    """Identify friction and restitution on a file of impacts; write the sweep, the fit and every
    impact's loss.

    The parameters are identified on the identification part; the losses are those of all impacts.
    ``law`` is that of the trajectory variant that predicts with them.
    """
    body, windows, options = read_impacts(impacts, substeps=variant["substeps"])
    options = replace(options, law=law)
    known = [window for window in windows if window.split == IDENTIFICATION]
    swept = sweep_velocities(body, known, Grid.of(grid), options)
    record = identify_velocities(body, known, swept, options, variant, dataset=dataset, **bootstrap)
    write_dataset(swept, sweep)
    write_fit(fit, record)
    write_csv(loss_table(body, windows, record["parameters"], options), losses)

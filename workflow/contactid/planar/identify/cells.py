"""Identify noisy synthetic throws, cell by cell of table 1: friction, frame rate, noise, seed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from contactid.core.complementarity import Continuation, Reformulation
from contactid.output.tables import write_csv
from contactid.planar.identify.fit import (
    CONTACT_SEQUENCE,
    RECOMMENDED,
    FitOptions,
    TrajectoryFit,
    fit_trajectories,
    stored,
)
from contactid.planar.identify.states import StoredFit, write_fits
from contactid.planar.simulate.throws import body_and_ground, measured_throw, noise_of, true_motion, truth_of


def fit_options(block: Mapping[str, Any], continuations: Sequence[Continuation] = RECOMMENDED) -> FitOptions:
    """Identification as the configuration asks for it."""
    gravity = float(block["gravity"])
    plain = FitOptions()
    return replace(
        plain,
        longest_step=float(block["identification"]["longest_step"]),
        continuations=tuple(continuations),
        model=replace(plain.model, gravity=gravity),
        shooting=replace(plain.shooting, gravity=gravity, seed=int(block["identification"]["seed"])),
    )


def identify_cells(
    block: Mapping[str, Any],
    *,
    noise: str,
    friction_mu: float,
    frames_per_second: Sequence[float],
    seeds: Sequence[int],
    options: FitOptions | None = None,
) -> pd.DataFrame:
    """A row per frame rate and seed; errors are relative to the truth, in %."""
    options = options or fit_options(block)
    (body, ground), sigma = body_and_ground(block), noise_of(block, noise)
    motion, truth = true_motion(block, friction_mu), body.inertia / body.mass
    rows = []
    for rate, seed in itertools.product(frames_per_second, seeds):
        throw = measured_throw(
            motion,
            ground,
            duration=float(block["identification"]["duration"]),
            frames_per_second=float(rate),
            sigma=sigma,
            seed=seed,
        )
        fit = fit_trajectories(body.shape, [throw], options)
        cell = {"noise_model": noise, "mu": friction_mu, "fps": float(rate), "seed": seed}
        rows.append(cell | fit_record(fit) | {"error_pct": 100.0 * (fit.inertia_ratio / truth - 1.0)})
    return pd.DataFrame(rows)


def fit_record(fit: TrajectoryFit) -> dict[str, Any]:
    """What a table keeps of an identification; lengths in mm."""
    return {
        "converged": fit.converged,
        "plausible": fit.plausible,
        "inertia_ratio_mm2": 1e6 * fit.inertia_ratio,
        "inertia_ratio_se_mm2": 1e6 * fit.inertia_ratio_se,
        "ratio_is_limit": fit.ratio_is_limit,
        "friction_mu": fit.friction_mu,
        "friction_mu_se": fit.friction_mu_se,
        "friction_is_bound": fit.friction_is_bound,
        "misfit": fit.misfit,
        "degrees": fit.degrees,
        "complementarity": fit.complementarity,
        "reformulation": fit.method,
        "accepted": fit.accepted,
        "tries": fit.tries,
        "iterations": fit.iterations,
        "seconds": fit.seconds,
        "build_seconds": fit.build_seconds,
    }


def shown_fits(block: Mapping[str, Any]) -> list[StoredFit]:
    """The throws of figures 17 and 18, with states and impulses."""
    options = block["identification"]
    shown = options["shown"]
    body, ground = body_and_ground(block)
    motion = true_motion(block, float(shown["friction_mu"]))
    noise = next(iter(options["noise"]))
    fits = []
    for rate in shown["frames_per_second"]:
        throw = measured_throw(
            motion,
            ground,
            duration=float(options["duration"]),
            frames_per_second=float(rate),
            sigma=noise_of(block, noise),
            seed=int(shown["seed"]),
        )
        fit = fit_trajectories(body.shape, [throw], fit_options(block))
        truth = truth_of(motion, body.mass, float(options["duration"]))
        fits.append(stored(f"{rate:g} frames/s", body.shape, throw, fit, truth=truth, mass=body.mass))
    return fits


def only_by(block: Mapping[str, Any], method: str) -> FitOptions:
    """A single try by one method: the start's contact sequence, or a reformulation with our stages or its customary."""
    if method == CONTACT_SEQUENCE:
        return replace(fit_options(block, ()), sequences=1)
    ours = RECOMMENDED[0]
    other = Continuation(Reformulation(method), tolerance=ours.tolerance)
    way = ours if other.reformulation is ours.reformulation else other
    return replace(fit_options(block, (way,)), sequences=0, tries=1)


def compare_reformulation(block: Mapping[str, Any], method: str) -> pd.DataFrame:
    """A method on the cells that the configuration names: a single try each, from the same starts."""
    options = block["identification"]["reformulations"]
    noise = next(iter(block["identification"]["noise"]))
    once = only_by(block, method)
    tables = [
        identify_cells(
            block,
            noise=noise,
            friction_mu=float(mu),
            frames_per_second=options["frames_per_second"],
            seeds=range(1, int(options["seeds"]) + 1),
            options=once,
        )
        for mu in options["friction_mu"]
    ]
    table = pd.concat(tables, ignore_index=True)
    table["reformulation"] = method
    return table


def write_cells(block: Mapping[str, Any], friction: str, seeds: Sequence[int], table: str) -> None:
    """Identify one friction under the block's noise at every frame rate, and write a row per rate and seed."""
    options = block["identification"]
    rates, noise = options["frames_per_second"], next(iter(options["noise"]))
    write_csv(
        identify_cells(block, noise=noise, friction_mu=float(friction), frames_per_second=rates, seeds=seeds), table
    )


def write_shown(block: Mapping[str, Any], fits: str) -> None:
    """Identify the throws of figures 17 and 18, and write their states and impulses."""
    write_fits(shown_fits(block), fits)


def write_reformulation(block: Mapping[str, Any], reformulation: str, table: str) -> None:
    """Identify the cells that all reformulations are compared on by one of them, and write a row each."""
    write_csv(compare_reformulation(block, reformulation), table)

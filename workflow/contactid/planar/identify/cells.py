"""Identify noisy synthetic throws, cell by cell of table 1: friction, frame rate, noise, seed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.tables import write_csv
from contactid.planar.identify.fit import (
    FitOptions,
    TrajectoryFit,
    fit_trajectory,
    stored,
)
from contactid.planar.identify.one_restitution import one_restitution_ratio
from contactid.planar.identify.states import write_fits
from contactid.planar.simulate.hard_truths import hard_throw
from contactid.planar.simulate.rig import rig_throw
from contactid.planar.simulate.throws import (
    Truth,
    body_and_ground,
    measured_throw,
    noise_of,
    true_motion,
    truth_of,
)

_OF_A_FIT = (
    "ratio_is_limit", "friction_mu", "friction_mu_se", "friction_is_bound", "misfit", "degrees", "complementarity",
    "solved_roughly",
)  # fmt: skip
_PATH_INTERVAL = 0.01  # s: as fine as figure 17 shows
_OF_A_SOLVE = ("accepted", "tries", "iterations", "seconds", "build_seconds")


def fit_options(block: Mapping[str, Any], **others: Any) -> FitOptions:
    """Identification as the configuration asks for it."""
    options = block["identification"]
    return FitOptions(
        gravity=float(block["gravity"]), longest_step=float(options["longest_step"]), **others
    )


def identify_cells(
    block: Mapping[str, Any],
    friction_mu: float,
    frames_per_second: Sequence[float],
    seeds: Sequence[int],
    options: FitOptions | None = None,
) -> pd.DataFrame:
    """A row per frame rate and seed, under the block's first noise; errors are relative to the
    truth, in %.
    """
    options, noise = options or fit_options(block), next(iter(block["identification"]["noise"]))
    (body, ground), sigma = body_and_ground(block), noise_of(block, noise)
    motion, truth = true_motion(block, friction_mu), body.inertia / body.mass
    duration = float(block["identification"]["duration"])
    rows = []
    for rate, seed in itertools.product(frames_per_second, seeds):
        throw = measured_throw(
            motion, ground, duration=duration, frames_per_second=float(rate), sigma=sigma, seed=seed
        )
        fit = fit_trajectory(body.shape, throw, options)
        cell = {"noise_model": noise, "mu": friction_mu, "fps": float(rate), "seed": seed}
        rows.append(
            cell | fit_record(fit) | {"error_pct": 100.0 * (fit.inertia_ratio / truth - 1.0)}
        )
    return pd.DataFrame(rows)


def fit_record(fit: TrajectoryFit) -> dict[str, Any]:
    """What a table keeps of an identification; lengths in mm."""
    return {
        "converged": fit.converged,
        "plausible": fit.plausible,
        "inertia_ratio_mm2": 1e6 * fit.inertia_ratio,
        "inertia_ratio_se_mm2": 1e6 * fit.inertia_ratio_se,
        "start_ratio_mm2": 1e6 * fit.start_ratio,
        **{name: getattr(fit, name) for name in _OF_A_FIT},
        "reformulation": fit.method,
        **{name: getattr(fit, name) for name in _OF_A_SOLVE},
    }


def write_cells(
    block: Mapping[str, Any], frictions: Sequence[float], seeds: Sequence[int], table: str
) -> None:
    """Identify throws under the block's noise at every frame rate, and write a row per friction,
    rate and seed.

    Frictions that give one motion give the same throws, so these are identified once.
    """
    identified: list[tuple[np.ndarray, pd.DataFrame]] = []
    tables = []
    for friction in frictions:
        positions = true_motion(block, friction).position
        # the very same states: friction beyond what rolling needs changes nothing
        cells = next(
            (cells for other, cells in identified if np.array_equal(other, positions)), None
        )
        if cells is None:
            cells = identify_cells(
                block, friction, block["identification"]["frames_per_second"], seeds
            )
            identified.append((positions, cells))
        tables.append(cells.assign(mu=friction))
    write_csv(pd.concat(tables, ignore_index=True), table)


def identify_hard_truth(block: Mapping[str, Any], truth: str, seeds: Sequence[int]) -> pd.DataFrame:
    """A row per seed of a hard truth (:mod:`contactid.planar.simulate.hard_truths`); errors are in
    % of it.

    Beside the answer are the best start, what comes of following that start's contact sequence and
    no more, and the motion that has one restitution for all impacts.
    """
    # the best start's own sequence, with no other try
    alone = fit_options(block, continuations=(), sequences=1)
    rows = []
    for seed in seeds:
        body, throw = hard_throw(block, truth, seed)
        fit = fit_trajectory(body.shape, throw, fit_options(block))
        followed = fit_trajectory(body.shape, throw, alone)
        ratio = body.inertia / body.mass
        gravity = float(block["gravity"])
        estimates = {
            "one_restitution": one_restitution_ratio(body.shape, throw, gravity),
            "start": followed.start_ratio,
            "sequence": followed.inertia_ratio,
            "": fit.inertia_ratio,
        }
        rows.append(
            {"truth": truth, "seed": seed, "true_ratio_mm2": 1e6 * ratio}
            | fit_record(fit)
            | {"sequence_plausible": followed.converged and followed.plausible}
            | {
                f"{of}_error_pct".lstrip("_"): 100.0 * (estimate / ratio - 1.0)
                for of, estimate in estimates.items()
            }
        )
    return pd.DataFrame(rows)


def write_hard_truth(block: Mapping[str, Any], truth: str, seeds: int, table: str) -> None:
    """Identify as many throws with one of the hard truths, each with noise of its own, and write a
    row for each.
    """
    write_csv(identify_hard_truth(block, truth, range(1, seeds + 1)), table)


def write_shown(block: Mapping[str, Any], fits: str, table: str, paths: str) -> None:
    """Identify the throws of figures 17 and 18; write their states and impulses, and a row each as
    table 1 has them.

    ``paths`` is how far the identified centre is from the simulated one, for as many noise samples
    as figure 17 shows.
    """
    options = block["identification"]
    shown, duration = options["shown"], float(options["duration"])
    noise, friction = next(iter(options["noise"])), float(shown["friction_mu"])
    body, ground = body_and_ground(block)
    motion, sigma = true_motion(block, friction), noise_of(block, noise)
    truth, first = truth_of(motion, body.mass, duration), int(shown["seed"])
    shown_fits, rows, distances = [], [], []
    # figure 17 shows paths of many samples; states are kept of the first one alone
    for seed in range(first, first + int(shown["path_seeds"])):
        for rate in map(float, shown["frames_per_second"]):
            throw = measured_throw(
                motion, ground, duration=duration, frames_per_second=rate, sigma=sigma, seed=seed
            )
            fit = fit_trajectory(body.shape, throw, fit_options(block))
            cell = {"noise_model": noise, "mu": friction, "fps": rate, "seed": seed}
            distances.append(_path_distance(fit, truth).assign(**cell))
            if seed > first:
                continue
            label = f"{rate:g} frames/s"
            shown_fits.append(stored(label, body.shape, throw, fit, truth=truth, mass=body.mass))
            error_pct = 100.0 * (fit.inertia_ratio * body.mass / body.inertia - 1.0)
            rows.append(cell | fit_record(fit) | {"error_pct": error_pct})
    write_fits(shown_fits, fits)
    write_csv(pd.DataFrame(rows), table)
    write_csv(pd.concat(distances, ignore_index=True), paths)


def _path_distance(fit: TrajectoryFit, truth: Truth) -> pd.DataFrame:
    """How far the identified centre of one throw is from the simulated one, every 10 ms."""
    states = fit.states
    # the same times for all samples, so that quantiles can be taken
    time = np.arange(0.0, float(states.time[-1]) + 1e-9, _PATH_INTERVAL)
    offset = [
        np.interp(time, states.time, states.position[:, i])
        - np.interp(time, truth.time, truth.position[:, i])
        for i in (0, 1)
    ]
    return pd.DataFrame(
        {"time_ms": np.round(1e3 * time, 6), "distance_mm": 1e3 * np.hypot(*offset)}
    )


def write_rig_twin(block: Mapping[str, Any], fits: str) -> None:
    """Identify the twin of the throw in figures 22 and 23, and write its states and impulses."""
    body, motion, throw = rig_throw(block, seed=1)
    fit = fit_trajectory(body.shape, throw, fit_options(block))
    truth = truth_of(motion, body.mass, float(throw.time[-1]))
    label = "Simulated twin on the paper's rig"
    write_fits([stored(label, body.shape, throw, fit, truth=truth, mass=body.mass)], fits)

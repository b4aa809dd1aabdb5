"""Identify from single windows, and combine their answers (:mod:`contactid.tossing.models.windows` has the model).

Windows share nothing but mu and e_N, so one alone is a small problem with its own answer, and a window whose measured
contacts contradict each other spoils no other. Answers are combined by a weighted mean. The scheme's error differs
widely from window to window (a corner that lands between two instants), and a window's own misfit shows how large it
is: the variance of its answer grows with its mean squared residual ``s^2``, and that of mu falls with the number of
contacts that slide. So the weights are ``1 / max(s^2, a quarter of the median)``, for mu times the sliding contacts.
Intervals come from the scatter between windows, with Student's quantile for their effective number.

The intervals hold what differs between windows, not what the scheme does to all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from contactid.core.complementarity import Continuation, MpecSolution, attach, solve_mpec
from contactid.core.errors import ContactIdError
from contactid.core.solve import SolverOptions
from contactid.output.fits import write_fit
from contactid.sources.motion import BodyProperties
from contactid.tossing.configuration import WINDOW_SCHEME
from contactid.tossing.models.impact_uncertainty import interval
from contactid.tossing.models.windows import Window, WindowOptions, build_window_model, cut_windows, options_for
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.prepare.tosses import Variant, load_problem
from contactid.tossing.simulate.box import SteppingOptions
from contactid.tossing.simulate.sweep import MeasuredToss

# a penalty that grows further than for single impacts: contradictions between contacts resist longer
WINDOW_CONTINUATION = Continuation(stages=(1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6), tolerance=1e-5)
_WINDOW_SOLVER = SolverOptions(max_iterations=300)


@dataclass(frozen=True)
class Group:
    """One window's answer.

    Attributes
    ----------
    toss : its recording
    mu, e_n : identified
    mean_square : of the standardised residuals
    sliding : contacts that carry load and slide, counted over steps
    solution : of the continuation
    """

    toss: str
    mu: float
    e_n: float
    mean_square: float
    sliding: int
    solution: MpecSolution


def fit_windows(
    body: BodyProperties,
    windows: Sequence[Window],
    time_step: float,
    gravity: Sequence[float],
    options: WindowOptions,
    *,
    start: tuple[float, float] = (0.3, 0.3),
) -> list[Group]:
    """Solve window by window, in the order given.

    Parameters
    ----------
    time_step
        s of a step (samples' distance over substeps).
    start
        mu and e_N at which every solve starts.

    Raises
    ------
    ContactIdError
        Without windows.
    """
    if not windows:
        raise ContactIdError("there is no window to identify from", "Take longer tosses or a shorter window")
    groups = []
    for window in windows:
        built = build_window_model(body, [window], time_step, gravity, options)
        built.start_at(*start)
        pairs = attach(built.model, built.pairs, WINDOW_CONTINUATION.reformulation)
        solution = solve_mpec(pairs, WINDOW_CONTINUATION, _WINDOW_SOLVER)
        mean_square = 2.0 * solution.objective / (6 * int(window.measured.sum()))
        groups.append(Group(window.toss, *built.parameters, mean_square, built.sliding(), solution))
    return groups


def combine(groups: Sequence[Group], options: WindowOptions, *, dataset: str, seed: int) -> dict[str, Any]:
    """Weighted means over the converged groups, with intervals from their scatter.

    Returns
    -------
    The record that :func:`contactid.output.fits.write_fit` takes. ``friction_identified``: at least two groups slide,
    and the interval of mu is narrower than mu itself.

    Raises
    ------
    ContactIdError
        Where no group converged with a small complementarity residual.
    """
    good = [group for group in groups if group.solution.converged]
    if not good:
        raise ContactIdError(f"none of {len(groups)} groups of windows converged", "Look at the solver's logs")
    square = np.array([group.mean_square for group in good])
    trust = 1.0 / np.maximum(square, 0.25 * float(np.median(square)) + np.finfo(float).tiny)
    sliding = np.array([group.sliding for group in good], dtype=float)
    mu, mu_interval = _weighted(
        np.array([group.mu for group in good]), trust * sliding if sliding.any() else trust, options.largest_mu
    )
    e_n, e_n_interval = _weighted(np.array([group.e_n for group in good]), trust, 1.0)
    narrow = mu_interval[1] - mu_interval[0] < mu
    identified = bool(np.count_nonzero(sliding) >= 2 and narrow)
    solutions = [group.solution for group in groups]
    return {
        "parameters": {"friction_mu": mu, "restitution_e_n": e_n},
        "objective": sum(group.solution.objective for group in good),
        "status": f"{len(good)} of {len(groups)} groups converged",
        "converged": len(good) == len(groups),
        "residuals": {
            "complementarity": max(group.solution.residual for group in good),
            "primal_infeasibility": max(group.solution.last.primal_infeasibility for group in good),
            "dual_infeasibility": max(group.solution.last.dual_infeasibility for group in good),
        },
        "iterations": sum(solution.iterations for solution in solutions),
        "seconds": sum(solution.seconds for solution in solutions),
        "seed": seed,
        "data": {"dataset": dataset, "part": IDENTIFICATION, "n_tosses": len(groups)},
        "model": f"windows of {options.before} + {options.after} samples, {options.substeps} steps per sample",
        "reformulation": f"{WINDOW_CONTINUATION.reformulation.value}, settled",
        "intervals": {"friction_mu": list(mu_interval), "restitution_e_n": list(e_n_interval)},
        "interval_kind": "scatter between groups",
        "friction_identified": identified,
        "route": solutions[0].last.route,
        "solver": solutions[0].last.solver,
        "groups": [
            {
                "tosses": [group.toss],
                "mu": group.mu,
                "e_n": group.e_n,
                "mean_square": group.mean_square,
                "sliding": group.sliding,
                "residual": group.solution.residual,
                "status": group.solution.last.status,
                "converged": group.solution.converged,
            }
            for group in groups
        ],
        "variant": WINDOW_SCHEME,
    }


def _weighted(values: np.ndarray, weights: np.ndarray, highest: float) -> tuple[float, tuple[float, float]]:
    """Weighted mean and its 95 % interval."""
    share = weights / weights.sum()
    mean = float(share @ values)
    n = int(np.count_nonzero(share))
    if n < 2:
        return mean, (0.0, highest)
    effective = float(1.0 / (share @ share))
    error = float(np.sqrt((share**2) @ (values - mean) ** 2 * n / (n - 1)))
    return mean, interval(mean, error, max(effective - 1.0, 1.0), 0.0, highest)


def identify_from_windows(
    body: BodyProperties,
    tosses: Sequence[MeasuredToss],
    stepping: SteppingOptions,
    options: WindowOptions,
    *,
    dataset: str,
    largest_number: int,
    seed: int,
) -> dict[str, Any]:
    """Identify mu and e_N from the windows of at most ``largest_number`` tosses, drawn with ``seed``.

    Of ``stepping`` the time between samples and gravity are taken; its substeps are the simulator's, not the windows'.
    """
    windows = cut_windows(body, tosses, options)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(windows))[:largest_number])
    step = stepping.time_step / options.substeps
    groups = fit_windows(body, [windows[index] for index in chosen], step, stepping.gravity, options)
    return combine(groups, options, dataset=dataset, seed=seed)


def identify_dataset_windows(
    prepared: str, calibration: str | None, dataset: str, variant: dict[str, Any], tosses: int, seed: int, fit: str
) -> None:
    """Identify on windows of at most ``tosses`` of a dataset's identification tosses, and write the fit."""
    problem = load_problem(prepared, calibration, Variant.from_config(variant), IDENTIFICATION)
    options = options_for(problem.options.time_step)
    record = identify_from_windows(
        problem.body, problem.measured, problem.options, options, dataset=dataset, largest_number=tosses, seed=seed
    )
    write_fit(fit, record)

"""Friction and restitution from short windows of trajectories by an MPEC, as a record for ``fits/*.json``."""

from __future__ import annotations

from typing import Any

import numpy as np

from contactid.errors import ContactIdError
from contactid.models.window_fit import WindowFit, fit_windows
from contactid.models.windows import WindowOptions, cut_windows
from contactid.tossing.variants import Problem


def identify_from_windows(problem: Problem, n_tosses: int, seed: int) -> WindowFit:
    """Cut a window out of each of randomly chosen tosses, and solve them by direct transcription.

    Raises
    ------
    ContactIdError
        Where no toss is long enough for a window.
    """
    random = np.random.default_rng(seed)
    tosses = problem.measured
    chosen = sorted(random.choice(len(tosses), size=min(n_tosses, len(tosses)), replace=False).tolist())
    options = WindowOptions()
    windows = cut_windows(problem.body, [tosses[k] for k in chosen], options)
    if not windows:
        raise ContactIdError("no toss is long enough for a window", "Choose more tosses (tossing.mpec.windows.tosses)")
    return fit_windows(problem.body, windows, problem.options.time_step, problem.options.gravity, options)


def window_fit_record(fit: WindowFit, scheme: str, *, dataset: str, seed: int) -> dict[str, Any]:
    """The fit as a record for ``fits/*.json``."""
    solutions = [group.solution for group in fit.groups]
    good = [solution for solution in solutions if solution.converged]
    return {
        "parameters": {"friction_mu": fit.mu, "restitution_e_n": fit.e_n},
        "objective": float(sum(solution.objective for solution in good)),
        "status": f"{len(good)} of {len(solutions)} windows converged",
        "converged": len(good) == len(solutions),
        "residuals": {"complementarity": max(solution.residual for solution in good)},
        "iterations": sum(solution.iterations for solution in solutions),
        "seconds": sum(solution.seconds for solution in solutions),
        "seed": seed,
        "data": {"dataset": dataset, "part": "identification", "n_tosses": len(solutions)},
        "model": "windows of measured poses around the first contacts, direct transcription of the midpoint scheme",
        "reformulation": "l1 penalty with continuation, window by window",
        "intervals": {"friction_mu": list(fit.mu_interval), "restitution_e_n": list(fit.e_n_interval)},
        "friction_identified": fit.friction_identified,
        "windows": [
            {
                "tosses": list(group.tosses),
                "friction_mu": group.mu,
                "restitution_e_n": group.e_n,
                "mean_square_residual": group.mean_square,
                "sliding_contacts": group.sliding,
                "converged": group.solution.converged,
                "complementarity": group.solution.residual,
            }
            for group in fit.groups
        ],
        "variant": scheme,
    }

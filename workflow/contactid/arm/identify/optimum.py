"""Does the search find the global optimum? Held against many random starts, and confirmed by IPOPT.

The reference of a signal is the lowest cost that anything reached: the search itself, or random starts within the
bounds polished by the same Gauss-Newton. The share of single random starts that reach it says how hard the problem is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.identify.accuracy import TRUE, KnownImpact, SensorNoise, read_known_impact, sample_window
from contactid.arm.identify.modal_search import polish, search
from contactid.arm.identify.reconstruction import PipelineOptions, Window, pipeline_options
from contactid.arm.models.modal_signal import DIFFERENCED, TIED, ModalOptions, ModalProblem
from contactid.arm.models.modes import modes_model, solve_modes
from contactid.output.tables import write_csv

_CONFIRMED_MODES = (1, 2)
_SAME = 1e-6  # relative difference of costs that counts as the same optimum


@dataclass(frozen=True)
class Search:
    """A problem to search: of z alone or of x and z with shared poles."""

    name: str
    modes: int
    joint: bool


SEARCHES = (Search("z_one_mode", 1, False), Search("z_two_modes", 2, False), Search("xz_two_modes", 2, True))


def problem_of(window: Window, joint: bool, options: ModalOptions) -> ModalProblem:
    """The tied fit of a window as a search problem."""
    target = window.velocity - window.pre_velocity
    target = np.linalg.solve(np.linalg.cholesky(window.noise_covariance), target.T).T if joint else target[:, 1:]
    problem = ModalProblem(window.time, np.zeros(0), TIED, options)
    return replace(problem, target=problem.whiten(target))


def random_poles(options: ModalOptions, count: int, modes: int, random: np.random.Generator) -> np.ndarray:
    """(count, modes) poles, even in frequency and in the logarithm of the decay."""
    low, high = options.low, options.high
    gamma = -np.exp(random.uniform(np.log(-high[0]), np.log(-low[0]), (count, modes)))
    return gamma + 1j * random.uniform(low[1], high[1], (count, modes))


def search_rows(
    twin: KnownImpact,
    noise: SensorNoise,
    samples: Sequence[int],
    starts: int,
    options: PipelineOptions,
) -> pd.DataFrame:
    """``experiment, sample, search, cost, reference_cost, found, random_share`` for noise samples at the true time."""
    rows = []
    for sample in samples:
        window, _ = sample_window(twin, noise, sample, TRUE, options)
        step = float(window.time[-1] - window.time[0]) / (len(window.time) - 1)
        modal = ModalOptions(noise=DIFFERENCED, averaging=step)
        for number, one in enumerate(SEARCHES):
            problem = problem_of(window, one.joint, modal)
            cost = float(search(problem, one.modes).costs[0])
            random = np.random.default_rng(np.random.SeedSequence(noise.seed, spawn_key=(sample, number)))
            tried = polish(problem, random_poles(modal, starts, one.modes, random)).costs
            reference = min(cost, float(tried[0]))
            rows.append(
                {
                    "experiment": twin.name,
                    "sample": sample,
                    "search": one.name,
                    "cost": cost,
                    "reference_cost": reference,
                    "found": cost <= reference * (1.0 + _SAME),
                    "random_share": float((tried <= reference * (1.0 + _SAME)).mean()),
                }
            )
    return pd.DataFrame(rows)


def confirmation_rows(window: Window, experiment: str, modes: Sequence[int], starts: int, seed: int) -> pd.DataFrame:
    """IPOPT from the search's optimum and from random poles, z alone, without averaging.

    ``experiment, modes, start, cost, found_cost, relative_excess, largest_pole_difference_1_s, v_plus_difference_mm_s,
    status, converged, iterations``; an excess of 0 is the search's optimum, a positive one another local minimum.
    """
    modal, rows = ModalOptions(noise=DIFFERENCED), []
    for count in modes:
        problem = problem_of(window, False, modal)
        found = search(problem, count)
        best = found.poles[0][np.argsort(found.poles[0].imag)]
        random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(count,)))
        points = {"search": best} | {
            f"random_{k + 1}": poles for k, poles in enumerate(random_poles(modal, starts, count, random))
        }
        own_velocity = None
        for label, poles in points.items():
            model = modes_model(
                window.time, window.velocity[:, 1:], [float(window.pre_velocity[1])], poles, options=modal
            )
            answer = solve_modes(model)
            if own_velocity is None:
                own_velocity = answer.post_velocity[0]
            rows.append(
                {
                    "experiment": experiment,
                    "modes": count,
                    "start": label,
                    "cost": answer.cost,
                    "found_cost": float(found.costs[0]),
                    "relative_excess": answer.cost / float(found.costs[0]) - 1.0,
                    "largest_pole_difference_1_s": float(np.abs(answer.poles - best).max()),
                    "v_plus_difference_mm_s": 1e3 * float(answer.post_velocity[0] - own_velocity),
                    "status": answer.solution.status,
                    "converged": answer.solution.converged,
                    "iterations": answer.solution.iterations,
                }
            )
    return pd.DataFrame(rows)


def find_optima(
    truth: str,
    links: str,
    experiment: str,
    block: Mapping[str, Any],
    robot: Mapping[str, Any],
    searches: str,
    confirmation: str,
) -> None:
    """Write how often the search finds a twin experiment's global optima, and what IPOPT finds in one noise sample.

    ``block`` and ``robot`` are ``arm: fit`` and ``arm: robot``.
    """
    twin, noise = read_known_impact(truth, links, robot, experiment)
    chosen, options = block["accuracy"], pipeline_options(block)
    write_csv(search_rows(twin, noise, range(1, chosen["samples"] + 1), chosen["starts"], options), searches)
    window, _ = sample_window(twin, noise, 1, TRUE, options)
    rows = confirmation_rows(window, experiment, _CONFIRMED_MODES, chosen["ipopt_starts"], noise.seed)
    write_csv(rows, confirmation)

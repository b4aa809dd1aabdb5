"""Does the search find the global optimum? Held against many random starts, and confirmed by IPOPT.

The reference of a signal is the lowest cost that anything reached: the search itself, or random starts within the
bounds polished by the same Gauss-Newton. The share of single random starts that reach it says how hard the problem is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.identify.accuracy import TRUE, KnownImpact, known_impact, sample_window
from contactid.arm.identify.modal_search import polish, search
from contactid.arm.identify.reconstruction import Window
from contactid.arm.models.modal_signal import DIFFERENCED, HIGH, LOW, TIED, ModalProblem
from contactid.arm.models.modes import modes_model, solve_modes
from contactid.arm.rigid.robot import load_robot
from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset

_CONFIRMED_MODES = (1, 2)
_SAME = 1e-6  # relative difference of costs that counts as the same optimum
# name, modes, and whether of x and z with shared poles, or of z alone
_SEARCHES = (("z_one_mode", 1, False), ("z_two_modes", 2, False), ("xz_two_modes", 2, True))


def problem_of(window: Window, joint: bool, averaging: float) -> ModalProblem:
    """The tied fit of a window as a search problem."""
    values = window.velocity - window.pre_velocity
    values = np.linalg.solve(np.linalg.cholesky(window.noise_covariance), values.T).T if joint else values[:, 1:]
    return ModalProblem(window.time, values, TIED, DIFFERENCED, averaging)


def random_poles(count: int, modes: int, random: np.random.Generator) -> np.ndarray:
    """(count, modes) poles, even in frequency and in the logarithm of the decay."""
    gamma = -np.exp(random.uniform(np.log(-HIGH[0]), np.log(-LOW[0]), (count, modes)))
    return gamma + 1j * random.uniform(LOW[1], HIGH[1], (count, modes))


def search_rows(twin: KnownImpact, samples: Sequence[int], starts: int, block: Mapping[str, Any]) -> pd.DataFrame:
    """``experiment, sample, search, cost, reference_cost, found, random_share`` for noise samples at the true time."""
    rows = []
    for sample in samples:
        window = sample_window(twin, sample, TRUE, block)
        for number, (name, modes, joint) in enumerate(_SEARCHES):
            problem = problem_of(window, joint, window.step)
            cost = float(search(problem, modes).costs[0])
            random = np.random.default_rng(np.random.SeedSequence(twin.noise.seed, spawn_key=(sample, number)))
            tried = polish(problem, random_poles(starts, modes, random)).costs
            reference = min(cost, float(tried[0]))
            rows.append(
                {
                    "experiment": twin.name,
                    "sample": sample,
                    "search": name,
                    "cost": cost,
                    "reference_cost": reference,
                    "found": cost <= reference * (1.0 + _SAME),
                    "random_share": float((tried <= reference * (1.0 + _SAME)).mean()),
                }
            )
    return pd.DataFrame(rows)


def confirmation_rows(window: Window, experiment: str, starts: int, seed: int) -> pd.DataFrame:
    """IPOPT from the search's optimum and from random poles, z alone, without averaging.

    ``experiment, modes, start, cost, found_cost, relative_excess, largest_pole_difference_1_s, v_plus_difference_mm_s,
    status, converged, iterations``; an excess of 0 is the search's optimum, a positive one another local minimum.
    """
    rows = []
    for count in _CONFIRMED_MODES:
        found = search(problem_of(window, False, 0.0), count)
        best = found.poles[0][np.argsort(found.poles[0].imag)]
        random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(count,)))
        points = {"search": best} | {
            f"random_{k + 1}": poles for k, poles in enumerate(random_poles(starts, count, random))
        }
        own_velocity = None
        for label, poles in points.items():
            model = modes_model(
                window.time, window.velocity[:, 1:], [float(window.pre_velocity[1])], poles, noise=DIFFERENCED
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
    twin, chosen = known_impact(load_robot(links, **robot), read_dataset(truth), experiment), block["accuracy"]
    write_csv(search_rows(twin, range(1, chosen["samples"] + 1), chosen["starts"], block), searches)
    window = sample_window(twin, 1, TRUE, block)
    write_csv(confirmation_rows(window, experiment, chosen["ipopt_starts"], twin.noise.seed), confirmation)

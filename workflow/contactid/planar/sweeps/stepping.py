"""The paper's nonlinear program (eq. 20) in every step of a motion, flight as well, against the
exact step.

What is compared: agreement, convergence and speed.
"""

from __future__ import annotations

import timeit
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.tables import write_csv
from contactid.planar.models.step import StepSolution, build_irc_step, solve_irc_step
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, PlanarMotion, first_states
from contactid.planar.simulate.geometry import Ground, contacts
from contactid.planar.simulate.scenes import Scene, scene_of

_State = np.ndarray | Sequence[float]
_REPEATS = 20  # of the compiled simulation, for its time; the fastest counts


def simulate_irc_nlp(
    body: PlanarBody,
    ground: Ground,
    law: PlanarLaw,
    position: _State,
    velocity: _State,
    *,
    time_step: float,
    steps: int,
) -> tuple[PlanarMotion, list[StepSolution]]:
    """Step a body from q (3,) and v (3,) by eq. 20; it ends early where a step leaves no finite
    state.

    Raises
    ------
    ContactIdError
        A start inside the ground or not finite, a time step or a number of steps that isn't
        positive.
    """
    q, v = first_states(body.shape, ground, position, velocity, time_step, steps, fewest=1)
    impulse_n, impulse_t = np.zeros((2, steps + 1, body.shape.n_contacts))
    step = build_irc_step(body, ground, law, time_step)
    solutions: list[StepSolution] = []
    for k in range(steps):
        solution = solve_irc_step(step, q[k], v[k], contacts(body.shape, ground, q[k]))
        solutions.append(solution)
        q[k + 1], v[k + 1] = solution.position, solution.velocity
        impulse_n[k + 1], impulse_t[k + 1] = solution.impulse_n, solution.impulse_t
        if not np.isfinite([*solution.position, *solution.velocity]).all():
            break
    rows = slice(len(solutions) + 1)
    time = time_step * np.arange(len(solutions) + 1)
    gap = contacts(body.shape, ground, q[rows]).gap
    return PlanarMotion(time, q[rows], v[rows], impulse_n[rows], impulse_t[rows], gap), solutions


def nlp_agreement(scene: Scene, h: float, duration: float) -> dict[str, float]:
    """The exact motion of a scene under its first law, and the one of eq. 20, of which every step
    is solved.

    Residuals are ``|min(a, b)|`` of the pairs in multiples of their scales, the unsettled one that
    of eq. 20's own solution; times are in seconds.
    """
    law = scene.laws[0]
    exact = scene.run(law, time_step=h, duration=duration)
    steps = len(exact.time) - 1
    # the whole exact simulation, as a caller sees it; it is compiled already
    seconds = min(
        timeit.repeat(
            lambda: scene.run(law, time_step=h, duration=duration), number=1, repeat=_REPEATS
        )
    )
    begin = timeit.default_timer()
    start = scene.position, scene.velocity
    motion, solutions = simulate_irc_nlp(
        scene.body, scene.ground, law, *start, time_step=h, steps=steps
    )
    nlp_seconds = timeit.default_timer() - begin
    difference = np.abs(motion.position - exact.position[: len(motion.time)])
    return {
        "time_step_ms": 1e3 * h,
        "friction_mu": law.friction_mu,
        "steps": steps,
        "converged": sum(solution.converged for solution in solutions),
        "steps_in_contact": int((exact.impulse_n > 0.0).any(axis=1).sum()),
        "largest_position_difference_m": float(difference.max())
        if len(difference) > steps
        else np.nan,
        "largest_residual": max(solution.residual for solution in solutions),
        "largest_residual_unsettled": max(solution.unsettled_residual for solution in solutions),
        "iterations_median": float(np.median([solution.iterations for solution in solutions])),
        "seconds_per_step_nlp": nlp_seconds / steps,
        "seconds_per_step_exact": seconds / steps,
        "speed_ratio": nlp_seconds / seconds,
        "exact_seconds_per_1000_steps": 1e3 * seconds / steps,
    }


def write_nlp_agreement(block: Mapping[str, Any], options: Mapping[str, Any], table: str) -> None:
    """Write the agreement over the throw, a row per time step; ``options`` are ``planar.nlp_step``."""
    scene = scene_of(block, "throw")
    rows = [nlp_agreement(scene, float(h), options["duration"]) for h in options["time_steps"]]
    write_csv(pd.DataFrame(rows), table)

"""Simulate planar bodies by solving an optimisation problem in every step (:mod:`contactid.planar.models.step`).

Flight has a closed form: without contact ``c = 0`` and ``lambda = |u_t|`` solve either problem. It is computed for many
steps at once, in the same order of additions as the compiled simulator's, and searched for the step where it ends.

The paper's nonlinear program (eq. 20) is held against the exact step: agreement, convergence and speed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.tables import write_csv
from contactid.planar.models.step import (
    StepModel,
    StepOptions,
    StepSolution,
    build_igc_step,
    build_irc_step,
    solve_igc_step,
    solve_irc_step,
)
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, PlanarMotion, first_states
from contactid.planar.simulate.geometry import Contacts, Ground, contacts
from contactid.planar.simulate.scenes import Scene, scene_of

_FIRST_STRETCH, _LONGEST_STRETCH = 16, 4096  # steps of flight computed at once
_Build = Callable[[PlanarBody, Ground, PlanarLaw, float], StepModel]
_Solve = Callable[[StepModel, np.ndarray, np.ndarray, Contacts, StepOptions], StepSolution]
_Flight = Callable[[np.ndarray, np.ndarray], np.ndarray]
_State = np.ndarray | Sequence[float]
_REPEATS = 20  # of the compiled simulation, for its time; the fastest counts


@dataclass(frozen=True)
class SteppedMotion:
    """A motion and what its steps cost and are worth; row k belongs to the step that led to state k, all (n + 1,).

    The motion ends early at ``stop_after_impact`` or where a step leaves no state.

    Attributes
    ----------
    solved : a solver ran; the start and steps of flight in closed form have False
    converged : of a solved step; True elsewhere
    iterations : of the solver, 0 elsewhere
    residual : largest ``|min(a, b)|`` over the step's pairs, from the returned point, in its scales; 0 elsewhere
    unsettled_residual : the same before settling, of eq. 20's own solution; NaN where no solver ran
    """

    motion: PlanarMotion
    solved: np.ndarray
    converged: np.ndarray
    iterations: np.ndarray
    residual: np.ndarray
    unsettled_residual: np.ndarray

    @property
    def n_solved(self) -> int:
        """Steps in which a solver ran."""
        return int(self.solved.sum())

    @property
    def n_failed(self) -> int:
        """Solved steps that didn't converge."""
        return int((~self.converged).sum())


def simulate_irc_nlp(
    body: PlanarBody,
    ground: Ground,
    law: PlanarLaw,
    position: _State,
    velocity: _State,
    *,
    time_step: float,
    steps: int,
    options: StepOptions | None = None,
) -> SteppedMotion:
    """Step a body from q (3,) and v (3,) by the optimisation problem of eq. 20, flight as well.

    Raises
    ------
    ContactIdError
        A start inside the ground or not finite, a time step or a number of steps that isn't positive.
    """
    ways = build_irc_step, solve_irc_step, None
    return step_through(*ways, body, ground, law, position, velocity, time_step=time_step, steps=steps, options=options)


def simulate_igc(
    body: PlanarBody,
    ground: Ground,
    law: PlanarLaw,
    position: _State,
    velocity: _State,
    *,
    time_step: float,
    steps: int,
    stop_after_impact: int | None = None,
) -> SteppedMotion:
    """Step a body by impulse-gap complementarity, as :func:`simulate_irc_nlp`.

    A step whose motion without contact keeps every gap open is solved by ``c = 0`` and taken so. The law's ``e_N`` has
    no part in it. The motion ends ``stop_after_impact`` steps after the first one with an impulse.
    """

    def flight(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        return np.asarray((contacts(body.shape, ground, positions[1:]).gap >= 0.0).all(axis=1))

    ways = build_igc_step, solve_igc_step, flight
    return step_through(
        *ways, body, ground, law, position, velocity, time_step=time_step, steps=steps, stop=stop_after_impact
    )


def step_through(
    build: _Build,
    solve: _Solve,
    flight: _Flight | None,
    body: PlanarBody,
    ground: Ground,
    law: PlanarLaw,
    position: _State,
    velocity: _State,
    *,
    time_step: float,
    steps: int,
    options: StepOptions | None = None,
    stop: int | None = None,
) -> SteppedMotion:
    """All steps; ``flight`` says for states (m + 1, 3) without contact which of their m steps are right."""
    q, v = first_states(body.shape, ground, position, velocity, time_step, steps, fewest=1)
    step, shape, options = build(body, ground, law, time_step), body.shape, options or StepOptions()
    solutions: dict[int, StepSolution] = {}
    k, stretch, end = 0, _FIRST_STRETCH, steps
    while k < end:
        if flight is not None:
            flown_q, flown_v = _fly(step, q[k], v[k], min(stretch, end - k))
            right = flight(flown_q, flown_v)
            taken = len(right) if right.all() else int(np.argmin(right))
            q[k + 1 : k + taken + 1], v[k + 1 : k + taken + 1] = flown_q[1 : taken + 1], flown_v[1 : taken + 1]
            k += taken
            if taken == len(right):
                stretch = min(2 * stretch, _LONGEST_STRETCH)
                continue
            stretch = _FIRST_STRETCH
        found = solve(step, q[k], v[k], contacts(shape, ground, q[k]), options)
        k += 1
        q[k], v[k], solutions[k] = found.position, found.velocity, found
        if not np.isfinite([*found.position, *found.velocity]).all():
            end = k
        elif end == steps and stop is not None and (found.impulse_n > 0.0).any():
            end = min(k + stop, steps)

    def of_steps(name: str, elsewhere: Any, *size: int) -> np.ndarray:
        values = np.full((end + 1, *size), elsewhere)
        for row, solution in solutions.items():
            values[row] = getattr(solution, name)
        return values

    impulse_n, impulse_t = (of_steps(name, 0.0, shape.n_contacts) for name in ("impulse_n", "impulse_t"))
    q, v, times = q[: end + 1], v[: end + 1], time_step * np.arange(end + 1)
    return SteppedMotion(
        PlanarMotion(times, q, v, impulse_n, impulse_t, contacts(shape, ground, q).gap),
        solved=np.isin(np.arange(end + 1), list(solutions)),
        converged=of_steps("converged", True),
        iterations=of_steps("iterations", 0),
        residual=of_steps("residual", 0.0),
        unsettled_residual=of_steps("unsettled_residual", np.nan),
    )


def _fly(step: StepModel, q: np.ndarray, v: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(n + 1, 3) states of n steps without contact."""
    change = np.broadcast_to([0.0, -step.time_step * step.law.gravity, 0.0], (n, 3))
    velocity = np.cumsum(np.vstack([v, change]), axis=0)
    return np.cumsum(np.vstack([q, step.time_step * velocity[1:]]), axis=0), velocity


def nlp_agreement(scene: Scene, h: float, duration: float) -> dict[str, float]:
    """The exact motion of a scene under its first law, and the one of eq. 20, of which every step is solved.

    Residuals are ``|min(a, b)|`` of the pairs in multiples of their scales, the unsettled one that of eq. 20's own
    solution; times are in seconds.
    """
    law = scene.laws[0]
    exact = scene.run(law, time_step=h, duration=duration)
    steps = len(exact.time) - 1
    seconds = _fastest(scene, h, duration)
    begin = time.perf_counter()
    got = simulate_irc_nlp(scene.body, scene.ground, law, scene.position, scene.velocity, time_step=h, steps=steps)
    nlp_seconds = time.perf_counter() - begin
    apart = np.abs(got.motion.position - exact.position[: len(got.motion.time)])
    unsettled = got.unsettled_residual[np.isfinite(got.unsettled_residual)]
    return {
        "time_step_ms": 1e3 * h,
        "friction_mu": law.friction_mu,
        "steps": steps,
        "converged": int((got.solved & got.converged).sum()),
        "steps_in_contact": int((exact.impulse_n > 0.0).any(axis=1).sum()),
        "largest_position_difference_m": float(apart.max()) if len(apart) > steps else np.nan,
        "largest_residual": float(got.residual.max()),
        "largest_residual_unsettled": float(unsettled.max()) if len(unsettled) else np.nan,
        "iterations_median": float(np.median(got.iterations[got.solved])),
        "seconds_per_step_nlp": nlp_seconds / steps,
        "seconds_per_step_exact": seconds / steps,
        "speed_ratio": nlp_seconds / seconds,
        "exact_seconds_per_1000_steps": 1e3 * seconds / steps,
    }


def _fastest(scene: Scene, h: float, duration: float) -> float:
    """Seconds of the whole exact simulation, as a caller sees them; it is compiled already."""
    times = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        scene.run(scene.laws[0], time_step=h, duration=duration)
        times.append(time.perf_counter() - begin)
    return min(times)


def write_nlp_agreement(block: Mapping[str, Any], options: Mapping[str, Any], table: str) -> None:
    """Write the agreement over the throw, a row per time step; ``options`` are ``planar.nlp_step``."""
    scene = scene_of(block, "throw")
    rows = [nlp_agreement(scene, float(h), options["duration"]) for h in options["time_steps"]]
    write_csv(pd.DataFrame(rows), table)

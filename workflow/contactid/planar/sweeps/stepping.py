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

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.planar.models.step import (
    StepModel,
    StepOptions,
    StepSolution,
    build_igc_step,
    build_irc_step,
    closed_contacts,
    solve_igc_step,
    solve_irc_step,
)
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, PlanarMotion, refuse_start_inside
from contactid.planar.simulate.geometry import Contacts, Ground, contacts
from contactid.planar.simulate.scenes import Scene, scene_of

_FIRST_STRETCH, _LONGEST_STRETCH = 16, 4096  # steps of flight computed at once
_Solve = Callable[[StepModel, np.ndarray, np.ndarray, Contacts, StepOptions], StepSolution]
_REPEATS = 20  # of the compiled simulation, for its time; the fastest counts


@dataclass(frozen=True)
class StepRecord:
    """What the steps cost and are worth; row k belongs to the step that led to state k, all (n + 1,).

    Attributes
    ----------
    solved : a solver ran; the start and steps of flight in closed form have False
    converged : of a solved step; True elsewhere
    iterations, seconds : of the solver, 0 elsewhere
    residual : largest ``|min(a, b)|`` over the step's pairs, from the returned point, in its scales; 0 elsewhere
    unsettled_residual : the same before settling, of eq. 20's own solution; NaN where no solver ran
    """

    solved: np.ndarray
    converged: np.ndarray
    iterations: np.ndarray
    seconds: np.ndarray
    residual: np.ndarray
    unsettled_residual: np.ndarray


@dataclass(frozen=True)
class SteppedMotion:
    """A motion and the record of its steps; it ends early at ``stop_after_impact`` or where a step leaves no state."""

    motion: PlanarMotion
    record: StepRecord

    @property
    def n_solved(self) -> int:
        """Steps in which a solver ran."""
        return int(self.record.solved.sum())

    @property
    def n_failed(self) -> int:
        """Solved steps that didn't converge."""
        return int((~self.record.converged).sum())


def simulate_irc_nlp(
    body: PlanarBody,
    ground: Ground,
    law: PlanarLaw,
    position: np.ndarray | Sequence[float],
    velocity: np.ndarray | Sequence[float],
    *,
    time_step: float,
    steps: int,
    options: StepOptions | None = None,
    skip_free: bool = False,
    stop_after_impact: int | None = None,
) -> SteppedMotion:
    """Step a body from q (3,) and v (3,) by the optimisation problem of eq. 20.

    Parameters
    ----------
    skip_free
        Take steps without a closed contact in closed form: ``c = 0`` is then the only solution.
    stop_after_impact
        End so many steps after the first one with an impulse.

    Raises
    ------
    ContactIdError
        A start inside the ground or not finite, a time step or a number of steps that isn't positive.
    """
    run = _Run(body, ground, law, time_step, steps, options or StepOptions(), stop_after_impact)
    step = build_irc_step(body, ground, law, time_step)

    def flight(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        at = contacts(body.shape, ground, positions[:-1])
        return np.asarray(~closed_contacts(at, velocities[:-1]).any(axis=1))

    return run.through(step, solve_irc_step, flight if skip_free else None, position, velocity)


def simulate_igc(
    body: PlanarBody,
    ground: Ground,
    law: PlanarLaw,
    position: np.ndarray | Sequence[float],
    velocity: np.ndarray | Sequence[float],
    *,
    time_step: float,
    steps: int,
    options: StepOptions | None = None,
    stop_after_impact: int | None = None,
) -> SteppedMotion:
    """Step a body from q (3,) and v (3,) by impulse-gap complementarity; arguments as for :func:`simulate_irc_nlp`.

    A step whose motion without contact keeps every gap open is solved by ``c = 0`` and taken so. The law's ``e_N`` has
    no part in it.
    """
    run = _Run(body, ground, law, time_step, steps, options or StepOptions(), stop_after_impact)
    step = build_igc_step(body, ground, law, time_step)

    def flight(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        return np.asarray((contacts(body.shape, ground, positions[1:]).gap >= 0.0).all(axis=1))

    return run.through(step, solve_igc_step, flight, position, velocity)


@dataclass(frozen=True)
class _Run:
    body: PlanarBody
    ground: Ground
    law: PlanarLaw
    time_step: float
    steps: int
    options: StepOptions
    stop_after_impact: int | None

    def __post_init__(self) -> None:
        if not 0.0 < self.time_step < np.inf:
            raise ContactIdError(f"the time step is {self.time_step:g} s", "It must be greater than 0")
        if self.steps < 1:
            raise ContactIdError(f"the number of steps is {self.steps}", "It must be 1 or more")

    def through(
        self,
        step: StepModel,
        solve: _Solve,
        flight: Callable[[np.ndarray, np.ndarray], np.ndarray] | None,
        position: np.ndarray | Sequence[float],
        velocity: np.ndarray | Sequence[float],
    ) -> SteppedMotion:
        """All steps; ``flight`` says for states (m + 1, 3) without contact which of their m steps are right."""
        rows = _Rows(self.steps, self.body.shape.n_contacts)
        rows.begin(self.body, self.ground, position, velocity)
        k, stretch, end = 0, _FIRST_STRETCH, self.steps
        while k < end:
            if flight is not None:
                q, v = self._fly(rows.position[k], rows.velocity[k], min(stretch, end - k))
                right = flight(q, v)
                taken = len(right) if right.all() else int(np.argmin(right))
                rows.position[k + 1 : k + taken + 1], rows.velocity[k + 1 : k + taken + 1] = (
                    q[1:][:taken],
                    v[1:][:taken],
                )
                k += taken
                if taken == len(right):
                    stretch = min(2 * stretch, _LONGEST_STRETCH)
                    continue
                stretch = _FIRST_STRETCH
            at = contacts(self.body.shape, self.ground, rows.position[k])
            solution = solve(step, rows.position[k], rows.velocity[k], at, self.options)
            k += 1
            rows.put(k, solution)
            if not np.isfinite([*solution.position, *solution.velocity]).all():
                end = k
            elif end == self.steps and self.stop_after_impact is not None and (solution.impulse_n > 0.0).any():
                end = min(k + self.stop_after_impact, self.steps)
        return rows.finish(end, self.time_step, self.body, self.ground)

    def _fly(self, q: np.ndarray, v: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """(n + 1, 3) states of n steps without contact."""
        change = np.broadcast_to([0.0, -self.time_step * self.law.gravity, 0.0], (n, 3))
        velocity = np.cumsum(np.vstack([v, change]), axis=0)
        return np.cumsum(np.vstack([q, self.time_step * velocity[1:]]), axis=0), velocity


class _Rows:
    """The arrays of a motion and its record while they are filled."""

    def __init__(self, steps: int, n_contacts: int) -> None:
        n = steps + 1
        self.position, self.velocity = np.zeros((n, 3)), np.zeros((n, 3))
        self.impulse_n, self.impulse_t = np.zeros((n, n_contacts)), np.zeros((n, n_contacts))
        self.solved, self.converged = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
        self.iterations, self.seconds, self.residual = np.zeros(n, dtype=int), np.zeros(n), np.zeros(n)
        self.unsettled_residual = np.full(n, np.nan)

    def begin(
        self,
        body: PlanarBody,
        ground: Ground,
        position: np.ndarray | Sequence[float],
        velocity: np.ndarray | Sequence[float],
    ) -> None:
        state = np.array([*position, *velocity], dtype=float)
        if state.shape != (6,) or not np.isfinite(state).all():
            raise ContactIdError("a start state isn't six finite numbers", "Give x, y, theta and their rates")
        refuse_start_inside(body.shape, ground, state[:3])
        self.position[0], self.velocity[0] = state[:3], state[3:]

    def put(self, k: int, solution: StepSolution) -> None:
        self.solved[k] = True
        for name in (
            "position",
            "velocity",
            "impulse_n",
            "impulse_t",
            "converged",
            "iterations",
            "seconds",
            "residual",
        ):
            getattr(self, name)[k] = getattr(solution, name)
        self.unsettled_residual[k] = solution.unsettled_residual

    def finish(self, end: int, time_step: float, body: PlanarBody, ground: Ground) -> SteppedMotion:
        kept = slice(end + 1)
        motion = PlanarMotion(
            time=time_step * np.arange(end + 1),
            position=self.position[kept],
            velocity=self.velocity[kept],
            impulse_n=self.impulse_n[kept],
            impulse_t=self.impulse_t[kept],
            gap=contacts(body.shape, ground, self.position[kept]).gap,
        )
        record = StepRecord(
            solved=self.solved[kept],
            converged=self.converged[kept],
            iterations=self.iterations[kept],
            seconds=self.seconds[kept],
            residual=self.residual[kept],
            unsettled_residual=self.unsettled_residual[kept],
        )
        return SteppedMotion(motion, record)


def nlp_agreement_table(scene: Scene, time_steps: Sequence[float], duration: float) -> pd.DataFrame:
    """One row per time step, under the scene's first law; every step is solved, flight as well.

    Returns
    -------
    ``time_step_ms, friction_mu, steps, converged, steps_in_contact, largest_position_difference_m,
    largest_residual, largest_residual_unsettled, iterations_median, seconds_per_step_nlp, seconds_per_step_exact,
    speed_ratio, exact_seconds_per_1000_steps``; residuals are ``|min(a, b)|`` of the pairs in multiples of their
    scales, the unsettled one that of eq. 20's own solution.
    """
    return pd.DataFrame([_row(scene, float(h), duration) for h in time_steps])


def _row(scene: Scene, h: float, duration: float) -> dict[str, float]:
    law = scene.laws[0]
    exact = scene.run(law, time_step=h, duration=duration)
    steps = len(exact.time) - 1
    seconds = _fastest(scene, h, duration)
    begin = time.perf_counter()
    stepped = simulate_irc_nlp(
        scene.body, scene.ground, law, scene.position, scene.velocity, time_step=h, steps=steps
    )  # fmt: skip
    nlp_seconds = time.perf_counter() - begin
    got, record = stepped.motion, stepped.record
    n = len(got.time)
    unsettled = record.unsettled_residual[np.isfinite(record.unsettled_residual)]
    return {
        "time_step_ms": 1e3 * h,
        "friction_mu": law.friction_mu,
        "steps": steps,
        "converged": int((record.solved & record.converged).sum()),
        "steps_in_contact": int((exact.impulse_n > 0.0).any(axis=1).sum()),
        "largest_position_difference_m": float(np.abs(got.position - exact.position[:n]).max())
        if n > steps
        else np.nan,
        "largest_residual": float(record.residual.max()),
        "largest_residual_unsettled": float(unsettled.max()) if len(unsettled) else np.nan,
        "iterations_median": float(np.median(record.iterations[record.solved])),
        "seconds_per_step_nlp": nlp_seconds / steps,
        "seconds_per_step_exact": seconds / steps,
        "speed_ratio": nlp_seconds / seconds,
        "exact_seconds_per_1000_steps": 1e3 * seconds / steps,
    }


def _fastest(scene: Scene, h: float, duration: float) -> float:
    """Seconds of the whole exact simulation, as a caller sees them."""
    scene.run(scene.laws[0], time_step=h, duration=duration)  # compile
    times = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        scene.run(scene.laws[0], time_step=h, duration=duration)
        times.append(time.perf_counter() - begin)
    return min(times)


def write_nlp_agreement(block: Mapping[str, Any], options: Mapping[str, Any], table: str) -> None:
    """Write the agreement over the throw; ``options`` are ``planar.nlp_step`` of the configuration."""
    write_csv(nlp_agreement_table(scene_of(block, "throw"), options["time_steps"], options["duration"]), table)

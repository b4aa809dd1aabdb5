"""The paper's nonlinear program for one step (eq. 20) against the exact step: agreement, convergence and speed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

from contactid.planar.scenes import Scene
from contactid.planar.stepping import simulate_irc_nlp

_REPEATS = 20  # of the compiled simulation, for its time; the fastest counts


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

"""A contest of ways to write complementarity: the same throws and starts, and one rule for
everybody's first stage.

A continuation that begins far from its limit lets go of a good start before it improves it, so a
contest in which each method has its customary first stage compares first stages. Here all begin
where the start is: the mean residual ``|min(a, b)|`` of the start's own pairs, computed before any
solve, is what the first stage allows (:func:`contactid.core.reformulations.parameter_allowing`). So
a start that obeys the contact law is kept, and one that doesn't gets the room that it needs. Then
sides are settled; where that fails, further stages follow, as many for each. The rule was fixed on
throws with another noise seed than the contest's.

An answer counts where it converged and noise explains its misfit. The contact sequence of the start
with its exchanges (:mod:`contactid.core.pair_sides`) takes part beside the reformulations, where
the start has one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.complementarity import Continuation, Reformulation, attach, solve_mpec
from contactid.core.pair_sides import side_values
from contactid.core.reformulations import Pair, parameter_allowing
from contactid.core.solve import SolverOptions
from contactid.output.tables import write_csv
from contactid.planar.identify.cells import fit_options
from contactid.planar.identify.fit import (
    CONTACT_SEQUENCE,
    FitOptions,
    TrajectoryFit,
    fit_from_motion,
    motion_guesses,
    read_states,
    scales_of,
)
from contactid.planar.identify.starts import interpolated_throw
from contactid.planar.models.trajectory import (
    Guess,
    TrajectoryModel,
    build_trajectory_model,
    sub_steps_of,
)
from contactid.planar.simulate.geometry import Shape
from contactid.planar.simulate.hard_truths import TRUTHS, hard_throw
from contactid.planar.simulate.throws import (
    MeasuredThrow,
    body_and_ground,
    measured_throw,
    noise_of,
    true_motion,
)

FITTED_MOTION = "fitted_motion"
OTHER_INERTIA = "other_inertia"
MEASURED_POSES = "measured_poses"
STARTS = (FITTED_MOTION, OTHER_INERTIA, MEASURED_POSES)
"""A simulated motion fitted to the poses; the same with a wrong J/m; and the poses with lines
between them.
"""
METHODS = (CONTACT_SEQUENCE, *(method.value for method in Reformulation))

# Of the start's J/m: far beyond the error of a good start, within what the outline allows
_WRONG_INERTIA = 0.5
# Where the measured poses start, as in the identification's last resort
_FRICTION = 0.3
# Of a start that obeys the contact law to rounding. 1e-4 of the scale length are 5 micrometres of
# the paper's ellipse, far below the noise of poses; a first stage below that lets nothing move.
_LEAST_RESIDUAL = 1e-4
# Residual at which complementarity holds, dimensionless, as in the identification
_EXACT = 1e-6
# A further stage, 30 times closer to the limit, where settling fails after the first
_EXTENSIONS = 1
# The tolerance is the identification's. An interior-point method's barrier is a relaxation, too:
# one of 1e-5 and a push of 1e-6 off the bounds allow less than any first stage. A stage that gets
# there from a good start takes 50 to 90 iterations.
_SOLVER = SolverOptions(tolerance=1e-5, max_iterations=100).warm(1e-5, 1e-6)


@dataclass(frozen=True)
class Attempt:
    """What came of one method from one start.

    Attributes
    ----------
    fit : the identified body
    first_residual : what the first stage allowed, dimensionless; NaN for a contact sequence, which
        has no stages
    cpu_seconds : of building and solving
    """

    fit: TrajectoryFit
    first_residual: float
    cpu_seconds: float

    @property
    def success(self) -> bool:
        """Converged, with a misfit that noise explains."""
        return self.fit.converged and self.fit.plausible


def starts_of(shape: Shape, throw: MeasuredThrow, options: FitOptions) -> dict[str, Guess]:
    """The starts of a throw, by their names in :data:`STARTS`."""
    sub_steps = sub_steps_of(throw, options.longest_step)
    # the best motion alone, for every method
    fitted = next(motion_guesses(shape, throw, options))
    poses = interpolated_throw(shape, throw, sub_steps)
    return {
        FITTED_MOTION: fitted,
        OTHER_INERTIA: replace(fitted, inertia_ratio=_WRONG_INERTIA * fitted.inertia_ratio),
        MEASURED_POSES: Guess(shape.uniform_inertia_ratio, _FRICTION, poses),
    }


def first_residual(pairs: Sequence[Pair]) -> float:
    """What a first stage allows: the mean ``|min(a, b)|`` of the start's pairs, dimensionless.

    The largest one belongs to a gap that the start's grid misses, or that measured noise makes
    negative: no relaxation makes that feasible, and one as wide as that lets all the other pairs
    go.
    """
    # (pairs,) |min(a, b)| at the start, before any solve
    residuals = np.abs(side_values(pairs).min(axis=1))
    return max(float(residuals.mean()), _LEAST_RESIDUAL)


def continuation_from(method: Reformulation, allowed: float) -> Continuation:
    """One stage that allows the start's residual, then settling; where that fails, further stages
    as everywhere.
    """
    return Continuation(
        method, (parameter_allowing(method, allowed),), _EXACT, extensions=_EXTENSIONS
    )


def attempt(
    shape: Shape, throw: MeasuredThrow, guess: Guess, method: str, options: FitOptions
) -> Attempt:
    """Identify a throw by one method (of :data:`METHODS`) from one start, and no other."""
    begin = time.process_time()
    if method == CONTACT_SEQUENCE:
        fit = fit_from_motion(shape, throw, guess, options)
        return Attempt(fit, np.nan, time.process_time() - begin)
    scales, n_s = scales_of(shape, throw), sub_steps_of(throw, options.longest_step)
    built = build_trajectory_model(shape, throw, guess, scales, n_s, options.gravity)
    residual = first_residual(built.pairs)
    fit = _reformulated(shape, throw, guess, built, Reformulation(method), residual)
    return Attempt(fit, residual, time.process_time() - begin)


def _reformulated(
    shape: Shape,
    throw: MeasuredThrow,
    guess: Guess,
    built: TrajectoryModel,
    method: Reformulation,
    residual: float,
) -> TrajectoryFit:
    """Drive one reformulation to its limit; without standard errors, which the contest doesn't
    compare.
    """
    pairs = attach(built.model, built.pairs, method)
    solution = solve_mpec(pairs, continuation_from(method, residual), _SOLVER)
    return TrajectoryFit(
        inertia_ratio=built.inertia_ratio,
        friction_mu=built.friction_mu,
        inertia_ratio_se=np.nan,
        friction_mu_se=np.nan,
        ratio_is_limit=False,
        friction_is_bound=False,
        misfit=float(pyo.value(built.misfit)),
        residuals=throw.position.size,
        complementarity=solution.residual,
        converged=solution.converged,
        states=read_states(built, shape, throw),
        start_ratio=guess.inertia_ratio,
        method=method.value,
        solution=solution,
    )


def _record(result: Attempt, true_ratio: float) -> dict[str, Any]:
    """What the table keeps of an attempt; ``answer_error_pct`` is the error where the attempt is a
    success.

    Where a solve wandered off, its end is a matter of rounding and repeats on no other machine:
    nothing to compare.
    """
    fit = result.fit
    error_pct = 100.0 * (fit.inertia_ratio / true_ratio - 1.0)
    return {
        "converged": fit.converged,
        "plausible": fit.plausible,
        "success": result.success,
        "inertia_ratio_mm2": 1e6 * fit.inertia_ratio,
        "friction_mu": fit.friction_mu,
        "misfit": fit.misfit,
        "degrees": fit.degrees,
        "complementarity": fit.complementarity,
        "first_residual": result.first_residual,
        "iterations": fit.iterations,
        "seconds": result.cpu_seconds,
        "error_pct": error_pct,
        "answer_error_pct": error_pct if result.success else np.nan,
    }


def contest_rows(
    shape: Shape,
    throw: MeasuredThrow,
    true_ratio: float,
    methods: Sequence[str],
    starts: Sequence[str],
    options: FitOptions,
) -> pd.DataFrame:
    """A row per start and method of one throw; measured poses have no contact sequence to follow."""
    guesses = starts_of(shape, throw, options)
    rows = []
    for start in starts:
        for method in methods:
            if method == CONTACT_SEQUENCE and start == MEASURED_POSES:
                continue
            result = attempt(shape, throw, guesses[start], method, options)
            rows.append({"start": start, "reformulation": method} | _record(result, true_ratio))
    return pd.DataFrame(rows)


def write_reformulations(block: Mapping[str, Any], throws: str, table: str) -> None:
    """Hold the contest on the throws of one friction at every frame rate, or on those of a hard
    truth, by its name.
    """
    contest = block["identification"]["reformulations"]
    methods = contest["methods"] or METHODS
    if throws in TRUTHS:
        seeds = range(1, int(contest["truth_seeds"]) + 1)
        rows = [_of_hard_truth(block, throws, seed, methods) for seed in seeds]
    else:
        rates, seeds = contest["frames_per_second"], range(1, int(contest["seeds"]) + 1)
        rows = [
            _of_cell(block, float(throws), float(rate), seed, methods)
            for seed in seeds
            for rate in rates
        ]
    write_csv(pd.concat(rows, ignore_index=True), table)


def _of_cell(
    block: Mapping[str, Any], friction_mu: float, rate: float, seed: int, methods: Sequence[str]
) -> pd.DataFrame:
    """A throw of a cell of table 1; from bad starts too at the highest frame rate, for as many
    seeds as wanted.
    """
    options = block["identification"]
    body, ground = body_and_ground(block)
    throw = measured_throw(
        true_motion(block, friction_mu),
        ground,
        duration=float(options["duration"]),
        frames_per_second=rate,
        sigma=noise_of(block, next(iter(options["noise"]))),
        seed=seed,
    )
    contest = options["reformulations"]
    highest = rate == max(contest["frames_per_second"])
    starts = STARTS if highest and seed <= int(contest["bad_start_seeds"]) else STARTS[:1]
    rows = contest_rows(
        body.shape, throw, body.inertia / body.mass, methods, starts, fit_options(block)
    )
    return rows.assign(truth=TRUTHS[0], mu=friction_mu, fps=rate, seed=seed)


def _of_hard_truth(
    block: Mapping[str, Any], truth: str, seed: int, methods: Sequence[str]
) -> pd.DataFrame:
    """A throw with a hard truth, whose friction and frame rate are its own."""
    body, throw = hard_throw(block, truth, seed)
    ratio = body.inertia / body.mass
    rows = contest_rows(body.shape, throw, ratio, methods, STARTS[:1], fit_options(block))
    return rows.assign(truth=truth, mu=np.nan, fps=1.0 / throw.frame_interval, seed=seed)

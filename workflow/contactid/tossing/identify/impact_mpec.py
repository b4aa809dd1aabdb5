"""Friction and restitution from selected impacts by an MPEC, with intervals, as a record for
``fits/*.json``.

The MPEC (:mod:`contactid.tossing.models.impacts`) is solved from two starts: a fixed one, and the
optimum of the exact law (:mod:`contactid.tossing.models.impact_likelihood`), which knows no local
minima of an impact's own unknowns. What the record says of convergence is measured at the answer.
:func:`compare_forms` has the program as the paper has it and with a free e_T side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from contactid.core.complementarity import Continuation, MpecSolution, attach, solve_mpec
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.output.tables import write_csv
from contactid.sources.motion import BodyProperties
from contactid.tossing.impacts.impact import Impact, ImpactWindow, read_impacts
from contactid.tossing.impacts.law import ImpactTable, impact_table
from contactid.tossing.models.impact_likelihood import Point, likelihood, minimise
from contactid.tossing.models.impact_uncertainty import (
    FrictionEvidence,
    Uncertainty,
    friction_evidence,
    uncertainty,
)
from contactid.tossing.models.impacts import LARGEST_MU, ImpactModelOptions, build_impact_model
from contactid.tossing.prepare.preprocess import IDENTIFICATION

_CONTINUATION = Continuation()
_FIRST: Point = (0.3, 0.3, 0.0)  # a start that knows nothing of the data
_AGREES = 1e-3  # in a parameter: starts that ended this close to the best one have the same answer
_SLIDES = 1e-6  # m/s
_FEASIBLE = 1e-2  # what a start may violate at most to count as an answer
_GENEROUS = (0.05, 0.5)  # m/s and rad/s
_SETTLED = 0.1  # relative change of the model's error that is no change
_ROUNDS = 3  # of estimating the model's error from the residuals at the last parameters
_UNSEEN = 16.0  # of a sample
_NORMAL = 1.4826  # median absolute value to standard deviation
_NAMES = ("friction_mu", "restitution_e_n", "restitution_e_t")


class Run(NamedTuple):
    """One of several starts, and where it led."""

    start: Point
    end: Point
    impulses: np.ndarray  # (n, 3) N s
    slip_speeds: np.ndarray  # (n,) m/s
    solution: MpecSolution


def identify_from_impacts(
    body: BodyProperties,
    impacts: Sequence[Impact],
    options: ImpactModelOptions | None = None,
    *,
    near: Point | None = None,
    lasting: np.ndarray | None = None,
) -> dict[str, Any]:
    """Identify mu, e_N (and e_T where ``options`` free it) from impacts.

    Parameters
    ----------
    near : (mu, e_N, e_T) from which the exact law's optimum is looked for; the whole range by
        default
    lasting : (3,) m/s: what gravity does within half of the shortest time that an impact may last
        unseen

    Returns the record that :func:`contactid.output.fits.write_fit` takes. ``objective`` and what is
    said of the solver are of the best start; ``exact_objective`` is the same at the same parameters
    by the exact law. ``intervals``: 95 %; mu's has no upper end where friction isn't identified.
    ``law_fits``: whether impacts deviate from the law by little more than measured noise explains
    (``noise_chi_square``); where not, the intervals are those of the law's best parameters, not of
    the body's. ``multi_start``: how many starts; ``agreeing`` of them converged to the same parameters.

    Raises :class:`ContactIdError` without impacts, or where no start comes to a feasible point.
    """
    options = options or ImpactModelOptions()
    table = impact_table(body, impacts)
    problem = likelihood(table, options.model_error)
    exact = minimise(problem, near, free_e_t=options.free_e_t)
    # the form that is published has a start that knows nothing, too
    starts = [exact] if options.free_e_t else [_FIRST, exact]
    runs = _runs(table, options, starts)
    best = _with_least_friction(
        min(runs, key=lambda run: (not run.solution.converged, run.solution.objective))
    )
    # a point that violates the law isn't an answer, however low its objective
    if best.solution.last.primal_infeasibility > _FEASIBLE:
        raise ContactIdError(
            "no start of the impact MPEC comes to a feasible point", "Look at the solver's log"
        )
    spread = uncertainty(problem, best.end, free_e_t=options.free_e_t, lasting=lasting)
    evidence = friction_evidence(problem, best.end)
    return {
        "parameters": dict(zip(_NAMES, best.end[: 2 + options.free_e_t], strict=False)),
        "intervals": _intervals(spread, evidence, best.end),
        "interval_kind": spread.kind,
        "reduced_chi_square": spread.reduced_chi_square,
        "noise_chi_square": spread.noise_chi_square,
        "law_fits": spread.law_fits,
        "friction_identified": evidence.identified,
        "mu_lower_bound": evidence.lower_bound,
        "exact_objective": problem.objective(*best.end),
        "data": {"part": IDENTIFICATION, "n_impacts": len(table), "n_sliding": _sliding(best)},
        "seed": 0,  # nothing is drawn
        **_of_solver(runs, best),
    }


def _of_solver(runs: Sequence[Run], best: Run) -> dict[str, Any]:
    """What a record says of the program, its solver and its starts."""
    solution, last = best.solution, best.solution.last
    # where nothing slides, mu may be anything from some value on
    first = 0 if _sliding(best) else 1
    ends = np.array([run.end for run in runs])[:, first:]
    same = np.abs(ends - best.end[first:]).max(axis=1) <= _AGREES
    converged = np.array([run.solution.converged for run in runs])
    return {
        "objective": solution.objective,
        "status": last.status,
        "converged": solution.converged,
        "residuals": {
            "complementarity": solution.residual,
            "primal_infeasibility": last.primal_infeasibility,
            "dual_infeasibility": last.dual_infeasibility,
        },
        "iterations": sum(run.solution.iterations for run in runs),
        "seconds": sum(run.solution.seconds for run in runs),
        "model": "impacts, least squares, friction disk, errors in variables",
        "reformulation": _CONTINUATION.reformulation.value
        + (", settled" if solution.settled else ""),
        "route": last.route,
        "solver": last.solver,
        "multi_start": {
            "starts": len(runs),
            "agreeing": int((same & converged).sum()),
        },
    }


def _runs(table: ImpactTable, options: ImpactModelOptions, starts: Sequence[Point]) -> list[Run]:
    """Solve one model from all starts, each of which sets all of its variables."""
    built = build_impact_model(table, options)
    pairs, runs = attach(built.model, built.pairs, _CONTINUATION.reformulation), []
    for start in starts:
        built.start_at(*start)
        solution = solve_mpec(pairs, _CONTINUATION)
        runs.append(Run(start, built.parameters, built.impulses(), built.slip_speeds(), solution))
    return runs


def _sliding(run: Run) -> int:
    return int((run.slip_speeds > _SLIDES).sum())


def _with_least_friction(run: Run) -> Run:
    """Where no impact slides, any mu from the steepest impulse on is as good: give the least."""
    if _sliding(run):
        return run
    # the steepest impulse is what mu must carry at least
    sideways = np.linalg.norm(run.impulses[:, :2], axis=1)
    steepest = float((sideways / np.maximum(run.impulses[:, 2], np.finfo(float).tiny)).max())
    return run._replace(end=(min(steepest, run.end[0]), *run.end[1:]))


def _intervals(
    spread: Uncertainty, evidence: FrictionEvidence, end: Point
) -> dict[str, list[float | None]]:
    highest = (LARGEST_MU, 1.0, 1.0)
    intervals: dict[str, list[float | None]] = {}
    for name, value, reach, most in zip(_NAMES, end, spread.reach, highest, strict=False):
        intervals[name] = [max(value - float(reach), 0.0), min(value + float(reach), most)]
    if not evidence.identified:
        # a bound alone: infinite friction is as good
        intervals["friction_mu"] = [evidence.lower_bound, None]
    return intervals


def model_error(table: ImpactTable, mu: float, e_n: float) -> tuple[float, float]:
    """Standard deviations (m/s, rad/s) per axis of what the law gets wrong beyond the fitted
    twists' noise.

    From the median absolute residuals at given parameters, so that a few impacts that the law
    misses altogether don't decide; twice the noise of both twists is subtracted, which bounds what
    the law makes of it from above: an error of the size of the noise is not told from it.
    """
    residual = table.post_twist - table.predict(mu, e_n)
    noise = np.diagonal(table.pre_covariance + table.post_covariance, axis1=1, axis2=2)
    linear, angular = slice(0, 3), slice(3, 6)

    def beyond_noise(axes: slice) -> float:
        spread = _NORMAL * float(np.median(np.abs(residual[:, axes])))
        return float(np.sqrt(max(spread**2 - 2.0 * float(np.median(noise[:, axes])), 0.0)))

    return beyond_noise(linear), beyond_noise(angular)


def options_with_model_error(table: ImpactTable) -> tuple[ImpactModelOptions, Point]:
    """The model's own error, estimated by the exact law in turn with the parameters; returns these,
    too.

    It begins with a generous error, under which a few impacts with tiny noise can't mislead the
    first fit.
    """
    # error and parameters depend on each other, so they are found in turn
    error, at = _GENEROUS, minimise(likelihood(table, _GENEROUS))
    for _ in range(_ROUNDS):
        last, error = error, model_error(table, *at[:2])
        if np.allclose(error, last, rtol=_SETTLED, atol=1e-9):
            break
        at = minimise(likelihood(table, error), at)
    return ImpactModelOptions(model_error=error), at


def lasting_of(windows: Sequence[ImpactWindow], time_step: float) -> np.ndarray:
    """(3,) m/s: what gravity does within half of the shortest time (s) that an impact may last
    unseen.

    Samples next to an impact tell its instant to a few hundredths of a sample; so a sixteenth isn't
    seen.
    """
    gravity = np.mean([window.gravity for window in windows], axis=0)
    return 0.5 * gravity * time_step / _UNSEEN


def compare_forms(
    body: BodyProperties, windows: Sequence[ImpactWindow], time_step: float
) -> tuple[dict[str, Any], pd.DataFrame]:
    """The record with e_T = 0, and one row per form, that one first; ``time_step`` of the samples
    in s.

    Columns: form, mu, e_N, e_T with their 95 % intervals, objective, whether the law fits,
    convergence, complementarity residual, impacts that slide, starts that agree.
    """
    impacts = [window.impact for window in windows]
    options, near = options_with_model_error(impact_table(body, impacts))
    lasting = lasting_of(windows, time_step)
    forms = {"disk": options, "disk, e_T free": replace(options, free_e_t=True)}
    fits = {
        form: identify_from_impacts(body, impacts, chosen, near=near, lasting=lasting)
        for form, chosen in forms.items()
    }
    return fits["disk"], pd.DataFrame(
        [_row(form, fits[form], chosen) for form, chosen in forms.items()]
    )


def _row(form: str, fit: dict[str, Any], options: ImpactModelOptions) -> dict[str, object]:
    row: dict[str, object] = {"form": form}
    for name, value in fit["parameters"].items():
        low, high = fit["intervals"][name]
        row |= {name: value, f"{name}_low": low, f"{name}_high": np.inf if high is None else high}
    row |= {name: fit[name] for name in ("friction_identified", "objective", "reduced_chi_square")}
    row |= {name: fit[name] for name in ("noise_chi_square", "law_fits")}
    row["model_error_m_s"], row["model_error_rad_s"] = options.model_error
    row |= {
        "converged": fit["converged"],
        "complementarity_residual": fit["residuals"]["complementarity"],
    }
    row |= {name: fit["data"][name] for name in ("n_impacts", "n_sliding")}
    starts = fit["multi_start"]
    return row | {
        "starts": starts["starts"],
        "starts_agreeing": starts["agreeing"],
    }


def identify_from_file(
    impacts: str, dataset: str, velocity_variant: str, fit: str, forms: str
) -> None:
    """Identify on the identification part of a file of impacts; write the fit and the comparison of
    forms.
    """
    body, windows, stepping = read_impacts(impacts, split=IDENTIFICATION)
    record, compared = compare_forms(body, windows, stepping.time_step)
    write_csv(compared, forms)
    data = {
        "dataset": dataset,
        **record["data"],
        "n_tosses": len({window.impact.toss for window in windows}),
    }
    write_fit(fit, {**record, "data": data, "variant": f"{velocity_variant}_mpec"})

"""Friction and restitution from selected impacts by an MPEC, with intervals, as a record for ``fits/*.json``.

The MPEC (:mod:`contactid.tossing.models.impacts`) is solved from several starts, found in the data; the best answer is
held against the exact law (:mod:`contactid.tossing.models.impact_likelihood`), which knows no local minima of an
impact's own unknowns, and restarted from there where that is better. What the record says of convergence is measured
at the answer. :func:`compare_forms` has the program in all its forms side by side: friction disk and polyhedra, free
e_T, the paper's own loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.complementarity import Continuation, MpecSolution, attach, settle, solve_mpec
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.output.tables import write_csv
from contactid.sources.motion import BodyProperties
from contactid.tossing.identify.trajectories import resampled_best
from contactid.tossing.impacts.impact import WEIGHTS, Impact, ImpactWindow, read_impacts
from contactid.tossing.impacts.law import ImpactTable, Values, impact_table, law_residual
from contactid.tossing.models.impact_likelihood import Likelihood, likelihood
from contactid.tossing.models.impact_uncertainty import (
    FrictionEvidence,
    Uncertainty,
    friction_evidence,
    interval,
    uncertainty,
)
from contactid.tossing.models.impacts import Friction, ImpactModel, ImpactModelOptions, Objective, build_impact_model
from contactid.tossing.prepare.preprocess import IDENTIFICATION

_CONTINUATION = Continuation()
_RESAMPLES = 500  # of the tosses, for intervals of the mean of norms
_AGREES = 1e-3  # in a parameter: starts that ended this close to the best one found the same answer
_BETTER = 1e-7  # relative
_SLIDES = 1e-6  # m/s
_GRID_STEP = 0.01
_ALTERNATIONS = 10  # between the exact law, which says who slides, and the parameters
_GENEROUS = (0.05, 0.5)  # m/s and rad/s
_SETTLED = 0.1  # relative change of the model's error that is no change
_ROUNDS = 2  # of estimating the model's error from the residuals at the last parameters
_FIRST = (0.3, 0.3)  # mu and e_N
_NORMAL = 1.4826  # median absolute value to standard deviation
_PLACES = slice(0, 3), slice(3, 6)


@dataclass(frozen=True)
class Run:
    """One of several starts, and where it led.

    Attributes
    ----------
    mu, e_n : start
    found : (mu, e_N, e_T)
    impulses : (n, 3) N s
    slip_speeds : (n,) m/s
    pre_twists : (n, 6) m/s and rad/s
    solution : of the continuation
    """

    mu: float
    e_n: float
    found: tuple[float, float, float]
    impulses: np.ndarray
    slip_speeds: np.ndarray
    pre_twists: np.ndarray
    solution: MpecSolution

    @classmethod
    def at(cls, built: ImpactModel, mu: float, e_n: float, solution: MpecSolution) -> Run:
        """What a model holds that was solved from a start."""
        return cls(mu, e_n, built.parameters, built.impulses(), built.slip_speeds(), built.pre_twists(), solution)


def identify_from_impacts(
    body: BodyProperties,
    impacts: Sequence[Impact],
    options: ImpactModelOptions | None = None,
    *,
    seed: int = 0,
    start: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Identify mu, e_N (and e_T where ``options`` free it) from impacts.

    The ``seed`` is for the intervals of the mean of norms: resampling of tosses. The solver begins at ``start`` (mu,
    e_N); without one, or where it doesn't converge from there, at four points found in the data.

    Returns
    -------
    The record that :func:`contactid.output.fits.write_fit` takes. ``objective`` and what is said of the solver are of
    the best start; ``exact_objective`` is the same at the same parameters by the exact law. ``impact_law``: largest
    violation of the impact law in m/s, recomputed by :func:`law_residual`. ``intervals``: 95 %; mu's has no upper end
    where friction isn't identified. ``multi_start``: all starts; ``agreeing`` of them converged to the same parameters.

    Raises
    ------
    ContactIdError
        Without impacts, or where no start comes to a feasible point.
    """
    options = options or ImpactModelOptions()
    table = impact_table(body, impacts)
    problem = likelihood(table, options.model_error)
    runs = _runs(table, options, [start]) if start else []
    if not any(run.solution.converged for run in runs):
        runs += _runs(table, options, _starts(table, options))
    best = min(runs, key=lambda run: (not run.solution.converged, run.solution.objective))
    exact = _exact_objective(problem, options, best.found)
    if options.friction is Friction.DISK:
        for _ in range(_ALTERNATIONS):
            if exact >= best.solution.objective * (1.0 - _BETTER):
                break
            again = _from_exact_law(table, options, problem, best.found)
            if again is None or again.solution.objective >= best.solution.objective:
                break
            best = again
            runs.append(again)
            exact = _exact_objective(problem, options, best.found)
    if best.solution.last.primal_infeasibility > 1e-2:
        raise ContactIdError("no start of the impact MPEC comes to a feasible point", "Look at the solver's log")
    n_sliding = int((best.slip_speeds > _SLIDES).sum())
    if n_sliding == 0:  # any mu from the steepest impulse on is as good: give the least
        steepest = np.linalg.norm(best.impulses[:, :2], axis=1) / np.maximum(best.impulses[:, 2], np.finfo(float).tiny)
        best = replace(best, found=(min(float(steepest.max()), best.found[0]), *best.found[1:]))
    mu, e_n, e_t = best.found
    spread: Uncertainty | None = None
    if options.objective is Objective.LEAST_SQUARES:
        spread = uncertainty(problem, mu, e_n, e_t, free_e_t=options.free_e_t)
        intervals = _intervals(spread, best.found, options)
        evidence = friction_evidence(problem, mu, e_n, e_t)
    else:
        intervals, evidence = _bootstrap(table, options, best.found, seed)
    if not evidence.identified:
        intervals["friction_mu"] = (evidence.lower_bound, np.inf)
    law = law_residual(table.delassus, table.relative(best.pre_twists), best.impulses, *best.found)
    told_apart = np.array([run.found for run in runs]) - best.found  # (start, 3)
    same = np.abs(told_apart[:, 0 if n_sliding else 1 :]).max(axis=1) <= _AGREES
    last = best.solution.last
    errors = [None if not np.isfinite(error) else float(error) for error in spread.standard_errors] if spread else None
    return {
        "parameters": {"friction_mu": mu, "restitution_e_n": e_n}
        | ({"restitution_e_t": e_t} if options.free_e_t else {}),
        "objective": best.solution.objective,
        "status": last.status,
        "converged": best.solution.converged,
        "residuals": {
            "complementarity": best.solution.residual,
            "primal_infeasibility": last.primal_infeasibility,
            "dual_infeasibility": last.dual_infeasibility,
            "impact_law": float(law.max()),
        },
        "iterations": sum(run.solution.iterations for run in runs),
        "seconds": sum(run.solution.seconds for run in runs),
        "seed": seed,
        "data": {"part": IDENTIFICATION, "n_impacts": len(table), "n_sliding": n_sliding},
        "model": f"impacts, {options.objective.value}, friction {options.friction.value}"
        + (f" of {options.facets} facets" if options.friction is Friction.POLYHEDRON else "")
        + (", errors in variables" if options.estimate_pre_twist else ", pre-impact twists as measured"),
        "reformulation": _CONTINUATION.reformulation.value + (", settled" if best.solution.settled else ""),
        "intervals": {name: [low, high if np.isfinite(high) else None] for name, (low, high) in intervals.items()},
        "standard_errors": errors,
        "interval_kind": "bootstrap by toss"
        if spread is None
        else ("sandwich by toss" if spread.robust else "information"),
        "reduced_chi_square": spread.reduced_chi_square if spread else None,
        "friction_identified": evidence.identified,
        "mu_lower_bound": evidence.lower_bound,
        "friction_evidence": evidence.evidence,
        "exact_objective": exact,
        "route": last.route,
        "solver": last.solver,
        "multi_start": {
            "starts": len(runs),
            "agreeing": sum(run.solution.converged and bool(one) for run, one in zip(runs, same, strict=True)),
            "found": [
                {
                    "mu_start": run.mu,
                    "mu": run.found[0],
                    "e_n": run.found[1],
                    "objective": run.solution.objective,
                    "converged": run.solution.converged,
                }
                for run in runs
            ],
        },
    }


def data_estimates(table: ImpactTable) -> tuple[np.ndarray, np.ndarray]:
    """First guesses without any model of friction: |T| / N and -gamma_N^+ / gamma_N^- of every impact, (n,) each.

    The impulse is the one that explains the change of twist best in the sense of the measurements' covariances.
    """
    precision = np.linalg.inv(table.pre_covariance + table.post_covariance)
    weighted = np.swapaxes(table.response, 1, 2) @ precision
    change = (table.post_twist - table.pre_twist)[..., None]
    impulse = np.linalg.solve(weighted @ table.response, weighted @ change)[..., 0]
    ratio = np.linalg.norm(impulse[:, :2], axis=1) / np.maximum(impulse[:, 2], np.finfo(float).tiny)
    after = table.relative(table.post_twist)
    return ratio, -after[:, 2] / np.minimum(table.approach[:, 2], -np.finfo(float).tiny)


def _starts(table: ImpactTable, options: ImpactModelOptions) -> list[tuple[float, float]]:
    """Few sticking impacts have |T| / N at mu, none has it above: mu is looked for among the larger quantiles."""
    ratio, bounce = data_estimates(table)
    e_n = float(np.clip(np.median(bounce), 0.0, 1.0))
    quantiles = np.quantile(ratio, [0.5, 0.75, 0.95])
    mus = np.clip([0.3 * quantiles[0], *quantiles], 0.01, 0.95 * options.largest_mu)
    return [(float(mu), e_n) for mu in mus]


def _runs(table: ImpactTable, options: ImpactModelOptions, starts: Sequence[tuple[float, float]]) -> list[Run]:
    """Solve one model from all starts, each of which sets all of its variables."""
    built = build_impact_model(table, options)
    pairs, runs = attach(built.model, built.pairs, _CONTINUATION.reformulation), []
    for mu, e_n in starts:
        built.start_at(mu, e_n)
        runs.append(Run.at(built, mu, e_n, solve_mpec(pairs, _CONTINUATION)))
    return runs


def _from_exact_law(
    table: ImpactTable, options: ImpactModelOptions, problem: Likelihood, at: tuple[float, float, float]
) -> Run | None:
    """Take from the exact law which impacts stick and which slide at given parameters, and solve what is left."""
    built = build_impact_model(table, options)
    built.start_at(*at, problem.pre_twists(problem.fit(*at), *at[1:]))
    pairs = attach(built.model, built.pairs, _CONTINUATION.reformulation)
    settled = settle(pairs)
    if settled is None:
        return None
    residual = pairs.residual()
    solution = MpecSolution(
        stages=(settled,),
        parameters=(float("nan"),),
        residual=residual,
        objective=settled.objective,
        converged=residual <= _CONTINUATION.tolerance,
        settled=True,
    )
    return Run.at(built, at[0], at[1], solution)


def _losses(table: ImpactTable, options: ImpactModelOptions, mu: float, e_n: Values, e_t: float) -> np.ndarray:
    """(n,) eq. 17 by the exact law, with the model's smoothing."""
    error = (table.post_twist - table.predict(mu, e_n, e_t)) * WEIGHTS
    return np.sqrt(options.smoothing**2 + (error**2).sum(axis=1))


def _exact_objective(problem: Likelihood, options: ImpactModelOptions, at: tuple[float, float, float]) -> float:
    if options.objective is Objective.MEAN_NORM:
        return float(_losses(problem.table, options, *at).mean())
    if options.estimate_pre_twist:
        return problem.objective(*at)
    table = problem.table  # with the model error in its covariance
    error = table.post_twist - table.predict(*at)
    return 0.5 * float(np.einsum("ni,nij,nj->", error, np.linalg.inv(table.post_covariance), error))


def _intervals(
    spread: Uncertainty, found: tuple[float, float, float], options: ImpactModelOptions
) -> dict[str, tuple[float, float]]:
    highest = {"friction_mu": options.largest_mu, "restitution_e_n": 1.0, "restitution_e_t": 1.0}
    known = zip(highest.items(), found, spread.standard_errors, spread.degrees, strict=False)  # e_T only where free
    return {
        name: interval(value, float(error), float(degrees), 0.0, most) for (name, most), value, error, degrees in known
    }


def _bootstrap(
    table: ImpactTable, options: ImpactModelOptions, found: tuple[float, float, float], seed: int
) -> tuple[dict[str, tuple[float, float]], FrictionEvidence]:
    """Percentile bootstrap over tosses on a grid, and whether the loss without a limit on friction is really larger."""
    mus = np.arange(0.0, options.largest_mu + _GRID_STEP, _GRID_STEP)
    bounces = np.arange(0.0, 1.0 + _GRID_STEP, 2.0 * _GRID_STEP)
    tosses = table.toss.astype(str)
    every, at = table.repeated(len(bounces)), np.tile(bounces, len(table))
    on_grid = np.array([_losses(every, options, mu, at, found[2]) for mu in mus])  # (mu, impact and e_N)
    losses = on_grid.reshape(len(mus), len(table), len(bounces)).swapaxes(0, 1)
    at_mu, at_e = resampled_best(losses, _RESAMPLES, seed, tosses)
    chosen = {"friction_mu": (mus[at_mu], 0.5 * _GRID_STEP), "restitution_e_n": (bounces[at_e], _GRID_STEP)}
    intervals = {}
    for name, (values, half) in chosen.items():
        low, high = np.percentile(values, [2.5, 97.5])
        intervals[name] = (max(float(low) - half, 0.0), float(high) + half)
    # one-sided, paired by toss: how small could mu be, and is unlimited friction worse?
    names, cluster = np.unique(tosses, return_inverse=True)
    m = len(names)
    here, without = (np.bincount(cluster, _losses(table, options, mu, *found[1:]), m) for mu in (found[0], 1e3))
    unlimited = without - here
    error = float(unlimited.std(ddof=1) * np.sqrt(m)) if m > 1 else np.inf
    evidence = float(unlimited.sum() / error) if error > 0.0 else 0.0
    return intervals, FrictionEvidence(evidence > 1.96, float(np.percentile(mus[at_mu], 5.0)), evidence)


def model_error(body: BodyProperties, windows: Sequence[ImpactWindow], mu: float, e_n: float) -> tuple[float, float]:
    """Standard deviations (m/s, rad/s) per axis of what the law gets wrong beyond the fitted twists' noise.

    From the median absolute residuals at given parameters, so that a few impacts that the law misses altogether don't
    decide; twice the noise of both twists is subtracted, which bounds what the law makes of it from above: an error of
    the size of the noise is not told from it.
    """
    table = impact_table(body, [window.impact for window in windows])
    residual = table.post_twist - table.predict(mu, e_n)
    noise = np.diagonal(table.pre_covariance + table.post_covariance, axis1=1, axis2=2)
    found = []
    for place in _PLACES:
        spread = _NORMAL * float(np.median(np.abs(residual[:, place])))
        found.append(float(np.sqrt(max(spread**2 - 2.0 * float(np.median(noise[:, place])), 0.0))))
    return found[0], found[1]


def identify_with_model_error(
    body: BodyProperties, windows: Sequence[ImpactWindow], *, seed: int
) -> tuple[dict[str, Any], ImpactModelOptions]:
    """Least squares over an exact disk, with the model's own error estimated between solves: record and options.

    It begins with a generous model error, under which a few impacts with tiny noise can't mislead the first solve. Only
    the last solve has several starts.
    """
    impacts = [window.impact for window in windows]
    options, start = ImpactModelOptions(model_error=_GENEROUS), _FIRST
    for _ in range(_ROUNDS):
        start = _mu_and_e_n(identify_from_impacts(body, impacts, options, start=start))
        error = model_error(body, windows, *start)
        if np.allclose(error, options.model_error, rtol=_SETTLED, atol=1e-9):
            break
        options = replace(options, model_error=error)
    return identify_from_impacts(body, impacts, options, seed=seed), options


def _mu_and_e_n(fit: dict[str, Any]) -> tuple[float, float]:
    return fit["parameters"]["friction_mu"], fit["parameters"]["restitution_e_n"]


def compare_forms(
    body: BodyProperties,
    windows: Sequence[ImpactWindow],
    main: tuple[dict[str, Any], ImpactModelOptions],
    *,
    facets: Sequence[int],
    seed: int,
) -> pd.DataFrame:
    """One row per form; the first is ``main`` from :func:`identify_with_model_error`, the others start at its answer.

    Columns: form, mu, e_N, e_T with their 95 % intervals, objective, convergence, complementarity residual, impacts
    that slide, starts that agree, seconds.
    """
    impacts = [window.impact for window in windows]
    changes: dict[str, dict[str, Any]] = {
        f"polyhedron of {n} facets": {"friction": Friction.POLYHEDRON, "facets": n} for n in facets
    }
    changes["disk, e_T free"] = {"free_e_t": True}
    changes["disk, loss of eq. 17"] = {
        "objective": Objective.MEAN_NORM, "estimate_pre_twist": False, "model_error": (0.0, 0.0),
    }  # fmt: skip
    rows = [_row("disk", *main)]
    for form, change in changes.items():
        options = replace(main[1], **change)
        fit = identify_from_impacts(body, impacts, options, seed=seed, start=_mu_and_e_n(main[0]))
        rows.append(_row(form, fit, options))
    return pd.DataFrame(rows)


def _row(form: str, fit: dict[str, Any], options: ImpactModelOptions) -> dict[str, object]:
    row: dict[str, object] = {"form": form}
    for name, value in fit["parameters"].items():
        low, high = fit["intervals"].get(name, (np.nan, np.nan))
        row |= {name: value, f"{name}_low": low, f"{name}_high": np.inf if high is None else high}
    return row | {
        "friction_identified": fit["friction_identified"],
        "objective": fit["objective"],
        "reduced_chi_square": np.nan if fit["reduced_chi_square"] is None else fit["reduced_chi_square"],
        "model_error_m_s": options.model_error[0],
        "model_error_rad_s": options.model_error[1],
        "converged": fit["converged"],
        "complementarity_residual": fit["residuals"]["complementarity"],
        "n_impacts": fit["data"]["n_impacts"],
        "n_sliding": fit["data"]["n_sliding"],
        "starts": fit["multi_start"]["starts"],
        "starts_agreeing": fit["multi_start"]["agreeing"],
        "seconds": fit["seconds"],
    }


def identify_from_file(
    impacts: str, dataset: str, velocity_variant: str, facets: list[int], seed: int, fit: str, forms: str
) -> None:
    """Identify on the identification part of a file of impacts; write the fit and the comparison of forms."""
    body, windows, _ = read_impacts(impacts, split=IDENTIFICATION)
    best = identify_with_model_error(body, windows, seed=seed)
    write_csv(compare_forms(body, windows, best, facets=facets, seed=seed), forms)
    record, n_tosses = best[0], len({window.impact.toss for window in windows})
    data = {"dataset": dataset, **record["data"], "n_tosses": n_tosses}
    write_fit(fit, {**record, "data": data, "variant": f"{velocity_variant}_mpec"})

"""The impact MPEC in all its forms side by side: friction disk and polyhedra, free e_T, the paper's own loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from contactid.output.fits import write_fit
from contactid.output.tables import write_csv
from contactid.sources.motion import BodyProperties
from contactid.tossing.impact import ImpactWindow
from contactid.tossing.impact_files import read_impacts
from contactid.tossing.impact_law import impact_table
from contactid.tossing.models.impacts import Friction, ImpactModelOptions, Objective
from contactid.tossing.mpec_identification import ImpactIdentification, identify_from_impacts, impact_fit_record
from contactid.tossing.preprocess import IDENTIFICATION

_GENEROUS = (0.05, 0.5)  # m/s and rad/s
_SETTLED = 0.1  # relative change of the model's error that is no change
_ROUNDS = 2  # of estimating the model's error from the residuals at the last parameters
_NORMAL = 1.4826  # median absolute value to standard deviation
_PLACES = slice(0, 3), slice(3, 6)


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
) -> tuple[ImpactIdentification, ImpactModelOptions]:
    """Least squares over an exact disk, with the model's own error estimated between solves.

    It begins with a generous model error, under which a few impacts with tiny noise can't mislead the first solve.
    """
    impacts = [window.impact for window in windows]
    options = ImpactModelOptions(model_error=_GENEROUS)
    fit = identify_from_impacts(body, impacts, options, seed=seed)
    for _ in range(_ROUNDS):
        error = model_error(body, windows, fit.mu, fit.e_n)
        if np.allclose(error, options.model_error, rtol=_SETTLED, atol=1e-9):
            break
        options = replace(options, model_error=error)
        fit = identify_from_impacts(body, impacts, options, seed=seed)
    return fit, options


def compare_forms(
    body: BodyProperties,
    windows: Sequence[ImpactWindow],
    main: tuple[ImpactIdentification, ImpactModelOptions],
    *,
    facets: Sequence[int],
    seed: int,
) -> pd.DataFrame:
    """One row per form; the first is ``main`` from :func:`identify_with_model_error`.

    Columns: form, mu, e_N, e_T with their 95 % intervals, objective, convergence, complementarity residual, impacts
    that slide, starts that agree, seconds.
    """
    impacts, options = [window.impact for window in windows], main[1]
    rows = [_row("disk", main[0])]
    for n in facets:
        polyhedron = replace(options, friction=Friction.POLYHEDRON, facets=n)
        rows.append(_row(f"polyhedron of {n} facets", identify_from_impacts(body, impacts, polyhedron, seed=seed)))
    rows.append(
        _row("disk, e_T free", identify_from_impacts(body, impacts, replace(options, free_e_t=True), seed=seed))
    )
    paper = replace(options, objective=Objective.MEAN_NORM, estimate_pre_twist=False, model_error=(0.0, 0.0))
    rows.append(_row("disk, loss of eq. 17", identify_from_impacts(body, impacts, paper, seed=seed)))
    return pd.DataFrame(rows)


def _row(form: str, fit: ImpactIdentification) -> dict[str, object]:
    def side(name: str, end: int) -> float:
        return float(fit.intervals[name][end]) if name in fit.intervals else np.nan

    row: dict[str, object] = {"form": form}
    for name, value in (("friction_mu", fit.mu), ("restitution_e_n", fit.e_n), ("restitution_e_t", fit.e_t)):
        row |= {name: value, f"{name}_low": side(name, 0), f"{name}_high": side(name, 1)}
    return row | {
        "friction_identified": fit.friction.identified,
        "objective": fit.solution.objective,
        "reduced_chi_square": fit.uncertainty.reduced_chi_square if fit.uncertainty else np.nan,
        "model_error_m_s": fit.options.model_error[0],
        "model_error_rad_s": fit.options.model_error[1],
        "converged": fit.converged,
        "complementarity_residual": fit.solution.residual,
        "n_impacts": fit.n_impacts,
        "n_sliding": fit.n_sliding,
        "starts": len(fit.starts),
        "starts_agreeing": fit.agreeing,
        "seconds": sum(start.solution.seconds for start in fit.starts),
    }


def identify_from_file(
    impacts: str, dataset: str, velocity_variant: str, facets: list[int], seed: int, fit: str, forms: str
) -> None:
    """Identify on the identification part of a file of impacts; write the fit and the comparison of forms."""
    body, windows, _ = read_impacts(impacts, split=IDENTIFICATION)
    best = identify_with_model_error(body, windows, seed=seed)
    n_tosses = len({window.impact.toss for window in windows})
    record = impact_fit_record(best[0], dataset=dataset, part=IDENTIFICATION, seed=seed, n_tosses=n_tosses)
    write_fit(fit, {**record, "variant": f"{velocity_variant}_mpec"})
    write_csv(compare_forms(body, windows, best, facets=facets, seed=seed), forms)

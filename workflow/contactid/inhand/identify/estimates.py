"""Recordings estimated by every method and solver: a row each, failures included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.core.inertia import (
    PARAMETER_NAMES,
    InertialParameters,
    consistency,
    geodesic_distance,
    tensor_entries,
    uniform_body,
)
from contactid.inhand.identify.baseline import estimate_baseline
from contactid.inhand.identify.levenberg_marquardt import estimate_with_graph
from contactid.inhand.identify.methods import (
    CONSTRAINED,
    DATA,
    ESTIMATE_COLUMNS,
    IPOPT,
    LEAST_SQUARES,
    PRIOR,
    UNIFORM,
    Estimate,
    failed_estimate,
    parameter_values,
)
from contactid.inhand.readers.recordings import read_recording, true_parameters
from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset

FIT_COLUMNS = (
    *ESTIMATE_COLUMNS, "samples", "iterations", "objective", *(f"se_{name}" for name in PARAMETER_NAMES), "message",
)  # fmt: skip


def estimates(
    recording: xr.Dataset, methods: Sequence[str], solver: str, prior: InertialParameters, study: Mapping[str, Any]
) -> list[Estimate]:
    """Estimates by several methods; a recording that a solver can't work on gives ones that aren't converged.

    Parameters
    ----------
    recording
        Canonical.
    methods, solver
        Names as in :mod:`.methods`; least squares has the method ``baseline`` only.
    prior
        Of the one method that has a prior.
    study
        The block ``inhand`` of the configuration: ``baseline``, ``graph`` and ``ipopt``.
    """
    if solver == IPOPT:
        # loaded where it is used, so that the other solvers work without Pyomo and IPOPT
        from contactid.core.solve import available_route
        from contactid.inhand.identify.ipopt import estimates_with_ipopt

        available_route()  # no solver is no failed estimate but an error
        try:
            return estimates_with_ipopt(recording, methods, prior, study["ipopt"])
        except ContactIdError as error:
            return [failed_estimate(method, IPOPT, str(error)) for method in methods]
    found = []
    for method in methods:
        try:
            if solver == LEAST_SQUARES:
                found.append(estimate_baseline(recording, study["baseline"]))
            else:
                found.append(estimate_with_graph(recording, method, prior, study["graph"]))
        except ContactIdError as error:
            found.append(failed_estimate(method, solver, str(error)))
    return found


def estimate_rows(
    recording: xr.Dataset, truth: InertialParameters, methods: Mapping[str, Sequence[str]], study: Mapping[str, Any]
) -> pd.DataFrame:
    """A row of :data:`FIT_COLUMNS` per solver and method, in the order given, and one of the naive answer.

    Parameters
    ----------
    recording, truth
        Canonical, and what is known to be true: the prior of the one method that has one, as in the paper.
    methods
        By solver, methods by name.
    study
        As in :func:`estimates`.
    """
    found = [one for solver, names in methods.items() for one in estimates(recording, names, solver, truth, study)]
    rows = [_row(recording, truth, one) for one in [*found, *_naive(recording, found)]]
    return pd.DataFrame(rows, columns=list(FIT_COLUMNS))


def _naive(recording: xr.Dataset, found: Sequence[Estimate]) -> list[Estimate]:
    """The uniform body in the given hull with IPOPT's mass, where there is one: what the data must be better than."""
    given = [one for one in found if one.solver == IPOPT and one.method == CONSTRAINED]
    return [
        replace(
            one,
            method=UNIFORM,
            parameters=uniform_body(one.parameters.mass, recording["hull"].values),
            standard_errors=np.full(10, np.nan),
            message="the mass is the estimate's",
        )
        for one in given
        if one.parameters.mass > 0.0
    ]


def _row(recording: xr.Dataset, truth: InertialParameters, found: Estimate) -> dict[str, object]:
    body = found.parameters
    known = {name: recording.attrs[name] for name in ("source", "object", "noise_level", "seed")}
    return {
        **known,
        "method": found.method,
        "solver": found.solver,
        "converged": found.converged,
        "physically_consistent": consistency(body, recording["hull"].values).consistent,
        "geodesic_error": geodesic_distance(truth, body),
        "decided_by": _decided_by(recording, found),
        **parameter_values(body),
        "seconds": found.seconds,
        "samples": recording.sizes["sample"],
        "iterations": found.iterations,
        "objective": found.objective,
        **{f"se_{name}": error for name, error in zip(PARAMETER_NAMES, found.standard_errors, strict=True)},
        "message": found.message,
    }


def _decided_by(recording: xr.Dataset, found: Estimate) -> str:
    """The prior where no entry of the tensor is one standard error of the data away from the uniform body's.

    That body has the estimate's mass and centre of mass. Only IPOPT's constrained method has this prior.
    """
    body = found.parameters
    if found.solver != IPOPT or found.method not in (CONSTRAINED, UNIFORM) or not body.mass > 0.0:
        return DATA
    uniform = uniform_body(body.mass, recording["hull"].values)
    moved = body.inertia_at_center - uniform.inertia_at_center
    errors = found.standard_errors[4:]
    away = np.abs(tensor_entries(moved)) >= np.where(np.isnan(errors), np.inf, errors)
    return DATA if away.any() else PRIOR


def write_estimates(
    recordings: Sequence[str | Path],
    truths: Sequence[str | Path],
    table: str | Path,
    methods: Mapping[str, Sequence[str]],
    study: Mapping[str, Any],
) -> None:
    """Estimate recordings, with their truths in the same order, and keep the :func:`estimate_rows` of all as a csv."""
    tables = [
        estimate_rows(read_recording(recording), true_parameters(read_dataset(truth)), methods, study)
        for recording, truth in zip(recordings, truths, strict=True)
    ]
    write_csv(pd.concat(tables, ignore_index=True), table)

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
    uniform_body,
)
from contactid.inhand.identify.baseline import estimate_baseline
from contactid.inhand.identify.levenberg_marquardt import estimate_with_graph
from contactid.inhand.identify.methods import (
    ESTIMATE_COLUMNS,
    LEAST_SQUARES,
    LIKELIHOOD,
    PRIOR,
    UNIFORM,
    Estimate,
    failed_estimate,
    parameter_values,
)
from contactid.inhand.identify.ours import our_estimate
from contactid.inhand.readers.recordings import read_recording, true_parameters
from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset

FIT_COLUMNS = (
    *ESTIMATE_COLUMNS, "samples", "iterations", "objective", *(f"se_{name}" for name in PARAMETER_NAMES), "message",
)  # fmt: skip


def estimates(
    recording: xr.Dataset,
    methods: Sequence[str],
    solver: str,
    prior: InertialParameters,
    study: Mapping[str, Any],
) -> list[Estimate]:
    """Estimates by several methods; a recording that a solver can't work on gives ones that aren't
    converged.

    Parameters
    ----------
    recording
        Canonical.
    methods, solver
        Names as in :mod:`.methods`; least squares has the method ``baseline`` only, likelihood
        ``constraint_no_geodesic``.
    prior
        Of the one method that has a prior.
    study
        The block ``inhand`` of the configuration: ``baseline`` and ``graph``.
    """
    found = []
    for method in methods:
        try:
            if solver == LEAST_SQUARES:
                found.append(estimate_baseline(recording, study["baseline"]))
            elif solver == LIKELIHOOD:
                found.append(our_estimate(recording))
            else:
                found.append(estimate_with_graph(recording, method, prior, study["graph"]))
        # a failed solve is a row, never dropped
        except ContactIdError as error:
            found.append(failed_estimate(method, solver, str(error)))
    return found


def estimate_rows(
    recording: xr.Dataset,
    truth: InertialParameters,
    methods: Mapping[str, Sequence[str]],
    study: Mapping[str, Any],
) -> pd.DataFrame:
    """A row of :data:`FIT_COLUMNS` per solver and method, in the order given, and one of the naive
    answer.

    Parameters
    ----------
    recording, truth
        Canonical, and what is known to be true: the prior of the one method that has one, as in the
        paper.
    methods
        By solver, methods by name.
    study
        As in :func:`estimates`.
    """
    found = [
        one
        for solver, names in methods.items()
        for one in estimates(recording, names, solver, truth, study)
    ]
    rows = [_row(recording, truth, one) for one in [*found, *_naive(recording, found)]]
    return pd.DataFrame(rows, columns=list(FIT_COLUMNS))


def _naive(recording: xr.Dataset, found: Sequence[Estimate]) -> list[Estimate]:
    """The uniform body in the given hull with our estimate's mass: what the data must be better
    than.
    """
    return [
        replace(
            one,
            method=UNIFORM,
            parameters=uniform_body(one.parameters.mass, recording["hull"].values),
            standard_errors=np.full(10, np.nan),
            message="the mass is the estimate's",
            decided_by=PRIOR,
        )
        # beside ours alone: the paper's masses may be negative
        for one in found
        if one.solver == LIKELIHOOD and one.parameters.mass > 0.0
    ]


def _row(recording: xr.Dataset, truth: InertialParameters, found: Estimate) -> dict[str, object]:
    body = found.parameters
    labels = {name: recording.attrs[name] for name in ("source", "object", "noise_level", "seed")}
    return {
        **labels,
        "method": found.method,
        "solver": found.solver,
        "converged": found.converged,
        "physically_consistent": consistency(body, recording["hull"].values).consistent,
        "geodesic_error": geodesic_distance(truth, body),
        "decided_by": found.decided_by,
        **parameter_values(body),
        "seconds": found.seconds,
        "samples": recording.sizes["sample"],
        "iterations": found.iterations,
        "objective": found.objective,
        **{
            f"se_{name}": error
            for name, error in zip(PARAMETER_NAMES, found.standard_errors, strict=True)
        },
        "message": found.message,
    }


def write_estimates(
    recordings: Sequence[str | Path],
    truths: Sequence[str | Path],
    table: str | Path,
    methods: Mapping[str, Sequence[str]],
    study: Mapping[str, Any],
) -> None:
    """Estimate recordings, with their truths in the same order, and keep the :func:`estimate_rows`
    of all as a csv.
    """
    tables = [
        estimate_rows(
            read_recording(recording), true_parameters(read_dataset(truth)), methods, study
        )
        for recording, truth in zip(recordings, truths, strict=True)
    ]
    write_csv(pd.concat(tables, ignore_index=True), table)

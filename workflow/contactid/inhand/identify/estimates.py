"""Recordings estimated by every method and solver: a row each, failures included."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.core.inertia import PARAMETER_NAMES, InertialParameters, consistency, geodesic_distance, tensor_entries
from contactid.inhand.identify.baseline import BaselineOptions, estimate_baseline
from contactid.inhand.identify.factor_graph import FactorWeights
from contactid.inhand.identify.levenberg_marquardt import GraphOptions, IterationOptions, estimate_with_graph
from contactid.inhand.identify.methods import (
    ESTIMATE_COLUMNS,
    FACTOR_GRAPH,
    IPOPT,
    LEAST_SQUARES,
    PARAMETER_COLUMNS,
    Estimate,
    ObjectKnowledge,
    failed_estimate,
)
from contactid.inhand.readers.recordings import read_recording, true_parameters
from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset

FIT_COLUMNS = (
    *ESTIMATE_COLUMNS, "samples", "iterations", "objective", *(f"se_{name}" for name in PARAMETER_NAMES), "message",
)  # fmt: skip


def graph_options(block: Mapping[str, Any], knowledge: ObjectKnowledge) -> GraphOptions:
    """Of the block ``inhand: graph`` and what is known of the object."""
    return GraphOptions(
        weights=FactorWeights(**block["weights"]),
        scheme=block["scheme"],
        iterations=IterationOptions(**block["iterations"]),
        knowledge=knowledge,
    )


def known_object(recording: xr.Dataset, truth: InertialParameters | None) -> ObjectKnowledge:
    """The recording's geometry, and the truth as the prior of the one method that has a prior, as in the paper."""
    return ObjectKnowledge(recording["hull"].values if "hull" in recording else None, truth)


def estimates(
    recording: xr.Dataset,
    methods: Sequence[str],
    solver: str,
    knowledge: ObjectKnowledge,
    study: Mapping[str, Any],
) -> list[Estimate]:
    """Estimates by several methods; a recording that a solver can't work on gives ones that aren't converged.

    Parameters
    ----------
    recording
        Canonical.
    methods, solver
        Names as in :mod:`.methods`; least squares has the method ``baseline`` only.
    knowledge
        Geometry and prior.
    study
        The block ``inhand`` of the configuration: ``baseline``, ``graph`` and ``ipopt``.
    """
    estimators: dict[str, Callable[[str], Estimate]] = {
        LEAST_SQUARES: lambda _: estimate_baseline(recording, BaselineOptions(**study["baseline"])),
        FACTOR_GRAPH: lambda method: estimate_with_graph(recording, method, graph_options(study["graph"], knowledge)),
    }
    if solver == IPOPT:
        return _with_ipopt(recording, methods, knowledge, study["ipopt"])
    return [_tried(estimators[solver], method, solver) for method in methods]


def estimate_rows(
    recording: xr.Dataset,
    truth: InertialParameters | None,
    methods: Mapping[str, Sequence[str]],
    study: Mapping[str, Any],
) -> pd.DataFrame:
    """A row of :data:`FIT_COLUMNS` per solver and method, in the order given.

    Parameters
    ----------
    recording, truth
        Canonical, and what is known to be true; None leaves the geodesic error unknown and the prior out.
    methods
        By solver, methods by name.
    study
        As in :func:`estimates`.
    """
    knowledge = known_object(recording, truth)
    rows = [
        _row(recording, truth, found, knowledge.hull_vertices)
        for solver, names in methods.items()
        for found in estimates(recording, names, solver, knowledge, study)
    ]
    return pd.DataFrame(rows, columns=list(FIT_COLUMNS))


def _tried(estimator: Callable[[str], Estimate], method: str, solver: str) -> Estimate:
    try:
        return estimator(method)
    except ContactIdError as error:
        return failed_estimate(method, solver, str(error))


def _with_ipopt(
    recording: xr.Dataset, methods: Sequence[str], knowledge: ObjectKnowledge, block: Mapping[str, Any]
) -> list[Estimate]:
    # loaded where it is used, so that the other solvers work without Pyomo and IPOPT
    from contactid.core.solve import available_route
    from contactid.inhand.identify.ipopt import estimates_with_ipopt, ipopt_options

    available_route()  # no solver is no failed estimate but an error

    possible = [method for method in methods if method != "constraint_geodesic" or knowledge.prior is not None]
    try:
        found = {one.method: one for one in estimates_with_ipopt(recording, possible, ipopt_options(block, knowledge))}
    except ContactIdError as error:
        return [failed_estimate(method, IPOPT, str(error)) for method in methods]
    return [found.get(method) or failed_estimate(method, IPOPT, "no prior was given") for method in methods]


def _row(
    recording: xr.Dataset, truth: InertialParameters | None, found: Estimate, hull: np.ndarray | None
) -> dict[str, object]:
    body = found.parameters
    values = [body.mass, *body.center_of_mass, *tensor_entries(body.inertia)]
    known = {name: recording.attrs[name] for name in ("source", "object", "noise_level", "seed")}
    return {
        **known,
        "method": found.method,
        "solver": found.solver,
        "converged": found.converged,
        "physically_consistent": consistency(body, hull).consistent,
        "geodesic_error": np.nan if truth is None else geodesic_distance(truth, body),
        **dict(zip(PARAMETER_COLUMNS, values, strict=True)),
        "seconds": found.seconds,
        "samples": recording.sizes["sample"],
        "iterations": found.iterations,
        "objective": found.objective,
        **{f"se_{name}": error for name, error in zip(PARAMETER_NAMES, found.standard_errors, strict=True)},
        "message": found.message,
    }


def write_estimates(
    recordings: Sequence[str | Path],
    truths: Sequence[str | Path | None],
    table: str | Path,
    methods: Mapping[str, Sequence[str]],
    study: Mapping[str, Any],
) -> None:
    """Estimate recordings by every method and solver.

    Parameters
    ----------
    recordings, truths
        Canonical netCDF files, in the same order; without a truth there is no geodesic error, and the method with a
        prior fails.
    table
        csv with the columns :data:`contactid.inhand.identify.estimates.FIT_COLUMNS`.
    methods
        By solver, methods by name.
    study
        The block ``inhand`` of the configuration.
    """
    tables = []
    for recording, truth in zip(recordings, truths, strict=True):
        known = None if truth is None else true_parameters(read_dataset(truth))
        tables.append(estimate_rows(read_recording(recording), known, methods, study))
    write_csv(pd.concat(tables, ignore_index=True), table)

"""What estimates cost on the study's twins: time against the number of samples, and errors by finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.inertia import InertialParameters, geodesic_distance
from contactid.inhand.identify.baseline import BaselineOptions, estimate_baseline
from contactid.inhand.identify.estimates import estimates, graph_options, known_object
from contactid.inhand.identify.kinematics import SCHEMES
from contactid.inhand.identify.levenberg_marquardt import estimate_with_graph
from contactid.inhand.identify.methods import Estimate
from contactid.inhand.readers.exact_tables import write_exact
from contactid.inhand.readers.recordings import true_parameters
from contactid.inhand.readers.twins import TwinOptions, noise_free, simulate_recording, twin_options

PLAIN, FILTERED = "least squares without filter", "baseline"


def write_speed(objects: str, study: Mapping[str, Any], times: str) -> None:
    """Keep :func:`speed_rows` of the twin that the block ``inhand: speed`` names."""
    twins = twin_options(study["twin"], objects)
    write_exact(speed_rows(lambda count: _recording(study["speed"], replace(twins, samples=count)), study), times)


def write_differences(objects: str, study: Mapping[str, Any], errors: str) -> None:
    """Keep :func:`difference_rows` of the twin that the block ``inhand: differences`` names, without its noise."""
    block, quiet = study["differences"], noise_free(twin_options(study["twin"], objects))

    def record(step: float) -> tuple[xr.Dataset, InertialParameters]:
        count = round(block["duration"] / step) + 1
        return _recording(block, replace(quiet, samples=count, time_step=step))

    write_exact(difference_rows(record, study), errors)


def _recording(block: Mapping[str, Any], twins: TwinOptions) -> tuple[xr.Dataset, InertialParameters]:
    recording, truth = simulate_recording(block["source"], block["object"], block["seed"], twins)
    return recording, true_parameters(truth)


def speed_rows(
    record: Callable[[int], tuple[xr.Dataset, InertialParameters]], study: Mapping[str, Any]
) -> pd.DataFrame:
    """Estimate recordings of several lengths.

    Parameters
    ----------
    record
        A recording of a number of samples, and the truth behind it.
    study
        The block ``inhand`` of the configuration. Of the ``repeats`` of ``speed`` the fastest counts, because other
        processes only ever slow one down.

    Returns
    -------
    pandas.DataFrame
        ``solver, method, samples, converged, iterations, seconds, ms_per_iteration``; seconds of process CPU time,
        model building included.
    """
    block, rows = study["speed"], []
    method = block["method"]
    for count in block["samples"]:
        recording, truth = record(count)
        knowledge = known_object(recording, truth)
        for solver in block["solvers"]:
            runs = [estimates(recording, [method], solver, knowledge, study)[0] for _ in range(block["repeats"])]
            best = min(runs, key=lambda run: run.seconds)
            rows.append(
                {
                    "solver": solver,
                    "method": method,
                    "samples": count,
                    "converged": best.converged,
                    "iterations": best.iterations,
                    "seconds": best.seconds,
                    "ms_per_iteration": 1e3 * best.seconds / max(best.iterations, 1),
                }
            )
    return pd.DataFrame(rows)


def difference_rows(
    record: Callable[[float], tuple[xr.Dataset, InertialParameters]], study: Mapping[str, Any]
) -> pd.DataFrame:
    """Errors of noise-free estimates by scheme of finite differences and time step.

    Parameters
    ----------
    record
        A noise-free recording with a time step in s, and the truth behind it.
    study
        The block ``inhand`` of the configuration; linear least squares, with and without the baseline's filter, come
        on top of the ``methods`` of ``differences``, which are the factor graph's.

    Returns
    -------
    pandas.DataFrame
        ``object, time_step_s, scheme, estimator, converged, mass_error_pct, com_error_mm, inertia_error_pct,
        geodesic_error``; the inertia's is the largest entry's error over the largest entry.
    """
    block, rows = study["differences"], []
    for step in block["time_steps"]:
        recording, truth = record(step)
        for scheme in SCHEMES:
            for name, found in _estimates(recording, truth, scheme, block["methods"], study):
                rows.append({"object": recording.attrs["object"], "time_step_s": step, "scheme": scheme,
                             "estimator": name, "converged": found.converged, **_errors(found, truth)})  # fmt: skip
    return pd.DataFrame(rows)


def _estimates(
    recording: xr.Dataset, truth: InertialParameters, scheme: str, methods: Sequence[str], study: Mapping[str, Any]
) -> list[tuple[str, Estimate]]:
    filtered = BaselineOptions(**{**study["baseline"], "scheme": scheme})
    found = [
        (FILTERED, estimate_baseline(recording, filtered)),
        (PLAIN, estimate_baseline(recording, replace(filtered, window=0))),
    ]
    for method in methods:
        options = graph_options({**study["graph"], "scheme": scheme}, known_object(recording, truth))
        found.append((method, estimate_with_graph(recording, method, options)))
    return found


def _errors(found: Estimate, truth: InertialParameters) -> dict[str, float]:
    body = found.parameters
    return {
        "mass_error_pct": 100.0 * abs(body.mass / truth.mass - 1.0),
        "com_error_mm": 1e3 * float(np.abs(body.center_of_mass - truth.center_of_mass).max()),
        "inertia_error_pct": 100.0 * float(np.abs(body.inertia - truth.inertia).max() / np.abs(truth.inertia).max()),
        "geodesic_error": geodesic_distance(truth, body),
    }

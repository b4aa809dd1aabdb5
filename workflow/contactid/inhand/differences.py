"""What finite differences cost: parameters from noise-free recordings by every scheme and time step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.inertia import InertialParameters, geodesic_distance
from contactid.inhand.baseline import BaselineOptions, estimate_baseline
from contactid.inhand.estimate import Estimate, estimate_with_graph
from contactid.inhand.estimate_rows import graph_options, known_object
from contactid.inhand.kinematics import SCHEMES

PLAIN = "least squares without filter"
FILTERED = "baseline"


def difference_rows(
    record: Callable[[float], tuple[xr.Dataset, InertialParameters]],
    time_steps: Sequence[float],
    methods: Sequence[str],
    study: Mapping[str, Any],
) -> pd.DataFrame:
    """Errors of noise-free estimates.

    Parameters
    ----------
    record
        A noise-free recording with a time step in s, and the truth behind it.
    time_steps
        s.
    methods
        Of the factor graph; linear least squares, with and without the baseline's filter, come on top.
    study
        The block ``inhand`` of the configuration.

    Returns
    -------
    pandas.DataFrame
        ``object, time_step_s, scheme, estimator, converged, mass_error_pct, com_error_mm, inertia_error_pct,
        geodesic_error``; the inertia's is the largest entry's error over the largest entry.
    """
    rows = []
    for step in time_steps:
        recording, truth = record(step)
        for scheme in SCHEMES:
            for name, found in _estimates(recording, truth, scheme, methods, study):
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

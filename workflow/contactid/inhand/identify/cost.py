"""What estimates cost on the study's twins: time against the number of samples, and errors by
finite differences.

And by what section IV-B chose: forces filtered or as sensed, and the weight of the prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.inertia import InertialParameters, geodesic_distance
from contactid.inhand.identify.baseline import estimate_baseline, filtered
from contactid.inhand.identify.estimates import estimates
from contactid.inhand.identify.kinematics import SCHEMES
from contactid.inhand.identify.levenberg_marquardt import estimate_with_graph
from contactid.inhand.identify.methods import CONSTRAINED, METHODS, Estimate
from contactid.inhand.readers.recordings import recorded_signals, true_parameters
from contactid.inhand.readers.sources import OBJECTS
from contactid.inhand.readers.twins import noise_free, simulate_recording, twin_options
from contactid.output.tables import write_exact

PLAIN, FILTERED = "least squares without filter", "baseline"
CONSTRAINED_FILTERED = f"{CONSTRAINED} with filter"
WITH_PRIOR = METHODS[-1]
#: Standard deviations of the prior's factor in place of the configured one, as shares of it.
PRIOR_SHARES = (1.0, 0.01)
_SHOWN = (
    2  # which object of a source: the middle level of noise, and a box whose contacts never break
)


def write_speed(objects: str, study: Mapping[str, Any], times: str) -> None:
    """Estimate recordings of several lengths, as the block ``inhand: speed`` says.

    Of the ``repeats`` the fastest counts, because other processes only ever slow one down.
    ``times`` is a csv of ``solver, method, samples, converged, iterations, seconds,
    ms_per_iteration``; seconds of process CPU time, model building included.
    """
    block, twins, rows = study["speed"], twin_options(study["twin"], objects), []
    method = block["method"]
    for count in block["samples"]:
        recording, truth = _recording(block, {**twins, "samples": count})
        for solver in block["solvers"]:
            runs = [
                estimates(recording, [method], solver, truth, study)[0]
                for _ in range(block["repeats"])
            ]
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
    write_exact(pd.DataFrame(rows), times)


def write_differences(objects: str, study: Mapping[str, Any], errors: str, choices: str) -> None:
    """Errors of noise-free estimates by scheme of finite differences and time step (block ``inhand:
    differences``).

    Linear least squares, with and without the baseline's filter, come on top of the block's
    ``methods``, which are the factor graph's. ``errors`` is a csv of ``object, time_step_s, scheme,
    estimator, converged, mass_error_pct, com_error_mm, inertia_error_pct, geodesic_error``; the
    inertia's is the largest entry's error over the largest entry. ``choices`` is the csv of
    :func:`choice_table`.
    """
    options = twin_options(study["twin"], objects)
    block, quiet, rows = study["differences"], noise_free(options), []
    for step in block["time_steps"]:
        count = round(block["duration"] / step) + 1
        recording, truth = _recording(block, {**quiet, "samples": count, "time_step": step})
        for scheme in SCHEMES:
            baseline, graph = (
                {**study["baseline"], "scheme": scheme},
                {**study["graph"], "scheme": scheme},
            )
            found = {
                FILTERED: estimate_baseline(recording, baseline),
                PLAIN: estimate_baseline(recording, {**baseline, "window": 0}),
                **{
                    method: estimate_with_graph(recording, method, truth, graph)
                    for method in block["methods"]
                },
            }
            for name, one in found.items():
                rows.append({"object": recording.attrs["object"], "time_step_s": step, "scheme": scheme,
                             "estimator": name, "converged": one.converged, **_errors(one, truth)})  # fmt: skip
    write_exact(pd.DataFrame(rows), errors)
    write_exact(choice_table(options, study), choices)


def choice_table(options: Mapping[str, Any], study: Mapping[str, Any]) -> pd.DataFrame:
    """Errors of estimates of a recording of each source, by what section IV-B chose.

    Least squares and the factor graph with the constraint, each from forces as sensed and from
    filtered ones; then the graph with the prior besides, by the share of its configured standard
    deviation. Columns: ``source, object, estimator, prior_share`` (nan without a prior),
    ``converged``, and the errors of :func:`write_differences`.
    """
    rows = []
    for source, names in OBJECTS.items():
        recording, simulated = simulate_recording(source, names[_SHOWN], 0, options)
        truth = true_parameters(simulated)
        for (name, share), one in _choices(recording, truth, study).items():
            rows.append({"source": source, "object": names[_SHOWN], "estimator": name, "prior_share": share,
                         "converged": one.converged, **_errors(one, truth)})  # fmt: skip
    return pd.DataFrame(rows)


def _choices(
    recording: xr.Dataset, truth: InertialParameters, study: Mapping[str, Any]
) -> dict[tuple[str, float], Estimate]:
    """Estimates by name and share of the prior's standard deviation."""
    baseline, graph = study["baseline"], study["graph"]
    smooth, weights = with_filter(recording, baseline), graph["weights"]
    found = {
        (FILTERED, np.nan): estimate_baseline(recording, baseline),
        (PLAIN, np.nan): estimate_baseline(recording, {**baseline, "window": 0}),
        (CONSTRAINED, np.nan): estimate_with_graph(recording, CONSTRAINED, truth, graph),
        (CONSTRAINED_FILTERED, np.nan): estimate_with_graph(smooth, CONSTRAINED, truth, graph),
    }
    for share in PRIOR_SHARES:
        weighted = {**weights, "geodesic": share * weights["geodesic"]}
        one = estimate_with_graph(recording, WITH_PRIOR, truth, {**graph, "weights": weighted})
        found[WITH_PRIOR, share] = one
    return found


def with_filter(recording: xr.Dataset, block: Mapping[str, Any]) -> xr.Dataset:
    """The recording with forces and torques through the filter of ``inhand: baseline``."""
    signals = filtered(recorded_signals(recording), block["window"], block["degree"])
    smooth = {"contact_force": signals.forces, "contact_torque": signals.torques}
    return recording.assign(
        {
            name: recording[name].copy(data=values)
            for name, values in smooth.items()
            if values is not None
        }
    )


def _recording(
    block: Mapping[str, Any], twins: Mapping[str, Any]
) -> tuple[xr.Dataset, InertialParameters]:
    recording, truth = simulate_recording(block["source"], block["object"], block["seed"], twins)
    return recording, true_parameters(truth)


def _errors(found: Estimate, truth: InertialParameters) -> dict[str, float]:
    body = found.parameters
    return {
        "mass_error_pct": 100.0 * abs(body.mass / truth.mass - 1.0),
        "com_error_mm": 1e3 * float(np.abs(body.center_of_mass - truth.center_of_mass).max()),
        "inertia_error_pct": 100.0
        * float(np.abs(body.inertia - truth.inertia).max() / np.abs(truth.inertia).max()),
        "geodesic_error": geodesic_distance(truth, body),
    }

"""The paper's methods where its constraint acts: twins that move so little that the free estimate
is no body's.

With the twins' own motions most free estimates are bodies, so the constraint changes nothing and
can't be judged. Here sizes of a source are multiplied as the block ``inhand: active_constraint``
says: a regime that was searched for (``tests/helpers/inhand_regimes.py`` has all that were tried),
with seeds that the search didn't see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.inertia import InertialParameters, geodesic_distance, uniform_body
from contactid.inhand.identify.baseline import estimate_baseline
from contactid.inhand.identify.cost import with_filter
from contactid.inhand.identify.levenberg_marquardt import estimate_with_graph
from contactid.inhand.identify.methods import (
    BASELINE,
    CONSTRAINED,
    GRAPH_METHODS,
    UNIFORM,
    Estimate,
    parameter_values,
)
from contactid.inhand.readers.recordings import true_parameters
from contactid.inhand.readers.sources import OBJECTS, SIMULATION
from contactid.inhand.readers.twins import simulate_recording, twin_options
from contactid.output.tables import write_csv

SENSED, FILTERED = "sensed", "filtered"  # forces
CONFIGURED = "configured"  # weights
#: Of a weight's standard deviation: a tenth and ten times, further than a user would tune by hand.
WEIGHT_FACTORS = (0.1, 10.0)
#: Numbers of a source's settings that a factor multiplies, by block.
SIZES: Mapping[str, tuple[str, ...]] = {
    "motion": ("displacement", "turn"),
    "pose": ("white", "jitter", "drift"),
    "force": ("floor", "relative", "torque", "contact"),
    "residual": ("preload_share", "load_share", "transient_force"),
}


def scaled_twin(
    twin: Mapping[str, Any], source: str, factors: Mapping[str, float]
) -> dict[str, Any]:
    """The block ``inhand: twin`` with a source's :data:`SIZES` multiplied by a factor per block."""
    settings = dict(twin["sources"][source])
    for block, factor in factors.items():
        sizes = {
            name: (factor * np.asarray(settings[block][name])).tolist() for name in SIZES[block]
        }
        settings[block] = {**settings[block], **sizes}
    levels = twin["force_levels"]
    # the simulation's forces have their noise by level
    if source == SIMULATION:
        levels = [factors.get("force", 1.0) * level for level in levels]
    return {**twin, "force_levels": levels, "sources": {**twin["sources"], source: settings}}


def write_active_constraint(objects: str, study: Mapping[str, Any], estimates: str) -> None:
    """Estimate the recordings of the block ``inhand: active_constraint`` by the paper's methods,
    into a csv.

    Columns: ``source, object, seed, method, forces`` (:data:`SENSED` or :data:`FILTERED`),
    ``weights`` (:data:`CONFIGURED`, or which one was multiplied), ``converged, geodesic_error`` and
    the ten parameters. The uniform body in the hull, with the mass of the constrained estimate, is
    the naive answer.
    """
    block, rows = study["active_constraint"], []
    for source in block["sources"]:
        twin = scaled_twin(study["twin"], source, block["factors"][source])
        options = twin_options(twin, objects)
        for number, seed in product(block["objects"], block["seeds"]):
            name = OBJECTS[source][number]
            recording, simulated = simulate_recording(source, name, seed, options)
            truth = true_parameters(simulated)
            for labels, one in _estimates(recording, truth, study, block["weights"]):
                rows.append(
                    {"source": source, "object": name, "seed": seed}
                    | labels
                    | {
                        "converged": one.converged,
                        "geodesic_error": geodesic_distance(truth, one.parameters),
                    }
                    | parameter_values(one.parameters)
                )
    write_csv(pd.DataFrame(rows), estimates)


def _estimates(
    recording: xr.Dataset,
    truth: InertialParameters,
    study: Mapping[str, Any],
    changed_weights: Sequence[str],
) -> Iterator[tuple[dict[str, str], Estimate]]:
    baseline, graph = study["baseline"], study["graph"]
    weights = graph["weights"]
    for window, forces in ((baseline["window"], FILTERED), (0, SENSED)):
        found = estimate_baseline(recording, {**baseline, "window": window})
        yield _labels(BASELINE, forces), found
    for method in GRAPH_METHODS:
        found = estimate_with_graph(recording, method, truth, graph)
        yield _labels(method), found
        if method == CONSTRAINED:
            # a negative mass is no body's, and the uniform one has none
            naive = uniform_body(abs(found.parameters.mass), recording["hull"].values)
            yield _labels(UNIFORM), replace(found, parameters=naive)
    smooth = with_filter(recording, baseline)
    yield (
        _labels(CONSTRAINED, FILTERED),
        estimate_with_graph(smooth, CONSTRAINED, truth, graph),
    )
    for name, factor in product(changed_weights, WEIGHT_FACTORS):
        other = {**graph, "weights": {**weights, name: factor * weights[name]}}
        found = estimate_with_graph(recording, CONSTRAINED, truth, other)
        yield _labels(CONSTRAINED, weights=f"{name} x {factor:g}"), found


def _labels(method: str, forces: str = SENSED, weights: str = CONFIGURED) -> dict[str, str]:
    return {"method": method, "forces": forces, "weights": weights}

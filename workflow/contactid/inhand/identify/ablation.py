"""One change at a time: what each part of an estimator brings in hand, and what each kind of
unsensed force does to it.

*Ablation.* Combinations of: a constant residual wrench (``bias``), the physical constraint, the
hull's prior, the finite differences, and whose standard deviations weight the errors: fixed ones,
those that the recording states, or those that it shows. The paper's way knows no prior without
truth; ours has fine differences always, and stated deviations are tried with all other parts only.
*Disturbances* are estimated in our way alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pandas as pd
import xarray as xr

from contactid.core.inertia import InertialParameters, consistency, geodesic_distance, uniform_body
from contactid.inhand.identify.levenberg_marquardt import estimate_with_graph
from contactid.inhand.identify.likelihood import Uses
from contactid.inhand.identify.methods import CONSTRAINED, FACTOR_GRAPH, FREE, LIKELIHOOD, Estimate
from contactid.inhand.identify.ours import estimate_of, our_estimate, our_fit
from contactid.inhand.readers.disturbances import DISTURBANCES, STATED_SHARE
from contactid.inhand.readers.recordings import true_parameters
from contactid.inhand.readers.sources import ABLATED
from contactid.inhand.readers.twins import simulate_recording, twin_options
from contactid.output.tables import write_csv

FIRST_ORDER, FOURTH_ORDER = "first order", "fourth order"
FIXED, STATED, SHOWN = "fixed", "as stated", "as shown"


def write_ablation(objects: str, study: Mapping[str, Any], ablation: str) -> None:
    """Estimate the recordings of the block ``inhand: ablation`` by combinations of parts, into a
    csv.

    Columns: ``source, object, seed, solver``, :data:`.sources.ABLATED`, ``converged,
    physically_consistent, mass_error_pct, geodesic_error, naive_error``; the last is that of the
    uniform body in the hull with the estimate's mass.
    """
    rows, block = [], study["ablation"]
    for recording, truth in _recordings(block, twin_options(study["twin"], objects), {}):
        for solver, parts, found in _combinations(recording, truth, block["solvers"], study):
            rows.append(
                known(recording) | {"solver": solver} | parts | errors(recording, truth, found)
            )
    write_csv(pd.DataFrame(rows), ablation)


def write_disturbances(objects: str, study: Mapping[str, Any], disturbances: str) -> None:
    """Estimate recordings with other unsensed forces (block ``inhand: disturbances``), into a csv.

    Columns as of :func:`write_ablation` with ``disturbance`` for the parts; ``mass_se_pct`` and
    ``fit_se_pct``, the stated error with calibration and without; ``taken_out``, the disturbances
    that the estimate named; ``stated_share``, of the load that bypasses the sensors; and ``held``,
    whether the interval of 95 % with that share holds the mass.
    """
    rows, block, options = [], study["disturbances"], twin_options(study["twin"], objects)
    for name in block["kinds"]:
        for recording, truth in _recordings(block, options, DISTURBANCES[name]):
            fit, share = our_fit(recording), STATED_SHARE.get(name, 0.0)
            low, high = fit.mass_interval(share)
            judged = {
                "mass_se_pct": 100.0 * fit.errors[0] / truth.mass,
                "fit_se_pct": 100.0 * fit.fit_errors[0] / truth.mass,
                "taken_out": " and ".join(fit.models[0].names) or "nothing",
                "stated_share": share,
                "held": low <= truth.mass <= high,
            }
            rows.append(
                {"disturbance": name}
                | known(recording)
                | errors(recording, truth, estimate_of(fit))
                | judged
            )
    write_csv(pd.DataFrame(rows), disturbances)


def _recordings(
    block: Mapping[str, Any], options: Mapping[str, Any], change: Any
) -> Iterator[tuple[xr.Dataset, InertialParameters]]:
    # a callable draws the unsensed forces itself; a mapping changes the twin's own settings
    source, residual = block["source"], None
    if callable(change):
        residual = change
    else:
        settings = options["sources"][source]
        changed = {**settings, "residual": {**settings["residual"], **change}}
        options = {**options, "sources": {**options["sources"], source: changed}}
    for name, seed in product(block["objects"], block["seeds"]):
        recording, truth = simulate_recording(source, name, seed, options, residual=residual)
        yield recording, true_parameters(truth)


def _combinations(
    recording: xr.Dataset, truth: InertialParameters, solvers: list[str], study: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, str], Estimate]]:
    if FACTOR_GRAPH in solvers:
        for bias, constraint, fine, own in product((False, True), repeat=4):
            graph = {**study["graph"], "scheme": "fourth_order" if fine else "paper"}
            if own:
                graph["weights"] = {**graph["weights"], **_stated_weights(recording)}
            found = estimate_with_graph(
                recording, CONSTRAINED if constraint else FREE, truth, graph, bias=bias
            )
            differences, weights = FOURTH_ORDER if fine else FIRST_ORDER, STATED if own else FIXED
            yield FACTOR_GRAPH, _parts(bias, constraint, False, differences, weights), found
    if LIKELIHOOD in solvers:
        # a prior needs a body that can exist, so it doesn't stand alone
        levels = ((False, False), (True, False), (True, True))  # constraint, and prior besides
        # stated noise with every other part only
        for bias, (constraint, prior), shown in (
            *product((False, True), levels, (True,)),
            (True, levels[2], False),
        ):
            found = our_estimate(recording, Uses(bias, constraint, prior, shown))
            yield (
                LIKELIHOOD,
                _parts(bias, constraint, prior, FOURTH_ORDER, SHOWN if shown else STATED),
                found,
            )


def _stated_weights(recording: xr.Dataset) -> dict[str, float]:
    """The recording's stated deviations; Newton and Euler's equations, which have no error of their
    own, stay stiff.
    """
    stated = recording.attrs
    return {
        "orientation": stated["orientation_sd"],
        "position": stated["position_sd"],
        "contact_position": stated["contact_position_sd"],
    }


def _parts(
    bias: bool, constraint: bool, prior: bool, differences: str, weights: str
) -> dict[str, str]:
    words = ["yes" if part else "no" for part in (bias, constraint, prior)]
    return dict(zip(ABLATED, (*words, differences, weights), strict=True))


def known(recording: xr.Dataset) -> dict[str, Any]:
    """What names a recording."""
    return {name: recording.attrs[name] for name in ("source", "object", "seed")}


def errors(recording: xr.Dataset, truth: InertialParameters, found: Estimate) -> dict[str, Any]:
    """Of an estimate: converged, a possible body, error of the mass, eq. 38, and the uniform body's
    with that mass.
    """
    body, hull = found.parameters, recording["hull"].values
    return {
        "converged": found.converged,
        "physically_consistent": consistency(body, hull).consistent,
        "mass_error_pct": 100.0 * (body.mass / truth.mass - 1.0),
        "geodesic_error": geodesic_distance(truth, body),
        "naive_error": geodesic_distance(truth, uniform_body(abs(body.mass), hull)),
    }

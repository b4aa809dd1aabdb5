"""How near our estimate comes to the truth by how strongly the object is moved, and how often its
intervals hold.

The twins' motions, and the same with a third of their range and with two and a half times of it,
each recording with one of :data:`KINDS` of unsensed forces in hand; the estimate is told neither.
Five boxes and four kinds in turn, so that twenty seeds in a row have every pair once. What was
chosen in the estimate was chosen on seeds below 100.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.inertia import geodesic_distance, moved_to
from contactid.inhand.identify.ablation import errors, known
from contactid.inhand.identify.likelihood import TENSOR, told_parameters
from contactid.inhand.identify.ours import estimate_of, our_fit
from contactid.inhand.readers.disturbances import DISTURBANCES
from contactid.inhand.readers.recordings import true_parameters
from contactid.inhand.readers.sources import BOXES, IN_HAND
from contactid.inhand.readers.twins import simulate_recording, twin_options
from contactid.output.tables import write_csv

MOTIONS = {"weak": 1.0 / 3.0, "configured": 1.0, "strong": 2.5}  # of displacements and angles
KINDS = (
    "load share 0.08, as in the twins", "gains differ by 10 % per finger", "preload relaxes in 1 s",
    "preload grows threefold",
)  # fmt: skip
NONE = "none"
_WITHIN = 1.96  # standard errors; 95 % of errors are within, if the stated ones are right


def write_strengths(objects: str, study: Mapping[str, Any], strengths: str) -> None:
    """Estimate the recordings of the block ``inhand: strength``, into a csv.

    Columns: ``source, motion, object, seed, disturbance``, those of :func:`.ablation.errors`,
    ``naive_at_center_error`` (of the uniform body at the estimate's centre of mass),
    ``central_error, central_naive_error`` (of the estimate and of the uniform body where both have
    the true centre of mass, so that mass and central tensor alone count), ``decided_by``,
    ``entries_by_data`` (of the six of the tensor about the centre of mass), and ``mass_held,
    center_held, tensor_held``, how many of 1, 3 and 6 intervals of 95 % hold the truth.
    """
    block, rows = study["strength"], []
    for source in block["sources"]:
        for motion in block["motions"]:
            for seed in block["seeds"]:
                recording, truth, disturbance = _moved(source, motion, seed, study["twin"], objects)
                labels = known(recording) | {"motion": motion, "disturbance": disturbance}
                rows.append(labels | _judged(recording, truth))
    write_csv(pd.DataFrame(rows), strengths)


def _moved(
    source: str, motion: str, seed: int, twin: Mapping[str, Any], objects: str
) -> tuple[xr.Dataset, xr.Dataset, str]:
    """A recording, its truth, and what isn't sensed in it."""
    settings = twin["sources"][source]
    # frequencies stay: range alone makes the motion strong
    range_ = {name: MOTIONS[motion] * settings["motion"][name] for name in ("displacement", "turn")}
    settings = {**settings, "motion": {**settings["motion"], **range_}}
    # changes every five seeds, as boxes change with each: all pairs within twenty
    kind = KINDS[seed // len(BOXES) % len(KINDS)] if source in IN_HAND else NONE
    change: Any = DISTURBANCES.get(kind, {})
    residual = None
    if callable(change):
        residual = change
    else:
        settings["residual"] = {**settings["residual"], **change}
    options = twin_options({**twin, "sources": {**twin["sources"], source: settings}}, objects)
    recording, truth = simulate_recording(
        source, BOXES[seed % len(BOXES)], seed, options, residual=residual
    )
    return recording, truth, kind


def _judged(recording: xr.Dataset, truth: xr.Dataset) -> dict[str, Any]:
    true, fit = true_parameters(truth), our_fit(recording)
    found = estimate_of(fit)
    center = fit.body.center_of_mass
    # naive floor that knows where the centre is
    at_center = moved_to(fit.uniform, center)
    # what the tensors about the centres of mass alone differ by: all bodies at one place
    at_truth = [moved_to(one, true.center_of_mass) for one in (fit.body, fit.uniform)]
    central, central_uniform = (geodesic_distance(true, one) for one in at_truth)
    off = np.abs(told_parameters(fit.body.vector) - told_parameters(true.vector))
    held = off <= _WITHIN * fit.errors
    # intervals with calibration, as an estimate states them
    return errors(recording, true, found) | {
        "naive_at_center_error": geodesic_distance(true, at_center),
        "central_error": central,
        "central_naive_error": central_uniform,
        "decided_by": found.decided_by,
        "entries_by_data": int(np.count_nonzero(fit.by_data[TENSOR])),
        "mass_held": int(held[0]),
        "center_held": int(np.count_nonzero(held[1:4])),
        "tensor_held": int(np.count_nonzero(held[TENSOR])),
    }

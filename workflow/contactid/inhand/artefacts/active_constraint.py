"""The paper's methods where its constraint acts (:mod:`contactid.inhand.identify.active_constraint`),
of stored estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.inertia import InertialParameters, tensor
from contactid.inhand.artefacts.estimates import is_true
from contactid.inhand.artefacts.printed import consistency_margin
from contactid.inhand.identify.active_constraint import CONFIGURED, SENSED
from contactid.inhand.identify.methods import CONSTRAINED, FREE, PARAMETER_COLUMNS
from contactid.inhand.readers.objects import InHandObject, load_objects, object_of
from contactid.output.stored import read_stored

#: An error that is smaller or larger by less is the same, as in the ledger of claims.
SAME = 0.05
_RECORDING = ["source", "object", "seed"]
_ERRORS = ["mass_error_pct", "com_error_mm", "tensor_error_pct"]


def active_constraint(
    stored_active_constraint: Sequence[str], objects: str
) -> dict[str, pd.DataFrame]:
    """``ext_active_constraint``, its ``_runs`` and ``ext_tuned_weights``."""
    runs = judged_runs(read_stored(stored_active_constraint)[0], load_objects(objects))
    return {
        "tables/ext_active_constraint": summary_of_runs(runs),
        "tables/ext_active_constraint_runs": runs.drop(columns=list(PARAMETER_COLUMNS)),
        "tables/ext_tuned_weights": tuned_weights(runs),
    }


def judged_runs(rows: pd.DataFrame, objects: Mapping[str, InHandObject]) -> pd.DataFrame:
    """The estimates' rows with ``recording``, ``margin`` (:func:`.printed.consistency_margin`),
    ``acts`` (the recording's free estimate is no body's), and errors of mass (%), centre of mass
    (mm) and tensor about the origin (%).

    An estimate that reached the limit of iterations counts where it ended, as GTSAM's would; one
    without an answer is infinitely far.

    The ten parameters are errors then: absolute, in their own units.
    """
    values = rows[list(PARAMETER_COLUMNS)].to_numpy(dtype=float)
    bodies = [InertialParameters(row[0], row[1:4], tensor(row[4:])) for row in values]
    truths = [object_of(objects, str(name)).parameters for name in rows["object"]]
    pairs = list(zip(bodies, truths, strict=True))
    errors = pd.DataFrame([_errors(body, truth) for body, truth in pairs], columns=_ERRORS)
    errors = errors.set_axis(rows.index).fillna(np.inf)
    names = rows[_RECORDING].astype(str).agg("_".join, axis=1)
    judged = rows.assign(
        recording=names,
        converged=is_true(rows["converged"]).astype(int),
        margin=[consistency_margin(body) for body in bodies],
        **{name: errors[name] for name in _ERRORS},
        **dict(zip(PARAMETER_COLUMNS, _parameter_errors(pairs).T, strict=True)),
    )
    configured = (judged["weights"] == CONFIGURED) & (judged["forces"] == SENSED)
    free = judged[configured & (judged["method"] == FREE)]
    outside = free.set_index("recording")["margin"] < 0.0
    return judged.assign(acts=names.map(outside).to_numpy(dtype=int))


def _errors(body: InertialParameters, truth: InertialParameters) -> tuple[float, float, float]:
    """:data:`_ERRORS` of an estimate."""
    shift = _length(body.center_of_mass - truth.center_of_mass)
    turned = _length(body.inertia - truth.inertia) / _length(truth.inertia)
    return 100.0 * abs(body.mass / truth.mass - 1.0), 1e3 * shift, 100.0 * turned


def _length(values: np.ndarray) -> float:
    return float(np.linalg.norm(values))


def _parameter_errors(
    pairs: Sequence[tuple[InertialParameters, InertialParameters]],
) -> np.ndarray:
    """(n, 10) absolute errors of the numbers that the appendix prints."""
    errors = [_printed_numbers(body) - _printed_numbers(truth) for body, truth in pairs]
    return np.abs(np.reshape(errors, (-1, len(PARAMETER_COLUMNS))))


def _printed_numbers(body: InertialParameters) -> np.ndarray:
    """(10,): the appendix has the centre of mass and not its first moment."""
    return np.concatenate([[body.mass], body.center_of_mass, body.vector[4:]])


def summary_of_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per source, method and forces, over the recordings in which the constraint acts.

    ``of`` are all recordings; ``nearer``, ``further``: the tensor's error is smaller, or larger, by
    more than 5 % than the free estimate's.
    """
    configured = runs[runs["weights"] == CONFIGURED]
    rows = configured[configured["acts"] == 1]
    free = rows[(rows["method"] == FREE)].set_index("recording")["tensor_error_pct"]
    against = rows["tensor_error_pct"] / rows["recording"].map(free)
    rows = rows.assign(
        body=rows["margin"] > 0.0,
        nearer=against < 1.0 - SAME,
        further=against > 1.0 + SAME,
    )
    columns: dict[str, Any] = {
        "runs": ("body", "size"),
        "converged": ("converged", "sum"),
        "bodies": ("body", "sum"),
        "nearer": ("nearer", "sum"),
        "further": ("further", "sum"),
        "mass_error_pct": ("mass_error_pct", "median"),
        "com_error_mm": ("com_error_mm", "median"),
        "tensor_error_pct": ("tensor_error_pct", "median"),
        "first_quartile": ("tensor_error_pct", lambda values: values.quantile(0.25)),
        "third_quartile": ("tensor_error_pct", lambda values: values.quantile(0.75)),
        "geodesic_error": ("geodesic_error", "median"),
    }
    by = ["source", "method", "forces"]
    every = configured.groupby(by, sort=False).size().rename("of")
    table = rows.groupby(by, sort=False).agg(**columns)
    return table.join(every).reset_index()


def tuned_weights(runs: pd.DataFrame) -> pd.DataFrame:
    """``ext_tuned_weights``: of each recording in which the constraint acts and each of the ten
    numbers, what comes of those weights that bring it nearest to the truth.

    Columns: ``source, object, seed, parameter, weights, error, tuned_error`` (absolute, with
    configured and with tuned weights) and ``others, tuned_others``, geometric means of the other nine.
    """
    held = runs[
        (runs["method"] == CONSTRAINED) & (runs["forces"] == SENSED) & (runs["acts"] == 1)
    ]  # fmt: skip
    rows = []
    for recording, tried in held.groupby(_RECORDING, sort=False):
        configured = tried["weights"] == CONFIGURED
        # nothing was tuned, or nothing to compare with
        if not configured.any() or len(tried) == 1:
            continue
        # zero by chance of rounding has no logarithm
        errors = np.maximum(tried[list(PARAMETER_COLUMNS)].to_numpy(dtype=float), 1e-12)
        before = errors[configured.to_numpy()][0]
        for number, name in enumerate(PARAMETER_COLUMNS):
            best = int(errors[:, number].argmin())
            others = np.arange(len(PARAMETER_COLUMNS)) != number
            rows.append(
                dict(zip(_RECORDING, recording, strict=True))
                | {
                    "parameter": name,
                    "weights": tried["weights"].iloc[best],
                    "error": before[number],
                    "tuned_error": errors[best, number],
                    "others": np.exp(np.log(before[others]).mean()),
                    "tuned_others": np.exp(np.log(errors[best, others]).mean()),
                }
            )
    errors_of = ["error", "tuned_error", "others", "tuned_others"]
    table = pd.DataFrame(rows, columns=[*_RECORDING, "parameter", "weights", *errors_of])
    return table.astype(dict.fromkeys(errors_of, float))

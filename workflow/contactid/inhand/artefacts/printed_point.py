"""About which point the printed tensors are, and what a constraint on such a tensor alone would
have done.

A tensor about the origin carries ``m (|c|^2 Id - c c^T)`` of its own row's mass and centre, the
parallel-axis part; one about the centre of mass knows nothing of the centre. So a table's tensors
are held against their own rows' parts, and as a control against those of other rows, which have the
same sizes. The second control are the stored twins by the paper's methods, of which both tensors
are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.inertia import InertialParameters, parallel_axis, tensor
from contactid.inhand.artefacts.printed import (
    consistency_margin,
    off_diagonals_of,
    printed_body,
    printed_table,
)
from contactid.inhand.identify.ablation import known
from contactid.inhand.identify.methods import (
    FACTOR_GRAPH,
    GROUND_TRUTH,
    LEAST_SQUARES,
    PARAMETER_COLUMNS,
)
from contactid.inhand.identify.tensor_constraint import linear_fit, with_constrained_tensor
from contactid.inhand.readers.recordings import read_recording, recorded_signals
from contactid.inhand.readers.sources import SOURCES
from contactid.output.stored import read_stored
from contactid.output.tables import read_csv

PRINTED, TWINS_ORIGIN, TWINS_CENTER = (
    "printed",
    "twins, about the origin",
    "twins, about the centre of mass",
)
_PAIRINGS = 500  # random ones; more change the ends of their 95 % range by less than 0.01
_OFF_DIAGONAL = ~np.eye(3, dtype=bool)


def point_of_tensors(published: str, stored_estimates: Sequence[str]) -> pd.DataFrame:
    """``ext_printed_point``: by source, the printed estimates and the twins' about both points, as
    :func:`likeness`.
    """
    printed = printed_table(read_csv(published))
    stored = read_stored(stored_estimates)[0]
    twins = stored[stored["solver"].isin([LEAST_SQUARES, FACTOR_GRAPH]) & (stored["mass_kg"] > 0.0)]
    rows = []
    for source in SOURCES:
        theirs = printed[
            (printed["source"] == source) & (printed["method"] != GROUND_TRUTH)
        ].to_dict("records")
        bodies = [printed_body(row, off_diagonals_of(source, row["method"])) for row in theirs]
        ours = [_body(row) for row in twins[twins["source"] == source].to_dict("records")]
        tensors = {
            PRINTED: (bodies, [body.inertia for body in bodies]),
            TWINS_ORIGIN: (ours, [body.inertia for body in ours]),
            TWINS_CENTER: (ours, [body.inertia_at_center for body in ours]),
        }
        for name, (estimates, given) in tensors.items():
            rows.append({"source": source, "tensors": name} | likeness(estimates, given))
    return pd.DataFrame(rows)


def _body(row: dict[Any, Any]) -> InertialParameters:
    numbers = np.array([row[name] for name in PARAMETER_COLUMNS], dtype=float)
    return InertialParameters(numbers[0], numbers[1:4], tensor(numbers[4:]))


def likeness(bodies: Sequence[InertialParameters], tensors: Sequence[np.ndarray]) -> dict[str, Any]:
    """How like given tensors (3, 3) are to the parallel-axis parts of the same rows' masses and
    centres.

    Returns
    -------
    dict : ``rows``; ``cosine``, the median over rows of the angle's cosine between tensor and part
        (Frobenius product, the same in all axes), with ``random_low`` and ``random_high``, between
        which 95 % of such medians are where every tensor is held against a random row's part;
        ``size``, the median of the traces' ratio; ``off_diagonal_cosine``, of the off-diagonals
        alone, and ``same_sign``, in how many rows that is positive
    """
    given = np.array(tensors)
    parts = np.array([parallel_axis(body.mass, body.center_of_mass) for body in bodies])
    random = np.random.default_rng(0)
    pairings = [np.median(_cosines(given, random.permutation(parts))) for _ in range(_PAIRINGS)]
    # 95 % of random pairings
    low, high = np.quantile(pairings, [0.025, 0.975])
    off_diagonal = _cosines(given * _OFF_DIAGONAL, parts * _OFF_DIAGONAL)
    return {
        "rows": len(given),
        "cosine": float(np.median(_cosines(given, parts))),
        "random_low": float(low),
        "random_high": float(high),
        "size": float(
            np.median(np.trace(given, axis1=1, axis2=2) / np.trace(parts, axis1=1, axis2=2))
        ),
        "off_diagonal_cosine": float(np.median(off_diagonal)),
        "same_sign": int(np.sum(off_diagonal > 0.0)),
    }


def _cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(n,) between matrices (n, 3, 3)."""
    products = np.einsum("nij,nij->n", first, second)
    return products / (np.linalg.norm(first, axis=(1, 2)) * np.linalg.norm(second, axis=(1, 2)))


def constrained_tensors(recordings: Sequence[str]) -> pd.DataFrame:
    """``ext_tensor_constraint``: a linear fit of every recording, free and with a constraint on the
    tensor alone.

    Columns source, object, seed, ``constraint`` (none or tensor), mass_kg, ``tensor_margin``: the
    smallest second moment about the origin, and ``margin``: that about the centre of mass, a body's
    where positive (:func:`.printed.consistency_margin`), both in units of m |c|^2; ``cosine`` and
    ``size`` as in :func:`likeness`.
    """
    rows = []
    for path in recordings:
        recording = read_recording(path)
        free, information = linear_fit(recorded_signals(recording))
        for constraint, vector in (
            ("none", free),
            ("tensor", with_constrained_tensor(free, information)),
        ):
            body = InertialParameters.from_vector(vector)
            rows.append(known(recording) | {"constraint": constraint} | _described(body))
    return pd.DataFrame(rows)


def _described(body: InertialParameters) -> dict[str, Any]:
    part = parallel_axis(body.mass, body.center_of_mass)
    moments = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    unit = 0.5 * np.trace(part)  # m |c|^2
    return {
        "mass_kg": body.mass,
        "tensor_margin": float(np.linalg.eigvalsh(moments)[0] / unit),
        "margin": consistency_margin(body),
        "cosine": float(_cosines(body.inertia[None], part[None])[0]),
        "size": float(np.trace(body.inertia) / np.trace(part)),
    }

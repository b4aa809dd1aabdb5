"""The paper's printed inertial parameters, and whether a body can have them under any reading of the tables.

The appendix says neither about which point its tensors are nor which sign its off-diagonal entries have, and its units
are lost. The ground truths settle the units (1e-2 kg m2 in simulation, 1e-5 kg m2 for the boxes), and that they are
about the body frame's origin: only then does the parallel-axis part explain them. Their off-diagonal entries are the
tensor's in simulation and products of inertia, of the other sign, for the boxes. Section III defines the tensor about
the centre of mass instead, so the estimates are judged under all four readings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from scipy.optimize import linprog

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, consistency, geodesic_distance, pseudo_inertia, tensor
from contactid.inhand.identify.methods import GROUND_TRUTH, METHODS, PARAMETER_COLUMNS
from contactid.inhand.readers.objects import InHandObject, load_objects, object_of
from contactid.inhand.readers.sources import APPENDIX_TABLES, IN_HAND_KINEMATIC, IN_HAND_VISION, SIMULATION
from contactid.output.computing import Shown
from contactid.output.tables import read_csv

# A guess: the two in-hand tables have no label. Of the second one the estimates without constraint have the better
# masses, and the paper says so of relaxed rigidity; it also is the one that the text introduces second.
BLOCKS = {"in_hand_a": IN_HAND_VISION, "in_hand_b": IN_HAND_KINEMATIC}
ARTEFACTS = {source: name.split("_")[0] for source, name in APPENDIX_TABLES.items()}
ORIGIN, CENTER = "origin", "center"
ENTRIES, PRODUCTS = "tensor_entries", "products_of_inertia"
_VERDICTS = (
    "positive_mass", "positive_moments", "triangle_inequality", "positive_definite", "within_hull",
)  # fmt: skip
_ARITHMETIC = 1e-12  # relative; hundreds of times the rounding error of a product of P's factors
_ROUNDS = 50  # of cutting planes, of four each
_CLOSE = 0.9  # of the best value found, from which a bound is close enough
_SHOWN = (
    "source", "object", "method", "point", "off_diagonals", "triangle_inequality", "positive_definite", "within_hull",
    "margin", "margin_under_rounding", "geodesic_error",
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """How a printed tensor may be meant: about the origin or the centre of mass, and the sign of its off-diagonals."""

    point: str
    off_diagonals: str

    @property
    def sign(self) -> float:
        """What turns a printed off-diagonal entry into the tensor's."""
        return 1.0 if self.off_diagonals == ENTRIES else -1.0


READINGS = tuple(Reading(point, kind) for point in (ORIGIN, CENTER) for kind in (ENTRIES, PRODUCTS))


def ground_truth_reading(source: str) -> Reading:
    """The reading that explains a source's printed ground truths."""
    return Reading(ORIGIN, ENTRIES if source == SIMULATION else PRODUCTS)


def printed_consistency(published: str, objects: str) -> dict[str, Shown]:
    """``ext_printed_consistency``, a row for every printed row and reading, and ``ext_printed_verdicts``, counts."""
    rows = consistency_table(printed_table(read_csv(published)), load_objects(objects))
    return {
        "tables/ext_printed_consistency": Shown(rows, tex=rows[list(_SHOWN)]),
        "tables/ext_printed_verdicts": Shown(verdict_table(rows)),
    }


def printed_table(published: pd.DataFrame) -> pd.DataFrame:
    """One row per printed row of ``published/inhand.csv``, in SI units with signs as printed.

    Columns block (as in ``published``), source (of :data:`.sources.SOURCES`), object, method and
    :data:`.methods.PARAMETER_COLUMNS`; then ``tolerance_*``, half of each number's last digit.
    """
    rows = published[
        published["artefact"].isin(list(ARTEFACTS.values())) & published["quantity"].isin(PARAMETER_COLUMNS)
    ]
    labels = pd.DataFrame([_labels(condition) for condition in rows["condition"]], index=rows.index)
    keys = ["source", "object", "method"]
    wide = pd.concat([rows, labels], axis=1).pivot(index=keys, columns="quantity", values=["value", "tolerance"])
    order = pd.MultiIndex.from_frame(labels[keys].drop_duplicates())
    values = wide["value"][list(PARAMETER_COLUMNS)]
    table = values.join(wide["tolerance"][list(PARAMETER_COLUMNS)].add_prefix("tolerance_")).loc[order].astype(float)
    if table.isna().any(axis=None):
        raise ContactIdError("published/inhand.csv lacks numbers of a printed row", "Restore it from the repository")
    table = table.reset_index().rename(columns={"source": "block"})
    table.insert(1, "source", [BLOCKS.get(block, block) for block in table["block"]])
    return table


def _labels(condition: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in condition.split(";"))


def printed_body(row: Mapping[Any, Any], reading: Reading) -> InertialParameters:
    """Inertial parameters of a row of :func:`printed_table` under a reading."""
    numbers = np.array([row[name] for name in PARAMETER_COLUMNS], dtype=float)
    mass, center, entries = float(numbers[0]), numbers[1:4], numbers[4:].copy()
    entries[3:] *= reading.sign
    if reading.point == CENTER:
        return InertialParameters.from_center(mass, center, tensor(entries))
    return InertialParameters(mass, center, tensor(entries))


def ground_truths(printed: pd.DataFrame) -> dict[tuple[str, str], InertialParameters]:
    """Ground truths by source and object, under the reading that explains them."""
    rows = printed[printed["method"] == GROUND_TRUTH].to_dict("records")
    return {(row["source"], row["object"]): printed_body(row, ground_truth_reading(row["source"])) for row in rows}


def consistency_table(printed: pd.DataFrame, objects: Mapping[str, InHandObject]) -> pd.DataFrame:
    """Every row of :func:`printed_table` under every reading, and how far it is from the printed ground truth.

    Columns block, source, object, method, point, off_diagonals, ``explains_truth`` (the reading is that of the ground
    truth), the parts of :class:`contactid.core.inertia.Consistency`, ``consistent``, ``mass_error_pct``, ``margin``
    (:func:`consistency_margin`), ``margin_under_rounding`` (:func:`rounding_margin`), ``unphysical_beyond_rounding``
    where that is negative, and ``geodesic_error``.
    """
    truths, rows = ground_truths(printed), []
    for row in printed.to_dict("records"):
        labels = {name: row[name] for name in ("block", "source", "object", "method")}
        truth, hull = truths[row["source"], row["object"]], object_of(objects, row["object"]).hull_vertices
        for reading in READINGS:
            body = printed_body(row, reading)
            verdict = consistency(body, hull)
            rows.append(
                labels
                | {"point": reading.point, "off_diagonals": reading.off_diagonals}
                | {"explains_truth": reading == ground_truth_reading(row["source"])}
                | {name: getattr(verdict, name) for name in _VERDICTS}
                | {"consistent": verdict.consistent}
                | {"mass_error_pct": 100.0 * (body.mass / truth.mass - 1.0)}
                | {"margin": consistency_margin(body), "margin_under_rounding": rounding_margin(row, reading)}
                # a truth is at 0 of itself on every machine
                | {"geodesic_error": round(geodesic_distance(body, truth), 12)}
            )
    table = pd.DataFrame(rows)
    return table.assign(unphysical_beyond_rounding=table["margin_under_rounding"] < 0.0)


def consistency_margin(body: InertialParameters) -> float:
    """Smallest second moment about the centre of mass over the largest in magnitude; positive for a body's numbers."""
    if not (np.all(np.isfinite(body.vector)) and body.mass > 0.0):
        return -np.inf
    moments = body.principal_form.second_moments
    largest = float(np.max(np.abs(moments)))
    return float(moments[0]) / largest if largest else 0.0


def rounding_margin(row: Mapping[Any, Any], reading: Reading) -> float:
    """:func:`consistency_margin` at best, over all numbers that round to the printed ones: negative is a proof.

    P is taken in the units of the printed row, lengths from its centre of mass, so that its smallest eigenvalue is the
    margin there. Over the box of the ten parameters (the first moments in the interval of mass times centre of mass)
    cutting planes bound that eigenvalue from above (Kelley 1960): each direction v that was negative somewhere gives
    ``v^T P(x) v``, linear in x, and a linear program the highest x. Its multipliers w make a matrix ``sum of w v v^T``,
    positive semidefinite for any w >= 0, whose product with P(x) is bounded over the box by interval arithmetic, with
    its rounding error added: a negative bound is a proof whatever the program's solver got wrong.

    Returns
    -------
    float
        Dimensionless: the bound where negative, then within a tenth of the best value; else a value that a row of the
        box has, which proves nothing.
    """
    numbers, half = (np.array([row[f"{kind}{name}"] for name in PARAMETER_COLUMNS]) for kind in ("", "tolerance_"))
    numbers[7:] *= reading.sign
    if reading.point == CENTER:
        numbers[1:4] = half[1:4] = 0.0
    ends = np.stack([numbers - half, numbers + half])
    if ends[1, 0] <= 0.0:
        return -np.inf
    firsts = ends[:, None, 1:4] * ends[None, :, :1]
    ends[:, 1:4] = firsts.min(axis=(0, 1)), firsts.max(axis=(0, 1))
    middle, reach = ends.mean(axis=0), 0.5 * np.ptp(ends, axis=0) * (1.0 + _ARITHMETIC)

    largest = np.abs(printed_body(row, reading).principal_form.second_moments).max()
    frame = np.eye(4)
    frame[:3, 3] = -numbers[1:4]
    frame /= np.sqrt(np.repeat([max(largest, half[4:].max()), ends[1, 0]], [3, 1]))[:, None]
    basis = np.array([frame @ pseudo_inertia(one) @ frame.T for one in np.eye(10)])
    sizes = [np.linalg.norm(np.abs(frame) @ np.abs(pseudo_inertia(one)) @ np.abs(frame.T)) for one in np.eye(10)]
    error = _ARITHMETIC * float((np.abs(middle) + reach) @ sizes)

    cuts, best, bound, point = np.empty((0, 10)), -np.inf, np.inf, middle
    for _ in range(_ROUNDS):
        values, vectors = eigh(np.tensordot(point, basis, 1))
        best = max(best, float(values[0]))
        if best >= 0.0 or bound < _CLOSE * best:
            break
        cuts = np.vstack([cuts, np.einsum("ik,nij,jk->kn", vectors, basis, vectors)])
        # the highest t with t <= v^T P v for all cuts, x = middle + reach z and |z| <= 1
        solved = linprog(
            [*np.zeros(10), -1.0], np.c_[-cuts * reach, np.ones(len(cuts))], cuts @ middle,
            bounds=[*[(-1.0, 1.0)] * 10, (None, None)],
        )  # fmt: skip
        point = middle + reach * np.asarray(solved.x)[:10]
        weights = np.clip(-solved.ineqlin.marginals, 0.0, None)
        proof = weights @ cuts
        bound = float(proof @ middle + np.abs(proof) @ reach + error * weights.sum())
    return bound if bound < 0.0 else best


def verdict_table(consistency_rows: pd.DataFrame) -> pd.DataFrame:
    """How many printed rows of each method pass, per reading, from :func:`consistency_table`.

    A method "all estimates" sums up all but the ground truths.
    """
    estimates = consistency_rows[consistency_rows["method"] != GROUND_TRUTH].assign(method="all_estimates")
    rows = []
    for (point, kind), part in pd.concat([consistency_rows, estimates]).groupby(["point", "off_diagonals"], sort=False):
        for method in (GROUND_TRUTH, *METHODS, "all_estimates"):
            one = part[part["method"] == method]
            finite = one["geodesic_error"][np.isfinite(one["geodesic_error"])]
            rows.append(
                {"method": method, "point": point, "off_diagonals": kind, "rows": len(one)}
                | {name: int(one[name].sum()) for name in _VERDICTS}
                | {"hulls_known": len(one)}
                | {"consistent": int(one["consistent"].sum())}
                | {"unphysical_beyond_rounding": int(one["unphysical_beyond_rounding"].sum())}
                | {"median_finite_geodesic_error": float(finite.median()) if len(finite) else np.nan}
            )
    return pd.DataFrame(rows)

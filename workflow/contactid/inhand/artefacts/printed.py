"""The paper's printed inertial parameters, and whether a body can have them.

The appendix says neither about which point its tensors are nor which sign its off-diagonal entries
have, and its units are lost. The ground truths settle the units (1e-2 kg m2 in simulation, 1e-5 kg
m2 for the boxes), and that they are about the body frame's origin: only then does the parallel-axis
part explain them. The estimates are read about the origin, too: those in hand carry the
parallel-axis part of their own mass and centre (:mod:`.printed_point`), and no other convention
saves the rows (:mod:`.printed_conventions`). Neither says the sign, so every row is judged with
both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from scipy.optimize import linprog

from contactid.core.errors import ContactIdError
from contactid.core.inertia import (
    InertialParameters,
    consistency,
    geodesic_distance,
    pseudo_inertia,
    tensor,
)
from contactid.inhand.identify.methods import CONSTRAINED, GROUND_TRUTH, METHODS, PARAMETER_COLUMNS
from contactid.inhand.readers.objects import InHandObject, load_objects, object_of
from contactid.inhand.readers.sources import (
    APPENDIX_TABLES,
    IN_HAND,
    IN_HAND_KINEMATIC,
    IN_HAND_VISION,
    SIMULATION,
)
from contactid.output.tables import read_csv

# A guess: the two in-hand tables have no label. Of the second one the estimates without constraint
# have the better masses, and the paper says so of relaxed rigidity; it also is the one that the
# text introduces second.
BLOCKS = {"in_hand_a": IN_HAND_VISION, "in_hand_b": IN_HAND_KINEMATIC}
ARTEFACTS = {source: name.split("_")[0] for source, name in APPENDIX_TABLES.items()}
ENTRIES, PRODUCTS = "tensor_entries", "products_of_inertia"
#: What turns a printed off-diagonal entry into the tensor's.
SIGNS = {ENTRIES: 1.0, PRODUCTS: -1.0}
WITH_CONSTRAINT, ALL_ESTIMATES = "with_constraint", "all_estimates"  # sums over methods
_VERDICTS = (
    "positive_mass", "positive_moments", "triangle_inequality", "positive_definite", "within_hull",
)  # fmt: skip
_ARITHMETIC = 1e-12  # relative; hundreds of times the rounding error of a product of P's factors
_ROUNDS = 50  # of cutting planes, of four each
_CLOSE = 0.9  # of the best value found, from which a bound is close enough


def off_diagonals_of(source: str, method: str) -> str:
    """The sign with which a printed row is shown: that of its parallel-axis part about the origin.

    The truths follow it exactly, the estimates in most rows of each table (``ext_printed_point``).
    """
    if source == SIMULATION or (source in IN_HAND and method != GROUND_TRUTH):
        return ENTRIES
    return PRODUCTS


def printed_consistency(published: str, objects: str) -> dict[str, pd.DataFrame]:
    """``ext_printed_consistency``, a row for every printed row and sign, and
    ``ext_printed_verdicts``, counts.
    """
    rows = consistency_table(printed_table(read_csv(published)), load_objects(objects))
    return {
        "tables/ext_printed_consistency": rows,
        "tables/ext_printed_verdicts": verdict_table(rows),
    }


def printed_table(published: pd.DataFrame) -> pd.DataFrame:
    """One row per printed row of ``published/inhand.csv``, in SI units with signs as printed.

    Columns block (as in ``published``), source (of :data:`.sources.SOURCES`), object, method and
    :data:`.methods.PARAMETER_COLUMNS`; then ``tolerance_*``, half of each number's last digit.
    """
    rows = published[
        published["artefact"].isin(list(ARTEFACTS.values()))
        & published["quantity"].isin(PARAMETER_COLUMNS)
    ]
    parts = rows["condition"].str.split(";")
    each = [dict(part.split("=", 1) for part in condition) for condition in parts]
    labels = pd.DataFrame(each, index=rows.index)
    keys = ["source", "object", "method"]
    wide = pd.concat([rows, labels], axis=1).pivot(
        index=keys, columns="quantity", values=["value", "tolerance"]
    )
    order = pd.MultiIndex.from_frame(labels[keys].drop_duplicates())
    values = wide["value"][list(PARAMETER_COLUMNS)]
    table = (
        values.join(wide["tolerance"][list(PARAMETER_COLUMNS)].add_prefix("tolerance_"))
        .loc[order]
        .astype(float)
    )
    if table.isna().any(axis=None):
        raise ContactIdError(
            "published/inhand.csv lacks numbers of a printed row", "Restore it from the repository"
        )
    table = table.reset_index().rename(columns={"source": "block"})
    table.insert(1, "source", [BLOCKS.get(block, block) for block in table["block"]])
    return table


def printed_body(row: Mapping[Any, Any], off_diagonals: str) -> InertialParameters:
    """Inertial parameters of a row of :func:`printed_table`, its tensor about the origin, with this
    sign.
    """
    numbers = np.array([row[name] for name in PARAMETER_COLUMNS], dtype=float)
    entries = numbers[4:].copy()
    entries[3:] *= SIGNS[off_diagonals]
    return InertialParameters(float(numbers[0]), numbers[1:4], tensor(entries))


def ground_truths(printed: pd.DataFrame) -> dict[tuple[str, str], InertialParameters]:
    """Ground truths by source and object."""
    rows = printed[printed["method"] == GROUND_TRUTH].to_dict("records")
    return {
        (row["source"], row["object"]): printed_body(
            row, off_diagonals_of(row["source"], GROUND_TRUTH)
        )
        for row in rows
    }


def consistency_table(printed: pd.DataFrame, objects: Mapping[str, InHandObject]) -> pd.DataFrame:
    """Every row of :func:`printed_table` with either sign, and how far it is from the printed
    ground truth.

    Columns block, source, object, method, off_diagonals, ``as_shown`` (:func:`off_diagonals_of`),
    the parts of :class:`contactid.core.inertia.Consistency`, ``consistent``, ``mass_error_pct``,
    ``margin`` (:func:`consistency_margin`), ``margin_under_rounding`` (:func:`rounding_margin`),
    ``unphysical_beyond_rounding`` where that is negative, and ``geodesic_error``.
    """
    truths, rows = ground_truths(printed), []
    for row in printed.to_dict("records"):
        labels = {name: row[name] for name in ("block", "source", "object", "method")}
        truth, hull = (
            truths[row["source"], row["object"]],
            object_of(objects, row["object"]).hull_vertices,
        )
        for off_diagonals in SIGNS:
            body = printed_body(row, off_diagonals)
            verdict = consistency(body, hull)
            rows.append(
                labels
                | {"off_diagonals": off_diagonals}
                | {"as_shown": off_diagonals == off_diagonals_of(row["source"], row["method"])}
                | {name: getattr(verdict, name) for name in _VERDICTS}
                | {"consistent": verdict.consistent}
                | {"mass_error_pct": 100.0 * (body.mass / truth.mass - 1.0)}
                | {
                    "margin": consistency_margin(body),
                    "margin_under_rounding": rounding_margin(row, off_diagonals),
                }
                # a truth is at 0 of itself on every machine
                | {"geodesic_error": round(geodesic_distance(body, truth), 12)}
            )
    table = pd.DataFrame(rows)
    return table.assign(unphysical_beyond_rounding=table["margin_under_rounding"] < 0.0)


def consistency_margin(body: InertialParameters) -> float:
    """Smallest second moment about the centre of mass in units of m |c|^2; positive for a body's
    numbers.

    m |c|^2 is the second moment of the mass at its centre, about the origin: what a tensor about
    the origin must have at least, and of the size of the printed tensors. Second moments about the
    centre are small differences of these two, so a row measured by them would seem further off than
    its digits are.
    """
    if not (np.all(np.isfinite(body.vector)) and body.mass > 0.0):
        return -np.inf
    return float(body.principal_form.second_moments[0]) / _moment_of_center(body)


def _moment_of_center(body: InertialParameters) -> float:
    """m |c|^2 in kg m2, of a centre of mass that isn't the origin."""
    return body.mass * float(body.center_of_mass @ body.center_of_mass)


def rounding_margin(row: Mapping[Any, Any], off_diagonals: str) -> float:
    """:func:`consistency_margin` at best, over all numbers that round to the printed ones: negative
    is a proof.

    P is taken in units of the printed row's mass and m |c|^2, lengths from its centre of mass, so
    that its smallest eigenvalue is the margin there. Over the box of the ten parameters (the first
    moments in the interval of mass times centre of mass) cutting planes bound that eigenvalue from
    above (Kelley 1960): each direction v that was negative somewhere gives ``v^T P(x) v``, linear
    in x, and a linear program the highest x. Its multipliers w make a matrix ``sum of w v v^T``,
    positive semidefinite for any w >= 0, whose product with P(x) is bounded over the box by
    interval arithmetic, with its rounding error added: a negative bound is a proof whatever the
    solver got wrong.

    Returns
    -------
    float
        Dimensionless: the bound where negative, then within a tenth of the best value; else a value
        that a row of the box has, which proves nothing.
    """
    numbers, half = (
        np.array([row[f"{kind}{name}"] for name in PARAMETER_COLUMNS])
        for kind in ("", "tolerance_")
    )
    numbers[7:] *= SIGNS[off_diagonals]
    # (2, 10) lowest and highest numbers that round to the printed ones
    ends = np.stack([numbers - half, numbers + half])
    if ends[1, 0] <= 0.0:
        return -np.inf
    # m c over the box: its extremes are at corners
    firsts = ends[:, None, 1:4] * ends[None, :, :1]
    ends[:, 1:4] = firsts.min(axis=(0, 1)), firsts.max(axis=(0, 1))
    middle, reach = ends.mean(axis=0), 0.5 * np.ptp(ends, axis=0) * (1.0 + _ARITHMETIC)

    unit = _moment_of_center(printed_body(row, off_diagonals))
    # P about the row's own centre, in units of its mass and m |c|^2
    frame = np.eye(4)
    frame[:3, 3] = -numbers[1:4]
    frame /= np.sqrt(np.repeat([max(unit, half[4:].max()), ends[1, 0]], [3, 1]))[:, None]
    # P is linear in the ten parameters
    basis = np.array([frame @ pseudo_inertia(one) @ frame.T for one in np.eye(10)])
    sizes = [
        np.linalg.norm(np.abs(frame) @ np.abs(pseudo_inertia(one)) @ np.abs(frame.T))
        for one in np.eye(10)
    ]
    # rounding of the products, at most
    error = _ARITHMETIC * float((np.abs(middle) + reach) @ sizes)

    cuts, best, bound, point = np.empty((0, 10)), -np.inf, np.inf, middle
    for _ in range(_ROUNDS):
        # where P(x) is smallest: its eigenvectors are the next cuts
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
        # sum of w v v^T against P(x), as a linear function of x
        proof = weights @ cuts
        # its largest value over the box: middle, reach and rounding
        bound = float(proof @ middle + np.abs(proof) @ reach + error * weights.sum())
    return bound if bound < 0.0 else best


def verdict_table(consistency_rows: pd.DataFrame) -> pd.DataFrame:
    """How many printed rows of each method pass, per sign of the off-diagonals, from
    :func:`consistency_table`.

    The last methods are sums: of those with a constraint, which promises a body, and of all but the
    ground truths.
    """
    sums = {WITH_CONSTRAINT: (CONSTRAINED, METHODS[-1]), ALL_ESTIMATES: METHODS}
    groups = {method: (method,) for method in (GROUND_TRUTH, *METHODS)} | sums
    counted = [*_VERDICTS, "consistent", "unphysical_beyond_rounding"]
    rows = []
    for off_diagonals, part in consistency_rows.groupby("off_diagonals", sort=False):
        for name, methods in groups.items():
            chosen = part[part["method"].isin(methods)]
            counts = {column: int(chosen[column].sum()) for column in counted}
            rows.append(
                {"method": name, "off_diagonals": off_diagonals, "rows": len(chosen)} | counts
            )
    return pd.DataFrame(rows)

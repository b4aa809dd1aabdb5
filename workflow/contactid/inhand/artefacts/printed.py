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

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, consistency, geodesic_distance, tensor
from contactid.inhand.identify.methods import GROUND_TRUTH, METHODS, PARAMETER_COLUMNS
from contactid.inhand.readers.objects import InHandObject, load_objects, object_of
from contactid.inhand.readers.sources import APPENDIX_TABLES, IN_HAND_KINEMATIC, IN_HAND_VISION, SIMULATION
from contactid.output.computing import Shown
from contactid.output.tables import read_csv

# The two in-hand tables have no label. Of the second one the estimates without constraint have the better masses, and
# the paper says so of relaxed rigidity; it also is the one that the text introduces second.
BLOCKS = {"in_hand_a": IN_HAND_VISION, "in_hand_b": IN_HAND_KINEMATIC}
ARTEFACTS = {source: name.split("_")[0] for source, name in APPENDIX_TABLES.items()}
ORIGIN, CENTER = "origin", "center"
ENTRIES, PRODUCTS = "tensor_entries", "products_of_inertia"
_VERDICTS = (
    "positive_mass", "positive_moments", "triangle_inequality", "positive_definite", "within_hull",
)  # fmt: skip
_SHOWN = (
    "source", "object", "method", "point", "off_diagonals", "triangle_inequality", "positive_definite", "within_hull",
    "unphysical_beyond_rounding", "geodesic_error",
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
    truth), the parts of :class:`contactid.core.inertia.Consistency`, ``consistent``, ``smallest_second_moment`` (kg m2,
    about the centre of mass), ``unphysical_beyond_rounding`` and ``geodesic_error``.
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
                | {"smallest_second_moment": float(body.principal_form.second_moments[0])}
                | {"unphysical_beyond_rounding": not verdict.positive_definite and beyond_rounding(row, reading)}
                # a truth is at 0 of itself on every machine
                | {"geodesic_error": round(geodesic_distance(body, truth), 12)}
            )
    return pd.DataFrame(rows)


def beyond_rounding(row: Mapping[Any, Any], reading: Reading) -> bool:
    """Whether no numbers that round to the printed ones make P positive definite.

    The certificate is a direction u with a negative second moment about the centre of mass whatever the lost digits
    are: about the origin ``u^T Sigma_C u = u^T Sigma u - m (u.c)^2`` with ``(u.c)^2 >= 2 (u.c0)(u.c) - (u.c0)^2``, and
    each number's bound is taken by itself. A True is a proof; a False is none.
    """
    body = printed_body(row, reading)
    center, mass = body.center_of_mass, body.mass
    half_units = np.array([row[f"tolerance_{name}"] for name in PARAMETER_COLUMNS], dtype=float)
    moments, axes = eigh(body.second_moments_at_center)
    if mass + half_units[0] <= 0.0:
        return True
    direction = axes[:, 0]
    slack = _entry_weights(direction) @ half_units[4:]
    if reading.point == CENTER:
        return bool(moments[0] + slack < 0.0)
    along = float(direction @ center)
    squared = along**2 - 2.0 * abs(along) * float(np.abs(direction) @ half_units[1:4])
    lightest = mass - half_units[0] if squared > 0.0 else mass + half_units[0]
    return bool(moments[0] + mass * along**2 - lightest * squared + slack < 0.0)


def _entry_weights(direction: np.ndarray) -> np.ndarray:
    """How much each tensor entry ``(6,)`` can change ``u^T Sigma u``, per unit of the entry, for a unit ``u`` ``(3,)``.

    ``u^T Sigma u = tr(I) / 2 - u^T I u``.
    """
    x, y, z = direction
    squares = np.array([x * x, y * y, z * z])
    return np.abs(np.concatenate([0.5 - squares, [2.0 * x * y, 2.0 * x * z, 2.0 * y * z]]))


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

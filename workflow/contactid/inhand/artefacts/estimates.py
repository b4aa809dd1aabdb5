"""The estimates of all recordings: their counts, and the paper's appendix with what the twins give
beside it.

All rows of the appendix are in one convention: SI units, tensors about the body frame's origin with
the tensor's own entries. Of a printed row the off-diagonals have the sign of its parallel-axis part
(:func:`.printed.off_diagonals_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.inertia import consistency
from contactid.inhand.artefacts.printed import off_diagonals_of, printed_body, printed_table
from contactid.inhand.identify.methods import (
    ESTIMATE_COLUMNS,
    GROUND_TRUTH,
    METHODS,
    PARAMETER_COLUMNS,
    PRIOR,
    SOLVERS,
    UNIFORM,
    parameter_values,
)
from contactid.inhand.readers.sources import APPENDIX_TABLES, OBJECTS
from contactid.output.tables import read_csv

# where a row's numbers are from, beside the solvers; and what a row of the error figures is
PRINTED = "printed"
COLUMNS = (
    "object", "method", "origin", "runs", "converged", "physically_consistent", "geodesic_error", *PARAMETER_COLUMNS,
    "verdict",
)  # fmt: skip


def all_estimates(shards: Sequence[str]) -> pd.DataFrame:
    """``ext_estimates``: those of all recordings, :data:`.methods.ESTIMATE_COLUMNS`, from the
    tables of the jobs.
    """
    return pd.concat([read_csv(shard) for shard in shards], ignore_index=True)[
        list(ESTIMATE_COLUMNS)
    ]


def appendix(shards: Sequence[str], published: str, verdicts: str) -> dict[str, pd.DataFrame]:
    """Tables A1 to A4, of ``published/inhand.csv``, ``ext_printed_consistency.csv`` and the
    estimates.
    """
    printed, rows, runs = (
        printed_table(read_csv(published)),
        read_csv(verdicts),
        all_estimates(shards),
    )
    return {
        f"tables/{name}": appendix_table(source, printed, rows, runs)
        for source, name in APPENDIX_TABLES.items()
    }


def is_true(column: pd.Series) -> pd.Series:
    """A column of a table as booleans; an empty cell is no."""
    return column.astype(str).str.lower() == "true"


def appendix_table(
    source: str, printed: pd.DataFrame, printed_consistency: pd.DataFrame, estimates: pd.DataFrame
) -> pd.DataFrame:
    """One table: a row of :data:`COLUMNS` per object, method and origin of its numbers, ``printed``
    or a solver.

    Of a solver: the medians over the runs that converged (``ext_estimates.csv``), with
    ``geodesic_error`` infinite where half of them are unphysical; of the uniform body the same,
    with our estimate's mass. Of a printed row (:func:`.printed.printed_table`): its smallest
    geodesic distance to the printed ground truth over the signs with which it is a body's
    (``ext_printed_consistency.csv``), infinite where there is none.
    """
    rows: list[dict[str, Any]] = []
    ours = estimates[estimates["source"] == source]
    theirs = printed[printed["source"] == source]
    verdicts = printed_consistency[printed_consistency["source"] == source]
    for name in OBJECTS[source]:
        for method in (GROUND_TRUTH, UNIFORM, *METHODS):
            labels = {"object": name, "method": method}
            for row in matching(theirs, labels).to_dict("records"):
                rows.append(labels | _printed_row(row, source, matching(verdicts, labels)))
            for solver in SOLVERS:
                runs = matching(ours, labels | {"solver": solver})
                if len(runs):
                    rows.append(labels | {"origin": solver} | median_estimate(runs))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def matching(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """The rows that have these values."""
    keep = np.logical_and.reduce([table[name] == value for name, value in labels.items()])
    return table[keep]


def _printed_row(row: Mapping[Any, Any], source: str, verdicts: pd.DataFrame) -> dict[str, Any]:
    body = printed_body(row, off_diagonals_of(source, row["method"]))
    geodesic_error, verdict = printed_verdict(verdicts)
    return (
        {
            "origin": PRINTED,
            "runs": 1,
            "converged": 1,
            "physically_consistent": int(consistency(body).consistent),
        }
        | {"geodesic_error": geodesic_error, "verdict": verdict}
        | parameter_values(body)
    )


def printed_verdict(signs: pd.DataFrame) -> tuple[float, str]:
    """Smallest geodesic error of a printed row over the signs that make it a body's, and the
    verdict in words.

    ``signs`` are the row's part of ``ext_printed_consistency.csv``, one for each sign of its
    off-diagonals.
    """
    possible = signs[is_true(signs["positive_definite"])]
    outside = (
        "; centre of mass outside the shape" if not is_true(signs["within_hull"]).all() else ""
    )
    if possible.empty:
        return np.inf, f"unphysical by {-signs['margin'].max():.2g} m c^2" + outside
    kinds = " or ".join(kind.replace("_", " ") for kind in possible["off_diagonals"])
    return float(possible["geodesic_error"].min()), f"possible, off-diagonals as {kinds}" + outside


def median_estimate(runs: pd.DataFrame) -> dict[str, Any]:
    """Medians of a method's runs on one object, and how many of them converged and can be a body."""
    done = runs[is_true(runs["converged"])]
    physical = int(is_true(done["physically_consistent"]).sum())
    medians = {
        name: float(np.median(done[name])) if len(done) else np.nan for name in PARAMETER_COLUMNS
    }
    error = float(np.median(done["geodesic_error"].fillna(np.inf))) if len(done) else np.nan
    verdict = f"{physical} of {len(runs)} runs consistent"
    if by_prior := int((done["decided_by"] == PRIOR).sum()):
        verdict += f", {by_prior} by the prior"
    if len(done) < len(runs):
        verdict += f", {len(runs) - len(done)} not converged"
    return (
        {
            "runs": len(runs),
            "converged": len(done),
            "physically_consistent": physical,
            "geodesic_error": error,
        }
        | medians
        | {"verdict": verdict}
    )

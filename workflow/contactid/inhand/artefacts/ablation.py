"""What each part of an estimator brings in hand, and what other unsensed forces do to the mass, of
stored estimates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from contactid.inhand.artefacts.estimates import is_true
from contactid.inhand.readers.sources import ABLATED
from contactid.output.stored import read_stored


def parts_of_estimators(stored_ablation: Sequence[str]) -> pd.DataFrame:
    """``ext_ablation``: a row per solver and combination of parts, over boxes and seeds."""
    return _told(read_stored(stored_ablation)[0], ["solver", *ABLATED])


def unsensed_forces(stored_disturbances: Sequence[str]) -> pd.DataFrame:
    """``ext_disturbances``: a row per disturbance, with the stated error of the mass and how often
    its interval holds.

    ``taken_out`` is what the estimate named most often, ``named`` how often.
    """
    rows = read_stored(stored_disturbances)[0]
    rows = rows.assign(held=is_true(rows["held"]), size_pct=rows["mass_error_pct"].abs())
    groups = rows.groupby("disturbance", sort=False)
    names = [group["taken_out"].value_counts() for _, group in groups]
    medians = (
        groups[["size_pct", "mass_se_pct", "fit_se_pct", "stated_share"]]
        .median()
        .reset_index(drop=True)
    )
    return pd.concat([_told(rows, ["disturbance"]), medians], axis=1).assign(
        taken_out=[counts.index[0] for counts in names],
        named=[int(counts.iloc[0]) for counts in names],
        held=groups["held"].sum().to_numpy(),
    )


def _told(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Counts, least, median and most error of the mass in %, and median geodesic errors, by some
    columns' values.

    The median counts an estimate that no body can have as infinitely far away.
    """
    judged = rows.assign(
        converged=is_true(rows["converged"]),
        consistent=is_true(rows["physically_consistent"]),
        geodesic_error=rows["geodesic_error"].fillna(np.inf),
    )
    mass = "mass_error_pct"
    columns = {
        "runs": ("converged", "size"),
        "converged": ("converged", "sum"),
        "consistent": ("consistent", "sum"),
        "mass_error_least_pct": (mass, "min"),
        "mass_error_pct": (mass, "median"),
        "mass_error_most_pct": (mass, "max"),
        "geodesic_error": ("geodesic_error", "median"),
        "uniform_body_error": ("naive_error", "median"),
    }
    return judged.groupby(by, sort=False).agg(**columns).reset_index()

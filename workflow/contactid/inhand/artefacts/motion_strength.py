"""How near our estimate comes to the truth by how strongly the object is moved, of stored
estimates.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from contactid.inhand.artefacts.estimates import is_true
from contactid.inhand.identify.methods import PRIOR
from contactid.output.stored import read_stored


def strengths_of_motion(stored_strength: Sequence[str]) -> pd.DataFrame:
    """``ext_motion_strength``: a row per source and motion, over seeds, boxes and unsensed forces.

    Errors are medians with quartiles; ``error_over_uniform`` is the ratio of the medians, ``held``
    are shares of the intervals of 95 %: of the mass, of the centre of mass, and of the tensor about
    it.
    """
    rows = read_stored(stored_strength)[0]
    rows = rows.assign(
        converged=is_true(rows["converged"]),
        by_the_prior=rows["decided_by"] == PRIOR,
        lower=rows["geodesic_error"],
        upper=rows["geodesic_error"],
        center_held=rows["center_held"] / 3.0,
        tensor_held=rows["tensor_held"] / 6.0,
    )
    columns = {
        "runs": ("converged", "size"),
        "converged": ("converged", "sum"),
        "by_the_prior": ("by_the_prior", "sum"),
        "entries_by_data": ("entries_by_data", "mean"),
        "geodesic_error": ("geodesic_error", "median"),
        "first_quartile": ("lower", lambda values: values.quantile(0.25)),
        "third_quartile": ("upper", lambda values: values.quantile(0.75)),
        "uniform_body_error": ("naive_error", "median"),
        "mass_error_pct": ("mass_error_pct", "median"),
        "mass_held": ("mass_held", "mean"),
        "center_held": ("center_held", "mean"),
        "tensor_held": ("tensor_held", "mean"),
    }
    table = rows.groupby(["source", "motion"], sort=False).agg(**columns).reset_index()
    return table.assign(error_over_uniform=table["geodesic_error"] / table["uniform_body_error"])

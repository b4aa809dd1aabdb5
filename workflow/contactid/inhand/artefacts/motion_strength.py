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

    Errors are medians with quartiles, and every ``over`` is a ratio of medians: of the estimate's
    error to that of the uniform body at the hull's middle, and at the estimate's centre of mass;
    ``central_over_uniform`` compares them at the true centre, by mass and central tensor alone.
    ``held`` are shares of the intervals of 95 %: of the mass, of the centre of mass, and of the tensor about
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
        "uniform_at_center_error": ("naive_at_center_error", "median"),
        "central_error": ("central_error", "median"),
        "central_uniform_error": ("central_naive_error", "median"),
        "mass_error_pct": ("mass_error_pct", "median"),
        "mass_held": ("mass_held", "mean"),
        "center_held": ("center_held", "mean"),
        "tensor_held": ("tensor_held", "mean"),
    }
    table = rows.groupby(["source", "motion"], sort=False).agg(**columns).reset_index()
    return table.assign(
        error_over_uniform=table["geodesic_error"] / table["uniform_body_error"],
        error_over_uniform_at_center=table["geodesic_error"] / table["uniform_at_center_error"],
        central_over_uniform=table["central_error"] / table["central_uniform_error"],
    )

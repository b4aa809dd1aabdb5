"""Table 1 from rows of cells: what counts, what is compared with print, what is listed as failed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from contactid.planar.artefacts.noisy_throws import (
    covered,
    error_table,
    failed_table,
    published_errors,
    rate_table,
    reformulation_table,
)

TRUTH = 750.0
PUBLISHED = pd.DataFrame(
    [
        ("tab01", "inertia_ratio_error_pct", "friction_mu=0.3;fps=240", -11.0, "%", 0.5, "rounding", "Table 1"),
        ("text", "true_inertia_ratio_mm2", "body=plywood_ellipse", 756.0, "mm2", 0.5, "rounding", "section 6"),
    ],
    columns=["artefact", "quantity", "condition", "value", "unit", "tolerance", "tolerance_from", "where"],
)


def cells(errors, mu=0.3, fps=240.0, converged=None, se=10.0, bound=False):
    """Rows of a cell with these errors in %."""
    errors = np.asarray(errors, dtype=float)
    return pd.DataFrame(
        {
            "noise_model": "small",
            "mu": mu,
            "fps": fps,
            "seed": range(len(errors)),
            "converged": [True] * len(errors) if converged is None else converged,
            "plausible": True,
            "inertia_ratio_mm2": TRUTH * (1.0 + errors / 100.0),
            "inertia_ratio_se_mm2": se,
            "ratio_is_limit": False,
            "friction_mu": mu + 0.01,
            "friction_mu_se": 0.01,
            "friction_is_bound": bound,
            "misfit": 10.0,
            "degrees": 20,
            "complementarity": 1e-9,
            "reformulation": "l1_penalty",
            "accepted": 0,
            "tries": 1,
            "iterations": 100,
            "seconds": 2.0,
            "build_seconds": 0.1,
            "error_pct": errors,
        }
    )


def test_only_converged_solves_count_and_the_rest_is_listed():
    rows = cells([1.0, -3.0, 2.0, 500.0], converged=[True, True, True, False])
    row = error_table(rows, PUBLISHED, TRUTH).iloc[0]
    assert (row["n_seeds"], row["n_converged"]) == (4, 3)
    assert row["error_median_pct"] == pytest.approx(1.0) and row["error_abs_median_pct"] == pytest.approx(2.0)
    assert row["published_pct"] == -11.0 and row["build_share"] == pytest.approx(0.05)
    failed = failed_table(rows)
    assert list(failed["seed"]) == [3] and list(failed["error_pct"]) == [500.0]


def test_an_interval_covers_or_not_and_without_one_it_does_not():
    rows = cells([2.0, 3.0, 0.0])
    rows.loc[2, "inertia_ratio_se_mm2"] = np.nan
    # 1.96 * 10 mm2 are 2.61 % of 750 mm2
    assert covered(rows, TRUTH).tolist() == [True, False, False]


def test_a_cell_where_nothing_converged_has_no_numbers_but_its_row():
    row = error_table(cells([1.0, 2.0], converged=[False, False]), PUBLISHED, TRUTH).iloc[0]
    assert row["n_converged"] == 0 and np.isnan(row["error_median_pct"]) and np.isnan(row["interval_coverage"])


def test_by_rate_the_least_friction_is_left_out():
    rows = pd.concat([cells([50.0], mu=0.1), cells([2.0], mu=0.3), cells([4.0], mu=0.5)], ignore_index=True)
    rates = rate_table(error_table(rows, PUBLISHED, TRUTH))
    assert len(rates) == 1 and rates.loc[0, "error_abs_median_pct"] == pytest.approx(3.0)
    assert rates.loc[0, "n_seeds"] == 2 and rates.loc[0, "published_abs_mean_pct"] == 11.0


def test_reformulations_are_judged_on_all_solves_too():
    table = reformulation_table(cells([1.0, 90.0], converged=[True, False]), TRUTH)
    assert table.loc[0, "error_abs_median_pct"] == 1.0 and table.loc[0, "error_abs_median_all_pct"] == 45.5


def test_printed_errors_have_their_cells():
    assert published_errors(PUBLISHED) == {(0.3, 240.0): -11.0}

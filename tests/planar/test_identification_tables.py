"""Table 1 from rows of cells: what counts, what is compared with print, what is listed as failed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from contactid.planar.artefacts.noisy_throws import (
    covered,
    error_table,
    failed_table,
    hard_truth_table,
    published_errors,
    rate_table,
)
from contactid.planar.artefacts.reformulations import reformulation_table

TRUTH = 750.0
ALONE = {0.1: 0.1, 0.3: 0.3, 0.5: 0.5, 0.6: 0.6, 0.7: 0.6}
PUBLISHED = pd.DataFrame(
    [
        (
            "tab01",
            "inertia_ratio_error_pct",
            "friction_mu=0.3;fps=240",
            -11.0,
            "%",
            0.5,
            "rounding",
            "Table 1",
        ),
        (
            "text",
            "true_inertia_ratio_mm2",
            "body=plywood_ellipse",
            756.0,
            "mm2",
            0.5,
            "rounding",
            "section 6",
        ),
    ],
    columns=[
        "artefact",
        "quantity",
        "condition",
        "value",
        "unit",
        "tolerance",
        "tolerance_from",
        "where",
    ],
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
            "solved_roughly": False,
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
    row = error_table(rows, PUBLISHED, ALONE).iloc[0]
    assert (row["n_seeds"], row["n_converged"]) == (4, 3)
    assert row["error_median_pct"] == pytest.approx(1.0) and row[
        "error_abs_median_pct"
    ] == pytest.approx(2.0)
    assert row["published_pct"] == -11.0 and row["build_share"] == pytest.approx(0.05)
    failed = failed_table(rows, ALONE)
    assert list(failed["seed"]) == [3] and list(failed["error_pct"]) == [500.0]


def test_an_interval_covers_or_not_and_without_one_it_does_not():
    rows = cells([2.0, 3.0, 0.0])
    rows.loc[2, "inertia_ratio_se_mm2"] = np.nan
    # 1.96 * 10 mm2 are 2.61 % of 750 mm2
    assert covered(rows).tolist() == [True, False, False]


def test_an_infinite_error_is_no_interval():
    rows = cells([2.0, 3.0, 99.0])
    rows.loc[2, "inertia_ratio_se_mm2"] = np.inf
    assert covered(rows).tolist() == [True, False]
    row = error_table(rows, PUBLISHED, ALONE).iloc[0]
    assert (row["n_converged"], row["n_intervals"], row["interval_coverage"]) == (3, 2, 0.5)


def test_a_cell_where_nothing_converged_has_no_numbers_but_its_row():
    row = error_table(cells([1.0, 2.0], converged=[False, False]), PUBLISHED, ALONE).iloc[0]
    assert (
        row["n_converged"] == 0
        and np.isnan(row["error_median_pct"])
        and np.isnan(row["interval_coverage"])
    )


def printed(*cells_):
    names = [f"friction_mu={mu:g};fps=240" for mu, _ in cells_]
    return pd.concat([PUBLISHED.iloc[:1]] * len(cells_)).assign(
        condition=names, value=[value for _, value in cells_]
    )


def test_by_rate_means_are_over_the_printed_cells_and_throws_count_once():
    """Of 0.1, which the paper leaves out, 0.2, which it doesn't print, 0.3, and 0.6 and 0.7, which
    are one motion.
    """
    samples = pd.concat(
        [
            *(cells([50.0], mu=0.1), cells([102.0], mu=0.2), cells([2.0, 4.0], mu=0.3)),
            *(cells([-7.0, 5.0], mu=mu) for mu in (0.6, 0.7)),
        ]
    )
    row = rate_table(
        samples, printed((0.1, -40.0), (0.3, -11.0), (0.6, 1.0), (0.7, 3.0)), ALONE
    ).iloc[0]
    assert (row["cells"], row["distinct_motions"], row["n_throws"], row["n_intervals"]) == (
        3,
        2,
        4,
        4,
    )
    assert row["error_abs_mean_pct"] == pytest.approx((3.0 + 6.0 + 6.0) / 3.0)
    assert row["published_abs_mean_pct"] == pytest.approx(5.0)
    # 1.96 * 10 mm2 are 2.61 % of 750 mm2
    assert row["interval_coverage"] == 0.25


def test_throws_that_are_the_same_fail_once():
    rows = pd.concat([cells([9.0], mu=mu, converged=[False]) for mu in (0.6, 0.7)])
    assert failed_table(rows, ALONE)["mu"].tolist() == [0.6]


def test_of_a_hard_truth_starts_and_answers_are_told():
    rows = cells([1.0, -3.0]).assign(
        truth="a",
        start_error_pct=[-12.0, 8.0],
        one_restitution_error_pct=[30.0, -50.0],
        sequence_error_pct=[5.0, 7.0],
        sequence_plausible=[True, False],
    )
    row = hard_truth_table(rows).iloc[0]
    assert (row["start_error_abs_median_pct"], row["start_error_abs_largest_pct"]) == (10.0, 12.0)
    assert (row["sequence_error_abs_median_pct"], row["n_sequence_plausible"]) == (6.0, 1)
    assert (row["error_abs_median_pct"], row["error_abs_largest_pct"]) == (2.0, 3.0)
    assert (row["n"], row["n_intervals"], row["n_held"], row["methods"]) == (
        2,
        2,
        1,
        "l1_penalty 2",
    )


def attempts(rows):
    """Attempts at one throw: start, method, converged, success, misfit, error in %."""
    columns = ["start", "reformulation", "converged", "success", "misfit", "error_pct"]
    table = pd.DataFrame(rows, columns=columns).assign(
        truth="as_table_1",
        mu=0.3,
        fps=240.0,
        seed=1,
        complementarity=1e-9,
        iterations=10,
        seconds=1.0,
    )
    return table.assign(answer_error_pct=table["error_pct"].where(table["success"]))


def test_a_misfit_is_held_against_the_best_that_any_method_found_from_any_start():
    rows = [
        ("good", "scholtes", True, True, 80.0, 1.0),
        ("bad", "scholtes", True, False, 800.0, -90.0),
        ("bad", "l1_penalty", True, True, 75.0, 2.0),
        ("bad", "lin_fukushima", False, False, 10.0, 3.0),
    ]
    table = reformulation_table(attempts(rows)).set_index(["start", "reformulation"])
    assert table["n_success"].tolist() == [1, 0, 1, 0]
    assert table["n_at_best"].tolist() == [0, 0, 1, 0], "what didn't converge is no best"
    assert table.loc[("good", "scholtes"), "misfit_over_best_median"] == pytest.approx(80.0 / 75.0)
    failed = table.loc[("bad", "scholtes")]
    assert np.isnan(failed["error_abs_median_pct"]) and failed["error_abs_median_all_pct"] == 90.0


def test_printed_errors_have_their_cells():
    assert published_errors(PUBLISHED) == {(0.3, 240.0): -11.0}

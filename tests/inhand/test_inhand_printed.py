"""The printed inertial parameters: units and signs of the tables, and which rows a body can have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, PrincipalForm, consistency, tensor_entries
from contactid.inhand.artefacts.printed import (
    ALL_ESTIMATES,
    ENTRIES,
    PRODUCTS,
    SIGNS,
    WITH_CONSTRAINT,
    consistency_margin,
    consistency_table,
    ground_truths,
    off_diagonals_of,
    printed_body,
    printed_consistency,
    printed_table,
    rounding_margin,
    verdict_table,
)
from contactid.inhand.identify.methods import GROUND_TRUTH, PARAMETER_COLUMNS, parameter_values
from contactid.inhand.readers.objects import object_of
from contactid.inhand.readers.sources import BOXES, IN_HAND_KINEMATIC, IN_HAND_VISION
from contactid.output.tables import read_csv
from twins_for_tests import OBJECTS, OBJECTS_FILE, PUBLISHED_FILE

PUBLISHED = read_csv(PUBLISHED_FILE)
PRINTED = printed_table(PUBLISHED)
ROWS = consistency_table(PRINTED, OBJECTS)
VERDICTS: Any = verdict_table(ROWS).set_index(["method", "off_diagonals"])
ESTIMATES = PRINTED[PRINTED["method"] != GROUND_TRUTH].reset_index(drop=True)


def row_of(block: str, name: str, method: str) -> Any:
    rows = PRINTED[
        (PRINTED["block"] == block) & (PRINTED["object"] == name) & (PRINTED["method"] == method)
    ]
    return rows.iloc[0].to_dict()


def test_all_rows_of_the_four_tables_are_there_in_si_units() -> None:
    assert len(PRINTED) == 105 and PUBLISHED["quantity"].isin(PARAMETER_COLUMNS).sum() == 1050
    assert PRINTED.groupby("source", sort=False).size().tolist() == [30, 25, 25, 25]
    simulated = row_of("simulation", "noise_level_3", "constraint_geodesic")
    assert [simulated[name] for name in PARAMETER_COLUMNS] == pytest.approx(
        [1.294, 0.194, 0.481, 0.092, 0.1505, 0.2051, 0.3495, 0.0012, -0.0117, -0.0186]
    )
    box = row_of("in_hand_b", "box_4", "baseline_fg")
    assert [box[name] for name in PARAMETER_COLUMNS] == pytest.approx(
        [
            0.223,
            0.258,
            0.276,
            -0.016,
            0.0171696,
            0.0209323,
            0.054164,
            -0.0166746,
            -0.0006491,
            0.0125915,
        ]
    )


def test_the_parallel_axis_part_explains_the_ground_truths_with_this_sign_alone() -> None:
    """About the origin the off-diagonal entries are nearly those of a point at the centre of mass;
    else they aren't.
    """
    for row in PRINTED[PRINTED["method"] == GROUND_TRUTH].to_dict("records"):
        shown = off_diagonals_of(row["source"], GROUND_TRUTH)
        left = printed_body(row, shown).inertia_at_center
        assert consistency(printed_body(row, shown)).consistent
        entries = np.array([row[name] for name in PARAMETER_COLUMNS[7:]])
        assert np.abs(left[[0, 0, 1], [1, 2, 2]]).max() < 0.1 * np.abs(entries).max()
        for other in SIGNS:
            assert consistency(printed_body(row, other)).consistent == (other == shown)


def test_a_printed_tensor_is_read_about_the_origin() -> None:
    """A body far from the origin is found again in a row that prints its tensor there, and not
    about its centre.
    """
    body = PrincipalForm(
        0.2, np.array([0.3, -0.2, 0.1]), np.array([1e-4, 2e-4, 3e-4]), np.eye(3)
    ).parameters()
    there = parameter_values(body)
    names = PARAMETER_COLUMNS[4:]
    at_center = there | dict(zip(names, tensor_entries(body.inertia_at_center), strict=True))
    assert printed_body(there, ENTRIES).vector == pytest.approx(body.vector, rel=1e-15)
    assert consistency(printed_body(there, ENTRIES)).consistent
    assert not any(consistency(printed_body(at_center, sign)).consistent for sign in SIGNS)


def test_a_margin_is_the_part_of_the_centre_s_moment_that_is_missing() -> None:
    """A point has none left; what is taken from it in the direction of its centre is what fails."""
    center = np.array([0.3, -0.2, 0.1])
    moment = 0.2 * center @ center
    for share in (-0.5, -0.07, 0.0, 0.3):
        direction = np.outer(center, center) / (center @ center)
        second_moments = (1.0 + share) * moment * direction + moment * (np.eye(3) - direction)
        body = InertialParameters(
            0.2, center, np.trace(second_moments) * np.eye(3) - second_moments
        )
        assert consistency_margin(body) == pytest.approx(share, abs=1e-12)


def test_no_estimate_is_a_body_and_no_numbers_that_round_to_one_are() -> None:
    counted = {ALL_ESTIMATES: 85, WITH_CONSTRAINT: 40, "baseline": 5, "constraint_geodesic": 20}
    for kind in SIGNS:
        for method, rows in counted.items():
            columns = ["rows", "positive_definite", "unphysical_beyond_rounding"]
            assert VERDICTS.loc[(method, kind), columns].tolist() == [rows, 0, rows]
    truths = VERDICTS.loc[GROUND_TRUTH]
    assert (
        truths["positive_definite"].to_dict() == {ENTRIES: 5, PRODUCTS: 15}
        and (truths["rows"] == 20).all()
    )


def test_rounding_can_only_mend_a_margin_and_the_exact_row_has_it() -> None:
    lacking = ROWS[ROWS["margin"] < 0.0]
    assert (lacking["margin_under_rounding"] >= lacking["margin"] - 1e-9).all()
    for row in ESTIMATES.iloc[::17].to_dict("records"):
        exact = row | {f"tolerance_{name}": 0.0 for name in PARAMETER_COLUMNS}
        for sign in SIGNS:
            margin = consistency_margin(printed_body(row, sign))
            assert rounding_margin(exact, sign) == pytest.approx(margin, abs=1e-6)


def test_geodesic_errors_are_finite_exactly_for_the_rows_that_a_body_can_have() -> None:
    assert (np.isfinite(ROWS["geodesic_error"]) == ROWS["positive_definite"]).all()
    truths = ROWS[(ROWS["method"] == GROUND_TRUTH) & ROWS["as_shown"]]
    assert len(truths) == 20 and (truths["geodesic_error"] == 0.0).all()
    assert (ROWS["margin"] > 0.0).equals(ROWS["positive_definite"])


def test_the_second_in_hand_table_has_the_better_masses_without_constraint() -> None:
    truths = ground_truths(PRINTED)
    free = PRINTED[PRINTED["method"].isin(["baseline_fg", "no_constraint_no_geodesic"])]
    off = {
        source: np.median(
            [
                abs(row["mass_kg"] / truths[source, row["object"]].mass - 1.0)
                for row in free[free["source"] == source].to_dict("records")
            ]
        )
        for source in (IN_HAND_VISION, IN_HAND_KINEMATIC)
    }
    assert off[IN_HAND_KINEMATIC] < 0.6 * off[IN_HAND_VISION]


@given(st.integers(0, 2**32 - 1), st.sampled_from(list(SIGNS)), st.integers(0, len(ESTIMATES) - 1))
def test_no_numbers_that_round_to_a_proven_row_make_a_body(
    seed: int, sign: str, number: int
) -> None:
    row = ESTIMATES.iloc[number].to_dict()
    assert rounding_margin(row, sign) < 0.0
    random = np.random.default_rng(seed)
    for corner in (True, False):
        shift = random.choice([-1.0, 1.0], 10) if corner else random.uniform(-1.0, 1.0, 10)
        near = {
            name: row[name] + s * row[f"tolerance_{name}"]
            for name, s in zip(PARAMETER_COLUMNS, shift, strict=True)
        }
        assert not consistency(printed_body(near, sign)).positive_definite


@given(st.integers(0, 2**32 - 1), st.sampled_from(list(SIGNS)))
def test_a_body_whose_numbers_were_rounded_is_never_called_proven(seed: int, sign: str) -> None:
    random = np.random.default_rng(seed)
    moments = 0.18 * np.array(
        [10.0 ** random.uniform(-8, -5), *(0.1 * random.uniform(0.1, 1.0, 2)) ** 2]
    )
    center, turn = random.uniform(-0.1, 0.1, 3), Rotation.random(rng=random).as_matrix()
    body = PrincipalForm(0.18, center, moments, turn).parameters()
    entries = tensor_entries(body.inertia) * np.array([1.0, 1.0, 1.0, *[SIGNS[sign]] * 3])
    digits = np.array([1e-3] * 4 + [10.0 ** random.uniform(-7, -4)] * 6)
    rounded = digits * np.round(np.array([body.mass, *center, *entries]) / digits)
    row = dict(zip(PARAMETER_COLUMNS, rounded, strict=True))
    row |= {
        f"tolerance_{name}": 0.5 * digit
        for name, digit in zip(PARAMETER_COLUMNS, digits, strict=True)
    }
    assert rounding_margin(row, sign) >= 0.0


def test_a_row_that_rounding_could_save_is_not_called_proven() -> None:
    row = row_of("simulation", "noise_level_0", GROUND_TRUTH)
    assert rounding_margin(row, ENTRIES) >= 0.0
    moments = printed_body(row, ENTRIES).principal_form.second_moments
    loose = row | {f"tolerance_{name}": 10.0 * moments.max() for name in PARAMETER_COLUMNS}
    thin = printed_body(loose, PRODUCTS)
    assert not consistency(thin).positive_definite and rounding_margin(loose, PRODUCTS) >= 0.0


def test_a_center_of_mass_outside_the_geometry_is_told_apart() -> None:
    made = printed_consistency(PUBLISHED_FILE, OBJECTS_FILE)
    rows = made["tables/ext_printed_consistency"]
    assert set(rows["within_hull"]) == {True, False} and len(rows) == 210
    far = rows[
        (rows["block"] == "in_hand_a")
        & (rows["object"] == "box_4")
        & (rows["method"] == "baseline_fg")
    ]
    assert not far["within_hull"].any()
    assert rows.loc[rows["method"] == GROUND_TRUTH, "within_hull"].all()
    assert (rows.groupby(["block", "object", "method"])["as_shown"].sum() == 1).all()
    verdicts = made["tables/ext_printed_verdicts"]
    assert (
        verdicts["consistent"] <= verdicts[["positive_definite", "within_hull"]].min(axis=1)
    ).all()


@pytest.mark.parametrize("name", [*BOXES, "noise_level_2"])
def test_the_twins_use_the_printed_ground_truths(name: str) -> None:
    truths = {key[1]: body for key, body in ground_truths(PRINTED).items()}
    assert np.allclose(object_of(OBJECTS, name).parameters.vector, truths[name].vector, rtol=1e-12)


def test_a_damaged_table_is_told() -> None:
    with pytest.raises(ContactIdError, match=r"published/inhand\.csv lacks"):
        printed_table(pd.concat([PUBLISHED.iloc[:5], PUBLISHED.iloc[6:]]))

"""The paper's statements: what each refuses, and what the printed rows and made-up ones say of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.core.inertia import consistency, parallel_axis, tensor_entries, uniform_body
from contactid.inhand import statements
from contactid.inhand.artefacts.printed import SIGNS, consistency_margin, printed_body, printed_table
from contactid.inhand.claims import printed_consistency_claims
from contactid.inhand.identify.methods import GROUND_TRUTH, PARAMETER_COLUMNS, parameter_values
from contactid.inhand.statements import (
    STATEMENTS,
    Statement,
    a_body_can_have,
    counted_pairs,
    nearer,
)
from contactid.output.comparison import PRINT, compare
from contactid.output.tables import read_csv
from solids import box
from twins_for_tests import OBJECTS, PUBLISHED_FILE

PUBLISHED = read_csv(PUBLISHED_FILE)
PRINTED = printed_table(PUBLISHED)
BODY = parameter_values(OBJECTS["box_0"].parameters)
INF = float("inf")

# what each statement must accept, beside the counterexample that it must refuse
ACCEPTED: dict[str, Any] = {
    "nearer": ((1.0, 1.0, 2.0), (1.1, 1.2, 1.0)),
    "prior_changes_less": (1.0, 0.5, 0.4),
    "no_exception": (1.5, (1.0, 1.5)),
    "of_the_same_size": (0.6, 1.0, 1.9),
    "far_worse": (2.1, (0.1, 0.2)),
    "spoilt_without_filter": (1.0, 0.9),
    "none_is_a_body": (False, False),
    "some_are_no_body": (True, False),
    "first_all_above": ((0.1, 0.04), (0.01, 0.03)),
    "mostly": 0.51,
    "same_in_every_unit": (1.0, 1.0 + 1e-12),
    "a_body_can_have": BODY,
}


@pytest.mark.parametrize("asked", STATEMENTS, ids=lambda asked: asked.holds.__name__)
def test_a_statement_refuses_its_counterexample_and_accepts_what_it_says(asked: Statement) -> None:
    assert asked.holds(ACCEPTED[asked.holds.__name__]) is True
    assert asked.holds(asked.counterexample) is False


def test_every_statement_is_listed() -> None:
    stored = [one for one in vars(statements).values() if isinstance(one, Statement)]
    assert len(stored) == len(STATEMENTS) == len(ACCEPTED) and set(map(id, stored)) == set(map(id, STATEMENTS))


@pytest.mark.parametrize(
    ("first", "other", "counted", "holds"),
    [
        ((1.0, 1.0), (1.0, 1.04), (0, 0, 2), False),  # nearly the same is the same
        ((1.0, 1.0, 5.0), (2.0, 2.0, 1.0), (2, 1, 3), True),
        ((1.0, INF, INF), (INF, INF, INF), (1, 0, 1), True),
        ((INF, 1.0), (1.0, INF), (1, 1, 2), False),
        ((INF, INF), (INF, INF), (0, 0, 0), False),
        ((0.0, 0.0), (0.0, 0.0), (0, 0, 2), False),
        ((0.0, 1.0), (0.1, 1.0), (1, 0, 2), False),  # half of the pairs isn't more than half
    ],
)
def test_pairs_are_counted_where_one_has_an_error(first: Any, other: Any, counted: Any, holds: bool) -> None:
    assert counted_pairs((first, other)) == counted and nearer((first, other)) is holds


@given(st.lists(st.tuples(st.floats(1e-6, 1e3), st.floats(1e-6, 1e3)), min_size=1, max_size=9))
def test_of_two_methods_at_most_one_is_nearer(pairs: list[tuple[float, float]]) -> None:
    first, other = zip(*pairs, strict=True)
    assert not (nearer((first, other)) and nearer((other, first)))
    assert not nearer((first, first))


def test_no_printed_estimate_with_the_constraint_is_a_body_s() -> None:
    """Only these are promised to be; the count is that of ext_printed_verdicts, whose rows are tested one by one."""
    claims = printed_consistency_claims(PRINTED)
    assert len(claims) == 40 and {one.basis for one in claims.values()} == {PRINT}
    checks = compare("inhand", PUBLISHED[PUBLISHED["quantity"] == "physically_consistent"], claims, {})
    assert checks["verdict"].value_counts().to_dict() == {"differs": 40}
    assert checks["condition"].str.contains("method=constraint").all()
    assert checks["note"].str.contains("about the centre of mass -", regex=False).all()
    assert checks["note"].str.contains("no rounding mends it").all()


def test_a_printed_row_that_is_no_body_s_becomes_one_where_the_missing_moment_is_added() -> None:
    """The note's shortfall is what lacks: isotropic second moments of that size make the row a body's."""
    for row in PRINTED[PRINTED["method"] != GROUND_TRUTH].to_dict("records"):
        assert not a_body_can_have(row)
        for sign in SIGNS:
            moments = printed_body(row, sign).principal_form.second_moments
            lacking = -2.0 * moments[0]  # second moments of s in every direction are principal moments of 2 s
            mended: dict[Any, Any] = row | {name: row[name] + lacking for name in ("i_xx", "i_yy", "i_zz")}
            assert consistency_margin(printed_body(mended, sign)) == pytest.approx(0.0, abs=1e-9)
            more = row | {name: row[name] + 1.001 * lacking for name in ("i_xx", "i_yy", "i_zz")}
            assert a_body_can_have(more) and consistency(printed_body(more, sign)).positive_definite


def test_a_massless_or_unknown_row_is_no_body_s() -> None:
    assert a_body_can_have(BODY)
    assert not a_body_can_have(BODY | {"mass_kg": -0.115})
    assert not a_body_can_have(BODY | {"i_xx": float("nan")})
    assert not a_body_can_have(dict.fromkeys(PARAMETER_COLUMNS, 0.0) | {"mass_kg": 1.0})


@given(st.tuples(*[st.floats(0.01, 2.0)] * 3), st.tuples(*[st.floats(-1.0, 1.0)] * 3), st.integers(0, 2**32 - 1))
def test_the_uniform_body_of_a_turned_box_has_the_closed_form_and_points_inside_change_nothing(
    lengths: tuple[float, float, float], shift: tuple[float, float, float], seed: int
) -> None:
    random = np.random.default_rng(seed)
    solid = box(0.7, lengths).moved(Rotation.random(rng=random).as_matrix(), np.array(shift))
    shares = random.dirichlet(np.ones(8), 5)
    found = uniform_body(0.7, np.concatenate([solid.hull, shares @ solid.hull]))
    scale = np.abs(solid.parameters.vector).max()
    assert np.allclose(found.vector, solid.parameters.vector, rtol=0.0, atol=1e-9 * scale)


def test_the_uniform_body_of_a_tetrahedron_is_that_of_its_points() -> None:
    """A tetrahedron moves like a fifth of the mass at its corners and four fifths at its centre (Routh's rule)."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 2.0, 0.1], [0.3, 0.1, 1.5]])
    body, middle = uniform_body(2.0, corners), corners.mean(axis=0)
    assert np.allclose(body.center_of_mass, middle, rtol=1e-12)
    points = sum(parallel_axis(0.1, corner) for corner in corners) + parallel_axis(1.6, middle)
    assert np.allclose(tensor_entries(body.inertia), tensor_entries(points), rtol=1e-12)


def test_print_contradicts_that_box_2_is_estimated_better_in_hand() -> None:
    rows = PRINTED[(PRINTED["object"] == "box_2") & PRINTED["method"].str.startswith("constraint")]
    truth = OBJECTS["box_2"].parameters
    wrist, held = (rows[rows["block"].str.startswith(block)] for block in ("wrist", "in_hand"))
    assert len(wrist) == 2 and len(held) == 4

    def off(table: pd.DataFrame) -> np.ndarray:
        return np.abs(table["mass_kg"].to_numpy() - truth.mass)

    assert off(wrist).max() < off(held).min()

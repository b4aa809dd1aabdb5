"""Calculations that a ledger states: what they give is what the same arithmetic gives by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.output.evidence import calculated
from contactid.output.statements import Evidence
from contactid.output.verdicts import COMPUTED, NOT_DONE, PRINT

ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from(["small", "large"]),
        st.floats(-9.0, 9.0),
        st.floats(0.5, 9.0),
    ),
    min_size=1,
    max_size=12,
)
COLUMNS = ["kind", "size", "error", "scale"]


def of(table: pd.DataFrame, *numbers: str, **settings: Any) -> Evidence:
    return calculated({"t": table}, "shares", numbers, **settings)


def table_of(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


@given(ROWS)
def test_numbers_are_those_of_the_rows_that_count_one_expression_after_the_other(rows) -> None:
    chosen = [(error, scale) for kind, _, error, scale in rows if kind == "a"]
    evidence = of(table_of(rows), "error / scale", "scale.max()", rows="kind == 'a'")
    if not chosen:
        assert evidence.given is None and evidence.lack.kind == NOT_DONE
        return
    expected = [error / scale for error, scale in chosen] + [max(scale for _, scale in chosen)]
    np.testing.assert_allclose(evidence.given, expected)


@given(ROWS)
def test_cases_are_the_parts_and_a_subscript_is_another_way_to_choose_them(rows) -> None:
    table = table_of(rows)
    by_kind = of(table, "error.sum()", by=["kind"]).given
    kinds = list(dict.fromkeys(table["kind"]))
    expected = [sum(error for one, _, error, _ in rows if one == kind) for kind in kinds]
    np.testing.assert_allclose(by_kind, expected, atol=1e-12)
    np.testing.assert_allclose(
        of(table, *[f"error[kind == '{kind}'].sum()" for kind in kinds]).given, expected
    )


@given(ROWS, st.floats(-3.0, 3.0))
def test_a_naive_answer_is_what_would_be_given_by_its_numbers_or_rows(rows, other: float) -> None:
    table = table_of(rows)
    evidence = of(
        table,
        "error",
        rows="kind == 'a'",
        naive={"other": [f"0 * error + {other}"]},
        naive_rows={"b": "kind == 'b'"},
    )
    if evidence.lack is None:
        assert list(evidence.naive["other"]) == [other] * len(evidence.given)
        only_b = of(table, "error", rows="kind == 'b'")
        # what isn't there is no wrong answer
        assert ("b" in evidence.naive) == (only_b.lack is None)
        if only_b.lack is None:
            np.testing.assert_array_equal(evidence.naive["b"], only_b.given)


@given(ROWS)
def test_two_rows_and_pairs_have_the_numbers_of_each_expression(rows) -> None:
    table = table_of(rows)
    error, scale = table["error"].to_numpy(), table["scale"].to_numpy()
    first, second = of(table, "error", against=["scale"]).given
    np.testing.assert_array_equal(first, error)
    np.testing.assert_array_equal(second, scale)
    np.testing.assert_array_equal(
        of(table, "error", "scale", pairs=True).given, np.column_stack([error, scale])
    )


@given(st.permutations([("x", 1.0, 3.0), ("y", 1.0, 5.0), ("x", 2.0, 4.0), ("y", 2.0, 8.0)]))
def test_parted_numbers_are_named_by_what_parts_them_in_the_index_s_order(rows) -> None:
    table = pd.DataFrame(rows, columns=["quantity", "at", "value"]).assign(other=1.0)
    alone = of(table, "y / x", "at", columns=["quantity"], value="value", index="at")
    np.testing.assert_allclose(alone.given, [5.0 / 3.0, 2.0, 1.0, 2.0])
    every = of(table, "y_value - x_other", columns=["quantity"], index="at")
    np.testing.assert_allclose(every.given, [4.0, 7.0])
    in_all = of(table.query("at == 1"), "x + y", columns=["quantity"], value="value")
    assert in_all.given.tolist() == [8.0]


TABLE = table_of([("a", "small", 1.0, 2.0), ("b", "large", 3.0, 4.0)])


def test_new_columns_follow_from_those_before_and_rows_have_names() -> None:
    evidence = of(
        TABLE,
        "half + one",
        new={"one": "0 * error + 1", "half": "one / 2"},
        rows="kind == @kind",
        names={"kind": "a"},
    )
    assert evidence.given.tolist() == [1.5]


@pytest.mark.parametrize(
    "settings",
    [
        {"numbers": ["error"], "rows": "kind == 'c'"},
        {"numbers": ["unknown"]},
        {"numbers": ["new_one"], "new": {"new_one": "unknown + 1"}},
        {"numbers": ["error", "error[kind == 'c']"]},
        {"numbers": ["error"], "against": ["error[kind == 'c']"]},
        {"numbers": ["c_error"], "columns": ["kind"]},
    ],
)
def test_what_the_tables_do_not_have_is_not_done(settings: dict[str, Any]) -> None:
    evidence = calculated(
        {"t": TABLE}, "shares", absent="the third kind", named_by=["kind"], **settings
    )
    assert evidence.given is None and evidence.data == ""
    assert (evidence.lack.kind, evidence.lack.words) == (NOT_DONE, "the third kind")
    assert (
        calculated({"t": TABLE}, "shares", **settings).lack.words
        == "shares, of which this run has none"
    )


def test_a_note_says_what_the_numbers_are_and_few_of_them() -> None:
    assert of(TABLE, "error").note == "shares: 1, 3"
    assert of(TABLE, "error", against=["scale"]).note == "shares: 1, 3 against 2, 4"
    assert of(TABLE, "error > 2").note == "shares: 1 of 2"
    long = pd.DataFrame({"error": np.arange(21.0)})
    assert of(long, "error").note == "shares: median 10 of 21, 0 to 20"


def test_evidence_says_what_it_rests_on() -> None:
    assert (of(TABLE, "error").basis, of(TABLE, "error", basis=PRINT).basis) == (COMPUTED, PRINT)
    assert of(TABLE, "error", named_by=["unknown", "size", "kind"]).data == "small, large, a, b"
    assert of(TABLE, "error", rows="kind == 'a'", named_by=["size"]).data == "small"
    assert of(TABLE, "error", dataset="arms").data == "arms"


def test_tables_are_taken_below_each_other() -> None:
    evidence = calculated(
        {"one": TABLE, "other": TABLE.assign(kind="c")}, "errors", ["error.sum()"], by=["kind"]
    )
    assert evidence.given.tolist() == [1.0, 3.0, 4.0]

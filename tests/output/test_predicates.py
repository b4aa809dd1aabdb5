"""What statements ask: cases that are counted, thresholds that are moved, and wrong answers that
follow from a rule.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.output.predicates import (
    All,
    AllAbove,
    Beyond,
    Falls,
    Rises,
    Smaller,
    TrendFalls,
    Within,
)

SIZES = st.floats(1e-6, 1e3)
PAIRS = st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=9)
INF = math.inf


@pytest.mark.parametrize(
    ("first", "other", "cases", "holds"),
    [
        ((1.0, 1.0), (1.0, 1.04), [False, False], False),  # nearly the same is the same
        ((1.0, 1.0, 5.0), (2.0, 2.0, 1.0), [True, True, False], True),
        ((1.0, INF, INF), (INF, INF, INF), [True], True),
        ((INF, 1.0), (1.0, INF), [False, True], False),  # half of the pairs isn't more than half
        ((INF, INF), (INF, INF), [], False),
    ],
)
def test_pairs_are_counted_where_one_is_finite(first, other, cases, holds) -> None:
    assert Smaller().cases((first, other)) == cases
    assert Smaller().holds((first, other)) is holds


@given(PAIRS)
def test_of_two_rows_at_most_one_is_the_smaller_and_its_opposites_say_so(
    pairs: list[tuple[float, float]],
) -> None:
    rows = tuple(zip(*pairs, strict=True))
    asked = Smaller()
    opposites = asked.opposites(rows)
    assert not (asked.holds(rows) and asked.holds(opposites["exchanged"]))
    assert not asked.holds(opposites["no difference"])


@given(st.lists(SIZES, min_size=2, max_size=9, unique=True))
def test_what_rises_falls_in_reverse(values: list[float]) -> None:
    ascending = sorted(values)
    for asked, right in ((Rises(), ascending), (Falls(), ascending[::-1])):
        assert asked.holds(right)
        assert not any(asked.holds(wrong) for wrong in asked.opposites(right).values())


@given(st.lists(SIZES, min_size=1, max_size=5), st.lists(SIZES, min_size=1, max_size=5))
def test_not_both_rows_are_above_each_other(first: list[float], other: list[float]) -> None:
    asked = AllAbove()
    assert not (asked.holds((first, other)) and asked.holds((other, first)))


def test_every_threshold_is_moved_by_a_fifth_and_no_other_field() -> None:
    moved = Smaller(margin=0.05, most=0.5).moved()
    assert {name: (one.margin, one.most) for name, one in moved.items()} == {
        "margin*0.8": (pytest.approx(0.04), 0.5),
        "margin*1.2": (pytest.approx(0.06), 0.5),
        "most*0.8": (0.05, pytest.approx(0.4)),
        "most*1.2": (0.05, pytest.approx(0.6)),
    }
    assert Rises().moved() == {} and Falls().moved() == {}


@given(st.lists(st.floats(-2.0, 2.0), min_size=1, max_size=6))
def test_no_number_is_within_a_limit_and_beyond_it(values: list[float]) -> None:
    sizes = [abs(value) for value in values]
    within, beyond = Within(1.0).cases(sizes), Beyond(1.0).cases(sizes)
    assert [not one for one in within] == beyond


def test_a_trend_falls_and_its_opposites_do_not() -> None:
    falling = [(x, 20.0 - x + (-1) ** x) for x in range(12)]
    asked = TrendFalls()
    assert asked.holds(falling)
    assert not any(asked.holds(wrong) for wrong in asked.opposites(falling).values())


def test_nothing_shows_nothing() -> None:
    for asked, empty in (
        (All(), []),
        (Within(1.0), []),
        (Beyond(1.0), []),
        (Rises(), [1.0]),
        (Smaller(), ([], [])),
    ):
        assert not asked.holds(empty)

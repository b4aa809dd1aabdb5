"""``contactid identify`` on throws that nothing was tuned on (make test-public, minutes; it needs no data)."""

import pytest

from own_throws import KINDS, rows_of


@pytest.mark.public
@pytest.mark.parametrize("kind", KINDS)
def test_unseen_throws_are_found_better_than_by_naive_answers_and_intervals_hold(kind):
    rows = rows_of(kind)
    assert rows["answered"].mean() >= 0.9
    found = rows[rows["answered"]]
    naive = found[["uniform_departure_pct", "impact_departure_pct"]].median().min()
    assert found["departure_pct"].median() < min(3.0, 0.5 * naive)
    assert found["held"].mean() >= 0.9

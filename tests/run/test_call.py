"""A rule that does the same for several things calls its function once for each, with what is its
own.
"""

import pytest

from contactid.run import call
from contactid.run.call import call_rule


@pytest.fixture
def called(monkeypatch):
    found = []

    def record(raw, made, tables, name, calibration, seed):
        found.append((raw, made, tables, name, calibration, seed))

    monkeypatch.setattr(call, "resolve", lambda text: record)
    return found


PARAMS = {"call": "a:b", "code": "", "name": ["one", "two"], "calibration": [], "seed": 3}


def test_each_call_has_an_entry_of_its_own_and_its_share(called):
    lists = {"each": ["raw", "made", "name", "calibration"], "shares": ["tables"]}
    files = {"made": ["a.nc", "b.nc"], "tables": ["a1", "a2", "b1", "b2"]}
    call_rule({}, {"raw": ["a", "b"]}, files, {**PARAMS, **lists})
    # a list without entries goes to every call as it is
    assert called == [
        ("a", "a.nc", ["a1", "a2"], "one", [], 3),
        ("b", "b.nc", ["b1", "b2"], "two", [], 3),
    ]


def test_without_such_lists_it_is_one_call(called):
    call_rule(
        {"name": "box"}, {"raw": "a"}, {"made": "b", "tables": ["c"]}, {**PARAMS, "name": "box"}
    )
    assert called == [("a", "b", ["c"], "box", [], 3)]


@pytest.mark.parametrize(
    ("made", "tables"), [(["a", "b", "c"], ["d", "e"]), (["a", "b"], ["d", "e", "f"])]
)
def test_lists_that_don_t_go_together_are_a_defect(called, made, tables):
    lists = {"each": ["raw", "made", "name"], "shares": ["tables"]}
    with pytest.raises(ValueError, match=r"3 of (made|tables) for 2 calls"):
        call_rule({}, {"raw": ["a", "b"]}, {"made": made, "tables": tables}, {**PARAMS, **lists})
    assert called == []

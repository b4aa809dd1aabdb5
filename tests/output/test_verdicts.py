"""Verdicts: what a number or a statement rests on, which wrong answers its check refuses, and what
follows.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contactid.output.verdicts import (
    BASES,
    BETTER,
    COMPUTED,
    COUNTEREXAMPLE,
    DIFFERS,
    FITTED,
    INPUT,
    LACKS,
    MEANINGS,
    MOVES,
    ORIGINS,
    PREDICTED,
    PRINT,
    PRINT_CONSISTENT,
    PRINT_INCONSISTENT,
    PRINTED,
    REPRODUCED,
    SIMULATION,
    TWIN,
    TWIN_OF_PRINT,
    UNINFORMATIVE,
    VERDICTS,
    judge_number,
    judge_statement,
)

NUMBERS = st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-6)
FAR = (0.0, 10.0)  # wrong answers that every tolerance below refuses
OWN = st.sampled_from([COMPUTED, PREDICTED, FITTED])


def test_every_basis_origin_and_verdict_is_explained() -> None:
    assert set(MEANINGS) == set(VERDICTS)
    assert set(BASES) == {COMPUTED, PREDICTED, FITTED, PRINT, INPUT}
    assert set(LACKS) < set(VERDICTS)
    assert all(words for words in (*MEANINGS.values(), *BASES.values(), *ORIGINS.values()))


@pytest.mark.parametrize(
    ("value", "tolerance", "basis", "tried", "verdict"),
    [
        (1.03, 0.05, COMPUTED, FAR, REPRODUCED),
        (1.03, 0.05, PREDICTED, FAR, REPRODUCED),
        (1.045, 0.05, COMPUTED, FAR, UNINFORMATIVE),  # four fifths of the tolerance don't hold it
        (1.055, 0.05, COMPUTED, FAR, UNINFORMATIVE),  # six fifths do
        (1.07, 0.05, COMPUTED, FAR, DIFFERS),
        (1.03, 0.05, COMPUTED, (0.0, 1.02), UNINFORMATIVE),
        # refused, but not by six fifths of the tolerance
        (1.03, 0.05, COMPUTED, (0.0, 1.055), UNINFORMATIVE),
        (1.03, 0.05, COMPUTED, (), UNINFORMATIVE),
        (1.03, 0.05, FITTED, FAR, FITTED),
        (1.07, 0.05, FITTED, FAR, DIFFERS),
        (1.05, 0.05, PRINT, (), PRINT_CONSISTENT),
        (1.051, 0.05, PRINT, (), PRINT_INCONSISTENT),  # rounding is exact
        (1.0, 0.0, INPUT, (), INPUT),
        (1.1, 0.0, INPUT, (), DIFFERS),
    ],
)
def test_the_verdict_on_a_number(value, tolerance, basis, tried, verdict) -> None:
    assert judge_number(value, 1.0, tolerance, basis, tried, is_error=False) == verdict


@given(value=NUMBERS, published=NUMBERS, share=st.floats(0.0, 2.0), basis=OWN, wrong=NUMBERS)
def test_a_verdict_on_a_number_stays_when_its_tolerance_moves_by_a_fifth(
    value: float, published: float, share: float, basis: str, wrong: float
) -> None:
    tolerance = share * abs(published)
    verdict = judge_number(value, published, tolerance, basis, (0.0, wrong), is_error=False)
    assume(verdict != UNINFORMATIVE)
    distance = abs(value - published)
    within = [distance <= move * tolerance * (1.0 + 1e-9) for move in (*MOVES, 1.0)]
    assert len(set(within)) == 1
    assert within[0] == (verdict in (REPRODUCED, FITTED))


@given(published=NUMBERS, share=st.floats(0.0, 2.0), wrong=NUMBERS)
def test_a_reproduced_number_s_check_refuses_every_wrong_answer(
    published: float, share: float, wrong: float
) -> None:
    tolerance = share * abs(published)
    tried = (0.0, 2.0 * published, wrong)
    verdict = judge_number(published, published, tolerance, COMPUTED, tried, is_error=False)
    refused = [abs(one - published) > max(MOVES) * tolerance * (1.0 + 1e-9) for one in tried]
    assert (verdict == REPRODUCED) == all(refused)


@given(
    value=NUMBERS,
    published=NUMBERS,
    share=st.floats(0.0, 2.0),
    basis=st.sampled_from([COMPUTED, FITTED, PRINT]),
)
def test_an_error_s_sign_turns_no_verdict_and_a_larger_error_is_never_better(
    value: float, published: float, share: float, basis: str
) -> None:
    def verdict(ours: float, printed: float) -> str:
        return judge_number(ours, printed, share * abs(published), basis, FAR, is_error=True)

    # both errors with the other sign are the same finding, told in an axis that points the other
    # way
    assert judge_number(value, published, 0.1, basis, (), is_error=True) == judge_number(
        -value, -published, 0.1, basis, (), is_error=True
    )
    # an error beyond the printed one is no smaller for having the other sign
    larger = abs(value) + abs(published)
    assert BETTER not in (verdict(larger, published), verdict(-larger, published))


@pytest.mark.parametrize(
    ("ours", "verdict"), [(0.5, BETTER), (-0.5, BETTER), (1.5, DIFFERS), (-1.5, DIFFERS)]
)
def test_better_is_an_error_of_smaller_size(ours: float, verdict: str) -> None:
    for sign in (1.0, -1.0):
        assert judge_number(sign * ours, sign * 1.0, 0.01, COMPUTED, FAR, is_error=True) == verdict


REFUSED = {"exchanged": False, COUNTEREXAMPLE: False}


@pytest.mark.parametrize(
    ("holds", "basis", "origin", "wrong", "moved", "verdict"),
    [
        (True, COMPUTED, SIMULATION, REFUSED, {}, REPRODUCED),
        (True, COMPUTED, SIMULATION, {"exchanged": False, "no difference": False}, {}, REPRODUCED),
        (True, COMPUTED, SIMULATION, REFUSED, {"a*0.8": False, "a*1.2": True}, UNINFORMATIVE),
        (True, COMPUTED, SIMULATION, {"exchanged": True, COUNTEREXAMPLE: False}, {}, UNINFORMATIVE),
        # the author alone chose it
        (True, COMPUTED, SIMULATION, {COUNTEREXAMPLE: False}, {}, UNINFORMATIVE),
        # one wrong answer isn't two
        (True, COMPUTED, SIMULATION, {"exchanged": False}, {}, UNINFORMATIVE),
        (True, COMPUTED, SIMULATION, {}, {}, UNINFORMATIVE),
        (True, FITTED, TWIN, REFUSED, {}, FITTED),
        (False, FITTED, TWIN, {"exchanged": True}, {}, UNINFORMATIVE),
        (True, PRINT, PRINTED, {}, {}, PRINT_CONSISTENT),
        (False, PRINT, PRINTED, {}, {}, PRINT_INCONSISTENT),
        (False, COMPUTED, SIMULATION, {}, {}, DIFFERS),
        (False, COMPUTED, SIMULATION, {}, {"limit*1.2": True}, UNINFORMATIVE),
        (False, COMPUTED, TWIN, {"exchanged": True, "no difference": False}, {}, DIFFERS),
        (False, COMPUTED, TWIN_OF_PRINT, {**REFUSED, COUNTEREXAMPLE: True}, {}, UNINFORMATIVE),
    ],
)
def test_the_verdict_on_a_statement(holds, basis, origin, wrong, moved, verdict) -> None:
    assert judge_statement(holds, basis, origin, wrong, moved) == verdict


NAMES = st.sampled_from(["exchanged", "no difference", "uniform body", COUNTEREXAMPLE])
ANSWERS = st.dictionaries(NAMES, st.booleans())
MOVED = st.dictionaries(st.sampled_from(["limit*0.8", "limit*1.2"]), st.booleans())


@given(
    st.booleans(), st.sampled_from(sorted(BASES)), st.sampled_from(sorted(ORIGINS)), ANSWERS, MOVED
)
def test_laws_of_statements(holds: bool, basis: str, origin: str, wrong: dict, moved: dict) -> None:
    verdict = judge_statement(holds, basis, origin, wrong, moved)
    if verdict == REPRODUCED:
        assert holds and all(moved.values())
        assert len(wrong) >= 2 and not any(wrong.values()) and set(wrong) != {COUNTEREXAMPLE}
        assert basis in (COMPUTED, PREDICTED), (
            "what starts from print or is fitted to it reproduces nothing"
        )
    if verdict in (DIFFERS, PRINT_INCONSISTENT):
        assert not holds and not any(moved.values())
    if origin in (TWIN, TWIN_OF_PRINT) and verdict == DIFFERS:
        by_rule = {name: answer for name, answer in wrong.items() if name != COUNTEREXAMPLE}
        assert any(by_rule.values()), "the opposite would look otherwise"

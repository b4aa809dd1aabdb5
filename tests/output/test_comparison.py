"""Verdicts: what a number rests on, which wrong answers its check refuses, and what follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.output import comparison
from contactid.output.comparison import (
    BASES,
    BETTER,
    COMPUTED,
    DIFFERS,
    FITTED,
    INPUT,
    MEANINGS,
    NOT_COMPARABLE,
    PREDICTED,
    PRINT,
    PRINT_CONSISTENT,
    REPRODUCED,
    SCALES,
    STATEMENT,
    UNINFORMATIVE,
    VERDICTS,
    Reproduced,
    Tolerance,
    compare,
    counted,
    judge,
    statement,
    wrong_answers,
)

PUBLISHED = Path(__file__).parents[2] / "workflow/resources/published"
NUMBERS = st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-6)


def one(value: float, ours: Reproduced | None, tolerance: float = 0.05, unit: str = "1") -> pd.Series:
    """The row of one printed number."""
    row = ("t", "q", "c", value, unit, tolerance, "rounding", "p. 1")
    names = ["artefact", "quantity", "condition", "value", "unit", "tolerance", "tolerance_from", "where"]
    numbers = {} if ours is None else {("t", "q", "c"): ours}
    return compare("s", pd.DataFrame([row], columns=names), numbers, {"t": "needs the dataset d"}).iloc[0]


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (Reproduced(1.05), REPRODUCED),
        (Reproduced(1.05, PREDICTED), REPRODUCED),
        (Reproduced(1.06), DIFFERS),
        (Reproduced(1.06, tolerance=Tolerance(0.1, "spread")), REPRODUCED),
        (Reproduced(1.05, tolerance=Tolerance(0.5, "spread")), UNINFORMATIVE),
        (Reproduced(1.05, naive={"uniform body": 1.02}), UNINFORMATIVE),
        (Reproduced(1.05, naive={"uniform body": 1.2}), REPRODUCED),
        (Reproduced(-0.9, is_error=True), BETTER),
        (Reproduced(1.0, FITTED), FITTED),
        (Reproduced(1.1, FITTED), DIFFERS),
        (Reproduced(1.0, PRINT), PRINT_CONSISTENT),
        (Reproduced(1.1, PRINT), DIFFERS),
        (Reproduced(1.0, INPUT), INPUT),
        (Reproduced(1.1, INPUT), DIFFERS),
        (Reproduced(1.0, missing="needs the dataset d"), NOT_COMPARABLE),
        (None, NOT_COMPARABLE),
    ],
)
def test_the_verdict_follows_from_what_a_number_rests_on_and_from_what_its_check_refuses(ours, verdict) -> None:
    assert one(1.0, ours)["verdict"] == verdict


def test_a_row_tells_what_was_tried_and_what_was_refused() -> None:
    row = one(2.0, Reproduced(2.0, data="d", signed=True, naive={"mean": 2.01}, note="by another way"))
    assert row["wrong_answers"] == "zero=0;half=1;twice=4;sign=-2;mean=2.01"
    assert row["rejects"] == "zero;half;twice;sign" and row["verdict"] == UNINFORMATIVE
    assert (row["basis"], row["data"], row["note"]) == (COMPUTED, "d", "by another way; tolerance: rounding")
    absent = one(2.0, None)
    assert (absent["basis"], absent["rejects"], absent["note"]) == ("", "", "needs the dataset d")


@pytest.mark.parametrize(("tolerance", "verdict"), [(0.05, REPRODUCED), (0.2, UNINFORMATIVE)])
def test_a_printed_zero_is_tried_with_its_unit_s_scale(tolerance: float, verdict: str) -> None:
    row = one(0.0, Reproduced(0.01), tolerance)
    assert row["wrong_answers"] == f"above={SCALES['1']:g};below=-{SCALES['1']:g}" and row["verdict"] == verdict


def test_a_statement_without_a_counterexample_shows_nothing() -> None:
    assert one(1.0, Reproduced(1.0, tolerance=Tolerance(0.0, "none")), unit=STATEMENT)["verdict"] == UNINFORMATIVE


def test_a_statement_must_refuse_its_counterexample() -> None:
    bounces = [0.0, 0.3]
    assert one(1.0, statement(lambda gaps: max(gaps) == 0.0, [0.0], bounces), unit=STATEMENT)["verdict"] == REPRODUCED
    assert one(1.0, statement(lambda gaps: max(gaps) == 0.0, bounces, bounces), unit=STATEMENT)["verdict"] == DIFFERS
    assert one(1.0, statement(lambda gaps: True, [0.0], bounces), unit=STATEMENT)["verdict"] == UNINFORMATIVE


@given(published=NUMBERS, share=st.floats(0.0, 2.0), naive=NUMBERS)
def test_reproduced_means_that_every_wrong_answer_gets_another_verdict(
    published: float, share: float, naive: float
) -> None:
    ours = Reproduced(published, signed=True, naive={"naive": naive})
    tolerance = share * abs(published)
    row = one(published, ours, tolerance)
    answers = wrong_answers(published, "1", ours.naive, signed=True).values()
    judged = {judge(value, published, tolerance, COMPUTED, True, False) for value in answers}
    assert (row["verdict"] == REPRODUCED) == (REPRODUCED not in judged)


@given(value=NUMBERS, published=NUMBERS, share=st.floats(0.0, 2.0), basis=st.sampled_from([COMPUTED, FITTED, PRINT]))
def test_an_error_s_sign_turns_no_verdict_and_a_larger_error_is_never_better(
    value: float, published: float, share: float, basis: str
) -> None:
    def verdict(ours: float, printed: float) -> str:
        return judge(ours, printed, share * abs(published), basis, could_fail=True, is_error=True)

    # both errors with the other sign are the same finding, told in an axis that points the other way
    assert verdict(value, published) == verdict(-value, -published)
    # an error beyond the printed one is no smaller for having the other sign
    larger = abs(value) + abs(published)
    assert BETTER not in (verdict(larger, published), verdict(-larger, published))
    # and one within it is better whichever sign it has, unless it agrees
    smaller = 0.5 * published
    allowed = {BETTER} if share < 0.5 else {BETTER, *_agreeing(basis)}
    assert {verdict(smaller, published), verdict(-smaller, published)} <= allowed


def _agreeing(basis: str) -> set[str]:
    """The verdict of what lies within its tolerance."""
    return {judge(1.0, 1.0, 0.0, basis, could_fail=True, is_error=True)}


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(0.5, BETTER), (-0.5, BETTER), (1.5, DIFFERS), (-1.5, DIFFERS)],
)
def test_better_is_an_error_of_smaller_size(ours: float, verdict: str) -> None:
    for sign in (1.0, -1.0):
        assert judge(sign * ours, sign * 1.0, 0.01, COMPUTED, could_fail=True, is_error=True) == verdict


def test_every_basis_and_verdict_is_explained_and_every_printed_unit_has_a_scale() -> None:
    assert set(MEANINGS) == set(VERDICTS) and set(BASES) == {COMPUTED, PREDICTED, FITTED, PRINT, INPUT}
    assert all(scale > 0.0 for scale in comparison.SCALES.values())


def test_rows_of_one_experiment_count_once() -> None:
    checks = pd.DataFrame({"verdict": [REPRODUCED] * 3, "repeats": ["", "friction_mu=0.6", np.nan]})
    assert len(counted(checks)) == 2


@pytest.mark.parametrize("study", ["tossing", "planar", "arm", "inhand"])
def test_no_printed_number_has_a_wider_tolerance_than_it_once_had(study: str) -> None:
    once = pd.read_csv(Path(__file__).parent / "largest_tolerances.csv", keep_default_na=False)
    now = pd.read_csv(PUBLISHED / f"{study}.csv", keep_default_na=False)
    for row in once[once["study"] == study].to_dict("records"):
        same = (now["quantity"] == row["quantity"]) & (now["condition"] == row["condition"])
        if row["artefact"] != "text":  # a claim may have moved from the text to the figure that it is printed with
            same &= now["artefact"] == row["artefact"]
        assert len(now[same]) == 1, row
        assert now.loc[same, "tolerance"].item() <= row["tolerance"], row
    assert not now["tolerance_from"].str.contains("spread|standard dev", case=False).any()
    assert (now.loc[now["unit"] == STATEMENT, ["value", "tolerance"]] == [1.0, 0.0]).all(axis=None)
    assert set(now.loc[now["value"] == 0.0, "unit"]) <= set(SCALES)

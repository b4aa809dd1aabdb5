"""A paper's sentence has the verdict of the weakest row that it needs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contactid.output.claims import (
    LACKING,
    WEAKEST_FIRST,
    Claim,
    abstract_lines,
    judged,
    judged_claims,
    read_claims,
)
from contactid.output.summary import conclude
from contactid.output.tables import write_csv
from contactid.output.verdicts import INPUT, NOT_DONE, PRINT_INCONSISTENT, VERDICTS

PUBLISHED = Path(__file__).parents[2] / "workflow/resources/published"
ANY_ROW = {"artefact": "tab01", "quantity": "mass", "condition": "*"}
NEEDS_ROWS = Claim("heavy", "abstract", "It is heavy.", "Is it?", (ANY_ROW,))
ROW_VERDICTS = st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=8)


def rows(verdicts: list[str]) -> list[dict[str, str]]:
    return [{"verdict": verdict, "note": "", "cases": ""} for verdict in verdicts]


def strength(verdict: str) -> int:
    """The place of a verdict from the weakest on; input is stronger than all, as it speaks for
    nothing.
    """
    return len(WEAKEST_FIRST) if verdict == INPUT else WEAKEST_FIRST.index(verdict)


def test_every_verdict_of_a_row_has_its_place() -> None:
    assert {*WEAKEST_FIRST, INPUT} == set(VERDICTS)


@given(ROW_VERDICTS, st.sampled_from(VERDICTS))
def test_a_sentence_is_never_better_than_its_weakest_row(verdicts: list[str], other: str) -> None:
    verdict, evidence = judged(NEEDS_ROWS, rows(verdicts), [])
    assert strength(verdict) == min(map(strength, verdicts))
    if verdict != INPUT:
        counts = evidence.split(": ")[0].split(", ")
        assert sum(int(part.split()[0]) for part in counts) == len(verdicts), (
            "the evidence counts all rows"
        )
    with_other, _ = judged(NEEDS_ROWS, rows([*verdicts, other]), [])
    assert strength(with_other) <= strength(verdict), (
        "one more row that it needs never makes it better"
    )


@given(ROW_VERDICTS, ROW_VERDICTS)
def test_arithmetic_on_print_can_only_speak_against_a_sentence(
    verdicts: list[str], beside: list[str]
) -> None:
    alone, _ = judged(NEEDS_ROWS, rows(verdicts), [])
    verdict, _ = judged(NEEDS_ROWS, rows(verdicts), rows(beside))
    if PRINT_INCONSISTENT in beside:
        assert strength(verdict) == min(strength(alone), strength(PRINT_INCONSISTENT))
    else:
        assert verdict == alone


def test_a_sentence_without_rows_that_print_contradicts_is_inconsistent() -> None:
    lacking = Claim(
        "heavy", "I", "It is heavy.", "Is it?", (), (ANY_ROW,), "never published: its mass"
    )
    assert judged(lacking, [], rows([PRINT_INCONSISTENT]))[0] == PRINT_INCONSISTENT
    assert judged(lacking, [], rows(["print_consistent"])) == (
        "never_published",
        "never published: its mass",
    )


def test_a_sentence_whose_rows_a_run_lacks_is_not_done() -> None:
    assert judged(NEEDS_ROWS, [], []) == (NOT_DONE, "the run has none of its rows")


@pytest.mark.parametrize(
    "ledger", sorted(PUBLISHED.glob("*_claims.yaml")), ids=lambda file: file.stem
)
def test_what_a_ledger_s_claims_lack_has_a_verdict(ledger: Path) -> None:
    lacking = [claim for claim in read_claims(ledger) if claim.lacks]
    assert {judged(claim, [], [])[0] for claim in lacking} <= set(LACKING.values())


def test_wildcards_find_rows_and_the_page_begins_with_the_abstract(tmp_path: Path) -> None:
    ledger = tmp_path / "one_claims.yaml"
    entry = {"name": "heavy", "section": "abstract", "quote": "It is\n  heavy.", "asks": "Is it?"}
    by_box = {"artefact": "tab01", "quantity": "m*", "condition": "box=*"}
    later = {
        "name": "light",
        "section": "V",
        "quote": "It isn't light.",
        "asks": "Isn't it?",
        "lacks": "not done: weigh",
    }
    sentences = [entry | {"needs": [by_box]}, later]
    ledger.write_text(yaml.safe_dump({"statements": [], "sentences": sentences}))
    checks = pd.DataFrame(
        [
            ("one", "tab01", "mass", "box=1", "reproduced", "", "weighed; tolerance: rounding", ""),
            (
                "one",
                "tab01",
                "mass",
                "box=2",
                "differs",
                "",
                "too light; tolerance: rounding",
                "3 of 4",
            ),
            ("one", "tab01", "mass", "", "uninformative", "", "", ""),
            ("one", "tab02", "mass", "box=1", "uninformative", "box=2", "", ""),
        ],
        columns=[
            "study",
            "artefact",
            "quantity",
            "condition",
            "verdict",
            "repeats",
            "note",
            "cases",
        ],
    )
    claims = judged_claims("one", read_claims(ledger), checks)
    assert list(claims["verdict"]) == ["differs", "not_done"]
    evidence = "1 differs, 1 reproduced: in 3 of 4 cases; too light"
    assert list(claims["evidence"]) == [evidence, "not done: weigh"]
    assert list(claims["rows"]) == ["1 2", ""]
    assert abstract_lines(claims) == [f"* **differs** ({evidence}): It is heavy."]
    write_csv(checks, tmp_path / "one.csv")
    files = [str(tmp_path / name) for name in ("checks.csv", "claims.csv", "summary.md")]
    conclude("r", [str(tmp_path / "one.csv")], [], [], [str(ledger)], *files)
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "claims.csv", keep_default_na=False), claims
    )
    page = (tmp_path / "summary.md").read_text()
    assert page.index("It is heavy.") < page.index("## Printed numbers")

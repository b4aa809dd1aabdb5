"""Every sentence of a ledger of claims stands in its paper, and rows of the checks judge it.

The papers are the folder that PAPERS names, by default ../shared/papers; what needs them is skipped
without it.
"""

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd
import pytest
import yaml

from contactid.output.tables import read_csv

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "workflow/resources/published"
PAPERS = Path(os.environ.get("PAPERS") or ROOT.parent / "shared/papers")
PAPER_OF = {
    "tossing": "tossing-validation.md",
    "planar": "planar-identification.md",
    "arm": "arm-impact-map.md",
    "inhand": "inhand-inertia.md",
}
STUDIES = [study for study in PAPER_OF if (PUBLISHED / f"{study}_claims.yaml").is_file()]
KEYS = {"name", "section", "quote", "asks", "needs", "print", "lacks"}
PATTERN_KEYS = {"artefact", "quantity", "condition"}

needs_papers = pytest.mark.skipif(not PAPERS.is_dir(), reason="needs the papers' text: set PAPERS")
for_every_study = pytest.mark.parametrize("study", STUDIES)


def ledger_of(study):
    return yaml.safe_load((PUBLISHED / f"{study}_claims.yaml").read_text(encoding="utf-8"))


def claims_of(study):
    return ledger_of(study)["sentences"]


def patterns(claim):
    return [*(claim.get("needs") or []), *(claim.get("print") or [])]


def matches(row, pattern):
    return all(fnmatchcase(row[key], str(pattern[key])) for key in PATTERN_KEYS)


def rows_of(table, study):
    """Keys of a study's rows; an empty condition is an empty text."""
    keys = ["artefact", "quantity", "condition"]
    part = table[table["study"] == study] if "study" in table else table
    return part[keys].fillna("").astype(str).to_dict("records")


def one_line(text):
    return " ".join(text.split())


def test_a_ledger_exists():
    assert STUDIES


@for_every_study
def test_claims_have_a_name_a_place_and_a_question(study):
    claims = claims_of(study)
    names = [claim["name"] for claim in claims]
    assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
    for claim in claims:
        assert set(claim) <= KEYS, claim["name"]
        assert re.fullmatch(r"[a-z][a-z0-9_]*", claim["name"]), claim["name"]
        for key in ("section", "quote", "asks"):
            assert claim.get(key, "").strip(), f"{claim['name']}: {key}"


@for_every_study
def test_a_claim_has_rows_or_says_what_it_lacks(study):
    for claim in claims_of(study):
        assert bool(claim.get("needs")) != bool(claim.get("lacks")), claim["name"]


@for_every_study
def test_every_pattern_finds_rows_and_no_row_is_needed_and_print_at_once(study):
    rows = rows_of(read_csv(ROOT / "workflow/resources/verdicts/default.csv"), study)
    for claim in claims_of(study):
        for pattern in patterns(claim):
            assert set(pattern) == PATTERN_KEYS, f"{claim['name']}: {pattern}"
            assert any(matches(row, pattern) for row in rows), (
                f"{claim['name']}: no row is {pattern}"
            )
        for row in rows:
            hits = [pattern for pattern in patterns(claim) if matches(row, pattern)]
            assert len(hits) <= 1, f"{claim['name']}: {row} is named twice"


@for_every_study
def test_what_only_calculates_with_print_reproduces_nothing(study):
    verdicts = read_csv(ROOT / "workflow/resources/verdicts/default.csv")
    reproduced = rows_of(verdicts[verdicts["verdict"] == "reproduced"], study)
    for claim in claims_of(study):
        for pattern in claim.get("print") or []:
            assert not any(matches(row, pattern) for row in reproduced), (
                f"{claim['name']}: {pattern}"
            )


@for_every_study
def test_every_statement_is_said_by_a_sentence(study):
    statements = pd.DataFrame(ledger_of(study)["statements"]).rename(columns={"name": "quantity"})
    named = [pattern for claim in claims_of(study) for pattern in patterns(claim)]
    unsaid = [
        row
        for row in rows_of(statements, study)
        if not any(matches(row, pattern) for pattern in named)
    ]
    assert not unsaid, pd.DataFrame(unsaid).to_string()


@needs_papers
@for_every_study
def test_every_quote_is_in_the_paper_word_for_word_and_in_its_order(study):
    paper = one_line((PAPERS / PAPER_OF[study]).read_text(encoding="utf-8"))
    start = 0
    for claim in claims_of(study):
        quote = one_line(claim["quote"])
        assert quote in paper, claim["name"]
        assert quote in paper[start:], f"{claim['name']}: stands before the one above it"
        start = paper.index(quote, start)

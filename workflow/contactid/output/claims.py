"""What comes of a paper's sentences: each takes the verdict of the weakest row that it needs.

A ledger, ``resources/published/<study>_claims.yaml``, has under ``sentences`` those that can be
checked, word for word, and names the rows of the study's verdicts that judge each. A sentence is
never better than the numbers that it is made of, and the paper's own numbers can speak against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.output.comparison import STATEMENT
from contactid.output.ledger import read_ledger
from contactid.output.statements import Pattern, matches
from contactid.output.verdicts import (
    BETTER,
    DIFFERS,
    FITTED,
    INPUT,
    LACKS,
    MEANINGS,
    NEEDS_ARCHIVE,
    NEVER_PUBLISHED,
    NOT_DONE,
    PRINT_CONSISTENT,
    PRINT_INCONSISTENT,
    REPRODUCED,
    UNDEFINED,
    UNINFORMATIVE,
)

#: Verdicts from the weakest to the strongest. ``input`` isn't among them: what the run starts from
#: speaks neither for a sentence nor against it.
WEAKEST_FIRST = (
    DIFFERS, PRINT_INCONSISTENT, NEVER_PUBLISHED, NEEDS_ARCHIVE, NOT_DONE, UNDEFINED, UNINFORMATIVE, PRINT_CONSISTENT,
    FITTED, BETTER, REPRODUCED,
)  # fmt: skip
#: The verdict on what is about other work, or an opinion: nothing could be computed.
NO_RESULT = "no_result"
#: What a sentence's verdict means: those of numbers, and this one.
SENTENCE_MEANINGS = {
    **MEANINGS,
    NO_RESULT: "about other work, or an opinion: nothing could be computed",
}
#: What a sentence without a row lacks, by the words that its ledger's ``lacks`` begins with.
LACKING = {
    "not done": NOT_DONE,
    "needs the archive": NEEDS_ARCHIVE,
    "never published": NEVER_PUBLISHED,
    "literature": NO_RESULT,
    "opinion": NO_RESULT,
    "about the paper itself": NO_RESULT,
}
COLUMNS = ("study", "claim", "section", "quote", "asks", "verdict", "evidence", "rows")
ABSTRACT = "abstract"


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper.

    Attributes
    ----------
    name : of the claim, unique in its study
    section : of the paper, or the figure or table whose caption it is
    quote : word for word
    asks : what would have to be so, in plain words
    needs : the rows without which it isn't shown: artefact, quantity and condition, which may have
        wildcards
    print : rows that only calculate with printed numbers: they can't show it, but can speak against
        it
    lacks : why there is no such row; empty where there is
    """

    name: str
    section: str
    quote: str
    asks: str
    needs: tuple[Pattern, ...] = ()
    print: tuple[Pattern, ...] = ()
    lacks: str = ""


def read_claims(ledger: str | Path) -> list[Claim]:
    """The claims of a study, in the paper's order."""
    entries = read_ledger(ledger)["sentences"]
    return [
        Claim(
            name=entry["name"],
            section=str(entry["section"]),
            quote=" ".join(entry["quote"].split()),
            asks=entry["asks"],
            needs=tuple(entry.get("needs") or ()),
            print=tuple(entry.get("print") or ()),
            lacks=entry.get("lacks") or "",
        )
        for entry in entries
    ]


def judged_claims(study: str, claims: Sequence[Claim], checks: pd.DataFrame) -> pd.DataFrame:
    """A row for each claim: its verdict, the evidence in words, and the numbers of its rows.

    Parameters
    ----------
    checks : the study's verdicts on its printed numbers and statements; the index has the rows'
        numbers, from 0
    """
    rows_of_checks = checks.fillna({"condition": "", "note": "", "cases": ""}).to_dict("index")
    judged_rows = []
    for claim in claims:
        needed = _matching(claim.needs, rows_of_checks)
        beside = _matching(claim.print, rows_of_checks)
        verdict, evidence = judged(claim, list(needed.values()), list(beside.values()))
        # a reader counts a table's rows from one
        numbers = " ".join(str(number + 1) for number in {**needed, **beside})
        judged_rows.append(
            (study, claim.name, claim.section, claim.quote, claim.asks, verdict, evidence, numbers)
        )
    return pd.DataFrame(judged_rows, columns=list(COLUMNS))


def _matching(
    patterns: Sequence[Pattern], rows: Mapping[Any, Mapping[Any, Any]]
) -> dict[int, Mapping[Any, Any]]:
    """The rows that one of the patterns is about, by number."""
    matching = {}
    for number, row in rows.items():
        if any(matches(row, pattern) for pattern in patterns):
            matching[number] = row
    return matching


def judged(
    claim: Claim, needed: Sequence[Mapping[str, str]], beside: Sequence[Mapping[str, str]]
) -> tuple[str, str]:
    """The verdict on a claim, by its rows and arithmetic beside them, and the evidence."""
    # arithmetic on printed numbers that agrees shows nothing of the body, so it raises no verdict
    against = [row for row in beside if row["verdict"] == PRINT_INCONSISTENT]
    rows = [*needed, *against]
    if not claim.needs and not against:
        lack = next(words for words in LACKING if claim.lacks.startswith(words))
        return LACKING[lack], claim.lacks
    if not rows:
        return NOT_DONE, "the run has none of its rows"
    ranked = [row for row in rows if row["verdict"] != INPUT]
    if not ranked:
        return INPUT, "what the run starts from, used as printed"
    weakest = min(ranked, key=lambda row: WEAKEST_FIRST.index(row["verdict"]))
    return weakest["verdict"], _evidence(weakest, rows)


def _evidence(weakest: Mapping[str, str], rows: Sequence[Mapping[str, str]]) -> str:
    """How many rows have which verdict, and what the weakest says."""
    verdicts = [row["verdict"] for row in rows]
    counts = []
    for verdict in (*WEAKEST_FIRST, INPUT):
        if verdict in verdicts:
            counts.append(f"{verdicts.count(verdict)} {verdict.replace('_', ' ')}")
    evidence = ", ".join(counts)
    # where a tolerance comes from is in the table of verdicts
    note = str(weakest.get("note", "")).split("; tolerance: ")[0]
    details = "; ".join(filter(None, (_measure(weakest), note)))
    return f"{evidence}: {details}" if details else evidence


def _measure(row: Mapping[str, Any]) -> str:
    """In how many cases a statement is so, or both numbers; empty where there are none."""
    if row.get("cases"):
        return f"in {row['cases']} cases"
    if row["verdict"] in LACKS or "published" not in row:
        return ""
    unit = "" if row["unit"] in ("1", STATEMENT) else f" {row['unit']}"
    printed, ours = float(row["published"]), float(row["reproduced"])
    return f"printed {printed:.4g}{unit}, ours {ours:.4g}{unit}"


def abstract_lines(claims: pd.DataFrame) -> list[str]:
    """What comes of the sentences of a study's abstract, a line each."""
    of_abstract = claims[claims["section"] == ABSTRACT]
    return [
        f"* **{row['verdict'].replace('_', ' ')}** ({row['evidence']}): {row['quote']}"
        for row in of_abstract.to_dict("records")
    ]

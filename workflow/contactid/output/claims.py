"""What comes of a paper's sentences: each takes the verdict of the weakest row that it needs.

A ledger, ``resources/published/<study>_claims.yaml``, has the sentences that can be checked, word for word, and names
the rows of the study's verdicts that judge each. A sentence is never better than the numbers that it is made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd
import yaml

from contactid.output.comparison import (
    BETTER,
    DIFFERS,
    FITTED,
    INPUT,
    NOT_COMPARABLE,
    PRINT_CONSISTENT,
    REPRODUCED,
    UNINFORMATIVE,
)

#: Verdicts from the weakest to the strongest. ``input`` isn't among them: what the run starts from speaks neither for a
#: sentence nor against it.
WEAKEST_FIRST = (DIFFERS, NOT_COMPARABLE, UNINFORMATIVE, PRINT_CONSISTENT, FITTED, BETTER, REPRODUCED)
#: What a sentence without a row lacks, by the words that its ledger's ``lacks`` begins with.
LACKING = {
    "not done": "not_done",
    "needs the archive": "needs_archive",
    "never published": "never_published",
    "literature": "no_result",
    "opinion": "no_result",
    "about the paper itself": "no_result",
}
COLUMNS = ("study", "claim", "section", "quote", "asks", "verdict", "evidence")
ABSTRACT = "abstract"

Pattern = Mapping[str, str]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper.

    Attributes
    ----------
    name : of the claim, unique in its study
    section : of the paper, or the figure or table whose caption it is
    quote : word for word
    asks : what would have to be so, in plain words
    needs : the rows without which it isn't shown: artefact, quantity and condition, which may have wildcards
    lacks : why there is no such row; empty where there is
    """

    name: str
    section: str
    quote: str
    asks: str
    needs: tuple[Pattern, ...] = ()
    lacks: str = ""


def read_claims(ledger: str | Path) -> list[Claim]:
    """The claims of a study, in the paper's order."""
    entries = yaml.safe_load(Path(ledger).read_text(encoding="utf-8"))
    return [
        Claim(
            name=entry["name"],
            section=str(entry["section"]),
            quote=" ".join(entry["quote"].split()),
            asks=entry["asks"],
            needs=tuple(entry.get("needs") or ()),
            lacks=entry.get("lacks") or "",
        )
        for entry in entries
    ]


def judged_claims(study: str, claims: Sequence[Claim], checks: pd.DataFrame) -> pd.DataFrame:
    """A row for each claim: its verdict, and the evidence in words.

    Parameters
    ----------
    checks : the study's verdicts on its printed numbers; columns artefact, quantity, condition, verdict
    """
    by_quantity: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in checks.fillna({"condition": ""}).to_dict("records"):
        key = row["artefact"], row["quantity"]
        by_quantity.setdefault(key, []).append((row["condition"], row["verdict"]))
    rows = []
    for claim in claims:
        verdicts = [
            verdict
            for pattern in claim.needs
            for condition, verdict in by_quantity.get((pattern["artefact"], pattern["quantity"]), ())
            if fnmatchcase(condition, pattern["condition"])
        ]
        verdict, evidence = judged(claim, verdicts)
        rows.append((study, claim.name, claim.section, claim.quote, claim.asks, verdict, evidence))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def judged(claim: Claim, verdicts: Sequence[str]) -> tuple[str, str]:
    """The verdict on a claim by those on the rows that it needs, and the evidence in words."""
    if not claim.needs:
        kind = next(words for words in LACKING if claim.lacks.startswith(words))
        return LACKING[kind], claim.lacks
    counts = {verdict: verdicts.count(verdict) for verdict in (*WEAKEST_FIRST, INPUT) if verdict in verdicts}
    evidence = ", ".join(f"{number} {verdict.replace('_', ' ')}" for verdict, number in counts.items())
    weakest = next(iter(counts), NOT_COMPARABLE)
    return weakest, evidence or "the run has none of its rows"


def abstract_lines(claims: pd.DataFrame) -> list[str]:
    """What comes of the sentences of a study's abstract, a line each."""
    of_abstract = claims[claims["section"] == ABSTRACT]
    return [
        f"* **{row['verdict'].replace('_', ' ')}** ({row['evidence']}): {row['quote']}"
        for row in of_abstract.to_dict("records")
    ]

"""What an article of a study says beside its prose: plain data for the layout."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.output.claims import SENTENCE_MEANINGS
from contactid.output.grids import plain
from contactid.output.tables import read_csv
from contactid.output.typesetting import MARKS, Cell, PrintedPart, printed_parts
from contactid.output.verdicts import NEEDS_ARCHIVE
from contactid.review.article import prose as writing
from contactid.review.article.spans import Span, number, of_markup, of_text
from contactid.review.report.collect import key_of, label_of, plain_caption
from contactid.review.report.digest import differences, digest
from contactid.review.report.model import Claim
from contactid.review.report.quotes import typeset

_DATASET = re.compile(r"\w+ 10\.\d{4,}/[\w.]*\w")
_SEVERAL = re.compile(rf"{_DATASET.pattern}(?:, {_DATASET.pattern})+")
#: What names of the paper's own tables and figures begin with.
PAPERS = ("tab", "fig")


@dataclass(frozen=True)
class Sources:
    """What the run has of a study.

    Attributes
    ----------
    about : its entry of ``studies.yaml``
    checks, claims : its verdicts and its paper's sentences
        (:mod:`contactid.review.report.digest`)
    declared : its artefacts as ``artefacts.json`` lists them
    described : what its printed tables say of themselves
        (:func:`contactid.output.artefacts.typesettings`)
    judged : all its printed numbers with ours (:func:`contactid.output.typesetting.as_printed`)
    folder : the run's
    """

    about: Mapping[str, Any]
    checks: Sequence[Any]
    claims: Sequence[Claim]
    declared: Sequence[Mapping[str, Any]]
    described: Sequence[Mapping[str, Any]]
    judged: pd.DataFrame
    folder: Path

    def label(self, key: str) -> str:
        """What the paper calls a table or figure."""
        return label_of(key, self.about.get("numerals", "arabic"))

    def links(self) -> dict[str, str]:
        """Where the names of the paper's tables and figures lead."""
        keys = (key_of(row["name"]) for row in self.declared)
        return {self.label(key): key for key in keys if key.startswith(PAPERS)}


def shown(sources: Sources) -> dict[str, list[dict[str, Any]]]:
    """What may be placed, by its key: the paper's tables in its own grid, and all figures."""
    described = {description["name"]: description for description in sources.described}
    grids = sources.about.get("grids", {})
    by_key: dict[str, list[dict[str, Any]]] = {}
    for row in sources.declared:
        name = row["name"]
        key = key_of(name)
        if row["kind"] == "figure":
            by_key.setdefault(key, []).append(_figure(sources, row))
        # a table of ours without the paper's grid is in the report alone
        elif name in described and key in grids:
            by_key.setdefault(key, []).extend(_tables(sources, row, described[name]))
    return by_key


def _figure(sources: Sources, row: Mapping[str, Any]) -> dict[str, Any]:
    key, caption = key_of(row["name"]), plain_caption(row["caption"])
    drawing = next(file for file in row["files"] if file.endswith(".svg"))
    own = [check for check in sources.checks if check.artefact == key]
    verdict_counts = digest(own).counts if own else {}
    return {
        "kind": "figure",
        "id": key,
        "label": sources.label(key) if key.startswith(PAPERS) else "Beyond the paper",
        "caption": of_text(caption, sources.links()),
        "alt": caption,
        "file": drawing,
        "counts": [[verdict, count] for verdict, count in verdict_counts.items() if count],
    }


def _tables(
    sources: Sources, row: Mapping[str, Any], described: Mapping[str, Any]
) -> list[dict[str, Any]]:
    key = key_of(row["name"])
    layout = sources.about["grids"][key]
    words = sources.about.get("words", {})
    own = sources.judged[sources.judged["artefact"] == key]
    table = read_csv(sources.folder / row["files"][0])
    parts = printed_parts(own, table, layout, words, described)
    label = sources.label(key)
    return [_table(label, key, number, part) for number, part in enumerate(parts)]


def _table(label: str, key: str, number: int, part: PrintedPart) -> dict[str, Any]:
    grid = part.grid
    rows = []
    for (headings, _), cells in zip(grid.rows, part.cells, strict=True):
        labels = [of_text(head.text) if head else [] for head in headings]
        rows.append({"labels": labels, "cells": [_cell(cell) for cell in cells]})
    if number:
        # a second half has the first one's caption
        place, title, caption = f"{key}-{number}", f"{label}, continued", ""
    else:
        place, title = key, label
        caption = " ".join(plain_caption(text.replace("+-", "±")) for text in part.caption)
    return {
        "kind": "table",
        "id": place,
        "label": title,
        "caption": of_text(caption),
        "corner": [of_text(text) for text in grid.corner],
        "heads": [
            [{"text": of_text(text), "span": span} for text, span in level] for level in grid.heads
        ],
        "rows": rows,
        "marks": [[MARKS[verdict], verdict] for verdict in part.verdicts],
    }


def _cell(cell: Cell) -> dict[str, str]:
    """A cell's printed numbers, ours, their marks, and how far ours may be off."""
    ours = " ± ".join(map(number, cell.ours))
    # printed, and not computed
    if cell.printed and not ours:
        ours = "-"
    bounds = []
    for ends in cell.ends:
        # an interval, or a standard error
        bounds.append(f"[{', '.join(ends)}]" if len(ends) > 1 else f"[± {ends[0]}]")
    return {
        "printed": " ± ".join(map(number, cell.printed)),
        "ours": ours,
        "marks": ",".join(MARKS[verdict] for verdict in cell.verdicts),
        "ends": " ".join(bounds),
    }


def claim_of(claim: Claim, number: int) -> dict[str, Any]:
    """A sentence of the paper, with what came of it."""
    evidence = "; ".join(filter(None, (claim.evidence, claim.rest)))
    # where the page of the report folds a long text, an article has all of it
    evidence = evidence.replace(" …; … ", " ")
    return {
        "id": claim.id,
        "name": claim.name,
        "number": number,
        "verdict": claim.verdict,
        "quote": of_markup(str(typeset(claim.quote))),
        "evidence": of_text(_SEVERAL.sub(_counted, evidence)),
        "section": claim.section,
    }


def _counted(datasets: re.Match[str]) -> str:
    """Several datasets with their DOIs, as a number: the references have the DOIs."""
    return f"{len(_DATASET.findall(datasets[0]))} datasets"


def by_section(claims: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """The sentences by the paper's sections, in its order."""
    sections: dict[str, list[Mapping[str, Any]]] = {}
    for claim in claims:
        sections.setdefault(claim["section"], []).append(claim)
    return [[section, sentences] for section, sentences in sections.items()]


def verdict_words() -> dict[str, dict[str, str]]:
    """Each verdict's words and meaning."""
    words = {}
    for verdict, meaning in SENTENCE_MEANINGS.items():
        words[verdict] = {"words": plain(verdict), "meaning": meaning}
    return words


def against(sources: Sources) -> list[dict[str, Any]]:
    """What isn't as printed, and why: a line for each quantity of a table or figure."""
    lines = []
    for line in differences(sources.checks):
        rows = line["rows"]
        lines.append(
            {
                "verdict": line["verdict"],
                "label": sources.label(line["artefact"]),
                "words": of_text(_both(rows)),
                "why": of_text(line["why"] or rows[0].note),
            }
        )
    return lines


def _both(rows: Sequence[Any]) -> str:
    """What the first row asks, with both numbers, and how many more there are."""
    first = rows[0]
    parts = [first.words]
    # a statement, or a count of inputs, has no printed number
    if first.unit not in ("holds", "numbers"):
        unit = "" if first.unit == "1" else f" {first.unit}"
        parts.append(f"printed {first.printed}{unit}, ours {first.ours}{unit}")
    if len(rows) > 1:
        parts.append(f"and {len(rows) - 1} more")
    return "; ".join(filter(None, parts))


def lacking(sources: Sources) -> list[dict[str, Any]]:
    """What keeps numbers from being compared, and of how many rows, the most frequent first.

    Rows that need recordings are one entry: which these are, the references say.
    """
    n_rows: Counter[tuple[str, str]] = Counter()
    for verdict, words, rows in digest(sources.checks).missing:
        n_rows[verdict, _reason(verdict, words)] += rows
    return [
        {"verdict": verdict, "words": of_text(reason), "rows": rows}
        for (verdict, reason), rows in n_rows.most_common()
    ]


def _reason(verdict: str, words: str) -> str:
    """What is missing, without which number of which table it would make."""
    if verdict == NEEDS_ARCHIVE:
        return "the paper's recordings, whose archives are among the references"
    return words.rpartition(") by ")[2]


def text_blocks(
    prose: writing.Prose,
    blocks: Sequence[writing.Block],
    values: Mapping[str, float],
    claims: Sequence[Mapping[str, Any]],
    sources: Sources,
) -> list[dict[str, Any]]:
    """The prose's blocks, with the verdicts of the sentences that it names behind its own."""
    chips = {claim["name"]: _chip(claim) for claim in claims}
    links = sources.links()
    placed: list[dict[str, Any]] = []
    for block in blocks:
        if block.kind == "show":
            names = [sentence.text for sentence in block.sentences]
            placed.append({"kind": "show", "names": names})
            continue
        body: list[Span] = []
        for sentence in block.sentences:
            text = writing.filled(prose, sentence.text, values)
            body += [*of_text(text, links), " "]
            for name, _ in sentence.claims:
                body += [chips[name], " "]
        # without the last blank
        placed.append({"kind": block.kind, "body": body[:-1]})
    return placed


def _chip(claim: Mapping[str, Any]) -> Span:
    """The mark that says what came of a sentence, and leads there."""
    return {
        "kind": "chip",
        "verdict": claim["verdict"],
        "to": claim["id"],
        "body": [f"sentence {claim['number']}"],
    }

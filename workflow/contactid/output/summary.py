"""What a run found, on one page of plain text for the terminal and the results folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from contactid.core.atomic import write_text
from contactid.output.claims import COLUMNS, abstract_lines, judged_claims, read_claims
from contactid.output.comparison import comparable, counted
from contactid.output.escape import one_line
from contactid.output.fits import read_json
from contactid.output.recordings import run_had
from contactid.output.tables import read_csv, write_csv
from contactid.output.verdicts import REPRODUCED, VERDICTS

# one that isn't escaped parts two cells
_BAR = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_DOI = re.compile(r"\b10\.\d{4,}/[\w.:-]*\w")


def conclude(
    run: str,
    studies: Sequence[str],
    sections: Sequence[str],
    cards: Sequence[str],
    ledgers: Sequence[str],
    checks: str,
    claims: str,
    summary: str,
) -> None:
    """Gather the studies' verdicts in one table, judge the papers' sentences, say it on a page.

    Parameters
    ----------
    studies, sections : the studies' tables of verdicts, and their sections of the page
    cards : the datasets' cards
    ledgers : the sentences of the papers (:mod:`contactid.output.claims`), ``<study>_claims.yaml``
    checks, claims, summary : the files to write
    """
    table = pd.concat([read_csv(study) for study in studies], ignore_index=True)
    write_csv(table, checks)
    conclusions = []
    for ledger in ledgers:
        study = Path(ledger).stem.removesuffix("_claims")
        rows = table[table["study"] == study]
        conclusions.append(judged_claims(study, read_claims(ledger), rows))
    # a run without a paper's ledger has the table all the same, without rows
    sentences = pd.concat([pd.DataFrame(columns=list(COLUMNS)), *conclusions], ignore_index=True)
    write_csv(sentences, claims)
    parts = [f"# Run {run}"]
    had = run_had("This run", map(read_json, cards))
    if had:
        parts.append(had)
    for name, rows in sentences.groupby("study", sort=False):
        parts.append(f"## What the {name} paper's abstract says (claims.csv)")
        parts.append("\n".join(abstract_lines(rows)))
    parts.append("## Printed numbers (checks.csv)")
    by_study = table.groupby("study", sort=False)
    parts.append("\n".join(f"* {study}: {verdict_line(rows)}" for study, rows in by_study))
    parts += [Path(section).read_text(encoding="utf-8").strip() for section in sections]
    write_text(summary, "\n\n".join(parts) + "\n")


def findings(results: str | Path, studies: Sequence[str]) -> list[str]:
    """What a finished run found, in lines: data, verdicts by study, stored results, files."""
    folder = Path(results)
    all_cards = map(read_json, sorted(folder.glob("data/*/card.json")))
    # a folder of results keeps what an earlier run of other studies left there
    cards = [card for card in all_cards if card["study"] in studies]
    lines = []
    if cards:
        lines.append(run_had("This run", cards))
    for study in studies:
        checks = read_csv(folder / study / "checks.csv")
        lines.append(f"{study}: {_counts(checks)}")
    stored = folder / "stored.csv"
    # a run of some studies doesn't hold them, another one has no row of them
    held = read_csv(stored) if stored.is_file() else pd.DataFrame()
    if len(held):
        wrong = held.loc[~held["verdict"].isin(["holds", "not compared"]), "name"]
        compared = f"{held['compared'].sum()} of {held['samples'].sum()} samples compared"
        out_of_date = f"{', '.join(wrong) or 'none'} out of tolerance or date"
        lines.append(f"stored results: {len(held)}, {compared}, {out_of_date}")
    return [
        *lines,
        f"In words: {folder}/summary.md; each printed number beside ours: {folder}/checks.csv",
        f"Open in a browser: {folder}/report.html",
    ]


def _counts(checks: pd.DataFrame) -> str:
    counts = counted(checks)["verdict"].value_counts()
    words = []
    for verdict in VERDICTS:
        if verdict in counts:
            words.append(f"{counts[verdict]} {verdict.replace('_', ' ')}")
    return f"of {counts.sum()} printed numbers and statements {', '.join(words)}"


def verdict_line(checks: pd.DataFrame) -> str:
    """How many rows have which verdict, and what datasets others lack; repetitions don't count."""
    rows = counted(checks)
    counts = rows["verdict"].value_counts()
    parts = []
    for verdict in VERDICTS:
        # that none is reproduced is said, too
        if verdict in counts or verdict == REPRODUCED:
            parts.append(f"{counts.get(verdict, 0)} {verdict}")
    datasets = missing_datasets(map(missing_of, rows.loc[~comparable(rows), "note"]))
    lacks = f" (datasets that the run lacks: {', '.join(datasets)})" if datasets else ""
    return ", ".join(parts) + lacks


def missing_of(note: str) -> str:
    """What a row that can't be compared lacks: its note up to the first semicolon."""
    return note.split(";")[0].strip()


def missing_datasets(missing: Iterable[str]) -> list[str]:
    """The DOIs that are named there, each once."""
    return sorted({doi for text in missing for doi in _DOI.findall(text)})


def text_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up as text too; users' names are given as Markdown."""
    cells = [list(titles)]
    for row in rows:
        cells.append([_BAR.sub(r"\1\\|", one_line(cell)) for cell in row])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    # the rule below the titles
    cells.insert(1, ["-" * width for width in widths])
    lines = []
    for row in cells:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append(f"| {' | '.join(padded)} |")
    return "\n".join(lines)

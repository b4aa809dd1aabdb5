"""What a run found, on one page of plain text for the terminal and the results folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from contactid.core.atomic import write_text
from contactid.output.tables import read_csv, write_csv


def conclude(run: str, studies: Sequence[str], sections: Sequence[str], checks: str, summary: str) -> None:
    """Gather every study's verdicts in one table, and say on one page what the run found.

    Parameters
    ----------
    studies, sections : the studies' tables of verdicts, and their sections of the page
    """
    table = pd.concat([read_csv(study) for study in studies], ignore_index=True)
    write_csv(table, checks)
    texts = [Path(section).read_text(encoding="utf-8") for section in sections]
    write_text(summary, summarise_run(run, texts, table))


def summarise_run(run: str, sections: Sequence[str], checks: pd.DataFrame) -> str:
    """Markdown: the studies' sections, and how many printed numbers got which verdict.

    Parameters
    ----------
    sections : one per study, each with its own heading of the second level
    checks : ``checks.csv``
    """
    parts = [f"# Run {run}", *(section.strip() for section in sections), _verdicts(checks)]
    return "\n\n".join(parts) + "\n"


def _verdicts(checks: pd.DataFrame) -> str:
    lines = ["## Printed numbers (checks.csv)", ""]
    for study, part in checks.groupby("study", sort=False):
        counts = part["verdict"].value_counts()
        lines.append(f"* {study}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return "\n".join(lines)


def text_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up in plain text, too."""
    widths = [max(len(row[k]) for row in [titles, *rows]) for k in range(len(titles))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return "\n".join([line(titles), line(["-" * width for width in widths]), *map(line, rows)])

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
    texts = [Path(section).read_text(encoding="utf-8").strip() for section in sections]
    verdicts = ["## Printed numbers (checks.csv)", ""]
    for study, part in table.groupby("study", sort=False):
        counts = part["verdict"].value_counts()
        verdicts.append(f"* {study}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    write_text(summary, "\n\n".join([f"# Run {run}", *texts, "\n".join(verdicts)]) + "\n")


def text_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up in plain text, too."""
    widths = [max(len(row[k]) for row in [titles, *rows]) for k in range(len(titles))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return "\n".join([line(titles), line(["-" * width for width in widths]), *map(line, rows)])

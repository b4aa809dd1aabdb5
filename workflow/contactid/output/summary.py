"""What a run found, on one page of plain text for the terminal and the results folder."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def summarise_run(run: str, sections: Sequence[str], checks: pd.DataFrame) -> str:
    """Markdown: the studies' sections, and how many printed numbers got which verdict.

    Parameters
    ----------
    sections
        One per study, each with its own heading of the second level.
    checks
        ``checks.csv``.
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

"""Fill README.md and docs/*.md with what the runs found: ``make numbers``.

A number stands in a page as ``<!--=name-->0.31<!--/-->``, which shows as 0.31. Its row of
``workflow/resources/quoted.csv`` says which cell it is:

* run: its name; empty where the file is one of this repository
* file: below ``results/<run>/``; a pattern stands for all files that it matches, one below the
  other
* rows, column, format: which cell, and how it is written (``contactid/output/cells.py``)
* value: as it was last taken

A marker on a line of its own holds a table, which ``page_tables.py`` makes from committed files, or
an article's abstract (``abstracts.py``).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pandas as pd

import abstracts
import page_tables
from contactid.core.errors import ContactIdError
from contactid.output.cells import number_of, read_texts, written

ROOT = Path(__file__).parents[1]
QUOTED = "workflow/resources/quoted.csv"
_MARKER = re.compile(r"<!--=(\w+)-->(.*?)<!--/-->", re.S)


def pages(root: Path = ROOT) -> list[Path]:
    """The pages that numbers are quoted in."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def marked(text: str) -> list[str]:
    """Names of a page's markers."""
    return [match[1] for match in _MARKER.finditer(text)]


def filled(text: str, values: dict[str, str]) -> str:
    """A page with the values at its markers; those without a value stay as they are."""

    def with_value(marker: re.Match[str]) -> str:
        name, before = marker.groups()
        return f"<!--={name}-->{values.get(name, before)}<!--/-->"

    return _MARKER.sub(with_value, text)


def read_quoted(root: Path = ROOT) -> pd.DataFrame:
    """The rows of the quoted numbers, all text."""
    quoted = read_texts([root / QUOTED])
    twice = quoted["name"][quoted["name"].duplicated()]
    if len(twice):
        raise ContactIdError(
            f"{QUOTED}: {twice.iloc[0]} has two rows", "give one of them another name"
        )
    return quoted


def values_of(quoted: pd.DataFrame, root: Path = ROOT) -> dict[str, str]:
    """What stands at every marker, by its name."""
    numbers = dict(zip(quoted["name"], quoted["value"], strict=True))
    return numbers | page_tables.all_tables(root) | abstracts.abstracts(root)


def study_of(row: pd.Series) -> str:
    """The study's folder that a file lies in, which runs of other studies haven't; empty for a file
    of no study.
    """
    first, *below = Path(row["file"]).parts
    return first if below else ""


def taken(row: pd.Series, root: Path = ROOT) -> str | None:
    """A quoted number as its run has it; None where the run, or its study, isn't there.

    Raises
    ------
    ContactIdError : where the file, the column or the row isn't there, or several rows are
    """
    folder = root / "results" / row["run"] if row["run"] else root
    if not folder.is_dir() or not (folder / study_of(row)).is_dir():
        return None
    files = sorted(folder.glob(row["file"]))
    if not files:
        raise _wrong(row, f"{folder.relative_to(root) / row['file']} isn't there")
    try:
        return written(number_of(read_texts(files), row["rows"], row["column"]), row["format"])
    except ValueError as problem:
        raise _wrong(row, f"{row['file']}: {problem}") from problem


def _wrong(row: pd.Series, problem: str) -> ContactIdError:
    return ContactIdError(
        f"{QUOTED}: {row['name']}: {problem}", "correct the row, or finish the run"
    )


def main(root: Path = ROOT) -> None:
    """Take every number whose run is there, and write the rows and the pages."""
    quoted = read_quoted(root)
    lacking = []
    for index, row in quoted.iterrows():
        value = taken(row, root)
        if value is None:
            lacking.append(f"{row['run']}/{study_of(row)}".rstrip("/"))
        elif value != row["value"]:
            print(f"{row['name']}: {row['value'] or 'new'} -> {value}")
            quoted.loc[index, "value"] = value
    for part in sorted(set(lacking)):
        print(f"results/{part} isn't there: its {lacking.count(part)} numbers stay as they are")
    quoted.to_csv(root / QUOTED, index=False, lineterminator="\n")
    page_tables.take_missing(root)
    abstracts.take_abstracts(root)
    values = values_of(quoted, root)
    for page in pages(root):
        page.write_text(filled(page.read_text(encoding="utf-8"), values), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except ContactIdError as error:
        sys.exit(f"ERROR {error}")

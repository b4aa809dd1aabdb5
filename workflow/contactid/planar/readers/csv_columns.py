"""Columns of finite numbers from a comma-separated file with a header, with everything wrong in it named."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from contactid.sources.left_out import reason_of

FEWEST_ROWS = 8
_MOST_HEADER = 200  # characters of a header that a message repeats


def columns_of(path: Path, columns: Sequence[str], problems: list[str]) -> np.ndarray | None:
    """(n, columns) finite numbers in the order asked for; None, and all problems, where the file hasn't got them.

    Rows are counted from 1, below the header; empty ones are passed over.
    """
    if not path.is_file():
        problems.append("no such file" if not path.exists() else "a folder instead of a file")
        return None
    try:
        with path.open("rb") as stream:
            start = stream.read(64).lstrip()
        if start[:1] == b"<":
            problems.append("a web page instead of numbers: the download failed")
            return None
        if start[:2] == b"PK":
            problems.append("a zip file instead of a table: unpack it")
            return None
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _table(csv.reader(file), columns, problems)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        problems.append(f"not readable as text ({reason_of(error)})")
        return None


def _table(reader: Iterator[list[str]], columns: Sequence[str], problems: list[str]) -> np.ndarray | None:
    rows = (row for row in reader if any(cell.strip() for cell in row))
    header = next(rows, None)
    if header is None:
        problems.append("an empty file")
        return None
    header = [name.strip() for name in header]
    missing = [name for name in columns if name not in header]
    if missing:
        shown = ", ".join(header)[:_MOST_HEADER]
        problems.append(
            f"no column {', '.join(missing)} (its header is {shown}; the first line must name {', '.join(columns)}, "
            "with commas between them)"
        )
    twice = [name for name in columns if header.count(name) > 1]
    if twice:
        problems.append(f"column {', '.join(twice)} is there twice")
    if missing or twice:
        return None
    places = [header.index(name) for name in columns]
    values = array("d")
    bad: list[str] = []
    n_bad = n_rows = 0
    for n_rows, row in enumerate(rows, start=1):
        for place, name in zip(places, columns, strict=True):
            text = row[place].strip() if place < len(row) else ""
            value = _finite(text)
            values.append(value)
            if np.isnan(value):
                n_bad += 1
                if not bad:
                    bad.append(f"row {n_rows}, column {name} is {text[:40] or 'empty'!r}")
    if n_rows < FEWEST_ROWS:
        problems.append(f"only {n_rows} frames, where at least {FEWEST_ROWS} are needed")
    if bad:
        problems.append(f"{n_bad} of its values {'is' if n_bad == 1 else 'are'} no finite number: {bad[0]}")
    return None if problems else np.array(values).reshape(-1, len(columns))


def _finite(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return float("nan")
    return value if np.isfinite(value) else float("nan")

"""Rows of a table in a text file, one after the other, from a file and lines of bounded size."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.core.reading import require_plain
from contactid.sources.left_out import reason_of

_LARGEST = 1 << 25  # bytes: at 1 kHz and 20 columns three minutes, of a throw an hour
_LONGEST_LINE = 1 << 16  # characters


def rows_of(path: Path) -> Iterator[list[str]]:
    """Cells of every row that has any; commas, semicolons or tabs separate them, as the first line
    tells.

    Raises :class:`ContactIdError` naming the file where it is no plain file of text, or too large.
    """
    require_plain(path, _LARGEST)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(_LONGEST_LINE)
            file.seek(0)
            lines = iter(lambda: file.readline(_LONGEST_LINE), "")
            mark = max(",;\t", key=first.count)
            for row in csv.reader(map(_whole, lines), delimiter=mark, skipinitialspace=True):
                if any(cell.strip() for cell in row):
                    yield row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ContactIdError(
            f"{path}: not readable as text ({reason_of(error)})", "Give a .csv file"
        ) from None


def _whole(line: str) -> str:
    if len(line) >= _LONGEST_LINE:
        raise csv.Error(f"a line has {_LONGEST_LINE} characters or more")
    return line

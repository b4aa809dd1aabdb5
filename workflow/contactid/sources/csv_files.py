"""Rows of a table in a text file, one after the other, from a file and lines of bounded size."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.core.reading import require_plain
from contactid.sources.left_out import reason_of

# bytes: at 1 kHz and 20 columns three minutes, of a throw an hour
_LARGEST = 1 << 25
# characters: a file without line ends must not be read whole as one
_LONGEST_LINE = 1 << 16


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
            # bounded lines, up to the empty one at the file's end
            lines = iter(lambda: file.readline(_LONGEST_LINE), "")
            separator = max(",;\t", key=first.count)
            rows = csv.reader(map(_whole, lines), delimiter=separator, skipinitialspace=True)
            for row in rows:
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

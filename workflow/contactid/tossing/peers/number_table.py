"""Tables of nothing but numbers in csv files, written so that they are read back bit for bit."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from contactid.core.atomic import replacing
from contactid.core.errors import ContactIdError


def write_numbers(path: str | Path, values: np.ndarray, header: Sequence[str] | None = None) -> None:
    """Write (n, c) numbers, with a line of column names where there is one."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        raise ContactIdError(f"{path}: a number to be written is not finite", "Leave failed simulations out")
    lines = [",".join(header)] if header else []
    lines += [",".join(repr(float(value)) for value in row) for row in values]
    with replacing(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_numbers(path: str | Path, n_columns: int, header: Sequence[str] | None = None) -> np.ndarray:
    """Read (n, ``n_columns``) finite numbers, n at least 1.

    Raises
    ------
    ContactIdError
        Where the file is missing, its header is another, or a row has other columns or something else than numbers.
    """
    try:
        rows = [row for row in csv.reader(Path(path).read_text(encoding="utf-8-sig").splitlines()) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ContactIdError(f"{path}: can't be read as csv ({error})", "Check the file") from error
    first = 1
    if header is not None:
        names = [name.strip() for name in rows[0]] if rows else []
        if names != list(header):
            raise ContactIdError(
                f"{path}: the header is {','.join(names) or 'missing'}", f"It must be {','.join(header)}"
            )
        rows, first = rows[1:], 2
    if not rows:
        raise ContactIdError(f"{path}: holds no row of numbers", "Check the file")
    values = np.empty((len(rows), n_columns))
    for index, row in enumerate(rows):
        if len(row) != n_columns:
            raise ContactIdError(
                f"{path}: row {index + first} has {len(row)} columns", f"This kind of file has {n_columns}"
            )
        try:
            values[index] = [float(text) for text in row]
        except ValueError as error:
            raise ContactIdError(f"{path}: row {index + first} holds no number ({error})", "Check the file") from error
        if not np.isfinite(values[index]).all():
            raise ContactIdError(f"{path}: row {index + first} holds a NaN or infinity", "Check the file")
    return values

"""Cells of csv files that a text quotes: which rows, which column, and how the number is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

#: What may be taken of a column where several rows are meant, by its name in ``max(column)``.
REDUCED: dict[str, Callable[[pd.Series], float]] = {
    "max": pd.Series.max,
    "min": pd.Series.min,
    "mean": pd.Series.mean,
    "median": pd.Series.median,
    "sum": pd.Series.sum,
    "largest": lambda values: values.abs().max(),
    "smallest": lambda values: values.abs().min(),
    "sem": lambda values: float((values.var() / len(values)) ** 0.5),
}


def read_texts(files: Iterable[Path]) -> pd.DataFrame:
    """The rows of csv or tsv files, one file below the other; every cell is text."""
    tables = []
    for file in files:
        separator = "\t" if file.suffix == ".tsv" else ","
        # a cell is quoted as it is written: "1.50" is no 1.5, and "nan" no empty cell
        tables.append(pd.read_csv(file, dtype=str, keep_default_na=False, sep=separator))
    return pd.concat(tables)


def number_of(table: pd.DataFrame, rows: str, column: str) -> float:
    """A number of a table.

    Parameters
    ----------
    table : of :func:`read_texts`
    rows : ``column=value & column=value``, or ``column!=value``
    column : its name, or ``count``, or ``max(column)`` and the like (:data:`REDUCED`) over the rows

    Raises
    ------
    ValueError : where the column or the row isn't there, or several rows are, or it is no number
    """
    selected = table
    for condition in filter(None, rows.split(" & ")):
        parts = re.fullmatch(r"(\w+)(!?)=(.*)", condition)
        if not parts:
            raise ValueError(f"{condition!r} isn't column=value")
        name, negated, value = parts.groups()
        equal = _column(selected, name) == value
        selected = selected[~equal if negated else equal]
    if column == "count":
        return float(len(selected))
    reduction = ""
    if reduced := re.fullmatch(r"(\w+)\((\w+)\)", column):
        reduction, column = reduced.groups()
    cells = _column(selected, column)
    if reduction and reduction not in REDUCED:
        raise ValueError(f"{reduction}({column}) is none of {', '.join(REDUCED)}")
    # a number that several rows could be would be another one when their order changes
    if not len(cells) or (len(cells) > 1 and not reduction):
        raise ValueError(f"{len(cells) or 'no'} rows have {rows or 'no condition'}")
    numbers = pd.to_numeric(cells, errors="coerce")
    if numbers.isna().any():
        raise ValueError(f"{cells[numbers.isna()].iloc[0]!r} is no number")
    return float(REDUCED[reduction](numbers) if reduction else numbers.iloc[0])


def _column(table: pd.DataFrame, name: str) -> pd.Series:
    if name not in table:
        raise ValueError(f"there is no column {name}")
    return table[name]


def written(number: float, form: str) -> str:
    """A number as Python's format says, ``.2f`` or ``.0%``, with a factor behind it: ``.0f*1000``.

    >>> [written(0.3149, form) for form in (".2f", ".0%", ".0f*1000")]
    ['0.31', '31 %', '315']
    >>> written(-0.001, ".1f")
    '0.0'
    """
    spec, _, factor = form.partition("*")
    scaled = number * float(factor or 1)
    text = format(int(scaled) if spec.endswith("d") else scaled, spec)
    if re.fullmatch(r"-[0.]+%?", text):
        # zero has no sign, which depends on rounding
        return text.lstrip("-")
    return text.replace("%", " %")

"""Write tables as csv to a stated precision, and read them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from contactid.core.atomic import replacing
from contactid.output.escape import spreadsheet

#: Significant digits in csv files: enough for every comparison, few enough to hide most of a
#: machine's rounding.
PRECISION = 6


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table with floats to six significant digits."""
    with replacing(path) as partial:
        table.to_csv(partial, index=False, float_format=f"%.{PRECISION}g", lineterminator="\n")


def write_report_csv(table: pd.DataFrame, path: str | Path) -> None:
    """:func:`write_csv` for what people open: no cell is a formula, whatever a user's names are.

    It stands apart from :func:`write_csv`, so that intermediate tables keep names as they are.
    """
    shown = table.copy()
    for name in table.select_dtypes(exclude=["number", "bool"]).columns:
        cells = [spreadsheet(cell) if isinstance(cell, str) else cell for cell in table[name]]
        if cells != list(table[name]):
            shown[name] = pd.Series(cells, index=table.index, dtype=object)
    write_csv(shown, path)


def read_csv(path: str | Path) -> pd.DataFrame:
    """Read a table that :func:`write_csv` wrote; empty cells of text columns become empty strings."""
    table = pd.read_csv(path)
    for column in table.columns:
        if not pd.api.types.is_numeric_dtype(table[column]) and not pd.api.types.is_bool_dtype(
            table[column]
        ):
            table[column] = table[column].fillna("")
    return table


def write_exact(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table that another job goes on with, to the last digit (:func:`read_exact`)."""
    with replacing(path) as partial:
        table.to_csv(partial, index=False, lineterminator="\n")


def read_exact(path: str | Path) -> pd.DataFrame:
    """Read a table that :func:`write_exact` wrote, to the last digit; empty texts become NaN."""
    return pd.read_csv(path)

"""Tables from one job to the next, with every digit of their numbers; what a run shows is rounded."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from contactid.core.atomic import replacing


def write_exact(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table so that :func:`read_exact` gives the same numbers back."""
    with replacing(path) as partial:
        table.to_csv(partial, index=False)


def read_exact(path: str | Path) -> pd.DataFrame:
    """Read such a table; empty cells of text columns become empty strings."""
    table = pd.read_csv(path, float_precision="round_trip")
    texts = {column: "" for column in table if table[column].dtype == object}
    return table.fillna(texts)

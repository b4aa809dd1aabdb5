"""Tables from one job to the next keep every digit of their numbers; what a run shows is rounded."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from contactid.core.atomic import replacing


def write_exact(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table so that :func:`contactid.output.tables.read_csv` gives the same numbers back."""
    with replacing(path) as partial:
        table.to_csv(partial, index=False)

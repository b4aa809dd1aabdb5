"""All recordings' estimates in one table; nothing is estimated here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.inhand.names import ESTIMATE_COLUMNS, METHOD_LABELS, SOLVER_LABELS
from contactid.output.tables import read_csv, write_csv, write_tex

_CAPTION = (
    "Estimates of inertial parameters: how many converged and are physically consistent, and their geodesic error."
)


def gather_estimates(shards: Sequence[str | Path], table: str | Path) -> None:
    """All shards in one table of :data:`contactid.inhand.names.ESTIMATE_COLUMNS`, and a tex table of counts and
    medians.

    Raises
    ------
    ContactIdError
        Where there is no shard.
    """
    if not shards:
        raise ContactIdError("no recordings are estimated", "List seeds in inhand: estimates: seeds")
    rows = pd.concat([read_csv(shard) for shard in shards], ignore_index=True)[list(ESTIMATE_COLUMNS)]
    write_csv(rows, table)
    write_tex(summary_table(rows), Path(table).with_suffix(".tex"), caption=_CAPTION)


def summary_table(rows: pd.DataFrame) -> pd.DataFrame:
    """By source, method and solver: runs, converged, physically consistent, and the median geodesic error.

    The median counts an estimate that no body can have as infinitely far away.
    """
    groups = rows.groupby(["source", "method", "solver"], sort=False)
    return pd.DataFrame(
        [
            {
                "source": source,
                "method": METHOD_LABELS[str(method)],
                "solver": SOLVER_LABELS[str(solver)],
                "runs": len(part),
                "converged": int(part["converged"].sum()),
                "consistent": int(part["physically_consistent"].sum()),
                "median geodesic error": float(part["geodesic_error"].fillna(np.inf).median()),
            }
            for (source, method, solver), part in groups
        ]
    )

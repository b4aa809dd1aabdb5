"""Results that take too long for every run: computed once, stored with what they were made by, held against each run's.

A stored result is a folder of ``resources/stored/`` with ``table.csv``, a row per sample, and ``provenance.json``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.fits import read_json
from contactid.output.tables import read_csv

TABLE, RECORD = "table.csv", "provenance.json"


def read_stored(files: Sequence[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A stored result's table and provenance, of the paths of both, in this order.

    Raises :class:`ContactIdError` where the table isn't the one that the provenance is of.
    """
    table, record = files
    made = read_json(record)
    if hashlib.sha256(Path(table).read_bytes()).hexdigest() != made.get("table_sha256"):
        raise ContactIdError(
            f"{table} isn't what {RECORD} beside it was written for",
            "Restore both from the repository, or store the result again (make store)",
        )
    return read_csv(table), made

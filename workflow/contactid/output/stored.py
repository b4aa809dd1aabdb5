"""Results that take too long for every run, as a folder of ``resources/stored/`` has them.

It has ``table.csv``, a row per sample, and ``provenance.json``, what made it
(:mod:`contactid.review.stored`).
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


def read_stored(stored: Sequence[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A stored result's table and provenance, of the paths of both, in this order.

    Raises :class:`ContactIdError` where the table isn't the one that the provenance is of.
    """
    table, record = stored
    content = read_json(record)
    if hashlib.sha256(Path(table).read_bytes()).hexdigest() != content.get("table_sha256"):
        raise ContactIdError(
            f"{table} isn't what {RECORD} beside it was written for",
            "Restore both from the repository, or store the result again (make store)",
        )
    return read_csv(table), content

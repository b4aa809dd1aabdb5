"""The verdicts of a run against those that were last accepted: what got worse, what got better, what is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.comparison import AGREES, BETTER, COLUMNS, DIFFERS, INPUT, NOT_COMPARABLE, VERDICTS
from contactid.output.tables import read_csv, write_csv

KEY = ("study", "artefact", "quantity", "condition")
ABSENT = "absent"
# a result that becomes an input is a result lost
_WORTH = {AGREES: 2, BETTER: 2, INPUT: 1, DIFFERS: 0, NOT_COMPARABLE: 0, ABSENT: 0}


@dataclass(frozen=True)
class Comparison:
    """Rows of the checks (columns of ``checks.csv`` and ``was``) by what happened to their verdict.

    Attributes
    ----------
    worse : agreed or were better and no longer do; or were inputs and now differ, can't be compared or are absent
    better : the reverse
    other : any other change, for instance from ``agrees`` to ``better``
    new : aren't among the accepted verdicts
    """

    worse: pd.DataFrame
    better: pd.DataFrame
    other: pd.DataFrame
    new: pd.DataFrame


def read_checks(path: str | Path, remedy: str) -> pd.DataFrame:
    """A run's ``checks.csv``; text columns hold no missing values.

    Raises
    ------
    ContactIdError
        With the remedy, where there is none, or one that isn't a table of checks.
    """
    return _read(path, COLUMNS, remedy)


def read_accepted(path: str | Path, remedy: str) -> pd.DataFrame:
    """The accepted verdicts of a run: columns :data:`KEY` and verdict.

    Raises
    ------
    ContactIdError
        As :func:`read_checks`.
    """
    return _read(path, (*KEY, "verdict"), remedy)


def _read(path: str | Path, columns: Sequence[str], remedy: str) -> pd.DataFrame:
    if not Path(path).is_file():
        raise ContactIdError(f"{path} does not exist", remedy)
    try:
        table = read_csv(path)
    except (OSError, ValueError) as error:
        raise ContactIdError(f"{path} cannot be read ({error})", remedy) from None
    missing = [name for name in columns if name not in table]
    if missing:
        raise ContactIdError(f"{path} lacks the columns {', '.join(missing)}", remedy)
    for name in KEY:
        table[name] = table[name].astype(object).where(table[name].notna(), "").astype(str)
    unknown = sorted(set(table["verdict"].astype(str)) - set(VERDICTS))
    if unknown:
        raise ContactIdError(f"{path} has the unknown verdict {unknown[0]!r}", remedy)
    if table.duplicated(list(KEY)).any():
        row = table[table.duplicated(list(KEY))].iloc[0]
        raise ContactIdError(f"{path} has two rows for {row_name(row)}", remedy)
    return table


def row_name(row: pd.Series) -> str:
    """A check's name in a line of text."""
    return " ".join(str(row[name]) for name in KEY if row[name])


def compare_verdicts(checks: pd.DataFrame, accepted: pd.DataFrame) -> Comparison:
    """Sort the rows whose verdict isn't the accepted one, in the order of the checks, absent ones last."""
    before = accepted[[*KEY, "verdict"]].rename(columns={"verdict": "was"})
    both = checks.merge(before, on=list(KEY), how="left")
    gone = before.merge(checks[list(KEY)], on=list(KEY), how="left", indicator=True)
    gone = gone[gone["_merge"] == "left_only"].drop(columns="_merge").assign(verdict=ABSENT)
    rows = pd.concat([both, gone], ignore_index=True) if len(gone) else both
    known = rows["was"].notna()
    was, now = rows["was"].map(_WORTH), rows["verdict"].map(_WORTH)
    worse, better = known & (now < was), known & (now > was)
    return Comparison(
        worse=rows[worse],
        better=rows[better],
        other=rows[known & (rows["was"] != rows["verdict"]) & ~worse & ~better],
        new=rows[~known],
    )


def accept(checks: pd.DataFrame, path: str | Path) -> None:
    """Write a run's verdicts as the accepted ones."""
    write_csv(checks[[*KEY, "verdict"]], path)

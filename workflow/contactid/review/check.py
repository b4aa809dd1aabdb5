"""Hold a run's verdicts against the committed ones: ``make check``; accept them: ``make baseline``.

``make check`` fails where a number that used to agree (or be better) no longer does. It writes nothing.
``make baseline`` replaces the committed verdicts, so that the change shows in a review.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.comparison import AGREES, BETTER, COLUMNS, DIFFERS, INPUT, NOT_COMPARABLE, VERDICTS
from contactid.output.summary import text_table
from contactid.output.tables import read_csv, write_csv

ACCEPTED = Path(__file__).resolve().parents[2] / "resources" / "verdicts"
_TITLES = {
    "worse": "Worse than the accepted verdicts",
    "better": "Better than the accepted verdicts (make baseline accepts them)",
    "other": "Changed, neither worse nor better",
    "new": "Not among the accepted verdicts (make baseline adds them)",
}
_SHOWN = 40  # rows of a kind of change
KEY = ("study", "artefact", "quantity", "condition")
_ACCEPTED_COLUMNS = (*KEY, "verdict")
ABSENT = "absent"
# a result that becomes an input is a result lost
_WORTH = {AGREES: 2, BETTER: 2, INPUT: 1, DIFFERS: 0, NOT_COMPARABLE: 0, ABSENT: 0}


def read_verdicts(path: str | Path, columns: Sequence[str], remedy: str) -> pd.DataFrame:
    """A run's checks or its accepted verdicts; text columns hold no missing values.

    Raises
    ------
    ContactIdError : with the remedy, where there is no file, or one that isn't a table with these columns
    """
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


def compare_verdicts(checks: pd.DataFrame, accepted: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows whose verdict isn't the accepted one, in the order of the checks, absent ones last.

    Returns
    -------
    dict
        Rows of the checks and what their verdict ``was``: ``worse`` (agreed or were better and no longer do; or were
        inputs and now differ, can't be compared or are absent), ``better`` (the reverse), ``other`` (any other change,
        for instance from ``agrees`` to ``better``), ``new`` (aren't among the accepted verdicts).
    """
    before = accepted[list(_ACCEPTED_COLUMNS)].rename(columns={"verdict": "was"})
    both = checks.merge(before, on=list(KEY), how="left")
    gone = before.merge(checks[list(KEY)], on=list(KEY), how="left", indicator=True)
    gone = gone[gone["_merge"] == "left_only"].drop(columns="_merge").assign(verdict=ABSENT)
    rows = pd.concat([both, gone], ignore_index=True) if len(gone) else both
    known, changed = rows["was"].notna(), rows["was"] != rows["verdict"]
    was, now = rows["was"].map(_WORTH), rows["verdict"].map(_WORTH)
    return {
        "worse": rows[known & (now < was)],
        "better": rows[known & (now > was)],
        "other": rows[known & changed & (now == was)],
        "new": rows[~known],
    }


def check_run(run: str, results: str | Path, accepted: str | Path, study: str = "") -> tuple[str, bool]:
    """The text of ``make check``, and whether nothing got worse.

    Parameters
    ----------
    results, accepted : folders that hold ``<run>/checks.csv`` and ``<run>.csv``
    study : compare this study alone

    Raises
    ------
    ContactIdError : where there is no such run or nothing accepted for it
    """
    checks = _checks(run, results)
    remedy = f"Accept the verdicts that there are: make baseline RUN={run}"
    before = read_verdicts(Path(accepted) / f"{run}.csv", _ACCEPTED_COLUMNS, remedy)
    if study:
        checks, before = checks[checks["study"] == study], before[before["study"] == study]
        if checks.empty:
            raise ContactIdError(f"run {run} has no checks of the study {study!r}", f"Run it: make STUDY={study}")
    found = compare_verdicts(checks, before)
    parts = [f"# Checks of run {run}", count_table(checks), *_changes(found)]
    absent = sorted(set(before["study"]) - set(checks["study"]))
    if absent:
        parts.append(f"The run has no study {', '.join(absent)}; make check STUDY=... compares one that it has.")
    if found["worse"].empty:
        parts.append("No check is worse than accepted.")
    return "\n\n".join(parts), found["worse"].empty


def accept_run(run: str, results: str | Path, accepted: str | Path) -> str:
    """Accept a run's verdicts; the text says what that changes.

    Raises :class:`ContactIdError` where there is no such run, or it lacks a study that is accepted already.
    """
    checks, path = _checks(run, results), Path(accepted) / f"{run}.csv"
    changes = []
    if path.is_file():
        before = read_verdicts(path, _ACCEPTED_COLUMNS, "Delete it or restore it from the repository")
        absent = sorted(set(before["study"]) - set(checks["study"]))
        if absent:
            raise ContactIdError(f"run {run} lacks the study {', '.join(absent)}", "Run all studies, then accept")
        changes = _changes(compare_verdicts(checks, before))
    write_csv(checks[list(_ACCEPTED_COLUMNS)], path)
    return "\n\n".join([f"# Accepted verdicts of run {run}: {path}", count_table(checks), *changes])


def count_table(checks: pd.DataFrame) -> str:
    """How many numbers of each study have which verdict."""
    counts = pd.crosstab(checks["study"], checks["verdict"]).reindex(columns=list(VERDICTS), fill_value=0)
    counts = counts.loc[list(dict.fromkeys(checks["study"]))]
    rows = [
        [str(study), *(str(count) for count in row)] for study, row in zip(counts.index, counts.values, strict=True)
    ]
    rows.append(["all", *(str(count) for count in counts.sum())])
    return text_table(["study", *VERDICTS], rows)


def _checks(run: str, results: str | Path) -> pd.DataFrame:
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", run):
        raise ContactIdError(f"{run!r} is not the name of a run", "Use the configuration's run, for instance default")
    folder = Path(results)
    if not (folder / run).is_dir():
        there = sorted(file.parent.name for file in folder.glob("*/checks.csv"))
        raise ContactIdError(
            f"there is no run {run} in {folder}/",
            f"Make it first (make, for the default run){'; there are: ' + ', '.join(there) if there else ''}",
        )
    remedy = "Let the run finish: make, or snakemake with its configuration"
    return read_verdicts(folder / run / "checks.csv", COLUMNS, remedy)


def _changes(found: Mapping[str, pd.DataFrame]) -> list[str]:
    parts = []
    for kind, title in _TITLES.items():
        rows = found[kind]
        if rows.empty:
            continue
        lines = [f"{title}: {len(rows)}", *(f"  {_line(row)}" for _, row in rows.head(_SHOWN).iterrows())]
        if len(rows) > _SHOWN:
            lines.append(f"  and {len(rows) - _SHOWN} more")
        parts.append("\n".join(lines))
    return parts


def _line(row: pd.Series) -> str:
    verdict = row["verdict"] if pd.isna(row["was"]) else f"{row['was']} -> {row['verdict']}"
    if row["verdict"] == ABSENT:
        return f"{row_name(row)}: {verdict}"
    ours = "nothing" if pd.isna(row["reproduced"]) else f"{row['reproduced']:g}"
    return (
        f"{row_name(row)}: {verdict}; printed {row['published']:g}, reproduced {ours} {row['unit']}, "
        f"tolerance {row['tolerance']:.3g}; {row['note']}"
    )


@told_plainly()
def main() -> None:
    """Read the command line, print the comparison, and exit with 1 where a check got worse."""
    parser = argparse.ArgumentParser(prog="python -m contactid.review.check", description=__doc__)
    parser.add_argument("--run", default="default", help="name of the run")
    parser.add_argument("--results", default="results", help="folder of the runs")
    parser.add_argument("--verdicts", default=str(ACCEPTED), help="folder of the accepted verdicts")
    parser.add_argument("--study", default="", help="this study alone")
    parser.add_argument("--accept", action="store_true", help="accept the run's verdicts instead of comparing them")
    arguments = parser.parse_args()
    try:
        if arguments.accept:
            print(accept_run(arguments.run, arguments.results, arguments.verdicts))
            return
        text, fine = check_run(arguments.run, arguments.results, arguments.verdicts, arguments.study)
        print(text, flush=True)
        if not fine:
            raise ContactIdError(
                f"run {arguments.run}: checks got worse (listed above)",
                f"Mend the cause; if the change is right, make baseline RUN={arguments.run} and commit it",
            )
    except BrokenPipeError:  # the reader, for instance head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()

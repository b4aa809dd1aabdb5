"""Hold a run's verdicts and numbers against the accepted ones (``make check``), or accept them.

``make check`` writes nothing. It fails where

* a verdict got worse: a reproduced number is one no more, or what was within its tolerance isn't,
  or a row is gone;
* a check asks less: its tolerance is wider, or it refuses a wrong answer no more;
* a number drifted: its verdict is the accepted one, but it moved by more than rounding explains,
  that is by more than a tenth of its row's tolerance and more than a thousandth of itself. Ten
  such drifts change many verdicts, the first nine few.

A number also moves where the libraries choose other functions for another processor
(contactid.review.arithmetic). By how much depends on how well the data determine it, so no limit
tells such a move from a change of the code. What does is the machine: where the libraries chose
what they chose for the accepted run, only code, data and packages are left as causes, so drift
fails. Where they chose otherwise, drift is told and passes, and so does a number that left its
tolerance although it moved by rounding alone: it lies at the edge. Where it isn't known what they
chose, drift fails.

``make baseline`` replaces the accepted verdicts, and what they were made with, so that the change
shows in a review.
"""

from __future__ import annotations

import argparse
import io
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.comparison import COLUMNS, comparable, counted
from contactid.output.fits import read_json, write_json
from contactid.output.summary import text_table
from contactid.output.tables import read_csv, write_csv
from contactid.output.verdicts import (
    BETTER,
    DIFFERS,
    FITTED,
    INPUT,
    LACKS,
    PRINT_CONSISTENT,
    PRINT_INCONSISTENT,
    REPRODUCED,
    UNINFORMATIVE,
    VERDICTS,
)
from contactid.review.held import tell_stored
from contactid.run.story import changed

ACCEPTED = Path(__file__).resolve().parents[2] / "resources" / "verdicts"
KEY = ("study", "artefact", "quantity", "condition")
ACCEPTED_COLUMNS = (*KEY, "verdict", "reproduced", "tolerance", "rejects", "repeats")
ABSENT = "absent"
#: A number that moved by no more than this of its row's tolerance, or of itself, didn't drift.
SHARE_OF_TOLERANCE, SHARE_OF_NUMBER = 0.1, 1e-3
_MOVES = (
    "Numbers: {numbers}, of which {same} are the accepted ones, {rounded} moved by rounding, "
    f"and {{further}} further: by more than {SHARE_OF_TOLERANCE:g} of the tolerance "
    f"and more than {SHARE_OF_NUMBER:g} of the number."
)
# a kind of change: its title, and what is said of a run that fails by it (nothing where it passes)
_KINDS = {
    "worse": ("Worse than the accepted verdicts", "checks got worse"),
    "edge": ("Outside the tolerance by rounding alone: numbers at its edge, on another processor", ""),
    "weaker": ("Ask less than the accepted checks: a wider tolerance, or a wrong answer that is refused no more",
               "checks ask less"),
    "drift": ("Drifted from the accepted numbers", "numbers drifted"),
    "better": ("Better than the accepted verdicts (make baseline accepts them)", ""),
    "other": ("Changed, neither worse nor better", ""),
    "new": ("Not among the accepted verdicts (make baseline adds them)", ""),
}  # fmt: skip
# rows of a kind of change: what one cause changes is often a whole table
_SHOWN = 40
# a row that is gone is worse than one that differs; from differs to a row that lacks something and
# back is neither
_WORTH = {
    REPRODUCED: 3, PRINT_CONSISTENT: 2, FITTED: 2, BETTER: 2, UNINFORMATIVE: 1, INPUT: 1, DIFFERS: 0,
    PRINT_INCONSISTENT: 0, **dict.fromkeys(LACKS, 0), ABSENT: -1,
}  # fmt: skip
# packages that compute
_PACKAGES = ("casadi", "llvmlite", "numba", "numpy", "pandas", "pin", "pyomo", "scipy", "xarray")
_TEXTS = (
    *(*KEY, "unit", "basis", "origin", "data", "wrong_answers", "rejects", "moved", "cases"),
    *("repeats", "note", "where"),
)


class Part(NamedTuple):
    """A part of what ``make check`` prints, and why a run fails by it; "" where it passes."""

    text: str
    problem: str = ""


def read_verdicts(
    source: str | Path | bytes, columns: Sequence[str], remedy: str, path: str = ""
) -> pd.DataFrame:
    """A run's checks or its accepted verdicts, of a file or its content, which errors call ``path``.

    Text columns hold no missing values. Raises :class:`ContactIdError` with the remedy where there
    is no file, or one that isn't a table with these columns.
    """
    file: Any = source
    if isinstance(source, bytes):
        file = io.BytesIO(source)
    elif not Path(source).is_file():
        raise ContactIdError(f"{source} does not exist", remedy)
    path = path or str(source)
    try:
        table = read_csv(file)
    except (OSError, ValueError) as error:
        raise ContactIdError(f"{path} cannot be read ({error})", remedy) from None
    missing = [name for name in columns if name not in table]
    if missing:
        raise ContactIdError(f"{path} lacks the columns {', '.join(missing)}", remedy)
    # a column without any text is read as numbers
    for name in table.columns.intersection(list(_TEXTS)):
        table[name] = table[name].astype(object).where(table[name].notna(), "").astype(str)
    unknown = sorted(set(table["verdict"].astype(str)) - set(VERDICTS))
    if unknown:
        raise ContactIdError(f"{path} has the unknown verdict {unknown[0]!r}", remedy)
    if table.duplicated(list(KEY)).any():
        row = table[table.duplicated(list(KEY))].iloc[0]
        raise ContactIdError(f"{path} has two rows for {row_name(row)}", remedy)
    return table


def row_name(row: Any) -> str:
    """A check's name in a line of text."""
    return " ".join(str(row[name]) for name in KEY if row[name])


def compare_verdicts(
    checks: pd.DataFrame, accepted: pd.DataFrame, elsewhere: bool = False
) -> dict[str, pd.DataFrame]:
    """The rows that aren't as accepted, in the order of the checks, absent ones last.

    Parameters
    ----------
    elsewhere : whether the two are known to come from processors for which the libraries chose
        other functions

    Returns
    -------
    dict
        By kind, rows of the checks with the accepted ``verdict_was``, ``reproduced_was``,
        ``tolerance_was`` and ``rejects_was``. By their verdict: ``worse``, ``edge`` (differ, by
        rounding alone; only elsewhere), ``better``, ``other``, ``new`` (aren't among the accepted
        ones). ``drift``: the same verdict, a number that moved. ``weaker``: comparable before and
        now, by a check that asks less; these may be among the others, too.
    """
    rows = beside(checks, accepted)
    compared = rows["verdict_was"].notna()
    same = rows["verdict_was"] == rows["verdict"]
    loss = loss_of_worth(rows)
    drifted = compared & moved(rows)
    # a fifth of a tolerance lies between a verdict and its opposite, and the undecided between them
    # has two edges
    at_edge = rows["verdict"].isin((DIFFERS, PRINT_INCONSISTENT, UNINFORMATIVE)) & ~drifted
    edge = (loss > 0) & at_edge & elsewhere
    comparable_now = comparable(rows) & (rows["verdict"] != ABSENT)
    comparable_twice = compared & comparable_now & ~rows["verdict_was"].isin(LACKS)
    return {
        "worse": rows[compared & (loss > 0) & ~edge],
        "edge": rows[edge],
        "weaker": rows[comparable_twice & _asks_less(rows)],
        "drift": rows[same & drifted],
        "better": rows[compared & (loss < 0)],
        "other": rows[compared & ~same & (loss == 0)],
        "new": rows[~compared],
    }


def beside(checks: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Each row of the checks with the earlier ``verdict_was``, ``reproduced_was``,
    ``tolerance_was`` and so on.

    Rows that are gone come last, with the verdict ``absent``.
    """
    key = list(KEY)
    before = before[list(ACCEPTED_COLUMNS)].set_index(key).add_suffix("_was").reset_index()
    both = checks.merge(before, on=key, how="left")
    gone = before.merge(checks[key], on=key, how="left", indicator=True)
    gone = gone[gone["_merge"] == "left_only"].drop(columns="_merge")
    gone = gone.assign(verdict=ABSENT, rejects="")
    # an empty table would change the columns' types
    return pd.concat([both, gone], ignore_index=True) if len(gone) else both


def loss_of_worth(rows: pd.DataFrame) -> pd.Series:
    """By how much each row's verdict is worth less than the earlier one; NaN where there is none."""
    return rows["verdict_was"].map(_WORTH) - rows["verdict"].map(_WORTH)


def moved(rows: pd.DataFrame) -> pd.Series:
    """Whether ``reproduced`` moved by more than rounding explains; a value that is alone did."""
    now = rows["reproduced"].astype(float)
    was = rows["reproduced_was"].astype(float)
    difference = (now - was).abs()
    of_number = SHARE_OF_NUMBER * np.maximum(now.abs(), was.abs())
    of_tolerance = SHARE_OF_TOLERANCE * rows["tolerance_was"]
    # infinite or missing on one side alone, of which no difference is a number
    alone = (now != was) & ~np.isfinite(difference) & ~(now.isna() & was.isna())
    return (difference > np.maximum(of_number, of_tolerance)) | alone


def _asks_less(rows: pd.DataFrame) -> pd.Series:
    """Whether a tolerance is wider, by more than rounding, or a wrong answer is refused no more."""
    wider = rows["tolerance"] > rows["tolerance_was"] * (1.0 + SHARE_OF_NUMBER)
    pairs = zip(rows["rejects"], rows["rejects_was"].fillna(""), strict=True)
    refuses_less = [bool(_names(was) - _names(now)) for now, was in pairs]
    return wider | pd.Series(refuses_less, index=rows.index, dtype=bool)


def _names(rejects: str) -> set[str]:
    return set(filter(None, rejects.split(";")))


def check_run(
    run: str, results: str | Path, accepted: str | Path, study: str = "", against: str = ""
) -> tuple[str, str]:
    """The text of ``make check``, and what is wrong; nothing of a run as good as the accepted one.

    Parameters
    ----------
    results, accepted : folders that hold ``<run>/checks.csv`` and ``<run>.csv``
    study : compare this study alone
    against : the accepted run, where it has another name

    Raises
    ------
    ContactIdError : where there is no such run or nothing accepted for it
    """
    # a study's own verdicts may be newer than the run's, which wait for all studies
    checks = _checks(run, results, study)
    accepted_file = Path(accepted) / f"{against or run}.csv"
    remedy = f"Accept the verdicts that there are: make baseline RUN={run}"
    before = read_verdicts(accepted_file, ACCEPTED_COLUMNS, remedy)
    if study:
        checks = checks[checks["study"] == study]
        before = before[before["study"] == study]
        if checks.empty:
            raise ContactIdError(
                f"run {run} has no checks of the study {study!r}", f"Run it: make STUDY={study}"
            )
    accepted_by = _read_made(accepted_file.with_suffix(".json"))
    now = made_with(_read_made(Path(results) / run / "provenance.json"))
    elsewhere = chose_otherwise(accepted_by, now)
    changes = compare_verdicts(checks, before, elsewhere)
    parts = [
        Part(f"# Checks of run {run}"),
        Part(count_table(checks)),
        Part(_tell_made(accepted_by, now)),
        Part(_MOVES.format(**count_moves(checks, before))),
        *_changes(changes, elsewhere),
        *_about_files(Path(results) / run, study),
    ]
    absent = ", ".join(sorted(set(before["study"]) - set(checks["study"])))
    if absent:
        remedy = "make check STUDY=... compares one that it has"
        parts.append(Part(f"The run has no study {absent}; {remedy}."))
    problems = ", ".join(part.problem for part in parts if part.problem)
    if not problems:
        parts.append(Part("No check is worse than accepted."))
    return "\n\n".join(part.text for part in parts), problems


def _about_files(folder: Path, study: str) -> list[Part]:
    """What a run's folder says of stored results, and which files were changed since."""
    parts = []
    held = folder / "stored.csv"
    if held.is_file():
        parts += [Part(text, problem) for text, problem in tell_stored(held, study)]
    for name, rule in changed(folder):
        parts.append(Part(f"{name} isn't what its job ({rule}) wrote.", f"{name} changed"))
    return parts


def accept_run(run: str, results: str | Path, accepted: str | Path) -> str:
    """Accept a run's verdicts and numbers; the text says what that changes.

    Raises :class:`ContactIdError` where there is no such run, its record is missing, or it lacks a
    study that is accepted already.
    """
    checks = _checks(run, results)
    path = Path(accepted) / f"{run}.csv"
    record = Path(results) / run / "provenance.json"
    accepted_by = made_with(_read_made(record))
    if not accepted_by:
        raise ContactIdError(f"{record} does not exist", "Let the run finish, then accept")
    changes: list[Part] = []
    if path.is_file():
        before = read_verdicts(
            path, ACCEPTED_COLUMNS, "Delete it or restore it from the repository"
        )
        absent = sorted(set(before["study"]) - set(checks["study"]))
        if absent:
            raise ContactIdError(
                f"run {run} lacks the study {', '.join(absent)}", "Run all studies, then accept"
            )
        changes = _changes(compare_verdicts(checks, before), False)
    write_csv(checks[list(ACCEPTED_COLUMNS)], path)
    write_json(path.with_suffix(".json"), accepted_by)
    title = f"# Accepted verdicts of run {run}: {path}"
    return "\n\n".join([title, count_table(checks), *(part.text for part in changes)])


def made_with(record: Mapping[str, Any]) -> dict[str, Any]:
    """What of ``provenance.json`` its numbers' last digits depend on; nothing of an empty one."""
    if not record:
        return {}
    packages = record.get("packages") or {}
    as_recorded = ("git_commit", "git_dirty", "platform", "processor", "arithmetic")
    return {
        "made": (record.get("jobs") or {}).get("end"),
        **{name: record.get(name) for name in as_recorded},
        "solver": (record.get("solver") or {}).get("name"),
        "python": record.get("python"),
        "packages": {name: packages.get(name) for name in _PACKAGES},
    }


def chose_otherwise(made: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether the libraries are known to have chosen other functions on the two processors."""
    before, here = made.get("arithmetic"), now.get("arithmetic")
    return bool(before and here and before != here)


def _tell_made(made: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Where the accepted numbers were made, and what of that is otherwise in this run."""
    if not made:
        return "Where the accepted numbers were made isn't known."
    commit = f"{made['git_commit'] or 'unknown'}"[:12]
    if made["git_dirty"]:
        commit += " and uncommitted changes"
    lines = [f"Accepted numbers: made {made['made']} at commit {commit}, {_machine(made)}"]
    if not now:
        lines.append("Where this run was made isn't known: it has no provenance.json.")
        return "\n".join(lines)
    lines.append(f"This run:         made {now['made']}, {_machine(now)}")
    other_packages = []
    for name, version in made["packages"].items():
        if now["packages"].get(name) != version:
            other_packages.append(f"{name} {version} -> {now['packages'].get(name)}")
    if other_packages:
        lines.append(f"Other packages: {', '.join(other_packages)}")
    if chose_otherwise(made, now):
        lines.append(
            "The libraries chose other functions for this processor, so numbers that moved don't fail."
        )
    return "\n".join(lines)


def _machine(made: Mapping[str, Any]) -> str:
    chosen = made["arithmetic"] or {}
    arithmetic = "; ".join(f"{name} {value}" for name, value in chosen.items())
    return f"{made['processor']} ({arithmetic or 'not known'})"


def count_moves(checks: pd.DataFrame, accepted: pd.DataFrame) -> dict[str, int]:
    """How many numbers of a run are as accepted, moved by rounding, and further (:func:`moved`)."""
    both = checks.merge(accepted[list(ACCEPTED_COLUMNS)], on=list(KEY), suffixes=("", "_was"))
    both = both[both["reproduced"].notna() & both["reproduced_was"].notna()]
    changed = both["reproduced"] != both["reproduced_was"]
    moved_far = moved(both)
    return {
        "numbers": len(both),
        "same": int((~changed).sum()),
        "rounded": int((changed & ~moved_far).sum()),
        "further": int(moved_far.sum()),
    }


def count_table(checks: pd.DataFrame) -> str:
    """How many numbers of each study have which verdict; of repetitions the first counts."""
    rows = counted(checks)
    counts = pd.crosstab(rows["study"], rows["verdict"])
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    lines = []
    for study in dict.fromkeys(rows["study"]):
        lines.append([str(study), *map(str, counts.loc[study])])
    lines.append(["all", *map(str, counts.sum())])
    table = text_table(["study", *VERDICTS], lines)
    repeats = len(checks) - len(rows)
    if repeats:
        table += f"\n\nNot counted: {repeats} rows that repeat another row's experiment."
    return table


def _checks(run: str, results: str | Path, study: str = "") -> pd.DataFrame:
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", run):
        raise ContactIdError(
            f"{run!r} is not the name of a run", "Use the configuration's run, for instance default"
        )
    folder = Path(results)
    if not (folder / run).is_dir():
        remedy = "Make it first (make, for the default run)"
        if runs := runs_in(folder):
            remedy += f"; there are: {runs}"
        raise ContactIdError(f"there is no run {run} in {folder}/", remedy)
    remedy = "Let the run finish: make, or snakemake with its configuration"
    own = folder / run / study / "checks.csv"
    return read_verdicts(own if own.is_file() else folder / run / "checks.csv", COLUMNS, remedy)


def runs_in(results: Path) -> str:
    """The names of the runs in a folder that have verdicts, after each other."""
    return ", ".join(sorted(file.parent.name for file in results.glob("*/checks.csv")))


def _read_made(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _changes(by_kind: Mapping[str, pd.DataFrame], elsewhere: bool) -> list[Part]:
    parts = []
    for kind, (title, problem) in _KINDS.items():
        rows = by_kind[kind]
        if rows.empty:
            continue
        lines = [f"{title}: {len(rows)}"]
        lines += [f"  {tell_row(row)}" for _, row in rows.head(_SHOWN).iterrows()]
        if len(rows) > _SHOWN:
            lines.append(f"  and {len(rows) - _SHOWN} more")
        passes = kind == "drift" and elsewhere
        parts.append(Part("\n".join(lines), "" if passes else problem))
    return parts


def tell_row(row: pd.Series) -> str:
    """A row of :func:`beside` as a line: its verdict and number, before and now."""
    verdict = row["verdict"]
    number = _number(row["reproduced"])
    tolerance = f"{row['tolerance']:.3g}"
    no_more = ""
    if pd.notna(row["verdict_was"]):
        verdict = _from_to(row["verdict_was"], verdict)
        if row["verdict"] == ABSENT:
            return f"{row_name(row)}: {verdict}"
        number = _from_to(_number(row["reproduced_was"]), number)
        # not as it is printed: a wider one that rounds to the same is told, too
        if row["tolerance"] != row["tolerance_was"]:
            tolerance = f"{row['tolerance_was']:.3g} -> {tolerance}"
        accepted_now = sorted(_names(row["rejects_was"]) - _names(row["rejects"]))
        if accepted_now:
            no_more = f"; refuses no more: {', '.join(accepted_now)}"
    compared = f"printed {row['published']:g}, reproduced {number} {row['unit']}"
    return f"{row_name(row)}: {verdict}; {compared}, tolerance {tolerance}{no_more}; {row['note']}"


def _from_to(before: str, now: str) -> str:
    return now if now == before else f"{before} -> {now}"


def _number(value: float) -> str:
    return "nothing" if pd.isna(value) else f"{value:g}"


@told_plainly()
def main() -> None:
    """Read the command line, print the comparison, and exit with 1 where the run fails it."""
    parser = argparse.ArgumentParser(prog="python -m contactid.review.check", description=__doc__)
    parser.add_argument("--run", default="default", help="name of the run")
    parser.add_argument("--results", default="results", help="folder of the runs")
    parser.add_argument("--verdicts", default=str(ACCEPTED), help="folder of the accepted verdicts")
    parser.add_argument("--study", default="", help="this study alone")
    parser.add_argument(
        "--accept", action="store_true", help="accept the run's verdicts instead of comparing them"
    )
    arguments = parser.parse_args()
    run, folders = arguments.run, (arguments.results, arguments.verdicts)
    if arguments.accept:
        tell(accept_run(run, *folders))
        return
    text, problems = check_run(run, *folders, arguments.study)
    tell(text)
    if problems:
        raise ContactIdError(
            f"run {run}: {problems} (listed above)",
            f"Mend the cause; if the change is right, make baseline RUN={run} and commit it",
        )


def tell(text: str) -> None:
    """Print a text, whose reader, for instance head, may have seen enough."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()

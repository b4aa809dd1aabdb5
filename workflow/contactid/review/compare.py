"""What moved between two runs, worst first: ``make compare RUNS="default mine"``; CSV=moved.csv
writes it as a table.

First come the verdicts and numbers of ``checks.csv``: verdicts that got worse, then other verdicts,
then numbers by how many tolerances they moved. Then come all files that aren't the same, by their
largest difference (:mod:`contactid.review.apart`). Logs and benchmarks aren't compared, and neither
are drawings of times.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.comparison import COLUMNS, comparable
from contactid.output.tables import write_csv
from contactid.review.apart import Difference, compare, other_than
from contactid.review.check import (
    beside,
    loss_of_worth,
    read_verdicts,
    row_name,
    runs_in,
    tell,
    tell_row,
)
from contactid.review.contents import plain
from contactid.review.one_run import ABOUT_THE_RUN, shows_times

# columns of the table of what moved, before its sizes and place
_MOVED = ("kind", "name", "verdict_was", "verdict", "before", "after", "unit")
_DRAWINGS = frozenset((".pdf", ".png", ".svg"))
# lines of rows, and of files
_SHOWN = 40
_UNFINISHED = "Let the run finish: make, or snakemake with its configuration"


def differences(a: Path, b: Path) -> list[str]:
    """A line for each file that two results folders don't share, or not alike, the worst first."""
    return _file_lines(_differing(_compared(a, b)))


def _differing(compared: Mapping[str, Difference]) -> dict[str, Difference]:
    """The files whose numbers or words differ."""
    return {path: difference for path, difference in compared.items() if difference.largest}


def _file_lines(differing: Mapping[str, Difference]) -> list[str]:
    return [
        f"{path}: {difference.where}{_size(difference.largest)}"
        for path, difference in differing.items()
    ]


def _compared(a: Path, b: Path) -> dict[str, Difference]:
    """Every file of two results folders, the least alike first, drawings after their data."""
    in_a, in_b = _files(a), _files(b)
    compared = {}
    for path in in_a | in_b:
        if path not in in_b:
            compared[path] = other_than(f"only in {a}")
        elif path not in in_a:
            compared[path] = other_than(f"only in {b}")
        else:
            compared[path] = _compared_file(a / path, b / path, path)

    # a drawing differs where its data do, and says less of by how much
    def rank(path: str) -> tuple[bool, float, str]:
        return Path(path).suffix in _DRAWINGS, -compared[path].largest, path

    return {path: compared[path] for path in sorted(compared, key=rank)}


def _compared_file(file_a: Path, file_b: Path, name: str) -> Difference:
    before, now = file_a.read_bytes(), file_b.read_bytes()
    # times are others in every run
    draws_times = file_a.suffix in _DRAWINGS and shows_times(file_a.with_suffix(".csv"))
    if before == now or draws_times:
        return Difference(identical=True)
    return compare(name, before, now)


def _files(root: Path) -> set[str]:
    files = set()
    for path in root.rglob("*"):
        within = path.relative_to(root)
        # Snakemake puts a time stamp into every folder that a job made
        is_result = within.parts[0] not in ABOUT_THE_RUN and path.name != ".snakemake_timestamp"
        if is_result and path.is_file():
            files.add(within.as_posix())
    return files


def moved_rows(was: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    """The rows of two runs' checks whose verdict or number isn't the same, the worst first.

    Further columns: ``verdict_was``, ``reproduced_was`` and so on of the first run; ``relative``
    and ``tolerances``, by how much the number moved, infinite where one run has none. A lost
    verdict is worse than any number.
    """
    rows = beside(now, was)
    before = rows["reproduced_was"].astype(float)
    after = rows["reproduced"].astype(float)
    # equal infinities, and two that are missing: their difference is no number
    has_moved = (before != after) & ~(before.isna() & after.isna())
    difference = (after - before).abs()
    # a number in one run alone
    difference = difference.where(before.notna() & after.notna(), np.inf).where(has_moved, 0.0)
    size = np.maximum(before.abs(), after.abs())
    # a row that is gone has the tolerance that it had
    tolerance = rows["tolerance"].fillna(rows["tolerance_was"])
    # where nothing moved, 0 and not 0 / 0
    rows = rows.assign(
        relative=(difference / size).where(difference > 0.0, 0.0).fillna(np.inf),
        tolerances=(difference / tolerance).where(difference > 0.0, 0.0),
        lost=loss_of_worth(rows),
        other=rows["verdict"] != rows["verdict_was"],
        judged=comparable(rows),
    )
    rows = rows[rows["other"] | (difference > 0.0)]
    return rows.sort_values(
        ["other", "lost", "judged", "tolerances"], ascending=False, kind="stable", ignore_index=True
    )


def compare_runs(a: Path, b: Path) -> tuple[str, pd.DataFrame]:
    """What moved from one run's folder to another's, as text and as a table.

    Returns
    -------
    tuple
        The table has a row for everything that moved: ``kind`` (verdict, number or file), ``name``,
        ``verdict_was``, ``verdict``, ``before``, ``after``, ``unit``, ``relative``, ``tolerances``,
        ``where``.

    Raises
    ------
    ContactIdError : where a run isn't finished
    """
    was = read_verdicts(a / "checks.csv", COLUMNS, _UNFINISHED)
    now = read_verdicts(b / "checks.csv", COLUMNS, _UNFINISHED)
    rows = moved_rows(was, now)
    files = _compared(a, b)
    differing = _differing(files)
    row_lines = []
    for _, row in rows.iterrows():
        row_lines.append(f"  {_by(row['relative'], row['tolerances'])}: {tell_row(row)}")
    file_lines = [plain(f"  {line}") for line in _file_lines(differing)]
    text = [
        f"# From {a} to {b}",
        _listed(f"Verdicts and numbers: {len(rows)} of {len(now)} moved", row_lines),
        _listed(f"Files: {len(differing)} of {len(files)} differ", file_lines),
    ]
    return "\n\n".join(text), _moved_table(rows, differing)


def _moved_table(rows: pd.DataFrame, differing: Mapping[str, Difference]) -> pd.DataFrame:
    """The table of :func:`compare_runs`: rows of :func:`moved_rows`, then files."""
    table = rows.rename(columns={"reproduced_was": "before", "reproduced": "after"}).assign(
        kind=np.where(rows["other"], "verdict", "number"),
        name=[row_name(row) for _, row in rows.iterrows()],
    )
    table = table[[*_MOVED, "relative", "tolerances"]]
    file_rows = []
    for path, difference in differing.items():
        size, where = difference.largest, difference.where
        file_rows.append({"kind": "file", "name": path, "relative": size, "where": where})
    all_rows = [*table.to_dict("records"), *file_rows]
    return pd.DataFrame(all_rows, columns=[*table.columns, "where"])


def _listed(title: str, lines: Sequence[str]) -> str:
    if len(lines) > 1:
        title += ", worst first"
    more = [f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join([title, *lines[:_SHOWN], *more])


def _by(relative: float, tolerances: float) -> str:
    if not relative:
        return "the same number"
    if not np.isfinite(relative):
        return "in one run alone"
    return f"{tolerances:.2g} tolerances, {100.0 * relative:.2g} %"


def _size(largest: float) -> str:
    return f" ({largest:.1g} relative)" if np.isfinite(largest) else ""


def _folder(named: str) -> Path:
    results = Path("results")
    for folder in (Path(named), results / named):
        if folder.is_dir():
            return folder
    remedy = 'Name two: make compare RUNS="a b"'
    runs = runs_in(results)
    if runs:
        remedy += f"; there are {runs}"
    raise ContactIdError(f"there is no run {named}", remedy)


@told_plainly()
def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its status is 1 where anything moved."""
    parser = argparse.ArgumentParser(
        prog="python -m contactid.review.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "runs",
        nargs=2,
        metavar="run",
        help="name of a run, or its folder: the one before, the one after",
    )
    parser.add_argument("--csv", default="", metavar="file", help="write all of it as a table")
    options = parser.parse_args(arguments)
    text, table = compare_runs(*map(_folder, options.runs))
    if options.csv:
        write_csv(table, options.csv)
    tell(text)
    return int(not table.empty)


if __name__ == "__main__":
    sys.exit(main())

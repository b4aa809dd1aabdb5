"""What is another in every run, so that no two runs are compared by it: times, commit, machine."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: Columns, keys and variables that are times, or made of them; as a heading in a summary, seconds
#: are ``s``.
TIMES = frozenset(
    (
        *("seconds", "build_seconds", "seconds_median", "build_share", "seconds_per_evaluation"),
        *("seconds_per_step_nlp", "seconds_per_step_exact", "exact_seconds_per_1000_steps"),
        *("speed_ratio", "ms_per_iteration", "exponent", "s"),
    )
)
#: What is another in every run, at the top of its folder.
ABOUT_THE_RUN = frozenset(("logs", "benchmarks", ".snakemake_timestamp"))
#: Keys of the provenance that tell of commit, machine and times.
OF_ONE_RUN = frozenset(
    (
        *("git_commit", "git_dirty", "git_diff_sha256", "system", "machine", "platform", "libc"),
        *("processor", "arithmetic", "cores", "usable_cores", "memory_bytes", "threads", "jobs"),
        "snakemake",
    )
)
#: Properties in the RO-Crate that tell of times, of the commit, or of files that are compared
#: themselves.
OF_ONE_CRATE = frozenset(
    ("startTime", "endTime", "datePublished", "version", "contentSize", "sha256")
)
#: What a report says of its own run stands between these.
ONCE = ("<!--once-->", "<!--/once-->")


def is_time(column: str, row: Mapping[Any, Any]) -> bool:
    """Whether a table's cell is a time; a long table names a row's quantity in a column."""
    return column in TIMES or (column == "value" and row.get("quantity") in TIMES)


def shows_times(figure_data: Path) -> bool:
    """Whether times are among a figure's data."""
    if not figure_data.is_file():
        return False
    with figure_data.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    quantities = set()
    if "quantity" in heading:
        column = heading.index("quantity")
        quantities = {row[column] for row in rows}
    return bool(TIMES & {*heading, *quantities})

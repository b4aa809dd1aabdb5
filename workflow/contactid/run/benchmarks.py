"""What the jobs of a run cost: the files in its ``benchmarks/`` folder as one table.

Snakemake writes a file per job, ``<rule>.tsv`` or ``<rule>/<wildcards>.tsv``. Memory is sampled every half second at
first and more rarely later, so a peak of a short job can be missed; ``-`` and ``NA`` stand for what wasn't sampled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pandas as pd

from contactid.core.errors import ContactIdError

COLUMNS = ("rule", "job", "seconds", "cpu_seconds", "memory_mb", "written_mb")
_NAMES = {"s": "seconds", "cpu_time": "cpu_seconds", "max_rss": "memory_mb", "io_out": "written_mb"}


def read_benchmarks(results: str | Path, damaged: Literal["error", "skip"] = "error") -> pd.DataFrame:
    """One row per job of a run, in the order of the files' names.

    Parameters
    ----------
    results
        A run's folder, ``results/<run>``.
    damaged
        What to do with a file that is being written or was cut short: stop, or leave it out (then a run without any
        gives an empty table).

    Returns
    -------
    DataFrame
        ``rule``, ``job`` (its wildcards), ``seconds`` (wall), ``cpu_seconds``, ``memory_mb`` (largest resident size, in
        MiB as Snakemake has it), ``written_mb``. Not measured (a job too short) is NaN.

    Raises
    ------
    ContactIdError
        No benchmark files, or one that can't be read; not with ``damaged="skip"``.
    """
    folder = Path(results) / "benchmarks"
    rows = []
    for file in sorted(folder.rglob("*.tsv")):
        costs = _costs(file)
        if costs is None and damaged == "error":
            raise ContactIdError(f"{file}: not a benchmark file", "Remove it, or run its job again")
        if costs is not None:
            name = file.relative_to(folder).with_suffix("").parts
            rows.append({"rule": name[0], "job": "/".join(name[1:]), **costs})
    if not rows and damaged == "error":
        remedy = "Make the run first (make), or give the folder of a finished one, results/<run>"
        raise ContactIdError(f"{folder}: no benchmark files", remedy)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _costs(file: Path) -> dict[str, float] | None:
    """What one job took; None where the file is damaged."""
    try:
        measured = pd.read_csv(file, sep="\t", na_values=["-", "NA"])
        last = measured.iloc[-1]
        return {ours: float(last[theirs]) for theirs, ours in _NAMES.items()}
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError, IndexError, KeyError, ValueError):
        return None

"""What the jobs of a run cost: the files in its ``benchmarks/`` folder as one table.

Snakemake writes a file per job, ``<rule>.tsv`` or ``<rule>/<wildcards>.tsv``. Memory is sampled every half second at
first and more rarely later, so a peak of a short job can be missed; ``-`` and ``NA`` stand for what wasn't sampled.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from contactid.errors import ContactIdError

COLUMNS = ("rule", "job", "seconds", "cpu_seconds", "memory_mb", "written_mb")
_NAMES = {"s": "seconds", "cpu_time": "cpu_seconds", "max_rss": "memory_mb", "io_out": "written_mb"}


def read_benchmarks(results: str | Path) -> pd.DataFrame:
    """One row per job of a run.

    Parameters
    ----------
    results
        A run's folder, ``results/<run>``.

    Returns
    -------
    DataFrame
        ``rule``, ``job`` (its wildcards), ``seconds`` (wall), ``cpu_seconds``, ``memory_mb`` (largest resident size, in
        MiB as Snakemake has it), ``written_mb``.
    """
    folder = Path(results) / "benchmarks"
    rows = [_row(file, file.relative_to(folder)) for file in sorted(folder.rglob("*.tsv"))]
    if not rows:
        raise ContactIdError(f"{folder}: no benchmark files", "Give the folder of a run that was made, results/<run>")
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(file: Path, name: Path) -> dict[str, object]:
    measured = pd.read_csv(file, sep="\t", na_values=["-", "NA"])
    if measured.empty or not set(_NAMES) <= set(measured.columns):
        raise ContactIdError(f"{file}: not a benchmark file", "Remove it, or run its job again")
    last = measured.iloc[-1]
    costs = {ours: float(last[theirs]) for theirs, ours in _NAMES.items()}
    return {"rule": name.with_suffix("").parts[0], "job": "/".join(name.with_suffix("").parts[1:]), **costs}

"""What Snakemake wrote down of a run's jobs: who made which file from what, and at what cost.

Snakemake keeps one JSON file per output in ``.snakemake/metadata``, named by the output's path in
URL-safe base64 (cut into folders where that is too long for a file name). Costs are in the run's
``benchmarks/``, a file per job, ``<rule>.tsv`` or ``<rule>/<wildcards>.tsv``. Memory is sampled
every half second at first and more rarely later, so a peak of a short job can be missed; ``-`` and
``NA`` stand for what wasn't sampled.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from contactid.core.errors import ContactIdError

COLUMNS = ("rule", "job", "seconds", "cpu_seconds", "memory_mb", "written_mb")
_NAMES = {"s": "seconds", "cpu_time": "cpu_seconds", "max_rss": "memory_mb", "io_out": "written_mb"}
FOLDER = Path(".snakemake/metadata")
# characters of a file name, less one for the mark of a folder
_LONGEST = 254


def read_benchmarks(
    results: str | Path, damaged: Literal["error", "skip"] = "error"
) -> pd.DataFrame:
    """One row per job of a run, in the order of the files' names.

    Parameters
    ----------
    results : a run's folder, ``results/<run>``
    damaged
        What to do with a file that is being written or was cut short: stop, or leave it out (then a
        run without any gives an empty table).

    Returns
    -------
    DataFrame
        ``rule``, ``job`` (its wildcards), ``seconds`` (wall), ``cpu_seconds``, ``memory_mb``
        (largest resident size, in MiB as Snakemake has it), ``written_mb``. Not measured (a job too
        short) is NaN.

    Raises
    ------
    ContactIdError : no benchmark files, or one that can't be read; not with ``damaged="skip"``
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
        # a job that was tried again has a line for each try
        last = measured.iloc[-1]
        return {ours: float(last[theirs]) for theirs, ours in _NAMES.items()}
    # no line, no column of that name, or no number; pandas' and Unicode's errors are ValueErrors
    except (IndexError, KeyError, ValueError):
        return None


@dataclass(frozen=True)
class JobRecord:
    """One finished job.

    Attributes
    ----------
    rule : the rule's name
    outputs, inputs : paths relative to the working directory, sorted
    log : path of its log, None where the rule has none
    begin, end : s since the epoch
    """

    rule: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    log: str | None
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """Wall time from submission to end."""
        return self.end - self.begin


def read_jobs(working_directory: str | Path, under: str) -> list[JobRecord]:
    """The finished jobs whose outputs lie below ``under`` and still exist, in order of their end.

    Parameters
    ----------
    working_directory : the folder that Snakemake was started in
    under : a folder relative to it, for instance ``results/default``

    Returns
    -------
    list : empty where there are no records (they can be dropped without harm to the results)
    """
    root = Path(working_directory)
    prefix = f"{under.rstrip('/')}/"
    record_of_job: dict[tuple[Any, ...], dict[str, Any]] = {}
    outputs_of_job: dict[tuple[Any, ...], list[str]] = {}
    for file in sorted((root / FOLDER).rglob("*")):
        path = _output_of(file.relative_to(root / FOLDER))
        if not file.is_file() or path is None or not path.startswith(prefix):
            continue
        # records of files that were removed since stay there
        if not (root / path).exists():
            continue
        record = _load(file)
        if record is None:
            continue
        # a rule's jobs have logs of their own; without one, a job's outputs share their inputs and
        # parameters
        job = (record["rule"], *(record.get("log") or ()), record.get("job_hash"))
        record_of_job.setdefault(job, record)
        outputs_of_job.setdefault(job, []).append(path)
    jobs = []
    for job, record in record_of_job.items():
        jobs.append(_job(record, outputs_of_job[job], f"{prefix}logs/"))
    # the same order for the same records: jobs may end within one tick of the clock
    return sorted(jobs, key=lambda job: (job.end, job.rule, job.outputs))


def upstream(makers: Mapping[str, JobRecord], path: str) -> list[JobRecord]:
    """All jobs that a file depends on, its own first, then breadth first towards the data."""
    # by outputs, which no two jobs share
    jobs_above: dict[tuple[str, ...], JobRecord] = {}
    waiting = deque([path])
    while waiting:
        job = makers.get(waiting.popleft())
        if job is not None and job.outputs not in jobs_above:
            jobs_above[job.outputs] = job
            waiting.extend(job.inputs)
    return list(jobs_above.values())


def path_of_record(output: str) -> Path:
    """Where below :data:`FOLDER` the record of an output is."""
    encoded = base64.urlsafe_b64encode(output.encode()).decode("ascii")
    path = Path()
    # Snakemake's mark of a folder, so that none is taken for a record
    while len(encoded) > _LONGEST:
        path /= f"@{encoded[:_LONGEST]}"
        encoded = encoded[_LONGEST:]
    return path / encoded


def _output_of(relative: Path) -> str | None:
    """The output's path that a record's path encodes; None for anything else that lies there."""
    encoded = "".join(part.removeprefix("@") for part in relative.parts)
    try:
        return base64.urlsafe_b64decode(encoded).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None


def _load(file: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    # being written, or cut short by a kill
    except (OSError, ValueError):
        return None
    is_whole = isinstance(record, dict) and record.get("rule") and not record.get("incomplete")
    return record if is_whole else None


def _job(record: dict[str, Any], outputs: list[str], folder: str) -> JobRecord:
    """A job by its record. A module's rule has another name there, but its log is named as here."""
    logs = record.get("log") or []
    is_named_by_log = logs and logs[0].startswith(folder)
    name = logs[0].removeprefix(folder) if is_named_by_log else record["rule"]
    return JobRecord(
        rule=name.partition("/")[0].removesuffix(".log"),
        outputs=tuple(sorted(outputs)),
        inputs=tuple(sorted(set(record.get("input") or []))),
        log=logs[0] if logs else None,
        begin=float(record.get("starttime") or 0.0),
        end=float(record.get("endtime") or 0.0),
    )

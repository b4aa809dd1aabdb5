"""What the run's jobs took: Snakemake's benchmark files, by rule and by job."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from contactid.report.model import JobTime, RuleTime

# rules that use this report or make it: their times would change it every time it is made
_LATER = {"report"}


def read_runtimes(results: Path) -> tuple[list[RuleTime], list[JobTime]]:
    """Times and memory by rule, the most expensive first, and of every job in the files' order."""
    jobs, cpu = [], {}
    for file in sorted((results / "benchmarks").rglob("*.tsv")):
        relative = file.relative_to(results / "benchmarks").with_suffix("")
        rule = relative.parts[0]
        if rule in _LATER:
            continue
        measured = pd.read_csv(file, sep="\t", na_values=["-"])
        if measured.empty:  # being written, or cut short by a kill
            continue
        log = results / "logs" / relative.with_name(f"{relative.name}.log")
        job = JobTime(
            rule=rule,
            job="/".join(relative.parts[1:]),
            seconds=_mean(measured, "s"),
            memory_mb=_mean(measured, "max_rss"),
            log=log.relative_to(results).as_posix() if log.exists() else None,
        )
        jobs.append(job)
        cpu[job] = _mean(measured, "cpu_time")
    rules = []
    for rule in dict.fromkeys(job.rule for job in jobs):
        members = [job for job in jobs if job.rule == rule]
        rules.append(
            RuleTime(
                rule=rule,
                jobs=len(members),
                seconds=math.fsum(job.seconds for job in members if not math.isnan(job.seconds)),
                longest=_largest([job.seconds for job in members]),
                cpu_seconds=math.fsum(cpu[job] for job in members if not math.isnan(cpu[job])),
                memory_mb=_largest([job.memory_mb for job in members]),
            )
        )
    return sorted(rules, key=lambda rule: (-rule.seconds, rule.rule)), jobs


def _mean(measured: pd.DataFrame, column: str) -> float:
    return float(pd.to_numeric(measured[column], errors="coerce").mean()) if column in measured else math.nan


def _largest(values: list[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)

"""What the run's jobs took: Snakemake's benchmark files, by rule and by job."""

from __future__ import annotations

from pathlib import Path

from contactid.review.report.model import JobTime, RuleTime
from contactid.run.benchmarks import read_benchmarks

# rules that use this report or make it: their times would change it every time it is made
_LATER = ("report",)


def read_runtimes(results: Path) -> tuple[list[RuleTime], list[JobTime]]:
    """Times and memory by rule, the most expensive first, and of every job in the files' order."""
    measured = read_benchmarks(results, damaged="skip")
    measured = measured[~measured["rule"].isin(_LATER)]
    jobs = [
        JobTime(rule=row["rule"], job=row["job"], seconds=row["seconds"], memory_mb=row["memory_mb"],
                log=_log(results, row["rule"], row["job"]))
        for row in measured.to_dict("records")
    ]  # fmt: skip
    rules = [
        RuleTime(
            rule=str(rule),
            jobs=len(members),
            seconds=members["seconds"].sum(),
            longest=members["seconds"].max(),
            cpu_seconds=members["cpu_seconds"].sum(),
            memory_mb=members["memory_mb"].max(),
        )
        for rule, members in measured.groupby("rule", sort=False)
    ]
    return sorted(rules, key=lambda rule: (-rule.seconds, rule.rule)), jobs


def _log(results: Path, rule: str, job: str) -> str | None:
    """The job's log file relative to the run's folder, if there is one."""
    log = results / "logs" / f"{rule}/{job}.log" if job else results / "logs" / f"{rule}.log"
    return log.relative_to(results).as_posix() if log.exists() else None

"""Why Slurm killed a job: what it wrote into the log of the submission, and what to ask for instead."""

from __future__ import annotations

import re
from pathlib import Path

SLURM_LOGS = Path(".snakemake/slurm_logs")
"""Where Snakemake keeps the logs of submissions that failed."""

_WORDS = {
    "mem_mb": re.compile(r"exceeded (job )?memory limit|oom[-_ ]kill|out of memory", re.IGNORECASE),
    "runtime": re.compile(r"due to time limit", re.IGNORECASE),
}
_NAMES = {"mem_mb": ("memory", "MB"), "runtime": ("time", "minutes")}


def slurm_reason(rule: str, log: Path, since: float, submissions: Path = SLURM_LOGS) -> str | None:
    """One sentence with what to ask for, or None where Slurm says nothing of a job.

    Parameters
    ----------
    rule
        The job's rule.
    log
        The job's own log, by the path that Snakemake prints.
    since
        Older submissions don't count, s since the epoch.
    submissions
        The folder with the logs of submissions.
    """
    for file in sorted(submissions.rglob("*.log")):
        if file.stat().st_mtime < since:
            continue
        _, found, end = file.read_text(encoding="utf-8", errors="replace").rpartition(f"log: {log}\n    jobid:")
        if not found:
            continue
        for key, words in _WORDS.items():
            if words.search(end):
                asked = re.search(rf"\b{key}=(\d+)", end)
                what, unit = _NAMES[key]
                limit = f" ({asked[1]} {unit})" if asked else ""
                more = 2 * int(asked[1]) if asked else "..."
                return f"killed by Slurm at its {what} limit{limit}. Ask for more: --set-resources {rule}:{key}={more}"
    return None

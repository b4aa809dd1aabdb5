"""What stopped a run, or would stop it: one plain line each, and what to do."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.run.job import FINISHED

_STOPPED = (
    "stopped from outside, or by the system for want of memory. "
    "Run the same command again, with fewer --cores if memory is short"
)
SLURM_LOGS = Path(".snakemake/slurm_logs")
"""Where Snakemake keeps the logs of submissions that failed."""
# how Slurm says that it killed a job, by the resource that was too small
_WORDS = {
    "mem_mb": re.compile(r"exceeded (job )?memory limit|oom[-_ ]kill|out of memory", re.IGNORECASE),
    "runtime": re.compile(r"due to time limit", re.IGNORECASE),
}
_NAMES = {"mem_mb": ("memory", "MB"), "runtime": ("time", "minutes")}
# of failed jobs: those that follow from one cause are many, and a terminal has 24 lines
MOST_LINES = 12
# bytes; nothing of ours goes on with less (contactid.sources.motion)
LEAST_FREE = 1 << 20
# lines at a log's end: its own last word, and what libraries may still print after it
_LAST_LINES = 5
NEEDED = (
    *("numpy", "scipy", "pandas", "xarray", "h5netcdf", "h5py", "numba", "requests", "pyomo"),
    *("casadi", "pinocchio", "matplotlib", "seaborn", "jinja2", "bokeh", "rocrate", "typst"),
    *("yaml", "jsonschema"),
)


def slurm_reason(rule: str, log: Path, since: float, submissions: Path = SLURM_LOGS) -> str | None:
    """One sentence with what to ask for, or None where Slurm says nothing of a job.

    Parameters
    ----------
    rule : the job's rule
    log : the job's own log, by the path that Snakemake prints
    since : older submissions don't count, s since the epoch
    submissions : the folder with the logs of submissions
    """
    for file in sorted(submissions.rglob("*.log")):
        if file.stat().st_mtime < since:
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        # the last submission counts: a job that failed before may have been tried again
        _, mark, report = text.rpartition(f"log: {log}\n    jobid:")
        if not mark:
            continue
        for key, words in _WORDS.items():
            if not words.search(report):
                continue
            limit_name, unit = _NAMES[key]
            limit, more = "", "..."
            if asked := re.search(rf"\b{key}=(\d+)", report):
                limit = f" ({asked[1]} {unit})"
                # how much it would have taken isn't known; twice ends after few tries
                more = str(2 * int(asked[1]))
            remedy = f"Ask for more: --set-resources {rule}:{key}={more}"
            return f"killed by Slurm at its {limit_name} limit{limit}. {remedy}"
    return None


def failures(results: str | Path, since: float) -> list[str]:
    """The plain lines of the jobs that failed since a time (s since the epoch).

    A job's line is the last one of its log. A job that neither finished nor says why was killed.
    """
    logs = Path(results) / "logs"
    lines = []
    for log in sorted(logs.rglob("*.log")):
        if log.stat().st_mtime < since:
            continue
        text = log.read_text(encoding="utf-8", errors="replace").rstrip()
        last_lines = text.splitlines()[-_LAST_LINES:]
        messages = [line for line in last_lines if line.startswith("ERROR ")]
        if messages:
            lines.append(messages[-1])
        elif FINISHED not in last_lines:
            job = log.relative_to(logs).with_suffix("")
            reason = slurm_reason(job.parts[0], log, since) or _STOPPED
            lines.append(f"ERROR {job}: {reason}. Log: {log}")
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"and {len(lines) - MOST_LINES} more, see {logs}"]
    return lines or [
        f"ERROR {results}: stopped before it was finished. Run the same command again."
    ]


def require_scheduler(executor: str) -> None:
    """Stop a run through Slurm where Slurm isn't: Snakemake would try for minutes in silence.

    Raises :class:`ContactIdError` where an executor of that name has no ``sbatch`` to submit by.
    """
    if executor == "slurm" and shutil.which("sbatch") is None:
        raise ContactIdError(
            "there is no sbatch on PATH, so nothing can be submitted",
            "Start this on a login node of a cluster with Slurm, or run here with make",
        )


def tell_of_full_disks(*folders: str | Path) -> None:
    """Print a plain line for each folder whose file system is full."""
    for folder in folders:
        # the folder was never made
        with suppress(OSError):
            if shutil.disk_usage(folder).free < LEAST_FREE:
                line = f"ERROR {folder}: no space left on its disk. Free some, then run the same command again."
                print(line, file=sys.stderr)


def exit_without_packages(modules: Iterable[str] = NEEDED) -> None:
    """End the process with one plain line where modules can't be found, which it names."""
    missing = [name for name in modules if not _is_installed(name)]
    if missing:
        sys.exit(
            f"ERROR not installed: {', '.join(missing)}. Install the pinned environment (make env)."
        )


def _is_installed(name: str) -> bool:
    # found, not imported: that would take seconds, and print what is wrong in many lines
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False

"""What stopped a run: one plain line each, and what to do."""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from pathlib import Path

from contactid.run.job import FINISHED
from contactid.run.slurm_reasons import slurm_reason

MOST_LINES = 12
LEAST_FREE = 1 << 20  # bytes; nothing of ours goes on with less (contactid.sources.motion)


def failures(results: str | Path, since: float) -> list[str]:
    """The plain lines of the jobs that failed since a time (s since the epoch).

    A job's line is the last one of its log. A job that neither finished nor says why was killed.
    """
    logs = Path(results) / "logs"
    lines = []
    for log in sorted(logs.rglob("*.log")):
        if log.stat().st_mtime < since:
            continue
        end = log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-5:]
        told = [line for line in end if line.startswith("ERROR ")]
        if told:
            lines.append(told[-1])
        elif FINISHED not in end:
            job = log.relative_to(logs).with_suffix("")
            reason = slurm_reason(job.parts[0], log, since) or (
                "stopped from outside, or by the system for want of memory. Run the same command again, with fewer "
                "--cores if memory is short"
            )
            lines.append(f"ERROR {job}: {reason}. Log: {log}")
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"and {len(lines) - MOST_LINES} more, see {logs}"]
    return lines or [f"ERROR {results}: stopped before it was finished. Run the same command again."]


def tell_of_full_disks(*folders: str | Path) -> None:
    """Print a plain line for each folder whose file system is full."""
    for folder in folders:
        with suppress(OSError):  # the folder was never made
            if shutil.disk_usage(folder).free < LEAST_FREE:
                line = f"ERROR {folder}: no space left on its disk. Free some, then run the same command again."
                print(line, file=sys.stderr)

"""When a run's jobs ran."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from contactid.run.job_records import JobRecord


def describe_jobs(jobs: Sequence[JobRecord]) -> dict[str, Any]:
    """How many jobs are finished, first begin and last end (ISO 8601, UTC), and the sum of their wall times (s).

    A run that was continued, or whose outputs are older, begins with the oldest job that it still relies on.
    """
    return {
        "finished": len(jobs) or None,
        "begin": moment(min(job.begin for job in jobs)) if jobs else None,
        "end": moment(max(job.end for job in jobs)) if jobs else None,
        "seconds": round(sum(job.seconds for job in jobs), 1) if jobs else None,
    }


def moment(seconds: float) -> str:
    """A time (s since the epoch) as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")

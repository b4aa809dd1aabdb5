"""How each file of a run was made, from Snakemake's records of the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from contactid.review.report.model import Making, Step
from contactid.run.job_records import JobRecord, maker_of, source_files, upstream


class Makings:
    """The records of one run.

    Parameters
    ----------
    jobs : what :func:`contactid.run.job_records.read_jobs` found
    results : the run's folder as the records name it, for instance ``results/default``
    """

    def __init__(self, jobs: Sequence[JobRecord], results: str) -> None:
        self._jobs = list(jobs)
        self._results = results.rstrip("/")

    def of(self, path: str) -> Making | None:
        """How a file was made (path relative to the run's folder); None where there is no record of it."""
        full = f"{self._results}/{path}"
        maker = maker_of(self._jobs, full)
        if maker is None:
            return None
        behind = upstream(self._jobs, full)
        steps: dict[str, list[JobRecord]] = {}
        for job in behind:
            steps.setdefault(job.rule, []).append(job)
        return Making(
            rule=maker.rule,
            seconds=maker.seconds,
            log=self.relative(maker.log),
            steps=tuple(Step(rule, len(jobs), sum(job.seconds for job in jobs)) for rule, jobs in steps.items()),
            datasets=tuple(sorted({name for job in behind for name in self._datasets(job)})),
            sources=tuple(source_files(self._jobs, full)),
        )

    def relative(self, path: str | None) -> str | None:
        """A path below the run's folder, relative to it."""
        return path.removeprefix(f"{self._results}/") if path else None

    def _datasets(self, job: JobRecord) -> set[str]:
        """Names of the datasets that a job wrote a part of."""
        data = f"{self._results}/data/"
        return {Path(path.removeprefix(data)).parts[0] for path in job.outputs if path.startswith(data)}

"""What a person sees of a run: a line per job when it ends, in place of Snakemake's own."""

from __future__ import annotations

import csv
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

#: What Snakemake calls the handler that writes to the terminal.
HANDLER = "DefaultStreamHandler"
# Snakemake's names of its events
_STARTED, _ENDED, _COUNTED = "job_info", "job_finished", "run_info"
_HIDDEN = (_STARTED, "progress", "job_started", "resources_info")
# how messages begin that say nothing of this run
_ROUTINE = (
    "Assuming unrestricted",
    "Building DAG",
    "Using shell",
    "Select jobs",
    "Conda environments: ignored",
    "Complete log",
    "Group jobs: inactive",
)
# characters of what a job does: with its number, study and time a line of 120
_LONGEST = 76
# of the work done, from which on the time left is shown: before, it jumps with every job
_LEAST_SHARE = 0.05
# s, from which on the time left is in minutes
_MINUTES_FROM = 90.0


class Progress(logging.Formatter):
    """Filter and formatter of Snakemake's messages: a line for each job that ended.

    What the scheduler does isn't shown.

    Parameters
    ----------
    usual : formats everything else
    does : from a rule's name to what its jobs do, in words
    studies : names that rules begin with
    usual_seconds : of a job, by rule; for the time left. Others count as the median of these
    """

    def __init__(
        self,
        usual: logging.Formatter,
        does: Callable[[str], str],
        studies: tuple[str, ...],
        usual_seconds: Mapping[str, float],
    ) -> None:
        super().__init__()
        self._usual = usual
        self._does = does
        self._studies = studies
        self._seconds = usual_seconds
        # rule, wildcards and begin of the jobs that are at work, by Snakemake's number
        self._jobs: dict[int, tuple[str, str, float]] = {}
        self._begin = time.monotonic()
        # usual seconds of all jobs, and of those that ended
        self._work, self._done = 0.0, 0.0
        # numbers of jobs
        self._ended, self._total = 0, 0

    def filter(self, record: Any) -> bool:
        """Whether to show a message; what it says of a job is kept."""
        event = getattr(record, "event", None)
        if event == _STARTED and record.rule_name != "all":
            which = ", ".join(map(str, record.wildcards.values()))
            self._jobs[record.jobid] = (record.rule_name, which, time.monotonic())
        if event == _COUNTED:
            self._begin = time.monotonic()
            self._work, self._total = 0.0, 0
            for rule, count in record.stats.items():
                if rule not in ("all", "total"):
                    self._total += count
                    self._work += count * self._expected(rule)
        if event == _ENDED:
            # the target rule is a job to Snakemake, which does nothing
            return record.job_id in self._jobs
        is_plain = event is None and record.levelno == logging.INFO
        is_routine = is_plain and str(record.msg).startswith(_ROUTINE)
        return event not in _HIDDEN and not is_routine

    def format(self, record: Any) -> str:
        """The text of a message."""
        event = getattr(record, "event", None)
        if event == _COUNTED:
            return f"{self._total} jobs to do"
        if event == _ENDED:
            return self._line(record.job_id)
        return self._usual.format(record)

    def _expected(self, rule: str) -> float:
        return self._seconds.get(rule) or median(self._seconds.values() or [1.0])

    def _line(self, job: int) -> str:
        rule, which, begin = self._jobs.pop(job)
        self._ended += 1
        self._done += self._expected(rule)
        study = next((name for name in self._studies if rule.startswith(f"{name}_")), "")
        what = first_clause(self._does(rule))
        if which:
            what += f": {which}"
        # so that all lines begin alike
        digits = len(str(self._total))
        number = f"{self._ended:>{digits}} of {self._total}"
        seconds = time.monotonic() - begin
        return f"{number}  {study:8} {what} ({seconds:.0f} s{self._remaining()})"

    def _remaining(self) -> str:
        share = self._done / self._work if self._work else 0.0
        if not _LEAST_SHARE < share < 1.0:
            return ""
        # this machine's pace so far, which may be another one than that of the usual seconds
        seconds = (time.monotonic() - self._begin) * (1.0 / share - 1.0)
        if seconds > _MINUTES_FROM:
            return f"; about {seconds / 60.0:.0f} min left"
        return f"; about {seconds:.0f} s left"


def first_clause(sentence: str) -> str:
    """The first clause of what a rule says of itself; a long one ends at a comma."""
    text = " ".join(sentence.split()).rstrip(".")
    for end in (" (", "; ", ": ", ". "):
        text = text.partition(end)[0]
    if len(text) <= _LONGEST:
        return text
    comma = text.rfind(", ", 0, _LONGEST + 2)
    if comma > 0:
        return text[:comma]
    whole_words = text[: _LONGEST + 1].rpartition(" ")[0]
    return f"{whole_words} ..."


def usual_seconds(measured: Path) -> dict[str, float]:
    """Median seconds of a rule's jobs, of measured runs."""
    with measured.open(encoding="utf-8", newline="") as stream:
        return {row["rule"]: float(row["seconds_median"]) for row in csv.DictReader(stream)}


def show(
    logger: logging.Logger, does: Callable[[str], str], studies: Iterable[str], measured: Path
) -> None:
    """Have Snakemake's handler for the terminal, where there is one, show a run's progress."""
    for handler in logger.handlers:
        if handler.name == HANDLER and handler.formatter is not None:
            # first: Snakemake's own filter would take out what this one reads
            progress = Progress(handler.formatter, does, tuple(studies), usual_seconds(measured))
            handler.filters.insert(0, progress)
            handler.setFormatter(progress)

"""What every rule asks a cluster for, against what its jobs took.

``python -m contactid.run.resources results/...`` prints it.

A rule asks for memory and time in its ``resources:``. Too little and the scheduler kills the job;
too much and the job waits longer than it has to. A rule's largest job in any of the runs counts, so
give the runs with the largest jobs.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from contactid.core.errors import told_plainly
from contactid.output.tables import write_csv
from contactid.run.records import read_benchmarks

#: A rule asks for at least this many times what its largest job took.
LEAST_MARGIN = 1.3
#: A rule asks for at most this many times that, if it asks for more than the floor; time varies
#: more than memory.
LARGEST_MEMORY_MARGIN, LARGEST_RUNTIME_MARGIN = 5.0, 10.0
#: MB of the two Snakemake processes that start a job on a node, wait for it, and count as part of
#: it (measured: 200 each).
STARTER_MB = 500
#: MB that any rule may ask for: what a node has for a core at the least.
MEMORY_FLOOR = 1500
#: Minutes that any rule may ask for: a slow node, and a file system that is slow to serve the first
#: import.
RUNTIME_FLOOR = 10
TOO_LITTLE = "is too little"
_WORKFLOW = Path(__file__).resolve().parents[2]
#: The largest measured jobs, by rule; written with ``--write``.
MEASURED = _WORKFLOW / "resources" / "measured_jobs.csv"


@dataclass(frozen=True)
class Asked:
    """What a rule asks for: memory in MB, runtime in minutes."""

    mem_mb: int
    runtime: int


def asked_for(rules: Iterable[Path] | None = None) -> dict[str, Asked]:
    """What every submitted rule asks for, by the rule files; ``*`` is what a loop fills in."""
    files = sorted((_WORKFLOW / "rules").glob("*.smk")) if rules is None else list(rules)
    requests = {}
    for file in files:
        text = file.read_text(encoding="utf-8")
        for block in re.split(r"^(?= *rule(?: \w+)?:$)", text, flags=re.M)[1:]:
            # a loop's rule has its name in a format
            name = re.match(r" *rule (\w+):", block) or re.search(r'name:\n +f"([^"]+)"', block)
            memory = re.search(r"^ +mem_mb=(\d+),$", block, re.M)
            runtime = re.search(r"^ +runtime=(\d+),$", block, re.M)
            is_local = re.search(r"^ +localrule: True$", block, re.M)
            if name and memory and runtime and not is_local:
                pattern = re.sub(r"\{.*?\}", "*", name[1])
                requests[pattern] = Asked(int(memory[1]), int(runtime[1]))
    return requests


def asked_by(rule: str, asked: Mapping[str, Asked]) -> Asked | None:
    """What a rule asks for, by its name or the pattern of a loop's names."""
    if rule in asked:
        return asked[rule]
    requests = (request for name, request in asked.items() if fnmatch.fnmatchcase(rule, name))
    return next(requests, None)


def measure(runs: Iterable[str | Path]) -> pd.DataFrame:
    """Number, median and largest cost of every rule's jobs, over some runs."""
    tables = [read_benchmarks(run).assign(run=Path(run).name) for run in runs]
    rows = []
    for rule, jobs in pd.concat(tables, ignore_index=True).groupby("rule"):
        largest = jobs.iloc[int(jobs["seconds"].argmax())]
        rows.append(
            {
                "rule": rule,
                "jobs": len(jobs),
                "seconds_median": jobs["seconds"].median(),
                "seconds_largest": largest["seconds"],
                "memory_mb_largest": jobs["memory_mb"].max(),
                "largest_in": largest["run"],
            }
        )
    return pd.DataFrame(rows)


def judge(measured: pd.DataFrame, asked: dict[str, Asked]) -> list[str]:
    """One line for each rule that asks for too little (:data:`TOO_LITTLE` is in it) or too much."""
    lines = []
    for row in measured.itertuples():
        request = asked_by(str(row.rule), asked)
        if request is None:
            continue
        memory, minutes = float(row.memory_mb_largest), float(row.seconds_largest) / 60.0  # type: ignore[arg-type]
        most_memory = max(MEMORY_FLOOR, LARGEST_MEMORY_MARGIN * memory)
        most_minutes = max(RUNTIME_FLOOR, LARGEST_RUNTIME_MARGIN * minutes)
        for key, requested, took, overhead, most in (
            ("mem_mb", request.mem_mb, memory, STARTER_MB, most_memory),
            ("runtime", request.runtime, minutes, 0, most_minutes),
        ):
            problem = ""
            if requested < LEAST_MARGIN * took + overhead:
                problem = TOO_LITTLE
            elif requested > most:
                problem = "is too much"
            if problem:
                setting = f"{key}={requested} {problem}"
                lines.append(f"{row.rule}: {setting}: the largest job took {took:.3g}")
    return lines


@told_plainly()
def main(runs: list[str], write: bool) -> int:
    """Print what was measured and asked for, and what is wrong; 1 if a job could be killed for it.

    What is too much for the jobs of these runs may be right for those of larger ones.
    """
    measured, asked = measure(runs), asked_for()
    # a local rule asks for nothing
    requests = [asked_by(rule, asked) or Asked(0, 0) for rule in measured["rule"]]
    shown = measured.assign(
        mem_mb=[request.mem_mb for request in requests],
        runtime=[request.runtime for request in requests],
    )
    print(shown.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    if write:
        write_csv(measured, MEASURED)
    lines = judge(measured, asked)
    if lines:
        print(*(f"WARNING {line}" for line in lines), sep="\n")
    measured_rules = list(measured["rule"])
    unmeasured = [name for name in sorted(asked) if not fnmatch.filter(measured_rules, name)]
    print(f"Not measured in these runs: {', '.join(unmeasured) or 'none'}")
    return 1 if any(TOO_LITTLE in line for line in lines) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", help="folders of finished runs, results/<run>")
    parser.add_argument(
        "--write", action="store_true", help=f"keep what was measured in {MEASURED.name}"
    )
    sys.exit(main(**vars(parser.parse_args())))

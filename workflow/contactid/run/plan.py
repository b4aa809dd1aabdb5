"""What node-hours buy, by a run's benchmark files: ``python -m contactid.run.plan``.

Four things scale by numbers in the configuration. Noise samples of the planar throws and of the
in-hand recordings are split into as many jobs as one likes; an arm recording's noise samples and a
box's grid are one job each, however many they are, so that their number of jobs is fixed and the
jobs get longer. The plan spends the whole budget on each of the four in turn, in jobs of some
minutes, and tells what the scheduler and the file system then have to bear.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.core.errors import ContactIdError, told_plainly
from contactid.run.records import read_benchmarks

#: Jobs of one run beyond which Snakemake itself becomes the slowest part (docs/cluster.md).
MOST_JOBS = 25_000
#: Minutes; what most partitions allow, and more than a failure should cost.
LONGEST_JOB = 24.0 * 60.0
#: As in profiles/slurm.
SUBMISSIONS_PER_SECOND = 5.0
# an output, its record, log and benchmark
_FILES_PER_JOB = 4
# recordings of one seed, which a job takes: the paper's, which no configuration changes
_RECORDINGS = 20


@dataclass(frozen=True)
class Axis:
    """One thing that there can be more of.

    Attributes
    ----------
    rule : whose jobs do it
    unit : what is counted
    key : of the configuration, to be raised
    units_per_job : in the measured run
    cells : numbers that the units are shared among, each estimated from its own
    splits : whether more of it can be more jobs
    """

    rule: str
    unit: str
    key: str
    units_per_job: float
    cells: int
    splits: bool = True


def axes_of(configuration: Mapping[str, Any]) -> list[Axis]:
    """The four of a run with this configuration."""
    planar = configuration["planar"]["identification"]
    arm = configuration["arm"]["fit"]["accuracy"]
    tossing = configuration["tossing"]
    n_rates = len(planar["frames_per_second"])
    # seeds are shared out evenly, so that a job may have fewer than it could
    planar_jobs = math.ceil(planar["seeds"] / planar["seeds_per_job"])
    n_frictions = sum(len(reading["friction_mu"]) for reading in planar["noise"].values())
    n_points = 1
    for values in tossing["grid"].values():
        n_points *= round((values["stop"] - values["start"]) / values["step"]) + 1
    n_boxes = len(tossing["identify_on"])
    identified = planar["seeds"] / planar_jobs * n_rates
    samples = arm["samples"] * len(arm["experiments"])
    points = n_points * min(tossing["boxes_per_job"], n_boxes)
    every = "by every method"
    return [
        Axis(
            "planar_identify", "noisy throw", "planar.identification.seeds",
            identified, n_frictions * n_rates,
        ),
        Axis(
            "inhand_estimate", f"recording, {every}", "inhand.estimates.seeds",
            _RECORDINGS, _RECORDINGS,
        ),
        Axis(
            "arm_fit_samples", f"noise sample, {every}", "arm.fit.accuracy.samples",
            samples, len(arm["computed"]), False,
        ),
        Axis("tossing_identify_1", "grid point of a box", "tossing.grid", points, n_boxes, False),
    ]  # fmt: skip


def plan(results: Path, node_hours: Iterable[float], *, cores: int, minutes: float) -> pd.DataFrame:
    """One row per budget and axis.

    Parameters
    ----------
    results : a finished run's folder, with its ``benchmarks/`` and ``provenance.json``
    node_hours : budgets
    cores : of a node; every job uses one
    minutes : that a job should take
    """
    record = results / "provenance.json"
    if not record.is_file():
        raise ContactIdError(f"{record}: missing", "Finish the run first (make)")
    configuration = json.loads(record.read_text(encoding="utf-8"))["configuration"]
    benchmarks = read_benchmarks(results)
    rows = []
    for budget in node_hours:
        for axis in axes_of(configuration):
            jobs = benchmarks[benchmarks["rule"] == axis.rule]
            # a run of other studies has none
            if not len(jobs):
                continue
            per_job = axis.units_per_job
            seconds = jobs["seconds"].mean() / per_job
            spent = _spend(3600.0 * cores * budget, axis, seconds, minutes)
            rows.append(
                {
                    "node_hours": budget,
                    "raise": axis.key,
                    "unit": axis.unit,
                    "seconds_per_unit": seconds,
                    **spent,
                    "files": spent["jobs"] * _FILES_PER_JOB,
                    "scratch_GB": spent["units"] * jobs["written_mb"].mean() / per_job / 1e3,
                    "submitting_hours": spent["jobs"] / SUBMISSIONS_PER_SECOND / 3600.0,
                }
            )
    return pd.DataFrame(rows)


def _spend(core_seconds: float, axis: Axis, seconds: float, minutes: float) -> dict[str, float]:
    """Units, and the jobs and runs that they are cut into: longer jobs before more runs.

    What isn't split uses no more than its jobs can in the time that they may take.
    """
    if axis.splits:
        wanted = math.ceil(core_seconds / (60.0 * minutes))
        least = math.ceil(core_seconds / (60.0 * LONGEST_JOB))
        jobs = max(min(wanted, MOST_JOBS), least)
    else:
        jobs = axis.cells
        core_seconds = min(core_seconds, 60.0 * LONGEST_JOB * jobs)
    units = core_seconds / seconds
    samples = max(units / axis.cells, 1.0)
    return {
        "core_hours": core_seconds / 3600.0,
        "units": units,
        # of a standard deviation of so many normal samples
        "relative_error_pct": 100.0 / math.sqrt(2.0 * samples),
        "jobs": float(jobs),
        "job_minutes": core_seconds / 60.0 / jobs,
        "runs": float(math.ceil(jobs / MOST_JOBS)),
    }


@told_plainly()
def main(run: str, hours: list[float], cores: int, minutes: float) -> None:
    """Print the plan, one block per budget."""
    table = plan(Path(run), hours, cores=cores, minutes=minutes)
    for budget, rows in table.groupby("node_hours"):
        print(f"\n{budget:,.0f} node-hours of {cores} cores, jobs of {minutes:g} min:")
        shown = rows.drop(columns="node_hours").set_index("raise").T
        print(shown.to_string(float_format=lambda value: f"{value:,.3g}"))
    longest = f"{LONGEST_JOB / 60.0:g} hours"
    print(
        "\nA number whose jobs aren't split uses no more core_hours than its jobs can in "
        f"{longest}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", default="results/default", help="folder of a finished run")
    parser.add_argument(
        "--hours", type=float, nargs="+", default=[10.0, 1_000.0, 100_000.0], help="node-hours"
    )
    parser.add_argument("--cores", type=int, default=48, help="of a node")
    parser.add_argument("--minutes", type=float, default=10.0, help="that a job should take")
    main(**vars(parser.parse_args()))

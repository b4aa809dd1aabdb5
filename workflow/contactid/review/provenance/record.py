"""The whole record of a run: ``provenance.json``.

Every value is found without a network and in a fixed order; what can't be found out is null.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from contactid.review.provenance.code import describe_code
from contactid.review.provenance.data import describe_data
from contactid.review.provenance.machine import describe_machine
from contactid.review.provenance.seeds import seeds_of
from contactid.review.provenance.software import describe_solver, linear_algebra, other_environments, packages
from contactid.review.provenance.times import describe_jobs
from contactid.run.job_records import read_jobs
from contactid.sources.registry import Dataset

ROOT = Path(__file__).resolve().parents[4]
_LOCK, _STORE = ROOT / "config/datasets.lock.json", Path("data")
# the main process leaves its command line here for the jobs that it starts (workflow/rules/provenance.smk)
COMMAND = "CONTACTID_COMMAND"


def collect(config: Mapping[str, Any], datasets: Iterable[Dataset]) -> dict[str, Any]:
    """The record of the run that this working directory holds.

    Parameters
    ----------
    config
        The run's whole configuration.
    datasets
        Those that the run reads.
    """
    results = f"results/{config['run']}"
    found = packages()
    return {
        **describe_code(ROOT),
        "python": platform.python_version(),
        "packages": found,
        "environments": other_environments(ROOT),
        "snakemake": {"version": found.get("snakemake"), "arguments": os.environ.get(COMMAND)},
        "solver": describe_solver(),
        "linear_algebra": linear_algebra(),
        **describe_machine(),
        "jobs": describe_jobs(read_jobs(Path.cwd(), results)),
        "data": describe_data(datasets, lock=_LOCK, store=_STORE, results=results),
        "seeds": seeds_of(config),
        "configuration": config,
    }

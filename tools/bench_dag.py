"""What Snakemake takes to know what is to be done, by the number of jobs: ``python
tools/bench_dag.py``.

Dry runs of the planar study's table 1 with one noise sample per job, under the Slurm profile. CPU
seconds and not wall time are taken, so that other load on the machine matters little. Nothing is
computed and no result is written.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys

import pandas as pd

from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.tables import write_csv

_FRICTIONS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
_TABLE = "results/dag_size/planar/tables/tab01_inertia_ratio_error.csv"


def measure_start(jobs: int) -> dict[str, float]:
    """CPU seconds and peak MB of a dry run with about so many jobs."""
    identification = {
        "seeds": max(1, jobs // (len(_FRICTIONS) + 1)),
        "seeds_per_job": 1,
        "noise": {
            "one_mrad": {"position": 0.001, "orientation": 0.001, "friction_mu": _FRICTIONS},
            "markers": {"position": 0.001, "orientation": 0.028, "friction_mu": [0.7]},
        },
    }
    command = [
        sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm", "--dry-run", "--quiet", "all",
        "--config", "run=dag_size", 'studies=["planar"]', f"planar={json.dumps({'identification': identification})}",
        "--", _TABLE,
    ]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode:
        raise ContactIdError(
            f"the dry run of {jobs} jobs failed: {(ended.stdout + ended.stderr)[-300:]}"
        )
    return {
        "jobs": identification["seeds"] * (len(_FRICTIONS) + 1),  # type: ignore[operator]
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "memory_mb": after.ru_maxrss / 1024.0,  # of the largest child so far, so sizes must rise
    }


@told_plainly()
def main(sizes: list[int], output: str) -> None:
    """Measure rising sizes and write one table."""
    rows = []
    for size in sorted(sizes):
        rows.append(measure_start(size))
        print(", ".join(f"{name} {value:.4g}" for name, value in rows[-1].items()), flush=True)
        write_csv(pd.DataFrame(rows), output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", dest="sizes", type=int, nargs="+", default=[250, 2_500])
    parser.add_argument("--output", default="results/bench/dag.csv")
    main(**vars(parser.parse_args()))

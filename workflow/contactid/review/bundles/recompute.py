"""Recompute files of an unpacked bundle with the bundle's own code, from the intermediate files that lie in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.run.job_records import JobRecord


def recompute(folder: Path, run: str, paths: Sequence[str], jobs: Sequence[JobRecord]) -> None:
    """Remove what the jobs of these files wrote, and let Snakemake run exactly these jobs again.

    Rules of other jobs aren't even looked at, and times alone decide what is outdated; all files have the same time.

    Raises
    ------
    ContactIdError
        Where a job fails: with the line that the job printed.
    """
    for job in jobs:
        for output in job.outputs:
            path = folder / output
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    command = [
        *(sys.executable, "-m", "snakemake", "--cores", "all", "--quiet", "all", "--nolock"),
        *("--rerun-triggers", "mtime", "--configfile", f"results/{run}/crate/configuration.yaml"),
        *("--allowed-rules", *sorted({job.rule for job in jobs}), "--", *paths),
    ]
    environment = {**os.environ, "PYTHONPATH": str(folder / "workflow")}
    environment.pop("CONTACTID_COMMAND", None)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    missing = [path for path in paths if not (folder / path).is_file()]
    if done.returncode or missing:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        said = next((line for line in lines if line.startswith("ERROR ")), lines[-1] if lines else "no output")
        raise ContactIdError(
            f"recomputing failed: {said.removeprefix('ERROR ')}", "Is the environment of envs/requirements.lock active"
        )

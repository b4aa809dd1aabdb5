"""Store a result that takes too long for every run, with what it was made by: ``make store
NAME=planar_table1``.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError, told_plainly
from contactid.core.reading import read_yaml
from contactid.output.fits import write_json
from contactid.output.stored import RECORD, TABLE, read_stored
from contactid.output.tables import read_csv, write_csv
from contactid.review.arithmetic import describe_arithmetic
from contactid.review.provenance import (
    ROOT,
    describe_code,
    describe_machine,
    describe_solver,
    git,
    moment,
    packages,
)
from contactid.run.records import read_jobs
from contactid.sources.lockfile import digest

STORED = Path("workflow/resources/stored")
_COMPUTING = ("numpy", "scipy", "pandas", "numba", "llvmlite", "pyomo", "casadi", "pin")
_SOURCES = ("Snakefile", "config", "workflow", f":!{STORED.as_posix()}")


def gather(samples: Sequence[str], result: Mapping[str, Any], table: str, record: str) -> None:
    """Put a run's samples into one table, and write down what made them.

    ``samples`` are relative to where Snakemake was started; ``result`` is as
    :mod:`contactid.review.held` says. Of the record, ``seconds`` are the jobs' wall time.

    Raises :class:`ContactIdError` where there are no samples.
    """
    if not samples:
        raise ContactIdError(
            "this configuration makes no samples of it", "Name one that does by CONFIG="
        )
    write_csv(pd.concat([read_csv(file) for file in samples], ignore_index=True), table)
    # results/<run>/stored/<name>/<table>
    results = Path(table).parents[2].as_posix()
    jobs = [job for job in read_jobs(Path(), results) if set(job.outputs) & set(samples)]
    code, installed = describe_code(ROOT), packages()
    content = {
        **{key: result[key] for key in ("function", "code", "settings")},
        "git_commit": code["git_commit"],
        "git_dirty": code["git_dirty"],
        "inputs": {file: digest(Path(file)) for file in samples},
        "table_sha256": digest(Path(table)),
        "processor": describe_machine()["processor"],
        "arithmetic": describe_arithmetic(),
        "python": platform.python_version(),
        "packages": {name: installed[name] for name in _COMPUTING if name in installed},
        "solver": describe_solver(),
        "date": moment(max((job.end for job in jobs), default=time.time())),
        "seconds": round(sum(job.seconds for job in jobs), 1),
    }
    write_json(record, content)


def store(name: str, configuration: Sequence[str] = (), root: Path = ROOT) -> str:
    """Compute a result, unless its samples are there, and store it; the text says where.

    Its samples are those of the run of a configuration: of overlays, the last of which names the
    run, or else of ``config/full.yaml``.

    Raises :class:`ContactIdError` where what it would be made by isn't committed, or the run fails.
    """
    changed = git(root, "status", "--porcelain", "--", *_SOURCES)
    if changed is None:
        raise ContactIdError(
            f"{root} is no git checkout", "Store from one: what is stored names its commit"
        )
    if changed:
        # behind two letters and a blank
        file = changed.decode().splitlines()[0][3:]
        raise ContactIdError(
            f"{file} isn't committed", "Commit first: what is stored names the commit that made it"
        )
    overlays = list(configuration) or ["config/full.yaml"]
    run = read_yaml(root / overlays[-1])["run"]
    made = [f"results/{run}/stored/{name}/{part}" for part in (TABLE, RECORD)]
    # a result is called after its study
    study = f'studies=["{name.partition("_")[0]}"]'
    command = [sys.executable, "-m", "snakemake", "--configfile", *overlays, "--config", study]
    command += ["--forcerun", "gather_stored", "--"]
    if subprocess.run([*command, *made], cwd=root).returncode:
        raise ContactIdError(
            f"{name} couldn't be computed (see above)", "Mend the cause, then store again"
        )
    read_stored([str(root / file) for file in made])
    # one after the other: a table without its record is refused by its checksum
    for file in made:
        text = (root / file).read_text(encoding="utf-8")
        write_text(root / STORED / name / Path(file).name, text)
    return f"Stored: {(STORED / name).as_posix()}; commit it."


@told_plainly()
def main() -> None:
    """Read the command line and store the result that it names."""
    parser = argparse.ArgumentParser(prog="python -m contactid.review.stored", description=__doc__)
    parser.add_argument("name", help="of the result, for instance planar_table1")
    parser.add_argument(
        "configuration", nargs="*", help="overlays, the last of which names the run"
    )
    print(store(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()

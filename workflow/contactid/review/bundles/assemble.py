"""Put a finished run into one archive."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contactid.core.errors import ContactIdError
from contactid.output.fits import read_json
from contactid.review.bundles.contents import code_files, job_files, result_files
from contactid.review.bundles.manifest import NAME as MANIFEST
from contactid.review.bundles.manifest import write_manifest
from contactid.review.bundles.zip_file import write_zip
from contactid.review.crate.citation import read_citation
from contactid.review.crate.describe import FILE_NAME, Contents, describe
from contactid.review.provenance.code import describe_code

_README = """\
Run {run} of contactid: tables and figures of four papers on identifying bodies from impacts, re-derived from data.
results/{run}/summary.md says what was found; checks.csv holds every number against the printed one; report.html, where
there is one, shows all of it in a browser. The code that made it is here too (commit {commit}{dirty}),
and provenance.json names versions, machine, data and seeds. ro-crate-metadata.json describes all of it for machines.

To check that nothing was changed:   sha256sum --check --quiet {manifest}
To recompute a random sample:        make env && make verify     (Python 3.11 or newer; minutes)
The same without make:               pip install -r envs/requirements.lock
                                     PYTHONPATH=workflow python -m contactid.review.verify . --sample 5 --seed 1
Not in here, by licence or size: {left_out}
"""


def assemble(root: Path, run: str, *, force: bool = False) -> Path:
    """Write ``contactid-<run>-<commit>.zip`` into a checkout.

    Parameters
    ----------
    root
        The checkout that the run was made in.
    run
        Its name.
    force
        Take a run that is unfinished, or made with changes that aren't committed.

    Raises
    ------
    ContactIdError
        Where there is no such run, or it is unfinished or not committed.
    """
    results = f"results/{run}"
    remedy = f"Finish the run {run} first, or give FORCE=1"
    if not (root / results / FILE_NAME).is_file():
        raise ContactIdError(f"{results} has no {FILE_NAME}, so it is no finished run", f"Finish the run {run} first")
    record, crate = read_json(root / results / "provenance.json"), read_json(root / results / FILE_NAME)
    code = describe_code(root)
    if code["git_commit"] is None:
        raise ContactIdError(f"{root} is not a git checkout", "Run make bundle where the run was made")
    if not force:
        if code["git_dirty"]:
            raise ContactIdError("the checkout has changes that aren't committed", "Commit them, or give FORCE=1")
        if record["git_dirty"] or record["git_dirty"] is None:
            raise ContactIdError(
                f"{results} was recorded with changes that weren't committed",
                f"Delete {results}/provenance.json and run it again, or give FORCE=1",
            )
        if _left_to_do(root, f"{results}/crate/configuration.yaml"):
            raise ContactIdError(f"{results} is unfinished or older than the code", remedy)
    found, left_out = result_files(root, results, record)
    files: dict[str, Path | bytes] = {**code_files(root), **found, **job_files(root, found)}
    files["README.txt"] = _README.format(
        run=run,
        commit=code["git_commit"],
        dirty=", with changes" if code["git_dirty"] else "",
        manifest=MANIFEST,
        left_out=", ".join(left_out) or "nothing",
    ).encode()
    listed = [f"{results}/{name}" for name in _results_of(crate)]
    files[FILE_NAME] = _crate(root, run, files, listed, record)
    sums = {name: _sha256(content) for name, content in files.items()}
    files[MANIFEST] = write_manifest(sums).encode()
    path = root / f"contactid-{run}-{code['git_commit'][:8]}{'-dirty' if code['git_dirty'] else ''}.zip"
    write_zip(path, files)
    return path


def _left_to_do(root: Path, configuration: str) -> bool:
    """Whether Snakemake would still run a job."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "host", "--configfile", configuration]
    environment = {**os.environ, "PYTHONPATH": str(root / "workflow")}
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if run.returncode:
        last = [line for line in (run.stdout + run.stderr).splitlines() if line.strip()]
        raise ContactIdError(
            f"snakemake can't say what is left to do ({last[-1] if last else 'no output'})", "Run make"
        )
    return "Nothing to be done" not in run.stdout + run.stderr


def _results_of(crate: Mapping[str, Any]) -> list[str]:
    """Files that the run's own description lists as its results."""
    results: list[dict[str, str]] | dict[str, str] = next(
        entity.get("result", []) for entity in crate["@graph"] if entity["@type"] == "CreateAction"
    )
    return [entry["@id"] for entry in (results if isinstance(results, list) else [results])]


def _crate(
    root: Path, run: str, files: Mapping[str, Path | bytes], listed: list[str], record: Mapping[str, Any]
) -> bytes:
    folders = {
        "workflow": "Rules, scripts, the package, printed values and synthetic data",
        "config": "Default configuration and overlays",
        "envs": "Pinned environments",
        f"results/{run}": "Everything that the run made",
    }
    contents = Contents(
        root=root,
        workflow="Snakefile",
        configuration=f"results/{run}/crate/configuration.yaml",
        results=[name for name in listed if name in files],
        folders=folders,
    )
    described = describe(run, contents, record, read_citation(root / "CITATION.cff"))
    return (json.dumps(described, indent=2) + "\n").encode()


def _sha256(content: Path | bytes) -> str:
    return hashlib.sha256(content if isinstance(content, bytes) else content.read_bytes()).hexdigest()

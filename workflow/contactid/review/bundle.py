"""A finished run as one archive (``make bundle``).

In it are the run's results, the code, Snakemake's records of the jobs, and a list of all files with
their SHA-256 sums in the format of ``sha256sum``. Data that others published stay out unless their
licence lets anyone pass them on; what was left out is told. Equal files give an equal archive.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from contactid import __version__
from contactid.core.atomic import cannot_be_written, replacing
from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.fits import read_json
from contactid.review.contents import NAME, opened, write_manifest
from contactid.review.crate import FILE_NAME, describe, entries_of, read_citation
from contactid.review.looks import results_in, unrecorded
from contactid.review.provenance import describe_code, git
from contactid.run.records import FOLDER, path_of_record
from contactid.run.story import refuse_changed
from contactid.sources.lockfile import digest, visible_files

# the first moment that a zip file can name: equal files give an equal archive, whenever it is made
_MOMENT = (1980, 1, 1, 0, 0, 0)
# of a zip file's entry: made on Unix, so that its permissions count
_UNIX = 3
# SPDX names, in lower case, of licences under which changed data may be passed on under another one
_FREE_LICENCES = {"cc0-1.0", "cc-by-4.0", "bsd-2-clause", "bsd-3-clause", "mit", "apache-2.0"}
_CREATIVE_COMMONS = re.compile(
    r"creativecommons\.org/(?:licenses|publicdomain)/([a-z-]+)/([0-9.]+)"
)
_EVERY_DATASET = {"card.json", "card.svg", "card.png"}
_FOLDERS = {
    "workflow": "Rules, scripts, the package, printed values and synthetic data",
    "config": "Default configuration and overlays",
    "envs": "Pinned environments",
}
_README = """\
Run {run} of contactid: tables and figures of four papers on identifying bodies from impacts, re-derived from data.
results/{run}/summary.md says what was found; checks.csv holds every number against the printed one; report.html, where
there is one, shows all of it in a browser. The code that made it is here too (commit {commit}{dirty}),
and provenance.json names versions, machine, data and seeds. ro-crate-metadata.json describes all of it for machines.

To check that nothing was changed:   sha256sum --check --quiet {manifest}
To check more, or to recompute:      make verify BUNDLE=<this archive> RECOMPUTE=5
in a checkout of contactid that has that commit: what lies in here need not be run, and without RECOMPUTE nothing is.
Not in here, by licence or size: {left_out}
"""
_ROOT = Path(__file__).resolve().parents[3]


def write_zip(path: str | Path, files: Mapping[str, Path | bytes]) -> None:
    """Write contents, by their name in the archive: sorted, with fixed times and permissions."""
    with (
        replacing(path) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
    ):
        for name in sorted(files):
            source = files[name]
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.create_system = _UNIX
            entry.compress_type = zipfile.ZIP_DEFLATED
            # of a file's permissions that one alone, which doesn't depend on who made the archive
            is_executable = isinstance(source, Path) and os.access(source, os.X_OK)
            permissions = 0o755 if is_executable else 0o644
            # Unix's are in the upper half
            entry.external_attr = (stat.S_IFREG | permissions) << 16
            content = source.read_bytes() if isinstance(source, Path) else source
            archive.writestr(entry, content, compresslevel=9)


def code_files(root: Path) -> dict[str, Path]:
    """Everything that git knows or would ask about, by path."""
    listing = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard") or b""
    names = sorted(name.decode() for name in listing.split(b"\0") if name)
    # what is deleted and not committed has a name alone
    return {name: root / name for name in names if (root / name).is_file()}


def is_free(licence: str) -> bool:
    """Whether what is made from data under a licence may be in a bundle.

    The licence is an SPDX name (``CC-BY-4.0``), a 4TU server's name (``CC BY 4.0``, ``CC0``), or
    its text's address.
    """
    text = licence.strip().lower().rstrip("/")
    if address := _CREATIVE_COMMONS.search(text):
        terms, version = address.groups()
        text = f"cc0-{version}" if terms == "zero" else f"cc-{terms}-{version}"
    name = "-".join(text.rpartition("/")[2].split())
    # it has no other version
    if name == "cc0":
        name = "cc0-1.0"
    return name in _FREE_LICENCES


def result_files(
    root: Path, results: str, record: Mapping[str, Any]
) -> tuple[dict[str, Path], list[str]]:
    """Files of ``results/<run>`` by path, and the datasets of which no data are among them."""
    closed, as_given = set(), set()
    for entry in record["data"]:
        if not (entry["synthetic"] or is_free(entry["licence"])):
            closed.add(entry["name"])
        # files as they were published or given are told by name and checksum only
        if entry["kind"] not in ("embedded", "generated"):
            as_given.add(entry["name"])
    files = {}
    for path in visible_files(root / results):
        parts = path.relative_to(root / results).parts
        # data/<dataset>/raw/... and data/<dataset>/<what was made of it>
        if parts[0] == "data" and len(parts) > 2:
            dataset = parts[1]
            is_raw = dataset in as_given and parts[2] == "raw"
            is_closed = dataset in closed and parts[-1] not in _EVERY_DATASET
            if is_raw or is_closed:
                continue
        files[path.relative_to(root).as_posix()] = path
    return files, sorted(as_given | closed)


def job_files(root: Path, results: Mapping[str, Path]) -> dict[str, Path]:
    """Snakemake's records of the jobs that made these files or their folders."""
    names = set(results)
    for name in results:
        names.update(map(str, Path(name).parents))
    paths = [FOLDER / path_of_record(name) for name in sorted(names)]
    return {path.as_posix(): root / path for path in paths if (root / path).is_file()}


def assemble(root: Path, run: str, *, force: bool = False, into: Path | None = None) -> Path:
    """Write ``contactid-<run>-<commit>.zip``.

    Parameters
    ----------
    root : the checkout that the run was made in
    run : its name
    force : take a run that is unfinished, or made with changes that aren't committed
    into : a folder; the checkout by default

    Raises
    ------
    ContactIdError : where there is no such run, or it is unfinished, changed since, or not
        committed
    """
    results = f"results/{run}"
    if not (root / results / FILE_NAME).is_file():
        raise ContactIdError(
            f"{results} has no {FILE_NAME}, so it is no finished run", f"Finish the run {run} first"
        )
    refuse_changed(root / results)
    record = read_json(root / results / "provenance.json")
    code = describe_code(root)
    if code["git_commit"] is None:
        raise ContactIdError(
            f"{root} is not a git checkout", "Run make bundle where the run was made"
        )
    if not force:
        _require_committed_and_finished(root, run, code, record)
    own_files, left_out = result_files(root, results, record)
    jobs = job_files(root, own_files)
    files: dict[str, Path | bytes] = {**code_files(root), **own_files, **jobs}
    files["README.txt"] = _README.format(
        run=run,
        commit=code["git_commit"],
        dirty=", with changes" if code["git_dirty"] else "",
        manifest=NAME,
        left_out=", ".join(left_out) or "nothing",
    ).encode()
    # those that the run's own description lists
    results_of_run = _results_of(read_json(root / results / FILE_NAME))
    listed = [f"{results}/{name}" for name in results_of_run]
    described = describe(
        root,
        {**record, "git_commit": code["git_commit"]},
        read_citation(root / "CITATION.cff"),
        workflow="Snakefile",
        configuration=f"{results}/crate/configuration.yaml",
        results=[name for name in listed if name in files],
        folders={**_FOLDERS, results: "Everything that the run made"},
    )
    files[FILE_NAME] = (json.dumps(described, indent=2) + "\n").encode()
    # last, over all the others
    sums = {name: _checksum(content) for name, content in files.items()}
    files[NAME] = write_manifest(sums).encode()
    dirty = "-dirty" if code["git_dirty"] else ""
    path = (into or root) / f"contactid-{run}-{code['git_commit'][:8]}{dirty}.zip"
    write_zip(path, files)
    return path


def release(root: Path, runs: Sequence[str] = ("default", "public")) -> Path:
    """Reports and bundles of finished runs in one folder, for the page of this version's tag.

    ``SHA256SUMS`` has their sums as ``sha256sum`` writes them. The first run must be finished, as
    :func:`assemble` has it; others that aren't are left out. An earlier folder is replaced.
    """
    folder = root / "release" / f"contactid-{__version__}"
    finished = [run for run in runs[1:] if (root / "results" / run / FILE_NAME).is_file()]
    try:
        folder.parent.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as made:
            partial = Path(made) / folder.name
            partial.mkdir()
            for run in (runs[0], *finished):
                assemble(root, run, into=partial)
                report = root / "results" / run / "report.html"
                shutil.copyfile(report, partial / f"{run}-report.html")
            sums = {file.name: digest(file) for file in partial.iterdir()}
            (partial / "SHA256SUMS").write_text(write_manifest(sums), encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            partial.rename(folder)
    except OSError as error:
        raise cannot_be_written(folder, error.errno) from error
    return folder


def _require_committed_and_finished(
    root: Path, run: str, code: Mapping[str, Any], record: Mapping[str, Any]
) -> None:
    """Refuse a run that no commit is known to make as it is."""
    results = f"results/{run}"
    if code["git_dirty"]:
        raise ContactIdError(
            "the checkout has changes that aren't committed", "Commit them, or give FORCE=1"
        )
    if record["git_dirty"] or record["git_dirty"] is None:
        raise ContactIdError(
            f"{results} was recorded with changes that weren't committed",
            f"Delete {results}/provenance.json and run it again, or give FORCE=1",
        )
    if _is_unfinished(root, f"{results}/crate/configuration.yaml"):
        raise ContactIdError(
            f"{results} is unfinished or older than the code",
            f"Finish the run {run} first, or give FORCE=1",
        )


def _checksum(content: Path | bytes) -> str:
    """The SHA-256 of a file, or of what is written into the archive."""
    return digest(content) if isinstance(content, Path) else hashlib.sha256(content).hexdigest()


def _is_unfinished(root: Path, configuration: str) -> bool:
    """Whether Snakemake would still run a job."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "host"]
    command += ["--configfile", configuration]
    environment = {**os.environ, "PYTHONPATH": str(root / "workflow")}
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    printed = run.stdout + run.stderr
    if run.returncode:
        lines = [line for line in printed.splitlines() if line.strip()]
        last = lines[-1] if lines else "no output"
        raise ContactIdError(f"snakemake can't say what is left to do ({last})", "Run make")
    # a dry run says no more by its status
    return "Nothing to be done" not in printed


def _results_of(crate: Mapping[str, Any]) -> list[str]:
    """Files that the run's own description lists as its results."""
    action = next(entity for entity in crate["@graph"] if entity["@type"] == "CreateAction")
    return [entry["@id"] for entry in entries_of(action.get("result", []))]


@told_plainly()
def main(arguments: list[str] | None = None) -> None:
    """Write the archive and say where."""
    parser = argparse.ArgumentParser(prog="contactid.review.bundle", description=__doc__)
    parser.add_argument(
        "--run", default="default", help="name of the run (its folder below results)"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="take an unfinished run, or one with uncommitted changes",
    )
    parser.add_argument(
        "--release", action="store_true", help="of all finished runs, with their reports"
    )
    chosen = parser.parse_args(arguments)
    if chosen.release:
        folder = release(_ROOT)
        names = ", ".join(sorted(file.name for file in folder.iterdir()))
        print(f"{folder}: {names}. Put them beside the tag v{__version__} of this commit.")
        return
    path = assemble(_ROOT, chosen.run, force=chosen.force)
    megabytes = path.stat().st_size / 1e6
    print(f"{path.name}: {megabytes:.1f} MB. To check it: make verify BUNDLE={path.name}")
    with opened(path) as bundle:
        without = unrecorded(bundle.sizes, results_in(bundle, f"results/{chosen.run}"))
    if without:
        print(
            f"WARNING {len(without)} results have no record of the job that made them, so nobody can make them again "
            "from this bundle. The records are in .snakemake: bundle the run where it was made, or make it again.",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()

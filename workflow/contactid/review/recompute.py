"""Recompute a sample of a bundle's numbers by one's own checkout, in a sandbox, and compare.

Of a bundle come the results, Snakemake's records of the jobs and the configuration, and all of them
are data: the code is that of the reviewer's own commit, and which files are made again is a choice
among the bundle's own, by name.

What people look at is always made again from the bundle's data: the report, every figure and every
typeset table.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from contactid.core.errors import ContactIdError
from contactid.review.contents import AGAIN, BEWARE, MOST_READ, Contents, is_below, unpack
from contactid.review.provenance import git
from contactid.review.sandbox import sandboxed, why_not
from contactid.run.records import FOLDER, JobRecord, read_jobs

# what a sample is drawn from; everything that its jobs wrote is compared
NUMERIC = {".csv", ".json", ".nc"}
# rules that compute nothing: they draw figures and put tables under their captions
_SHOWING = re.compile(r"\w+_(draw_\d+|typeset)")
#: Variables by which a user says what the libraries may choose.
ARITHMETIC = (
    "OPENBLAS_CORETYPE",
    "NPY_DISABLE_CPU_FEATURES",
    "NUMBA_CPU_NAME",
    "NUMBA_CPU_FEATURES",
)
# what says when and where a run was made can't come out the same
_OF_THE_RUN = {"provenance", "crate", "report"}
# what belongs to no single study: data, and the verdicts of all of them
_SHARED = "all studies"
# what reading JSON raises that somebody may have tampered with
_DAMAGE = (
    *(ValueError, TypeError, KeyError, AttributeError, OSError, OverflowError),
    RecursionError,
)
# one time for all files: none is newer than another, so none looks outdated
_SECONDS = 1_000_000_000


@dataclass(frozen=True)
class Candidates:
    """Files that can be recomputed, by study, with their jobs, and why the others can't.

    Attributes
    ----------
    by_study : paths, sorted
    maker : the job that wrote a file
    left_out : how many files, by reason
    """

    by_study: Mapping[str, Sequence[str]]
    maker: Mapping[str, JobRecord]
    left_out: Mapping[str, int] = field(default_factory=dict)


def candidates(folder: Path, results: str, jobs: Sequence[JobRecord], longest: float) -> Candidates:
    """Everything numeric whose job took at most ``longest`` s and whose inputs are there."""
    job_of: dict[str, JobRecord] = {}
    for job in jobs:
        job_of |= dict.fromkeys(job.outputs, job)
    by_study: dict[str, list[str]] = {}
    maker: dict[str, JobRecord] = {}
    left_out: Counter[str] = Counter()
    for file in sorted((folder / results).rglob("*")):
        is_numeric = file.suffix in NUMERIC and file.name != "ro-crate-metadata.json"
        if not (is_numeric and file.is_file()):
            continue
        path = file.relative_to(folder).as_posix()
        # a job's output may be the folder that the file is in
        outputs = (path, *map(str, Path(path).parents))
        makers = [job_of[output] for output in outputs if output in job_of]
        reason = "without a record of the job that made it"
        if makers:
            reason = _reason(folder, makers[0], longest)
        if reason:
            left_out[reason] += 1
            continue
        top = PurePosixPath(path).relative_to(results).parts[0]
        is_study = (folder / results / top / "tables").is_dir()
        by_study.setdefault(top if is_study else _SHARED, []).append(path)
        maker[path] = makers[0]
    return Candidates(by_study, maker, dict(sorted(left_out.items())))


def showing(folder: Path, jobs: Sequence[JobRecord]) -> list[JobRecord]:
    """The jobs that drew figures and typeset tables, whose data are there."""
    drawing = [job for job in jobs if _SHOWING.fullmatch(job.rule)]
    return [job for job in drawing if not _reason(folder, job, float("inf"))]


def _reason(folder: Path, job: JobRecord, longest: float) -> str:
    """Why a job can't run again; empty where it can."""
    if job.rule in _OF_THE_RUN:
        return "about the run itself"
    if not all(is_below(name) and (folder / name).exists() for name in job.inputs):
        return "made from data that the bundle hasn't"
    if job.seconds > longest:
        return f"by a job of more than {longest:g} s ({job.rule})"
    return ""


def draw(choices: Candidates, number: int, seed: int) -> list[str]:
    """So many files, no two of one job as long as there are others; the same for the same seed."""
    source = random.Random(seed)
    waiting = {study: list(paths) for study, paths in choices.by_study.items()}
    for study in sorted(waiting):
        source.shuffle(waiting[study])
    studies = sorted(waiting)
    source.shuffle(studies)
    chosen: list[str] = []
    second_choice: list[str] = []
    used: set[JobRecord] = set()
    # one of each study in turn: a study with thousands of files would otherwise be all of a sample
    while len(chosen) < number and any(waiting.values()):
        for study in studies:
            while waiting[study] and len(chosen) < number:
                path = waiting[study].pop()
                # another file of its job is in the sample, so this one is compared in any case
                if choices.maker[path] in used:
                    second_choice.append(path)
                    continue
                used.add(choices.maker[path])
                chosen.append(path)
                break
    return sorted([*chosen, *second_choice[: number - len(chosen)]])


def lay_out(bundle: Contents, run: str, root: Path, commit: str, folder: Path) -> None:
    """The code of one's own commit, with a bundle's results and records of jobs, all of one time.

    Raises :class:`ContactIdError` where that fails.
    """
    code = git(root, "archive", "--format=zip", commit)
    if code is None:
        raise ContactIdError(
            f"git can't give the files of {commit}", "Check the checkout with git fsck"
        )
    with zipfile.ZipFile(io.BytesIO(code)) as archive:
        archive.extractall(folder)
    wanted = (f"results/{run}/", f"{FOLDER.as_posix()}/")
    unpack(bundle, folder, lambda name: name.startswith(wanted))
    for path in folder.rglob("*"):
        os.utime(path, (_SECONDS, _SECONDS))


def records(folder: Path, results: str, names: Mapping[str, Any]) -> list[JobRecord]:
    """The records of the jobs that made the bundle's files.

    Raises :class:`ContactIdError` where one is damaged, or names as its output what isn't among the
    bundle's files.
    """
    folders = {parent.as_posix() for name in names for parent in PurePosixPath(name).parents}
    allowed = {*names, *folders}
    try:
        jobs = read_jobs(folder, results)
        suspect = [job.rule for job in jobs if not _is_plain(job)]
    except _DAMAGE as error:
        problem = f"Snakemake's records of the jobs are damaged ({error})"
        raise ContactIdError(problem, AGAIN) from None
    suspect += [output for job in jobs for output in job.outputs if output not in allowed]
    if suspect:
        raise ContactIdError(
            f"a record of a job names {suspect[0]}, which can't have been made by this run", BEWARE
        )
    return jobs


def _is_plain(job: JobRecord) -> bool:
    """Whether a record's rule and inputs are what Snakemake writes."""
    return job.rule.isidentifier() and all(isinstance(name, str) for name in job.inputs)


def take_away(
    folder: Path, names: Mapping[str, Any], jobs: Sequence[JobRecord]
) -> dict[str, bytes]:
    """Remove what these jobs wrote, where :func:`lay_out` put it; its contents before, by name."""
    outputs = {output for job in jobs for output in job.outputs}
    before = {}
    for name in names:
        path = folder / name
        within = (parent.as_posix() for parent in PurePosixPath(name).parents)
        if name not in outputs and outputs.isdisjoint(within):
            continue
        # nothing that a run writes and that is compared is larger
        if names[name] <= MOST_READ:
            before[name] = path.read_bytes()
        path.unlink()
        # an output that is a folder would be there still
        for parent in path.parents:
            if any(parent.iterdir()):
                break
            parent.rmdir()
    return before


@dataclass(frozen=True)
class Place:
    """Where jobs run again.

    Attributes
    ----------
    folder : the only one that is written to in the sandbox; home, temporary files and bytecode lie
        there
    settings : the run's configuration, as a file
    sandbox : words before a command, none without a sandbox
    environment : all variables of the jobs, but those of the arithmetic
        (:mod:`contactid.review.keep`)
    """

    folder: Path
    settings: Path
    sandbox: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def code(self) -> Path:
        """The checkout of the commit, with the results."""
        return self.folder / "code"


def prepare(folder: Path, configuration: Mapping[str, Any], sandbox: bool) -> Place:
    """A place in an empty folder, for a run's configuration.

    Raises :class:`ContactIdError` where no sandbox starts though it is asked for.
    """
    inside = {name: folder / name for name in ("home", "temporary", "bytecode", "compiled")}
    for folder_made in inside.values():
        folder_made.mkdir()
    # not the bundle's yaml, whose aliases could grow without end
    settings = folder / "configuration.json"
    settings.write_text(json.dumps(configuration), encoding="utf-8")
    reason = why_not(folder) if sandbox else ""
    if reason:
        raise ContactIdError(
            f"no sandbox starts here ({reason})",
            "Give UNSANDBOXED=1 to recompute without one, which trusts the bundle's configuration",
        )
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(folder / "code/workflow"),
        "HOME": str(inside["home"]),
        "TMPDIR": str(inside["temporary"]),
        "PYTHONPYCACHEPREFIX": str(inside["bytecode"]),
        "NUMBA_CACHE_DIR": str(inside["compiled"]),
        **{name: os.environ[name] for name in ARITHMETIC if name in os.environ},
    }
    return Place(folder, settings, tuple(sandboxed(folder)) if sandbox else (), environment)


def make_report(place: Place, run: str, variables: Mapping[str, str]) -> bytes:
    """The run's report, set again from what :func:`lay_out` put there; then the logs are removed.

    What logs say of the results would end the next run of Snakemake before a changed result is
    found.
    """
    name = f"results/{run}/report.html"
    # forced, which doesn't ask the logs either
    _snakemake(place, [name], ["report"], variables, "--forceall")
    shutil.rmtree(place.code / f"results/{run}/logs")
    return (place.code / name).read_bytes()


def recompute(
    place: Place, paths: Sequence[str], jobs: Sequence[JobRecord], variables: Mapping[str, str]
) -> None:
    """Let Snakemake run exactly these jobs again, whose outputs were taken away.

    Rules of other jobs aren't even looked at, and times alone decide what is outdated; all files
    have the same time.

    Parameters
    ----------
    paths : of the jobs' outputs, those that are asked for
    variables : of the environment, for the arithmetic
    """
    _snakemake(place, paths, sorted({job.rule for job in jobs}), variables)


def _snakemake(
    place: Place,
    paths: Sequence[str],
    rules: Sequence[str],
    variables: Mapping[str, str],
    *options: str,
) -> None:
    """Make files by some rules.

    Raises :class:`ContactIdError` where a job fails: with the line that it printed.
    """
    command = [
        *place.sandbox,
        *(sys.executable, "-m", "snakemake", "--cores", "all", "--quiet", "all", "--nolock"),
        *options,
        *("--rerun-triggers", "mtime", "--configfile", str(place.settings)),
        *("--allowed-rules", *rules, "--", *paths),
    ]
    done = subprocess.run(
        command,
        cwd=place.code,
        env={**place.environment, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    missing = [path for path in paths if not (place.code / path).is_file()]
    if done.returncode or missing:
        printed = (done.stdout + done.stderr).splitlines()
        lines = [line.strip() for line in printed if line.strip()]
        last = lines[-1] if lines else "no output"
        # our own jobs' word before Snakemake's, which comes after it
        reason = next((line for line in lines if line.startswith("ERROR ")), last)
        raise ContactIdError(
            f"recomputing failed: {reason.removeprefix('ERROR ')}",
            "Is the environment of envs/requirements.lock active",
        )

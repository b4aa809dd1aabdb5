"""What a run was made with, as ``provenance.json``.

Code, software, machine, jobs, data, seeds, configuration: every value is found without a network
and in a fixed order; what can't be found out is null.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.errors import ContactIdError
from contactid.core.solve import SolverOptions, solve
from contactid.output.fits import write_json
from contactid.review.arithmetic import describe_arithmetic
from contactid.run.job import LOCK
from contactid.run.records import JobRecord, read_jobs
from contactid.sources.lockfile import LockedArchive, digest, listing, read_lock
from contactid.sources.registry import FOURTU, GENERATED, Dataset
from contactid.sources.store import Store

# rules whose jobs come after this record: a run's first making and its repetition would differ
_LATER = ("provenance", "report", "crate")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ROOT = Path(__file__).resolve().parents[3]
# the main process leaves its command line here for the jobs that it starts
# (workflow/rules/review.smk)
COMMAND = "CONTACTID_COMMAND"
_SEED = re.compile(r"(^|[._])seeds?$")


def describe_code(root: str | Path) -> dict[str, Any]:
    """Commit, whether anything differs from it, and a checksum of what does; null outside a
    checkout of its own.
    """
    root = Path(root).resolve()
    top = git(root, "rev-parse", "--show-toplevel")
    commit = status = None
    # an unpacked archive may lie inside somebody else's checkout, whose commit says nothing
    if top is not None and Path(top.decode().strip()).resolve() == root:
        commit = git(root, "rev-parse", "HEAD")
        status = git(root, "status", "--porcelain", "-z", "--untracked-files=all")
    return {
        "git_commit": commit.decode().strip() if commit else None,
        "git_dirty": None if status is None else bool(status),
        "git_diff_sha256": _digest(root) if status else None,
    }


def _digest(root: Path) -> str:
    """Of the difference to the commit, and of name and content of every file that git doesn't know."""
    checksum = hashlib.sha256(git(root, "diff", "HEAD", "--binary") or b"")
    listing = git(root, "ls-files", "-z", "--others", "--exclude-standard") or b""
    for name in sorted(part for part in listing.split(b"\0") if part):
        path = root / name.decode()
        content = path.read_bytes() if path.is_file() else b""
        checksum.update(name + b"\0" + hashlib.sha256(content).digest())
    return checksum.hexdigest()


def git(root: Path, *arguments: str) -> bytes | None:
    """What git prints of a folder; None where it fails."""
    try:
        return subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def packages(path: str | Path | None = None) -> dict[str, str]:
    """Versions of all packages that can be imported, or of those in a folder, by name."""
    installed = metadata.distributions()
    if path is not None:
        installed = metadata.distributions(path=[str(path)])
    versions: dict[str, str] = {}
    for distribution in installed:
        name = distribution.metadata["Name"]
        # the first on the path is the one that is imported
        if name:
            versions.setdefault(name.lower().replace("_", "-"), distribution.version)
    return dict(sorted(versions.items()))


def other_environments(root: str | Path) -> dict[str, dict[str, str]]:
    """Packages of the simulators' environments beside the main one (``.venv-<name>``)."""
    environments = {}
    for folder in sorted(Path(root).glob(".venv-*")):
        sites = sorted(folder.glob("lib/python*/site-packages"))
        if sites:
            environments[folder.name.removeprefix(".venv-")] = packages(sites[0])
    return environments


def describe_solver() -> dict[str, Any] | None:
    """Route, name with version and default options of the solver, as a solve tells them."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=1.0)
    model.objective = pyo.Objective(expr=model.x**2)
    options = SolverOptions()
    try:
        solution = solve(model, options)
    except ContactIdError:
        return None
    return {
        "name": solution.solver,
        "route": solution.route,
        "default_options": options.for_ipopt(),
    }


def linear_algebra() -> dict[str, Any]:
    """The BLAS and LAPACK that numpy was built with."""
    built: Any = np.show_config(mode="dicts") or {}
    dependencies = built.get("Build Dependencies", {})
    described = {}
    for library in ("blas", "lapack"):
        about = dependencies.get(library, {})
        keys = ("name", "version", "openblas configuration")
        described[library] = {key: about.get(key) for key in keys}
    return described


def compare_locks(lock: str | Path, jobs: Iterable[JobRecord]) -> dict[str, Any]:
    """The environment's lock file, and whose results were made by another one, by their logs.

    What is made from this record is left out: it is made again where the lock file has changed.
    """
    now = digest(Path(lock))
    others: Counter[str] = Counter()
    unknown = 0
    for job in jobs:
        if job.rule in _LATER:
            continue
        checksum = _lock_of(job)
        if checksum is None:
            unknown += 1
        elif checksum != now:
            others[job.rule] += 1
    return {
        "file": str(lock),
        "sha256": now,
        "jobs_made_with_another": dict(sorted(others.items())),
        "jobs_not_known": unknown,
    }


def _lock_of(job: JobRecord) -> str | None:
    """The checksum in the first line of a job's log; None where it isn't there."""
    try:
        with Path(job.log or "").open(encoding="utf-8", errors="replace") as log:
            first = log.readline()
    except OSError:
        return None
    return first.removeprefix(LOCK).strip() if first.startswith(LOCK) else None


def describe_machine() -> dict[str, Any]:
    """Operating system, processor, cores, memory (bytes), and how many threads a job may start."""
    libc, version = platform.libc_ver()
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "platform": platform.platform(),
        "libc": f"{libc} {version}".strip() or None,
        "processor": _processor(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_bytes": _memory(),
        "threads": {name: os.environ.get(name) for name in _THREADS},
    }


def _processor() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or None
    for line in lines:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def describe_jobs(jobs: Sequence[JobRecord]) -> dict[str, Any]:
    """How many jobs are finished, first begin, last end (ISO 8601, UTC), and their wall times (s).

    A run that was continued, or whose outputs are older, begins with the oldest job that it still
    relies on.
    """
    # records can be dropped without harm to the results
    if not jobs:
        return dict.fromkeys(("finished", "begin", "end", "seconds"))
    return {
        "finished": len(jobs),
        "begin": moment(min(job.begin for job in jobs)),
        "end": moment(max(job.end for job in jobs)),
        "seconds": round(sum(job.seconds for job in jobs), 1),
    }


def moment(seconds: float) -> str:
    """A time (s since the epoch) as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def seeds_of(value: Any, path: str = "") -> dict[str, Any]:
    """Values of all keys that end with ``seed`` or ``seeds``, by path as ``tossing.split.seed``."""
    if isinstance(value, list):
        inner = {f"{path}[{number}]": entry for number, entry in enumerate(value)}
    elif isinstance(value, Mapping):
        inner = {f"{path}.{key}" if path else str(key): entry for key, entry in value.items()}
    else:
        return {}
    seeds: dict[str, Any] = {}
    for here, entry in inner.items():
        if _SEED.search(here) and not isinstance(entry, Mapping):
            seeds[here] = entry
        else:
            seeds |= seeds_of(entry, here)
    return seeds


def describe_data(
    datasets: Iterable[Dataset], *, lock: str | Path, store: str | Path, results: str | Path
) -> list[dict[str, Any]]:
    """An entry for each dataset, by name.

    ``lock`` is the data's lock file, ``store`` the folder of all downloads, and simulated
    recordings are in the run's folder ``results``.
    """
    archives = read_lock(lock)
    described = []
    for dataset in sorted(datasets, key=lambda entry: entry.name):
        archive = archives.get(dataset.archive) if dataset.downloaded else None
        # the lock file says which version a dataset without one is
        origin = archive or dataset
        if archive is not None:
            files = _downloaded(archive, Store(Path(store)))
        else:
            folder = Path(dataset.source)
            if dataset.kind == GENERATED:
                folder = Path(results, "data", dataset.name, "raw")
            files = listing(folder) if folder.exists() else []
        described.append(
            {
                "name": dataset.name,
                "study": dataset.study or None,
                "kind": dataset.kind,
                "synthetic": dataset.synthetic,
                "source": origin.source or None,
                "doi": origin.source if dataset.kind == FOURTU else None,
                "version": origin.version or None,
                "licence": dataset.licence,
                "citation": dataset.citation or None,
                "files": files,
            }
        )
    return described


def _downloaded(archive: LockedArchive, store: Store) -> list[dict[str, Any]]:
    """As the lock file has them; a checksum that it hasn't is taken from the stored file."""
    downloads = []
    for file in sorted(archive.wanted, key=lambda entry: entry.name):
        path = store.folder(archive) / file.name
        checksum = file.sha256 or (digest(path) if path.is_file() else None)
        downloads.append({"name": file.name, "size": file.size, "sha256": checksum})
    return downloads


def write_provenance(
    checks: str,
    data_lock: str,
    environment_lock: str,
    config: Mapping[str, Any],
    entries: Iterable[Mapping[str, Any]],
    store: str,
    record: str,
) -> None:
    """Record what a run was made with.

    Parameters
    ----------
    checks : the run's ``checks.csv``, relative to where Snakemake was started; its folder is the
        run's
    data_lock, environment_lock : ``datasets.lock.json``, and the lock file of the environment
    config : the run's whole configuration
    entries : the datasets that the run reads, as the registry has them
    store : the folder of all downloads
    """
    results = Path(checks).parent
    installed = packages()
    jobs = read_jobs(Path(), results.as_posix())
    content = {
        **describe_code(ROOT),
        "python": platform.python_version(),
        "packages": installed,
        "environments": other_environments(ROOT),
        "environment_lock": compare_locks(environment_lock, jobs),
        "snakemake": {"version": installed.get("snakemake"), "arguments": os.environ.get(COMMAND)},
        "solver": describe_solver(),
        "linear_algebra": linear_algebra(),
        "arithmetic": describe_arithmetic(),
        **describe_machine(),
        "jobs": describe_jobs(jobs),
        "data": describe_data(
            [Dataset(**entry) for entry in entries], lock=data_lock, store=store, results=results
        ),
        "seeds": seeds_of(config),
        "configuration": config,
    }
    write_json(record, content)

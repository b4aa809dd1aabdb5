"""Recompute a sample of a bundle's numbers by a checkout of one's own, in a sandbox, and compare them.

Of a bundle come the results, Snakemake's records of the jobs and the configuration, and all of them are data: the code
is that of the reviewer's own commit, and which files are made again is a choice among the bundle's own, by name.

Two numbers a and b are ``|a - b| / max(|a|, |b|, 1e-12 m)`` apart, where m is the largest magnitude among the
published numbers beside them (of a csv's column, a JSON file's key, a netCDF variable): residuals of rounding count by
what they are small against. Wall times differ in every run and aren't compared; they are known by name.
"""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import h5py
import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.review.contents import AGAIN, BEWARE, MOST_READ, Contents, is_below, unpack
from contactid.review.provenance import git
from contactid.review.same_results import TIMES
from contactid.review.sandbox import sandboxed, why_not
from contactid.run.records import FOLDER, JobRecord, read_jobs

COMPARED = {".csv", ".json", ".nc"}
# what is said of a file that was made again
IDENTICAL, AGREES, DIFFERS = "identical", "agrees", "differs"
_FLOOR = 1e-12
_PIECE = 1 << 16
# what says when and where a run was made can't come out the same
_OF_THE_RUN = {"provenance", "crate", "report"}
# what belongs to no single study: data, and the verdicts of all of them
_SHARED = "all studies"
# one time for all files: none is newer than another, so none looks outdated
_SECONDS = 1_000_000_000


@dataclass(frozen=True)
class Difference:
    """What came of comparing one file.

    Attributes
    ----------
    numbers : how many were compared
    largest : largest relative difference; infinite where something else than a number differs
    where : of that difference
    identical : the files agree byte by byte
    """

    numbers: int
    largest: float
    where: str = ""
    identical: bool = False

    def verdict(self, tolerance: float) -> str:
        """``identical``, ``agrees`` (within the tolerance) or ``differs``."""
        return IDENTICAL if self.identical else AGREES if self.largest <= tolerance else DIFFERS


def compare(name: str, published: bytes, again: bytes) -> Difference:
    """Compare two versions of a csv, JSON or netCDF file of that name."""
    suffix = name[name.rfind(".") :]
    if len(published) > 4 * len(again) + _PIECE:
        return Difference(0, np.inf, f"{len(published)} bytes became {len(again)}")
    try:
        old, new = dict(_parts(suffix, published)), dict(_parts(suffix, again))
    except (ValueError, OSError, KeyError, RuntimeError, TypeError) as error:
        return Difference(0, np.inf, f"not readable ({error})")
    if list(old) != list(new):
        return Difference(0, np.inf, f"other columns: {', '.join(sorted(set(old) ^ set(new))) or 'in another order'}")
    found = [_apart(key, old[key], new[key]) for key in old if not is_timed(key)]
    worst = max(found, key=lambda part: part.largest, default=Difference(0, 0.0))
    numbers = sum(part.numbers for part in found)
    return Difference(numbers, worst.largest, worst.where, published == again)


def is_timed(key: str) -> bool:
    """Whether a column, a key or a variable holds a wall time."""
    return any(part in TIMES for part in key.split("."))


def _parts(suffix: str, content: bytes) -> Iterator[tuple[str, np.ndarray]]:
    if suffix == ".csv":
        # as text first: what isn't a number has to be the same letter by letter
        table = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
        for column in table.columns:
            yield str(column), table[column].to_numpy(dtype=object)
    elif suffix == ".json":
        found: dict[str, list[Any]] = {}
        for key, value in _leaves(json.loads(content), ""):
            found.setdefault(key, []).append(value)
        for key, values in found.items():
            yield key, np.array(values, dtype=object)
    else:
        _refuse_links(content)
        with xr.open_dataset(io.BytesIO(content), engine="h5netcdf", decode_times=False) as data:
            for name, variable in data.variables.items():
                yield str(name), np.asarray(variable.to_numpy())


def _refuse_links(content: bytes) -> None:
    """A published netCDF file may neither lead to other files nor claim more numbers than one that is written whole."""

    def visit(_: object, found: object) -> None:
        if isinstance(found, h5py.Dataset):
            if found.is_virtual or found.external:
                raise ValueError("data outside the file")
            if found.size and found.size * found.dtype.itemsize > MOST_READ:
                raise ValueError("more data than fits")

    with h5py.File(io.BytesIO(content)) as file:
        if any(not isinstance(file.get(name, getlink=True), h5py.HardLink) for name in file):
            raise ValueError("links to other data")
        file.visititems(visit)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key in value:
            yield from _leaves(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, path)
    else:
        yield path, value


def _apart(key: str, old: np.ndarray, new: np.ndarray) -> Difference:
    if old.shape != new.shape:
        return Difference(0, np.inf, f"{key}: {old.shape} became {new.shape}")
    a, b = _numbers(old), _numbers(new)
    other = np.isnan(a) | np.isnan(b)  # words, empty cells, NaN: equal or not
    unequal = other & (old.astype(str) != new.astype(str))
    if unequal.any():
        return Difference(0, np.inf, f"{key}: {old[unequal][0]!s} became {new[unequal][0]!s}")
    equal = other | (a == b)
    with np.errstate(invalid="ignore"):
        finite = np.abs(a[np.isfinite(a)])
        scale = np.maximum(np.maximum(np.abs(a), np.abs(b)), _FLOOR * (finite.max() if finite.size else 0.0))
        apart = np.where(equal, 0.0, np.abs(a - b) / np.where(equal, 1.0, scale))
    apart = np.where(np.isnan(apart), np.inf, apart)  # one of two infinities
    counted = int((~other).sum())
    if not counted:
        return Difference(0, 0.0)
    worst = np.unravel_index(int(np.argmax(apart)), apart.shape)
    return Difference(counted, float(apart[worst]), f"{key}: {old[worst]} became {new[worst]}" if apart[worst] else "")


def _numbers(values: np.ndarray) -> np.ndarray:
    if np.issubdtype(values.dtype, np.number):
        return values.astype(float)
    flat = [_number(value) for value in values.ravel()]
    return np.array(flat, dtype=float).reshape(values.shape)


def _number(value: Any) -> float:
    if value is None or isinstance(value, bool):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


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
    """Everything numeric below ``results`` whose job took at most ``longest`` s and whose inputs are there."""
    made = {output: job for job in jobs for output in job.outputs}
    by_study: dict[str, list[str]] = {}
    maker, left_out = {}, dict[str, int]()
    for file in sorted((folder / results).rglob("*")):
        path = file.relative_to(folder).as_posix()
        top = PurePosixPath(path).relative_to(results).parts[0]
        if not file.is_file() or file.suffix not in COMPARED or file.name == "ro-crate-metadata.json":
            continue
        job = made.get(path) or next((made[str(parent)] for parent in Path(path).parents if str(parent) in made), None)
        reason = _reason(folder, job, longest)
        if reason:
            left_out[reason] = left_out.get(reason, 0) + 1
        elif job is not None:
            by_study.setdefault(top if (folder / results / top / "tables").is_dir() else _SHARED, []).append(path)
            maker[path] = job
    return Candidates(by_study, maker, dict(sorted(left_out.items())))


def _reason(folder: Path, job: JobRecord | None, longest: float) -> str:
    if job is None:
        return "without a record of the job that made it"
    if job.rule in _OF_THE_RUN:
        return "about the run itself"
    if not all(is_below(name) and (folder / name).exists() for name in job.inputs):
        return "made from data that the bundle hasn't"
    if job.seconds > longest:
        return f"by a job of more than {longest:g} s ({job.rule})"
    return ""


def draw(found: Candidates, number: int, seed: int) -> list[str]:
    """So many files, no two of one job as long as there are others; the same for the same seed."""
    source = random.Random(seed)
    waiting = {study: list(paths) for study, paths in found.by_study.items()}
    for study in sorted(waiting):
        source.shuffle(waiting[study])
    studies = sorted(waiting)
    source.shuffle(studies)
    chosen: list[str] = []
    second_choice: list[str] = []
    used: set[JobRecord] = set()
    while len(chosen) < number and any(waiting.values()):
        for study in studies:
            while waiting[study] and len(chosen) < number:
                path = waiting[study].pop()
                if found.maker[path] in used:
                    second_choice.append(path)
                    continue
                used.add(found.maker[path])
                chosen.append(path)
                break
    return sorted([*chosen, *second_choice[: number - len(chosen)]])


def lay_out(bundle: Contents, run: str, root: Path, commit: str, folder: Path) -> None:
    """The code of a commit of one's own checkout, with a bundle's results and records of jobs, all of one time.

    Without its logs: what they say of the results would end the run before the changed one is found.

    Raises :class:`ContactIdError` where that fails.
    """
    code = git(root, "archive", "--format=zip", commit)
    if code is None:
        raise ContactIdError(f"git can't give the files of {commit}", "Check the checkout with git fsck")
    with zipfile.ZipFile(io.BytesIO(code)) as archive:
        archive.extractall(folder)
    wanted = (f"results/{run}/", f"{FOLDER.as_posix()}/")
    logs = f"results/{run}/logs/"
    unpack(bundle, folder, lambda name: name.startswith(wanted) and not name.startswith(logs))
    for found in folder.rglob("*"):
        os.utime(found, (_SECONDS, _SECONDS))


def records(folder: Path, results: str, names: Mapping[str, Any]) -> list[JobRecord]:
    """The records of the jobs that made the bundle's files.

    Raises :class:`ContactIdError` where one is damaged, or names as its output what isn't among the bundle's files.
    """
    known = {*names, *(parent.as_posix() for name in names for parent in PurePosixPath(name).parents)}
    try:
        jobs = read_jobs(folder, results)
        odd = [
            job for job in jobs if not job.rule.isidentifier() or not all(isinstance(one, str) for one in job.inputs)
        ]
    except (ValueError, TypeError, KeyError, AttributeError, OSError, OverflowError, RecursionError) as error:
        raise ContactIdError(f"Snakemake's records of the jobs are damaged ({error})", AGAIN) from None
    elsewhere = [output for job in jobs for output in job.outputs if output not in known]
    if odd or elsewhere:
        named = odd[0].rule if odd else elsewhere[0]
        raise ContactIdError(f"a record of a job names {named}, which can't have been made by this run", BEWARE)
    return jobs


def take_away(folder: Path, names: Mapping[str, Any], jobs: Sequence[JobRecord]) -> dict[str, bytes]:
    """Remove what these jobs wrote, file by file, where :func:`lay_out` put it; what is to be compared, by name."""
    outputs = {output for job in jobs for output in job.outputs}
    before = {}
    for name in names:
        if name in outputs or any(parent.as_posix() in outputs for parent in PurePosixPath(name).parents):
            if (folder / name).suffix in COMPARED and names[name] <= MOST_READ:
                before[name] = (folder / name).read_bytes()
            (folder / name).unlink()
            for parent in (folder / name).parents:
                if any(parent.iterdir()):
                    break
                parent.rmdir()
    return before


def recompute(
    folder: Path, configuration: Mapping[str, Any], paths: Sequence[str], jobs: Sequence[JobRecord], sandbox: bool
) -> None:
    """Let Snakemake run exactly these jobs again, by the code in ``folder / "code"``.

    Rules of other jobs aren't even looked at, and times alone decide what is outdated; all files have the same time.

    Parameters
    ----------
    folder : the only one that is written to in the sandbox; home, temporary files and bytecode lie there
    configuration : of the run
    sandbox : whether to run them in one

    Raises
    ------
    ContactIdError : where no sandbox starts, or a job fails: with the line that the job printed
    """
    inside = {name: folder / name for name in ("home", "temporary", "bytecode", "compiled")}
    for made in inside.values():
        made.mkdir()
    settings = folder / "configuration.json"  # not the bundle's yaml, whose aliases could grow without end
    settings.write_text(json.dumps(configuration), encoding="utf-8")
    reason = why_not(folder) if sandbox else ""
    if reason:
        raise ContactIdError(
            f"no sandbox starts here ({reason})",
            "Give UNSANDBOXED=1 to recompute without one, which trusts the bundle's configuration",
        )
    command = [
        *(sandboxed(folder) if sandbox else ()),
        *(sys.executable, "-m", "snakemake", "--cores", "all", "--quiet", "all", "--nolock"),
        *("--rerun-triggers", "mtime", "--configfile", str(settings)),
        *("--allowed-rules", *sorted({job.rule for job in jobs}), "--", *paths),
    ]
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(folder / "code/workflow"),
        "HOME": str(inside["home"]),
        "TMPDIR": str(inside["temporary"]),
        "PYTHONPYCACHEPREFIX": str(inside["bytecode"]),
        "NUMBA_CACHE_DIR": str(inside["compiled"]),
    }
    place = folder / "code"
    done = subprocess.run(
        command, cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    missing = [path for path in paths if not (place / path).is_file()]
    if done.returncode or missing:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        said = next((line for line in lines if line.startswith("ERROR ")), lines[-1] if lines else "no output")
        raise ContactIdError(
            f"recomputing failed: {said.removeprefix('ERROR ')}", "Is the environment of envs/requirements.lock active"
        )

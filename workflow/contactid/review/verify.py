"""``python -m contactid.review.verify BUNDLE``: check a bundle and recompute a sample of its numbers (``make verify``).

The bundle is an archive that ``make bundle`` wrote, or a folder that it was unpacked into. Recomputing runs the code in
the bundle, from the intermediate files that lie in it. The exit status is 1 where a file isn't what the manifest says,
a number differs, or a verdict doesn't follow from the columns beside it.

Two numbers a and b are ``|a - b| / max(|a|, |b|, 1e-12 m)`` apart, where m is the largest magnitude among the
published numbers beside them (of a csv's column, a JSON file's key, a netCDF variable): residuals of rounding count by
what they are small against. Wall times differ in every run and aren't compared; they are known by name.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.comparison import (
    BASES,
    COLUMNS,
    NOT_COMPARABLE,
    STATEMENT,
    agrees,
    judge,
    tried_answers,
    wrong_answers,
)
from contactid.output.summary import text_table
from contactid.output.tables import PRECISION
from contactid.review.bundle import NAME, differences, read_manifest, same_time, unpack
from contactid.review.check import read_verdicts, row_name
from contactid.review.same_results import TIMES
from contactid.run.records import JobRecord, read_jobs

COMPARED = {".csv", ".json", ".nc"}
# what is said of a file that was made again
IDENTICAL, AGREES, DIFFERS = "identical", "agrees", "differs"
_FLOOR = 1e-12
# what says when and where a run was made can't come out the same
_OF_THE_RUN = {"provenance", "crate", "report"}
# what belongs to no single study: data, and the verdicts of all of them
_SHARED = "all studies"


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
    try:
        old, new = dict(_parts(suffix, published)), dict(_parts(suffix, again))
    except (ValueError, OSError, KeyError) as error:
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
        with xr.open_dataset(io.BytesIO(content), engine="h5netcdf", decode_times=False) as data:
            for name, variable in data.variables.items():
                yield str(name), np.asarray(variable.to_numpy())


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
    except (TypeError, ValueError):
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
    if not all((folder / name).exists() for name in job.inputs):
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


def recompute(folder: Path, run: str, paths: Sequence[str], jobs: Sequence[JobRecord]) -> None:
    """Remove what the jobs of these files wrote, and let Snakemake run exactly these jobs again.

    Rules of other jobs aren't even looked at, and times alone decide what is outdated; all files have the same time.

    Raises :class:`ContactIdError` where a job fails: with the line that the job printed.
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


def wrong_verdicts(checks: pd.DataFrame) -> list[str]:
    """A line for every row whose verdict doesn't follow from its other columns, or that lacks its reason."""
    problems = []
    for row in checks.to_dict("records"):
        try:
            problem = _problem(row)
        except (KeyError, ValueError) as error:
            problem = f"can't be judged ({error})"
        if problem:
            problems.append(f"{row_name(row)}: {problem}")
    return problems


def _problem(row: Mapping[Any, Any]) -> str:
    """What doesn't follow in a row, by the code that judged it; empty where all does."""
    published, reproduced, tolerance = (float(row[name]) for name in ("published", "reproduced", "tolerance"))
    verdict, tried, refused = row["verdict"], tried_answers(row["wrong_answers"]), set(row["rejects"].split(";")) - {""}
    if verdict == NOT_COMPARABLE and not row["note"].partition(";")[0]:
        return "not comparable without a reason"
    if np.isnan(reproduced):
        return "" if verdict == NOT_COMPARABLE else f"{verdict} without a number"
    if row["basis"] not in BASES:
        return f"has a number, but rests on {row['basis'] or 'nothing'}"
    if row["unit"] == STATEMENT and not tried:
        return "a statement without a counterexample"
    for name, value in wrong_answers(published, row["unit"], {}).items():
        if not abs(tried.get(name, np.inf) - value) <= 2.0 * _edge(value, published):
            return f"{name} is {value:g}, which wasn't tried"
    can = {name: _possible(agrees, value, published, tolerance) for name, value in tried.items()}
    wrong = [name for name, possible in can.items() if (name not in refused) not in possible]
    if wrong or refused - set(tried):
        return f"rejects {row['rejects'] or 'nothing'}, which doesn't follow from {row['wrong_answers']}"
    if verdict == NOT_COMPARABLE:
        return ""
    could_fail = refused == set(tried)
    verdicts = {
        found
        for is_error in (True, False)
        for found in _possible(judge, reproduced, published, tolerance, row["basis"], could_fail, is_error)
    }
    apart = abs(reproduced - published)
    return "" if verdict in verdicts else f"says {verdict}, but {reproduced:g} is {apart:g} from {published:g}"


def _possible(rule: Callable[..., Any], value: float, published: float, tolerance: float, *further: Any) -> set[Any]:
    """What a rule says of a number, on either side where the file's rounding hides on which it was."""
    edge = _edge(value, published, tolerance)
    return {rule(value, published, limit, *further) for limit in (max(tolerance - edge, 0.0), tolerance + edge)}


def _edge(*numbers: float) -> float:
    """By how much these numbers together may have been rounded in a file."""
    sizes = [abs(number) for number in numbers if number and np.isfinite(number)]
    return sum((0.5 * 10.0 ** (np.floor(np.log10(size)) - PRECISION + 1) for size in sizes), 0.0)


@told_plainly()
def main(arguments: list[str] | None = None) -> int:
    """Check, recompute, compare, and print what came of it."""
    parser = argparse.ArgumentParser(prog="contactid.review.verify", description=__doc__)
    parser.add_argument("bundle", nargs="?", default=".", help="archive or unpacked folder (default: this folder)")
    parser.add_argument("--sample", type=int, default=5, help="how many files to recompute")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="largest relative difference between machines")
    parser.add_argument("--longest", type=float, default=120.0, help="leave out jobs that took more seconds than that")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="contactid-verify-") as folder:
        return _verify(Path(chosen.bundle), Path(folder), chosen)


def _verify(bundle: Path, folder: Path, chosen: argparse.Namespace) -> int:
    _lay_out(bundle, folder)
    problems = differences(folder)
    if problems:
        print(*(f"ERROR {problem}" for problem in problems), sep="\n", file=sys.stderr)
        return 1
    print(f"Manifest: {len(read_manifest((folder / NAME).read_text(encoding='utf-8')))} files are what they were.")
    run = _run_of(folder)
    wrong = _check_verdicts(folder / f"results/{run}/checks.csv")
    return 1 if _check_numbers(folder, run, chosen) or wrong else 0


def _lay_out(bundle: Path, folder: Path) -> None:
    """The bundle's files in a folder of their own, all with one time."""
    if not bundle.is_dir():
        unpack(bundle, folder)
        return
    if not (bundle / NAME).is_file():
        raise ContactIdError(f"{bundle}: no {NAME} in it", "Name a bundle that make bundle wrote, or its folder")
    shutil.copytree(bundle, folder, ignore=shutil.ignore_patterns(".venv*", "__pycache__"), dirs_exist_ok=True)
    same_time(folder)


def _run_of(folder: Path) -> str:
    runs = sorted(file.parent.parent.name for file in folder.glob("results/*/crate/configuration.yaml"))
    if len(runs) != 1:
        raise ContactIdError(f"the bundle holds {len(runs)} runs", "Name a bundle that make bundle wrote")
    return runs[0]


def _check_verdicts(checks: Path) -> int:
    table = read_verdicts(checks, COLUMNS, "Name a bundle of a finished run")
    wrong = wrong_verdicts(table)
    print(f"Verdicts: {len(table) - len(wrong)} of {len(table)} in checks.csv follow from the columns beside them.")
    print(*(f"ERROR {line}" for line in wrong), sep="\n" if wrong else "", end="\n" if wrong else "")
    return len(wrong)


def _check_numbers(folder: Path, run: str, chosen: argparse.Namespace) -> int:
    """Recompute a sample; how many files differ."""
    results = f"results/{run}"
    found = candidates(folder, results, read_jobs(folder, results), chosen.longest)
    paths = draw(found, chosen.sample, chosen.seed)
    if not paths:
        raise ContactIdError("nothing in the bundle can be recomputed in that time", "Allow more with --longest")
    jobs = sorted({found.maker[path] for path in paths}, key=lambda job: job.outputs)
    outputs = [name for job in jobs for name in job.outputs if Path(name).suffix in COMPARED]
    compared = sorted({*paths, *outputs})
    before = {name: (folder / name).read_bytes() for name in compared}
    total = sum(len(of_study) for of_study in found.by_study.values())
    print(
        f"Sample: {len(paths)} of {total} files (seed {chosen.seed}), made again by {len(jobs)} jobs "
        f"({sum(job.seconds for job in jobs):.0f} s when the run was made)."
    )
    for reason, number in found.left_out.items():
        print(f"  not drawn from: {number} {reason}")
    recompute(folder, run, paths, jobs)
    rows, differing = [], 0
    for name in compared:
        difference = compare(name, before[name], (folder / name).read_bytes())
        verdict = difference.verdict(chosen.tolerance)
        differing += verdict == DIFFERS
        short = name.removeprefix(f"{results}/") + (" *" if name in paths else "")
        rows.append([short, str(difference.numbers), f"{difference.largest:.1g}", verdict, difference.where])
    print(text_table(["file (* drawn)", "numbers", "largest difference", "verdict", "where"], rows))
    print(f"{len(compared) - differing} of {len(compared)} files agree within {chosen.tolerance:g} (relative).")
    return differing


if __name__ == "__main__":
    sys.exit(main())

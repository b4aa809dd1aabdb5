"""Which files of a bundle to recompute: a seeded random sample, the studies in turn."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from contactid.review.bundles.compare import COMPARED
from contactid.run.job_records import JobRecord

# what says when and where a run was made can't come out the same
_OF_THE_RUN = {"provenance", "crate", "report"}
# what belongs to no single study: data, and the verdicts of all of them
_SHARED = "all studies"


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

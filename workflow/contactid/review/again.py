"""Make parts of a run again, and compare: report, figures, typeset tables, a sample of numbers."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.output.summary import text_table
from contactid.review.apart import DIFFERS, UNDETERMINED, Difference, compare
from contactid.review.contents import AGAIN, Contents, plain
from contactid.review.keep import Arithmetic, keep, other_kernels
from contactid.review.one_run import shows_times
from contactid.review.pictures import KINDS
from contactid.review.recompute import (
    Candidates,
    Place,
    candidates,
    draw,
    lay_out,
    make_report,
    prepare,
    recompute,
    records,
    showing,
    take_away,
)
from contactid.run.records import JobRecord

# ways to make again what differs where the run's own arithmetic can't be kept, beside this
# machine's own
_OTHER_KERNELS = 2
# characters of where a difference is, so that a row stays on a line
_LONGEST_PLACE = 100


@dataclass(frozen=True)
class Choice:
    """What is made again.

    Attributes
    ----------
    number, seed : of the sample
    longest : s; no sample from jobs that took longer
    tolerance : largest relative difference between machines
    sandbox : whether jobs run in one
    """

    number: int
    seed: int
    longest: float
    tolerance: float
    sandbox: bool


def make_again(bundle: Contents, run: str, commit: str, root: Path, choice: Choice) -> int:
    """Make report, figures, tables and a sample of the numbers again; print how they compare.

    Returns how many files differ.

    Parameters
    ----------
    root, commit : the reviewer's checkout, and the commit in it whose code does it

    Raises
    ------
    ContactIdError : where nothing can be made again, with the reason, or a job fails
    """
    results = f"results/{run}"
    record = bundle.json(f"{results}/provenance.json")
    # whatever somebody may have written there
    configuration = record.get("configuration") if isinstance(record, dict) else None
    if not isinstance(configuration, dict) or configuration.get("run") != run:
        raise ContactIdError(f"{results}/provenance.json is of another run", AGAIN)
    # bytes of the run's files, by name
    sizes = {name: size for name, size in bundle.sizes.items() if name.startswith(f"{results}/")}
    with tempfile.TemporaryDirectory(prefix="contactid-verify-") as temporary:
        # without links: a sandbox is given the folder by its own path
        folder = Path(temporary).resolve()
        code = folder / "code"
        lay_out(bundle, run, root, commit, code)
        jobs = records(code, results, sizes)
        choices = candidates(code, results, jobs, choice.longest)
        sample = draw(choices, choice.number, choice.seed)
        if not sample:
            raise _nothing(choices, choice.longest)
        place = prepare(folder, configuration, choice.sandbox)
        arithmetic = keep(record.get("arithmetic"), place.environment)
        print(plain(arithmetic), flush=True)
        page = make_report(place, run, arithmetic.variables)
        report = compare("report.html", bundle.read(f"{results}/report.html"), page)
        # no machine rounds in it: it has to be the same
        verdict = report.verdict(0.0)
        line = f"Report: set again from the bundle's files, {verdict}. {report.where}"
        print(plain(line), flush=True)
        # several files of a sample may be of one job, which runs once
        makers = {choices.maker[path] for path in sample}
        sample_jobs = sorted(makers, key=lambda job: job.outputs)
        _tell_sample(choices, sample, sample_jobs, choice.seed)
        drawing_jobs = showing(code, jobs)
        drawings = [name for job in drawing_jobs for name in job.outputs]
        targets = sample + [name for name in drawings if name in sizes]
        remade_jobs = sample_jobs + drawing_jobs
        compared = _compared(place, targets, remade_jobs, sizes, arithmetic, choice.tolerance)
    n_differing = _tell(compared, results, sample, drawings, choice.tolerance)
    return n_differing + (verdict == DIFFERS)


def _nothing(choices: Candidates, longest: float) -> ContactIdError:
    """That nothing can be made again, and why."""
    reasons = "; ".join(f"{number} files {reason}" for reason, number in choices.left_out.items())
    problem = f"nothing in the bundle can be recomputed: {reasons or 'it has no tables or fits'}"
    if any(reason.startswith("by a job") for reason in choices.left_out):
        return ContactIdError(problem, f"Allow jobs of more than {longest:g} s with --longest")
    return ContactIdError(
        problem,
        "Ask for a bundle that was made where the run was, with Snakemake's records of its jobs "
        "(.snakemake)",
    )


def _tell_sample(
    choices: Candidates, paths: Sequence[str], jobs: Sequence[JobRecord], seed: int
) -> None:
    total = sum(len(of_study) for of_study in choices.by_study.values())
    seconds = sum(job.seconds for job in jobs)
    print(
        f"Sample: {len(paths)} of {total} files (seed {seed}), made again by {len(jobs)} jobs "
        f"({seconds:.0f} s when the run was made)."
    )
    for reason, number in choices.left_out.items():
        print(plain(f"  not drawn from: {number} {reason}"))


def _compared(
    place: Place,
    targets: Sequence[str],
    jobs: Sequence[JobRecord],
    names: Mapping[str, int],
    arithmetic: Arithmetic,
    tolerance: float,
) -> dict[str, Difference]:
    """Run jobs again, and compare what they wrote with the bundle's files.

    Where something differs and the run's arithmetic can't be kept here, they run again by other
    kernels, too: what this machine doesn't agree on with itself can't be held against it.
    """
    published = take_away(place.code, names, jobs)
    recompute(place, targets, jobs, arithmetic.variables)
    for name in sorted(published):
        # a picture of times that were measured again is another one
        if _shows_new_times(place.code, name, published):
            del published[name]
    versions = {name: [_content(place.code / name)] for name in sorted(published)}
    compared = {name: compare(name, published[name], *again) for name, again in versions.items()}
    differs = any(difference.verdict(tolerance) == DIFFERS for difference in compared.values())
    if not (arithmetic.other and differs):
        return compared
    for variables in other_kernels(arithmetic, place.environment, _OTHER_KERNELS):
        take_away(place.code, names, jobs)
        recompute(place, targets, jobs, variables)
        for name, again in versions.items():
            again.append(_content(place.code / name))
    return {name: compare(name, published[name], *again) for name, again in versions.items()}


def _content(file: Path) -> bytes:
    """A file's bytes; none where a job didn't write it."""
    return file.read_bytes() if file.is_file() else b""


def _shows_new_times(code: Path, picture: str, remade: Mapping[str, bytes]) -> bool:
    """Whether a picture shows times that were measured again."""
    data = Path(picture).with_suffix(".csv").as_posix()
    return picture.endswith(KINDS) and data in remade and shows_times(code / data)


def _tell(
    compared: Mapping[str, Difference],
    results: str,
    sample: Sequence[str],
    drawings: Collection[str],
    tolerance: float,
) -> int:
    """Print a row for each file of the sample, and for what differs of the others; how many differ."""
    verdicts = {name: difference.verdict(tolerance) for name, difference in compared.items()}
    rows = []
    for name, difference in compared.items():
        verdict = verdicts[name]
        # hundreds of drawings that agree would hide the sample
        if name in drawings and verdict not in (DIFFERS, UNDETERMINED):
            continue
        short = name.removeprefix(f"{results}/")
        if name in sample:
            short += " *"
        where = plain(difference.where)[:_LONGEST_PLACE]
        rows.append([short, str(difference.numbers), f"{difference.largest:.1g}", verdict, where])
    print(text_table(["file (* drawn)", "numbers", "largest difference", "verdict", "where"], rows))
    n_drawings = len(compared.keys() & set(drawings))
    print(f"Figures and typeset tables: {n_drawings} files were made again from their data.")
    counts = Counter(verdicts.values())
    if counts[UNDETERMINED]:
        print(
            f"{counts[UNDETERMINED]} files hold numbers on which this machine's own kernels don't agree."
        )
    n_agreeing = len(compared) - counts[DIFFERS]
    print(f"{n_agreeing} of {len(compared)} files agree within {tolerance:g} (relative).")
    return counts[DIFFERS]

"""``python -m contactid.review.verify BUNDLE``: check a bundle and recompute a random sample of its numbers (``make
verify``).

The bundle is an archive that ``make bundle`` wrote, or a folder that it was unpacked into. Recomputing runs the code in
the bundle. The exit status is 1 where a file isn't what the manifest says, a number differs, or a verdict is wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.output.summary import text_table
from contactid.output.tables import read_csv
from contactid.review.bundles.compare import COMPARED, DIFFERS, compare
from contactid.review.bundles.manifest import NAME, differences, read_manifest
from contactid.review.bundles.recompute import recompute
from contactid.review.bundles.sample import candidates, draw
from contactid.review.bundles.verdicts import wrong_verdicts
from contactid.review.bundles.zip_file import same_time, unpack
from contactid.run.job_records import read_jobs


def main(arguments: list[str] | None = None) -> int:
    """Check, recompute, compare, and print what came of it."""
    parser = argparse.ArgumentParser(prog="contactid.review.verify", description=__doc__)
    parser.add_argument("bundle", nargs="?", default=".", help="archive or unpacked folder (default: this folder)")
    parser.add_argument("--sample", type=int, default=5, help="how many files to recompute")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="largest relative difference between machines")
    parser.add_argument("--longest", type=float, default=120.0, help="leave out jobs that took more seconds than that")
    chosen = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="contactid-verify-") as folder:
            return _verify(Path(chosen.bundle), Path(folder), chosen)
    except ContactIdError as error:
        print(f"ERROR {error}", file=sys.stderr)
        return 1


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
    table = read_csv(checks)
    wrong = wrong_verdicts(table)
    print(f"Verdicts: {len(table) - len(wrong)} of {len(table)} in checks.csv follow from the numbers beside them.")
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

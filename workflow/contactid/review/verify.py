"""Look whether a bundle is what it says: ``make verify BUNDLE=...``.

The bundle is an archive that ``make bundle`` wrote, or a folder that it was unpacked into. Looking
reads it where it lies: it executes, writes and deletes nothing. With ``--recompute`` its report,
its figures and a sample of its numbers are made again by the checkout that this command is part of,
at the bundle's commit. The exit status is 1 where a file isn't what the manifest, a description or
a log says, a verdict doesn't follow from the columns beside it or isn't the one accepted at the
bundle's commit, or what was made again differs.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.comparison import (
    COLUMNS,
    INPUTS,
    STATEMENT,
    tried_answers,
    wrong_answers,
)
from contactid.output.summary import verdict_line
from contactid.output.tables import PRECISION
from contactid.output.verdicts import (
    BASES,
    LACKS,
    ORIGINS,
    UNDEFINED,
    agrees,
    judge_number,
    judge_statement,
)
from contactid.review.again import Choice, make_again
from contactid.review.check import read_verdicts, row_name
from contactid.review.contents import AGAIN, NAME, Contents, differences, opened, plain
from contactid.review.crate import FILE_NAME, entries_of
from contactid.review.looks import (
    other_settings,
    results_in,
    unaccepted,
    unrecorded,
    wrong_configuration,
    wrong_logs,
    wrong_sentences,
)
from contactid.review.provenance import git
from contactid.run.records import FOLDER
from contactid.sources.card import files_of
from contactid.sources.registry import GENERATED

_ROOT = Path(__file__).resolve().parents[3]
_RUN = re.compile(r"results/(\w[\w.-]*)/crate/configuration\.yaml")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_SUCH_REFUSAL = "rejects {}, which doesn't follow from {}"


def wrong_verdicts(checks: pd.DataFrame) -> list[str]:
    """A line for every row whose verdict doesn't follow from its columns, or lacks its reason."""
    problems = []
    for row in checks.to_dict("records"):
        try:
            problem = _problem(row)
        except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
            problem = f"can't be judged ({error})"
        if problem:
            problems.append(f"{row_name(row)}: {problem}")
    return problems


def _problem(row: Mapping[Any, Any]) -> str:
    """What doesn't follow in a row, by the code that judged it; empty where all does."""
    verdict = row["verdict"]
    lacks = verdict in LACKS
    # a note's first part is the reason
    if lacks and not row["note"].partition(";")[0]:
        return f"{verdict} without a reason"
    if np.isnan(float(row["reproduced"])):
        return "" if lacks else f"{verdict} without a number"
    for column, meanings in (("basis", BASES), ("origin", ORIGINS)):
        if row[column] not in meanings:
            return f"has a number, but its {column} is {row[column] or 'nothing'}"
    if row["unit"] == STATEMENT:
        return _statement_problem(row)
    return _number_problem(row)


def _statement_problem(row: Mapping[Any, Any]) -> str:
    """What doesn't follow in a statement's row."""
    wrong = _answers(row["wrong_answers"])
    moved = _answers(row["moved"])
    refused = [name for name, answer in wrong.items() if not answer]
    if row["rejects"] != ";".join(refused):
        return _NO_SUCH_REFUSAL.format(row["rejects"] or "nothing", row["wrong_answers"])
    agree, cases = map(int, row["cases"].split(" of "))
    if not 0 <= agree <= cases:
        return f"is so in {row['cases']} cases"
    if row["verdict"] in LACKS:
        # of no case nothing can be so
        is_wrong = row["verdict"] == UNDEFINED and cases
        return f"undefined, but has {cases} cases" if is_wrong else ""
    holds = bool(row["reproduced"])
    verdict = judge_statement(holds, row["basis"], row["origin"], wrong, moved)
    return "" if row["verdict"] == verdict else f"says {row['verdict']}, where {verdict} follows"


def _answers(written: str) -> dict[str, bool]:
    """The answers by name, as :func:`contactid.output.statements.answers` wrote them."""
    return {name: bool(answer) for name, answer in tried_answers(written).items()}


def _number_problem(row: Mapping[Any, Any]) -> str:
    """What doesn't follow in a number's row."""
    published = float(row["published"])
    reproduced = float(row["reproduced"])
    tolerance = float(row["tolerance"])
    tried = tried_answers(row["wrong_answers"])
    by_rule = {}
    if row["quantity"] != INPUTS:
        by_rule = wrong_answers(published, row["unit"], {})
    for name, value in by_rule.items():
        # two roundings: of the printed number, of which it was made, and of itself
        if not abs(tried.get(name, np.inf) - value) <= 2.0 * _edge(value, published):
            return f"{name} is {value:g}, which wasn't tried"
    refused = set(row["rejects"].split(";")) - {""}
    if not refused <= set(tried) or not _follows(refused, tried, published, tolerance):
        return _NO_SUCH_REFUSAL.format(row["rejects"] or "nothing", row["wrong_answers"])
    if row["verdict"] in LACKS:
        return ""
    # whether a number is an error isn't in the file
    verdicts: set[str] = set()
    for is_error in (True, False):
        further = (row["basis"], list(tried.values()), is_error)
        verdicts |= _possible(judge_number, reproduced, published, tolerance, *further)
    if row["verdict"] in verdicts:
        return ""
    distance = abs(reproduced - published)
    return f"says {row['verdict']}, but {reproduced:g} is {distance:g} from {published:g}"


def _follows(
    refused: set[str], tried: Mapping[str, float], published: float, tolerance: float
) -> bool:
    """Whether these of the wrong answers are refused, and the others aren't.

    Either is so where the file's rounding hides on which side of the limit an answer was.
    """
    for name, value in tried.items():
        agreed = name not in refused
        if agreed not in _possible(agrees, value, published, tolerance):
            return False
    return True


def _possible(
    rule: Callable[..., Any], value: float, published: float, tolerance: float, *further: Any
) -> set[Any]:
    """What a rule says of a number, on either side where the file's rounding hides on which it was."""
    edge = _edge(value, published, tolerance)
    return {
        rule(value, published, limit, *further)
        for limit in (max(tolerance - edge, 0.0), tolerance, tolerance + edge)
    }


def _edge(*numbers: float) -> float:
    """By how much these numbers together may have been rounded in a file."""
    sizes = [abs(number) for number in numbers if number and np.isfinite(number)]
    # half a unit of the last significant digit
    exponents = [np.floor(np.log10(size)) - PRECISION + 1 for size in sizes]
    return sum((0.5 * 10.0**exponent for exponent in exponents), 0.0)


def run_of(bundle: Contents) -> str:
    """The name of the bundle's run.

    Raises :class:`ContactIdError` where it hasn't exactly one.
    """
    runs = [match[1] for name in sorted(bundle.sizes) if (match := _RUN.fullmatch(name))]
    if len(runs) != 1:
        raise ContactIdError(
            f"the bundle holds {len(runs)} runs", "Name a bundle that make bundle wrote"
        )
    return runs[0]


def read_checks(bundle: Contents, name: str) -> pd.DataFrame:
    """A run's verdicts, as :func:`contactid.review.check.read_verdicts` has them.

    Raises :class:`ContactIdError` where it isn't such a table.
    """
    remedy = "Name a bundle of a finished run"
    table = read_verdicts(bundle.read(name), COLUMNS, remedy, name)
    if table.empty:
        raise ContactIdError(f"{name} has no rows", remedy)
    return table


def wrong_tables(bundle: Contents, results: str, checks: pd.DataFrame) -> list[str]:
    """A line for each study whose table, or line in the summary, isn't what ``checks.csv`` has."""
    heading, *rows = _rows(bundle, f"{results}/checks.csv")
    summary = bundle.text(f"{results}/summary.md").splitlines()
    problems = []
    for study, of_study in checks.groupby("study", sort=False):
        name = f"{results}/{study}/checks.csv"
        # the study is the first column
        expected = [row for row in rows if row[:1] == [study]]
        if name not in bundle.sizes:
            problems.append(f"{name}: missing, though checks.csv has rows of it")
        elif _rows(bundle, name) != [heading, *expected]:
            problems.append(f"{name}: other rows than in checks.csv")
        if f"* {study}: {verdict_line(of_study)}" not in summary:
            problems.append(
                f"{results}/summary.md: counts other verdicts of {study} than checks.csv has"
            )
    return problems


def _rows(bundle: Contents, name: str) -> list[list[str]]:
    try:
        rows = list(csv.reader(bundle.text(name).splitlines()))
    except csv.Error as error:
        raise ContactIdError(f"{name} cannot be read ({error})", AGAIN) from None
    if not rows:
        raise ContactIdError(f"{name} is empty", AGAIN)
    return rows


def wrong_descriptions(
    bundle: Contents, folder: str, sums: Mapping[str, str]
) -> tuple[list[str], dict[str, Any]]:
    """What isn't as the RO-Crate of a folder of the bundle says, a line each; and its entities.

    Raises :class:`ContactIdError` where it is no RO-Crate.
    """
    name = f"{folder}{FILE_NAME}"
    try:
        entities = {str(entity["@id"]): entity for entity in bundle.json(name)["@graph"]}
        files = {path: entity for path, entity in entities.items() if "File" in entity["@type"]}
        runs = (entity for entity in entities.values() if "CreateAction" in entity["@type"])
        results = entries_of(next(runs)["result"])
        absent = [entry["@id"] for entry in results if entry["@id"] not in files]
    except (KeyError, TypeError, StopIteration) as error:
        raise ContactIdError(
            f"{name} is no description of a run ({type(error).__name__}: {error})", AGAIN
        ) from None
    problems = [f"{name}: names the result {path} and doesn't describe it" for path in absent]
    for path, entity in files.items():
        within = folder + path
        if within not in sums:
            problems.append(f"{name}: describes {within}, which isn't there")
        elif entity.get("sha256") != sums[within]:
            problems.append(f"{name}: {within} isn't what it describes")
    return problems, files


def wrong_data(bundle: Contents, results: str, sums: Mapping[str, str]) -> list[str]:
    """A line for each generated dataset whose files aren't as its card and provenance say.

    Raises :class:`ContactIdError` where they can't be read.
    """
    name = f"{results}/provenance.json"
    problems = []
    try:
        for entry in bundle.json(name)["data"]:
            if entry["kind"] != GENERATED:
                continue
            folder = f"{results}/data/{entry['name']}"
            raw = f"{folder}/raw/"
            # checksum and size by name, as they are and as they are described
            actual = {}
            for path in sums:
                if path.startswith(raw):
                    actual[path.removeprefix(raw)] = (sums[path], bundle.sizes[path])
            described = {file["name"]: (file["sha256"], file["size"]) for file in entry["files"]}
            if described != actual:
                problems.append(
                    f"{name}: the files of {entry['name']} aren't those in {folder}/raw"
                )
            card = bundle.json(f"{folder}/card.json")
            if any(card[key] != value for key, value in files_of(entry["files"]).items()):
                problems.append(f"{folder}/card.json: tells of other files than provenance.json")
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ContactIdError(
            f"{name} or a card isn't whole ({type(error).__name__}: {error})", AGAIN
        ) from None
    return problems


@dataclass(frozen=True)
class Code:
    """The bundle's code beside that of the commit which it names.

    Attributes
    ----------
    commit : in a checkout of one's own; empty where it isn't in there
    text : what is said of it
    """

    commit: str
    text: str


def compare_code(bundle: Contents, results: str, described: Mapping[str, Any], root: Path) -> Code:
    """Hold the bundle's code against the commit that it names, by git's own checksums."""
    commit = str((described.get("Snakefile") or {}).get("version"))
    short = commit[:8]
    blobs = _blobs(root, commit) if _COMMIT.fullmatch(commit) else None
    if blobs is None:
        text = f"The code can't be held against commit {short}, which isn't in the checkout of this command"
        return Code("", text)
    added = (NAME, FILE_NAME, "README.txt")
    ours = (f"{results}/", f"{FOLDER.as_posix()}/")
    code = {name for name in bundle.sizes if not name.startswith(ours) and name not in added}
    # by the length of its hexadecimal digits
    algorithm = "sha1" if len(commit) == 40 else "sha256"
    other = []
    for name in sorted(code | set(blobs)):
        if name not in code or bundle.blob(name, algorithm) != blobs.get(name):
            other.append(name)
    if other:
        problem = f"{len(other)} files of code aren't those of commit {short}: {', '.join(other)}"
        return Code(commit, f"WARNING {problem}")
    return Code(commit, f"Code: {len(blobs)} files are those of commit {short} in this checkout.")


def _blobs(root: Path, commit: str) -> dict[str, str] | None:
    """Git's checksum of every plain file of a commit; None where it isn't in a checkout's own."""
    top = git(root, "rev-parse", "--show-toplevel")
    # an unpacked archive may lie inside somebody else's checkout, whose commits say nothing
    if top is None or Path(top.decode().strip()).resolve() != root.resolve():
        return None
    listing = git(root, "ls-tree", "-r", "-z", f"{commit}^{{commit}}")
    if listing is None:
        return None
    blobs = {}
    for line in filter(None, listing.split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, _, checksum = about.split()
        # plain files; links and other repositories have modes of their own
        if mode.startswith(b"100"):
            blobs[name.decode()] = checksum.decode()
    return blobs


def main(arguments: list[str] | None = None) -> int:
    """Look, recompute where that is asked for, and print what came of it."""
    parser = argparse.ArgumentParser(prog="contactid.review.verify", description=__doc__)
    parser.add_argument(
        "bundle", nargs="?", default=".", help="archive or unpacked folder (default: this folder)"
    )
    parser.add_argument(
        "--recompute",
        type=int,
        default=0,
        metavar="N",
        help="make so many files again; 0: look only",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument(
        "--tolerance", type=float, default=1e-4, help="largest relative difference between machines"
    )
    parser.add_argument(
        "--longest",
        type=float,
        default=120.0,
        help="leave out jobs that took more seconds than that",
    )
    parser.add_argument(
        "--unsandboxed", action="store_true", help="recompute although no sandbox starts"
    )
    chosen = parser.parse_args(arguments)
    try:
        with opened(Path(chosen.bundle)) as bundle:
            return _verify(bundle, chosen)
    except ContactIdError as error:
        sys.exit(plain(f"ERROR {error}"))


def _tell(problems: list[str]) -> bool:
    """Print a line for each; whether there were any."""
    for problem in problems:
        print(plain(f"ERROR {problem}"), file=sys.stderr)
    return bool(problems)


def _verify(bundle: Contents, chosen: argparse.Namespace) -> int:
    sums = {name: bundle.digest(name) for name in bundle.sizes}
    if _tell(differences(bundle, sums)):
        return 1
    print(f"Manifest: {len(sums) - 1} files are what they were.")
    if bundle.passed_over:
        print(plain(f"Not looked at, as made by using the folder: {', '.join(bundle.passed_over)}"))
    run = run_of(bundle)
    results = f"results/{run}"
    of_bundle, described = wrong_descriptions(bundle, "", sums)
    of_run, described_in_run = wrong_descriptions(bundle, f"{results}/", sums)
    of_data = wrong_data(bundle, results, sums)
    is_wrong = _tell([*of_bundle, *of_run, *of_data])
    if not is_wrong:
        n_files = f"{len(described)} files of the bundle and {len(described_in_run)} of the run"
        print(f"Descriptions: {n_files} are as described.")
    checks = read_checks(bundle, f"{results}/checks.csv")
    is_wrong |= _tell(_wrong_results(bundle, results, sums, checks))
    code = compare_code(bundle, results, described, _ROOT)
    print(plain(code.text))
    if code.commit:
        is_wrong |= _tell(_compare_with_accepted(bundle, run, checks, code.commit))
        is_wrong |= _tell(wrong_sentences(bundle, results, checks, _ROOT, code.commit))
    without = unrecorded(bundle.sizes, results_in(bundle, results))
    if without:
        print(
            f"WARNING {len(without)} results have no record of the job that made them, and can't be made again."
        )
    if chosen.recompute < 1:
        print(
            "Looked only: nothing was executed. RECOMPUTE=5 makes report, figures and five files of numbers again."
        )
        return int(is_wrong)
    if not code.commit:
        print(
            "WARNING Looked only: to recompute, fetch that commit into a checkout and verify from there."
        )
        return 1
    choice = Choice(
        chosen.recompute, chosen.seed, chosen.longest, chosen.tolerance, not chosen.unsandboxed
    )
    n_differing = make_again(bundle, run, code.commit, _ROOT, choice)
    return 1 if n_differing or is_wrong else 0


def _wrong_results(
    bundle: Contents, results: str, sums: Mapping[str, str], checks: pd.DataFrame
) -> list[str]:
    """Say what of verdicts, tables, logs and configuration agrees; a line for all that doesn't."""
    of_verdicts = wrong_verdicts(checks)
    n_sound = len(checks) - len(of_verdicts)
    print(
        f"Verdicts: {n_sound} of {len(checks)} in checks.csv follow from the columns beside them."
    )
    of_tables = wrong_tables(bundle, results, checks)
    if not of_tables:
        studies = ", ".join(map(str, checks["study"].unique()))
        print(f"Tables: checks.csv is that of the studies {studies}.")
    of_logs = wrong_logs(bundle, results, sums)
    of_settings = wrong_configuration(bundle, results)
    if not of_logs:
        n_results = len(results_in(bundle, results))
        print(f"Logs: {n_results} results are what the logs of their jobs say.")
    return [*of_verdicts, *of_tables, *of_logs, *of_settings]


def _compare_with_accepted(
    bundle: Contents, run: str, checks: pd.DataFrame, commit: str
) -> list[str]:
    """Say which settings and verdicts are the commit's own; a line for every verdict that isn't as
    accepted there.
    """
    settings = other_settings(bundle, f"results/{run}", _ROOT, commit)
    if settings is None:
        return []
    but = f", but for {', '.join(settings)}" if settings else ""
    print(plain(f"Configuration: the commit's default one{but}."))
    changes = unaccepted(bundle, run, checks, _ROOT, commit)
    if changes is None:
        print(f"Accepted verdicts: the commit has none for a run {run}.")
        return []
    if changes:
        return changes
    print(f"Accepted verdicts: all {len(checks)} are those of the commit.")
    return []


if __name__ == "__main__":
    sys.exit(main())

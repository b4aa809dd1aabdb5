"""What a bundle says of itself in two places, held against each other.

Such are logs, configuration, accepted verdicts and records. All of it is reading: nothing of a
bundle is executed or written.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
import yaml

from contactid.core.errors import ContactIdError
from contactid.output.claims import COLUMNS, judged_claims, read_claims
from contactid.review.check import (
    ACCEPTED_COLUMNS,
    chose_otherwise,
    compare_verdicts,
    made_with,
    read_verdicts,
    row_name,
)
from contactid.review.contents import AGAIN, Contents
from contactid.review.provenance import git
from contactid.run.records import FOLDER, path_of_record
from contactid.run.story import written

# what jobs don't name as their outputs
_UNNAMED = ("logs", "benchmarks")
_VERDICTS, _DEFAULTS = "workflow/resources/verdicts", "config/default.yaml"
_LEDGERS = "workflow/resources/published"


def wrong_logs(bundle: Contents, results: str, sums: Mapping[str, str]) -> list[str]:
    """A line for every result that isn't what the log of its job says, or that no log names."""
    problems = []
    logged = set()
    logs = [name for name in bundle.sizes if name.startswith(f"{results}/logs/")]
    for log in sorted(logs):
        for within, size, digest in written(bundle.text(log)):
            name = f"{results}/{within}"
            logged.add(name)
            # data that no licence lets into a bundle have logs there, too
            if name in sums and (size, digest) != (bundle.sizes[name], sums[name]):
                problems.append(f"{name}: isn't what its job wrote ({log})")
    for name in results_in(bundle, results):
        if name not in logged:
            problems.append(f"{name}: no log says that a job wrote it")
    return problems


def results_in(bundle: Contents, results: str) -> list[str]:
    """The files of a run that jobs wrote as their outputs, sorted."""
    prefix = f"{results}/"
    own = [name.removeprefix(prefix) for name in sorted(bundle.sizes) if name.startswith(prefix)]
    return [prefix + name for name in own if name.partition("/")[0] not in _UNNAMED]


def unrecorded(names: Mapping[str, Any], results: list[str]) -> list[str]:
    """The results of which neither file nor folder has a record of its job among these names."""

    def is_recorded(path: PurePosixPath) -> bool:
        record = FOLDER / path_of_record(str(path))
        return record.as_posix() in names

    without = []
    for name in results:
        path = PurePosixPath(name)
        # a job's output may be a folder that the file is in
        if not any(map(is_recorded, (path, *path.parents))):
            without.append(name)
    return without


def wrong_configuration(bundle: Contents, results: str) -> list[str]:
    """A line where ``provenance.json`` has another configuration than the run's own file."""
    record, file = f"{results}/provenance.json", f"{results}/crate/configuration.yaml"
    try:
        configuration = bundle.json(record)["configuration"]
        # not read as yaml, whose aliases could grow without end
        written_as = yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True)
    except (KeyError, TypeError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ContactIdError(
            f"{record} isn't whole ({type(error).__name__}: {error})", AGAIN
        ) from None
    same = written_as == bundle.text(file)
    return [] if same else [f"{record}: has another configuration than {file}"]


def other_settings(bundle: Contents, results: str, root: Path, commit: str) -> list[str] | None:
    """The configuration's top keys that aren't as a commit's default has them; None without one."""
    text = git(root, "show", f"{commit}:{_DEFAULTS}")
    if text is None:
        return None
    ours = yaml.safe_load(text)
    theirs = bundle.json(f"{results}/provenance.json")["configuration"]
    if not isinstance(theirs, dict):
        return sorted(ours)
    # a key that is absent isn't one without a value
    absent = object()
    keys = {*ours, *theirs}
    return sorted(str(key) for key in keys if ours.get(key, absent) != theirs.get(key, absent))


def unaccepted(
    bundle: Contents, run: str, checks: pd.DataFrame, root: Path, commit: str
) -> list[str] | None:
    """A line for every verdict that isn't the one accepted at a commit for this run; None where it
    has none for it.

    On a processor for which the libraries chose otherwise numbers move, as in ``make check``: these
    are no problem, nor is a verdict that changed since a number at its tolerance's edge was rounded
    otherwise.

    Raises :class:`ContactIdError` where the bundle's record can't be read.
    """
    table = git(root, "show", f"{commit}:{_VERDICTS}/{run}.csv")
    if table is None:
        return None
    accepted_by = json.loads(git(root, "show", f"{commit}:{_VERDICTS}/{run}.json") or b"{}")
    remedy = "Check the checkout with git fsck"
    before = read_verdicts(table, ACCEPTED_COLUMNS, remedy, "the accepted table")
    try:
        now = made_with(bundle.json(f"results/{run}/provenance.json"))
        elsewhere = chose_otherwise(accepted_by, now)
        changes = compare_verdicts(checks, before, elsewhere)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ContactIdError(
            f"the run's record isn't whole ({type(error).__name__}: {error})", AGAIN
        ) from None
    kinds = ["worse", "weaker", "better", "other", "new"]
    # by another rounding
    if not elsewhere:
        kinds.append("drift")
    lines = []
    for kind in kinds:
        for row in changes[kind].to_dict("records"):
            accepted = f"accepted at that commit: {_of(row, '_was')}"
            lines.append(f"{row_name(row)}: {_of(row, '')}; {accepted}")
    return lines


def wrong_sentences(
    bundle: Contents, results: str, checks: pd.DataFrame, root: Path, commit: str
) -> list[str]:
    """A line for every sentence whose verdict isn't what its rows and the commit's ledger give.

    Raises :class:`ContactIdError` where ``claims.csv`` isn't there.
    """
    judged = []
    with tempfile.TemporaryDirectory(prefix="contactid-verify-") as folder:
        for study, rows in checks.groupby("study", sort=False):
            text = git(root, "show", f"{commit}:{_LEDGERS}/{study}_claims.yaml")
            if text is None:
                continue
            file = Path(folder, f"{study}.yaml")
            file.write_bytes(text)
            judged.append(judged_claims(str(study), read_claims(file), rows))
    expected = pd.concat([pd.DataFrame(columns=list(COLUMNS)), *judged])
    name = f"{results}/claims.csv"
    written = pd.read_csv(io.BytesIO(bundle.read(name)), dtype=str, keep_default_na=False)
    # in one of the two alone
    others = sorted(_rows_of(written) ^ _rows_of(expected))
    return [f"{name}: not what its rows give: {study} {claim}" for study, claim, *_ in others]


def _rows_of(table: pd.DataFrame) -> set[tuple[str, ...]]:
    cells = table.reindex(columns=list(COLUMNS)).to_numpy().tolist()
    return {tuple(map(str, row)) for row in cells}


def _of(row: Mapping[Any, Any], which: str) -> str:
    """A row's verdict, number and tolerance; nothing where there is no such row."""
    verdict = row[f"verdict{which}"]
    if pd.isna(verdict) or "tolerance" not in row:
        return "no such row"
    number, tolerance = row[f"reproduced{which}"], row[f"tolerance{which}"]
    return f"{verdict}, {number:g} with tolerance {tolerance:g}"

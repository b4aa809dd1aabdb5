"""The rows of ``checks.csv``, and what they say together: how many have which verdict, and what is furthest off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from contactid.output.comparison import (
    COLUMNS,
    DIFFERS,
    NOT_COMPARABLE,
    REPRODUCED,
    STATEMENT,
    VERDICTS,
    counted,
    tried_answers,
)
from contactid.output.summary import missing_datasets, missing_of
from contactid.review.report.grids import plain, rounded_alike
from contactid.review.report.model import Digest

_NUMBERS = ("published", "reproduced", "tolerance")
KEY = ("study", "artefact", "quantity", "condition")
# endings of quantities' names that say the unit, which has a column of its own
_UNITS = ("_pct", "_cm", "_mm", "_mm2", "_deg", "_ms", "_ns", "_kg", "_m", "_s", "_mm_s", "_m_s", "_kg_mm2", "_kg_m3")


def check_rows(
    table: pd.DataFrame, places: Mapping[tuple[str, ...], str], reasons: Sequence[Mapping[str, str]]
) -> tuple[Any, ...]:
    """The rows of ``checks.csv`` in the file's order, with their columns as attributes, and further ones.

    ``number`` is the row's in the file, from 1; ``counted``: it doesn't repeat another row's experiment; ``deviation``
    is reproduced less published, NaN where there is no such number; ``in_tolerances`` is its magnitude over the
    tolerance, infinite where only an exact number agrees and ours isn't; ``datasets`` are the names in ``data``;
    ``tried``: the wrong answers by name, value, and whether the check refused them; ``printed`` and ``ours``: both
    numbers to the printed digits, statements in words; ``words``: quantity and condition; ``where`` it is printed, and
    ``why`` it differs, where that is told.

    Parameters
    ----------
    places : where numbers are printed, by study, artefact, quantity and condition
    reasons : why numbers differ, by patterns of these four (``published/differences.yaml``)
    """
    rows = table[list(COLUMNS)].copy()
    for column in set(COLUMNS).difference(_NUMBERS):
        rows[column] = rows[column].astype(object).where(rows[column].notna(), "")
    deviation = rows["reproduced"] - rows["published"]
    rows = rows.assign(
        number=range(1, len(rows) + 1),
        counted=rows.index.isin(counted(rows).index),
        deviation=deviation,
        in_tolerances=(deviation.abs() / rows["tolerance"]).where(deviation != 0.0, 0.0),
        datasets=rows["data"].map(lambda names: tuple(filter(None, names.split(", ")))),
        tried=pd.Series(list(map(_tried, rows["wrong_answers"], rows["rejects"])), index=rows.index, dtype=object),
    )
    keys = list(rows[list(KEY)].itertuples(index=False, name=None))
    rows = rows.assign(
        where=[places.get(key, "") for key in keys],
        why=[
            _why(key, reasons) if differs else "" for key, differs in zip(keys, rows["verdict"] == DIFFERS, strict=True)
        ],
        words=[_words(*key[2:]) for key in keys],
        printed="",
        ours="",
    )
    found: Iterable[Any] = rows.itertuples(index=False, name="Check")
    return tuple(row._replace(**_both(row)) for row in found)


def _why(key: tuple[str, ...], reasons: Sequence[Mapping[str, str]]) -> str:
    """The first reason whose patterns the row matches."""
    return next(
        (
            told["why"]
            for told in reasons
            if all(fnmatchcase(of, str(told.get(name, "*"))) for name, of in zip(KEY, key, strict=True))
        ),
        "",
    )


def _words(quantity: str, condition: str) -> str:
    """A quantity without its unit, and its condition in brackets."""
    unit = max((unit for unit in _UNITS if quantity.endswith(unit)), key=len, default="")
    name = plain(quantity.removesuffix(unit))
    return f"{name} ({spoken(condition)})" if condition else name


def _both(check: Any) -> dict[str, str]:
    if check.unit != STATEMENT:
        return rounded_alike(check)
    ours = "-" if check.reproduced != check.reproduced else "holds" if check.reproduced else "doesn't hold"
    return {"printed": "stated", "ours": ours}


def _tried(wrong_answers: str, rejects: str) -> tuple[tuple[str, str, bool], ...]:
    """Name, value and whether it was refused, of each wrong answer."""
    refused = rejects.split(";")
    return tuple((name, f"{value:.6g}", name in refused) for name, value in tried_answers(wrong_answers).items())


def digest(checks: Sequence[Any]) -> Digest:
    """How many have which verdict, what is furthest off, and what the run lacks; repetitions don't count."""
    own = [check for check in checks if check.counted]
    members = {verdict: [check for check in own if check.verdict == verdict] for verdict in VERDICTS}
    sentences = [*_furthest_within(members[REPRODUCED]), *_different(members[DIFFERS])]
    if repeats := len(checks) - len(own):
        rows = "row repeats" if repeats == 1 else "rows repeat"
        sentences.append(f"{repeats} more {rows} an experiment that is counted already.")
    missing = Counter(missing_of(check.note) for check in members[NOT_COMPARABLE])
    return Digest(
        counts={verdict: len(rows) for verdict, rows in members.items()},
        sentences=tuple(sentences),
        missing=tuple(sorted(missing.items(), key=lambda item: (-item[1], item[0]))),
        missing_datasets=tuple(missing_datasets(missing)),
    )


def _furthest_within(checks: Sequence[Any]) -> list[str]:
    """Of numbers that are reproduced, the one with the largest deviation in tolerances; statements have none."""
    numbers = [check for check in checks if check.unit != STATEMENT]
    if not numbers:
        return []
    worst = max(numbers, key=lambda check: check.in_tolerances)
    if worst.in_tolerances == 0.0:
        return ["What is reproduced is exactly the printed number."]
    return [f"Of the reproduced numbers the furthest off is {worst.words}: by {worst.in_tolerances:.2g} tolerances."]


def _different(checks: Sequence[Any]) -> list[str]:
    """Of numbers that differ, the one with the largest deviation in tolerances; every statement that doesn't hold."""
    numbers = [check for check in checks if check.unit != STATEMENT]
    failing = Counter(plain(check.quantity) for check in checks if check.unit == STATEMENT)
    cases = "; ".join(f"{name} ({count} times)" if count > 1 else name for name, count in failing.items())
    told = [f"Stated in print, and not found: {cases}."] if failing else []
    if not numbers:
        return told
    worst = max(numbers, key=lambda check: check.in_tolerances)
    unit = "" if worst.unit == "1" else f" {worst.unit}"
    values = f"{worst.ours}{unit} against {worst.printed}{unit} in print"
    return [f"Of those that differ the furthest off is {worst.words}: {values}.", *told]


def differences(checks: Sequence[Any]) -> list[dict[str, Any]]:
    """What differs, a line for each quantity of an artefact and reason: its ``rows``, and ``why``."""
    lines: dict[tuple[str, ...], list[Any]] = {}
    for check in checks:
        if check.verdict == DIFFERS:
            lines.setdefault((check.artefact, check.quantity, check.why), []).append(check)
    return [{"rows": rows, "why": why, "artefact": artefact} for (artefact, _, why), rows in lines.items()]


def spoken(condition: str) -> str:
    """``object=Box004;simulator=matlab`` as ``object Box004, simulator matlab``."""
    return ", ".join(plain(part).replace("=", " ", 1) for part in condition.split(";") if part)

"""The rows of ``checks.csv`` and ``claims.csv``, and what they say together."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.output.claims import ABSTRACT, NO_RESULT, WEAKEST_FIRST
from contactid.output.comparison import COLUMNS, INPUTS, STATEMENT, counted, tried_answers
from contactid.output.grids import plain, rounded_alike
from contactid.output.statements import read_statements
from contactid.output.summary import missing_datasets, missing_of
from contactid.output.verdicts import (
    BETTER,
    DIFFERS,
    FITTED,
    INPUT,
    LACKS,
    NEEDS_ARCHIVE,
    NEVER_PUBLISHED,
    NOT_DONE,
    PRINT_CONSISTENT,
    PRINT_INCONSISTENT,
    REPRODUCED,
    UNDEFINED,
    UNINFORMATIVE,
    VERDICTS,
)
from contactid.review.report.model import Claim, Digest

_NUMBERS = ("published", "reproduced", "tolerance")
KEY = ("study", "artefact", "quantity", "condition")
# attributes of a row that its other ones decide (check_rows)
_FILLED_IN = ("datasets", "tried", "why", "name", "words", "printed", "ours")
# endings of quantities' names that say the unit, which has a column of its own
_UNITS = (
    *("_pct", "_cm", "_mm", "_mm2", "_deg", "_ms", "_ns", "_kg", "_m", "_s"),
    *("_mm_s", "_m_s", "_kg_mm2", "_kg_m3"),
)
# what an evidence begins with: how many rows have which verdict
_COUNTED = re.compile(r"^\d+ [a-z ]+(?:, \d+ [a-z ]+)*(?:: |$)")
_CASES = re.compile(r"in \d+ of \d+ cases")
# letters of a first reason: on a desktop a line and a half
_LINE = 170
#: Verdicts that say that print isn't so.
AGAINST = (DIFFERS, PRINT_INCONSISTENT)
#: What comes of sentences, by verdict: of one, and of several.
_COME_TO = {
    REPRODUCED: ("is reproduced", "are reproduced"),
    FITTED: ("holds of what is fitted to it", "hold of what is fitted to them"),
    BETTER: ("comes out better than printed", "come out better than printed"),
    PRINT_CONSISTENT: ("agrees with its own numbers", "agree with its own numbers"),
    DIFFERS: ("doesn't hold in this run", "don't hold in this run"),
    PRINT_INCONSISTENT: (
        "is contradicted by its own numbers",
        "are contradicted by its own numbers",
    ),
    UNINFORMATIVE: ("can't be told here", "can't be told here"),
    INPUT: ("is what the run starts from", "are what the run starts from"),
    NEEDS_ARCHIVE: ("needs the paper's recordings", "need the paper's recordings"),
    NEVER_PUBLISHED: ("needs what was never published", "need what was never published"),
    UNDEFINED: ("has no value", "have no value"),
    NOT_DONE: ("isn't computed", "aren't computed"),
}
#: What statements ask, in plain words, by study, artefact, name and condition.
Asked = Mapping[tuple[str, ...], str]


def asked_by(ledgers: Sequence[str | Path]) -> dict[tuple[str, ...], str]:
    """What statements ask, by study, artefact, name and condition."""
    asked: dict[tuple[str, ...], str] = {}
    for file in ledgers:
        study = Path(file).stem.removesuffix("_claims")
        for statement in read_statements(file):
            key = (study, statement.artefact, statement.name, statement.condition)
            asked[key] = statement.asks
    return asked


def check_rows(
    table: pd.DataFrame,
    asked: Asked,
    reasons: Sequence[Mapping[str, str]],
    names: Mapping[str, Mapping[str, str]],
) -> tuple[Any, ...]:
    """The rows of ``checks.csv`` in order, with their columns and further ones as attributes.

    ``number`` is the row's in the file, from 1; ``counted``: it doesn't repeat another row's
    experiment; ``compared``: nothing keeps it from being judged; ``deviation`` is reproduced less
    published, NaN where there is no such number; ``in_tolerances`` is its magnitude over the
    tolerance, infinite where only an exact number agrees and ours isn't; ``datasets`` are the names
    in ``data``; ``tried``: the wrong answers by name, value, and whether the check refused them;
    ``printed`` and ``ours``: both numbers to the printed digits, statements in words; ``name`` is
    the quantity, or what a statement asks, ``words`` this and the condition; ``why`` it isn't as
    printed, where that is written down.

    Parameters
    ----------
    asked : what statements ask
    reasons : why rows aren't as printed, by patterns of study, artefact, quantity and condition
        (``published/differences.yaml``)
    names : words for quantities and for what conditions say, by study (``studies.yaml``)
    """
    rows = table[list(COLUMNS)].copy()
    # of texts, which are empty where a table has none
    for column in set(COLUMNS).difference(_NUMBERS):
        rows[column] = rows[column].astype(object).where(rows[column].notna(), "")
    deviation = rows["reproduced"] - rows["published"]
    rows = rows.assign(
        number=range(1, len(rows) + 1),
        counted=rows.index.isin(counted(rows).index),
        compared=~rows["verdict"].isin(LACKS),
        deviation=deviation,
        # zero tolerances of an exact number, whose tolerance may be zero
        in_tolerances=(deviation.abs() / rows["tolerance"]).where(deviation != 0.0, 0.0),
        **dict.fromkeys(_FILLED_IN, ""),
    )
    checks: Iterable[Any] = rows.itertuples(index=False, name="Check")
    return tuple(_filled_in(row, asked, reasons, names.get(row.study, {})) for row in checks)


def _filled_in(
    row: Any, asked: Asked, reasons: Sequence[Mapping[str, str]], names: Mapping[str, str]
) -> Any:
    """A row with its attributes :data:`_FILLED_IN`, and its note in words."""
    key = tuple(getattr(row, column) for column in KEY)
    name = _name(key, asked, names)
    row = row._replace(
        note=in_words(row.note, names),
        datasets=tuple(filter(None, row.data.split(", "))),
        tried=_tried(row.wrong_answers, row.rejects),
        why=_why(key, reasons) if row.verdict in AGAINST else "",
        name=name,
        words=f"{name} ({spoken(row.condition, names)})" if row.condition else name,
    )
    return row._replace(**_both(row))


def _why(key: tuple[str, ...], reasons: Sequence[Mapping[str, str]]) -> str:
    """The first reason whose patterns the row matches."""
    for reason in reasons:
        patterns = (str(reason.get(name, "*")) for name in KEY)
        if all(map(fnmatchcase, key, patterns)):
            return reason["why"]
    return ""


def _name(key: tuple[str, ...], asked: Asked, names: Mapping[str, str]) -> str:
    """What a statement asks, or a quantity in words without its unit."""
    if key in asked:
        return asked[key].rstrip(".")
    return names.get(key[2]) or without_unit(key[2])


def without_unit(quantity: str) -> str:
    """A quantity's name in words, without its unit.

    >>> [without_unit("impact_time_s"), without_unit("mass")]
    ['impact time', 'mass']
    """
    # the longest: _mm_s, not _s
    unit = max((unit for unit in _UNITS if quantity.endswith(unit)), key=len, default="")
    return plain(quantity.removesuffix(unit))


def all_names(
    table: pd.DataFrame, given: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Words for every quantity of ``checks.csv``, by study: those given, else its own name."""
    names: dict[str, dict[str, str]] = {}
    for study, rows in table[table["unit"] != STATEMENT].groupby("study"):
        own = {quantity: without_unit(quantity) for quantity in rows["quantity"].unique()}
        names[str(study)] = {
            **own,
            INPUTS: "numbers that the run starts from",
            **given.get(str(study), {}),
        }
    return names


def in_words(text: str, names: Mapping[str, str]) -> str:
    """A text with words for the names of quantities in it, and ± as a sign.

    >>> in_words("friction_mu of box_004_drops", {"friction_mu": "μ", "box": "boxes"})
    'μ of box_004_drops'
    """
    quantity = r"\b[a-z]+(?:_[a-z0-9]+)+\b"

    def words(name: re.Match[str]) -> str:
        return names.get(name[0], name[0])

    return re.sub(quantity, words, text.replace("+-", "±"))


def _both(check: Any) -> dict[str, str]:
    if check.quantity == INPUTS:
        return {"printed": f"{check.published:.0f}", "ours": f"{check.cases} as printed"}
    if check.unit != STATEMENT:
        return rounded_alike(check)
    if math.isnan(check.reproduced):
        return {"printed": "stated", "ours": "-"}
    answer = "so" if check.reproduced else "not so"
    if check.cases and not check.cases.endswith(" of 1"):
        answer += f", in {check.cases} cases"
    return {"printed": "stated", "ours": answer}


def _tried(wrong_answers: str, rejects: str) -> tuple[tuple[str, str, bool], ...]:
    """Name, value and whether it was refused, of each wrong answer."""
    refused = rejects.split(";")
    tried = []
    for name, value in tried_answers(wrong_answers).items():
        tried.append((name, f"{value:.6g}", name in refused))
    return tuple(tried)


def moved_thresholds(moved: str) -> str:
    """What the answer would be with thresholds moved by a fifth, in words.

    >>> moved_thresholds("margin*0.8=1;margin*1.2=0")
    'margin times 0.8: so; margin times 1.2: not so'
    """
    parts = []
    for part in filter(None, moved.split(";")):
        name, _, answer = part.rpartition("=")
        threshold = plain(name.replace("*", " times "))
        parts.append(f"{threshold}: {'so' if answer == '1' else 'not so'}")
    return "; ".join(parts)


def digest(checks: Sequence[Any]) -> Digest:
    """How many have which verdict, what is furthest off, what the run lacks; no repetitions."""
    own = [check for check in checks if check.counted]
    by_verdict: defaultdict[str, list[Any]] = defaultdict(list)
    for check in own:
        by_verdict[check.verdict].append(check)
    sentences = []
    if furthest := _furthest(by_verdict[REPRODUCED]):
        sentences.append(_how_close(furthest))
    if furthest := _furthest(by_verdict[DIFFERS]):
        sentences.append(_how_far(furthest))
    repeats = len(checks) - len(own)
    if repeats:
        rows = "row repeats" if repeats == 1 else "rows repeat"
        sentences.append(f"{repeats} more {rows} an experiment that is counted already.")
    counts: Counter[tuple[str, str]] = Counter()
    for verdict in LACKS:
        counts.update((verdict, missing_of(check.note)) for check in by_verdict[verdict])
    missing = [(verdict, words, count) for (verdict, words), count in sorted(counts.items())]
    # by the alphabet where as many rows lack it: the sort is stable
    missing.sort(key=itemgetter(2), reverse=True)
    return Digest(
        counts={verdict: len(by_verdict[verdict]) for verdict in VERDICTS},
        sentences=tuple(sentences),
        missing=tuple(missing),
        missing_datasets=tuple(missing_datasets(words for _, words in counts)),
    )


def _furthest(checks: Sequence[Any]) -> Any:
    """The number with the largest deviation in tolerances; None of statements alone."""
    numbers = [check for check in checks if check.unit != STATEMENT]
    return max(numbers, key=lambda check: check.in_tolerances, default=None)


def _how_close(reproduced: Any) -> str:
    if reproduced.in_tolerances == 0.0:
        return "What is reproduced is exactly the printed number."
    distance = f"by {reproduced.in_tolerances:.2g} tolerances"
    return f"Of the reproduced numbers the furthest off is {reproduced.words}: {distance}."


def _how_far(differing: Any) -> str:
    unit = "" if differing.unit == "1" else f" {differing.unit}"
    values = f"{differing.ours}{unit} against {differing.printed}{unit} in print"
    return f"Of those that differ the furthest off is {differing.words}: {values}."


def differences(checks: Sequence[Any]) -> list[dict[str, Any]]:
    """What isn't as printed: a line, ``rows`` and ``why`` for each verdict, quantity and reason."""
    lines: dict[tuple[str, ...], list[Any]] = {}
    for verdict in AGAINST:
        for check in checks:
            if check.verdict == verdict:
                key = (verdict, check.artefact, check.quantity, check.why)
                lines.setdefault(key, []).append(check)
    return [
        {"verdict": verdict, "rows": rows, "why": why, "artefact": artefact}
        for (verdict, artefact, _, why), rows in lines.items()
    ]


def spoken(condition: str, names: Mapping[str, str] | None = None) -> str:
    """What a condition says, in these words; a value stands where its key's words have ``{}``.

    >>> spoken("scene=throw;throw=1;simulator=matlab", {"scene": "{}", "throw": "throw {}", "matlab": "MATLAB"})
    'throw, throw 1, simulator MATLAB'
    """
    names = names or {}
    # "throw" may be a key and a value: only a key's words have a place for a value
    values = {name: words for name, words in names.items() if "{}" not in words}
    parts = []
    for part in filter(None, condition.split(";")):
        key, _, value = part.partition("=")
        words = names.get(key, plain(key))
        if "{}" not in words:
            words += " {}"
        parts.append(words.replace("{}", values.get(value, plain(value))).strip())
    return ", ".join(parts)


def claim_rows(
    table: pd.DataFrame, checks: Sequence[Any], names: Mapping[str, Mapping[str, str]]
) -> tuple[Claim, ...]:
    """The rows of ``claims.csv``: sentences, with the verdicts behind each.

    Parameters
    ----------
    checks : all rows, as :func:`check_rows` has them
    names : words for quantities and titles of sections, by study
    """
    by_number = {check.number: check for check in checks}
    rows_of_claims = []
    for row in table.fillna("").to_dict("records"):
        numbers = [int(number) for number in str(row["rows"]).split()]
        behind = tuple(by_number[number] for number in numbers)
        counts = Counter(check.verdict for check in behind)
        in_order = [verdict for verdict in (*WEAKEST_FIRST, INPUT) if verdict in counts]
        words = names.get(row["study"], {})
        evidence = in_words(row["evidence"], words)
        # the page shows the counts as badges
        reasons = _COUNTED.sub("", evidence) if behind else evidence
        first, rest = _cut(reasons, row["verdict"])
        rows_of_claims.append(
            Claim(
                study=row["study"],
                name=row["claim"],
                section=section_words(row["section"], words.get(f"section {row['section']}", "")),
                quote=row["quote"],
                asks=row["asks"],
                verdict=row["verdict"],
                evidence=first,
                rest=rest,
                counts={verdict: counts[verdict] for verdict in in_order},
                rows=behind,
            )
        )
    return tuple(rows_of_claims)


def _cut(evidence: str, verdict: str) -> tuple[str, str]:
    """The first reason, no longer than a line, and what is after it."""
    # the verdict's badge says it already
    for word in ("not done", "never published"):
        evidence = evidence.removeprefix(f"{word}: ")
    first, _, rest = evidence.partition("; ")
    cases = ""
    if _CASES.fullmatch(first) and rest:
        cases = first
        first, _, rest = rest.partition("; ")
    if verdict in (NEEDS_ARCHIVE, NEVER_PUBLISHED):
        if not first.startswith("needs "):
            first = f"needs {first}"
        # it isn't what the verdict rests on
        if cases:
            rest = "; ".join(filter(None, (f"on what this run has: {cases}", rest)))
    elif cases:
        first = f"{cases}: {first}"
    if len(first) > _LINE:
        begun = first[:_LINE].rsplit(" ", 1)[0]
        rest = "; ".join(filter(None, (first[len(begun) :].strip(), rest)))
        return f"{begun} …", f"… {rest}"
    return first, rest


def section_words(section: str, title: str = "") -> str:
    """``V-C2`` as ``Section V-C2``; a figure, a table and the abstract are named already.

    >>> [section_words("abstract"), section_words("figure 6"), section_words("VII", "conclusion")]
    ['Abstract', 'Figure 6', 'Section VII, conclusion']
    """
    named = section.lower().startswith(("abstract", "figure", "table"))
    words = section[:1].upper() + section[1:] if named else f"Section {section}"
    return f"{words}, {title}" if title else words


def counts_of(claims: Iterable[Claim]) -> dict[str, int]:
    """How many sentences have which verdict, in the order in which verdicts are told."""
    counts = Counter(claim.verdict for claim in claims)
    return {verdict: counts[verdict] for verdict in (*VERDICTS, NO_RESULT) if counts[verdict]}


def abstract_of(claims: Iterable[Claim]) -> list[Claim]:
    """The sentences of an abstract."""
    return [claim for claim in claims if claim.section == section_words(ABSTRACT)]


def what_holds(claims: Iterable[Claim]) -> str:
    """What comes of an abstract, in a sentence; empty where none of its sentences can be checked."""
    checkable = Counter(claim.verdict for claim in abstract_of(claims))
    del checkable[NO_RESULT]
    if not checkable:
        return ""
    total = checkable.total()
    parts = []
    for verdict in filter(checkable.get, VERDICTS):
        singular, plural = _COME_TO[verdict]
        count = checkable[verdict]
        parts.append(f"{count} {plural if count > 1 else singular}")
    if not checkable[REPRODUCED]:
        parts = ["none is reproduced", *parts]
    sentences = "sentences" if total > 1 else "sentence"
    return f"Of its {total} checkable {sentences} in the abstract {', '.join(parts)}."

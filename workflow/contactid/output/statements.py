"""A paper's statements without a number of their own, judged by their ledger's predicates.

``resources/published/<study>_claims.yaml`` has them under ``statements``. Each names the tables
that it is judged by, the function that takes its evidence from them, the predicate with its
thresholds, and wrong answers: those that follow from a rule come from the predicate and the
evidence, a counterexample may stand beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.core.references import arguments, resolve
from contactid.output.comparison import KEY, STATEMENT, Origins, as_table, origin_of
from contactid.output.ledger import read_ledger
from contactid.output.predicates import Predicate
from contactid.output.verdicts import (
    COMPUTED,
    COUNTEREXAMPLE,
    NOT_DONE,
    UNDEFINED,
    Lack,
    judge_statement,
)

Pattern = Mapping[str, str]


@dataclass(frozen=True)
class Statement:
    """An entry of a ledger's ``statements``.

    Attributes
    ----------
    name, artefact, condition : the key of its row, whose quantity is the name
    where : the place in the paper
    asks : what would have to be so, in plain words
    predicate : ``"contactid.module:Class"``, a :class:`contactid.output.predicates.Predicate`
    thresholds : by name ``value`` and ``why``
    evidence : ``"contactid.module:function"``, which is given what it asks for by name
    settings : of the function, by name
    tables : names of the tables that it is given as ``tables``, and no others
    counterexample : what must be refused, chosen by hand; None for none
    lacks : a kind and words, where no evidence can be had; with ``tables``, where a run hasn't them
    """

    name: str
    artefact: str
    condition: str
    where: str
    asks: str
    predicate: str = ""
    thresholds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    evidence: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[str] = ()
    counterexample: Any = None
    lacks: Mapping[str, str] = field(default_factory=dict)

    def made(self) -> Predicate:
        """The predicate with its thresholds."""
        values = {name: threshold["value"] for name, threshold in self.thresholds.items()}
        predicate: Predicate = resolve(self.predicate)(**values)
        return predicate


@dataclass(frozen=True)
class Evidence:
    """What a statement is asked of.

    Attributes
    ----------
    given : what its predicate takes
    note : the evidence in words
    basis, data : as of :class:`contactid.output.comparison.Reproduced`
    naive : what would be given by the study's naive answers, by name
    lack : why there is none
    """

    given: Any = None
    note: str = ""
    basis: str = COMPUTED
    data: str = ""
    naive: Mapping[str, Any] = field(default_factory=dict)
    lack: Lack | None = None


def missing(kind: str, words: str, note: str = "", data: str = "") -> Evidence:
    """No evidence, and why."""
    return Evidence(note=note, data=data, lack=Lack(kind, words))


def read_statements(ledger: str | Path) -> list[Statement]:
    """The statements of a study's ledger."""
    return [Statement(**entry) for entry in read_ledger(ledger)["statements"]]


def judge_statements(
    study: str,
    ledger: str | Path,
    tables: Mapping[str, pd.DataFrame],
    named: Mapping[str, Any],
    origins: Origins,
) -> pd.DataFrame:
    """A row for each statement of a ledger, with the columns of
    :func:`contactid.output.comparison.compare`.

    Parameters
    ----------
    tables : of the run, by name; a statement that names another one isn't judged
    named : what else functions of evidence may ask for, by name
    origins : of the datasets, by name
    """
    rows = []
    for statement in read_statements(ledger):
        evidence = evidence_of(statement, tables, named)
        rows.append({"study": study, **_row(statement, evidence, origins)})
    return as_table(rows)


def evidence_of(
    statement: Statement, tables: Mapping[str, pd.DataFrame], named: Mapping[str, Any]
) -> Evidence:
    """What a statement is asked of in this run."""
    absent = [name for name in statement.tables if name not in tables]
    if statement.lacks and (absent or not statement.evidence):
        return missing(statement.lacks["kind"], statement.lacks["words"])
    if absent:
        return missing(
            NOT_DONE, f"{', '.join(absent)}, which this configuration leaves out ({statement.name})"
        )
    function = resolve(statement.evidence)
    own = {"tables": {name: tables[name] for name in statement.tables}, **statement.settings}
    evidence: Evidence = function(**arguments(function, {**named, **own}))
    return evidence


def matches(row: Mapping[Any, Any], pattern: Pattern) -> bool:
    """Whether a row's artefact, quantity and condition fit a pattern, which may have wildcards."""
    return all(fnmatchcase(str(row[name]), str(pattern[name])) for name in KEY)


def _row(statement: Statement, evidence: Evidence, origins: Origins) -> dict[str, Any]:
    """A statement's row, without its study."""
    row = {
        "artefact": statement.artefact,
        "quantity": statement.name,
        "condition": statement.condition,
        "where": statement.where,
        "published": 1.0,
        "unit": STATEMENT,
        "tolerance": 0.0,
        "data": evidence.data,
        "note": evidence.note,
    }
    if evidence.lack:
        row["verdict"] = evidence.lack.kind
        row["note"] = "; ".join(filter(None, (evidence.lack.words, evidence.note)))
    if evidence.given is None:
        return row
    # the same question of this run's evidence, of wrong answers, and with other thresholds
    predicate = statement.made()
    cases = [bool(case) for case in predicate.cases(evidence.given)]
    holds = predicate.holds(evidence.given)
    # agreement says something only where the same question refuses wrong answers, and where the
    # thresholds, which print doesn't state, don't decide
    tried = {**evidence.naive, **predicate.opposites(evidence.given)}
    if statement.counterexample is not None:
        tried[COUNTEREXAMPLE] = statement.counterexample
    wrong = {name: predicate.holds(given) for name, given in tried.items()}
    moved = {name: other.holds(evidence.given) for name, other in predicate.moved().items()}
    origin = origin_of(evidence.basis, evidence.data, origins)
    verdict = judge_statement(holds, evidence.basis, origin, wrong, moved) if cases else UNDEFINED
    # what the evidence lacks outweighs what it gives
    return {
        "verdict": verdict,
        **row,
        "reproduced": float(holds),
        "basis": evidence.basis,
        "origin": origin,
        "wrong_answers": answers(wrong),
        "rejects": ";".join(name for name, answer in wrong.items() if not answer),
        "moved": answers(moved),
        "cases": f"{sum(cases)} of {len(cases)}",
    }


def answers(by_name: Mapping[str, bool]) -> str:
    """Answers as a row has them: ``exchanged=0;uniform body=1``."""
    return ";".join(f"{name}={answer:d}" for name, answer in by_name.items())

"""A ledger's statements: evidence from the tables that they name, a predicate, and a row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from contactid.output.comparison import COLUMNS, STATEMENT
from contactid.output.predicates import Predicate
from contactid.output.statements import Evidence, judge_statements, missing, read_statements
from contactid.output.verdicts import (
    DIFFERS,
    NEVER_PUBLISHED,
    NOT_DONE,
    PRINT,
    REPRODUCED,
    UNDEFINED,
    UNINFORMATIVE,
)
from contactid.sources.origin import SYNTHETIC, Origin

PUBLISHED = Path(__file__).parents[2] / "workflow/resources/published"
ORIGINS = {
    "twin": Origin(False, SYNTHETIC),
    "archive": Origin(True, "10.1/2"),
}
ENTRY = {
    "name": "errors_are_smaller",
    "artefact": "tab03",
    "condition": "",
    "where": "section V",
    "asks": "Are they?",
    "predicate": "contactid.output.predicates:Smaller",
    "thresholds": {
        "margin": {"value": 0.05, "why": "the same"},
        "most": {"value": 0.5, "why": "more often than not"},
    },
    "evidence": "test_statements:errors",
    "tables": ["errors"],
}


def errors(tables, data="", lack=None, none=False):
    """Two rows of errors, from the table that the statement names."""
    if none:
        return missing(NEVER_PUBLISHED, "the videos")
    table = tables["errors"]
    return Evidence((list(table["ours"]), list(table["other"])), "by rows", data=data)


def judged(folder: Path, table: pd.DataFrame, **changes) -> pd.Series:
    ledger = folder / "ledger.yaml"
    ledger.write_text(yaml.safe_dump({"statements": [ENTRY | changes], "sentences": []}))
    tables = {"errors": table, "unnamed": table}
    rows = judge_statements("s", ledger, tables, {}, ORIGINS)
    assert list(rows.columns) == list(COLUMNS) and len(rows) == 1
    return rows.iloc[0]


def rows_of(ours, other):
    return pd.DataFrame({"ours": ours, "other": other})


BETTER_ROWS = rows_of([1.0, 1.0, 1.0, 2.0], [2.0, 2.0, 2.0, 1.0])


def test_a_statement_is_one_row_with_a_count(tmp_path: Path) -> None:
    row = judged(tmp_path, BETTER_ROWS)
    assert (row["quantity"], row["artefact"], row["unit"]) == (
        "errors_are_smaller",
        "tab03",
        STATEMENT,
    )
    assert (row["reproduced"], row["cases"], row["verdict"]) == (1.0, "3 of 4", REPRODUCED)
    assert row["wrong_answers"] == "exchanged=0;no difference=0"
    assert row["rejects"] == "exchanged;no difference"
    assert row["moved"] == "margin*0.8=1;margin*1.2=1;most*0.8=1;most*1.2=1"
    assert (row["where"], row["note"], row["origin"]) == ("section V", "by rows", "simulation")


def test_a_fifth_of_a_threshold_decides_nothing(tmp_path: Path) -> None:
    three_of_five = rows_of([1.0, 1.0, 1.0, 2.0, 2.0], [2.0, 2.0, 2.0, 1.0, 1.0])
    assert judged(tmp_path, three_of_five)["verdict"] == UNINFORMATIVE
    near = rows_of([1.0], [1.06])  # smaller by 5.7 %
    assert judged(tmp_path, near)["verdict"] == UNINFORMATIVE


def test_a_twin_decides_only_where_the_opposite_looks_otherwise(tmp_path: Path) -> None:
    same, worse = rows_of([1.0] * 4, [1.0] * 4), rows_of([2.0] * 4, [1.0] * 4)
    on_twin = {"settings": {"data": "twin"}}
    assert judged(tmp_path, same, **on_twin)["verdict"] == UNINFORMATIVE
    assert judged(tmp_path, worse, **on_twin)["verdict"] == DIFFERS
    assert judged(tmp_path, same)["verdict"] == DIFFERS, (
        "a simulation of what the paper describes decides"
    )


def test_what_a_statement_lacks_is_said(tmp_path: Path) -> None:
    stated = judged(
        tmp_path, BETTER_ROWS, evidence="", lacks={"kind": NEVER_PUBLISHED, "words": "the videos"}
    )
    found = judged(tmp_path, BETTER_ROWS, settings={"none": True})
    for row in (stated, found):
        assert (row["verdict"], row["note"]) == (NEVER_PUBLISHED, "the videos")
        assert np.isnan(row["reproduced"])
    absent = judged(tmp_path, BETTER_ROWS, tables=["errors", "left_out"])
    assert absent["verdict"] == NOT_DONE and "left_out" in absent["note"]
    nothing = judged(tmp_path, rows_of([np.inf], [np.inf]))
    assert nothing["verdict"] == UNDEFINED and nothing["cases"] == "0 of 0"


def test_a_table_that_a_statement_does_not_name_is_not_given(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="errors"):
        judged(tmp_path, BETTER_ROWS, tables=["unnamed"])


LEDGERS = sorted(PUBLISHED.glob("*_claims.yaml"))


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda file: file.stem)
def test_thresholds_have_reasons_and_the_predicates_are_asked_for_no_others(ledger: Path) -> None:
    statements = read_statements(ledger)
    assert statements
    keys = [(one.artefact, one.name, one.condition) for one in statements]
    assert len(set(keys)) == len(keys)
    for one in statements:
        assert one.asks and one.where, one.name
        # both: evidence from tables that only some runs have
        assert bool(one.lacks) != bool(one.evidence) or (one.lacks and one.tables), one.name
        for name, threshold in one.thresholds.items():
            assert set(threshold) == {"value", "why"} and threshold["why"], f"{one.name}: {name}"
        if one.predicate:
            assert isinstance(one.made(), Predicate), one.name


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda file: file.stem)
def test_calculations_with_printed_tables_alone_rest_on_print(ledger: Path) -> None:
    printed = {"published", "printed_tab02", "tab01_parameters"}
    for one in read_statements(ledger):
        if one.evidence.endswith("evidence:calculated") and set(one.tables) <= printed:
            assert one.settings["basis"] == PRINT, one.name


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda file: file.stem)
def test_counterexamples_are_refused(ledger: Path) -> None:
    for one in read_statements(ledger):
        if one.counterexample is not None:
            assert not one.made().holds(one.counterexample), one.name

"""Rows on printed numbers: what is tried, what is refused, where the data come from, and what
follows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contactid.output import comparison
from contactid.output.comparison import (
    INPUTS,
    SCALES,
    STATEMENT,
    Reproduced,
    Tolerance,
    compare,
    counted,
)
from contactid.output.verdicts import (
    COMPUTED,
    INPUT,
    NEEDS_ARCHIVE,
    NOT_DONE,
    PREDICTED,
    PRINT,
    REPRODUCED,
    UNINFORMATIVE,
    Lack,
)
from contactid.sources.origin import SYNTHETIC, Origin
from printed_rows import printed_rows

PUBLISHED = Path(__file__).parents[2] / "workflow/resources/published"
ORIGINS = {
    "twin": Origin(False, SYNTHETIC),
    "twin_of_q": Origin(False, SYNTHETIC, ("t/q/*",)),
    "own": Origin(False, "recordings of your own"),
    "archive": Origin(True, "10.1/2"),
}


def one(
    value: float, ours: Reproduced | None, tolerance: float = 0.05, unit: str = "1"
) -> pd.Series:
    """The row of one printed number."""
    printed = printed_rows(("t", "q", "c", value, unit, tolerance, "rounding", "p. 1"))
    numbers = {} if ours is None else {("t", "q", "c"): ours}
    return compare(
        "s", printed, numbers, {"t": Lack(NEEDS_ARCHIVE, "the dataset d")}, ORIGINS
    ).iloc[0]


def test_a_row_tells_what_was_tried_and_what_was_refused() -> None:
    row = one(
        2.0,
        Reproduced(2.0, data="archive", signed=True, naive={"mean": 2.01}, note="by another way"),
    )
    assert row["wrong_answers"] == "zero=0;half=1;twice=4;sign=-2;mean=2.01"
    assert row["rejects"] == "zero;half;twice;sign" and row["verdict"] == UNINFORMATIVE
    assert (row["basis"], row["data"]) == (COMPUTED, "archive")
    assert (row["note"], row["where"]) == ("by another way; tolerance: rounding", "p. 1")
    absent = one(2.0, None)
    assert (absent["basis"], absent["rejects"], absent["note"]) == ("", "", "the dataset d")
    assert absent["verdict"] == NEEDS_ARCHIVE


def test_what_a_number_lacks_is_its_verdict() -> None:
    lacking = one(1.0, Reproduced(1.0, lack=Lack(NOT_DONE, "a finer grid"), note="coarse"))
    assert (lacking["verdict"], lacking["note"]) == (NOT_DONE, "a finer grid; coarse")
    nothing = printed_rows(("t", "q", "c", 1.0, "1", 0.05, "rounding", "p. 1"))
    assert compare("s", nothing, {}, {}, ORIGINS).iloc[0]["verdict"] == NOT_DONE


@pytest.mark.parametrize(("tolerance", "verdict"), [(0.05, REPRODUCED), (0.2, UNINFORMATIVE)])
def test_a_printed_zero_is_tried_with_its_unit_s_scale(tolerance: float, verdict: str) -> None:
    row = one(0.0, Reproduced(0.01), tolerance)
    assert (
        row["wrong_answers"] == f"above={SCALES['1']:g};below=-{SCALES['1']:g}"
        and row["verdict"] == verdict
    )


def test_a_tolerance_of_ours_may_take_the_place_of_the_printed_one() -> None:
    assert one(1.0, Reproduced(1.07, tolerance=Tolerance(0.1, "spread")))["verdict"] == REPRODUCED
    assert (
        one(1.0, Reproduced(1.03, tolerance=Tolerance(0.5, "spread")))["verdict"] == UNINFORMATIVE
    )


@pytest.mark.parametrize(
    ("basis", "data", "origin"),
    [
        (COMPUTED, "", "simulation"),
        (PRINT, "", "print"),
        (PREDICTED, "", "print"),
        (COMPUTED, "archive", "archive"),
        (COMPUTED, "own, archive", "recording"),
        (COMPUTED, "archive, twin:part", "twin"),
        (COMPUTED, "twin, twin_of_q", "twin_of_print"),
    ],
)
def test_the_origin_is_that_of_the_data_that_speaks_least(
    basis: str, data: str, origin: str
) -> None:
    assert comparison.origin_of(basis, data, ORIGINS) == origin


def test_what_is_made_from_a_printed_number_does_not_reproduce_it_whoever_computed_it() -> None:
    ours = Reproduced(1.0, COMPUTED, "twin_of_q:part")
    row = one(1.0, ours)
    assert (row["basis"], row["origin"], row["verdict"]) == (INPUT, "twin_of_print", INPUT)
    other = printed_rows(("t", "another", "c", 1.0, "1", 0.05, "rounding", "p. 1"))
    row = compare("s", other, {("t", "another", "c"): ours}, {}, ORIGINS).iloc[0]
    assert (row["basis"], row["origin"]) == (COMPUTED, "twin_of_print")


def test_what_a_run_starts_from_is_one_row_for_each_table() -> None:
    names = [("a", "m", ""), ("a", "k", ""), ("b", "m", "")]
    printed = printed_rows(*[(*key, 2.0, "kg", 0.0, "none", f"Table {key[0]}") for key in names])
    table = compare("s", printed, {key: Reproduced(2.0, INPUT) for key in names}, {}, {})
    assert list(table["quantity"]) == [INPUTS, INPUTS] and list(table["cases"]) == [
        "2 of 2",
        "1 of 1",
    ]
    assert list(table["verdict"]) == [INPUT, INPUT] and list(table["where"]) == [
        "Table a",
        "Table b",
    ]
    wrong = compare(
        "s",
        printed,
        {key: Reproduced(2.5 if key[1] == "k" else 2.0, INPUT) for key in names},
        {},
        {},
    )
    assert wrong.iloc[0]["verdict"] == "differs" and "not as printed: k" in wrong.iloc[0]["note"]
    changed = compare(
        "s", printed.assign(value=2.1), {key: Reproduced(2.1, INPUT) for key in names}, {}, {}
    )
    assert changed.iloc[0]["note"] != table.iloc[0]["note"], (
        "the checksum is that of the printed numbers"
    )


def test_every_printed_unit_has_a_scale() -> None:
    assert all(scale > 0.0 for scale in SCALES.values())


def test_rows_of_one_experiment_count_once() -> None:
    checks = pd.DataFrame({"verdict": [REPRODUCED] * 3, "repeats": ["", "friction_mu=0.6", np.nan]})
    assert len(counted(checks)) == 2


@pytest.mark.parametrize("study", ["tossing", "planar", "arm", "inhand"])
def test_no_printed_number_has_a_wider_tolerance_than_it_once_had(study: str) -> None:
    once = pd.read_csv(Path(__file__).parent / "largest_tolerances.csv", keep_default_na=False)
    now = pd.read_csv(PUBLISHED / f"{study}.csv", keep_default_na=False)
    for row in once[once["study"] == study].to_dict("records"):
        same = (now["quantity"] == row["quantity"]) & (now["condition"] == row["condition"])
        if (
            row["artefact"] != "text"
        ):  # a claim may have moved from the text to the figure that it is printed with
            same &= now["artefact"] == row["artefact"]
        assert len(now[same]) == 1, row
        assert now.loc[same, "tolerance"].item() <= row["tolerance"], row
    assert not now["tolerance_from"].str.contains("spread|standard dev", case=False).any()
    assert STATEMENT not in set(now["unit"]), "statements stand in the ledger"
    assert set(now.loc[now["value"] == 0.0, "unit"]) <= set(SCALES)

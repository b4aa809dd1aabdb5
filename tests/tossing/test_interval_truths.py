"""How often stated intervals hold on truths that identification doesn't share: the stored table,
and a row of it.
"""

from __future__ import annotations

import pandas as pd
import pytest

from interval_truths import KINDS, SEEDS, TABLE, rows_of

SHARED = ["same law", "other time step"]  # where the law that identifies made the impacts


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """The stored table."""
    return pd.read_csv(TABLE)


def test_every_case_is_there(table: pd.DataFrame) -> None:
    for method, seeds in SEEDS.items():
        cases = table[table["method"] == method]
        assert len(cases) == 2 * 4 * len(KINDS) * len(seeds)
        assert not cases.duplicated(["kind", "box", "seed", "parameter"]).any()


@pytest.mark.parametrize("method", list(SEEDS))
def test_nine_intervals_in_ten_hold_or_the_law_is_refuted(table: pd.DataFrame, method: str) -> None:
    cases = table[table["method"] == method]
    for _, of_kind in cases.groupby("kind"):
        assert (of_kind["held"] | ~of_kind["law_fits"]).mean() >= 0.9


def test_a_law_that_made_the_impacts_is_never_refuted_and_another_one_always(
    table: pd.DataFrame,
) -> None:
    by_impacts = table[table["method"] != "trajectories"]
    assert by_impacts.loc[by_impacts["kind"].isin(SHARED), "law_fits"].all()
    assert not by_impacts.loc[by_impacts["kind"] == "other law", "law_fits"].any()
    assert not by_impacts.loc[by_impacts["kind"] == "rounded corners", "law_fits"].any()


def test_they_are_not_wide_for_nothing(table: pd.DataFrame) -> None:
    """Half as wide, the MPEC's would miss; what noise alone gives holds less often."""
    cases = table[(table["method"] == "impact MPEC") & table["kind"].isin(SHARED)]
    off = (cases["value"] - cases["truth"]).abs()
    half_width = 0.5 * (cases["high"] - cases["low"])
    assert (off > 0.4 * half_width).mean() > 0.1
    assert half_width.max() < 2e-3
    assert cases["naive_held"].mean() < cases["held"].mean()


def test_a_row_of_the_table_is_computed_again(table: pd.DataFrame) -> None:
    again = pd.DataFrame(rows_of("impact MPEC", "other law", "Box004", 0))
    stored = table.merge(again[["method", "kind", "box", "seed", "parameter"]])
    # one impact more or less at a threshold is no other answer
    assert (again["experiments"] - stored["experiments"]).abs().max() <= 1
    for name, share in (("value", 1e-3), ("low", 1e-3), ("high", 1e-3), ("noise_chi_square", 0.05)):
        assert again[name].tolist() == pytest.approx(stored[name].tolist(), rel=share), name
    assert again["law_fits"].tolist() == stored["law_fits"].tolist() == [False, False]

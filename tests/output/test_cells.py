"""Cells that texts quote; what can't be taken is in tests/tools/test_quoted.py."""

import doctest

import pytest

from contactid.output import cells
from contactid.review.article import spans

TABLE = "k,x\na,1\nb,-3\nb,2\n"


def test_examples_are_as_written():
    for module in (cells, spans):
        found = doctest.testmod(module)
        assert found.attempted and found.failed == 0


@pytest.mark.parametrize(
    ("rows", "column", "number"),
    [
        ("k=a", "x", 1.0),
        ("k=b & x!=2", "x", -3.0),
        ("k=b", "count", 2.0),
        ("k=c", "count", 0.0),
        ("", "max(x)", 2.0),
        ("", "largest(x)", 3.0),
        ("k=b", "sem(x)", 2.5),
    ],
)
def test_a_number_of_a_table(tmp_path, rows, column, number):
    (tmp_path / "t.csv").write_text(TABLE)
    assert cells.number_of(cells.read_texts([tmp_path / "t.csv"]), rows, column) == number

"""A printed table has the paper's rows and columns, and printed and found numbers have the same
digits.
"""

from collections import namedtuple

import pytest

from contactid.output.grids import Heading, grid_of, rounded_alike

Check = namedtuple(
    "Check",
    "quantity condition published reproduced tolerance unit printed ours",
    defaults=("", ""),
)
SPEC = {
    "rows": ["by"],
    "columns": ["box", "quantity"],
    "quantities": {"mean_cm": "pos.", "std_cm": "pos.", "i": "I"},
}


def numbers(*conditions):
    return [
        Check(quantity, condition, 2.0, 1.96, 0.05, "cm")
        for condition in conditions
        for quantity in ("mean_cm", "std_cm", "i")
    ]


def test_numbers_stand_in_rows_and_columns_in_printed_order_and_both_numbers_of_a_cell_in_it():
    checks = numbers("by=fit;box=b", "by=guess;box=b", "by=fit;box=a", "by=guess;box=a")
    grid, others = grid_of(SPEC, {"fit": "fitted"}, checks)
    assert others == []
    assert grid.heads == (
        (Heading("b", 2), Heading("a", 2)),
        (Heading("pos.", 1), Heading("I", 1), Heading("pos.", 1), Heading("I", 1)),
    )
    assert [headings for headings, _ in grid.rows] == [
        (Heading("fitted", 1),),
        (Heading("guess", 1),),
    ]
    assert [[len(cell) for cell in cells] for _, cells in grid.rows] == [[2, 1, 2, 1]] * 2
    placed = [check for _, cells in grid.rows for cell in cells for check in cell]
    assert sorted((c.quantity, c.condition) for c in placed) == sorted(
        (c.quantity, c.condition) for c in checks
    )


def test_what_has_no_place_is_given_back():
    extra = [Check("worst", "by=fit;box=b", 1, 1, 0, "1"), Check("i", "by=fit", 1, 1, 0, "1")]
    again = numbers("by=fit;box=b;from=elsewhere")
    grid, others = grid_of(SPEC, {}, [*numbers("by=fit;box=b"), *extra, *again])
    assert others == [*extra, *again]
    assert sum(len(cell) for _, cells in grid.rows for cell in cells) == 3
    assert grid_of(SPEC, {}, extra) == (None, extra)


def test_outer_headings_of_rows_are_over_all_of_theirs():
    spec = {"rows": ["box", "by"], "columns": [], "quantities": {"i": "I"}}
    checks = [
        Check("i", f"box={box};by={by}", 1, 1, 0, "1") for box in "ab" for by in ("x", "y", "z")
    ]
    grid, _ = grid_of(spec, {}, checks)
    assert [row[0][0] for row in grid.rows] == [
        Heading("a", 3),
        None,
        None,
        Heading("b", 3),
        None,
        None,
    ]
    assert grid.heads == ((Heading("printed and ours", 1),),)


@pytest.mark.parametrize(
    ("published", "found", "tolerance", "size", "printed", "ours"),
    [
        (19.7, 0.925329, 0.05, 1.0, "19.7", "0.9"),
        (1.3, 1.2996, 0.0005, 1.0, "1.300", "1.300"),
        (0.000372, 0.00036844, 5e-8, 1e-5, "37.20", "36.84"),
        (0.25, 0.2, 0.025, 1.0, "0.25", "0.20"),
        (1e8, 1e8, 0.0, 1.0, "1e+08", "1e+08"),
        (0.0, -0.004, 0.05, 1.0, "0.0", "0.0"),
        (133.0, float("nan"), 0.5, 1.0, "133", "-"),
    ],
)
def test_printed_and_found_numbers_have_the_printed_digits(
    published, found, tolerance, size, printed, ours
):
    check = Check("i", "", published, found, tolerance, "1")
    assert rounded_alike(check, size) == {"printed": printed, "ours": ours}

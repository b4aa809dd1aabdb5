"""``make equations``: the page is up to date, every equation has a place or a reason, and citations
are read right.
"""

import pytest

import equations
from equations import all_places, citations, cited_in, page, problems, read_equations


def test_the_committed_page_is_what_the_generator_writes():
    written = equations.PAGE.read_text(encoding="utf-8")
    assert written == page(read_equations(), all_places()), (
        "run make equations, and commit docs/equations.md"
    )


def test_every_equation_has_a_place_or_a_reason_and_no_docstring_cites_another():
    assert problems(read_equations(), all_places()) == []


def test_the_list_has_every_number_once_and_says_it_in_a_few_words():
    lines = equations.EQUATIONS.read_text(encoding="utf-8").splitlines()[1:]
    table = read_equations()
    assert len(table) == len(lines)
    last = {"tossing": 21, "planar": 32, "arm": 7, "inhand": 38}
    assert list(table) == [
        (study, number) for study in last for number in range(1, last[study] + 1)
    ]
    assert all(0 < len(what.split()) <= 12 for what, _ in table.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The loss (eq. 16).", [("", 16)]),
        ("Eq. 20's printed matrix lacks a sign.", [("", 20)]),
        ("Minimise eqs. 16 and 18.", [("", 16), ("", 18)]),
        ("The law (eqs. 7 to 11).", [("", number) for number in (7, 8, 9, 10, 11)]),
        ("Eqs. 7, 9, and 11 in turn.", [("", 7), ("", 9), ("", 11)]),
        ("Errors (eqs. 20, 21) at rest.", [("", 20), ("", 21)]),
        ("eqs. 26 to 28 and 30", [("", number) for number in (26, 27, 28, 30)]),
        ("The length l of eq. 18 (tossing): in m.", [("tossing", 18)]),
        ("log (the ``log`` of eq. 13, tossing).", [("tossing", 13)]),
        ("Consistency (eqs. 35 and 36, in-hand\n    paper).", [("inhand", 35), ("inhand", 36)]),
        (
            "Impact law (eqs. 5, 6 and 3 of the tossing paper)",
            [("tossing", 5), ("tossing", 6), ("tossing", 3)],
        ),
        ("how eq. 27 of the planar study's paper treats them", [("planar", 27)]),
        ("one mode (arm paper, eq. 7), or eq. 6", [("arm", 7), ("", 6)]),
        ("eq. 3 of the arm in contact", [("", 3)]),
        ("A step of eq. 17, 18 of them; no frequency 3.", [("", 17)]),
    ],
)
def test_citations_are_read(text, expected):
    assert citations(text) == expected


MODULE = '''
"""Kernel of eqs. 3 to 5 (see eq. 18, tossing paper)."""

class A:
    """Eq. 4."""

    KIND = 1
    """An attribute's own words cite, too: eq. 6."""

    def f(self):
        """Eq. 4 itself."""

    def g(self):
        message = "not a docstring: eq. 9"

def f_other():
    """Eqs. 5 and 5."""
    def inner():
        """Eq. 7."""
'''


def test_the_innermost_definitions_are_listed_and_the_outer_ones_where_they_are_alone():
    assert cited_in(MODULE, "planar") == {
        ("planar", 3): [""],
        ("planar", 4): [".A.f"],
        ("planar", 5): [".f_other"],
        ("tossing", 18): [""],
        ("planar", 6): [".A"],
        ("planar", 7): [".f_other.inner"],
    }


def test_outside_of_the_studies_a_bare_number_is_of_the_one_paper_named():
    one = '"""Eqs. 1 and 2, arm paper."""\ndef f():\n    """Eq. 2."""'
    assert cited_in(one, "core") == {("arm", 1): [""], ("arm", 2): [".f"]}
    two = '"""Eq. 1 (arm), eq. 2 (planar) and eq. 3."""'
    assert list(cited_in(two, "core")) == [("arm", 1), ("planar", 2), ("", 3)]


def test_a_page_is_written_from_a_package(tmp_path):
    (tmp_path / "arm/models").mkdir(parents=True)
    (tmp_path / "arm/models/__init__.py").write_text('"""Eqs. 1 and 9."""')
    (tmp_path / "arm/models/impact.py").write_text('def solve():\n    """Eq. 1."""')
    table = {
        ("arm", 1): ("A law", ""),
        ("arm", 2): ("A lemma", "Not needed."),
        ("arm", 3): ("Another", ""),
    }
    places = all_places(tmp_path)
    rows = [
        line for line in page(table, places).splitlines() if line.startswith("| ") and "A" in line
    ]
    assert rows[0] == (
        "| 1 | A law | [arm.models](../workflow/contactid/arm/models/__init__.py)<br>"
        "[arm.models.impact:solve](../workflow/contactid/arm/models/impact.py) |"
    )
    assert rows[1] == "| 2 | A lemma | Not needed. |"
    assert problems(table, places) == [
        "arm.models cites eq. 9 of arm",
        "arm, eq. 3: no docstring names it",
    ]
    table["arm", 1] = ("A law", "An idle reason.")
    assert "arm, eq. 1: delete its reason" in problems(table, places)

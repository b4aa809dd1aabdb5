"""Fingerprints: words change nothing, and every edit of what a function reaches changes its own."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from contactid.core.errors import ContactIdError
from contactid.run.fingerprint import LOOSE, Fingerprints, defined_by, parse
from contactid.run.why import explain, nearest

PACKAGE = Path(__file__).parents[2] / "workflow/contactid"
FILES = {
    "__init__": "",
    "deep/__init__": "",
    "a": '''"""A."""
from contactid.deep import b
from contactid.deep.b import f as g, unused
from contactid import whole

LIMIT = 3.0
"""What it is."""


class Base:
    """B."""

    def go(self):
        return LIMIT


class Child(Base):
    pass


def top(x):
    """Top."""
    from contactid.deep.late import late

    return g(x) + b.h(x) + late(Child()) + whole_of(whole)


def whole_of(module):
    return module.anything


def named():
    return "contactid.deep.text:told"


def module_named():
    return ["-m", "contactid.deep.text"]


def apart():
    return 1
''',
    "deep/b": """from contactid.deep.constants import SCALE as S, OTHER


def f(x):
    return S * x


def h(x):
    return [k for k in range(x)]


def unused():
    return OTHER
""",
    "deep/constants": "SCALE, OTHER = 2.0, 3.0\nTHIRD = 1\n",
    "deep/late": "def late(x):\n    return x.go()\n",
    "deep/text": "def told():\n    return 1\n\n\ndef untold():\n    return 2\n",
    "whole": "anything = 1\n\n\ndef everything():\n    return 2\n",
}


@pytest.fixture
def package(tmp_path):
    for name, text in FILES.items():
        file = tmp_path / "contactid" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def taken(package, name="top", **more):
    return Fingerprints(workflow=package, **more).of(f"contactid.a:{name}")


def edit(package, module, old, new):
    file = package / f"contactid/{module}.py"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_what_is_reached_is_what_is_named_and_no_more(package):
    reached = Fingerprints(workflow=package).reached("contactid.a:top")
    assert set(reached) == {
        "contactid.a:top", "contactid.a:whole_of", "contactid.a:Child", "contactid.a:Base", "contactid.a:LIMIT",
        "contactid.deep.b:f", "contactid.deep.b:h", "contactid.deep.late:late",
        "contactid.deep.constants:SCALE", "contactid.deep.constants:OTHER",  # one statement
        "contactid.whole:anything", "contactid.whole:everything",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("a", "LIMIT = 3.0", "LIMIT = 4.0"),
        ("a", "return LIMIT", "return -LIMIT"),
        ("a", "class Child(Base)", "class Child(Base, dict)"),
        ("a", "return g(x)", "return -g(x)"),
        ("a", "import f as g", "import unused as g"),
        ("deep/b", "return S * x", "return S + x"),
        ("deep/b", "return [k for k", "return [-k for k"),
        ("deep/constants", "2.0, 3.0", "2.5, 3.0"),
        ("deep/late", "x.go()", "x.go"),
        ("whole", "return 2", "return 3"),
        ("whole", "anything = 1", "anything = 2"),
    ],
)
def test_an_edit_of_what_is_reached_is_noticed(package, module, old, new):
    before = taken(package)
    edit(package, module, old, new)
    assert taken(package) != before


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("a", '"""Top."""', '"""In other words."""'),
        ("a", '"""What it is."""', '"""What else it is."""'),
        ("a", "    return LIMIT", "    return LIMIT  # why"),
        ("a", "return 1", "return 2"),
        ("deep/b", "return OTHER", "return -OTHER"),
        ("deep/constants", "THIRD = 1", "THIRD = 2"),
        ("deep/text", "return 1", "return 5"),
    ],
)
def test_words_and_what_is_not_reached_are_not(package, module, old, new):
    before = taken(package)
    edit(package, module, old, new)
    assert taken(package) == before


def test_a_name_in_a_text_is_a_reference(package):
    assert set(Fingerprints(workflow=package).reached("contactid.a:named")) == {
        "contactid.a:named", "contactid.deep.text:told",
    }  # fmt: skip
    assert "contactid.deep.text:untold" in Fingerprints(workflow=package).reached(
        "contactid.a:module_named"
    )


@pytest.mark.parametrize(
    "wrong", ["contactid.a:nothing", "contactid.nowhere:top", "contactid.a", "a:top"]
)
def test_a_name_of_nothing_is_refused(package, wrong):
    with pytest.raises(ContactIdError, match="names nothing in the package"):
        Fingerprints(workflow=package).of(wrong)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cpython": 1}', "damaged", None])
def test_a_damaged_memory_is_no_memory(package, content):
    remembered = package / "kept.json"
    expected = taken(package, remembered=remembered)
    assert expected == taken(package, remembered=remembered) == taken(package)
    good = remembered.read_text()
    remembered.write_text(good.replace('["', '"') if content == "damaged" else content or "")
    if content is None:
        remembered.unlink()
        remembered.mkdir()  # can't be read or written
    assert taken(package, remembered=remembered) == expected
    assert content is None or remembered.read_text() == good


def test_a_statement_that_defines_nothing_counts_with_all_of_its_module(package):
    before = taken(package)
    edit(package, "deep/constants", "THIRD = 1", "THIRD = 1\nprint(THIRD)")
    assert taken(package) != before


def test_the_modules_of_the_package_hold_definitions_alone():
    """What runs at import stands behind no name, so no fingerprint would say whose it is."""
    for file in PACKAGE.rglob("*.py"):
        for statement in ast.parse(file.read_text()).body:
            assert LOOSE not in defined_by(statement), f"{file.name}:{statement.lineno}"
        assert "import *" not in file.read_text(), file.name


def test_every_reference_in_a_text_names_something():
    code = Fingerprints()
    for name, module in code.modules.items():
        for definition in module.definitions.values():
            for reference in (text for text in definition.names if ":" in text):
                target, _, function = reference.partition(":")
                assert target in code.modules, f"{name}: {reference}"
                assert not function or function in code.modules[target].definitions, (
                    f"{name}: {reference}"
                )


# why


def test_what_changed_is_named_from_the_lists(package):
    lists = package / "lists"
    before = taken(package, lists=lists)
    edit(package, "a", "LIMIT = 3.0", "LIMIT = 4.0")
    edit(package, "a", "late(Child())", "late(Base())")
    now = taken(package, lists=lists)
    reason = "Params have changed since last execution: Union of exclusive params before and now across all output: "
    told = explain(
        f"{reason}before: '{before}', {{'a': 1, 'b': [1, 2]}} now: '{now}', {{'a': 1, 'b': [1, 3]}} ",
        lists,
    )
    assert told == [
        "code: contactid.a:Child (gone)", "code: contactid.a:LIMIT (edited)", "code: contactid.a:top (edited)",
        "setting b.1: 2 is now 3",
    ]  # fmt: skip
    assert json.loads((lists / f"{now}.json").read_text())["contactid.a:LIMIT"]
    told = explain(f"{reason}before: '{'0' * 16}' now: '{now}' ", lists)
    assert told == [
        f"code: fingerprint {'0' * 16} is now {now}; what was behind it isn't kept any more"
    ]
    assert explain("Missing output files: x.csv", lists) == ["Missing output files: x.csv"]
    assert len(explain(f"{reason}before: 'a' now: 'a', 'b'", lists)) == 1


PARAMS = "Params have changed since last execution: Union of exclusive params before and now across all output: "
ROWS = [
    {"place": f"tables/tab{k:02}", "compute": "contactid.a:b", "files": ["csv", "tex"]}
    for k in range(60)
]


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (ROWS[1:], ROWS, ["declared: new tables/tab00"]),
        (ROWS, ROWS[:30] + ROWS[31:], ["declared: gone tables/tab30"]),
        (
            [*ROWS[:59], ROWS[59] | {"compute": "contactid.a:c"}],
            ROWS[1:],
            ["declared: gone tables/tab00", "setting tables/tab59.compute: 'contactid.a:c' is now 'contactid.a:b'"],
        ),
        ({"arm": ROWS[1:], "hand": ROWS}, {"arm": ROWS, "foot": []}, [
            "setting arm: new tables/tab00", "setting: gone hand", "setting: new foot",
        ]),
        ({"seeds": [1, 2, 3]}, {"seeds": [1, 3]}, ["setting seeds: gone 2"]),
        ({"seeds": [1, 2]}, {"seeds": [1, 3]}, ["setting seeds.1: 2 is now 3"]),
        (ROWS[:2], ROWS[1::-1], ["setting value: in another order"]),
    ],
)  # fmt: skip
def test_a_part_that_is_new_or_gone_is_a_line_of_its_own(before, now, told):
    assert explain(f"{PARAMS}before: {before!r} now: {now!r} ") == told


def test_what_cant_be_taken_apart_is_cut():
    """A setting more on one side: nobody knows which is which."""
    assert all(
        len(line) < 320 for line in explain(f"{PARAMS}before: {ROWS!r} now: 'new', {ROWS[1:]!r} ")
    )


def test_of_many_files_three_are_named():
    files = [f"results/a/{k}.csv" for k in range(40)]
    told = explain(
        f"Missing output files: x.csv; Input files updated by another job: {', '.join(files)}"
    )
    assert told == [
        "Missing output files: x.csv; Input files updated by another job: "
        "results/a/0.csv, results/a/1.csv, results/a/2.csv and 37 more"
    ]


def test_a_name_that_no_rule_makes_is_answered_with_the_nearest_that_one_makes():
    plan = """
rule arm_checks:
    input: results/default/check.csv
    output: results/default/arm/checks.csv, results/default/arm/said.csv
rule checks:
    output: results/default/checks.csv
"""
    assert nearest("results/default/check.csv", "") == ""
    assert nearest("results/default/check.csv", plan) == "Did you mean results/default/checks.csv"
    assert (
        nearest("results/default/arm/cheks.csv", plan)
        == "Did you mean results/default/arm/checks.csv"
    )


def test_no_file_is_one_plain_line():
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    ended = subprocess.run(
        [sys.executable, "-m", "contactid.run.why", ""],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("ERROR no file is named. Name a result")


def test_a_fingerprint_is_the_same_under_every_python():
    """Stored results keep them; Python 3.12 gave functions and classes a field, and 3.13 leaves
    empty ones out.
    """
    code = (
        b"class A(B):\n    def f(self, *, x=None):\n        return f'{x!r:>3}', {**self.g()}, []\n"
    )
    assert parse(code).definitions["A"].code == "85908246ef8dc0e3"

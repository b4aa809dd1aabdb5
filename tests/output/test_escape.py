"""Whatever a name holds, it comes out as it is: it starts no math, no command and no markup."""

import csv
import doctest
import re
from html import escape

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.output import escape as module
from contactid.output.drawing import draw
from contactid.output.escape import markdown, mathtext, one_line, spreadsheet, tex
from contactid.output.style import label_data, save, styled
from contactid.output.summary import text_table
from contactid.output.tables import write_csv, write_report_csv
from contactid.output.typesetting import own_table

# what means something in one of the languages, often, beside anything else
SIGNS = st.sampled_from(r"\`*_{}[]<>#$%&~^|!-+=1.a ()@:/" + "\n")
TEXT = st.text(SIGNS | st.characters(exclude_categories=["Cs"]))
ODD = r"$\frac{x$ & 50 % of <b>a_b</b> | `c` #1 ~ {d} [e](f)"


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(module).failed == 0


@given(TEXT)
def test_a_line_is_one_line(text):
    line = one_line(text)
    assert line.isprintable() and len(line) == len(text)
    assert all(a == b for a, b in zip(line, text, strict=True) if b.isprintable())


@given(TEXT, TEXT)
def test_matplotlib_finds_no_math_but_ours(text, other):
    from matplotlib import cbook

    assert not cbook.is_math_text(mathtext(text))
    assert mathtext(text).replace(r"\$", "$") == one_line(text)
    beside = f"{mathtext(text)} $\\mu$ {mathtext(other)}"
    assert cbook.is_math_text(beside) and len(re.findall(r"(?<!\\)\$", beside)) == 2


@given(TEXT)
def test_latex_finds_only_commands_that_print_a_sign(text):
    printed = {r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~",
               r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|"}  # fmt: skip
    command = re.compile(r"\\text[a-z]+\{\}|\\[{}#$%&_]|[^\\{}#$%&_^~<>|]")
    written = tex(text)
    parts = command.findall(written)
    assert "".join(parts) == written
    assert "".join(printed.get(part, part[-1]) for part in parts) == one_line(text)


@given(TEXT)
def test_markdown_finds_no_markup(text):
    written = markdown(text)
    assert (
        re.sub(r"\\([\\`*_\[\]<>|~$&:@!#+=.)-])", r"\1", written.replace(r"\://", "://"))
        == one_line(text).strip()
    )
    bare = re.sub(r"\\.", "", written)  # what isn't escaped
    assert not re.search(r"[\\`*\[\]<>|~$&@]|://", bare)
    assert not re.match(r"([-+]|#{1,6}|\d{1,9}[.)])(\s|$)|---|=+$", written)


@pytest.mark.parametrize(
    "text", ["throw_1.csv", "mu = -0.2, 3 of 4 (95 %)", "chi2, e_N: 1.5 +- 0.2", "-0.25", "1.5"]
)
def test_plain_words_and_numbers_stay_as_they_are(text):
    assert markdown(text) == text


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3))
def test_a_table_has_its_rows_and_cells_whatever_is_in_them(rows):
    given_rows = [[markdown(cell) for cell in row] for row in rows]
    for table in (
        text_table(["a", "b"], given_rows),
        text_table(["a", "b"], [list(row) for row in rows]),
    ):
        lines = table.split("\n")
        assert len(lines) == len(rows) + 2
        assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines)
    text = own_table(pd.DataFrame(rows, columns=["a", "c"]), {}, {"caption": "A"})
    lines = [
        line
        for line in text.partition("\\midrule\n")[2].split("\n")
        if line.endswith("[2pt]") or "&" in line
    ]
    assert len(lines) == len(rows)
    assert all(len(re.findall(r"(?<!\\)&", line)) == 1 for line in lines)
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0


def test_a_caption_keeps_its_math_and_its_data_have_none():
    caption = {"caption": "Error of $J/m$ in %"}
    text = own_table(pd.DataFrame({"a": [1], "data": [ODD]}), {}, caption)
    assert r"\caption{Error of $J/m$ in \%. Data: \$\textbackslash{}frac\{x\$ \&" in text


def odd_figure(data):
    """A figure whose title is a name."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4.0, 1.0))
    axes.set_title(f"{data['object'].iloc[0]}: $\\mu$ = 1")
    return figure


def test_a_figure_shows_an_odd_name_as_it_is(tmp_path):
    pd.DataFrame({"x": [1.0], "object": [ODD], "source": [ODD]}).to_csv(
        tmp_path / "a.csv", index=False
    )
    row = {
        "name": "a",
        "place": "a",
        "draw": "test_escape:odd_figure",
        "files": ("svg",),
        "data": "",
        "settings": {},
    }
    files = [str(tmp_path / f"a.{kind}") for kind in ("pdf", "png", "svg")]
    named = {
        "data": [tmp_path / "a.csv"],
        "drawn": files,
        "kept": tmp_path / "kept",
        "sources": [],
        "code": "",
    }
    draw([{**row, "files": ("pdf", "png", "svg")}], named)
    assert (
        f"<dc:description>{escape(ODD, quote=False)}</dc:description>"
        in (tmp_path / "a.svg").read_text()
    )


def test_a_label_of_data_is_no_math(tmp_path):
    import matplotlib.pyplot as plt

    with styled():
        figure = plt.figure(figsize=(4.0, 0.5))
        label_data(figure, ODD)
        save(figure, tmp_path / "b", ("png", "svg"))
    assert figure.get_supxlabel() == ODD


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@given(TEXT)
def test_no_cell_is_a_formula_and_none_loses_what_it_says(text):
    shown = spreadsheet(text)
    assert not shown.lstrip().startswith(("=", "+", "-", "@")) or is_number(shown)
    assert shown in (text, f"'{text}")


@given(st.floats(allow_nan=False) | st.integers())
def test_a_number_is_no_formula(number):
    for text in (f"{number:g}", f"{number:+.3e}"):
        assert spreadsheet(text) == text


@given(st.lists(st.tuples(TEXT, st.floats(), st.none() | st.booleans()), min_size=1, max_size=4))
def test_a_table_for_people_has_no_formula_and_is_otherwise_what_is_kept(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("csv")
    table = pd.DataFrame(rows, columns=["name", "value", "flag"])
    write_report_csv(table, folder / "shown.csv")
    write_csv(table.assign(name=table["name"].map(spreadsheet)), folder / "cells.csv")
    assert (folder / "shown.csv").read_bytes() == (folder / "cells.csv").read_bytes()
    with (folder / "shown.csv").open(encoding="utf-8", newline="") as file:
        for cell in (cell for line in csv.reader(file) for cell in line):
            assert not cell.lstrip().startswith(("=", "+", "-", "@")) or is_number(cell)
    names = table["name"].map(spreadsheet)
    if (names == table["name"]).all():
        write_csv(table, folder / "kept.csv")
        assert (folder / "shown.csv").read_bytes() == (folder / "kept.csv").read_bytes()

"""Tables for a paper: printed numbers in the paper's cells, ours below them, marked, on a page."""

import doctest
import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contactid.output import latex, typesetting
from contactid.output.artefacts import Spread, table, typesettings
from contactid.output.comparison import INPUTS
from contactid.output.grids import parts_of
from contactid.output.tables import read_csv, write_csv
from contactid.output.typesetting import (
    MARKS,
    as_printed,
    error_digits,
    own_table,
    printed_table,
    typeset,
)
from contactid.output.verdicts import DIFFERS, INPUT, NEEDS_ARCHIVE, VERDICTS
from tex_widths import tabular_widths

RESOURCES = Path(__file__).parents[2] / "workflow/resources"
WIDEST = 17.0  # cm
SPEC = {
    "rows": ["by"],
    "columns": ["box", "quantity"],
    "quantities": {"mean_cm": "pos.", "std_cm": "pos.", "i": "I"},
}
SPREAD = Spread(
    {"by": "scheme", "box": "box"},
    "{quantity}",
    ("{quantity}_low", "{quantity}_high"),
    "95 % interval",
)
RUN = pd.DataFrame(
    {
        "scheme": "fit",
        "box": ["a", "b"],
        "i": [3.04, 3.04],
        "i_low": [2.5, 1.0],
        "i_high": [3.5, 5.0],
        "data": "twins",
    }
)


def declared(name="tab01_a", **more):
    """What the job is told of one table."""
    return typesettings([table(name, "r", "m:f", "A & b.", **more)])[0]


def printed_numbers(*conditions):
    rows = [
        (quantity, condition, value)
        for condition in conditions
        for quantity, value in (("mean_cm", 2.5), ("std_cm", 1.0), ("i", 3.0))
    ]
    published = pd.DataFrame(rows, columns=["quantity", "condition", "value"])
    return published.assign(artefact="tab01", unit="cm", tolerance=0.05)


def judged(published, verdict=DIFFERS):
    ours = 1.0134 * published["value"]
    return published.assign(reproduced=ours, verdict=verdict, origin="twin")


def cells_of(text):
    """The lines of numbers, cell by cell."""
    lines = re.findall(r"^(.*) \\\\(?:\[2pt\])?$", text.partition("\\midrule")[2], re.MULTILINE)
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", line)] for line in lines]


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(typesetting).failed == doctest.testmod(latex).failed == 0


def test_every_verdict_has_a_mark_of_its_own():
    assert set(MARKS) == set(VERDICTS) and len(set(MARKS.values())) == len(MARKS)


def test_a_cell_has_the_printed_number_ours_with_its_mark_and_how_far_it_may_be_off():
    published = printed_numbers("by=fit;box=a", "by=fit;box=b")
    checks = judged(published)
    checks.loc[checks["condition"].str.endswith("b"), ["reproduced", "verdict"]] = [
        float("nan"),
        NEEDS_ARCHIVE,
    ]
    rows = as_printed(checks, published)
    rows.loc[(rows["quantity"] == "i") & rows["reproduced"].notna(), "reproduced"] = 3.04
    text = printed_table(rows, RUN, SPEC, {"fit": "fitted"}, declared(spread=SPREAD))
    assert cells_of(text) == [
        ["fitted", r"$2.5 \pm 1.0$", "$3.0$", r"$2.5 \pm 1.0$", "$3.0$"],
        [
            r"\textit{ours}",
            r"$2.5 \pm 1.0$$^{\mathrm{d}}$",
            r"$3.0$$^{\mathrm{d}}$",
            *[r"--$^{\mathrm{a}}$"] * 2,
        ],
        ["", "", "[$2.5, 3.5$]", "", ""],
    ]
    caption = re.search(r"\\caption\{(.*)\}\n", text)[1]
    assert caption.startswith(r"A \& b. ") and r"In brackets: 95 \% interval." in caption
    assert r"Marks: $^{\mathrm{d}}$~differs, $^{\mathrm{a}}$~needs archive." in caption
    assert "Ours from a synthetic twin that no printed number went into." in caption


def test_numbers_that_the_run_starts_from_are_shown_in_printed_order_though_they_are_one_row():
    published = printed_numbers("by=fit;box=a", "by=fit;box=b")
    checks = judged(published[published["condition"] == "by=fit;box=b"])
    together = {
        "artefact": "tab01",
        "quantity": INPUTS,
        "condition": "",
        "verdict": INPUT,
        "reproduced": 3.0,
    }
    checks = pd.concat([checks, pd.DataFrame([together])], ignore_index=True)
    rows = as_printed(checks, published)
    assert list(rows["condition"]) == list(published["condition"])
    assert list(rows["verdict"]) == [INPUT] * 3 + [DIFFERS] * 3
    assert list(rows["reproduced"][:3]) == [2.5, 1.0, 3.0]
    assert rows["reproduced"][5] == pytest.approx(3.0402)
    checks.loc[checks["quantity"] == INPUTS, "verdict"] = DIFFERS  # not all are used as printed
    assert as_printed(checks, published)["reproduced"][:3].isna().all()


def test_a_table_that_is_halved_has_each_number_once():
    published = printed_numbers(*(f"by=fit;box={box}" for box in "abc"))
    rows = as_printed(judged(published), published)
    whole, halved = (
        printed_table(rows, RUN, {**SPEC, **more}, {}, declared())
        for more in ({}, {"halves": "box"})
    )
    assert halved.count("\\begin{tabular}") == 2 and "\\begin{table*}" in whole
    first, second = (cells_of(part) for part in halved.split("\\end{table}")[:2])
    assert [[*one, *other[1:]] for one, other in zip(first, second, strict=True)] == cells_of(whole)
    assert len(first[0]) == 5 and "{-1}\n\\caption{Continued. Marks" in halved


@given(st.floats(1e-6, 1e6))
def test_digits_are_as_fine_as_the_error_and_no_finer_than_a_twentieth_of_it(error):
    unit = 10.0 ** -error_digits(error)
    assert unit <= max(1.0, 2.0 * error) and (unit >= error / 36.0 or unit == 1.0)


@pytest.mark.parametrize(
    ("half", "ours", "ends"),
    [(0.04, "0.06", ("0.04",)), (0.004, "0.064", ("0.004",)), (2e-7, "0.06", ())],
)
def test_an_error_gives_a_printed_number_one_digit_more_at_most(half, ours, ends):
    check = SimpleNamespace(printed="0.06", ours="0.06", reproduced=0.0638248, ends=(half,))
    assert typesetting._ours(check) == (ours, ends)


def test_a_table_beyond_the_paper_has_its_columns_in_words_and_its_data_in_the_caption():
    run = pd.DataFrame(
        {
            "mass_error_pct": [0.5, 1e-13],
            "n_tosses": [3, 4],
            "known": [True, False],
            "data": "twins",
        }
    )
    text = own_table(run, {}, declared("ext_a"))
    assert "{mass \\\\ error \\\\ (\\%)}" in text
    assert "tosses" in text
    assert "known" in text
    assert "mass\\_" not in text
    # what is left of a zero differs between machines
    assert cells_of(text) == [["$0.500$", "$3$", "yes"], ["$0$", "$4$", "no"]]
    assert r"\caption{A \& b. Data: twins.}" in text


def test_a_row_that_begins_with_a_bracket_is_no_option_of_the_line_before():
    text = own_table(pd.DataFrame({"x": ["[1] a", "*", "b"]}), {}, declared("ext_a"))
    assert [line for [line] in cells_of(text)] == ["{}[1] a", "{}*", "b"]


def grids():
    about = yaml.safe_load((RESOURCES / "report/studies.yaml").read_text(encoding="utf-8"))
    return [
        (study, key, spec) for study, words in about.items() for key, spec in words["grids"].items()
    ]


@pytest.mark.parametrize(("study", "key", "spec"), grids())
def test_printed_tables_have_every_number_once_and_fit_on_a_page(study, key, spec, tmp_path):
    published = read_csv(RESOURCES / f"published/{study}.csv")
    write_csv(judged(published), tmp_path / "checks.csv")
    write_csv(pd.DataFrame({"x": [1.0]}), tmp_path / "run.csv")
    typeset(
        study, [declared(f"{key}_a")], [str(tmp_path / "run.csv")], str(tmp_path / "checks.csv"),
        str(RESOURCES / f"published/{study}.csv"), str(RESOURCES / "report/studies.yaml"), [str(tmp_path / "a.tex")],
    )  # fmt: skip
    text = (tmp_path / "a.tex").read_text(encoding="utf-8")
    axes = {*spec["rows"], *spec["columns"]} - {"quantity"}
    numbers = {
        (row.quantity, *(parts_of(row.condition)[axis] for axis in sorted(axes)))
        for row in published[published["artefact"] == key].itertuples()
        if row.quantity in spec["quantities"] and axes <= parts_of(row.condition).keys()
    }
    lines = [line for part in text.split("\\end{table") for line in cells_of(part)]
    ours = [cell for line in lines if "\\textit{ours}" in line for cell in line if "mathrm" in cell]
    assert sum(1 + cell.count("\\pm") for cell in ours) == len(numbers) > 9
    assert max(tabular_widths(text)) <= WIDEST
    assert max(len(cells_of(part)) for part in text.split("\\end{table")) <= 40, (
        "a page has room for two such halves"
    )

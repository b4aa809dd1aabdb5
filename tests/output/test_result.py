"""A result of whatever command: what it writes, prints and shows, from hand-made numbers."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.output.result import Result, parameter_row, parameter_table, with_error
from contactid.output.simulator_formats import IdentifiedBody

WORKFLOW = Path(__file__).parents[2] / "workflow"
ODD = "<b>a & b</b>"


@pytest.fixture
def answer():
    rows = [
        parameter_row("mass", 2.0, 0.1, "kg"),
        parameter_row("friction_mu", 0.2, np.nan, "1", ends=(0.2, np.inf)),
    ]
    return Result(
        title=ODD,
        params=parameter_table(rows),
        covariance=pd.DataFrame([[0.01]], index=["mass"], columns=["mass"]),
        residuals=xr.Dataset(),
        reasons=(),
        warnings=(ODD,),
        notes=(),
        record={"seconds": 1.0},
        tables={"throws": pd.DataFrame({"throw": [ODD], "impacts": [3]})},
        shown=("throws",),
        limits=("It says nothing of tomorrow.",),
    )


def test_an_interval_is_a_normal_errors_where_no_ends_are_given(answer):
    assert answer.params.loc["mass", ["low", "high"]].tolist() == pytest.approx([1.804, 2.196])


def test_the_numbers_are_json_that_every_reader_takes(answer, tmp_path):
    answer.save(tmp_path)
    record = json.loads((tmp_path / "parameters.json").read_text(), parse_constant=pytest.fail)
    assert record["standard_errors"] == {"mass": 0.1, "friction_mu": None}
    assert record["intervals"]["friction_mu"] == [0.2, None]
    assert record["seconds"] == 1.0
    assert answer.timed(5.0).record["seconds"] == 5.0


def test_names_of_a_user_are_text_on_the_page(answer, tmp_path):
    answer.save(tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert ODD not in page and page.count("&lt;b&gt;a &amp; b&lt;/b&gt;") == 4
    assert page.index("Warnings") < page.index("What this can't tell")
    assert "It says nothing of tomorrow." in answer.summary()


def test_the_headline_stands_for_the_parameters_where_there_is_one(answer):
    # to the second digit of the error
    assert answer.lines()[0] == "mass = 2.00 kg (95 %: 1.80 to 2.20; by data)"
    tiny = parameter_table([parameter_row("center_y", -1.6e-7, 8e-4, "m")])
    line = replace(answer, params=tiny).lines()[0]
    assert line == "center_y = 0.00000 m (95 %: -0.00157 to 0.00157; by data)"
    assert replace(answer, headline=("It is heavy.",)).lines() == ["It is heavy."]


def test_only_an_answer_that_nothing_refutes_is_valid(answer):
    assert answer.valid and "Its own checks hold, with warnings" in answer._repr_html_()
    refuted = replace(answer, reasons=("it falls upwards",))
    assert not refuted.valid and "NOT VALID: it falls upwards" in refuted.summary()


def test_a_body_without_a_mass_is_no_simulators(answer, tmp_path):
    with pytest.raises(ContactIdError, match="its mass isn't known"):
        answer.to_mjcf()
    flat = IdentifiedBody("flat", 1.0, np.zeros(3), np.diag([0.5, 0.5, 1.0]), planar=True)
    planar = replace(answer, body=flat)
    with pytest.raises(ContactIdError, match="URDF has no joint"):
        planar.to_urdf()
    planar.save(tmp_path)
    assert (tmp_path / "body.xml").exists() and not (tmp_path / "body.urdf").exists()


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (515.3, 11.2, "515 +- 11 (standard error)"),
        (0.2204, 0.00236, "0.220 +- 0.002 (standard error)"),
        (0.2204, np.nan, "0.2204 (no standard error)"),
    ],
)
def test_a_number_has_as_many_digits_as_its_error_leaves(value, error, text):
    assert with_error(value, error) == text


def test_the_pages_colours_are_the_runs_reports():
    """The page is apart from the repository, so it can't read the report's own style."""
    colour = re.compile(r"(--[\w-]+): (#\w+)")
    report = (WORKFLOW / "resources/report/report.css").read_text()
    ours = (WORKFLOW / "contactid/output/result.css").read_text()
    assert set(colour.findall(ours)) <= set(colour.findall(report))
    assert len(colour.findall(ours)) == 20

"""``contactid.identify`` on the example: the command's answer from tables in memory, residuals,
covariance.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import contactid
from contactid.core.errors import ContactIdError
from contactid.planar.engine.answer import identify as engine_identify
from contactid.planar.engine.problem import Problem, Throw
from contactid.planar.engine.unknowns import RATIO as RATIO_PLACE
from contactid.planar.own import identify as own_identify
from contactid.planar.own.body import read_own_body, read_own_throws_of
from contactid.planar.readers.csv_throws import sources_of
from documented import printed_by
from identify_example import MU, RADIUS, RATIO, TURN

EXAMPLE = Path(__file__).parents[2] / "examples/identify"
FILES = sorted(EXAMPLE.glob("*.csv"))


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """What the command writes."""
    report = tmp_path_factory.mktemp("example") / "report"
    printed_by("identify", *FILES, "--body", EXAMPLE / "body.yaml", "--report", report)
    return json.loads((report / "parameters.json").read_text())


def test_the_python_of_the_docs_gives_the_commands_answer(example, tmp_path, monkeypatch, capsys):
    root = EXAMPLE.parents[1]
    (tmp_path / "examples").symlink_to(root / "examples")
    text = (root / "docs/own.md").read_text().split("## Your own planar throws")[1]
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None and len(code[1].splitlines()) <= 12
    monkeypatch.chdir(tmp_path)
    told: dict = {}
    exec(code[1], told)
    assert told["answer"].params["value"].to_dict() == example["parameters"]
    # another processor's arithmetic ends in another minimum of the same valley
    printed, shown = (_ratio_of(words) for words in (capsys.readouterr().out, text))
    assert abs(printed[0] - shown[0]) < 0.3 * shown[1] and abs(printed[1] / shown[1] - 1.0) < 0.3


def _ratio_of(words):
    """J/m and its standard error in mm2, as the command prints them."""
    return tuple(map(float, re.search(r"J/m = (\d+) mm2 \+- (\d+)", words).groups()))


def tables_of_the_example():
    """Each throw's rows, as a notebook has them."""
    return pd.concat([pd.read_csv(file).assign(throw=file.stem) for file in FILES])


@pytest.fixture(scope="module")
def answer():
    content = yaml.safe_load((EXAMPLE / "body.yaml").read_text())
    return contactid.identify(tables_of_the_example(), content)


def test_a_table_in_memory_has_the_commands_answer_to_the_last_digit(answer, example):
    assert answer.params["value"].to_dict() == example["parameters"]
    assert answer.params["error"].to_dict() == example["standard_errors"]


def test_a_dataset_is_read_as_its_table_is():
    body = read_own_body(EXAMPLE / "body.yaml")
    table = tables_of_the_example().reset_index(drop=True)
    by_file = read_own_throws_of(body, FILES)
    for rows in (table, table.rename_axis("frame").to_xarray()):
        sources = sources_of(rows)
        assert [source.stem for source in sources] == [file.stem for file in FILES]
        throws = read_own_throws_of(body, sources)
        for one, other in zip(throws.throws, by_file.throws, strict=True):
            assert np.array_equal(one.position, other.position)


@pytest.mark.parametrize("suffix", ["npz", "read"])
def test_arrays_and_what_read_gives_are_throws_too(tmp_path, suffix):
    body = read_own_body(EXAMPLE / "body.yaml")
    (expected,) = read_own_throws_of(body, FILES[:1]).throws
    table = pd.read_csv(FILES[0])
    given = contactid.read(FILES[0])
    if suffix == "npz":
        given = tmp_path / "rolling.npz"
        np.savez(given, **{name: table[name].to_numpy() for name in table})
    (throw,) = read_own_throws_of(body, sources_of(given)).throws
    assert np.array_equal(throw.position, expected.position)


def test_a_column_that_a_table_lacks_is_named():
    table = tables_of_the_example().drop(columns="theta")
    with pytest.raises(ContactIdError, match="rolling: no column theta"):
        contactid.identify(table, EXAMPLE / "body.yaml")


def test_residuals_are_as_large_as_their_noise_and_of_measured_frames_alone(answer, example):
    residuals = answer.residuals
    assert residuals.sizes["frame"] == sum(example["data"]["frames"])
    for channel in ("x", "y", "theta"):
        size = float(np.sqrt((residuals[channel] ** 2).mean()))
        assert size == pytest.approx(residuals[channel].attrs["noise"], rel=0.25)


def test_the_covariance_is_that_of_the_errors_and_holds_the_truth(answer):
    covariance = answer.covariance
    errors = answer.params.loc[covariance.index, "error"]
    assert np.allclose(np.sqrt(np.diag(covariance)), errors)
    assert np.linalg.eigvalsh(covariance / np.outer(errors, errors)).min() > 0.0
    truth = {"inertia_ratio": RATIO, "friction_mu": MU, "corner_radius": RADIUS, "turn": TURN}
    off = answer.params.loc[list(truth), "value"] - pd.Series(truth)
    # a chi-square of 4 degrees exceeds 13.3 once in a hundred
    assert off @ np.linalg.solve(covariance.loc[list(truth), list(truth)], off) < 13.3


def test_unknowns_go_together_as_they_do_along_the_profile_of_the_inertia():
    """The profile fits everything again at each J/m: no curvature is in it."""
    body = read_own_body(EXAMPLE / "body.yaml")
    throws = read_own_throws_of(body, FILES)
    tracked = [Throw(one, seen) for one, seen in zip(throws.throws, throws.seen, strict=True)]
    fitted = engine_identify(Problem(own_identify.stated_geometry(body, throws), tracked))
    correlation = own_identify._correlation(fitted)[RATIO_PLACE]
    walked = np.array([point.common for point in fitted.ratio.points]) - fitted.point.common
    together = (walked * walked[:, [RATIO_PLACE]]).sum(axis=0)
    plain = np.abs(correlation) > 0.15
    assert plain.sum() >= 5
    assert (np.sign(together[plain]) == np.sign(correlation[plain])).all()

"""Stored results: what is held against them, when they may be used, and how they are made."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from contactid.core.errors import ContactIdError
from contactid.output.comparison import Reproduced, compare
from contactid.output.fits import read_json, write_json
from contactid.output.stored import read_stored
from contactid.output.tables import read_csv, write_csv
from contactid.review.held import DIFFERS, HOLDS, NOT_COMPARED, OLDER, hold, tell_stored
from contactid.review.stored import STORED, gather, store
from printed_rows import printed_rows

RESULT = {
    "function": "contactid.review.held:hold", "code": "0123", "settings": {"gravity": 9.81, "start": [0.0, 1.0]},
    "key": ["mu", "seed"], "value": "error_pct", "tolerance": 0.05,
}  # fmt: skip
SAMPLES = pd.DataFrame({"mu": [0.1, 0.1, 0.2], "seed": [1, 2, 1], "error_pct": [3.0, -4.0, np.nan]})


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A stored result, as the rule writes it."""
    monkeypatch.chdir(tmp_path)
    write_csv(SAMPLES, "samples.csv")
    files = [f"results/full/stored/errors/{name}" for name in ("table.csv", "provenance.json")]
    gather(["samples.csv"], RESULT, *files)
    return files


def held(stored, ours=SAMPLES, **others):
    """The row that a run writes of it."""
    write_csv(ours, "ours.csv")
    hold(stored, ["ours.csv"], {"errors": {**RESULT, **others, "samples": 1}}, "held.csv")
    return read_csv("held.csv").iloc[0]


def test_a_configuration_without_samples_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ContactIdError, match="makes no samples of it"):
        gather([], RESULT, "table.csv", "provenance.json")
    assert not list(tmp_path.iterdir())


def changed(row, value):
    table = SAMPLES.copy()
    table.loc[row, "error_pct"] = value
    return table


def test_the_same_samples_hold(stored):
    row = held(stored)
    assert (row["verdict"], row["compared"], row["samples"], row["largest_deviation"]) == (
        HOLDS,
        3,
        3,
        0.0,
    )
    assert (row["name"], row["same_code"]) == ("errors", "yes") and row["made_on"]


@pytest.mark.parametrize(
    ("row", "value", "verdict", "deviation"),
    [
        (0, 3.04, HOLDS, 0.04), (0, 3.06, DIFFERS, 0.06), (1, -4.06, DIFFERS, 0.06), (1, 4.0, DIFFERS, 8.0),
        (0, np.nan, DIFFERS, np.inf), (2, 1.0, DIFFERS, np.inf),
    ],
)  # fmt: skip
def test_one_sample_that_deviates_differs(stored, row, value, verdict, deviation):
    found = held(stored, changed(row, value))
    assert found["verdict"] == verdict and found["largest_deviation"] == pytest.approx(deviation)


def test_each_result_is_held_against_its_own_samples(stored):
    write_csv(SAMPLES, "right.csv")
    write_csv(changed(0, 9.0), "wrong.csv")
    none, two, one = ({**RESULT, "samples": n} for n in (0, 2, 1))
    files = ["right.csv", "right.csv", "wrong.csv"]
    hold(stored * 3, files, {"none": none, "two": two, "one": one}, "held.csv")
    assert [*zip(*(read_csv("held.csv")[name] for name in ("name", "compared", "verdict")), strict=True)] == [
        ("none", 0, NOT_COMPARED), ("two", 6, HOLDS), ("one", 3, DIFFERS)
    ]  # fmt: skip


def test_one_sample_that_the_run_has_is_enough(stored):
    assert held(stored, SAMPLES.iloc[:1])["compared"] == 1
    assert held(stored, changed(0, 5.0).iloc[:1])["verdict"] == DIFFERS


def test_on_another_processor_half_of_the_samples_may_have_moved(stored):
    made = read_json(stored[1])
    write_json(stored[1], {**made, "arithmetic": {**made["arithmetic"], "numba": "another"}})
    row = held(stored, changed(0, 5.0))
    assert (row["verdict"], row["moved"], row["same_arithmetic"]) == (HOLDS, 1, "no")
    assert held(stored, changed([0, 1], 5.0))["verdict"] == DIFFERS


def test_other_code_is_told_whatever_the_samples_say(stored):
    for ours in (SAMPLES, changed(0, 5.0), SAMPLES.iloc[:0]):
        row = held(stored, ours, code="4567")
        assert (row["verdict"], row["same_code"]) == (OLDER, "no")


def test_other_settings_or_no_common_sample_are_not_compared(stored):
    assert held(stored, settings={**RESULT["settings"], "gravity": 9.8})["verdict"] == NOT_COMPARED
    assert held(stored, SAMPLES.assign(seed=7))["verdict"] == NOT_COMPARED


def test_a_table_that_is_not_its_records_is_refused(stored):
    write_csv(changed(0, 3.1), stored[0])
    with pytest.raises(
        ContactIdError, match=r"table\.csv isn't what provenance\.json beside it was"
    ):
        held(stored)


def test_the_record_says_what_made_it(stored):
    made = read_json(stored[1])
    assert made["code"] == "0123"
    assert made["settings"] == RESULT["settings"]
    assert list(made["inputs"]) == ["samples.csv"]
    assert made["processor"]
    assert made["arithmetic"]["numba"]
    assert made["packages"]["numpy"] == np.__version__


@pytest.mark.parametrize(
    ("ours", "code", "verdict", "status"),
    [
        (SAMPLES, "0123", HOLDS, 0), (SAMPLES, "4567", OLDER, 1), (changed(0, 9.0), "0123", DIFFERS, 1),
        (SAMPLES.iloc[:0], "0123", NOT_COMPARED, 0),
    ],
)  # fmt: skip
def test_make_check_and_the_report_tell_it(
    stored, tmp_path, monkeypatch, capsys, ours, code, verdict, status
):
    from contactid.review import check
    from report_run import RESULTS, make_run, rendered

    make_run(tmp_path)
    row = held(stored, ours, code=code)
    write_csv(row.to_frame().T, RESULTS / "stored.csv")
    (sentence, problem), *_ = tell_stored(RESULTS / "stored.csv")
    assert sentence.startswith(f"Stored result errors: {verdict};")
    assert bool(problem) == bool(status)
    page = rendered(tmp_path)
    assert sentence in page and (f"errors: {verdict} (<a" in page) == bool(status)

    printed = printed_rows(("text", "mass", "", 1.0, "kg", 0.5, "rounding", ""))
    key = ("text", "mass", "")
    write_csv(
        compare("planar", printed, {key: Reproduced(1.0, basis="input")}), RESULTS / "checks.csv"
    )
    for words, expected in ((["--accept"], 0), ([], status)):
        monkeypatch.setattr(
            sys, "argv", ["check", "--run", RESULTS.name, "--verdicts", "verdicts", *words]
        )
        ended = 0
        try:
            check.main()
        except SystemExit as end:
            ended = 1
            assert str(end.code).startswith("ERROR") and verdict in str(end.code)
        assert ended == expected
    assert sentence in capsys.readouterr().out


@pytest.fixture
def checkout(tmp_path, stored, monkeypatch):
    """A committed checkout, and a Python whose Snakemake leaves the stored result there."""
    root = tmp_path / "checkout"
    (root / "workflow").mkdir(parents=True)
    (root / "workflow/code.py").write_text("x = 1\n")
    (root / "config").mkdir()
    for run in ("full", "public"):
        (root / f"config/{run}.yaml").write_text("run: full\n")
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/asked\nmkdir -p results\ncp -r {tmp_path}/results/* results/\n'
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "all")
    return root


def git(root, *words):
    who = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b.c",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b.c",
    }
    subprocess.run(["git", *words], cwd=root, check=True, env={**os.environ, **who})


def test_storing_writes_the_folder_that_is_then_read(checkout, tmp_path):
    for _ in range(2):  # what was stored a moment ago isn't committed, and needn't be
        assert "workflow/resources/stored/errors" in store("errors", root=checkout)
    table, _ = read_stored(
        [str(checkout / STORED / "errors" / name) for name in ("table.csv", "provenance.json")]
    )
    pd.testing.assert_frame_equal(table, SAMPLES)
    assert "--configfile config/full.yaml" in (tmp_path / "asked").read_text()


def test_the_samples_of_other_overlays_are_those_of_the_run_that_the_last_one_names(
    checkout, tmp_path
):
    store("errors", ["config/public.yaml", "config/full.yaml"], checkout)
    asked = (tmp_path / "asked").read_text()
    assert "--configfile config/public.yaml config/full.yaml" in asked
    assert "results/full/stored/errors" in asked


@pytest.mark.parametrize(
    "file", ["workflow/code.py", "workflow/new.py", "Snakefile", "config/default.yaml"]
)
def test_an_uncommitted_checkout_is_refused_before_anything_runs(checkout, tmp_path, file):
    (checkout / file).parent.mkdir(exist_ok=True)
    (checkout / file).write_text("x = 2\n")
    with pytest.raises(ContactIdError, match="isn't committed"):
        store("errors", root=checkout)
    assert not (tmp_path / "asked").exists() and not (checkout / STORED).exists()


def test_outside_a_checkout_or_after_a_failure_nothing_is_stored(checkout, tmp_path, stored):
    with pytest.raises(ContactIdError, match="is no git checkout"):
        store("errors", root=tmp_path)
    record = read_json(stored[1])
    write_json(stored[1], {**record, "table_sha256": "0"})
    with pytest.raises(ContactIdError, match="isn't what"):
        store("errors", root=checkout)
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(ContactIdError, match="couldn't be computed"):
        store("errors", root=checkout)
    assert not (checkout / STORED).exists()

"""A job's log tells its story, and no result changes unseen after it."""

import json
import os
import random
import re

import pytest

from contactid.core.errors import ContactIdError
from contactid.run.story import (
    changed,
    forced,
    refuse_changed,
    refuse_damaged,
    tell_begin,
    tell_end,
)
from contactid.sources.lockfile import digest

RUN = "results/small"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A run of two jobs with their logs."""
    monkeypatch.chdir(tmp_path)
    files = {
        "a/table.csv": "x,converged\n0.25,True\n0.5,False\n1.75,True\n", "a/fit.json": json.dumps(FIT, indent=2),
        "b/folder/part.csv": "y\n31\n", "b/folder/.hidden": "1",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / RUN / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / RUN / name).write_text(text)
    for rule, outputs in {"one": ["a/table.csv", "a/fit.json"], "two/seed=1": ["b/folder"]}.items():
        log = tmp_path / RUN / f"logs/{rule}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        tell_end(f"{RUN}/{name}" for name in outputs)
        log.write_text(capsys.readouterr().out)
    return tmp_path / RUN


FIT = {
    "converged": True,
    "status": "optimal",
    "iterations": 12,
    "objective": 0.5,
    "seconds": 1.5,
    "parameters": {"mu": 2},
}


def test_a_log_names_call_settings_inputs_and_what_came_out(run, capsys):
    tell_begin(
        [f"{RUN}/a/table.csv"] * 2, {"call": "m:f", "code": "0123", "seed": 7, "long": "x" * 999}
    )
    told = capsys.readouterr().out
    assert told.startswith("Calls m:f, of code 0123\nWith seed: 7\n")
    assert len(max(told.splitlines(), key=len)) < 400
    assert (
        told.count(f"Reads {RUN}/a/table.csv: 42 bytes, sha256 {digest(run / 'a/table.csv')}\n")
        == 1
    )
    log = (run / "logs/one.log").read_text()
    assert "table.csv: 3 rows, 2 converged, 42 bytes" in log
    assert (
        "fit.json: status optimal, converged True, objective 0.5, iterations 12, seconds 1.5, "
        in log
    )
    assert "hidden" not in (run / "logs/two/seed=1.log").read_text()


def test_a_run_below_a_modules_prefix_is_held_against_its_logs_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine" / RUN
    (folder / "logs").mkdir(parents=True)
    (folder / "table.csv").write_text("x\n1\n")
    tell_end([f"mine/{RUN}/table.csv"])
    (folder / "logs/one.log").write_text(capsys.readouterr().out)
    assert changed(folder) == []
    (folder / "table.csv").write_text("x\n2\n")
    assert changed(folder) == [(str(folder / "table.csv"), "one")]


def test_of_two_jobs_that_wrote_a_file_the_newer_one_counts(tmp_path, monkeypatch, capsys):
    """A rule that an update renamed leaves its log behind."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / RUN
    (folder / "logs").mkdir(parents=True)
    for age, (rule, text) in enumerate((("b_old", "1"), ("a_new", "2"))):
        (folder / "table.csv").write_text(text)
        tell_end([f"{RUN}/table.csv"])
        log = folder / f"logs/{rule}.log"
        log.write_text(capsys.readouterr().out)
        os.utime(log, (age, age))
    assert changed(folder) == []
    (folder / "table.csv").write_text("3")
    assert changed(folder) == [(str(folder / "table.csv"), "a_new")]


def test_what_is_as_it_was_written_is_not_named(run):
    (run / "a/fit.json").unlink()  # Snakemake makes it again
    assert changed(run) == [] and refuse_changed(run) is None


def test_every_single_digit_is_noticed(run):
    random.seed(20261123)
    places = [
        (file, match.start())
        for file in (run / "a/table.csv", run / "a/fit.json", run / "b/folder/part.csv")
        for match in re.finditer(r"\d", file.read_text())
    ]
    for file, place in places:
        before, text = file.stat(), file.read_text()
        other = random.choice([d for d in "0123456789" if d != text[place]])
        file.write_text(text[:place] + other + text[place + 1 :])
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        rule = "two" if "folder" in str(file) else "one"
        assert changed(run) == [(str(file), rule)]
        with pytest.raises(
            ContactIdError, match=rf"{file.name} isn't what its job wrote\. Restore .* -R {rule},"
        ):
            refuse_changed(run)
        refuse_changed(run, [rule])  # it is made again
        refuse_changed(run, [str(file)])
        file.write_text(text)
    assert len(places) > 10 and changed(run) == []


def test_a_job_that_runs_again_guards_nothing_until_it_ends(run):
    (run / "logs/one.log").write_text("Calls m:f\n")
    (run / "a/table.csv").write_text("x\n")
    assert changed(run) == []


def test_what_comes_with_the_repository_is_held_against_its_sums(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part/a.csv").write_text("1\n")
    (tmp_path / "part/SHA256SUMS").write_text(f"{digest(tmp_path / 'part/a.csv')}  a.csv\n")
    refuse_damaged(tmp_path)
    (tmp_path / "part/a.csv").write_text("2\n")
    with pytest.raises(
        ContactIdError, match=r"a\.csv isn't the file that .*SHA256SUMS names\. Restore it: git"
    ):
        refuse_damaged(tmp_path)


def test_forced_rules_are_those_after_the_option():
    words = [
        "snakemake",
        "-c",
        "2",
        "-R",
        "one",
        "two.csv",
        "--forcerun",
        "three",
        "--quiet",
        "all",
    ]
    assert forced(words) == {"one", "two.csv", "three"}

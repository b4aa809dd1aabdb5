"""The closing table of continuous integration: nothing is left out without a word."""

import re

import pytest

import parts
from parts import PARTS, ROOT, Part, main, run

COUNTS = "{python} -c \"print('=== 2 passed, 1 skipped in 0.10s ===')\""
SKIPS = "{python} -c \"print('SKIPPED [3] tests/a.py:1: no simulator here'); print('5 passed, 3 skipped in 1.00s')\""
FAILS = "{python} -c \"print('1 failed, 4 passed in 2.00s'); raise SystemExit(1)\""


@pytest.fixture
def made_up(monkeypatch):
    made = {
        "test": Part("laws", COUNTS),
        "skips": Part("peers", SKIPS),
        "fails": Part("what is wrong", FAILS),
        "lacks": Part("a server", "exit 7", lambda: "no server here"),
    }
    monkeypatch.setattr(parts, "PARTS", made)
    monkeypatch.setattr(parts, "CI", ("test",))
    for variable in ("REQUIRE", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(variable, raising=False)
    return made


def test_the_table_says_what_was_run_and_what_was_left_out_and_why(made_up, capsys):
    assert main(["nightly"]) == 1
    rows = {
        line.split("|")[1].strip(): line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("| ")
    }
    assert "2 passed, 1 skipped in 0.10s" in rows["test"]
    assert "3 left out: no simulator here" in rows["skips"]
    assert "FAILED (1) 1 failed, 4 passed in 2.00s" in rows["fails"]
    assert "left out: no server here" in rows["lacks"]


def test_ci_closes_with_the_line_of_the_readme_s_test_command_and_names_what_it_did_not_ask_for(
    made_up, capsys
):
    assert main(["ci"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "2 passed, 1 skipped in 0.10s"
    assert sum(line.endswith("| not asked for                |") for line in lines) == 3


def test_slices_run_two_at_a_time_each_shown_whole_and_what_takes_all_cores_runs_alone(
    monkeypatch, tmp_path, capfd
):
    running, ended = tmp_path / "{name}.running", tmp_path / "{name}.ended"
    waits = (
        "for i in 1 2 3 4 5 6 7 8 9; do echo {name}; sleep 0.02; done; "
        "until test -e {other}; do sleep 0.02; done"
    )

    def part(name, other):
        words = waits.format(name=name, other=str(running).format(name=other))
        places = [str(place).format(name=name) for place in (running, ended)]
        return Part(name, f"touch {places[0]}; {words}; touch {places[1]}")

    both = [str(ended).format(name=name) for name in ("first", "second")]
    alone = Part("all", f"test -e {both[0]} -a -e {both[1]} && {COUNTS}; rm {both[0]}")
    after = Part("after", f"test ! -e {both[0]}")
    made = {
        "first": part("first", "second"),
        "second": part("second", "first"),
        "test": alone,
        "after": after,
    }
    monkeypatch.setattr(parts, "PARTS", made)
    monkeypatch.setattr(parts, "CI", tuple(made))
    assert main(["ci"]) == 0
    lines = capfd.readouterr().out.splitlines()
    printed = [line for line in lines if line in ("first", "second")]
    assert printed in (["first"] * 9 + ["second"] * 9, ["second"] * 9 + ["first"] * 9)
    assert [line.split("|")[1].strip() for line in lines if line.startswith("| ")][1:] == list(made)
    assert lines[-1] == "2 passed, 1 skipped in 0.10s"


def test_the_table_is_on_the_job_s_page_where_there_is_one(made_up, monkeypatch, tmp_path, capsys):
    page = tmp_path / "summary.md"
    page.write_text("said before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    assert main(["nightly"]) == 1
    text = page.read_text()
    assert text.startswith("said before\n| part ") and "left out: no server here" in text
    assert text.removeprefix("said before\n").strip() in capsys.readouterr().out


@pytest.mark.parametrize(("name", "status"), [("test", 0), ("skips", 1), ("lacks", 1)])
def test_require_all_fails_where_something_is_left_out(made_up, monkeypatch, capsys, name, status):
    assert main([name]) == 0
    monkeypatch.setenv("REQUIRE", "all")
    assert main([name]) == status
    assert (f"left out of {name}" in capsys.readouterr().err) == bool(status)


def test_a_wrong_name_is_one_line(made_up, capsys):
    assert main(["tset"]) == 2
    assert capsys.readouterr().err == "ERROR no part 'tset'. Parts are test, skips, fails, lacks\n"


def test_options_reach_pytest_beside_the_caller_s(monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--durations=3")
    ran = run(
        "{python} -c \"import os; print('1 passed', os.environ['PYTEST_ADDOPTS'], 'in 1s')\"",
        "-k 'a and b'",
    )
    assert ran.line == "1 passed --durations=3 -rs -k 'a and b' in 1s"


def test_every_mark_that_make_test_leaves_out_is_a_part():
    text = (ROOT / "pyproject.toml").read_text()
    marks = set(re.findall(r"^    \"(\w+): ", text, re.MULTILINE))
    commands = " ".join(part.command for part in PARTS.values())
    assert marks
    assert all(f"make test-{mark.replace('browser', 'report')}" in commands for mark in marks)

"""``make check`` and ``make baseline``: what fails, what is only listed, and how mistakes read."""

import sys

import pandas as pd
import pytest

from contactid.output.comparison import COLUMNS, Reproduced, compare
from contactid.output.tables import read_csv, write_csv
from contactid.review import check

RUN, STUDIES = "mine", ("one", "two")
PUBLISHED = pd.DataFrame(
    [
        ("tab01", "mass", "object=a", 1.0, "kg", 0.05, "rounding", ""),
        ("tab01", "mass", "object=b", 2.0, "kg", 0.05, "rounding", ""),
        ("tab01", "error", "object=a", 8.0, "%", 0.5, "rounding", ""),
        ("text", "speed", "", 3.0, "m/s", 0.5, "rounding", ""),
        ("text", "time", "", 4.0, "s", 0.5, "rounding", ""),
    ],
    columns=["artefact", "quantity", "condition", "value", "unit", "tolerance", "tolerance_from", "where"],
)
REPRODUCED = {
    ("tab01", "mass", "object=a"): Reproduced(1.01),
    ("tab01", "mass", "object=b"): Reproduced(2.0),
    ("tab01", "error", "object=a"): Reproduced(1.0, is_error=True),
    ("text", "speed", ""): Reproduced(7.0),
}


@pytest.fixture
def make(tmp_path, capsys, monkeypatch):
    """Call the command; gives exit status, standard output and the error line."""

    def call(*arguments):
        folders = ["--results", str(tmp_path / "results"), "--verdicts", str(tmp_path / "verdicts")]
        monkeypatch.setattr(sys, "argv", ["check", "--run", RUN, *folders, *arguments])
        status, line = 0, ""
        try:
            check.main()
        except SystemExit as end:
            status, line = 1, str(end.code)
        return status, capsys.readouterr().out, line

    return call


@pytest.fixture
def finish(tmp_path):
    """Write the checks of a run that reproduced these numbers."""

    def write(reproduced, studies=STUDIES):
        table = pd.concat([compare(study, PUBLISHED, reproduced, {"": "switched off"}) for study in studies])
        write_csv(table, tmp_path / "results" / RUN / "checks.csv")
        return table

    return write


@pytest.fixture
def accepted(make, finish):
    """A run whose verdicts are accepted."""
    finish(REPRODUCED)
    status, text, _ = make("--accept")
    assert status == 0 and "| one" in text


def test_an_unchanged_run_passes_and_is_counted(make, accepted):
    status, text, line = make()
    assert (status, line) == (0, "")
    assert "| one   | 2      | 1      | 1       | 0     | 1              |" in text
    assert "| all   | 4      | 2      | 2       | 0     | 2              |" in text
    assert "->" not in text and "No check is worse" in text


@pytest.mark.parametrize(
    ("key", "ours", "change"),
    [
        (("tab01", "mass", "object=b"), Reproduced(2.06), "agrees -> differs"),
        (("tab01", "mass", "object=b"), None, "agrees -> not_comparable"),
        (("tab01", "mass", "object=b"), Reproduced(2.0, comparable=False, note="twin"), "agrees -> not_comparable"),
        (("tab01", "error", "object=a"), Reproduced(9.0, is_error=True), "better -> differs"),
        (("tab01", "mass", "object=b"), Reproduced(2.06, is_input=True), "agrees -> differs"),
        (("tab01", "mass", "object=b"), Reproduced(2.0, is_input=True), "agrees -> input"),
    ],
)
def test_one_number_that_gets_worse_fails_and_is_named(make, finish, accepted, key, ours, change):
    changed = {**REPRODUCED, key: ours}
    finish({name: number for name, number in changed.items() if number is not None})
    status, text, line = make()
    assert status == 1 and line.startswith("ERROR run mine: checks got worse") and "\n" not in line
    named = [row for row in text.splitlines() if "->" in row]
    assert len(named) == 2
    assert all(
        row.startswith(f"  {study} {' '.join(key)}: {change};") for row, study in zip(named, STUDIES, strict=True)
    )


def test_a_check_that_disappears_fails_and_is_named(make, accepted, tmp_path):
    file = tmp_path / "results" / RUN / "checks.csv"
    write_csv(read_csv(file).iloc[1:], file)
    status, text, _ = make()
    assert status == 1 and "  one tab01 mass object=a: agrees -> absent" in text.splitlines()


def test_improvements_other_changes_and_new_rows_are_listed_and_pass(make, finish, accepted, tmp_path):
    finish(
        {
            **REPRODUCED,
            ("text", "speed", ""): Reproduced(3.1),
            ("tab01", "error", "object=a"): Reproduced(8.1),
            ("text", "time", ""): Reproduced(9.0),
        }
    )
    file = tmp_path / "verdicts" / f"{RUN}.csv"
    write_csv(read_csv(file).iloc[1:], file)
    status, text, _ = make()
    assert status == 0
    better, other, new = text.split("Better than")[1], text.split("Changed, neither")[1], text.split("Not among")[1]
    assert "two text speed: differs -> agrees; printed 3, reproduced 3.1 m/s" in better
    assert "one tab01 error object=a: better -> agrees" in other and "text time: not_comparable -> differs" in other
    assert "one tab01 mass object=a: agrees; printed 1" in new


def test_checking_writes_nothing_and_accepting_takes_the_change(make, finish, accepted, tmp_path):
    file = tmp_path / "verdicts" / f"{RUN}.csv"
    before = file.read_bytes()
    finish({**REPRODUCED, ("tab01", "mass", "object=b"): Reproduced(3.0)})
    assert make()[0] == 1 and file.read_bytes() == before
    status, text, _ = make("--accept")
    assert status == 0 and "agrees -> differs" in text
    assert make()[0] == 0


def test_a_run_of_one_study_is_compared_alone_and_cannot_be_accepted(make, finish, accepted):
    finish(REPRODUCED, studies=("two",))
    status, text, _ = make()
    assert status == 1 and "The run has no study one" in text
    assert make("--study", "two")[0] == 0
    assert "has no checks of the study 'one'" in make("--study", "one")[2]
    assert "lacks the study one" in make("--accept")[2]


def test_mistakes_are_one_line_with_the_remedy(make, finish, tmp_path):
    status, _, line = make()
    assert status == 1 and line.startswith("ERROR there is no run mine in ") and "Make it first" in line
    finish(REPRODUCED)
    assert make()[2].endswith("mine.csv does not exist. Accept the verdicts that there are: make baseline RUN=mine.")
    assert "'../x' is not the name of a run" in make("--run", "../x")[2]
    assert "there are: mine" in make("--run", "yours")[2]
    (tmp_path / "results" / RUN / "checks.csv").unlink()
    assert "checks.csv does not exist. Let the run finish" in make()[2]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda table: table.drop(columns="verdict"), "lacks the columns verdict"),
        (lambda table: table.assign(verdict="fine"), "unknown verdict 'fine'"),
        (lambda table: pd.concat([table, table.iloc[:1]]), "two rows for one tab01 mass object=a"),
    ],
)
def test_damaged_checks_are_refused(make, finish, accepted, tmp_path, spoil, message):
    file = tmp_path / "results" / RUN / "checks.csv"
    write_csv(spoil(read_csv(file)), file)
    status, _, line = make()
    assert status == 1 and message in line


def test_the_columns_that_users_rely_on(finish):
    assert tuple(finish(REPRODUCED).columns) == COLUMNS

"""``make check`` and ``make baseline``: what fails, what is only listed, and how mistakes read."""

import json
import sys

import pandas as pd
import pytest

from contactid.output.comparison import COLUMNS, Reproduced, Tolerance, compare
from contactid.output.tables import read_csv, write_csv
from contactid.output.verdicts import (
    BETTER,
    COMPUTED,
    COUNTEREXAMPLE,
    DIFFERS,
    FITTED,
    INPUT,
    LACKS,
    NEEDS_ARCHIVE,
    NOT_DONE,
    PRINT,
    PRINT_CONSISTENT,
    PRINT_INCONSISTENT,
    REPRODUCED,
    UNINFORMATIVE,
    VERDICTS,
    Lack,
)
from contactid.review import check
from contactid.sources.origin import SYNTHETIC, Origin
from printed_rows import printed_rows

RUN, STUDIES = "mine", ("one", "two")
MASS = ("tab01", "mass", "object=b")
PUBLISHED = printed_rows(
    ("tab01", "mass", "object=a", 1.0, "kg", 0.05, "rounding", ""),
    ("tab01", "mass", "object=b", 2.0, "kg", 0.05, "rounding", ""),
    ("tab01", "error", "object=a", 8.0, "%", 0.5, "rounding", ""),
    ("text", "speed", "", 3.0, "m/s", 0.5, "rounding", ""),
    ("text", "time", "", 4.0, "s", 0.5, "rounding", ""),
)
ORIGINS = {
    "twin": Origin(False, SYNTHETIC, ("tab01/mass/object=b",)),
    "archive": Origin(True, "an archive"),
}
LACK = Lack(NEEDS_ARCHIVE, "the dataset d")
HERE, THERE = ({"numba": name, "blas": name} for name in ("new", "old"))
OURS = {
    ("tab01", "mass", "object=a"): Reproduced(1.01),
    MASS: Reproduced(2.0),
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
    """Write checks and record of a run that made these numbers."""

    def write(ours, studies=STUDIES, arithmetic=HERE):
        table = pd.concat([compare(study, PUBLISHED, ours, {}, ORIGINS) for study in studies])
        write_csv(table, tmp_path / "results" / RUN / "checks.csv")
        record = {
            "git_commit": "0123456789abcdef", "git_dirty": False, "jobs": {"end": "2026-01-02T03:04:05+00:00"},
            "processor": "P", "arithmetic": arithmetic, "packages": {"numpy": "2.4", "jinja2": "3.1"},
        }  # fmt: skip
        (tmp_path / "results" / RUN / "provenance.json").write_text(json.dumps(record))
        return table

    return write


@pytest.fixture
def accepted(make, finish):
    """A run whose verdicts are accepted."""
    finish(OURS)
    status, text, _ = make("--accept")
    assert status == 0 and "| one" in text


def counts(text, study):
    """A line of the table, by verdict."""
    heading, line = (
        next(row for row in text.splitlines() if row.startswith(f"| {name} "))
        .strip("| ")
        .split("|")[1:]
        for name in ("study", study)
    )
    return {name.strip(): int(count) for name, count in zip(heading, line, strict=True)}


def test_an_unchanged_run_passes_and_is_counted_with_the_reproduced_first(make, accepted):
    status, text, line = make()
    assert (status, line) == (0, "")
    expected = dict.fromkeys(VERDICTS, 0)
    assert counts(text, "one") == expected | {REPRODUCED: 2, BETTER: 1, DIFFERS: 1, NOT_DONE: 1}
    assert counts(text, "all") == expected | {REPRODUCED: 4, BETTER: 2, DIFFERS: 2, NOT_DONE: 2}
    assert list(counts(text, "all")) == list(VERDICTS) and VERDICTS[0] == REPRODUCED
    assert "->" not in text and "No check is worse" in text
    assert "Numbers: 8, of which 8 are the accepted ones, 0 moved" in text


def test_a_row_that_repeats_anothers_experiment_is_not_counted(make, finish, accepted):
    finish({**OURS, MASS: Reproduced(2.0, repeats="object=a")})
    status, text, _ = make()
    assert status == 0
    assert counts(text, "all")[REPRODUCED] == 2
    assert "Not counted: 2 rows that repeat" in text


@pytest.mark.parametrize(
    ("key", "ours", "change"),
    [
        (MASS, Reproduced(2.07), (REPRODUCED, DIFFERS)),
        (MASS, Reproduced(2.055), (REPRODUCED, UNINFORMATIVE)),
        (MASS, None, (REPRODUCED, NOT_DONE)),
        (MASS, Reproduced(2.0, lack=LACK), (REPRODUCED, NEEDS_ARCHIVE)),
        (MASS, Reproduced(2.0, naive={"mean": 2.01}), (REPRODUCED, UNINFORMATIVE)),
        (MASS, Reproduced(2.0, FITTED), (REPRODUCED, FITTED)),
        (MASS, Reproduced(2.0, PRINT), (REPRODUCED, PRINT_CONSISTENT)),
        (MASS, Reproduced(2.0, COMPUTED, "twin"), (REPRODUCED, INPUT)),
        (MASS, Reproduced(2.06, COMPUTED, "twin"), (REPRODUCED, DIFFERS)),
        (MASS, Reproduced(2.06, PRINT), (REPRODUCED, PRINT_INCONSISTENT)),
        (("tab01", "error", "object=a"), Reproduced(9.0, is_error=True), (BETTER, DIFFERS)),
    ],
)
def test_one_number_that_gets_worse_fails_and_is_named(make, finish, accepted, key, ours, change):
    changed = {**OURS, key: ours}
    finish({name: number for name, number in changed.items() if number is not None})
    status, text, line = make()
    assert status == 1 and line.startswith("ERROR run mine: checks got worse") and "\n" not in line
    named = text.split("Worse than")[1].split("\n\n")[0].splitlines()[1:]
    assert len(named) == 2
    assert all(
        row.startswith(f"  {study} {' '.join(key)}: {' -> '.join(change)};")
        for row, study in zip(named, STUDIES, strict=True)
    )


def test_worth_has_one_order():
    """What agreed, in the order of what it shows; what shows nothing; what doesn't agree; what is
    gone.
    """
    order = [(REPRODUCED,), (PRINT_CONSISTENT, FITTED, BETTER), (UNINFORMATIVE, INPUT)]
    order.append((DIFFERS, PRINT_INCONSISTENT, *LACKS))
    assert sorted(verdict for level in order for verdict in level) == sorted(VERDICTS)
    levels = {verdict: level for level, verdicts in enumerate(order) for verdict in verdicts}
    for was, before in levels.items():
        for now, after in levels.items():
            rows = pd.DataFrame(
                [("s", "t", "q", "", now, 1.0, 0.1, "", "")], columns=list(check.ACCEPTED_COLUMNS)
            )
            found = check.compare_verdicts(rows, rows.assign(verdict=was))
            kinds = [kind for kind, part in found.items() if len(part)]
            expected = (
                []
                if was == now
                else ["worse" if after > before else "better" if after < before else "other"]
            )
            assert kinds == expected, (was, now)


def drifting(make, finish, value, arithmetic=HERE):
    finish({**OURS, MASS: Reproduced(value)}, arithmetic=arithmetic)
    return make()


@pytest.mark.parametrize(
    ("value", "drifts"), [(2.0049, False), (2.0051, True), (1.9951, False), (1.9949, True)]
)
def test_a_number_drifts_that_moves_by_more_than_a_tenth_of_its_tolerance(
    make, finish, accepted, value, drifts
):
    status, text, line = drifting(make, finish, value)
    assert status == drifts and ("numbers drifted" in line) == drifts
    assert "got worse" not in line
    told = [row for row in text.splitlines() if f"reproduced 2 -> {value} kg" in row]
    assert len(told) == 2 * drifts
    assert f"{0 if drifts else 2} moved by rounding, and {2 if drifts else 0} further" in text


def test_a_number_with_a_narrow_tolerance_drifts_by_a_thousandth_of_itself(make, finish):
    narrow = Tolerance(1e-5, "rounding")
    for value, status in ((2.0, 0), (2.001, 0), (2.003, 1), (2.0, 0)):
        finish({MASS: Reproduced(value, lack=LACK, tolerance=narrow)})
        if value == 2.0:
            make("--accept")
        assert make()[0] == status, value


def test_a_number_that_appears_or_vanishes_drifts_even_where_nothing_can_be_compared(make, finish):
    absent = {MASS: Reproduced(float("nan"), lack=LACK)}
    there = {MASS: Reproduced(2.0, lack=LACK)}
    for before, now, told in ((absent, there, "nothing -> 2"), (there, absent, "2 -> nothing")):
        finish(before)
        make("--accept")
        finish(now)
        status, text, _ = make()
        assert status == 1
        assert f"tab01 mass object=b: needs_archive; printed 2, reproduced {told} kg" in text


def test_drift_is_told_and_passes_where_the_libraries_chose_other_functions(make, finish, accepted):
    status, text, line = drifting(make, finish, 2.02, THERE)
    assert (
        (status, line) == (0, "") and "Drifted from" in text and "reproduced 2 -> 2.02 kg" in text
    )
    assert "numba new; blas new" in text
    assert "numba old; blas old" in text
    assert "chose other functions" in text
    # a change that is more than drift still fails
    status, _, line = drifting(make, finish, 2.06, THERE)
    assert status == 1 and "checks got worse" in line


@pytest.mark.parametrize("arithmetic", [None, HERE])
def test_drift_fails_where_it_is_not_known_that_they_did(make, finish, accepted, arithmetic):
    assert drifting(make, finish, 2.02, arithmetic)[0] == 1


def test_a_number_at_the_edge_fails_only_where_rounding_cannot_be_the_reason(make, finish):
    finish({MASS: Reproduced(2.0399)})
    make("--accept")
    assert drifting(make, finish, 2.0401)[0] == 1
    status, text, _ = drifting(make, finish, 2.0401, THERE)
    assert status == 0
    assert (
        "two tab01 mass object=b: reproduced -> uninformative"
        in text.split("numbers at its edge")[1]
    )


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (
            Reproduced(2.0),
            Reproduced(2.0, tolerance=Tolerance(0.1, "spread")),
            "tolerance 0.05 -> 0.1",
        ),
        (Reproduced(2.0, naive={"mean": 3.0}), Reproduced(2.0), "refuses no more: mean"),
        (Reproduced(2.0, signed=True), Reproduced(2.0), "refuses no more: sign"),
    ],
)
@pytest.mark.parametrize("arithmetic", [HERE, THERE])
def test_a_check_that_asks_less_fails_although_its_verdict_stays(
    make, finish, before, now, told, arithmetic
):
    finish({MASS: before})
    make("--accept")
    finish({MASS: now}, arithmetic=arithmetic)
    status, text, line = make()
    assert status == 1 and line.startswith("ERROR run mine: checks ask less") and f"{told};" in text
    finish({MASS: now})
    make("--accept")
    finish({MASS: before})
    assert make()[0] == 0, "one that asks more passes"


def test_accepting_keeps_a_line_for_each_row_and_what_it_was_made_with(
    make, finish, accepted, tmp_path
):
    table = read_csv(tmp_path / "verdicts" / f"{RUN}.csv")
    assert tuple(table.columns) == check.ACCEPTED_COLUMNS
    assert table[list(check.KEY)].equals(
        read_csv(tmp_path / "results" / RUN / "checks.csv")[list(check.KEY)]
    )
    made = json.loads((tmp_path / "verdicts" / f"{RUN}.json").read_text())
    assert made["arithmetic"] == HERE
    assert made["processor"] == "P"
    assert made["made"].startswith("2026-01-02")
    assert made["git_commit"] == "0123456789abcdef" and made["packages"]["numpy"] == "2.4"
    assert "made 2026-01-02T03:04:05+00:00 at commit 0123456789ab" in make()[1]
    (tmp_path / "results" / RUN / "provenance.json").unlink()
    assert "provenance.json does not exist" in make("--accept")[2]


def test_another_version_of_a_package_is_named(make, accepted, tmp_path):
    file = tmp_path / "results" / RUN / "provenance.json"
    file.write_text(file.read_text().replace('"2.4"', '"2.5"'))
    assert "Other packages: numpy 2.4 -> 2.5\n" in make()[1]


def test_a_check_that_disappears_fails_and_is_named(make, accepted, tmp_path):
    file = tmp_path / "results" / RUN / "checks.csv"
    write_csv(read_csv(file).iloc[1:], file)
    status, text, _ = make()
    assert status == 1 and "  one tab01 mass object=a: reproduced -> absent" in text.splitlines()


def test_improvements_other_changes_and_new_rows_are_listed_and_pass(
    make, finish, accepted, tmp_path
):
    finish(
        {
            **OURS,
            ("text", "speed", ""): Reproduced(3.1),
            ("tab01", "error", "object=a"): Reproduced(8.1),
            ("text", "time", ""): Reproduced(9.0),
        }
    )
    file = tmp_path / "verdicts" / f"{RUN}.csv"
    write_csv(read_csv(file).iloc[1:], file)
    status, text, _ = make()
    assert status == 0
    better, other, new = (
        text.split("Better than")[1],
        text.split("Changed, neither")[1],
        text.split("Not among")[1],
    )
    assert "two text speed: differs -> reproduced; printed 3, reproduced 7 -> 3.1 m/s" in better
    assert "one tab01 error object=a: better -> reproduced" in better
    assert "text time: not_done -> differs; printed 4, reproduced nothing -> 9 s" in other
    assert "one tab01 mass object=a: reproduced; printed 1" in new


def test_checking_writes_nothing_and_accepting_takes_the_change(make, finish, accepted, tmp_path):
    file = tmp_path / "verdicts" / f"{RUN}.csv"
    before = file.read_bytes()
    finish({**OURS, MASS: Reproduced(3.0)})
    assert make()[0] == 1 and file.read_bytes() == before
    status, text, _ = make("--accept")
    assert status == 0 and "reproduced -> differs" in text
    assert make()[0] == 0


def test_a_run_of_one_study_is_compared_alone_and_cannot_be_accepted(make, finish, accepted):
    finish(OURS, studies=("two",))
    status, text, _ = make()
    assert status == 1 and "The run has no study one" in text
    assert make("--study", "two")[0] == 0
    assert "has no checks of the study 'one'" in make("--study", "one")[2]
    assert "lacks the study one" in make("--accept")[2]


def test_mistakes_are_one_line_with_the_remedy(make, finish, tmp_path):
    status, _, line = make()
    assert status == 1
    assert line.startswith("ERROR there is no run mine in ")
    assert "Make it first" in line
    finish(OURS)
    assert make()[2].endswith(
        "mine.csv does not exist. Accept the verdicts that there are: make baseline RUN=mine."
    )
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
    assert tuple(finish(OURS).columns) == COLUMNS


@pytest.mark.parametrize("run", ["default", "test"])
def test_the_committed_verdicts_say_where_they_were_made_and_what_the_reproduced_refuse(run):
    table = check.read_verdicts(check.ACCEPTED / f"{run}.csv", check.ACCEPTED_COLUMNS, "")
    made = json.loads((check.ACCEPTED / f"{run}.json").read_text())
    assert made["arithmetic"] and made["made"] and made["git_commit"]
    refused = table.loc[table["verdict"] == REPRODUCED, "rejects"].str.split(";").map(set)
    assert len(refused) > 0
    by_rule = refused.map(lambda names: names - {COUNTEREXAMPLE})
    assert (refused.map(len) >= 2).all() and (by_rule.map(len) >= 1).all()

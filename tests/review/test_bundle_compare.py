"""How far two versions of a file are apart, which files are drawn, and which verdicts follow from
their numbers.
"""

import json

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from contactid.output.comparison import COLUMNS, STATEMENT, Reproduced, tried_answers
from contactid.output.comparison import compare as compare_numbers
from contactid.output.tables import write_csv
from contactid.output.verdicts import (
    BASES,
    BETTER,
    DIFFERS,
    FITTED,
    INPUT,
    NEEDS_ARCHIVE,
    PRINT,
    REPRODUCED,
    UNINFORMATIVE,
    Lack,
)
from contactid.review.apart import compare
from contactid.review.check import read_verdicts
from contactid.review.recompute import candidates, draw
from contactid.review.verify import wrong_verdicts
from contactid.run.records import JobRecord
from contactid.sources.origin import Origin
from printed_rows import printed_rows

NUMBERS = st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-6)

TABLE = b"name,mu,seconds,note\na,0.5,1.25,\nb,1e-16,2.5,x\n"


@pytest.mark.parametrize(
    ("again", "largest", "verdict"),
    [
        (TABLE, 0.0, "identical"),
        (b"name,mu,seconds,note\na,0.5,9.75,\nb,1e-16,0.1,x\n", 0.0, "agrees"),
        (b"name,mu,seconds,note\na,0.50001,1.25,\nb,1e-16,2.5,x\n", 2e-5, "agrees"),
        # a residual of rounding
        (b"name,mu,seconds,note\na,0.5,1.25,\nb,1.1e-16,2.5,x\n", 0.0, "agrees"),
        (b"name,mu,seconds,note\na,0.501,1.25,\nb,1e-16,2.5,x\n", 2e-3, "differs"),
        (b"name,mu,seconds,note\na,,1.25,\nb,1e-16,2.5,x\n", np.inf, "differs"),
        (b"name,mu,seconds,note\na,0.5,1.25,\nb,1e-16,2.5,y\n", np.inf, "differs"),
        (b"name,mu,seconds,note\nb,0.5,1.25,\nb,1e-16,2.5,x\n", np.inf, "differs"),
        (b"name,mu,seconds,note\na,inf,1.25,\nb,1e-16,2.5,x\n", np.inf, "differs"),
        (b"name,mu,seconds,note\na,0.5,1.25,\n", np.inf, "differs"),
        (b"name,friction,seconds,note\na,0.5,1.25,\nb,1e-16,2.5,x\n", np.inf, "differs"),
        (b"", np.inf, "differs"),
    ],
)
def test_tables_number_by_number(again, largest, verdict):
    found = compare("tables/tab01.csv", TABLE, again)
    assert found.verdict(1e-4) == verdict
    assert found.largest == pytest.approx(largest, rel=1e-2)


def test_wall_times_of_a_fit_do_not_count_but_everything_else_does():
    fit = {
        "parameters": {"mu": 0.4},
        "seconds": 1.0,
        "solve": {"seconds": 2.0},
        "status": "ok",
        "starts": [1.0, 2.0],
    }

    def against(**changes):
        return compare(
            "fit.json", json.dumps(fit).encode(), json.dumps(fit | changes).encode()
        ).verdict(1e-6)

    assert against() == "identical"
    assert against(seconds=5.0, solve={"seconds": 7.0}) == "agrees"
    for change in (
        {"parameters": {"mu": 0.41}},
        {"status": "bad"},
        {"starts": [1.0]},
        {"starts": [1.0, 2.1]},
    ):
        assert against(**change) == "differs"


def test_netcdf_variables(tmp_path):
    def written(value):
        xr.Dataset({"q": ("t", [0.0, value])}, {"t": [0, 1]}).to_netcdf(
            tmp_path / "m.nc", engine="h5netcdf"
        )
        return (tmp_path / "m.nc").read_bytes()

    first = written(1.0)
    assert compare("m.nc", first, written(1.0)).numbers == 4
    assert compare("m.nc", first, written(1.1)).largest == pytest.approx(0.1 / 1.1)


def jobs_in(folder):
    jobs = []
    for study in ("arm", "planar", "tossing"):
        for number in range(4):
            outputs = [f"results/r/{study}/tables/tab{number}{part}.csv" for part in "ab"]
            for output in outputs:
                (folder / output).parent.mkdir(parents=True, exist_ok=True)
                (folder / output).write_text("x\n1\n")
            jobs.append(
                JobRecord(f"{study}_{number}", tuple(outputs), (), None, 0.0, 100.0 * number)
            )
    return jobs


def test_a_sample_takes_the_studies_in_turn_and_is_the_same_for_a_seed(tmp_path):
    found = candidates(tmp_path, "results/r", jobs_in(tmp_path), 1000.0)
    drawn = draw(found, 6, 1)
    assert drawn == draw(found, 6, 1) and len(set(drawn)) == 6
    assert [path.split("/")[2] for path in drawn] == ["arm"] * 2 + ["planar"] * 2 + ["tossing"] * 2
    assert len({found.maker[path] for path in drawn}) == 6
    assert len({tuple(draw(found, 6, seed)) for seed in range(5)}) > 1
    assert len(draw(found, 100, 1)) == 24


def test_what_takes_long_lacks_its_data_or_has_no_record_is_left_out_with_the_reason(tmp_path):
    jobs = jobs_in(tmp_path)
    jobs[0] = JobRecord("arm_0", jobs[0].outputs, ("data/far.h5",), None, 0.0, 1.0)
    (tmp_path / "results/r/stray.csv").write_text("x\n1\n")
    found = candidates(tmp_path, "results/r", jobs, 150.0)
    assert sum(map(len, found.by_study.values())) == 10
    assert found.left_out["without a record of the job that made it"] == 1
    assert found.left_out["made from data that the bundle hasn't"] == 2
    assert found.left_out["by a job of more than 150 s (planar_3)"] == 2


def judged(value, ours, tolerance=0.1, unit="kg"):
    """The row of one number as a run judges and writes it."""
    published = printed_rows(("t", "q", "", value, unit, tolerance, "rounding", "p. 1"))
    return compare_numbers(
        "s", published, {("t", "q", ""): ours}, {}, {"d": Origin(True, "an archive")}
    )


STATED = {
    "quantity": "q", "unit": STATEMENT, "published": 1.0, "reproduced": 1.0, "tolerance": 0.0, "basis": "computed",
    "origin": "simulation", "wrong_answers": "exchanged=0;no impact=0", "rejects": "exchanged;no impact",
    "moved": "limit*0.8=1;limit*1.2=1", "cases": "3 of 4", "verdict": REPRODUCED, "note": "by rows",
}  # fmt: skip
LACK = Lack(NEEDS_ARCHIVE, "needs d")


def test_a_statement_s_verdict_follows_from_its_columns(tmp_path):
    row = judged(1.0, Reproduced(1.0)).assign(**STATED)
    assert wrong_verdicts(reread(row, tmp_path)) == []
    for changes, problem in (
        ({"verdict": DIFFERS}, "says differs, where reproduced follows"),
        ({"moved": "limit*0.8=0;limit*1.2=1"}, "where uninformative follows"),
        (
            {"wrong_answers": "counterexample=0", "rejects": "counterexample"},
            "where uninformative follows",
        ),
        (
            {"wrong_answers": "exchanged=1;no impact=0", "rejects": "no impact"},
            "where uninformative follows",
        ),
        ({"rejects": "exchanged"}, "which doesn't follow from"),
        ({"cases": "5 of 4"}, "is so in 5 of 4 cases"),
        ({"basis": PRINT, "origin": "print"}, "where print_consistent follows"),
        ({"reproduced": 0.0, "moved": "limit*0.8=0;limit*1.2=0"}, "where differs follows"),
        ({"origin": "somewhere"}, "its origin is somewhere"),
        ({"verdict": "undefined"}, "undefined, but has 4 cases"),
    ):
        (line,) = wrong_verdicts(reread(row.assign(**changes), tmp_path))
        assert problem in line, (changes, line)


def reread(table, folder, **changes):
    """What a bundle's file says, with some cells replaced."""
    write_csv(table.assign(**changes), folder / "checks.csv")
    return read_verdicts(folder / "checks.csv", COLUMNS, "")


@given(
    value=NUMBERS,
    factor=st.floats(0.0, 3.0),
    tolerance=st.floats(1e-3, 2.0),
    basis=st.sampled_from(list(BASES)),
    naive=NUMBERS,
    signed=st.booleans(),
    is_error=st.booleans(),
    lack=st.sampled_from([None, LACK]),
)
def test_whatever_a_run_judges_follows_from_its_columns(
    value, factor, tolerance, basis, naive, signed, is_error, lack
):  # fmt: skip
    ours = Reproduced(
        value * factor,
        basis,
        "d",
        lack,
        naive={"uniform body": naive},
        signed=signed,
        is_error=is_error,
    )
    table = judged(value, ours, tolerance * abs(value))
    rounded = table.map(
        lambda cell: float(f"{cell:.6g}") if isinstance(cell, float) else cell
    )  # as in the file
    assert wrong_verdicts(rounded) == []


@pytest.mark.parametrize(
    ("value", "verdicts"),
    [
        (1.1, (UNINFORMATIVE,)),
        (1.08, (REPRODUCED, UNINFORMATIVE)),
        (1.0799999, (REPRODUCED, UNINFORMATIVE)),
        (1.12, (DIFFERS, UNINFORMATIVE)),
        (1.1200001, (DIFFERS, UNINFORMATIVE)),
    ],
)
def test_at_the_very_edge_either_verdict_follows(tmp_path, value, verdicts):
    for verdict in verdicts:
        assert (
            wrong_verdicts(reread(judged(1.0, Reproduced(value)), tmp_path, verdict=verdict)) == []
        )


@pytest.mark.parametrize(
    ("ours", "changes", "problem"),
    [
        (Reproduced(1.05), {"verdict": DIFFERS}, "says differs, but 1.05 is 0.05 from 1"),
        (Reproduced(1.05), {"verdict": UNINFORMATIVE}, "says uninformative"),
        (Reproduced(1.05), {"verdict": BETTER}, "says better"),
        (Reproduced(1.05), {"verdict": FITTED}, "says fitted"),
        (Reproduced(1.05, FITTED), {"verdict": REPRODUCED}, "says reproduced"),
        (Reproduced(1.05, PRINT), {"verdict": REPRODUCED}, "says reproduced"),
        (Reproduced(1.3), {"verdict": REPRODUCED}, "says reproduced"),
        (Reproduced(1.3, INPUT, "d"), {"verdict": INPUT}, "says input"),
        (Reproduced(1.5, is_error=True), {"verdict": BETTER}, "says better"),
        (Reproduced(1.05, naive={"mean": 1.02}), {"verdict": REPRODUCED}, "says reproduced"),
        (Reproduced(1.05, naive={"mean": 1.02}), {"rejects": "zero;half;twice;mean"}, "rejects zero;half;twice;mean"),
        (Reproduced(1.05), {"rejects": "zero;half"}, "rejects zero;half, which doesn't follow"),
        (Reproduced(1.05), {"rejects": "zero;half;twice;sign"}, "rejects zero;half;twice;sign, which doesn't follow"),
        (Reproduced(1.05), {"rejects": ""}, "rejects nothing"),
        (Reproduced(1.05), {"wrong_answers": "zero=0;half=0.5", "rejects": "zero;half"}, "twice is 2"),
        (Reproduced(1.05), {"wrong_answers": "zero=0;half=0.5;twice=3"}, "twice is 2, which wasn't tried"),
        (Reproduced(1.05), {"wrong_answers": "zero=0;half=b;twice=2"}, "can't be judged"),
        (Reproduced(1.05), {"basis": ""}, "its basis is nothing"),
        (Reproduced(1.05), {"basis": "hope"}, "its basis is hope"),
        (Reproduced(1.05), {"reproduced": np.nan}, "reproduced without a number"),
        (Reproduced(1.05, lack=LACK), {"note": ""}, "needs_archive without a reason"),
        (Reproduced(1.05, lack=LACK), {"note": "; tolerance"}, "needs_archive without a reason"),
        (Reproduced(1.05, lack=LACK), {"rejects": "zero"}, "rejects zero"),
    ],
)  # fmt: skip
def test_a_verdict_that_does_not_follow_is_told(tmp_path, ours, changes, problem):
    table = judged(1.0, ours, unit=changes.get("unit", "kg"))
    assert wrong_verdicts(reread(table, tmp_path)) == []
    (line,) = wrong_verdicts(reread(table, tmp_path, **changes))
    assert line.startswith("s t q: ") and problem in line


def test_the_wrong_answers_of_a_row_are_read_as_they_were_written():
    naive = {"mean of the others": 0.25, "a=b": -3.0}
    told = judged(1.0, Reproduced(1.0, signed=True, naive=naive)).loc[0, "wrong_answers"]
    assert tried_answers(told) == {"zero": 0.0, "half": 0.5, "twice": 2.0, "sign": -1.0, **naive}
    assert tried_answers("") == {}

"""How far two versions of a file are apart, which files are drawn, and which verdicts follow from their numbers."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from contactid.review.verify import candidates, compare, draw, wrong_verdicts
from contactid.run.records import JobRecord

TABLE = b"name,mu,seconds,note\na,0.5,1.25,\nb,1e-16,2.5,x\n"


@pytest.mark.parametrize(
    ("again", "largest", "verdict"),
    [
        (TABLE, 0.0, "identical"),
        (b"name,mu,seconds,note\na,0.5,9.75,\nb,1e-16,0.1,x\n", 0.0, "agrees"),
        (b"name,mu,seconds,note\na,0.50001,1.25,\nb,1e-16,2.5,x\n", 2e-5, "agrees"),
        # a residual of rounding
        (b"name,mu,seconds,note\na,0.5,1.25,\nb,1.1e-16,2.5,x\n", 2e-5, "agrees"),
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
    fit = {"parameters": {"mu": 0.4}, "seconds": 1.0, "solve": {"seconds": 2.0}, "status": "ok", "starts": [1.0, 2.0]}

    def against(**changes):
        return compare("fit.json", json.dumps(fit).encode(), json.dumps(fit | changes).encode()).verdict(1e-6)

    assert against() == "identical"
    assert against(seconds=5.0, solve={"seconds": 7.0}) == "agrees"
    for change in ({"parameters": {"mu": 0.41}}, {"status": "bad"}, {"starts": [1.0]}, {"starts": [1.0, 2.1]}):
        assert against(**change) == "differs"


def test_netcdf_variables(tmp_path):
    def written(value):
        xr.Dataset({"q": ("t", [0.0, value])}, {"t": [0, 1]}).to_netcdf(tmp_path / "m.nc", engine="h5netcdf")
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
            jobs.append(JobRecord(f"{study}_{number}", tuple(outputs), (), None, 0.0, 100.0 * number))
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


def test_a_verdict_has_to_follow_from_its_numbers():
    columns = ["study", "artefact", "quantity", "condition", "published", "reproduced", "tolerance", "verdict", "note"]
    rows = [
        ("s", "t", "right", "", 1.0, 1.05, 0.1, "agrees", ""),
        ("s", "t", "apart", "", 1.0, 1.2, 0.1, "differs", ""),
        ("s", "t", "smaller", "", 1.0, 0.5, 0.1, "better", ""),
        ("s", "t", "edge", "", 1.0, 1.1, 0.1, "agrees", ""),
        ("s", "t", "missing", "", 1.0, np.nan, 0.1, "not_comparable", "why"),
        ("s", "t", "setting", "", 1.0, 1.0, 0.0, "input", ""),
        ("s", "t", "wrong", "", 1.0, 1.1, 0.0, "input", ""),
        ("s", "t", "wrong", "", 1.0, 1.2, 0.1, "agrees", ""),
        ("s", "t", "wrong", "", 1.0, 1.05, 0.1, "differs", ""),
        ("s", "t", "wrong", "", 1.0, 1.5, 0.1, "better", ""),
        ("s", "t", "wrong", "", 1.0, np.nan, 0.1, "agrees", ""),
        ("s", "t", "wrong", "", 1.0, np.nan, 0.1, "not_comparable", ""),
    ]
    problems = wrong_verdicts(pd.DataFrame(rows, columns=columns))
    assert len(problems) == 6 and all(line.startswith("s t wrong: ") for line in problems)

"""The plan of node-hours adds up, and grows where it can."""

import json

import pytest

from contactid.core.errors import ContactIdError
from contactid.inhand.readers.sources import recording_names
from contactid.run import plan as cluster_plan

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
CONFIGURATION = {
    "planar": {
        "identification": {
            "seeds": 4,
            "seeds_per_job": 2,
            "frames_per_second": [60, 120],
            "noise": {"one": {"friction_mu": [0.2, 0.7]}},
        }
    },
    "arm": {
        "fit": {
            "accuracy": {"samples": 10, "experiments": ["set1_v020_a90"], "computed": ["study"]}
        }
    },
    "tossing": {
        "grid": {"friction_mu": {"start": 0.0, "stop": 1.0, "step": 0.1}},
        "identify_on": ["box004"],
        "boxes_per_job": 4,
    },
}


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results/run"
    for name, seconds in (
        ("planar_identify/a", 30.0),
        ("planar_identify/b", 50.0),
        ("arm_fit_samples/c", 20.0),
    ):
        file = folder / f"benchmarks/{name}.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{HEADER}{seconds}\t0:00:01\t200\t1\t1\t1\t0.5\t8.0\t90\t{seconds}\n")
    (folder / "provenance.json").write_text(json.dumps({"configuration": CONFIGURATION}))
    return folder


def rows(results, hours):
    return cluster_plan.plan(results, [hours], cores=10, minutes=10.0).set_index("raise")


def test_units_jobs_and_hours_add_up(results):
    row = rows(results, 10.0).loc["planar.identification.seeds"]
    assert row["seconds_per_unit"] == 10.0  # 40 s for two seeds at two frame rates
    assert row["units"] * row["seconds_per_unit"] == pytest.approx(10 * 10 * 3600)
    assert row["jobs"] * row["job_minutes"] * 60 == pytest.approx(10 * 10 * 3600)
    assert row["job_minutes"] == 10.0 and row["runs"] == 1
    assert row["scratch_GB"] == pytest.approx(36_000 * 2.0 / 1e3)
    # a scatter from n samples in each of four cells is known to 1 / sqrt(2 n)
    assert row["relative_error_pct"] == pytest.approx(100 / (2 * 9_000) ** 0.5)


def test_beyond_what_a_run_can_hold_jobs_get_longer_and_then_runs_more(results):
    jobs, minutes, runs = rows(results, 1e4).loc[
        "planar.identification.seeds", ["jobs", "job_minutes", "runs"]
    ]
    assert (
        jobs == cluster_plan.MOST_JOBS and runs == 1 and 10.0 < minutes < cluster_plan.LONGEST_JOB
    )
    jobs, minutes, runs = rows(results, 1e6).loc[
        "planar.identification.seeds", ["jobs", "job_minutes", "runs"]
    ]
    assert (
        runs == 17 and minutes <= cluster_plan.LONGEST_JOB and jobs / runs <= cluster_plan.MOST_JOBS
    )


def test_what_is_not_split_uses_no_more_than_its_jobs_can(results):
    row = rows(results, 1e5).loc["arm.fit.accuracy.samples"]
    assert (row["jobs"], row["core_hours"], row["units"]) == (1, 24.0, 24 * 3600 / 2.0)


def test_an_unfinished_run_is_one_plain_line(tmp_path):
    with pytest.raises(ContactIdError, match=r"provenance\.json: missing\. Finish the run"):
        cluster_plan.plan(tmp_path, [1.0], cores=1, minutes=10.0)


def test_the_plan_counts_the_in_hand_recordings_as_the_study_does():
    recordings = len(recording_names([0]))
    (axis,) = [
        axis for axis in cluster_plan.axes_of(CONFIGURATION) if axis.rule == "inhand_estimate"
    ]
    assert axis.cells == axis.units_per_job == recordings

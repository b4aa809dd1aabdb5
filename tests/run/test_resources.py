"""What rules ask a cluster for is held against what their jobs took, and small jobs are submitted
together.
"""

from pathlib import Path

import pytest
import yaml

from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv
from contactid.run.records import read_benchmarks
from contactid.run.resources import MEASURED, Asked, asked_by, asked_for, judge, main, measure

ROOT = Path(__file__).parents[2]
HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
PROFILE = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())
# seconds in the measured runs, minutes in config/full.yaml; and what runs on the login node
ALONE = {
    "inhand_sweeps", "inhand_force_sensing", "planar_hard_truth", "fetch_dataset",
}  # fmt: skip


def benchmark(run, name, seconds, memory):
    file = run / f"benchmarks/{name}.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{HEADER}{seconds}\t0:00:01\t{memory}\t1\t1\t1\t0.5\t2.5\t90\t{seconds}\n")


def test_every_rule_asks_for_enough_and_not_for_far_too_much():
    measured = read_csv(MEASURED)
    assert len(measured) > 60
    assert judge(measured, asked_for()) == []


LOCAL = {"fetch_dataset", "verify_data"}  # these ask a cluster for nothing


def test_measured_rules_exist():
    assert all(asked_by(rule, asked_for()) for rule in set(read_csv(MEASURED)["rule"]) - LOCAL)


def test_the_largest_job_of_all_runs_counts(tmp_path):
    benchmark(tmp_path / "a", "solve/1", 60.0, 300.0)
    benchmark(tmp_path / "a", "solve/2", 30.0, 400.0)
    benchmark(tmp_path / "b", "solve/1", 1200.0, "NA")
    row = measure([tmp_path / "a", tmp_path / "b"]).iloc[0]
    assert (row["rule"], row["jobs"], row["largest_in"]) == ("solve", 3, "b")
    assert (row["seconds_median"], row["seconds_largest"], row["memory_mb_largest"]) == (
        60.0,
        1200.0,
        400.0,
    )


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (Asked(1400, 30), ""),
        (Asked(1000, 30), "mem_mb=1000 is too little"),
        (Asked(2100, 30), "mem_mb=2100 is too much"),
        (Asked(1400, 25), "runtime=25 is too little"),
        (Asked(1400, 250), "runtime=250 is too much"),
    ],
)
def test_too_little_and_too_much_are_told(tmp_path, asked, problem):
    benchmark(tmp_path, "solve", 1200.0, 400.0)
    lines = judge(measure([tmp_path]), {"solve": asked})
    assert len(lines) == bool(problem) and all(f"solve: {problem}" in line for line in lines)


@pytest.mark.parametrize(("seconds", "status"), [(60.0, 0), (20000.0, 1)])
def test_only_what_would_kill_a_job_fails(tmp_path, capsys, seconds, status):
    """Small runs have small jobs, for which most rules ask too much."""
    benchmark(tmp_path, "planar_identify", seconds, 400.0)
    assert main([str(tmp_path)], write=False) == status
    assert "WARNING planar_identify: runtime=30 is too" in capsys.readouterr().out


def test_a_rule_s_own_name_goes_before_a_loop_s():
    asked = {"fit_*": Asked(1500, 10), "fit_stored": Asked(1000, 5)}
    assert asked_by("fit_stored", asked) == Asked(1000, 5)
    assert asked_by("fit_2", asked) == Asked(1500, 10)


def test_a_small_job_may_ask_for_the_floor(tmp_path):
    benchmark(tmp_path, "draw", 2.0, 20.0)
    assert judge(measure([tmp_path]), {"draw": Asked(1500, 10)}) == []
    assert len(judge(measure([tmp_path]), {"draw": Asked(1501, 11)})) == 2


def test_rules_that_run_on_the_login_node_ask_for_nothing(tmp_path):
    rule = "rule {}:\n{}    resources:\n        mem_mb=500,\n        runtime=5,\n\n\n"
    file = tmp_path / "a.smk"
    file.write_text(rule.format("fetch", "    localrule: True\n") + rule.format("solve", ""))
    assert asked_for([file]) == {"solve": Asked(500, 5)}


def test_a_folder_without_benchmarks_is_one_plain_line(tmp_path):
    with pytest.raises(ContactIdError, match="no benchmark files"):
        read_benchmarks(tmp_path)


def test_small_jobs_are_submitted_together():
    measured = read_csv(MEASURED)
    small = set(measured.loc[measured["seconds_largest"] < 15.0, "rule"])
    assert small - ALONE <= set(PROFILE["groups"])


def test_groups_are_of_rules_that_exist_and_as_large_as_stated():
    assert all(asked_by(rule, asked_for()) for rule in PROFILE["groups"])
    assert set(PROFILE["group-components"]) <= set(PROFILE["groups"].values())


def test_partition_and_account_are_left_to_the_user():
    # an entry here would replace, not complete, the user's own
    assert "default-resources" not in PROFILE

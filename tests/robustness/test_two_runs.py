"""Two runs at once, and the same results in any order of jobs, on any number of cores."""

import time

import pytest
from small_runs import (
    RESULTS,
    TARGETS,
    errors,
    finish,
    jobs_of,
    start,
    wait_until,
    whole_files,
)

from contactid.review.compare import differences
from whole_run import copy_of_the_repository

pytestmark = pytest.mark.robustness

SOME = TARGETS[2:5]


def test_the_second_run_in_a_folder_is_refused_at_once_and_the_first_goes_on(undisturbed, tmp_path):
    folder = copy_of_the_repository(tmp_path / "two")
    log = tmp_path / "first.log"
    with log.open("w") as file:
        first = start(folder, *SOME, log=file)
    wait_until(lambda: jobs_of(first.pid), 600)
    begin = time.monotonic()
    second = finish(folder, *SOME)
    print(f"refused after {time.monotonic() - begin:.1f} s")
    assert second.returncode != 0 and "Traceback" not in second.stdout
    assert errors(second.stdout) == [
        f"ERROR {RESULTS}: another run is at work on it (process {first.pid}). "
        "Wait until it ends, or give this one another name with --config run=NAME."
    ]
    looked = finish(folder, *SOME, options=("--dry-run",))  # only looks
    assert looked.returncode == 0 and not errors(looked.stdout), looked.stdout
    other = finish(
        folder, "results/other/inhand/fits/force_predictions.nc", options=("--config", "run=other")
    )
    assert other.returncode == 0, other.stdout
    assert first.wait(900) == 0, log.read_text()
    there = whole_files(folder / RESULTS)
    wrong = [
        line
        for line in differences(undisturbed.results, folder / RESULTS)
        if line.split(": ")[0] in there
    ]
    assert len(there) > 3 and not wrong


@pytest.mark.parametrize(
    ("cores", "options", "changes"),
    [
        (1, (), {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"}),
        (
            2,
            ("--scheduler", "greedy", "--prioritize", TARGETS[7]),
            {"PYTHONHASHSEED": "77", "LC_ALL": "C"},
        ),
    ],
)
def test_cores_order_and_hash_seed_change_nothing(undisturbed, tmp_path, cores, options, changes):
    folder = copy_of_the_repository(tmp_path / "again")
    run = finish(folder, *TARGETS, cores=cores, options=options, **changes)
    assert run.returncode == 0, run.stdout
    assert differences(undisturbed.results, folder / RESULTS) == []
    drawn = [
        path for path in whole_files(folder / RESULTS) if path.endswith((".pdf", ".png", ".svg"))
    ]
    assert len(drawn) > 6
    for path in drawn:
        assert (folder / RESULTS / path).read_bytes() == (undisturbed.results / path).read_bytes()


def test_these_runs_have_jobs_and_files_of_every_study(undisturbed):
    """Otherwise the tests here would say less than they seem to."""
    there = whole_files(undisturbed.results)
    assert {path.split("/")[0] for path in there} == {"data", "planar", "arm", "inhand"}
    assert {path.rsplit(".", 1)[1] for path in there} >= {
        "nc",
        "csv",
        "mat",
        "pdf",
        "png",
        "svg",
    }
    assert "data/box006_trajectories/tosses.nc" in there  # of the tossing study

"""However a run is stopped: what has its final name is whole, and the same command ends with the
same results.
"""

import os
import random
import shutil
import signal
import subprocess
import time

import pytest
from small_runs import (
    RESULTS,
    TARGETS,
    errors,
    finish,
    interrupt_like_a_terminal,
    jobs_of,
    lives,
    start,
    wait_until,
    whole_files,
)

from contactid.review.compare import differences
from whole_run import copy_of_the_repository

pytestmark = pytest.mark.robustness

SEED = 20261122
# how each of the twenty ends: the run killed, one of its jobs killed, the run told to end, Ctrl-C
KINDS = (
    ["kill the run"] * 12
    + ["kill a job"] * 3
    + ["terminate"] * 2
    + ["interrupt"] * 1
    + ["Ctrl-C"] * 2
)


def stop(run, kind, chance):
    """Stop a living run; returns the process numbers that must not outlive it."""
    if kind == "kill a job":
        wait_until(lambda: jobs_of(run.pid) or run.poll() is not None, 600)
    jobs = jobs_of(run.pid)
    if kind == "kill a job":
        if jobs:
            os.kill(chance.choice(jobs), signal.SIGKILL)
    elif kind == "Ctrl-C":
        interrupt_like_a_terminal(run)
    else:
        number = {
            "kill the run": signal.SIGKILL,
            "terminate": signal.SIGTERM,
            "interrupt": signal.SIGINT,
        }[kind]
        os.kill(run.pid, number)
    return jobs


def check_what_is_there(folder, undisturbed):
    """Whatever has its final name is whole: what it is in an undisturbed run."""
    there = whole_files(folder / RESULTS)
    wrong = [
        line
        for line in differences(undisturbed.results, folder / RESULTS)
        if line.split(": ")[0] in there
    ]
    assert not wrong, wrong
    return len(there)


def test_twenty_kills_at_random_moments_change_nothing(undisturbed, tmp_path):
    chance = random.Random(SEED)
    kinds = chance.sample(KINDS, len(KINDS))
    folder = copy_of_the_repository(tmp_path / "killed")
    report = []
    while kinds:
        # a third at any moment, while the workflow is read too; the others while jobs are at work
        at_work, seconds = chance.random() < 0.67, chance.uniform(0.0, 0.3 * undisturbed.seconds)
        with (tmp_path / "run.log").open("w") as log:
            run = start(folder, *TARGETS, log=log)
        if at_work:
            wait_until(lambda run=run: jobs_of(run.pid) or run.poll() is not None, 900)
        try:
            run.wait(seconds)
        except subprocess.TimeoutExpired:
            kind = kinds.pop()
            jobs = stop(run, kind, chance)
            run.wait(900)
            wait_until(lambda jobs=jobs: not any(lives(job) for job in jobs))
            whole = check_what_is_there(folder, undisturbed)
            report.append(f"{kind}: {len(jobs)} jobs at work, {whole} whole files")
        if run.returncode == 0:  # before its time came, or in spite of it: begin anew
            assert differences(undisturbed.results, folder / RESULTS) == []
            shutil.rmtree(folder / RESULTS)
        else:
            assert "Unlock" not in (tmp_path / "run.log").read_text()
    last = finish(folder, *TARGETS)
    assert last.returncode == 0, last.stdout
    assert differences(undisturbed.results, folder / RESULTS) == []
    assert not list((folder / RESULTS).rglob(".*.partial*"))
    print(f"undisturbed: {undisturbed.seconds:.1f} s", *report, sep="\n")


def test_an_interrupted_run_says_what_to_do(undisturbed, tmp_path):
    folder = copy_of_the_repository(tmp_path / "interrupted")
    log = tmp_path / "run.log"
    with log.open("w") as file:
        run = start(folder, *TARGETS[:3], log=file)
    wait_until(lambda: jobs_of(run.pid), 600)
    time.sleep(0.5)
    interrupt_like_a_terminal(run)
    assert run.wait(900) != 0
    said = errors(log.read_text())
    assert said and all("Run the same command again" in line for line in said), log.read_text()
    again = finish(folder, *TARGETS[:3])
    assert again.returncode == 0, again.stdout
    check_what_is_there(folder, undisturbed)


def test_a_killed_job_is_named_and_retried_when_asked(undisturbed, tmp_path):
    """What the system does to a job for want of memory."""
    folder = copy_of_the_repository(tmp_path / "job")
    for options, status in ((("--retries", "0"), 1), (("--retries", "1"), 0)):
        log = tmp_path / "run.log"
        with log.open("w") as file:
            run = start(folder, TARGETS[2], log=file, options=options)
        wait_until(lambda run=run: jobs_of(run.pid), 600)
        os.kill(jobs_of(run.pid)[0], signal.SIGKILL)
        assert run.wait(900) == status, log.read_text()
        said = errors(log.read_text())
        if status:
            assert len(said) == 1 and "ERROR planar_liftoff: stopped from outside" in said[0], (
                log.read_text()
            )
    assert check_what_is_there(folder, undisturbed) == 1

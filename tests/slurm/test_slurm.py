"""Runs through a real Slurm: the same results as a local run, a job that fails once, a killed main
process.
"""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from contactid.review.compare import differences

pytestmark = pytest.mark.slurm

STUDIES = os.environ.get("SLURM_STUDIES", "arm").split()
LIFTOFF = "results/test/planar/sweeps/liftoff.csv"
FAILS_ONCE = """
from pathlib import Path
if not Path("failed_once").exists():
    Path("failed_once").touch()
    raise SystemExit(1)
"""
TAKES_LONG = """
import time
from pathlib import Path
if not Path("begun").exists():
    Path("begun").touch()
    time.sleep(600)
"""
TAKES_MUCH = """
import time
much = b"x" * 2_000_000_000
time.sleep(20)
"""


def command(*arguments, cluster=True):
    where = ["--workflow-profile", "profiles/slurm"] if cluster else ["--cores", "2"]
    return [
        sys.executable,
        "-m",
        "snakemake",
        *where,
        "--configfile",
        "config/test.yaml",
        *arguments,
    ]


def run(folder, environment, *arguments, cluster=True):
    return subprocess.run(
        command(*arguments, cluster=cluster),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1500,
    )


def queued(environment, name):
    listed = subprocess.run(
        ["squeue", "-h", "--name", name, "-t", "pending,running,completing", "-o", "%i"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return listed.stdout.split()


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.5)


def spoil(folder, rule, text):
    """Put a fault at the start of what the jobs of a rule do, in a copied repository."""
    file = folder / "workflow/call.py"
    fault = "".join(f"        {line}\n" for line in text.strip().splitlines())
    begin = "    from contactid.run.call import call_rule\n"
    assert begin in file.read_text()
    file.write_text(
        file.read_text().replace(begin, f'{begin}    if smk.rule == "{rule}":\n{fault}')
    )


def test_a_run_through_slurm_gives_what_a_local_run_gives(slurm, repository):
    only = f"studies={STUDIES}".replace("'", '"')
    through = run(repository, slurm, "--config", only)
    assert through.returncode == 0, through.stdout + through.stderr
    submitted = re.findall(
        r"has been submitted with SLURM jobid (\d+)", through.stdout + through.stderr
    )
    jobs = list((repository / "results/test/benchmarks").rglob("*.tsv"))
    assert 0 < len(submitted) <= len(jobs) / 2, "small jobs are submitted together"
    (repository / "results/test").rename(repository / "results/slurm")
    local = run(repository, slurm, "--config", only, cluster=False)
    assert local.returncode == 0, local.stdout + local.stderr
    assert differences(repository / "results/slurm", repository / "results/test") == []


def test_a_job_that_fails_once_is_submitted_again(slurm, repository):
    spoil(repository, "planar_liftoff", FAILS_ONCE)
    ended = run(repository, slurm, "--", LIFTOFF)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    text = ended.stdout + ended.stderr
    assert len(re.findall("has been submitted with SLURM jobid", text)) == 2
    assert (repository / "failed_once").exists() and (repository / LIFTOFF).stat().st_size > 0


def test_a_job_that_always_fails_is_told_of_and_leaves_nothing(slurm, repository):
    spoil(repository, "planar_liftoff", "raise SystemExit(1)")
    ended = run(repository, slurm, "--retries", "0", "--", LIFTOFF)
    assert ended.returncode != 0
    text = ended.stdout + ended.stderr
    assert "Error in rule planar_liftoff" in text and "results/test/logs/planar_liftoff.log" in text
    assert not (repository / LIFTOFF).exists()


def test_a_job_beyond_its_memory_is_told_of_with_what_to_ask_for(slurm_that_kills, repository):
    spoil(repository, "planar_liftoff", TAKES_MUCH)
    ended = run(repository, slurm_that_kills, "--retries", "0", "--", LIFTOFF)
    assert ended.returncode != 0 and not (repository / LIFTOFF).exists()
    told = re.search(
        r"ERROR planar_liftoff: .*memory.*(--set-resources planar_liftoff:mem_mb=)\d+",
        ended.stdout + ended.stderr,
    )
    assert told, ended.stdout + ended.stderr
    again = run(
        repository, slurm_that_kills, "--set-resources", "planar_liftoff:mem_mb=3500", "--", LIFTOFF
    )
    assert again.returncode == 0, again.stdout + again.stderr
    assert (repository / LIFTOFF).stat().st_size > 0


def test_a_job_beyond_its_time_is_told_of_with_what_to_ask_for(slurm, repository):
    spoil(repository, "planar_liftoff", TAKES_LONG)
    ended = run(
        repository,
        slurm,
        "--retries",
        "0",
        "--set-resources",
        "planar_liftoff:runtime=1",
        "--",
        LIFTOFF,
    )
    assert ended.returncode != 0 and not (repository / LIFTOFF).exists()
    told = re.search(
        r"ERROR planar_liftoff: .*time.*--set-resources planar_liftoff:runtime=2",
        ended.stdout + ended.stderr,
    )
    assert told, ended.stdout + ended.stderr


def test_after_a_kill_the_three_commands_of_the_page_finish_the_run(slurm, repository):
    spoil(repository, "planar_liftoff", TAKES_LONG)
    log = repository / "first.log"
    with log.open("w") as file:
        main = subprocess.Popen(
            command("--", LIFTOFF), cwd=repository, env=slurm, stdout=file, stderr=file
        )
        wait_until((repository / "begun").exists, 300)
        main.send_signal(signal.SIGKILL)
        main.wait(30)
    name = re.search(r"SLURM run ID: (\S+)", log.read_text()).group(1)
    assert queued(slurm, name), "the job outlives the killed process"
    assert subprocess.run(["scancel", "--name", name], env=slurm).returncode == 0
    wait_until(lambda: not queued(slurm, name), 60)
    assert run(repository, slurm, "--unlock").returncode == 0
    again = run(repository, slurm, "--", LIFTOFF)
    assert again.returncode == 0, again.stdout + again.stderr
    assert (repository / LIFTOFF).stat().st_size > 0
    assert queued(slurm, name) == []


def test_an_interrupt_cancels_the_jobs(slurm, repository):
    spoil(repository, "planar_liftoff", TAKES_LONG)
    log = repository / "first.log"
    with log.open("w") as file:
        main = subprocess.Popen(
            command("--", LIFTOFF), cwd=repository, env=slurm, stdout=file, stderr=file,
            # a script's background ignores it
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        wait_until((repository / "begun").exists, 300)
        name = re.search(r"SLURM run ID: (\S+)", log.read_text()).group(1)
        assert queued(slurm, name)
        main.send_signal(signal.SIGINT)
        main.wait(120)
    wait_until(lambda: not queued(slurm, name), 60)
    assert main.returncode != 0 and not (repository / LIFTOFF).exists()

"""What Slurm wrote into a submission's log becomes what to ask for, and no Slurm at all is told of."""

import shutil
from pathlib import Path

import pytest

from contactid.run.failures import slurm_reason
from whole_run import ROOT, start

LOG = Path("results/test/logs/arm_pose.log")
JOB = """rule arm_pose:
    output: results/test/arm/figures/fig01_arm.csv
    log: results/test/logs/arm_pose.log
    jobid: 0
    resources: tmpdir=/tmp, mem_mb=1250, mem=1.25 GB, mem_mib=1193, runtime=5
"""
ERROR = "Error in rule arm_pose:\n    log: results/test/logs/arm_pose.log (check log file(s) for error details)\n"


def reason(folder, text, since=0.0):
    (folder / "group_arm").mkdir()
    (folder / "group_arm/7.log").write_text(text)
    return slurm_reason("arm_pose", LOG, since, folder)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("slurmstepd: error: StepId=2.0 exceeded memory limit (9 > 5), being killed", "memory limit (1250 MB)"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=2.0. Some of the step tasks have been OOM Killed.",
         "arm_pose:mem_mb=2500"),
        ("srun: error: node1: task 0: Out Of Memory", "arm_pose:mem_mb=2500"),
        ("slurmstepd: error: *** JOB 7 ON node1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***",
         "time limit (5 minutes). Ask for more: --set-resources arm_pose:runtime=10"),
    ],
)  # fmt: skip
def test_memory_and_time_are_told_apart(tmp_path, words, answer):
    assert answer in reason(tmp_path, f"{JOB}{words}\n{ERROR}")


def test_a_job_that_was_done_before_another_was_killed_is_not_blamed(tmp_path):
    other = JOB.replace("arm_pose", "arm_fit")
    words = "slurmstepd: error: Exceeded job memory limit\n"
    assert reason(tmp_path, JOB.replace("arm_pose", "arm_twin") + other + words) is None


def test_no_submission_an_older_one_or_another_end_has_no_reason(tmp_path):
    assert slurm_reason("arm_pose", LOG, 0.0, tmp_path / "none") is None
    assert reason(tmp_path, JOB + "Exceeded job memory limit\n", since=4e9) is None
    (tmp_path / "group_arm/7.log").write_text(JOB + "Segmentation fault\n")
    assert slurm_reason("arm_pose", LOG, 0.0, tmp_path) is None


def test_a_machine_without_slurm_is_one_line_at_once(tmp_path):
    """Snakemake itself would try to submit for ten minutes without a word."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for program in ("bash", "which"):  # of Snakemake's own
        (programs / program).symlink_to(shutil.which(program))
    where = ("--snakefile", ROOT / "Snakefile", "--directory", tmp_path)
    chosen = (
        "--workflow-profile",
        ROOT / "profiles/slurm",
        "--config",
        "run=mine",
        'studies=["arm"]',
    )
    ended = start(tmp_path, *where, *chosen, PATH=str(programs), HOME=str(tmp_path))
    told = [
        line for line in (ended.stdout + ended.stderr).splitlines() if line.startswith("ERROR ")
    ]
    assert ended.returncode != 0 and told == [
        "ERROR there is no sbatch on PATH, so nothing can be submitted. Start this on a login node of a cluster with "
        "Slurm, or run here with make."
    ]
    assert not list((tmp_path / "results").rglob("*.*"))

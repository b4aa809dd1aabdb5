"""How a job ends: one plain line, a log that tells it, no half file, and no life without its
Snakemake.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contactid.core.atomic import replacing, write_text
from contactid.core.errors import ContactIdError
from contactid.run.failures import failures
from contactid.run.job import FINISHED, OWNER

# processes of their own find the package as a run's jobs do
PACKAGE = {"PYTHONPATH": str(Path(__file__).parents[2] / "workflow")}
HEAD = "import os, sys\nfrom contactid.run.job import job\nwith job('rule', {'seed': '1'}, sys.argv[1]):\n    "


def run_job(tmp_path, body, log="logs/rule.log", **environment):
    command = [sys.executable, "-c", HEAD + body, str(tmp_path / log)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **PACKAGE, **environment}
    )


def test_a_job_that_finishes_says_so_in_its_log_alone(tmp_path):
    run = run_job(tmp_path, "print('working')")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert (tmp_path / "logs/rule.log").read_text().splitlines()[1:] == ["working", FINISHED]
    assert failures(tmp_path, 0.0) == [
        f"ERROR {tmp_path}: stopped before it was finished. Run the same command again."
    ]


def test_a_job_computes_with_one_thread_whatever_it_is_given(tmp_path):
    """The linear algebra would start its threads when it is imported, and add in another order with
    them.
    """
    body = "import numpy; numpy.ones((500, 500)) @ numpy.ones((500, 500)); print(len(os.listdir('/proc/self/task')))"
    threads = {f"{library}_NUM_THREADS": "2" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    run = run_job(tmp_path, body, **threads)
    assert (run.returncode, run.stderr) == (0, "")
    assert (tmp_path / "logs/rule.log").read_text().splitlines()[1:] == ["1", FINISHED]


def test_a_job_that_leaves_at_once_has_written_what_its_solver_printed(tmp_path):
    body = "import atexit, ctypes; atexit.register(print, 'tidying'); ctypes.CDLL(None).printf(b'iteration 7\\n')\n"
    run = run_job(tmp_path, body + "from contactid.run.job import leave\nleave()")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert (tmp_path / "logs/rule.log").read_text().splitlines()[1:] == ["iteration 7", FINISHED]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "raise OSError(28, 'full', 'a.csv')",
            "a.csv: cannot be written (No space left on device). Free some space",
        ),
        (
            "raise PermissionError(13, 'no', 'a.csv')",
            "a.csv: cannot be written (Permission denied)",
        ),
        ("raise KeyboardInterrupt", "interrupted. Run the same command again"),
        (
            "import no_such_module",
            "No module named 'no_such_module'. Install the pinned environment",
        ),
        ("raise MemoryError", "not enough memory"),
        ("raise ValueError('odd')", "unexpected ValueError: odd. Please report it"),
    ],
)
def test_a_failure_is_one_line_on_the_terminal_and_the_logs_last(tmp_path, body, words):
    run = run_job(tmp_path, body)
    assert run.returncode == 1 and run.stderr.count("\n") == 1
    assert run.stderr.startswith("ERROR rule seed=1: ") and words in run.stderr
    assert (tmp_path / "logs/rule.log").read_text().splitlines()[-1] + "\n" == run.stderr
    assert failures(tmp_path, 0.0) == [run.stderr.strip()]
    assert "stopped before" in failures(tmp_path, time.time() + 60.0)[0]  # of an earlier run


def test_a_killed_job_is_told_of(tmp_path):
    assert run_job(tmp_path, "os.kill(os.getpid(), 9)").returncode == -9
    (line,) = failures(tmp_path, 0.0)
    assert (
        line.startswith("ERROR rule: stopped from outside") and "memory" in line and "Log: " in line
    )


def test_a_log_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "logs").write_text("a file")
    run = run_job(tmp_path, "print('never')")
    assert run.returncode == 1 and run.stderr.count("\n") == 1
    assert "logs/rule.log: cannot be written" in run.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_log_hides_nothing(tmp_path, unbuffered):
    body, log = "print('x' * 10000, flush=True)", "../../../../../../dev/full"
    run = run_job(tmp_path, body, log=log, PYTHONUNBUFFERED=unbuffered)
    assert run.returncode == 1
    assert run.stderr.startswith("ERROR rule seed=1: ") and "No space left on device" in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_job_ends_with_its_snakemake(tmp_path):
    """Also while compiled code runs, which no signal handler of Python's could interrupt."""
    body = "open(sys.argv[1] + '.pid', 'w').write(str(os.getpid())); import time; time.sleep(60)"
    owner = "import subprocess, sys, time; subprocess.Popen([sys.executable, *sys.argv[1:]]); time.sleep(60)"
    log = tmp_path / "rule.log"
    started = subprocess.Popen(
        [sys.executable, "-c", owner, "-c", HEAD + body, str(log)], env={**os.environ, **PACKAGE}
    )
    note = tmp_path / "rule.log.pid"
    wait_until(lambda: note.exists() and note.read_text())
    assert alive(int(note.read_text()))
    started.kill()
    started.wait()
    wait_until(lambda: not alive(int(note.read_text())))


def test_a_job_whose_snakemake_is_gone_already_does_nothing(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    run = run_job(tmp_path, "open(sys.argv[1] + '.out', 'w')", **{OWNER: str(gone.pid)})
    assert run.returncode == 1 and not list(tmp_path.iterdir())


def wait_until(true, seconds=60.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_what_a_killed_process_left_goes_with_the_next_writing(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    (tmp_path / f".table.partial{gone.pid}.csv").write_text("hal")
    (tmp_path / f".table.partial{os.getppid()}.csv").write_text("a living process's")
    (tmp_path / f".table2.partial{gone.pid}.csv").write_text("another file's")
    write_text(tmp_path / "table.csv", "whole")
    kept = {f".table.partial{os.getppid()}.csv", f".table2.partial{gone.pid}.csv", "table.csv"}
    assert {path.name for path in tmp_path.iterdir()} == kept


@pytest.mark.parametrize(
    "error", [OSError(28, "full"), RuntimeError("can't close file (errno = 28, 'No space left')")]
)
def test_a_full_disk_leaves_the_old_file_and_a_plain_error(tmp_path, error):
    write_text(tmp_path / "table.csv", "old")
    with (
        pytest.raises(
            ContactIdError,
            match=r"table.csv: cannot be written \(No space left on device\). Free some",
        ),
        replacing(tmp_path / "table.csv") as partial,
    ):
        partial.write_text("ne")
        raise error
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_defect_is_no_full_disk(tmp_path):
    with pytest.raises(RuntimeError, match="ours"), replacing(tmp_path / "table.csv"):
        raise RuntimeError("a defect of ours")

"""A results folder has one run at a time, and a lock that nobody holds stops nobody."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from contactid.core.errors import ContactIdError
from contactid.run.run_lock import hold


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".snakemake"


def take(name="a", **options):
    return hold(Path("results") / name, unlock=options.pop("unlock", True), **options)


def left_by_a_killed_run(folder, *names):
    (folder / "locks").mkdir(parents=True)
    for number, name in enumerate(names):
        (folder / f"locks/{number}.output.lock").write_text(f"results/{name}/checks.csv\n")


def test_the_second_run_is_told_who_has_the_folder(folder):
    with take():
        with pytest.raises(
            ContactIdError, match=rf"another run is at work on it \(process {os.getpid()}\)"
        ):
            take()
        take("b").close()
    take().close()


def test_a_killed_process_gives_the_folder_back(folder):
    code = "from pathlib import Path; from contactid.run.run_lock import hold; import os\n"
    code += "file = hold(Path('results/a'), unlock=True); os.kill(os.getpid(), 9)"
    package = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "workflow")}
    assert subprocess.run([sys.executable, "-c", code], env=package).returncode == -9
    take().close()


def test_a_jobs_process_does_not_inherit_the_folder(folder):
    with take():
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        job = subprocess.Popen(
            [sys.executable, "-c", "print('', flush=True); input()"], close_fds=False, **pipes
        )
        # a new process closes what isn't its own shortly after its parent goes on
        job.stdout.readline()
    take().close()
    job.communicate(b"\n")


def test_what_a_killed_run_locked_is_free_again_and_nothing_else(folder):
    left_by_a_killed_run(folder, "a", "ab", "b")
    take().close()
    assert sorted(path.name for path in (folder / "locks").iterdir()) == [
        "1.output.lock",
        "2.output.lock",
    ]


def test_a_living_runs_locks_stay(folder):
    left_by_a_killed_run(folder, "a")
    with take("b"), pytest.raises(ContactIdError):
        take("b")
    assert (folder / "locks/0.output.lock").exists()


def test_on_a_cluster_the_lock_stays_and_the_remedy_is_named(folder):
    left_by_a_killed_run(folder, "a")
    with pytest.raises(ContactIdError, match=r"scancel.*--unlock"):
        take(unlock=False)
    assert (folder / "locks/0.output.lock").exists()


def test_a_file_in_the_folders_place_is_told_of(folder, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results/a").write_text("mine")
    with pytest.raises(ContactIdError, match="results/a is a file, not a folder"):
        take()
    assert (tmp_path / "results/a").read_text() == "mine"


def test_a_file_system_without_locks_is_no_obstacle(folder, monkeypatch):
    def none(*arguments):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    left_by_a_killed_run(folder, "a")
    take().close()
    assert (folder / "locks/0.output.lock").exists()  # nobody knows whether its run lives

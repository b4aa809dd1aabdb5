"""A whole run in a copy of the repository, with each of its jobs recorded; that of the test
configuration is made once.

Processes that share the tests share it, too: one makes it, and the others wait.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

from numba.core.caching import _CacheLocator

from contactid.core.compiled import compiling_sources

ROOT = Path(__file__).parents[2]
PARTS = ("Snakefile", "config", "envs", "profiles", "workflow")
TEST = ("config/test.yaml",)
# what a copy needs in which jobs are called again (moved_data.py)
_NUMBERS = (".csv", ".json", ".md", ".nc", ".pickle", ".yaml")


def copy_of_the_repository(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / part)
    take_compiled(folder)
    return folder


def take_compiled(copy):
    """Give a copy what this checkout has compiled, which takes a minute: numba looks for it under a
    name of the sources' folder.
    """
    names = {
        _CacheLocator.get_suitable_cache_subpath(source): _CacheLocator.get_suitable_cache_subpath(
            copy / source.relative_to(ROOT)
        )
        for source in compiling_sources()
    }
    for kept in ROOT.glob("workflow/contactid/__pycache__/compiled-*"):
        for here, there in names.items():
            if (kept / here).is_dir():
                shutil.copytree(kept / here, copy / kept.relative_to(ROOT) / there)


def start(folder, *words, **environment):
    """Start Snakemake in a folder, with these variables beside those of the tests.

    A job that dies must not be helped by a package path of the test process.
    """
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-m", "snakemake", *words]
    pipes = {"capture_output": True, "text": True, "timeout": 1800}
    return subprocess.run(command, cwd=folder, env=variables | environment, **pipes)


def snakemake(folder, *arguments, configfile=TEST):
    """Start it by configuration files."""
    return start(folder, "--cores", "2", "--configfile", *configfile, *arguments)


def record_run(folder, *overlays):
    """Run the test configuration, or it with overlays; jobs record what they execute and open."""
    (folder / "workflow/call.py").rename(folder / "workflow/called.py")
    shutil.copy2(ROOT / "tests/helpers/recorded_call.py", folder / "workflow/call.py")
    run = snakemake(folder, configfile=(*TEST, *overlays))
    assert run.returncode == 0, run.stdout + run.stderr
    shutil.move(folder / "workflow/called.py", folder / "workflow/call.py")


def numbers_of(folder, copy):
    """A copy of a recorded run's numbers, without pictures and pages."""

    def others(place, names):
        return [
            name for name in names if not name.endswith(_NUMBERS) and not Path(place, name).is_dir()
        ]

    for part in ("recorded", "results", "workflow"):
        shutil.copytree(folder / part, copy / part, ignore=others)
    return copy


def whole_run(tmp_path_factory):
    """The test configuration's run: a repository that tests may edit, and its numbers, which they
    may not.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    repository, numbers = shared / "repository", shared / "numbers"
    with (shared / "whole_run.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not numbers.is_dir():
            shutil.rmtree(repository, ignore_errors=True)
            repository.mkdir()
            record_run(copy_of_the_repository(repository))
            numbers_of(repository, numbers)
    return repository, numbers

"""An undisturbed run, which all others are held against."""

import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_runs import RESULTS, TARGETS, finish

from whole_run import copy_of_the_repository


@dataclass(frozen=True)
class Undisturbed:
    folder: Path
    seconds: float

    @property
    def results(self):
        return self.folder / RESULTS


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    folder = copy_of_the_repository(tmp_path_factory.mktemp("undisturbed"))
    begin = time.monotonic()
    run = finish(folder, *TARGETS)
    assert run.returncode == 0, run.stdout
    return Undisturbed(folder, time.monotonic() - begin)

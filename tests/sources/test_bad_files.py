"""Files that mean harm end in one line, at once and in little memory: bombs, links, pipes, devices,
endless lists.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bad_files

ROOT = Path(__file__).resolve().parents[2]
_SECONDS, _MEGABYTES = 2.0, 300.0  # of CPU; in all, with the libraries


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("bad")
    path = os.pathsep.join(str(ROOT / place) for place in ("workflow", "tests/helpers"))
    command = [sys.executable, str(ROOT / "tests/helpers/bad_files.py"), str(folder)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=True, text=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", bad_files.cases())
def test_it_is_one_line_at_once(outcomes: dict[str, dict], name: str) -> None:
    told = outcomes[name]
    assert told["status"] == 1, told
    assert told["said"].startswith("ERROR ") and told["said"].count("\n") == 1, told["said"]
    assert told["expected"] in told["said"]
    assert len(told["said"]) < 2000
    assert told["seconds"] < _SECONDS
    assert told["megabytes"] < _MEGABYTES
    assert told["left"] == []

"""The verdicts of a run by an older processor's arithmetic."""

import json
import subprocess
import sys

import pytest
from small_runs import environment

from contactid.review.arithmetic import describe_arithmetic
from whole_run import copy_of_the_repository

pytestmark = pytest.mark.robustness


def test_an_emulated_processor_changes_digits_but_no_verdict(tmp_path):
    folder = copy_of_the_repository(tmp_path / "repository")
    command = [sys.executable, "-m", "contactid.review.other_processor"]
    done = subprocess.run(
        command, cwd=folder, env=environment(PYTHONPATH=str(folder / "workflow")), capture_output=True, text=True,
        timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "was emulated" in done.stdout
    assert "chose other functions for this processor" in done.stdout
    record = json.loads((folder / "results/other_processor/provenance.json").read_text())
    assert record["arithmetic"]["blas"] == "Nehalem" != describe_arithmetic()["blas"]
    assert ", 0 moved by rounding, and 0 further" not in done.stdout, "nothing was emulated"

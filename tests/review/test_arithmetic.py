"""What the libraries chose for a processor, and whether an emulated one changes it."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from contactid.core.errors import ContactIdError
from contactid.review.arithmetic import describe_arithmetic, of_an_older_processor

PACKAGE = str(Path(__file__).parents[2] / "workflow")
PROGRAM = "import json; from contactid.review.arithmetic import describe_arithmetic as d; print(json.dumps(d()))"


def chosen(**environment):
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, "PYTHONPATH": PACKAGE, **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(told.stdout)


def test_two_processes_choose_the_same():
    assert chosen() == describe_arithmetic() == describe_arithmetic()


@pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="x86-64 and Linux alone"
)
def test_every_library_heeds_the_emulated_processor():
    """A variable that a library's next version knows no more would change nothing, and say nothing."""
    found = chosen(**of_an_older_processor())
    assert found["numba"] == "x86-64" and found["blas"] == "Nehalem" and found["numpy"] == ""
    if "fma" in describe_arithmetic()["numba"]:
        assert found["libm"] != describe_arithmetic()["libm"]


def test_another_kind_of_processor_cannot_be_emulated(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(ContactIdError, match="can't be emulated on aarch64"):
        of_an_older_processor()

"""A Slurm on this machine for the tests, started by the tool that SLURM_TOOL names and stopped
again.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from whole_run import ROOT, copy_of_the_repository

TOOL = Path(os.environ.get("SLURM_TOOL") or ROOT.parent / "shared/tools/slurm/start-slurm.sh")


def call(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


@pytest.fixture(scope="session")
def slurm():
    """The environment of Slurm's clients."""
    if not TOOL.is_file():
        pytest.skip(f"{TOOL} isn't there: SLURM_TOOL names the script that starts a Slurm")
    if os.geteuid() != 0:
        pytest.skip("starting a Slurm needs root")
    folder = (
        os.environ.get("SLURM_TEST_DIR") or f"{tempfile.gettempdir()}/slurm-test"
    )  # where the tool puts it
    # the tool asks nproc, which believes OMP_NUM_THREADS
    environment = {
        key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")
    }
    running = shutil.which("sinfo") and call("sinfo", "-h").returncode == 0
    started = call(str(TOOL), env=environment)
    if started.returncode:
        pytest.skip(f"Slurm didn't start: {started.stderr.strip().splitlines()[-1:]}")
    environment.pop("PYTHONPATH", None)  # jobs find the package by themselves
    yield {**environment, "SLURM_CONF": f"{folder}/etc/slurm.conf"}
    if not running:
        call(str(TOOL.with_name("stop-slurm.sh")), "--purge", env=environment)


@pytest.fixture
def slurm_that_kills(slurm):
    """A Slurm that kills what takes more memory than it asked for, as most clusters do."""
    file = Path(slurm["SLURM_CONF"])
    text = file.read_text()
    file.write_text(
        text.replace(
            "JobAcctGatherFrequency=2",
            "JobAcctGatherFrequency=2\nJobAcctGatherParams=OverMemoryKill",
        )
    )
    try:
        assert call("scontrol", "reconfigure", env=slurm).returncode == 0
        if "OverMemoryKill" not in call("scontrol", "show", "config", env=slurm).stdout:
            pytest.skip("this Slurm can't be made to kill for memory")
        yield slurm
    finally:
        file.write_text(text)
        call("scontrol", "reconfigure", env=slurm)


@pytest.fixture
def repository(tmp_path):
    """A copy that a test may spoil."""
    return copy_of_the_repository(tmp_path)

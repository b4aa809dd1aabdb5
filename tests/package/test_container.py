"""The containers' recipes, built, and a command in each. Only where a builder is there and reaches
what it needs.
"""

import subprocess
from pathlib import Path

import pytest

from parts import builder

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.container
NAME = "contactid-test"
PLAN = (
    "snakemake",
    "--snakefile",
    "/opt/contactid/Snakefile",
    "--dry-run",
    "--quiet",
    "rules",
    "--cores",
    "1",
)
MINUTE = 60


def run(*command, minutes, folder=ROOT):
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=minutes * MINUTE
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """The words that run a command in the container."""
    name = builder()
    if name == "":
        pytest.skip("no docker, podman or apptainer that works here")
    if name == "apptainer":
        image = tmp_path_factory.mktemp("image") / "contactid.sif"
        run(name, "build", str(image), "apptainer.def", minutes=30)
        return name, "exec", str(image)
    run(name, "build", "--tag", NAME, ".", minutes=30)
    return name, "run", "--rm", NAME


def test_the_command_and_a_plan_in_the_container(inside, tmp_path):
    assert "identify" in run(*inside, "contactid", "--help", minutes=5, folder=tmp_path)
    assert "planar_checks" in run(*inside, *PLAN, minutes=10, folder=tmp_path)

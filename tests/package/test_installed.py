"""The package apart from its repository: wheel, source archive and folder, each installed into a
new environment.

pip's own settings serve where no index is reached: ``PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels make
test-package``.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.package
BUILD = "from setuptools.build_meta import build_sdist, build_wheel; build_sdist('dist'); build_wheel('dist')"
NO_INDEX = re.compile(
    "Failed to establish a new connection|NameResolutionError|ConnectTimeoutError|ReadTimeoutError"
)
# what the README shows, and a part of what each says
EXAMPLES = {
    "inspect": (["{examples}/predict/box006.h5"], "6 flights"),
    "impact": (["--report=report", "--", "{examples}/impact/oblique.mat"], "Report: report"),
    "estimate": (
        [
            "--hull={examples}/estimate/hull.csv", "--noise={examples}/estimate/noise.yaml", "--report=report",
            "--", "{examples}/estimate/recording.csv",
        ],
        "Report: report",
    ),
    "toss": (["--report=report", "--", "{examples}/predict/box006.h5"], "Report: report"),
    "identify": (
        ["--body={examples}/identify/body.yaml", "--report=report", "--", "{examples}/identify/rolling.csv"],
        "Report: report",
    ),
}  # fmt: skip


def run(*command, folder, seconds):
    """A command's end, in an environment that knows nothing of the repository."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    return subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The files that git knows, with wheel and source archive below dist/."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    folder = tmp_path_factory.mktemp("tree")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "workflow/resources/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    built = run(sys.executable, "-c", BUILD, folder=folder, seconds=300)
    assert built.returncode == 0, built.stderr
    return folder


def archive(tree, ending):
    (found,) = tree.glob(f"dist/*{ending}")
    return found


@pytest.fixture(scope="module")
def python(tree, tmp_path_factory):
    """A new environment with the wheel and what it says it needs; its Python."""
    folder = tmp_path_factory.mktemp("environment")
    assert run(sys.executable, "-m", "venv", folder, folder=folder, seconds=120).returncode == 0
    there = folder / "bin/python"
    # modules are compiled as they are imported: most of these 2 GB never are
    words = ("-m", "pip", "install", "--no-compile", archive(tree, ".whl"))
    installed = run(there, *words, folder=folder, seconds=1200)
    if installed.returncode and NO_INDEX.search(installed.stdout + installed.stderr):
        pytest.skip("no package index is reached (PIP_NO_INDEX and PIP_FIND_LINKS name wheels)")
    assert installed.returncode == 0, installed.stderr
    return there


def example(python, name, folder):
    """Run an example by the command that was installed."""
    words, said = EXAMPLES[name]
    words = [word.format(examples=ROOT / "examples") for word in words]
    ended = run(python.parent / "contactid", name, *words, folder=folder, seconds=600)
    assert ended.returncode == 0 and said in ended.stdout, ended.stdout + ended.stderr
    assert "report" not in said.lower() or any((folder / "report").iterdir())


def test_the_command_says_what_there_is(python, tmp_path):
    ended = run(python.parent / "contactid", "--help", folder=tmp_path, seconds=60)
    assert ended.returncode == 0 and all(name in ended.stdout for name in EXAMPLES), ended.stderr
    assert run(python, "-m", "pip", "check", folder=tmp_path, seconds=120).returncode == 0
    where = run(
        python, "-c", "import contactid; print(contactid.__file__)", folder=tmp_path, seconds=60
    ).stdout
    assert where.startswith(str(python.parents[1]))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_wheel_s_examples(python, tmp_path, name):
    example(python, name, tmp_path)


@pytest.mark.parametrize("source", ["archive", "folder"])
def test_the_same_comes_of_the_source_archive_and_of_the_folder(tree, python, tmp_path, source):
    source = {"archive": archive(tree, ".tar.gz"), "folder": tree}[source]
    words = ("-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, source)
    built = run(python, *words, folder=tmp_path, seconds=600)
    assert built.returncode == 0, built.stderr
    (made,) = tmp_path.glob("*.whl")
    first, second = (zipfile.ZipFile(file) for file in (archive(tree, ".whl"), made))
    with first, second:
        assert first.namelist() == second.namelist()
        assert all(first.read(name) == second.read(name) for name in first.namelist())
    words = ("-m", "pip", "install", "--no-deps", "--force-reinstall", made)
    assert run(python, *words, folder=tmp_path, seconds=600).returncode == 0
    assert run(python.parent / "contactid", "--help", folder=tmp_path, seconds=60).returncode == 0
    example(python, "impact", tmp_path)

"""Compiled code is kept, and never outlives the sources that it was made of, whichever folder they
are in.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from contactid.core.compiled import compiling_sources

PACKAGE = Path(__file__).parents[2] / "workflow/contactid"
FILES = {
    "kernels/caller": """import numba

from contactid.core.compiled import OPTIONS
from contactid.shared.callee import f


@numba.njit(**OPTIONS)
def g(x):
    return f(x) + 1.0
""",
    "shared/callee": """import numba

from contactid.core.compiled import OPTIONS
from contactid.plain.constants import (
    SCALE,
)


@numba.njit(**OPTIONS)
def f(x):
    return SCALE * x
""",
    "plain/constants": "SCALE = 2.0\n",
    "plain/apart": "OTHER = 1.0\n",
}


@pytest.fixture
def package(tmp_path):
    shutil.copytree(
        PACKAGE / "core", tmp_path / "contactid/core", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "contactid/__init__.py").write_text("")
    for name, text in FILES.items():
        file = tmp_path / f"contactid/{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.with_name("__init__.py").write_text("")
        file.write_text(text)
    return tmp_path


def value(package):
    program = "from contactid.kernels.caller import g; print(g(3.0), *g.stats.cache_hits.values())"
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "NUMBA_CACHE_DIR": str(package / "kept"),
    }
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    number, *hits = ended.stdout.split()
    return float(number), bool(hits)


def test_an_edit_in_another_folder_is_noticed_with_a_warm_cache(package):
    assert value(package) == (7.0, False)
    assert value(package) == (7.0, True), "kept from run to run"
    (package / "contactid/plain/apart.py").write_text("OTHER = 2.0\n")
    assert value(package) == (7.0, True), "what compiles doesn't import it"
    (package / "contactid/shared/callee.py").write_text(
        FILES["shared/callee"].replace("SCALE * x", "-SCALE * x")
    )
    assert value(package) == (-5.0, False)
    (package / "contactid/plain/constants.py").write_text("SCALE = 3.0\n")
    assert value(package) == (-8.0, False), "constants are frozen into compiled code"


def test_of_two_processes_one_compiles(package):
    program = (
        "from contactid.kernels.caller import g; g(3.0); "
        "print(len(g.stats.cache_misses), len(g.stats.cache_hits))"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "NUMBA_CACHE_DIR": str(package / "kept"),
    }
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    assert sorted(one.communicate()[0].split() for one in both) == [["0", "1"], ["1", "0"]]


def test_all_that_compiles_is_among_the_sources():
    sources = {file.relative_to(PACKAGE).as_posix() for file in compiling_sources()}
    compiling = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        if "njit(" in file.read_text()
    }
    assert compiling and compiling <= sources
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text()
        if "njit(" in text:
            assert "import numba\n" in text and "OPTIONS" in text, (
                f"{file.name}: found by its import, kept by its options"
            )

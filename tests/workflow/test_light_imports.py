"""What is imported: no more than is used, since every job and every command begins by it."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).parents[2] / "workflow"
SOLVERS = ("pyomo", "casadi", "pinocchio")
LIBRARIES = ("numpy", "pandas", "xarray", "matplotlib", "scipy", "numba", *SOLVERS)
# a module, and what it doesn't load
LIGHT = {
    # the Snakefile reads declarations at every start, and no result may depend on them
    **{f"{study}.artefacts": LIBRARIES for study in ("arm", "inhand", "planar", "tossing")},
    # jobs of their own, of which so much was half
    "planar.artefacts.real_bodies": ("pyomo", "casadi", "numba", "seaborn"),
    "planar.artefacts.noisy_throws": ("scipy.stats", "seaborn"),
    "inhand.artefacts.friction": ("scipy.stats", "seaborn"),
    "review.report.page": ("numba",),
}


def loaded(statements, heavy):
    """CPU seconds of statements, and what they load of heavy modules."""
    program = f"""
import sys, time
begin = time.process_time()
{statements}
print(time.process_time() - begin, *(name for name in {heavy} if name in sys.modules))
"""
    environment = {**os.environ, "PYTHONPATH": str(WORKFLOW)}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    seconds, *names = ended.stdout.split()
    return float(seconds), names


@pytest.mark.parametrize("module", LIGHT)
def test_a_module_loads_no_more_than_it_uses(module):
    assert loaded(f"import contactid.{module}", LIGHT[module])[1] == []


def test_importing_the_package_takes_no_time_and_loads_nothing_heavy():
    """Everybody does it who only wants a name of it."""
    seconds, names = loaded("import contactid\ndir(contactid)", (*LIBRARIES, "h5py", "yaml"))
    assert names == []
    assert seconds < 0.3


def test_starting_snakemake_loads_no_solver_and_no_drawing():
    """Every job of a cluster starts by it."""
    rules = "\n".join(
        file.read_text(encoding="utf-8") for file in sorted(WORKFLOW.glob("rules/*.smk"))
    )
    # a rule file isn't quite Python
    found = re.findall(r"^from contactid[\w.]* import (?:\([^)]*\)|.+)$", rules, re.M)
    statements = "\n".join(ast.unparse(ast.parse(statement)) for statement in found)
    heavy = ("scipy.stats", "scipy.optimize", "xarray", "matplotlib", "sympy", *SOLVERS)
    assert loaded(statements, heavy)[1] == []

"""``import contactid`` is for everybody who only wants a name of it: it costs next to nothing."""

import os
import subprocess
import sys
from pathlib import Path

WORKFLOW = Path(__file__).parents[2] / "workflow"
HEAVY = [
    "numpy",
    "pandas",
    "xarray",
    "matplotlib",
    "scipy",
    "numba",
    "pyomo",
    "casadi",
    "pinocchio",
    "h5py",
    "yaml",
]
PROGRAM = f"""
import sys, time
begin = time.process_time()
import contactid
dir(contactid)
print(time.process_time() - begin, *(name for name in {HEAVY} if name in sys.modules))
"""


def test_importing_the_package_takes_no_time_and_loads_nothing_heavy():
    environment = {**os.environ, "PYTHONPATH": str(WORKFLOW)}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    seconds, *loaded = ended.stdout.split()
    assert loaded == [] and float(seconds) < 0.3

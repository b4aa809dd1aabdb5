"""Whether the packages that jobs need are there, asked before any of them starts."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec

NEEDED = (
    "numpy", "scipy", "pandas", "xarray", "h5netcdf", "h5py", "numba", "requests", "pyomo", "casadi", "pinocchio",
    "matplotlib", "seaborn", "jinja2", "bokeh", "rocrate", "yaml", "jsonschema",
)  # fmt: skip


def exit_without_packages(modules: Iterable[str] = NEEDED) -> None:
    """End the process with one plain line that names the modules that can't be found, if there are any."""
    missing = [name for name in modules if not _found(name)]
    if missing:
        sys.exit(f"ERROR not installed: {', '.join(missing)}. Install the pinned environment (make env).")


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False

"""Whether the packages that jobs need are there, asked before any of them starts."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from contactid.errors import ContactIdError

NEEDED = (
    "numpy", "scipy", "pandas", "xarray", "h5netcdf", "h5py", "numba", "requests", "pyomo", "casadi", "pinocchio",
    "matplotlib", "seaborn", "yaml", "jsonschema",
)  # fmt: skip


def check_installed(modules: Iterable[str] = NEEDED) -> None:
    """Raise ContactIdError with the names of the modules that can't be found."""
    missing = [name for name in modules if not _found(name)]
    if missing:
        raise ContactIdError(f"not installed: {', '.join(missing)}", "Install the pinned environment (make env)")


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False

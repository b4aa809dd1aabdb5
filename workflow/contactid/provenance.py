"""What a run was made with: code, versions, machine, configuration."""

from __future__ import annotations

import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = (
    "snakemake", "numpy", "scipy", "pandas", "xarray", "h5py", "h5netcdf", "numba", "llvmlite", "matplotlib",
    "pyomo", "casadi",
)  # fmt: skip


def collect(config: dict[str, Any]) -> dict[str, Any]:
    """A record for ``provenance.json``; what can't be found out is null."""
    return {
        "git_commit": _git("rev-parse", "HEAD"),
        "git_dirty": None if (status := _git("status", "--porcelain")) is None else bool(status),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "configuration": config,
    }


def _git(*arguments: str) -> str | None:
    try:
        run = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)

"""Which machine a run was made on."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def describe_machine() -> dict[str, Any]:
    """Operating system, processor, cores, memory (bytes), and how many threads a job may start."""
    libc, version = platform.libc_ver()
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "platform": platform.platform(),
        "libc": f"{libc} {version}".strip() or None,
        "processor": _processor(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_bytes": _memory(),
        "threads": {name: os.environ.get(name) for name in _THREADS},
    }


def _processor() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None

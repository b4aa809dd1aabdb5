"""Time-stepping simulators.

Compiled code is kept from run to run in a cache that is keyed to the sources of this folder: numba itself notices an
edit of the file that a function stands in, but not of the files whose functions it calls.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numba


def _cache_folder() -> Path:
    """Where compiled code of exactly these sources is kept; below ``NUMBA_CACHE_DIR`` where the user names one."""
    here = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    for source in sorted(here.glob("*.py")):
        digest.update(source.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or str(here / "__pycache__")
    return Path(base) / f"compiled-{digest.hexdigest()[:16]}"


# a package folder that can't be written to is left to numba's own choice of a folder
if os.environ.get("NUMBA_CACHE_DIR") or os.access(Path(__file__).resolve().parent, os.W_OK):
    numba.config.CACHE_DIR = str(_cache_folder())  # type: ignore[attr-defined]

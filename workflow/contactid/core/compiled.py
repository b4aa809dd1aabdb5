"""What numba compiles, and where it keeps that from run to run.

The cache is keyed to the sources of every module of the package that imports numba, and of those that it imports:
numba itself notices an edit of the file that a function stands in, but not of the files whose functions it calls.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Any

import numba

_PACKAGE = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(r"^\s*from (contactid[\w.]*) import (\([^)]*\)|.*)$", re.M)


def compiling_sources(package: Path = _PACKAGE) -> list[Path]:
    """The files of the modules that compile, and all of the package that these import, sorted."""
    modules = {".".join(file.relative_to(package.parent).with_suffix("").parts): file for file in package.rglob("*.py")}
    texts = {name: file.read_text(encoding="utf-8") for name, file in modules.items()}
    waiting = [name for name, text in texts.items() if re.search(r"^import numba$", text, re.M)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            for module, names in _IMPORT.findall(texts[name]):
                imported = [module, *(f"{module}.{word}" for word in re.findall(r"\w+", names))]
                waiting.extend(other for other in imported if other in modules)
    return sorted(modules[name] for name in found)


def _keep_compiled() -> str:
    """Have numba keep compiled code of exactly these sources, below ``NUMBA_CACHE_DIR`` where the user names one."""
    digest = hashlib.sha256()
    for source in compiling_sources():
        digest.update(source.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR")
    # a package folder that can't be written to is left to numba's own choice of a folder
    if base or os.access(_PACKAGE, os.W_OK):
        folder = Path(base or _PACKAGE / "__pycache__") / f"compiled-{digest.hexdigest()[:16]}"
        numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    return str(numba.config.CACHE_DIR)  # type: ignore[attr-defined]


CACHE = _keep_compiled()
#: Options of ``numba.njit`` for functions that divide as NumPy does.
OPTIONS: Any = {"cache": True, "error_model": "numpy"}

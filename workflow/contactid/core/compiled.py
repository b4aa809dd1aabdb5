"""What numba compiles, and where it keeps that from run to run.

Of processes that need the same function at the same time one compiles it, and the others wait for
what it keeps. The cache is keyed to the sources of every module of the package that imports numba,
and of those that it imports: numba itself notices an edit of the file that a function stands in,
but not of the files whose functions it calls.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numba
from numba.core import caching, dispatcher

_PACKAGE = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(r"^\s*from (contactid[\w.]*) import (\([^)]*\)|.*)$", re.M)


def compiling_sources(package: Path = _PACKAGE) -> list[Path]:
    """The files of the modules that compile, and all of the package that these import, sorted."""
    modules = {
        ".".join(file.relative_to(package.parent).with_suffix("").parts): file
        for file in package.rglob("*.py")
    }
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


class _CompiledOnce(caching.FunctionCache):
    """Numba's cache of one function, locked from a look in vain to what is then compiled."""

    _lock: IO[str] | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        kept = super().load_overload(sig, target_context)
        # with the lock open, this process compiles it already: waiting for itself would never end
        if kept is None and (self._lock is None or self._lock.closed):
            Path(self.cache_path).mkdir(parents=True, exist_ok=True)
            self._lock = Path(self.cache_path, f"{self._impl.filename_base}.lock").open("a")  # noqa: SIM115
            # a file system without locks: several may compile it
            with suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            # while this process waited, another may have compiled it
            kept = super().load_overload(sig, target_context)
            if kept is not None:
                self._lock.close()
        return kept

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)
        if self._lock is not None:
            self._lock.close()


def _keep_compiled() -> bool:
    """Have numba keep code of exactly these sources, in ``NUMBA_CACHE_DIR`` where it is set."""
    # what ``cache=True`` makes; numba has no public way to choose another class
    dispatcher.FunctionCache = _CompiledOnce  # type: ignore[attr-defined]
    digest = hashlib.sha256()
    for source in compiling_sources():
        digest.update(source.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR")
    # a package folder that can't be written to is left to numba's own choice of a folder
    if base or os.access(_PACKAGE, os.W_OK):
        folder = Path(base or _PACKAGE / "__pycache__") / f"compiled-{digest.hexdigest()[:16]}"
        numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    return True


#: Options of ``numba.njit`` for functions that divide as NumPy does. They name the cache: what uses
#: them rests on it.
OPTIONS: Any = {"cache": _keep_compiled(), "error_model": "numpy"}

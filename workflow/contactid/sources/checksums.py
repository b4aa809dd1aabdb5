"""Sizes and checksums of files, and what to say where they aren't the expected ones."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Expected:
    """What a file has to be; what isn't known (None, empty) isn't checked."""

    size: int | None = None
    md5: str = ""
    sha256: str = ""


def digest(path: Path, algorithm: str = "sha256") -> str:
    """Hexadecimal checksum of a file."""
    with path.open("rb") as file:
        found = hashlib.new(algorithm, usedforsecurity=False)
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def mismatch(path: Path, expected: Expected) -> str:
    """Why a file isn't the expected one, with both sizes or both checksums; empty where it is."""
    size = path.stat().st_size
    if expected.size is not None and size != expected.size:
        return f"has {size} bytes, expected {expected.size}"
    algorithm, wanted = ("sha256", expected.sha256) if expected.sha256 else ("md5", expected.md5)
    if not wanted:
        return ""
    found = digest(path, algorithm)
    return "" if found == wanted.lower() else f"has the checksum {found} ({algorithm}), expected {wanted}"

"""The list of all files of a bundle with their SHA-256 sums, in the format of ``sha256sum``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.sources.lockfile import digest

NAME = "manifest-sha256.txt"
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
# what using an unpacked bundle adds to it
_GROWN = re.compile(r"(^|/)(\.venv[^/]*|__pycache__|\.snakemake/(?!metadata/).*)(/|$)")


def write_manifest(sums: Mapping[str, str]) -> str:
    """The file's text, sorted by path."""
    return "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))


def read_manifest(text: str) -> dict[str, str]:
    """Sums by path.

    Raises
    ------
    ContactIdError
        Where it isn't such a list.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None or match[2] in found:
            raise ContactIdError(f"{NAME}: line {number} is no checksum with a path", "Get the bundle again")
        found[match[2]] = match[1]
    return found


def differences(folder: Path) -> list[str]:
    """How a folder departs from its manifest: a line for each changed, missing or further file.

    Raises
    ------
    ContactIdError
        Where it has no manifest.
    """
    file = folder / NAME
    if not file.is_file():
        raise ContactIdError(f"{folder}: no {NAME} in it", "Give a bundle that make bundle wrote, or its folder")
    expected = read_manifest(file.read_text(encoding="utf-8", errors="replace"))
    there = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() or path.is_symlink()
    } - {NAME}
    problems = [f"{name}: missing" for name in expected if name not in there]
    problems += [f"{name}: not in the manifest" for name in there - set(expected) if not _GROWN.search(name)]
    for name in there & set(expected):
        if (folder / name).is_symlink() or digest(folder / name) != expected[name]:
            problems.append(f"{name}: changed")
    return sorted(problems)

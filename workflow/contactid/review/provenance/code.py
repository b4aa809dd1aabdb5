"""Which code made the run: the commit, and a checksum of what differed from it."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import Any


def describe_code(root: str | Path) -> dict[str, Any]:
    """Commit, whether anything differs from it, and a checksum of what does; null outside a checkout of its own."""
    root = Path(root).resolve()
    top = _git(root, "rev-parse", "--show-toplevel")
    commit = status = None
    # an unpacked archive may lie inside somebody else's checkout, whose commit says nothing
    if top is not None and Path(top.decode().strip()).resolve() == root:
        commit = _git(root, "rev-parse", "HEAD")
        status = _git(root, "status", "--porcelain", "-z", "--untracked-files=all")
    return {
        "git_commit": commit.decode().strip() if commit else None,
        "git_dirty": None if status is None else bool(status),
        "git_diff_sha256": _digest(root) if status else None,
    }


def _digest(root: Path) -> str:
    """Of the difference to the commit, and of name and content of every file that git doesn't know."""
    found = hashlib.sha256(_git(root, "diff", "HEAD", "--binary") or b"")
    listed = _git(root, "ls-files", "-z", "--others", "--exclude-standard") or b""
    for name in sorted(part for part in listed.split(b"\0") if part):
        path = root / name.decode()
        content = path.read_bytes() if path.is_file() else b""
        found.update(name + b"\0" + hashlib.sha256(content).digest())
    return found.hexdigest()


def _git(root: Path, *arguments: str) -> bytes | None:
    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None

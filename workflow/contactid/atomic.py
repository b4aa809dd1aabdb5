"""Write a file under its final name only once it is whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from contactid.errors import ContactIdError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; rename it to ``path`` on success, remove it on any failure.

    The rename is atomic, so a reader sees the old file or the new one, never half of one.
    """
    path = Path(path)
    partial = path.with_name(f".{path.stem}.partial{os.getpid()}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        partial.replace(path)
    except OSError as error:
        raise ContactIdError(
            f"{path}: cannot be written ({error.strerror or error})", "Check space and permissions of the folder"
        ) from error
    finally:
        with suppress(OSError):  # nothing was begun, or it has its final name already
            partial.unlink()


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` to ``path`` in UTF-8, atomically."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")

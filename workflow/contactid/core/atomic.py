"""Write a file under its final name only once it is whole."""

from __future__ import annotations

import errno
import glob
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from contactid.core.errors import ContactIdError

#: What the disk or its owner decides, and no program can mend.
NOT_WRITABLE = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
)
_REMEDY = {
    errno.ENOSPC: "Free some space, then run the same command again",
    errno.EDQUOT: "Free some of your quota, then run the same command again",
}


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a path beside ``path``; rename it to ``path`` on success, remove it on any failure.

    The rename is atomic, so a reader sees the old file or the new one, never half of one. What a
    process that was killed left of the same file is removed.
    """
    path = Path(path)
    partial = path.with_name(f".{path.stem}.partial{os.getpid()}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path)
        yield partial
        partial.replace(path)
    except (OSError, RuntimeError) as error:
        # HDF5 tells of a full disk in words, and some of it only when a file is closed
        told = re.search(r"errno = (\d+)", str(error))
        number = getattr(error, "errno", None) or (int(told[1]) if told else None)
        # a RuntimeError without the system's number is a defect of the program
        if number is None and not isinstance(error, OSError):
            raise
        raise cannot_be_written(path, number, str(error)) from error
    finally:
        # nothing was begun, or it has its final name already
        with suppress(OSError):
            partial.unlink()


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` to ``path`` in UTF-8, atomically."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")


def cannot_be_written(path: str | Path, number: int | None, words: str = "") -> ContactIdError:
    """The error where the system refuses to write: its errno, or ``words`` in place of none."""
    reason = os.strerror(number) if number else words
    remedy = _REMEDY.get(number or 0, "Check space and permissions of the folder")
    return ContactIdError(f"{path}: cannot be written ({reason})", remedy)


def require_space(folder: Path, size: int) -> None:
    """Raise OSError where a folder's file system has less than ``size`` bytes left."""
    if shutil.disk_usage(folder).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _remove_abandoned(path: Path) -> None:
    # a process that lives may be writing the same file: two runs may share a folder of data
    before, after = glob.escape(f".{path.stem}.partial"), glob.escape(path.suffix)
    for partial in path.parent.glob(f"{before}*{after}"):
        number = partial.name.removeprefix(f".{path.stem}.partial").removesuffix(path.suffix)
        if number.isdigit() and not process_lives(int(number)):
            with suppress(OSError):
                partial.unlink()


def process_lives(number: int) -> bool:
    """Whether a process of this number runs on this machine."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    # another user's
    except OSError:
        return True
    return True

"""One process at a time, also where another was killed: the system lets go of a dead process's lock."""

from __future__ import annotations

import errno
import fcntl
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOG = logging.getLogger(__name__)
_UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}


@contextmanager
def file_lock(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file ``path``, waiting for whoever has it; ``what`` is said while waiting.

    A file system without locks gives none: then two processes at once do the work twice, and the last one's file stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _LOG.info("%s: another process is at it, waiting", what)
                fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            _LOG.warning("%s: this file system has no locks, so don't fetch it twice at once", what)
        yield

"""One run at a time in a results folder, and no run stopped by the lock of one that was killed.

Snakemake keeps its locks as files, which outlive a killed process. Here a run holds a lock of the
operating system besides, which dies with it. Whoever gets that one knows that no other run lives,
and may remove what is left.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from pathlib import Path
from typing import TextIO

from contactid.core.atomic import cannot_be_written
from contactid.core.errors import ContactIdError

SNAKEMAKE = Path(".snakemake")
_UNSUPPORTED = frozenset((errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS))


def hold(results: Path, *, unlock: bool, folder: Path = SNAKEMAKE) -> TextIO:
    """Take a results folder for this process, until it ends or the returned file is closed.

    Parameters
    ----------
    results : relative to the working directory, for instance ``results/default``
    unlock : remove Snakemake's own locks on this folder. Not for a run whose jobs may outlive it,
        on a cluster.
    folder : where Snakemake keeps its records

    Raises
    ------
    ContactIdError : another run is at work on it; it can't be written; a lock is left that may not
        be removed here
    """
    _try_to_write(results)
    path = folder / "runs" / f"{results.as_posix().replace('/', '_')}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _at_work(results, file) from None
        # for the message to whoever comes next
        file.truncate(0)
        file.write(f"{os.getpid()} {socket.gethostname()}\n")
        file.flush()
    except OSError as error:
        # a file system without locks: Snakemake's own are all there is
        if error.errno in _UNSUPPORTED:
            return file
        raise cannot_be_written(path, error.errno) from error
    # nobody else holds the folder, so Snakemake's locks on it are a dead run's; but jobs on a
    # cluster outlive their run
    stale = _snakemake_locks(folder / "locks", f"{results.as_posix()}/")
    if stale and not unlock:
        raise ContactIdError(
            f"{results}: a run that was killed left its lock, and its cluster jobs may be running still",
            "See squeue, end them with scancel, then run the same command once with --unlock",
        )
    for lock in stale:
        lock.unlink(missing_ok=True)
    return file


def _at_work(results: Path, file: TextIO) -> ContactIdError:
    file.seek(0)
    process, _, host = file.read().strip().partition(" ")
    where = f" on {host}" if host and host != socket.gethostname() else ""
    return ContactIdError(
        f"{results}: another run is at work on it (process {process or 'unknown'}{where})",
        "Wait until it ends, or give this one another name with --config run=NAME",
    )


def _try_to_write(results: Path) -> None:
    """Tell of a full disk or a forbidden folder before anything is computed."""
    if results.exists() and not results.is_dir():
        raise ContactIdError(
            f"{results} is a file, not a folder",
            "Move it away, or give the run another name with --config run=NAME",
        )
    probe = results / f".probe{os.getpid()}"
    try:
        results.mkdir(parents=True, exist_ok=True)
        try:
            # 64 KiB: a few bytes can be kept where no block is free any more
            probe.write_bytes(b"\0" * 65536)
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_be_written(results, error.errno) from error


def _snakemake_locks(locks: Path, prefix: str) -> list[Path]:
    """Snakemake's lock files that name a file below ``prefix``."""
    paths = []
    for path in sorted(locks.glob("*.lock")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if any(line.startswith(prefix) for line in lines):
            paths.append(path)
    return paths

"""Where downloaded files stay: ``<store>/<archive>/files/``, shared by all runs, and what is known
of each.

Beside the files, ``origins.json`` says from where and when each came. Unfinished downloads are
below ``<store>/.partial/``, which may be deleted at any time. Before a run reads a dataset, its
stored files are held against the lock file and linked into the run under their own names.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from contactid.core.atomic import replacing, write_text
from contactid.core.errors import ContactIdError
from contactid.sources.left_out import joined
from contactid.sources.lockfile import LockedArchive, LockedFile, entry_of

_LOG = logging.getLogger(__name__)
_UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}


@dataclass(frozen=True)
class Store:
    """The folder of all downloads."""

    root: Path

    def folder(self, archive: LockedArchive) -> Path:
        """Where an archive's files are."""
        return self.root / archive.name / "files"

    def partial(self, archive: LockedArchive, name: str) -> Path:
        """Where a file's bytes are collected."""
        return self.root / ".partial" / archive.name / name.replace("/", "__")

    def problem(self, archive: LockedArchive, file: LockedFile) -> str:
        """Why a file can't be used as it is: missing, or not what the lock says; empty where it
        can.
        """
        path = self.folder(archive) / file.name
        return file.mismatch(path) if path.is_file() else "is missing"

    def missing(self, archive: LockedArchive) -> list[LockedFile]:
        """Files that aren't there or have the wrong size; checksums take longer and are compared
        elsewhere.
        """
        lacking = []
        for file in archive.wanted:
            path = self.folder(archive) / file.name
            if not path.is_file() or file.size not in (None, path.stat().st_size):
                lacking.append(file)
        return lacking

    def put(self, archive: LockedArchive, file: LockedFile, source: Path) -> None:
        """Copy a file into the store; it gets its name once it is whole and what the lock says.

        Raises :class:`ContactIdError` where it is another file (with both checksums), or can't be
        written.
        """
        lock = self.partial(archive, f"{file.name}.lock")
        with file_lock(lock, file.name), replacing(self.folder(archive) / file.name) as copied:
            shutil.copyfile(source, copied)
            if problem := file.mismatch(copied):
                raise ContactIdError(
                    f"{archive.name}: {source} {problem}",
                    "The file is damaged or another version: replace it, or take the mirror out of data_mirror",
                )

    def origins(self, archive: LockedArchive) -> dict[str, dict[str, Any]]:
        """From where (``from``) and when (``on``) each file came."""
        file = self.root / archive.name / "origins.json"
        try:
            recorded = json.loads(file.read_text(encoding="utf-8"))
        # lost or damaged: no reason to fetch files again that are right
        except (OSError, ValueError):
            return {}
        return recorded if isinstance(recorded, dict) else {}

    def note_origin(self, archive: LockedArchive, names: list[str], where: str) -> None:
        """Remember where files came from."""
        today = datetime.now(UTC).date().isoformat()
        lock = self.partial(archive, "origins.lock")
        with file_lock(lock, archive.name):
            origins = self.origins(archive)
            for name in names:
                origins[name] = {"from": where, "on": today}
            text = json.dumps(origins, indent=1, ensure_ascii=False, sort_keys=True)
            write_text(self.root / archive.name / "origins.json", text + "\n")


def verify_data(
    archive: str, pinned: str, lock: str, store: str, receipt: str, folder: str
) -> None:
    """Hold the stored files of an archive against its entry in the lock file, and fill a folder
    with links to them.

    The arguments are those of :func:`contactid.sources.fetch.fetch_dataset`; another receipt asks
    for another verification.
    """
    entry = entry_of(lock, archive, pinned)
    downloads = Store(Path(store))
    _LOG.info("%s: where its files came from is in %s", archive, receipt)
    verify(entry, downloads)
    link(entry, downloads, folder)


def verify(archive: LockedArchive, store: Store) -> None:
    """Compare every file with the lock.

    Raises :class:`ContactIdError` naming the files that are missing or different, with both
    checksums.
    """
    problems = []
    for file in archive.wanted:
        if problem := store.problem(archive, file):
            problems.append(f"{file.name} {problem}")
    if problems:
        raise ContactIdError(
            f"{archive.name}: {joined(problems, 3)}", "make data fetches what is damaged again"
        )
    _LOG.info("%s: %d files are what the lock file says", archive.name, len(archive.wanted))


def link(archive: LockedArchive, store: Store, folder: str | Path) -> None:
    """Fill a new folder with links to the stored files; relative ones, so that both can be moved
    together.
    """
    folder = Path(folder)
    partial = folder.with_name(f".{folder.name}.partial{os.getpid()}")
    try:
        for file in archive.wanted:
            path = partial / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            stored = (store.folder(archive) / file.name).resolve()
            # the partial folder is as deep as the final one, so the way from one is the way from
            # the other
            path.symlink_to(os.path.relpath(stored, path.parent.resolve()))
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    except OSError as error:
        raise ContactIdError(
            f"{folder}: cannot be written ({error})", "Check space and permissions"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def file_lock(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file ``path``, waiting for whoever has it; ``what`` is said while waiting.

    The system lets go of a dead process's lock, also where that was killed.

    A file system without locks gives none: then two processes at once do the work twice, and the
    last one's file stays.
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
            # some network file systems of clusters
            if error.errno not in _UNSUPPORTED:
                raise
            _LOG.warning("%s: this file system has no locks, so don't fetch it twice at once", what)
        yield

"""Hold a dataset's stored files against the lock, and show them to the readers under their own names."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.sources.lockfile import LockedArchive
from contactid.sources.store import Store

_LOG = logging.getLogger(__name__)
_MOST_SHOWN = 3


def verify(archive: LockedArchive, store: Store) -> None:
    """Compare every file with the lock.

    Raises
    ------
    ContactIdError
        Naming the files that are missing or different, with both checksums.
    """
    problems = [f"{file.name} {problem}" for file in archive.wanted if (problem := store.problem(archive, file))]
    if problems:
        more = f"; and {len(problems) - _MOST_SHOWN} more" if len(problems) > _MOST_SHOWN else ""
        raise ContactIdError(
            f"{archive.name}: {'; '.join(problems[:_MOST_SHOWN])}{more}", "make data fetches what is damaged again"
        )
    _LOG.info("%s: %d files are what the lock file says", archive.name, len(archive.wanted))


def link(archive: LockedArchive, store: Store, folder: str | Path) -> None:
    """Fill a new folder with links to the stored files; relative ones, so that both can be moved together."""
    folder = Path(folder)
    partial = folder.with_name(f".{folder.name}.partial{os.getpid()}")
    try:
        for file in archive.wanted:
            path = partial / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            # the partial folder is as deep as the final one, so the way from one is the way from the other
            path.symlink_to(os.path.relpath((store.folder(archive) / file.name).resolve(), path.parent.resolve()))
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    except OSError as error:
        raise ContactIdError(f"{folder}: cannot be written ({error})", "Check space and permissions") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)

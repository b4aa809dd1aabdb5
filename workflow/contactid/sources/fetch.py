"""Bring a locked archive into the store: what is right stays, the rest comes from elsewhere.

Nothing is resolved here: the lock file says which files, and every one is compared with it.

GitHub makes the archive of a repository at a commit on request, so its own checksum may change;
what is compared are the files in it.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.sources.download import download
from contactid.sources.lockfile import LockedArchive, LockedFile, digest, entry_of
from contactid.sources.places import Sources, not_there, parse_mirrors, places
from contactid.sources.registry import GITHUB
from contactid.sources.store import Store, file_lock

_LOG = logging.getLogger(__name__)
# bytes of a repository, unfolded: a damaged or hostile archive could fill the disk
_MOST_UNFOLDED = 20_000_000_000
# bytes that are read at once: of a header, a length that is wrong would fill the memory
_LARGEST_PIECE = 1 << 24


def fetch_dataset(
    archive: str,
    pinned: str,
    lock: str,
    store: str,
    receipt: str,
    config: Mapping[str, Any],
    terminal: int,
) -> None:
    """Have an archive in the store and write its receipt.

    Parameters
    ----------
    archive, pinned, lock : its name and the digest of its entry in the lock file
    store : folder of all downloads
    receipt : to write
    config
        The run's: ``data_mirror``, ``offline`` and ``fourtu_url`` are read; other places for the
        same files ask for no new download.
    terminal : file descriptor of the terminal, for the progress bar
    """
    entry = entry_of(lock, archive, pinned)
    downloads = Store(Path(store))
    # a copy: closing it must not close the descriptor that other jobs have, too
    with os.fdopen(os.dup(terminal), "w") as shown:
        sources = Sources(
            config["data_mirror"], config["offline"], config["fourtu_url"], terminal=shown
        )
        fetch(entry, downloads, sources)
    write_receipt(entry, downloads, receipt)


def fetch(archive: LockedArchive, store: Store, sources: Sources) -> None:
    """Have every file of the archive in the store, as the lock says it is.

    Raises
    ------
    ContactIdError : naming the file, and both checksums where it is another one; offline, naming
        all that is missing
    """
    mirrors = parse_mirrors(sources.mirrors)
    for file in archive.files:
        if file.link_only:
            _LOG.info(
                "%s: %s is only a link to %s, which is left alone",
                archive.name,
                file.name,
                file.url,
            )
    if not archive.wanted:
        raise ContactIdError(
            f"{archive.name}: {archive.source} has links only, no files", "Follow them by hand"
        )
    needed = [file for file in archive.wanted if _needed(archive, file, store)]
    for mirror in mirrors:
        needed = _without_those_of(mirror, archive, needed, store, sources)
    if needed and sources.offline:
        raise not_there(archive, needed, sources)
    # the archive of a repository holds all files, an address of its own has each of the others
    if needed and archive.kind == GITHUB:
        _from_repository(archive, needed, store, sources)
    else:
        for file in needed:
            _download(archive, file, address(file, sources.fourtu_url), store, sources)


def write_receipt(archive: LockedArchive, store: Store, path: str | Path) -> None:
    """Write down what is in the store, and from where; it changes only where a file is replaced."""
    origins = store.origins(archive)
    files = []
    for file in archive.wanted:
        stored = store.folder(archive) / file.name
        state = stored.stat()
        entry = {
            "name": file.name,
            "size": state.st_size,
            "sha256": digest(stored),
            "written_ns": state.st_mtime_ns,
        }
        files.append(entry | origins.get(file.name, {}))
        if not file.sha256:
            _LOG.info(
                "%s: %s has no known sha256 yet, make lock records it", archive.name, file.name
            )
    receipt = {
        "archive": archive.name,
        "source": archive.source,
        "version": archive.version,
        "licence": archive.licence,
        "locked": archive.digest,
        "files": files,
    }
    write_text(path, json.dumps(receipt, indent=1, ensure_ascii=False) + "\n")
    _LOG.info("%s: %d files of %s are there", archive.name, len(files), archive.source)


def address(file: LockedFile, fourtu_url: str) -> str:
    """Where a file is downloaded: at the configured server, if the server has it at all."""
    if urlsplit(file.url).scheme:
        return file.url
    return f"{fourtu_url.rstrip('/')}/{file.url.lstrip('/')}"


def _needed(archive: LockedArchive, file: LockedFile, store: Store) -> bool:
    problem = store.problem(archive, file)
    # that a file is missing is the usual case before the first run
    if problem and problem != "is missing":
        _LOG.warning("%s: %s %s; it is fetched again", archive.name, file.name, problem)
    return bool(problem)


def _download(
    archive: LockedArchive, file: LockedFile, url: str, store: Store, sources: Sources
) -> None:
    download(
        replace(file, name=f"{archive.name}/{file.name}", url=url),
        store.folder(archive) / file.name,
        partial=store.partial(archive, file.name),
        patience=sources.patience,
        terminal=sources.terminal,
    )
    store.note_origin(archive, [file.name], url)


# mirrors


def _without_those_of(
    mirror: Path | str,
    archive: LockedArchive,
    needed: Sequence[LockedFile],
    store: Store,
    sources: Sources,
) -> list[LockedFile]:
    """What is still needed after a mirror has given what it has.

    A wrong file in a folder is an error: whoever names a folder means what is in it. A server that
    fails once is passed over for the rest of the archive.
    """
    remaining = list(needed)
    if isinstance(mirror, str) and sources.offline:
        return remaining
    for file in needed:
        # an address, not a folder
        if isinstance(mirror, str):
            if not _from_web_mirror(mirror, archive, file, store, sources):
                _LOG.warning("%s: the mirror %s is passed over", archive.name, mirror)
                break
            remaining.remove(file)
        elif place := next(places(mirror, archive, file.name), None):
            store.put(archive, file, Path(place))
            store.note_origin(archive, [file.name], str(place))
            remaining.remove(file)
    return remaining


def _from_web_mirror(
    mirror: str, archive: LockedArchive, file: LockedFile, store: Store, sources: Sources
) -> bool:
    """Whether one of a mirror's addresses had the file, and the right one."""
    for url in places(mirror, archive, file.name):
        try:
            _download(archive, file, str(url), store, sources)
        except ContactIdError as error:
            _LOG.warning("%s", error)
            continue
        return True
    return False


# repositories


def _from_repository(
    archive: LockedArchive, needed: Sequence[LockedFile], store: Store, sources: Sources
) -> None:
    """Download a repository's archive, take the folder, keep what is needed."""
    scratch = store.partial(archive, "repository")
    with file_lock(scratch.with_name("repository.lock"), archive.name):
        # another process may have been faster
        needed = [file for file in needed if store.problem(archive, file)]
        if not needed:
            return
        with repository(archive, store, sources) as unpacked:
            for file in needed:
                if not (unpacked / file.name).is_file():
                    raise ContactIdError(
                        f"{archive.name}: {file.name} is not in {archive.source}",
                        "Has the repository changed?",
                    )
                store.put(archive, file, unpacked / file.name)
    store.note_origin(archive, [file.name for file in needed], archive.source)


@contextmanager
def repository(archive: LockedArchive, store: Store, sources: Sources) -> Iterator[Path]:
    """The wanted folder of a repository's archive, downloaded and unpacked while it is needed."""
    scratch = store.partial(archive, "repository")
    shutil.rmtree(scratch, ignore_errors=True)
    whole, folder = scratch / "archive.tar.gz", scratch / "folder"
    download(
        LockedFile(archive.name, url=archive.source),
        whole,
        partial=scratch.with_name("repository.part"),
        patience=sources.patience,
        terminal=sources.terminal,
    )
    try:
        _unpack(whole, archive, folder)
        yield folder
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _unpack(whole: Path, archive: LockedArchive, destination: Path) -> None:
    """Write the archive's files below ``<root>/<folder>/`` of a tar file to ``destination``;
    unlocked, all of them.

    Raises
    ------
    ContactIdError
        Where it is no archive, a damaged one, has no such folder, holds a file of another size than
        the lock says, or unfolds to more than 20 GB. Then ``destination`` doesn't hold all of it.
    """
    sizes = {file.name: file.size for file in archive.files}
    try:
        with _Unfolded(whole) as unfolded, tarfile.open(fileobj=unfolded, mode="r:") as tar:
            for member in tar:
                inside = below(member.name, archive.folder)
                if not inside or not member.isfile():
                    continue
                # that the folder is there is known, whatever of it is wanted
                destination.mkdir(parents=True, exist_ok=True)
                if sizes and inside.as_posix() not in sizes:
                    continue
                wanted = sizes.get(inside.as_posix())
                if wanted not in (None, member.size):
                    raise ContactIdError(
                        f"{archive.name}: {inside} has {member.size} bytes in {archive.source}, expected {wanted}",
                        "It has changed there since it was locked: see make lock",
                    )
                content = tar.extractfile(member)
                if content:
                    (destination / inside).parent.mkdir(parents=True, exist_ok=True)
                    with content, (destination / inside).open("wb") as file:
                        shutil.copyfileobj(content, file)
    except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
        raise ContactIdError(
            f"{archive.name}: the downloaded archive is damaged ({error})", "Fetch it again"
        ) from None
    # also what gzip calls a damaged file
    except OSError as error:
        raise ContactIdError(
            f"{archive.name}: the downloaded archive is damaged or can't be unpacked ({error})",
            "Check the space, and fetch it again",
        ) from None
    if not destination.is_dir():
        raise ContactIdError(
            f"{archive.name}: the archive has no folder {archive.folder}",
            "Has the repository changed?",
        )


class _Unfolded(gzip.GzipFile):
    """A compressed file that is read only so far: a tar file's headers say how much is read."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= _LARGEST_PIECE:
            raise tarfile.ReadError(f"a header of more than {_LARGEST_PIECE} bytes")
        self._require_within(self.tell() + size)
        return super().read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._require_within(offset)
        return super().seek(offset, whence)

    def _require_within(self, place: int) -> None:
        if place > _MOST_UNFOLDED:
            raise tarfile.ReadError(f"it unfolds to more than {_MOST_UNFOLDED} bytes")


def below(name: str, folder: str) -> Path | None:
    """Path inside ``folder`` of a member ``<root>/<folder>/...``; None for others or unsafe."""
    path = PurePosixPath(name)
    # GitHub calls the root after the repository and the commit
    parts, wanted = path.parts[1:], PurePosixPath(folder).parts
    inside = parts[len(wanted) :]
    is_unsafe = path.is_absolute() or ".." in parts
    if is_unsafe or parts[: len(wanted)] != wanted or not inside:
        return None
    return Path(*inside)

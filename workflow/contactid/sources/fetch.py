"""Bring a locked archive into the store: what is there and right stays, the rest comes from a mirror or the network.

Nothing is resolved here: the lock file says which files, and every one is compared with it.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.sources.checksums import Expected, digest
from contactid.sources.download import Wanted, download
from contactid.sources.file_lock import file_lock
from contactid.sources.github_archive import unpack
from contactid.sources.lockfile import LockedArchive, LockedFile
from contactid.sources.mirrors import Mirror, parse_mirrors, places
from contactid.sources.progress import readable
from contactid.sources.registry import GITHUB
from contactid.sources.store import Store
from contactid.sources.web import PATIENT, Patience

_LOG = logging.getLogger(__name__)
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Sources:
    """Where data may be taken from.

    Attributes
    ----------
    mirrors : entries of ``data_mirror``, tried in order before the network
    offline : only folders among the mirrors
    fourtu_url : the 4TU server
    """

    mirrors: Sequence[str]
    offline: bool
    fourtu_url: str
    patience: Patience = PATIENT


def fetch(archive: LockedArchive, store: Store, sources: Sources, *, terminal: TextIO | None = None) -> None:
    """Have every file of the archive in the store, as the lock says it is.

    Raises
    ------
    ContactIdError
        Naming the file, and both checksums where it is another one; offline, naming all that is missing.
    """
    mirrors = parse_mirrors(sources.mirrors)
    for file in archive.files:
        if file.link_only:
            _LOG.info("%s: %s is only a link to %s, which is left alone", archive.name, file.name, file.url)
    if not archive.wanted:
        raise ContactIdError(f"{archive.name}: {archive.source} has links only, no files", "Follow them by hand")
    needed = [file for file in archive.wanted if _needed(archive, file, store)]
    for mirror in mirrors:
        needed = _without_those_of(mirror, archive, needed, store, sources, terminal)
    if needed and sources.offline:
        raise ContactIdError(*missing_text(archive, needed, sources.mirrors))
    if needed and archive.kind == GITHUB:
        _from_repository(archive, needed, store, sources, terminal)
    elif needed:
        for file in needed:
            _from_server(archive, file, store, sources, terminal)


def missing(archive: LockedArchive, store: Store, sources: Sources) -> str:
    """The text about files that neither the store nor a folder among the mirrors has; empty where all are there.

    Sizes are looked at, not checksums, so this takes no time.
    """
    folders = [mirror for mirror in parse_mirrors(sources.mirrors) if mirror.folder is not None]
    lacking = [
        file
        for file in store.missing(archive)
        if not any(next(places(folder, archive, file.name), None) for folder in folders)
    ]
    return str(ContactIdError(*missing_text(archive, lacking, sources.mirrors))) if lacking else ""


def missing_text(archive: LockedArchive, files: Sequence[LockedFile], mirrors: Sequence[str]) -> tuple[str, str]:
    """Problem and remedy for files that can't be had offline: names, sizes, DOI or address."""
    shown = ", ".join(str(file) for file in files[:_MOST_SHOWN])
    more = f" and {len(files) - _MOST_SHOWN} more" if len(files) > _MOST_SHOWN else ""
    total = readable(sum(file.size or 0 for file in files))
    return (
        f"{archive.name}: offline is true, and {len(files)} files ({total}) of {archive.source} are missing: "
        f"{shown}{more}; mirrors tried: {', '.join(mirrors) or 'none'}",
        "Fetch them where there is a network (make data), or name a folder that holds them in data_mirror",
    )


def write_receipt(archive: LockedArchive, store: Store, path: str | Path) -> None:
    """Write down what is in the store, and from where: the same content as long as no file is replaced."""
    origins = store.origins(archive)
    files = []
    for file in archive.wanted:
        stored = store.folder(archive) / file.name
        state = stored.stat()
        entry = {"name": file.name, "size": state.st_size, "sha256": digest(stored), "written_ns": state.st_mtime_ns}
        files.append(entry | origins.get(file.name, {}))
        if not file.sha256:
            _LOG.info("%s: %s has no known sha256 yet, make lock records it", archive.name, file.name)
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


def address(archive: LockedArchive, file: LockedFile, fourtu_url: str) -> str:
    """Where a file is downloaded: at the configured server, if the server has it at all."""
    if urlsplit(file.url).scheme:
        return file.url
    return f"{fourtu_url.rstrip('/')}/{file.url.lstrip('/')}"


def _needed(archive: LockedArchive, file: LockedFile, store: Store) -> bool:
    problem = store.problem(archive, file)
    if problem and problem != "is missing":
        _LOG.warning("%s: %s %s; it is fetched again", archive.name, file.name, problem)
    return bool(problem)


def _without_those_of(
    mirror: Mirror,
    archive: LockedArchive,
    needed: Sequence[LockedFile],
    store: Store,
    sources: Sources,
    terminal: TextIO | None,
) -> list[LockedFile]:
    """What is still needed after a mirror has given what it has.

    A wrong file in a folder is an error: whoever names a folder means what is in it. A server that fails once is passed
    over for the rest of the archive.
    """
    left = list(needed)
    if mirror.folder is None and sources.offline:
        return left
    for file in needed:
        place = next(places(mirror, archive, file.name), None)
        if isinstance(place, Path):
            store.put(archive, file, place)
            store.note_origin(archive, [file.name], str(place))
            left.remove(file)
        elif place is not None:
            source = _first_that_has_it(mirror, archive, file, store, sources, terminal)
            if not source:
                _LOG.warning("%s: the mirror %s is passed over", archive.name, mirror)
                break
            store.note_origin(archive, [file.name], source)
            left.remove(file)
    return left


def _first_that_has_it(
    mirror: Mirror, archive: LockedArchive, file: LockedFile, store: Store, sources: Sources, terminal: TextIO | None
) -> str:
    """The address in a mirror from which the file was downloaded; empty where it has none, or a wrong one."""
    for url in places(mirror, archive, file.name):
        try:
            _download(archive, file, str(url), store, sources, terminal)
        except ContactIdError as error:
            _LOG.warning("%s", error)
            continue
        return str(url)
    return ""


def _from_server(
    archive: LockedArchive, file: LockedFile, store: Store, sources: Sources, terminal: TextIO | None
) -> None:
    url = address(archive, file, sources.fourtu_url)
    _download(archive, file, url, store, sources, terminal)
    store.note_origin(archive, [file.name], url)


def _download(
    archive: LockedArchive, file: LockedFile, url: str, store: Store, sources: Sources, terminal: TextIO | None
) -> None:
    download(
        Wanted(f"{archive.name}/{file.name}", url, file.expected),
        store.folder(archive) / file.name,
        partial=store.partial(archive, file.name),
        patience=sources.patience,
        terminal=terminal,
    )


def _from_repository(
    archive: LockedArchive, needed: Sequence[LockedFile], store: Store, sources: Sources, terminal: TextIO | None
) -> None:
    """Download a repository's archive, take the folder, keep what is needed."""
    scratch = store.partial(archive, "repository")
    with file_lock(scratch.with_name("repository.lock"), archive.name):
        needed = [file for file in needed if store.problem(archive, file)]  # another process may have been faster
        if not needed:
            return
        unpacked = download_repository(archive, store, sources.patience, terminal)
        try:
            for file in needed:
                if not (unpacked / file.name).is_file():
                    raise ContactIdError(
                        f"{archive.name}: {file.name} is not in {archive.source}", "Has the repository changed?"
                    )
                store.put(archive, file, unpacked / file.name)
        finally:
            shutil.rmtree(unpacked.parent, ignore_errors=True)
    store.note_origin(archive, [file.name for file in needed], archive.source)


def download_repository(archive: LockedArchive, store: Store, patience: Patience, terminal: TextIO | None) -> Path:
    """The wanted folder of a repository's archive, in a scratch folder whose parent the caller removes."""
    scratch = store.partial(archive, "repository")
    whole = scratch / "archive.tar.gz"
    shutil.rmtree(scratch / "folder", ignore_errors=True)
    wanted = Wanted(archive.name, archive.source, Expected())
    whole.unlink(missing_ok=True)
    download(wanted, whole, partial=scratch.with_name("repository.part"), patience=patience, terminal=terminal)
    unpack(whole, archive.folder, scratch / "folder", archive.name)
    return scratch / "folder"

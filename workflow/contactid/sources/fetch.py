"""Copies of the public data elsewhere: folders, ``file://`` and ``http(s)://`` addresses, tried before the network.

A mirror has a folder for each archive, called as the archive, with dashes for underscores if one likes, or for a 4TU
dataset ``<id>.v<version>`` or ``<id>``; in it lie the files under the names that the lock file has.


The archive of a GitHub repository at a commit: one tar file, of which one folder is wanted.

GitHub makes these archives on request, so their own checksum may change; what is compared are the files in them.


Bring a locked archive into the store: what is there and right stays, the rest comes from a mirror or the network.

Nothing is resolved here: the lock file says which files, and every one is compared with it."""

from __future__ import annotations

import json
import logging
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TextIO
from urllib.parse import quote, unquote, urlsplit

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.sources.download import PATIENT, Patience, Wanted, download, readable
from contactid.sources.lockfile import Expected, LockedArchive, LockedFile, digest
from contactid.sources.registry import GITHUB
from contactid.sources.store import Store, file_lock


@dataclass(frozen=True)
class Mirror:
    """One of them: a folder, or an address."""

    folder: Path | None = None
    url: str = ""

    def __str__(self) -> str:
        """As a user would name it."""
        return self.url or str(self.folder)


def parse_mirrors(entries: Sequence[str]) -> list[Mirror]:
    """What the configuration's ``data_mirror`` names.

    Raises
    ------
    ContactIdError
        For a folder that doesn't exist: a misspelt mirror must not go unnoticed.
    """
    found = []
    for entry in entries:
        parts = urlsplit(str(entry))
        if parts.scheme in ("http", "https"):
            found.append(Mirror(url=str(entry).rstrip("/")))
            continue
        if parts.scheme == "file" and parts.netloc not in ("", "localhost"):
            raise ContactIdError(f"data_mirror: {entry} names another machine", "Write file:///folder")
        folder = Path(unquote(parts.path) if parts.scheme == "file" else entry).expanduser()
        if not folder.is_dir():
            raise ContactIdError(f"data_mirror: {entry} is no folder", "Correct the path or take it out of the list")
        found.append(Mirror(folder=folder))
    return found


def names_of(archive: LockedArchive) -> list[str]:
    """Names that an archive's folder may have in a mirror."""
    names = [archive.name, archive.name.replace("_", "-")]
    if archive.kind == "4tu":
        versioned = archive.source.rpartition("/")[2]
        names += [versioned, versioned.rpartition(".v")[0]]
    return list(dict.fromkeys(name for name in names if name))


def places(mirror: Mirror, archive: LockedArchive, name: str) -> Iterator[Path | str]:
    """Where a mirror may have a file: existing paths, or addresses to try."""
    for folder in names_of(archive):
        if mirror.folder is None:
            yield f"{mirror.url}/{quote(folder)}/{quote(name)}"
        elif (path := mirror.folder / folder / name).is_file():
            yield path


_CHUNK = 1 << 20


def unpack(archive: Path, folder: str, destination: Path, what: str) -> None:
    """Write every file below ``<root>/<folder>/`` of a tar archive to ``destination``.

    Raises
    ------
    ContactIdError
        Where it is no archive, a damaged one, or has no such folder. Then ``destination`` doesn't hold all of it.
    """
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                inside = below(member.name, folder)
                source = tar.extractfile(member) if inside is not None and member.isfile() else None
                if inside is None or source is None:
                    continue
                target = destination / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                with source, target.open("wb") as file:
                    shutil.copyfileobj(source, file, _CHUNK)
    except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
        raise ContactIdError(f"{what}: the downloaded archive is damaged ({error})", "Fetch it again") from None
    except OSError as error:  # also what gzip calls a damaged file
        raise ContactIdError(
            f"{what}: the downloaded archive is damaged or can't be unpacked ({error})",
            "Check the space, and fetch it again",
        ) from None
    if not destination.is_dir():
        raise ContactIdError(f"{what}: the archive has no folder {folder}", "Has the repository changed?")


def below(name: str, folder: str) -> Path | None:
    """Path inside ``folder`` of an archive member ``<root>/<folder>/...``; None for others and for unsafe names."""
    path = PurePosixPath(name)
    parts, wanted = path.parts[1:], PurePosixPath(folder).parts
    if path.is_absolute() or parts[: len(wanted)] != wanted or len(parts) == len(wanted) or ".." in parts:
        return None
    return Path(*parts[len(wanted) :])


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

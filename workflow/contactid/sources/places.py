"""Where data may be taken from, and what of an archive is nowhere there.

A mirror is a folder, a ``file://`` or an ``http(s)://`` address, tried before the network. It has a
folder for each archive, called as the archive, with dashes for underscores if one likes, or for a
4TU dataset ``<id>.v<version>`` or ``<id>``; in it lie the files under the names that the lock file
has.

The Snakefile asks this at every start, so nothing here needs more than Python itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from urllib.parse import quote, unquote, urlsplit

from contactid.core.errors import ContactIdError
from contactid.sources.lockfile import LockedArchive, LockedFile, readable
from contactid.sources.registry import FOURTU
from contactid.sources.store import Store

# files that a message names
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Patience:
    """How long to try.

    Attributes
    ----------
    attempts : tries in a row without a single byte received
    first_wait, longest_wait : s; a server that asks for more than the longest ends the try
    connect_timeout, read_timeout : s without an answer, s without a byte
    """

    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 120.0
    connect_timeout: float = 20.0
    read_timeout: float = 60.0

    def wait_before(self, attempt: int) -> float:
        """Seconds before the try after the ``attempt``-th (from 1) failed one."""
        return float(min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1)))


PATIENT = Patience()


@dataclass(frozen=True)
class Sources:
    """Where data may be taken from.

    Attributes
    ----------
    mirrors : entries of ``data_mirror``, tried in order before the network
    offline : only folders among the mirrors
    fourtu_url : the 4TU server
    terminal : for progress
    """

    mirrors: Sequence[str]
    offline: bool
    fourtu_url: str
    patience: Patience = PATIENT
    terminal: TextIO | None = None


def check_address(url: str, key: str) -> str:
    """The address without a slash at the end.

    Raises :class:`ContactIdError` naming the configuration's key, for what is no ``http`` or
    ``https`` address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ContactIdError(
            f"configuration: {key} is {url!r}, which is no web address", "Write https://host"
        )
    return url.rstrip("/")


def parse_mirrors(entries: Sequence[str]) -> list[Path | str]:
    """What the configuration's ``data_mirror`` names: folders, and web addresses as texts.

    Raises :class:`ContactIdError` for a folder that doesn't exist: a misspelt mirror must not go
    unnoticed.
    """
    mirrors: list[Path | str] = []
    for entry in entries:
        parts = urlsplit(str(entry))
        if parts.scheme in ("http", "https"):
            mirrors.append(str(entry).rstrip("/"))
            continue
        if parts.scheme == "file" and parts.netloc not in ("", "localhost"):
            raise ContactIdError(
                f"data_mirror: {entry} names another machine", "Write file:///folder"
            )
        folder = Path(unquote(parts.path) if parts.scheme == "file" else entry).expanduser()
        if not folder.is_dir():
            raise ContactIdError(
                f"data_mirror: {entry} is no folder", "Correct the path or take it out of the list"
            )
        mirrors.append(folder)
    return mirrors


def places(mirror: Path | str, archive: LockedArchive, name: str) -> Iterator[Path | str]:
    """Where a mirror may have a file: existing paths, or addresses to try."""
    folders = [archive.name, archive.name.replace("_", "-")]
    if archive.kind == FOURTU:
        versioned = archive.source.rpartition("/")[2]
        folders += [versioned, versioned.rpartition(".v")[0]]
    # each once; a DOI without a version leaves an empty name
    for folder in dict.fromkeys(filter(None, folders)):
        if isinstance(mirror, str):
            yield f"{mirror}/{quote(folder)}/{quote(name)}"
        elif (path := mirror / folder / name).is_file():
            yield path


def missing(archive: LockedArchive, store: Store, sources: Sources) -> str:
    """The text about files that neither the store nor a folder among the mirrors has; empty where
    all are there.

    Sizes are looked at, not checksums, so this takes no time.
    """
    folders = [mirror for mirror in parse_mirrors(sources.mirrors) if isinstance(mirror, Path)]
    lacking = []
    for file in store.missing(archive):
        copies = (place for folder in folders for place in places(folder, archive, file.name))
        if next(copies, None) is None:
            lacking.append(file)
    return str(not_there(archive, lacking, sources)) if lacking else ""


def not_there(
    archive: LockedArchive, files: Sequence[LockedFile], sources: Sources
) -> ContactIdError:
    """The error for files that can't be had offline: names, sizes, DOI or address."""
    shown = ", ".join(str(file) for file in files[:_MOST_SHOWN])
    more = f" and {len(files) - _MOST_SHOWN} more" if len(files) > _MOST_SHOWN else ""
    total = readable(sum(file.size or 0 for file in files))
    lacking = f"{len(files)} files ({total}) of {archive.source} are missing: {shown}{more}"
    mirrors = ", ".join(sources.mirrors) or "none"
    return ContactIdError(
        f"{archive.name}: offline is true, and {lacking}; mirrors tried: {mirrors}",
        "Fetch them where there is a network (make data), or name a folder that holds them in data_mirror",
    )

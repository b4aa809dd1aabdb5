"""Copies of the public data elsewhere: folders, ``file://`` and ``http(s)://`` addresses, tried before the network.

A mirror has a folder for each archive, called as the archive, with dashes for underscores if one likes, or for a 4TU
dataset ``<id>.v<version>`` or ``<id>``; in it lie the files under the names that the lock file has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from contactid.core.errors import ContactIdError
from contactid.sources.lockfile import LockedArchive


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

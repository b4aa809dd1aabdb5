"""The lock file: what exactly every downloaded dataset consists of.

``make lock`` writes it, runs only read it. ``config/datasets.lock.json`` has an entry for each
archive: where it comes from, the version, and each file's name, size, checksum as published (md5)
and of our own (sha256). What isn't known yet is left out: sha256 before the first download, for
instance.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path, PurePosixPath
from typing import Any

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.sources.registry import AS_PUBLISHED, FOURTU, Dataset, parse_doi

FORMAT = 1
# what an entry leaves out
_UNKNOWN = ("", None, ())


def digest(path: Path, algorithm: str = "sha256") -> str:
    """Hexadecimal checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(
            file, lambda: hashlib.new(algorithm, usedforsecurity=False)
        ).hexdigest()


def visible_files(folder: Path) -> list[Path]:
    """All files in a folder, sorted, without hidden ones: Snakemake's or the system's."""
    visible = []
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") for part in parts)
        if path.is_file() and not is_hidden:
            visible.append(path)
    return sorted(visible)


def listing(path: Path) -> list[dict[str, Any]]:
    """``name``, ``size`` (bytes) and ``sha256`` of a file, or of all visible files in a folder by
    their paths in it.
    """
    files = visible_files(path) if path.is_dir() else [path]
    names = [file.relative_to(path).as_posix() if path.is_dir() else file.name for file in files]
    return [
        {"name": name, "size": file.stat().st_size, "sha256": digest(file)}
        for name, file in zip(names, files, strict=True)
    ]


def readable(size: float) -> str:
    """A number of bytes as a person reads it, in powers of ten: ``5.0 MB``."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


@dataclass(frozen=True)
class LockedFile:
    """One file.

    Attributes
    ----------
    name : its path in the archive, and under which it is stored
    size : bytes; None where unknown
    md5 : as published; empty where there is none
    sha256 : our own; empty before the first download
    uuid : the repository's name of it (4TU)
    url : where it is: below the server's address, or a whole address
    link_only : the archive only points to it; it isn't downloaded
    """

    name: str
    size: int | None = None
    md5: str = ""
    sha256: str = ""
    uuid: str = ""
    url: str = ""
    link_only: bool = False

    def mismatch(self, copy: Path) -> str:
        """Why a copy isn't this file, with both sizes or both checksums as far as they are known;
        empty where it is.
        """
        size = copy.stat().st_size
        if self.size is not None and size != self.size:
            return f"has {size} bytes, expected {self.size}"
        # the publisher's md5 serves until the first download gives the file's sha256
        algorithm, wanted = ("sha256", self.sha256) if self.sha256 else ("md5", self.md5)
        if not wanted:
            return ""
        checksum = digest(copy, algorithm)
        if checksum == wanted.lower():
            return ""
        return f"has the checksum {checksum} ({algorithm}), expected {wanted}"

    def __str__(self) -> str:
        """Name and size."""
        size = "unknown size" if self.size is None else readable(self.size)
        return f"{self.name} ({size})"


@dataclass(frozen=True)
class LockedArchive:
    """What one download consists of; several datasets may be read from it.

    Attributes
    ----------
    name : its folder in the store
    kind : as in the registry: ``4tu``, ``github`` or ``file``
    source : DOI with version (4tu), or address
    version : of the dataset (4tu), else the commit
    container : the repository's name of the dataset (4tu)
    base : address of the server that it was resolved at (4tu)
    folder : the part of a repository's archive that is taken (github)
    locked_on : date (ISO) of the entry
    """

    name: str
    kind: str
    source: str
    version: str = ""
    container: str = ""
    base: str = ""
    title: str = ""
    licence: str = ""
    folder: str = ""
    locked_on: str = ""
    files: tuple[LockedFile, ...] = ()

    @property
    def wanted(self) -> tuple[LockedFile, ...]:
        """The files that are downloaded."""
        return tuple(file for file in self.files if not file.link_only)

    @property
    def digest(self) -> str:
        """Changes where the entry does."""
        text = json.dumps(_plain(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_lock(path: str | Path) -> dict[str, LockedArchive]:
    """Entries by name; none where there is no file.

    Raises :class:`ContactIdError` where the file isn't a lock file of this format, or names a file
    outside its archive.
    """
    path = Path(path)
    if not path.exists():
        return {}
    remedy = "Take it from the repository again, or write it anew with make lock"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ContactIdError(
                f"{path}: format {content['format']}, this version reads {FORMAT}", remedy
            )
        archives = {name: _archive(name, entry) for name, entry in content["archives"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise ContactIdError(f"{path}: no lock file ({error})", remedy) from None
    return archives


def write_lock(path: str | Path, archives: Mapping[str, LockedArchive]) -> None:
    """Write the whole file, a line for each file; the same entries give the same bytes."""
    blocks = []
    # by hand: json.dumps would give each field of a file a line, and a change could not be read
    for name in sorted(archives):
        entry = _plain(archives[name])
        files = ",\n".join(f"    {_line(file)}" for file in entry.pop("files"))
        # the name is the block's key
        entry.pop("name", None)
        lines = [f"   {_line(key)}: {_line(value)}" for key, value in entry.items()]
        lines.append(f'   "files": [\n{files}\n   ]')
        content = ",\n".join(lines)
        blocks.append(f"  {_line(name)}: {{\n{content}\n  }}")
    text = f'{{\n "format": {FORMAT},\n "archives": {{\n' + ",\n".join(blocks) + "\n }\n}\n"
    write_text(path, text)


def _line(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False)


def entry_of(path: str | Path, name: str, pinned: str) -> LockedArchive:
    """The entry that a run was planned with, by its digest.

    Raises :class:`ContactIdError` where the file has been edited since, and for what
    :func:`read_lock` finds.
    """
    entry = read_lock(path).get(name)
    if entry is None or entry.digest != pinned:
        raise ContactIdError(
            f"{path}: {name} has changed since this run began", "Run the same command again"
        )
    return entry


def locked(lock: Mapping[str, LockedArchive], dataset: Dataset) -> LockedArchive:
    """The entry of a dataset's archive.

    Raises
    ------
    ContactIdError
        Where there is none, or one of another version than the registry asks for: nothing is
        resolved during a run.
    """
    entry = lock.get(dataset.archive)
    if entry is None:
        raise ContactIdError(
            f"{dataset.archive} ({dataset.source}) is not in the lock file yet, so its files and checksums are unknown",
            "Run make lock once where there is a network",
        )
    if not _agree(entry, dataset):
        raise ContactIdError(
            f"{dataset.archive}: the lock file has {entry.source}, version {entry.version}, but the registry "
            f"{dataset.source}, version {dataset.version or 'any'}",
            f"Run make lock UPDATE={dataset.archive}",
        )
    return entry


def _agree(entry: LockedArchive, dataset: Dataset) -> bool:
    if dataset.kind != FOURTU:
        locked_place = (entry.kind, entry.source, entry.folder)
        return locked_place == (dataset.kind, dataset.source, dataset.folder)
    doi, locked_doi = parse_doi(dataset.source), parse_doi(entry.source)
    # the registry's own version goes before the DOI's; without either, the locked one is right
    version = dataset.version or str(doi.version or entry.version)
    if version != entry.version:
        return False
    # which of a collection's datasets is meant, the lock alone says
    return doi.is_collection or doi.suffix == locked_doi.suffix


def with_licences(
    registry: Mapping[str, Dataset], lock: Mapping[str, LockedArchive]
) -> dict[str, Dataset]:
    """The registry with the lock file's licences where it says ``as published``."""
    licensed = dict(registry)
    for name, dataset in registry.items():
        as_published = dataset.downloaded and dataset.licence == AS_PUBLISHED
        if as_published and dataset.archive in lock:
            licence = lock[dataset.archive].licence or "none stated"
            licensed[name] = replace(dataset, licence=licence)
    return licensed


def check_name(name: str, archive: str) -> None:
    """Raise for a file name that would be stored outside its archive's folder."""
    path = PurePosixPath(name)
    climbs = path.is_absolute() or ".." in path.parts
    # a backslash leads elsewhere on other systems; what isn't printable hides what is there
    if not name or climbs or "\\" in name or not name.isprintable():
        raise ContactIdError(
            f"{archive}: the file name {name!r} leads out of its folder",
            "Report it to the repository",
        )


def _plain(archive: LockedArchive) -> dict[str, Any]:
    """As a nested dictionary without what is unknown."""
    entry = _without_unknown(archive)
    entry["files"] = [_without_unknown(file) for file in archive.files]
    return entry


def _without_unknown(listed: LockedArchive | LockedFile) -> dict[str, Any]:
    fields_of = asdict(listed).items()
    # False by identity: a size of 0 equals it
    return {key: value for key, value in fields_of if value not in _UNKNOWN and value is not False}


def _archive(name: str, entry: Mapping[str, Any]) -> LockedArchive:
    # fields of later versions are passed over
    field_names = {field.name for field in fields(LockedFile)}
    files = tuple(
        LockedFile(**{key: file[key] for key in file if key in field_names})
        for file in entry.get("files", ())
    )
    for file in files:
        check_name(file.name, name)
    field_names = {field.name for field in fields(LockedArchive)} - {"name", "files"}
    return LockedArchive(
        name=name, files=files, **{key: entry[key] for key in entry if key in field_names}
    )

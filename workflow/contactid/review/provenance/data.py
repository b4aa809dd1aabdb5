"""Which data a run read: names, sizes and checksums of every file, identifiers and licences."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from contactid.sources.lockfile import LockedArchive, digest, read_lock
from contactid.sources.registry import FOURTU, GENERATED, Dataset
from contactid.sources.store import Store


def describe_data(
    datasets: Iterable[Dataset], *, lock: str | Path, store: str | Path, results: str
) -> list[dict[str, Any]]:
    """An entry for each dataset, by name.

    Parameters
    ----------
    datasets
        Those that the run reads.
    lock, store
        The lock file, and the folder of all downloads.
    results
        The run's folder, where simulated recordings are.
    """
    archives = read_lock(lock)
    found = []
    for dataset in sorted(datasets, key=lambda entry: entry.name):
        archive = archives.get(dataset.archive) if dataset.downloaded else None
        if archive is not None:
            files = _downloaded(archive, Store(Path(store)))
        else:
            folder = Path(results, "data", dataset.name, "raw") if dataset.kind == GENERATED else Path(dataset.source)
            files = _files(folder)
        found.append(
            {
                "name": dataset.name,
                "study": dataset.study or None,
                "kind": dataset.kind,
                "synthetic": dataset.synthetic,
                "source": (archive.source if archive else dataset.source) or None,
                "doi": (archive.source if archive else dataset.source) if dataset.kind == FOURTU else None,
                "version": (archive.version if archive else dataset.version) or None,
                "licence": dataset.licence,
                "citation": dataset.citation or None,
                "files": files,
            }
        )
    return found


def _downloaded(archive: LockedArchive, store: Store) -> list[dict[str, Any]]:
    """As the lock file has them; a checksum that it hasn't is taken from the stored file."""
    found = []
    for file in sorted(archive.wanted, key=lambda entry: entry.name):
        path = store.folder(archive) / file.name
        checksum = file.sha256 or (digest(path) if path.is_file() else None)
        found.append({"name": file.name, "size": file.size, "sha256": checksum})
    return found


def _files(path: Path) -> list[dict[str, Any]]:
    """A file, or all files of a folder, as they are."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return [
        {
            "name": file.relative_to(path).as_posix() if path.is_dir() else file.name,
            "size": file.stat().st_size,
            "sha256": digest(file),
        }
        for file in files
        if file.is_file() and not file.name.startswith(".snakemake")
    ]

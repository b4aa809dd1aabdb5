"""Bring a public dataset into a folder: from a mirror on disk, else from its repository at a commit.

Every file that ``config/checksums/<name>.sha256`` lists is checked; a wrong one is an error that shows both checksums.
The folder appears under its final name only when it is complete.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from contactid.datasets.registry import Dataset
from contactid.errors import ContactIdError

_LOG = logging.getLogger(__name__)
_CHUNK = 1 << 20
_TIMEOUT = 60.0


def fetch(
    dataset: Dataset, destination: str | Path, *, mirrors: Sequence[str], offline: bool, checksums: str | Path
) -> None:
    """Fill the folder ``destination`` with the dataset.

    Parameters
    ----------
    dataset
        An entry of kind ``github``.
    mirrors
        Folders that may hold a folder ``<dataset.name>``, possibly with dashes for underscores; tried in order before
        the network.
    offline
        Don't use the network.
    checksums
        Folder with ``<dataset.name>.sha256``.
    """
    destination = Path(destination)
    destination.parent.mkdir(parents=True, exist_ok=True)
    expected = read_checksums(Path(checksums) / f"{dataset.name}.sha256")
    with tempfile.TemporaryDirectory(dir=destination.parent, prefix=f".{dataset.name}.partial") as scratch:
        partial = Path(scratch) / "data"
        mirror = _find_mirror(dataset.name, mirrors)
        try:
            if mirror:
                _LOG.info("%s: copying from the mirror %s", dataset.name, mirror)
                shutil.copytree(mirror, partial)
            elif offline:
                tried = ", ".join(mirrors) or "none configured"
                raise ContactIdError(
                    f"{dataset.name} ({dataset.size_mb} MB, {dataset.source}) is in no mirror (tried: {tried}), "
                    "and offline is true",
                    "Name a folder that holds it in data_mirror, or set offline to false",
                )
            else:
                _LOG.info("%s: downloading %s", dataset.name, dataset.source)
                _download(dataset, Path(scratch), partial)
        except OSError as error:
            raise ContactIdError(
                f"{dataset.name}: cannot be stored in {destination} ({error})", "Check space and permissions"
            ) from error
        verify(partial, expected, dataset.name)
        if destination.exists():
            shutil.rmtree(destination)
        partial.rename(destination)


def _find_mirror(name: str, mirrors: Sequence[str]) -> Path | None:
    for mirror in mirrors:
        if not Path(mirror).is_dir():
            raise ContactIdError(f"data_mirror: {mirror} is no folder", "Correct the path or take it out of the list")
        for folder in (name, name.replace("_", "-")):
            if (Path(mirror) / folder).is_dir():
                return Path(mirror) / folder
    return None


def _download(dataset: Dataset, scratch: Path, partial: Path) -> None:
    archive = scratch / "archive.tar.gz"
    try:
        with urllib.request.urlopen(dataset.source, timeout=_TIMEOUT) as response, archive.open("wb") as file:
            shutil.copyfileobj(response, file, _CHUNK)
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise ContactIdError(
            f"{dataset.name}: {dataset.source} cannot be had ({reason})",
            "Check the network, or name a folder that holds the data in data_mirror",
        ) from None
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                inside = _below(member.name, dataset.folder)
                if inside is not None and member.isfile():
                    target = partial / inside
                    target.parent.mkdir(parents=True, exist_ok=True)
                    source = tar.extractfile(member)
                    assert source is not None
                    with source, target.open("wb") as file:
                        shutil.copyfileobj(source, file, _CHUNK)
    except (tarfile.TarError, EOFError) as error:
        raise ContactIdError(f"{dataset.name}: the downloaded archive is damaged ({error})", "Fetch it again") from None
    if not partial.is_dir():
        raise ContactIdError(
            f"{dataset.name}: the archive has no folder {dataset.folder}", "The repository has changed: report it"
        )


def _below(name: str, folder: str) -> Path | None:
    """Path inside ``folder`` of an archive member ``<root>/<folder>/...``; None for others and for unsafe names."""
    parts = PurePosixPath(name).parts[1:]
    wanted = PurePosixPath(folder).parts
    if (
        PurePosixPath(name).is_absolute()
        or parts[: len(wanted)] != wanted
        or len(parts) == len(wanted)
        or ".." in parts
    ):
        return None
    return Path(*parts[len(wanted) :])


def read_checksums(path: Path) -> dict[str, str]:
    """SHA-256 by relative path, from a file as ``sha256sum`` writes it; empty where there is none."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split(maxsplit=1) for line in lines if line.strip())}


def verify(folder: Path, expected: dict[str, str], name: str) -> None:
    """Compare the files of a folder with their expected checksums; files that aren't listed are only counted."""
    present = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    if expected and not present & set(expected):
        raise ContactIdError(f"{name}: none of its known files is in {folder}", "Check data_mirror")
    for relative in sorted(present & set(expected)):
        digest = hashlib.sha256((folder / relative).read_bytes()).hexdigest()
        if digest != expected[relative]:
            raise ContactIdError(
                f"{name}: {relative} has the checksum {digest}, expected {expected[relative]}",
                "The file is damaged or has changed: fetch it again",
            )
    known = len(present & set(expected))
    _LOG.info("%s: %d files verified, %d without a known checksum", name, known, len(present) - known)

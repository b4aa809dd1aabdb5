"""The archive of a GitHub repository at a commit: one tar file, of which one folder is wanted.

GitHub makes these archives on request, so their own checksum may change; what is compared are the files in them.
"""

from __future__ import annotations

import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from contactid.core.errors import ContactIdError

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

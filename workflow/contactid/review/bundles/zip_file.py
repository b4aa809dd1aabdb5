"""Write a folder's files into a zip archive with the same bytes every time, and read such an archive warily."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from contactid.core.atomic import replacing
from contactid.core.errors import ContactIdError

_MOMENT = (1980, 1, 1, 0, 0, 0)
# one time for all files: none is newer than another, so none looks outdated
_SECONDS = 1_000_000_000
_AGAIN = "Get the bundle again"


def write_zip(path: str | Path, files: Mapping[str, Path | bytes]) -> None:
    """Write contents, by their name in the archive: sorted, with fixed times and permissions."""
    with replacing(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            source = files[name]
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            executable = isinstance(source, Path) and os.access(source, os.X_OK)
            entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
            archive.writestr(entry, source.read_bytes() if isinstance(source, Path) else source, compresslevel=9)


def unpack(path: str | Path, folder: Path) -> None:
    """Unpack into a folder; all files get the same time.

    Raises
    ------
    ContactIdError
        Where it is no whole zip archive, or has an entry that isn't a plain file below the folder.
    """
    path = Path(path)
    if not path.is_file():
        raise ContactIdError(f"{path} does not exist", "Name a bundle that make bundle wrote")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            for entry in entries:
                _check(path, entry)
            if len({entry.filename for entry in entries}) != len(entries):
                raise ContactIdError(f"{path}: a file is in it twice", _AGAIN)
            archive.extractall(folder)
            for entry in entries:
                if (entry.external_attr >> 16) & 0o100 and not entry.is_dir():
                    (folder / entry.filename).chmod(0o755)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError) as error:
        raise ContactIdError(f"{path}: not a whole zip archive ({error})", _AGAIN) from None
    except OSError as error:
        raise ContactIdError(
            f"{path}: cannot be unpacked ({error.strerror or error})", "Check space in TMPDIR"
        ) from error
    same_time(folder)


def same_time(folder: Path) -> None:
    """Give all files of a folder the same time."""
    for found in folder.rglob("*"):
        os.utime(found, (_SECONDS, _SECONDS))


def _check(path: Path, entry: zipfile.ZipInfo) -> None:
    name = PurePosixPath(entry.filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if name.is_absolute() or ".." in name.parts or "\\" in entry.filename or ":" in entry.filename:
        raise ContactIdError(f"{path}: {entry.filename} would be unpacked elsewhere", "Don't use this file")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ContactIdError(f"{path}: {entry.filename} is no plain file", "Don't use this file")

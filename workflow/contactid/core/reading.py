"""Read what somebody gives: plain files of a bounded size, YAML, and zip files of honest sizes.

A FIFO would wait for ever and a device never ends; 281 bytes of YAML can stand for gigabytes or for
a list in itself; a zip file's entry may unfold to more than it says. Each is refused in one line,
before it costs memory.
"""

from __future__ import annotations

import math
import stat
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

import yaml

from contactid.core.errors import ContactIdError

#: Bytes of a file that is read as a whole: at 1 kHz and 60 signals more than half an hour.
LARGEST_FILE = 1 << 27
# 64 KiB: a description of a body or a configuration has a few
_LARGEST_YAML = 1 << 16
# of what YAML holds: a study's ledger is 8 deep, and larger integers become no floats (1.8e308)
_DEEPEST, _MOST_VALUES, _LARGEST_NUMBER = 20, 100_000, 1e300
# bytes that are unfolded at a time, so that a false size is noticed before it costs memory
_PIECE = 1 << 20


def require_plain(path: str | Path, most: int | None = LARGEST_FILE) -> int:
    """Bytes of a plain file, or one that a link leads to.

    Raises :class:`ContactIdError` where there is none, where it is a folder, FIFO or device, and
    for more than ``most`` bytes.
    """
    path = Path(path)
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path"
        if path.is_symlink():
            reason += ": it is a link that leads nowhere"
        raise ContactIdError(
            f"{path}: cannot be read ({reason})", "Check the path and its permissions"
        ) from None
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or device"
        raise ContactIdError(f"{path}: cannot be read ({kind} instead of a file)", "Give a file")
    if most is not None and found.st_size > most:
        raise ContactIdError(
            f"{path}: has {found.st_size / 1e6:.0f} MB, more than the {most / 1e6:.3g} MB that are read",
            "Give a part",
        )
    return found.st_size


def content_of(path: str | Path, most: int = LARGEST_FILE) -> bytes:
    """A plain file's bytes.

    Raises :class:`ContactIdError` as :func:`require_plain`, and where it can't be read.
    """
    size = require_plain(path, most)
    try:
        with Path(path).open("rb") as file:
            return file.read(size)
    except OSError as error:
        problem = f"{path}: cannot be read ({error.strerror or error})"
        raise ContactIdError(problem, "Check the path and its permissions") from None


class _WithoutAliases(yaml.SafeLoader):
    """Plain YAML: a value that stands for another could stand for itself, or for billions."""

    # nodes that are open
    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        # far beyond what is allowed: thousands of levels take seconds before anything refuses them
        if self.depth > 2 * _DEEPEST:
            raise RecursionError
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise yaml.MarkedYAMLError(
                problem=f"*{event.anchor} stands for another value", problem_mark=event.start_mark
            )
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read_yaml(path: str | Path, remedy: str = "Correct it") -> Any:
    """What a YAML file holds: mappings, lists and scalars, without aliases.

    Raises :class:`ContactIdError`, with the remedy, where it is no plain file of YAML, or
    :func:`require_bounded` refuses it.
    """
    content = content_of(path, _LARGEST_YAML)
    try:
        loaded = yaml.load(content.decode("utf-8-sig"), _WithoutAliases)
    except RecursionError:
        raise ContactIdError(f"{path}: nested more than {_DEEPEST} deep", remedy) from None
    # all seen from damaged files
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        raise ContactIdError(f"{path}: not readable as YAML ({error})", remedy) from None
    require_bounded(loaded, str(path))
    return loaded


def require_bounded(content: Any, name: str) -> None:
    """Raise :class:`ContactIdError` for nested content that is too deep, too large, or endless.

    ``name`` is what the error calls it. A value counts as often as it stands there; numbers have at most 300 digits.
    """
    waiting, count = [(content, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if depth > _DEEPEST:
            raise ContactIdError(f"{name}: nested more than {_DEEPEST} deep", "Correct it")
        if count > _MOST_VALUES:
            raise ContactIdError(
                f"{name}: stands for more than {_MOST_VALUES} values", "Correct it"
            )
        if isinstance(value, dict):
            waiting += [(item, depth + 1) for pair in value.items() for item in pair]
        elif isinstance(value, list | tuple | set):
            waiting += [(item, depth + 1) for item in value]
        elif isinstance(value, int) and abs(value) > _LARGEST_NUMBER:
            raise ContactIdError(
                f"{name}: has a number of {math.log10(abs(value)):.0f} digits", "Correct it"
            )


def opened_zip(source: Path | IO[bytes], most_listed: int) -> zipfile.ZipFile:
    """A zip file whose list of files, which is read into memory as a whole, is bounded in bytes.

    Raises what :mod:`zipfile` does, which is many kinds for damaged files.
    """
    # zipfile has no limit of its own, and reads the list when it opens a file
    with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
        end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    if end and end[zipfile._ECD_SIZE] > most_listed:  # type: ignore[attr-defined]
        raise zipfile.BadZipFile(f"its list of files has more than {most_listed} bytes")
    return zipfile.ZipFile(source)


def require_deflated(entry: zipfile.ZipInfo) -> None:
    """Raise ValueError for an entry that isn't deflated: a piece may unfold to more than asked."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{entry.filename} is compressed otherwise than by deflate")


def pieces(file: IO[bytes], size: int) -> Iterator[bytes]:
    """The bytes of an opened file or entry of a zip file that is said to have so many.

    Raises ValueError where it has more or less, without reading on.
    """
    left = size
    while left and (piece := file.read(min(left, _PIECE))):
        left -= len(piece)
        yield piece
    if left or file.read(1):
        raise ValueError("it has another size than its entry says")


def entry_content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of a zip file's entry, as many as it says.

    Raises what :mod:`zipfile` does, and ValueError as :func:`require_deflated` and :func:`pieces`.
    """
    require_deflated(entry)
    with archive.open(entry) as file:
        return b"".join(pieces(file, entry.file_size))

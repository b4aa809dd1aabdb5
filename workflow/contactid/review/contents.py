"""What is in a bundle, read where it lies: nothing is unpacked or run, and no link is followed.

A bundle is a zip archive or a folder that one was unpacked into, and comes from anybody. So its
names are held against what a path below a folder may be, its sizes against limits, and only plain
files count.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from contactid.core.errors import ContactIdError
from contactid.core.reading import opened_zip, pieces, require_deflated
from contactid.output.escape import one_line

NAME = "manifest-sha256.txt"
#: Limits: files, bytes of all of them, bytes of one that is read as a whole, bytes of an archive's
#: list of its files. They are far above what a run has, and below what would fill a machine.
MOST_FILES, MOST_BYTES, MOST_READ, MOST_LISTED = 100_000, 4_000_000_000, 64_000_000, 32_000_000
AGAIN, BEWARE = "Get the bundle again", "Don't use this bundle"
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
# what using an unpacked bundle adds to it; nothing of it is read or run
_GROWN = re.compile(r"(\.venv[^/]*|(.*/)?__pycache__|\.snakemake/(?!metadata$).*)")
# what reading a damaged archive raises
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError),
    *(RuntimeError, OSError, ValueError),
)
# characters of a line for a terminal
_LONGEST = 500


def plain(text: object) -> str:
    """One line for a terminal, whatever a bundle's names and cells hold."""
    return one_line(text)[:_LONGEST]


def is_below(name: object) -> bool:
    """Whether a name is a plain relative path, below the folder that it is in on every system."""
    if not isinstance(name, str) or not name.isprintable() or re.search(r"[\\:]", name):
        return False
    return all(part not in ("", ".", "..") for part in name.split("/"))


@dataclass(frozen=True)
class Contents:
    """The files of a bundle.

    Attributes
    ----------
    path : of the bundle
    sizes : bytes, by name
    problems : a line for each thing in a folder that is no plain file
    passed_over : folders that using an unpacked bundle makes
    """

    path: Path
    sizes: Mapping[str, int]
    _open: Callable[[str], IO[bytes]]
    problems: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()

    def chunks(self, name: str) -> Iterator[bytes]:
        """A file's bytes, as many as it was said to have.

        Raises :class:`ContactIdError` where it can't be read.
        """
        try:
            with self._open(name) as file:
                yield from pieces(file, self.sizes[name])
        except _DAMAGE as error:
            raise ContactIdError(
                f"{self.path}: not a whole zip archive or folder ({name}: {error})", AGAIN
            ) from None

    def read(self, name: str) -> bytes:
        """A whole file.

        Raises :class:`ContactIdError` where there is none, or it is too large.
        """
        if name not in self.sizes:
            raise ContactIdError(
                f"{self.path}: no {name} in it", "Name a bundle that make bundle wrote"
            )
        if self.sizes[name] > MOST_READ:
            raise ContactIdError(f"{self.path}: {name} has {self.sizes[name]} bytes", BEWARE)
        return b"".join(self.chunks(name))

    def text(self, name: str) -> str:
        """A whole file as text."""
        return self.read(name).decode("utf-8", errors="replace")

    def json(self, name: str) -> Any:
        """What a JSON file holds."""
        try:
            return json.loads(self.read(name))
        except (ValueError, RecursionError) as error:
            raise ContactIdError(f"{self.path}: {name} is no JSON ({error})", AGAIN) from None

    def digest(self, name: str) -> str:
        """The SHA-256 of a file."""
        checksum = hashlib.sha256()
        for piece in self.chunks(name):
            checksum.update(piece)
        return checksum.hexdigest()

    def blob(self, name: str, algorithm: str) -> str:
        """Git's name of a file."""
        # git's own header comes before the content
        checksum = hashlib.new(algorithm, b"blob %d\0" % self.sizes[name], usedforsecurity=False)
        for piece in self.chunks(name):
            checksum.update(piece)
        return checksum.hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[Contents]:
    """A bundle's files.

    Raises
    ------
    ContactIdError : where it is neither a folder nor a whole zip archive, a name isn't one below a
        folder, two names are one on some systems, an entry of an archive is no plain file, or there
        is too much of it
    """
    if path.is_dir():
        contents = _of_folder(path)
        _refuse_equal_names(path, contents.sizes)
        yield contents
        return
    if not path.is_file():
        problem = "is neither an archive nor a folder" if path.exists() else "does not exist"
        raise ContactIdError(f"{path} {problem}", "Name a bundle that make bundle wrote")
    try:
        archive = opened_zip(path, MOST_LISTED)
        for entry in archive.infolist():
            require_deflated(entry)
    except _DAMAGE as error:
        raise ContactIdError(f"{path}: not a whole zip archive ({error})", AGAIN) from None
    with archive:
        yield _of_archive(path, archive)


def _of_archive(path: Path, archive: zipfile.ZipFile) -> Contents:
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix("/") if entry.is_dir() else entry.filename
        # zipfile cuts a name at a zero byte, and other programs don't
        if entry.orig_filename != entry.filename or not is_below(name):
            raise ContactIdError(
                f"{path}: {entry.orig_filename} would be unpacked elsewhere", BEWARE
            )
        # Unix's type of file is in the upper half; other systems write none
        file_type = stat.S_IFMT(entry.external_attr >> 16)
        expected_type = stat.S_IFDIR if entry.is_dir() else stat.S_IFREG
        if file_type not in (0, expected_type):
            raise ContactIdError(f"{path}: {name} is no plain file", BEWARE)
        if name in entries:
            raise ContactIdError(f"{path}: a file is in it twice ({name})", AGAIN)
        entries[name] = entry
    files = {name: entry for name, entry in entries.items() if not entry.is_dir()}
    for name in entries:
        # "a" and "a/b": which of them is there depends on the program that unpacks
        if any(parent in files for parent in _parents(name)):
            raise ContactIdError(f"{path}: {name} lies in a file", BEWARE)
    sizes = {name: entry.file_size for name, entry in files.items()}
    _bound(path, sizes)
    _refuse_equal_names(path, sizes)
    return Contents(path, sizes, lambda name: archive.open(files[name]))


def _of_folder(path: Path) -> Contents:
    sizes: dict[str, int] = {}
    problems: list[str] = []
    passed_over: list[str] = []

    def unreadable(error: OSError) -> None:
        problems.append(f"{error.filename}: cannot be read ({error.strerror})")

    # links to folders are among the folders, and not entered
    for place, folders, files in os.walk(path, onerror=unreadable):
        within = Path(place).relative_to(path)
        for name in sorted([*folders, *files]):
            listed = (within / name).as_posix()
            status = os.lstat(Path(place, name))
            if name in folders and not stat.S_ISLNK(status.st_mode):
                if _GROWN.fullmatch(listed):
                    # which keeps os.walk from entering it
                    folders.remove(name)
                    passed_over.append(listed)
            elif not stat.S_ISREG(status.st_mode):
                problems.append(f"{listed}: no plain file")
            elif not is_below(listed):
                problems.append(f"{listed}: no name of a file of a bundle")
            else:
                sizes[listed] = status.st_size
        # before another folder is entered
        _bound(path, sizes)

    # what was a plain file may be a link or a FIFO by now
    def open_plain(name: str) -> IO[bytes]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        return os.fdopen(os.open(path / name, flags), "rb")

    return Contents(path, sizes, open_plain, tuple(problems), tuple(sorted(passed_over)))


def _bound(path: Path, sizes: Mapping[str, int]) -> None:
    if len(sizes) > MOST_FILES:
        raise ContactIdError(f"{path}: has more than {MOST_FILES} files", BEWARE)
    size = sum(sizes.values())
    if size > MOST_BYTES:
        raise ContactIdError(f"{path}: holds {size / 1e9:.1f} GB, no bundle does", BEWARE)


def _refuse_equal_names(path: Path, names: Iterable[str]) -> None:
    """Stop where some systems take two names for one: unpacked, one file would replace the other.

    macOS writes an accented letter in one way alone, and it and Windows ignore case.
    """
    first: dict[str, str] = {}
    for name in names:
        written = unicodedata.normalize("NFC", name).casefold()
        other = first.setdefault(written, name)
        if other != name:
            raise ContactIdError(
                f"{path}: {other!a} and {name!a} are one name on some systems", BEWARE
            )


def _parents(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def write_manifest(sums: Mapping[str, str]) -> str:
    """The file's text, sorted by path."""
    return "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))


def read_manifest(text: str) -> dict[str, str]:
    """Sums by path.

    Raises :class:`ContactIdError` where it isn't such a list.
    """
    checksums = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        match = _LINE.fullmatch(line)
        if match is None or match[2] in checksums or not is_below(match[2]):
            raise ContactIdError(f"{NAME}: line {number} is no checksum with a path", AGAIN)
        checksums[match[2]] = match[1]
    return checksums


def differences(bundle: Contents, sums: Mapping[str, str]) -> list[str]:
    """How a bundle, whose files have these sums, departs from its manifest: a line for each file.

    Raises :class:`ContactIdError` where it has no manifest.
    """
    expected = read_manifest(bundle.text(NAME))
    problems = list(bundle.problems)
    for name, checksum in expected.items():
        if name == NAME or name not in sums:
            problems.append(f"{name}: missing")
        elif sums[name] != checksum:
            problems.append(f"{name}: changed")
    for name in sums:
        if name not in expected and name != NAME:
            problems.append(f"{name}: not in the manifest")
    return sorted(problems)


def unpack(bundle: Contents, folder: Path, wanted: Callable[[str], bool] = lambda _: True) -> None:
    """Write a bundle's files, or those that are wanted, into a folder that has none of them.

    Raises :class:`ContactIdError` where that fails.
    """
    for name in filter(wanted, bundle.sizes):
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (folder / name).open("xb") as file:
                file.writelines(bundle.chunks(name))
        except OSError as error:
            problem = f"{bundle.path}: {name} cannot be unpacked ({error.strerror or error})"
            raise ContactIdError(problem, "Check space in TMPDIR") from None

"""The numeric variables of a MATLAB file under flat names, whichever format it has.

Files of version 5 to 7 are read by scipy, version 7.3 (HDF5) by h5py. Fields of structures are joined by dots, entries
of structure arrays and cells have their number from 1 on in braces: ``run{3}.q``. MATLAB stores columns first, so HDF5
shows a matrix transposed; it is turned back, and shapes are MATLAB's own.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.io

from contactid.core.errors import ContactIdError
from contactid.sources.hdf5_values import stored_values
from contactid.sources.left_out import joined, reason_of
from contactid.sources.mat5_structure import structure_problem

_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_V5_BYTE_ORDERS = (b"IM", b"MI")
_LARGEST_MEMBER = 1 << 28  # bytes of one file in a zip file
_DEEPEST, _MOST_NODES = 16, 100_000  # of cells and structures in an HDF5 file
_MOST_DESCRIBED = 12


def mat_files(path: str | Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the ``.mat`` files of a folder (and those below), of a zip file, or of one file.

    Raises
    ------
    ContactIdError
        Where the path is missing, cannot be read, or holds no such file.
    """
    path = Path(path)
    if not path.exists():
        raise ContactIdError(f"{path}: there is no such file or folder", "Correct the path")
    if path.is_file() and path.suffix.lower() == ".mat":
        yield path.name, file_content(path)
        return
    found = False
    for name, content in _zip_members(path) if path.is_file() else _folder_members(path):
        found = True
        yield name, content
    if not found:
        raise ContactIdError(f"{path}: no .mat file in it", "Give the folder or zip file of the archive")


def beside(path: str | Path, name: str) -> str | None:
    """The text of a file of that name at the top of a folder, else None."""
    file = Path(path) / name
    if not file.is_file():
        return None
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ContactIdError(
            f"{file}: not readable as text ({reason_of(error)})", "Give a comma-separated file"
        ) from None


def file_content(path: Path) -> bytes:
    """A file's bytes.

    Raises
    ------
    ContactIdError
        Where it is missing or can't be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise ContactIdError(
            f"{path}: cannot be read ({error.strerror})", "Check the path and its permissions"
        ) from None


def read_variables(content: bytes) -> dict[str, np.ndarray]:
    """Numeric variables by flat name.

    Raises
    ------
    ContactIdError
        Where it is no readable MATLAB file; the text begins with the problem, without a file's name.
    """
    if not content:
        raise ContactIdError("the file is empty", "Fetch it again")
    if content.lstrip()[:1] == b"<":
        raise ContactIdError("a web page, not a MATLAB file", "The download failed: fetch it again")
    if content[:2] == b"PK":
        raise ContactIdError("a zip file, not a MATLAB file", "Unpack it")
    if content[512:520] == _HDF5_SIGNATURE or content[:8] == _HDF5_SIGNATURE:
        return _read_hdf5(content)
    if content[126:128] not in _V5_BYTE_ORDERS or 0 in content[:4]:  # a zero there would make it version 4
        raise ContactIdError("not readable as a MATLAB file (its header is no such file's)", "Fetch it again")
    problem = structure_problem(content)
    if problem:
        raise ContactIdError(f"truncated or damaged as a MATLAB file ({problem})", "Fetch it again")
    try:
        loaded = scipy.io.loadmat(io.BytesIO(content), struct_as_record=True)  # type: ignore[arg-type]
    except Exception as error:  # scipy raises many kinds for damaged files
        raise ContactIdError(f"truncated or damaged as a MATLAB file ({reason_of(error)})", "Fetch it again") from None
    found: dict[str, np.ndarray] = {}
    for name, value in loaded.items():
        if not name.startswith("__"):
            _flatten(name, value, found)
    return found


def described(variables: dict[str, np.ndarray]) -> str:
    """Every variable's name, shape and type, in one line."""
    parts = [f"{name} {'x'.join(map(str, value.shape))} {value.dtype}" for name, value in variables.items()]
    more = f" and {len(parts) - _MOST_DESCRIBED} more" if len(parts) > _MOST_DESCRIBED else ""
    return ", ".join(parts[:_MOST_DESCRIBED]) + more if parts else "no numbers"


def _folder_members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() == ".mat" and file.is_file() and not file.name.startswith("."):
            yield file.relative_to(folder).as_posix(), file_content(file)


def _zip_members(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.lower().endswith(".mat") and not Path(name).name.startswith("."):
                    if archive.getinfo(name).file_size > _LARGEST_MEMBER:
                        raise zipfile.BadZipFile(f"{name} unpacks to more than any recording has")
                    yield name, archive.read(name)
    except Exception as error:  # zipfile raises many kinds for damaged files
        raise ContactIdError(f"{path}: not a readable zip file ({reason_of(error)})", "Fetch it again") from None


def _flatten(name: str, value: Any, found: dict[str, np.ndarray]) -> None:
    if not isinstance(value, np.ndarray):
        return
    if value.dtype.names is None and value.dtype != object:
        if value.dtype.kind in "fiub":
            found[name] = value
        return
    entries = value.reshape(-1, order="F")
    for number, entry in enumerate(entries, start=1):
        label = name if len(entries) == 1 else f"{name}{{{number}}}"
        if value.dtype.names is None:
            _flatten(label, entry, found)
        else:
            for field in value.dtype.names:
                _flatten(f"{label}.{field}", entry[field], found)


def _read_hdf5(content: bytes) -> dict[str, np.ndarray]:
    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            walk = _Hdf5Walk(file)
            for name in file:
                if not name.startswith("#"):
                    walk.visit(name, file[name], 1)
            return walk.found
    except Exception as error:  # h5py raises many kinds for damaged files
        kind = "truncated or damaged" if "trunc" in str(error) else "damaged"
        raise ContactIdError(f"{kind} as a MATLAB file ({reason_of(error)})", "Fetch it again") from None


class _Hdf5Walk:
    """Collects the numbers of a version 7.3 file in ``found``; a loop of references ends in an error."""

    def __init__(self, file: h5py.File) -> None:
        self.file = file
        self.found: dict[str, np.ndarray] = {}
        self.n_nodes = 0

    def visit(self, name: str, node: Any, depth: int) -> None:
        self.n_nodes += 1
        if depth > _DEEPEST or self.n_nodes > _MOST_NODES:
            raise ValueError("its cells refer to each other without end")
        if isinstance(node, h5py.Group):
            self._visit_structure(name, node, depth)
        elif node.dtype == h5py.ref_dtype:
            references = _values(node, name).reshape(-1)
            for number, reference in enumerate(references, start=1):
                label = name if len(references) == 1 else f"{name}{{{number}}}"
                self.visit(label, self.file[reference], depth + 1)
        elif node.dtype.kind in "fiub" and node.attrs.get("MATLAB_class", b"double") != b"char":
            self.found[name] = _values(node, name).T

    def _visit_structure(self, name: str, node: h5py.Group, depth: int) -> None:
        fields = list(node)
        lists = [
            node[key] for key in fields if isinstance(node[key], h5py.Dataset) and node[key].dtype == h5py.ref_dtype
        ]
        many = bool(lists) and len(lists) == len(fields) and len({one.size for one in lists}) == 1 and lists[0].size > 1
        for key in fields:
            if not many:
                self.visit(f"{name}.{key}", node[key], depth + 1)
                continue
            for number, reference in enumerate(_values(node[key], name).reshape(-1), start=1):
                self.visit(f"{name}{{{number}}}.{key}", self.file[reference], depth + 1)


def _values(dataset: h5py.Dataset, name: str) -> np.ndarray:
    problems: list[str] = []
    values = stored_values(dataset, problems, name)
    if values is None:
        raise ValueError(joined(problems))
    return values

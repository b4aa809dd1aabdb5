"""Numbers from HDF5 and MATLAB files, read only where the file can hold what it declares.

A damaged or hostile file may declare an array of terabytes, so declared sizes are compared with the bytes that are
stored before anything is allocated.

* HDF5: contiguous data are as large as their values, and deflate, the only filter of any size in such files, never
  expands by more than 1032.
* MATLAB, version 7.3: an HDF5 file. MATLAB stores columns first, so a matrix shows transposed; it is turned back, and
  shapes are MATLAB's own.
* MATLAB, version 5 to 7, read by scipy: a sequence of elements: a tag (type and number of bytes), then the bytes,
  padded to 8. A matrix (type 14) holds flags, dimensions, a name and its data, and for cells and structures further
  matrices. A compressed element (type 15) inflates to another one. scipy believes a matrix's dimensions and follows any
  nesting, so a damaged file of a few bytes could ask for terabytes or exhaust the stack.

A MATLAB file's numeric variables have flat names: fields of structures are joined by dots, entries of structure arrays
and cells have their number from 1 on in braces: ``run{3}.q``.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from contactid.core.errors import ContactIdError
from contactid.sources.left_out import joined, reason_of

_LARGEST_EXPANSION = 1032
_SMALL = 1 << 20  # bytes; an array this small does no harm, whatever it claims
_LARGEST = 1 << 32  # bytes of one dataset or chunk; HDF5's own limit of a chunk
_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_V5_BYTE_ORDERS = (b"IM", b"MI")
_LARGEST_MEMBER = 1 << 28  # bytes of one file in a zip file
_MOST_NODES = 100_000  # cells and structures in an HDF5 file
_MOST_DESCRIBED = 12
_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15  # types of elements
_SPARSE = 5  # class of a matrix
_MOST_BYTES = 1 << 28  # of one inflated variable; a recording of 1 kHz has half a megabyte a minute
_DEEPEST = 16  # matrices within matrices, cells within cells
_MOST_ELEMENTS = 1_000_000


def size_problem(dataset: h5py.Dataset) -> str | None:
    """What is wrong with the dataset's declared size, or None; begins with a verb."""
    declared = math.prod(dataset.shape or ()) * dataset.dtype.itemsize
    chunk = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    if max(declared, chunk) <= _SMALL:
        return None
    stored = min(dataset.id.get_storage_size(), dataset.file.id.get_filesize())
    holds = stored * (_LARGEST_EXPANSION if dataset.chunks else 1)
    if declared > holds:
        return f"declares {declared:.3g} bytes, but the file stores {stored:.3g} bytes of it"
    if max(declared, chunk) > _LARGEST:
        return f"has {max(declared, chunk):.3g} bytes, more than the {_LARGEST:.3g} that are read at once"
    return None


def stored_values(dataset: h5py.Dataset, problems: list[str], where: str) -> np.ndarray | None:
    """The dataset's values as they are stored; None, and a problem about ``where``, where they can't be had."""
    too_much = size_problem(dataset)
    if too_much:
        problems.append(f"{where} {too_much}")
        return None
    try:
        return np.asarray(dataset[()])
    except (OSError, RuntimeError, TypeError, ValueError):
        problems.append(f"{where} can't be decoded")
        return None


def _structure_problem(content: bytes) -> str | None:
    """What is wrong with the elements of a version 5 file, or None."""
    order = "<" if content[126:128] == b"IM" else ">"
    try:
        for kind, data in _elements(content[_HEADER:], order):
            inner: Iterable[tuple[int, bytes]] = [(kind, data)]
            if kind == _COMPRESSED:
                inflated = zlib.decompressobj().decompress(data, _MOST_BYTES + 1)
                if len(inflated) > _MOST_BYTES:
                    return "a variable that inflates to more than any recording has"
                inner = _elements(inflated, order)
            for element in inner:
                if problem := _problem_within(*element, order):
                    return problem
    except (struct.error, zlib.error) as error:
        return str(error)
    return None


def _problem_within(kind: int, data: bytes, order: str) -> str | None:
    """Go through nested matrices without recursion."""
    waiting = [(data, 1)] if kind == _MATRIX else []
    seen = 0
    while waiting:
        matrix, depth = waiting.pop()
        if depth > _DEEPEST:
            return f"cells within cells, more than {_DEEPEST} deep"
        sparse = False  # its dimensions say nothing about its data
        for place, (inner_kind, inner) in enumerate(_elements(matrix, order)):
            seen += 1
            if place == 0:
                sparse = struct.unpack_from(f"{order}I", inner)[0] & 0xFF == _SPARSE
            if seen > _MOST_ELEMENTS:
                return f"more than {_MOST_ELEMENTS} entries"
            if place == 1 and not sparse:  # the dimensions
                entries = math.prod(abs(size) for size in struct.unpack(f"{order}{len(inner) // 4}i", inner))
                if entries > len(matrix):  # each entry takes at least one byte
                    return f"declares {entries:.3g} entries in {len(matrix)} bytes"
            if inner_kind == _MATRIX:
                waiting.append((inner, depth + 1))
    return None


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Type and bytes of each element; raises struct.error where the data end early."""
    at = 0
    while at < len(data):
        if at + 8 > len(data) and not any(data[at:]):
            return  # padding
        (kind,) = struct.unpack_from(f"{order}I", data, at)
        if kind >> 16:  # small element: type and size share four bytes, the data follow in the next four
            size, kind, begin, end = kind >> 16, kind & 0xFFFF, at + 4, at + 8
            if size > 4:
                raise struct.error("a short element is longer than it can be")
        else:
            (size,) = struct.unpack_from(f"{order}I", data, at + 4)
            begin = at + 8
            end = begin + size if kind == _COMPRESSED else begin + -(-size // 8) * 8
        if begin + size > len(data):
            raise struct.error("an element reaches beyond the end")
        yield kind, data[begin : begin + size]
        at = end


def mat_files(path: str | Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the ``.mat`` files of a folder, those below and in its zip files, of a zip, or of one file.

    Raises :class:`ContactIdError` where the path is missing, cannot be read, or holds no such file.
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

    Raises :class:`ContactIdError` where it is missing or can't be read.
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
    ContactIdError : where it is no readable MATLAB file; the text begins with the problem, without a file's name
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
    problem = _structure_problem(content)
    if problem:
        raise ContactIdError(f"truncated or damaged as a MATLAB file ({problem})", "Fetch it again")
    import scipy.io  # half a second, which readers of HDF5 files can do without

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
        name = file.relative_to(folder).as_posix()
        if file.name.startswith(".") or not file.is_file():
            continue
        if file.suffix.lower() == ".mat":
            yield name, file_content(file)
        elif file.suffix.lower() == ".zip":
            yield from ((f"{name}/{member}", content) for member, content in _zip_members(file))


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

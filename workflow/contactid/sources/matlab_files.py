"""Numbers from MATLAB files, read only where the file can hold what it declares.

A damaged or hostile file may declare an array of terabytes, so declared sizes are compared with the
bytes that are stored before anything is allocated.

* Version 7.3: an HDF5 file (:mod:`contactid.sources.hdf5_files`). MATLAB stores columns first, so a
  matrix shows transposed; it is turned back, and shapes are MATLAB's own.
* Version 5 to 7, read by scipy: a sequence of elements: a tag (type and number of bytes), then the
  bytes, padded to 8. A matrix (type 14) holds flags, dimensions, a name and its data, and for cells
  and structures further matrices. A compressed element (type 15) inflates to another one. scipy
  believes a matrix's dimensions and follows any nesting, so a damaged file of a few bytes could ask
  for terabytes or exhaust the stack.

A MATLAB file's numeric variables have flat names: fields of structures are joined by dots, entries
of structure arrays and cells have their number from 1 on in braces: ``run{3}.q``.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from contactid.core.errors import ContactIdError
from contactid.core.reading import (
    LARGEST_FILE,
    content_of,
    entry_content,
    opened_zip,
    require_plain,
)
from contactid.sources.hdf5_files import address_of, outside, size_problem, stored_values
from contactid.sources.left_out import joined, reason_of

_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_V5_BYTE_ORDERS = (b"IM", b"MI")
# bytes of a zip file's list of its files
_MOST_LISTED = 1 << 24
# bytes of a list of recordings
_LARGEST_LIST = 1 << 20
# cells and structures in an HDF5 file
_MOST_NODES = 100_000
# variables that a message names
_MOST_DESCRIBED = 12
# bytes of all variables of a file: ten minutes of 14 signals at 1 kHz
_MOST_BYTES = 1 << 26
# bytes of text, version and byte order before a version 5 file's first element
_HEADER = 128
# types of elements
_MATRIX, _COMPRESSED = 14, 15
# classes of matrices: a sparse one has its numbers by place; cells, structures and objects
_SPARSE = 5
_NESTING = (1, 2, 3)
# bytes that each element begins with
_TAG = 8
# bytes: 32 dimensions
_LONGEST_SHAPE = 128
# bytes that are inflated at once
_PIECE = 1 << 20
# matrices within matrices, cells within cells
_DEEPEST = 16
_MOST_PARTS = 1_000_000


def _structure_problem(content: bytes, most: int) -> str | None:
    """What is wrong with the elements of a version 5 file, or None; ``most`` bytes may be in its
    variables.
    """
    order = "<" if content[126:128] == b"IM" else ">"
    # a number takes 8 bytes once it is read, whatever it takes in the file
    bounds = _Bounds(most, most // 8)
    try:
        for kind, data in _elements(memoryview(content)[_HEADER:], order):
            inner: Iterable[tuple[int, memoryview]] = [(kind, data)]
            if kind == _COMPRESSED:
                inner = _elements(memoryview(_inflated(data, bounds)), order)
            for element in inner:
                _look_within(*element, order, bounds)
    except (struct.error, zlib.error, ValueError) as error:
        return str(error)
    return None


@dataclass
class _Bounds:
    """How much more a file may hold: inflated bytes, numbers, and parts of whatever kind."""

    inflated: int
    numbers: int
    parts: int = _MOST_PARTS


def _inflated(data: memoryview, bounds: _Bounds) -> bytearray:
    inflater = zlib.decompressobj()
    packed = bytes(data)
    inflated = bytearray()
    while piece := inflater.decompress(packed, _PIECE):
        packed = inflater.unconsumed_tail
        bounds.inflated -= len(piece)
        if bounds.inflated < 0:
            raise ValueError("its variables inflate to more than any recording has")
        inflated += piece
    return inflated


def _look_within(kind: int, data: memoryview, order: str, bounds: _Bounds) -> None:
    """Go through nested matrices without recursion."""
    waiting = [(data, 1)] if kind == _MATRIX else []
    while waiting:
        matrix, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ValueError(f"cells within cells, more than {_DEEPEST} deep")
        matrix_class = 0
        for place, (inner_kind, inner) in enumerate(_elements(matrix, order)):
            bounds.parts -= 1
            if bounds.parts < 0:
                raise ValueError(f"more than {_MOST_PARTS} entries")
            # flags come first, whose lowest byte is the class, then the dimensions
            if place == 0:
                matrix_class = struct.unpack_from(f"{order}I", inner)[0] & 0xFF
            elif place == 1 and len(inner) > _LONGEST_SHAPE:
                raise ValueError("a matrix of too many dimensions")
            # a sparse matrix's dimensions say nothing about its data
            elif place == 1 and matrix_class != _SPARSE:
                sizes = struct.unpack(f"{order}{len(inner) // 4}i", inner)
                entries = math.prod(abs(size) for size in sizes)
                # what each entry takes at least: an element's tag, or a byte
                least = _TAG if matrix_class in _NESTING else 1
                if entries * least > len(matrix):
                    raise ValueError(f"declares {entries:.3g} entries in {len(matrix)} bytes")
                bounds.numbers -= entries
                if bounds.numbers < 0:
                    raise ValueError("more numbers than any recording has")
            if inner_kind == _MATRIX:
                waiting.append((inner, depth + 1))


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Type and bytes of each element; raises struct.error where the data end early."""
    at = 0
    while at < len(data):
        # padding
        if at + _TAG > len(data) and not any(data[at:]):
            return
        (kind,) = struct.unpack_from(f"{order}I", data, at)
        # a small element: type and size share four bytes, the data follow in the next four
        if kind >> 16:
            size, kind = kind >> 16, kind & 0xFFFF
            begin, end = at + 4, at + _TAG
            if size > 4:
                raise struct.error("a short element is longer than it can be")
        else:
            (size,) = struct.unpack_from(f"{order}I", data, at + 4)
            begin = at + _TAG
            # compressed elements alone aren't padded to 8 bytes
            padded = size if kind == _COMPRESSED else -(-size // 8) * 8
            end = begin + padded
        if begin + size > len(data):
            raise struct.error("an element reaches beyond the end")
        yield kind, data[begin : begin + size]
        at = end


def mat_files(path: str | Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the ``.mat`` files of a folder, those below and in its zip files, of a
    zip, or of one file.

    Raises :class:`ContactIdError` where the path is missing, cannot be read, or holds no such file.
    """
    path = Path(path)
    if not path.exists():
        raise ContactIdError(f"{path}: there is no such file or folder", "Correct the path")
    if path.is_file() and path.suffix.lower() == ".mat":
        yield path.name, content_of(path)
        return
    any_file = False
    members = _zip_members(path) if path.is_file() else _folder_members(path)
    for name, content in members:
        any_file = True
        yield name, content
    if not any_file:
        raise ContactIdError(
            f"{path}: no .mat file in it", "Give the folder or zip file of the archive"
        )


def beside(path: str | Path, name: str) -> str | None:
    """The text of a file of that name at the top of a folder, else None."""
    file = Path(path) / name
    if not file.is_file():
        return None
    try:
        return content_of(file, _LARGEST_LIST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContactIdError(
            f"{file}: not readable as text ({reason_of(error)})", "Give a comma-separated file"
        ) from None


def read_variables(content: bytes, most: int = _MOST_BYTES) -> dict[str, np.ndarray]:
    """Numeric variables by flat name, of a file whose variables take ``most`` bytes in all.

    Raises
    ------
    ContactIdError : where it is no readable MATLAB file; the text begins with the problem, without
        a file's name
    """
    if not content:
        raise ContactIdError("the file is empty", "Fetch it again")
    if content.lstrip()[:1] == b"<":
        raise ContactIdError("a web page, not a MATLAB file", "The download failed: fetch it again")
    if content[:2] == b"PK":
        raise ContactIdError("a zip file, not a MATLAB file", "Unpack it")
    # MATLAB writes 512 bytes of its own before the signature, other programs none
    if content[512:520] == _HDF5_SIGNATURE or content[:8] == _HDF5_SIGNATURE:
        return _read_hdf5(content, most)
    # a zero in the first bytes would make it version 4
    if content[126:128] not in _V5_BYTE_ORDERS or 0 in content[:4]:
        raise ContactIdError(
            "not readable as a MATLAB file (its header is no such file's)", "Fetch it again"
        )
    problem = _structure_problem(content, most)
    if problem:
        raise ContactIdError(f"truncated or damaged as a MATLAB file ({problem})", "Fetch it again")
    # here, as it takes half a second, which readers of HDF5 files can do without
    import scipy.io

    try:
        loaded = scipy.io.loadmat(io.BytesIO(content), struct_as_record=True)  # type: ignore[arg-type]
    # scipy raises many kinds for damaged files
    except Exception as error:
        raise ContactIdError(
            f"truncated or damaged as a MATLAB file ({reason_of(error)})", "Fetch it again"
        ) from None
    variables: dict[str, np.ndarray] = {}
    for name, value in loaded.items():
        if not name.startswith("__"):
            _flatten(name, value, variables)
    return variables


def described(variables: dict[str, np.ndarray]) -> str:
    """Every variable's name, shape and type, in one line."""
    if not variables:
        return "no numbers"
    parts = []
    for name, value in variables.items():
        shape = "x".join(map(str, value.shape))
        parts.append(f"{name} {shape} {value.dtype}")
    text = ", ".join(parts[:_MOST_DESCRIBED])
    if len(parts) > _MOST_DESCRIBED:
        text += f" and {len(parts) - _MOST_DESCRIBED} more"
    return text


def _folder_members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.name.startswith(".") or not file.is_file():
            continue
        if file.suffix.lower() == ".mat":
            yield name, content_of(file)
        elif file.suffix.lower() == ".zip":
            for member, content in _zip_members(file):
                yield f"{name}/{member}", content


def _zip_members(path: Path) -> Iterator[tuple[str, bytes]]:
    require_plain(path, None)
    try:
        with opened_zip(path, _MOST_LISTED) as archive:
            for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
                name = entry.filename
                # hidden ones are a system's notes on the file beside them
                if name.lower().endswith(".mat") and not Path(name).name.startswith("."):
                    if entry.file_size > LARGEST_FILE:
                        raise zipfile.BadZipFile(f"{name} unpacks to more than any recording has")
                    yield name, entry_content(archive, entry)
    # zipfile raises many kinds for damaged files
    except Exception as error:
        raise ContactIdError(
            f"{path}: not a readable zip file ({reason_of(error)})", "Fetch it again"
        ) from None


def _flatten(name: str, value: Any, variables: dict[str, np.ndarray]) -> None:
    if not isinstance(value, np.ndarray):
        return
    if value.dtype.names is None and value.dtype != object:
        if value.dtype.kind in "fiub":
            variables[name] = value
        return
    # MATLAB counts down the columns
    entries = value.reshape(-1, order="F")
    for number, entry in enumerate(entries, start=1):
        label = name if len(entries) == 1 else f"{name}{{{number}}}"
        if value.dtype.names is None:
            _flatten(label, entry, variables)
        else:
            for field in value.dtype.names:
                _flatten(f"{label}.{field}", entry[field], variables)


def _read_hdf5(content: bytes, most: int) -> dict[str, np.ndarray]:
    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            walk = _Hdf5Walk(file, most)
            for name in file:
                # "#refs#" holds what cells refer to
                if not name.startswith("#"):
                    walk.visit(name, file.get(name), 1)
            return walk.numbers
    # h5py raises many kinds for damaged files
    except Exception as error:
        flaw = "truncated or damaged" if "trunc" in str(error) else "damaged"
        raise ContactIdError(
            f"{flaw} as a MATLAB file ({reason_of(error)})", "Fetch it again"
        ) from None


class _Hdf5Walk:
    """Collects the ``numbers`` of a version 7.3 file; a loop of references ends in an error."""

    def __init__(self, file: h5py.File, most: int) -> None:
        self.file = file
        self.numbers: dict[str, np.ndarray] = {}
        self.n_nodes = 0
        self.remaining_bytes = most
        self.inside: set[int] = set()
        if problem := outside(file, self.inside):
            raise ValueError(problem)

    def _referred(self, reference: h5py.Reference) -> Any:
        """What a reference leads to; nothing has looked at what has no name."""
        node = self.file[reference]
        if address_of(node) not in self.inside:
            raise ValueError("it refers to what has no name")
        return node

    def visit(self, name: str, node: Any, depth: int) -> None:
        self.n_nodes += 1
        if depth > _DEEPEST or self.n_nodes > _MOST_NODES:
            raise ValueError("its cells refer to each other without end")
        if isinstance(node, h5py.Group):
            self._visit_structure(name, node, depth)
        elif not isinstance(node, h5py.Dataset):
            return
        elif node.dtype == h5py.ref_dtype:
            references = self._values(node, name).reshape(-1)
            for number, reference in enumerate(references, start=1):
                label = name if len(references) == 1 else f"{name}{{{number}}}"
                self.visit(label, self._referred(reference), depth + 1)
        # texts are stored as numbers, too
        elif node.dtype.kind in "fiub" and node.attrs.get("MATLAB_class") != b"char":
            self.numbers[name] = self._values(node, name).T

    def _visit_structure(self, name: str, node: h5py.Group, depth: int) -> None:
        fields = {key: node.get(key) for key in node}
        # references that each field has; of several structures all fields have as many
        n_references = []
        for field in fields.values():
            if isinstance(field, h5py.Dataset) and field.dtype == h5py.ref_dtype:
                n_references.append(field.size)
        are_all_lists = len(n_references) == len(fields)
        many = are_all_lists and len(set(n_references)) == 1 and n_references[0] > 1
        for key, field in fields.items():
            if not many:
                self.visit(f"{name}.{key}", field, depth + 1)
                continue
            references = self._values(field, name).reshape(-1)
            for number, reference in enumerate(references, start=1):
                self.visit(f"{name}{{{number}}}.{key}", self._referred(reference), depth + 1)

    def _values(self, dataset: h5py.Dataset, name: str) -> np.ndarray:
        self.remaining_bytes -= math.prod(dataset.shape or ()) * dataset.dtype.itemsize
        if problem := size_problem(dataset):
            raise ValueError(f"{name} {problem}")
        if self.remaining_bytes < 0:
            raise ValueError(f"{name} has more numbers than any recording")
        problems: list[str] = []
        values = stored_values(dataset, problems, name)
        if values is None:
            raise ValueError(joined(problems))
        return values

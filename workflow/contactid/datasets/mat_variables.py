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

from contactid.errors import ContactIdError

_V5_START, _HDF5_SIGNATURE = b"MATLAB 5.0", b"\x89HDF\r\n\x1a\n"
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
        yield path.name, _content(path)
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
    return file.read_text(encoding="utf-8-sig") if file.is_file() else None


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
    try:
        if content[512:520] == _HDF5_SIGNATURE or content[:8] == _HDF5_SIGNATURE:
            return _read_hdf5(content)
        loaded = scipy.io.loadmat(io.BytesIO(content), struct_as_record=True)  # type: ignore[arg-type]
    except Exception as error:  # both libraries raise many kinds for damaged files
        kind = "truncated or damaged" if content.startswith(_V5_START) or "trunc" in str(error) else "not readable"
        raise ContactIdError(f"{kind} as a MATLAB file ({error})", "Fetch it again") from None
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


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ContactIdError(f"{path}: cannot be read ({error.strerror})", "Check its permissions") from None


def _folder_members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() == ".mat" and file.is_file() and not file.name.startswith("."):
            yield file.relative_to(folder).as_posix(), _content(file)


def _zip_members(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.lower().endswith(".mat") and not Path(name).name.startswith("."):
                    yield name, archive.read(name)
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise ContactIdError(f"{path}: not a readable zip file ({error})", "Fetch it again") from None


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
    with h5py.File(io.BytesIO(content), "r") as file:
        found: dict[str, np.ndarray] = {}
        for name in file:
            if not name.startswith("#"):
                _flatten_hdf5(name, file[name], file, found)
        return found


def _flatten_hdf5(name: str, node: Any, file: h5py.File, found: dict[str, np.ndarray]) -> None:
    if isinstance(node, h5py.Group):
        fields = list(node)
        lists = [
            node[key] for key in fields if isinstance(node[key], h5py.Dataset) and node[key].dtype == h5py.ref_dtype
        ]
        many = len(lists) == len(fields) and len({one.size for one in lists}) == 1 and lists[0].size > 1
        for key in fields:
            if many:  # a structure array keeps a list of references per field
                for number, reference in enumerate(node[key][()].reshape(-1), start=1):
                    _flatten_hdf5(f"{name}{{{number}}}.{key}", file[reference], file, found)
            else:
                _flatten_hdf5(f"{name}.{key}", node[key], file, found)
    elif node.dtype == h5py.ref_dtype:
        references = node[()].reshape(-1)
        for number, reference in enumerate(references, start=1):
            label = name if len(references) == 1 else f"{name}{{{number}}}"
            _flatten_hdf5(label, file[reference], file, found)
    elif node.dtype.kind in "fiub" and node.attrs.get("MATLAB_class", b"double") != b"char":
        found[name] = np.asarray(node[()]).T

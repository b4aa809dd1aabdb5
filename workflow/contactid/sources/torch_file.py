"""Read tensors from PyTorch files without PyTorch and without trusting the file.

A ``.pt`` file is a pickle, and unpickling runs whatever the file names. This reader accepts the handful of names that a
saved tensor needs and refuses every other one, so a hostile file can't do more than fail. It knows both formats:

* *legacy* (before torch 1.6): magic number, protocol, system info, one pickle with the object, a pickled list of
  storage keys, then for each storage its element count (8 bytes, little endian) and its bytes;
* *zip* (since torch 1.6): ``<root>/data.pkl`` with the object and ``<root>/data/<key>`` with each storage's bytes.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import struct
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.sources.left_out import reason_of

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001
_LARGEST_EXPANSION = 1_000_000  # elements
_LARGEST_PICKLE = 1 << 20  # bytes; that of a tensor has a few hundred
_MOST_MEMOS = 10_000  # that of a tensor has a dozen
_MEMO_CODES = ("PUT", "BINPUT", "LONG_BINPUT")
_STORAGE_DTYPES: dict[str, np.dtype[Any]] = {
    "DoubleStorage": np.dtype("<f8"),
    "FloatStorage": np.dtype("<f4"),
    "HalfStorage": np.dtype("<f2"),
    "LongStorage": np.dtype("<i8"),
    "IntStorage": np.dtype("<i4"),
    "ShortStorage": np.dtype("<i2"),
    "CharStorage": np.dtype("<i1"),
    "ByteStorage": np.dtype("<u1"),
    "BoolStorage": np.dtype("?"),
}


class UnsafeTorchFileError(ContactIdError):
    """The file asks for something that a plain tensor doesn't need."""


@dataclass(frozen=True)
class _Storage:
    """A storage that a tensor refers to; its bytes may come later in the file."""

    key: str
    dtype: np.dtype
    size: int


@dataclass(frozen=True)
class _TensorView:
    """Shape and strides of a tensor over its storage, counted in elements."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def over(self, flat: np.ndarray) -> np.ndarray:
        """Copy the view out of the storage ``flat`` (1-D), refusing one that reaches beyond it."""
        if any(n < 0 for n in (self.offset, *self.shape, *self.strides)) or len(self.shape) != len(self.strides):
            raise ValueError("a tensor has a negative or inconsistent shape")
        # an expanded tensor repeats elements by a stride of zero; a small file must not claim much memory by it
        if math.prod(self.shape) > max(flat.size, _LARGEST_EXPANSION):
            raise ValueError("a tensor claims more elements than its storage has")
        if 0 in self.shape:
            return np.empty(self.shape, dtype=flat.dtype)
        last = self.offset + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        if last >= flat.size:
            raise ValueError("a tensor reaches beyond its storage")
        byte_strides = tuple(s * flat.itemsize for s in self.strides)
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, byte_strides).copy()


def _rebuild_tensor(
    storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: object
) -> _TensorView:
    if not isinstance(storage, _Storage):
        raise ValueError("a tensor without a storage")
    return _TensorView(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


class _TensorUnpickler(pickle.Unpickler):
    """An unpickler that knows tensors, their storages and ordered dictionaries, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name in _STORAGE_DTYPES:
            return _STORAGE_DTYPES[name]
        raise UnsafeTorchFileError(f"it asks for {module[:80]}.{name[:80]}, which no plain tensor needs")

    def persistent_load(self, pid: Any) -> _Storage:
        if not (isinstance(pid, tuple) and len(pid) >= 5 and pid[0] == "storage" and isinstance(pid[1], np.dtype)):
            raise UnsafeTorchFileError("it refers to something other than a tensor's storage")
        return _Storage(str(pid[2]), pid[1], int(pid[4]))


def read_tensor(path: str | Path) -> np.ndarray:
    """Return the single tensor saved in a PyTorch file as an array of the same shape and precision.

    Parameters
    ----------
    path : a file written by ``torch.save(tensor, path)``, in the legacy or in the zip format

    Raises
    ------
    ContactIdError
        Where the file is missing, truncated, no PyTorch file, holds something else than one tensor, or names anything
        that a tensor doesn't need (:class:`UnsafeTorchFileError`).
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ContactIdError(
            f"{path}: cannot be read ({error.strerror})", "Check the path and its permissions"
        ) from None
    try:
        return _read_zip(content) if content[:2] == b"PK" else _read_legacy(content)
    except UnsafeTorchFileError as error:
        raise UnsafeTorchFileError(
            f"{path}: refused, {error.problem}", "Save the bare tensor with torch.save(tensor, path)"
        ) from None
    except Exception as error:  # a damaged pickle can raise nearly anything; all of it means the same to the user
        raise ContactIdError(
            f"{path}: not a readable PyTorch tensor file ({reason_of(error)})", "It may be truncated: fetch it again"
        ) from None


def _read_legacy(content: bytes) -> np.ndarray:
    stream = io.BytesIO(content)
    if _unpickled(stream) != _LEGACY_MAGIC:
        raise ValueError("wrong magic number")
    if _unpickled(stream) != _LEGACY_PROTOCOL:
        raise ValueError("unknown protocol")
    system = _unpickled(stream)
    if not system.get("little_endian", True):
        raise ValueError("written on a big-endian machine")
    view = _single_tensor(_unpickled(stream))
    for key in _unpickled(stream):
        (size,) = struct.unpack("<q", _exactly(stream, 8))
        if str(key) == view.storage.key:
            if size != view.storage.size:
                raise ValueError("storage sizes disagree")
            raw = _exactly(stream, size * view.storage.dtype.itemsize)
            return view.over(np.frombuffer(raw, dtype=view.storage.dtype))
        raise ValueError("more than one storage")
    raise ValueError("the tensor's storage is missing")


def _read_zip(content: bytes) -> np.ndarray:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        pickles = [name for name in archive.namelist() if name.split("/", 1)[-1] == "data.pkl"]
        if len(pickles) != 1:
            raise ValueError("no data.pkl in the archive")
        root = pickles[0].removesuffix("data.pkl")
        if f"{root}byteorder" in archive.namelist() and archive.open(f"{root}byteorder").read(9).strip() != b"little":
            raise ValueError("written on a big-endian machine")
        if archive.getinfo(pickles[0]).file_size > _LARGEST_PICKLE:
            raise ValueError("more in data.pkl than a tensor needs")
        view = _single_tensor(_unpickled(io.BytesIO(archive.read(pickles[0]))))
        member = archive.getinfo(f"{root}data/{view.storage.key}")
        if member.file_size != view.storage.size * view.storage.dtype.itemsize:
            raise ValueError("storage sizes disagree")
        if member.compress_type != zipfile.ZIP_STORED:  # torch never compresses; a tiny file can't unfold to gigabytes
            raise ValueError("a compressed storage")
        raw = archive.read(member)
        return view.over(np.frombuffer(raw, dtype=view.storage.dtype))


def _unpickled(stream: io.BytesIO) -> Any:
    """The next pickle of a stream, once its codes are known to be harmless.

    The unpickler makes room for any memo number that a pickle names, gigabytes for four bytes, so these are looked at
    first; that also finds texts which are longer than the file.
    """
    begin = stream.tell()
    for code, argument, _ in pickletools.genops(stream):
        if code.name in _MEMO_CODES and not 0 <= int(argument or 0) < _MOST_MEMOS:
            raise ValueError("a memo number that no tensor needs")
    stream.seek(begin)
    return _TensorUnpickler(stream).load()


def _single_tensor(loaded: object) -> _TensorView:
    if not isinstance(loaded, _TensorView):
        raise ValueError(f"holds a {type(loaded).__name__} instead of one tensor")
    return loaded


def _exactly(stream: io.BytesIO, size: int) -> bytes:
    if size < 0:
        raise ValueError("negative size")
    raw = stream.read(size)
    if len(raw) != size:
        raise ValueError("the file ends early")
    return raw

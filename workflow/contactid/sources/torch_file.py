"""Read tensors from PyTorch files without PyTorch and without trusting the file.

A ``.pt`` file is a pickle: a program of opcodes that may call whatever it names. This reader
carries out the few opcodes and names that a saved tensor needs, two thousand of them at most, and
no container within itself or twice: what it makes is never larger than the file. It refuses every
other one, so a hostile file can't do more than fail. It knows both formats:

* *legacy* (before torch 1.6): magic number, protocol, system info, one pickle with the object, a
  pickled list of storage keys, then for each storage its element count (8 bytes, little endian) and
  its bytes;
* *zip* (since torch 1.6): ``<root>/data.pkl`` with the object and ``<root>/data/<key>`` with each
  storage's bytes.
"""

from __future__ import annotations

import io
import math
import pickletools
import struct
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.core.reading import content_of, entry_content, opened_zip
from contactid.sources.left_out import reason_of

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001
# elements that a tensor may have whatever its storage holds, by strides of zero
_LARGEST_EXPANSION = 1_000_000
# bytes; that of a tensor has a few hundred
_LARGEST_PICKLE = 1 << 20
# bytes; a toss has a few ten thousand
_LARGEST_FILE = 1 << 26
# bytes of a zip file's list of its files
_MOST_LISTED = 1 << 20
# that of a tensor has fifty
_MOST_CODES = 2000
# containers within containers; a tensor's are three deep
_DEEPEST = 8
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
        if any(n < 0 for n in (self.offset, *self.shape, *self.strides)) or len(self.shape) != len(
            self.strides
        ):
            raise ValueError("a tensor has a negative or inconsistent shape")
        # an expanded tensor repeats elements by a stride of zero; a small file must not claim much
        # memory by it
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


def _global(name: str) -> Any:
    match name.split(" ", 1):
        case ["torch._utils", "_rebuild_tensor_v2"]:
            return _rebuild_tensor
        case ["collections", "OrderedDict"]:
            return OrderedDict
        case ["torch", storage] if storage in _STORAGE_DTYPES:
            return _STORAGE_DTYPES[storage]
    module, _, name = name.partition(" ")
    raise UnsafeTorchFileError(
        f"it asks for {module[:80]}.{name[:80]}, which no plain tensor needs"
    )


def _called(function: Any, arguments: Any) -> Any:
    if function is _rebuild_tensor and isinstance(arguments, tuple):
        return _rebuild_tensor(*arguments)
    if function is OrderedDict and arguments == ():
        return OrderedDict()
    raise UnsafeTorchFileError("it calls what no plain tensor needs")


def _storage(pid: Any) -> _Storage:
    match pid:
        # the fourth names the device, which the bytes don't depend on
        case ("storage", np.dtype() as dtype, str() | int() as key, _, int(size), *_):
            return _Storage(str(key), dtype, size)
    raise UnsafeTorchFileError("it refers to something other than a tensor's storage")


class _Machine:
    """Carries out a pickle's opcodes on a stack of stacks, the innermost container's last."""

    def __init__(self) -> None:
        self.stacks: list[list[Any]] = [[]]
        self.memo: dict[int, Any] = {}

    def push(self, value: Any) -> None:
        if _depth(value) > _DEEPEST:
            raise UnsafeTorchFileError(
                "it has containers within containers, more than a tensor needs"
            )
        self.stacks[-1].append(value)

    def pop(self, count: int) -> list[Any]:
        stack = self.stacks[-1]
        if len(stack) < count:
            raise ValueError("its stack is empty")
        taken = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        return taken

    def popped_to_mark(self) -> list[Any]:
        if len(self.stacks) < 2:
            raise ValueError("its stack has no mark")
        return self.stacks.pop()

    def add(self, items: list[Any]) -> None:
        """Put items into the list or dictionary at the top of the stack."""
        [target] = self.pop(1)
        if isinstance(target, list):
            target += items
        elif isinstance(target, dict) and all(isinstance(key, str | int) for key in items[::2]):
            target.update(zip(items[::2], items[1::2], strict=True))
        else:
            raise UnsafeTorchFileError("it fills what no plain tensor needs")
        self.push(target)

    def carry_out(self, name: str, argument: Any) -> None:
        match name:
            case "PROTO":
                pass
            case "NONE":
                self.push(None)
            case "NEWTRUE" | "NEWFALSE":
                self.push(name == "NEWTRUE")
            case "BININT" | "BININT1" | "BININT2" | "LONG1" | "BINUNICODE":
                self.push(argument)
            case "GLOBAL":
                self.push(_global(argument))
            case "MARK":
                self.stacks.append([])
                if len(self.stacks) > _DEEPEST:
                    raise UnsafeTorchFileError(
                        "it has containers within containers, more than a tensor needs"
                    )
            case "EMPTY_TUPLE" | "EMPTY_LIST" | "EMPTY_DICT":
                self.push({"EMPTY_TUPLE": (), "EMPTY_LIST": [], "EMPTY_DICT": {}}[name])
            case "TUPLE":
                self.push(tuple(self.popped_to_mark()))
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                self.push(tuple(self.pop(int(name[-1]))))
            case "APPENDS" | "SETITEMS":
                self.add(self.popped_to_mark())
            case "APPEND" | "SETITEM":
                self.add(self.pop(1 if name == "APPEND" else 2))
            case "BINPUT" | "LONG_BINPUT":
                self.memo[argument] = self.stacks[-1][-1]
            case "BINGET" | "LONG_BINGET":
                # each use of a container within others could double what a few bytes make
                value = self.memo[argument]
                if isinstance(value, tuple | list | dict):
                    raise UnsafeTorchFileError("it has a container twice")
                self.push(value)
            case "REDUCE":
                self.push(_called(*self.pop(2)))
            case "BINPERSID":
                self.push(_storage(*self.pop(1)))
            case _:
                raise UnsafeTorchFileError(f"it has the opcode {name}, which no plain tensor needs")


def _depth(value: Any) -> int:
    """Containers within containers; each was bounded when it was made, so this isn't deep."""
    inner = (
        value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, tuple | list)
        else ()
    )
    return 1 + max(map(_depth, inner), default=0)


def read_tensor(path: str | Path) -> np.ndarray:
    """Return the single tensor saved in a PyTorch file as an array of the same shape and precision.

    Parameters
    ----------
    path : a file written by ``torch.save(tensor, path)``, in the legacy or in the zip format

    Raises
    ------
    ContactIdError
        Where the file is missing, truncated, no PyTorch file, holds something else than one tensor,
        or names anything that a tensor doesn't need (:class:`UnsafeTorchFileError`).
    """
    content = content_of(path, _LARGEST_FILE)
    try:
        return _read_zip(content) if content[:2] == b"PK" else _read_legacy(content)
    except UnsafeTorchFileError as error:
        raise UnsafeTorchFileError(
            f"{path}: refused, {error.problem}",
            "Save the bare tensor with torch.save(tensor, path)",
        ) from None
    # a damaged pickle can raise nearly anything; all of it means the same to the user
    except Exception as error:
        raise ContactIdError(
            f"{path}: not a readable PyTorch tensor file ({reason_of(error)})",
            "It may be truncated: fetch it again",
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
    with opened_zip(io.BytesIO(content), _MOST_LISTED) as archive:
        pickles = [name for name in archive.namelist() if name.split("/", 1)[-1] == "data.pkl"]
        if len(pickles) != 1:
            raise ValueError("no data.pkl in the archive")
        root = pickles[0].removesuffix("data.pkl")
        if (
            f"{root}byteorder" in archive.namelist()
            and _member(archive, f"{root}byteorder").strip() != b"little"
        ):
            raise ValueError("written on a big-endian machine")
        view = _single_tensor(_unpickled(io.BytesIO(_member(archive, pickles[0]))))
        size = view.storage.size * view.storage.dtype.itemsize
        member = archive.getinfo(f"{root}data/{view.storage.key}")
        if member.file_size != size:
            raise ValueError("storage sizes disagree")
        return view.over(
            np.frombuffer(_member(archive, member.filename, size), dtype=view.storage.dtype)
        )


def _member(archive: zipfile.ZipFile, name: str, most: int = _LARGEST_PICKLE) -> bytes:
    entry = archive.getinfo(name)
    if entry.file_size > most:
        raise ValueError(f"more in {Path(name).name} than a tensor needs")
    # torch never compresses; a tiny file can't unfold to gigabytes
    if entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{Path(name).name} is compressed")
    return entry_content(archive, entry)


def _unpickled(stream: io.BytesIO) -> Any:
    """The next pickle of a stream."""
    machine = _Machine()
    for count, (code, argument, _) in enumerate(pickletools.genops(stream)):
        if count > _MOST_CODES:
            raise UnsafeTorchFileError("it has more opcodes than a tensor needs")
        if code.name == "STOP":
            break
        machine.carry_out(code.name, argument)
    [found] = machine.pop(1)
    return found


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

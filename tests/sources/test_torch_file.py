"""Tensors are read from PyTorch files exactly, without PyTorch; hostile and damaged files only
fail.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.sources.torch_file import UnsafeTorchFileError, read_tensor

DTYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "?",
}
FORMATS = ("legacy", "zip")


def opcodes(value: object) -> bytes:
    """The pickle opcodes that push a plain value, without the protocol mark and the final stop."""
    return pickle.dumps(value, protocol=2)[2:-1]


def push_global(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def tensor_pickle(
    storage: str,
    size: int,
    *,
    offset: int = 0,
    shape: tuple[int, ...] = (),
    strides: tuple[int, ...] = (),
    legacy: bool = False,
) -> bytes:
    """What torch.save pickles for a tensor, put together by hand."""
    reference = (
        opcodes("storage")
        + push_global("torch", storage)
        + opcodes("7")
        + opcodes("cpu")
        + opcodes(size)
    )
    if legacy:
        reference += opcodes(None)  # the place of a view's metadata
    arguments = (
        b"(("
        + reference
        + b"tQ"
        + opcodes(offset)
        + opcodes(shape)
        + opcodes(strides)
        + opcodes(False)
    )
    arguments += push_global("collections", "OrderedDict") + b")R" + b"t"
    return b"\x80\x02" + push_global("torch._utils", "_rebuild_tensor_v2") + arguments + b"R."


def legacy_file(pickled: bytes, storage: np.ndarray, keys: tuple[str, ...] = ("7",)) -> bytes:
    system = {
        "protocol_version": 1001,
        "little_endian": True,
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    head = b"".join(
        pickle.dumps(value, protocol=2) for value in (0x1950A86A20F9469CFC6C, 1001, system)
    )
    return (
        head
        + pickled
        + pickle.dumps(list(keys), protocol=2)
        + struct.pack("<q", storage.size)
        + storage.tobytes()
    )


def zip_file(pickled: bytes, storage: np.ndarray, byteorder: bytes | None = b"little") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("toss/data.pkl", pickled)
        if byteorder is not None:
            archive.writestr("toss/byteorder", byteorder)
        archive.writestr("toss/data/7", storage.tobytes())
        archive.writestr("toss/version", b"3\n")
    return stream.getvalue()


def file_of(form: str, storage: np.ndarray, name: str, **view: object) -> bytes:
    pickled = tensor_pickle(name, storage.size, legacy=form == "legacy", **view)  # type: ignore[arg-type]
    return legacy_file(pickled, storage) if form == "legacy" else zip_file(pickled, storage)


def read(folder: Path, content: bytes) -> np.ndarray:
    path = folder / "tensor.pt"
    path.write_bytes(content)
    return read_tensor(path)


def refusal(folder: Path, content: bytes) -> ContactIdError:
    with pytest.raises(ContactIdError) as caught:
        read(folder, content)
    assert "\n" not in str(caught.value)
    assert "tensor.pt" in str(caught.value)
    return caught.value


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("name", "dtype"), DTYPES.items())
def test_every_storage_type_is_read_exactly(
    tmp_path: Path, form: str, name: str, dtype: str
) -> None:
    values = np.arange(-3, 9).astype(dtype)
    tensor = read(tmp_path, file_of(form, values, name, shape=(3, 4), strides=(4, 1)))
    assert tensor.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(tensor, values.reshape(3, 4))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ({"shape": (4, 3), "strides": (1, 4)}, np.arange(12.0).reshape(3, 4).T),
        ({"offset": 5, "shape": (2, 2), "strides": (4, 1)}, np.arange(12.0).reshape(3, 4)[1:, 1:3]),
        ({"offset": 1, "shape": (5,), "strides": (2,)}, np.arange(12.0)[1:11:2]),
        ({"shape": (), "strides": (), "offset": 7}, np.array(7.0)),
        ({"shape": (0, 3), "strides": (3, 1)}, np.empty((0, 3))),
        ({"offset": 2, "shape": (3, 2), "strides": (0, 1)}, np.array([[2.0, 3.0]] * 3)),
    ],
)
def test_views_of_a_storage(tmp_path: Path, form: str, view: dict, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(
        read(tmp_path, file_of(form, np.arange(12.0), "DoubleStorage", **view)), expected
    )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "view",
    [
        {"shape": (13,), "strides": (1,)},
        {"offset": 1, "shape": (3, 4), "strides": (4, 1)},
        {"offset": -1, "shape": (2,), "strides": (1,)},
        {"offset": 11, "shape": (2,), "strides": (-1,)},
        {"shape": (-1,), "strides": (1,)},
        {"shape": (3, 4), "strides": (4,)},
    ],
)
def test_a_view_never_reaches_beyond_its_storage(tmp_path: Path, form: str, view: dict) -> None:
    refusal(tmp_path, file_of(form, np.arange(12.0), "DoubleStorage", **view))


def call(module: str, name: str, *arguments: object) -> bytes:
    """A pickle that calls ``module.name(*arguments)`` when loaded naively."""
    return (
        b"\x80\x02" + push_global(module, name) + b"(" + b"".join(map(opcodes, arguments)) + b"tR."
    )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("module", "name"),
    [
        (os.system.__module__, "system"),
        ("os", "system"),
        ("builtins", "eval"),
        ("builtins", "getattr"),
        ("torch", "load"),
        ("torch", "DoubleTensor"),
        ("collections", "OrderedDict.__reduce__"),
    ],
)
def test_a_hostile_pickle_is_refused_and_not_run(
    tmp_path: Path, form: str, module: str, name: str
) -> None:
    witness = tmp_path / "witness"
    pickled = call(module, name, f"touch {witness}")
    storage = np.arange(3.0)
    error = refusal(
        tmp_path, legacy_file(pickled, storage) if form == "legacy" else zip_file(pickled, storage)
    )
    assert isinstance(error, UnsafeTorchFileError)
    assert f"{module}.{name}" in str(error)
    assert not witness.exists()


def test_a_reduce_of_os_system_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple:
            return os.system, (f"touch {tmp_path / 'witness'}",)

    storage = np.arange(3.0)
    pickled = pickle.dumps(Hostile(), protocol=2)
    good = tensor_pickle("DoubleStorage", 3, shape=(3,), strides=(1,), legacy=True)
    after_magic = legacy_file(good, storage).replace(pickle.dumps(1001, protocol=2), pickled, 1)
    for content in (
        pickled,
        legacy_file(pickled, storage),
        zip_file(pickled, storage),
        after_magic,
    ):
        assert isinstance(refusal(tmp_path, content), UnsafeTorchFileError)
    assert not (tmp_path / "witness").exists()


def test_a_reference_to_something_else_than_a_storage_is_refused(tmp_path: Path) -> None:
    pickled = b"\x80\x02" + opcodes(("module", "anything", "0", "cpu", 3)) + b"Q."
    assert isinstance(refusal(tmp_path, zip_file(pickled, np.arange(3.0))), UnsafeTorchFileError)


@settings(max_examples=60, deadline=None)
@given(form=st.sampled_from(FORMATS), part=st.floats(0.0, 1.0, exclude_max=True))
def test_a_truncated_file_is_refused_wherever_it_ends(
    tmp_path_factory: pytest.TempPathFactory, form: str, part: float
) -> None:
    content = file_of(form, np.arange(20.0), "DoubleStorage", shape=(4, 5), strides=(5, 1))
    refusal(tmp_path_factory.mktemp("cut"), content[: int(part * len(content))])


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_cut_at_any_of_its_last_and_first_bytes_is_refused(
    tmp_path: Path, form: str
) -> None:
    content = file_of(form, np.arange(4.0), "DoubleStorage", shape=(4,), strides=(1,))
    for end in (*range(40), *range(len(content) - 40, len(content))):
        refusal(tmp_path, content[:end])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a readable PyTorch tensor file"),
        (b"<!DOCTYPE html><html>404</html>", "not a readable PyTorch tensor file"),
        (b"PK\x03\x04 but nothing after it", "not a readable PyTorch tensor file"),
        (pickle.dumps(12345, protocol=2), "wrong magic number"),
        (
            zip_file(pickle.dumps([1, 2], protocol=2), np.arange(3.0)),
            "holds a list instead of one tensor",
        ),
        (zip_file(tensor_pickle("DoubleStorage", 9), np.arange(3.0)), "storage sizes disagree"),
        (zip_file(tensor_pickle("DoubleStorage", 3), np.arange(3.0), b"big"), "big-endian"),
        (
            legacy_file(tensor_pickle("DoubleStorage", 9, legacy=True), np.arange(3.0)),
            "storage sizes disagree",
        ),
        (
            legacy_file(tensor_pickle("DoubleStorage", 3, legacy=True), np.arange(3.0), ("1", "7")),
            "more than one",
        ),
        (
            legacy_file(tensor_pickle("DoubleStorage", 3, legacy=True), np.arange(3.0), ()),
            "storage is missing",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, content: bytes, reason: str) -> None:
    assert reason in str(refusal(tmp_path, content))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContactIdError, match=r"absent\.pt: cannot be read"):
        read_tensor(tmp_path / "absent.pt")


def test_an_old_zip_without_a_byte_order_is_little_endian(tmp_path: Path) -> None:
    content = zip_file(
        tensor_pickle("IntStorage", 3, shape=(3,), strides=(1,)), np.arange(3, dtype="<i4"), None
    )
    np.testing.assert_array_equal(read(tmp_path, content), [0, 1, 2])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_agreement_with_torch(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever torch saves, in either format and of any view, is read as torch itself has it."""
    torch = pytest.importorskip("torch")
    names = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
    dtype = getattr(torch, data.draw(st.sampled_from(names), "dtype"))
    shape = data.draw(st.lists(st.integers(0, 5), max_size=4).map(tuple), "shape")
    tensor = (100 * torch.rand(shape)).to(dtype)
    if data.draw(st.booleans(), "transposed"):
        tensor = tensor.permute(tuple(reversed(range(tensor.dim()))))
    for axis in range(tensor.dim()):
        first = data.draw(st.integers(0, tensor.shape[axis]))
        step = data.draw(st.integers(1, 3))
        tensor = tensor[(slice(None),) * axis + (slice(first, None, step),)]
    if data.draw(st.booleans(), "repeated"):
        tensor = tensor.unsqueeze(0).expand(3, *tensor.shape)
    path = tmp_path_factory.mktemp("torch") / "tensor.pt"
    torch.save(tensor, path, _use_new_zipfile_serialization=data.draw(st.booleans(), "zip"))
    ours, theirs = read_tensor(path), tensor.numpy()
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)

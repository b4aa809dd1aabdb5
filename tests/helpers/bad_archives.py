"""Archives that mean harm, by name, with what is said of each: HDF5 and MATLAB's."""

from __future__ import annotations

import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from iam_files import MOCAP, NAMES, POSES
from small_files import save_v73
from spoil_planar_and_arm import mat_file, mat_matrix
from spoil_tosses import good_archive

#: What makes files in a folder, and gives the command's words; and what is to be said.
Case = tuple[Callable[[Path], list[str]], str]


def h5(change: Callable[[h5py.Group, Path], object], said: str) -> Case:
    def make(folder: Path) -> list[str]:
        path = good_archive(folder)
        with h5py.File(path, "r+") as file:
            change(file[NAMES[0]], folder)
        return ["read", "iam", str(path)]

    return make, said


def in_place_of(
    place: str, make: Callable[[h5py.Group, str, Path], object]
) -> Callable[[h5py.Group, Path], None]:
    def change(group: h5py.Group, folder: Path) -> None:
        del group[place]
        make(group, place, folder)

    return change


def fifo(folder: Path, name: str = "fifo") -> Path:
    os.mkfifo(folder / name)
    return folder / name


def virtual(group: h5py.Group, place: str, folder: Path) -> None:
    layout = h5py.VirtualLayout((4, 4, 150), "f8")
    layout[:] = h5py.VirtualSource(str(fifo(folder)), "x", (4, 4, 150))
    group.create_virtual_dataset(place, layout)


def endless_virtual(group: h5py.Group, place: str, folder: Path) -> None:
    layout = h5py.VirtualLayout((4, 4, 1), "f8", maxshape=(4, 4, None))
    source = h5py.VirtualSource(str(fifo(folder)), "x", (4, 4, 1), maxshape=(4, 4, None))
    unlimited = h5py.h5s.UNLIMITED
    layout[:, :, :unlimited] = source[:, :, :unlimited]
    group.create_virtual_dataset(place, layout)


def stored_in(path: Callable[[Path], Path]) -> Callable[[h5py.Group, str, Path], object]:
    return lambda group, place, folder: group.create_dataset(
        place, (4, 4, 150), "f8", external=[(str(path(folder)), 0, h5py.h5f.UNLIMITED)]
    )


def plain_numbers(folder: Path) -> Path:
    (folder / "numbers").write_bytes(np.zeros((4, 4, 150)).tobytes())
    return folder / "numbers"


def zeros(group: h5py.Group, place: str, *shape: int, step: int) -> h5py.Dataset:
    """Zeros, packed in chunks of so many along the last axis."""
    chunks = (*shape[:-1], step)
    data = group.create_dataset(place, shape, "f8", chunks=chunks, compression="gzip")
    packed_zeros = zlib.compress(bytes(8 * math.prod(chunks)), 9)
    for begin in range(0, shape[-1], step):
        data.id.write_direct_chunk((*(0 for _ in shape[1:]), begin), packed_zeros)
    return data


def huge(group: h5py.Group, place: str, folder: Path) -> None:
    """5 MB that unfold to 4.3 GB."""
    zeros(group, place, 4, 4, 33_000_000, step=330_000)


def unfolding(group: h5py.Group, place: str, folder: Path) -> None:
    """A chunk of 19 kB, stored in 260 kB that unfold to 268 MB."""
    data = group.create_dataset(place, (4, 4, 150), "f8", chunks=(4, 4, 150), compression="gzip")
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(1 << 8)) + packer.flush()
    data.id.write_direct_chunk((0, 0, 0), packed)


def by_filter(group: h5py.Group, place: str, folder: Path) -> None:
    group.create_dataset(place, data=np.zeros((4, 4, 150), "i4"), scaleoffset=0)


def deep_groups(group: h5py.Group, folder: Path) -> None:
    inner = group.create_group("deep")
    for _ in range(500):
        inner = inner.create_group("g")


def linked(name: str) -> Callable[[h5py.Group, str, Path], None]:
    def change(group: h5py.Group, place: str, folder: Path) -> None:
        group[place] = h5py.ExternalLink(
            str(fifo(folder) if name == "fifo" else folder / name), "/x"
        )

    return change


def archives() -> dict[str, Case]:
    poses: dict[str, tuple[Callable[[h5py.Group, str, Path], object], str]] = {
        "a link to another file": (linked("other.h5"), "transforms is a link to another file"),
        "a link to a FIFO": (linked("fifo"), "transforms is a link to another file"),
        "out of the recording": (_soft, "is a link to another place"),
        "numbers in another file": (stored_in(plain_numbers), "has its numbers in another file"),
        "numbers in a FIFO": (stored_in(fifo), "transforms has its numbers in another file"),
        "virtual": (virtual, "transforms is a virtual dataset"),
        "virtual without end": (endless_virtual, "transforms is a virtual dataset"),
        "4 GB of 5 MB": (huge, "entries for 33000000 frames"),
        "a chunk that unfolds": (unfolding, "has a chunk that unfolds to more than"),
        "another filter": (by_filter, "only gzip is read"),
        "more frames than times": (_more_frames, "entries for 900000 frames"),
    }
    return {
        **{
            f"h5: {name}": h5(in_place_of(POSES, make), said)
            for name, (make, said) in poses.items()
        },
        "h5: a group in another file": h5(
            in_place_of("OBJECT", linked("fifo")), "OBJECT is a link to another file"
        ),
        "h5: groups within groups": h5(deep_groups, "has groups within groups without end"),
        "h5: a long table": h5(in_place_of(f"{MOCAP}/datalog", _long_table), "datalog"),
    }


def _soft(group: h5py.Group, place: str, folder: Path) -> None:
    group[place] = h5py.SoftLink("/elsewhere")


def _more_frames(group: h5py.Group, place: str, folder: Path) -> None:
    zeros(group, place, 4, 4, 900_000, step=90_000)


def _long_table(group: h5py.Group, place: str, folder: Path) -> None:
    columns = np.dtype([("Time(s)", "f8"), ("a", "f8", (100,))])
    table = group.create_dataset(place, (10**9,), columns, chunks=(10_000,), compression="gzip")
    table.attrs["sample_frequency"] = 360.0


# MATLAB


def mat(content: Callable[[Path], bytes | None], said: str, name: str) -> Case:
    def make(folder: Path) -> list[str]:
        made = content(folder / name)
        if made is not None:
            (folder / name).write_bytes(mat_file(made))
        return ["read", "arm", str(folder / name if name.endswith(".zip") else folder)]

    return make, said


def packed(body: bytes) -> bytes:
    small = zlib.compress(body, 9)
    return struct.pack("<II", 15, len(small)) + small


def numbers_in_bytes(count: int) -> bytes:
    """A matrix of so many numbers in double precision, stored as bytes."""
    return mat_matrix((count, 1), struct.pack("<II", 2, count) + bytes(count))


def references(path: Path) -> None:
    save_v73(path, time=np.arange(100.0)[:, None])
    with h5py.File(path, "r+") as file:
        data = zeros(file, "#refs#/a", 4_000_000, step=400_000)
        cells = file.create_dataset("q", (1000,), h5py.ref_dtype)
        cells[:] = [data.ref] * 1000


def huge_v73(path: Path) -> None:
    save_v73(path, time=np.arange(100.0)[:, None])
    with h5py.File(path, "r+") as file:
        huge(file, "q", path.parent)


def nameless(path: Path) -> None:
    save_v73(path, time=np.arange(100.0)[:, None])
    with h5py.File(path, "r+") as file:
        data = file.create_dataset(None, data=np.zeros(9))
        file.create_dataset("q", (1,), h5py.ref_dtype)[:] = [data.ref]


def linked_v73(path: Path) -> None:
    save_v73(path, time=np.arange(100.0)[:, None])
    with h5py.File(path, "r+") as file:
        file["q"] = h5py.ExternalLink(str(fifo(path.parent)), "/q")


def deflated(path: Path) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.mat", "w", force_zip64=True) as file,
    ):
        for _ in range(140):
            file.write(bytes(1 << 20))


def by_lzma(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.mat", bytes(1 << 20))


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(20 << 30)


def large(path: Path) -> bytes:
    return packed(mat_matrix((1 << 28, 1), struct.pack("<II", 2, 1 << 27) + bytes(1 << 27)))


def cells(path: Path) -> bytes:
    return packed(mat_matrix((1 << 24, 1), bytes(1 << 24), kind=1))


def dimensions(path: Path) -> bytes:
    """A matrix of 2000 dimensions."""
    body = (
        struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<II", 5, 8000) + struct.pack("<I", 1) * 2000
    )
    return struct.pack("<II", 14, len(body)) + body


def matlab() -> dict[str, Case]:
    contents: dict[str, tuple[Callable[[Path], bytes | None], str]] = {
        "inflates": (large, "inflate to more than any recording has"),
        "numbers in bytes": (lambda _: packed(numbers_in_bytes(1 << 24)), "more numbers than"),
        "many variables": (
            lambda _: packed(numbers_in_bytes(1 << 22)) * 40,
            "than any recording has",
        ),
        "empty cells": (cells, "declares 1.68e+07 entries"),
        "many dimensions": (dimensions, "a matrix of too many dimensions"),
        "v7.3 with a link": (linked_v73, "q is a link to another file"),
        "v7.3 of 4 GB": (huge_v73, "q has 4.22e+09 bytes, more than the"),
        "v7.3 of one array often": (references, "has more numbers than any recording"),
        "v7.3 by a reference": (nameless, "damaged as a MATLAB file"),
        "20 GB": (sparse, "has 21475 MB, more than the 134 MB"),
        "zip that inflates": (deflated, "unpacks to more than"),
        "zip by lzma": (by_lzma, "compressed otherwise than by deflate"),
        "zip of 20 GB": (sparse, "not a readable zip file"),
    }
    return {
        f"mat: {name}": mat(content, said, "a.zip" if name.startswith("zip") else "a.mat")
        for name, (content, said) in contents.items()
    }

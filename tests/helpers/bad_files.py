"""Files that mean harm, and what reads them: ``python bad_files.py FOLDER`` tries each in a process
of its own.

It prints, as JSON, how each ended by its name: exit status, what stood on the terminal, CPU
seconds, and memory (MB).
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import pickle
import signal
import struct
import sys
import traceback
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from contactid.__main__ import main
from contactid.core.errors import ContactIdError
from iam_files import MOCAP, NAMES, POSES
from reading_for_tests import entry, read
from small_files import legacy_file, save_v73, toss
from spoil_planar_and_arm import mat_file, mat_matrix
from spoil_tosses import good_archive

_PATIENCE = 20  # s
Case = tuple[Callable[[Path], list[str]], str]

# tosses


def pt(content: bytes, said: str) -> Case:
    def make(folder: Path) -> list[str]:
        (folder / "0.pt").write_bytes(content)
        return ["read", "contactnets", str(folder)]

    return make, said


def doubled(times: int, begin: bytes = b")") -> bytes:
    """A tuple of twice the tuple before, so many times, by opcodes that keep and get it."""
    return begin + b"".join(b"q%ch%c\x86" % (k, k) for k in range(times))


def referring(inner: bytes) -> bytes:
    return (
        b"\x80\x02(X\x07\x00\x00\x00storagectorch\nDoubleStorage\n"
        + inner
        + b"X\x03\x00\x00\x00cpuK\x01tQ."
    )


def zipped(content: bytes, compression: int, said_size: int | None = None) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr("a/data.pkl", content)
    made = file.getvalue()
    return (
        made
        if said_size is None
        else made.replace(struct.pack("<I", len(content)), struct.pack("<I", said_size))
    )


def tosses() -> dict[str, Case]:
    deep = b"\x80\x02" + b")" + b"\x85" * 60
    bomb = bytes(2 << 20)
    return {
        "pt: a shared tuple 60 deep as a key": pt(
            b"\x80\x02}" + doubled(60) + b"K\x01s.", "it has a container twice"
        ),
        "pt: a key of 2^40 leaves": pt(referring(doubled(40)), "it has a container twice"),
        "pt: tuples within tuples": pt(deep + b".", "containers within containers"),
        "pt: a hundred thousand marks": pt(
            b"\x80\x02" + b"(" * 100_000 + b".", "containers within containers"
        ),
        "pt: a hundred thousand numbers": pt(
            b"\x80\x02]" + b"K\x01a" * 100_000 + b".", "more opcodes"
        ),
        "pt: a text longer than the file": pt(
            b"\x80\x02X\xff\xff\xff\x7fabc.", "not a readable PyTorch"
        ),
        "pt: calls a function": pt(pickle.dumps(os.getcwd, protocol=2), "posix.getcwd"),
        "pt: protocol 5": pt(pickle.dumps([1], protocol=5), "opcode FRAME"),
        "pt: an object": pt(b"\x80\x02ccollections\nOrderedDict\n)\x81.", "opcode NEWOBJ"),
        "pt: zip of a compressed pickle": pt(
            zipped(bomb, zipfile.ZIP_DEFLATED), "more in data.pkl"
        ),
        "pt: zip that lies": pt(zipped(bomb, zipfile.ZIP_DEFLATED, 100), "data.pkl is compressed"),
        "pt: zip by lzma": pt(zipped(b"\0" * 10_000, zipfile.ZIP_LZMA), "data.pkl is compressed"),
        "pt: repeated elements": pt(
            legacy_file(toss()).replace(*_STRETCHED), "not a readable PyTorch"
        ),
    }


_STRETCHED = (b"J" + struct.pack("<i", 30), b"J" + struct.pack("<i", 2**31 - 1))

# archives


def h5(change: Callable[[h5py.Group, Path], object], said: str) -> Case:
    def make(folder: Path) -> list[str]:
        path = good_archive(folder)
        with h5py.File(path, "r+") as file:
            change(file[NAMES[0]], folder)
        return ["read", "iam", str(path)]

    return make, said


def without(
    place: str, then: Callable[[h5py.Group, str, Path], object]
) -> Callable[[h5py.Group, Path], None]:
    def change(group: h5py.Group, folder: Path) -> None:
        del group[place]
        then(group, place, folder)

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


def huge(group: h5py.Group, place: str, folder: Path) -> None:
    """5 MB that unfold to 4.3 GB."""
    data = group.create_dataset(
        place, (4, 4, 33_000_000), "f8", chunks=(4, 4, 330_000), compression="gzip", shuffle=True
    )
    zeros = zlib.compress(bytes(4 * 4 * 330_000 * 8), 9)
    for begin in range(0, 33_000_000, 330_000):
        data.id.write_direct_chunk((0, 0, begin), zeros)


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
    return {
        "h5: a link to another file": h5(
            without(POSES, linked("other.h5")), "transforms is a link to another file"
        ),
        "h5: a link to a FIFO": h5(
            without(POSES, linked("fifo")), "transforms is a link to another file"
        ),
        "h5: a group in another file": h5(
            without("OBJECT", linked("fifo")), "OBJECT is a link to another file"
        ),
        "h5: out of the recording": h5(without(POSES, _soft), "is a link to another place"),
        "h5: numbers in another file": h5(
            without(POSES, stored_in(plain_numbers)), "has its numbers in another file"
        ),
        "h5: numbers in a FIFO": h5(
            without(POSES, stored_in(fifo)), "transforms has its numbers in another file"
        ),
        "h5: virtual": h5(without(POSES, virtual), "transforms is a virtual dataset"),
        "h5: virtual without end": h5(
            without(POSES, endless_virtual), "transforms is a virtual dataset"
        ),
        "h5: 4 GB of 5 MB": h5(without(POSES, huge), "entries for 33000000 frames"),
        "h5: a chunk that unfolds": h5(
            without(POSES, unfolding), "has a chunk that unfolds to more than"
        ),
        "h5: another filter": h5(without(POSES, by_filter), "only gzip is read"),
        "h5: groups within groups": h5(deep_groups, "has groups within groups without end"),
        "h5: more frames than times": h5(without(POSES, _more_frames), "entries for 900000 frames"),
        "h5: a long table": h5(without(f"{MOCAP}/datalog", _long_table), "datalog"),
    }


def _soft(group: h5py.Group, place: str, folder: Path) -> None:
    group[place] = h5py.SoftLink("/elsewhere")


def _more_frames(group: h5py.Group, place: str, folder: Path) -> None:
    group.create_dataset(place, (4, 4, 900_000), "f8", chunks=(4, 4, 90_000), compression="gzip")
    zeros = zlib.compress(bytes(4 * 4 * 90_000 * 8), 9)
    for begin in range(0, 900_000, 90_000):
        group[place].id.write_direct_chunk((0, 0, begin), zeros)


def _long_table(group: h5py.Group, place: str, folder: Path) -> None:
    columns = np.dtype([("Time(s)", "f8"), ("a", "f8", (100,))])
    table = group.create_dataset(place, (10**9,), columns, chunks=(10_000,), compression="gzip")
    table.attrs["sample_frequency"] = 360.0


# MATLAB


def mat(content: Callable[[Path], bytes | None], said: str, name: str = "a.mat") -> Case:
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
        data = file.create_dataset(
            "#refs#/a", (4_000_000,), "f8", chunks=(400_000,), compression="gzip"
        )
        for begin in range(0, 4_000_000, 400_000):
            data.id.write_direct_chunk((begin,), zlib.compress(bytes(8 * 400_000), 9))
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


def zip_of(compression: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with (
            zipfile.ZipFile(path, "w", compression) as archive,
            archive.open("a.mat", "w", force_zip64=True) as file,
        ):
            for _ in range(140):
                file.write(bytes(1 << 20))

    return make


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
    return {
        "mat: inflates": mat(large, "inflate to more than any recording has"),
        "mat: numbers in bytes": mat(
            lambda _: packed(numbers_in_bytes(1 << 24)), "more numbers than"
        ),
        "mat: many variables": mat(
            lambda _: packed(numbers_in_bytes(1 << 22)) * 40, "than any recording has"
        ),
        "mat: empty cells": mat(cells, "declares 1.68e+07 entries"),
        "mat: many dimensions": mat(dimensions, "a matrix of too many dimensions"),
        "mat: v7.3 with a link": mat(linked_v73, "q is a link to another file"),
        "mat: v7.3 of 4 GB": mat(huge_v73, "q has 4.22e+09 bytes, more than the"),
        "mat: v7.3 of one array a thousand times": mat(
            references, "has more numbers than any recording"
        ),
        "mat: v7.3 by a reference": mat(nameless, "damaged as a MATLAB file"),
        "mat: 20 GB": mat(sparse, "has 21475 MB, more than the 134 MB"),
        "mat: zip that inflates": mat(
            zip_of(zipfile.ZIP_DEFLATED), "unpacks to more than", "a.zip"
        ),
        "mat: zip by lzma": mat(by_lzma, "compressed otherwise than by deflate", "a.zip"),
        "mat: zip of 20 GB": mat(sparse, "not a readable zip file", "a.zip"),
    }


# what is given to the commands


def command(*words: str, said: str, **files: Callable[[Path], object] | str | bytes) -> Case:
    """Words that name files in braces, and what makes them."""

    def make(folder: Path) -> list[str]:
        names = {}
        for key, content in files.items():
            name, _, ending = key.partition("_")
            path = folder / (f"{name}.{ending}" if ending else name)
            if callable(content):
                content(path)
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
            names[name] = str(path)
        return [
            *(word.format(**names) for word in words),
            *([] if words[0] == "inspect" else ["--report", "report"]),
        ]

    return make, said


BOMB = "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + BOMB
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{b}: &{b}\n  <<: [{', '.join([f'*{a}'] * 9)}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
HELD = "time,{},{},{}\n".format(
    ",".join(f"object_position_{axis}" for axis in "xyz"),
    ",".join(f"object_orientation_{axis}" for axis in "wxyz"),
    ",".join(f"contact_{kind}_a_{axis}" for kind in ("force", "position") for axis in "xyz"),
) + "".join(f"{k / 100},0,0,0,1,0,0,0,0,0,1,0,0,0\n" for k in range(50))
HULL = "x,y,z\n0,0,0\n0.1,0,0\n0,0.1,0\n0,0,0.1\n"
ELLIPSE = "shape: {ellipse: {a: 0.05, b: 0.025}}\n"


def descriptions() -> dict[str, Case]:
    texts: dict[str, tuple[Callable[[Path], object] | str | bytes, str]] = {
        "a list in itself": ("a: &a [*a]\n", "*a stands for another value"),
        "an alias bomb": (BOMB, "stands for another value"),
        "a bomb by merges": (MERGES, "stands for another value"),
        "a huge mass": (ELLIPSE + "mass: 100000000000000000000\n", "mass is 1e+20 kg"),
        "a number of 400 digits": (ELLIPSE + f"mass: {'9' * 400}\n", "a number of 400 digits"),
        "a number of 5000 digits": (ELLIPSE + f"mass: {'9' * 5000}\n", "not readable as YAML"),
        "a text of 400 digits": (ELLIPSE + f"mass: '{'9' * 400}'\n", "mass"),
        "a number by sixteen": (ELLIPSE + f"mass: 0x{'f' * 5000}\n", "a number of 6021 digits"),
        "a day that isn't": (ELLIPSE + "mass: 2022-13-99\n", "not readable as YAML"),
        "lists within lists": ("a: " + "[" * 5000, "nested more than 20 deep"),
        "keys within keys": ("? " * 3000 + "a", "nested more than 20 deep"),
        "a list as a key": ("? [a]\n: 1\n", "not readable as YAML"),
        "a program": ("!!python/object/apply:os.getcwd []\n", "not readable as YAML"),
        "nothing": ("", "top level"),
        "no text": (b"\xff\xfe\x00\x00\xd8", "not readable as YAML"),
        "a megabyte": (ELLIPSE + "# \n" * 400_000, "more than the 0.0655 MB"),
        "20 GB": (sparse, "more than the 0.0655 MB"),
        "a FIFO": (os.mkfifo, "a pipe or device instead of a file"),
        "a folder": (Path.mkdir, "a folder instead of a file"),
        "a device": (
            lambda path: path.symlink_to("/dev/zero"),
            "a pipe or device instead of a file",
        ),
        "a dangling link": (lambda path: path.symlink_to("nowhere"), "a link that leads nowhere"),
        "a link to itself": (lambda path: path.symlink_to(path), "cannot be read"),
    }
    found = {}
    for name, (content, said) in texts.items():
        found[f"body: {name}"] = command(
            "identify",
            "{throw}",
            "--body",
            "{body}",
            said=said,
            throw_csv="t,x,y,theta\n",
            body_yaml=content,
        )
        if not name.startswith(("a huge mass", "a number", "a text", "a day")):
            found[f"noise: {name}"] = command(
                "estimate",
                "{x}",
                "--hull",
                "{hull}",
                "--noise",
                "{noise}",
                said=said,
                x_csv=HELD,
                hull_csv=HULL,
                noise_yaml=content,
            )
    return found


NOT_FILES: dict[str, tuple[Callable[[Path], object] | str | bytes, str]] = {
    "a FIFO": (os.mkfifo, "a pipe or device instead of a file"),
    "a folder": (Path.mkdir, ""),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "a pipe or device instead of a file"),
    "a dangling link": (lambda path: path.symlink_to("nowhere"), ""),
    "20 GB": (sparse, ""),
    "nothing": ("", ""),
}


def inputs() -> dict[str, Case]:
    found = {}
    for name, (content, said) in NOT_FILES.items():
        throw, table = {"throw_csv": content, "body_yaml": ELLIPSE}, {"x_csv": content}
        found[f"throw: {name}"] = command(
            "identify", "{throw}", "--body", "{body}", said=said or "throw.csv", **throw
        )
        found[f"impact: {name}"] = command("impact", "{x}", said=said or "x.csv", **table)
        found[f"robot: {name}"] = command(
            "impact", "{rec}", "--robot", "{x}", said=said or "x.csv", rec_csv="t,q1\n", **table
        )
        for ending in ("h5", "mat", "pt", "csv"):
            found[f"inspect {ending}: {name}"] = command(
                "inspect", "{x}", said=said or "x.", **{f"x_{ending}": content}
            )
    long = "t,x,y,theta\n" + "1," * 100_000
    found["throw: a line without end"] = command(
        "identify",
        "{throw}",
        "--body",
        "{body}",
        said="a line has 65536",
        throw_csv=long,
        body_yaml=ELLIPSE,
    )
    found["impact: a line without end"] = command(
        "impact", "{x}", said="a line has 65536", x_csv="q1,q2,q3,q4,q5,q6,q7" + long[11:]
    )
    return found


def cases() -> dict[str, Case]:
    return {**tosses(), **archives(), **matlab(), **descriptions(), **inputs()}


def names() -> list[str]:
    return list(cases())


# trying them


def _attempt(words: list[str]) -> int:
    if words[0] != "read":
        return main(words)
    try:
        read(entry(words[1], Path(words[2])), Path(words[2]), Path("data.nc"))
    except ContactIdError as error:
        print(f"ERROR {error}", file=sys.stderr)
        return 1
    return 0


def _tried(words: list[str], said: str, terminal: Path) -> dict[str, object]:
    process = os.fork()
    if not process:
        status = 3
        with terminal.open("w") as file:
            os.dup2(file.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            signal.alarm(_PATIENCE)
            try:
                status = _attempt(words)
            except SystemExit as error:
                status = error.code if isinstance(error.code, int) else 1
            except BaseException:
                traceback.print_exc()
            finally:
                with contextlib.suppress(Exception):
                    sys.stderr.flush()
                os._exit(status)
    _, status, used = os.wait4(process, 0)
    return {
        "status": os.waitstatus_to_exitcode(status),
        "said": terminal.read_text(errors="replace"),
        "seconds": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1e3,
        "left": sorted(path.name for path in Path().iterdir()),
        "expected": said,
    }


def _run_all(folder: Path) -> dict[str, object]:
    for words in (
        ["identify", "a", "--body", "b"],
        ["impact", "a"],
        ["estimate", "a", "--hull", "b", "--noise", "c"],
    ):
        main(words)  # brings the libraries in
    import scipy.io  # noqa: F401

    logging.disable()  # jobs write it into files
    found = {}
    for number, (name, (make, said)) in enumerate(cases().items()):
        place = folder / str(number)
        (place / "in").mkdir(parents=True)
        (place / "out").mkdir()
        words = make(place / "in")
        os.chdir(place / "out")
        found[name] = _tried(words, said, place / "terminal.txt")
    return found


if __name__ == "__main__":
    json.dump(_run_all(Path(sys.argv[1])), sys.stdout)

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
from collections.abc import Callable
from pathlib import Path

from bad_archives import Case, archives, matlab, sparse
from contactid.__main__ import main
from contactid.core.errors import ContactIdError
from reading_for_tests import entry, read
from small_files import legacy_file, toss

_PATIENCE = 20  # s

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

# what is given to the commands


def command(words: str, said: str, **files: Callable[[Path], object] | str | bytes) -> Case:
    """Words that name files in braces, and what makes them."""

    def make(folder: Path) -> list[str]:
        names = {}
        for key, content in files.items():
            name, _, ending = key.partition("_")
            path = folder / f"{name}.{ending}"
            if callable(content):
                content(path)
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
            names[name] = str(path)
        report = [] if words.startswith("inspect") else ["--report", "report"]
        return [word.format(**names) for word in words.split()] + report

    return make, said


NESTED = list(zip("abcdefgh", "bcdefghi", strict=True))
BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in NESTED
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{b}: &{b}\n  <<: [{', '.join([f'*{a}'] * 9)}]\n" for a, b in NESTED
)
HELD = "time,{},{},{}\n".format(
    ",".join(f"object_position_{axis}" for axis in "xyz"),
    ",".join(f"object_orientation_{axis}" for axis in "wxyz"),
    ",".join(f"contact_{kind}_a_{axis}" for kind in ("force", "position") for axis in "xyz"),
) + "".join(f"{k / 100},0,0,0,1,0,0,0,0,0,1,0,0,0\n" for k in range(50))
HULL = "x,y,z\n0,0,0\n0.1,0,0\n0,0.1,0\n0,0,0.1\n"
ELLIPSE = "shape: {ellipse: {a: 0.05, b: 0.025}}\n"
IDENTIFY = "identify {throw} --body {body}"


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
            IDENTIFY, said, throw_csv="t,x,y,theta\n", body_yaml=content
        )
        if not name.startswith(("a huge mass", "a number", "a text", "a day")):
            found[f"noise: {name}"] = command(
                "estimate {x} --hull {hull} --noise {noise}",
                said,
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
        found[f"throw: {name}"] = command(
            IDENTIFY, said or "throw.csv", throw_csv=content, body_yaml=ELLIPSE
        )
        found[f"impact: {name}"] = command("impact {x}", said or "x.csv", x_csv=content)
        found[f"robot: {name}"] = command(
            "impact {rec} --robot {x}", said or "x.csv", rec_csv="t,q1\n", x_csv=content
        )
        for ending in ("h5", "mat", "pt", "csv"):
            found[f"inspect {ending}: {name}"] = command(
                "inspect {x}", said or "x.", **{f"x_{ending}": content}
            )
    line, said = "1," * 100_000, "a line has 65536"
    found["throw: a line without end"] = command(
        IDENTIFY, said, throw_csv=f"t,x,y,theta\n{line}", body_yaml=ELLIPSE
    )
    found["impact: a line without end"] = command(
        "impact {x}", said, x_csv=f"q1,q2,q3,q4,q5,q6,q7\n{line}"
    )
    return found


def cases() -> dict[str, Case]:
    return {**tosses(), **archives(), **matlab(), **descriptions(), **inputs()}


#: One of each reader and command: tried first, to bring its libraries in for all others.
FIRST = (
    *("pt: protocol 5", "h5: a link to another file", "mat: many dimensions", "body: nothing"),
    *("noise: nothing", "impact: nothing", "inspect csv: nothing", "mat: v7.3 with a link"),
)


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
    logging.disable()  # jobs write it into files
    found = {}
    every = cases()
    for number, name in enumerate([*FIRST, *every]):
        make, said = every[name]
        place = folder / str(number)
        (place / "in").mkdir(parents=True)
        (place / "out").mkdir()
        words = make(place / "in")
        os.chdir(place / "out")
        if number < len(FIRST):
            _attempt(words)
        else:
            found[name] = _tried(words, said, place / "terminal.txt")
    return found


if __name__ == "__main__":
    json.dump(_run_all(Path(sys.argv[1])), sys.stdout)

"""Inputs for the readers of planar throws and impacts and of arm impacts, each spoilt in one way."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import scipy.io

from small_files import NAME, POSITION, TIME, impact_files, save, save_v73, square_file, turning
from spoil_tosses import Spoil, empty_folder, nothing

HEADER = "x,z,th,vx,vz,vth"

# squares


def good_throws(folder: Path) -> Path:
    (folder / "raw").mkdir()
    square_file(folder / "raw/traj_1.csv", turning()[1])
    return folder / "raw"


def throw_text(change: Callable[[list[str]], list[str]]) -> Spoil:
    def spoil(folder: Path) -> Path:
        file = good_throws(folder) / "traj_1.csv"
        file.write_text("\n".join(change(file.read_text().splitlines())))
        return folder / "raw"

    return spoil


def throw_bytes(content: bytes) -> Spoil:
    def spoil(folder: Path) -> Path:
        (good_throws(folder) / "traj_1.csv").write_bytes(content)
        return folder / "raw"

    return spoil


def throw_of(position: np.ndarray, rate: float = 250.0) -> Spoil:
    def spoil(folder: Path) -> Path:
        square_file(good_throws(folder) / "traj_1.csv", position, rate=rate)
        return folder / "raw"

    return spoil


def folder_for_a_throw(folder: Path) -> Path:
    (folder / "raw/traj_1.csv").mkdir(parents=True)
    return folder / "raw"


def row(number: int, text: str) -> Spoil:
    return throw_text(lambda lines: [*lines[:number], text, *lines[number + 1 :]])


POSE = turning()[1]
SQUARES: dict[str, tuple[Spoil, str]] = {
    "no folder": (
        nothing("absent"),
        "absent: no throws there (looked for traj_*.csv and trajSim_*.csv)",
    ),
    "empty folder": (empty_folder("raw"), "raw: no throws there"),
    "folder for a throw": (
        folder_for_a_throw,
        "traj_1.csv: cannot be read (a folder instead of a file)",
    ),
    "empty file": (throw_bytes(b""), "traj_1.csv: no line names the columns"),
    "only blanks": (throw_bytes(b" \n,,\n\n"), "traj_1.csv: no column x, z, th, vx, vz, vth"),
    "header only": (
        throw_text(lambda lines: lines[:1]),
        "traj_1.csv: only 0 frames, where at least 8 are needed",
    ),
    "few frames": (throw_text(lambda lines: lines[:5]), "traj_1.csv: only 4 frames"),
    "no header": (
        throw_text(lambda lines: lines[1:]),
        "traj_1.csv: no line names the columns (it begins with 0",
    ),
    "wrong columns": (
        row(0, "x,y,th,vx,vz,vth"),
        "traj_1.csv: no column z (its header is x, y, th",
    ),
    "column twice": (row(0, "x,z,th,vx,vz,vth,x"), "traj_1.csv: columns x and x are the same"),
    "text in numbers": (
        row(4, "0,0,lost,0,0,0"),
        "1 of its values is no finite number: row 4, column th is 'lost'",
    ),
    "NaN": (row(4, "0,nan,0,0,0,0"), "row 4, column z is 'nan'"),
    "beyond a float": (row(4, f"0,1{'0' * 400},0,0,0,0"), "row 4, column z is 'inf'"),
    "cut line": (
        row(4, "0,0"),
        "4 of its values are no finite number: row 4, column th is 'nan'",
    ),
    "another rate": (
        throw_of(POSE, rate=100.0),
        "velocities that are not the differences of its positions at 250",
    ),
    "millimetres": (
        throw_of(POSE * [1e3, 1e3, 1]),
        "positions of 200 m and speeds of 1004.99 m/s: give x and y in m",
    ),
    "degrees": (throw_of(POSE * [1, 1, 57.3]), "give theta in radians"),
    "huge values": (throw_of(POSE * [1e300, 1, 1]), "give x and y in metres"),
    "zip": (
        throw_bytes(b"PK\x03\x04abc"),
        "traj_1.csv: no column x, z, th, vx, vz, vth (its header is pk",
    ),
    "web page": (
        throw_bytes(b"\n <html>404</html>"),
        "traj_1.csv: no column x, z, th, vx, vz, vth (its header is <html",
    ),
    "other encoding": (
        throw_bytes(f"{HEADER}\n".encode("utf-16")),
        "traj_1.csv: only 0 frames",
    ),
    "endless cell": (
        throw_bytes(HEADER.encode() + b"\n" + b"1" * 200_000),
        "as text (a line has 65536 char",
    ),
}

# ellipse


def good_impacts(folder: Path) -> Path:
    (folder / "raw").mkdir()
    impact_files(folder / "raw")
    return folder / "raw"


def impact_bytes(change: Callable[[bytes], bytes], name: str = "data_ellipse.mat") -> Spoil:
    def spoil(folder: Path) -> Path:
        file = good_impacts(folder) / name
        file.write_bytes(change(file.read_bytes()))
        return folder / "raw"

    return spoil


def impact_data(change: Callable[[dict[str, np.ndarray]], object]) -> Spoil:
    def spoil(folder: Path) -> Path:
        (folder / "raw").mkdir()
        data = impact_files(folder / "raw")[3]
        change(data)
        scipy.io.savemat(folder / "raw/data_ellipse.mat", {"data": data})
        return folder / "raw"

    return spoil


def variables(**values: object) -> Spoil:
    def spoil(folder: Path) -> Path:
        scipy.io.savemat(good_impacts(folder) / "data_ellipse.mat", values)
        return folder / "raw"

    return spoil


def predictions(values: np.ndarray) -> Spoil:
    def spoil(folder: Path) -> Path:
        scipy.io.savemat(good_impacts(folder) / "v_models.mat", {"v_models": values})
        return folder / "raw"

    return spoil


def impacts_in_v73(folder: Path) -> Path:
    save_v73(good_impacts(folder) / "data_ellipse.mat", other=np.zeros((4, 7)))
    return folder / "raw"


def swapped_rows(data: dict[str, np.ndarray]) -> None:
    data["n"], data["d"] = data["d"], data["n"]


def mat_matrix(dimensions: tuple[int, int], inner: bytes, kind: int = 6) -> bytes:
    """A version 5 matrix element of a class (6 double, 1 cell) put together by hand."""
    flags = struct.pack("<IIII", 6, 8, kind, 0)
    sizes = struct.pack("<IIii", 5, 8, *dimensions)
    name = struct.pack("<II", 1, 1) + b"q".ljust(8, b"\0")
    body = flags + sizes + name + inner
    return struct.pack("<II", 14, len(body)) + body


def mat_file(element: bytes) -> bytes:
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + element


NUMBERS = struct.pack("<II", 9, 8) + struct.pack("<d", 1.0)
TERABYTES = mat_file(mat_matrix((2**30, 2**10), NUMBERS))
DEEP = NUMBERS
for _ in range(40):
    DEEP = mat_matrix((1, 1), DEEP, kind=1)
DEEP = mat_file(DEEP)
ELLIPSE: dict[str, tuple[Spoil, str]] = {
    "no folder": (
        nothing("absent"),
        "data_ellipse.mat: cannot be read (No such file or directory); v_models.mat:",
    ),
    "empty file": (impact_bytes(lambda raw: b""), "data_ellipse.mat: the file is empty"),
    "web page": (
        impact_bytes(lambda raw: b"<html>404"),
        "data_ellipse.mat: a web page, not a MATLAB file",
    ),
    "zip": (
        impact_bytes(lambda raw: b"PK\x03\x04" + raw),
        "data_ellipse.mat: a zip file, not a MATLAB file",
    ),
    "truncated": (impact_bytes(lambda raw: raw[:900]), "(an element reaches beyond the end)"),
    "truncated predictions": (
        impact_bytes(lambda raw: raw[:900], "v_models.mat"),
        "v_models.mat: truncated or",
    ),
    "text": (
        impact_bytes(lambda raw: b"x,y\n" * 99),
        "data_ellipse.mat: not readable as a MATLAB file",
    ),
    "terabytes declared": (impact_bytes(lambda raw: TERABYTES), "declares 1.1e+12 entries in"),
    "deep cells": (impact_bytes(lambda raw: DEEP), "cells within cells, more than 16 deep"),
    "other variable": (
        variables(other=1.0),
        "no table states_i, states_f, n, d (it holds other 1x1 float64)",
    ),
    "variable of text": (
        variables(data="text"),
        "data_ellipse.mat: no table states_i, states_f, n, d (it holds no",
    ),
    "v7.3 with other variable": (
        impacts_in_v73,
        "no table states_i, states_f, n, d (it holds other 4x7 float64)",
    ),
    "no rows d": (
        impact_data(lambda data: data.pop("d")),
        "data_ellipse.mat: no table d (it holds data.states_i 40x6",
    ),
    "wrong columns": (
        impact_data(lambda data: data.update(n=data["n"][:, :2])),
        "n has shape (40, 2) instead",
    ),
    "no impacts": (
        impact_data(lambda data: data.update(n=np.zeros((0, 3)))),
        "n has shape (0, 3) instead of",
    ),
    "different lengths": (
        predictions(np.zeros((39, 18))),
        "numbers of impacts: 40 in states_i, 40 in states_f",
    ),
    "NaN states": (
        impact_data(lambda data: data["states_i"].fill(np.nan)),
        "0: states_i has a value that is not",
    ),
    "huge states": (
        impact_data(lambda data: data["states_f"].fill(1e300)),
        "0: states_f is beyond what can be in",
    ),
    "swapped rows": (
        impact_data(swapped_rows),
        "row n doesn't point along (0.0, 1.0); row d doesn't point along",
    ),
}

# arm


def recordings(**values: np.ndarray) -> Spoil:
    def spoil(folder: Path) -> Path:
        save(folder / "raw", **values)
        return folder / "raw"

    return spoil


def content(raw: bytes | Callable[[bytes], bytes], name: str = NAME) -> Spoil:
    def spoil(folder: Path) -> Path:
        good = save(folder / "raw", name).read_bytes()
        (folder / "raw" / name).write_bytes(raw if isinstance(raw, bytes) else raw(good))
        return folder / "raw"

    return spoil


def in_v73(**values: np.ndarray) -> Spoil:
    def spoil(folder: Path) -> Path:
        save_v73(folder / "raw" / NAME, **values)
        return folder / "raw"

    return spoil


def changed_v73(change: Callable[[h5py.File], object]) -> Spoil:
    def spoil(folder: Path) -> Path:
        path = in_v73(time=TIME[:, None])(folder) / NAME
        with h5py.File(path, "r+") as file:
            change(file)
        return folder / "raw"

    return spoil


def loop(file: h5py.File) -> None:
    cells = file.create_dataset("#refs#/a", shape=(2,), dtype=h5py.ref_dtype)
    cells[:] = [cells.ref, cells.ref]
    file["cells"] = np.array([cells.ref], dtype=h5py.ref_dtype)


def half_of_v73(folder: Path) -> Path:
    path = in_v73(q=POSITION)(folder) / NAME
    path.write_bytes(path.read_bytes()[:-300])
    return folder / "raw"


def manifest(text: bytes) -> Spoil:
    def spoil(folder: Path) -> Path:
        save(folder / "raw")
        (folder / "raw/recordings.csv").write_bytes(text)
        return folder / "raw"

    return spoil


def zip_of(raw: bytes) -> Spoil:
    def spoil(folder: Path) -> Path:
        (folder / "all.zip").write_bytes(raw)
        return folder / "all.zip"

    return spoil


def with_nan() -> np.ndarray:
    position = POSITION.copy()
    position[5:9] = np.nan
    return position


CELL = io.BytesIO()
scipy.io.savemat(CELL, {"q": "text"})
ARM: dict[str, tuple[Spoil, str]] = {
    "no folder": (nothing("absent"), "absent: there is no such file or folder"),
    "empty folder": (empty_folder("raw"), "raw: no .mat file in it"),
    "empty file": (content(b""), f"{NAME}: the file is empty"),
    "web page": (content(b"<!DOCTYPE html>"), f"{NAME}: a web page, not a MATLAB file"),
    "zip": (content(lambda raw: b"PK\x03\x04" + raw), f"{NAME}: a zip file, not a MATLAB file"),
    "text": (content(b"not a MATLAB file at all" * 40), f"{NAME}: not readable as a MATLAB file"),
    "truncated": (
        content(lambda raw: raw[: len(raw) // 2]),
        "truncated or damaged as a MATLAB file",
    ),
    "terabytes declared": (content(TERABYTES), "declares 1.1e+12 entries in"),
    "deep cells": (content(DEEP), "cells within cells, more than 16 deep"),
    "v7.3 truncated": (half_of_v73, "truncated or damaged as a MATLAB file"),
    "v7.3 of terabytes": (
        changed_v73(lambda file: file.create_dataset("q", shape=(7, 10**12), dtype="f8")),
        "q declares 5.6e+13 bytes, but the file stores 0 bytes of it",
    ),
    "v7.3 in a circle": (changed_v73(loop), "its cells refer to each other without end"),
    "only text": (content(CELL.getvalue()), "it holds no numbers"),
    "six joints": (
        recordings(q=POSITION[:, :6]),
        "q has shape (120, 6) instead of (n, 7) or (7, n)",
    ),
    "NaN positions": (
        recordings(q=with_nan(), time=TIME),
        "NaN in 4 samples, the first at sample 5",
    ),
    "beyond the limits": (recordings(q=POSITION - 1.0), "joint_1 goes from -2.501 to"),
    "huge positions": (recordings(q=POSITION * 1e300), "beyond its limits"),
    "few samples": (recordings(q=POSITION[:20]), "20 samples where at least 50 are needed"),
    "time backwards": (
        recordings(q=POSITION, time=TIME[::-1].copy()),
        "time does not increase at sample 1",
    ),
    "constant time": (recordings(q=POSITION, time=0 * TIME), "time does not increase at sample 1"),
    "NaN time": (
        recordings(q=POSITION, time=TIME * np.nan),
        "NaN in 120 samples of the time, the first at sample 0",
    ),
    "dropped samples": (
        recordings(q=POSITION, time=TIME + 0.004 * (TIME > 0.06)),
        "beyond mending 5 ms at sample 61",
    ),
    "short time": (
        recordings(q=POSITION, time=TIME[1:]),
        "time has 119 values for 120 samples of joint positions",
    ),
    "list in another encoding": (
        manifest("file,set".encode("utf-16")),
        "recordings.csv: not readable as text",
    ),
    "broken zip": (zip_of(b"PK\x03\x04 and no more"), "all.zip: not a readable zip file"),
}

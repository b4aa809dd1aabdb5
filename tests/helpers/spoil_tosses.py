"""Inputs for the readers of tosses, each spoilt in one way, and what the reader must say."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from iam_files import FREQUENCY, MOCAP, N_FRAMES, NAMES, POSES, recording, replace, write
from small_files import folder_of, toss

Spoil = Callable[[Path], Path]
REC = NAMES[0]
BOX = "OBJECT/Box006"
PLANE = f"{MOCAP}/POSTPROCESSING/ConveyorPart001"
FAR_BEYOND = 10**11  # frames, 12 TB of float64 matrices


# I.AM. archives


def good_archive(folder: Path) -> Path:
    return write(folder / "archive.h5", recording(0))


def bytes_changed(change: Callable[[bytes], bytes]) -> Spoil:
    def spoil(folder: Path) -> Path:
        path = good_archive(folder)
        path.write_bytes(change(path.read_bytes()))
        return path

    return spoil


def in_recording(change: Callable[[h5py.Group], object]) -> Spoil:
    def spoil(folder: Path) -> Path:
        path = good_archive(folder)
        with h5py.File(path, "r+") as file:
            change(file[REC])
        return path

    return spoil


def removed(place: str) -> Spoil:
    return in_recording(lambda group: group.__delitem__(place))


def put(place: str, values: object) -> Spoil:
    def change(group: h5py.Group) -> None:
        parent, name = place.rsplit("/", 1)
        replace(group[parent], name, values)

    return in_recording(change)


def altered(place: str, change: Callable[[np.ndarray], np.ndarray | None]) -> Spoil:
    """``change`` gets the values as float64 and alters them or gives others."""

    def alter(group: h5py.Group) -> None:
        values = group[place][()].astype(float)
        changed = change(values)
        parent, name = place.rsplit("/", 1)
        replace(group[parent], name, values if changed is None else changed)

    return in_recording(alter)


def timed(change: Callable[[np.ndarray], np.ndarray]) -> Spoil:
    def alter(group: h5py.Group) -> None:
        time = change(group[f"{MOCAP}/datalog"]["Time(s)"].astype(float))
        replace(group[MOCAP], "datalog", time.astype([("Time(s)", time.dtype.str)]))

    return in_recording(alter)


def frequency(value: object) -> Spoil:
    return in_recording(
        lambda group: group[f"{MOCAP}/datalog"].attrs.__setitem__("sample_frequency", value)
    )


def declared(place: str, **options: object) -> Spoil:
    """A dataset of terabytes that were never written."""

    def alter(group: h5py.Group) -> None:
        del group[place]
        group.create_dataset(place, shape=(4, 4, FAR_BEYOND), dtype="f8", **options)

    return in_recording(alter)


def heavier(mass: float) -> Callable[[h5py.Group], None]:
    def alter(group: h5py.Group) -> None:
        inertia = group[f"{BOX}/inertia"][()]
        inertia[:3, :3] = mass * np.eye(3)
        group[f"{BOX}/inertia"][...] = inertia
        group[f"{BOX}/mass"][...] = mass

    return alter


def moments(*values: float) -> Callable[[np.ndarray], None]:
    def alter(inertia: np.ndarray) -> None:
        inertia[3:, 3:] = np.diag(values)

    return alter


def set_at(index: object, value: object) -> Callable[[np.ndarray], None]:
    return lambda values: values.__setitem__(index, value)


def other_object(group: h5py.Group) -> None:
    group.move(BOX, "OBJECT/Box005")
    group.move(f"{MOCAP}/POSTPROCESSING/Box006", f"{MOCAP}/POSTPROCESSING/Box005")


def dangling(group: h5py.Group) -> None:
    del group[BOX]
    group[BOX] = h5py.SoftLink("/nowhere")


def several(group: h5py.Group) -> None:
    del group[f"{BOX}/vertices"]
    group[f"{MOCAP}/datalog"].attrs["sample_frequency"] = "fast"
    poses = group[POSES][()]
    poses[:, :, 3], poses[0, 0, 9] = np.nan, 5.0
    group[POSES][...] = poses


def overwritten_chunk(folder: Path) -> Path:
    path = good_archive(folder)
    with h5py.File(path) as file:
        chunk = file[f"{REC}/{POSES}"].id.get_chunk_info(0)
    with path.open("r+b") as stream:
        stream.seek(chunk.byte_offset + chunk.size // 2)
        stream.write(b"\xff" * 40)
    return path


def other_hdf5(folder: Path) -> Path:
    with h5py.File(folder / "other.h5", "w") as file:
        file["numbers"] = np.arange(3)
    return folder / "other.h5"


def nothing(name: str) -> Spoil:
    return lambda folder: folder / name


def empty_folder(name: str) -> Spoil:
    def spoil(folder: Path) -> Path:
        (folder / name).mkdir()
        return folder / name

    return spoil


def moving_note(group: h5py.Group) -> None:
    group.attrs["note"] = np.bytes_(b"conveyor moving")


NO_DATASET = h5py.Empty("f8")
IAM: dict[str, tuple[Spoil, str]] = {
    "truncated": (
        bytes_changed(lambda raw: raw[: len(raw) // 2]),
        "archive.h5: truncated. The download may be",
    ),
    "zero length": (
        bytes_changed(lambda raw: b""),
        "archive.h5: the file is empty. Fetch it again",
    ),
    "web page": (
        bytes_changed(lambda raw: b"\n<!DOCTYPE html><p>404"),
        "a web page, not an HDF5 file. The download",
    ),
    "zip": (
        bytes_changed(lambda raw: b"PK\x03\x04" + raw),
        "a zip file, not an HDF5 file. Unpack it",
    ),
    "text": (bytes_changed(lambda raw: b"1.0,2.0\n" * 99), "archive.h5: not a readable HDF5 file"),
    "no file": (nothing("absent.h5"), "absent.h5: cannot be read (No such file"),
    "empty folder": (empty_folder("raw"), "raw: the folder holds no .h5 or .hdf5 file"),
    "folder named as a file": (empty_folder("archive.h5"), "archive.h5: the folder holds no .h5"),
    "another hdf5 file": (
        other_hdf5,
        "no recording of Box006, nor of anything else. Is this an I.AM. archive",
    ),
    "wrong object": (
        in_recording(other_object),
        "only of Box005, ConveyorPart001. Did you mean Box005?",
    ),
    "no OBJECT": (removed("OBJECT"), "OBJECT is missing in the recording"),
    "link to nowhere": (
        in_recording(dangling),
        "OBJECT/Box006 is a link to another place (/nowhere)",
    ),
    "no vertices": (removed(f"{BOX}/vertices"), "vertices is missing in OBJECT/Box006"),
    "vertices of wrong shape": (
        put(f"{BOX}/vertices", np.ones((8, 2))),
        "has shape (8, 2) instead of (n, 3)",
    ),
    "vertices of text": (put(f"{BOX}/vertices", [[b"a", b"b", b"c"]]), "doesn't hold numbers"),
    "vertices of nothing": (put(f"{BOX}/vertices", NO_DATASET), "has shape () instead of (n, 3)"),
    "vertices with NaN": (
        altered(f"{BOX}/vertices", set_at((1, 1), np.nan)),
        "vertices in OBJECT/Box006 has a NaN",
    ),
    "no extent": (altered(f"{BOX}/vertices", set_at(..., 0.1)), "the body measures 0 m"),
    "box in millimetres": (
        altered(f"{BOX}/vertices", lambda v: 1000 * v),
        "measures 205 m, and lengths must be in m",
    ),
    "negative mass": (in_recording(heavier(-1.0)), "the mass is -1 kg, not a positive number"),
    "zero inertia": (
        altered(f"{BOX}/inertia", moments(0, 0, 0)),
        "the inertia is not positive definite (smallest",
    ),
    "impossible inertia": (
        altered(f"{BOX}/inertia", moments(1e-4, 1e-4, 1e-3)),
        "no body has the principal moments",
    ),
    "inertia in kg mm2": (
        altered(f"{BOX}/inertia", moments(1e3, 1e3, 1e3)),
        "inertia 1e+03 kg m2 is too large for",
    ),
    "two masses": (
        put(f"{BOX}/mass", 0.7),
        "the mass is 0.7 kg but 0.365 kg in the inertia matrix",
    ),
    "no frequency": (
        in_recording(lambda group: group[f"{MOCAP}/datalog"].attrs.__delitem__("sample_frequency")),
        "sample_frequency is missing",
    ),
    "frequency of text": (frequency("fast"), "sample_frequency is 'fast', not a positive number"),
    "frequency of zero": (frequency(0), "sample_frequency is '0', not a positive number"),
    "huge attribute": (frequency(np.zeros(8000)), "sample_frequency"),
    "no datalog": (removed(f"{MOCAP}/datalog"), f"datalog is missing in {MOCAP}"),
    "time of text": (timed(lambda time: time.astype("S8")), "Time(s) doesn't hold numbers"),
    "NaN in the time": (
        timed(lambda t: np.where(t > 0.2, np.nan, t)),
        "Time(s) has a NaN in 77 entries (first: 73)",
    ),
    "duplicated time": (
        timed(lambda t: np.sort(np.append(t, t[40]))),
        "Time(s) doesn't increase after frame 40 (1 such",
    ),
    "constant time": (
        timed(np.zeros_like),
        "Time(s) doesn't increase after frame 0 (149 such steps)",
    ),
    "time backwards": (
        timed(lambda time: time[::-1].copy()),
        "Time(s) doesn't increase after frame 0",
    ),
    "dropped frames": (
        timed(lambda t: t + (t > 0.2) / FREQUENCY),
        "1 time steps are more than 50% off 1/360 s",
    ),
    "short time": (timed(lambda time: time[:99]), "Time(s) has 99 entries for 150 frames"),
    "no poses": (removed(POSES), "transforms is missing"),
    "no frames": (put(POSES, np.zeros((4, 4, 0))), "0 frames where at least 3 are needed"),
    "swapped axes": (
        altered(POSES, lambda m: np.moveaxis(m, 2, 0)),
        "(150, 4, 4) instead of (4, 4, N), so its axes",
    ),
    "transposed poses": (
        altered(POSES, lambda m: m.transpose(1, 0, 2)),
        "so the matrices are transposed",
    ),
    "NaN poses": (
        altered(POSES, set_at((0, 3, slice(4, 14)), np.nan)),
        "Box006: NaN in 10 of 150 frames in a row (first: frame 4); at most 2 are bridged",
    ),
    "infinite poses": (
        altered(POSES, set_at((0, 3, slice(8, 11)), np.inf)),
        "Box006: NaN in 3 of 150 frames in a row (first: frame 8)",
    ),
    "not rigid": (
        altered(POSES, lambda m: 1.1 * m),
        "150 of 150 frames are no rigid motion (first: frame 0)",
    ),
    "reflected": (
        altered(POSES, lambda m: m * [[[-1]], [[1]], [[1]], [[1]]]),
        "frames are reflections, not rotation",
    ),
    "positions in millimetres": (
        altered(POSES, set_at((0, 3), 700.0)),
        "positions reach 700 m, so they may be in mill",
    ),
    "huge poses": (altered(POSES, set_at((0, 0), 1e300)), "frames are no rigid motion"),
    "integers at their limit": (
        put(POSES, np.full((4, 4, 9), 2**63 - 1)),
        "9 of 9 frames are no rigid motion",
    ),
    "poses of text": (put(POSES, np.full((4, 4, 9), b"x")), "transforms don't hold numbers"),
    "overwritten bytes": (overwritten_chunk, "Box006: transforms can't be decoded"),
    "terabytes in chunks": (
        declared(POSES, chunks=(4, 4, 1000), compression="gzip"),
        "entries for 100000000000 frames",
    ),
    "terabytes in one piece": (
        declared(f"{PLANE}/transforms"),
        "declares 1.28e+13 bytes, but the file stores 0",
    ),
    "no plane": (removed(PLANE), "ConveyorPart001 is missing in"),
    "short plane": (
        put(f"{PLANE}/transforms", np.zeros((4, 4, 9))),
        "ConveyorPart001: 9 frames where at least 150",
    ),
    "hidden plane": (
        altered(f"{PLANE}/transforms", set_at(..., np.nan)),
        "ConveyorPart001: NaN in 150 of 150 frames",
    ),
    "deformed plane": (
        altered(f"{PLANE}/transforms", set_at((0, 0, 7), 3.0)),
        "ConveyorPart001: 1 of 150 frames are",
    ),
    "belt without the box": (
        in_recording(moving_note),
        "belt moves, but the box doesn't lie on it",
    ),
    "dataset for a group": (put(f"{MOCAP}/POSTPROCESSING", np.zeros(N_FRAMES)), "is not a group"),
    "several things": (
        in_recording(several),
        f"{REC}: vertices is missing in {BOX}; sample_frequency is 'fast', not a positive number; "
        "Box006: 1 of 150 frames are no rigid motion (first: frame 9)",
    ),
}

# ContactNets


def good_tosses(folder: Path) -> Path:
    (folder / "raw/params_processed").mkdir(parents=True)
    (folder / "raw/params_processed/experiment.json").write_text(
        '{"dt": 0.00675, "mass": 0.37, "inertia": 0.295}'
    )
    return folder_of(folder / "raw", {"0": toss()})


def toss_bytes(change: Callable[[bytes], bytes]) -> Spoil:
    def spoil(folder: Path) -> Path:
        file = good_tosses(folder) / "tosses_processed/0.pt"
        file.write_bytes(change(file.read_bytes()))
        return folder / "raw"

    return spoil


def toss_table(change: Callable[[np.ndarray], np.ndarray | None]) -> Spoil:
    def spoil(folder: Path) -> Path:
        table = toss()
        changed = change(table)
        good_tosses(folder)
        return folder_of(folder / "raw", {"0": table if changed is None else changed})

    return spoil


def experiment(text: str) -> Spoil:
    def spoil(folder: Path) -> Path:
        (good_tosses(folder) / "params_processed/experiment.json").write_text(text)
        return folder / "raw"

    return spoil


def folder_for_a_toss(folder: Path) -> Path:
    file = good_tosses(folder) / "tosses_processed/0.pt"
    file.unlink()
    file.mkdir()
    return folder / "raw"


MEMO_BOMB = b"\x80\x02}r" + struct.pack("<I", 2**32 - 1) + b"."
HOSTILE = pickle.dumps(os.getcwd, protocol=2)
CONTACTNETS: dict[str, tuple[Spoil, str]] = {
    "no folder": (
        nothing("absent"),
        "absent: no ContactNets tosses there (looked for tosses_processed/*.pt)",
    ),
    "empty folder": (empty_folder("raw"), "raw: no ContactNets tosses there"),
    "truncated toss": (
        toss_bytes(lambda raw: raw[:-50]),
        "0: not a readable PyTorch tensor file (the file ends",
    ),
    "empty toss": (toss_bytes(lambda raw: b""), "0: not a readable PyTorch tensor file"),
    "web page": (
        toss_bytes(lambda raw: b"<html>404</html>"),
        "0: not a readable PyTorch tensor file",
    ),
    "other zip": (
        toss_bytes(lambda raw: b"PK\x05\x06" + bytes(18)),
        "(no data.pkl in the archive)",
    ),
    "hostile pickle": (
        toss_bytes(lambda raw: HOSTILE),
        "0: refused, it asks for posix.getcwd, which no plain tensor",
    ),
    "pickle of gigabytes": (toss_bytes(lambda raw: MEMO_BOMB), "(wrong magic number)"),
    "folder for a toss": (folder_for_a_toss, "0: cannot be read (a folder instead of a file)"),
    "fewer columns": (
        toss_table(lambda t: t[:, :13]),
        "0: a tensor of shape (1, 30, 13) instead of (1, T, 19)",
    ),
    "few frames": (toss_table(lambda t: t[:3]), "0: only 3 frames (at least 8 are needed)"),
    "NaN poses": (
        toss_table(set_at((slice(3, 5), 1), np.nan)),
        "0: NaN in 2 of 30 frames (first: frame 3)",
    ),
    "quaternion not unit": (
        toss_table(set_at((7, 3), 1.2)),
        "not of unit length in 1 frames (first: frame 7)",
    ),
    "quaternion of zeros": (
        toss_table(set_at((slice(None), slice(3, 7)), 0.0)),
        "not of unit length in 30 frames",
    ),
    "millimetres": (
        toss_table(set_at((slice(None), 0), 300.0)),
        "not in half-widths (they reach 300)",
    ),
    "huge values": (toss_table(set_at((slice(None), 4), 1e300)), "not of unit length in 30 frames"),
    "all of that": (
        toss_table(lambda t: np.where(np.arange(19) == 2, np.nan, 1e3 * t[:4])),
        "0: only 4 frames (at least 8 are needed); NaN in 4 of 4 frames",
    ),
    "broken experiment": (experiment("{"), "experiment.json: not a ContactNets experiment file"),
    "nested experiment": (
        experiment("[" * 100_000),
        "experiment.json: not a ContactNets experiment file",
    ),
    "no mass": (
        experiment('{"dt": 0.00675, "inertia": 0.295}'),
        "experiment.json: not a ContactNets experiment",
    ),
    "negative mass": (
        experiment('{"dt": 0.00675, "mass": -1, "inertia": 1}'),
        "mass is -1, not between 0.001 and 100",
    ),
    "zero inertia": (
        experiment('{"dt": 0.00675, "mass": 1, "inertia": 0}'),
        "inertia is 0, not between 0.0001 and",
    ),
    "impossible rate": (
        experiment('{"dt": 1e-320, "mass": 1, "inertia": 1}'),
        "dt is 9.99989e-321, not between 1e-05",
    ),
    "mass of text": (
        experiment('{"dt": 0.00675, "mass": "heavy", "inertia": 1}'),
        "not a ContactNets experiment file",
    ),
}

"""Whatever is wrong with a recording is said in one line and costs only that recording; a damaged
file is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from iam_files import (
    FREQUENCY,
    MOCAP,
    N_FRAMES,
    NAMES,
    POSES,
    left_out,
    read,
    recording,
    refusal,
    replace,
    write,
)
from motion_in_memory import read_iam_archive


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write(tmp_path / "archive.h5")


# Damage: each costs its recording and is named


def delete(place: str) -> Callable[[h5py.Group], None]:
    def damage(group: h5py.Group) -> None:
        del group[place]

    return damage


def set_values(place: str, index: object, value: float) -> Callable[[h5py.Group], None]:
    def damage(group: h5py.Group) -> None:
        values = group[place][()]
        values[index] = value
        group[place][...] = values

    return damage


def set_time(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[h5py.Group], None]:
    def damage(group: h5py.Group) -> None:
        time = change(group[f"{MOCAP}/datalog"]["Time(s)"].astype(float))
        replace(group[MOCAP], "datalog", time.astype([("Time(s)", "f8")]))

    return damage


def set_dataset(place: str, values: object) -> Callable[[h5py.Group], None]:
    def damage(group: h5py.Group) -> None:
        parent, name = place.rsplit("/", 1)
        replace(group[parent], name, values)

    return damage


def set_frequency(value: object) -> Callable[[h5py.Group], None]:
    def damage(group: h5py.Group) -> None:
        group[f"{MOCAP}/datalog"].attrs["sample_frequency"] = value

    return damage


DAMAGE = [
    (delete("OBJECT"), "OBJECT is missing in the recording"),
    (delete("OBJECT/Box006"), "Box006 is missing in OBJECT"),
    (delete("OBJECT/Box006/vertices"), "vertices is missing in OBJECT/Box006"),
    (delete(f"{MOCAP}/datalog"), f"datalog is missing in {MOCAP}"),
    (delete(f"{MOCAP}/POSTPROCESSING"), f"POSTPROCESSING is missing in {MOCAP}"),
    (delete(f"{MOCAP}/POSTPROCESSING/Box006"), f"Box006 is missing in {MOCAP}/POSTPROCESSING"),
    (delete(POSES), "transforms is missing"),
    (set_dataset("OBJECT/Box006/vertices", np.zeros((8, 2))), "has shape (8, 2) instead of (n, 3)"),
    (set_dataset("OBJECT/Box006/inertia", np.eye(3)), "has shape (3, 3) instead of (6, 6)"),
    (set_dataset("OBJECT/Box006/mass", [1.0, 2.0]), "the mass is not one number"),
    (
        set_dataset("OBJECT/Box006/mass", 0.7),
        "the mass is 0.7 kg but 0.365 kg in the inertia matrix",
    ),
    (set_dataset("OBJECT/Box006/vertices", b"none"), "doesn't hold numbers"),
    (set_values("OBJECT/Box006/vertices", (3, 1), np.nan), "vertices in OBJECT/Box006 has a NaN"),
    (
        set_values("OBJECT/Box006/inertia", (4, 4), 1590.0),
        "the inertia 1.59e+03 kg m2 is too large",
    ),
    (set_dataset(POSES, np.zeros((N_FRAMES, 4, 4))), "instead of (4, 4, N)"),
    (set_dataset(POSES, np.tile(np.eye(4)[:, :, None], 2)), "2 frames where at least 3 are needed"),
    (
        set_values(POSES, (0, 3, slice(4, 7)), np.nan),
        "Box006: NaN in 3 of 150 frames in a row (first: frame 4)",
    ),
    (set_values(POSES, (0, 0, 7), 3.0), "1 of 150 frames are no rigid motion (first: frame 7)"),
    (set_values(POSES, (3, 0, 8), 0.5), "1 of 150 frames are no rigid motion (first: frame 8)"),
    (set_values(POSES, (slice(0, 3), 2), 0.0), "150 of 150 frames are no rigid motion"),
    (set_values(POSES, (0, 3, 9), 450.0), "positions reach 450 m, so they may be in millimetres"),
    (set_time(lambda time: time[:100]), "Time(s) has 100 entries for 150 frames"),
    (set_time(lambda time: np.where(time > 0.2, np.nan, time)), "Time(s) has a NaN"),
    (set_time(lambda time: time - 0.1 * (time > 0.2)), "Time(s) doesn't increase after frame 72"),
    (
        set_time(lambda time: time + (time > 0.2) / FREQUENCY),
        "1 time steps are more than 50% off 1/360 s",
    ),
    (set_frequency("fast"), "sample_frequency is 'fast', not a positive number"),
    (set_frequency(0), "sample_frequency is '0', not a positive number"),
    (
        set_dataset(f"{MOCAP}/POSTPROCESSING/ConveyorPart001/transforms", np.zeros((4, 4, 9))),
        "9 frames where at least",
    ),
    (
        set_values(f"{MOCAP}/POSTPROCESSING/ConveyorPart001/transforms", ..., np.nan),
        "NaN in 150 of 150 frames",
    ),
]


@pytest.mark.parametrize(("damage", "reason"), DAMAGE, ids=[reason for _, reason in DAMAGE])
def test_a_damaged_recording_is_left_out_with_its_reason(
    archive: Path, damage: Callable[[h5py.Group], None], reason: str
) -> None:
    with h5py.File(archive, "r+") as file:
        damage(file[NAMES[1]])
    motion = read(archive)
    assert list(motion["recording"].values) == [NAMES[0], NAMES[2]]
    reasons = json.loads(motion.attrs["left_out"])
    assert list(reasons) == [NAMES[1]]
    assert reason in reasons[NAMES[1]]


def test_all_problems_of_a_recording_are_reported_at_once(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        set_frequency("fast")(file[NAMES[1]])
        delete("OBJECT/Box006/vertices")(file[NAMES[1]])
        set_values(POSES, (0, 0, 4), 3.0)(file[NAMES[1]])
    reason = left_out(archive)[NAMES[1]]
    assert all(
        part in reason for part in ("'fast'", "vertices is missing", "1 of 150 frames are no")
    )


def test_a_recording_of_another_rate_or_box_is_left_out(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        set_frequency(120)(file[NAMES[0]])
        time = np.arange(N_FRAMES) / 120
        replace(file[f"{NAMES[0]}/{MOCAP}"], "datalog", time.astype([("Time(s)", "f8")]))
        file[f"{NAMES[2]}/OBJECT/Box006/vertices"][...] *= 1.1
    reasons = left_out(archive)
    assert reasons[NAMES[0]] == "sampled at 120 Hz, the others at 360 Hz"
    assert "another shape, mass or inertia" in reasons[NAMES[2]]


def test_a_damaged_chunk_costs_its_recording_only(archive: Path) -> None:
    with h5py.File(archive, "r") as file:
        chunk = file[f"{NAMES[1]}/{POSES}"].id.get_chunk_info(0)
    with archive.open("r+b") as stream:
        stream.seek(chunk.byte_offset + chunk.size // 2)
        stream.write(b"\xff" * 40)
    assert left_out(archive) == {NAMES[1]: "Box006: transforms can't be decoded"}


def test_nothing_usable_is_an_error_that_says_why(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        for name in NAMES:
            delete(f"{MOCAP}/datalog")(file[name])
    assert (
        "none of the 3 recordings of Box006 is usable; Rec_20220101T100000Z: datalog is missing"
        in refusal(lambda: read(archive))
    )


def test_millimetres_are_refused(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        for name in NAMES:
            file[f"{name}/OBJECT/Box006/vertices"][...] *= 1000
    assert "the body measures 205 m, and lengths must be in metres" in refusal(
        lambda: read(archive)
    )


# Files that are no archive


def test_an_absent_object_is_answered_with_the_nearest_one(archive: Path) -> None:
    message = refusal(lambda: read_iam_archive(archive, "Box06", licence="CC0-1.0"))
    assert "no recording of Box06, only of Box006, ConveyorPart001. Did you mean Box006?" in message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"\n<!DOCTYPE html><html>404</html>", "a web page, not an HDF5 file"),
        (b"PK\x03\x04rest", "a zip file, not an HDF5 file. Unpack it"),
        (b"1.0,2.0\n" * 100, "not a readable HDF5 file"),
    ],
)
def test_another_kind_of_file_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "download.h5"
    path.write_bytes(content)
    message = refusal(lambda: read(path))
    assert reason in message
    assert "download.h5" in message


def test_missing_files_and_empty_folders_are_named(tmp_path: Path) -> None:
    assert "absent.h5: cannot be read (No such file" in refusal(
        lambda: read(tmp_path / "absent.h5")
    )
    assert "holds no .h5 or .hdf5 file" in refusal(lambda: read(tmp_path))


def test_an_hdf5_file_of_something_else_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["numbers"] = np.arange(3)
        file["Rec_1"] = 3.0
    assert "nor of anything else" in refusal(lambda: read(tmp_path / "other.h5"))


@settings(max_examples=30, deadline=None)
@given(part=st.floats(0.0, 1.0, exclude_max=True))
def test_a_truncated_archive_is_refused_wherever_it_ends(
    tmp_path_factory: pytest.TempPathFactory, part: float
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    content = write(folder / "whole.h5", recording(0)).read_bytes()
    (folder / "cut.h5").write_bytes(content[: int(part * len(content))])
    assert "cut.h5" in refusal(lambda: read(folder / "cut.h5"))


@settings(max_examples=40, deadline=None)
@given(part=st.floats(0.0, 1.0, exclude_max=True), value=st.integers(0, 255))
def test_a_flipped_byte_never_raises_anything_else(
    tmp_path_factory: pytest.TempPathFactory, part: float, value: int
) -> None:
    folder = tmp_path_factory.mktemp("flip")
    content = bytearray(write(folder / "whole.h5", recording(0)).read_bytes())
    content[int(part * len(content))] = value
    (folder / "flipped.h5").write_bytes(content)
    try:
        read(folder / "flipped.h5")
    except ContactIdError as error:
        assert "\n" not in str(error)

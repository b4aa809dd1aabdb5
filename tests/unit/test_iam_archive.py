"""The archive's layout is read back exactly; whatever is wrong with a recording is said, and costs only that one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from contactid import rotations
from contactid.datasets.iam_archive import read_iam_archive
from contactid.datasets.iam_writer import (
    POSITION_STEP,
    ROTATION_STEP,
    ArchiveRecording,
    TrackedBody,
    new_archive,
    write_recording,
)
from contactid.datasets.motion import BodyProperties, body_of, iterate_recordings
from contactid.errors import ContactIdError
from hypothesis import given, settings
from hypothesis import strategies as st

FREQUENCY = 360.0
N_FRAMES = 150
NAMES = ("Rec_20220101T100000Z", "Rec_20220101T100100Z", "Rec_20220101T100200Z")
MOCAP = "SENSOR_MEASUREMENT/Mocap"
POSES = f"{MOCAP}/POSTPROCESSING/Box006/transforms"


def body() -> BodyProperties:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return BodyProperties(0.5 * signs * [0.205, 0.155, 0.1], 0.365, np.diag([1.04e-3, 1.59e-3, 2.02e-3]))


def poses(seed: int, n: int = N_FRAMES) -> tuple[np.ndarray, np.ndarray]:
    """A smooth motion (n, 3), (n, 4) in M."""
    rng = np.random.default_rng(seed)
    time = np.arange(n)[:, None] / FREQUENCY
    position = rng.normal(size=3) + rng.normal(size=3) * time
    return position, rotations.continuous(rotations.exp(rng.normal(size=3) + rng.normal(size=3) * time))


def recording(index: int, *, note: str = "toss", velocity: np.ndarray | None = None) -> ArchiveRecording:
    plane_attributes = {} if velocity is None else {"surface_velocity": velocity}
    plane = np.tile([0.1, -0.2, 0.01], (N_FRAMES + 3, 1)), np.tile(rotations.exp([0, 0.01, 0.3]), (N_FRAMES + 3, 1))
    tracked = {
        "Box006": TrackedBody(*poses(index)),
        "ConveyorPart001": TrackedBody(*plane, attributes=plane_attributes),
    }
    return ArchiveRecording(NAMES[index], note, tracked)


def write(path: Path, *recordings: ArchiveRecording) -> Path:
    with new_archive(path) as archive:
        for each in recordings or [recording(index) for index in range(3)]:
            write_recording(archive, each, body(), object_name="Box006", sample_frequency=FREQUENCY)
    return path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write(tmp_path / "archive.h5")


def read(path: Path, **changes: object):
    options = {"licence": "CC0-1.0", "surface_name": "ConveyorPart001"} | changes
    return read_iam_archive(path, "Box006", **options)  # type: ignore[arg-type]


def left_out(path: Path, **changes: object) -> dict[str, str]:
    return json.loads(read(path, **changes).attrs["left_out"])


def replace(node: h5py.Group, name: str, values: object, attributes: dict | None = None) -> None:
    kept = dict(node[name].attrs) if attributes is None else attributes
    del node[name]
    node.create_dataset(name, data=values)
    for key, value in kept.items():
        node[name].attrs[key] = value


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(ContactIdError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_round_trip(archive: Path) -> None:
    motion = read(archive)
    assert motion.attrs["left_out"] == "{}"
    assert motion.attrs["synthetic"] == 0
    assert motion.attrs["sample_frequency"] == FREQUENCY
    assert list(motion["recording"].values) == list(NAMES)
    for index, (_, samples) in enumerate(iterate_recordings(motion)):
        position, orientation = poses(index)
        np.testing.assert_allclose(samples["position"], position, atol=POSITION_STEP / 2 + 2e-7)
        assert rotations.angle_between(samples["orientation"].values, orientation).max() < 1.5 * ROTATION_STEP
        np.testing.assert_allclose(samples["surface_position"], [0.1, -0.2, 0.01], atol=POSITION_STEP)
        angle = rotations.angle_between(samples["surface_orientation"].values, rotations.exp([0, 0.01, 0.3]))
        assert angle < 1.5 * ROTATION_STEP
    np.testing.assert_array_equal(body_of(motion).vertices, body().vertices)
    np.testing.assert_array_equal(body_of(motion).inertia, body().inertia)
    assert body_of(motion).mass == 0.365
    assert body_of(motion).length == pytest.approx(0.205)


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    write(tmp_path / "b.h5", recording(1))
    write(tmp_path / "inner" / "a.HDF5", recording(0))
    (tmp_path / "readme.txt").write_text("not an archive")
    assert list(read(tmp_path)["recording"].values) == [NAMES[1], NAMES[0]]


def test_the_same_recording_in_two_files_is_taken_once(tmp_path: Path) -> None:
    write(tmp_path / "a.h5", recording(0))
    write(tmp_path / "b.h5", recording(0), recording(1))
    assert list(read(tmp_path)["recording"].values) == [NAMES[0], NAMES[1]]
    assert left_out(tmp_path) == {f"b.h5:{NAMES[0]}": "a recording of this name was read already"}


def test_written_bytes_depend_on_the_content_alone(tmp_path: Path) -> None:
    assert write(tmp_path / "a.h5").read_bytes() == write(tmp_path / "b.h5").read_bytes()


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_archive(tmp_path / "a.h5"):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), n=st.integers(3, 40))
def test_any_motion_survives_the_round_trip(tmp_path_factory: pytest.TempPathFactory, seed: int, n: int) -> None:
    position, orientation = poses(seed, n)
    path = write(
        tmp_path_factory.mktemp("round") / "a.h5",
        ArchiveRecording(NAMES[0], "", {"Box006": TrackedBody(position, orientation)}),
    )
    motion = read(path, surface_name=None)
    np.testing.assert_allclose(motion["position"], position, atol=POSITION_STEP / 2 + 1e-6)
    assert rotations.angle_between(motion["orientation"].values, orientation).max() < 1.5 * ROTATION_STEP


# What older archives do differently


def test_single_precision_and_integers_are_cast(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        for name in NAMES:
            box = file[f"{name}/OBJECT/Box006"]
            for key in ("vertices", "inertia", "mass"):
                replace(box, key, box[key][()].astype("f4"))
            time = np.arange(N_FRAMES, dtype="i2").astype([("Time(s)", "i2")])
            replace(file[f"{name}/{MOCAP}"], "datalog", time, {"sample_frequency": np.int16(1)})
            quarter_turn = np.zeros((4, 4, N_FRAMES), dtype="i2")
            quarter_turn[[0, 1, 2, 3], [1, 0, 2, 3]] = np.array([-1, 1, 1, 1])[:, None]
            quarter_turn[:3, 3] = np.array([1, -2, 3])[:, None]
            replace(file[f"{name}/{MOCAP}/POSTPROCESSING/Box006"], "transforms", quarter_turn)
    motion = read(archive)
    assert motion["position"].dtype == motion["mass"].dtype == float
    np.testing.assert_array_equal(motion["position"][0], [1, -2, 3])
    np.testing.assert_allclose(motion["orientation"][0], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    assert float(motion["mass"]) == pytest.approx(0.365)
    assert motion.attrs["sample_frequency"] == 1.0


@pytest.mark.parametrize("value", [360, 360.0, "360", b"360.0", np.array([360.0]), np.array([b"360"]), " 360 "])
@pytest.mark.parametrize("key", ["sample_frequency", "sample frequency"])
def test_the_frequency_may_be_a_number_or_text(archive: Path, key: str, value: object) -> None:
    with h5py.File(archive, "r+") as file:
        for name in NAMES:
            attributes = file[f"{name}/{MOCAP}/datalog"].attrs
            del attributes["sample_frequency"]
            attributes[key] = value
    assert read(archive).attrs["sample_frequency"] == 360.0


def test_names_may_carry_a_prefix(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        for name in NAMES:
            file.move(f"{name}/OBJECT/Box006/mass", f"{name}/OBJECT/Box006/Result_0mass")
            file.move(f"{name}/OBJECT/Box006", f"{name}/OBJECT/Result_0Box006")
            file.move(f"{name}/{MOCAP}/POSTPROCESSING/Box006", f"{name}/{MOCAP}/POSTPROCESSING/Result_0Box006")
    motion = read(archive)
    assert len(motion["recording"]) == 3
    assert float(motion["mass"]) == 0.365


def test_the_mass_may_be_in_the_inertia_alone(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        for name in NAMES:
            del file[f"{name}/OBJECT/Box006/mass"]
    assert float(read(archive)["mass"]) == 0.365


def test_attribute_names_may_have_spaces(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        plane = file[f"{NAMES[0]}/{MOCAP}/POSTPROCESSING/ConveyorPart001"]
        plane.attrs["Surface velocity"] = [0.4, 0.0, 0.0]
        file[NAMES[1]].attrs["note"] = np.array([b"by hand"])
    motion = read(archive)
    np.testing.assert_array_equal(motion["surface_velocity"][0], [0.4, 0, 0])
    assert list(motion["note"].values) == ["toss", "by hand", "toss"]


def test_slightly_deformed_rotations_become_rotations(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        for name in NAMES:
            file[f"{name}/{POSES}"][:3, :3] *= 1.002
    for index, (_, samples) in enumerate(iterate_recordings(read(archive))):
        assert rotations.angle_between(samples["orientation"].values, poses(index)[1]).max() < 1.5 * ROTATION_STEP


def test_the_plane_is_the_mean_over_the_boxs_frames(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        dataset = file[f"{NAMES[0]}/{MOCAP}/POSTPROCESSING/ConveyorPart001/transforms"]
        transforms = dataset[()].astype(float)
        turns = np.zeros((N_FRAMES, 3))
        turns[:, 0] = np.linspace(-0.02, 0.04, N_FRAMES)
        transforms[:3, :3, :N_FRAMES] = np.moveaxis(rotations.matrices(rotations.exp(turns)), 0, 2)
        transforms[2, 3, :N_FRAMES] = np.linspace(0.0, 0.02, N_FRAMES)
        transforms[:, :, N_FRAMES:] = 7.0  # beyond the box's frames nothing is looked at
        dataset[...] = transforms
    motion = read(archive)
    np.testing.assert_allclose(rotations.log(motion["surface_orientation"].values[0]), [0.01, 0, 0], atol=1e-6)
    assert float(motion["surface_position"][0, 2]) == pytest.approx(0.01)


def test_frames_in_which_the_plane_is_hidden_are_passed_over(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        file[f"{NAMES[0]}/{MOCAP}/POSTPROCESSING/ConveyorPart001/transforms"][:, :, 5:20] = np.nan
    assert left_out(archive) == {}


# Which surface


def test_without_a_plane_the_surface_is_the_motion_capture_frame_at_a_height(archive: Path) -> None:
    motion = read(archive, surface_name=None, surface_height=0.01)
    np.testing.assert_array_equal(motion["surface_position"], [[0, 0, 0.01]] * 3)
    np.testing.assert_array_equal(motion["surface_orientation"], [[1, 0, 0, 0]] * 3)
    assert json.loads(motion.attrs["surface_assumed"]) == list(NAMES)
    np.testing.assert_array_equal(read(archive, surface_name=None)["surface_position"], np.zeros((3, 3)))


def test_a_missing_plane_is_assumed_only_where_a_height_is_given(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        del file[f"{NAMES[1]}/{MOCAP}/POSTPROCESSING/ConveyorPart001"]
    assert "ConveyorPart001 is missing" in left_out(archive)[NAMES[1]]
    motion = read(archive, surface_height=0.01)
    assert json.loads(motion.attrs["surface_assumed"]) == [NAMES[1]]
    np.testing.assert_array_equal(motion["surface_position"][1], [0, 0, 0.01])


@pytest.mark.parametrize("note", ["conveyor moving", "Belt RUNNING, toss 3"])
def test_the_belts_velocity_is_that_of_the_box_it_carries(tmp_path: Path, note: str) -> None:
    time = np.arange(N_FRAMES) / FREQUENCY
    turn = rotations.exp([0.0, 0.0, 0.5])
    along = rotations.matrices(turn) @ [0.37, 0.02, 0.0]
    position = np.array([0.3, 0.1, 0.06]) + time[:, None] * along
    position[:60, 2] += 0.3 * (time[60] - time[:60])
    position += np.random.default_rng(0).normal(scale=2e-5, size=position.shape)
    tracked = {
        "Box006": TrackedBody(position, np.tile(turn, (N_FRAMES, 1))),
        "ConveyorPart001": TrackedBody(np.zeros((N_FRAMES, 3)), np.tile(turn, (N_FRAMES, 1))),
    }
    motion = read(write(tmp_path / "a.h5", ArchiveRecording(NAMES[0], note, tracked)))
    np.testing.assert_allclose(motion["surface_velocity"][0], [0.37, 0.02, 0.0], atol=1e-3)
    assert json.loads(motion.attrs["surface_velocity_estimated"]) == [NAMES[0]]


def test_a_stated_belt_velocity_goes_before_the_note(tmp_path: Path) -> None:
    motion = read(write(tmp_path / "a.h5", recording(0, note="running", velocity=np.array([0.4, 0.0, 0.0]))))
    np.testing.assert_array_equal(motion["surface_velocity"], [[0.4, 0, 0]])
    assert motion.attrs["surface_velocity_estimated"] == "[]"


@pytest.mark.parametrize("note", ["", "standing conveyor", "conveyor not moving", "prerunning"])
def test_a_standing_belt_has_no_velocity(tmp_path: Path, note: str) -> None:
    motion = read(write(tmp_path / "a.h5", recording(0, note=note)))
    np.testing.assert_array_equal(motion["surface_velocity"], [[0, 0, 0]])


def test_a_moving_belt_under_a_flying_box_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.h5", recording(0, note="conveyor moving"), recording(1))
    assert "doesn't lie on it" in left_out(path)[NAMES[0]]


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
    (set_dataset("OBJECT/Box006/mass", 0.7), "the mass is 0.7 kg but 0.365 kg in the inertia matrix"),
    (set_dataset("OBJECT/Box006/vertices", b"none"), "doesn't hold numbers"),
    (set_values("OBJECT/Box006/vertices", (3, 1), np.nan), "vertices in OBJECT/Box006 has a NaN"),
    (set_values("OBJECT/Box006/inertia", (4, 4), 1590.0), "the inertia 1.59e+03 kg m2 is too large"),
    (set_dataset(POSES, np.zeros((N_FRAMES, 4, 4))), "instead of (4, 4, N)"),
    (set_dataset(POSES, np.tile(np.eye(4)[:, :, None], 2)), "2 frames where at least 3 are needed"),
    (set_values(POSES, (0, 3, slice(4, 6)), np.nan), "Box006: NaN in 2 of 150 frames"),
    (set_values(POSES, (0, 0, 7), 3.0), "1 frames are no rigid motion (first: frame 7)"),
    (set_values(POSES, (3, 0, 8), 0.5), "1 frames are no rigid motion (first: frame 8)"),
    (set_values(POSES, (slice(0, 3), 2), 0.0), "150 frames are no rigid motion"),
    (set_values(POSES, (0, 3, 9), 450.0), "positions reach 450 m, so they may be in millimetres"),
    (set_time(lambda time: time[:100]), "Time(s) has 100 entries for 150 frames"),
    (set_time(lambda time: np.where(time > 0.2, np.nan, time)), "Time(s) has a NaN"),
    (set_time(lambda time: time - 0.1 * (time > 0.2)), "Time(s) doesn't increase after frame 72"),
    (set_time(lambda time: time + (time > 0.2) / FREQUENCY), "1 time steps are more than 50% off 1/360 s"),
    (set_dataset(f"{MOCAP}/datalog", np.arange(150.0)), "datalog has no column Time(s)"),
    (set_frequency("fast"), "sample_frequency is 'fast', not a positive number"),
    (set_frequency(0), "sample_frequency is '0', not a positive number"),
    (set_dataset(f"{MOCAP}/POSTPROCESSING/ConveyorPart001/transforms", np.zeros((4, 4, 9))), "9 frames where at least"),
    (set_values(f"{MOCAP}/POSTPROCESSING/ConveyorPart001/transforms", ..., np.nan), "NaN in 150 of 150 frames"),
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
        set_values(POSES, (0, 3, 4), np.nan)(file[NAMES[1]])
    reason = left_out(archive)[NAMES[1]]
    assert all(part in reason for part in ("'fast'", "vertices is missing", "NaN in 1 of 150"))


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
    assert "none of the 3 recordings of Box006 is usable; Rec_20220101T100000Z: datalog is missing" in refusal(
        lambda: read(archive)
    )


def test_millimetres_are_refused(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        for name in NAMES:
            file[f"{name}/OBJECT/Box006/vertices"][...] *= 1000
    assert "the body measures 205 m. Lengths must be in metres" in refusal(lambda: read(archive))


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
    assert "absent.h5: cannot be read (No such file" in refusal(lambda: read(tmp_path / "absent.h5"))
    assert "holds no .h5 or .hdf5 file" in refusal(lambda: read(tmp_path))


def test_an_hdf5_file_of_something_else_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["numbers"] = np.arange(3)
        file["Rec_1"] = 3.0
    assert "nor of anything else" in refusal(lambda: read(tmp_path / "other.h5"))


@settings(max_examples=30, deadline=None)
@given(part=st.floats(0.0, 1.0, exclude_max=True))
def test_a_truncated_archive_is_refused_wherever_it_ends(tmp_path_factory: pytest.TempPathFactory, part: float) -> None:
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


# The writer's own refusals


def test_the_writer_refuses_what_the_layout_cannot_say(tmp_path: Path) -> None:
    def attempt(each: ArchiveRecording, properties: BodyProperties, name: str = "Box006") -> str:
        with new_archive(tmp_path / "a.h5") as file:
            return refusal(lambda: write_recording(file, each, properties, object_name=name, sample_frequency=360.0))

    good = recording(0)
    shifted = BodyProperties(body().vertices, body().mass, body().inertia, np.array([0.0, 0.0, 0.01]))
    short = {"Box006": good.tracked["Box006"], "Plane": TrackedBody(*poses(1, 20))}
    assert "the centre of mass is not the origin" in attempt(good, shifted)
    assert "Box009 is not tracked" in attempt(good, body(), "Box009")
    assert "fewer frames" in attempt(ArchiveRecording(NAMES[0], "", short), body())
    assert "not the name of a recording" in attempt(ArchiveRecording("toss 1", "", good.tracked), body())

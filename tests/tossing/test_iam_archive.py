"""The archive's layout is read back exactly, also where older archives do things differently."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.sources.motion import BodyProperties, body_of, iterate_recordings
from iam_files import (
    FREQUENCY,
    MOCAP,
    N_FRAMES,
    NAMES,
    POSES,
    body,
    left_out,
    poses,
    read,
    recording,
    refusal,
    replace,
    write,
)
from iam_writer import (
    POSITION_STEP,
    ROTATION_STEP,
    ArchiveRecording,
    TrackedBody,
    new_archive,
    write_recording,
)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write(tmp_path / "archive.h5")


def test_round_trip(archive: Path) -> None:
    motion = read(archive)
    assert motion.attrs["left_out"] == "{}"
    assert motion.attrs["synthetic"] == 0
    assert motion.attrs["sample_frequency"] == FREQUENCY
    assert list(motion["recording"].values) == list(NAMES)
    for index, (_, samples) in enumerate(iterate_recordings(motion)):
        position, orientation = poses(index)
        np.testing.assert_allclose(samples["position"], position, atol=POSITION_STEP / 2 + 2e-7)
        assert (
            rotations.angle_between(samples["orientation"].values, orientation).max()
            < 1.5 * ROTATION_STEP
        )
        np.testing.assert_allclose(
            samples["surface_position"], [0.1, -0.2, 0.01], atol=POSITION_STEP
        )
        angle = rotations.angle_between(
            samples["surface_orientation"].values, rotations.exp([0, 0.01, 0.3])
        )
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
def test_any_motion_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, seed: int, n: int
) -> None:
    position, orientation = poses(seed, n)
    path = write(
        tmp_path_factory.mktemp("round") / "a.h5",
        ArchiveRecording(NAMES[0], "", {"Box006": TrackedBody(position, orientation)}),
    )
    motion = read(path, surface_name="")
    np.testing.assert_allclose(motion["position"], position, atol=POSITION_STEP / 2 + 1e-6)
    assert (
        rotations.angle_between(motion["orientation"].values, orientation).max()
        < 1.5 * ROTATION_STEP
    )


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


@pytest.mark.parametrize(
    "value", [360, 360.0, "360", b"360.0", np.array([360.0]), np.array([b"360"]), " 360 "]
)
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
            file.move(
                f"{name}/{MOCAP}/POSTPROCESSING/Box006",
                f"{name}/{MOCAP}/POSTPROCESSING/Result_0Box006",
            )
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
        for name in NAMES:
            attributes = file[f"{name}/{MOCAP}/datalog"].attrs
            attributes["Sample frequency"] = attributes.pop("sample_frequency")
        file[NAMES[1]].attrs["note"] = np.array([b"by hand"])
    motion = read(archive)
    assert motion.attrs["sample_frequency"] == FREQUENCY
    assert list(motion["note"].values) == ["toss", "by hand", "toss"]


def test_slightly_deformed_rotations_become_rotations(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        for name in NAMES:
            file[f"{name}/{POSES}"][:3, :3] *= 1.002
    for index, (_, samples) in enumerate(iterate_recordings(read(archive))):
        assert (
            rotations.angle_between(samples["orientation"].values, poses(index)[1]).max()
            < 1.5 * ROTATION_STEP
        )


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
    np.testing.assert_allclose(
        rotations.log(motion["surface_orientation"].values[0]), [0.01, 0, 0], atol=1e-6
    )
    assert float(motion["surface_position"][0, 2]) == pytest.approx(0.01)


def test_frames_in_which_the_plane_is_hidden_are_passed_over(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        file[f"{NAMES[0]}/{MOCAP}/POSTPROCESSING/ConveyorPart001/transforms"][:, :, 5:20] = np.nan
    assert left_out(archive) == {}


# Which surface


def test_without_a_plane_the_surface_is_the_motion_capture_frame_at_a_height(archive: Path) -> None:
    motion = read(archive, surface_name="", surface_height=0.01)
    np.testing.assert_array_equal(motion["surface_position"], [[0, 0, 0.01]] * 3)
    np.testing.assert_array_equal(motion["surface_orientation"], [[1, 0, 0, 0]] * 3)
    assert json.loads(motion.attrs["surfaces"]) == dict.fromkeys(NAMES, "reference frame")
    np.testing.assert_array_equal(
        read(archive, surface_name="")["surface_position"], np.zeros((3, 3))
    )


def test_a_missing_plane_is_assumed_only_where_a_height_is_given(archive: Path) -> None:
    with h5py.File(archive, "r+") as file:
        del file[f"{NAMES[1]}/{MOCAP}/POSTPROCESSING/ConveyorPart001"]
    assert "ConveyorPart001 is missing" in left_out(archive)[NAMES[1]]
    motion = read(archive, surface_height=0.01)
    surfaces = json.loads(motion.attrs["surfaces"])
    assert list(surfaces.values()) == ["ConveyorPart001", "reference frame", "ConveyorPart001"]
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
    assert "the belt's speed is the lying box's" in json.loads(motion.attrs["remarks"])[NAMES[0]]


@pytest.mark.parametrize("note", ["", "standing conveyor", "conveyor not moving", "prerunning"])
def test_a_standing_belt_has_no_velocity(tmp_path: Path, note: str) -> None:
    motion = read(write(tmp_path / "a.h5", recording(0, note=note)))
    np.testing.assert_array_equal(motion["surface_velocity"], [[0, 0, 0]])


def test_a_moving_belt_under_a_flying_box_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.h5", recording(0, note="conveyor moving"), recording(1))
    assert "doesn't lie on it" in left_out(path)[NAMES[0]]


# The writer's own refusals


def test_the_writer_refuses_what_the_layout_cannot_say(tmp_path: Path) -> None:
    def attempt(each: ArchiveRecording, properties: BodyProperties, name: str = "Box006") -> str:
        with new_archive(tmp_path / "a.h5") as file:
            return refusal(
                lambda: write_recording(
                    file, each, properties, object_name=name, sample_frequency=360.0
                )
            )

    good = recording(0)
    shifted = BodyProperties(
        body().vertices, body().mass, body().inertia, np.array([0.0, 0.0, 0.01])
    )
    short = {"Box006": good.tracked["Box006"], "Plane": TrackedBody(*poses(1, 20))}
    assert "the centre of mass is not the origin" in attempt(good, shifted)
    assert "Box009 is not tracked" in attempt(good, body(), "Box009")
    assert "fewer frames" in attempt(ArchiveRecording(NAMES[0], "", short), body())
    assert "not the name of a recording" in attempt(
        ArchiveRecording("toss 1", "", good.tracked), body()
    )

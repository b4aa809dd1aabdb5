"""Twins contain the truth that they state, to within the noise that they state, and look like the
experiments.
"""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import find_peaks

import contactid
from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import body_of, iterate_recordings
from contactid.tossing.readers.iam_frames import LONGEST_BRIDGE
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, simulate
from iam_tosses import BOXES, ROLES, SAMPLE_FREQUENCY, SUBSTEPS, Toss, box_model, make_toss
from iam_twins import LEVEL, SURFACES, MocapNoise, RecordingTruth, TwinTruth, write_twin
from iam_writer import POSITION_STEP, ROTATION_STEP
from motion_in_memory import read_iam_archive
from twin_truth import read_truth

EMBEDDED = Path(contactid.__path__[0]).parent / "resources" / "embedded"
SILENT = MocapNoise(0.0, 0.0, 0.0, 0.0)
REST_SPEED = 0.02  # m/s, the authors' threshold
REST_RUN = 21  # samples, likewise


def read(path: Path, truth: TwinTruth):
    return read_iam_archive(
        path, truth.object_name, surface_name=SURFACES, surface_height=LEVEL, licence="none"
    )


def expected(
    truth: TwinTruth, recording: RecordingTruth, n_samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Noise-free poses of the box in M from the release on, simulated anew from the stated truth."""
    flown = simulate(
        box_model(truth.object_name).body,
        recording.release,
        truth.parameters,
        SteppingOptions(1.0 / SAMPLE_FREQUENCY, SUBSTEPS, gravity=recording.gravity),
        n_samples,
        surface_velocity=recording.surface_velocity,
    )
    surface = rotations.as_rotation(recording.surface_orientation)
    turned = rotations.as_quaternions(surface * rotations.as_rotation(flown.orientation))
    return recording.surface_position + surface.apply(flown.position), turned


def errors(truth: TwinTruth, name: str, samples, after: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Position (n, 3) in m and angle (n,) in rad of what was read against what is true, from the
    release on.
    """
    recording = truth.recordings[name]
    measured = samples.isel(sample=slice(recording.release_sample, None))
    position, orientation = expected(truth, recording, measured.sizes["sample"])
    angle = rotations.angle_between(measured["orientation"].values, orientation)
    return (measured["position"].values - position)[after:], angle[after:]


@pytest.fixture(scope="module")
def tosses(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TwinTruth]:
    path = tmp_path_factory.mktemp("twin") / "tosses.h5"
    return path, write_twin(path, "Box006", "validation", 6, seed=11, n_moving=2, lost_frames=False)


@settings(max_examples=12, deadline=None)
@given(box=st.sampled_from(BOXES), role=st.sampled_from(ROLES), seed=st.integers(0, 2**32))
def test_without_noise_the_reader_gives_the_truth(
    tmp_path_factory: pytest.TempPathFactory, box, role: str, seed: int
) -> None:
    path = tmp_path_factory.mktemp("silent") / "twin.h5"
    moving = int(role == "validation")
    truth = write_twin(
        path, box.name, role, 2, seed, n_moving=moving, noise=SILENT, lost_frames=False
    )
    motion = read(path, truth)
    assert motion.attrs["left_out"] == motion.attrs["frames"] == "{}"
    for name, samples in iterate_recordings(motion):
        shift, angle = errors(truth, name, samples)
        assert np.abs(shift).max() < POSITION_STEP
        assert angle.max() < 2 * ROTATION_STEP
        recording = truth.recordings[name]
        # C's origin and yaw within the surface are the tracked plane's, or M's; what counts is the
        # surface
        found = rotations.matrices(samples["surface_orientation"].values)
        true = rotations.matrices(recording.surface_orientation)
        assert np.arccos(np.clip(found[:, 2] @ true[:, 2], -1, 1)) < 2 * ROTATION_STEP
        assert (
            abs(true[:, 2] @ (samples["surface_position"].values - recording.surface_position))
            < 2 * POSITION_STEP
        )
        belt = found @ samples["surface_velocity"].values
        np.testing.assert_allclose(belt, true @ recording.surface_velocity, atol=1e-4)
    body = body_of(motion)
    assert body.mass == box.mass
    np.testing.assert_array_equal(np.diag(body.inertia), box.moments)
    np.testing.assert_allclose(np.ptp(body.vertices, axis=0), box.size)


def test_with_noise_the_error_is_the_stated_noise(tosses: tuple[Path, TwinTruth]) -> None:
    path, truth = tosses
    noise = truth.noise
    shifts, angles, jitters = [], [], []
    for name, samples in iterate_recordings(read(path, truth)):
        shift, angle = errors(truth, name, samples)
        shifts.append(shift)
        angles.append(angle)
        jitters.append(np.diff(shift, axis=0))
    per_axis = np.hypot(noise.position_drift, noise.position_jitter)
    # A drift of 0.25 s leaves a handful of independent values per recording and axis, hence the
    # wide bounds.
    assert 0.6 * per_axis < np.sqrt(np.mean(np.concatenate(shifts) ** 2)) < 1.5 * per_axis
    assert np.abs(np.concatenate(shifts)).max() < 5 * per_axis
    turn = np.sqrt(3) * np.hypot(noise.orientation_drift, noise.orientation_jitter)
    assert 0.6 * turn < np.sqrt(np.mean(np.concatenate(angles) ** 2)) < 1.5 * turn
    assert np.concatenate(jitters).std() / np.sqrt(2) == pytest.approx(
        noise.position_jitter, rel=0.15
    )


def test_the_stated_parameters_explain_a_twin_better_than_others(
    tosses: tuple[Path, TwinTruth],
) -> None:
    path, truth = tosses
    name, samples = next(iterate_recordings(read(path, truth)))
    right = np.linalg.norm(errors(truth, name, samples)[0], axis=1).mean()
    for change in (
        ContactParameters(0.35, 0.25),
        ContactParameters(0.45, 0.25),
        ContactParameters(0.40, 0.6),
    ):
        other = TwinTruth(
            truth.object_name, truth.role, change, truth.noise, truth.seed, truth.recordings
        )
        assert np.linalg.norm(errors(other, name, samples)[0], axis=1).mean() > 3 * right


def test_the_truth_is_read_back_as_it_was_written(tosses: tuple[Path, TwinTruth]) -> None:
    path, truth = tosses
    again = read_truth(path)
    assert (again.object_name, again.role, again.seed) == (
        truth.object_name,
        truth.role,
        truth.seed,
    )
    assert (again.parameters, again.noise) == (truth.parameters, truth.noise)
    assert list(again.recordings) == list(truth.recordings)
    for name, recording in truth.recordings.items():
        back = again.recordings[name]
        assert (back.release_sample, back.impact_sample, back.rest_sample) == (
            recording.release_sample,
            recording.impact_sample,
            recording.rest_sample,
        )
        for key in ("surface_position", "surface_orientation", "surface_velocity"):
            np.testing.assert_array_equal(getattr(back, key), getattr(recording, key))
        for key, value in vars(recording.release).items():
            np.testing.assert_array_equal(getattr(back.release, key), value)


def test_a_twin_says_that_it_is_one(tosses: tuple[Path, TwinTruth]) -> None:
    path, truth = tosses
    motion = read(path, truth)
    assert motion.attrs["synthetic"] == 1
    assert all("Synthetic" in note for note in motion["note"].values)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    def digest(name: str, *arguments: object, **options: object) -> str:
        write_twin(tmp_path / name, *arguments, **options)  # type: ignore[arg-type]
        return hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()

    first = digest("a.h5", "Box005", "trajectories", 3, 1)
    assert digest("b.h5", "Box005", "trajectories", 3, 1) == first
    assert digest("c.h5", "Box005", "trajectories", 3, 2) != first
    assert digest("d.h5", "Box005", "trajectories", 3, 1, noise=SILENT) != first


def test_more_recordings_leave_the_first_ones_as_they_are(tmp_path: Path) -> None:
    few = write_twin(tmp_path / "few.h5", "Box004", "drops", 2, 5)
    many = write_twin(tmp_path / "many.h5", "Box004", "drops", 4, 5)
    few_motion, many_motion = read(tmp_path / "few.h5", few), read(tmp_path / "many.h5", many)
    n = few_motion.sizes["sample"]
    np.testing.assert_array_equal(few_motion["position"], many_motion["position"][:n])


# What the experiments look like


def one_toss(box_name: str, role: str, seed: int, belt_speed: float = 0.0) -> Toss:
    return make_toss(box_model(box_name), role, np.random.default_rng(seed), belt_speed=belt_speed)


tossed = given(
    box_name=st.sampled_from([box.name for box in BOXES]),
    role=st.sampled_from(["trajectories", "validation"]),
    seed=st.integers(0, 2**32),
    belt_speed=st.sampled_from([0.0, 0.3, 0.5]),
)


@settings(max_examples=25, deadline=None)
@tossed
def test_a_toss_ends_lying_still_upright_on_the_surface(
    box_name: str, role: str, seed: int, belt_speed: float
) -> None:
    toss = one_toss(box_name, role, seed, belt_speed)
    assert toss.release_sample < toss.impact_sample < toss.rest_sample
    lying = slice(toss.rest_sample, None)
    assert len(toss.position[lying]) >= 0.45 * SAMPLE_FREQUENCY
    matrices = rotations.matrices(toss.orientation)
    assert np.rad2deg(np.arccos(np.clip(matrices[lying, 2, 2], -1, 1))).max() < 5
    velocity = np.diff(toss.position[lying], axis=0) * SAMPLE_FREQUENCY - toss.surface_velocity
    assert np.linalg.norm(velocity, axis=1).max() < 0.5 * REST_SPEED
    lowest = (toss.position[:, 2:] + matrices[:, 2] @ box_model(box_name).body.vertices.T).min(
        axis=1
    )
    assert np.abs(lowest[lying]).max() < 3e-3  # midpoint detection lets a corner sink a little
    assert lowest[: toss.release_sample].min() > 0.019
    assert lowest[: toss.impact_sample - 1].min() > -3e-3


@settings(max_examples=25, deadline=None)
@tossed
def test_the_hand_brings_the_box_to_its_release_velocity_without_a_jump(
    box_name: str, role: str, seed: int, belt_speed: float
) -> None:
    toss = one_toss(box_name, role, seed, belt_speed)
    k = toss.release_sample
    assert 0.15 * SAMPLE_FREQUENCY - 1 <= k <= 0.30 * SAMPLE_FREQUENCY + 1
    velocity = np.diff(toss.position[: toss.impact_sample], axis=0) * SAMPLE_FREQUENCY
    speed = np.linalg.norm(velocity, axis=1)
    assert speed[0] < 0.01 * speed[k]
    largest = (
        1.5 * speed[k] / (k / SAMPLE_FREQUENCY) + 9.81
    )  # the profile's greatest acceleration, and gravity
    assert (
        np.linalg.norm(np.diff(velocity, axis=0), axis=1).max() * SAMPLE_FREQUENCY < 1.1 * largest
    )
    np.testing.assert_allclose(velocity[k - 1], toss.release.linear_velocity, atol=0.02)
    turn = (
        rotations.as_rotation(toss.orientation[k])
        * rotations.as_rotation(toss.orientation[k - 1]).inv()
    )
    np.testing.assert_allclose(
        turn.as_rotvec() * SAMPLE_FREQUENCY, toss.release.angular_velocity, atol=0.02
    )


def test_long_tosses_travel_about_the_papers_distance() -> None:
    way = []
    for seed in range(12):
        toss = one_toss(BOXES[seed % 4].name, "trajectories", seed)
        way.append(np.linalg.norm(toss.position[-1, :2] - toss.position[toss.release_sample, :2]))
    assert 1.1 < np.mean(way) < 1.4
    assert min(way) > 0.9


def test_tosses_by_hand_vary_more_than_the_robots() -> None:
    def spread(role: str) -> np.ndarray:
        tossed_boxes = [one_toss("Box005", role, seed) for seed in range(20)]
        return np.std(
            [[*t.release.linear_velocity, *t.release.angular_velocity] for t in tossed_boxes],
            axis=0,
        )

    assert (spread("validation") > 1.1 * spread("trajectories")).all()


@settings(max_examples=15, deadline=None)
@given(box=st.sampled_from(BOXES), seed=st.integers(0, 2**32))
def test_a_drop_lands_on_one_corner_and_bounces_on(box, seed: int) -> None:
    toss = make_toss(box, "drops", np.random.default_rng(seed))
    corners = (
        toss.position[:, 2:] + rotations.matrices(toss.orientation)[:, 2] @ box.body.vertices.T
    )
    assert 0.09 < corners[toss.release_sample].min() < 0.26
    assert 0.5 <= len(corners) / SAMPLE_FREQUENCY <= 0.71
    around = np.sort(corners[toss.impact_sample - 5 : toss.impact_sample + 6], axis=1)
    assert around[5, 0] < 0.005
    assert (around[:, 1] > 0).all()
    dips = [
        k
        for height in corners.T
        for k in find_peaks(-height, height=-0.005, distance=5, prominence=0.02)[0]
    ]
    assert len(dips) >= 2


def test_the_authors_rules_find_release_and_rest_in_a_twin(tosses: tuple[Path, TwinTruth]) -> None:
    """One high peak of the box's origin, in free flight; and a run of low measured speed that
    begins at rest.
    """
    path, truth = tosses
    for name, samples in iterate_recordings(read(path, truth)):
        recording = truth.recordings[name]
        position = samples["position"].values
        (peak,) = find_peaks(position[:, 2], height=0.095, width=10)[0]
        assert recording.release_sample <= peak < recording.impact_sample
        belt = (
            rotations.matrices(samples["surface_orientation"].values)
            @ samples["surface_velocity"].values
        )
        slow = (
            np.linalg.norm(np.gradient(position, 1 / SAMPLE_FREQUENCY, axis=0) - belt, axis=1)
            < REST_SPEED
        )
        runs = np.lib.stride_tricks.sliding_window_view(slow[peak:], REST_RUN).all(axis=1)
        assert abs(peak + int(np.argmax(runs)) - recording.rest_sample) <= 4


def test_the_last_recordings_run_on_a_belt_that_carries_the_box(
    tosses: tuple[Path, TwinTruth],
) -> None:
    path, truth = tosses
    motion = read(path, truth)
    velocities = motion["surface_velocity"].values
    np.testing.assert_array_equal(velocities[:4], 0)
    assert ((velocities[4:, 0] >= 0.3) & (velocities[4:, 0] <= 0.5)).all()
    assert [("conveyor 3" in note) for note in motion["note"].values] == [False] * 4 + [True] * 2
    for name, samples in iterate_recordings(motion):
        end = samples["position"].values[-73:] @ rotations.matrices(
            samples["surface_orientation"].values
        )
        carried = (end[-1] - end[0]) / (72 / SAMPLE_FREQUENCY)
        np.testing.assert_allclose(carried, truth.recordings[name].surface_velocity, atol=8e-3)


def test_the_belts_velocity_is_the_boxs_where_no_plane_is_tracked(
    tosses: tuple[Path, TwinTruth], tmp_path: Path
) -> None:
    path, truth = tosses
    bare = tmp_path / "bare.h5"
    bare.write_bytes(path.read_bytes())
    with h5py.File(bare, "r+") as file:
        for name, recording in truth.recordings.items():
            del file[f"{name}/SENSOR_MEASUREMENT/Mocap/POSTPROCESSING/{recording.plane}"]
    motion = read(bare, truth)
    for velocity, recording in zip(
        motion["surface_velocity"].values, truth.recordings.values(), strict=True
    ):
        turned = rotations.matrices(recording.surface_orientation) @ recording.surface_velocity
        np.testing.assert_allclose(velocity, turned, atol=5e-3)
    remarks = json.loads(motion.attrs["remarks"])
    assert ["the belt's speed is the lying box's" in remark for remark in remarks.values()] == [
        False
    ] * 4 + [True] * 2


# The table of boxes, and refusals


@pytest.mark.parametrize("box", BOXES, ids=[box.name for box in BOXES])
def test_the_boxes_are_homogeneous_cuboids(box) -> None:
    """The moments of Table I are m (a^2 + b^2) / 12, as uniformly filled boxes have, to the table's
    precision.
    """
    squares = np.square(box.size)
    np.testing.assert_allclose(box.moments, box.mass / 12 * (squares.sum() - squares), rtol=0.02)
    assert box.body.vertices.shape == (8, 3)
    np.testing.assert_allclose(box.body.vertices.mean(axis=0), 0, atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "options", "reason"),
    [
        (("Box05", "drops", 1, 0), {}, "no twin of 'Box05'. Did you mean Box005?"),
        (
            ("Box005", "throws", 1, 0),
            {},
            "unknown role 'throws'. Choose one of trajectories, validation, drops",
        ),
        (("Box005", "drops", 0, 0), {}, "Give at least one recording"),
        (("Box005", "validation", 1, 0), {"n_moving": 2}, "no more moving ones than that"),
        (("Box005", "drops", 2, 0), {"n_moving": 1}, "and none for drops"),
    ],
)
def test_what_cannot_be_made_is_refused(
    tmp_path: Path, arguments: tuple, options: dict, reason: str
) -> None:
    with pytest.raises(ContactIdError) as caught:
        write_twin(tmp_path / "a.h5", *arguments, **options)
    assert reason in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_noise_is_not_negative() -> None:
    with pytest.raises(ContactIdError, match="negative"):
        MocapNoise(position_jitter=-1e-3)


def test_measured_data_have_no_truth(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "measured.h5", "w") as file:
        file.create_group("Rec_1")
    with pytest.raises(ContactIdError, match="holds no truth"):
        read_truth(tmp_path / "measured.h5")


# The files that come with the repository


def embedded(pattern: str = "*_twin.h5") -> list[Path]:
    return sorted(EMBEDDED.glob(pattern))


def test_the_embedded_twins_are_complete_small_and_unchanged() -> None:
    assert [path.name for path in embedded()] == sorted(
        f"{box.name.lower()}_{role}_twin.h5" for box in BOXES for role in ROLES
    )
    assert sum(path.stat().st_size for path in embedded()) < 5_000_000
    sums = dict(
        reversed(line.split()) for line in (EMBEDDED / "SHA256SUMS").read_text().splitlines()
    )
    for path in embedded():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == sums[path.name], path.name


@pytest.mark.parametrize("path", embedded(), ids=lambda path: path.stem)
def test_an_embedded_twin_reads_cleanly_and_follows_from_its_truth(path: Path) -> None:
    """Resimulating the stated truth gives the recordings: the simulator and the files have not
    drifted apart.
    """
    truth = read_truth(path)
    assert truth.parameters == box_model(truth.object_name).parameters(truth.role)
    motion = read(path, truth)
    assert motion.attrs["left_out"] == "{}"
    assert (
        motion.sizes["recording"] == {"trajectories": 16, "validation": 14, "drops": 48}[truth.role]
    )
    assert int((motion["surface_velocity"][:, 0] > 0).sum()) == 2 * (truth.role == "validation")
    for name, samples in iterate_recordings(motion):
        shift, angle = errors(truth, name, samples)
        off = (np.abs(shift).max(axis=1) > 1.5e-3) | (angle > 7e-3)
        assert (
            np.count_nonzero(off) <= LONGEST_BRIDGE
        )  # lost frames at the impact: on which side of it, a guess
        assert np.abs(shift).max() < 5e-3 and angle.max() < 0.1


def test_the_embedded_surfaces_differ_from_box_to_box() -> None:
    poses = [
        np.mean([r.surface_position for r in read_truth(p).recordings.values()], axis=0)
        for p in embedded()
    ]
    assert all(np.linalg.norm(first - second) > 0.02 for first, second in pairwise(poses))


def test_gravity_is_vertical_in_the_motion_capture_frame(tosses: tuple[Path, TwinTruth]) -> None:
    """In free flight the noisy origin accelerates along -z_M, though the surface is tilted by more
    than the noise.
    """
    path, truth = tosses
    tilted = [rotations.matrices(r.surface_orientation)[:2, 2] for r in truth.recordings.values()]
    assert np.linalg.norm(tilted, axis=1).min() > 1e-3
    for name, samples in iterate_recordings(read(path, truth)):
        recording = truth.recordings[name]
        flight = samples["position"].values[recording.release_sample : recording.impact_sample - 1]
        acceleration = 2 * np.polyfit(np.arange(len(flight)) / SAMPLE_FREQUENCY, flight, deg=2)[0]
        np.testing.assert_allclose(acceleration, [0, 0, -9.81], atol=0.2)
        assert recording.gravity == pytest.approx(
            rotations.matrices(recording.surface_orientation).T @ [0, 0, -9.81], abs=1e-12
        )

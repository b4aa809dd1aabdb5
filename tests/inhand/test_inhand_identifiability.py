"""What a recording can tell: standard errors that hold, and plain words for what is lost."""

from dataclasses import replace

import numpy as np
import pytest

from contactid.core import rotations
from contactid.inhand.identify.identifiability import unidentifiable
from contactid.inhand.identify.information import (
    Information,
    pose_information,
    recording_information,
)
from contactid.inhand.identify.kinematics import FOURTH_ORDER, body_motion
from contactid.inhand.identify.wrench import regressor, wrench_covariance, wrench_slope
from contactid.inhand.readers.recordings import recorded_signals
from contactid.inhand.readers.twins import noise_free, recording_motion, simulate_recording
from contactid.inhand.simulate.grasp_motion import static_motion
from twins_for_tests import twins

OPTIONS = twins(samples=150)
INNER = slice(2, -2)
CASES = [
    ("simulation", "noise_level_4"),
    ("wrist_ft", "box_0"),
    ("in_hand_vision", "box_4"),
    ("in_hand_kinematic", "box_2"),
]


def of_known_poses(motion, covariance, theta):
    return pose_information(motion, covariance, theta, 0.0, 0.0)


def true_motion(truth):
    return body_motion(
        truth["time"].values,
        rotations.matrices(truth["object_orientation"].values),
        truth["object_position"].values,
        truth.attrs["gravity"],
        FOURTH_ORDER,
    )


@pytest.fixture(scope="module")
def wrist():
    recording, truth = simulate_recording("wrist_ft", "box_1", 1, OPTIONS)
    signals = replace(recorded_signals(recording), point_sd=1e-4)
    covariance = wrench_covariance(signals)[INNER]
    return true_motion(truth), covariance, np.array(truth.attrs["vector"])


def test_weighted_least_squares_scatters_as_the_standard_errors_say(wrist):
    motion, covariance, theta = wrist
    known = of_known_poses(motion, covariance, theta)
    factor = np.linalg.cholesky(covariance)
    white = np.linalg.solve(factor, regressor(motion)).reshape(-1, 10)
    random = np.random.default_rng(5)
    exact = white @ theta
    noisy = exact[:, None] + random.standard_normal((len(exact), 2000))
    spread = np.std(np.linalg.lstsq(white, noisy, rcond=None)[0], axis=1)
    np.testing.assert_allclose(spread, known.standard_errors, rtol=0.08)


def test_noise_of_poses_only_takes_information_away(wrist):
    motion, covariance, theta = wrist
    known = of_known_poses(motion, covariance, theta)
    scale = 1.0 / np.sqrt(np.diag(known.matrix))
    last = known.matrix
    for size in (1e-6, 1e-4, 1e-2):
        blurred = pose_information(motion, covariance, theta, size, size).matrix
        assert np.linalg.eigvalsh((last - blurred) * np.outer(scale, scale)).min() > -1e-9
        last = blurred
    exact = pose_information(motion, covariance, theta, 1e-9, 1e-9)
    np.testing.assert_allclose(
        exact.matrix, known.matrix, rtol=1e-3, atol=1e-6 * np.abs(known.matrix).max()
    )
    assert exact.condition_number == pytest.approx(known.condition_number, rel=1e-3)


def test_pose_information_is_that_of_a_dense_elimination(wrist):
    """Poses as explicit unknowns of a linearised problem, eliminated by a pseudo-inverse."""
    motion, covariance, theta = wrist
    keep = 12
    cut = type(motion)(*(getattr(motion, name)[:keep] for name in motion.__dataclass_fields__))
    slopes = wrench_slope(cut, theta)
    n_poses = keep + 4
    jacobian = np.zeros((keep * 6, 6 * n_poses))
    for k in range(keep):
        jacobian[6 * k : 6 * k + 6, 6 * k : 6 * k + 30] = slopes[k]
    deviation = np.tile([2e-4] * 3 + [1e-4] * 3, n_poses)
    factor = np.linalg.cholesky(covariance[:keep])
    whitening = np.linalg.inv(np.asarray([factor[k] for k in range(keep)]))
    block = np.zeros((keep * 6, keep * 6))
    for k in range(keep):
        block[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = whitening[k]
    on_theta = block @ regressor(cut).reshape(-1, 10)
    on_poses = block @ jacobian
    stacked = np.block(
        [[on_theta, on_poses], [np.zeros((6 * n_poses, 10)), np.diag(1.0 / deviation)]]
    )
    normal = stacked.T @ stacked
    schur = normal[:10, :10] - normal[:10, 10:] @ np.linalg.solve(
        normal[10:, 10:], normal[10:, :10]
    )
    found = pose_information(cut, covariance[:keep], theta, 2e-4, 1e-4).matrix
    np.testing.assert_allclose(found, schur, rtol=1e-6, atol=1e-9 * np.abs(schur).max())


def test_condition_does_not_depend_on_units(wrist):
    motion, covariance, theta = wrist
    known = of_known_poses(motion, covariance, theta)
    grams = np.diag([1e3] * 10)
    scaled = of_known_poses(motion, covariance * 1e6, theta)
    assert scaled.condition_number == pytest.approx(known.condition_number, rel=1e-9)
    np.testing.assert_allclose(scaled.standard_errors, grams @ known.standard_errors, rtol=1e-6)


def test_errors_of_the_centre_of_mass_follow_from_those_of_the_first_moment():
    theta = np.array([2.0, 1.0, 0.4, -0.2, *np.ones(6)])
    matrix = np.diag(1.0 / np.arange(1.0, 11.0) ** 2)
    errors = Information(matrix, 1.0).body_errors(theta)
    assert errors[0] == pytest.approx(1.0)
    assert errors[1] == pytest.approx(np.hypot(2.0 / 2.0, 0.5 / 2.0 * 1.0))
    np.testing.assert_allclose(errors[4:], np.arange(5.0, 11.0))


def test_parameters_that_do_not_show_have_infinite_errors():
    turned = recording_motion("simulation", 1, OPTIONS)
    amplitudes = np.zeros_like(turned.amplitudes)
    amplitudes[5] = turned.amplitudes[5]
    _, truth = simulate_recording(
        "simulation", "noise_level_1", 1, OPTIONS, motion=replace(turned, amplitudes=amplitudes)
    )
    motion = true_motion(truth)
    each = np.broadcast_to(np.eye(6), (len(motion.rate), 6, 6))
    known = of_known_poses(motion, each, np.array(truth.attrs["vector"]))
    assert known.condition_number == np.inf
    np.testing.assert_array_equal(
        np.isinf(known.standard_errors), [False] * 5 + [True] * 2 + [False] * 2 + [True]
    )


@pytest.mark.parametrize(("source", "name"), CASES)
def test_moved_objects_are_identifiable_and_errors_are_finite(source, name):
    recording, truth = simulate_recording(source, name, 1, OPTIONS)
    assert unidentifiable(recording) == []
    assert np.all(np.isfinite(recording_information(recording, truth).standard_errors))


@pytest.mark.parametrize(("source", "name"), CASES)
@pytest.mark.parametrize("quiet", [False, True])
def test_an_object_held_still_hides_its_inertia(source, name, quiet):
    options = noise_free(OPTIONS) if quiet else OPTIONS
    recording, _ = simulate_recording(source, name, 1, options, motion=static_motion())
    statements = unidentifiable(recording)
    assert statements[0].startswith("the object doesn't turn")
    for entry in ("I_xx", "I_yy", "I_zz", "I_xy", "I_xz", "I_yz"):
        assert entry in statements[-1]
    assert " m," not in statements[-1], "its weight is known"


def test_turning_about_one_axis_hides_the_tensor_across():
    turned = recording_motion("wrist_ft", 1, OPTIONS)
    amplitudes = turned.amplitudes.copy()
    amplitudes[3:5] = 0.0
    recording, _ = simulate_recording(
        "wrist_ft", "box_0", 1, OPTIONS, motion=replace(turned, amplitudes=amplitudes)
    )
    statements = unidentifiable(recording)
    assert statements[0].startswith("the object doesn't turn about its axes y, z")
    assert statements[1].endswith("they involve I_yy, I_zz, I_yz") and statements[1].startswith(
        "3 of the 10"
    )


def test_zero_forces_tell_nothing():
    recording, _ = simulate_recording("in_hand_kinematic", "box_0", 1, OPTIONS)
    recording["contact_force"][:] = 0.0
    assert unidentifiable(recording) == [
        "all contact forces are zero: none of the ten inertial parameters can be identified"
    ]


def test_one_contact_without_torque_hides_the_tensor():
    recording, _ = simulate_recording("in_hand_kinematic", "box_0", 1, OPTIONS)
    statements = unidentifiable(recording.isel(contact=[2]))
    assert statements[0].startswith("no torque about its only contact is measured")
    assert statements[1].endswith("they involve I_xx, I_yy, I_zz, I_xy, I_xz, I_yz")


def test_two_contacts_leave_the_torque_across_their_line():
    recording, _ = simulate_recording("in_hand_kinematic", "box_0", 1, OPTIONS)
    assert unidentifiable(recording.isel(contact=[0, 3])) == []

"""What a recording can tell: standard errors that hold, and plain words for what is lost."""

from dataclasses import replace

import numpy as np
import pytest

from contactid.core import rotations
from contactid.inhand.identify.identifiability import unidentifiable
from contactid.inhand.identify.kinematics import FOURTH_ORDER, body_motion
from contactid.inhand.identify.recorded_information import error_columns, recording_information
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


def true_motion(truth):
    return body_motion(
        truth["time"].values,
        rotations.matrices(truth["object_orientation"].values),
        truth["object_position"].values,
        truth.attrs["gravity"],
        FOURTH_ORDER,
    )


def information_by_elimination(recording, truth):
    """(10, 10): poses as explicit unknowns of a dense linearised problem, eliminated."""
    signals, motion = recorded_signals(recording), true_motion(truth)
    factors = np.linalg.cholesky(wrench_covariance(signals)[INNER])
    slopes = wrench_slope(motion, np.array(truth.attrs["vector"]))
    count, reach = len(slopes), slopes.shape[2]
    by_poses = np.zeros((count, 6, 6 * signals.samples))
    for k, slope in enumerate(np.linalg.solve(factors, slopes)):
        by_poses[k, :, 6 * k : 6 * k + reach] = slope
    by_poses = by_poses.reshape(6 * count, -1)
    by_vector = np.linalg.solve(factors, regressor(motion)).reshape(6 * count, 10)
    deviation = np.tile([signals.orientation_sd] * 3 + [signals.position_sd] * 3, signals.samples)
    of_poses = by_poses.T @ by_poses + np.diag(deviation**-2.0)
    crossed = by_poses.T @ by_vector
    return by_vector.T @ by_vector - crossed.T @ np.linalg.solve(of_poses, crossed)


@pytest.mark.parametrize(("source", "name"), CASES)
def test_information_is_that_of_a_dense_elimination(source, name):
    recording, truth = simulate_recording(source, name, 1, twins(samples=60))
    dense = information_by_elimination(recording, truth)
    scale = np.sqrt(np.diag(dense))
    off = (recording_information(recording, truth) - dense) / np.outer(scale, scale)
    assert np.abs(off).max() < 1e-3


def test_weighted_least_squares_scatters_as_the_standard_errors_say():
    """With exact poses, by random wrenches; errors of the centre are those of a ratio."""
    recording, truth = simulate_recording("wrist_ft", "box_1", 1, OPTIONS)
    recording.attrs.update(position_sd=1e-9, orientation_sd=1e-9)
    covariance = wrench_covariance(recorded_signals(recording))[INNER]
    white = np.linalg.solve(np.linalg.cholesky(covariance), regressor(true_motion(truth)))
    white, vector = white.reshape(-1, 10), np.array(truth.attrs["vector"])
    random = np.random.default_rng(5)
    noisy = (white @ vector)[:, None] + random.standard_normal((len(white), 2000))
    vectors = np.linalg.lstsq(white, noisy, rcond=None)[0]
    spread = [*np.std(np.vstack([vectors[0], vectors[1:4] / vectors[0], vectors[4:]]), axis=1)]
    columns = error_columns(recording, truth)
    stated = [value for name, value in columns.items() if name.startswith("se_")]
    np.testing.assert_allclose(spread, stated, rtol=0.08)


def test_condition_and_relative_errors_do_not_depend_on_units():
    recording, truth = simulate_recording("wrist_ft", "box_1", 1, OPTIONS)
    grams, true_grams = recording.copy(), truth.copy()
    for name in ("contact_force", "contact_force_sd", "contact_torque"):
        grams[name] = 1e3 * recording[name]
    grams.attrs["contact_torque_sd"] *= 1e3
    true_grams.attrs["vector"] = 1e3 * np.array(truth.attrs["vector"])
    one, other = error_columns(recording, truth), error_columns(grams, true_grams)
    for name, value in one.items():
        expected = 1e3 * value if name[:4] in ("se_m", "se_i") else value
        assert other[name] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("source", "name"), CASES)
def test_moved_objects_are_identifiable_and_errors_are_finite(source, name):
    recording, truth = simulate_recording(source, name, 1, OPTIONS)
    assert unidentifiable(recording) == []
    assert np.all(np.isfinite(list(error_columns(recording, truth).values())))


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

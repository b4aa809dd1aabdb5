"""The in-hand twins are what they say: exact equations without noise, and noise of the stated size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.core.inertia import consistency, in_hull
from contactid.inhand.identify.kinematics import BodyMotion
from contactid.inhand.identify.wrench import regressor, wrench_covariance
from contactid.inhand.readers.noise import (
    QUIET,
    engagement,
    first_order,
    pose_errors,
    smooth,
    stated_pose_deviation,
)
from contactid.inhand.readers.objects import object_of
from contactid.inhand.readers.recordings import recorded_signals, recording_problems
from contactid.inhand.readers.sources import OBJECTS, SOURCES, recording_names
from contactid.inhand.readers.twins import hold_object, noise_free, simulate_recording
from contactid.inhand.simulate.grasped_object import specific_force
from solids import box, combined
from twins_for_tests import OBJECTS as OBJECTS_BY_NAME
from twins_for_tests import twins

OPTIONS = twins(samples=150)
NOISELESS = noise_free(OPTIONS)
CASES = [
    ("simulation", "noise_level_3"),
    ("wrist_ft", "box_1"),
    ("in_hand_vision", "box_4"),
    ("in_hand_kinematic", "box_0"),
]
HAND = "in_hand_kinematic"


def with_source(name, options=OPTIONS, **changes):
    """Options with a source's pose, force or residual forces changed from none."""
    changed = {kind: QUIET[kind] | values for kind, values in changes.items()}
    return options | {
        "sources": {**options["sources"], name: {**options["sources"][name], **changed}}
    }


@pytest.mark.parametrize(("source", "name"), CASES)
def test_regressor_times_the_true_parameters_is_the_contacts_wrench(source, name):
    """The regressor is the estimators' own, independent of the simulator's equations."""
    recording, truth = simulate_recording(source, name, 2, NOISELESS)
    held = hold_object(source, name, 2, NOISELESS)
    motion = held.trajectory
    unknown = np.empty((len(motion.time), 3, 0))
    exact = BodyMotion(
        motion.angular_velocity,
        motion.angular_acceleration,
        specific_force(motion),
        unknown,
        unknown,
        unknown,
    )
    wanted = regressor(exact) @ np.array(truth.attrs["vector"])
    measured = recorded_signals(recording).wrench
    np.testing.assert_allclose(measured, wanted, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize(("source", "name"), CASES)
def test_recordings_are_well_formed_and_repeat(source, name):
    recording, truth = simulate_recording(source, name, 5, OPTIONS)
    again, truth_again = simulate_recording(source, name, 5, OPTIONS)
    assert recording_problems(recording) == []
    assert recording.identical(again) and truth.identical(truth_again)
    assert not recording.equals(simulate_recording(source, name, 6, OPTIONS)[0])
    assert recording.attrs["synthetic"] == 1 and "synthetic" in recording.attrs["source_label"]


def test_every_recording_of_the_study_has_a_name_of_its_own():
    names = recording_names([0, 1])
    assert len(names) == len(set(names)) == 2 * sum(len(OBJECTS[source]) for source in SOURCES)


def test_objects_can_exist_and_lie_within_their_geometry():
    for body in OBJECTS_BY_NAME.values():
        verdict = consistency(body.parameters, body.hull_vertices)
        assert verdict.positive_definite and verdict.triangle_inequality and verdict.within_hull, (
            body.name
        )
        assert np.allclose(np.linalg.norm(body.contact_normals, axis=1), 1.0)
        assert all(in_hull(point, body.hull_vertices) for point in body.contact_positions)
        assert in_hull(body.wrist, body.hull_vertices)


def solid_part(part, mass):
    return box(mass, tuple(part.high - part.low)).shifted(*(part.low + part.high) / 2)


@pytest.mark.parametrize("name", ["box_1", "box_2", "box_3", "box_4"])
def test_a_wooden_block_explains_what_a_box_has_more_than_the_empty_one(name):
    """Printed centres of mass are rounded to 1 mm, which is what the tensors may be off by."""
    empty, full = object_of(OBJECTS_BY_NAME, "box_0"), object_of(OBJECTS_BY_NAME, name)
    (block,) = [part for part in full.parts if part.material == "wood"]
    mass = full.parameters.mass - empty.parameters.mass
    wooden = combined([empty.parameters, solid_part(block, mass).parameters])
    np.testing.assert_allclose(wooden.center_of_mass, full.parameters.center_of_mass, atol=1.5e-3)
    np.testing.assert_allclose(wooden.inertia, full.parameters.inertia, atol=1.5e-5)
    density = mass / np.prod(block.high - block.low)
    assert density == pytest.approx(404.0, rel=0.02)


def test_simulated_object_is_the_uniform_box_of_its_geometry():
    body = object_of(OBJECTS_BY_NAME, "noise_level_0")
    (part,) = body.parts
    solid = solid_part(part, body.parameters.mass).parameters
    np.testing.assert_allclose(solid.inertia, body.parameters.inertia, atol=1e-3)


def test_force_noise_has_the_stated_size_at_every_sample():
    options = with_source(HAND, OPTIONS | {"samples": 3000}, residual={})
    recording, truth = simulate_recording(HAND, "box_0", 1, options)
    noise = recording["contact_force"].values - truth["contact_force_true"].values
    whitened = noise / recording["contact_force_sd"].values
    assert np.std(whitened) == pytest.approx(1.0, rel=0.02) and abs(np.mean(whitened)) < 0.02
    sizes = recording["contact_force_sd"].values[..., 0]
    assert sizes.max() > 2.0 * sizes.min(), "it grows with the force"


def test_wrench_covariance_is_that_of_the_noise():
    options = with_source(
        HAND, OPTIONS | {"samples": 4000}, residual={}, force={"floor": 0.1, "contact": 2e-3}
    )
    recording, _ = simulate_recording(HAND, "box_0", 3, options)
    exact, _ = simulate_recording(HAND, "box_0", 3, noise_free(options))
    signals = recorded_signals(recording)
    errors = signals.wrench - recorded_signals(exact).wrench
    covariance = wrench_covariance(signals)
    white = np.linalg.solve(np.linalg.cholesky(covariance), errors[..., None])[..., 0]
    np.testing.assert_allclose(np.cov(white.T), np.eye(6), atol=0.08)


def test_noise_levels_share_motion_and_noise_up_to_its_size():
    clean, truth = simulate_recording("simulation", "noise_level_0", 4, OPTIONS)
    np.testing.assert_array_equal(clean["contact_force"], truth["contact_force_true"])
    one, four = (
        simulate_recording("simulation", f"noise_level_{level}", 4, OPTIONS)[0] for level in (1, 4)
    )
    scale = OPTIONS["force_levels"][4] / OPTIONS["force_levels"][1]
    first, last = (part["contact_force"] - clean["contact_force"] for part in (one, four))
    np.testing.assert_allclose(last, scale * first, atol=1e-12)
    assert np.std(last) == pytest.approx(OPTIONS["force_levels"][4], rel=0.1)


def test_in_hand_sources_are_two_trackings_of_the_same_recordings():
    seen, felt = (
        simulate_recording(source, "box_2", 1, OPTIONS)[0] for source in ("in_hand_vision", HAND)
    )
    np.testing.assert_array_equal(seen["contact_force"], felt["contact_force"])
    assert not np.array_equal(seen["object_position"], felt["object_position"])
    assert seen.attrs["position_sd"] > 5.0 * felt.attrs["position_sd"]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.floats(0.0, 2e-3), st.floats(0.0, 2e-3), st.floats(0.0, 2e-3))
def test_stated_pose_deviation_is_that_of_the_changes_between_samples(seed, white, jitter, drift):
    noise = {
        "white": (white, 0.0),
        "jitter": (jitter, 0.0),
        "jitter_time": 0.1,
        "drift": (drift, 0.0),
        "drift_time": 0.3,
    }
    shift, turn = pose_errors(noise, 20000, 0.01, np.random.default_rng(seed))
    stated, _ = stated_pose_deviation(noise, 0.01)
    assert not turn.any()
    assert np.std(np.diff(shift, axis=0)) / np.sqrt(2.0) == pytest.approx(
        stated, rel=0.05, abs=1e-12
    )


@pytest.mark.parametrize(
    ("process", "correlation"), [(first_order, np.exp(-0.5)), (smooth, np.exp(-0.25))]
)
def test_correlated_noise_has_unit_variance_and_its_correlation(process, correlation):
    values = process(np.random.default_rng(8).standard_normal((400000, 1)), 20.0)[:, 0]
    assert np.var(values) == pytest.approx(1.0, rel=0.05)
    assert np.mean(values[10:] * values[:-10]) / np.var(values) == pytest.approx(
        correlation, abs=0.03
    )


def test_pose_noise_is_a_shift_in_the_world_and_a_turn_in_the_body():
    options = with_source(HAND, pose={"white": (1e-3, 5e-3)})
    recording, truth = simulate_recording(HAND, "box_0", 1, options | {"samples": 3000})
    shift = recording["object_position"].values - truth["object_position"].values
    turn = rotations.as_rotation(truth["object_orientation"].values).inv()
    turn = (turn * rotations.as_rotation(recording["object_orientation"].values)).as_rotvec()
    assert np.std(shift) == pytest.approx(1e-3, rel=0.03)
    assert np.std(turn) == pytest.approx(5e-3, rel=0.03)


def test_ring_finger_leaves_box_4_and_only_box_4():
    breaks = OPTIONS["breaks"]
    _, truth = simulate_recording(HAND, breaks["object"], 1, OPTIONS | {"samples": 300})
    recording, _ = simulate_recording(HAND, breaks["object"], 1, OPTIONS | {"samples": 300})
    ring = recording["contact_force"].sel(contact="ring").values
    away = ~np.any(ring, axis=1)
    assert np.count_nonzero(np.diff(away.astype(int)) == 1) == breaks["count"]
    assert np.count_nonzero(away) * OPTIONS["time_step"] == pytest.approx(
        breaks["count"] * breaks["length"], rel=0.1
    )
    assert not truth["residual_force"].sel(contact="ring").values[away].any()
    other, _ = simulate_recording(HAND, "box_3", 1, OPTIONS | {"samples": 300})
    assert np.all(np.any(other["contact_force"].values, axis=2))


def test_engagement_is_one_away_from_breaks_and_zero_within():
    time = np.linspace(0.0, 4.0, 4001)
    share = engagement(time, {"count": 1, "length": 0.5, "blend": 0.1})
    assert np.all(share[np.abs(time - 2.0) < 0.249] == 0.0) and np.all(
        share[np.abs(time - 2.0) > 0.351] == 1.0
    )


def residual(**strengths):
    options = with_source(HAND, residual=strengths)
    recording, truth = simulate_recording(HAND, "box_1", 1, options | {"samples": 200})
    return recording, truth


def test_sensed_force_is_the_contact_force_less_the_residual_one():
    strengths = {
        "preload_share": 0.5,
        "load_share": 0.1,
        "spread": 0.2,
        "transient_force": 0.3,
        "transient_rate": 2.0,
    }
    options = with_source(HAND, NOISELESS, residual=strengths)
    recording, truth = simulate_recording(HAND, "box_1", 1, options)
    np.testing.assert_array_equal(
        recording["contact_force"].values,
        (truth["contact_force_true"] - truth["residual_force"]).values,
    )
    assert np.any(truth["residual_force"])


def test_preload_is_constant_and_a_share_of_the_weight():
    _, truth = residual(preload_share=0.4)
    force = truth["residual_force"].values
    np.testing.assert_allclose(force, np.broadcast_to(force[0], force.shape))
    weight = object_of(OBJECTS_BY_NAME, "box_1").parameters.mass * 9.81
    np.testing.assert_allclose(force[0].sum(axis=0), [0.0, 0.0, 0.4 * weight], atol=1e-9)


def test_load_share_is_a_share_of_the_wrench():
    _, truth = residual(load_share=0.3)
    total = truth["contact_force_true"].values.sum(axis=1)
    np.testing.assert_allclose(truth["residual_force"].values.sum(axis=1), 0.3 * total, atol=1e-9)


def test_transients_appear_at_once_and_fade():
    _, truth = residual(transient_force=0.5, transient_rate=2.0, transient_time=0.05)
    size = np.linalg.norm(truth["residual_force"].values[:, 0], axis=1)
    rises = np.diff(size) > 0.0
    assert 0 < np.count_nonzero(rises) < 10
    np.testing.assert_allclose(
        size[1:][~rises], size[:-1][~rises] * np.exp(-0.2), rtol=1e-6, atol=1e-15
    )


def test_unknown_objects_and_missing_contacts_are_refused():
    with pytest.raises(ContactIdError, match="no object"):
        simulate_recording("wrist_ft", "box_9", 1, OPTIONS)
    with pytest.raises(ContactIdError, match="no contact 'little'"):
        simulate_recording(
            HAND, "box_4", 1, OPTIONS | {"breaks": OPTIONS["breaks"] | {"contact": "little"}}
        )

"""The free motion fitted to a few poses: exact without noise, and as uncertain as it says with
noise.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.sources.motion import BodyProperties
from contactid.tossing.impacts.free_motion import PoseNoise, fit_free_motion
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from iam_tosses import BOXES

STEP = 1.0 / 360.0
GRAVITY = np.array([0.02, -0.03, -9.81])
NOISE = PoseNoise(1.5e-5, 1e-4)
OFFSET = np.array([0.004, -0.003, 0.005])
BODIES = {
    **{box.name: box.body for box in BOXES},
    "offset centre": BodyProperties(BOXES[2].body.vertices, 0.365, BOXES[2].body.inertia, OFFSET),
    "turned axes": BodyProperties(
        BOXES[2].body.vertices,
        0.5,
        np.array([[1.5, 0.3, -0.2], [0.3, 2.5, 0.4], [-0.2, 0.4, 3.0]]) * 1e-3,
        OFFSET,
    ),
}
DRAWS = 600


def flight(body, seed, speed, n=6):
    """Poses of a body that flies and turns freely, and its twists (n, 6), from an integration in
    fine steps.
    """
    rng = np.random.default_rng(seed)
    spin = rng.normal(size=3)
    state = State(
        np.array([0.1, -0.2, 5.0]),
        rotations.exp(rng.uniform(-2.0, 2.0, 3)),
        rng.normal(size=3),
        speed * spin / np.linalg.norm(spin),
    )
    options = SteppingOptions(STEP, substeps=40, gravity=tuple(GRAVITY))
    run = simulate(body, state, ContactParameters(0.0, 0.0), options, n)
    assert not run.contacts.any()
    return run.position, run.orientation, np.hstack([run.linear_velocity, run.angular_velocity])


def times(n):
    return 7.0 + STEP * np.arange(n)  # where time begins doesn't matter


def noisy(position, orientation, rng, noise=NOISE):
    turn = rotations.as_rotation(rotations.exp(noise.rotation * rng.normal(size=position.shape)))
    turned = rotations.as_rotation(orientation) * turn
    return position + noise.position * rng.normal(size=position.shape), rotations.as_quaternions(
        turned
    )


# without noise


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_free_flight_is_fitted_exactly(name, seed):
    """At 26 rad/s what the series leaves out is still below a tenth of the noise of a pose."""
    for speed, largest_turn, largest_error in ((13.0, 1e-6, 1e-3), (26.0, 1e-5, 5e-3)):
        position, orientation, twists = flight(BODIES[name], seed, speed)
        motion = fit_free_motion(BODIES[name], times(6), position, orientation, GRAVITY)
        assert np.abs(motion.residuals[:, 3:]).max() < largest_turn
        assert np.abs(motion.residuals[:, :3]).max() < 1e-11
        for k in range(6):
            assert motion.twist((k - 2.5) * STEP) == pytest.approx(twists[k], abs=largest_error)


def test_what_the_series_leaves_out_is_of_the_fourth_order():
    left = []
    for speed in (10.0, 20.0):
        position, orientation, _ = flight(BODIES["turned axes"], 0, speed)
        motion = fit_free_motion(BODIES["turned axes"], times(6), position, orientation, GRAVITY)
        left.append(np.abs(motion.residuals[:, 3:]).max())
    assert left[1] / left[0] == pytest.approx(16.0, rel=0.2)


def test_an_even_number_of_poses_and_an_odd_one_have_their_middle_as_reference():
    position, orientation, twists = flight(BODIES["turned axes"], 3, speed=10.0, n=7)
    motion = fit_free_motion(BODIES["turned axes"], times(7), position, orientation, GRAVITY)
    assert motion.twist(0.0) == pytest.approx(twists[3], abs=1e-3)
    fewer = fit_free_motion(BODIES["turned axes"], times(6), position[:6], orientation[:6], GRAVITY)
    assert fewer.twist(0.5 * STEP) == pytest.approx(twists[3], abs=1e-3)


@pytest.mark.parametrize("name", ["Box006", "turned axes"])
def test_the_fitted_motion_passes_through_the_poses_it_was_fitted_to(name):
    position, orientation, _ = flight(BODIES[name], 4, speed=15.0)
    motion = fit_free_motion(BODIES[name], times(6), position, orientation, GRAVITY)
    placed, turned = motion.poses(motion.sample_times)
    assert np.allclose(placed, position, atol=1e-7)
    assert np.allclose(
        rotations.angle_between(rotations.as_quaternions(turned), orientation), 0.0, atol=1e-6
    )


vectors = st.tuples(*[st.floats(-2.0, 2.0)] * 3).map(np.array)


@settings(max_examples=40, deadline=None)
@given(vectors, vectors, vectors, st.integers(0, 1000))
def test_the_fit_does_not_depend_on_the_frame(turn, shift, drift, seed):
    """In a frame that is turned, shifted, and moves steadily, the same motion is found, noise and
    all.
    """
    body = BODIES["turned axes"]
    position, orientation, _ = flight(body, 5, speed=8.0)
    position, orientation = noisy(position, orientation, np.random.default_rng(seed))
    here = fit_free_motion(body, times(6), position, orientation, GRAVITY)
    frame = rotations.as_rotation(rotations.exp(turn))
    moved = frame.apply(position) + shift + (times(6) - times(6).mean())[:, None] * drift
    turned = rotations.as_quaternions(frame * rotations.as_rotation(orientation))
    there = fit_free_motion(body, times(6), moved, turned, frame.apply(GRAVITY))
    twist = here.twist(STEP)
    expected = np.concatenate([frame.apply(twist[:3]) + drift, frame.apply(twist[3:])])
    assert there.twist(STEP) == pytest.approx(expected, abs=1e-6)
    assert there.misfit(NOISE) == pytest.approx(here.misfit(NOISE), rel=1e-5)
    blocks = np.kron(np.eye(2), frame.as_matrix())
    covariance = blocks @ here.twist_covariance(NOISE) @ blocks.T
    assert np.allclose(there.twist_covariance(NOISE), covariance, atol=1e-9)


# with noise


@pytest.fixture(scope="module", params=["Box005", "offset centre"])
def drawn(request):
    """Errors (draw, 6) of twists fitted to noisy poses, their expected covariance (6, 6), misfits
    (draw,).
    """
    body, rng = BODIES[request.param], np.random.default_rng(11)
    position, orientation, twists = flight(body, 6, speed=6.0, n=5)
    errors, misfits, covariances = [], [], []
    for _ in range(DRAWS):
        motion = fit_free_motion(body, times(5), *noisy(position, orientation, rng), GRAVITY)
        errors.append(motion.twist(2.0 * STEP) - twists[4])
        misfits.append(motion.misfit(NOISE))
        covariances.append(motion.twist_covariance(NOISE))
    return np.array(errors), np.mean(covariances, axis=0), np.array(misfits)


def test_the_fitted_twist_is_unbiased(drawn):
    errors, covariance, _ = drawn
    assert (np.abs(errors.mean(axis=0)) < 3.5 * np.sqrt(np.diag(covariance) / DRAWS)).all()


def test_the_fitted_twist_spreads_as_its_covariance_says(drawn):
    errors, covariance, _ = drawn
    ratio = errors.std(axis=0) / np.sqrt(np.diag(covariance))
    assert ratio == pytest.approx(1.0, abs=0.1)
    chi_square = np.einsum("ni,ij,nj->n", errors, np.linalg.inv(covariance), errors)
    assert chi_square.mean() == pytest.approx(6.0, rel=0.1)


def test_the_misfit_of_free_motion_is_one(drawn):
    *_, misfits = drawn
    degrees = 6 * (5 - 2)
    assert misfits.mean() == pytest.approx(1.0, abs=3.5 * np.sqrt(2.0 / (degrees * DRAWS)))


def test_the_covariance_grows_with_the_square_of_the_noise():
    position, orientation, _ = flight(BODIES["offset centre"], 6, speed=6.0)
    motion = fit_free_motion(BODIES["offset centre"], times(6), position, orientation, GRAVITY)
    doubled = PoseNoise(2.0 * NOISE.position, 2.0 * NOISE.rotation)
    assert np.allclose(motion.twist_covariance(doubled), 4.0 * motion.twist_covariance(NOISE))
    assert np.linalg.eigvalsh(motion.twist_covariance(NOISE)).min() > 0.0
    # the variance of a line's slope: that of a sample over the sum of squared times about their
    # mean
    assert motion.spread == pytest.approx(STEP**2 * (0.5**2 + 1.5**2 + 2.5**2) * 2)
    assert motion.twist_covariance(NOISE)[3, 3] == pytest.approx(NOISE.rotation**2 / motion.spread)


# what isn't free motion


def test_bend_is_what_a_constant_acceleration_does():
    """Besides gravity, 30 m/s2 on the way and 500 rad/s2 about a principal axis, which the fit
    doesn't know of.
    """
    body, rng = BODIES["Box006"], np.random.default_rng(2)
    linear, angular = np.array([30.0, -10.0, 20.0]), 500.0
    start = rotations.as_rotation(rotations.exp(np.array([0.4, -0.7, 1.1])))
    t = STEP * np.arange(6)
    turned = start * rotations.Rotation.from_rotvec(
        np.outer(3.0 * t + 0.5 * angular * t**2, [0.0, 0.0, 1.0])
    )
    position = np.outer(t, rng.normal(size=3)) + 0.5 * np.outer(t**2, GRAVITY + linear)
    motion = fit_free_motion(body, t, position, rotations.as_quaternions(turned), GRAVITY)
    expected = 3.0 * STEP * np.concatenate([linear, start.apply([0.0, 0.0, angular])])
    assert motion.bend(3.0 * STEP) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert motion.misfit(NOISE) > 10.0


def test_free_motion_has_no_bend():
    position, orientation, _ = flight(BODIES["Box006"], 7, speed=10.0)
    motion = fit_free_motion(BODIES["Box006"], times(6), position, orientation, GRAVITY)
    assert motion.bend(3.0 * STEP) == pytest.approx(np.zeros(6), abs=1e-3)

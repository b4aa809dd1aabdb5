"""Prescribed motions: exact derivatives, a start at rest, and no step out of the range."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.inhand.simulate.grasp_motion import coordinate_limits, random_motion, static_motion

LIMITS = {"displacement": 0.2, "turn": 1.3, "frequencies": (0.5, 0.9, 1.7), "ramp": 0.4}
STEP = 1e-4


@pytest.fixture(scope="module")
def motion():
    turned = rotations.exp(np.array([0.4, -1.1, 0.3]))
    return replace(random_motion(LIMITS, np.random.default_rng(3)), start_orientation=turned)


@pytest.fixture(scope="module")
def around(motion):
    """The motion at times of the ramp and after it, and a small step before and after each."""
    time = np.linspace(0.01, 2.5, 60)
    return tuple(motion.evaluate(time + shift * STEP) for shift in (-1.0, 0.0, 1.0))


def test_linear_derivatives_are_those_of_the_position(around):
    before, here, after = around
    velocity = (after.position - before.position) / (2.0 * STEP)
    acceleration = (after.velocity - before.velocity) / (2.0 * STEP)
    np.testing.assert_allclose(here.velocity, velocity, atol=1e-6 * np.abs(velocity).max())
    np.testing.assert_allclose(
        here.acceleration, acceleration, atol=1e-6 * np.abs(acceleration).max()
    )


def test_angular_velocity_is_that_of_the_orientation_in_the_body(around):
    before, here, after = around
    turn = rotations.as_rotation(before.orientation).inv() * rotations.as_rotation(
        after.orientation
    )
    rate = turn.as_rotvec() / (2.0 * STEP)
    np.testing.assert_allclose(here.angular_velocity, rate, atol=1e-6 * np.abs(rate).max())


def test_angular_acceleration_is_the_derivative_of_the_rate(around):
    before, here, after = around
    growth = (after.angular_velocity - before.angular_velocity) / (2.0 * STEP)
    np.testing.assert_allclose(here.angular_acceleration, growth, atol=1e-6 * np.abs(growth).max())


def test_motion_starts_at_rest_where_it_is_told(motion):
    start = motion.evaluate(np.zeros(1))
    for name in (
        "position",
        "velocity",
        "acceleration",
        "angular_velocity",
        "angular_acceleration",
    ):
        np.testing.assert_array_equal(getattr(start, name), 0.0)
    np.testing.assert_allclose(start.orientation[0], motion.start_orientation, atol=1e-15)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31))
def test_no_coordinate_leaves_the_range(seed):
    motion = random_motion(LIMITS, np.random.default_rng(seed))
    value, _, _ = motion.coordinates(np.linspace(0.0, 5.0, 400))
    assert np.all(np.abs(value) <= coordinate_limits(LIMITS) * (1.0 + 1e-12))
    np.testing.assert_allclose(np.abs(motion.amplitudes).sum(axis=1), coordinate_limits(LIMITS))


def test_quaternions_are_of_unit_length_and_continuous(motion):
    orientation = motion.evaluate(np.linspace(0.0, 10.0, 3000)).orientation
    np.testing.assert_allclose(np.linalg.norm(orientation, axis=1), 1.0, atol=1e-14)
    assert np.all(np.einsum("ni,ni->n", orientation[1:], orientation[:-1]) > 0.9)


def test_static_motion_stays():
    still = static_motion().evaluate(np.linspace(0.0, 2.0, 20))
    assert (
        not np.any(still.position)
        and not np.any(still.acceleration)
        and not np.any(still.angular_acceleration)
    )

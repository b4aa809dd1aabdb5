"""Central differences (eqs. 12 to 15) against motions whose velocity is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.tossing.prepare.poses import central_differences, local_velocity

component = st.floats(-20, 20)


@given(
    st.tuples(component, component, component),
    st.tuples(component, component, component),
    st.floats(-3, 3),
)
def test_constant_twist_is_exact(velocity, spin, start):
    times = np.arange(6) / 360.0
    position = np.outer(times, velocity)
    turn = rotations.as_rotation(rotations.exp(np.outer(times, spin)))
    first = rotations.as_rotation(rotations.exp(np.array([0.3, start, -0.2])))
    twist = central_differences(position, rotations.as_quaternions(turn * first), 1 / 360.0)
    assert np.isnan(twist[[0, -1]]).all()
    assert np.allclose(twist[1:-1], [*velocity, *spin], atol=1e-9)


def test_error_of_a_turning_axis_falls_with_the_square_of_the_step():
    def error(step):
        times = 0.3 + np.array([-step, 0.0, step])
        rotation = rotations.as_rotation(
            rotations.exp(np.outer(times, [0, 0, 3.0]))
        ) * rotations.as_rotation(rotations.exp(np.outer(times**2, [2.0, 0, 0])))
        spin = np.array([0, 0, 3.0]) + rotations.as_rotation(
            rotations.exp(np.array([0, 0, 0.9]))
        ).apply([1.2, 0, 0])
        return np.linalg.norm(
            central_differences(np.zeros((3, 3)), rotations.as_quaternions(rotation), step)[1, 3:]
            - spin
        )

    assert error(0.01) / error(0.005) == pytest.approx(4.0, rel=0.05)


def test_too_few_samples_give_no_velocity():
    assert np.isnan(
        central_differences(np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)), 0.1)
    ).all()


@given(st.integers(1, 6), st.tuples(component, component), st.integers(8, 30))
def test_a_local_velocity_is_exact_on_lines_to_the_very_ends_and_on_parabolas_within(
    half, coefficients, n
):
    times, half = 0.01 * np.arange(n), max(half, 2)
    line, parabola = coefficients[0] * times, coefficients[1] * times**2
    velocity = local_velocity(np.column_stack([line, parabola]), 0.01, half)
    assert np.allclose(velocity[:, 0], coefficients[0], atol=1e-6)
    within = slice(half, n - half)
    assert np.allclose(velocity[within, 1], (2 * coefficients[1] * times)[within], atol=1e-6)

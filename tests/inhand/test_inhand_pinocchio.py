"""Newton and Euler in the body frame against pinocchio: the wrench of a body, and what is linear in
its parameters.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.core.inertia import InertialParameters, parallel_axis
from contactid.inhand.identify.kinematics import BodyMotion
from contactid.inhand.identify.wrench import regressor

_ORDER = (
    0,
    1,
    2,
    3,
    4,
    6,
    9,
    5,
    7,
    8,
)  # pinocchio's lower triangle (xx, xy, yy, xz, yz, zz) as xx, yy, zz, xy, xz, yz


def motions(seed):
    """Rate, its change and specific force of four moments; an origin that accelerates so and has no
    velocity.
    """
    rate, change, force = 3.0 * np.random.default_rng(seed).normal(size=(3, 4, 3))
    there = [
        (pin.Motion(np.zeros(3), w), pin.Motion(a, dw))
        for w, dw, a in zip(rate, change, force, strict=True)
    ]
    return BodyMotion.alone(rate, change, force), there


@given(st.integers(0, 2**32 - 1))
def test_the_regressor_is_pinocchio_s(seed):
    ours, there = motions(seed)
    for rows, (velocity, acceleration) in zip(regressor(ours), there, strict=True):
        assert pin.bodyRegressor(velocity, acceleration)[:, _ORDER] == pytest.approx(
            rows, abs=1e-12
        )


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5.0))
def test_the_wrench_of_a_body_is_that_of_pinocchio_s_inertia(seed, mass):
    random = np.random.default_rng(seed)
    spread = random.normal(size=(3, 3))
    second, center = spread @ spread.T, random.normal(size=3)
    inertia = mass * (
        np.trace(second) * np.eye(3) - second
    )  # about the centre, of any distribution of mass
    body = InertialParameters(mass, center, inertia + parallel_axis(mass, center))
    ours, there = motions(seed + 1)
    spatial = pin.Inertia(mass, center, inertia)
    for found, (velocity, acceleration) in zip(regressor(ours) @ body.vector, there, strict=True):
        expected = spatial * acceleration + velocity.cross(spatial * velocity)
        assert np.concatenate([expected.linear, expected.angular]) == pytest.approx(
            found, rel=1e-9, abs=1e-9
        )

"""Laws of rotations, near the identity and near pi."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.core import rotations
from contactid.core.errors import ContactIdError

directions = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1)
angles = st.one_of(
    st.floats(0, np.pi - 1e-9), st.floats(0, 1e-7), st.floats(np.pi - 1e-6, np.pi - 1e-9)
)


def vector(direction, angle):
    return np.array(direction) / np.linalg.norm(direction) * angle


@given(directions, angles)
def test_log_inverts_exp(direction, angle):
    v = vector(direction, angle)
    assert np.allclose(rotations.log(rotations.exp(v)), v, rtol=1e-12, atol=1e-15)


@given(directions, angles, directions, st.floats(0, 3))
def test_angle_between_is_the_length_of_the_log(direction, angle, other, turn):
    first = Rotation.from_rotvec(vector(other, turn))
    second = first * Rotation.from_rotvec(vector(direction, angle))
    q1, q2 = (
        rotations.as_quaternions(first),
        -rotations.as_quaternions(second),
    )  # the sign must not matter
    assert rotations.angle_between(q1, q2) == pytest.approx(angle, abs=1e-7)


def test_real_part_comes_first():
    assert np.allclose(
        rotations.exp(np.array([0.0, 0.0, np.pi / 2])), [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    )
    assert np.allclose(
        rotations.matrices([np.sqrt(0.5), 0, 0, np.sqrt(0.5)]) @ [1, 0, 0], [0, 1, 0]
    )


@given(directions, st.floats(0, 3), directions)
def test_karcher_mean_of_a_symmetric_pair_is_its_middle(direction, angle, spread):
    middle = Rotation.from_rotvec(vector(direction, angle))
    offset = Rotation.from_rotvec(vector(spread, 0.3))
    pair = rotations.as_quaternions(Rotation.concatenate([middle * offset, middle * offset.inv()]))
    assert (
        rotations.angle_between(rotations.karcher_mean(pair), rotations.as_quaternions(middle))
        < 1e-7
    )


def test_karcher_mean_of_opposite_rotations_is_an_error():
    spread = rotations.exp(
        np.array([[0, 0, 0], [0, 0, 2.2], [0, 0, -2.2], [3.1, 0, 0], [0, 3.1, 0]])
    )
    with pytest.raises(ContactIdError, match="Karcher"):
        rotations.karcher_mean(spread, max_iterations=3)


@given(st.lists(st.sampled_from([1.0, -1.0]), min_size=2, max_size=20))
def test_continuous_undoes_sign_flips(signs):
    smooth = rotations.exp(np.outer(np.linspace(0, 3, len(signs)), [0.1, 0.2, 0.9]))
    flipped = smooth * np.array([1.0, *signs[1:]])[:, None]
    assert np.allclose(rotations.continuous(flipped), smooth)

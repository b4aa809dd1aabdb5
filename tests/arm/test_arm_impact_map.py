"""Laws of the impact map, for random postures, velocities and bodies; postures and what they say of
r.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_for_tests import CORRECTIONS, lwr4, rebound
from contactid.arm.rigid.impact_map import (
    impact_map,
    kinetic_energy,
    mobility,
    normal_impulse,
    sliding_ratio,
)
from contactid.arm.rigid.postures import (
    STATED_POSTURES,
    TABLE_HEIGHT,
    direction_deg,
    fitted_ratio,
    joint_velocity,
    nearest_direction,
    ratio_at,
    stated_posture,
    upright_posture,
    upright_postures,
)
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError

ROBOT, CORRECTED = lwr4(), lwr4(corrections=CORRECTIONS)
seeds = st.integers(0, 2**32 - 1)
coefficients = st.floats(0.0, 1.0)


def impact_matrix(mass, row):
    """The matrix of eq. 5, column by column."""
    return np.column_stack([impact_map(mass, row, unit) for unit in np.eye(len(mass))])


def arm_state(seed: int, robot: Robot = ROBOT) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass matrix, tip Jacobian and a joint velocity of the order of 1 rad/s at a random posture,
    not singular.
    """
    rng = np.random.default_rng(seed)
    q = rng.uniform(robot.position_limits[:, 0], robot.position_limits[:, 1])
    q[[1, 3]] += 0.1  # not all joints straight
    return robot.mass_matrix(q), robot.tip_jacobian(q), rng.uniform(-1.0, 1.0, 7)


@given(seeds)
@settings(deadline=None, max_examples=200)
def test_an_inelastic_impact_stops_the_normal_velocity_and_a_second_one_changes_nothing(
    seed: int,
) -> None:
    for robot in (ROBOT, CORRECTED):
        mass, jacobian, velocity = arm_state(seed, robot)
        after = impact_map(mass, jacobian[2], velocity)
        assert abs(jacobian[2] @ after) < 1e-12
        assert np.abs(impact_map(mass, jacobian[2], after) - after).max() < 1e-12
        p = impact_matrix(mass, jacobian[2])
        assert np.abs(p @ p - p).max() < 1e-12
        assert np.abs(jacobian[2] @ p).max() < 1e-12
        np.testing.assert_allclose(p @ velocity, after, atol=1e-11)


@given(seeds, coefficients)
@settings(deadline=None, max_examples=200)
def test_restitution_reverses_its_share_and_energy_is_lost_as_carnot_says(
    seed: int, e: float
) -> None:
    mass, jacobian, velocity = arm_state(seed)
    after = rebound(mass, jacobian[2], velocity, e)
    closing = jacobian[2] @ velocity
    assert jacobian[2] @ after == pytest.approx(-e * closing, abs=1e-12)
    lost = kinetic_energy(mass, velocity) - kinetic_energy(mass, after)
    assert lost >= -1e-12
    effective = 1.0 / mobility(mass, jacobian[2])[0, 0]
    assert lost == pytest.approx(0.5 * (1.0 - e**2) * effective * closing**2, abs=1e-10)


@given(seeds, coefficients)
@settings(deadline=None, max_examples=100)
def test_the_impulse_satisfies_the_impact_equation(seed: int, e: float) -> None:
    mass, jacobian, velocity = arm_state(seed)
    impulse = (1.0 + e) * normal_impulse(mass, jacobian[2], velocity)
    after = rebound(mass, jacobian[2], velocity, e)
    np.testing.assert_allclose(mass @ (after - velocity), jacobian[2] * impulse[0], atol=1e-11)


def test_the_map_is_equation_5_and_a_collision_of_two_balls() -> None:
    mass, jacobian, _ = arm_state(3)
    inverse, row = np.linalg.inv(mass), jacobian[2:3]
    printed = np.eye(7) - inverse @ row.T @ np.linalg.inv(row @ inverse @ row.T) @ row
    np.testing.assert_allclose(impact_matrix(mass, row), printed, atol=1e-11)
    balls = rebound(np.diag([2.0, 3.0]), np.array([1.0, -1.0]), np.array([0.0, 1.0]), 0.5)
    np.testing.assert_allclose(balls, [0.9, 0.4], rtol=1e-14)


def test_several_rows_are_the_projection_onto_all_of_them() -> None:
    mass, jacobian, velocity = arm_state(4)
    after = impact_map(mass, jacobian, velocity)
    assert np.abs(jacobian @ after).max() < 1e-12
    # the closest velocity in the metric of the kinetic energy (Gauss): no admissible one is closer
    null = np.linalg.svd(jacobian)[2][3:]
    for direction in null:
        assert abs(direction @ mass @ (after - velocity)) < 1e-11


def test_r_is_what_a_falling_tip_gains_along_the_table() -> None:
    q = stated_posture(70)
    mass, jacobian = ROBOT.mass_matrix(q), ROBOT.tip_jacobian(q)
    before = joint_velocity(ROBOT, q, 0.06, -0.1)
    np.testing.assert_allclose(jacobian @ before, [0.06, 0.0, -0.1], atol=1e-12)
    after = jacobian @ impact_map(mass, jacobian[2], before)
    assert after[0] == pytest.approx(0.06 + sliding_ratio(mass, jacobian) * 0.1, abs=1e-12)


@pytest.mark.parametrize(
    ("jacobian", "words"),
    [
        (np.zeros(7), "singular posture"),
        (1e-6 * np.ones(7), "singular posture"),
        (np.ones((2, 7)), "singular posture"),
    ],
)
def test_a_singular_posture_says_so(jacobian: np.ndarray, words: str) -> None:
    mass, _, velocity = arm_state(5)
    for function in (impact_map, normal_impulse):
        with pytest.raises(ContactIdError, match=words):
            function(mass, jacobian, velocity)


def test_an_arm_that_points_straight_down_is_singular_and_a_bent_one_is_not() -> None:
    q = np.zeros(7)
    q[1] = np.pi
    mass, jacobian = ROBOT.mass_matrix(q), ROBOT.tip_jacobian(q)
    with pytest.raises(ContactIdError, match="bent joints"):
        impact_map(mass, jacobian[2], np.ones(7))
    with pytest.raises(ContactIdError, match="singular posture"):
        sliding_ratio(mass, jacobian)
    with pytest.raises(ContactIdError, match="singular posture"):
        joint_velocity(ROBOT, q, 0.1, -0.1)
    q[3] = 0.05
    assert np.isfinite(impact_map(ROBOT.mass_matrix(q), ROBOT.tip_jacobian(q)[2], np.ones(7))).all()


@pytest.mark.parametrize(
    ("direction", "ratio", "x"), [(90, 0.505, 0.5537), (70, 0.632, 0.6123), (53, 0.702, 0.6508)]
)
def test_stated_postures_have_the_stated_ratio_and_place(
    direction: int, ratio: float, x: float
) -> None:
    q = stated_posture(direction)
    assert ratio_at(ROBOT, q) == pytest.approx(ratio, abs=6e-4)
    np.testing.assert_allclose(ROBOT.tip_position(q), [x, 0.0, TABLE_HEIGHT], atol=1e-4)
    np.testing.assert_allclose(ROBOT.tip_orientation(q)[:, 2], [0.0, 0.0, -1.0], atol=1e-9)
    np.testing.assert_allclose(upright_posture(ROBOT, ROBOT.tip_position(q)[0]), q, atol=1e-3)


def test_the_tip_of_an_upright_posture_is_on_the_table_and_no_ratio_is_beyond_the_arm_s() -> None:
    postures = upright_postures(ROBOT)
    assert 0.702 < postures.ratio.max() < 0.8
    for q in postures.joint_position[::20]:
        assert ROBOT.tip_position(q)[2] == pytest.approx(TABLE_HEIGHT, abs=1e-12)
        np.testing.assert_allclose(ROBOT.tip_orientation(q)[:, 2], [0.0, 0.0, -1.0], atol=1e-12)
    # with the corrected wrist the flattest motion's printed ratio is out of reach
    assert upright_postures(CORRECTED).ratio.max() < 0.65
    with pytest.raises(ContactIdError, match="doesn't reach"):
        upright_posture(ROBOT, 1.2)


def test_the_fitted_ratio_is_the_true_one_of_exact_rows_and_directions_are_told_apart() -> None:
    rng = np.random.default_rng(8)
    fall, along = -rng.uniform(0.1, 0.2, 6), rng.uniform(-0.01, 0.1, 6)
    assert fitted_ratio(along, fall, along - 0.61 * fall) == pytest.approx(0.61, rel=1e-12)
    for angle in STATED_POSTURES:
        turn = np.deg2rad(angle)
        assert direction_deg(0.1 * np.cos(turn), -0.1 * np.sin(turn)) == pytest.approx(angle)
        assert nearest_direction(np.cos(turn + 0.1), -np.sin(turn + 0.1)) == angle

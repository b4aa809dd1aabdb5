"""The plane that an arm moves in, found from its motion, and the arm seen in it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_for_tests import lwr4
from contactid.arm.rigid.heading import heading, turned
from contactid.arm.rigid.postures import TABLE_HEIGHT, stated_posture, upright_posture

ROBOT = lwr4()
ANGLES = st.floats(-160.0, 160.0).filter(lambda angle: abs(angle) > 1.0)


def approach(fall_deg, turn_deg=0.0):
    """(60, 7) joint positions of a straight approach in the arm's plane, turned about joint 1."""
    near = stated_posture(53)
    x = ROBOT.tip_position(near)[0]
    along = np.array([np.cos(np.deg2rad(fall_deg)), -np.sin(np.deg2rad(fall_deg))])
    q = [
        upright_posture(ROBOT, x + along[0] * s, TABLE_HEIGHT + along[1] * s, near)
        for s in np.linspace(-0.012, 0.0, 60)
    ]
    return np.array(q) + np.deg2rad(turn_deg) * np.eye(7)[0]


@settings(max_examples=15, deadline=None)
@given(ANGLES, st.sampled_from([30.0, 60.0, 85.0, 90.0, 100.0]))
def test_the_direction_is_the_plane_s_and_points_away_from_the_base(turn, fall):
    found = heading(ROBOT, approach(fall, turn))
    assert np.rad2deg(found) == pytest.approx(turn, abs=1e-6)


def test_x_is_kept_where_the_plane_is_as_good_as_x():
    for fall in (30.0, 90.0):
        assert heading(ROBOT, approach(fall, 0.3)) == 0.0


@settings(max_examples=15, deadline=None)
@given(ANGLES, st.lists(st.floats(-1.5, 1.5), min_size=7, max_size=7))
def test_a_turned_arm_is_the_arm_of_turned_joints(turn, posture):
    """Joint 1 is vertical: seen from a frame that is turned with it, nothing has changed."""
    q = np.array(posture)
    facing, other = turned(ROBOT, np.deg2rad(turn)), q + np.deg2rad(turn) * np.eye(7)[0]
    np.testing.assert_allclose(facing.tip_position(other), ROBOT.tip_position(q), atol=1e-12)
    np.testing.assert_allclose(facing.tip_jacobian(other), ROBOT.tip_jacobian(q), atol=1e-12)
    np.testing.assert_allclose(facing.mass_matrix(other), ROBOT.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(facing.gravity_torque(other), ROBOT.gravity_torque(q), atol=1e-10)


def test_motion_out_of_the_arm_s_plane_is_followed():
    q = approach(60.0)
    swinging = q + np.linspace(0.0, 0.05, len(q))[:, None] * np.eye(7)[0]
    tips = np.array([ROBOT.tip_position(one) for one in swinging])
    moved = tips[-1] - tips[0]
    found = heading(ROBOT, swinging)
    assert found == pytest.approx(np.arctan2(moved[1], moved[0]), abs=0.02)


def test_an_arm_at_rest_has_the_plane_through_its_tip():
    found = heading(ROBOT, np.tile(approach(60.0, 40.0)[:1], (5, 1)))
    assert np.rad2deg(found) == pytest.approx(40.0)

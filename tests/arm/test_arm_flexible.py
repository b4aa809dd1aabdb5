"""The arm with elastic joints keeps to its laws: energy, eq. 3 at impacts, a table it never goes
through.
"""

import numpy as np
import pinocchio as pin
import pytest

from arm_for_tests import arm_energy, lwr4, twin_of
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import TABLE_HEIGHT, stated_posture, upright_posture
from contactid.arm.simulate.flexible_arm import (
    IMPACT,
    SEPARATION,
    FlexibleArm,
    FlexibleState,
    approach,
    simulate_impact,
)
from contactid.core.errors import ContactIdError

DRIVES = twin_of()["drives"]
MODULE = "contactid.arm.simulate.flexible_arm"
ROBOT = lwr4()
SHORT = np.linspace(0.0, 0.06, 61)


def drives(n):
    return {"motor_inertia": [0.1] * n, "stiffness": [1.0] * n, "damping_time": 0.0}


def arm_with(pressing_force):
    return FlexibleArm(ROBOT, DRIVES, TABLE_HEIGHT, pressing_force)


def start_of(arm, direction=90, speed=0.2):
    near = stated_posture(direction)
    q = upright_posture(ROBOT, ROBOT.tip_position(near)[0], start=near)
    angle = np.deg2rad(direction)
    return approach(arm, q, speed * np.array([np.cos(angle), -np.sin(angle)]), np.zeros(1)).at(0)


@pytest.fixture(scope="module")
def pressed():
    arm = arm_with(3.2)
    return arm, start_of(arm), simulate_impact(arm, start_of(arm), SHORT)


@pytest.fixture(scope="module")
def bouncing():
    """Hardly pressed, so that it lifts off and comes back."""
    arm = arm_with(1.6)
    return arm, simulate_impact(arm, start_of(arm), np.linspace(0.0, 0.2, 401))


def test_impact_changes_link_velocities_by_eq_3_and_no_other(pressed):
    _arm, start, motion = pressed
    mass, row = ROBOT.mass_matrix(start.q), ROBOT.tip_jacobian(start.q)[2]
    change = motion.q_velocity[0] - start.q_velocity
    np.testing.assert_allclose(mass @ change, row * motion.events[0].impulse, atol=1e-12)
    assert abs(row @ motion.q_velocity[0]) < 1e-12
    np.testing.assert_array_equal(motion.theta_velocity[0], start.theta_velocity)
    np.testing.assert_array_equal(motion.q[0], start.q)


def test_energy_changes_by_motors_dampers_and_impacts_alone(pressed, bouncing):
    for arm, motion in ((pressed[0], pressed[2]), bouncing):
        energy = np.array([arm_energy(arm, motion.at(k)) for k in range(len(motion.time))])
        lost = np.array(
            [sum(e.lost for e in motion.events[1:] if e.time <= t) for t in motion.time]
        )
        balance = energy - energy[0] - (motion.work - motion.dissipated - lost)
        assert np.abs(balance).max() < 1e-8
        assert (np.diff(motion.dissipated) >= 0.0).all()
        assert all(event.lost >= 0.0 for event in motion.events)


def test_pressed_tip_slides_on_the_table(pressed):
    arm, _start, motion = pressed
    assert [event.kind for event in motion.events] == [IMPACT]
    assert np.abs([arm.gap(q) for q in motion.q]).max() < 1e-9
    assert motion.contact_force.min() > 0.0


def test_tip_that_is_hardly_pressed_lifts_off_and_comes_back_but_never_goes_through(bouncing):
    arm, motion = bouncing
    kinds = [event.kind for event in motion.events]
    assert kinds[:2] == [IMPACT, SEPARATION] and IMPACT in kinds[2:]
    assert [event.time for event in motion.events] == sorted(event.time for event in motion.events)
    gaps = np.array([arm.gap(q) for q in motion.q])
    assert gaps.min() > -1e-9 and gaps.max() > 1e-6
    assert (motion.contact_force >= 0.0).all()
    assert (motion.contact_force[gaps > 1e-8] == 0.0).all()


def test_forces_and_accelerations_balance(pressed):
    arm, _start, motion = pressed
    state = motion.at(17)
    for touching in (False, True):
        links, motors, force = arm.accelerations(
            state, arm.motor_torque(state.theta), touching=touching
        )
        joint = arm.stiffness * (
            state.theta - state.q + arm.damping_time * (state.theta_velocity - state.q_velocity)
        )
        data = ROBOT.model.createData()
        needed = pin.rnea(ROBOT.model, data, state.q, state.q_velocity, links)
        np.testing.assert_allclose(
            needed, joint + ROBOT.tip_jacobian(state.q)[2] * force, atol=1e-9
        )
        np.testing.assert_allclose(
            arm.motor_inertia * motors, arm.motor_torque(state.theta) - joint, atol=1e-9
        )


def test_smaller_steps_change_nothing_that_an_encoder_could_tell(pressed, monkeypatch):
    arm, start, motion = pressed
    for settings in (
        {"_LONGEST_STEP": 1e-3},
        {"_RTOL": 1e-7, "_ATOL": 1e-9, "_LONGEST_STEP": 0.01},
    ):
        for name, value in settings.items():
            monkeypatch.setattr(f"{MODULE}.{name}", value)
        other = simulate_impact(arm, start, SHORT)
        assert np.abs(other.theta - motion.theta).max() < 1e-8
        assert np.abs(other.q - motion.q).max() < 1e-8


def test_slow_impact_leads_to_the_rigid_map_of_links_and_motors():
    """Once vibrations are gone the motion is affine, and its value at the impact is that of eq. 5
    with M + B.
    """
    speed = 1e-4
    arm = arm_with(16.0 * speed)
    start = start_of(arm, direction=70, speed=speed)
    motion = simulate_impact(arm, start, np.linspace(0.0, 0.5, 51))
    late = motion.time > 0.3
    affine = np.polynomial.polynomial.polyfit(motion.time[late], motion.q_velocity[late], 1)[0]
    row = ROBOT.tip_jacobian(start.q)[2]
    total = impact_map(arm.total_inertia(start.q), row, start.q_velocity)
    assert np.abs(affine - total).max() < 1e-3 * np.abs(total).max()
    links_alone = impact_map(ROBOT.mass_matrix(start.q), row, start.q_velocity)
    assert np.abs(affine - links_alone).max() > 0.02 * np.abs(total).max()


def test_reported_position_is_in_static_balance_and_compensation_holds_it():
    arm, q = arm_with(0.0), stated_posture(53)
    theta = q + ROBOT.gravity_torque(q) / arm.stiffness
    np.testing.assert_allclose(arm.reported_position(theta), q, atol=1e-12)
    links, motors, _force = arm.accelerations(
        FlexibleState(q, theta, 0.0 * q, 0.0 * q), arm.motor_torque(theta), touching=False
    )
    assert np.abs(links).max() < 1e-9 and np.abs(motors).max() < 1e-9


def test_approach_is_straight_and_obeys_the_joints():
    arm, near = arm_with(0.0), stated_posture(70)
    q_impact = upright_posture(ROBOT, 0.6, start=near)
    velocity, step = np.array([0.1, -0.15]), 1e-3
    motion = approach(
        arm, q_impact, velocity, np.array([-0.3, -0.1 - step, -0.1, -0.1 + step, 0.0])
    )
    tips = np.array([ROBOT.tip_position(q) for q in motion.q])
    expected = tips[-1, [0, 2]] + np.outer([-0.3, -0.1 - step, -0.1, -0.1 + step, 0.0], velocity)
    np.testing.assert_allclose(tips[:, [0, 2]], expected, atol=1e-11)
    np.testing.assert_allclose(tips[:, 1], 0.0, atol=1e-12)
    acceleration = (motion.q_velocity[3] - motion.q_velocity[1]) / (2.0 * step)
    needed = pin.rnea(
        ROBOT.model, ROBOT.model.createData(), motion.q[2], motion.q_velocity[2], acceleration
    )
    slip = motion.theta_velocity[2] - motion.q_velocity[2]
    joint = arm.stiffness * (motion.theta[2] - motion.q[2] + arm.damping_time * slip)
    np.testing.assert_allclose(joint, needed, atol=1e-3)
    rate = (motion.theta[3] - motion.theta[1]) / (2.0 * step)
    np.testing.assert_allclose(motion.theta_velocity[2], rate, atol=1e-6)


def test_mistakes_are_named(monkeypatch):
    with pytest.raises(ContactIdError, match="drives of 3 joints"):
        FlexibleArm(ROBOT, drives(3), TABLE_HEIGHT)
    with pytest.raises(ContactIdError, match="too soft"):
        soft = FlexibleArm(ROBOT, drives(7), TABLE_HEIGHT)
        soft.reported_position(stated_posture(90))
    arm = arm_with(0.0)
    start = start_of(arm)
    upward = FlexibleState(start.q, start.theta, -start.q_velocity, -start.theta_velocity)
    with pytest.raises(ContactIdError, match="no impact"):
        simulate_impact(arm, upward, SHORT)
    monkeypatch.setattr(f"{MODULE}._MOST_EVENTS", 2)
    with pytest.raises(ContactIdError, match="chatters"):
        simulate_impact(arm_with(1.6), start, np.linspace(0.0, 0.2, 3))

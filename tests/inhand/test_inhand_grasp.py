"""Forces on a held object obey mechanics, and stay where contacts can exert them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.inhand.simulate.grasp_motion import PoseTrajectory, random_motion
from contactid.inhand.simulate.grasped_object import (
    GRAVITY,
    ContactSet,
    broken_contact_forces,
    grasp_matrix,
    required_wrench,
    share_wrench,
    shortest_forces,
    squeeze,
)
from grasp_for_tests import cone_ratios, contact_wrench
from twins_for_tests import OBJECTS

BODY = OBJECTS["box_4"]
PARAMETERS = BODY.parameters
CONTACTS = ContactSet(BODY.contact_positions, BODY.contact_normals, BODY.friction)
GRIP = {"least_force": 1.5, "safety": 1.3}
TIME = np.linspace(0.0, 2.0, 201)
LIMITS = {"displacement": 0.3, "turn": 1.4, "frequencies": (0.6, 1.1, 1.9), "ramp": 0.5}
MOTION = random_motion(LIMITS, np.random.default_rng(11))


@pytest.fixture(scope="module")
def trajectory():
    return MOTION.evaluate(TIME)


@pytest.fixture(scope="module")
def wrench(trajectory):
    return required_wrench(PARAMETERS, trajectory)


def kinetic_energy(motion):
    """(n,) J, from the velocity of the centre of mass and the tensor about it."""
    turn = rotations.as_rotation(motion.orientation)
    spin = motion.angular_velocity
    center = motion.velocity + turn.apply(np.cross(spin, PARAMETERS.center_of_mass))
    about_center = np.einsum("ni,ij,nj->n", spin, PARAMETERS.inertia_at_center, spin)
    return 0.5 * PARAMETERS.mass * np.sum(center**2, axis=1) + 0.5 * about_center


def momentum(motion):
    """(n, 3) linear, and (n, 3) angular about W's origin, in W."""
    turn = rotations.as_rotation(motion.orientation)
    arm = turn.apply(PARAMETERS.center_of_mass.copy())
    linear = PARAMETERS.mass * (
        motion.velocity + turn.apply(np.cross(motion.angular_velocity, PARAMETERS.center_of_mass))
    )
    own = turn.apply(motion.angular_velocity @ PARAMETERS.inertia_at_center)
    return linear, np.cross(motion.position + arm, linear) + own


def derivative(function, step=1e-5):
    return tuple(
        (after - before) / (2.0 * step)
        for after, before in zip(
            function(MOTION.evaluate(TIME + step)),
            function(MOTION.evaluate(TIME - step)),
            strict=True,
        )
    )


def test_power_of_contacts_and_gravity_is_the_growth_of_kinetic_energy(trajectory, wrench):
    turn = rotations.as_rotation(trajectory.orientation)
    of_contacts = np.sum(wrench[:, :3] * turn.inv().apply(trajectory.velocity), axis=1)
    of_contacts += np.sum(wrench[:, 3:] * trajectory.angular_velocity, axis=1)
    center = trajectory.velocity + turn.apply(
        np.cross(trajectory.angular_velocity, PARAMETERS.center_of_mass)
    )
    of_gravity = -PARAMETERS.mass * GRAVITY * center[:, 2]
    (growth,) = derivative(lambda motion: (kinetic_energy(motion),))
    np.testing.assert_allclose(
        (of_contacts + of_gravity)[1:], growth[1:], atol=1e-7 * np.abs(growth).max()
    )


def test_forces_and_torques_are_the_growth_of_momentum(trajectory, wrench):
    turn = rotations.as_rotation(trajectory.orientation)
    force, torque = turn.apply(wrench[:, :3]), turn.apply(wrench[:, 3:])
    weight = np.array([0.0, 0.0, -PARAMETERS.mass * GRAVITY])
    center = trajectory.position + turn.apply(PARAMETERS.center_of_mass.copy())
    linear, angular = derivative(momentum)
    np.testing.assert_allclose((force + weight)[1:], linear[1:], atol=1e-6)
    about_world = torque + np.cross(trajectory.position, force) + np.cross(center, weight)
    np.testing.assert_allclose(about_world[1:], angular[1:], atol=1e-6)


def free_motion(times):
    """A body in free flight, integrated by Euler's equations about its centre of mass."""
    inertia, center = PARAMETERS.inertia_at_center, PARAMETERS.center_of_mass
    solved = np.linalg.inv(inertia)

    def slope(_, state):
        turn, spin = Rotation.from_quat(state[:4], scalar_first=True), state[4:]
        rate = 0.5 * np.concatenate([[0.0], spin])
        quaternion = turn.as_quat(scalar_first=True)
        w, v = quaternion[0], quaternion[1:]
        quaternion_rate = np.concatenate([[-v @ rate[1:]], w * rate[1:] + np.cross(v, rate[1:])])
        return np.concatenate([quaternion_rate, -solved @ np.cross(spin, inertia @ spin)])

    start = np.concatenate([[1.0, 0.0, 0.0, 0.0], [3.0, -2.0, 5.0]])
    state = solve_ivp(slope, (0.0, times[-1]), start, t_eval=times, rtol=1e-11, atol=1e-12).y.T
    spin = state[:, 4:]
    growth = -np.cross(spin, spin @ inertia) @ solved
    turn = Rotation.from_quat(state[:, :4], scalar_first=True)
    center_acceleration = np.broadcast_to([0.0, 0.0, -GRAVITY], spin.shape)
    lever = np.cross(growth, center) + np.cross(spin, np.cross(spin, center))
    zeros = np.zeros_like(spin)
    return PoseTrajectory(
        times,
        zeros,
        turn.as_quat(scalar_first=True),
        zeros,
        center_acceleration - turn.apply(lever),
        spin,
        growth,
    )


def test_a_body_in_free_flight_needs_no_contact_force():
    needed = required_wrench(PARAMETERS, free_motion(np.linspace(0.0, 1.5, 50)))
    size = PARAMETERS.mass * GRAVITY
    np.testing.assert_allclose(needed, 0.0, atol=1e-12 * size)


def test_an_object_at_rest_is_carried_below_its_centre_of_mass():
    still = MOTION.evaluate(np.zeros(1))
    (needed,) = required_wrench(PARAMETERS, still)
    weight = np.array([0.0, 0.0, PARAMETERS.mass * GRAVITY])
    np.testing.assert_allclose(
        needed, np.concatenate([weight, np.cross(PARAMETERS.center_of_mass, weight)]), atol=1e-15
    )


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_squeeze_cancels_and_stays_in_the_cones(name):
    body = OBJECTS[name]
    contacts = ContactSet(body.contact_positions, body.contact_normals, body.friction)
    held = squeeze(contacts)
    np.testing.assert_allclose(grasp_matrix(contacts.positions) @ held.ravel(), 0.0, atol=1e-9)
    assert np.mean(np.einsum("ki,ki->k", held, contacts.normals)) == pytest.approx(1.0)
    assert np.all(cone_ratios(held[None], contacts.normals) < body.friction)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-5.0, 5.0), min_size=6, max_size=6))
def test_shared_forces_give_any_wrench_within_the_cones(values):
    wanted = np.array([values]) * np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])
    forces = share_wrench(wanted, CONTACTS, GRIP)
    np.testing.assert_allclose(contact_wrench(CONTACTS.positions, forces), wanted, atol=1e-9)
    assert np.all(
        cone_ratios(forces, CONTACTS.normals) <= CONTACTS.friction / GRIP["safety"] * (1.0 + 1e-9)
    )


def test_shortest_forces_are_shortest():
    wanted = np.array([[0.1, -0.4, 1.2, 0.02, 0.01, -0.03]])
    forces = shortest_forces(wanted, CONTACTS.positions)
    other = forces + 0.1 * squeeze(CONTACTS)
    np.testing.assert_allclose(contact_wrench(CONTACTS.positions, forces), wanted, atol=1e-12)
    assert np.linalg.norm(forces) < np.linalg.norm(other)


def test_needed_grip_is_the_least_one(wrench):
    """One of the contacts is just on its smaller cone where friction decides the grip."""
    forces = share_wrench(wrench, CONTACTS, GRIP | {"least_force": 0.0})
    assert cone_ratios(forces, CONTACTS.normals).max() == pytest.approx(
        CONTACTS.friction / GRIP["safety"], rel=1e-9
    )


def test_broken_contact_carries_nothing_and_the_others_everything(wrench):
    breaking = np.array([name == "ring" for name in BODY.contact_names])
    engaged = np.clip(np.abs(TIME - 1.0) / 0.2 - 1.0, 0.0, 1.0)
    forces = broken_contact_forces(wrench, CONTACTS, GRIP, breaking, engaged)
    lost = engaged == 0.0
    assert lost.any() and np.all(forces[lost][:, breaking] == 0.0)
    np.testing.assert_allclose(contact_wrench(CONTACTS.positions, forces), wrench, atol=1e-9)
    assert np.all(
        cone_ratios(forces, CONTACTS.normals) <= CONTACTS.friction / GRIP["safety"] * (1.0 + 1e-9)
    )


def test_contacts_that_cannot_squeeze_are_refused():
    one_side = ContactSet(CONTACTS.positions[:3], CONTACTS.normals[:3], 0.8)
    with pytest.raises(ContactIdError, match="squeezing"):
        squeeze(one_side)

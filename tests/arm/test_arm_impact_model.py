"""Impacts with friction and several contacts: closed forms, contact by contact laws, and energy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_for_tests import lwr4, rebound
from contactid.arm.artefacts.impact_laws import sticking_friction
from contactid.arm.models.impact import (
    OPEN,
    SLIDING,
    STICKING,
    Contacts,
    ImpactLaw,
    ImpactSolution,
    directions,
    solve_impact,
)
from contactid.arm.rigid.impact_map import impact_map, kinetic_energy, mobility
from contactid.arm.rigid.postures import joint_velocity, stated_posture
from contactid.core.errors import ContactIdError

ROBOT = lwr4()
seeds = st.integers(0, 2**32 - 1)
EXACT = 1e-9


def arm_impact(direction: int = 70) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass matrix, tip Jacobian and joint velocity of a stated impact."""
    q = stated_posture(direction)
    return ROBOT.mass_matrix(q), ROBOT.tip_jacobian(q), joint_velocity(ROBOT, q, 0.06, -0.1)


def random_body(seed: int, m: int, k: int) -> tuple[np.ndarray, Contacts, np.ndarray]:
    """Any body with m contacts of k tangential rows, and a velocity that closes at least the first."""
    rng = np.random.default_rng(seed)
    square = rng.normal(size=(6, 6))
    velocity = rng.normal(size=6)
    normal = rng.normal(size=(m, 6))
    normal[0] *= -np.sign(normal[0] @ velocity)
    return square @ square.T + np.eye(6), Contacts(normal, rng.normal(size=(m, k, 6))), velocity


def planar_outcomes(w: np.ndarray, before: np.ndarray, mu: float, e: float) -> list[np.ndarray]:
    """All impulses (tangential, normal) that satisfy the law at one contact, by trying stick and
    both ways to slide.
    """
    found = []
    wanted = np.array([0.0, -e * before[1]])
    stick = np.linalg.solve(w, wanted - before)
    if abs(stick[0]) <= mu * stick[1]:
        found.append(stick)
    for way in (1.0, -1.0):
        resisting = w[1, 1] - way * mu * w[1, 0]
        push = -(1.0 + e) * before[1] / resisting
        impulse = push * np.array([-way * mu, 1.0])
        if push >= 0.0 and way * (before + w @ impulse)[0] >= 0.0:
            found.append(impulse)
    return found


def assert_laws(
    mass: np.ndarray, contacts: Contacts, before: np.ndarray, law: ImpactLaw, found: ImpactSolution
) -> None:
    """Signorini and Newton, the friction polygon, and friction against the sliding, from the answer
    alone.
    """
    rows = np.vstack([contacts.normal, *contacts.tangent])
    wrench = contacts.normal.T @ found.impulse_n + np.einsum(
        "mkn,mk->n", contacts.tangent, found.impulse_t
    )
    scale = np.abs(rows @ before).max()
    unit = max(np.abs(found.impulse_n).max(), 1e-30)
    np.testing.assert_allclose(
        mass @ (found.velocity - before), wrench, atol=1e-9 * np.abs(wrench).max() + 1e-12
    )
    for i, push in enumerate(found.impulse_n):
        bounce = contacts.normal[i] @ (found.velocity + law.restitution_e_n * before)
        assert push >= -EXACT * unit and bounce >= -EXACT * scale
        assert min(push / unit, bounce / scale) <= EXACT
        slide, drag = contacts.tangent[i] @ found.velocity, found.impulse_t[i]
        d = directions(len(slide), law.facets)
        # the polygon's largest power against the sliding is what friction takes
        most = law.friction_mu * push * max(0.0, float((-d @ slide).max()))
        assert -drag @ slide == pytest.approx(most, abs=EXACT * unit * scale)
        assert np.linalg.norm(drag) <= law.friction_mu * push * (1.0 + EXACT) + EXACT * unit


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_without_friction_it_is_the_impact_map(e: float) -> None:
    for direction in (90, 70, 53):
        mass, jacobian, velocity = arm_impact(direction)
        found = solve_impact(mass, Contacts.of_tip(jacobian), velocity, ImpactLaw(0.0, e))
        assert found.converged and found.states == (SLIDING,)
        np.testing.assert_allclose(
            found.velocity, rebound(mass, jacobian[2], velocity, e), atol=1e-12
        )
        lost = kinetic_energy(mass, velocity) - kinetic_energy(mass, found.velocity)
        assert found.energy_lost == pytest.approx(lost, abs=1e-14)


@pytest.mark.parametrize("e", [0.0, 0.4])
def test_much_friction_makes_the_tip_stick_and_the_limit_is_the_closed_one(e: float) -> None:
    mass, jacobian, velocity = arm_impact()
    least = sticking_friction(mass, jacobian, velocity, e)
    contacts = Contacts.of_tip(jacobian)
    stuck = solve_impact(mass, contacts, velocity, ImpactLaw(5.0, e))
    np.testing.assert_allclose(jacobian @ stuck.velocity, [0.0, 0.0, 0.1 * e], atol=1e-12)
    assert stuck.states == (STICKING,)
    # a fine polygon's limit is the disk's, to 1 - cos(pi / n)
    for factor, state in ((1.01, STICKING), (0.99, SLIDING)):
        found = solve_impact(mass, contacts, velocity, ImpactLaw(factor * least, e, facets=32))
        assert found.converged and found.states == (state,)


@given(seeds, st.floats(0.0, 1.5), st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=25)
def test_one_contact_with_one_tangent_does_what_enumeration_finds(
    seed: int, mu: float, e: float
) -> None:
    mass, contacts, velocity = random_body(seed, 1, 1)
    rows = np.vstack([contacts.tangent[0], contacts.normal])
    w = mobility(mass, rows)
    if mu * abs(w[0, 1]) > 0.9 * w[1, 1]:
        return  # wedged: the law has several solutions, or none
    possible = planar_outcomes(w, rows @ velocity, mu, e)
    found = solve_impact(mass, contacts, velocity, ImpactLaw(mu, e))
    impulse = np.array([found.impulse_t[0, 0], found.impulse_n[0]])
    assert found.converged
    assert min(np.abs(impulse - one).max() for one in possible) < 1e-8 * max(
        1.0, np.abs(impulse).max()
    )


@given(seeds, st.integers(1, 3), st.sampled_from([0.0, 0.2, 0.8]), st.sampled_from([0.0, 0.5]))
@settings(deadline=None, max_examples=25)
def test_every_contact_obeys_its_laws_and_inelastic_impacts_lose_energy(
    seed: int, m: int, mu: float, e: float
) -> None:
    mass, contacts, velocity = random_body(seed, m, 2)
    law = ImpactLaw(mu, e)
    found = solve_impact(mass, contacts, velocity, law)
    assert found.converged
    assert_laws(mass, contacts, velocity, law, found)
    if e == 0.0:
        assert found.energy_lost >= -1e-9 * kinetic_energy(mass, velocity)


def rod(inertia: float) -> tuple[np.ndarray, Contacts]:
    """Planar rod, mass 1, on supports 1 m to the left and right of its centre; coordinates y and
    turn.
    """
    return np.diag([1.0, inertia]), Contacts(
        np.array([[1.0, -1.0], [1.0, 1.0]]), np.zeros((2, 0, 2))
    )


def test_two_closing_contacts_are_the_projection_onto_both() -> None:
    mass, contacts = rod(1.0 / 3.0)
    falling = np.array([-1.0, 0.2])
    found = solve_impact(mass, contacts, falling, ImpactLaw())
    np.testing.assert_allclose(
        found.velocity, impact_map(mass, contacts.normal, falling), atol=1e-12
    )
    np.testing.assert_allclose(found.velocity, [0.0, 0.0], atol=1e-12)
    assert OPEN not in found.states


def test_a_struck_end_opens_the_other_one_only_where_the_mass_lies_outside() -> None:
    struck = np.array([-0.5, 0.5])  # the left support closes with 1 m/s, the right one rests
    mass, contacts = rod(3.0)  # radius of gyration beyond the supports: both ends move the same way
    found = solve_impact(mass, contacts, struck, ImpactLaw())
    assert found.states == (SLIDING, OPEN)
    np.testing.assert_allclose(
        found.velocity, impact_map(mass, contacts.normal[:1], struck), atol=1e-12
    )
    assert contacts.normal[1] @ found.velocity > 0.1
    mass, contacts = rod(1.0 / 3.0)
    found = solve_impact(mass, contacts, struck, ImpactLaw())
    assert found.states == (SLIDING, SLIDING)
    np.testing.assert_allclose(found.velocity, [0.0, 0.0], atol=1e-12)


def test_dependent_contacts_share_an_impulse_that_moves_the_body_in_one_way() -> None:
    mass, jacobian, velocity = arm_impact()
    doubled = Contacts(
        np.vstack([jacobian[2], jacobian[2]]), np.stack([jacobian[:2], jacobian[:2]])
    )
    for mu in (0.0, 0.1):
        once = solve_impact(mass, Contacts.of_tip(jacobian), velocity, ImpactLaw(mu))
        twice = solve_impact(mass, doubled, velocity, ImpactLaw(mu))
        assert twice.converged
        np.testing.assert_allclose(twice.velocity, once.velocity, atol=1e-8)
        assert twice.impulse_n.sum() == pytest.approx(once.impulse_n[0], rel=1e-8)


def test_a_contact_that_opens_already_gets_no_impulse() -> None:
    mass, jacobian, velocity = arm_impact()
    found = solve_impact(mass, Contacts.of_tip(jacobian), -velocity, ImpactLaw(0.3, 0.5))
    assert found.states == (OPEN,) and found.converged and found.energy_lost == 0.0
    np.testing.assert_array_equal(found.velocity, -velocity)


def test_more_facets_approach_the_disk() -> None:
    """Sliding at an angle between two directions: the impulse's size lacks at most 1 - cos(pi / n)."""
    mass = np.eye(3)
    contacts = Contacts(np.array([[0.0, 0.0, 1.0]]), np.eye(3)[None, :2])
    before = np.array([3.0 * np.cos(0.6), 3.0 * np.sin(0.6), -1.0])
    sizes = []
    for facets in (4, 8, 32):
        found = solve_impact(mass, contacts, before, ImpactLaw(0.5, facets=facets))
        power = -found.impulse_t[0] @ before[:2] / 3.0
        assert 0.5 * np.cos(np.pi / facets) - 1e-9 <= power <= 0.5 + 1e-9
        sizes.append(power)
    assert sizes == sorted(sizes)


def test_singular_postures_are_refused() -> None:
    _, _, velocity = arm_impact()
    q = np.zeros(7)
    straight = ROBOT.tip_jacobian(q)
    with pytest.raises(ContactIdError, match="singular posture"):
        solve_impact(ROBOT.mass_matrix(q), Contacts.of_tip(straight), velocity, ImpactLaw())

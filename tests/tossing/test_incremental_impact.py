"""Impacts in which friction follows the slip: laws that hold for all impacts, and closed forms in
the plane.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_box_simulator import cube, energies, random_toss
from test_contact_solvers import (
    Problem,
    box_problem,
    counts,
    frictions,
    momentum_change,
    replace,
    restitutions,
    seeds,
    solve,
    symmetric,
)

from contactid.tossing.simulate import contact_kernel as ck
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from contactid.tossing.simulate.incremental import RESTING, collide

NO_GRAVITY = np.zeros(3)


@dataclass(frozen=True)
class Collided:
    impulse: np.ndarray  # (n, 3) N s
    twist: np.ndarray  # (6,)
    approach: float  # m/s left
    needed: float


def strike(problem: Problem) -> Collided:
    """The incremental impact of all contacts of a problem."""
    n = len(problem.arm)
    table = np.zeros((8, ck.COLUMNS))
    table[:n, ck.ARM : ck.ARM + 3] = problem.arm
    free = tuple(map(float, problem.before))
    inverse = symmetric(np.linalg.inv(problem.inertia))
    _, approach, needed, twist = collide(
        n, 1.0 / problem.mass, inverse, problem.mu, problem.e_n, free, table
    )
    impulse = table[:n, ck.IMPULSE : ck.IMPULSE + 3].copy()
    return Collided(impulse, np.array(twist), approach, needed)


def striking_box(seed: int, n: int, mu: float, e: float) -> Problem:
    return box_problem(np.random.default_rng(seed), n, mu, e, gravity=0.0)


@settings(max_examples=1000, deadline=None)
@given(seeds, counts, frictions, restitutions)
def test_no_energy_is_added_the_cone_holds_and_no_approach_remains(seed, n, mu, e):
    problem = striking_box(seed, n, mu, e)
    struck = strike(problem)
    before = problem.kinetic(problem.before)
    assert problem.kinetic(struck.twist) <= before * (1.0 + 1e-9) + 1e-14
    assert struck.approach <= RESTING
    assert problem.at_contacts(struck.twist)[:, 2].min() >= -1.1 * RESTING
    normal = struck.impulse[:, 2]
    tangential = np.linalg.norm(struck.impulse[:, :2], axis=1)
    assert (normal >= 0.0).all() and (tangential <= mu * normal * (1.0 + 1e-9)).all()
    assert struck.twist - problem.before == pytest.approx(
        momentum_change(problem, struck.impulse), abs=1e-9
    )


@settings(max_examples=200, deadline=None)
@given(seeds, restitutions)
def test_without_friction_it_is_newtons_rule(seed, e):
    problem = striking_box(seed, 1, 0.0, e)
    approach = problem.at_contacts(problem.before)[0, 2]
    after = problem.at_contacts(strike(problem).twist)[0, 2]
    assert after == pytest.approx(-e * approach if approach < 0.0 else approach, abs=2.0 * RESTING)


def without_slip(problem: Problem) -> Problem:
    """The same with a contact that moves along the normal only."""
    slip = problem.at_contacts(problem.before)[0] * [1.0, 1.0, 0.0]
    return replace(problem, before=problem.before - np.r_[slip, 0.0, 0.0, 0.0])


@settings(max_examples=200, deadline=None)
@given(seeds, restitutions)
def test_where_nothing_slides_both_laws_agree(seed, e):
    problem = without_slip(striking_box(seed, 1, 50.0, e))
    struck = strike(problem)
    assert struck.twist == pytest.approx(solve(problem).twist, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(seeds, frictions, restitutions)
def test_where_the_slip_keeps_its_direction_both_laws_agree(seed, mu, e):
    """The lowest point of a body below its centre, on a principal axis: no coupling turns the slip."""
    random = np.random.default_rng(seed)
    arm = np.array([[0.0, 0.0, -random.uniform(0.02, 0.2)]])
    moment = random.uniform(1e-4, 1e-2)
    before = np.r_[random.normal(size=2), -random.uniform(0.1, 2.0), np.zeros(3)]
    problem = Problem(1.0, np.diag([moment] * 3), arm, before, NO_GRAVITY, mu, e)
    assert strike(problem).twist == pytest.approx(solve(problem).twist, abs=1e-6)


def routh(
    tangential: float,
    coupling: float,
    normal: float,
    slip: float,
    approach: float,
    mu: float,
    e: float,
):
    """End velocities (slip, normal) of a planar impact by Routh's method: pieces that are linear in
    p.
    """
    gap, p, p_end, compressing = -approach, 0.0, np.inf, True
    while p < p_end:
        if slip != 0.0:
            friction = -mu * np.sign(slip)
        elif abs(coupling) <= mu * tangential:
            friction = -coupling / tangential
        else:  # slip starts again, along the coupling
            friction = -mu * np.sign(coupling)
        slip_rate = tangential * friction + coupling
        gap_rate = coupling * friction + normal
        to_stop = -slip / slip_rate if slip * slip_rate < 0.0 else np.inf
        to_turn = -gap / gap_rate if compressing and gap_rate > 0.0 else np.inf
        length = min(to_stop, to_turn, p_end - p)
        assert np.isfinite(length), "a corner can't jam for ever"
        p += length
        slip = 0.0 if length == to_stop else slip + slip_rate * length
        gap += gap_rate * length
        if compressing and length == to_turn:
            compressing, gap, p_end = False, 0.0, (1.0 + e) * p
    return slip, gap


@settings(max_examples=400, deadline=None)
@given(seeds, st.floats(0.0, 1.2), restitutions)
def test_a_planar_impact_has_rouths_closed_form(seed, mu, e):
    random = np.random.default_rng(seed)
    x, z = random.normal(size=2) * 0.1
    moment = random.uniform(0.3, 2.0) * 0.01
    arm = np.array([[x, 0.0, z]])
    slip, approach = random.normal(), random.uniform(0.1, 2.0)
    before = np.array([slip, 0.0, -approach, 0.0, 0.0, 0.0])
    problem = Problem(1.0, np.eye(3) * moment, arm, before, NO_GRAVITY, mu, e)
    expected = routh(
        1.0 + z**2 / moment, -x * z / moment, 1.0 + x**2 / moment, slip, approach, mu, e
    )
    after = problem.at_contacts(strike(problem).twist)[0]
    # what is lost within the one part in which the slip turns round
    tolerance = 0.03 * np.hypot(slip, approach) * (1.0 + mu)
    assert after[[0, 2]] == pytest.approx(expected, abs=tolerance)
    assert after[1] == pytest.approx(0.0, abs=1e-9)


def test_newtons_rule_is_another_law_where_the_slip_turns():
    differences = []
    for seed in range(100):
        problem = striking_box(seed, 1, 0.3, 0.4)
        if problem.at_contacts(problem.before)[0, 2] > 0.0:
            continue
        difference = np.abs(strike(problem).twist - solve(problem).twist).max()
        differences.append(difference / np.abs(problem.before).max())
    assert np.median(differences) > 1e-3


@settings(max_examples=150, deadline=None)
@given(seeds, st.integers(1, 3), frictions, restitutions)
def test_an_impact_and_its_mirror_image_end_in_mirror_images(seed, n, mu, e):
    problem = striking_box(seed, n, mu, e)
    mirror = np.diag([1.0, -1.0, 1.0])
    both = np.r_[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]  # an angular velocity is an axial vector
    mirrored = replace(
        problem,
        inertia=mirror @ problem.inertia @ mirror,
        arm=problem.arm @ mirror,
        before=both * problem.before,
    )
    assert both * strike(mirrored).twist == pytest.approx(strike(problem).twist, abs=1e-7)


@settings(max_examples=150, deadline=None)
@given(seeds, counts, st.floats(0.3, 1.5), st.floats(1.0, 3.0))
def test_an_impact_without_slip_is_the_same_for_every_larger_friction(seed, n, mu, factor):
    problem = without_slip(striking_box(seed, n, mu, 0.5))
    struck, other = strike(problem), strike(replace(problem, mu=mu * factor))
    if np.isfinite(struck.needed):
        assert struck.needed <= mu
        assert (struck.twist == other.twist).all() and (struck.impulse == other.impulse).all()


# in the simulator


def toss(start: State, law: str, mu: float, e: float, n: int = 200):
    parameters = ContactParameters(mu, e)
    return simulate(cube(), start, parameters, SteppingOptions(1e-3, law=law), n)


@settings(max_examples=40, deadline=None)
@given(seeds, st.floats(0.0, 1.0), restitutions)
def test_the_energy_of_a_toss_never_grows_beyond_a_steps_own(seed, mu, e):
    start = random_toss(np.random.default_rng(seed))
    motion = toss(start, "incremental", mu, e)
    gained = np.diff(energies(cube(), start, motion))
    weight = np.array([0.0, 0.0, -9.81])
    by_impulses = gained + 0.5 * 1e-3 * motion.impulses.sum(axis=1) @ weight
    assert by_impulses.max() < 1e-9


def test_a_dropped_cube_comes_to_rest_on_its_face():
    start = random_toss(np.random.default_rng(3))
    motion = toss(start, "incremental", 0.4, 0.5, n=3000)
    assert np.abs(motion.linear_velocity[-1]).max() < 1e-8
    assert motion.position[-1, 2] == pytest.approx(cube().vertices[:, 2].max(), abs=2e-3)
    assert motion.iterations.max() <= 100, "every step is solved"


def test_the_law_is_newtons_unless_another_is_asked_for():
    start = random_toss(np.random.default_rng(4))
    default = simulate(cube(), start, ContactParameters(0.3, 0.4), SteppingOptions(1e-3), 200)
    newton, other = (toss(start, law, 0.3, 0.4) for law in ("newton", "incremental"))
    assert (default.position == newton.position).all()
    assert np.abs(newton.position - other.position).max() > 1e-3

"""Contact problems against enumeration and closed forms; polygons against mechanics, symmetries and
energy.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, PlanarMotion, simulate
from contactid.planar.simulate.geometry import Ground, Polygon, contacts
from contactid.planar.simulate.kernel import contact_impulse
from contactid.planar.simulate.motions import energy_balance
from contactid.planar.simulate.polygon import (
    RAY,
    SOLVED,
    complementarity_residual,
    lemke,
    solve_contacts,
)

GRAVITY = 9.81
SEEDS = st.integers(0, 2**32 - 1)
LAID = 1e-12  # m: a touching corner starts this deep, so that rounding can't open it


def rectangle(width: float, height: float) -> Polygon:
    x, y = width / 2.0, height / 2.0
    return Polygon(((-x, -y), (x, -y), (x, y), (-x, y)))


def regular(corners: int, radius: float) -> Polygon:
    """A regular polygon that lies on a side at theta = 0."""
    angle = 2.0 * np.pi * (np.arange(corners) + 0.5) / corners - np.pi / 2.0
    return Polygon(tuple(map(tuple, radius * np.column_stack([np.cos(angle), np.sin(angle)]))))


def random_polygon(random: np.random.Generator) -> Polygon:
    """Three to eight corners on an ellipse, in turns small enough to surround its centre."""
    n = random.integers(3, 9)
    angle = 2.0 * np.pi * (np.arange(n) + random.uniform(-0.2, 0.2, n)) / n
    height = random.uniform(0.01, 0.03)
    return Polygon(tuple((0.03 * np.cos(a), height * np.sin(a)) for a in angle))


def uniform_body(shape: Polygon, mass: float = 0.05) -> PlanarBody:
    return PlanarBody(shape, mass, mass * shape.uniform_inertia_ratio)


def random_toss(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    position = np.array([0.0, random.uniform(0.05, 0.1), random.uniform(-3.0, 3.0)])
    return position, random.uniform([-1.0, -1.5, -20.0], [1.0, 0.0, 20.0])


def run(body, law, position, velocity, steps, ground=None, h=1e-3) -> PlanarMotion:
    return simulate(body, ground or Ground(), law, position, velocity, time_step=h, steps=steps)


# complementarity problems


def complementary_solutions(matrix: np.ndarray, vector: np.ndarray) -> list[np.ndarray]:
    """All basic solutions of a small problem: every choice of which z may differ from 0."""
    n, found = len(vector), []
    for choice in product([False, True], repeat=n):
        free, z = np.array(choice), np.zeros(n)
        block = matrix[np.ix_(free, free)]
        if abs(np.linalg.det(block)) < 1e-12:
            continue
        z[free] = np.linalg.solve(block, -vector[free])
        if z.min() >= -1e-10 and (matrix @ z + vector).min() >= -1e-10:
            found.append(z)
    return found


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.integers(1, 6))
def test_a_problem_with_a_p_matrix_has_the_one_enumerated_solution(seed, n):
    random = np.random.default_rng(seed)
    root, skew = random.normal(size=(2, n, n))
    matrix, vector = root @ root.T / n + 0.1 * np.eye(n) + skew - skew.T, random.normal(size=n)
    z, status = lemke(matrix, vector)
    (expected,) = complementary_solutions(matrix, vector)
    assert status == SOLVED
    assert z == pytest.approx(expected, rel=1e-8, abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.integers(2, 8))
def test_ties_and_singular_matrices_do_not_make_it_cycle(seed, n):
    random = np.random.default_rng(seed)
    root = random.integers(-1, 2, (n, max(n // 2, 1))).astype(float)
    matrix = root @ root.T
    solution = random.integers(0, 2, n).astype(float)
    vector = (1.0 - solution) * random.integers(0, 2, n) - matrix @ solution
    z, status = lemke(matrix, vector)
    assert status == SOLVED
    assert complementarity_residual(matrix, vector, z) < 1e-9
    assert matrix @ z == pytest.approx(matrix @ solution, abs=1e-8), (
        "w is unique where M is positive semidefinite"
    )


@pytest.mark.parametrize("matrix", [[[-1.0]], [[0.0]]])
def test_a_problem_without_solution_ends_on_a_ray(matrix):
    assert lemke(np.array(matrix), np.array([-1.0]))[1] == RAY


def test_the_residual_is_zero_at_the_solution_only():
    matrix, vector = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-4.0, 1.0])
    assert complementarity_residual(matrix, vector, np.array([2.0, 0.0])) == 0.0
    assert complementarity_residual(matrix, vector, np.array([2.1, 0.0])) == pytest.approx(0.2)
    assert complementarity_residual(matrix, vector, np.array([2.0, -0.3])) == pytest.approx(0.3)
    assert complementarity_residual(matrix, vector, np.array([np.nan, 0.0])) == np.inf


# contact problems


def jacobian(arm_t: np.ndarray, arm_n: np.ndarray) -> np.ndarray:
    """(2 n, 3) rows of N, then of T, on a level ground."""
    one, none = np.ones_like(arm_t), np.zeros_like(arm_t)
    return np.vstack([np.column_stack([none, one, arm_t]), np.column_stack([one, none, -arm_n])])


def random_contacts(random: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """W, b and G (2 n, 3) of n contacts with parallel normals under a body that moves at random."""
    arm_t, arm_n = random.uniform(-1.0, 1.0, n), random.uniform(-1.0, 0.2, n)
    if random.random() < 0.3:
        arm_n[:] = arm_n[0]
    rows = jacobian(arm_t, arm_n)
    inverse_mass = 1.0 / random.uniform([0.5, 0.5, 0.05], [2.0, 2.0, 2.0])
    inverse_mass[1] = inverse_mass[0]
    restitution = np.repeat(random.uniform(0.0, 1.0, 2), n)
    before, gravity = rows @ random.normal(size=3), random.choice([0.0, 0.1]) * rows[:, 1]
    return (
        rows * inverse_mass @ rows.T,
        gravity - (1.0 + restitution) * before,
        rows * np.sqrt(inverse_mass),
    )


def law_violation(w, b, mu, c_n, c_t) -> float:
    """Natural map of the law, in units of b: what a step along the violated velocities would
    change.
    """
    n = len(c_n)
    xi = w @ np.r_[c_n, c_t] - b
    unit = w.diagonal().max()
    c_n, c_t = unit * c_n, unit * c_t
    normal = np.abs(np.minimum(c_n, xi[:n])).max()
    tangential = np.abs(c_t - np.clip(c_t - xi[n:], -mu * c_n, mu * c_n)).max()
    return max(normal, tangential, -c_n.min()) / np.abs(b).max()


def enumerated_impulses(w, b, mu) -> list[np.ndarray]:
    """Impulses (2 n,) of every choice of open, stick and the two slides that is regular and obeys
    the law.
    """
    n, found = len(b) // 2, []
    for modes in product(["open", "stick", 1.0, -1.0], repeat=n):
        matrix, right = w.copy(), b.copy()
        for i, mode in enumerate(modes):
            cleared = {"open": [i, n + i], "stick": []}.get(mode, [n + i])
            matrix[cleared], right[cleared] = 0.0, 0.0
            matrix[cleared, cleared] = 1.0
            if mode in (1.0, -1.0):
                matrix[n + i, i] = mode * mu
        if np.linalg.cond(matrix) < 1e9:
            c = np.linalg.solve(matrix, right)
            if law_violation(w, b, mu, c[:n], c[n:]) < 1e-8:
                found.append(c)
    return found


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.integers(1, 3), st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]))
def test_contacts_move_as_one_of_the_enumerated_solutions(seed, n, mu):
    w, b, rows = random_contacts(np.random.default_rng(seed), n)
    c_n, c_t, residual = solve_contacts(w, b[:n], b[n:], mu)
    assert residual < 1e-9
    assert law_violation(w, b, mu, c_n, c_t) < 1e-8
    expected = np.array([c @ rows for c in enumerated_impulses(w, b, mu)])
    assert len(expected) > 0
    distance = np.abs(expected - np.r_[c_n, c_t] @ rows).max(axis=1)
    assert distance.min() < 1e-6 * np.abs(b).max() * np.sqrt(1.0 / w.diagonal().min())


@settings(max_examples=200, deadline=None)
@given(
    SEEDS,
    st.integers(4, 12),
    st.sampled_from([0.0, 0.1, 0.5, 3.0]),
    st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_many_contacts_are_solved_in_any_unit(seed, n, mu, unit):
    w, b, _ = random_contacts(np.random.default_rng(seed), n)
    c_n, c_t, residual = solve_contacts(unit * w, b[:n] / unit, b[n:] / unit, mu)
    assert residual < 1e-9
    assert law_violation(unit * w, b / unit, mu, c_n, c_t) < 1e-8


@settings(max_examples=300, deadline=None)
@given(SEEDS, st.sampled_from([0.1, 0.3, 0.8]))
def test_a_nearly_flat_side_is_solved_past_nearly_singular_bases(seed, mu):
    """Two corners whose arms and velocities almost agree, where a single pivoting path often ends
    in rounding.
    """
    random = np.random.default_rng(seed)
    tilt, spin = 10.0 ** random.uniform(-8.0, -3.0, 2)
    arm_t, arm_n = (
        np.array([-1.0, 1.0]) + tilt,
        np.array([-1.0, -1.0]) + tilt * np.array([-1.0, 1.0]),
    )
    rows = jacobian(arm_t, arm_n)
    w = rows * [1.0, 1.0, 1.5] @ rows.T
    b = np.r_[0.01, 0.01, 0.0, 0.0] - rows @ [
        random.uniform(-1.0, 1.0),
        random.uniform(-0.02, 0.02),
        spin,
    ]
    c_n, c_t, residual = solve_contacts(w, b[:2], b[2:], mu)
    assert residual < 1e-9
    assert law_violation(w, b, mu, c_n, c_t) < 1e-8


@settings(max_examples=200, deadline=None)
@given(SEEDS, st.floats(0.0, 3.0))
def test_a_single_contact_has_the_closed_form(seed, mu):
    w, b, _ = random_contacts(np.random.default_rng(seed), 1)
    mu = min(
        mu, 0.99 * w[0, 0] / max(abs(w[0, 1]), 1e-9)
    )  # more, and stick and slide may both be solutions
    expected = contact_impulse(w[0, 0], w[0, 1], w[1, 1], b[0], b[1], mu)
    c_n, c_t, _ = solve_contacts(w, b[:1], b[1:], mu)
    assert [c_n[0], c_t[0]] == pytest.approx(expected, rel=1e-9, abs=1e-9)


# impacts with closed forms


@pytest.mark.parametrize("e_n", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_square_dropped_flat_stops_or_bounces_without_turning(e_n, mu):
    body, h = uniform_body(rectangle(0.06, 0.06)), 1e-3
    motion = run(body, PlanarLaw(mu, e_n), [0.0, 0.05, 0.0], [0.0, 0.0, 0.0], 120)
    hit = int(np.flatnonzero(motion.impulse_n.any(axis=1))[0])
    approach = -motion.velocity[hit - 1, 1]
    impulse = body.mass * ((1.0 + e_n) * approach + GRAVITY * h)
    assert motion.impulse_n[hit] == pytest.approx([impulse / 2, impulse / 2, 0.0, 0.0], rel=1e-12)
    assert motion.velocity[hit, 1] == pytest.approx(e_n * approach, rel=1e-12)
    assert np.abs(motion.position[:, 2]).max() < 1e-12
    assert np.abs(motion.impulse_t).max() < 1e-12


@pytest.mark.parametrize("corners", [4, 5, 6, 12, 60])
def test_a_polygon_that_tips_over_a_corner_turns_on_as_a_rimless_wheel(corners):
    radius, step = 0.03, 2.0 * np.pi / corners
    body = uniform_body(regular(corners, radius))
    height, half = radius * np.cos(step / 2.0), radius * np.sin(step / 2.0)
    omega = (
        -3.0
    )  # about the left corner, so that the right one hits and the left one must be let go
    before = np.array([-omega * height, omega * half, omega])
    law = PlanarLaw(10.0, 0.0, gravity=0.0)
    motion = run(body, law, [0.0, height - LAID, 0.0], before, 1, h=1e-6)
    inertia = body.inertia + body.mass * radius**2
    after = omega * (body.inertia + body.mass * radius**2 * np.cos(step)) / inertia
    assert motion.velocity[1] == pytest.approx([-after * height, -after * half, after], rel=1e-9)
    assert np.count_nonzero(motion.impulse_n[1]) == 1


# rest and sliding


@pytest.mark.parametrize("e_n", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("corners", [3, 4, 7])
def test_a_resting_polygon_stays_at_rest(corners, e_n):
    body = uniform_body(regular(corners, 0.03))
    start = [0.2, 0.03 * np.cos(np.pi / corners) - LAID, 0.0]
    motion = run(body, PlanarLaw(0.4, e_n), start, [0.0, 0.0, 0.0], 1000)
    assert np.abs(motion.position - start).max() < 1e-14
    assert motion.impulse_n[1:].sum(axis=1) == pytest.approx(
        np.full(1000, body.mass * GRAVITY * 1e-3), rel=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(st.floats(0.0, 0.6), st.floats(0.0, 1.0), st.floats(2.0, 8.0), st.booleans())
def test_a_block_slides_on_a_slope_steeper_than_friction_and_else_stays(
    slope, mu, width, to_the_right
):
    block = uniform_body(rectangle(0.02 * width, 0.02))
    ground = Ground(-slope if to_the_right else slope, 0.1, -0.2)
    start = [*([ground.x0, ground.y0] + (0.01 - LAID) * ground.normal), ground.slope]
    motion = run(block, PlanarLaw(mu, 0.0), start, [0.0, 0.0, 0.0], 300, ground)
    acceleration = max(GRAVITY * (np.sin(slope) - mu * np.cos(slope)), 0.0) * (
        1.0 if to_the_right else -1.0
    )
    speed = motion.velocity[:, :2] @ ground.tangent
    assert speed == pytest.approx(acceleration * motion.time, abs=1e-10)
    assert np.abs(motion.velocity[:, :2] @ ground.normal).max() < 1e-10
    assert np.abs(motion.velocity[:, 2]).max() < 1e-8


@settings(max_examples=30, deadline=None)
@given(
    SEEDS, st.sampled_from([0.15, 0.4, 1.0]), st.sampled_from([(0.0, 0.0), (0.3, 0.0), (0.5, 0.5)])
)
def test_a_tossed_square_ends_at_rest_on_a_side(seed, mu, restitution):
    body, h = uniform_body(rectangle(0.06, 0.06)), 1e-3
    motion = run(body, PlanarLaw(mu, *restitution), *random_toss(np.random.default_rng(seed)), 2500)
    assert np.abs(motion.velocity[-1]).max() < 1e-9
    assert sorted(motion.gap[-1] <= 0.0) == [False, False, True, True]
    assert np.sort(motion.gap[-1])[2] > 0.05
    assert motion.gap.min() > -h * largest_approach(body, motion) - 1e-4


def largest_approach(body: PlanarBody, motion: PlanarMotion) -> float:
    """Largest speed at which a corner nears the ground, m/s."""
    return -float(
        np.einsum(
            "kji,ki->kj", contacts(body.shape, Ground(), motion.position).normal, motion.velocity
        ).min()
    )


# laws of every motion


def check_depth(body: PlanarBody, motion: PlanarMotion, e_n: float) -> None:
    """A corner is never deeper than its entry step took it, but for the turn of the normals within
    the steps.

    With rows frozen at q^k and the corner's distance r from the centre, ``g^(k+1) - g^k`` is ``h
    u^+`` but for at most ``r (h omega)^2 / 2``, and u at q^(k+1) differs from u^+ by at most ``r h
    omega^2``. A touching corner has ``u^+ >= -e u``, so it sinks by at most e times what it rose in
    the step before: the steps of a stay add up to at least ``-sum (1/2 + e) r (h omega)^2``.
    """
    h = motion.time[1]
    before = contacts(body.shape, Ground(), motion.position[:-1]).normal
    after = np.einsum("kji,ki->kj", before, motion.velocity[1:])
    turn = np.linalg.norm(body.shape.vertices, axis=1) * (h * motion.velocity[1:, 2:]) ** 2
    allowed = np.zeros(body.shape.n_contacts)
    for k in range(len(turn)):
        inside = motion.gap[k] <= 0.0
        entry = (
            np.minimum(motion.gap[k], 0.0) * (k == 0)
            + h * np.minimum(after[k], 0.0)
            - 0.5 * turn[k]
        )
        allowed = np.where(inside & (k > 0), allowed - (0.5 + e_n) * turn[k], entry)
        assert (motion.gap[k + 1] >= allowed - 1e-9).all(), k


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_touching_corners_obey_the_law_and_others_have_no_impulse(seed, mu, e_n, e_t):
    random = np.random.default_rng(seed)
    body = uniform_body(random_polygon(random))
    motion = run(body, PlanarLaw(mu, e_n, e_t), *random_toss(random), 400)
    at = contacts(body.shape, Ground(), motion.position[:-1])
    u_n, u_n_after = (
        np.einsum("kji,ki->kj", at.normal, v) for v in (motion.velocity[:-1], motion.velocity[1:])
    )
    c_n, c_t, inside = motion.impulse_n[1:], motion.impulse_t[1:], motion.gap[:-1] <= 0.0
    assert inside.any()
    assert not c_n[~inside].any() and not c_t[~inside].any()
    assert c_n.min() >= 0.0 and (np.abs(c_t) <= mu * c_n + 1e-12).all()
    xi_n = (u_n_after + e_n * u_n)[inside]
    assert np.minimum(xi_n, c_n[inside] / body.mass) == pytest.approx(0.0, abs=1e-8)
    check_depth(body, motion, e_n)


@settings(max_examples=60, deadline=None)
@given(
    SEEDS,
    st.sampled_from([0.0, 0.2, 1.0]),
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, GRAVITY]),
    st.floats(-0.4, 0.4),
)
def test_contacts_give_no_energy_but_what_gravity_gives_in_a_step(seed, mu, e, gravity, slope):
    """With ``e_N = e_T = e``, ``dE* <= -(1 - e) / (1 + e) c . f / 2``.

    Here f is what gravity adds to the contacts' velocities in a step. E* changes by ``c . (u + u^+)
    / 2``. With ``xi = u^+ + e u`` the law has ``c . xi <= 0``, so that this is at most ``(1 - e) c
    . u / 2``. And ``u^+ = u + W c + f`` gives ``(1 + e) c . u = c . xi - c . W c - c . f``, at most
    ``-c . f``.
    """
    random, ground = np.random.default_rng(seed), Ground(slope)
    body = uniform_body(random_polygon(random))
    start, velocity = random_toss(random)
    start[:2] = start[1] * ground.normal
    motion = run(body, PlanarLaw(mu, e, e, gravity), start, velocity, 400, ground)
    balance = energy_balance(body, ground, motion, gravity)
    growth = np.diff(balance.total + balance.scheme)
    along, fall = motion.impulse_t[1:].sum(axis=1), motion.impulse_n[1:].sum(axis=1)
    given_by_gravity = 1e-3 * gravity * (np.cos(slope) * fall + np.sin(slope) * along)
    assert (growth <= 0.5 * (1.0 - e) / (1.0 + e) * given_by_gravity + 1e-9).all()


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_elastic_frictionless_impacts_keep_kinetic_energy_without_gravity(seed):
    random = np.random.default_rng(seed)
    body = uniform_body(random_polygon(random))
    start, velocity = random_toss(random)
    velocity[1] = -abs(velocity[1]) - 0.5
    motion = run(body, PlanarLaw(0.0, 1.0, gravity=0.0), start, velocity, 400)
    kinetic = energy_balance(body, Ground(), motion, 0.0).kinetic
    assert motion.impulse_n.any()
    assert kinetic == pytest.approx(np.full(401, kinetic[0]), rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.floats(-0.3, 0.3), st.sampled_from([0.0, 0.3]))
def test_a_mirrored_toss_moves_as_the_mirror_image(seed, slope, e_n):
    random, mirror = np.random.default_rng(seed), np.array([-1.0, 1.0, -1.0])
    shape = random_polygon(random)
    start, velocity = random_toss(random)
    start[:2] = start[1] * Ground(slope).normal
    law, mirrored = (
        PlanarLaw(0.3, e_n),
        Polygon(tuple((-x, y) for x, y in reversed(shape.vertices))),
    )
    motion = run(uniform_body(shape), law, start, velocity, 200, Ground(slope))
    image = run(uniform_body(mirrored), law, mirror * start, mirror * velocity, 200, Ground(-slope))
    assert motion.impulse_n.any()
    assert image.position == pytest.approx(mirror * motion.position, abs=1e-7)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.floats(-3.0, 3.0), st.sampled_from([0.0, 0.3]))
def test_without_gravity_the_slope_and_place_of_the_ground_do_not_matter(seed, slope, e_n):
    random, ground = np.random.default_rng(seed), Ground(slope, 0.3, -0.7)
    body, law = uniform_body(random_polygon(random)), PlanarLaw(0.3, e_n, gravity=0.0)
    start, velocity = random_toss(random)
    velocity[1] -= 0.5
    turn = np.array(
        [[np.cos(slope), -np.sin(slope), 0.0], [np.sin(slope), np.cos(slope), 0.0], [0.0, 0.0, 1.0]]
    )
    shift = np.array([ground.x0, ground.y0, slope])
    motion = run(body, law, start, velocity, 200)
    turned = run(body, law, turn @ start + shift, turn @ velocity, 200, ground)
    assert motion.impulse_n.any()
    assert turned.position == pytest.approx(motion.position @ turn.T + shift, abs=1e-7)


def test_a_body_in_flight_is_ballistic():
    motion = run(
        uniform_body(rectangle(0.06, 0.04)),
        PlanarLaw(0.3, 0.5),
        [0.0, 9.0, 0.0],
        [1.0, 2.0, 7.0],
        500,
    )
    k = np.arange(501)
    expected = np.column_stack(
        [1e-3 * k, 9.0 + 2e-3 * k - 0.5e-6 * GRAVITY * k * (k + 1), 7e-3 * k]
    )
    assert motion.position == pytest.approx(expected, abs=1e-12)
    assert not motion.impulse_n.any()

"""The contact law holds after every solve, whatever the contacts; solvers, symmetries and energy
agree with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.tossing.simulate import contact_kernel as ck
from contactid.tossing.simulate.contact_newton import solve_contacts

TOLERANCE, MAX_ITERATIONS = 1e-11, 100
DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True)
class Problem:
    """The contacts of one step and the body's motion before it, in C."""

    mass: float
    inertia: np.ndarray  # (3, 3)
    arm: np.ndarray  # (n, 3)
    before: np.ndarray  # (6,) twist before gravity and impulses
    gravity: np.ndarray  # (3,) change of velocity by gravity in the step
    mu: float
    e_n: float
    e_t: float = 0.0

    @property
    def free(self) -> np.ndarray:
        return self.before + np.r_[self.gravity, 0.0, 0.0, 0.0]

    def at_contacts(self, twist: np.ndarray) -> np.ndarray:
        """(n, 3) velocities of the contacts."""
        return twist[:3] + np.cross(twist[3:], self.arm)

    def kinetic(self, twist: np.ndarray) -> float:
        return 0.5 * self.mass * twist[:3] @ twist[:3] + 0.5 * twist[3:] @ self.inertia @ twist[3:]


@dataclass(frozen=True)
class Solved:
    impulse: np.ndarray  # (n, 3)
    twist: np.ndarray  # (6,)
    residual: float
    iterations: int
    needed: float = np.nan
    violation: float = np.nan  # as the solver states it


def symmetric(tensor: np.ndarray) -> tuple[float, ...]:
    return tuple(float(tensor[i, j]) for i in range(3) for j in range(i, 3))


def solve(
    problem: Problem, start: np.ndarray | None = None, prox: tuple[float, float, int] | None = None
) -> Solved:
    """Solve with the converged solver, or with ``prox`` = (r G, tolerance, iterations)."""
    n = len(problem.arm)
    table = np.zeros((8, ck.COLUMNS))
    table[:n, ck.ARM : ck.ARM + 3] = problem.arm
    restitution = np.array([problem.e_t, problem.e_t, problem.e_n])
    table[:n, ck.OFFSET : ck.OFFSET + 3] = restitution * problem.at_contacts(problem.before)
    table[:n, ck.IMPULSE : ck.IMPULSE + 3] = 0.0 if start is None else start
    inertia, inverse = symmetric(problem.inertia), symmetric(np.linalg.inv(problem.inertia))
    free, inverse_mass = tuple(map(float, problem.free)), 1.0 / problem.mass
    needed = violation = np.nan
    if prox is None:
        iterations, violation, needed, twist = solve_contacts(
            n, inverse_mass, inertia, inverse, problem.mu, TOLERANCE, MAX_ITERATIONS, free, table
        )
    else:
        step = prox[0] / np.linalg.eigvalsh(dense_delassus(problem)).max()
        iterations = ck.solve_prox(
            n, inverse_mass, inverse, problem.mu, step, prox[1], prox[2], free, table
        )
        twist = ck.twist_of(n, inverse_mass, inverse, free, table)
    residual = ck.contact_residual(n, inverse_mass, inverse, problem.mu, free, table)
    impulse = table[:n, ck.IMPULSE : ck.IMPULSE + 3].copy()
    return Solved(impulse, np.array(twist), residual, iterations, needed, violation)


def directions(problem: Problem) -> np.ndarray:
    """W (3n, 6), one block [1, -[r]x] per contact."""
    skew = np.array([[[0, -z, y], [z, 0, -x], [-y, x, 0]] for x, y, z in problem.arm])
    return np.concatenate([np.concatenate([np.eye(3), -s], axis=1) for s in skew])


def dense_delassus(problem: Problem) -> np.ndarray:
    mass_matrix = np.zeros((6, 6))
    mass_matrix[:3, :3], mass_matrix[3:, 3:] = problem.mass * np.eye(3), problem.inertia
    w = directions(problem)
    return w @ np.linalg.solve(mass_matrix, w.T)


def box_problem(
    rng: np.random.Generator,
    n: int,
    mu: float,
    e_n: float,
    e_t: float = 0.0,
    *,
    gravity: float = 0.06,
) -> Problem:
    """A box of random proportions that touches with 1 vertex, an edge (2), or a face (3 or 4),
    slightly tilted.
    """
    size = rng.uniform(0.05, 0.2, 3)
    mass = rng.uniform(0.1, 2.0)
    spun = Rotation.from_euler("z", rng.uniform(0, 2 * np.pi))
    tilt = Rotation.from_rotvec(rng.normal(0, (1.0, 0.3, 1e-3, 1e-3)[n - 1], 3))
    rotation = (tilt * spun).as_matrix()
    corners = 0.5 * size * np.array([[1, 1, -1], [-1, 1, -1], [1, -1, -1], [-1, -1, -1]])
    moments = mass / 12.0 * (size @ size - size**2)
    return Problem(
        mass=mass,
        inertia=rotation @ np.diag(moments) @ rotation.T,
        arm=corners[:n] @ rotation.T,
        before=np.r_[rng.normal(0, 1, 3), rng.normal(0, 5, 3)] * 10.0 ** rng.uniform(-3, 0),
        gravity=gravity * DOWN,
        mu=mu,
        e_n=e_n,
        e_t=e_t,
    )


seeds = st.integers(0, 2**32 - 1)
counts = st.integers(1, 4)
unique = st.integers(
    1, 3
)  # with four vertices of a face even the motion depends on how they share the load
frictions = st.one_of(st.sampled_from([0.0, 0.2, 1.0]), st.floats(0.0, 1.5))
restitutions = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))


@settings(max_examples=600, deadline=None)
@given(seeds, counts, frictions, restitutions)
def test_the_law_holds_after_every_solve(seed, n, mu, e_n):
    problem = box_problem(np.random.default_rng(seed), n, mu, e_n)
    solved = solve(problem)
    assert solved.residual < 1e-9
    # and the law once more, in its own words
    xi = problem.at_contacts(solved.twist) + [0.0, 0.0, e_n] * problem.at_contacts(problem.before)
    normal, tangential = solved.impulse[:, 2], np.linalg.norm(solved.impulse[:, :2], axis=1)
    assert (normal >= -1e-9).all() and (xi[:, 2] >= -2e-9).all()
    assert (tangential <= mu * normal + 1e-9).all()
    assert (np.minimum(normal, xi[:, 2]) <= 2e-9).all()
    slides = np.linalg.norm(xi[:, :2], axis=1) > 1e-5
    assert np.allclose(tangential[slides], mu * normal[slides], atol=1e-8)
    assert (np.einsum("ij,ij->i", solved.impulse[:, :2], xi[:, :2])[slides] <= 1e-12).all()
    assert np.allclose(
        solved.twist - problem.free, momentum_change(problem, solved.impulse), atol=1e-8
    )


def momentum_change(problem: Problem, impulse: np.ndarray) -> np.ndarray:
    total, moment = impulse.sum(0), np.cross(problem.arm, impulse).sum(0)
    return np.r_[total / problem.mass, np.linalg.solve(problem.inertia, moment)]


def test_the_residual_sees_a_wrong_impulse():
    problem = box_problem(np.random.default_rng(1), 2, 0.3, 0.2)
    table = np.zeros((8, ck.COLUMNS))
    solved = solve(problem)
    inverse = symmetric(np.linalg.inv(problem.inertia))
    for error in (0.0, 1e-6):
        table[:2, ck.ARM : ck.ARM + 3] = problem.arm
        table[:2, ck.OFFSET : ck.OFFSET + 3] = [0.0, 0.0, 0.2] * problem.at_contacts(problem.before)
        table[:2, ck.IMPULSE : ck.IMPULSE + 3] = solved.impulse * (1.0 + error)
        residual = ck.contact_residual(
            2, 1.0 / problem.mass, inverse, problem.mu, tuple(map(float, problem.free)), table
        )
        size = error * np.abs(solved.impulse).max() / problem.mass
        assert residual >= 0.1 * size and residual <= 1e-9 + 100.0 * size


@pytest.mark.parametrize("slip", [0.05, 3.0])
@pytest.mark.parametrize("e_n", [0.0, 0.6])
def test_central_impact_of_a_point_mass(slip, e_n):
    """Contact below the centre of a body too heavy to turn: the textbook impact of a particle."""
    problem = Problem(
        2.0,
        np.eye(3) * 1e12,
        np.array([[0.0, 0.0, -0.1]]),
        np.r_[slip, 0.0, -1.0, 0, 0, 0],
        0 * DOWN,
        0.3,
        e_n,
    )
    solved = solve(problem)
    normal = 2.0 * (1.0 + e_n)
    tangential = min(2.0 * slip, 0.3 * normal)
    assert np.allclose(solved.impulse, [[-tangential, 0.0, normal]], rtol=1e-9)
    assert solved.twist[2] == pytest.approx(e_n)
    assert (solved.needed < 0.3) == (tangential < 0.3 * normal), (
        "finite exactly where the contact sticks"
    )


def test_the_fixed_point_gives_the_same_motion_of_a_vertex():
    rng = np.random.default_rng(3)
    for _ in range(150):
        problem = box_problem(rng, 1, rng.uniform(0, 1), rng.uniform(0, 1))
        ours, theirs = solve(problem), solve(problem, prox=(0.6, 1e-17, 200_000))
        assert (
            np.abs(ours.twist - theirs.twist)[:3].max()
            < 1e-11 + 1e-10 * np.abs(problem.before).max()
        )


def test_the_fixed_point_gives_the_same_motion_of_edges():
    """Impulses along an edge are not unique, the motion is; the fixed point needs very many
    iterations for it.
    """
    rng = np.random.default_rng(4)
    compared = 0
    for _ in range(60):
        problem = box_problem(rng, 2, rng.uniform(0, 0.5), rng.uniform(0, 1))
        theirs = solve(problem, prox=(0.6, 1e-16, 300_000))
        if theirs.residual < 1e-10:
            compared += 1
            assert np.abs(solve(problem).twist - theirs.twist).max() < 1e-7
    assert compared > 40


def test_an_evenly_resting_face_is_loaded_evenly():
    """Four impulses, three equations: from no guess the solver takes the smallest impulses, which
    are equal here.
    """
    square = 0.05 * np.array(
        [[1.0, 1.0, -1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, -1.0]]
    )
    problem = Problem(1.0, np.eye(3) * 1e-3, square, np.zeros(6), 0.1 * DOWN, 0.4, 0.0)
    solved = solve(problem)
    assert np.allclose(solved.impulse, [[0.0, 0.0, 0.025]] * 4, atol=1e-9)
    assert np.abs(solved.twist).max() < 1e-11
    uneven = solved.impulse + np.outer([1.0, -1.0, -1.0, 1.0], [0.0, 0.0, 0.01])
    again = solve(problem, start=uneven)
    assert again.iterations == 0 and np.allclose(again.impulse, uneven), (
        "a solution is its own solution"
    )


@settings(max_examples=200, deadline=None)
@given(seeds, counts, frictions, restitutions)
def test_impulses_never_add_kinetic_energy_when_both_restitutions_agree(seed, n, mu, e):
    problem = box_problem(np.random.default_rng(seed), n, mu, e, e)
    solved = solve(problem)
    scale = problem.kinetic(problem.free) + problem.kinetic(problem.before)
    assert problem.kinetic(solved.twist) <= problem.kinetic(problem.free) + 1e-8 * scale + 1e-12


@settings(max_examples=150, deadline=None)
@given(seeds, counts, frictions)
def test_inelastic_impulses_take_the_energy_of_their_jump(seed, n, mu):
    """For e_N = 0 even T_free - T^+ >= P.G.P / 2: the bound behind the energy limit of a step."""
    problem = box_problem(np.random.default_rng(seed), n, mu, 0.0)
    solved = solve(problem)
    jump = solved.impulse.ravel() @ dense_delassus(problem) @ solved.impulse.ravel()
    lost = problem.kinetic(problem.free) - problem.kinetic(solved.twist)
    assert lost >= 0.5 * jump - 1e-8 * (problem.kinetic(problem.free) + 1e-3)


@settings(max_examples=150, deadline=None)
@given(seeds, unique, frictions, restitutions, st.floats(0.0, 6.3))
def test_friction_is_isotropic(seed, n, mu, e_n, angle):
    problem = box_problem(np.random.default_rng(seed), n, mu, e_n)
    turn = Rotation.from_euler("z", angle).as_matrix()
    turned = replace(
        problem,
        inertia=turn @ problem.inertia @ turn.T,
        arm=problem.arm @ turn.T,
        before=np.r_[turn @ problem.before[:3], turn @ problem.before[3:]],
    )
    plain, other = solve(problem), solve(turned)
    assert np.abs(np.r_[turn @ plain.twist[:3], turn @ plain.twist[3:]] - other.twist).max() < 1e-6


@settings(max_examples=150, deadline=None)
@given(seeds, unique, frictions, restitutions, st.floats(0.01, 100.0))
def test_the_motion_does_not_depend_on_the_mass(seed, n, mu, e_n, factor):
    problem = box_problem(np.random.default_rng(seed), n, mu, e_n)
    heavier = replace(problem, mass=problem.mass * factor, inertia=problem.inertia * factor)
    plain, other = solve(problem), solve(heavier)
    assert np.abs(plain.twist - other.twist).max() < 1e-6


@settings(max_examples=150, deadline=None)
@given(seeds, counts, st.floats(0.3, 1.5), st.floats(1.0, 3.0))
def test_a_sticking_solution_is_the_same_for_every_larger_friction(seed, n, mu, factor):
    problem = box_problem(np.random.default_rng(seed), n, mu, 0.0)
    problem = replace(problem, before=problem.before * [0.01, 0.01, 1.0, 1.0, 1.0, 0.01])
    solved, other = solve(problem), solve(replace(problem, mu=mu * factor))
    if np.isfinite(solved.needed):
        assert solved.needed <= mu
        assert (solved.twist == other.twist).all() and (solved.impulse == other.impulse).all()
        assert other.needed == solved.needed


def test_a_single_corner_that_jams_is_solved_or_says_that_it_is_not():
    """Bodies far from boxes, where the search for the direction of sliding alone finds none in a
    hundredth of the cases.
    """
    unsolved = 0
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        inertia = axes @ np.diag(10.0 ** rng.uniform(-6.0, 0.0, 3)) @ axes.T
        arm, mu = rng.normal(0.0, 0.1, (1, 3)), 10.0 ** rng.uniform(-1.0, 1.5)
        before = np.r_[rng.normal(0.0, 1.0, 3), rng.normal(0.0, 5.0, 3)]
        solved = solve(Problem(1.0, inertia, arm, before, 0.06 * DOWN, mu, 0.0))
        assert solved.residual < 1e-7
        unsolved += solved.residual > 1e-9
        assert solved.residual <= 1e-9 or solved.violation > 1e-9
    assert unsolved < 10


def test_an_unsolved_problem_says_so():
    problem = box_problem(np.random.default_rng(5), 4, 0.5, 0.5)
    assert solve(problem, prox=(1e-3, 1e-14, 3)).iterations == 4
    assert solve(problem, prox=(1e-3, 1e-14, 3)).residual > 1e-6

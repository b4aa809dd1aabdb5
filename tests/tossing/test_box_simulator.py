"""Motions with closed forms, conservation and energy laws, and agreement with the paper's fixed
point.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.simulate.box import (
    GRAVITY,
    ContactParameters,
    State,
    SteppingOptions,
    Trajectory,
    simulate,
)

STEP = 1.0 / 360.0
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
HALF = 0.05
LAID = (
    HALF - 1e-9
)  # a vertex at exactly 0 may count as open by rounding, and the box would fall a step deep


def cube(mass: float = 0.4, center=(0.0, 0.0, 0.0), inertia=None) -> BodyProperties:
    corners = HALF * np.array(
        [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float
    )
    matrix = np.eye(3) * mass * (2 * HALF) ** 2 / 6.0 if inertia is None else np.diag(inertia)
    return BodyProperties(corners, mass, matrix, np.array(center, dtype=float))


def brick() -> BodyProperties:
    return cube(inertia=(4e-4, 6e-4, 9e-4))


def state(position, velocity=(0, 0, 0), omega=(0, 0, 0), orientation=UPRIGHT) -> State:
    return State(
        *(np.array(part, dtype=float) for part in (position, orientation, velocity, omega))
    )


def random_toss(random: np.random.Generator) -> State:
    return state(
        [0, 0, random.uniform(0.12, 0.2)],
        [random.uniform(0.3, 1.2), random.uniform(-0.3, 0.3), random.uniform(-0.5, 0.3)],
        random.uniform(-8, 8, 3),
        rotations.exp(random.uniform(-1.5, 1.5, 3)),
    )


def run(body, start, mu, e_n, n, *, step=STEP, belt=None, **options) -> Trajectory:
    return simulate(
        body, start, ContactParameters(mu, e_n), SteppingOptions(step, **options), n, belt
    )


def energies(body: BodyProperties, start: State, motion: Trajectory) -> np.ndarray:
    """Total energy before the first step and after every step; the body's origin must be its centre
    of mass.
    """
    spin = rotations.matrices(start.orientation).T @ start.angular_velocity
    kinetic = (
        0.5 * body.mass * start.linear_velocity @ start.linear_velocity
        + 0.5 * spin @ body.inertia @ spin
    )
    return np.r_[kinetic + body.mass * GRAVITY * start.position[2], motion.energy]


# flight


def test_ballistic_flight_is_exact():
    center = np.array([0.01, -0.02, 0.005])
    body = cube(center=center)
    start = state(
        [0.1, 0.2, 9.0],
        [1.0, -2.0, 3.0],
        [2.0, -7.0, 5.0],
        rotations.exp(np.array([0.3, -0.2, 0.9])),
    )
    motion = run(body, start, 0.3, 0.2, 241)
    time = STEP * np.arange(241)[:, None]
    turned = rotations.matrices(start.orientation)
    released = start.position + turned @ center
    velocity = start.linear_velocity + np.cross(start.angular_velocity, turned @ center)
    mass_center = motion.position + rotations.matrices(motion.orientation) @ center
    expected = released + velocity * time + 0.5 * time**2 * [0.0, 0.0, -GRAVITY]
    assert np.abs(mass_center - expected).max() < 1e-12
    spun = rotations.as_rotation(
        rotations.exp(start.angular_velocity * time)
    ) * rotations.as_rotation(start.orientation)
    assert rotations.angle_between(motion.orientation, rotations.as_quaternions(spun)).max() < 1e-12
    assert np.abs(np.linalg.norm(motion.orientation, axis=1) - 1.0).max() < 1e-14
    assert np.abs(motion.angular_velocity - start.angular_velocity).max() < 1e-12, (
        "a cube spins about any axis"
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_torque_free_turning_keeps_its_kinetic_energy(seed):
    random = np.random.default_rng(seed)
    body = brick()
    motion = run(body, state([0, 0, 50.0], omega=random.uniform(-15, 15, 3)), 0.3, 0.2, 200)
    spin = np.einsum("nji,nj->ni", rotations.matrices(motion.orientation), motion.angular_velocity)
    kinetic = np.einsum("ni,ij,nj->n", spin, body.inertia, spin)
    assert np.abs(kinetic / kinetic[0] - 1.0).max() < 1e-12


def test_torque_free_turning_keeps_its_angular_momentum_to_second_order():
    body, errors = brick(), []
    for step in (1 / 100, 1 / 200, 1 / 400):
        motion = run(
            body,
            state([0, 0, 50.0], omega=[6.0, -4.0, 3.0]),
            0.3,
            0.2,
            round(0.8 / step) + 1,
            step=step,
        )
        turned = rotations.matrices(motion.orientation)
        momentum = np.einsum(
            "nij,jk,nlk,nl->ni", turned, body.inertia, turned, motion.angular_velocity
        )
        errors.append(
            np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0])
        )
    assert errors[0] < 1e-2
    assert 3.5 < errors[0] / errors[1] < 4.5 and 3.5 < errors[1] / errors[2] < 4.5


def test_the_motion_does_not_depend_on_where_the_body_frame_sits():
    random, shift = np.random.default_rng(8), np.array([0.03, -0.01, 0.02])
    plain = brick()
    shifted = BodyProperties(plain.vertices + shift, plain.mass, plain.inertia, shift)
    start = random_toss(random)
    offset = rotations.matrices(start.orientation) @ shift
    moved = state(
        start.position - offset,
        start.linear_velocity - np.cross(start.angular_velocity, offset),
        start.angular_velocity,
        start.orientation,
    )
    first, second = run(plain, start, 0.3, 0.2, 120), run(shifted, moved, 0.3, 0.2, 120)
    assert first.contacts.max() > 1
    difference = second.position + rotations.matrices(second.orientation) @ shift - first.position
    assert np.abs(difference).max() < 1e-7


# rest, sliding, slopes, belts


@pytest.mark.parametrize(
    "body", [cube(), brick(), cube(center=(0.01, 0.02, -0.01))], ids=["cube", "brick", "loaded"]
)
@pytest.mark.parametrize("e_n", [0.0, 0.5])
def test_a_resting_box_stays_at_rest(body, e_n):
    motion = run(body, state([0, 0, LAID]), 0.4, e_n, 361)
    assert np.abs(motion.position - [0, 0, LAID]).max() < 1e-9
    assert rotations.angle_between(motion.orientation, UPRIGHT).max() < 1e-9
    assert (motion.contacts == 4).all()
    assert motion.impulses.sum(1)[-1] == pytest.approx([0, 0, body.mass * GRAVITY * STEP], abs=1e-9)


@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_a_sliding_box_stops_after_v2_over_2_mu_g(mu):
    errors = []
    for step in (STEP, STEP / 2):
        motion = run(
            cube(), state([0, 0, LAID], [0.6, 0.8, 0]), mu, 0.0, round(2.0 / step), step=step
        )
        travelled = motion.position[-1, :2] @ [0.6, 0.8]
        errors.append(abs(travelled - 1.0 / (2.0 * mu * GRAVITY)))
        assert np.abs(motion.position[-1, :2] @ [-0.8, 0.6]) < 1e-9, "friction opposes the motion"
        assert np.abs(motion.linear_velocity[-1]).max() < 1e-10
    assert errors[0] < 0.5 * STEP * mu * GRAVITY * STEP + 1e-10, (
        "the midpoint scheme errs in the last step only"
    )
    assert errors[1] <= errors[0] + 1e-10


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 0.7), st.floats(0.02, 0.8), st.floats(0.0, 6.28))
def test_a_box_on_a_slope_sticks_exactly_where_the_angle_of_friction_allows(mu, slope, heading):
    if abs(np.tan(slope) - mu) < 1e-3:
        return
    downhill = np.array([np.cos(heading), np.sin(heading), 0.0])
    gravity = tuple(GRAVITY * (np.sin(slope) * downhill - np.cos(slope) * np.array([0, 0, 1.0])))
    motion = run(cube(), state([0, 0, LAID]), mu, 0.0, 91, gravity=gravity)
    acceleration = GRAVITY * max(0.0, np.sin(slope) - mu * np.cos(slope))
    along = motion.position @ downhill
    assert np.abs(along - 0.5 * acceleration * (STEP * np.arange(91)) ** 2).max() < 1e-9
    assert (along[-1] < 1e-9) == (np.tan(slope) < mu)


def test_a_box_laid_on_a_belt_takes_its_speed_and_keeps_it():
    belt, mu = np.array([0.5, -0.2, 0.0]), 0.3
    motion = run(cube(), state([0, 0, LAID]), mu, 0.0, 361, belt=belt)
    speed = np.linalg.norm(motion.linear_velocity[:, :2], axis=1)
    reach = np.linalg.norm(belt) / (mu * GRAVITY)
    slipping = STEP * np.arange(361) < reach - STEP
    assert np.allclose(speed[slipping], mu * GRAVITY * STEP * np.arange(361)[slipping], atol=1e-9)
    assert np.abs(motion.linear_velocity[STEP * np.arange(361) > reach + STEP] - belt).max() < 1e-9
    assert np.abs(motion.angular_velocity).max() < 1e-9


# impacts


@pytest.mark.parametrize("e_n", [0.0, 0.4, 1.0])
def test_a_flat_drop_rebounds_with_e_n_times_its_speed(e_n):
    motion = run(brick(), state([0, 0, HALF + 0.02]), 0.5, e_n, 60)
    step = int(np.argmax(motion.contacts > 0))
    before, after = motion.linear_velocity[step], motion.linear_velocity[step + 1]
    assert motion.contacts[step] == 4 and before[2] < -0.5
    assert after == pytest.approx([0, 0, -e_n * before[2]], abs=1e-9)
    assert np.abs(motion.angular_velocity[step + 1]).max() < 1e-8


@pytest.mark.parametrize("e_n", [0.0, 0.5])
def test_a_frictionless_vertex_drop_matches_the_analytic_impact_map(e_n):
    """N = -((1 + e) v_N + g h) / G_NN with G_NN = 1/m + (r x n).I^-1 (r x n): one vertex, no
    friction.
    """
    body = brick()
    start = state(
        [0, 0, 0.1], [0, 0, -1.0], [1.0, 2.0, 0.5], rotations.exp(np.array([0.7, 0.35, 0.0]))
    )
    motion = run(body, start, 0.0, e_n, 40)
    step = int(np.argmax(motion.contacts > 0))
    assert motion.contacts[step] == 1
    vertex = int(np.argmax(motion.impulses[step, :, 2]))
    v, w = motion.linear_velocity[step], motion.angular_velocity[step]
    middle = rotations.as_rotation(motion.orientation[step]) * rotations.as_rotation(
        rotations.exp(0.5 * STEP * rotations.matrices(motion.orientation[step]).T @ w)
    )
    turned = middle.as_matrix()
    arm, inertia = turned @ body.vertices[vertex], turned @ body.inertia @ turned.T
    lever = np.cross(arm, [0, 0, 1.0])
    torque_free = np.linalg.solve(
        inertia, -STEP * np.cross(w, inertia @ w)
    )  # to first order; tested to that
    approach = v[2] + np.cross(w, arm)[2]
    free = approach - GRAVITY * STEP + np.cross(torque_free, arm)[2]
    normal = -(free + e_n * approach) / (1.0 / body.mass + lever @ np.linalg.solve(inertia, lever))
    assert motion.impulses[step, vertex] == pytest.approx([0, 0, normal], rel=1e-3)
    jump = motion.linear_velocity[step + 1] - v + [0, 0, GRAVITY * STEP]
    assert jump == pytest.approx(motion.impulses[step].sum(0) / body.mass, abs=1e-12)


# energy


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
def test_energy_of_an_inelastic_step_is_bounded(seed, mu):
    """E+ - E- = (T+ - T_free) - (h / 2) g.P, and inelastic impulses lose at least P.G.P / 2 by
    themselves.

    So a step never gains more than m (g h)^2 / 8, whatever the contacts; over a toss that is O(h).
    """
    body, start = cube(), random_toss(np.random.default_rng(seed))
    motion = run(body, start, mu, 0.0, 200)
    limit = body.mass * (GRAVITY * STEP) ** 2 / 8.0
    total = energies(body, start, motion)
    gained = np.diff(total)
    by_impulses = gained + 0.5 * STEP * motion.impulses.sum(1) @ [0.0, 0.0, -GRAVITY]
    assert by_impulses.max() < 1e-9, "impulses add no kinetic energy"
    assert gained.max() < limit + 1e-9
    assert np.abs(gained[motion.contacts == 0]).max() < 1e-12, "flight keeps the energy"


def test_the_energy_that_a_step_can_gain_shrinks_with_its_square():
    """A box that tips over an edge reaches the bound, so it isn't idle."""
    start = state(
        [0, 0, HALF + 0.1], [0.4, 0, 0], [0, 3.0, 0], rotations.exp(np.array([0.2, 0.3, 0.0]))
    )
    for step in (STEP, STEP / 4):
        gained = np.diff(
            energies(cube(), start, run(cube(), start, 1.0, 0.0, round(1.0 / step), step=step))
        )
        limit = 0.4 * (GRAVITY * step) ** 2 / 8.0
        assert 0.3 * limit < gained.max() < limit + 1e-10


def test_normal_restitution_alone_can_add_energy():
    """Kane's paradox: Newton's law with friction, e_N > 0 = e_T. A limit of the law, not of the
    solver.
    """
    body, random = cube(), np.random.default_rng(11)
    gains = []
    for _ in range(60):
        start = random_toss(random)
        motion = run(body, start, 0.5, 1.0, 120)
        assert motion.residual.max() < 1e-9
        gains.append((energies(body, start, motion).max() / motion.energy[0]) - 1.0)
    assert max(gains) > 1e-3


# the two solvers


def prox_options(step: float) -> dict:
    """The fixed point, converged: r well below 1 / G of a light cube's vertices."""
    return {
        "step": step,
        "solver": "prox",
        "tolerance": 1e-15,
        "max_iterations": 30_000,
        "prox_step": 0.02,
    }


def test_both_solvers_agree_to_rounding_until_the_first_hyperstatic_step():
    random, compared = np.random.default_rng(21), 0
    for body in (cube(), brick()):
        for _ in range(12):
            start, mu, e_n = random_toss(random), random.uniform(0, 0.8), random.uniform(0, 0.8)
            ours = run(body, start, mu, e_n, 70)
            theirs = run(body, start, mu, e_n, 70, **prox_options(STEP))
            hyperstatic = (ours.contacts >= 2) | (theirs.contacts >= 2)
            until = int(np.argmax(hyperstatic)) if hyperstatic.any() else len(hyperstatic)
            compared += int((ours.contacts[:until] == 1).sum())
            assert np.abs(ours.position - theirs.position)[: until + 1].max() < 1e-12
    assert compared > 30, "impacts were among them"


def test_both_solvers_agree_on_where_tosses_end():
    """With two or more contacts the impulses are not unique, and exact solutions may part; their
    statistics don't.
    """
    random = np.random.default_rng(22)
    ours, theirs = [], []
    for _ in range(12):
        start = random_toss(random)
        ours.append(run(cube(), start, 0.3, 0.1, 130))
        theirs.append(run(cube(), start, 0.3, 0.1, 130, **prox_options(STEP)))
    distances = [np.abs(a.position - b.position).max() for a, b in zip(ours, theirs, strict=True)]
    assert np.median(distances) < 1e-4
    travelled = [
        np.mean([np.linalg.norm(m.position[-1, :2]) for m in motions]) for motions in (ours, theirs)
    ]
    assert travelled[0] == pytest.approx(travelled[1], rel=0.01)


@pytest.mark.parametrize("e_n", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0])
def test_every_step_is_solved(mu, e_n):
    random, closed = np.random.default_rng(31), 0
    for _ in range(8):
        motion = run(brick(), random_toss(random), mu, e_n, 400)
        closed = max(closed, motion.contacts.max())
        assert motion.residual.max() < 1e-9 and motion.iterations.max() <= 100
    assert closed >= (2 if e_n > 0.5 else 4)


def test_a_step_that_is_not_solved_says_so():
    start = random_toss(np.random.default_rng(1))
    motion = run(cube(), start, 0.3, 0.1, 60, solver="prox", tolerance=1e-12, max_iterations=2)
    failed = motion.iterations == 3
    assert failed.any() and motion.residual[failed].max() > 1e-6
    assert not failed[motion.contacts == 0].any()


# sampling and errors


def test_substeps_are_steps_between_samples():
    start = random_toss(np.random.default_rng(2))
    coarse = run(cube(), start, 0.3, 0.1, 41, step=STEP, substeps=4)
    fine = run(cube(), start, 0.3, 0.1, 161, step=STEP / 4)
    assert (coarse.position == fine.position[::4]).all() and (coarse.energy == fine.energy).all()
    assert len(coarse.contacts) == 160 and coarse.impulses.shape == (160, 8, 3)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda: ContactParameters(-0.1, 0.2), "friction_mu"),
        (lambda: ContactParameters(0.1, 1.2), "restitution_e_n"),
        (lambda: run(cube(), state([0, 0, np.nan]), 0.1, 0.1, 3), "NaN"),
        (lambda: run(cube(), state([0, 0, 1.0]), 0.1, 0.1, 0), "no samples"),
    ],
)
def test_what_cannot_be_simulated_is_refused(wrong, text):
    with pytest.raises(ContactIdError, match=text):
        wrong()


# mirror images


@pytest.mark.parametrize("law", ["newton", "incremental"])
def test_tosses_and_their_mirror_images_end_in_mirror_images(law):
    """No handedness and no order of the corners: y -> -y of the start is y -> -y of the whole
    motion.
    """
    mirror = np.array([1.0, -1.0, 1.0])
    # a rotation vector and an angular velocity are axial vectors
    axial, quaternion = -mirror, np.array([1.0, -1.0, 1.0, -1.0])
    random = np.random.default_rng(31)
    for _ in range(10):
        start = random_toss(random)
        mirrored = State(
            mirror * start.position,
            quaternion * start.orientation,
            mirror * start.linear_velocity,
            axial * start.angular_velocity,
        )
        motion, other = (run(cube(), one, 0.3, 0.3, 150, law=law) for one in (start, mirrored))
        assert mirror * other.position == pytest.approx(motion.position, abs=1e-6)
        turn = rotations.angle_between(quaternion * other.orientation, motion.orientation)
        assert turn.max() < 1e-5

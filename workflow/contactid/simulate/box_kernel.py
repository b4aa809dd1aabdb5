"""Compiled time-stepping of one rigid body over a plane: Moreau's midpoint scheme (eqs. 3 to 11, tossing paper).

A state is one row of 13 numbers: centre of mass in C (3, m), quaternion of R_CB (4, real part first), velocity of the
centre of mass in C (3, m/s), angular velocity in B (3, rad/s). One step of length h:

1. half a step of motion with the old twist gives the midpoint pose, where contacts are detected and force directions taken;
2. free motion: gravity, and the gyroscopic term of eq. 3 by the implicit midpoint rule, which keeps the kinetic energy;
3. impulses of the closed contacts from the impact and friction law (:mod:`contactid.simulate.contact_kernel`);
4. half a step of motion with the new twist.

Deviation: the authors' program writes eq. 3 in the body frame and takes the term ``v x* M v`` at the start of the step,
which adds kinetic energy m |omega x v|^2 h^2 / 2 in every step of free flight. Here linear momentum is kept in the
inertial orientation, so flight is exact and energy can't grow in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from contactid.simulate.contact_kernel import contact_residual, solve_gauss_seidel, solve_prox

_OPTIONS = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}

STATE_SIZE = 13
GAUSS_SEIDEL, PROX = 0, 1
_REST_SPEED = 1e-9  # m/s: a body slower than this before and after a step repeats that step for ever


class BodyArrays(NamedTuple):
    """A rigid body as the compiled code wants it; frame B throughout."""

    vertices: np.ndarray  # (n_vertices, 3) m, from the centre of mass
    center_of_mass: np.ndarray  # (3,) m, from the body's origin
    inverse_mass: float
    inertia: np.ndarray  # (3, 3) kg m2
    inverse_inertia: np.ndarray  # (3, 3)
    spherical: bool  # the inertia is a multiple of the identity: no gyroscopic term


class ContactLaw(NamedTuple):
    """Parameters of the impact and friction law and of its solver."""

    friction_mu: float
    restitution_e_n: float
    restitution_e_t: float
    surface_velocity: np.ndarray  # (3,) m/s in C
    gravity: np.ndarray  # (3,) m/s2 in C
    solver: int  # GAUSS_SEIDEL or PROX
    tolerance: float  # m/s (Gauss-Seidel) or N s (prox)
    max_iterations: int
    prox_step: float  # kg, the r of eqs. 8 and 10


@numba.njit(**_OPTIONS)
def with_values(law, friction_mu, restitution_e_n, surface_velocity):
    """The same law with other friction, restitution and surface velocity (compiled code has no ``_replace``)."""
    return ContactLaw(
        friction_mu,
        restitution_e_n,
        law.restitution_e_t,
        surface_velocity,
        law.gravity,
        law.solver,
        law.tolerance,
        law.max_iterations,
        law.prox_step,
    )


class Workspace(NamedTuple):
    """Scratch memory of a rollout; nothing in it outlives one step, except ``memory`` (impulses of the last step)."""

    memory: np.ndarray  # (n_vertices, 3) N s, by vertex
    arm: np.ndarray
    pre: np.ndarray
    impulse: np.ndarray
    vertex: np.ndarray  # (n_vertices,) index of the vertex of each contact
    block: np.ndarray
    block_inverse: np.ndarray
    rotation: np.ndarray
    inertia_c: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    report: np.ndarray  # (4,) see the constants below


# entries of Workspace.report after a step
CONTACTS, ITERATIONS, FRICTION_NEEDED, RESIDUAL = 0, 1, 2, 3


@numba.njit(**_OPTIONS)
def new_workspace(n_vertices):
    """Allocate the scratch memory of one rollout."""
    return Workspace(
        np.zeros((n_vertices, 3)),
        np.empty((n_vertices, 3)),
        np.empty((n_vertices, 3)),
        np.empty((n_vertices, 3)),
        np.empty(n_vertices, dtype=np.int64),
        np.empty((n_vertices, 3, 3)),
        np.empty((n_vertices, 3, 3)),
        np.empty((3, 3)),
        np.empty((3, 3)),
        np.empty(3),
        np.empty(3),
        np.zeros(4),
    )


@numba.njit(**_OPTIONS)
def rotate_by(state, h):
    """Turn the state's quaternion by ``exp(h omega_B)`` from the right and renormalise it."""
    a, b, c = 0.5 * h * state[10], 0.5 * h * state[11], 0.5 * h * state[12]
    s = a * a + b * b + c * c
    if s < 0.01:  # half an angle below 0.1 rad: the series is exact to the last digit
        k = 1.0 - s * (1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s / 362880.0)))
        r = 1.0 - s * (0.5 - s * (1.0 / 24.0 - s * (1.0 / 720.0 - s * (1.0 / 40320.0 - s / 3628800.0))))
    else:
        half = np.sqrt(s)
        k, r = np.sin(half) / half, np.cos(half)
    a, b, c = k * a, k * b, k * c
    q0, q1, q2, q3 = state[3], state[4], state[5], state[6]
    p0 = q0 * r - q1 * a - q2 * b - q3 * c
    p1 = q0 * a + q1 * r + q2 * c - q3 * b
    p2 = q0 * b - q1 * c + q2 * r + q3 * a
    p3 = q0 * c + q1 * b - q2 * a + q3 * r
    size = 1.0 / np.sqrt(p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
    state[3], state[4], state[5], state[6] = p0 * size, p1 * size, p2 * size, p3 * size


@numba.njit(**_OPTIONS)
def rotation_matrix(state, out):
    """Fill ``out`` (3, 3) with R_CB of the state's quaternion."""
    w, x, y, z = state[3], state[4], state[5], state[6]
    out[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[0, 1] = 2.0 * (x * y - w * z)
    out[0, 2] = 2.0 * (x * z + w * y)
    out[1, 0] = 2.0 * (x * y + w * z)
    out[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[1, 2] = 2.0 * (y * z - w * x)
    out[2, 0] = 2.0 * (x * z - w * y)
    out[2, 1] = 2.0 * (y * z + w * x)
    out[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@numba.njit(**_OPTIONS)
def turn_freely(body, h, state):
    """Advance the angular velocity (B) by torque-free motion: I (w' - w) = -h m x I m with m = (w + w') / 2.

    The implicit midpoint rule keeps w.I.w exactly, because m.(m x I m) = 0.
    """
    w0, w1, w2 = state[10], state[11], state[12]
    n0, n1, n2 = w0, w1, w2
    inertia, inverse = body.inertia, body.inverse_inertia
    for _ in range(60):
        m0, m1, m2 = 0.5 * (w0 + n0), 0.5 * (w1 + n1), 0.5 * (w2 + n2)
        l0 = inertia[0, 0] * m0 + inertia[0, 1] * m1 + inertia[0, 2] * m2
        l1 = inertia[1, 0] * m0 + inertia[1, 1] * m1 + inertia[1, 2] * m2
        l2 = inertia[2, 0] * m0 + inertia[2, 1] * m1 + inertia[2, 2] * m2
        t0, t1, t2 = m1 * l2 - m2 * l1, m2 * l0 - m0 * l2, m0 * l1 - m1 * l0
        x0 = w0 - h * (inverse[0, 0] * t0 + inverse[0, 1] * t1 + inverse[0, 2] * t2)
        x1 = w1 - h * (inverse[1, 0] * t0 + inverse[1, 1] * t1 + inverse[1, 2] * t2)
        x2 = w2 - h * (inverse[2, 0] * t0 + inverse[2, 1] * t1 + inverse[2, 2] * t2)
        change = abs(x0 - n0) + abs(x1 - n1) + abs(x2 - n2)
        n0, n1, n2 = x0, x1, x2
        if change < 1e-13:
            break
    state[10], state[11], state[12] = n0, n1, n2


@numba.njit(**_OPTIONS)
def advance(body, law, h, state, work):
    """Advance ``state`` (13,) in place by one step of ``h`` seconds; ``work.report`` says what happened.

    report[CONTACTS]: closed contacts; report[ITERATIONS]: solver iterations, one more than allowed where it failed;
    report[FRICTION_NEEDED]: the least friction coefficient for which this step comes out the same (infinite where a
    contact slid).
    """
    half = 0.5 * h
    state[0] += half * state[7]
    state[1] += half * state[8]
    state[2] += half * state[9]
    rotate_by(state, half)
    if not body.spherical:
        turn_freely(body, h, state)
    rotation = work.rotation
    rotation_matrix(state, rotation)
    n = 0
    r20, r21, r22, height = rotation[2, 0], rotation[2, 1], rotation[2, 2], state[2]
    for j in range(body.vertices.shape[0]):
        if height + r20 * body.vertices[j, 0] + r21 * body.vertices[j, 1] + r22 * body.vertices[j, 2] < 0.0:
            work.vertex[n] = j
            n += 1
    report = work.report
    report[CONTACTS], report[ITERATIONS], report[FRICTION_NEEDED] = n, 0, 0.0
    gravity = law.gravity
    if n == 0:
        state[7] += h * gravity[0]
        state[8] += h * gravity[1]
        state[9] += h * gravity[2]
        work.memory[:, :] = 0.0
    else:
        _touch(body, law, h, state, work, n)
    state[0] += half * state[7]
    state[1] += half * state[8]
    state[2] += half * state[9]
    rotate_by(state, half)


@numba.njit(**_OPTIONS)
def _touch(body, law, h, state, work, n):
    """Solve the contact problem at the midpoint pose and put the new twist into ``state``."""
    rotation, inertia_c, linear, angular = work.rotation, work.inertia_c, work.linear, work.angular
    arm, pre, impulse, surface = work.arm, work.pre, work.impulse, law.surface_velocity
    if body.spherical:
        inertia_c[:, :] = 0.0
        for k in range(3):
            inertia_c[k, k] = body.inverse_inertia[0, 0]
    else:
        for i in range(3):
            t0 = t1 = t2 = 0.0
            for k in range(3):
                t0 += rotation[i, k] * body.inverse_inertia[k, 0]
                t1 += rotation[i, k] * body.inverse_inertia[k, 1]
                t2 += rotation[i, k] * body.inverse_inertia[k, 2]
            for j in range(3):
                inertia_c[i, j] = t0 * rotation[j, 0] + t1 * rotation[j, 1] + t2 * rotation[j, 2]
    for k in range(3):
        linear[k] = state[7 + k]
        angular[k] = rotation[k, 0] * state[10] + rotation[k, 1] * state[11] + rotation[k, 2] * state[12]
    for i in range(n):
        p = body.vertices[work.vertex[i]]
        for k in range(3):
            arm[i, k] = rotation[k, 0] * p[0] + rotation[k, 1] * p[1] + rotation[k, 2] * p[2]
            impulse[i, k] = work.memory[work.vertex[i], k]
        pre[i, 0] = linear[0] + angular[1] * arm[i, 2] - angular[2] * arm[i, 1] - surface[0]
        pre[i, 1] = linear[1] + angular[2] * arm[i, 0] - angular[0] * arm[i, 2] - surface[1]
        pre[i, 2] = linear[2] + angular[0] * arm[i, 1] - angular[1] * arm[i, 0] - surface[2]
    for k in range(3):
        linear[k] += h * law.gravity[k]
    report = work.report
    if law.solver == GAUSS_SEIDEL:
        iterations = solve_gauss_seidel(
            n, body.inverse_mass, inertia_c, arm, pre, surface, law.friction_mu, law.restitution_e_n,
            law.restitution_e_t, law.tolerance, law.max_iterations, impulse, linear, angular, work.block,
            work.block_inverse,
        )  # fmt: skip
    else:
        iterations = solve_prox(
            n, body.inverse_mass, inertia_c, arm, pre, surface, law.friction_mu, law.restitution_e_n,
            law.restitution_e_t, law.prox_step, law.tolerance, law.max_iterations, impulse, linear, angular,
        )  # fmt: skip
    report[ITERATIONS] = iterations
    mu = law.friction_mu
    needed = 0.0
    work.memory[:, :] = 0.0
    for i in range(n):
        friction = np.sqrt(impulse[i, 0] ** 2 + impulse[i, 1] ** 2)
        if friction >= mu * impulse[i, 2] * (1.0 - 1e-9) and impulse[i, 2] > 0.0:
            needed = np.inf
        elif impulse[i, 2] > 0.0:
            needed = max(needed, friction / impulse[i, 2])
        for k in range(3):
            work.memory[work.vertex[i], k] = impulse[i, k]
    report[FRICTION_NEEDED] = needed
    for k in range(3):
        state[7 + k] = linear[k]
        state[10 + k] = rotation[0, k] * angular[0] + rotation[1, k] * angular[1] + rotation[2, k] * angular[2]


@numba.njit(**_OPTIONS)
def at_rest(state):
    """Whether the body is as good as motionless (to 1e-9 m/s and rad/s)."""
    for k in range(7, 13):
        if abs(state[k]) > _REST_SPEED:
            return False
    return True


@numba.njit(**_OPTIONS)
def rollout(body, law, h, substeps, state, poses, twists, steps, impulses):
    """Simulate from ``state`` (13,), recording every ``substeps`` steps; sample 0 is the initial state.

    Fills ``poses`` (n, 7: origin of B in C, quaternion), ``twists`` (n, 6: velocity of B's origin in C, angular velocity
    in C), ``steps`` ((n - 1) substeps, 5: contacts, iterations, friction needed, residual in m/s, energy after the step in
    J) and ``impulses`` ((n - 1) substeps, n_vertices, 3: N s in C).
    """
    work = new_workspace(body.vertices.shape[0])
    current = state.copy()
    _record(body, current, work.rotation, poses[0], twists[0])
    for sample in range(1, poses.shape[0]):
        for sub in range(substeps):
            row = (sample - 1) * substeps + sub
            advance(body, law, h, current, work)
            n = int(work.report[CONTACTS])
            work.report[RESIDUAL] = contact_residual(
                n, body.inverse_mass, work.inertia_c, work.arm, work.pre, law.surface_velocity, law.friction_mu,
                law.restitution_e_n, law.restitution_e_t, work.impulse, work.linear, work.angular, work.block[0],
            )  # fmt: skip
            steps[row, 0:4] = work.report
            steps[row, 4] = energy(body, law.gravity, current)
            impulses[row] = work.memory
        _record(body, current, work.rotation, poses[sample], twists[sample])


@numba.njit(**_OPTIONS)
def energy(body, gravity, state):
    """Kinetic plus potential energy in J; the potential is zero at the origin of C."""
    total = 0.0
    for k in range(3):
        total += (0.5 * state[7 + k] * state[7 + k] - gravity[k] * state[k]) / body.inverse_mass
        for j in range(3):
            total += 0.5 * state[10 + k] * body.inertia[k, j] * state[10 + j]
    return total


@numba.njit(**_OPTIONS)
def origin_of(body, state, rotation, out):
    """Fill ``out`` (3,) with the origin of B in C; ``rotation`` (3, 3) is filled with R_CB."""
    rotation_matrix(state, rotation)
    c = body.center_of_mass
    for k in range(3):
        out[k] = state[k] - (rotation[k, 0] * c[0] + rotation[k, 1] * c[1] + rotation[k, 2] * c[2])


@numba.njit(**_OPTIONS)
def _record(body, state, rotation, pose, twist):
    origin_of(body, state, rotation, pose)
    pose[3:7] = state[3:7]
    w = np.empty(3)
    for k in range(3):
        w[k] = rotation[k, 0] * state[10] + rotation[k, 1] * state[11] + rotation[k, 2] * state[12]
    a0, a1, a2 = pose[0] - state[0], pose[1] - state[1], pose[2] - state[2]
    twist[0] = state[7] + w[1] * a2 - w[2] * a1
    twist[1] = state[8] + w[2] * a0 - w[0] * a2
    twist[2] = state[9] + w[0] * a1 - w[1] * a0
    twist[3:6] = w

"""Compiled time-stepping of one rigid body over a plane: Moreau's midpoint scheme (eqs. 3 to 11,
tossing paper).

A state is one row of 14 numbers: centre of mass in C (3, m), quaternion of R_CB (4, real part
first), velocity of the centre of mass in C (3, m/s), angular velocity in B (3, rad/s), number of
contacts closed in the step that led to it. One step of length h:

1. half a step of motion with the old twist gives the midpoint pose, where contacts and force
   directions are found;
2. free motion: gravity, and the gyroscopic term of eq. 3 by the implicit midpoint rule, which keeps
   the kinetic energy;
3. impulses of the closed contacts from the impact and friction law
   (:mod:`contactid.tossing.simulate.contact_kernel`), or, where one of them approaches and the law
   says so, from :mod:`contactid.tossing.simulate.incremental`;
4. half a step of motion with the new twist.

Deviation: the authors' program writes eq. 3 in the body frame and takes the term ``v x* M v`` at
the start of the step, which adds kinetic energy m |omega x v|^2 h^2 / 2 in every step of free
flight. Here linear momentum is kept in the inertial orientation, so flight is exact and energy
can't grow in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from contactid.tossing.simulate.contact_kernel import (
    ARM,
    COLUMNS,
    IMPULSE,
    INLINE,
    MEMORY,
    OFFSET,
    OPTIONS,
    VERTEX,
    contact_residual,
    solve_prox,
    twist_of,
)
from contactid.tossing.simulate.contact_newton import FAILED, solve_contacts
from contactid.tossing.simulate.incremental import RESTING, SLOWEST, collide
from contactid.tossing.simulate.prox_lanes import six, solve_prox_together

STATE_SIZE = 14
TOUCHING = 13  # the entry of the state that counts contacts
NEWTON, PROX = 0, 1
# m/s: a body slower than this before and after a step repeats that step for ever
_REST_SPEED = 1e-9


class BodyArrays(NamedTuple):
    """A rigid body as the compiled code wants it; frame B throughout, symmetric tensors as (xx, xy,
    xz, yy, yz, zz).
    """

    vertices: np.ndarray  # (n_vertices, 3) m, from the centre of mass
    center_of_mass: tuple[float, float, float]  # m, from the body's origin
    inertia: tuple[float, ...]  # kg m2
    inverse_inertia: tuple[float, ...]
    inverse_mass: float
    radius: float  # m, of the sphere about the centre of mass that holds all vertices
    spherical: bool  # the inertia is a multiple of the identity: no gyroscopic term


class ContactLaw(NamedTuple):
    """Parameters of the impact and friction law and of its solver."""

    friction_mu: float
    restitution_e_n: float  # Newton's, or Poisson's in incremental impacts
    incremental: bool  # friction follows the slip during an impact
    surface_velocity: tuple[float, float, float]  # m/s in C
    gravity: tuple[float, float, float]  # m/s2 in C
    solver: int  # NEWTON or PROX
    tolerance: float  # m/s (Newton) or N s (prox)
    max_iterations: int
    prox_step: float  # kg, the r of eqs. 8 and 10


@numba.njit(**OPTIONS)
def with_values(law, friction_mu, restitution_e_n, surface_velocity):
    """The same law with other friction, restitution and surface velocity (compiled code has no
    ``_replace``).
    """
    return ContactLaw(
        friction_mu,
        restitution_e_n,
        law.incremental,
        surface_velocity,
        law.gravity,
        law.solver,
        law.tolerance,
        law.max_iterations,
        law.prox_step,
    )


@numba.njit(**INLINE)
def rotate_by(state, h):
    """Turn the state's quaternion by ``exp(h omega_B)`` from the right and renormalise it."""
    a, b, c = 0.5 * h * state[10], 0.5 * h * state[11], 0.5 * h * state[12]
    s = a * a + b * b + c * c
    if s < 0.01:  # half an angle below 0.1 rad: the series is exact to the last digit
        k = 1.0 - s * (1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s * (1.0 / 362880.0))))
        r = 1.0 - s * (
            0.5 - s * (1.0 / 24.0 - s * (1.0 / 720.0 - s * (1.0 / 40320.0 - s * (1.0 / 3628800.0))))
        )
    else:
        half = np.sqrt(s)
        k, r = np.sin(half) / half, np.cos(half)
    a, b, c = k * a, k * b, k * c
    q0, q1, q2, q3 = state[3], state[4], state[5], state[6]
    # q (r, a, b, c), Hamilton's product
    p0 = q0 * r - q1 * a - q2 * b - q3 * c
    p1 = q0 * a + q1 * r + q2 * c - q3 * b
    p2 = q0 * b - q1 * c + q2 * r + q3 * a
    p3 = q0 * c + q1 * b - q2 * a + q3 * r
    # the norm is 1 up to rounding, where one Newton step for its inverse is exact
    size = 1.5 - 0.5 * (p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
    state[3], state[4], state[5], state[6] = p0 * size, p1 * size, p2 * size, p3 * size


@numba.njit(**INLINE)
def rotation_of(state):
    """R_CB of the state's quaternion, row by row (9 scalars)."""
    w, x, y, z = state[3], state[4], state[5], state[6]
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@numba.njit(**INLINE)
def turn(rotation, a0, a1, a2):
    """R a: coordinates in C of a vector given in B."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation
    return (
        r00 * a0 + r01 * a1 + r02 * a2,
        r10 * a0 + r11 * a1 + r12 * a2,
        r20 * a0 + r21 * a1 + r22 * a2,
    )


@numba.njit(**INLINE)
def turn_tensor(rotation, tensor):
    """R T R^T for a symmetric tensor."""
    xx, xy, xz, yy, yz, zz = tensor
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation
    a0, b0, c0 = turn(rotation, xx, xy, xz)  # columns of R T
    a1, b1, c1 = turn(rotation, xy, yy, yz)
    a2, b2, c2 = turn(rotation, xz, yz, zz)
    return (
        a0 * r00 + a1 * r01 + a2 * r02,
        a0 * r10 + a1 * r11 + a2 * r12,
        a0 * r20 + a1 * r21 + a2 * r22,
        b0 * r10 + b1 * r11 + b2 * r12,
        b0 * r20 + b1 * r21 + b2 * r22,
        c0 * r20 + c1 * r21 + c2 * r22,
    )


@numba.njit(**OPTIONS)
def turn_freely(body, h, state):
    """Advance the angular velocity (B) by torque-free motion: I (w' - w) = -h m x I m with m = (w +
    w') / 2.

    The implicit midpoint rule keeps w.I.w exactly, because m.(m x I m) = 0.
    """
    w0, w1, w2 = state[10], state[11], state[12]
    m0, m1, m2 = w0, w1, w2
    half = 0.5 * h
    xx, xy, xz, yy, yz, zz = body.inertia
    ixx, ixy, ixz, iyy, iyz, izz = body.inverse_inertia
    # the midpoint rule's fixed point, which contracts where a step turns the body by little
    for _ in range(60):
        l0, l1, l2 = (
            xx * m0 + xy * m1 + xz * m2,
            xy * m0 + yy * m1 + yz * m2,
            xz * m0 + yz * m1 + zz * m2,
        )
        t0, t1, t2 = m1 * l2 - m2 * l1, m2 * l0 - m0 * l2, m0 * l1 - m1 * l0
        x0 = w0 - half * (ixx * t0 + ixy * t1 + ixz * t2)
        x1 = w1 - half * (ixy * t0 + iyy * t1 + iyz * t2)
        x2 = w2 - half * (ixz * t0 + iyz * t1 + izz * t2)
        change = abs(x0 - m0) + abs(x1 - m1) + abs(x2 - m2)
        m0, m1, m2 = x0, x1, x2
        if change < 1e-13:
            break
    # w' = 2 m - w
    state[10], state[11], state[12] = 2.0 * m0 - w0, 2.0 * m1 - w1, 2.0 * m2 - w2


@numba.njit(**INLINE)
def find_contacts(body, state, contacts):
    """List the vertices at or below the plane in the table; returns their number."""
    w, x, y, z = state[3], state[4], state[5], state[6]
    # third row of R_CB: heights are all that is asked
    r0, r1, r2 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    n = 0
    for i in range(body.vertices.shape[0]):
        # overwritten by the next one unless it counts: branches would cost more
        contacts[n, VERTEX] = i
        height = (
            state[2]
            + r0 * body.vertices[i, 0]
            + r1 * body.vertices[i, 1]
            + r2 * body.vertices[i, 2]
        )
        n += 1 if height <= 0.0 else 0
    return n


@numba.njit(**INLINE)
def advance(body, law, h, state, contacts, check):
    """One step of length ``h``, in place; returns (contacts, iterations, friction needed,
    residual).

    The residual of the contact law (m/s) is 0 where ``check`` doesn't ask for it.
    """
    half = 0.5 * h
    for k in range(3):
        state[k] += half * state[7 + k]
    n, iterations, needed, residual = 0, 0, 0.0, 0.0
    # no vertex reaches the plane, and without a torque the spin stays: one turn of a whole step is
    # exact
    if state[2] > body.radius and body.spherical:
        _fly(body, law, h, state)
        rotate_by(state, h)
    else:
        rotate_by(state, half)
        if state[2] <= body.radius:
            n = find_contacts(body, state, contacts)
        if n > 0:
            iterations, needed, residual = _touch(body, law, h, state, contacts, n, check)
        else:
            _fly(body, law, h, state)
        rotate_by(state, half)
    state[TOUCHING] = n
    for k in range(3):
        state[k] += half * state[7 + k]
    return n, iterations, needed, residual


@numba.njit(**INLINE)
def _fly(body, law, h, state):
    """Gravity and the gyroscopic term over a whole step."""
    g0, g1, g2 = law.gravity
    state[7] += h * g0
    state[8] += h * g1
    state[9] += h * g2
    if not body.spherical:
        turn_freely(body, h, state)


@numba.njit(**INLINE)
def _set_up(body, law, state, rotation, contacts, n):
    """Fill the table with the contacts of the midpoint pose, from the state before gravity and
    impulses.

    Returns whether it is an incremental impact. Its restitution is Poisson's, and a slow contact
    has none by that law: with e_T = 0, Newton's would add energy.
    """
    w0, w1, _ = turn(rotation, state[10], state[11], state[12])
    s0, s1, s2 = law.surface_velocity
    # the offset of an incremental impact is the surface's velocity alone
    e_n = 0.0 if law.incremental else law.restitution_e_n
    fastest = 0.0  # normal velocity of the corner that approaches fastest
    # the memory is of the last step with contacts; before a flight it is no start
    remember = state[TOUCHING] > 0.0
    for i in range(n):
        j = int(contacts[i, VERTEX])
        x, y, z = turn(rotation, body.vertices[j, 0], body.vertices[j, 1], body.vertices[j, 2])
        contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2] = x, y, z
        normal = state[9] + w0 * y - w1 * x - s2
        fastest = min(fastest, normal)
        # eqs. 8 and 9 with e_T = 0: gamma is relative to the surface, so xi has its velocity once,
        # and e_N times gamma_N^-
        contacts[i, OFFSET], contacts[i, OFFSET + 1] = -s0, -s1
        contacts[i, OFFSET + 2] = e_n * normal - s2
        for k in range(3):
            contacts[i, IMPULSE + k] = contacts[j, MEMORY + k] if remember else 0.0
    return law.incremental and fastest < -SLOWEST


@numba.njit(**INLINE)
def _fall_to(body, law, h, state, contacts, n):
    """Fill the table with n contacts, and let gravity act.

    Returns whether it is an incremental impact, inertia and inverse inertia in C, and the twist
    without impulses.
    """
    rotation = rotation_of(state)
    # before gravity acts: gamma^- is the velocity at the start of the step
    impact = _set_up(body, law, state, rotation, contacts, n)
    inertia, inverse_inertia = body.inertia, body.inverse_inertia
    if not body.spherical:
        inertia = turn_tensor(rotation, inertia)
        inverse_inertia = turn_tensor(rotation, inverse_inertia)
    _fly(body, law, h, state)
    w0, w1, w2 = turn(rotation, state[10], state[11], state[12])
    return impact, inertia, inverse_inertia, (state[7], state[8], state[9], w0, w1, w2)


@numba.njit(**INLINE)
def _touch(body, law, h, state, contacts, n, check):
    """Solve the contact problem at the midpoint pose and put the new twist into the state."""
    inverse_mass = body.inverse_mass
    impact, inertia, inverse_inertia, free = _fall_to(body, law, h, state, contacts, n)
    residual = 0.0
    if impact:
        iterations, residual, needed, twist = collide(
            n, inverse_mass, inverse_inertia, law.friction_mu, law.restitution_e_n, free, contacts
        )
        # parts of an impact are no iterations of a solver; all that counts is whether it ended
        iterations = 1 if residual <= RESTING else law.max_iterations + 1
    elif law.solver == NEWTON:
        iterations, violation, needed, twist = solve_contacts(
            n, inverse_mass, inertia, inverse_inertia, law.friction_mu, law.tolerance, law.max_iterations, free,
            contacts,
        )  # fmt: skip
        if violation > FAILED:
            # violation is a bound, so that a step may still be solved; the law itself decides
            exact = contact_residual(
                n, inverse_mass, inverse_inertia, law.friction_mu, free, contacts
            )
            iterations = law.max_iterations + (1 if exact > FAILED else 0)
    else:
        iterations = solve_prox(
            n, inverse_mass, inverse_inertia, law.friction_mu, law.prox_step, law.tolerance, law.max_iterations, free,
            contacts,
        )  # fmt: skip
        needed, twist = np.inf, twist_of(n, inverse_mass, inverse_inertia, free, contacts)
    if check and not impact:
        residual = contact_residual(
            n, inverse_mass, inverse_inertia, law.friction_mu, free, contacts
        )
    _keep(state, contacts, n, twist)
    return iterations, needed, residual


@numba.njit(**INLINE)
def _keep(state, contacts, n, twist):
    """Put a step's twist into the state, and its impulses into the memory."""
    # kept by vertex, since the next step's contacts may be others
    for i in range(contacts.shape[0]):
        for k in range(3):
            contacts[i, MEMORY + k] = 0.0
    for i in range(n):
        j = int(contacts[i, VERTEX])
        for k in range(3):
            contacts[j, MEMORY + k] = contacts[i, IMPULSE + k]
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_of(state)
    v0, v1, v2, w0, w1, w2 = twist
    # R^T omega: the state's spin is in B
    state[7], state[8], state[9] = v0, v1, v2
    state[10] = r00 * w0 + r10 * w1 + r20 * w2
    state[11] = r01 * w0 + r11 * w1 + r21 * w2
    state[12] = r02 * w0 + r12 * w1 + r22 * w2


@numba.njit(**OPTIONS)
def advance_together(body, law, h, mus, e_ns, states, tables, failed):
    """One step of k runs of one body by the paper's fixed point, each with its own friction and
    restitution (k,).

    As :func:`advance`, of ``states`` (k, 14) and ``tables`` (k, vertices, COLUMNS); ``failed`` (k,)
    counts contact steps at which the fixed point gave up.
    """
    count, half = len(mus), 0.5 * h
    closed, iterations = np.zeros(count, np.int64), np.zeros(count, np.int64)
    # (k, 6) twists without impulses, and inverse inertias
    frees, inverses = np.empty((count, 6)), np.empty((count, 6))
    for run in range(count):
        state, table = states[run], tables[run]
        for k in range(3):
            state[k] += half * state[7 + k]
        rotate_by(state, half)
        n = find_contacts(body, state, table) if state[2] <= body.radius else 0
        if n > 0:
            own = with_values(law, mus[run], e_ns[run], law.surface_velocity)
            _, _, inverse, free = _fall_to(body, own, h, state, table, n)
            for k in range(6):
                frees[run, k], inverses[run, k] = free[k], inverse[k]
        else:
            _fly(body, law, h, state)
        closed[run] = state[TOUCHING] = n
    solve_prox_together(
        closed, body.inverse_mass, inverses, mus, law.prox_step, law.tolerance, law.max_iterations,
        frees, tables, iterations,
    )  # fmt: skip
    for run in range(count):
        state, table, n = states[run], tables[run], closed[run]
        if n > 0:
            failed[run] += iterations[run] > law.max_iterations
            inverse, free = six(inverses[run]), six(frees[run])
            _keep(state, table, n, twist_of(n, body.inverse_mass, inverse, free, table))
        rotate_by(state, half)
        for k in range(3):
            state[k] += half * state[7 + k]


@numba.njit(**INLINE)
def at_rest(state):
    """Whether the body is as good as motionless (to 1e-9 m/s and rad/s)."""
    fastest = 0.0
    for k in range(7, 13):
        fastest = max(fastest, abs(state[k]))
    return fastest <= _REST_SPEED


@numba.njit(**OPTIONS)
def energy(body, gravity, state):
    """Kinetic plus potential energy in J; the potential is zero at the origin of C."""
    w0, w1, w2 = state[10], state[11], state[12]
    xx, xy, xz, yy, yz, zz = body.inertia
    g0, g1, g2 = gravity
    spin = (
        xx * w0 * w0
        + yy * w1 * w1
        + zz * w2 * w2
        + 2.0 * (xy * w0 * w1 + xz * w0 * w2 + yz * w1 * w2)
    )
    square = state[7] * state[7] + state[8] * state[8] + state[9] * state[9]
    height = g0 * state[0] + g1 * state[1] + g2 * state[2]
    return 0.5 * spin + (0.5 * square - height) / body.inverse_mass


@numba.njit(**INLINE)
def origin_of(body, state):
    """The origin of B in C (3 scalars)."""
    c0, c1, c2 = body.center_of_mass
    # nominal bodies: their centre is the origin
    if c0 == 0.0 and c1 == 0.0 and c2 == 0.0:
        return state[0], state[1], state[2]
    w, x, y, z = state[3], state[4], state[5], state[6]
    # R c = c + 2 (w t + q x t) with t = q x c
    t0, t1, t2 = y * c2 - z * c1, z * c0 - x * c2, x * c1 - y * c0
    return (
        state[0] - c0 - 2.0 * (w * t0 + y * t2 - z * t1),
        state[1] - c1 - 2.0 * (w * t1 + z * t0 - x * t2),
        state[2] - c2 - 2.0 * (w * t2 + x * t1 - y * t0),
    )


@numba.njit(**OPTIONS)
def _record(body, state, sample, poses, twists):
    """Write pose and twist of B's origin into row ``sample``."""
    w0, w1, w2 = turn(rotation_of(state), state[10], state[11], state[12])
    x0, x1, x2 = origin_of(body, state)
    # the velocity of B's origin is v + omega x (origin - centre)
    a0, a1, a2 = x0 - state[0], x1 - state[1], x2 - state[2]
    poses[sample, 0], poses[sample, 1], poses[sample, 2] = x0, x1, x2
    for k in range(4):
        poses[sample, 3 + k] = state[3 + k]
    twists[sample, 0] = state[7] + w1 * a2 - w2 * a1
    twists[sample, 1] = state[8] + w2 * a0 - w0 * a2
    twists[sample, 2] = state[9] + w0 * a1 - w1 * a0
    twists[sample, 3], twists[sample, 4], twists[sample, 5] = w0, w1, w2


@numba.njit(**OPTIONS)
def rollout(body, law, h, substeps, start, poses, twists, steps, impulses):
    """Simulate from ``start`` (14,), recording every ``substeps`` steps; sample 0 is the initial
    state.

    Fills ``poses`` (n, 7: origin of B in C, quaternion), ``twists`` (n, 6: velocity of B's origin
    in C, angular velocity in C), ``steps`` ((n - 1) substeps, 5: contacts, iterations, friction
    needed, residual in m/s, energy after the step in J) and ``impulses`` ((n - 1) substeps,
    n_vertices, 3: N s in C).
    """
    contacts = np.zeros((body.vertices.shape[0], COLUMNS))
    state = start.copy()
    _record(body, state, 0, poses, twists)
    for sample in range(1, poses.shape[0]):
        for row in range((sample - 1) * substeps, sample * substeps):
            n, iterations, needed, residual = advance(body, law, h, state, contacts, True)
            steps[row, 0], steps[row, 1], steps[row, 2], steps[row, 3] = (
                n,
                iterations,
                needed,
                residual,
            )
            steps[row, 4] = energy(body, law.gravity, state)
            for i in range(impulses.shape[1]):
                for k in range(3):
                    impulses[row, i, k] = contacts[i, MEMORY + k] if n > 0 else 0.0
        _record(body, state, sample, poses, twists)

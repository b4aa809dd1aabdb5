"""All contacts of a step at once: Newton's method on the impact and friction law (eqs. 7 to 11 of
the tossing paper).

Coulomb's law of a closed contact says ``T |xi_T| + mu N xi_T = 0``. With ``s = sqrt(|xi_T|^2 +
epsilon^2)`` and ``h = xi_T / s`` the equation ``T s + mu N xi_T = 0`` is smooth in impulse and
velocity together, in sliding and in sticking alike, and its linearisation in both,

    ``T_new = -mu N_new h - A (xi_T,new - xi_T)``,  ``A = (mu N 1 + sym(T h^T)) / s``,

needs no decision which of the two it is: far from rest A is how fast the direction of sliding
turns, close to rest it is so stiff that the contact stays where it is. (The idea comes from the
minimisation of sums of norms: Chan, Golub and Mulet 1999.) ``|T| <= mu N`` is restored after each
step, and epsilon can be far below any velocity of interest. For the normal direction, with the
argument of eq. 8 and r = 1 / G_NN,

    ``N_new = 0`` where ``N - xi_N / G_NN <= 0``, else ``N_new = N - k xi_N,new``,

k being so large that it stands for ``xi_N,new = 0``. Being finite, it makes this a proximal point
method: where the impulses are not unique (four vertices of a resting face: hyperstatic), it goes to
the solution nearest to the start. The price is a factor 1 / k in the rate of convergence, none in
accuracy: the residual is that of the exact law.

Altogether ``P_new = p - K W_i du``; eliminating the impulses leaves six equations for the change of
the twist, however many contacts are closed: ``(M + sum W_i^T K_i W_i) du = sum W_i^T p_i - M (u -
u_free)``.

Deviation: the authors iterate eqs. 8 and 10 as they stand
(:func:`contactid.tossing.simulate.contact_kernel.solve_prox`) with a step and a tolerance that stop
far from a solution. The law solved here is the same.
"""

from __future__ import annotations

import numba
import numpy as np

from contactid.tossing.simulate.contact_kernel import (
    AFFINE,
    ARM,
    IMPULSE,
    INLINE,
    INVERSE_SPEED,
    OPTIONS,
    SCALE_N,
    SCALE_T,
    STIFF,
    XI,
    contact_residual,
    set_block,
    set_scale,
    solve_contact,
    solve_prox,
    twist_of,
    xi_of,
)

FAILED = 1e-9  # m/s: a step whose contact law is violated by more has failed
# one step leaves about 1 / (k G_NN) of xi_N
_STIFFNESS = 1e8  # k G_NN
# far below FAILED, so that s is |xi_T| for every slip that counts
_EPSILON = 1e-15  # m/s
# Newton steps after which half of FAILED is good enough: slip of 1e-9 m/s has directions good to
# 1e-8
_ENOUGH = 4
_PATIENCE = 25  # Newton steps before the fixed point finds another start
_STICKING_STEPS = 4


@numba.njit(**INLINE)
def violation_of(n, inverse_mass, inertia, mu, sticking, free, twist, contacts):
    """Fill ``xi``; returns the violation of the law in m/s and the momentum of the twist that no
    impulse explains.

    ``|T| <= mu N`` is presumed; then the violation bounds that of
    :func:`contactid.tossing.simulate.contact_kernel.contact_residual` up to the unexplained
    momentum. With ``sticking`` every closed contact must stick, whatever friction that takes.
    """
    worst = 0.0
    v0, v1, v2, w0, w1, w2 = twist
    a0, a1, a2, a3, a4, a5 = free
    xx, xy, xz, yy, yz, zz = inertia
    mass = 1.0 / inverse_mass
    d0, d1, d2 = w0 - a3, w1 - a4, w2 - a5
    # momentum (6) that no impulse explains: M (u - u_free) less all W_i^T P_i
    f0, f1, f2 = mass * (v0 - a0), mass * (v1 - a1), mass * (v2 - a2)
    m0, m1, m2 = (
        xx * d0 + xy * d1 + xz * d2,
        xy * d0 + yy * d1 + yz * d2,
        xz * d0 + yz * d1 + zz * d2,
    )
    for i in range(n):
        x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
        p0, p1, p2 = contacts[i, IMPULSE], contacts[i, IMPULSE + 1], contacts[i, IMPULSE + 2]
        f0 -= p0
        f1 -= p1
        f2 -= p2
        m0 -= y * p2 - z * p1
        m1 -= z * p0 - x * p2
        m2 -= x * p1 - y * p0
        x0, x1, x2 = xi_of(contacts, i, twist)
        contacts[i, XI], contacts[i, XI + 1], contacts[i, XI + 2] = x0, x1, x2
        scaled, slip = contacts[i, SCALE_N] * p2, x0 * x0 + x1 * x1
        normal = min(scaled, x2)
        # open by the argument of eq. 8: any impulse left over violates the law, whatever the slip
        if scaled <= x2:
            e0, e1, slip = p0, p1, np.inf
        elif sticking:
            # any slip does
            e0 = e1 = np.inf
        else:
            inverse = 1.0 / np.sqrt(slip + _EPSILON * _EPSILON)
            # T s + mu N xi_T = 0, over s
            radius = mu * max(p2, 0.0) * inverse
            e0, e1 = p0 + radius * x0, p1 + radius * x1
            contacts[i, INVERSE_SPEED] = inverse
        # the trace of the tangential block, which bounds its eigenvalues: impulse to velocity
        g = 2.0 * contacts[i, SCALE_T]
        worst = max(worst, normal * normal, min(slip, g * g * (e0 * e0 + e1 * e1)))
    return np.sqrt(worst), (f0, f1, f2, m0, m1, m2)


@numba.njit(**INLINE)
def _velocity_of(inverse_mass, inverse_inertia, momentum, contacts):
    """About the velocity in m/s that a momentum (6) gives the contacts."""
    f0, f1, f2, m0, m1, m2 = momentum
    xx, xy, xz, yy, yz, zz = inverse_inertia
    w0, w1, w2 = (
        xx * m0 + xy * m1 + xz * m2,
        xy * m0 + yy * m1 + yz * m2,
        xz * m0 + yz * m1 + zz * m2,
    )
    # the arm's length is at most the sum of its coordinates' sizes
    reach = abs(contacts[0, ARM]) + abs(contacts[0, ARM + 1]) + abs(contacts[0, ARM + 2])
    return max(abs(f0), abs(f1), abs(f2)) * inverse_mass + max(abs(w0), abs(w1), abs(w2)) * reach


@numba.njit(**INLINE)
def _linearise(mu, sticking, contacts, i):
    """Fill ``p`` and ``K`` of contact i and return them: (p_x, p_y, p_N, K_xx, K_xy, K_yy, K_xN,
    K_yN, K_NN).
    """
    p0, p1, p2 = contacts[i, IMPULSE], contacts[i, IMPULSE + 1], contacts[i, IMPULSE + 2]
    x0, x1, x2 = contacts[i, XI], contacts[i, XI + 1], contacts[i, XI + 2]
    if contacts[i, SCALE_N] * p2 <= x2:
        # open: no impulse, however the twist changes
        q0 = q1 = q2 = k00 = k01 = k11 = k02 = k12 = stiff = 0.0
    else:
        stiff = _STIFFNESS / contacts[i, SCALE_N]
        q2 = p2 - stiff * x2
        if sticking:
            q0, q1 = p0 - stiff * x0, p1 - stiff * x1
            k00, k01, k11, k02, k12 = stiff, 0.0, stiff, 0.0, 0.0
        else:
            inverse = contacts[i, INVERSE_SPEED]
            h0, h1, radius = x0 * inverse, x1 * inverse, mu * max(p2, 0.0)
            k00, k11 = (radius + p0 * h0) * inverse, (radius + p1 * h1) * inverse
            # sym(T h^T) of A
            k01 = 0.5 * (p0 * h1 + p1 * h0) * inverse
            # T follows the new N, which is q2 - k xi_N,new
            k02, k12 = -mu * h0 * stiff, -mu * h1 * stiff
            q0, q1 = -mu * h0 * q2, -mu * h1 * q2
    contacts[i, AFFINE], contacts[i, AFFINE + 1], contacts[i, AFFINE + 2] = q0, q1, q2
    contacts[i, STIFF], contacts[i, STIFF + 1], contacts[i, STIFF + 2] = k00, k01, k11
    contacts[i, STIFF + 3], contacts[i, STIFF + 4], contacts[i, STIFF + 5] = k02, k12, stiff
    return q0, q1, q2, k00, k01, k11, k02, k12, stiff


@numba.njit(**INLINE)
def _assemble(n, inverse_mass, inertia, mu, sticking, momentum, contacts):
    """The six equations in blocks [[A, B], [C, D]] (velocity, angular velocity) with the right-hand
    side, as tuples.

    A is [[a00, a01, a02], [a01, a11, a12], [0, 0, a22]]; the last entry of B's third row is zero. M
    (u - u_free) is the impulses' momentum plus the unexplained one, so the right-hand side is
    summed as W^T (p - P). Written out in scalars: arrays of this size cost more than the
    arithmetic.
    """
    d00, d01, d02, d11, d12, d22 = inertia
    d10, d20, d21 = d01, d02, d12
    a00 = a11 = a22 = 1.0 / inverse_mass
    a01 = a02 = a12 = 0.0
    b00 = b01 = b02 = b10 = b11 = b12 = b20 = b21 = 0.0
    c00 = c01 = c02 = c10 = c11 = c12 = c20 = c21 = c22 = 0.0
    f0, f1, f2, m0, m1, m2 = momentum
    # the right-hand side begins with the unexplained momentum, taken back
    f0, f1, f2, m0, m1, m2 = -f0, -f1, -f2, -m0, -m1, -m2
    for i in range(n):
        x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
        q0, q1, q2, k00, k01, k11, k02, k12, k22 = _linearise(mu, sticking, contacts, i)
        q0, q1, q2 = (
            q0 - contacts[i, IMPULSE],
            q1 - contacts[i, IMPULSE + 1],
            q2 - contacts[i, IMPULSE + 2],
        )
        # K [r]x^T: every row crossed with the arm
        r00, r01, r02 = y * k02 - z * k01, z * k00 - x * k02, x * k01 - y * k00
        r10, r11, r12 = y * k12 - z * k11, z * k01 - x * k12, x * k11 - y * k01
        r20, r21 = y * k22, -x * k22
        a00, a01, a02, a11, a12, a22 = (
            a00 + k00,
            a01 + k01,
            a02 + k02,
            a11 + k11,
            a12 + k12,
            a22 + k22,
        )
        b00, b01, b02, b10, b11, b12 = (
            b00 + r00,
            b01 + r01,
            b02 + r02,
            b10 + r10,
            b11 + r11,
            b12 + r12,
        )
        b20, b21 = b20 + r20, b21 + r21
        # [r]x K
        c00, c01, c02 = c00 - z * k01, c01 - z * k11, c02 + (y * k22 - z * k12)
        c10, c11, c12 = c10 + z * k00, c11 + z * k01, c12 + (z * k02 - x * k22)
        c20, c21, c22 = (
            c20 + (x * k01 - y * k00),
            c21 + (x * k11 - y * k01),
            c22 + (x * k12 - y * k02),
        )
        # [r]x K [r]x^T
        d00, d01, d02 = d00 + (y * r20 - z * r10), d01 + (y * r21 - z * r11), d02 - z * r12
        d10, d11, d12 = d10 + (z * r00 - x * r20), d11 + (z * r01 - x * r21), d12 + z * r02
        d20, d21, d22 = (
            d20 + (x * r10 - y * r00),
            d21 + (x * r11 - y * r01),
            d22 + (x * r12 - y * r02),
        )
        # W^T (p - P)
        f0, f1, f2 = f0 + q0, f1 + q1, f2 + q2
        m0, m1, m2 = m0 + (y * q2 - z * q1), m1 + (z * q0 - x * q2), m2 + (x * q1 - y * q0)
    return (
        (a00, a01, a02, a11, a12, a22),
        (b00, b01, b02, b10, b11, b12, b20, b21),
        (c00, c01, c02, c10, c11, c12, c20, c21, c22),
        (d00, d01, d02, d10, d11, d12, d20, d21, d22),
        (f0, f1, f2, m0, m1, m2),
    )


@numba.njit(**INLINE)
def _solve_linear(blocks):
    """Solve the six equations: velocities in terms of angular velocities, then the 3 x 3 rest (6
    scalars).
    """
    a, b, c, d, right = blocks
    a00, a01, a02, a11, a12, a22 = a
    b00, b01, b02, b10, b11, b12, b20, b21 = b
    c00, c01, c02, c10, c11, c12, c20, c21, c22 = c
    d00, d01, d02, d10, d11, d12, d20, d21, d22 = d
    f0, f1, f2, m0, m1, m2 = right
    # A is a 2 x 2 block and a22, but for the coupling a02, a12: cheap to invert
    i2, det = 1.0 / a22, 1.0 / (a00 * a11 - a01 * a01)
    e00, e01, e11 = a11 * det, -a01 * det, a00 * det
    # X = A^-1 B and x = A^-1 f, third row first
    x20, x21, x2 = b20 * i2, b21 * i2, f2 * i2
    s0, t0 = b00 - a02 * x20, b10 - a12 * x20
    s1, t1 = b01 - a02 * x21, b11 - a12 * x21
    s3, t3 = f0 - a02 * x2, f1 - a12 * x2
    x00, x10 = e00 * s0 + e01 * t0, e01 * s0 + e11 * t0
    x01, x11 = e00 * s1 + e01 * t1, e01 * s1 + e11 * t1
    x02, x12 = e00 * b02 + e01 * b12, e01 * b02 + e11 * b12
    x0, x1 = e00 * s3 + e01 * t3, e01 * s3 + e11 * t3
    # (D - C X) w = m - C x
    d00, d01 = d00 - (c00 * x00 + c01 * x10 + c02 * x20), d01 - (c00 * x01 + c01 * x11 + c02 * x21)
    d10, d11 = d10 - (c10 * x00 + c11 * x10 + c12 * x20), d11 - (c10 * x01 + c11 * x11 + c12 * x21)
    d20, d21 = d20 - (c20 * x00 + c21 * x10 + c22 * x20), d21 - (c20 * x01 + c21 * x11 + c22 * x21)
    d02, d12, d22 = (
        d02 - (c00 * x02 + c01 * x12),
        d12 - (c10 * x02 + c11 * x12),
        d22 - (c20 * x02 + c21 * x12),
    )
    m0 -= c00 * x0 + c01 * x1 + c02 * x2
    m1 -= c10 * x0 + c11 * x1 + c12 * x2
    m2 -= c20 * x0 + c21 * x1 + c22 * x2
    # eliminate w0, then w1 and w2 by Cramer's rule
    pivot = 1.0 / d00
    l1, l2 = d10 * pivot, d20 * pivot
    d11, d12, m1 = d11 - l1 * d01, d12 - l1 * d02, m1 - l1 * m0
    d21, d22, m2 = d21 - l2 * d01, d22 - l2 * d02, m2 - l2 * m0
    scale = 1.0 / (d11 * d22 - d12 * d21)
    w1, w2 = (d22 * m1 - d12 * m2) * scale, (d11 * m2 - d21 * m1) * scale
    w0 = (m0 - d01 * w1 - d02 * w2) * pivot
    return (
        # v = x - X w
        x0 - (x00 * w0 + x01 * w1 + x02 * w2),
        x1 - (x10 * w0 + x11 * w1 + x12 * w2),
        x2 - (x20 * w0 + x21 * w1),
        w0,
        w1,
        w2,
    )


@numba.njit(**INLINE)
def _clip(mu, contacts, i):
    """Shorten the tangential impulse to the friction disk of eq. 11."""
    t0, t1, limit = (
        contacts[i, IMPULSE],
        contacts[i, IMPULSE + 1],
        mu * max(contacts[i, IMPULSE + 2], 0.0),
    )
    square = t0 * t0 + t1 * t1
    if square > limit * limit:
        shrink = limit / np.sqrt(square)
        contacts[i, IMPULSE], contacts[i, IMPULSE + 1] = t0 * shrink, t1 * shrink


@numba.njit(**INLINE)
def newton_step(n, inverse_mass, inertia, mu, sticking, momentum, twist, contacts):
    """Solve the linearised problem at the impulses, ``xi`` and twist; returns the new twist,
    updates the impulses.
    """
    v0, v1, v2, w0, w1, w2 = _solve_linear(
        _assemble(n, inverse_mass, inertia, mu, sticking, momentum, contacts)
    )
    for i in range(n):
        x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
        # W_i du, without the offset: it is a change
        x0, x1, x2 = v0 + w1 * z - w2 * y, v1 + w2 * x - w0 * z, v2 + w0 * y - w1 * x
        k00, k01, k11 = contacts[i, STIFF], contacts[i, STIFF + 1], contacts[i, STIFF + 2]
        k02, k12, k22 = contacts[i, STIFF + 3], contacts[i, STIFF + 4], contacts[i, STIFF + 5]
        contacts[i, IMPULSE] = contacts[i, AFFINE] - (k00 * x0 + k01 * x1 + k02 * x2)
        contacts[i, IMPULSE + 1] = contacts[i, AFFINE + 1] - (k01 * x0 + k11 * x1 + k12 * x2)
        contacts[i, IMPULSE + 2] = contacts[i, AFFINE + 2] - k22 * x2
        # while sticking is tried, friction may be whatever it takes
        if not sticking:
            _clip(mu, contacts, i)
    a0, a1, a2, a3, a4, a5 = twist
    return a0 + v0, a1 + v1, a2 + v2, a3 + w0, a4 + w1, a5 + w2


@numba.njit(**INLINE)
def friction_needed(n, contacts):
    """The smallest friction coefficient that carries the present impulses; infinite where one
    pulls.
    """
    square, normal = 0.0, 1.0  # of the contact that needs most
    for i in range(n):
        p0, p1, p2 = contacts[i, IMPULSE], contacts[i, IMPULSE + 1], contacts[i, IMPULSE + 2]
        tangential = p0 * p0 + p1 * p1
        if p2 > 0.0:
            # compared crosswise: no root and no division for each contact
            if tangential * normal > square * p2 * p2:
                square, normal = tangential, p2 * p2
        elif tangential > 0.0 or p2 < 0.0:
            return np.inf
    return np.sqrt(square / normal)


@numba.njit(**INLINE)
def _solve_single(inverse_mass, inverse_inertia, mu, free, contacts):
    """Solve one contact exactly; returns its twist and the friction needed (infinite where it
    slides).
    """
    set_block(inverse_mass, inverse_inertia, contacts, 0)
    b0, b1, b2 = xi_of(contacts, 0, free)
    p0, p1, p2 = solve_contact(contacts, 0, b0, b1, b2, mu, b0, b1)
    contacts[0, IMPULSE], contacts[0, IMPULSE + 1], contacts[0, IMPULSE + 2] = p0, p1, p2
    needed = friction_needed(1, contacts)
    twist = twist_of(1, inverse_mass, inverse_inertia, free, contacts)
    # on the rim of the disk, but for rounding, it slides
    return twist, (needed if needed < mu * (1.0 - 1e-12) else np.inf)


@numba.njit(**OPTIONS)
def _restart(n, inverse_mass, inverse_inertia, mu, steps, free, contacts):
    """Another start for Newton: some steps of the fixed point of eqs. 8 and 10 from rest; returns
    its twist.
    """
    total = 0.0  # at least the largest eigenvalue of W M^-1 W^T
    for i in range(n):
        contacts[i, IMPULSE] = contacts[i, IMPULSE + 1] = contacts[i, IMPULSE + 2] = 0.0
        total += contacts[i, SCALE_N] + 2.0 * contacts[i, SCALE_T]
    # tolerance 0: all of the steps are taken
    solve_prox(n, inverse_mass, inverse_inertia, mu, 1.0 / total, 0.0, steps, free, contacts)
    return twist_of(n, inverse_mass, inverse_inertia, free, contacts)


@numba.njit(**INLINE)
def solve_contacts(
    n, inverse_mass, inertia, inverse_inertia, mu, tolerance, max_iterations, free, contacts
):
    """Solve the contact problem; returns (iterations, violation in m/s, friction needed, twist).

    The friction needed is finite where every contact sticks or opens and the result would have come
    out the same, to the last digit, for every larger friction coefficient. That is why sticking is
    tried first, by itself, unless the warm start says that the body slides.
    """
    if n == 1:
        twist, needed = _solve_single(inverse_mass, inverse_inertia, mu, free, contacts)
        violation = contact_residual(1, inverse_mass, inverse_inertia, mu, free, contacts)
        # of a jammed corner the search for a direction may find none: Newton's method goes on from
        # the nearest there is
        if violation <= FAILED:
            return 1, violation, needed, twist
    for i in range(n):
        set_scale(inverse_mass, inverse_inertia, contacts, i)
    iterations, before = 0, np.inf
    # impulses of the last step on the rim, but for rounding, say that the body slides
    sticking = friction_needed(n, contacts) < mu * (1.0 - 1e-9)
    twist = twist_of(n, inverse_mass, inverse_inertia, free, contacts)
    while True:
        violation, momentum = violation_of(
            n, inverse_mass, inertia, mu, sticking, free, twist, contacts
        )
        # see _ENOUGH
        limit = tolerance if iterations < _ENOUGH else max(tolerance, 0.5 * FAILED)
        if violation <= limit:
            # the unexplained momentum counts, too, once the law itself holds
            violation = max(
                violation, _velocity_of(inverse_mass, inverse_inertia, momentum, contacts)
            )
        solved = violation <= limit
        if sticking:
            needed = friction_needed(n, contacts)
            if solved and needed <= mu:
                return iterations, violation, needed, twist
            # Newton's steps don't shrink the violation tenfold, or they have all but solved it with
            # more friction than there is
            hopeless = violation > 0.1 * before or (violation < 1e-6 and needed > 1.01 * mu)
            # what the start violates says nothing of how fast Newton's method converges
            before = violation if iterations > 0 else np.inf
            if solved or hopeless or iterations >= _STICKING_STEPS:
                sticking = False
                for i in range(n):
                    # sliding begins within the disk
                    _clip(mu, contacts, i)
                continue
        elif solved or iterations >= max_iterations:
            return iterations, violation, np.inf, twist
        iterations += 1
        if iterations % _PATIENCE == 0:
            # each restart goes further than the one before
            twist = _restart(
                n, inverse_mass, inverse_inertia, mu, iterations * iterations, free, contacts
            )
        else:
            twist = newton_step(n, inverse_mass, inertia, mu, sticking, momentum, twist, contacts)

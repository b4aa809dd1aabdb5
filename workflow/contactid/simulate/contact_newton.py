"""All contacts of a step at once: Newton's method on the impact and friction law (eqs. 7 to 11 of the tossing paper).

Coulomb's law of a closed contact says ``T |xi_T| + mu N xi_T = 0``. With ``s = sqrt(|xi_T|^2 + epsilon^2)`` and
``h = xi_T / s`` the equation ``T s + mu N xi_T = 0`` is smooth in impulse and velocity together, in sliding and in sticking
alike, and its linearisation in both,

    ``T_new = -mu N_new h - A (xi_T,new - xi_T)``,  ``A = (mu N 1 + sym(T h^T)) / s``,

needs no decision which of the two it is: far from rest A is how fast the direction of sliding turns, close to rest it is
so stiff that the contact stays where it is. (Newton's method on both kinds of unknowns is known from the minimisation of
sums of norms: Chan, Golub and Mulet 1999.) ``|T| <= mu N`` is restored after each step, and ``epsilon`` can be far below any
velocity of interest. For the normal direction, with the argument of eq. 8 and r = 1 / G_NN,

    ``N_new = 0`` where ``N - xi_N / G_NN <= 0``, else ``N_new = N - k xi_N,new``,

k being so large that it stands for ``xi_N,new = 0``. Being finite, it makes this a proximal point method: where the impulses
are not unique (four vertices of a resting face: hyperstatic), it goes to the solution nearest to the start. The price is a
factor 1 / k in the rate of convergence, none in accuracy, because the residual is that of the exact law.

Altogether ``P_new = p - K W_i du``; eliminating the impulses leaves six equations for the change of the twist, however
many contacts are closed: ``(M + sum W_i^T K_i W_i) du = sum W_i^T p_i - M (u - u_free)``.
"""

from __future__ import annotations

import numba
import numpy as np

from contactid.simulate.contact_kernel import (
    AFFINE,
    ARM,
    IMPULSE,
    OPTIONS,
    SCALE_N,
    SCALE_T,
    STIFF,
    XI,
    set_block,
    set_scale,
    sweep_contacts,
    twist_of,
    xi_of,
)

FAILED = 1e-9  # m/s: a step whose contact law is violated by more has failed
_STIFFNESS = 1e8  # k G_NN
_EPSILON = 1e-15  # m/s
_ENOUGH = 10  # Newton steps after which rounding may keep the violation above the tolerance: FAILED is then the limit
_PATIENCE = 40  # Newton steps before Gauss-Seidel finds another start
_SWEEPS = 12
_STICKING_STEPS = 4


@numba.njit(**OPTIONS)
def violation_of(n, inverse_mass, inertia, mu, sticking, free, twist, contacts):
    """Fill ``xi``; returns the violation of the law in m/s, and the momentum that the twist has but the impulses don't explain.

    ``|T| <= mu N`` is presumed; then the violation bounds that of
    :func:`contactid.simulate.contact_kernel.contact_residual` up to the unexplained momentum. With ``sticking`` every
    closed contact must stick, whatever friction that takes.
    """
    worst = 0.0
    v0, v1, v2, w0, w1, w2 = twist
    a0, a1, a2, a3, a4, a5 = free
    xx, xy, xz, yy, yz, zz = inertia
    mass = 1.0 / inverse_mass
    d0, d1, d2 = w0 - a3, w1 - a4, w2 - a5
    f0, f1, f2 = mass * (v0 - a0), mass * (v1 - a1), mass * (v2 - a2)
    m0, m1, m2 = xx * d0 + xy * d1 + xz * d2, xy * d0 + yy * d1 + yz * d2, xz * d0 + yz * d1 + zz * d2
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
        if scaled <= x2:
            e0, e1, slip = p0, p1, np.inf
        elif sticking:
            e0 = e1 = np.inf
        else:
            radius = mu * max(p2, 0.0) / np.sqrt(slip + _EPSILON * _EPSILON)
            e0, e1 = p0 + radius * x0, p1 + radius * x1
        g = 2.0 * contacts[i, SCALE_T]
        worst = max(worst, normal * normal, min(slip, g * g * (e0 * e0 + e1 * e1)))
    return np.sqrt(worst), (f0, f1, f2, m0, m1, m2)


@numba.njit(**OPTIONS)
def _velocity_of(inverse_mass, inverse_inertia, momentum, contacts):
    """About the velocity in m/s that a momentum (6) gives the contacts."""
    f0, f1, f2, m0, m1, m2 = momentum
    xx, xy, xz, yy, yz, zz = inverse_inertia
    w0, w1, w2 = xx * m0 + xy * m1 + xz * m2, xy * m0 + yy * m1 + yz * m2, xz * m0 + yz * m1 + zz * m2
    reach = abs(contacts[0, ARM]) + abs(contacts[0, ARM + 1]) + abs(contacts[0, ARM + 2])
    return max(abs(f0), abs(f1), abs(f2)) * inverse_mass + max(abs(w0), abs(w1), abs(w2)) * reach


@numba.njit(**OPTIONS)
def _add_row(system, x, y, z, k0, k1, k2, right, up, one, arm_one, two, arm_two):
    """Add one row (k0, k1, k2) of K of a contact at (x, y, z), times W, times its column of W^T, which has three entries."""
    k3, k4, k5 = y * k2 - z * k1, z * k0 - x * k2, x * k1 - y * k0
    system[up, 0] += k0
    system[up, 1] += k1
    system[up, 2] += k2
    system[up, 3] += k3
    system[up, 4] += k4
    system[up, 5] += k5
    system[up, 6] += right
    system[one, 0] += arm_one * k0
    system[one, 1] += arm_one * k1
    system[one, 2] += arm_one * k2
    system[one, 3] += arm_one * k3
    system[one, 4] += arm_one * k4
    system[one, 5] += arm_one * k5
    system[one, 6] += arm_one * right
    system[two, 0] += arm_two * k0
    system[two, 1] += arm_two * k1
    system[two, 2] += arm_two * k2
    system[two, 3] += arm_two * k3
    system[two, 4] += arm_two * k4
    system[two, 5] += arm_two * k5
    system[two, 6] += arm_two * right


@numba.njit(**OPTIONS)
def _linearise(mu, sticking, contacts, i):
    """Fill ``p`` and ``K`` of contact i and return them: (p_x, p_y, p_N, K_xx, K_xy, K_yy, K_xN, K_yN, K_NN)."""
    p0, p1, p2 = contacts[i, IMPULSE], contacts[i, IMPULSE + 1], contacts[i, IMPULSE + 2]
    x0, x1, x2 = contacts[i, XI], contacts[i, XI + 1], contacts[i, XI + 2]
    if contacts[i, SCALE_N] * p2 <= x2:
        q0 = q1 = q2 = k00 = k01 = k11 = k02 = k12 = stiff = 0.0
    else:
        stiff = _STIFFNESS / contacts[i, SCALE_N]
        q2 = p2 - stiff * x2
        if sticking:
            q0, q1 = p0 - stiff * x0, p1 - stiff * x1
            k00, k01, k11, k02, k12 = stiff, 0.0, stiff, 0.0, 0.0
        else:
            inverse = 1.0 / np.sqrt(x0 * x0 + x1 * x1 + _EPSILON * _EPSILON)
            h0, h1, radius = x0 * inverse, x1 * inverse, mu * max(p2, 0.0)
            k00, k11 = (radius + p0 * h0) * inverse, (radius + p1 * h1) * inverse
            k01 = 0.5 * (p0 * h1 + p1 * h0) * inverse
            k02, k12 = -mu * h0 * stiff, -mu * h1 * stiff
            q0, q1 = -mu * h0 * q2, -mu * h1 * q2
    contacts[i, AFFINE], contacts[i, AFFINE + 1], contacts[i, AFFINE + 2] = q0, q1, q2
    contacts[i, STIFF], contacts[i, STIFF + 1], contacts[i, STIFF + 2] = k00, k01, k11
    contacts[i, STIFF + 3], contacts[i, STIFF + 4], contacts[i, STIFF + 5] = k02, k12, stiff
    return q0, q1, q2, k00, k01, k11, k02, k12, stiff


@numba.njit(**OPTIONS)
def _assemble(n, inverse_mass, inertia, mu, sticking, momentum, contacts, system):
    """Fill ``system`` (6, 8): the matrix of the six equations in columns 0 to 5, their right-hand side in column 6.

    M (u - u_free) is the impulses' momentum plus the unexplained one, so the right-hand side is summed as W^T (p - P).
    """
    for row in range(6):
        for column in range(7):
            system[row, column] = 0.0
    system[0, 0] = system[1, 1] = system[2, 2] = 1.0 / inverse_mass
    xx, xy, xz, yy, yz, zz = inertia
    system[3, 3], system[3, 4], system[3, 5] = xx, xy, xz
    system[4, 3], system[4, 4], system[4, 5] = xy, yy, yz
    system[5, 3], system[5, 4], system[5, 5] = xz, yz, zz
    f0, f1, f2, m0, m1, m2 = momentum
    system[0, 6], system[1, 6], system[2, 6] = -f0, -f1, -f2
    system[3, 6], system[4, 6], system[5, 6] = -m0, -m1, -m2
    for i in range(n):
        x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
        q0, q1, q2, k00, k01, k11, k02, k12, k22 = _linearise(mu, sticking, contacts, i)
        q0, q1, q2 = q0 - contacts[i, IMPULSE], q1 - contacts[i, IMPULSE + 1], q2 - contacts[i, IMPULSE + 2]
        _add_row(system, x, y, z, k00, k01, k02, q0, 0, 4, z, 5, -y)
        _add_row(system, x, y, z, k01, k11, k12, q1, 1, 5, x, 3, -z)
        _add_row(system, x, y, z, 0.0, 0.0, k22, q2, 2, 3, y, 4, -x)


@numba.njit(**OPTIONS)
def _eliminate(system):
    """Solve the six equations in place by Gaussian elimination; returns the solution."""
    for p in range(6):
        pivot = 1.0 / system[p, p]
        system[p, 7] = pivot
        for row in range(p + 1, 6):
            factor = system[row, p] * pivot
            for column in range(p + 1, 7):
                system[row, column] -= factor * system[p, column]
    for p in range(5, -1, -1):
        value = system[p, 6]
        for column in range(p + 1, 6):
            value -= system[p, column] * system[column, 6]
        system[p, 6] = value * system[p, 7]
    return system[0, 6], system[1, 6], system[2, 6], system[3, 6], system[4, 6], system[5, 6]


@numba.njit(**OPTIONS)
def _clip(mu, contacts, i):
    """Shorten the tangential impulse to the friction disk of eq. 11."""
    t0, t1, limit = contacts[i, IMPULSE], contacts[i, IMPULSE + 1], mu * max(contacts[i, IMPULSE + 2], 0.0)
    square = t0 * t0 + t1 * t1
    if square > limit * limit:
        shrink = limit / np.sqrt(square)
        contacts[i, IMPULSE], contacts[i, IMPULSE + 1] = t0 * shrink, t1 * shrink


@numba.njit(**OPTIONS)
def newton_step(n, inverse_mass, inertia, mu, sticking, momentum, twist, contacts, system):
    """Solve the linearised problem at the impulses, ``xi`` and twist; updates the impulses and returns the new twist."""
    _assemble(n, inverse_mass, inertia, mu, sticking, momentum, contacts, system)
    v0, v1, v2, w0, w1, w2 = _eliminate(system)
    for i in range(n):
        x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
        x0, x1, x2 = v0 + w1 * z - w2 * y, v1 + w2 * x - w0 * z, v2 + w0 * y - w1 * x
        k00, k01, k11 = contacts[i, STIFF], contacts[i, STIFF + 1], contacts[i, STIFF + 2]
        k02, k12, k22 = contacts[i, STIFF + 3], contacts[i, STIFF + 4], contacts[i, STIFF + 5]
        contacts[i, IMPULSE] = contacts[i, AFFINE] - (k00 * x0 + k01 * x1 + k02 * x2)
        contacts[i, IMPULSE + 1] = contacts[i, AFFINE + 1] - (k01 * x0 + k11 * x1 + k12 * x2)
        contacts[i, IMPULSE + 2] = contacts[i, AFFINE + 2] - k22 * x2
        if not sticking:
            _clip(mu, contacts, i)
    a0, a1, a2, a3, a4, a5 = twist
    return a0 + v0, a1 + v1, a2 + v2, a3 + w0, a4 + w1, a5 + w2


@numba.njit(**OPTIONS)
def friction_needed(n, contacts):
    """The smallest friction coefficient that carries the present impulses; infinite where one pulls."""
    needed = 0.0
    for i in range(n):
        p0, p1, p2 = contacts[i, IMPULSE], contacts[i, IMPULSE + 1], contacts[i, IMPULSE + 2]
        square = p0 * p0 + p1 * p1
        if p2 > 0.0:
            needed = max(needed, square / (p2 * p2))
        elif square > 0.0 or p2 < 0.0:
            return np.inf
    return np.sqrt(needed)


@numba.njit(**OPTIONS)
def _solve_single(inverse_mass, inverse_inertia, mu, free, contacts):
    """Solve one contact exactly; returns its twist and the friction needed (infinite where it slides)."""
    set_block(inverse_mass, inverse_inertia, contacts, 0)
    contacts[0, IMPULSE] = contacts[0, IMPULSE + 1] = contacts[0, IMPULSE + 2] = 0.0
    twist = sweep_contacts(1, inverse_mass, inverse_inertia, mu, free, contacts)
    needed = friction_needed(1, contacts)
    return twist, (needed if needed < mu * (1.0 - 1e-12) else np.inf)


@numba.njit(**OPTIONS)
def _restart(n, inverse_mass, inverse_inertia, mu, free, contacts):
    """Sweeps of Gauss-Seidel from rest: another start for Newton's method; returns its twist."""
    for i in range(n):
        set_block(inverse_mass, inverse_inertia, contacts, i)
        contacts[i, IMPULSE] = contacts[i, IMPULSE + 1] = contacts[i, IMPULSE + 2] = 0.0
    twist = free
    for _ in range(_SWEEPS):
        twist = sweep_contacts(n, inverse_mass, inverse_inertia, mu, twist, contacts)
    return twist


@numba.njit(**OPTIONS)
def solve_contacts(n, inverse_mass, inertia, inverse_inertia, mu, tolerance, max_iterations, free, contacts, system):
    """Solve the contact problem; returns (iterations, violation in m/s, friction needed, twist).

    The friction needed is finite where every contact sticks or opens and the result would have come out the same, to the
    last digit, for every larger friction coefficient. That is why sticking is tried first, by itself, unless the warm
    start says that the body slides.
    """
    if n == 1:
        twist, needed = _solve_single(inverse_mass, inverse_inertia, mu, free, contacts)
        return 1, 0.0, needed, twist
    for i in range(n):
        set_scale(inverse_mass, inverse_inertia, contacts, i)
    iterations = 0
    sticking = friction_needed(n, contacts) < mu * (1.0 - 1e-9)
    twist = twist_of(n, inverse_mass, inverse_inertia, free, contacts)
    while True:
        violation, momentum = violation_of(n, inverse_mass, inertia, mu, sticking, free, twist, contacts)
        limit = tolerance if iterations < _ENOUGH else max(tolerance, 0.5 * FAILED)
        if violation <= limit:
            violation = max(violation, _velocity_of(inverse_mass, inverse_inertia, momentum, contacts))
        solved = violation <= limit
        if sticking:
            needed = friction_needed(n, contacts)
            if solved and needed <= mu:
                return iterations, violation, needed, twist
            if solved or iterations >= _STICKING_STEPS:
                sticking = False
                for i in range(n):
                    _clip(mu, contacts, i)
                continue
        elif solved or iterations >= max_iterations:
            return iterations, violation, np.inf, twist
        if iterations % _PATIENCE == _PATIENCE - 1:
            twist = _restart(n, inverse_mass, inverse_inertia, mu, free, contacts)
            violation, momentum = violation_of(n, inverse_mass, inertia, mu, sticking, free, twist, contacts)
        twist = newton_step(n, inverse_mass, inertia, mu, sticking, momentum, twist, contacts, system)
        iterations += 1

"""Compiled contact solvers for a rigid body whose vertices touch a plane (eqs. 7 to 11 of the tossing paper).

For every closed contact i with impulse P_i = (T_x, T_y, N), all in the surface frame C:

* ``xi_i = gamma_i^+ + diag(e_T, e_T, e_N) gamma_i^-`` (eq. 9 and the text above eq. 8),
* ``0 <= N_i``, ``xi_Ni >= 0``, ``N_i xi_Ni = 0`` (eq. 8),
* ``|T_i| <= mu N_i``; ``xi_Ti = 0`` inside the disk, ``xi_Ti`` opposed to ``T_i`` on its rim (eqs. 10, 11).

Two solvers of the same problem: :func:`solve_gauss_seidel` goes round the contacts and solves each one exactly;
:func:`solve_prox` is the paper's fixed point ``P <- prox(P - r xi)``. With two or more contacts the impulses may not be
unique (the system is hyperstatic), so both judge convergence by the body's twist, not by the impulses.

Shapes: ``arm`` (8, 3) m from the centre of mass to each contact; ``pre`` (8, 3) m/s holds ``gamma^-`` relative to the
surface; ``impulse`` (8, 3) N s, warm start in, solution out; ``linear`` (3,) and ``angular`` (3,) are the twist in C, free
motion in, post-contact out; ``inverse_inertia`` (3, 3) in C; ``surface`` (3,) m/s. Only the first ``n`` rows count.
"""

from __future__ import annotations

import numba
import numpy as np

_OPTIONS = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}

_MAX_ANGLE_STEPS = 30
_SCAN = 256


@numba.njit(**_OPTIONS)
def delassus(inverse_mass, inverse_inertia, arm, i, out):
    """Fill ``out`` (3, 3) with G_ii = 1/m + [r]x^T I^-1 [r]x of contact i, in 1/kg."""
    x, y, z = arm[i, 0], arm[i, 1], arm[i, 2]
    # columns of [r]x^T applied to the axes: r x e_k
    for k in range(3):
        if k == 0:
            ax, ay, az = 0.0, z, -y
        elif k == 1:
            ax, ay, az = -z, 0.0, x
        else:
            ax, ay, az = y, -x, 0.0
        wx = inverse_inertia[0, 0] * ax + inverse_inertia[0, 1] * ay + inverse_inertia[0, 2] * az
        wy = inverse_inertia[1, 0] * ax + inverse_inertia[1, 1] * ay + inverse_inertia[1, 2] * az
        wz = inverse_inertia[2, 0] * ax + inverse_inertia[2, 1] * ay + inverse_inertia[2, 2] * az
        out[0, k] = wy * z - wz * y
        out[1, k] = wz * x - wx * z
        out[2, k] = wx * y - wy * x
        out[k, k] += inverse_mass


@numba.njit(**_OPTIONS)
def _slip_direction(g, b0, b1, b2, mu, d0, d1, precision):
    """Newton's method for the sliding direction d of one contact; returns (found, d0, d1, N).

    With T = -mu N d the normal condition gives N(d) = -b_N / (G_NN - mu g.d); the wanted d is parallel to
    xi_T(d) = b_T + N (g - mu G_TT d), with a positive factor.
    """
    for _ in range(_MAX_ANGLE_STEPS):
        denominator = g[2, 2] - mu * (g[0, 2] * d0 + g[1, 2] * d1)
        if denominator <= 0.0:
            return False, d0, d1, 0.0
        normal = -b2 / denominator
        x0 = b0 + normal * (g[0, 2] - mu * (g[0, 0] * d0 + g[0, 1] * d1))
        x1 = b1 + normal * (g[1, 2] - mu * (g[1, 0] * d0 + g[1, 1] * d1))
        cross = -d1 * x0 + d0 * x1
        along = d0 * x0 + d1 * x1
        change = normal * mu * (-g[0, 2] * d1 + g[1, 2] * d0) / denominator
        s0 = change * (g[0, 2] - mu * (g[0, 0] * d0 + g[0, 1] * d1)) + mu * normal * (g[0, 0] * d1 - g[0, 1] * d0)
        s1 = change * (g[1, 2] - mu * (g[1, 0] * d0 + g[1, 1] * d1)) + mu * normal * (g[1, 0] * d1 - g[1, 1] * d0)
        slope = -along + (-d1 * s0 + d0 * s1)
        # slope < 0 at a stable solution; elsewhere go towards xi_T
        step = -cross / slope if slope < 0.0 else (0.5 if cross > 0.0 else -0.5)
        if step > 0.7:
            step = 0.7
        elif step < -0.7:
            step = -0.7
        e0, e1 = d0 - step * d1, d1 + step * d0
        size = 1.0 / np.sqrt(e0 * e0 + e1 * e1)
        d0, d1 = e0 * size, e1 * size
        if abs(step) < precision:  # Newton converges quadratically: the error left is about the square of this
            denominator = g[2, 2] - mu * (g[0, 2] * d0 + g[1, 2] * d1)
            return along > 0.0 and denominator > 0.0, d0, d1, -b2 / denominator
    return False, d0, d1, 0.0


@numba.njit(**_OPTIONS)
def solve_contact(g, inverse, b0, b1, b2, mu, start0, start1, precision):
    """Exact impulse of one contact whose ``xi`` without its own impulse is ``b``; returns (T_x, T_y, N).

    ``g`` is its Delassus block, ``inverse`` that block's inverse, ``start`` a first guess of the direction of sliding,
    ``precision`` (rad) the last Newton step of that direction.
    """
    if b2 >= 0.0:
        return 0.0, 0.0, 0.0
    t0 = -(inverse[0, 0] * b0 + inverse[0, 1] * b1 + inverse[0, 2] * b2)
    t1 = -(inverse[1, 0] * b0 + inverse[1, 1] * b1 + inverse[1, 2] * b2)
    n = -(inverse[2, 0] * b0 + inverse[2, 1] * b1 + inverse[2, 2] * b2)
    if n >= 0.0 and t0 * t0 + t1 * t1 <= mu * mu * n * n:
        return t0, t1, n
    size = np.sqrt(start0 * start0 + start1 * start1)
    if size > 0.0:
        found, d0, d1, normal = _slip_direction(g, b0, b1, b2, mu, start0 / size, start1 / size, precision)
        if found:
            return -mu * normal * d0, -mu * normal * d1, normal
    # the rare cases: scan the circle for the direction along which xi_T is most nearly parallel, then polish it
    best, best0, best1 = -2.0, 1.0, 0.0
    for k in range(_SCAN):
        angle = 2.0 * np.pi * k / _SCAN
        d0, d1 = np.cos(angle), np.sin(angle)
        denominator = g[2, 2] - mu * (g[0, 2] * d0 + g[1, 2] * d1)
        if denominator <= 0.0:
            continue
        normal = -b2 / denominator
        x0 = b0 + normal * (g[0, 2] - mu * (g[0, 0] * d0 + g[0, 1] * d1))
        x1 = b1 + normal * (g[1, 2] - mu * (g[1, 0] * d0 + g[1, 1] * d1))
        size = np.sqrt(x0 * x0 + x1 * x1)
        cosine = (x0 * d0 + x1 * d1) / size if size > 0.0 else 1.0
        if cosine > best:
            best, best0, best1 = cosine, d0, d1
    found, d0, d1, normal = _slip_direction(g, b0, b1, b2, mu, best0, best1, precision)
    if found:
        return -mu * normal * d0, -mu * normal * d1, normal
    denominator = g[2, 2] - mu * (g[0, 2] * best0 + g[1, 2] * best1)
    normal = -b2 / denominator if denominator > 0.0 else -b2 / g[2, 2]
    return -mu * normal * best0, -mu * normal * best1, normal


@numba.njit(**_OPTIONS)
def apply_impulse(inverse_mass, inverse_inertia, arm, i, d0, d1, d2, linear, angular):
    """Add an impulse (d0, d1, d2) at contact i to the twist, in place."""
    x, y, z = arm[i, 0], arm[i, 1], arm[i, 2]
    linear[0] += inverse_mass * d0
    linear[1] += inverse_mass * d1
    linear[2] += inverse_mass * d2
    m0, m1, m2 = y * d2 - z * d1, z * d0 - x * d2, x * d1 - y * d0
    angular[0] += inverse_inertia[0, 0] * m0 + inverse_inertia[0, 1] * m1 + inverse_inertia[0, 2] * m2
    angular[1] += inverse_inertia[1, 0] * m0 + inverse_inertia[1, 1] * m1 + inverse_inertia[1, 2] * m2
    angular[2] += inverse_inertia[2, 0] * m0 + inverse_inertia[2, 1] * m1 + inverse_inertia[2, 2] * m2


@numba.njit(**_OPTIONS)
def contact_xi(arm, pre, i, linear, angular, surface, e_n, e_t):
    """``xi`` of contact i for the present twist (3 scalars)."""
    x, y, z = arm[i, 0], arm[i, 1], arm[i, 2]
    return (
        linear[0] + angular[1] * z - angular[2] * y - surface[0] + e_t * pre[i, 0],
        linear[1] + angular[2] * x - angular[0] * z - surface[1] + e_t * pre[i, 1],
        linear[2] + angular[0] * y - angular[1] * x - surface[2] + e_n * pre[i, 2],
    )


@numba.njit(**_OPTIONS)
def _invert(g, out):
    """Inverse of a symmetric 3 x 3 matrix by cofactors."""
    c00 = g[1, 1] * g[2, 2] - g[1, 2] * g[1, 2]
    c01 = g[0, 2] * g[1, 2] - g[0, 1] * g[2, 2]
    c02 = g[0, 1] * g[1, 2] - g[0, 2] * g[1, 1]
    scale = 1.0 / (g[0, 0] * c00 + g[0, 1] * c01 + g[0, 2] * c02)
    out[0, 0] = c00 * scale
    out[0, 1] = out[1, 0] = c01 * scale
    out[0, 2] = out[2, 0] = c02 * scale
    out[1, 1] = (g[0, 0] * g[2, 2] - g[0, 2] * g[0, 2]) * scale
    out[1, 2] = out[2, 1] = (g[0, 1] * g[0, 2] - g[0, 0] * g[1, 2]) * scale
    out[2, 2] = (g[0, 0] * g[1, 1] - g[0, 1] * g[0, 1]) * scale


@numba.njit(**_OPTIONS)
def solve_gauss_seidel(
    n, inverse_mass, inverse_inertia, arm, pre, surface, mu, e_n, e_t, tolerance, max_sweeps, impulse, linear, angular,
    g, g_inverse,
):  # fmt: skip
    """Solve the contact problem by block Gauss-Seidel with exact blocks; returns the number of sweeps.

    The iteration ends when a whole sweep changes neither the velocity of the centre of mass nor that of the contacts by
    more than ``tolerance`` (m/s). ``max_sweeps + 1`` is returned where it doesn't. ``g`` and ``g_inverse`` (8, 3, 3) are
    workspace.
    """
    # among several contacts later sweeps polish the directions anyway
    precision = 1e-7 if n == 1 else 1e-4
    for i in range(n):
        delassus(inverse_mass, inverse_inertia, arm, i, g[i])
        _invert(g[i], g_inverse[i])
        if n > 1:
            apply_impulse(
                inverse_mass, inverse_inertia, arm, i, impulse[i, 0], impulse[i, 1], impulse[i, 2], linear, angular
            )
        else:
            impulse[i, :] = 0.0
    for sweep in range(max_sweeps):
        l0, l1, l2 = linear[0], linear[1], linear[2]
        w0, w1, w2 = angular[0], angular[1], angular[2]
        reach = 0.0
        for i in range(n):
            x0, x1, x2 = contact_xi(arm, pre, i, linear, angular, surface, e_n, e_t)
            p0, p1, p2 = impulse[i, 0], impulse[i, 1], impulse[i, 2]
            gi = g[i]
            b0 = x0 - (gi[0, 0] * p0 + gi[0, 1] * p1 + gi[0, 2] * p2)
            b1 = x1 - (gi[0, 1] * p0 + gi[1, 1] * p1 + gi[1, 2] * p2)
            b2 = x2 - (gi[0, 2] * p0 + gi[1, 2] * p1 + gi[2, 2] * p2)
            s0, s1 = -p0, -p1
            if s0 == 0.0 and s1 == 0.0:
                s0, s1 = b0, b1
            t0, t1, normal = solve_contact(gi, g_inverse[i], b0, b1, b2, mu, s0, s1, precision)
            impulse[i, 0], impulse[i, 1], impulse[i, 2] = t0, t1, normal
            apply_impulse(inverse_mass, inverse_inertia, arm, i, t0 - p0, t1 - p1, normal - p2, linear, angular)
            reach = max(reach, abs(arm[i, 0]) + abs(arm[i, 1]) + abs(arm[i, 2]))
        if n == 1:
            return 1
        moved = max(abs(linear[0] - l0), abs(linear[1] - l1), abs(linear[2] - l2))
        turned = max(abs(angular[0] - w0), abs(angular[1] - w1), abs(angular[2] - w2))
        if moved + turned * reach < tolerance:
            return sweep + 1
    return max_sweeps + 1


@numba.njit(**_OPTIONS)
def solve_prox(
    n, inverse_mass, inverse_inertia, arm, pre, surface, mu, e_n, e_t, step, tolerance, max_iterations, impulse, linear,
    angular,
):  # fmt: skip
    """The paper's fixed point P <- prox(P - r xi) (eqs. 8 and 10) with r = ``step`` in kg; returns the iterations.

    It ends when the impulses' change, summed over contacts, is below ``tolerance`` (N s), as in the authors' code.
    """
    for i in range(n):
        apply_impulse(
            inverse_mass, inverse_inertia, arm, i, impulse[i, 0], impulse[i, 1], impulse[i, 2], linear, angular
        )
    old = np.empty((n, 3))
    for iteration in range(max_iterations):
        change_n, change_t = 0.0, 0.0
        # all xi belong to the same twist (Jacobi), so impulses are updated before any is applied
        for i in range(n):
            x0, x1, x2 = contact_xi(arm, pre, i, linear, angular, surface, e_n, e_t)
            old[i, 0], old[i, 1], old[i, 2] = impulse[i, 0], impulse[i, 1], impulse[i, 2]
            normal = max(0.0, impulse[i, 2] - step * x2)
            t0, t1 = impulse[i, 0] - step * x0, impulse[i, 1] - step * x1
            size = np.sqrt(t0 * t0 + t1 * t1)
            if size > mu * normal:
                t0, t1 = t0 * mu * normal / size, t1 * mu * normal / size
            impulse[i, 0], impulse[i, 1], impulse[i, 2] = t0, t1, normal
            change_n += (normal - old[i, 2]) ** 2
            change_t += (t0 - old[i, 0]) ** 2 + (t1 - old[i, 1]) ** 2
        for i in range(n):
            apply_impulse(
                inverse_mass, inverse_inertia, arm, i,
                impulse[i, 0] - old[i, 0], impulse[i, 1] - old[i, 1], impulse[i, 2] - old[i, 2], linear, angular,
            )  # fmt: skip
        if np.sqrt(change_n) + np.sqrt(change_t) < tolerance:
            return iteration + 1
    return max_iterations + 1


@numba.njit(**_OPTIONS)
def contact_residual(
    n, inverse_mass, inverse_inertia, arm, pre, surface, mu, e_n, e_t, impulse, linear, angular, block
):
    """Largest violation of the impact and friction law over the contacts, in m/s, recomputed from the solution.

    The natural map of eqs. 8 and 10 with r = 1 / G: zero exactly at a solution.
    """
    worst = 0.0
    for i in range(n):
        delassus(inverse_mass, inverse_inertia, arm, i, block)
        x0, x1, x2 = contact_xi(arm, pre, i, linear, angular, surface, e_n, e_t)
        normal = impulse[i, 2]
        worst = max(worst, abs(min(block[2, 2] * normal, x2)))
        stiffness = 0.5 * (block[0, 0] + block[1, 1])
        t0, t1 = impulse[i, 0] - x0 / stiffness, impulse[i, 1] - x1 / stiffness
        size, limit = np.sqrt(t0 * t0 + t1 * t1), mu * max(normal, 0.0)
        if size > limit:
            t0, t1 = t0 * limit / size, t1 * limit / size
        worst = max(worst, stiffness * np.sqrt((t0 - impulse[i, 0]) ** 2 + (t1 - impulse[i, 1]) ** 2))
    return worst

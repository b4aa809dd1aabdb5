"""The impact and friction law of a rigid body whose vertices touch a plane (eqs. 7 to 11, tossing
paper), compiled.

For every closed contact i with impulse ``P_i = (T_x, T_y, N)``, all in the surface frame C:

* ``xi_i = gamma_i^+ + diag(e_T, e_T, e_N) gamma_i^-`` (eq. 9 and the text above eq. 8),
* ``0 <= N_i``, ``xi_Ni >= 0``, ``N_i xi_Ni = 0`` (eq. 8),
* ``|T_i| <= mu N_i``; ``xi_Ti = 0`` inside the disk, ``xi_Ti`` opposed to ``T_i`` on its rim (eqs.
  10, 11).

With the twist ``u = (v, omega)`` of the centre of mass after the impulses, ``xi_i = W_i u +
offset_i``, where ``W_i u = v + omega x r_i`` and the offset (``diag(e) gamma_i^-`` minus the
surface's velocity) is known beforehand, and ``u = u_free + M^-1 sum W_i^T P_i``.

This module holds the law itself, the exact solution of a single contact, and the paper's fixed
point for several. :mod:`contactid.tossing.simulate.contact_newton` solves several at once.

The data of a step are one row per closed contact in a table with the columns below; what belongs to
the body as a whole are tuples: twists (6), symmetric tensors (xx, xy, xz, yy, yz, zz). Compiled
code pays for every array it is handed.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from contactid.core import compiled

OPTIONS: Any = {**compiled.OPTIONS, "fastmath": {"contract"}}
# small functions, and those called from one place: a call that isn't inlined counts references to
# its arrays
INLINE: Any = {"forceinline": True, **OPTIONS}

# first columns of the table of contacts
ARM = 0  # 3: m, from the centre of mass to the contact, in C
OFFSET = 3  # 3: m/s, the known part of xi
IMPULSE = 6  # 3: N s, warm start in, solution out
XI = 9  # 3: m/s
SCALE_N = 12  # 1/kg: G_NN of the Delassus block G_ii = 1/m + [r]x^T I^-1 [r]x
SCALE_T = 13  # 1/kg: mean of its two tangential diagonal entries
AFFINE = 14  # 3: N s, the p of the linearised law P = p - K W du
STIFF = 17  # 6: kg, K = [[0, 1, 3], [1, 2, 4], [., ., 5]]
BLOCK = 23  # 9: G_ii
INVERSE = 32  # 9: its inverse
MEMORY = 41  # 3: N s, impulse of the last step; this column's rows are vertices, not contacts
VERTEX = 44  # the contact's vertex
INVERSE_SPEED = 45  # s/m, 1 / |xi_T|
COLUMNS = 46

_MAX_ANGLE_STEPS = 30
_SCAN = 256
_PRECISION = 1e-7  # rad: last Newton step of a direction; the error left is about its square


@numba.njit(**INLINE)
def twist_of(n, inverse_mass, inverse_inertia, free, contacts):
    """``u_free + M^-1 sum W_i^T P_i``."""
    f0 = f1 = f2 = m0 = m1 = m2 = 0.0
    for i in range(n):
        x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
        p0, p1, p2 = contacts[i, IMPULSE], contacts[i, IMPULSE + 1], contacts[i, IMPULSE + 2]
        f0 += p0
        f1 += p1
        f2 += p2
        m0 += y * p2 - z * p1
        m1 += z * p0 - x * p2
        m2 += x * p1 - y * p0
    v0, v1, v2, w0, w1, w2 = free
    xx, xy, xz, yy, yz, zz = inverse_inertia
    return (
        v0 + inverse_mass * f0,
        v1 + inverse_mass * f1,
        v2 + inverse_mass * f2,
        w0 + xx * m0 + xy * m1 + xz * m2,
        w1 + xy * m0 + yy * m1 + yz * m2,
        w2 + xz * m0 + yz * m1 + zz * m2,
    )


@numba.njit(**INLINE)
def set_scale(inverse_mass, inverse_inertia, contacts, i):
    """Fill the scales of contact i."""
    x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
    xx, xy, xz, yy, yz, zz = inverse_inertia
    # diagonal of [r]x^T I^-1 [r]x; the whole block is only needed for a single contact
    g_x = yy * z * z - 2.0 * yz * y * z + zz * y * y
    g_y = xx * z * z - 2.0 * xz * x * z + zz * x * x
    contacts[i, SCALE_N] = inverse_mass + xx * y * y - 2.0 * xy * x * y + yy * x * x
    contacts[i, SCALE_T] = inverse_mass + 0.5 * (g_x + g_y)


@numba.njit(**INLINE)
def xi_of(contacts, i, twist):
    """``xi`` of contact i for a twist (3 scalars)."""
    x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
    v0, v1, v2, w0, w1, w2 = twist
    return (
        v0 + w1 * z - w2 * y + contacts[i, OFFSET],
        v1 + w2 * x - w0 * z + contacts[i, OFFSET + 1],
        v2 + w0 * y - w1 * x + contacts[i, OFFSET + 2],
    )


@numba.njit(**OPTIONS)
def contact_residual(n, inverse_mass, inverse_inertia, mu, free, contacts):
    """Largest violation of the law over the contacts in m/s, everything recomputed from the
    impulses.

    It is the natural map of eqs. 8 and 10 with r = 1 / G, ``|P - prox(P - r xi)| / r``: zero
    exactly at a solution.
    """
    twist = twist_of(n, inverse_mass, inverse_inertia, free, contacts)
    worst = 0.0
    for i in range(n):
        set_scale(inverse_mass, inverse_inertia, contacts, i)
        g_n, g_t = contacts[i, SCALE_N], contacts[i, SCALE_T]
        x0, x1, x2 = xi_of(contacts, i, twist)
        normal, limit = (
            abs(min(g_n * contacts[i, IMPULSE + 2], x2)),
            g_t * mu * max(contacts[i, IMPULSE + 2], 0.0),
        )
        t0, t1 = g_t * contacts[i, IMPULSE], g_t * contacts[i, IMPULSE + 1]
        # prox of eq. 10, times G: cut to the disk's radius
        y0, y1 = t0 - x0, t1 - x1
        square = y0 * y0 + y1 * y1
        if square > limit * limit:
            shrink = limit / np.sqrt(square)
            x0, x1 = t0 - shrink * y0, t1 - shrink * y1
        worst = max(worst, normal, np.sqrt(x0 * x0 + x1 * x1))
    return worst


@numba.njit(**OPTIONS)
def set_block(inverse_mass, inverse_inertia, contacts, i):
    """Fill the Delassus block of contact i and its inverse."""
    x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
    xx, xy, xz, yy, yz, zz = inverse_inertia
    for k in range(3):  # column k: the velocity that a unit impulse along axis k gives the contact
        if k == 0:
            ax, ay, az = 0.0, z, -y
        elif k == 1:
            ax, ay, az = -z, 0.0, x
        else:
            ax, ay, az = y, -x, 0.0
        wx = xx * ax + xy * ay + xz * az
        wy = xy * ax + yy * ay + yz * az
        wz = xz * ax + yz * ay + zz * az
        contacts[i, BLOCK + k] = wy * z - wz * y
        contacts[i, BLOCK + 3 + k] = wz * x - wx * z
        contacts[i, BLOCK + 6 + k] = wx * y - wy * x
        contacts[i, BLOCK + 4 * k] += inverse_mass
    g00, g01, g02, g11, g12, g22 = block_of(contacts, i)
    # the inverse by cofactors; it is symmetric
    c00, c01, c02 = g11 * g22 - g12 * g12, g02 * g12 - g01 * g22, g01 * g12 - g02 * g11
    scale = 1.0 / (g00 * c00 + g01 * c01 + g02 * c02)
    contacts[i, INVERSE] = c00 * scale
    contacts[i, INVERSE + 1] = contacts[i, INVERSE + 3] = c01 * scale
    contacts[i, INVERSE + 2] = contacts[i, INVERSE + 6] = c02 * scale
    contacts[i, INVERSE + 4] = (g00 * g22 - g02 * g02) * scale
    contacts[i, INVERSE + 5] = contacts[i, INVERSE + 7] = (g01 * g02 - g00 * g12) * scale
    contacts[i, INVERSE + 8] = (g00 * g11 - g01 * g01) * scale


@numba.njit(**INLINE)
def block_of(contacts, i):
    """The Delassus block of contact i as a symmetric tensor."""
    return (
        contacts[i, BLOCK],
        contacts[i, BLOCK + 1],
        contacts[i, BLOCK + 2],
        contacts[i, BLOCK + 4],
        contacts[i, BLOCK + 5],
        contacts[i, BLOCK + 8],
    )


@numba.njit(**INLINE)
def _sliding(block, b0, b1, b2, mu, d0, d1):
    """Normal impulse and tangential ``xi`` of a contact that slides along d: (denominator, N, xi_x,
    xi_y).

    With T = -mu N d the condition xi_N = 0 gives N = -b_N / (G_NN - mu g.d), g being the coupling
    of N and T.
    """
    g00, g01, g02, g11, g12, g22 = block
    denominator = g22 - mu * (g02 * d0 + g12 * d1)
    normal = -b2 / denominator
    x0 = b0 + normal * (g02 - mu * (g00 * d0 + g01 * d1))
    x1 = b1 + normal * (g12 - mu * (g01 * d0 + g11 * d1))
    return denominator, normal, x0, x1


@numba.njit(**OPTIONS)
def _slip_direction(block, b0, b1, b2, mu, d0, d1):
    """Newton's method for the direction d of sliding, which is parallel to xi_T(d); returns (found,
    d0, d1, N).
    """
    g00, g01, g02, g11, g12, g22 = block
    for _ in range(_MAX_ANGLE_STEPS):
        denominator, normal, x0, x1 = _sliding(block, b0, b1, b2, mu, d0, d1)
        # friction jams the corner: no normal impulse closes it while it slides along d
        if denominator <= 0.0:
            return False, d0, d1, 0.0
        # d is a solution where xi_T is parallel to it, cross being 0
        cross, along = d0 * x1 - d1 * x0, d0 * x0 + d1 * x1
        # dN / d angle, and d xi_T / d angle with it
        change = normal * mu * (g12 * d0 - g02 * d1) / denominator
        s0 = change * (g02 - mu * (g00 * d0 + g01 * d1)) + mu * normal * (g00 * d1 - g01 * d0)
        s1 = change * (g12 - mu * (g01 * d0 + g11 * d1)) + mu * normal * (g01 * d1 - g11 * d0)
        slope = -along + (d0 * s1 - d1 * s0)
        # slope < 0 at a stable solution; elsewhere go towards xi_T
        step = -cross / slope if slope < 0.0 else (0.5 if cross > 0.0 else -0.5)
        step = min(max(step, -0.7), 0.7)
        e0, e1 = d0 - step * d1, d1 + step * d0
        size = 1.0 / np.sqrt(e0 * e0 + e1 * e1)
        d0, d1 = e0 * size, e1 * size
        if abs(step) < _PRECISION:
            denominator = g22 - mu * (g02 * d0 + g12 * d1)
            # antiparallel to its own slip, friction would push it
            return along > 0.0 and denominator > 0.0, d0, d1, -b2 / denominator
    return False, d0, d1, 0.0


@numba.njit(**OPTIONS)
def _scan_directions(block, b0, b1, b2, mu):
    """The rare cases: the direction of a coarse circle along which xi_T is most nearly parallel to
    it.
    """
    best, best0, best1 = -2.0, 1.0, 0.0
    for k in range(_SCAN):
        angle = 2.0 * np.pi * k / _SCAN
        d0, d1 = np.cos(angle), np.sin(angle)
        denominator, _, x0, x1 = _sliding(block, b0, b1, b2, mu, d0, d1)
        if denominator <= 0.0:
            continue
        size = np.sqrt(x0 * x0 + x1 * x1)
        cosine = (x0 * d0 + x1 * d1) / size if size > 0.0 else 1.0
        if cosine > best:
            best, best0, best1 = cosine, d0, d1
    return best0, best1


@numba.njit(**OPTIONS)
def solve_contact(contacts, i, b0, b1, b2, mu, start0, start1):
    """Exact impulse of contact i whose ``xi`` without its own impulse is ``b``; returns (T_x, T_y,
    N).

    Sticking is a linear system; sliding is one equation for the direction, begun at ``start``.
    """
    # it opens by itself
    if b2 >= 0.0:
        return 0.0, 0.0, 0.0
    # sticking: P = -G^-1 b leaves xi = 0
    t0 = -(
        contacts[i, INVERSE] * b0 + contacts[i, INVERSE + 1] * b1 + contacts[i, INVERSE + 2] * b2
    )
    t1 = -(
        contacts[i, INVERSE + 3] * b0
        + contacts[i, INVERSE + 4] * b1
        + contacts[i, INVERSE + 5] * b2
    )
    n = -(
        contacts[i, INVERSE + 6] * b0
        + contacts[i, INVERSE + 7] * b1
        + contacts[i, INVERSE + 8] * b2
    )
    # within the disk of eq. 11
    if n >= 0.0 and t0 * t0 + t1 * t1 <= mu * mu * n * n:
        return t0, t1, n
    block = block_of(contacts, i)
    size = np.sqrt(start0 * start0 + start1 * start1)
    if size > 0.0:
        found, d0, d1, normal = _slip_direction(block, b0, b1, b2, mu, start0 / size, start1 / size)
        if found:
            return -mu * normal * d0, -mu * normal * d1, normal
    # Newton's method began too far away, or there was no slip to begin from
    best0, best1 = _scan_directions(block, b0, b1, b2, mu)
    found, d0, d1, normal = _slip_direction(block, b0, b1, b2, mu, best0, best1)
    if not found:
        # the nearest there is; of a jammed corner the normal impulse is that of a frictionless one
        d0, d1 = best0, best1
        denominator, normal, _, _ = _sliding(block, b0, b1, b2, mu, d0, d1)
        if denominator <= 0.0:
            normal = -b2 / block[5]
    return -mu * normal * d0, -mu * normal * d1, normal


@numba.njit(**OPTIONS)
def solve_prox(
    n, inverse_mass, inverse_inertia, mu, step, tolerance, max_iterations, free, contacts
):
    """The paper's fixed point P <- prox(P - r xi) (eqs. 8 and 10) with r = ``step`` in kg; returns
    the iterations.

    It ends when the impulses' change, summed over contacts, is below ``tolerance`` (N s), as in the
    authors' code; ``max_iterations + 1`` is returned where it doesn't.
    """
    for iteration in range(max_iterations):
        twist = twist_of(n, inverse_mass, inverse_inertia, free, contacts)
        change_n, change_t = 0.0, 0.0
        for i in range(n):
            x0, x1, x2 = xi_of(contacts, i, twist)
            p0, p1, p2 = contacts[i, IMPULSE], contacts[i, IMPULSE + 1], contacts[i, IMPULSE + 2]
            # eq. 8 first: the radius of eq. 10's disk is mu times the new N
            normal = max(0.0, p2 - step * x2)
            t0, t1 = p0 - step * x0, p1 - step * x1
            size, limit = np.sqrt(t0 * t0 + t1 * t1), mu * normal
            if size > limit:
                t0, t1 = t0 * limit / size, t1 * limit / size
            contacts[i, IMPULSE], contacts[i, IMPULSE + 1], contacts[i, IMPULSE + 2] = (
                t0,
                t1,
                normal,
            )
            change_n += (normal - p2) ** 2
            change_t += (t0 - p0) ** 2 + (t1 - p1) ** 2
        if np.sqrt(change_n) + np.sqrt(change_t) < tolerance:
            return iteration + 1
    return max_iterations + 1

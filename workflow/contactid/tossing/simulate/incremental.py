"""Impacts in which friction follows the slip while the normal impulse grows (Routh; Darboux;
Keller), compiled.

Newton's rule (eqs. 7 to 11 of the tossing paper) has one equation for the end of an impact: the
slip that is left decides the friction of all of it. A corner that slides turns its slip *during*
the impact, and here friction turns with it. The accumulated normal impulse p plays the part of
time. With gamma = (gamma_t, gamma_n) the corner's velocity relative to the surface and G its 3 x 3
Delassus matrix (blocks G_tt, G_tn, G_nn),

    ``d gamma / dp = G (phi, 1)``,  ``dP = (phi, 1) dp``,

* slip, gamma_t != 0: ``phi = -mu gamma_t / |gamma_t|``;
* stick, gamma_t = 0 and ``|G_tt^-1 G_tn| <= mu``: ``phi = -G_tt^-1 G_tn``, which keeps gamma_t at
  0;
* else slip starts again along a direction d that is parallel to ``G_tn - mu G_tt d``: ``phi = -mu
  d``.

Compression ends where gamma_n = 0, at p_c. Restitution is Poisson's: the impact ends at ``(1 + e)
p_c``. Without friction, ``gamma_n^+ = -e gamma_n^-``, as by Newton's rule; where nothing slips the
two laws agree, too.

Sources: Routh, Dynamics of a System of Rigid Bodies (1860); Darboux 1880; Keller, Impact with
friction, J. Appl. Mech. 53 (1986). Corners that hit together take turns: in compression the one
that approaches fastest, in restitution the one that has most to give back. What this pushes into
another corner is taken out by normal impulses alone.
"""

from __future__ import annotations

import numba
import numpy as np

from contactid.tossing.simulate.contact_kernel import (
    AFFINE,
    ARM,
    IMPULSE,
    INLINE,
    OPTIONS,
    SCALE_N,
    block_of,
    set_block,
    set_scale,
    xi_of,
)

# of the impulse that would stop the fastest corner; the law's own error falls with their square
PARTS = 40
# m/s: a slower approach is left to the step's contact law, which hands over to lasting contact
SLOWEST = 0.1
RESTING = 1e-7  # m/s: a corner that approaches slower doesn't
# N s that restitution has still to give back, in a column that only Newton's method uses
_OWED = AFFINE
_MOST_PARTS = 100 * PARTS  # a corner that jams needs more than PARTS, but not that many
_ROUNDING = 1e-9  # of compression's work
_TURNING = 2.0  # a slip slower than so many parts' friction turns or stops within the next one


@numba.njit(**INLINE)
def friction_of_part(block, slip0, slip1, mu, dp):
    """Tangential impulse (2, N s) of a part of an impact, and the friction coefficient that it asks
    for.

    ``slip`` (m/s) is the corner's tangential velocity before the part, ``dp`` (N s) the part's
    normal impulse. Where the corner slips, no friction coefficient is large enough: it is infinite.
    """
    g_xx, g_xy, g_xn, g_yy, g_yn, _ = block
    limit = mu * dp
    # the impulse that leaves no slip at the end of the part
    end0 = slip0 + g_xn * dp
    end1 = slip1 + g_yn * dp
    scale = 1.0 / (g_xx * g_yy - g_xy * g_xy)
    stop0 = -scale * (g_yy * end0 - g_xy * end1)
    stop1 = -scale * (g_xx * end1 - g_xy * end0)
    size = np.sqrt(stop0 * stop0 + stop1 * stop1)
    # friction enough to stop the slip: it sticks
    if size <= limit:
        return stop0, stop1, size / dp
    speed = np.sqrt(slip0 * slip0 + slip1 * slip1)
    if speed <= _TURNING * limit * max(g_xx, g_yy):
        # the direction of a vanishing slip means nothing, so friction goes along what would stop it
        return stop0 * limit / size, stop1 * limit / size, np.inf
    # slip: friction of the direction that the slip has half way (the midpoint rule)
    push = 0.5 * limit / speed
    half0 = slip0 + 0.5 * g_xn * dp - push * (g_xx * slip0 + g_xy * slip1)
    half1 = slip1 + 0.5 * g_yn * dp - push * (g_xy * slip0 + g_yy * slip1)
    speed = np.sqrt(half0 * half0 + half1 * half1)
    return -limit * half0 / speed, -limit * half1 / speed, np.inf


@numba.njit(**INLINE)
def _work_of_part(block, slip0, slip1, normal, q0, q1, dp):
    """Change of kinetic energy (J) by a part's impulse, which acts at the mean of the velocities
    around it.
    """
    g_xx, g_xy, g_xn, g_yy, g_yn, g_nn = block
    change0 = g_xx * q0 + g_xy * q1 + g_xn * dp
    change1 = g_xy * q0 + g_yy * q1 + g_yn * dp
    change2 = g_xn * q0 + g_yn * q1 + g_nn * dp
    tangential = q0 * (slip0 + 0.5 * change0) + q1 * (slip1 + 0.5 * change1)
    return tangential + dp * (normal + 0.5 * change2)


@numba.njit(**INLINE)
def _pushed(inverse_mass, inverse_inertia, contacts, i, p0, p1, p2, twist):
    """The twist after one more impulse at contact i, which is added to the contact's own."""
    contacts[i, IMPULSE] += p0
    contacts[i, IMPULSE + 1] += p1
    contacts[i, IMPULSE + 2] += p2
    x, y, z = contacts[i, ARM], contacts[i, ARM + 1], contacts[i, ARM + 2]
    m0 = y * p2 - z * p1
    m1 = z * p0 - x * p2
    m2 = x * p1 - y * p0
    v0, v1, v2, w0, w1, w2 = twist
    xx, xy, xz, yy, yz, zz = inverse_inertia
    return (
        v0 + inverse_mass * p0,
        v1 + inverse_mass * p1,
        v2 + inverse_mass * p2,
        w0 + xx * m0 + xy * m1 + xz * m2,
        w1 + xy * m0 + yy * m1 + yz * m2,
        w2 + xz * m0 + yz * m1 + zz * m2,
    )


@numba.njit(**INLINE)
def _fastest(n, contacts, twist):
    """The contact that approaches fastest, and its normal velocity in m/s (negative where it
    approaches).
    """
    corner, lowest = 0, np.inf
    for i in range(n):
        _, _, normal = xi_of(contacts, i, twist)
        if normal < lowest:
            corner, lowest = i, normal
    return corner, lowest


@numba.njit(**INLINE)
def _compress(n, inverse_mass, inverse_inertia, mu, contacts, twist):
    """Push the corners until none approaches.

    Returns (twist, parts, friction needed, normal speed at first in m/s, work in J).
    """
    corner, normal = _fastest(n, contacts, twist)
    approach = -normal
    parts, needed, work = 0, 0.0, 0.0
    while normal < -RESTING and parts < _MOST_PARTS:
        block = block_of(contacts, corner)
        slip0, slip1, _ = xi_of(contacts, corner, twist)
        # a part of what would stop the first corner without friction
        dp = approach / (PARTS * block[5])
        q0, q1, asked = friction_of_part(block, slip0, slip1, mu, dp)
        gain = block[2] * q0 + block[4] * q1 + block[5] * dp
        # a last part ends where the corner no longer approaches
        share = min(1.0, -normal / gain) if gain > 0.0 else 1.0
        q0, q1, dp = share * q0, share * q1, share * dp
        work += _work_of_part(block, slip0, slip1, normal, q0, q1, dp)
        twist = _pushed(inverse_mass, inverse_inertia, contacts, corner, q0, q1, dp, twist)
        needed = max(needed, asked)
        parts += 1
        corner, normal = _fastest(n, contacts, twist)
    return twist, parts, needed, approach, work


@numba.njit(**INLINE)
def _expand(n, inverse_mass, inverse_inertia, mu, e, approach, work, contacts, twist):
    """Give back e times what each corner took in compression; returns (twist, parts, friction
    needed).

    The whole impact adds no energy, ``work`` (J) being compression's: where corners take turns, one
    of them may have overshot by a part, and e near 1 would then give back too much.
    """
    for i in range(n):
        contacts[i, _OWED] = e * contacts[i, IMPULSE + 2]
    most_work = -_ROUNDING * work
    parts, needed = 0, 0.0
    while parts < _MOST_PARTS:
        corner, most = 0, 0.0
        for i in range(n):
            # in m/s, so that corners can be compared
            speed = contacts[i, _OWED] * contacts[i, SCALE_N]
            if speed > most:
                corner, most = i, speed
        if most <= RESTING:
            break
        block = block_of(contacts, corner)
        slip0, slip1, normal = xi_of(contacts, corner, twist)
        dp = min(approach / (PARTS * block[5]), contacts[corner, _OWED])
        q0, q1, asked = friction_of_part(block, slip0, slip1, mu, dp)
        work += _work_of_part(block, slip0, slip1, normal, q0, q1, dp)
        if work > most_work:
            break
        twist = _pushed(inverse_mass, inverse_inertia, contacts, corner, q0, q1, dp, twist)
        # a corner is in debt by its normal impulse alone: Poisson's restitution
        contacts[corner, _OWED] -= dp
        needed = max(needed, asked)
        parts += 1
    return twist, parts, needed


@numba.njit(**OPTIONS)
def collide(n, inverse_mass, inverse_inertia, mu, e, free, contacts):
    """The whole impact of n contacts; returns (parts, approach left in m/s, friction needed,
    twist).

    ``free`` (6 scalars) is the twist before it, ``contacts`` has arms, and minus the surface's
    velocity as offset; the impulses are filled in. The friction needed is finite where no contact
    slips: then the result would have come out the same for every larger friction coefficient.
    """
    for i in range(n):
        # impulses begin at 0: the law follows them as they grow, so it has no warm start
        set_scale(inverse_mass, inverse_inertia, contacts, i)
        set_block(inverse_mass, inverse_inertia, contacts, i)
        for k in range(3):
            contacts[i, IMPULSE + k] = 0.0
    twist, parts, needed, approach, work = _compress(
        n, inverse_mass, inverse_inertia, mu, contacts, free
    )
    twist, more, asked = _expand(
        n, inverse_mass, inverse_inertia, mu, e, approach, work, contacts, twist
    )
    parts, needed = parts + more, max(needed, asked)
    corner, normal = _fastest(n, contacts, twist)
    # restitution of one corner may push another one in: this is stopped without friction and gives
    # nothing back
    # turns may push another corner in: this is stopped without friction and gives nothing back
    while normal < -RESTING and parts < _MOST_PARTS:
        push = -normal / contacts[corner, SCALE_N]
        twist = _pushed(inverse_mass, inverse_inertia, contacts, corner, 0.0, 0.0, push, twist)
        parts += 1
        corner, normal = _fastest(n, contacts, twist)
    return parts, max(-normal, 0.0), needed, twist

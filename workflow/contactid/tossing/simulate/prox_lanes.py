"""The paper's fixed point (eqs. 8 and 10) for many contact problems at a time, compiled.

The iterates are those of :func:`contactid.tossing.simulate.contact_kernel.solve_prox`, but for
rounding. There every iteration waits for the last one's root and quotient; here eight problems with
as many contacts go side by side. A lane whose problem is solved takes the next one.
"""

from __future__ import annotations

import numba
import numpy as np

from contactid.tossing.simulate.contact_kernel import (
    ARM,
    IMPULSE,
    INLINE,
    OFFSET,
    OPTIONS,
    solve_prox,
)

LANES = 8
_MOST_CONTACTS = 4  # of a box's face; problems with more are solved one by one

# what a lane holds, a row of lanes each
_FREE = 0  # 6: twist without impulses, m/s and rad/s
_INVERSE = 6  # 6: inverse inertia in C, 1/(kg m2)
_MU = 12
_ENOUGH = 13  # N s: a smaller change ends it; negative in a lane without a problem
_CHANGE = 14  # N s, of the last iteration
_CONTACTS = 15  # 9 of each: arm (m), offset (m/s), impulse (N s)
_OF_CONTACT = 9


@numba.njit(**INLINE)
def six(row):
    """A row of six numbers as scalars."""
    return row[0], row[1], row[2], row[3], row[4], row[5]


@numba.njit(**INLINE)
def _iterate(n, inverse_mass, step, lanes):
    """One iteration of all lanes; returns how many of them end with it.

    Rows lie at constant distances in one array, and nothing branches: so a compiler sees lanes.
    """
    ended = 0
    for lane in range(LANES):
        f0 = f1 = f2 = m0 = m1 = m2 = 0.0
        for i in range(n):
            at = (_CONTACTS + _OF_CONTACT * i) * LANES + lane
            x, y, z = lanes[at], lanes[at + LANES], lanes[at + 2 * LANES]
            p0, p1, p2 = lanes[at + 6 * LANES], lanes[at + 7 * LANES], lanes[at + 8 * LANES]
            f0, f1, f2 = f0 + p0, f1 + p1, f2 + p2
            m0, m1, m2 = m0 + (y * p2 - z * p1), m1 + (z * p0 - x * p2), m2 + (x * p1 - y * p0)
        at = _INVERSE * LANES + lane
        xx, xy, xz = lanes[at], lanes[at + LANES], lanes[at + 2 * LANES]
        yy, yz, zz = lanes[at + 3 * LANES], lanes[at + 4 * LANES], lanes[at + 5 * LANES]
        v0 = lanes[lane] + inverse_mass * f0
        v1 = lanes[LANES + lane] + inverse_mass * f1
        v2 = lanes[2 * LANES + lane] + inverse_mass * f2
        w0 = lanes[3 * LANES + lane] + xx * m0 + xy * m1 + xz * m2
        w1 = lanes[4 * LANES + lane] + xy * m0 + yy * m1 + yz * m2
        w2 = lanes[5 * LANES + lane] + xz * m0 + yz * m1 + zz * m2
        change_n, change_t = 0.0, 0.0
        for i in range(n):
            at = (_CONTACTS + _OF_CONTACT * i) * LANES + lane
            x, y, z = lanes[at], lanes[at + LANES], lanes[at + 2 * LANES]
            p0, p1, p2 = lanes[at + 6 * LANES], lanes[at + 7 * LANES], lanes[at + 8 * LANES]
            normal = p2 - step * (v2 + w0 * y - w1 * x + lanes[at + 5 * LANES])
            normal = normal if normal > 0.0 else 0.0
            t0 = p0 - step * (v0 + w1 * z - w2 * y + lanes[at + 3 * LANES])
            t1 = p1 - step * (v1 + w2 * x - w0 * z + lanes[at + 4 * LANES])
            size, limit = np.sqrt(t0 * t0 + t1 * t1), lanes[_MU * LANES + lane] * normal
            on_rim0, on_rim1 = t0 * limit / size, t1 * limit / size
            t0 = on_rim0 if size > limit else t0
            t1 = on_rim1 if size > limit else t1
            lanes[at + 6 * LANES], lanes[at + 7 * LANES], lanes[at + 8 * LANES] = t0, t1, normal
            change_n += (normal - p2) ** 2
            change_t += (t0 - p0) ** 2 + (t1 - p1) ** 2
        change = np.sqrt(change_n) + np.sqrt(change_t)
        lanes[_CHANGE * LANES + lane] = change
        ended += 1 if change < lanes[_ENOUGH * LANES + lane] else 0
    return ended


@numba.njit(**INLINE)
def _take(n, lane, enough, free, inverse, mu, table, lanes):
    """Put a problem into a lane."""
    for k in range(6):
        lanes[(_FREE + k) * LANES + lane] = free[k]
        lanes[(_INVERSE + k) * LANES + lane] = inverse[k]
    lanes[_MU * LANES + lane], lanes[_ENOUGH * LANES + lane] = mu, enough
    for i in range(n):
        at = (_CONTACTS + _OF_CONTACT * i) * LANES + lane
        for k in range(3):
            lanes[at + k * LANES] = table[i, ARM + k]
            lanes[at + (3 + k) * LANES] = table[i, OFFSET + k]
            lanes[at + (6 + k) * LANES] = table[i, IMPULSE + k]


@numba.njit(**INLINE)
def _solve_those_of(n, closed, inverse_mass, inverses, mus, step, enough, most, frees, tables, out):
    """Solve the problems with n contacts."""
    lanes = np.zeros((_CONTACTS + _OF_CONTACT * n) * LANES)
    # which problem a lane has; one behind the last where it has none
    problem, begun = np.full(LANES, len(closed)), np.zeros(LANES, np.int64)
    waiting, iteration, busy = 0, 0, 0
    for lane in range(LANES):
        lanes[_ENOUGH * LANES + lane] = -1.0
    while True:
        soonest = iteration + most  # when a lane may give up
        for lane in range(LANES):
            k = problem[lane]
            if k < len(closed):
                ended = lanes[_CHANGE * LANES + lane] < enough
                if not ended and iteration - begun[lane] < most:
                    soonest = min(soonest, begun[lane] + most)
                    continue
                out[k] = iteration - begun[lane] if ended else most + 1
                for i in range(n):
                    at = (_CONTACTS + _OF_CONTACT * i + 6) * LANES + lane
                    for axis in range(3):
                        tables[k, i, IMPULSE + axis] = lanes[at + axis * LANES]
                problem[lane], lanes[_ENOUGH * LANES + lane] = len(closed), -1.0
                busy -= 1
            while waiting < len(closed) and closed[waiting] != n:
                waiting += 1
            if waiting < len(closed):
                k = waiting
                _take(n, lane, enough, frees[k], inverses[k], mus[k], tables[k], lanes)
                problem[lane], begun[lane] = k, iteration
                waiting, busy = waiting + 1, busy + 1
        if busy == 0:
            break
        ended = 0
        while ended == 0 and iteration < soonest:
            ended = _iterate(n, inverse_mass, step, lanes)
            iteration += 1


@numba.njit(**OPTIONS)
def solve_prox_together(
    closed, inverse_mass, inverses, mus, step, tolerance, max_iterations, frees, tables, out
):
    """Solve k problems of one body, each with its friction ``mus`` (k,) and ``closed`` (k,)
    contacts.

    ``inverses`` and ``frees`` (k, 6) are inverse inertias and twists without impulses, ``tables``
    (k, vertices, COLUMNS) have contacts with warm starts; the impulses are filled in, and ``out``
    (k,) with iterations. Step and tolerance are those of :func:`solve_prox`.
    """
    rest = (
        closed, inverse_mass, inverses, mus, step, tolerance, max_iterations, frees, tables, out,
    )  # fmt: skip
    # a number that the compiler knows, so that it unrolls what lies inside of the lanes' loop
    _solve_those_of(1, *rest)
    _solve_those_of(2, *rest)
    _solve_those_of(3, *rest)
    _solve_those_of(4, *rest)
    for k in range(len(closed)):
        if closed[k] > _MOST_CONTACTS:
            out[k] = solve_prox(
                closed[k], inverse_mass, six(inverses[k]), mus[k], step, tolerance, max_iterations,
                six(frees[k]), tables[k],
            )  # fmt: skip

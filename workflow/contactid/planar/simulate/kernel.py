"""The exact step of a planar body with one closed contact (eqs. 16 to 19, planar paper), compiled.

A contact is closed in the step from k to k + 1 where ``g_n(q^k) <= 0`` and the contact point isn't
separating (eq. 6). The impulse is then the solution of two equations in two unknowns, with no
iteration: stick, or the edge of the friction cone on which sliding is opposed.

With ``W = [N T]^T M^-1 [N T]`` and ``u = [N T]^T v^k``,

* normal: ``u_n^+ = -e_N u_n``, the equality that eq. 19 leaves when the contact is closed;
* stick: ``u_t^+ = -e_T u_t`` where ``|c_t| <= mu c_n``; the paper has ``e_T = 0``;
* slide: ``c_t = -+ mu c_n`` where ``+-(u_t^+ + e_T u_t) >= 0``.

A closed contact that must push (``b_n > 0``) has exactly one solution.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from contactid.core.compiled import OPTIONS
from contactid.planar.simulate.geometry import Ellipse, Ground, Shape

# m/s: a contact that separates no faster is at rest; rounding must not open a lasting contact
CLOSING = 1e-9


class Outline(NamedTuple):
    """A shape, its ground and its mass as the compiled code wants them, SI units; an ellipse has no
    corners.
    """

    a: float
    b: float
    corners: np.ndarray  # (n_c, 2) centres of a polygon's corners, or (0, 2)
    radius: float  # of these corners
    slope: float
    x0: float
    y0: float
    mass: float
    inertia: float


def outline_of(shape: Shape, ground: Ground, mass: float = 1.0, inertia: float = 1.0) -> Outline:
    """A shape over its ground for the compiled code."""
    place = float(ground.slope), float(ground.x0), float(ground.y0), float(mass), float(inertia)
    if isinstance(shape, Ellipse):
        return Outline(float(shape.a), float(shape.b), np.zeros((0, 2)), 0.0, *place)
    return Outline(0.0, 0.0, shape.centres, float(shape.radius), *place)


@numba.njit(**OPTIONS)
def contact_impulse(w_nn, w_nt, w_tt, b_n, b_t, mu):
    """Impulses (c_n, c_t) with ``W c = b`` in stick, else on the cone's edge; (0, 0) where none
    pushes.

    ``b`` is the wanted velocity less the free one, so ``w = W c - b`` is ``u^+ + e u`` by
    components.
    """
    # it separates by itself as fast as restitution asks
    if b_n <= 0.0:
        return 0.0, 0.0
    # stick: both velocities as wanted
    determinant = w_nn * w_tt - w_nt * w_nt
    c_n = (w_tt * b_n - w_nt * b_t) / determinant
    c_t = (w_nn * b_t - w_nt * b_n) / determinant
    if c_n >= 0.0 and abs(c_t) <= mu * c_n:
        return c_n, c_t
    # as c_t goes through what the cone allows, the sliding speed rises: the edge on the side of
    # stick's c_t opposes it
    side = 1.0 if c_t > 0.0 else -1.0
    c_n = b_n / (w_nn + side * mu * w_nt)
    return c_n, side * mu * c_n


@numba.njit(**OPTIONS)
def incremental_impulse(w_nn, w_nt, w_tt, u_n, u_t, mu, e_n):
    """Impulses (c_n, c_t) of an impact by Routh's construction with Poisson's restitution.

    Friction opposes the slip at each instant of the impact, not the one that is left after it. The
    slip falls linearly in the normal impulse. Where it stops, friction holds it as far as the cone
    allows, else it slides on the way that the coupling drives it.

    ``u_n < 0`` and ``u_t`` are the speeds before the impact, m/s; impulses are per mass.
    """
    # c_t per c_n while it slides as it came, and by how much the slip falls per c_n
    first = 0.0
    stop = 0.0
    if u_t != 0.0:
        way = 1.0 if u_t > 0.0 else -1.0
        first = -way * mu
        braking = -way * (w_nt + first * w_tt)
        stop = abs(u_t) / braking if braking > 0.0 else np.inf
    second = min(max(-w_nt / w_tt, -mu), mu)
    # rise of u_n per c_n, before and after the slip stops
    rise, rise_after = w_nn + first * w_nt, w_nn + second * w_nt
    compression = -u_n / rise if rise > 0.0 else np.inf
    if compression > stop:
        compression = stop - (u_n + rise * stop) / rise_after
    # Poisson's: the impulse of restitution is e_n times that of compression
    c_n = (1.0 + e_n) * compression
    sliding = min(c_n, stop)
    return c_n, first * sliding + second * (c_n - sliding)

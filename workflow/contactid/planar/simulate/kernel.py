"""Compiled time-stepping of a planar body with one potential contact: the exact step of eqs. 16 to
19 (planar paper).

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
from contactid.planar.simulate.geometry import Ellipse, Ground, Shape, ellipse_arm

# m/s: a contact that separates no faster is at rest; rounding must not open a lasting contact
CLOSING = 1e-9

_ellipse_arm = numba.njit(ellipse_arm, inline="always")


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
    if b_n <= 0.0:
        return 0.0, 0.0
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
def run_ellipse(body, law, h, position, velocity, impulse_n, impulse_t, gap):
    """Fill ``position``, ``velocity`` (n + 1, 3), the impulses (n + 1, 1; N s) and ``gap`` (n + 1,
    1) from row 0.

    Row k of the impulses belongs to the step that led to state k.
    """
    sin_a, cos_a = np.sin(body.slope), np.cos(body.slope)
    inverse_mass, inverse_inertia = 1.0 / body.mass, 1.0 / body.inertia
    fall, along = h * law.gravity * cos_a, h * law.gravity * sin_a
    x, y, theta = position[0]
    v_x, v_y, omega = velocity[0]
    for k in range(position.shape[0]):
        phi = theta - body.slope
        r_t, r_n = _ellipse_arm(np.sin(phi), np.cos(phi), body.a, body.b)
        gap[k, 0] = -sin_a * (x - body.x0) + cos_a * (y - body.y0) + r_n
        if k == position.shape[0] - 1:
            break
        u_n = -sin_a * v_x + cos_a * v_y + r_t * omega
        c_n = c_t = 0.0
        if gap[k, 0] <= 0.0 and u_n <= CLOSING:
            u_t = cos_a * v_x + sin_a * v_y - r_n * omega
            c_n, c_t = contact_impulse(
                inverse_mass + r_t * r_t * inverse_inertia,
                -r_t * r_n * inverse_inertia,
                inverse_mass + r_n * r_n * inverse_inertia,
                fall - (1.0 + law.restitution_e_n) * u_n,
                along - (1.0 + law.restitution_e_t) * u_t,
                law.friction_mu,
            )
        v_x += inverse_mass * (-sin_a * c_n + cos_a * c_t)
        v_y += inverse_mass * (cos_a * c_n + sin_a * c_t) - h * law.gravity
        omega += inverse_inertia * (r_t * c_n - r_n * c_t)
        x, y, theta = x + h * v_x, y + h * v_y, theta + h * omega
        position[k + 1, 0], position[k + 1, 1], position[k + 1, 2] = x, y, theta
        velocity[k + 1, 0], velocity[k + 1, 1], velocity[k + 1, 2] = v_x, v_y, omega
        impulse_n[k + 1, 0], impulse_t[k + 1, 0] = c_n, c_t

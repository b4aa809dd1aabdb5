"""Gaps and contact directions of planar bodies over a straight ground; one geometry for simulators,
models and figures.

Frames: S is fixed (x to the right, y up), the ground is the line through ``(x0, y0)`` at angle
``slope`` to x, with tangent ``t = (cos slope, sin slope)`` and normal ``n = (-sin slope, cos
slope)`` out of the ground. A configuration is ``q = (x, y, theta)``: centre of mass in S (m) and
angle from x to the body's own first axis (rad, counter-clockwise).

Every potential contact is described by its *arm*, the contact point's coordinates along t and n,
seen from the centre of mass: ``(r_t, r_n)`` in m. With the centre's height d over the ground,
everything else follows (section 4.1):

* gap ``g_n = d + r_n``;
* ``N = (n, r_t)`` and ``T = (t, -r_n)``, the rows that give the contact point's velocity along n
  and t from ``v = (v_x, v_y, omega)``, and the columns that give an impulse's wrench.

Arms depend on ``phi = theta - slope`` alone. Their formulas are arithmetic in ``sin phi`` and ``cos
phi``, so the same functions serve floats, arrays, compiled code and Pyomo expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from contactid.core.errors import ContactIdError

_ARC = 25  # points of a rounded corner that is drawn


def ellipse_arm(sin_phi: Any, cos_phi: Any, a: float, b: float) -> tuple[Any, Any]:
    """Arm of an ellipse with semi-axes a (body's first axis) and b.

    ``H = sqrt(a^2 sin^2 phi + b^2 cos^2 phi)`` is the support function towards the ground and
    ``(r_t, r_n) = (-H', -H)``: the closed form of the minimum over beta in eq. 21.
    """
    height = (a * a * sin_phi * sin_phi + b * b * cos_phi * cos_phi) ** 0.5
    return -(a * a - b * b) * sin_phi * cos_phi / height, -height


def vertex_arm(sin_phi: Any, cos_phi: Any, x: float, y: float) -> tuple[Any, Any]:
    """Arm of a polygon's vertex at (x, y) in the body's axes, m."""
    return x * cos_phi - y * sin_phi, x * sin_phi + y * cos_phi


@dataclass(frozen=True)
class Ground:
    """A straight ground through (x0, y0), m, at angle ``slope`` to the horizontal, rad."""

    slope: float = 0.0
    x0: float = 0.0
    y0: float = 0.0

    def __post_init__(self) -> None:
        if not np.isfinite([self.slope, self.x0, self.y0]).all():
            raise ContactIdError(
                f"a ground has slope {self.slope:g} through ({self.x0:g}, {self.y0:g})",
                "Give finite numbers",
            )

    @property
    def origin(self) -> np.ndarray:
        """(2,) the point, m."""
        return np.array([self.x0, self.y0])

    @property
    def tangent(self) -> np.ndarray:
        """(2,) unit vector along the ground."""
        return np.array([np.cos(self.slope), np.sin(self.slope)])

    @property
    def normal(self) -> np.ndarray:
        """(2,) unit vector out of the ground."""
        return np.array([-np.sin(self.slope), np.cos(self.slope)])


@dataclass(frozen=True)
class Ellipse:
    """An ellipse about its centre of mass, with semi-axes a (first axis) and b, m: one potential
    contact.
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        if not (0.0 < self.a < np.inf and 0.0 < self.b < np.inf):
            raise ContactIdError(
                f"an ellipse has semi-axes {self.a:g} and {self.b:g} m", "Give two positive lengths"
            )

    @property
    def n_contacts(self) -> int:
        """Number of potential contacts."""
        return 1

    def arms(self, sin_phi: Any, cos_phi: Any) -> list[tuple[Any, Any]]:
        """Arms (r_t, r_n) of all potential contacts, m."""
        return [ellipse_arm(sin_phi, cos_phi, self.a, self.b)]

    def outline(self, n_points: int = 181) -> np.ndarray:
        """(n_points, 2) closed outline in the body's axes, m."""
        angle = np.linspace(0.0, 2.0 * np.pi, n_points)
        return np.column_stack([self.a * np.cos(angle), self.b * np.sin(angle)])

    @property
    def uniform_inertia_ratio(self) -> float:
        """J/m of a uniform body, m2."""
        return (self.a**2 + self.b**2) / 4.0


@dataclass(frozen=True)
class Polygon:
    """A convex polygon about its centre of mass: N_c contacts, one per corner.

    Attributes
    ----------
    vertices : ((x, y), ...) where its sides meet, counter-clockwise, m
    radius : of its corners, m: each is an arc that touches both its sides
    """

    vertices: tuple[tuple[float, float], ...]
    radius: float = 0.0

    def __post_init__(self) -> None:
        try:
            points = np.array(self.vertices, dtype=float)
        except (ValueError, TypeError):
            points = np.zeros(0)
        if (
            points.ndim != 2
            or points.shape[0] < 3
            or points.shape[1] != 2
            or not np.isfinite(points).all()
        ):
            raise ContactIdError("a polygon needs three or more vertices (x, y)", "Give them in m")
        # convex: each corner turns left; about the centre: each side is seen counter-clockwise
        edges = np.roll(points, -1, axis=0) - points
        turns = edges[:, 0] * np.roll(edges[:, 1], -1) - edges[:, 1] * np.roll(edges[:, 0], -1)
        seen = points[:, 0] * edges[:, 1] - points[:, 1] * edges[:, 0]
        # a star's corners turn left, too, but it goes round more than once
        once = (
            abs(
                np.angle(
                    np.exp(1j * np.diff(np.unwrap(np.arctan2(edges[:, 1], edges[:, 0]))))
                ).sum()
            )
            < 2.0 * np.pi
        )
        if not ((turns > 0.0).all() and (seen > 0.0).all() and once):
            raise ContactIdError(
                "a polygon's vertices are not those of a convex body about its centre of mass",
                "List the corners counter-clockwise, seen from the centre of mass",
            )
        # what arcs leave of a side has to point the side's own way
        straight = ((np.roll(self.centres, -1, axis=0) - self.centres) * edges).sum(axis=1)
        if not self.radius >= 0.0 or straight.min() <= 0.0:
            raise ContactIdError(
                f"corners rounded by {self.radius:g} m leave no side straight",
                "Correct shape or radius",
            )

    @property
    def n_contacts(self) -> int:
        """Number of potential contacts."""
        return len(self.vertices)

    @property
    def _before(self) -> np.ndarray:
        """(n_c, 2) outward normals of the sides that end in the corners; rolled by -1, of those
        that begin there.
        """
        sides = np.array(self.vertices) - np.roll(self.vertices, 1, axis=0)
        return np.column_stack([sides[:, 1], -sides[:, 0]]) / np.linalg.norm(
            sides, axis=1, keepdims=True
        )

    @cached_property
    def centres(self) -> np.ndarray:
        """(n_c, 2) centres of the corners' arcs, m."""
        before, after = self._before, np.roll(self._before, -1, axis=0)
        # its product with both normals is 1: a centre lies one radius inside both sides
        inward = (before + after) / (1.0 + (before * after).sum(axis=1, keepdims=True))
        return np.array(self.vertices, dtype=float) - self.radius * inward

    def arms(self, sin_phi: Any, cos_phi: Any) -> list[tuple[Any, Any]]:
        """Arms (r_t, r_n) of all potential contacts, m."""
        arms = (vertex_arm(sin_phi, cos_phi, x, y) for x, y in self.centres.tolist())
        return [(r_t, r_n - self.radius) for r_t, r_n in arms] if self.radius else list(arms)

    def outline(self, n_points: int = 0) -> np.ndarray:
        """(n, 2) closed outline in the body's axes, m; rounded corners are arcs of many short
        sides.
        """
        if not self.radius:
            return np.array([*self.vertices, self.vertices[0]])
        first = np.arctan2(*self._before.T[::-1])
        # each arc turns from the normal of one side to that of the next
        turn = (np.roll(first, -1) - first) % (2.0 * np.pi)
        angle = first[:, None] + turn[:, None] * np.linspace(0.0, 1.0, _ARC)
        arcs = self.centres[:, None] + self.radius * np.stack(
            [np.cos(angle), np.sin(angle)], axis=-1
        )
        return np.concatenate([*arcs, arcs[0, :1]])

    @property
    def uniform_inertia_ratio(self) -> float:
        """J/m of a uniform body about the origin, m2."""
        outline = self.outline()
        p, q = outline[:-1], outline[1:]
        # triangles from the origin to each side: twice their areas, and their second moments
        cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
        return float((cross * (p * p + p * q + q * q).sum(axis=1)).sum() / (6.0 * cross.sum()))


Shape = Ellipse | Polygon


@dataclass(frozen=True)
class Contacts:
    """Potential contacts at configurations of any leading shape (...).

    Attributes
    ----------
    gap : (..., n_c) m
    point : (..., n_c, 2) contact points in S, m
    normal : (..., n_c, 3) the columns of N(q), as rows
    tangent : (..., n_c, 3) those of T(q), along t; the paper's d+ is t and d- is -t
    """

    gap: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    tangent: np.ndarray


def contacts(shape: Shape, ground: Ground, q: np.ndarray | Sequence[float]) -> Contacts:
    """Gap, contact points, N and T (eq. 3) of every potential contact at configurations q (..., 3)."""
    q = np.asarray(q, dtype=float)
    phi = q[..., 2] - ground.slope
    n, t = ground.normal, ground.tangent
    arms = np.stack(
        [np.stack(arm, axis=-1) for arm in shape.arms(np.sin(phi), np.cos(phi))], axis=-2
    )
    # (..., n_c) m, coordinates of the contact points along t and n from the centre
    r_t, r_n = arms[..., 0], arms[..., 1]
    height = (q[..., :2] - [ground.x0, ground.y0]) @ n
    full = np.broadcast_to
    return Contacts(
        gap=height[..., None] + r_n,
        point=q[..., None, :2] + r_t[..., None] * t + r_n[..., None] * n,
        # N = (n, r_t) and T = (t, -r_n), as k . (GQ x n) = r_t and k . (GQ x t) = -r_n
        normal=np.concatenate([full(n, (*r_t.shape, 2)), r_t[..., None]], axis=-1),
        tangent=np.concatenate([full(t, (*r_n.shape, 2)), -r_n[..., None]], axis=-1),
    )


def outline_at(shape: Shape, q: np.ndarray | Sequence[float]) -> np.ndarray:
    """(n, 2) closed outline in S of a body at one configuration q (3,), m."""
    x, y, theta = (float(value) for value in q)
    turn = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    return shape.outline() @ turn.T + [x, y]

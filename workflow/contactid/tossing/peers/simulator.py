"""What every other simulator is put behind: pose and twist in, trajectory out, of the body in its
principal frame P.

Some simulators know only a diagonal inertia tensor at the body's origin, and all of them step the
frame that they are given: a frame off the centre of mass would follow a parabola only to first
order. So the change to the frame of the centre of mass and principal axes of inertia is made here,
once and exactly, and an offset centre of mass or a full tensor costs no simulator anything.

Only NumPy is imported: this runs in the other simulators' environments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.tossing.peers.exchange import Problem


def matrices_of(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4), real part first."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternion_of(matrix: np.ndarray) -> np.ndarray:
    """The unit quaternion (4,), real part first, of a rotation matrix: the largest eigenvector of
    Bar-Itzhack's K.
    """
    m = matrix
    k = np.array(
        [
            [m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [0.0, m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [0.0, 0.0, m[1, 1] - m[0, 0] - m[2, 2], m[1, 2] + m[2, 1]],
            [0.0, 0.0, 0.0, m[2, 2] - m[0, 0] - m[1, 1]],
        ]
    )
    quaternion = np.linalg.eigh(np.triu(k) + np.triu(k, 1).T)[1][:, -1]
    return quaternion * (1.0 if quaternion[0] >= 0.0 else -1.0)


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Hamilton product (..., 4) of quaternions, real part first."""
    w1, v1, w2, v2 = left[..., :1], left[..., 1:], right[..., :1], right[..., 1:]
    real = w1 * w2 - (v1 * v2).sum(axis=-1, keepdims=True)
    return np.concatenate([real, w1 * v2 + w2 * v1 + np.cross(v1, v2)], axis=-1)


@dataclass(frozen=True)
class PrincipalBody:
    """A box in the frame P."""

    mass: float  # kg
    moments: np.ndarray  # (3,) principal moments of inertia, kg m2
    vertices: np.ndarray  # (v, 3) m in P
    half_extents: np.ndarray  # (3,) m, along the box's own axes (those of B)
    box_position: np.ndarray  # (3,) m, the box's middle in P
    axes: np.ndarray  # (4,) quaternion of R_BP
    center: np.ndarray  # (3,) m, P's origin in B

    @property
    def box_orientation(self) -> np.ndarray:
        """(4,) quaternion of R_PB: the box's axes in P."""
        return self.axes * np.array([1.0, -1.0, -1.0, -1.0])

    def starts(self, starts: np.ndarray) -> np.ndarray:
        """Starts (t, 13) of B, as in :class:`~contactid.tossing.peers.exchange.Problem`, as those
        of P.
        """
        moved = np.array(starts, dtype=float)
        # from B's origin to P's, in C
        offset = matrices_of(moved[:, 3:7]) @ self.center
        moved[:, 0:3] += offset
        moved[:, 3:7] = product(moved[:, 3:7], self.axes)
        moved[:, 7:10] += np.cross(moved[:, 10:13], offset)
        return moved

    def poses_of_b(
        self, position: np.ndarray, orientation: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Poses (n, 3), (n, 4) of P as those of B; quaternions are normalised on the way."""
        unit = orientation / np.linalg.norm(orientation, axis=1, keepdims=True)
        turned = product(unit, self.box_orientation)
        return position - matrices_of(turned) @ self.center, turned


def principal_body(problem: Problem) -> PrincipalBody:
    """The problem's box in P.

    Raises :class:`ContactIdError` where the vertices are not the eight corners of a box along B's
    axes, or the inertia is not positive definite.
    """
    vertices = np.asarray(problem.vertices, dtype=float)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    corners = (
        np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half + middle
    )
    # each corner's nearest vertex, in any order
    gaps = np.linalg.norm(corners[:, None] - vertices[None], axis=2).min(axis=1)
    if len(vertices) != 8 or gaps.max() > 1e-3 * half.max():
        raise ContactIdError(
            "the body is not a box along its own axes", "Other simulators are set up for boxes only"
        )
    inertia = np.asarray(problem.inertia, dtype=float)
    rotation = np.eye(3)
    moments = np.diag(inertia).copy()
    # axes of a diagonal tensor stay in their order
    if np.abs(inertia - np.diag(moments)).max() > 0.0:
        moments, rotation = np.linalg.eigh(inertia)
        # a right-handed frame
        rotation[:, 0] *= np.sign(np.linalg.det(rotation))
    if not (moments > 0.0).all() or not problem.mass > 0.0:
        raise ContactIdError("the body's mass or inertia is not positive", "Check its properties")
    center = np.asarray(problem.center_of_mass, dtype=float)
    return PrincipalBody(
        mass=float(problem.mass),
        moments=moments,
        vertices=(vertices - center) @ rotation,
        half_extents=half,
        box_position=rotation.T @ (middle - center),
        axes=quaternion_of(rotation),
        center=center,
    )


class Simulator(Protocol):
    """A box over the plane z = 0 at rest, in one simulator with one set of contact parameters.

    A class of this kind is called with the body in its principal frame P, gravity (3,) m/s2, the
    length of a simulation step in s, and the contact parameters by name; it may raise
    ``ContactIdError`` for a value that it can't take.
    """

    name: str  # of the simulator
    version: str
    parameters: tuple[str, ...]  # names of the contact parameters
    seconds: float  # CPU time spent in the simulator's own stepping since the object was made

    def __init__(
        self, body: PrincipalBody, gravity: np.ndarray, step: float, parameters: Mapping[str, float]
    ) -> None: ...

    def simulate(
        self, start: np.ndarray, n_samples: int, substeps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Poses of P: (n_samples - 1, 3) m and (n_samples - 1, 4), real part first, without the
        start.

        ``start`` (13,) is position, quaternion, velocity of P's origin and angular velocity, all in
        C; the velocity is that of half a step earlier, as semi-implicit Euler steps hold it.
        """
        ...

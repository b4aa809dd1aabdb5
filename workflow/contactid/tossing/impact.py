"""One impact of a box on the surface, as the velocity-based identification sees it (section IV-A, tossing paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core import rotations
from contactid.sources.motion import BodyProperties
from contactid.tossing.simulate.box import State

WEIGHTS = np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])  # diagonal of W in eq. 17: 1 for m/s, 0.1 m for rad/s


@dataclass(frozen=True)
class Impact:
    """A single-corner impact, at the instant at which the motions fitted before and after it meet.

    Everything is expressed in the surface frame C; twists are hybrid (``B[C]``, eq. 15): velocity of B's origin and
    angular velocity, both in C.

    Attributes
    ----------
    toss, sample, vertex
        Recording, sample index k_im of the vertex's lowest height, and which vertex hits.
    position, orientation
        (3,) m and (4,): pose of B in C at the instant of impact.
    pre_twist, post_twist
        (6,) fitted twists just before and just after the impact, m/s and rad/s.
    pre_covariance, post_covariance
        (6, 6) covariances of the fitted twists; the two fits use different samples, so they are independent.
    surface_velocity
        (3,) m/s of the surface's material.
    """

    toss: str
    sample: int
    vertex: int
    position: np.ndarray
    orientation: np.ndarray
    pre_twist: np.ndarray
    post_twist: np.ndarray
    pre_covariance: np.ndarray
    post_covariance: np.ndarray
    surface_velocity: np.ndarray


@dataclass(frozen=True)
class ImpactWindow:
    """An impact with the window that the paper simulates around it (section IV-A3).

    Attributes
    ----------
    impact : the impact itself
    split : ``identification`` or ``test``
    start : state at k_im - 5, from the motion fitted before the impact, over a surface at the height of the impact
    n_steps : samples from the start to k_im + c
    end_twist : (6,) fitted hybrid twist at k_im + c, the v+ of eq. 17
    gravity : (3,) m/s2 in C
    """

    impact: Impact
    split: str
    start: State
    n_steps: int
    end_twist: np.ndarray
    gravity: np.ndarray


@dataclass(frozen=True)
class ImpactGeometry:
    """What the impact law needs of an impact's pose.

    Attributes
    ----------
    jacobian : (3, 6) W^T: velocity of the impacting vertex (x, y, z in C) per hybrid twist of B's origin
    response : (6, 3) change of the hybrid twist of B's origin per impulse (x, y, z in C, N s) at the vertex
    delassus : (3, 3) ``jacobian @ response``, 1/kg
    """

    jacobian: np.ndarray
    response: np.ndarray
    delassus: np.ndarray


def impact_geometry(body: BodyProperties, impact: Impact) -> ImpactGeometry:
    """Jacobian, impulse response and Delassus matrix of an impact (eqs. 5, 6 and 3 of the tossing paper)."""
    rotation = rotations.matrices(impact.orientation)
    to_vertex = rotation @ body.vertices[impact.vertex]
    to_center = rotation @ body.center_of_mass
    arm = to_vertex - to_center
    jacobian = np.hstack([np.eye(3), -cross_matrix(to_vertex)])
    spin = rotation @ np.linalg.solve(body.inertia, rotation.T @ cross_matrix(arm))
    # the impulse changes the centre of mass's velocity; B's origin moves with it, less omega x (centre - origin)
    response = np.vstack([np.eye(3) / body.mass + cross_matrix(to_center) @ spin, spin])
    return ImpactGeometry(jacobian, response, jacobian @ response)


def cross_matrix(vector: np.ndarray) -> np.ndarray:
    """(3, 3) matrix of the cross product with a vector (3,)."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cross product of two vectors (3,), many times faster than NumPy's general one."""
    a, b, c = first
    x, y, z = second
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])

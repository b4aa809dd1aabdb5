"""Forces at the contacts of a rigid object that moves as prescribed.

The motion asks for a wrench about B's origin, by Newton and Euler in B's axes (eqs. 8 and 9,
in-hand paper, about the origin instead of the centre of mass): with ``a = R^T (p'' - g)``, g the
gravity vector in W,

``force = m a + m (omega' x c + omega x (omega x c))``,  ``torque = m c x a + I omega' + omega x (I
omega)``.

k point contacts with friction share it. Every sharing is ``f = G^+ w + gamma h``: the shortest
forces that give the wrench w, and a squeeze h in the null space of the grasp matrix G, that is
forces which cancel each other. h is the one that stays furthest within the friction cones; its
strength gamma is constant, large enough for all forces to stay in their cones, and at least the
grip asked for.

A broken contact carries no force: the forces are blended over to those of the remaining contacts,
so they change fast but steadily, and balance the motion exactly at every sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters
from contactid.inhand.simulate.grasp_motion import PoseTrajectory

GRAVITY = 9.81  # m/s2, along -z of W
_FACETS = 12  # of the friction pyramid inside the cone, for the squeeze's linear programme
_LEAST_MARGIN = 1e-6  # of a squeeze of mean normal force 1, from the cones


@dataclass(frozen=True, eq=False)
class ContactSet:
    """k point contacts: ``positions`` (k, 3) m and ``normals`` (k, 3), unit, into the object, both
    in B.
    """

    positions: np.ndarray
    normals: np.ndarray
    friction: float

    def only(self, kept: np.ndarray) -> ContactSet:
        """The contacts of a mask (k,)."""
        return ContactSet(self.positions[kept], self.normals[kept], self.friction)


def specific_force(trajectory: PoseTrajectory) -> np.ndarray:
    """(n, 3) m/s2 in B: acceleration of B's origin less gravity's, what an accelerometer there
    would read.
    """
    apparent = trajectory.acceleration + np.array([0.0, 0.0, GRAVITY])
    return rotations.as_rotation(trajectory.orientation).inv().apply(apparent)


def required_wrench(body: InertialParameters, trajectory: PoseTrajectory) -> np.ndarray:
    """(n, 6) N and N m: force and torque about B's origin, in B, that the motion takes."""
    a = specific_force(trajectory)
    rate, growth = trajectory.angular_velocity, trajectory.angular_acceleration
    # acceleration of the centre against the origin
    lever = np.cross(growth, body.center_of_mass) + np.cross(
        rate, np.cross(rate, body.center_of_mass)
    )
    force = body.mass * (a + lever)
    torque = (
        body.mass * np.cross(body.center_of_mass, a)
        + growth @ body.inertia
        + np.cross(rate, rate @ body.inertia)
    )  # fmt: skip
    return np.hstack([force, torque])


def grasp_matrix(positions: np.ndarray) -> np.ndarray:
    """G (6, 3 k): the wrench about B's origin of forces (k, 3), stacked, at positions (k, 3) m."""
    return np.hstack(
        [np.vstack([np.eye(3), rotations.skew(position)]) for position in np.atleast_2d(positions)]
    )


def squeeze(contacts: ContactSet) -> np.ndarray:
    """h (k, 3): forces that cancel each other, with normal components of mean 1, furthest within
    the friction cones.

    A linear programme over friction pyramids inscribed in the cones; the least distance to a
    pyramid's side is largest.

    Raises
    ------
    ContactIdError
        Where no such forces are strictly within the cones: these contacts can't hold an object by
        squeezing.
    """
    k = len(contacts.positions)
    turns = 2.0 * np.pi * (np.arange(_FACETS) + 0.5) / _FACETS
    # sides at the cosine of half a facet: the pyramid lies within the cone
    inside = contacts.friction * np.cos(np.pi / _FACETS)
    sides = np.zeros((k, _FACETS, 3 * k + 1))
    for i, (normal, first, second) in enumerate(_frames(contacts.normals)):
        # each side: t . d - mu' n . f + margin <= 0
        side = np.cos(turns)[:, None] * first + np.sin(turns)[:, None] * second - inside * normal
        sides[i, :, 3 * i : 3 * i + 3] = side
    # the last unknown is the margin to the nearest side
    sides[:, :, -1] = 1.0
    # fixes the size: normal components of mean 1
    mean_normal = np.append(contacts.normals.ravel() / k, 0.0)
    # forces cancel: G h = 0
    balance = np.column_stack([grasp_matrix(contacts.positions), np.zeros(6)])
    answer = linprog(
        np.append(np.zeros(3 * k), -1.0),
        A_ub=sides.reshape(-1, 3 * k + 1), b_ub=np.zeros(k * _FACETS),
        A_eq=np.vstack([balance, mean_normal]), b_eq=np.append(np.zeros(6), 1.0),
        bounds=(None, None), method="highs",
    )  # fmt: skip
    if answer.x is None or answer.x[-1] <= _LEAST_MARGIN:
        raise ContactIdError(
            f"{k} contacts can't hold the object by squeezing it with a coefficient of friction of"
            f" {contacts.friction:g}",
            "Place them on opposite sides, or raise the friction",
        )
    return answer.x[:-1].reshape(k, 3)


def shortest_forces(wrench: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Shortest forces (n, k, 3) N at positions (k, 3) m that give the wrench (n, 6); they may pull."""
    # pseudo-inverse: least norm
    return (wrench @ np.linalg.pinv(grasp_matrix(positions)).T).reshape(len(wrench), -1, 3)


def share_wrench(wrench: np.ndarray, contacts: ContactSet, grip: Mapping[str, float]) -> np.ndarray:
    """Contact forces (n, k, 3) N in B that give the wrench (n, 6) and stay in the friction cones.

    ``grip`` is the block of a source: ``least_force`` (N), the squeeze's mean normal force, more
    where friction needs it, and ``safety``, the factor by which the cones' coefficient of friction
    is smaller.
    """
    shortest = shortest_forces(wrench, contacts.positions)
    held = squeeze(contacts)
    needed = _needed_strength(shortest, held, contacts.normals, contacts.friction / grip["safety"])
    return shortest + max(grip["least_force"], needed) * held


def broken_contact_forces(
    wrench: np.ndarray,
    contacts: ContactSet,
    grip: Mapping[str, float],
    breaking: np.ndarray,
    engaged: np.ndarray,
) -> np.ndarray:
    """Contact forces (n, k, 3) where the contacts of a mask (k,) are engaged by shares (n,) from 0
    to 1.

    A convex combination of two sharings of the same wrench, so that it gives the wrench and stays
    in the cones, too.
    """
    closed = share_wrench(wrench, contacts, grip)
    opened = np.zeros_like(closed)
    opened[:, ~breaking] = share_wrench(wrench, contacts.only(~breaking), grip)
    share = engaged[:, None, None]
    return share * closed + (1.0 - share) * opened


def _needed_strength(
    shortest: np.ndarray, held: np.ndarray, normals: np.ndarray, friction: float
) -> float:
    """Least gamma >= 0 with ``shortest + gamma held`` in the cones of every sample and contact, in
    closed form.

    ``|t + gamma s| <= mu (a + gamma b)`` holds from the larger root of its quadratic on. There are
    two roots, because the squeeze lies within the cone: a line in its direction leaves the opposite
    cone before it enters this one.
    """
    # normal and tangential parts of both, |t + g s|^2 - mu^2 (a + g b)^2 = 0
    a, b = np.einsum("nki,ki->nk", shortest, normals), np.einsum("ki,ki->k", held, normals)
    t, s = shortest - a[..., None] * normals, held - b[:, None] * normals
    # negative, as the squeeze lies within the cone
    lead = (s**2).sum(-1) - friction**2 * b**2
    if np.any(lead >= 0.0) or np.any(b <= 0.0):
        raise ContactIdError(
            "the squeeze isn't within the friction cones that the grip asks for", "Lower its safety"
        )
    middle = np.einsum("nki,ki->nk", t, s) - friction**2 * a * b
    last = (t**2).sum(-1) - friction**2 * a**2
    # the larger root, since the leading factor is negative
    root = (-middle - np.sqrt(np.maximum(middle**2 - lead * last, 0.0))) / lead
    return float(max(0.0, root.max()))


def _frames(normals: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Each normal (3,) with two tangents that are orthogonal to it and to each other."""
    frames = []
    for normal in normals:
        # against the axis that is furthest from the normal
        first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        first /= np.linalg.norm(first)
        frames.append((normal, first, np.cross(normal, first)))
    return frames

"""Homogeneous solids and what can be built of them: inertial parameters, and points that span their
convex hull.

Every solid is made at its own centre, with its axes along those of the body frame; ``moved`` puts
it elsewhere and ``compound`` joins several. Lengths in m, masses in kg, tensors in kg m2 as in
:mod:`contactid.core.inertia`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.core.inertia import Consistency, InertialParameters, hull_halfspaces, tensor_entries

_ROUND_SIDES = 48  # of the polygon that stands for a circle in a hull


@dataclass(frozen=True, eq=False)
class Solid:
    """A rigid body with mass and shape.

    Attributes
    ----------
    parameters : about the body frame's origin
    hull : points ``(n, 3)`` in m whose convex hull holds the body
    """

    parameters: InertialParameters
    hull: np.ndarray

    def moved(self, rotation: np.ndarray, translation: np.ndarray) -> Solid:
        """Carried along by ``x' = R x + t``, with ``R`` ``(3, 3)`` and ``t`` ``(3,)`` m."""
        hull = self.hull @ np.asarray(rotation, dtype=float).T + np.asarray(
            translation, dtype=float
        )
        return Solid(moved(self.parameters, rotation, translation), hull)

    def shifted(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Solid:
        """Carried along by a translation in m, without a turn."""
        return self.moved(np.eye(3), np.array([x, y, z]))


def box(mass: float, lengths: tuple[float, float, float]) -> Solid:
    """A cuboid with its edges along the axes; ``lengths`` in m."""
    _positive(mass=mass, shortest_edge=min(lengths))
    halves = 0.5 * np.asarray(lengths, dtype=float)
    hull = np.array(list(product((-1.0, 1.0), repeat=3))) * halves
    return Solid(_centred(mass, mass / 3.0 * halves**2), hull)


def cylinder(mass: float, radius: float, height: float) -> Solid:
    """A circular cylinder around the z axis; its hull is a prism that the cylinder touches from
    inside.
    """
    _positive(mass=mass, radius=radius, height=height)
    angles = np.arange(_ROUND_SIDES) * 2.0 * np.pi / _ROUND_SIDES
    corners = (
        radius / np.cos(np.pi / _ROUND_SIDES) * np.column_stack([np.cos(angles), np.sin(angles)])
    )
    hull = np.vstack(
        [
            np.column_stack([corners, np.full(_ROUND_SIDES, end)])
            for end in (-0.5 * height, 0.5 * height)
        ]
    )
    return Solid(
        _centred(mass, mass * np.array([radius**2 / 4.0, radius**2 / 4.0, height**2 / 12.0])), hull
    )


def sphere(mass: float, radius: float) -> Solid:
    """A ball; its hull is a polyhedron that the ball touches from inside."""
    _positive(mass=mass, radius=radius)
    polar, turn = np.meshgrid(
        np.linspace(0.0, np.pi, 13), np.arange(24) * np.pi / 12.0, indexing="ij"
    )
    directions = np.stack(
        [np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)], axis=-1
    )
    inscribed = np.unique(np.round(directions.reshape(-1, 3), 12), axis=0)
    nearest_face = np.min(hull_halfspaces(inscribed)[1])
    return Solid(
        _centred(mass, np.full(3, mass * radius**2 / 5.0)), radius / nearest_face * inscribed
    )


def ellipsoid(mass: float, semi_axes: tuple[float, float, float]) -> Solid:
    """An ellipsoid with its axes along those of the frame; its second moments are ``m a^2 / 5``."""
    _positive(mass=mass, shortest_semi_axis=min(semi_axes))
    axes = np.asarray(semi_axes, dtype=float)
    return Solid(_centred(mass, mass / 5.0 * axes**2), sphere(mass, 1.0).hull * axes)


def point_masses(masses: np.ndarray, positions: np.ndarray) -> Solid:
    """Points of masses ``(n,)`` kg at ``(n, 3)`` m, in the body frame as given."""
    masses, positions = np.asarray(masses, dtype=float), np.asarray(positions, dtype=float)
    if masses.ndim != 1 or positions.shape != (*masses.shape, 3) or not len(masses):
        raise ContactIdError(
            f"point masses of shape {masses.shape} at positions of shape {positions.shape}",
            "Give (n,) and (n, 3)",
        )
    _positive(lightest_point=float(np.min(masses)))
    homogeneous = np.column_stack([positions, np.ones(len(masses))])
    matrix = np.einsum("k,ki,kj->ij", masses, homogeneous, homogeneous)
    return Solid(from_pseudo_inertia(matrix), positions)


def compound(*solids: Solid) -> Solid:
    """Solids rigidly joined; where they overlap both masses count."""
    parameters = combined(solid.parameters for solid in solids)
    return Solid(parameters, np.vstack([solid.hull for solid in solids]))


def _centred(mass: float, second_moments: np.ndarray) -> InertialParameters:
    """A body at its centre of mass with second moments ``(3,)`` along the axes (eqs. 26 to 29,
    in-hand paper).
    """
    return InertialParameters(mass, np.zeros(3), np.diag(np.sum(second_moments) - second_moments))


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0.0:
            raise ContactIdError(
                f"a solid's {name.replace('_', ' ')} is {value:g}", "Give a positive number"
            )


def from_pseudo_inertia(matrix: np.ndarray) -> InertialParameters:
    """From P ``(4, 4)``: ``I = tr(Sigma) Id - Sigma``."""
    matrix = np.asarray(matrix, dtype=float)
    sigma, mass = matrix[:3, :3], matrix[3, 3]
    entries = tensor_entries(np.trace(sigma) * np.eye(3) - sigma)
    return InertialParameters.from_vector(np.concatenate([[mass], matrix[:3, 3], entries]))


def moved(
    body: InertialParameters, rotation: np.ndarray, translation: np.ndarray
) -> InertialParameters:
    """The body carried along by ``x' = R x + t``, with ``R`` ``(3, 3)`` and ``t`` ``(3,)`` m.

    The same formula rewrites a fixed body's parameters in another frame, when R and t take the old
    coordinates to the new ones.
    """
    rotation, translation = np.asarray(rotation, dtype=float), np.asarray(translation, dtype=float)
    return InertialParameters.from_center(
        body.mass,
        rotation @ body.center_of_mass + translation,
        rotation @ body.inertia_at_center @ rotation.T,
    )


def combined(parts: Iterable[InertialParameters]) -> InertialParameters:
    """Parameters of bodies rigidly joined, all in one frame: they add up about a common origin."""
    vectors = [part.vector for part in parts]
    if not vectors:
        raise ContactIdError("a compound body has no parts", "Give at least one body")
    return InertialParameters.from_vector(np.sum(vectors, axis=0))


def failures(verdict: Consistency) -> tuple[str, ...]:
    """What fails, in words; empty for a body that can exist."""
    if not verdict.finite:
        return ("not finite",)
    tests = {
        "mass not positive": verdict.positive_mass,
        "a principal moment not positive": verdict.positive_moments,
        "triangle inequality violated": verdict.triangle_inequality,
        "pseudo-inertia not positive definite": verdict.positive_definite,
        "centre of mass outside the convex hull": verdict.within_hull is not False,
    }
    return tuple(words for words, holds in tests.items() if not holds)

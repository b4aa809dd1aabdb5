"""What a fit of planar throws doesn't know, as a table: name, unit, bounds, prior, and the scale of
its steps.

*Common* unknowns belong to the body, its tracked frame and the ground; *own* ones to a single
throw. An unknown with a prior of no width is fixed. Priors are normal. Those of J/m, friction and
restitution are so wide that they only steer what the poses leave open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contactid.planar.engine.steering import Steering
from contactid.planar.simulate.geometry import Ground, Polygon, Shape
from contactid.planar.simulate.motion import N_RESTITUTIONS, inward_of

RATIO, MU, TURN, POINT_X, POINT_Y, RADIUS, SLOPE, HEIGHT = range(8)
"""Places of the common unknowns."""
N_COMMON, N_STATE = 8, 6
N_OWN = N_STATE + N_RESTITUTIONS
N_UNKNOWNS = N_COMMON + N_OWN


@dataclass(frozen=True)
class Unknown:
    """One row of the table.

    Attributes
    ----------
    name, unit : as in results
    low, high : bounds
    mean, spread : of its normal prior; an infinite spread is no prior, a spread of 0 fixes it
    scale : size of a step that changes a motion by about a millimetre: slopes are differences over
        a part of it
    """

    name: str
    unit: str
    low: float
    high: float
    mean: float
    spread: float
    scale: float


@dataclass(frozen=True)
class Geometry:
    """What is stated of the geometry, and how far the truth may be from it (standard deviations; 0:
    exact).

    Attributes
    ----------
    shape : its ``radius`` is the corners' mean one
    ground : its height along the normal is uncertain by ``height``, m
    turn : of the tracked axes against the body's, rad
    point : (2,) tracked point in the body's axes, from the centre of mass, m
    *_error : rad, m, m, rad, m
    gravity : m/s2
    incremental : whether friction follows the slip during an impact, or is that of the step (eq. 18)
    """

    shape: Shape
    ground: Ground
    gravity: float
    turn: float = 0.0
    point: tuple[float, float] = (0.0, 0.0)
    turn_error: float = 0.0
    point_error: float = 0.0
    radius_error: float = 0.0
    slope_error: float = 0.0
    height_error: float = 0.0
    incremental: bool = False


def reach_of(shape: Shape) -> float:
    """The outline's largest radius, m."""
    return float(np.linalg.norm(shape.outline(), axis=1).max())


def unknowns_of(geometry: Geometry, steering: Steering) -> list[Unknown]:
    """The table: :data:`N_COMMON` common rows, then :data:`N_OWN` of a throw."""
    shape, free = geometry.shape, np.inf
    ratio, reach = shape.uniform_inertia_ratio, reach_of(shape)
    radius = shape.radius if isinstance(shape, Polygon) else 0.0
    x, y = geometry.point
    slope = geometry.ground.slope
    least_ratio = steering.smallest_ratio * ratio
    largest_ratio = 0.99 * reach**2  # no body within the outline has more than a ring's
    ratio_spread = steering.ratio_spread * ratio
    largest_mu = steering.largest_friction
    mu = steering.friction_prior
    mu_spread = steering.friction_spread
    e_n, e_n_spread = steering.restitution_prior, steering.restitution_spread
    common = [
        Unknown(
            "inertia_ratio", "m2", least_ratio, largest_ratio, ratio, ratio_spread, 0.03 * ratio
        ),
        Unknown("friction_mu", "1", 0.0, largest_mu, mu, mu_spread, 0.015),
        Unknown("turn", "rad", -free, free, geometry.turn, geometry.turn_error, 3e-3),
        Unknown("point_x", "m", -free, free, x, geometry.point_error, 3e-4),
        Unknown("point_y", "m", -free, free, y, geometry.point_error, 3e-4),
        Unknown(
            "corner_radius", "m", 0.0, _largest_radius(shape), radius, geometry.radius_error, 3e-4
        ),
        Unknown("slope", "rad", -free, free, slope, geometry.slope_error, 3e-3),
        Unknown("height", "m", -free, free, 0.0, geometry.height_error, 3e-4),
    ]
    # a throw's start has no prior: poses tell it
    start = [Unknown(name, "m", -free, free, 0.0, free, 3e-4) for name in ("x", "y")]
    start.append(Unknown("theta", "rad", -free, free, 0.0, free, 3e-3))
    start += [Unknown(name, "m/s", -free, free, 0.0, free, 0.03) for name in ("v_x", "v_y")]
    start.append(Unknown("omega", "rad/s", -free, free, 0.0, free, 0.5))
    impacts = [
        Unknown(f"e_n_{k + 1}", "1", 0.0, 1.0, e_n, e_n_spread, 0.015)
        for k in range(N_RESTITUTIONS)
    ]
    return [*common, *start, *impacts]


def _largest_radius(shape: Shape) -> float:
    """Of the corners, so that every side keeps a straight part, m."""
    if not isinstance(shape, Polygon):
        return 0.0
    corners, inward = Polygon(shape.vertices).centres, inward_of(shape)
    # (n_c, 2) sides of the sharp corners; a radius moves both ends of a side inwards along it
    sides = np.roll(corners, -1, axis=0) - corners
    squared_lengths = (sides**2).sum(axis=1)
    shortened = ((inward - np.roll(inward, -1, axis=0)) * sides).sum(
        axis=1
    )  # by a radius of 1, times the length
    return 0.99 * float((squared_lengths / np.abs(shortened)).min())


class Table:
    """The unknowns' columns as arrays (:data:`N_UNKNOWNS`,).

    Attributes
    ----------
    low, high, mean, scale : as in the rows
    precision : reciprocals of the priors' spreads; 0 for none
    free : which are moved: not those that a prior or ``held`` fixes
    """

    def __init__(self, unknowns: Sequence[Unknown], held: int | None = None) -> None:
        self.low = np.array([row.low for row in unknowns])
        self.high = np.array([row.high for row in unknowns])
        self.mean = np.array([row.mean for row in unknowns])
        self.scale = np.array([row.scale for row in unknowns])
        spread = np.array([row.spread for row in unknowns])
        self.free = spread > 0.0
        # an infinite spread gives 0, so no prior; a spread of 0 fixes, and must not be divided by
        self.precision = np.where(self.free, 1.0 / np.where(self.free, spread, 1.0), 0.0)
        if held is not None:
            self.free[held] = False

"""Ways to write a body's ten inertial parameters in a Pyomo model, and what each guarantees at every iterate.

* ``vector``: the ten parameters themselves. Guarantees nothing, not even a positive mass.
* ``log_cholesky``: ``P = L L^T`` over the coordinates (1, x, y, z), L lower triangular with diagonal of at least a
  small positive number. Mass and second moments about the centre of mass are positive, so P is positive definite and
  the triangle inequality holds. Smooth, without a chart's edge.
* ``principal``: eqs. 26 to 30 of the in-hand paper: mass, centre of mass, three positive second moments and a
  rotation, here a Gibbs vector from the start's axes. The same guarantee; where two moments are equal the axes aren't
  determined.

Any of them can have, besides,

* the centre of mass in the convex hull of the object (eq. 37): linear in m and m c;
* the squared geodesic distance to a prior (eq. 20): with ``P = P_0^1/2 exp(S) P_0^1/2`` it is ``1/4 ||S||_F^2``. The
  exponential is a fourth-order series of ``S / 64``, squared six times; its relative error is below ``1e-5`` for
  ``||S|| <= 5``. Of a prior whose mass isn't known it is the distance to the nearest of its multiples, ``1/4 (||S||_F^2
  - tr(S)^2 / 4)``.

Everything is in the units of :class:`ParameterUnits`, so that unknowns are of the order of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, hull_halfspaces, pseudo_inertia

VECTOR, LOG_CHOLESKY, PRINCIPAL = "vector", "log_cholesky", "principal"
_LEAST_MASS = 1e-3  # of the unit of mass
_LEAST_EXTENT = 1e-3  # of the unit of length; every second moment per mass is at least its square
_HULL_MARGIN = 1e-6  # m, more than the solver's tolerance
_SQUARINGS = 6
_UPPER = tuple((i, j) for i in range(4) for j in range(i, 4))


@dataclass(frozen=True)
class ParameterUnits:
    """Units of a model: ``mass`` in kg and ``length`` in m; time stays in seconds."""

    mass: float
    length: float

    @property
    def vector(self) -> np.ndarray:
        """(10,) of the ten parameters."""
        return self.mass * np.array([1.0] + [self.length] * 3 + [self.length**2] * 6)

    @property
    def homogeneous(self) -> np.ndarray:
        """(4,) h with ``P = h P' h`` for coordinates (1, x, y, z)."""
        return np.sqrt(self.mass) * np.array([1.0, self.length, self.length, self.length])


@dataclass(frozen=True)
class BodyRules:
    """What the parameters must satisfy.

    Attributes
    ----------
    parametrisation : ``vector``, ``log_cholesky`` or ``principal``
    hull_vertices : (v, 3) m in B; None where the centre of mass is free
    prior : of the geodesic distance; None for no such term
    prior_weight : of half the squared distance to the prior, in the program's cost
    prior_has_mass : False where only the prior's shape counts
    """

    parametrisation: str = LOG_CHOLESKY
    hull_vertices: np.ndarray | None = None
    prior: InertialParameters | None = None
    prior_weight: float = 1.0
    prior_has_mass: bool = True


def add_parameters(
    model: pyo.ConcreteModel, start: InertialParameters, units: ParameterUnits, rules: BodyRules
) -> list[Any]:
    """Add the ten scaled parameters ``model.theta`` with their rules; returns their variables.

    ``model.squared_geodesic`` is added where the rules have a prior.
    """
    scaled = start.vector / units.vector
    model.theta = pyo.Var(range(10), initialize={i: float(value) for i, value in enumerate(scaled)})
    theta = list(model.theta.values())
    model.body_rules = pyo.ConstraintList()
    if rules.parametrisation == LOG_CHOLESKY:
        _add_cholesky(model, theta)
    elif rules.parametrisation == PRINCIPAL:
        _add_principal(model, theta, start, units)
    if rules.hull_vertices is not None:
        _add_hull(model, theta, rules.hull_vertices, units)
    if rules.prior is not None:
        _add_geodesic(model, theta, rules.prior, units, rules.prior_has_mass)
    return theta


def homogeneous_matrix(vector: np.ndarray) -> np.ndarray:
    """P (4, 4) over the coordinates (1, x, y, z) of a vector (10,)."""
    return np.roll(pseudo_inertia(vector), 1, axis=(0, 1))


def _pseudo_inertia(theta: list[Any]) -> list[list[Any]]:
    """P over (1, x, y, z) as expressions that are linear in the parameters."""
    m, x, y, z, i_xx, i_yy, i_zz, i_xy, i_xz, i_yz = theta
    s_xx, s_yy, s_zz = 0.5 * (i_yy + i_zz - i_xx), 0.5 * (i_xx + i_zz - i_yy), 0.5 * (i_xx + i_yy - i_zz)
    return [[m, x, y, z], [x, s_xx, -i_xy, -i_xz], [y, -i_xy, s_yy, -i_yz], [z, -i_xz, -i_yz, s_zz]]


def _start(theta: list[Any]) -> np.ndarray:
    return np.array([float(variable.value) for variable in theta])


def _add_cholesky(model: pyo.ConcreteModel, theta: list[Any]) -> None:
    factor = np.linalg.cholesky(homogeneous_matrix(_start(theta)))
    places = [(i, j) for i in range(4) for j in range(i + 1)]
    least = {(0, 0): np.sqrt(_LEAST_MASS)}
    model.cholesky = pyo.Var(
        places,
        initialize={place: float(factor[place]) for place in places},
        bounds=lambda _, i, j: (least.get((i, j), _LEAST_EXTENT * np.sqrt(_LEAST_MASS)) if i == j else None, None),
    )
    low, target = model.cholesky, _pseudo_inertia(theta)
    for i in range(1, 4):  # the moment's share of the mass, so that a heavy body can't be flatter than a light one
        model.body_rules.add(low[i, i] >= _LEAST_EXTENT * low[0, 0])
    for i, j in _UPPER:
        model.body_rules.add(target[i][j] == pyo.quicksum(low[i, k] * low[j, k] for k in range(min(i, j) + 1)))


def _add_principal(
    model: pyo.ConcreteModel, theta: list[Any], start: InertialParameters, units: ParameterUnits
) -> None:
    form = start.principal_form
    moments = form.second_moments / (units.mass * units.length**2)
    center = form.center_of_mass / units.length
    model.center = pyo.Var(range(3), initialize=lambda _, i: float(center[i]))
    model.moments = pyo.Var(
        range(3), initialize=lambda _, i: float(moments[i]), bounds=(_LEAST_MASS * _LEAST_EXTENT**2, None)
    )
    model.gibbs = pyo.Var(range(3), initialize=0.0)
    c, r, mass = model.center, model.gibbs, theta[0]
    mass.setlb(_LEAST_MASS)
    square = r[0] ** 2 + r[1] ** 2 + r[2] ** 2
    epsilon = {(0, 1): -r[2], (0, 2): r[1], (1, 0): r[2], (1, 2): -r[0], (2, 0): -r[1], (2, 1): r[0]}
    model.turn = pyo.Var(range(3), range(3), initialize=lambda _, i, j: float(form.rotation[i, j]))
    cayley = [
        [(1.0 - square if i == j else 0.0) + 2.0 * r[i] * r[j] + 2.0 * epsilon.get((i, j), 0.0) for j in range(3)]
        for i in range(3)
    ]
    for i in range(3):
        model.body_rules.add(model.moments[i] >= _LEAST_EXTENT**2 * mass)
        model.body_rules.add(theta[1 + i] == mass * c[i])
        for j in range(3):
            turned = pyo.quicksum(float(form.rotation[i, k]) * cayley[k][j] for k in range(3))
            model.body_rules.add((1.0 + square) * model.turn[i, j] == turned)
    target, turn = _pseudo_inertia(theta), model.turn
    for i in range(3):
        for j in range(i, 3):
            central = pyo.quicksum(turn[i, k] * turn[j, k] * model.moments[k] for k in range(3))
            model.body_rules.add(target[1 + i][1 + j] == central + theta[1 + i] * c[j])


def _add_hull(model: pyo.ConcreteModel, theta: list[Any], vertices: np.ndarray, units: ParameterUnits) -> None:
    for normal, offset in zip(*hull_halfspaces(vertices), strict=True):
        along = pyo.quicksum(float(normal[i]) * theta[1 + i] for i in range(3))
        model.body_rules.add(along - float(offset - _HULL_MARGIN) / units.length * theta[0] <= 0.0)


def _add_geodesic(
    model: pyo.ConcreteModel, theta: list[Any], prior: InertialParameters, units: ParameterUnits, has_mass: bool
) -> None:
    """Add S and ``P = P_0^1/2 exp(S) P_0^1/2``."""
    root, inverse = _roots(homogeneous_matrix(prior.vector / units.vector))
    values, vectors = np.linalg.eigh(inverse @ homogeneous_matrix(_start(theta)) @ inverse)
    if np.any(values <= 0.0):
        raise ContactIdError("a geodesic distance starts from an unphysical body", "Project the start first")
    log = vectors @ np.diag(np.log(values)) @ vectors.T
    small = log / 2.0**_SQUARINGS
    model.log_map = pyo.Var(_UPPER, initialize={place: float(log[place]) for place in _UPPER})
    x = [[model.log_map[min(i, j), max(i, j)] * 0.5**_SQUARINGS for j in range(4)] for i in range(4)]
    square = _product(model, "log_square", x, x, small @ small)
    third, fourth = _times(x, square), _times(square, square)
    one = np.eye(4)
    series = [
        [float(one[i, j]) + x[i][j] + 0.5 * square[i][j] + third[i][j] / 6.0 + fourth[i][j] / 24.0 for j in range(4)]
        for i in range(4)
    ]
    power = one + small + small @ small / 2.0 + small @ small @ small / 6.0 + (small @ small) @ (small @ small) / 24.0
    matrix = _symmetric(model, "exp_0", series, power)
    for step in range(_SQUARINGS):
        power = power @ power
        matrix = _product(model, f"exp_{step + 1}", matrix, matrix, power)
    target = _pseudo_inertia(theta)
    for i, j in _UPPER:
        moved = pyo.quicksum(float(root[i, k] * root[j, n]) * matrix[k][n] for k in range(4) for n in range(4))
        model.body_rules.add(target[i][j] == moved)
    square_of_s = pyo.quicksum((1.0 if i == j else 2.0) * model.log_map[i, j] ** 2 for i, j in _UPPER)
    trace = pyo.quicksum(model.log_map[i, i] for i in range(4))
    model.squared_geodesic = pyo.Expression(expr=0.25 * (square_of_s - (0.0 if has_mass else 0.25 * trace**2)))


def _roots(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric square root of a positive definite matrix, and its inverse."""
    values, vectors = np.linalg.eigh(matrix)
    if np.any(values <= 0.0):
        raise ContactIdError("the prior isn't a body that can exist", "Give a prior with a positive definite P")
    return vectors @ np.diag(np.sqrt(values)) @ vectors.T, vectors @ np.diag(1.0 / np.sqrt(values)) @ vectors.T


def _times(left: list[list[Any]], right: list[list[Any]]) -> list[list[Any]]:
    return [[pyo.quicksum(left[i][k] * right[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def _product(model: Any, name: str, left: list[list[Any]], right: list[list[Any]], start: np.ndarray) -> Any:
    return _symmetric(model, name, _times(left, right), start)


def _symmetric(model: Any, name: str, expression: list[list[Any]], start: np.ndarray) -> list[list[Any]]:
    """A symmetric matrix of new variables that equals an expression."""
    variable = pyo.Var(_UPPER, initialize={place: float(start[place]) for place in _UPPER})
    model.add_component(name, variable)
    for i, j in _UPPER:
        model.body_rules.add(variable[i, j] == expression[i][j])
    return [[variable[min(i, j), max(i, j)] for j in range(4)] for i in range(4)]

"""Impact of an articulated body with friction, restitution and several contacts at once, as a
complementarity problem.

The impact equation is eq. 3 of the arm paper with friction, ``M (q+ - q-) = J^T Lambda``; the
velocities of the contact points are ``w+ = w- + W Lambda`` with ``w = J q`` and ``W = J M^-1 J^T``.
For every contact, with normal row N and tangential rows T:

* Newton's restitution: ``0 <= Lambda_N`` perp ``w_N+ + e w_N- >= 0``, so a contact may open by
  itself;
* Coulomb's friction, the disk replaced by a polygon of unit directions ``d_j`` (Stewart and
  Trinkle): ``Lambda_T = sum d_j b_j``, ``0 <= b_j`` perp ``d_j . w_T+ + s >= 0``, ``0 <= s`` perp
  ``mu Lambda_N - sum b_j >= 0``.

The polygon lies within the disk and reaches it at its corners, the first of which is the first
tangential direction; with n directions it lacks up to ``1 - cos(pi / n)`` of the limit in between.
With a single tangential row there are two directions, and the law is exact.

Impulses are multiples of the largest one that a contact by itself would need, velocities of the
largest closing velocity, ``b`` of mu times the impulses: all pairs are of the order of one, and no
mu is left in the last one. Interior-point iterations end near a solution, which is then settled
(:func:`contactid.core.complementarity.settle`).

Without restitution the problem always has a solution. With restitution and steep friction (mu of 1)
at several contacts that depend on each other it may have none, or one that isn't found; such an
impact is reported as not converged.

Restitution by Newton's law together with friction may raise the kinetic energy; without restitution
it can't.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.arm.rigid.impact_map import SMALLEST_MOBILITY, mobility
from contactid.core.complementarity import (
    Complementarities,
    Continuation,
    Pair,
    Reformulation,
    attach,
    settle,
    solve_mpec,
)
from contactid.core.errors import ContactIdError
from contactid.core.solve import SolverOptions

OPEN, STICKING, SLIDING = "open", "sticking", "sliding"
_AT_REST = 1e-9  # of the closing velocity, below which a contact's point doesn't slide
_LEAST_SPEED = 1e-12  # m/s, below which nothing closes
_SOLVER = SolverOptions(tolerance=1e-9, max_iterations=300)
# for what is left when one side of every pair is zero: IPOPT must bear dependent equations, to
# which settling leads, as do several contacts whose rows depend on each other
_SETTLING_SOLVER = SolverOptions(
    tolerance=1e-12,
    max_iterations=100,
    others={
        "constr_viol_tol": 1e-13,
        "perturb_always_cd": "yes",
        "jacobian_regularization_value": 1e-13,
    },
)
# tried in order, each from the neutral start, until a point settles: one weight of the products is
# quick and nearly always enough; Fischer and Burmeister's curves find more of the rest
_CONTINUATIONS = (
    Continuation(Reformulation.L1_PENALTY, (1.0,), settle=False),
    Continuation(Reformulation.FISCHER_BURMEISTER, settle=False),
)
# drawn ones of the last continuation; steep friction at several contacts needs some
_FURTHER_STARTS = 4
_SEED = 1  # of their draw
_TOLERANCE = 1e-9  # complementarity residual up to which an impact counts as converged


@dataclass(frozen=True)
class Contacts:
    """Where the body touches.

    Attributes
    ----------
    normal : (m, n) rows of the gaps' rates, m
    tangent : (m, k, n) rows of the velocities along the surface, k = 0, 1 or 2, m
    """

    normal: np.ndarray
    tangent: np.ndarray

    @classmethod
    def of_tip(cls, jacobian: np.ndarray) -> Contacts:
        """One contact of a tip with Jacobian (3, n) on a horizontal plane; the tangential axes are
        x and y.
        """
        return cls(jacobian[2:3], jacobian[None, :2])


@dataclass(frozen=True)
class ImpactLaw:
    """The contact's law.

    Attributes
    ----------
    friction_mu : Coulomb's coefficient, at least 0
    restitution_e_n : Newton's coefficient, 0 to 1
    facets : directions of the polygon that stands for the friction disk; even
    """

    friction_mu: float = 0.0
    restitution_e_n: float = 0.0
    facets: int = 8


@dataclass(frozen=True)
class ImpactSolution:
    """What follows from an impact.

    Attributes
    ----------
    velocity : (n,) q+, rad/s
    impulse_n, impulse_t : (m,) and (m, k) N s
    states : per contact ``open``, ``sticking`` or ``sliding``
    energy_lost : J
    converged : settled, and the residual within the tolerance
    residual : largest ``|min(a, b)|`` of the scaled pairs
    iterations, seconds : of all solves
    """

    velocity: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray
    states: tuple[str, ...]
    energy_lost: float
    converged: bool
    residual: float
    iterations: int
    seconds: float


def solve_impact(
    mass: np.ndarray, contacts: Contacts, velocity: np.ndarray, law: ImpactLaw
) -> ImpactSolution:
    """Velocity and impulses right after an impact with contacts that are all closed.

    ``mass`` M (n, n) is positive definite, ``velocity`` q- (n,) in rad/s.

    Raises
    ------
    ContactIdError
        For a posture where a contact's normal can't be moved.
    """
    normal, tangent = contacts.normal, contacts.tangent
    # all normals first, then the tangents contact by contact
    rows = np.vstack([normal, tangent.reshape(-1, len(mass))])
    w = mobility(mass, rows)
    before = rows @ velocity
    m = len(normal)
    if not np.diag(w)[:m].min() >= SMALLEST_MOBILITY:
        raise ContactIdError(
            "singular posture: an impulse along a contact's normal hardly moves it",
            "Choose a posture with bent joints",
        )
    speed = float(np.max(-before[:m], initial=0.0))
    if speed <= _LEAST_SPEED:  # no contact closes
        nothing = np.zeros((m, tangent.shape[1]))
        return ImpactSolution(
            velocity.copy(), np.zeros(m), nothing, (OPEN,) * m, 0.0, True, 0.0, 0, 0.0
        )
    # the largest impulse that one contact by itself would need
    unit = (1.0 + law.restitution_e_n) * float(np.max(-before[:m] / np.diag(w)[:m]))
    model, pairs = _problem(w, before, tangent.shape[1], law, speed, unit)
    attached, settled, iterations, seconds = _solve(model, pairs)
    residual = attached.residual()
    impulse_n = unit * np.array([model.normal[i].value for i in range(m)])
    along = (
        np.array([pyo.value(model.along[row]) for row in range(m * tangent.shape[1])])
        if law.friction_mu
        else None
    )
    # without friction there are no tangential variables
    impulse_t = np.zeros((m, tangent.shape[1])) if along is None else unit * along.reshape(m, -1)
    # M (q+ - q-) = J^T Lambda
    change = np.linalg.solve(mass, rows.T @ np.concatenate([impulse_n, impulse_t.ravel()]))
    after = velocity + change
    return ImpactSolution(
        velocity=after,
        impulse_n=impulse_n,
        impulse_t=impulse_t,
        states=_states(impulse_n, tangent @ after, unit, speed),
        # T- - T+ = -dq^T M (q- + dq / 2)
        energy_lost=-float(change @ mass @ (velocity + 0.5 * change)),
        converged=settled and residual <= _TOLERANCE,
        residual=residual,
        iterations=iterations,
        seconds=seconds,
    )


def _solve(
    model: pyo.ConcreteModel, pairs: list[Pair]
) -> tuple[Complementarities, bool, int, float]:
    """The pairs as last attached, whether they are settled, iterations and seconds; the model holds
    the point.
    """
    draw = np.random.default_rng(_SEED)
    # every attempt begins at the same point
    neutral = [(variable, variable.value) for variable in model.component_data_objects(pyo.Var)]
    attached = attach(model, pairs, _CONTINUATIONS[0].reformulation)
    iterations, seconds = 0, 0.0
    for attempt in range(len(_CONTINUATIONS) + _FURTHER_STARTS):
        continuation = _CONTINUATIONS[min(attempt, len(_CONTINUATIONS) - 1)]
        for variable, value in neutral:
            # only bounded variables are drawn: impulses and slips; velocities follow
            drawn = attempt >= len(_CONTINUATIONS) and variable.lb is not None
            variable.set_value(float(draw.uniform()) if drawn else value)
        if attempt:
            # the last reformulation's block goes, and the objective that it put aside comes back
            model.del_component(attached.block)
            attached.objective.activate()
            attached = attach(model, pairs, continuation.reformulation)
        found = solve_mpec(attached, continuation, _SOLVER)
        ended = settle(attached, _SETTLING_SOLVER)
        iterations, seconds = iterations + found.iterations, seconds + found.seconds
        if ended is not None:
            return attached, True, iterations + ended.iterations, seconds + ended.seconds
    return attached, False, iterations, seconds


def directions(k: int, facets: int) -> np.ndarray:
    """(j, k) unit directions of the polygon in k tangential axes; the first is the first axis."""
    # on a line two directions are the whole disk
    if k < 2:
        return np.array([[1.0], [-1.0]])[:, :k]
    angles = 2.0 * np.pi * np.arange(facets) / facets
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _problem(
    w: np.ndarray, before: np.ndarray, k: int, law: ImpactLaw, speed: float, unit: float
) -> tuple[pyo.ConcreteModel, list[Pair]]:
    """Model with scaled ``normal`` impulses, ``along`` (expressions, the tangential impulses), and
    its pairs.
    """
    m = len(w) // (1 + k)
    model = pyo.ConcreteModel(name="arm impact")
    model.normal = pyo.Var(range(m), bounds=(0.0, None), initialize=1.0)
    # a complementarity problem has no objective of its own
    model.nothing = pyo.Objective(expr=0.0 * model.normal[0])
    frictional = law.friction_mu > 0.0 and k > 0
    d = directions(k, law.facets)
    impulses: list[Any] = [model.normal[i] for i in range(m)]
    if frictional:
        # half of the friction limit, spread over the facets
        model.facet = pyo.Var(
            range(m), range(len(d)), bounds=(0.0, None), initialize=1.0 / (2 * len(d))
        )
        model.slip = pyo.Var(range(m), bounds=(0.0, None), initialize=1.0)
        model.along = pyo.Expression(range(m * k))
        for row in range(m * k):
            i, axis = divmod(row, k)
            model.along[row] = law.friction_mu * sum(
                float(d[j, axis]) * model.facet[i, j] for j in range(len(d))
            )
        impulses += [model.along[row] for row in range(m * k)]
    # velocities are variables: expressions of all impulses in every pair would make the products
    # dense
    model.after = pyo.Var(
        range(len(impulses)), initialize=lambda _, row: float(before[row]) / speed
    )
    # w+ = w- + W Lambda, in scaled units
    model.impact = pyo.Constraint(
        range(len(impulses)),
        rule=lambda md, row: (
            md.after[row]
            == float(before[row]) / speed
            + sum(float(w[row, c]) * unit / speed * p for c, p in enumerate(impulses))
        ),
    )
    # Newton: 0 <= Lambda_N perp w_N+ + e w_N- >= 0
    pairs: list[Pair] = [
        (model.normal[i], model.after[i] + law.restitution_e_n * float(before[i]) / speed)
        for i in range(m)
    ]
    for i in range(m) if frictional else ():
        for j in range(len(d)):
            # Coulomb by facets: a facet pushes where the slip against it is largest
            sliding = sum(float(d[j, axis]) * model.after[m + i * k + axis] for axis in range(k))
            pairs.append((model.facet[i, j], sliding + model.slip[i]))
        # slip only with the whole friction spent; mu is in the facets' unit
        pairs.append(
            (model.slip[i], model.normal[i] - sum(model.facet[i, j] for j in range(len(d))))
        )
    return model, pairs


def _states(
    impulse_n: np.ndarray, sliding: np.ndarray, unit: float, speed: float
) -> tuple[str, ...]:
    # without tangential rows nothing holds a contact, so it counts as sliding
    speeds = np.linalg.norm(sliding, axis=1) if sliding.shape[1] else np.full(len(sliding), np.inf)
    return tuple(
        OPEN if push <= _AT_REST * unit else STICKING if slip <= _AT_REST * speed else SLIDING
        for push, slip in zip(impulse_n, speeds, strict=True)
    )

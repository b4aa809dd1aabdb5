"""One step of a planar body as the paper's optimisation problem (eq. 20).

It is made of the implicit Euler scheme (eqs. 16, 17), Coulomb friction (eq. 18) with N and T at
``q^k``, and the restitution of contacts that are closed at ``q^k`` (eq. 19).

A model is built once. State, directions, toggles and scales are mutable parameters, so that a step
only sets numbers. ``q^(k+1)`` is a variable through its change over the step, which rounding far
from the origin doesn't spoil. Normal impulses are multiples of ``impulse_scale``, tangential ones
of mu times that, tangential velocities and lambda of ``speed_scale``. The scales are chosen for
every step from the motion without contact; so the complementarity pairs are of the order of one in
an impact and at rest alike:

* ``c_t+`` and ``T^T (v^(k+1) + e_T v^k) + lambda``, where ``d+ = t``;
* ``c_t-`` and ``-T^T (v^(k+1) + e_T v^k) + lambda``, where ``d- = -t``;
* ``lambda`` and ``mu c_n - c_t+ - c_t-``, where the scales leave no mu.

The paper has ``e_T = 0``.

Deviation: eq. 20 minimises squares of products that are zero at the solution together with their
derivatives. An interior-point method converges slowly there, and stops where the pairs are left
with some 1e-6 to 1e-2, depending on its tolerance. So the products are scaled and multiplied by a
large constant, which moves no solution; and what IPOPT returns is settled: the smaller side of
every pair is set to zero, and the same constraints are solved once more
(:func:`contactid.core.complementarity.settle`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.complementarity import Complementarities, Pair, Reformulation, settle
from contactid.core.solve import SolverOptions, solve
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw
from contactid.planar.simulate.geometry import Contacts, Ground
from contactid.planar.simulate.kernel import CLOSING

BIG = 1e6  # the paper's H, in multiples of the step's scales
_ROUNDING = 1e6 * float(np.finfo(float).eps)  # a scale below this is made of rounding errors
_SOLVER = SolverOptions(tolerance=1e-10, max_iterations=300)
# that a pair's side is zero can follow from the rest: IPOPT must bear dependent equations, by a
# shift that doesn't bias
_SETTLING_SOLVER = replace(
    _SOLVER,
    others={
        "constr_viol_tol": 1e-12,
        "perturb_always_cd": "yes",
        "jacobian_regularization_value": 1e-12,
    },
)
# of eq. 20's objective; a further one only where the point before couldn't be settled
_WEIGHTS = (1e2, 1e6)
TOLERANCE = 1e-6  # complementarity residual up to which a step counts as converged
_LEAST_SLIP = 1e-6  # of the speed scale: where nothing could slip, its pairs still need a unit
_AXES = range(3)


@dataclass(frozen=True)
class StepSolution:
    """A step's outcome, as it stands in the returned point.

    Attributes
    ----------
    position, velocity : (3,) at the end of the step, m, rad and their rates
    impulse_n, impulse_t : (n_c,) N s
    iterations : of all solves of the step
    converged : the last solve converged and the residual is within the tolerance
    residual : largest ``|min(a, b)|`` over all pairs, in multiples of the step's scales
    unsettled_residual : the same before settling
    """

    position: np.ndarray
    velocity: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray
    iterations: int
    converged: bool
    residual: float
    unsettled_residual: float


@dataclass(frozen=True)
class StepModel:
    """A step's model and its pairs of friction; made by :func:`build_irc_step`.

    Attributes
    ----------
    model : variables ``move`` (``q^(k+1) - q^k``), ``v_next, c_n, c_plus, c_minus, slip`` (lambda)
    """

    model: pyo.ConcreteModel
    pairs: Complementarities
    body: PlanarBody
    ground: Ground
    law: PlanarLaw
    time_step: float

    def free(self, v: np.ndarray) -> np.ndarray:
        """(3,) velocity after the step without contact."""
        return v - np.array([0.0, self.time_step * self.law.gravity, 0.0])

    def start(self, v: np.ndarray, at: Contacts, push: np.ndarray, least: float) -> None:
        """Set velocity, directions and scales, and a neutral start.

        ``push`` (n_c,) are the changes of normal velocity that the contacts have to bring about,
        m/s; the scales belong to their largest one, but at least to ``least``. Slipping is scaled
        by what it would be without friction, each contact by itself, and what friction can change.
        """
        model, law, inverse = self.model, self.law, 1.0 / self.body.mass_matrix
        n_contacts = self.body.shape.n_contacts
        v_free = self.free(v)
        # (n_c,) N s, the impulse of each contact by itself, without friction
        alone = push / (at.normal**2 @ inverse)
        slipping = at.tangent @ (v_free + law.restitution_e_t * v) + alone * (
            (at.normal * at.tangent) @ inverse
        )
        # contacts in flight push nothing: gravity's part of a step is the scale there
        speed = max(float(push.max()), least)
        for i in _AXES:
            model.v[i] = v[i]
            # begun from the motion without contact
            model.move[i].set_value(self.time_step * v_free[i])
            model.v_next[i].set_value(v_free[i])
        for j in range(n_contacts):
            for i in _AXES:
                model.N[j, i], model.T[j, i] = at.normal[j, i], at.tangent[j, i]
            model.c_n[j].set_value(1.0, skip_validation=True)
            for variable in (model.c_plus, model.c_minus):
                # inside the cone: with c_n = 1 half of it is left
                variable[j].set_value(0.25)
            model.slip[j].set_value(1.0)
        model.impulse_scale.set_value(self.body.mass * speed)
        model.speed_scale.set_value(
            max(float(np.abs(slipping).max()) + law.friction_mu * speed, _LEAST_SLIP * speed)
        )

    def solution(
        self, q: np.ndarray, iterations: int, solved: bool, unsettled: float
    ) -> StepSolution:
        """Read the present point of a step from q (3,)."""
        model, n_contacts = self.model, range(self.body.shape.n_contacts)
        unit, residual = pyo.value(model.impulse_scale), self.pairs.residual()
        return StepSolution(
            position=q + [model.move[i].value for i in _AXES],
            velocity=np.array([model.v_next[i].value for i in _AXES]),
            impulse_n=unit * np.array([model.c_n[j].value for j in n_contacts]),
            impulse_t=unit
            * self.law.friction_mu
            * np.array([model.c_plus[j].value - model.c_minus[j].value for j in n_contacts]),
            iterations=iterations,
            converged=solved and residual <= TOLERANCE,
            residual=residual,
            unsettled_residual=unsettled,
        )


def closed_contacts(at: Contacts, v: np.ndarray) -> np.ndarray:
    """(..., n_c) contacts that eq. 6 counts as closed at velocities v (..., 3); the rule of the
    compiled steps.
    """
    closing = (at.normal * np.asarray(v)[..., None, :]).sum(axis=-1)
    return (at.gap <= 0.0) & (closing <= CLOSING)


def build_irc_step(body: PlanarBody, ground: Ground, law: PlanarLaw, time_step: float) -> StepModel:
    """Eq. 20: minimise the squared norm of eqs. 13 and 15 subject to eqs. 16, 17, 19 and the signs
    of eq. 18.

    The signs are eqs. 10, 11, 12 and 14, the restitution is eq. 7, over a step.

    The normal velocity of every closed contact is prescribed, as in the paper. With several closed
    contacts these equations may contradict each other, or ask for a contact that pulls; such a step
    has no solution, and its solve doesn't converge.
    """
    model, pairs = _scheme(body, law, time_step)
    contact = model.c_n.index_set()
    model.z_c = pyo.Param(contact, initialize=1.0, mutable=True)
    model.z_nc = pyo.Param(contact, initialize=0.0, mutable=True)
    model.weight = pyo.Param(initialize=1.0, mutable=True)
    for j in contact:
        model.c_n[j].setlb(0.0)
        # the toggle z_c holds an open contact's impulse at 0
        model.c_n[j].setub(BIG * model.z_c[j])
    model.restitution = pyo.Constraint(
        contact,
        rule=lambda m, j: (
            # Newton's law is an equality where z_nc = 0, and far from any bound where it is 1
            -BIG * m.z_nc[j],
            sum(m.N[j, i] * (m.v_next[i] + law.restitution_e_n * m.v[i]) for i in _AXES)
            / m.speed_scale,
            BIG * m.z_nc[j],
        ),
    )
    model.signs = pyo.Block(concrete=True)
    model.signs.rules = pyo.ConstraintList()
    for side in (side for pair in pairs for side in pair):
        model.signs.rules.add(side >= 0.0)
    model.norm = pyo.Objective(expr=model.weight * sum((a * b) ** 2 for a, b in pairs))
    # the signs are all that has to go when the pairs are settled: they are written as for products
    # with a bound
    held = Complementarities(model, model.signs, tuple(pairs), Reformulation.SCHOLTES, model.norm)
    return StepModel(model, held, body, ground, law, time_step)


def solve_irc_step(step: StepModel, q: np.ndarray, v: np.ndarray, at: Contacts) -> StepSolution:
    """Solve eq. 20 from state q, v (3,) with the contacts ``at`` q, whether any is closed or not."""
    model, closed, law = step.model, closed_contacts(at, v), step.law
    # (n_c,) m/s, -(u_n free + e_N u_n)
    wanted = -(at.normal @ (step.free(v) + law.restitution_e_n * v))
    step.start(
        v,
        at,
        np.where(closed, wanted, 0.0).clip(min=0.0),
        _positive(step.time_step * law.gravity, v),
    )
    for j, is_closed in enumerate(closed):
        model.z_c[j], model.z_nc[j] = float(is_closed), float(not is_closed)
        model.c_n[j].set_value(float(is_closed), skip_validation=True)
    iterations, unsettled, solved = 0, float("nan"), False
    for attempt, factor in enumerate(_WEIGHTS):
        model.weight.set_value(factor)
        found = solve(model, _SOLVER.warm() if attempt else _SOLVER)
        iterations, solved = iterations + found.iterations, found.converged
        unsettled = unsettled if attempt else step.pairs.residual()
        settled = settle(step.pairs, _SETTLING_SOLVER)
        if settled is not None:
            iterations, solved = iterations + settled.iterations, True
            break
    return step.solution(q, iterations, solved, unsettled)


def _positive(scale: float, size: np.ndarray) -> float:
    """A scale, or what rounding makes of the difference that it comes from where that is more."""
    return max(scale, _ROUNDING * (1.0 + float(np.abs(size).max())))


def _scheme(
    body: PlanarBody, law: PlanarLaw, time_step: float
) -> tuple[pyo.ConcreteModel, list[Pair]]:
    """Variables, parameters, eqs. 16 and 17, and the pairs of eq. 18."""
    model = pyo.ConcreteModel(name="planar step")
    contact = range(body.shape.n_contacts)
    model.v = pyo.Param(_AXES, initialize=0.0, mutable=True)
    model.move, model.v_next = pyo.Var(_AXES, initialize=0.0), pyo.Var(_AXES, initialize=0.0)
    for name in ("N", "T"):
        model.add_component(name, pyo.Param(contact, _AXES, initialize=0.0, mutable=True))
    for name in ("c_n", "c_plus", "c_minus", "slip"):
        model.add_component(name, pyo.Var(contact, initialize=1.0))
    model.impulse_scale = pyo.Param(initialize=1.0, mutable=True)
    model.speed_scale = pyo.Param(initialize=1.0, mutable=True)
    fall = [0.0, -time_step * law.gravity, 0.0]

    def dynamics(m: Any, i: int) -> Any:
        tangential = [law.friction_mu * (m.c_plus[j] - m.c_minus[j]) for j in contact]
        wrench = sum(m.N[j, i] * m.c_n[j] + m.T[j, i] * tangential[j] for j in contact)
        return (
            # eq. 16
            m.v_next[i] - m.v[i] == m.impulse_scale / float(body.mass_matrix[i]) * wrench + fall[i]
        )

    model.dynamics = pyo.Constraint(_AXES, rule=dynamics)
    # eq. 17 over h, which is of the order of velocities
    model.kinematics = pyo.Constraint(
        _AXES, rule=lambda m, i: m.move[i] / time_step - m.v_next[i] == 0.0
    )
    pairs: list[Pair] = []
    for j in contact:
        velocity = sum(
            model.T[j, i] * (model.v_next[i] + law.restitution_e_t * model.v[i]) for i in _AXES
        )
        relative = velocity / model.speed_scale
        pairs += [
            (model.c_plus[j], relative + model.slip[j]),
            (model.c_minus[j], -relative + model.slip[j]),
            # tangential impulses are in units of mu times the normal ones', so this row has no mu
            (model.slip[j], model.c_n[j] - model.c_plus[j] - model.c_minus[j]),
        ]
    return model, pairs

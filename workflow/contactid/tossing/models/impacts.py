"""Identification of friction and restitution from all impacts at once, as an MPEC (eqs. 7 to 11 and
16, tossing paper).

Unknowns: mu, e_N and (where freed) e_T, shared; for every impact the impulse ``P`` and the
pre-impact twist ``v^- = a + L z`` with ``L L^T`` the covariance of its measurement ``a`` (errors in
variables). Constraints are the impact law in complementarity form, all pairs scaled to the order of
one by the impact's speed:

* normal: ``0 <= N``  perp  ``xi_N >= 0``;
* friction, a disk: ``T = mu N u``, ``xi_T + s u = 0`` and ``0 <= s``  perp  ``1 - |u|^2 >= 0``:
  u is the impulse's direction and share of the limit, s the sliding speed. Writing the disk in u
  instead of T keeps its gradient alive where the impulse vanishes.

The objective is the likelihood: half the squares of the pre- and post-impact twists' errors, each
whitened with its covariance, the latter's with an optional model error added. The paper's own loss,
eq. 17, is that of :mod:`contactid.tossing.identify.velocities`.

Gravity does nothing at an instant; impulses are those of eq. 3's atoms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.complementarity import Pair
from contactid.tossing.impacts.law import ImpactTable

LARGEST_MU = 2.0  # no pair of a box's materials comes near
_SLOWEST = 0.05  # m/s, least scale of an impact's speed


@dataclass(frozen=True)
class ImpactModelOptions:
    """What to build."""

    free_e_t: bool = False  # identify e_T, too; otherwise it is 0, as in the paper
    # standard deviations (m/s, rad/s) per axis of what the law itself gets wrong
    model_error: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class ImpactModel:
    """A built model with its pairs, still to be reformulated."""

    model: pyo.ConcreteModel  # Pyomo model with variables mu, e_n, e_t
    pairs: list[Pair]  # complementarity pairs, dimensionless
    table: ImpactTable  # the impacts
    options: ImpactModelOptions
    impulse_scale: np.ndarray  # (n,) N s
    speed_scale: np.ndarray  # (n,) m/s

    @property
    def parameters(self) -> tuple[float, float, float]:
        """(mu, e_N, e_T) at the model's present point."""
        return (
            float(self.model.mu.value),
            float(self.model.e_n.value),
            float(pyo.value(self.model.e_t)),
        )

    def impulses(self) -> np.ndarray:
        """(n, 3) N s at the model's present point."""
        return _values(self.model.impulse, len(self.table), 3) * self.impulse_scale[:, None]

    def slip_speeds(self) -> np.ndarray:
        """(n,) s, m/s: |xi_T| at the model's present point."""
        return _values(self.model.slip, len(self.table)) * self.speed_scale

    def start_at(self, mu: float, e_n: float, e_t: float = 0.0) -> None:
        """Set every variable to a feasible point: the law's exact answer for the measured
        pre-impact twists.
        """
        model, table = self.model, self.table
        model.mu.set_value(mu, skip_validation=True)
        model.e_n.set_value(e_n, skip_validation=True)
        if self.options.free_e_t:
            model.e_t.set_value(e_t, skip_validation=True)
        _set(model.z, np.zeros((len(table), 6)))
        impulses, approach = table.impulses(mu, e_n, e_t), table.approach
        # eqs. 8 and 9 with gamma^+ = gamma^- + G P
        xi = approach * (1.0 + np.array([e_t, e_t, e_n])) + np.einsum(
            "nij,nj->ni", table.delassus, impulses
        )
        slip = np.linalg.norm(xi[:, :2], axis=1)
        _set(model.impulse, impulses / self.impulse_scale[:, None])
        _set(model.approach, approach / self.speed_scale[:, None])
        _set(model.xi, xi / self.speed_scale[:, None])
        _set(model.slip, slip / self.speed_scale)
        # without a normal impulse the share is 0, not 0 / 0
        limit = mu * impulses[:, 2]
        share = impulses[:, :2] / np.where(limit > 0.0, limit, 1.0)[:, None]
        _set(model.share, share)
        twist_error = (
            table.post_twist - table.pre_twist - np.einsum("nij,nj->ni", table.response, impulses)
        )
        _set(model.error, np.einsum("nij,nj->ni", _whitening(table, self.options), twist_error))


def build_impact_model(
    table: ImpactTable, options: ImpactModelOptions | None = None
) -> ImpactModel:
    """Write the model, which :meth:`ImpactModel.start_at` starts and
    :mod:`contactid.core.complementarity` solves.
    """
    options = options or ImpactModelOptions()
    n = len(table)
    speed = np.maximum(np.linalg.norm(table.approach, axis=1), _SLOWEST)
    # (n,) N s: speed / G_NN is what stops a corner of that speed
    scale = speed / table.delassus[:, 2, 2]
    model = pyo.ConcreteModel(name="impacts")
    impacts, axes, twist = range(n), range(3), range(6)
    model.mu = pyo.Var(bounds=(0.0, LARGEST_MU), initialize=0.3)
    model.e_n = pyo.Var(bounds=(0.0, 1.0), initialize=0.3)
    model.e_t = pyo.Var(bounds=(0.0, 1.0), initialize=0.0)
    if not options.free_e_t:
        model.e_t.fix(0.0)
    model.impulse = pyo.Var(impacts, axes, initialize=0.0)
    model.approach = pyo.Var(impacts, axes, initialize=0.0)
    model.xi = pyo.Var(impacts, axes, initialize=0.0)
    model.slip = pyo.Var(impacts, bounds=(0.0, None), initialize=0.0)
    model.error = pyo.Var(impacts, twist, initialize=0.0)
    for i in impacts:
        # the pairs' own signs, eq. 8
        model.impulse[i, 2].setlb(0.0)
        model.xi[i, 2].setlb(0.0)
    model.z = pyo.Var(impacts, twist, initialize=0.0)
    built = ImpactModel(model, [], table, options, scale, speed)
    _measurements(built)
    _impact_law(built)
    errors = [variable[i, k] for variable in (model.error, model.z) for i in impacts for k in twist]
    model.objective = pyo.Objective(expr=0.5 * pyo.quicksum(error**2 for error in errors))
    return built


def _measurements(built: ImpactModel) -> None:
    """Tie contact velocities and whitened errors to twists and impulses."""
    model, table, options = built.model, built.table, built.options
    n = range(len(table))
    whitening = _whitening(table, options)
    measured = table.approach / built.speed_scale[:, None]
    # all linear maps are whitened and scaled beforehand, so that the model holds numbers near one
    twist_gap = np.einsum("nij,nj->ni", whitening, table.post_twist - table.pre_twist)
    by_impulse = whitening @ table.response * built.impulse_scale[:, None, None]
    # v^- = a + L z: to corner velocities, and on to the error of the twist after the impact
    root = np.linalg.cholesky(table.pre_covariance)
    to_contact = table.jacobian @ root / built.speed_scale[:, None, None]
    to_error = whitening @ root

    def latent(coefficients: np.ndarray, i: int) -> Any:
        return _dot(coefficients, [model.z[i, k] for k in range(6)])

    def error(m: Any, i: int, k: int) -> Any:
        explained = latent(to_error[i, k], i) + _dot(
            by_impulse[i, k], [m.impulse[i, j] for j in range(3)]
        )
        return m.error[i, k] == twist_gap[i, k] - explained

    model.of_approach = pyo.Constraint(
        n,
        range(3),
        rule=lambda m, i, k: m.approach[i, k] == measured[i, k] + latent(to_contact[i, k], i),
    )
    model.of_error = pyo.Constraint(n, range(6), rule=error)


def _impact_law(built: ImpactModel) -> None:
    model, table = built.model, built.table
    n = range(len(table))
    pushed = table.delassus * (built.impulse_scale / built.speed_scale)[:, None, None]
    restitution = (model.e_t, model.e_t, model.e_n)

    def xi(m: Any, i: int, k: int) -> Any:
        change = _dot(pushed[i, k], [m.impulse[i, j] for j in range(3)])
        return m.xi[i, k] == (1.0 + restitution[k]) * m.approach[i, k] + change

    # xi = (1 + e) gamma^- + G P
    model.of_xi = pyo.Constraint(n, range(3), rule=xi)
    # 0 <= N perp xi_N >= 0
    built.pairs.extend((model.impulse[i, 2], model.xi[i, 2]) for i in n)
    plane = range(2)
    model.share = pyo.Var(n, plane, initialize=0.0, bounds=(-1.0, 1.0))
    # T = mu N u
    model.of_share = pyo.Constraint(
        n, plane, rule=lambda m, i, k: m.impulse[i, k] == m.mu * m.impulse[i, 2] * m.share[i, k]
    )
    # xi_T + s u = 0
    model.opposed = pyo.Constraint(
        n, plane, rule=lambda m, i, k: m.xi[i, k] + m.slip[i] * m.share[i, k] == 0.0
    )
    # 0 <= s perp 1 - |u|^2 >= 0
    built.pairs.extend(
        (model.slip[i], 1.0 - model.share[i, 0] ** 2 - model.share[i, 1] ** 2) for i in n
    )


def _whitening(table: ImpactTable, options: ImpactModelOptions) -> np.ndarray:
    """(n, 6, 6): whitened error per error of the post-impact twist."""
    return np.linalg.inv(np.linalg.cholesky(table.post_covariance_with(*options.model_error)))


def _dot(coefficients: np.ndarray, variables: list[Any]) -> Any:
    """Linear expression without terms that are exactly zero."""
    return pyo.quicksum(
        float(c) * v for c, v in zip(coefficients, variables, strict=True) if c != 0.0
    )


def _set(variable: Any, values: np.ndarray) -> None:
    for index, value in np.ndenumerate(values):
        variable[index if len(index) > 1 else index[0]].set_value(
            float(value), skip_validation=True
        )


def _values(variable: Any, *shape: int) -> np.ndarray:
    values = [variable[index if len(index) > 1 else index[0]].value for index in np.ndindex(*shape)]
    return np.reshape(values, shape)

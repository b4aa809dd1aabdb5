"""The modal fit (eq. 7 of the arm paper) as a nonlinear program for IPOPT, to confirm what variable projection found.

Variables: per component a, v+ (where free), and c_k, d_k = Re and Im of ``A_k e^{i phi_k}``; shared gamma_k and omega_k
within bounds. The objective is the sum of squares of velocities, or, where the noise is that of differenced positions,
of the positions' residuals e: ``e_{i+1} - e_i = h (v_i - f(t_i))`` with e_0 free, which is the same as least squares in
the metric ``(D D^T)^-1``. Samples are instantaneous values here, not means over an interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.arm.models.modal_signal import HIGH, LOW, TIED, WHITE, ModalProblem
from contactid.core.errors import ContactIdError
from contactid.core.solve import Solution, SolverOptions, solve

_LEAST = 1e-6  # of the signal: residuals below it count as this
_RATE, _ANGULAR = 10.0, 100.0  # 1/s and rad/s, units of gamma and omega in the program


@dataclass(frozen=True)
class ModesSolution:
    """IPOPT's answer.

    Attributes
    ----------
    cost : sum of squares, in the units of :attr:`contactid.arm.identify.modal_fit.ModalFit.cost`
    poles : (m,) complex, 1/s, ascending in frequency
    post_velocity : (d,) m/s
    solution : of the solver
    """

    cost: float
    poles: np.ndarray
    post_velocity: np.ndarray
    solution: Solution


def modes_model(
    time: np.ndarray,
    velocities: np.ndarray,
    pre_velocities: Sequence[float],
    poles: np.ndarray,
    *,
    offset: str = TIED,
    noise: str = WHITE,
) -> pyo.ConcreteModel:
    """The program for velocities (n, d), m/s, at times (n,), s, started at poles (m,) with their best coefficients."""
    before = np.asarray(pre_velocities)
    problem = ModalProblem(np.asarray(time), velocities - (before if offset == TIED else 0.0), offset, noise)
    step = float(problem.step)
    model = pyo.ConcreteModel(name="arm modes")
    model.D = pyo.RangeSet(0, velocities.shape[1] - 1)
    model.M = pyo.RangeSet(0, len(poles) - 1)
    start = np.clip(np.column_stack([poles.real, poles.imag]), LOW, HIGH)
    for axis, (name, unit) in enumerate((("gamma", _RATE), ("omega", _ANGULAR))):
        bounds = (LOW[axis] / unit, HIGH[axis] / unit)
        model.add_component(name, pyo.Var(model.M, bounds=bounds, initialize=dict(enumerate(start[:, axis] / unit))))
    model.slope, model.post = pyo.Var(model.D, initialize=0.0), pyo.Var(model.D, initialize=0.0)
    model.c, model.d = pyo.Var(model.D, model.M, initialize=0.0), pyo.Var(model.D, model.M, initialize=0.0)
    at_start = _start_coefficients(model, problem, before, start[:, 0] + 1j * start[:, 1])
    scale = _unit(at_start, velocities, step, noise)
    if offset == TIED:
        model.tie = pyo.Constraint(
            model.D, rule=lambda m, j: m.post[j] + sum(m.c[j, k] for k in m.M) == float(pre_velocities[j])
        )

    def velocity(j: int, t: float) -> Any:
        return model.post[j] + model.slope[j] * t + sum(
            pyo.exp(_RATE * model.gamma[k] * t)
            * (model.c[j, k] * pyo.cos(_ANGULAR * model.omega[k] * t)
               - model.d[j, k] * pyo.sin(_ANGULAR * model.omega[k] * t))
            for k in model.M
        )  # fmt: skip

    rest = [[float(velocities[i, j]) - velocity(j, float(t)) for i, t in enumerate(time)] for j in model.D]
    if noise == WHITE:
        squares = [(value / scale) ** 2 for row in rest for value in row]
    else:
        squares = _integrated(model, rest, step / scale)
    model.objective = pyo.Objective(expr=sum(squares))
    model.unit = scale
    return model


def solve_modes(model: pyo.ConcreteModel) -> ModesSolution:
    """Solve a model of :func:`modes_model`, keeping close to its start."""
    solution = solve(model, SolverOptions(tolerance=1e-10, max_iterations=500).warm())
    poles = np.array([pyo.value(model.gamma[k]) * _RATE + 1j * pyo.value(model.omega[k]) * _ANGULAR for k in model.M])
    return ModesSolution(
        cost=solution.objective * float(model.unit) ** 2,
        poles=poles[np.argsort(poles.imag)],
        post_velocity=np.array([pyo.value(model.post[j]) for j in model.D]),
        solution=solution,
    )


def _integrated(model: pyo.ConcreteModel, rest: list[list[Any]], step: float) -> list[Any]:
    """Squares of the positions' residuals, tied to those of the velocities."""
    model.N = pyo.RangeSet(0, len(rest[0]))
    model.error = pyo.Var(model.D, model.N, initialize=0.0)
    model.integral = pyo.Constraint(
        model.D,
        pyo.RangeSet(0, len(rest[0]) - 1),
        rule=lambda m, j, i: m.error[j, i + 1] - m.error[j, i] == step * rest[j][i],
    )
    for j in model.D:
        sums = np.concatenate([[0.0], np.cumsum([step * pyo.value(value) for value in rest[j]])])
        for i, value in enumerate(sums - sums.mean()):
            model.error[j, i] = float(value)
    return [model.error[j, i] ** 2 for j in model.D for i in model.N]


def _start_coefficients(
    model: pyo.ConcreteModel, problem: ModalProblem, before: np.ndarray, poles: np.ndarray
) -> np.ndarray:
    """Least squares in the noise's metric for the starting poles; its residuals of the velocities (n, d)."""
    tied = problem.offset == TIED
    columns = problem.columns(problem.modes(poles)[0])
    beta = np.linalg.lstsq(problem.whiten(columns), problem.target, rcond=None)[0]
    z = problem.amplitudes(beta)
    for j in model.D:
        model.slope[j] = float(beta[0, j])
        model.post[j] = float(before[j] - z[:, j].real.sum()) if tied else float(beta[1, j])
        for k in model.M:
            model.c[j, k], model.d[j, k] = float(z[k, j].real), float(z[k, j].imag)
    return problem.values - columns @ beta


def _unit(rest: np.ndarray, velocities: np.ndarray, step: float, noise: str) -> float:
    """A size of residuals that makes the objective one at the start, whose residuals of velocities are (n, d)."""
    if not np.abs(velocities).max() > 0.0:
        raise ContactIdError("the modes' program has a velocity that is zero throughout", "Give a recorded signal")
    shown = [rest, velocities]
    if noise != WHITE:
        sums = [step * np.cumsum(value, axis=0) for value in shown]
        shown = [value - value.mean(axis=0) for value in sums]
    return max(float(np.linalg.norm(shown[0])), _LEAST * float(np.linalg.norm(shown[1])))

"""Every reformulation ends at a point where the pairs hold, and says truthfully how nearly they do."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.complementarity import Complementarities, Continuation, Reformulation, attach, settle, solve_mpec
from contactid.errors import ContactIdError

EVERY = list(Reformulation)


def nearest(targets: np.ndarray, sense: int = pyo.minimize) -> pyo.ConcreteModel:
    """The point of {0 <= x perp y >= 0} nearest to each target (n, 2): the larger coordinate survives."""
    model = pyo.ConcreteModel()
    n = range(len(targets))
    model.x, model.y = pyo.Var(n, initialize=1.0), pyo.Var(n, initialize=1.0)
    sign = 1.0 if sense == pyo.minimize else -1.0
    model.objective = pyo.Objective(
        expr=sign * sum((model.x[i] - targets[i, 0]) ** 2 + (model.y[i] - targets[i, 1]) ** 2 for i in n), sense=sense
    )
    return model


def attached(model: pyo.ConcreteModel, reformulation: Reformulation) -> Complementarities:
    return attach(model, [(model.x[i], model.y[i]) for i in model.x], reformulation)


@pytest.mark.parametrize("reformulation", EVERY)
@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_nearest_points(reformulation: Reformulation, settled: bool, sense: int) -> None:
    targets = np.array([[1.0, 2.0], [3.0, 0.5], [2.0, -1.0], [-0.5, 1.0]])
    model = nearest(targets, sense)
    pairs = attached(model, reformulation)
    found = solve_mpec(pairs, Continuation(reformulation, settle=settled))
    expected = np.array([[0.0, 2.0], [3.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    assert found.converged and found.settled == settled
    assert np.allclose(pairs.values(), expected, atol=1e-5)
    assert abs(found.objective) == pytest.approx(1.0 + 0.25 + 1.0 + 0.25, abs=1e-4)
    assert found.residual <= (1e-8 if settled else 1e-6)


@pytest.mark.parametrize("reformulation", EVERY)
def test_a_linear_complementarity_problem(reformulation: Reformulation) -> None:
    """M z + q = w, z perp w with M positive definite has one solution, found here by trying all patterns."""
    rng = np.random.default_rng(3)
    half = rng.normal(size=(4, 4))
    matrix, shift = half @ half.T + 0.5 * np.eye(4), rng.normal(size=4)
    for pattern in np.ndindex(2, 2, 2, 2):
        active = np.array(pattern, dtype=bool)
        z = np.zeros(4)
        z[active] = np.linalg.solve(matrix[np.ix_(active, active)], -shift[active])
        if (z >= 0.0).all() and (matrix @ z + shift >= -1e-12).all():
            break
    model = pyo.ConcreteModel()
    model.z = pyo.Var(range(4), initialize=1.0)
    model.objective = pyo.Objective(expr=0.0 * model.z[0])
    rest = [sum(matrix[i, j] * model.z[j] for j in range(4)) + shift[i] for i in range(4)]
    pairs = attach(model, [(model.z[i], rest[i]) for i in range(4)], reformulation)
    assert solve_mpec(pairs, Continuation(reformulation)).residual < 1e-6
    assert np.allclose([model.z[i].value for i in range(4)], z, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=5))
def test_the_residual_is_the_largest_smaller_side(points: list[tuple[float, float]]) -> None:
    values = np.array(points)
    model = nearest(values)
    pairs = attached(model, Reformulation.SCHOLTES)
    for i, (x, y) in enumerate(points):
        model.x[i].set_value(x)
        model.y[i].set_value(y)
    assert pairs.residual() == np.abs(values.min(axis=1)).max()


@pytest.mark.parametrize(
    ("reformulation", "bound"), [(Reformulation.SCHOLTES, 0.1), (Reformulation.FISCHER_BURMEISTER, 0.01)]
)
def test_an_early_stop_is_not_converged(reformulation: Reformulation, bound: float) -> None:
    model = nearest(np.array([[1.0, 1.0]]))
    found = solve_mpec(attached(model, reformulation), Continuation(reformulation, stages=(0.01,), settle=False))
    assert not found.converged and 1e-6 < found.residual <= bound * 1.001


def test_settling_that_fails_leaves_the_point_alone() -> None:
    model = nearest(np.array([[2.0, 1.0]]))
    model.both = pyo.Constraint(expr=model.x[0] + model.y[0] >= 1.0)
    model.neither = pyo.Constraint(expr=model.x[0] <= 0.5)  # so the settled choice y = 0 contradicts the sum
    pairs = attached(model, Reformulation.SCHOLTES)
    model.x[0].set_value(0.5)
    model.y[0].set_value(0.25)
    assert settle(pairs) is None
    assert (model.x[0].value, model.y[0].value) == (0.5, 0.25)
    assert pairs.block.active and model.component("settled") is None


def test_misuse_is_one_line() -> None:
    model = nearest(np.array([[1.0, 1.0]]))
    pairs = attached(model, Reformulation.SCHOLTES)
    with pytest.raises(ContactIdError, match="already"):
        attached(model, Reformulation.SCHOLTES)
    with pytest.raises(ContactIdError, match="scholtes"):
        solve_mpec(pairs, Continuation(Reformulation.L1_PENALTY))

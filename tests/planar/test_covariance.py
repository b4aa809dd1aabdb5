"""The covariance at a constrained least-squares solution is what linear algebra and error
propagation give.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.solve import PreparedModel
from contactid.planar.identify.standard_errors import covariance

LAWS = settings(max_examples=25, deadline=None)


@dataclass(frozen=True)
class Problem:
    """``min 1/2 |(A x - b)/sigma|^2`` subject to ``C x = d``."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    sigma: float = 1.0

    @property
    def curvature(self) -> np.ndarray:
        return self.a.T @ self.a / self.sigma**2

    def solution(self) -> np.ndarray:
        n, m = self.a.shape[1], len(self.c)
        matrix = np.block([[self.curvature, self.c.T], [self.c, np.zeros((m, m))]])
        return np.linalg.solve(matrix, np.concatenate([self.a.T @ self.b / self.sigma**2, self.d]))[
            :n
        ]

    def analytic(self) -> np.ndarray:
        """``Z (Z^T H Z)^-1 Z^T`` with a basis Z of what the constraints leave free."""
        _, size, rows = np.linalg.svd(self.c, full_matrices=True)
        basis = rows[int((size > 1e-10).sum()) :].T
        return basis @ np.linalg.inv(basis.T @ self.curvature @ basis) @ basis.T

    def model(self) -> pyo.ConcreteModel:
        """With the solution as its present point."""
        n, at = self.a.shape[1], self.solution()
        model = pyo.ConcreteModel()
        model.x = pyo.Var(range(n), initialize=dict(enumerate(at.tolist())))
        model.rules = pyo.ConstraintList()
        for row, value in zip(self.c, self.d, strict=True):
            model.rules.add(sum(float(row[i]) * model.x[i] for i in range(n)) == float(value))
        residuals = [sum(float(r) * model.x[i] for i, r in enumerate(row)) for row in self.a]
        squares = [
            ((r - float(b)) / self.sigma) ** 2 for r, b in zip(residuals, self.b, strict=True)
        ]
        model.misfit = pyo.Objective(expr=0.5 * sum(squares))
        return model


def problem(seed: int, n: int = 6, constraints: int = 2, sigma: float = 1.0) -> Problem:
    random = np.random.default_rng(seed)
    a, c = random.normal(size=(n + 4, n)), random.normal(size=(constraints, n))
    return Problem(a, random.normal(size=n + 4), c, random.normal(size=constraints), sigma)


def of_all(model: pyo.ConcreteModel) -> np.ndarray:
    return covariance(PreparedModel(model), list(model.x.values()))


SEEDS = st.integers(0, 10**6)


@LAWS
@given(SEEDS, st.integers(1, 4), st.sampled_from([0.02, 1.0, 10.0]))
def test_it_is_the_analytic_one_of_a_linear_problem(seed, constraints, sigma):
    linear = problem(seed, constraints=constraints, sigma=sigma)
    expected = linear.analytic()
    assert np.allclose(
        of_all(linear.model()), expected, rtol=0.0, atol=1e-5 * np.abs(expected).max()
    )


@LAWS
@given(SEEDS)
def test_it_is_the_inverse_hessian_where_nothing_is_constrained(seed):
    free = problem(seed, constraints=0)
    expected = np.linalg.inv(free.curvature)
    assert np.allclose(
        of_all(free.model()), expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max()
    )


@LAWS
@given(SEEDS)
def test_what_is_wanted_comes_in_the_order_of_asking(seed):
    model = problem(seed).model()
    whole = of_all(model)
    some = covariance(PreparedModel(model), [model.x[4], model.x[1]])
    assert np.allclose(some, whole[np.ix_([4, 1], [4, 1])], rtol=1e-9, atol=1e-12)
    assert np.allclose(whole, whole.T, rtol=1e-6, atol=1e-9)


@LAWS
@given(SEEDS, st.floats(0.02, 20.0))
def test_noise_twice_as_large_doubles_standard_errors(seed, factor):
    one, other = of_all(problem(seed).model()), of_all(problem(seed, sigma=factor).model())
    assert np.allclose(other, factor**2 * one, rtol=1e-5, atol=1e-6 * factor**2 * np.abs(one).max())


@LAWS
@given(SEEDS, st.sampled_from(["lower", "upper"]))
def test_a_variable_on_its_bound_has_no_variance_and_constrains_the_others(seed, side):
    linear = problem(seed)
    model = linear.model()
    at = linear.solution()
    model.x[2].setlb(at[2] if side == "lower" else at[2] - 1.0)
    model.x[2].setub(at[2] if side == "upper" else at[2] + 1.0)
    fixed = np.vstack([linear.c, np.eye(6)[2]])
    expected = Problem(linear.a, linear.b, fixed, np.append(linear.d, at[2])).analytic()
    found = of_all(model)
    assert np.abs(found[2]).max() < 1e-8
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@LAWS
@given(SEEDS)
def test_inequalities_count_where_they_are_active(seed):
    linear = problem(seed)
    model, at = linear.model(), linear.solution()
    row = np.random.default_rng(seed + 1).normal(size=6)
    expression, value = sum(float(row[i]) * model.x[i] for i in range(6)), float(row @ at)
    model.slack = pyo.Constraint(expr=expression <= value + 0.1)
    assert np.allclose(
        of_all(model), linear.analytic(), rtol=1e-6, atol=1e-6 * np.abs(linear.analytic()).max()
    )
    model.tight = pyo.Constraint(expr=expression <= value)
    tight = Problem(
        linear.a, linear.b, np.vstack([linear.c, row]), np.append(linear.d, value)
    ).analytic()
    assert np.allclose(of_all(model), tight, rtol=1e-6, atol=1e-6 * np.abs(linear.analytic()).max())


@LAWS
@given(SEEDS)
def test_a_constraint_that_others_imply_changes_nothing(seed):
    linear = problem(seed)
    model = linear.model()
    row, value = linear.c[0] + 2.0 * linear.c[1], float(linear.d[0] + 2.0 * linear.d[1])
    model.again = pyo.Constraint(expr=sum(float(row[i]) * model.x[i] for i in range(6)) == value)
    expected = linear.analytic()
    assert np.allclose(of_all(model), expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_what_nothing_determines_has_a_variance_beyond_all_use():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), initialize=1.0)
    model.misfit = pyo.Objective(
        expr=0.5 * (model.x[0] + model.x[1] - 2.0) ** 2 + 0.5 * (model.x[2] - 1.0) ** 2
    )
    found = of_all(model)
    assert min(found[0, 0], found[1, 1]) > 1e6
    assert found[2, 2] == pytest.approx(1.0, rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.floats(-1.0, 1.0), st.floats(0.1, 3.0))
def test_errors_propagate_through_constraints(x, sigma):
    """y = exp(x) + x^2 of a measured x."""
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(initialize=x), pyo.Var(initialize=float(np.exp(x) + x**2))
    model.law = pyo.Constraint(expr=model.y == pyo.exp(model.x) + model.x**2)
    model.misfit = pyo.Objective(expr=0.5 * ((model.x - x) / sigma) ** 2)
    slope = float(np.exp(x) + 2.0 * x)
    expected = sigma**2 * np.array([[1.0, slope], [slope, slope**2]])
    assert np.allclose(
        covariance(PreparedModel(model), [model.x, model.y]), expected, rtol=1e-5, atol=1e-7
    )


def test_it_is_the_scatter_of_solutions_over_noise():
    linear, random = problem(3), np.random.default_rng(0)
    exact = linear.a @ linear.solution()
    found = [
        Problem(linear.a, exact + random.normal(size=len(exact)), linear.c, linear.d).solution()
        for _ in range(4000)
    ]
    assert np.allclose(
        np.cov(np.array(found).T),
        of_all(linear.model()),
        rtol=0.0,
        atol=0.1 * linear.analytic().max(),
    )

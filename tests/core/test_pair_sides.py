"""Holding one side of every pair at zero gives an ordinary solution, and exchanging sides only
improves it.
"""

from __future__ import annotations

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.pair_sides import ACCEPTABLE, FIRST, IMPLIED, SECOND, PairSides, pair_residual
from contactid.core.solve import PreparedModel, SolverOptions

OPTIONS = SolverOptions()
LAWS = settings(max_examples=25, deadline=None)
coordinates = st.floats(-2.0, 2.0).filter(lambda value: abs(value) > 0.05)


def nearest(targets: np.ndarray) -> tuple[pyo.ConcreteModel, list]:
    """Points of {0 <= x perp y >= 0} nearest to targets (n, 2); y is an expression of another
    variable.
    """
    model = pyo.ConcreteModel()
    n = range(len(targets))
    model.x = pyo.Var(n, initialize=0.5, bounds=(0.0, None))
    model.z = pyo.Var(n, initialize=0.5)
    pairs = [(model.x[i], 2.0 * model.z[i] - 1.0) for i in n]
    model.far = pyo.Objective(
        expr=sum(
            (a - float(t[0])) ** 2 + (b - float(t[1])) ** 2
            for (a, b), t in zip(pairs, targets, strict=True)
        )
    )
    return model, pairs


@LAWS
@given(
    targets=st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=4), choice=st.data()
)
def test_a_choice_has_the_solution_that_algebra_gives(targets, choice):
    targets = np.array(targets)
    held = np.array([choice.draw(st.sampled_from([FIRST, SECOND])) for _ in targets])
    model, pairs = nearest(targets)
    sides = PairSides(model, pairs)
    assert sides.solve(held, OPTIONS).converged
    rows = np.arange(len(targets))
    expected = np.zeros((len(targets), 2))
    expected[rows, 1 - held] = np.maximum(targets[rows, 1 - held], 0.0)
    assert np.allclose(sides.values(), expected, atol=1e-6)
    assert pair_residual(pairs) < 1e-7
    # letting go of the held side would bring -2 times its distance from the target
    assert np.allclose(sides.slopes()[rows, held], -2.0 * targets[rows, held], atol=1e-5)


@pytest.mark.parametrize(("iterations", "roughly"), [(1000, False), (5, True)])
def test_an_answer_that_met_the_rounder_tolerance_alone_says_so(iterations, roughly):
    """Six iterations are needed; of a second solve, which starts where the first one stopped,
    fewer.
    """
    model, pairs = nearest(np.array([[1.0, -0.3], [0.7, 0.4], [-0.5, 0.6]]))
    options = SolverOptions(max_iterations=iterations)
    solution = PairSides(model, pairs).solve(np.array([FIRST, SECOND, FIRST]), options)
    assert solution.converged and (solution.status == ACCEPTABLE) == roughly


@LAWS
@given(targets=st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=4))
def test_exchanging_ends_where_no_single_exchange_helps(targets):
    """A held side is let go where the other one is zero too and its own target is positive."""
    targets = np.array(targets)
    model, pairs = nearest(targets)
    sides = PairSides(model, pairs)
    held = np.full(len(targets), FIRST)
    first = sides.solve(held, OPTIONS)
    held, kept = sides.exchange(held, first, OPTIONS, most=len(targets) + 1)
    objectives = [solution.objective for solution in (first, *kept)]
    assert all(later < earlier for earlier, later in itertools.pairwise(objectives))
    wrong = (targets[:, 0] > 0.0) & (targets[:, 1] < 0.0)
    assert np.array_equal(held, np.where(wrong, SECOND, FIRST))
    best = np.where(
        wrong, targets[:, 1], np.where(targets[:, 1] > 0.0, targets[:, 0], np.hypot(*targets.T))
    )
    assert pyo.value(model.far) == pytest.approx(float((best**2).sum()), abs=1e-5)
    assert pyo.value(model.far) <= first.objective + 1e-9


def test_no_exchange_leaves_the_solved_point():
    model, pairs = nearest(np.array([[1.0, -1.0]]))
    sides = PairSides(model, pairs)
    held = np.array([FIRST])
    first = sides.solve(held, OPTIONS)
    before = sides.values()
    after, kept = sides.exchange(held, first, OPTIONS, most=0)
    assert np.array_equal(after, held) and not kept
    assert np.array_equal(sides.values(), before)


def test_an_implied_pair_is_left_to_the_others():
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(initialize=1.0), pyo.Var(initialize=1.0)
    model.tied = pyo.Constraint(expr=model.x + model.y == 0.0)
    model.far = pyo.Objective(expr=(model.x - 1.0) ** 2 + model.y**2)
    sides = PairSides(model, [(model.x, model.y), (model.y, model.x)])
    assert sides.solve(np.array([SECOND, IMPLIED]), OPTIONS).converged
    assert np.allclose(sides.values(), 0.0, atol=1e-7)


def test_released_models_are_as_they_were():
    model, pairs = nearest(np.array([[1.0, 0.5], [0.2, 0.4]]))
    sides = PairSides(model, pairs)
    sides.solve(np.array([FIRST, SECOND]), OPTIONS)
    sides.release()
    assert model.component("pair_sides") is None
    assert all((x.lb, x.ub) == (0.0, None) for x in model.x.values())
    assert len(list(model.component_data_objects(pyo.Var))) == 4


def test_a_prepared_model_sees_changed_bounds_and_values():
    model, _ = nearest(np.array([[1.0, 0.5]]))
    prepared = PreparedModel(model)
    assert prepared.solve().converged and model.x[0].value == pytest.approx(1.0, abs=1e-6)
    model.x[0].setub(0.25)
    assert prepared.solve().converged and model.x[0].value == pytest.approx(0.25, abs=1e-6)
    assert prepared.slopes[model.x[0]] == pytest.approx(-1.5, abs=1e-5)
    model.x[0].setub(None)
    model.x[0].setlb(3.0)
    assert prepared.solve().converged and model.x[0].value == pytest.approx(3.0, abs=1e-6)

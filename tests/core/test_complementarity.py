"""Every reformulation ends at a point where the pairs hold, and says truthfully how nearly they do."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.complementarity import (
    Complementarities,
    Continuation,
    MpecSolution,
    Reformulation,
    attach,
    settle,
    solve_mpec,
)
from contactid.core.errors import ContactIdError
from contactid.core.reformulations import (
    STAGES,
    parameter_allowing,
    rounded_absolute_value,
    set_parameter,
)

EVERY = list(Reformulation)
PENALTIES = [Reformulation.L1_PENALTY, Reformulation.SQUARED_PENALTY]
BOUNDS = {
    Reformulation.SCHOLTES: lambda t: t**0.5,
    Reformulation.LIN_FUKUSHIMA: lambda t: t,
    Reformulation.STEFFENSEN_ULBRICH: lambda t: 3.0 * t / 16.0,
    Reformulation.FISCHER_BURMEISTER: lambda t: t,
    Reformulation.PYOMO_MPEC: lambda t: t**0.5,
}
"""Largest residual of a point that satisfies a relaxation or a smoothing with parameter t."""
RELAXATIONS = [
    reformulation
    for reformulation in BOUNDS
    if reformulation is not Reformulation.FISCHER_BURMEISTER
]

parameters = st.floats(-6.0, 0.0).map(lambda exponent: 10.0**exponent)


def nearest(targets: np.ndarray, sense: int = pyo.minimize) -> pyo.ConcreteModel:
    """The point of {0 <= x perp y >= 0} nearest to each target (n, 2): the larger coordinate
    survives.
    """
    model = pyo.ConcreteModel()
    n = range(len(targets))
    model.x, model.y = pyo.Var(n, initialize=1.0), pyo.Var(n, initialize=1.0)
    sign = 1.0 if sense == pyo.minimize else -1.0
    model.objective = pyo.Objective(
        expr=sign
        * sum((model.x[i] - targets[i, 0]) ** 2 + (model.y[i] - targets[i, 1]) ** 2 for i in n),
        sense=sense,
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
    """M z + q = w, z perp w with M positive definite has one solution, found here by trying all
    patterns.
    """
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


@pytest.mark.parametrize("reformulation", list(BOUNDS))
def test_an_early_stop_is_not_converged(reformulation: Reformulation) -> None:
    model = nearest(np.array([[1.0, 1.0]]))
    found = solve_mpec(
        attached(model, reformulation), Continuation(reformulation, stages=(0.01,), settle=False)
    )
    assert not found.converged and 1e-6 < found.residual <= BOUNDS[reformulation](0.01) * 1.001


@pytest.mark.parametrize("reformulation", list(BOUNDS))
def test_a_parameter_allows_the_residual_that_it_is_for(reformulation: Reformulation) -> None:
    assert BOUNDS[reformulation](parameter_allowing(reformulation, 0.01)) == pytest.approx(0.01)


def test_settling_that_fails_leaves_the_point_alone() -> None:
    model = nearest(np.array([[2.0, 1.0]]))
    model.both = pyo.Constraint(expr=model.x[0] + model.y[0] >= 1.0)
    model.neither = pyo.Constraint(
        expr=model.x[0] <= 0.5
    )  # so the settled choice y = 0 contradicts the sum
    pairs = attached(model, Reformulation.SCHOLTES)
    model.x[0].set_value(0.5)
    model.y[0].set_value(0.25)
    assert settle(pairs) is None
    assert (model.x[0].value, model.y[0].value) == (0.5, 0.25)
    assert pairs.block.active and model.component("settled") is None


@pytest.mark.parametrize("reformulation", EVERY)
def test_a_bilevel_problem(reformulation: Reformulation) -> None:
    """min (x - 5)^2 + (2y + 1)^2 where y minimises (y - 1)^2 - 1.5 x y within limits that depend on
    x.
    """
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(initialize=1.0), pyo.Var(initialize=1.0)
    model.force = pyo.Var(range(4), initialize=1.0)
    x, y = model.x, model.y
    room = [3.0 * x - y - 3.0, -x + 0.5 * y + 4.0, -x - y + 7.0, y]
    slope = (-1.0, 0.5, -1.0, 1.0)
    pull = 2.0 * (y - 1.0) - 1.5 * x
    model.reaction = pyo.Constraint(expr=pull == sum(model.force[i] * slope[i] for i in range(4)))
    model.objective = pyo.Objective(expr=(x - 5.0) ** 2 + (2.0 * y + 1.0) ** 2)
    pairs = attach(model, [(model.force[i], room[i]) for i in range(4)], reformulation)
    found = solve_mpec(pairs, Continuation(reformulation))

    xs = np.linspace(
        1.0, 5.0, 40001
    )  # the reaction is the free minimum, clipped; beyond there is no y
    ys = np.clip(
        1.0 + 0.75 * xs, np.maximum(0.0, 2.0 * xs - 8.0), np.minimum(3.0 * xs - 3.0, 7.0 - xs)
    )
    best = np.argmin((xs - 5.0) ** 2 + (2.0 * ys + 1.0) ** 2)
    assert found.converged and found.settled and found.residual <= 1e-8
    assert (x.value, y.value) == pytest.approx((xs[best], ys[best]), abs=1e-6)


@pytest.mark.parametrize("reformulation", EVERY)
def test_both_sides_zero(reformulation: Reformulation) -> None:
    """x + y wants both as small as they get, and neither side is the one that must be zero."""
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var([0], initialize=1.0), pyo.Var([0], initialize=0.5)
    model.objective = pyo.Objective(expr=model.x[0] + model.y[0])
    pairs = attached(model, reformulation)
    found = solve_mpec(pairs, Continuation(reformulation))
    assert found.converged and found.residual <= 1e-8
    assert np.allclose(pairs.values(), 0.0, atol=1e-6)


@pytest.mark.parametrize("reformulation", EVERY)
def test_a_solution_without_multipliers(reformulation: Reformulation) -> None:
    """max z - x - y, z <= 4 x, z <= 4 y: worth 0 on the pair, but gaining without limit as the pair
    is relaxed.
    """
    model = pyo.ConcreteModel()
    model.x, model.y, model.z = (
        pyo.Var([0], initialize=1.0),
        pyo.Var([0], initialize=1.0),
        pyo.Var(initialize=0.0),
    )
    model.limits = pyo.ConstraintList()
    model.limits.add(model.z <= 4.0 * model.x[0])
    model.limits.add(model.z <= 4.0 * model.y[0])
    model.limits.add(model.x[0] + model.y[0] <= 10.0)  # before the first weights hold the pair
    model.objective = pyo.Objective(expr=model.z - model.x[0] - model.y[0], sense=pyo.maximize)
    pairs = attached(model, reformulation)
    found = solve_mpec(pairs, Continuation(reformulation))
    assert found.settled and found.residual <= 1e-8
    assert found.objective == pytest.approx(0.0, abs=1e-6)
    assert np.allclose(pairs.values(), 0.0, atol=1e-6)


@pytest.mark.parametrize("reformulation", EVERY)
def test_afterwards_the_model_is_as_attached(reformulation: Reformulation) -> None:
    model = nearest(np.array([[1.0, 2.0]]))
    pairs = attached(model, reformulation)
    active = [
        objective.name for objective in model.component_data_objects(pyo.Objective, active=True)
    ]
    found: MpecSolution = solve_mpec(pairs, Continuation(reformulation))
    assert active == [
        objective.name for objective in model.component_data_objects(pyo.Objective, active=True)
    ]
    assert model.objective.active != reformulation.is_penalty
    again = solve_mpec(pairs, Continuation(reformulation))
    assert pairs.block.active and again.objective == pytest.approx(found.objective, abs=1e-6)


class OnePair:
    """A pair of plain variables under a reformulation, to be looked at without solving."""

    def __init__(self, reformulation: Reformulation, sense: int = pyo.minimize) -> None:
        self.model = nearest(np.array([[1.0, 2.0]]), sense)
        self.pairs = attached(self.model, reformulation)

    def at(self, a: float, b: float, parameter: float) -> OnePair:
        self.model.x[0].set_value(a)
        self.model.y[0].set_value(b)
        set_parameter(self.pairs.block, parameter)
        return self

    def violation(self) -> float:
        """Of the constraint or bound that is violated most, at the present point."""
        off = [0.0]
        for rule in self.model.component_data_objects(pyo.Constraint, active=True):
            body, low, high = (pyo.value(side) for side in (rule.body, rule.lb, rule.ub))
            off += [low - body] if low is not None else []
            off += [body - high] if high is not None else []
        for variable in self.model.component_data_objects(pyo.Var):
            off += [variable.lb - variable.value] if variable.lb is not None else []
        return max(off)

    def gain(self) -> float:
        """Active objective less the model's own."""
        active = next(self.model.component_data_objects(pyo.Objective, active=True))
        return pyo.value(active) - pyo.value(self.model.objective)


def violation_by_formula(reformulation: Reformulation, a: float, b: float, t: float) -> float:
    signs, distance = max(0.0, -a, -b), abs(a - b)
    if reformulation is Reformulation.SCHOLTES:
        return max(signs, a * b - t)
    if (
        reformulation is Reformulation.PYOMO_MPEC
    ):  # its own variable stays non-negative, so its equation is violated
        return max(signs, max(a, 0.0) * b - t)
    if reformulation is Reformulation.LIN_FUKUSHIMA:
        return max(0.0, a * b - t * t, -a * b - t * (a + b))
    if reformulation is Reformulation.FISCHER_BURMEISTER:
        return abs(a + b - float(np.sqrt(a * a + b * b + 2.0 * t * t)))
    if reformulation is Reformulation.STEFFENSEN_ULBRICH:
        inside = t * np.polyval([-0.125, 0.0, 0.75, 0.0, 0.375], distance / t)
        return max(signs, a + b - (distance if distance >= t else float(inside)))
    return signs


@pytest.mark.parametrize("reformulation", EVERY)
def test_the_formula(reformulation: Reformulation) -> None:
    pair = OnePair(reformulation)

    @settings(max_examples=150, deadline=None)
    @given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), parameters, st.booleans())
    def law(a: float, b: float, t: float, near: bool) -> None:
        a, b = (a * t, b * t) if near else (a, b)
        pair.at(a, b, t)
        assert pair.violation() == pytest.approx(
            violation_by_formula(reformulation, a, b, t), rel=1e-9, abs=1e-14
        )
        assert pair.pairs.residual() == abs(min(a, b))

    law()


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("reformulation", PENALTIES)
def test_a_penalty_makes_the_objective_worse(reformulation: Reformulation, sense: int) -> None:
    power = 1 if reformulation is Reformulation.L1_PENALTY else 2
    worse = 1.0 if sense == pyo.minimize else -1.0
    pair = OnePair(reformulation, sense)
    assert pair.at(0.5, 3.0, 10.0).gain() == pytest.approx(worse * 10.0 * 1.5**power)
    assert pair.at(0.0, 3.0, 10.0).gain() == 0.0


@pytest.mark.parametrize("reformulation", RELAXATIONS)
def test_a_relaxation_contains_every_pair_that_holds(reformulation: Reformulation) -> None:
    pair = OnePair(reformulation)

    @settings(max_examples=100, deadline=None)
    @given(st.floats(0.0, 5.0), parameters)
    def law(side: float, t: float) -> None:
        assert pair.at(side, 0.0, t).violation() <= 1e-14
        assert pair.at(0.0, side, t).violation() <= 1e-14

    law()


@settings(max_examples=100, deadline=None)
@given(st.floats(0.0, 5.0), parameters)
def test_the_smoothing_passes_every_pair_that_holds(side: float, t: float) -> None:
    """Within sqrt 2 t, so the curves converge to the pair."""
    pair = OnePair(Reformulation.FISCHER_BURMEISTER)
    near = max(side, t), t * t / max(side, t)
    assert np.hypot(near[0] - side, near[1]) <= 1.001 * 2.0**0.5 * t
    assert pair.at(*near, t).violation() <= 1e-14 and pair.at(*near[::-1], t).violation() <= 1e-14


@pytest.mark.parametrize("reformulation", list(BOUNDS))
def test_the_bound_of_the_residual_holds_and_is_attained(reformulation: Reformulation) -> None:
    pair = OnePair(reformulation)

    @settings(max_examples=150, deadline=None)
    @given(parameters, st.floats(1.001, 10.0), st.booleans(), st.floats(0.0, 5.0))
    def law(t: float, beyond: float, negative: bool, further: float) -> None:
        bound = BOUNDS[reformulation](t)
        smaller = -beyond * bound if negative else beyond * bound
        assert pair.at(smaller, smaller + further, t).violation() > 0.0
        assert pair.at(smaller + further, smaller, t).violation() > 0.0
        assert pair.at(bound, bound, t).violation() <= 1e-14
        assert pair.pairs.residual() == bound

    law()


@settings(max_examples=100, deadline=None)
@given(st.floats(-2.0, 2.0), parameters)
def test_the_rounded_absolute_value_has_no_kink(z: float, t: float) -> None:
    """Its second derivative is 3/2 (1 - z^2) / t at z = x/t within [-1, 1] and 0 beyond, which is
    continuous.
    """
    step = 1e-3
    values = [rounded_absolute_value((z + k * step) * t, t) for k in (-1, 0, 1)]
    curvature = (values[0] - 2.0 * values[1] + values[2]) / (step**2 * t)
    assert curvature == pytest.approx(max(0.0, 1.5 * (1.0 - z * z)), abs=2.0 * step)
    assert values[1] >= abs(z) * t * (1.0 - 1e-12)


def test_pyomos_variables_follow_a_point_set_after_attaching() -> None:
    model = nearest(np.array([[1.0, 1.0], [1.0, 1.0]]))
    sides = [(2.0 * model.x[0] + 3.0, model.y[0]), (model.x[1], model.y[1])]
    pairs = attach(model, sides, Reformulation.PYOMO_MPEC)
    model.x[0].set_value(0.25)
    model.x[1].set_value(-0.25)
    set_parameter(pairs.block, 0.1)
    assert [condition.v.value for condition in pairs.block.conditions.values()] == [3.5, 0.0]


@pytest.mark.parametrize("reformulation", EVERY)
@pytest.mark.parametrize("fixed", ["x", "y"])
def test_a_fixed_side_makes_the_other_one_zero(reformulation: Reformulation, fixed: str) -> None:
    model = nearest(np.array([[1.0, 1.0]]))
    getattr(model, fixed)[0].fix(0.5)
    pairs = attached(model, reformulation)
    assert solve_mpec(pairs, Continuation(reformulation)).residual <= 1e-8
    assert sorted(pairs.values()[0]) == pytest.approx([0.0, 0.5], abs=1e-8)


def test_every_reformulation_has_stages_towards_its_limit() -> None:
    for reformulation in EVERY:
        steps = np.diff(STAGES[reformulation])
        assert (steps > 0.0).all() if reformulation.is_penalty else (steps < 0.0).all()
        assert Continuation(reformulation).parameters == STAGES[reformulation]


def test_misuse_is_one_line() -> None:
    model = nearest(np.array([[1.0, 1.0]]))
    pairs = attached(model, Reformulation.SCHOLTES)
    with pytest.raises(ContactIdError, match="already"):
        attached(model, Reformulation.SCHOLTES)
    with pytest.raises(ContactIdError, match="scholtes"):
        solve_mpec(pairs, Continuation(Reformulation.L1_PENALTY))
    model.del_component("complementarity")
    model.x.fix(1.0)
    model.y.fix(0.0)
    with pytest.raises(ContactIdError, match="fixed"):
        attached(model, Reformulation.PYOMO_MPEC)

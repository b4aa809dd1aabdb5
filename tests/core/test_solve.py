"""What solve() says of a point is true of that point, on every route that is there."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest

from contactid.core import solve as solver
from contactid.core.errors import ContactIdError
from contactid.core.solve import EMBEDDED, EXECUTABLE, SolverOptions, solve

ROUTES = [
    EMBEDDED,
    pytest.param(
        EXECUTABLE,
        marks=pytest.mark.skipif(shutil.which("ipopt") is None, reason="no ipopt executable"),
    ),
]


def quadratic(sense: int = pyo.minimize) -> pyo.ConcreteModel:
    """Distance to (3, 1) within x + y = 2, x y <= 0.75, x <= 2: the answer is (1.5, 0.5), held by
    the product.
    """
    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=1.7, bounds=(0.0, 2.0))
    model.y = pyo.Var(initialize=0.6)
    model.sum = pyo.Constraint(expr=model.x + model.y == 2.0)
    model.product = pyo.Constraint(expr=model.x * model.y >= 0.75)
    sign = 1.0 if sense == pyo.minimize else -1.0
    model.objective = pyo.Objective(
        expr=sign * ((model.x - 3.0) ** 2 + (model.y - 1.0) ** 2), sense=sense
    )
    return model


def rosenbrock(n: int = 1000) -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(n), initialize=0.5)
    model.objective = pyo.Objective(
        expr=sum(
            100.0 * (model.x[i + 1] - model.x[i] ** 2) ** 2 + (1.0 - model.x[i]) ** 2
            for i in range(n - 1)
        )
    )
    model.tie = pyo.Constraint(range(0, n - 1, 2), rule=lambda m, i: m.x[i] == m.x[i + 1])
    return model


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_known_answer_and_its_residuals(route: str, sense: int) -> None:
    model = quadratic(sense)
    found = solve(model, SolverOptions(route=route))
    assert found.converged and found.status == "Solve_Succeeded" and found.route == route
    assert np.allclose([model.x.value, model.y.value], [1.5, 0.5], atol=1e-6)
    assert abs(found.objective) == pytest.approx(2.5, abs=1e-6)
    assert np.sign(found.objective) == (1.0 if sense == pyo.minimize else -1.0)
    assert found.primal_infeasibility < 1e-8
    assert found.dual_infeasibility < 1e-6  # wrong signs of multipliers would show here
    assert (found.variables, found.constraints) == (2, 2)


@pytest.mark.skipif(shutil.which("ipopt") is None, reason="no ipopt executable")
@pytest.mark.parametrize("build", [quadratic, rosenbrock])
def test_both_routes_give_the_same_answer(build) -> None:
    answers = []
    for route in (EMBEDDED, EXECUTABLE):
        model = build()
        found = solve(model, SolverOptions(route=route))
        answers.append((found, [v.value for v in model.component_data_objects(pyo.Var)]))
    (first, x), (second, y) = answers
    assert first.status == second.status
    assert first.objective == pytest.approx(second.objective, abs=1e-7)
    assert np.allclose(x, y, atol=1e-6)


def test_a_thousand_variables() -> None:
    model = rosenbrock()
    found = solve(model)
    assert found.converged and found.objective < 1e-12
    assert max(abs(model.x[i].value - 1.0) for i in range(1000)) < 1e-6


def test_an_infeasible_model_is_not_converged_and_its_violation_is_the_points() -> None:
    model = quadratic()
    model.impossible = pyo.Constraint(
        expr=model.x**2 + model.y**2 <= 1.0
    )  # x + y = 2 needs at least 2
    found = solve(model)
    assert not found.converged
    violations = [
        abs(model.x() + model.y() - 2),
        0.75 - model.x() * model.y(),
        model.x() ** 2 + model.y() ** 2 - 1,
    ]
    assert found.primal_infeasibility == pytest.approx(max(violations), rel=1e-9)
    assert found.primal_infeasibility > 0.1


def test_an_unfinished_solve_keeps_its_point_and_says_so() -> None:
    model = quadratic()
    found = solve(model, SolverOptions(max_iterations=2))
    assert not found.converged
    assert found.status == "Maximum_Iterations_Exceeded"
    assert found.iterations == 2
    assert found.objective == pytest.approx(pyo.value(model.objective), rel=1e-12)
    assert found.dual_infeasibility > 1e-6


def test_a_start_at_the_answer_is_used() -> None:
    model = rosenbrock(50)
    first = solve(model)
    again = solve(model, SolverOptions().warm())
    assert again.iterations < first.iterations / 2


def test_fixed_variables_stay_and_logs_are_kept(tmp_path: Path) -> None:
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(initialize=5.0), pyo.Var(initialize=2.0)
    model.y.fix(2.0)
    model.objective = pyo.Objective(expr=(model.x - model.y) ** 2)
    found = solve(model, log=tmp_path / "logs" / "solve.log")
    assert model.x.value == pytest.approx(2.0) and model.y.value == 2.0
    text = (tmp_path / "logs" / "solve.log").read_text()
    assert "Number of Iterations" in text and "Ipopt version" in text
    assert found.solver.startswith("IPOPT 3.")


def without_objective() -> pyo.ConcreteModel:
    model = quadratic()
    model.objective.deactivate()
    return model


def without_variables() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=1.0)
    model.x.fix()
    model.objective = pyo.Objective(expr=model.x**2)
    return model


def contradicting() -> pyo.ConcreteModel:
    model = quadratic()
    model.x.fix(0.0)
    return model


@pytest.mark.parametrize(
    ("build", "options", "says"),
    [
        (quadratic, SolverOptions(others={"bogus": 1}), "bogus"),
        (quadratic, SolverOptions(route="carrier pigeon"), "carrier pigeon"),
        (without_objective, SolverOptions(), "objective"),
        (without_variables, SolverOptions(), "variable"),
        (contradicting, SolverOptions(), "product"),
    ],
)
def test_users_errors_are_one_line(build, options: SolverOptions, says: str) -> None:
    with pytest.raises(ContactIdError, match=says) as caught:
        solve(build(), options)
    assert "\n" not in str(caught.value)


def test_a_solver_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver.shutil, "which", lambda name: None)
    assert solver.available_route() == EMBEDDED
    with pytest.raises(ContactIdError, match="no ipopt executable"):
        solve(quadratic(), SolverOptions(route=EXECUTABLE))


def parabola(target: float, start: float, high: float) -> pyo.ConcreteModel:
    """(x - target)^2 for x of at most ``high``."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=start, bounds=(-5.0, high))
    model.objective = pyo.Objective(expr=(model.x - target) ** 2)
    return model


def test_models_that_differ_in_start_and_bounds_alone_share_functions_and_no_others():
    solver._program.cache_clear()
    for target, start, high, answer, programs in [
        (2.0, 0.0, 5.0, 2.0, 1),
        (2.0, 4.0, 5.0, 2.0, 1),
        (2.0, 0.0, 1.0, 1.0, 1),
        (3.0, 0.0, 5.0, 3.0, 2),
    ]:
        model = parabola(target, start, high)
        assert solve(model, SolverOptions(route=EMBEDDED)).converged
        assert model.x.value == pytest.approx(answer, abs=1e-5)
        assert solver._program.cache_info().misses == programs
    model = parabola(2.0, 0.0, 5.0)
    model.objective.sense = pyo.maximize
    solve(model, SolverOptions(route=EMBEDDED))
    assert model.x.value == pytest.approx(-5.0, abs=1e-4) or model.x.value == pytest.approx(
        5.0, abs=1e-4
    )
    assert solver._program.cache_info().misses == 3

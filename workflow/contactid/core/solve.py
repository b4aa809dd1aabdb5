"""Solve a Pyomo model with IPOPT, and say from the returned point what the answer is worth.

There are two routes to the same solver and one :class:`Solution` for both:

* ``executable``: an ``ipopt`` program on PATH, run by Pyomo's own interface;
* ``embedded``: the IPOPT inside the CasADi wheel, which reads the model from the AMPL file that
  Pyomo writes.

The initial values are the model's, so a model that was solved before starts warm; the solution is
loaded back into it, whatever the solver said about it. A finished solve is not a solution:
objective and residuals are evaluated at the returned point, by the same code on both routes, and
only the status and the iterations are taken from the solver.

For ``min f(x)`` subject to ``g_l <= g(x) <= g_u``, ``x_l <= x <= x_u`` with multipliers ``y``
(positive at an upper bound) and ``r = grad f + J^T y``, the residuals are

* primal: the largest violation of any bound or constraint, in the model's units;
* dual: the largest entry of ``x - P(x - r)`` and of ``g - P(g + y)``, less that of the primal,
  where ``P`` projects onto the bounds: zero exactly at a Karush-Kuhn-Tucker point, and free of
  bound multipliers, which routes report differently.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]
from pyomo.common.errors import ApplicationError, InfeasibleConstraintException  # type: ignore[import-untyped]
from pyomo.common.log import LoggingIntercept  # type: ignore[import-untyped]
from pyomo.repn.plugins.nl_writer import NLWriter  # type: ignore[import-untyped]

from contactid.core.errors import ContactIdError

AUTO, EXECUTABLE, EMBEDDED = "auto", "executable", "embedded"
_PROGRAM = "ipopt"
# of an AMPL file: initial values, and bounds of variables
_VALUES = re.compile(r"^[xb].*\n(?:\d.*\n)*", re.M)
_DERIVATIVES = {"grad_f": "nlp_grad_f", "jac_g": "nlp_jac_g", "hess_lag": "nlp_hess_l"}
_GOOD = ("Solve_Succeeded", "Solved_To_Acceptable_Level")
# what IPOPT prints at its end, in the words that its library returns
_STATUS_OF_MESSAGE = {
    "Optimal Solution Found": "Solve_Succeeded",
    "Solved To Acceptable Level": "Solved_To_Acceptable_Level",
    "Maximum Number of Iterations Exceeded": "Maximum_Iterations_Exceeded",
    "Converged to a point of local infeasibility": "Infeasible_Problem_Detected",
    "Problem may be infeasible": "Infeasible_Problem_Detected",
    "Search Direction is becoming Too Small": "Search_Direction_Becomes_Too_Small",
    "Restoration Failed": "Restoration_Failed",
    "Iterates diverging": "Diverging_Iterates",
    "Maximum CPU time exceeded": "Maximum_CpuTime_Exceeded",
    "Maximum wallclock time exceeded": "Maximum_WallTime_Exceeded",
    "Invalid number in NLP function": "Invalid_Number_Detected",
}


@dataclass(frozen=True)
class SolverOptions:
    """How to run IPOPT.

    Attributes
    ----------
    route : ``auto`` (an executable where there is one, else the embedded solver), ``executable`` or
        ``embedded``
    tolerance : IPOPT's scaled optimality error
    max_iterations : the one limit; one of time would make an answer depend on the machine and its
        load
    largest_infeasibility : recomputed primal infeasibility above which a solve doesn't count as
        converged
    barrier : initial barrier parameter; small for a start close to the solution
    bound_push : how far the start is moved off its bounds; small for a start close to the solution
    others : further IPOPT options by their own names
    """

    route: str = AUTO
    tolerance: float = 1e-8
    max_iterations: int = 1000
    largest_infeasibility: float = 1e-6
    barrier: float = 0.1
    bound_push: float = 0.01
    others: Mapping[str, str | int | float] = field(default_factory=dict)

    def warm(self, barrier: float = 1e-4, bound_push: float = 1e-6) -> SolverOptions:
        """The same for a start close to the solution."""
        # IPOPT's own values, 0.1 and 0.01, would first push the start off the bounds that it is at
        return replace(self, barrier=barrier, bound_push=bound_push)

    def for_ipopt(self) -> dict[str, str | int | float]:
        """By IPOPT's own names."""
        return {
            "tol": self.tolerance,
            "max_iter": self.max_iterations,
            "mu_init": self.barrier,
            "bound_push": self.bound_push,
            "bound_frac": self.bound_push,
            "slack_bound_push": self.bound_push,
            "slack_bound_frac": self.bound_push,
            # a product of two factors whose bounds are relaxed can turn negative
            "bound_relax_factor": 0.0,
            "print_level": 0,
            "sb": "yes",
            # a line per iteration, and the summary that version and iterations are read from
            "file_print_level": 5,
            **self.others,
        }


@dataclass(frozen=True)
class Solution:
    """What came of one solve.

    Attributes
    ----------
    status : in IPOPT's words, such as ``Solve_Succeeded``
    converged : the solver says so, and the returned point is feasible and finite
    objective : of the model at the returned point
    iterations : of the interior-point method
    seconds : wall time with reading and writing
    primal_infeasibility, dual_infeasibility : as in the module's text
    solver : name and version
    route : ``executable`` or ``embedded``
    variables, constraints : size of what was solved
    """

    status: str
    converged: bool
    objective: float
    iterations: int
    seconds: float
    primal_infeasibility: float
    dual_infeasibility: float
    solver: str
    route: str
    variables: int
    constraints: int


class _Program:
    """A model's functions by CasADi, with solvers; a maximisation is that of the negative."""

    def __init__(self, text: str) -> None:
        self.nlp = casadi.NlpBuilder()
        self.solvers: dict[str, Any] = {}
        with tempfile.TemporaryDirectory(prefix="contactid-") as folder:
            path = Path(folder) / "model.nl"
            path.write_text(text, encoding="ascii")
            self.nlp.import_nl(str(path))

    @cached_property
    def problem(self) -> dict[str, Any]:
        """x, f and g."""
        g = casadi.veccat(*self.nlp.g) if self.nlp.g else casadi.MX(0, 1)
        return {"x": casadi.veccat(*self.nlp.x), "f": self.nlp.f, "g": g}

    @cached_property
    def evaluate(self) -> Any:
        """(x, y) to f, g and the slope of the Lagrangian."""
        x, g = self.problem["x"], self.problem["g"]
        y = casadi.MX.sym("y", len(self.nlp.g))
        slope = casadi.gradient(self.nlp.f + casadi.dot(y, g), x)
        return casadi.Function("residuals", [x, y], [self.nlp.f, g, slope])


# starts of one model differ in values and bounds alone; the last two are kept: reformulated, and
# with its sides held
_program = lru_cache(maxsize=2)(_Program)


@dataclass(frozen=True)
class _Written:
    """A model in AMPL's form, read back by CasADi."""

    variables: list[Any]
    constraints: list[Any]
    program: _Program
    sign: float

    def start(self) -> np.ndarray:
        """(n,) values of the variables now; 0 where there is none."""
        return np.array([float(variable.value or 0.0) for variable in self.variables])

    def bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of the variables now, and of the constraints when they were written."""
        low = np.array([-np.inf if v.lb is None else float(v.lb) for v in self.variables])
        high = np.array([np.inf if v.ub is None else float(v.ub) for v in self.variables])
        nlp = self.program.nlp
        return low, high, np.array(nlp.g_lb, dtype=float), np.array(nlp.g_ub, dtype=float)


@dataclass(frozen=True)
class _Returned:
    """A point (n,) with the multipliers (m,) of its constraints, and what the solver said."""

    point: np.ndarray
    multipliers: np.ndarray
    status: str
    iterations: int


def available_route(wanted: str = AUTO) -> str:
    """The route that a solve will take.

    Raises :class:`ContactIdError` where the wanted route is unknown or its solver isn't there.
    """
    if wanted not in (AUTO, EXECUTABLE, EMBEDDED):
        raise ContactIdError(
            f"unknown solver route {wanted!r}", f"Choose {AUTO}, {EXECUTABLE} or {EMBEDDED}"
        )
    found = shutil.which(_PROGRAM) is not None
    if wanted == EXECUTABLE and not found:
        raise ContactIdError(
            "no ipopt executable on PATH", "Install it from conda-forge, or choose route embedded"
        )
    if wanted == EXECUTABLE or (wanted == AUTO and found):
        return EXECUTABLE
    if not casadi.has_nlpsol(_PROGRAM):
        raise ContactIdError(
            "the installed CasADi has no IPOPT inside", "Install casadi from its wheel, or ipopt"
        )
    return EMBEDDED


class PreparedModel:
    """A model that is written once and solved several times with other values and bounds.

    Between solves, values and bounds of its variables may change; what else does, it doesn't see.
    After a solve, ``slopes`` holds the derivative of the Lagrangian by every variable, in the
    direction of a minimisation: where a bound holds a variable, what letting go would bring.

    Raises :class:`ContactIdError`: a model without variables or without exactly one active
    objective.
    """

    def __init__(self, model: pyo.ConcreteModel) -> None:
        self.model = model
        self.slopes: pyo.ComponentMap = pyo.ComponentMap()
        # variables, constraints and functions, in one order
        self.written = _write(model)

    def solve(
        self, options: SolverOptions | None = None, *, log: str | Path | None = None
    ) -> Solution:
        """Solve from the variables' present values and load the answer into them.

        The solver's own output goes into ``log``, or nowhere. Raises :class:`ContactIdError` for a
        missing solver and for an unknown option.
        """
        options = options or SolverOptions()
        route = available_route(options.route)
        begin = time.perf_counter()
        text = ""
        # small models are solved so thousands of times, and no file need be written for them
        if route == EMBEDDED and log is None:
            returned = self._run_embedded(options, None)
        else:
            returned, text = self._run_logged(route, options, log)
        # by rounding, a value can lie outside of its variable's domain, which Pyomo would refuse
        for variable, value in zip(self.written.variables, returned.point, strict=True):
            variable.set_value(float(value), skip_validation=True)
        objective, primal, dual, slopes = _residuals(self.written, returned)
        self.slopes = pyo.ComponentMap(zip(self.written.variables, slopes.tolist(), strict=True))
        finite = bool(np.isfinite([objective, primal]).all())
        return Solution(
            status=returned.status,
            converged=returned.status in _GOOD
            and finite
            and primal <= options.largest_infeasibility,
            objective=objective,
            iterations=returned.iterations,
            seconds=time.perf_counter() - begin,
            primal_infeasibility=primal,
            dual_infeasibility=dual,
            solver=_name_of_solver(text) if route == EXECUTABLE else _embedded_name(),
            route=route,
            variables=len(self.written.variables),
            constraints=len(self.written.constraints),
        )

    def _run_logged(
        self, route: str, options: SolverOptions, log: str | Path | None
    ) -> tuple[_Returned, str]:
        with tempfile.TemporaryDirectory(prefix="contactid-") as folder:
            own_log = Path(folder) / "solver.log"
            try:
                if route == EXECUTABLE:
                    returned = _run_executable(self.model, self.written, options, own_log)
                else:
                    returned = self._run_embedded(options, own_log)
            finally:
                text = (
                    own_log.read_text(encoding="utf-8", errors="replace")
                    if own_log.exists()
                    else ""
                )
                if log is not None:
                    Path(log).parent.mkdir(parents=True, exist_ok=True)
                    Path(log).write_text(text, encoding="utf-8")
        return returned, text

    def _run_embedded(self, options: SolverOptions, log: Path | None) -> _Returned:
        # a solver keeps its log open, so one with a log serves once
        key, program = repr(sorted(options.for_ipopt().items())), self.written.program
        solver = program.solvers.get(key) if log is None else None
        if solver is None:
            solver = _embedded_solver(
                program.problem, options, log, next(iter(program.solvers.values()), None)
            )
            if log is None:
                program.solvers[key] = solver
        x_low, x_high, g_low, g_high = self.written.bounds()
        answer = solver(x0=self.written.start(), lbx=x_low, ubx=x_high, lbg=g_low, ubg=g_high)
        said = solver.stats()
        return _Returned(
            np.array(answer["x"], dtype=float).ravel(),
            np.array(answer["lam_g"], dtype=float).ravel(),
            str(said["return_status"]),
            int(said["iter_count"]),
        )


def solve(
    model: pyo.ConcreteModel, options: SolverOptions | None = None, *, log: str | Path | None = None
) -> Solution:
    """Solve a model with one active objective once, and load the answer into it.

    A variable without a value starts at 0. Raises :class:`ContactIdError` as
    :class:`PreparedModel` and its :meth:`~PreparedModel.solve` do.
    """
    available_route((options or SolverOptions()).route)
    return PreparedModel(model).solve(options, log=log)


def _write(model: pyo.ConcreteModel) -> _Written:
    """Write the model in AMPL's form and read it back."""
    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    if len(objectives) != 1:
        raise ContactIdError(
            f"model {model.name!r} has {len(objectives)} active objectives",
            "Activate exactly one objective",
        )
    text = io.StringIO()
    # presolved variables would be missing in the answer, scaled residuals have other units
    try:
        info = NLWriter().write(model, text, linear_presolve=False, scale_model=False)
    # nothing is left to solve, or to satisfy
    except (ValueError, InfeasibleConstraintException) as error:
        raise ContactIdError(
            f"model {model.name!r} cannot be written: {error}", "Check the model"
        ) from None
    if not info.variables:
        raise ContactIdError(
            f"model {model.name!r} has no free variable", "Free a variable that occurs in it"
        )
    program = _program(_VALUES.sub("", text.getvalue()))
    sign = -1.0 if objectives[0].sense == pyo.maximize else 1.0
    return _Written(list(info.variables), list(info.constraints), program, sign)


def _embedded_solver(
    problem: dict[str, Any], options: SolverOptions, log: Path | None, like: Any = None
) -> Any:
    """A solver of the problem; of one ``like`` it, with other options, it takes the derivatives."""
    settings: dict[str, Any] = {
        "print_time": False,
        "error_on_fail": False,
        "ipopt": options.for_ipopt(),
    }
    if log is not None:
        settings["ipopt"] |= {"output_file": str(log)}
    # a solver alike has the derivatives, and deriving them takes longer than most solves
    settings |= (
        {"expand": True}
        if like is None
        else {key: like.get_function(name) for key, name in _DERIVATIVES.items()}
    )
    try:
        return casadi.nlpsol(
            "solver", _PROGRAM, problem if like is None else like.oracle(), settings
        )
    except RuntimeError as error:
        unknown = re.search(r"No such IPOPT option: (\S+)", str(error))
        if unknown:
            raise _unknown_option(unknown.group(1)) from None
        raise ContactIdError(
            f"IPOPT refuses its options ({_last_line(error)})", "Check the solver's options"
        ) from None


def _run_executable(
    model: pyo.ConcreteModel, written: _Written, options: SolverOptions, log: Path
) -> _Returned:
    own_duals = model.component("dual") is None
    # what Pyomo logs of a failed run holds what the solver printed
    printed = io.StringIO()
    if own_duals:
        model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    try:
        solver = pyo.SolverFactory(_PROGRAM)
        settings = {**options.for_ipopt(), "output_file": str(log)}
        with LoggingIntercept(printed, "pyomo.opt"):
            results = solver.solve(model, options=settings, load_solutions=False)
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        if len(results.solution) > 0:
            model.solutions.load_from(results)
        # AMPL's multipliers are those of the minimisation with the opposite sign; a maximisation's
        # aren't turned
        duals = [float(model.dual.get(constraint, 0.0)) for constraint in written.constraints]
        multipliers = -written.sign * np.array(duals)
    except (ApplicationError, RuntimeError, ValueError) as error:
        raise _explained(error, printed.getvalue()) from None
    finally:
        if own_duals:
            model.del_component("dual")
    point = np.array(
        [float(pyo.value(variable, exception=False) or 0.0) for variable in written.variables]
    )
    # IPOPT's exit message is in a log's last lines; Pyomo's has it in some versions alone
    message = f"{results.solver.message} {text[-400:]}"
    status = next(
        (name for part, name in _STATUS_OF_MESSAGE.items() if part.lower() in message.lower()), ""
    )
    counted = re.findall(r"Number of Iterations\.*:\s*(\d+)", text)
    return _Returned(
        point,
        multipliers,
        status or str(results.solver.termination_condition),
        int(counted[-1]) if counted else 0,
    )


def _explained(error: Exception, printed: str) -> ContactIdError:
    unknown = re.search(
        r"[Uu]nknown keyword \"?(\w+)|option[: ]+[\"']?(\w+)[\"']?.*not a valid",
        f"{printed} {error}",
    )
    if unknown:
        return _unknown_option(unknown.group(1) or unknown.group(2))
    return ContactIdError(
        f"the ipopt executable failed ({_last_line(error)})", "Run it by hand to see why"
    )


def _unknown_option(name: str) -> ContactIdError:
    return ContactIdError(
        f"IPOPT has no option {name!r}", "Check the spelling in the solver's options"
    )


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _residuals(written: _Written, returned: _Returned) -> tuple[float, float, float, np.ndarray]:
    """Objective, primal and dual residual at the returned point (as above), slopes (n,)."""
    values = written.program.evaluate(returned.point, returned.multipliers)
    f, at, slope = float(values[0]), np.array(values[1]).ravel(), np.array(values[2]).ravel()
    x_low, x_high, g_low, g_high = written.bounds()
    point = returned.point
    off_bounds, off_constraints = (
        point - np.clip(point, x_low, x_high),
        at - np.clip(at, g_low, g_high),
    )
    primal = float(np.abs(np.concatenate([off_bounds, off_constraints, [0.0]])).max())
    # projections with unit steps; what a point is outside of its bounds is the primal residual's
    stationarity = point - np.clip(point - slope, x_low, x_high) - off_bounds
    signs = at - np.clip(at + returned.multipliers, g_low, g_high) - off_constraints
    signs[g_low == g_high] = 0.0  # the multiplier of an equation has no sign
    return (
        written.sign * f,
        primal,
        float(np.abs(np.concatenate([stationarity, signs])).max()),
        slope,
    )


def _name_of_solver(log: str) -> str:
    version = re.search(r"Ipopt version (\d+(?:\.\d+)+)", log)
    return f"IPOPT {version.group(1)}" if version else "IPOPT"


@cache
def _embedded_name() -> str:
    """As the solver itself prints it: by one solve of nothing."""
    x = casadi.MX.sym("x")
    with tempfile.TemporaryDirectory(prefix="contactid-") as folder:
        log = Path(folder) / "solver.log"
        _embedded_solver({"x": x, "f": x**2, "g": casadi.MX(0, 1)}, SolverOptions(), log)(x0=1.0)
        text = log.read_text(encoding="utf-8", errors="replace")
    return f"{_name_of_solver(text)} in CasADi {casadi.CasadiMeta.version()}"

"""Complementarity constraints in Pyomo models: reformulations, a continuation that solves them, and
what is left over.

A pair (a, b) of expressions stands for ``0 <= a``, ``0 <= b``, ``a b = 0``. No ordinary solver
takes that as it is: at every feasible point the constraints' gradients are dependent. A
*reformulation* replaces it by something regular with a parameter, and a *continuation* drives the
parameter towards its limit, every stage starting from the last one's answer. How far it got is
never read from the parameter but from the point: the *residual* of a pair is ``|min(a, b)|``, which
is zero exactly where the pair holds and has the unit of the pair. Scale pairs to the order of one
before handing them over.

A continuation ends near a solution, not on it. :func:`settle` then decides for every pair which
side is zero, and solves the ordinary problem that is left; where the decision is right, the
residual is that of a linear solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.errors import ContactIdError
from contactid.core.pair_sides import PairSides, pair_residual, side_values
from contactid.core.reformulations import STAGES, Pair, Reformulation, reformulate, set_parameter
from contactid.core.solve import PreparedModel, Solution, SolverOptions

_BLOCK = "complementarity"
# times the parameter of an additional stage: the customary stages are 3 to 100 times apart
_FURTHER = 30.0


@dataclass(frozen=True)
class Continuation:
    """How to drive a reformulation to its limit.

    Attributes
    ----------
    reformulation : which one
    stages : values of its parameter, in order; a customary sequence where empty
    tolerance : residual at which no further stage is needed
    settle : end with :func:`settle`
    extensions : further stages, each 30 times closer to the limit, while settling fails
    """

    reformulation: Reformulation = Reformulation.L1_PENALTY
    stages: tuple[float, ...] = ()
    tolerance: float = 1e-6
    settle: bool = True
    extensions: int = 0

    @property
    def parameters(self) -> tuple[float, ...]:
        """The stages' parameters."""
        return self.stages or STAGES[self.reformulation]


@dataclass(frozen=True)
class Complementarities:
    """The pairs of a model under one reformulation, as :func:`attach` made them.

    Attributes
    ----------
    model : what they belong to
    block : holds the constraints; deactivate it to be rid of them
    pairs : as given
    reformulation : theirs
    objective : the model's own objective, deactivated under a penalty
    """

    model: pyo.ConcreteModel
    block: Any
    pairs: tuple[Pair, ...]
    reformulation: Reformulation
    objective: Any

    def values(self) -> np.ndarray:
        """(n, 2) values of the pairs at the model's present point."""
        return side_values(self.pairs)

    def residual(self) -> float:
        """Largest ``|min(a, b)|`` at the model's present point."""
        return pair_residual(self.pairs)


@dataclass(frozen=True)
class MpecSolution:
    """What came of a continuation.

    Attributes
    ----------
    stages : one solve per parameter, a settling one last where it was kept
    parameters : of the stages; NaN for a settling one
    residual : largest ``|min(a, b)|`` at the end
    objective : of the model itself, without any penalty
    converged : the last solve converged and the residual is within the tolerance
    settled : whether the last stage is a settled one
    """

    stages: tuple[Solution, ...] = field(repr=False)
    parameters: tuple[float, ...]
    residual: float
    objective: float
    converged: bool
    settled: bool

    @property
    def last(self) -> Solution:
        """The last stage."""
        return self.stages[-1]

    @property
    def iterations(self) -> int:
        """Of all stages; a settling that failed is none."""
        return sum(stage.iterations for stage in self.stages)

    @property
    def seconds(self) -> float:
        """Of all stages."""
        return sum(stage.seconds for stage in self.stages)


def attach(
    model: pyo.ConcreteModel, pairs: Sequence[Pair], reformulation: Reformulation
) -> Complementarities:
    """Add a block ``complementarity`` with the reformulated pairs to a model.

    Raises
    ------
    ContactIdError
        Where the model has pairs already, or not exactly one active objective.
    """
    if model.component(_BLOCK) is not None:
        raise ContactIdError(
            f"model {model.name!r} has complementarity pairs already", "Remove its block first"
        )
    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    if len(objectives) != 1:
        raise ContactIdError(
            f"model {model.name!r} has {len(objectives)} active objectives",
            "Activate exactly one objective",
        )
    block = pyo.Block(concrete=True)
    model.add_component(_BLOCK, block)
    reformulate(block, pairs, reformulation, objectives[0])
    return Complementarities(model, block, tuple(pairs), reformulation, objectives[0])


def solve_mpec(
    pairs: Complementarities,
    continuation: Continuation,
    options: SolverOptions | None = None,
    *,
    log: str | Path | None = None,
) -> MpecSolution:
    """Run a continuation from the model's present point; the model holds the answer afterwards.

    Parameters
    ----------
    pairs
        From :func:`attach`, with the continuation's reformulation.
    log
        A file whose name gets the stage's number before its suffix.
    """
    if continuation.reformulation is not pairs.reformulation:
        raise ContactIdError(
            f"the model was reformulated by {pairs.reformulation.value}, not {continuation.reformulation.value}",
            "Attach the pairs with the continuation's reformulation",
        )
    options = options or SolverOptions()
    logs = _numbered(log)
    stages: list[Solution] = []
    parameters: list[float] = []
    prepared = _Reformulated(pairs)
    # the first stage starts anywhere, every other at the answer of the one before
    for parameter in continuation.parameters:
        stages.append(prepared.solve(parameter, options.warm() if stages else options, next(logs)))
        parameters.append(parameter)
        if stages[-1].converged and pairs.residual() <= continuation.tolerance:
            break
    # Sides are chosen by their sizes, so a stage too early chooses wrong ones and settling fails;
    # then the continuation goes on.
    settled = False
    for extension in range(continuation.extensions + 1):
        # far from feasible, which side is the smaller one says nothing yet: sides are of the order
        # of one, and a hundredth of that is what an early stage leaves over
        if not continuation.settle or stages[-1].primal_infeasibility > 1e-2:
            break
        ended = settle(pairs, options, log=next(logs))
        if ended is not None:
            settled = True
            stages.append(ended)
            parameters.append(float("nan"))
            break
        if extension < continuation.extensions:
            parameters.append(
                parameters[-1] * (_FURTHER if pairs.reformulation.is_penalty else 1.0 / _FURTHER)
            )
            stages.append(prepared.solve(parameters[-1], options.warm(), next(logs)))
    residual = pairs.residual()
    return MpecSolution(
        stages=tuple(stages),
        parameters=tuple(parameters),
        residual=residual,
        objective=float(pyo.value(pairs.objective)),
        converged=stages[-1].converged and residual <= continuation.tolerance,
        settled=settled,
    )


class _Reformulated:
    """A reformulated model, written once where its parameter is a variable with two equal bounds."""

    def __init__(self, pairs: Complementarities) -> None:
        self._pairs = pairs
        self._prepared: PreparedModel | None = None

    def solve(self, parameter: float, options: SolverOptions, log: Path | None) -> Solution:
        set_parameter(self._pairs.block, parameter)
        # Pyomo's transformation has a parameter in place of a variable: its value is in the text
        if self._prepared is None or self._pairs.reformulation is Reformulation.PYOMO_MPEC:
            self._prepared = PreparedModel(self._pairs.model)
        return self._prepared.solve(options, log=log)


def settle(
    pairs: Complementarities, options: SolverOptions | None = None, *, log: str | Path | None = None
) -> Solution | None:
    """Set the smaller side of every pair to zero, keep the other non-negative, solve what is left.

    Returns ``None``, and leaves the model's point as it was, where that problem isn't solved to
    convergence.
    """
    model = pairs.model
    before = [(variable, variable.value) for variable in model.component_data_objects(pyo.Var)]
    options = (options or SolverOptions()).warm()
    with settled_sides(pairs) as (sides, held):
        solution = sides.solve(held, options, log=log)
    if solution.converged:
        return solution
    for variable, value in before:
        variable.set_value(value, skip_validation=True)
    return None


@contextmanager
def settled_sides(pairs: Complementarities) -> Iterator[tuple[PairSides, np.ndarray]]:
    """The model with the smaller side of every pair held at zero: its sides, and choice (n,)."""
    held = np.argmin(pairs.values(), axis=1)
    pairs.block.deactivate()
    if pairs.reformulation.is_penalty:
        pairs.objective.activate()
    sides = PairSides(pairs.model, pairs.pairs)
    try:
        sides.hold(held)
        yield sides, held
    finally:
        sides.release()
        pairs.block.activate()
        if pairs.reformulation.is_penalty:
            pairs.objective.deactivate()


def _numbered(log: str | Path | None) -> Iterator[Path | None]:
    number = 0
    while True:
        number += 1
        path = None if log is None else Path(log)
        yield path and path.with_name(f"{path.stem}_{number}{path.suffix}")

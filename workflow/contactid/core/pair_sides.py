"""Solve a model with complementarity pairs for one choice of zero sides, and improve the choice.

Of every pair ``0 <= a``, ``0 <= b``, ``a b = 0`` one side is held at zero and the other kept
non-negative; what remains is an ordinary program, written once and solved for as many choices as
wanted, since a choice is nothing but bounds. Where both sides are zero at its solution and the
multiplier of the one that is held says that the objective falls if it is let go, the other one may
be held instead: the same point is feasible for the new choice, so the objective can only fall.
Where nothing is left to exchange, the point is B-stationary as far as single exchanges can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.reformulations import Pair
from contactid.core.solve import PreparedModel, Solution, SolverOptions

FIRST, SECOND, IMPLIED = 0, 1, 2
"""Which side of a pair is held at zero; of an implied pair the second one is zero by others'
choices, so it is neither held nor bounded."""

_BLOCK = "pair_sides"
# of a side, in the pair's own scale of about one: it counts as zero
_TOUCHING = 1e-6
# times the tolerance, for a solve that stops at its solution without recognising it: as IPOPT's
# own acceptable tolerance (1e-6) is to its tolerance (1e-8)
_ROUNDER = 100.0
ACCEPTABLE = "Solved_To_Acceptable_Level"
"""The status, in IPOPT's words, of a solve that met this rounder tolerance alone."""
# slope of the objective in a side from which letting go of it is tried, and what a trial must gain:
# far above a solve's tolerance, so that rounding starts no endless exchange
_WORTH = 1e-3


def side_values(pairs: Sequence[Pair]) -> np.ndarray:
    """(n, 2) values of pairs at their model's present point."""
    return np.array([[pyo.value(a), pyo.value(b)] for a, b in pairs], dtype=float).reshape(-1, 2)


def pair_residual(pairs: Sequence[Pair]) -> float:
    """Largest ``|min(a, b)|`` at the model's present point; 0 without a pair."""
    return float(np.abs(side_values(pairs).min(axis=1)).max(initial=0.0))


class PairSides:
    """A model whose pairs' sides are variables, so that bounds choose which are zero.

    The model gets a block ``pair_sides`` and keeps it until :meth:`release`, which gives the pairs'
    own variables their bounds back as well.

    Parameters
    ----------
    model
        With one active objective and no other treatment of the pairs.
    pairs
        n pairs of expressions.
    """

    def __init__(self, model: pyo.ConcreteModel, pairs: Sequence[Pair]) -> None:
        self.model = model
        block = pyo.Block(concrete=True)
        model.add_component(_BLOCK, block)
        block.side = pyo.VarList()
        block.rules = pyo.ConstraintList()
        self._own: pyo.ComponentMap = pyo.ComponentMap()
        self._sides = [tuple(self._variable(block, side) for side in pair) for pair in pairs]
        self.prepared = PreparedModel(model)

    def _variable(self, block: Any, side: Any) -> Any:
        """A non-negative variable that is in no other pair, else a new one that equals the side."""
        plain = (
            getattr(side, "is_variable_type", bool)() and not side.fixed and side not in self._own
        )
        if plain and side.lb == 0.0 and side.ub is None:
            self._own[side] = (side.lb, side.ub)
            return side
        variable = block.side.add()
        variable.set_value(pyo.value(side, exception=False) or 0.0)
        block.rules.add(variable == side)
        return variable

    def values(self) -> np.ndarray:
        """(n, 2) sides at the model's present point."""
        return np.array(
            [[side.value for side in pair] for pair in self._sides], dtype=float
        ).reshape(-1, 2)

    def slopes(self) -> np.ndarray:
        """(n, 2) derivatives of the Lagrangian by the sides at the last solution."""
        return np.array(
            [[self.prepared.slopes.get(side, 0.0) for side in pair] for pair in self._sides]
        ).reshape(-1, 2)

    def hold(self, held: np.ndarray) -> None:
        """Make a choice (n,) of FIRST, SECOND or IMPLIED without solving."""
        for pair, choice in zip(self._sides, held, strict=True):
            for number, side in enumerate(pair):
                side.setlb(None if choice == IMPLIED and number == SECOND else 0.0)
                side.setub(0.0 if choice == number else None)

    def solve(
        self, held: np.ndarray, options: SolverOptions, *, log: str | Path | None = None
    ) -> Solution:
        """Solve for the sides ``held`` (n,): FIRST, SECOND or IMPLIED. The model holds the answer.

        Where steps drown in rounding at the solution, a rounder optimality lets it be recognised;
        the status says so.
        """
        self.hold(held)
        for pair, choice in zip(self._sides, held, strict=True):
            if choice != IMPLIED:
                pair[choice].set_value(0.0)
        solution = self.prepared.solve(options, log=log)
        # a point that isn't feasible is no solution by any tolerance of optimality
        if solution.converged or solution.primal_infeasibility > options.largest_infeasibility:
            return solution
        rounder = self.prepared.solve(
            replace(options.warm(), tolerance=_ROUNDER * options.tolerance), log=log
        )
        return replace(rounder, status=ACCEPTABLE) if rounder.converged else rounder

    def exchange(
        self, held: np.ndarray, solution: Solution, options: SolverOptions, most: int
    ) -> tuple[np.ndarray, list[Solution]]:
        """Improve the choice just solved by at most ``most`` exchanges.

        Returned are the choice (n,), whose point the model holds, and the solves that improved it.

        All pairs that promise a smaller objective are exchanged at once; where that fails, the most
        promising alone. The objective is one to minimise.
        """
        best, at = solution.objective, self._point()
        kept: list[Solution] = []
        for _ in range(most):
            # all at once saves solves; one alone fails only where its own promise doesn't hold
            promising = self._promising(held)
            trials = [promising, promising[:1]] if len(promising) > 1 else [promising]
            for exchanged in trials if len(promising) else []:
                trial = held.copy()
                trial[exchanged] = 1 - trial[exchanged]
                found = self.solve(trial, options)
                if found.converged and found.objective < best - _WORTH:
                    held, best, at = trial, found.objective, self._point()
                    kept.append(found)
                    break
                # a failed solve leaves a point from which the next one would start
                self._move(at)
            # no trial was better
            else:
                break
        self.hold(held)
        return held, kept

    def release(self) -> None:
        """Take the block off the model, and give the pairs' own variables their bounds back."""
        self.model.del_component(_BLOCK)
        for side, (low, high) in self._own.items():
            side.setlb(low)
            side.setub(high)

    def _promising(self, held: np.ndarray) -> np.ndarray:
        """Indices of pairs to exchange, the most promising first."""
        rows = np.flatnonzero(held != IMPLIED)
        slope = self.slopes()[rows, held[rows]]
        free = self.values()[rows, 1 - held[rows]] < _TOUCHING
        # a negative slope: the objective falls as the held side is let grow, which it may where the
        # other side is zero as well
        order = np.argsort(slope)
        return rows[order[(free & (slope < -_WORTH))[order]]]

    def _point(self) -> list[tuple[Any, Any]]:
        return [(variable, variable.value) for variable in self.prepared.written.variables]

    def _move(self, point: list[tuple[Any, Any]]) -> None:
        for variable, value in point:
            variable.set_value(value, skip_validation=True)

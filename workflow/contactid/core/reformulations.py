"""Ways to write a complementarity pair ``0 <= a``, ``0 <= b``, ``a b = 0`` for a plain solver.

A *penalty* keeps the signs and puts the products into the objective with a weight w that grows. A
*relaxation* or a *smoothing* replaces the pair by constraints with a parameter t that falls: the
first contains every pair that holds, the second is a smooth curve that passes by them. Each states
how large the residual ``|min(a, b)|`` of a point that satisfies it can be; the penalties can't.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import pyomo.environ as pyo  # type: ignore[import-untyped]
from pyomo.mpec import ComplementarityList, complements  # type: ignore[import-untyped]

from contactid.core.errors import ContactIdError

Pair = tuple[Any, Any]


class Reformulation(Enum):
    """Ways to write ``0 <= a``, ``0 <= b``, ``a b = 0``; a continuation changes t or w."""

    L1_PENALTY = "l1_penalty"
    """``a, b >= 0`` and the objective plus ``w sum(a b)``; w grows. Exact from a finite w on."""

    SQUARED_PENALTY = "squared_penalty"
    """``a, b >= 0`` and the objective plus ``w sum((a b)^2)``; w grows. Exact for no finite w: the
    residual falls as 1/w at best. With one weight, this is how eq. 27 of the planar study's paper
    treats its pairs."""

    SCHOLTES = "scholtes"
    """``a, b >= 0``, ``a b <= t``; t falls. The residual is at most ``sqrt t``."""

    LIN_FUKUSHIMA = "lin_fukushima"
    """``a b <= t^2``, ``(a + t)(b + t) >= t^2``; t falls. Sides may be negative, but only above -t,
    and the branch of the second rule with both factors negative breaks the first; the residual is
    at most t."""

    STEFFENSEN_ULBRICH = "steffensen_ulbrich"
    """``a, b >= 0``, ``a + b <= A(a - b)`` with ``A(x) = |x|`` outside of [-t, t] and ``t p(x /
    t)`` inside, ``p(z) = (3 + 6 z^2 - z^4) / 8``; t falls. Only pairs closer than t are relaxed:
    the residual is at most 3 t / 16, and 0 where the sides are t apart."""

    FISCHER_BURMEISTER = "fischer_burmeister"
    """``a + b = sqrt(a^2 + b^2 + 2 t^2)``, which is ``a, b > 0``, ``a b = t^2``; t falls. The
    residual is at most t.
    """

    PYOMO_MPEC = "pyomo_mpec"
    """``v = a``, ``v, b >= 0``, ``v b <= t`` as Pyomo's transformation ``mpec.simple_nonlinear``
    writes it, with a variable v for each pair; t, its ``mpec_bound``, falls. The residual is at
    most ``sqrt t``."""

    @property
    def is_penalty(self) -> bool:
        """Whether the products are in the objective, which then replaces the model's own."""
        return self in (Reformulation.L1_PENALTY, Reformulation.SQUARED_PENALTY)


STAGES: dict[Reformulation, tuple[float, ...]] = {
    Reformulation.L1_PENALTY: (1.0, 10.0, 100.0, 1e3, 1e4, 1e5),
    # Both sides can stay positive as w^(-1/3): for 16 simulated impacts, settling chose wrong sides
    # up to w = 1e6.
    Reformulation.SQUARED_PENALTY: (1.0, 1e2, 1e4, 1e6, 1e8),
    Reformulation.SCHOLTES: (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10),
    Reformulation.LIN_FUKUSHIMA: (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    # From above the pairs' size on: a pair whose sides are t apart is decided, and mostly for good.
    Reformulation.STEFFENSEN_ULBRICH: (10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    Reformulation.FISCHER_BURMEISTER: (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    Reformulation.PYOMO_MPEC: (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10),
}
"""Customary parameters of a continuation, in order."""


def parameter_allowing(reformulation: Reformulation, residual: float) -> float:
    """The t or w with which a residual ``|min(a, b)|`` of this size is just allowed.

    Of a relaxation or smoothing it is the bound that its docstring states, solved for t. A penalty
    allows everything; with this w a pair of sides 1 and ``residual`` costs one unit of the
    objective.
    """
    return {
        Reformulation.L1_PENALTY: 1.0 / residual,
        Reformulation.SQUARED_PENALTY: 1.0 / residual**2,
        Reformulation.SCHOLTES: residual**2,
        Reformulation.LIN_FUKUSHIMA: residual,
        Reformulation.STEFFENSEN_ULBRICH: 16.0 / 3.0 * residual,
        Reformulation.FISCHER_BURMEISTER: residual,
        Reformulation.PYOMO_MPEC: residual**2,
    }[reformulation]


def reformulate(
    block: Any, pairs: Sequence[Pair], reformulation: Reformulation, objective: Any
) -> None:
    """Fill an empty, concrete block with reformulated pairs; a penalty deactivates the objective.

    Raises
    ------
    ContactIdError
        Where Pyomo's transformation gets a pair of which both sides are fixed.
    """
    # Pyomo's transformation brings its own parameter
    if reformulation is not Reformulation.PYOMO_MPEC:
        # a variable with two equal bounds, so that a written model needn't be written again for
        # another value
        block.parameter = pyo.Var(initialize=1.0, bounds=(1.0, 1.0))
        block.rules = pyo.ConstraintList()
    _WRITE[reformulation](block, pairs, objective)


def set_parameter(block: Any, value: float) -> None:
    """Set t or w of a block that :func:`reformulate` filled.

    Pyomo's additional variables are moved to the sides that they stand for, as the model's point
    may have changed.
    """
    bound = block.component("mpec_bound")
    if bound is None:
        block.parameter.setlb(value)
        block.parameter.setub(value)
        block.parameter.set_value(value)
        return
    bound.set_value(value)
    for condition in block.conditions.values():
        # ``ve`` is ``v == side``, whichever stands on the left: with v = 0 its rest is the side
        condition.v.set_value(0.0)
        side = pyo.value(condition.ve.upper - condition.ve.body, exception=False)
        condition.v.set_value(max(0.0, side or 0.0), skip_validation=True)


def rounded_absolute_value(x: Any, t: Any) -> Any:
    """``A(x)`` of STEFFENSEN_ULBRICH for numbers and expressions: two continuous derivatives.

    There is no case distinction, since AMPL's form has none that every reader knows: with x clipped
    to [-t, t] and its excess over t, ``A = t p(clipped / t) + excess``. The kinks of both cancel:
    ``p(1) = p'(1) = 1``, ``p''(1) = 0``.
    """
    # half their difference is x clipped to [-t, t], half their sum |x| or t, whichever is larger
    above, below = abs(x + t), abs(x - t)
    z = 0.5 * (above - below) / t
    excess = 0.5 * (above + below) - t
    return t * (3.0 + 6.0 * z**2 - z**4) / 8.0 + excess


def _signs(block: Any, pairs: Sequence[Pair]) -> None:
    # a variable's own bound says the same, and a rule beside it would have a dependent gradient
    for side in (side for pair in pairs for side in pair):
        if not (
            getattr(side, "is_variable_type", bool)() and side.lb is not None and side.lb >= 0.0
        ):
            block.rules.add(side >= 0.0)


def _penalise(block: Any, products: Any, objective: Any) -> None:
    direction = -1.0 if objective.sense == pyo.maximize else 1.0
    block.penalised = pyo.Objective(
        expr=objective.expr + direction * block.parameter * products, sense=objective.sense
    )
    objective.deactivate()


def _l1_penalty(block: Any, pairs: Sequence[Pair], objective: Any) -> None:
    _signs(block, pairs)
    _penalise(block, pyo.quicksum(a * b for a, b in pairs), objective)


def _squared_penalty(block: Any, pairs: Sequence[Pair], objective: Any) -> None:
    _signs(block, pairs)
    _penalise(block, pyo.quicksum((a * b) ** 2 for a, b in pairs), objective)


def _scholtes(block: Any, pairs: Sequence[Pair], objective: Any) -> None:
    _signs(block, pairs)
    for a, b in pairs:
        block.rules.add(a * b <= block.parameter)


def _lin_fukushima(block: Any, pairs: Sequence[Pair], objective: Any) -> None:
    t = block.parameter
    for a, b in pairs:
        block.rules.add(a * b <= t**2)
        block.rules.add((a + t) * (b + t) >= t**2)


def _steffensen_ulbrich(block: Any, pairs: Sequence[Pair], objective: Any) -> None:
    _signs(block, pairs)
    for a, b in pairs:
        block.rules.add(a + b - rounded_absolute_value(a - b, block.parameter) <= 0.0)


def _fischer_burmeister(block: Any, pairs: Sequence[Pair], objective: Any) -> None:
    for a, b in pairs:
        block.rules.add(a + b - pyo.sqrt(a**2 + b**2 + 2.0 * block.parameter**2) == 0.0)


def _pyomo_mpec(block: Any, pairs: Sequence[Pair], objective: Any) -> None:
    block.conditions = ComplementarityList()
    for a, b in pairs:
        if pyo.is_fixed(a) and pyo.is_fixed(b):
            raise ContactIdError(
                f"both sides of the pair ({a}, {b}) are fixed", "Leave it out, or free one"
            )
        # Pyomo refuses a second side that is fixed
        first, second = (b, a) if pyo.is_fixed(b) else (a, b)
        block.conditions.add(complements(first >= 0.0, second >= 0.0))
    pyo.TransformationFactory("mpec.simple_nonlinear").apply_to(block, mpec_bound=1.0)


_WRITE: dict[Reformulation, Callable[[Any, Sequence[Pair], Any], None]] = {
    Reformulation.L1_PENALTY: _l1_penalty,
    Reformulation.SQUARED_PENALTY: _squared_penalty,
    Reformulation.SCHOLTES: _scholtes,
    Reformulation.LIN_FUKUSHIMA: _lin_fukushima,
    Reformulation.STEFFENSEN_ULBRICH: _steffensen_ulbrich,
    Reformulation.FISCHER_BURMEISTER: _fischer_burmeister,
    Reformulation.PYOMO_MPEC: _pyomo_mpec,
}

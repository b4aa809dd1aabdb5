"""Levenberg and Marquardt's iteration on the factor graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.inhand.elimination import reduce_graph, solve_step
from contactid.inhand.factor_graph import FactorGraph, GraphState

_FIRST_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-3, 1e-12, 1e10
_FASTEST_DECAY = 1.0 / 3.0
_GENTLE = 1e-1  # damping up to which a small expected decrease means a minimum


@dataclass(frozen=True)
class IterationOptions:
    """When to stop.

    Attributes
    ----------
    max_iterations : tried steps
    relative_decrease : expected decrease over the cost below which a point is a minimum
    absolute_decrease : the same in the cost's own unit
    """

    max_iterations: int = 200
    relative_decrease: float = 1e-5
    absolute_decrease: float = 1e-10


@dataclass(frozen=True)
class Optimum:
    """Where the iteration ended: state, cost, (10, 10) curvature of the parameters there, and why it stopped."""

    state: GraphState
    cost: float
    parameter_curvature: np.ndarray
    iterations: int
    converged: bool
    message: str


def minimise(graph: FactorGraph, start: GraphState, options: IterationOptions) -> Optimum:
    """Lower the graph's cost from a start, with Nielsen's rule for the damping.

    The rule follows the gain, actual over expected decrease, smoothly: on the curved valleys that residual forces
    make, a fixed factor would bounce between two dampings.
    """
    best, damping, growth = graph.evaluate(start), _FIRST_DAMPING, 2.0
    linear = graph.linearize(best)
    reduced = reduce_graph(linear)
    message, converged = "iteration limit", False
    iterations = 0
    while iterations < options.max_iterations:
        iterations += 1
        step = solve_step(linear, reduced, damping)
        gain = -np.inf
        if step is not None:
            limit = options.relative_decrease * best.cost + options.absolute_decrease
            if damping <= _GENTLE and step.expected_decrease <= limit:
                message, converged = "minimum", True
                break
            trial = graph.advance(best, linear, reduced, step)
            gain = (best.cost - trial.cost) / max(step.expected_decrease, np.finfo(float).tiny)
        if gain > 0.0:
            best, growth = trial, 2.0
            damping = max(damping * max(_FASTEST_DECAY, 1.0 - (2.0 * gain - 1.0) ** 3), _LEAST_DAMPING)
            linear = graph.linearize(best)
            reduced = reduce_graph(linear)
        else:
            damping, growth = damping * growth, 2.0 * growth
            if damping > _MOST_DAMPING:
                message = "no step lowers the cost"
                break
    free = solve_step(linear, reduced, 0.0)
    curvature = np.full((10, 10), np.nan) if free is None else free.parameter_curvature
    return Optimum(best.state, best.cost, curvature, iterations, converged, message)

"""Estimation in the paper's way: Levenberg and Marquardt's iteration on the factor graph, from a
plain guess.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from contactid.core.inertia import InertialParameters, PrincipalForm
from contactid.inhand.identify.elimination import parameter_covariance, reduce_graph, solve_step
from contactid.inhand.identify.factor_graph import FactorGraph, GraphState
from contactid.inhand.identify.identifiability import unidentifiable
from contactid.inhand.identify.methods import (
    BIAS,
    FACTOR_GRAPH,
    GEODESIC,
    GRAPH_METHODS,
    Estimate,
    failed_estimate,
)
from contactid.inhand.identify.wrench import PARAMETERS
from contactid.inhand.readers.recordings import RecordedSignals, recorded_signals

# in shares of the matrices' own diagonals, so without a unit
_FIRST_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-3, 1e-12, 1e10
# Nielsen's: a step that does as expected divides the damping by three
_FASTEST_DECAY = 1.0 / 3.0
_GENTLE = 1e-1  # damping up to which a small expected decrease means a minimum


@dataclass(frozen=True)
class Optimum:
    """Where the iteration ended: state, cost, curvature of parameters and bias there, and why it
    stopped.
    """

    state: GraphState
    cost: float
    parameter_curvature: np.ndarray
    iterations: int
    converged: bool
    message: str


def minimise(graph: FactorGraph, start: GraphState, limits: Mapping[str, float]) -> Optimum:
    """Lower the graph's cost from a start, with Nielsen's rule for the damping; ``limits`` say when
    to stop.

    The rule follows the gain, actual over expected decrease, smoothly: on the curved valleys that
    residual forces make, a fixed factor would bounce between two dampings.
    """
    best, damping, growth = graph.evaluate(start), _FIRST_DAMPING, 2.0
    linear = graph.linearize(best)
    # what acts at samples is eliminated once for each point, not for each damping
    reduced = reduce_graph(linear)
    message, converged = "iteration limit", False
    iterations = 0
    while iterations < limits["max_iterations"]:
        iterations += 1
        step = solve_step(linear, reduced, damping)
        gain = -np.inf
        if step is not None:
            # absolute besides, as the cost of noise-free recordings goes to zero
            limit = limits["relative_decrease"] * best.cost + limits["absolute_decrease"]
            # under strong damping every step is short, so a small decrease says nothing
            if damping <= _GENTLE and step.expected_decrease <= limit:
                message, converged = "minimum", True
                break
            trial = graph.advance(best, linear, reduced, step)
            gain = (best.cost - trial.cost) / max(step.expected_decrease, np.finfo(float).tiny)
        if gain > 0.0:
            best, growth = trial, 2.0
            # Nielsen: 1 - (2 gain - 1)^3, so a gain of one half leaves it
            damping = max(
                damping * max(_FASTEST_DECAY, 1.0 - (2.0 * gain - 1.0) ** 3), _LEAST_DAMPING
            )
            linear = graph.linearize(best)
            reduced = reduce_graph(linear)
        else:
            # each failure in a row grows it twice as fast
            damping, growth = damping * growth, 2.0 * growth
            if damping > _MOST_DAMPING:
                message = "no step lowers the cost"
                break
    # covariance from the undamped curvature
    free = solve_step(linear, reduced, 0.0)
    curvature = np.full_like(reduced.corner, np.nan) if free is None else free.parameter_curvature
    return Optimum(best.state, best.cost, curvature, iterations, converged, message)


_LEAST_EXTENT = 0.1  # m, where the contact points don't say how large the object is


def plain_start(signals: RecordedSignals) -> InertialParameters:
    """A uniform box that carries the mean net force against gravity, spanning the contact points'
    range in B.

    The mean is taken in W: over a motion that comes and goes, accelerations average out and gravity
    stays.
    """
    # (n, 3) sum of the contacts' forces in W
    net = np.einsum("kij,kj->ki", signals.rotations, signals.forces.sum(axis=1))
    # a mean that points down would be no mass
    mass = max(float(net[:, 2].mean()) / signals.gravity, 1e-3)
    touching = signals.points.reshape(-1, 3)
    # median over samples: contacts that break or slide move single samples
    extent = np.maximum(
        np.median(signals.points.max(axis=1) - signals.points.min(axis=1), axis=0), _LEAST_EXTENT
    )
    # different moments keep the principal axes defined where the contact points span equal ranges
    # uniform box: second moment m L^2 / 12 along an edge L
    moments = mass * extent**2 / 12.0 * np.array([0.8, 1.0, 1.2])
    return PrincipalForm(mass, np.median(touching, axis=0), moments, np.eye(3)).parameters()


def estimate_with_graph(
    recording: xr.Dataset,
    method: str,
    prior: InertialParameters,
    block: Mapping[str, Any],
    *,
    bias: bool = False,
) -> Estimate:
    """Inertial parameters by a factor graph with Levenberg and Marquardt's iteration (section
    III-B, in-hand paper).

    Constraints are costs that act on violation: the answer is drawn towards physical bodies and
    need not be one. Without them, both charts of the parameters have the same minima. A recording
    that can't tell some parameter gives an estimate that isn't converged, with what isn't
    identifiable as its message.

    Parameters
    ----------
    recording
        Canonical recording of a grasped object.
    method
        One of :data:`contactid.inhand.identify.methods.GRAPH_METHODS`.
    prior
        Of the method that has one; it starts there, too.
    block
        ``inhand: graph`` of the configuration.
    bias
        Whether a constant wrench in B that isn't sensed is unknown, too; not in the paper.

    Raises
    ------
    ContactIdError
        For a recording that is too short.
    """
    begin = time.process_time()
    amiss = unidentifiable(recording)
    if amiss:
        return failed_estimate(method, FACTOR_GRAPH, "; ".join(amiss), time.process_time() - begin)
    features, signals = (*GRAPH_METHODS[method], *([BIAS] * bias)), recorded_signals(recording)
    graph = FactorGraph(signals, features, block["weights"], block["scheme"], prior)
    # only the method that is told a prior starts there
    start = graph.start(prior if GEODESIC in features else plain_start(signals))
    optimum = minimise(graph, start, block["iterations"])
    slope = optimum.state.chart.slope
    covariance = (
        slope
        @ parameter_covariance(optimum.parameter_curvature)[:PARAMETERS, :PARAMETERS]
        @ slope.T
    )
    return Estimate(
        method=method,
        solver=FACTOR_GRAPH,
        converged=optimum.converged,
        parameters=InertialParameters.from_vector(optimum.state.chart.vector),
        iterations=optimum.iterations,
        seconds=time.process_time() - begin,
        objective=optimum.cost,
        standard_errors=np.sqrt(np.diag(covariance)),
        message=optimum.message,
    )

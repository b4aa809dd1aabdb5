"""Estimation in the paper's way: Levenberg and Marquardt's iteration on the factor graph, from a plain guess."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from contactid.core.inertia import InertialParameters, PrincipalForm
from contactid.inhand.identify.elimination import parameter_covariance, reduce_graph, solve_step
from contactid.inhand.identify.factor_graph import FactorGraph, FactorWeights, GraphState, build_graph
from contactid.inhand.identify.identifiability import unidentifiable
from contactid.inhand.identify.kinematics import FOURTH_ORDER
from contactid.inhand.identify.methods import FACTOR_GRAPH, Estimate, ObjectKnowledge, failed_estimate, graph_method
from contactid.inhand.readers.recordings import RecordedSignals, recorded_signals

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


_LEAST_EXTENT = 0.1  # m, where the contact points don't say how large the object is


def plain_start(signals: RecordedSignals) -> InertialParameters:
    """A uniform box that carries the mean net force against gravity, spanning the contact points' range in B.

    The mean is taken in W: over a motion that comes and goes, accelerations average out and gravity stays.
    """
    net = np.einsum("kij,kj->ki", signals.rotations, signals.forces.sum(axis=1))
    mass = max(float(net[:, 2].mean()) / signals.gravity, 1e-3)
    touching = signals.points.reshape(-1, 3)
    extent = np.maximum(np.median(signals.points.max(axis=1) - signals.points.min(axis=1), axis=0), _LEAST_EXTENT)
    # different moments keep the principal axes defined where the contact points span equal ranges
    moments = mass * extent**2 / 12.0 * np.array([0.8, 1.0, 1.2])
    return PrincipalForm(mass, np.median(touching, axis=0), moments, np.eye(3)).parameters()


@dataclass(frozen=True)
class GraphOptions:
    """How to estimate in the paper's way.

    Attributes
    ----------
    weights : standard deviations of the factors
    scheme : of the finite differences
    iterations : when to stop
    knowledge : geometry and prior
    """

    weights: FactorWeights
    scheme: str = FOURTH_ORDER
    iterations: IterationOptions = field(default_factory=IterationOptions)
    knowledge: ObjectKnowledge = field(default_factory=ObjectKnowledge)


def estimate_with_graph(recording: xr.Dataset, method: str, options: GraphOptions) -> Estimate:
    """Inertial parameters by a factor graph with Levenberg and Marquardt's iteration (section III-B, in-hand paper).

    Constraints are costs that act on violation: the answer is drawn towards physical bodies and need not be one.
    Without them, both charts of the parameters have the same minima. A recording that can't tell some parameter gives
    an estimate that isn't converged, with what isn't identifiable as its message.

    Parameters
    ----------
    recording
        Canonical recording of a grasped object.
    method
        One of :data:`contactid.inhand.identify.methods.GRAPH_METHODS`.
    options
        Weights, scheme, limits and what is known of the object.

    Raises
    ------
    ContactIdError
        For an unknown method, a recording that is too short or not finite, or a missing prior.
    """
    begin = time.process_time()
    variant, signals = graph_method(method), recorded_signals(recording)
    amiss = unidentifiable(recording)
    if amiss:
        return failed_estimate(method, FACTOR_GRAPH, "; ".join(amiss), time.process_time() - begin)
    graph = build_graph(
        signals, variant, options.weights, options.scheme,
        hull_vertices=options.knowledge.hull_vertices, prior=options.knowledge.prior,
    )  # fmt: skip
    known = options.knowledge.prior if variant.geodesic else None
    start = graph.start(known if known is not None else plain_start(signals))
    optimum = minimise(graph, start, options.iterations)
    slope = optimum.state.chart.slope
    covariance = slope @ parameter_covariance(optimum.parameter_curvature) @ slope.T
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

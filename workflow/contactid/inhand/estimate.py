"""What an estimate of an object's inertia is, and what an estimator may be told about the object.

Every estimator takes a recording, a method's name and its own options, and returns an :class:`Estimate`; one that fails
returns an estimate with ``converged`` false and a message that says why.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from contactid.core.inertia import InertialParameters
from contactid.inhand.elimination import parameter_covariance
from contactid.inhand.factor_graph import FactorWeights, build_graph
from contactid.inhand.identifiability import unidentifiable
from contactid.inhand.kinematics import FOURTH_ORDER
from contactid.inhand.levenberg_marquardt import IterationOptions, minimise
from contactid.inhand.methods import graph_method
from contactid.inhand.names import FACTOR_GRAPH
from contactid.inhand.recording_arrays import recorded_signals
from contactid.inhand.start import plain_start


@dataclass(frozen=True)
class ObjectKnowledge:
    """What is known of an object beforehand.

    Attributes
    ----------
    hull_vertices : (v, 3) m in B, points whose convex hull holds the object's material; None where its shape isn't
    known
    prior : inertial parameters that the geodesic factor (eq. 20) draws towards; None where there are none
    """

    hull_vertices: np.ndarray | None = None
    prior: InertialParameters | None = None


@dataclass(frozen=True)
class Estimate:
    """Inertial parameters estimated from one recording.

    Attributes
    ----------
    method : name of the method, as in the paper's tables
    solver : one of :data:`contactid.inhand.names.SOLVERS`
    converged : the solver reached its own tolerance
    parameters : about the origin of B; may be unphysical where the method doesn't forbid it
    iterations : of the solver; 0 where there are none
    seconds : process CPU time, model building included
    objective : the solver's cost at the answer, half a sum of squared whitened residuals
    standard_errors : (10,) of ``parameters.vector``, in its units; nan where unknown
    message : what went wrong, or the solver's last word
    """

    method: str
    solver: str
    converged: bool
    parameters: InertialParameters
    iterations: int
    seconds: float
    objective: float
    standard_errors: np.ndarray
    message: str = ""


def failed_estimate(method: str, solver: str, message: str, seconds: float = 0.0) -> Estimate:
    """The estimate of a solver that has no answer: nan everywhere, not converged."""
    unknown = InertialParameters.from_vector(np.full(10, np.nan))
    return Estimate(method, solver, False, unknown, 0, seconds, float("nan"), np.full(10, np.nan), message)


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
        One of :data:`contactid.inhand.methods.GRAPH_METHODS`.
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

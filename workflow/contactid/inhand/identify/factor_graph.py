"""The factor graph of figure 3 (in-hand paper): its unknowns, its factors, its cost, and its
linearisation.

Unknown are the object's pose at every sample, the force and the point of every contact (and its
torque, where one is measured), and the ten inertial parameters. Factors are

* ``pose``, ``force``, ``contact`` and ``torque``: one per measurement;
* ``dynamics``: one per inner sample, tying the poses around it, what acts at the sample, and the
  parameters (eqs. 18 and 19);
* ``consistency`` (eqs. 35 to 37) and ``geodesic`` (eq. 20): on the parameters, where the method has
  them.

The cost is half the sum of squared residuals in units of their standard deviations. A force's is
that of the recording, sample by sample; all others are fixed weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from contactid.core.inertia import InertialParameters, hull_halfspaces
from contactid.inhand.identify.elimination import (
    Linearization,
    ReducedGraph,
    Residuals,
    Step,
    local_step,
)
from contactid.inhand.identify.factors import (
    Chart,
    PrincipalChart,
    VectorChart,
    consistency_residual,
    dynamics_residual,
    dynamics_slopes,
    geodesic_residual,
    pose_residual,
)
from contactid.inhand.identify.kinematics import REACH, BodyMotion, body_motion, rotation_exp
from contactid.inhand.identify.methods import BIAS, CONSISTENCY, GEODESIC, PRINCIPAL
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH
from contactid.inhand.readers.recordings import RecordedSignals


@dataclass(frozen=True)
class GraphState:
    """A value of every unknown.

    Attributes
    ----------
    rotations, positions : (n, 3, 3) and (n, 3) m
    acting : (n, 2, c, 3) what acts at the samples: forces, N, then contact points, m; or (n, 3, c,
        3) with torques, N m
    chart : the parameters
    bias : (6,) a constant wrench in B that isn't sensed, N and N m; (0,) in a method without it
    """

    rotations: np.ndarray
    positions: np.ndarray
    acting: np.ndarray
    chart: Chart
    bias: np.ndarray


@dataclass(frozen=True)
class Evaluation:
    """Residuals at a state, the motion that they follow from, and the cost."""

    state: GraphState
    motion: BodyMotion
    residuals: Residuals
    cost: float


@dataclass(frozen=True)
class Factor:
    """One square of figure 3: its kind, its sample (None for the parameters' own) and the unknowns
    it ties.
    """

    kind: str
    sample: int | None
    unknowns: tuple[str, ...]


PARAMETERS_NAME = "parameters"


@dataclass(frozen=True)
class FactorGraph:
    """A method's graph for one recording.

    Attributes
    ----------
    signals : what was measured
    method : what the method has, of :data:`.methods.GRAPH_METHODS`, and with ``BIAS`` a constant
        residual wrench
    weights : standard deviations of the factors by name, ``inhand: graph: weights`` of the
        configuration
    scheme : of the finite differences
    prior : of the geodesic factor
    """

    signals: RecordedSignals
    method: Sequence[str]
    weights: Mapping[str, float]
    scheme: str
    prior: InertialParameters

    def start(self, parameters: InertialParameters) -> GraphState:
        """Everything as measured."""
        signals = self.signals
        principal = PRINCIPAL in self.method
        # the principal form is the paper's manifold; the others add to the ten parameters
        chart = (
            PrincipalChart(parameters.principal_form)
            if principal
            else VectorChart(parameters.vector)
        )
        return GraphState(
            signals.rotations,
            signals.positions,
            self._measured,
            chart,
            np.zeros(WRENCH if BIAS in self.method else 0),
        )

    def evaluate(self, state: GraphState) -> Evaluation:
        """All residuals at a state, and the cost."""
        return self._evaluated(state, self._motion(state))

    def linearize(self, at: Evaluation) -> Linearization:
        """All residuals with their derivatives."""
        state = at.state
        by_pose, by_local, by_vector = dynamics_slopes(
            at.motion, state.acting[self._inner], state.chart.vector
        )
        # the bias is taken off the dynamics residual
        by_bias = np.broadcast_to(
            -np.eye(WRENCH, len(state.bias)), (len(by_vector), WRENCH, len(state.bias))
        )
        return Linearization(
            at=at.residuals,
            local_precision=self.local_precision,
            dynamics_variance=self._dynamics_variance,
            by_pose=by_pose,
            by_local=by_local,
            by_parameters=np.concatenate([by_vector @ state.chart.slope, by_bias], axis=2),
        )

    def advance(
        self, at: Evaluation, linear: Linearization, reduced: ReducedGraph, step: Step
    ) -> Evaluation:
        """The state a step away from ``at``, where ``linear`` and ``reduced`` belong to; what acts
        follows exactly.
        """
        state = self.moved(at.state, step)
        motion = self._motion(state)
        # after the poses have moved, so that forces take up the residual as it is and not its
        # linear model
        acting = local_step(linear, reduced, self._dynamics(state, motion))
        return self._evaluated(self.with_local(state, acting), motion)

    def moved(self, state: GraphState, step: Step) -> GraphState:
        """The state with poses and parameters a step away."""
        return replace(
            state,
            # increments are in B, so they multiply from the right
            rotations=state.rotations @ rotation_exp(step.poses[:, :3]),
            positions=state.positions + step.poses[:, 3:],
            chart=state.chart.plus(step.parameters[:PARAMETERS]),
            bias=state.bias + step.parameters[PARAMETERS:],
        )

    def with_local(self, state: GraphState, increment: np.ndarray) -> GraphState:
        """The state with what acts at the samples an increment (n, d) away."""
        return replace(state, acting=state.acting + increment.reshape(state.acting.shape))

    def factors(self) -> Iterator[Factor]:
        """Every factor, sample by sample; unknowns are ``pose_k``, ``force_k_c``, ``contact_k_c``,
        ``torque_k_c``.
        """
        reach = REACH[self.scheme]
        kinds = (
            ("force", "contact") if self.signals.torques is None else ("force", "contact", "torque")
        )
        for k in range(self.signals.samples):
            yield Factor("pose", k, (f"pose_{k}",))
            acting = tuple(
                f"{kind}_{k}_{c}" for kind in kinds for c in range(self.signals.contacts)
            )
            for name in acting:
                yield Factor(name.split("_")[0], k, (name,))
            if k in self.inner_samples:
                poses = (f"pose_{k + step}" for step in range(-reach, reach + 1))
                yield Factor("dynamics", k, (*poses, *acting, PARAMETERS_NAME))
        if CONSISTENCY in self.method:
            yield Factor("consistency", None, (PARAMETERS_NAME,))
        if GEODESIC in self.method:
            yield Factor("geodesic", None, (PARAMETERS_NAME,))

    @property
    def inner_samples(self) -> range:
        """Samples with a dynamics factor: those with all the neighbours that the scheme needs."""
        reach = REACH[self.scheme]
        return range(reach, self.signals.samples - reach)

    @property
    def _inner(self) -> slice:
        return slice(self.inner_samples.start, self.inner_samples.stop)

    @cached_property
    def _measured(self) -> np.ndarray:
        signals = self.signals
        kinds = [
            signals.forces,
            signals.points,
            *([] if signals.torques is None else [signals.torques]),
        ]
        return np.stack(kinds, axis=1)

    @cached_property
    def local_precision(self) -> np.ndarray:
        """(n, d) of the measured forces, contact points and torques."""
        signals, weights = self.signals, self.weights
        # a floor keeps a force that states next to no noise from outweighing everything
        force = np.maximum(signals.force_sd, weights["least_force"]).reshape(signals.samples, -1)
        deviations = [force, np.full_like(force, weights["contact_position"])]
        if signals.torques is not None:
            deviations.append(np.full_like(force, weights["contact_torque"]))
        return np.concatenate(deviations, axis=1) ** -2.0

    @cached_property
    def _hull(self) -> tuple[np.ndarray, np.ndarray]:
        """Faces of the geometry's convex hull: normals (h, 3) and offsets (h,) m."""
        return hull_halfspaces(self.signals.hull)

    @property
    def _dynamics_variance(self) -> np.ndarray:
        # three of force, N, then three of torque, N m
        return np.repeat([self.weights["dynamics_force"], self.weights["dynamics_torque"]], 3) ** 2

    def _motion(self, state: GraphState) -> BodyMotion:
        signals = self.signals
        return body_motion(
            signals.time, state.rotations, state.positions, signals.gravity, self.scheme
        )

    def _dynamics(self, state: GraphState, motion: BodyMotion) -> np.ndarray:
        missed = dynamics_residual(motion, state.acting[self._inner], state.chart.vector)
        # sensed is what acts less the bias
        return missed - state.bias if len(state.bias) else missed

    def _evaluated(self, state: GraphState, motion: BodyMotion) -> Evaluation:
        pose, pose_rows = self._pose(state)
        local = (state.acting - self._measured).reshape(self.signals.samples, -1)
        dynamics = self._dynamics(state, motion)
        own, own_rows = self._parameter_factors(state.chart)
        squares = (
            np.sum(pose**2)
            + np.sum(self.local_precision * local**2)
            + np.sum(dynamics**2 / self._dynamics_variance)
            + np.sum(own**2)
        )
        # the parameters' own factors say nothing of the bias
        own_rows = np.pad(own_rows, ((0, 0), (0, len(state.bias))))
        residuals = Residuals(pose, pose_rows, local, dynamics, own, own_rows)
        return Evaluation(state, motion, residuals, 0.5 * float(squares))

    def _pose(self, state: GraphState) -> tuple[np.ndarray, np.ndarray]:
        signals = self.signals
        residual, slope = pose_residual(
            state.rotations, state.positions, signals.rotations, signals.positions
        )
        deviation = np.repeat([self.weights["orientation"], self.weights["position"]], 3)
        return residual / deviation, slope / deviation[:, None]

    def _parameter_factors(self, chart: Chart) -> tuple[np.ndarray, np.ndarray]:
        """Whitened residuals (r,) of the factors on the parameters alone, and their rows (r, 10)."""
        residuals, rows, weights = [np.zeros(0)], [np.zeros((0, 10))], self.weights
        if CONSISTENCY in self.method and isinstance(chart, PrincipalChart):
            violation, slope = consistency_residual(chart.form, *self._hull)
            of_each = [weights["mass"], weights["second_moment"], weights["center_of_mass"]]
            # mass, three second moments, then the hull's faces
            deviation = np.repeat(of_each, [1, 3, len(violation) - 4])
            residuals.append(violation / deviation)
            rows.append(slope / deviation[:, None])
        if GEODESIC in self.method:
            distance, slope = geodesic_residual(chart.vector, self.prior)
            residuals.append(distance / weights["geodesic"])
            rows.append(slope @ chart.slope / weights["geodesic"])
        return np.concatenate(residuals), np.concatenate(rows)

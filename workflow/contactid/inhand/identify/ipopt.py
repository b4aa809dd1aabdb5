"""Our estimation: all measurements in one nonlinear program with hard constraints, solved by IPOPT.

What is estimated and minimised is in :mod:`contactid.inhand.models.inertia`; how parameters are written, and what each
way guarantees, in :mod:`contactid.inhand.models.parameters`. The paper's methods differ in what the ten parameters must
satisfy, and in nothing else:

* ``baseline_fg`` and ``no_constraint_no_geodesic``: nothing, so both have the same optimum here; in the paper's way
  they differ by the steps that an iteration takes. Guarantee: none.
* ``constraint_no_geodesic``: a positive definite pseudo-inertia (with all second moments above a least extent), the
  centre of mass in the object's convex hull and, by option, second moments that fit its bounding box. Guarantee: every
  converged estimate is a body that can exist.
* ``constraint_geodesic``: the same, with the geodesic distance to a prior body (eq. 20), weighted by an option.

A free optimum that satisfies the constraints is an optimum with them, too; :func:`estimates_with_ipopt` therefore
solves once for several methods where it can.

*Standard errors* are computed apart from the program, from the poses that it found by the finite differences of
:mod:`contactid.inhand.identify.kinematics`. With X the slope of the whitened wrench equations by (theta, beta), J that
by the poses in units of their deviations, the information of (theta, beta) that is left when all poses are unknown,
too, is ``X^T X - X^T J (Id + J^T J)^-1 J^T X``, the Schur complement of the Gauss-Newton matrix. All of it is banded.
Bounds, hulls and a prior body are left out: the errors say what the data say, and are not made small by a parameter
that sits on its bound.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import xarray as xr
from scipy.sparse.linalg import splu

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, hull_halfspaces
from contactid.core.rotations import matrices
from contactid.core.solve import Solution, SolverOptions, solve
from contactid.inhand.identify.identifiability import unidentifiable
from contactid.inhand.identify.information import banded, errors_of
from contactid.inhand.identify.ipopt_start import NoiseFloors, linear_start, measured_wrench, projected, smoothed_motion
from contactid.inhand.identify.kinematics import FOURTH_ORDER, POSE, REACH, body_motion
from contactid.inhand.identify.methods import IPOPT, Estimate, ObjectKnowledge, failed_estimate
from contactid.inhand.identify.wrench import WRENCH, ResidualBias, bias_columns, regressor, wrench_slope
from contactid.inhand.models.inertia import (
    COMPACT,
    InertiaModel,
    MeasuredMotion,
    ModelRules,
    Start,
    build_inertia_model,
)
from contactid.inhand.models.parameters import LOG_CHOLESKY, VECTOR, BodyRules, ParameterUnits, satisfies

_LOST = 1e-12  # relative curvature below which a direction isn't determined
_TOUCHED = 1e-4  # share of a parameter in such directions from which on it isn't determined either
FREE_METHODS = ("baseline_fg", "no_constraint_no_geodesic")
CONSTRAINED_METHODS = ("constraint_no_geodesic", "constraint_geodesic")
IPOPT_METHODS = (*FREE_METHODS, *CONSTRAINED_METHODS)


@dataclass(frozen=True)
class IpoptOptions:
    """How to estimate.

    Attributes
    ----------
    knowledge : the object's hull and prior; where it has no hull the recording's own ``hull`` is taken, if any
    parametrisation : ``log_cholesky`` or ``principal``, of the constrained methods
    least_share : least root of a second moment per mass, as a share of that of a uniform body which spans the hull's
        smallest width; without a hull it is that share of a centimetre
    bounded_moments : whether second moments must fit the hull's bounding box, in constrained methods
    geodesic_weight : of half the squared distance to the prior
    scheme : ``compact`` (fourth order) or ``central`` (second) differences
    residual : unmodelled wrenches to estimate besides
    residual_sources : sources whose recordings have unmodelled wrenches; None for all
    robust_width : standard deviations beyond which a wrench's error counts less; infinite for least squares
    floors : least standard deviations
    solver : of each program
    """

    knowledge: ObjectKnowledge = field(default_factory=ObjectKnowledge)
    parametrisation: str = LOG_CHOLESKY
    least_share: float = 0.25
    bounded_moments: bool = True
    geodesic_weight: float = 1.0
    scheme: str = COMPACT
    residual: ResidualBias = field(default_factory=ResidualBias)
    residual_sources: Sequence[str] | None = None
    robust_width: float = float("inf")
    floors: NoiseFloors = field(default_factory=NoiseFloors)
    solver: SolverOptions = field(
        # the equations' units are of the order of the noise, or below it
        default_factory=lambda: SolverOptions(
            tolerance=1e-6, max_iterations=200, barrier=1e-3, bound_push=1e-6, largest_infeasibility=1e-5
        )
    )


def ipopt_options(block: Mapping[str, Any], knowledge: ObjectKnowledge | None = None) -> IpoptOptions:
    """Of the block ``inhand: ipopt`` of the configuration and what is known of the object."""
    residual = dict(block["residual"])
    sources = tuple(residual.pop("sources"))
    width = block["robust_width"]
    default = IpoptOptions()
    return IpoptOptions(
        knowledge=knowledge or ObjectKnowledge(),
        parametrisation=block["parametrisation"],
        least_share=block["least_share"],
        bounded_moments=block["bounded_moments"],
        geodesic_weight=block["geodesic_weight"],
        scheme=block["scheme"],
        residual=ResidualBias(**{**residual, "kinds": tuple(residual["kinds"])}),
        residual_sources=sources,
        robust_width=float("inf") if width is None else float(width),
        solver=replace(default.solver, max_iterations=block["max_iterations"]),
    )


@dataclass(frozen=True)
class _Answer:
    """A solved program; seconds of process time, building included."""

    model: InertiaModel
    solution: Solution
    seconds: float


def estimate_with_ipopt(recording: xr.Dataset, method: str, options: IpoptOptions | None = None) -> Estimate:
    """Estimate an object's inertial parameters from one recording with hard constraints.

    Parameters
    ----------
    recording
        In the canonical form (:mod:`contactid.inhand.readers.recordings`).
    method
        One of :data:`IPOPT_METHODS`.
    options
        None takes the defaults.

    Returns
    -------
    Estimate
        Not converged, with a message, where the solver fails or the recording can't tell what the method asks. The
        objective is half the sum of squares of all errors. Standard errors leave constraints and prior out; they are
        widened by the root of the reduced misfit where that is above 1.

    Raises
    ------
    ContactIdError
        An unknown method, a missing prior, a missing solver, a broken recording.
    """
    return estimates_with_ipopt(recording, [method], options)[0]


def estimates_with_ipopt(
    recording: xr.Dataset, methods: Sequence[str], options: IpoptOptions | None = None
) -> list[Estimate]:
    """Several methods on one recording, in the given order; seconds of work that is shared count for each method."""
    options = options or IpoptOptions()
    for method in methods:
        if method not in IPOPT_METHODS:
            raise ContactIdError(f"IPOPT has no method {method!r}", f"Choose one of {', '.join(IPOPT_METHODS)}")
    if "constraint_geodesic" in methods and options.knowledge.prior is None:
        raise ContactIdError("constraint_geodesic needs a prior body", "Give knowledge.prior")
    begin = time.process_time()
    lost = unidentifiable(recording)
    message = "not identifiable: " + "; ".join(lost) if lost else ""
    if any("none of the ten" in statement for statement in lost):
        return [failed_estimate(method, IPOPT, message, time.process_time() - begin) for method in methods]
    hull = _hull(recording, options)
    motion = measured_motion(recording, options)
    size = _size(recording, hull)
    start = _start(recording, motion, options, hull, size)
    units = ParameterUnits(start.body.mass, size)
    shared = time.process_time() - begin
    found: dict[str, Estimate] = {}
    free: _Answer | None = None
    for method in sorted(set(methods), key=IPOPT_METHODS.index):
        rules = _rules(method, options, hull)
        answer = free if free is not None and _also_optimal(free, method, rules) else None
        if answer is None:
            answer = _solved(motion, start, units, rules, options)
        if method in FREE_METHODS:
            free = answer
        found[method] = _estimate(method, answer, message, shared)
    return [found[method] for method in methods]


def measured_motion(recording: xr.Dataset, options: IpoptOptions) -> MeasuredMotion:
    """What the program needs of a recording."""
    floors, attributes = options.floors, recording.attrs
    concerned = options.residual_sources is None or attributes.get("source") in options.residual_sources
    columns, deviations = bias_columns(recording, options.residual if concerned else ResidualBias())
    return MeasuredMotion(
        time=recording["time"].values.astype(float),
        position=recording["object_position"].values,
        orientation=recording["object_orientation"].values,
        position_sd=max(float(attributes.get("position_sd", 0.0)), floors.position),
        orientation_sd=max(float(attributes.get("orientation_sd", 0.0)), floors.orientation),
        wrench=measured_wrench(recording, floors),
        gravity=float(attributes.get("gravity", 9.81)),
        bias_columns=columns,
        bias_sd=deviations,
    )


def _start(
    recording: xr.Dataset, motion: MeasuredMotion, options: IpoptOptions, hull: np.ndarray | None, size: float
) -> Start:
    guess = smoothed_motion(recording, options.floors)
    body = projected(linear_start(guess, motion.wrench), size, hull)
    return Start(guess.position, guess.orientation, body, np.zeros(motion.bias_columns.shape[2]))


def _hull(recording: xr.Dataset, options: IpoptOptions) -> np.ndarray | None:
    if options.knowledge.hull_vertices is not None:
        return np.asarray(options.knowledge.hull_vertices, dtype=float)
    return recording["hull"].values if "hull" in recording else None


def _size(recording: xr.Dataset, hull: np.ndarray | None) -> float:
    """Root mean square distance of the object's known points from B's origin, m; at least 1 cm."""
    points = hull if hull is not None else recording["contact_position"].values.reshape(-1, 3)
    return max(float(np.sqrt(np.mean(np.sum(points**2, axis=1)))), 1e-2)


def _rules(method: str, options: IpoptOptions, hull: np.ndarray | None) -> ModelRules:
    body = BodyRules(VECTOR)
    if method in CONSTRAINED_METHODS:
        prior = options.knowledge.prior if method == "constraint_geodesic" else None
        bounded = options.bounded_moments and hull is not None
        body = BodyRules(options.parametrisation, _least_extent(options, hull), hull, bounded, prior)
    return ModelRules(body, options.scheme, options.geodesic_weight, options.robust_width)


def _least_extent(options: IpoptOptions, hull: np.ndarray | None) -> float:
    """m; an object is at least as wide as its hull's smallest width along the normals of its faces."""
    if hull is None:
        return options.least_share * 1e-2
    normals, offsets = hull_halfspaces(hull)
    widths = offsets - (hull @ normals.T).min(axis=0)
    return options.least_share * float(widths.min()) / np.sqrt(12.0)


def _also_optimal(free: _Answer, method: str, rules: ModelRules) -> bool:
    """Whether a free optimum is this method's too: it has no constraints, or satisfies them."""
    if method in FREE_METHODS:
        return True
    if method == "constraint_geodesic" or not free.solution.converged:
        return False
    return satisfies(InertialParameters.from_vector(free.model.vector), rules.body)


def _solved(
    motion: MeasuredMotion, start: Start, units: ParameterUnits, rules: ModelRules, options: IpoptOptions
) -> _Answer:
    begin = time.process_time()
    model = build_inertia_model(motion, start, units, rules)
    solution = solve(model.model, options.solver)
    return _Answer(model, solution, time.process_time() - begin)


def _estimate(method: str, answer: _Answer, lost: str, shared: float) -> Estimate:
    begin = time.process_time()
    model, solution = answer.model, answer.solution
    errors = np.full(10, np.nan)
    if np.all(np.isfinite(model.vector)):
        errors, _ = standard_errors(model.motion, model.position, model.orientation, model.vector)
        errors = errors * np.sqrt(max(1.0, reduced_misfit(model.motion, solution.objective)))
    determined = method in CONSTRAINED_METHODS or not lost
    return Estimate(
        method=method,
        solver=IPOPT,
        converged=solution.converged and determined,
        parameters=InertialParameters.from_vector(model.vector),
        iterations=solution.iterations,
        seconds=shared + answer.seconds + time.process_time() - begin,
        objective=solution.objective,
        standard_errors=errors,
        message=lost or solution.status,
    )


def standard_errors(
    motion: MeasuredMotion, position: np.ndarray, orientation: np.ndarray, vector: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors (10,) of the parameters' vector and (b,) of the residual wrench; infinite where undetermined."""
    reach = REACH[FOURTH_ORDER]
    derived = body_motion(motion.time, matrices(orientation), position, motion.gravity, FOURTH_ORDER)
    inner = slice(reach, len(motion.time) - reach)
    columns = np.concatenate([regressor(derived), -motion.bias_columns[inner]], axis=2)
    deviations = np.repeat([motion.orientation_sd, motion.position_sd], 3)
    slopes = wrench_slope(derived, vector) * np.tile(deviations, 2 * reach + 1)
    whitening = np.linalg.inv(motion.wrench.factors[inner])
    jacobian = banded(whitening @ slopes)
    white = (whitening @ columns).reshape(jacobian.shape[0], -1)
    across = jacobian.T @ white
    precision = sp.csc_matrix(sp.identity(POSE * len(motion.time), format="csr") + jacobian.T @ jacobian)
    information = white.T @ white - across.T @ splu(precision).solve(across)
    finite = np.isfinite(motion.bias_sd)
    information[10:, 10:] += np.diag(np.where(finite, 1.0 / np.where(finite, motion.bias_sd, 1.0) ** 2, 0.0))
    errors = errors_of(information, _LOST, _TOUCHED)
    return errors[:10], errors[10:]


def reduced_misfit(motion: MeasuredMotion, objective: float) -> float:
    """Sum of squares per degree of freedom: about 1 where the noise is as stated and nothing is unmodelled.

    There are as many measured as unknown pose coordinates; the inner samples' equations are what is left to spare.
    """
    spare = WRENCH * (len(motion.time) - 2) - 10 - len(motion.bias_sd)
    return 2.0 * objective / max(spare, 1)

"""Our estimation: all measurements in one nonlinear program with hard constraints, solved by IPOPT.

What is estimated and minimised is in :mod:`contactid.inhand.models.inertia`; how parameters are written, and what each
way guarantees, in :mod:`contactid.inhand.models.parameters`. The paper's methods differ in what the ten parameters must
satisfy, and in nothing else:

* ``baseline_fg`` and ``no_constraint_no_geodesic``: nothing, so both have the same optimum here; in the paper's way
  they differ by the steps that an iteration takes. Guarantee: none.
* ``constraint_no_geodesic``: a positive definite pseudo-inertia and the centre of mass in the object's convex hull.
  Guarantee: every converged estimate is a body that can exist. Where the data say little, a soft prior decides: the
  geodesic distance (eq. 20) to the body of uniform density in the hull, whatever its mass; no truth is in it. Without
  it (weight 0), what the data leave open drifts to the constraints' edge, where a body is flat.
* ``constraint_geodesic``: the same with a prior body that is given, with its mass, as in the paper.

*Standard errors* are computed apart from the program, from the poses that it found by the finite differences of
:mod:`contactid.inhand.identify.kinematics`. With X the slope of the whitened wrench equations by (theta, beta), J that
by the poses in units of their deviations, the information of (theta, beta) that is left when all poses are unknown,
too, is ``X^T X - X^T J (Id + J^T J)^-1 J^T X``, the Schur complement of the Gauss-Newton matrix. All of it is banded.
Hulls and priors are left out: the errors say what the data say.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import xarray as xr
from scipy.sparse.linalg import splu

from contactid.core.inertia import InertialParameters, uniform_body
from contactid.core.rotations import matrices
from contactid.core.solve import Solution, SolverOptions, solve
from contactid.inhand.identify.identifiability import unidentifiable
from contactid.inhand.identify.information import banded, errors_of
from contactid.inhand.identify.ipopt_start import linear_start, measured_motion, projected, smoothed_motion
from contactid.inhand.identify.kinematics import FOURTH_ORDER, POSE, REACH, body_motion
from contactid.inhand.identify.methods import IPOPT, Estimate, failed_estimate
from contactid.inhand.identify.wrench import WRENCH, regressor, wrench_slope
from contactid.inhand.models.inertia import InertiaModel, MeasuredMotion, Start, build_inertia_model
from contactid.inhand.models.parameters import VECTOR, BodyRules, ParameterUnits

_LOST = 1e-12  # relative curvature below which a direction isn't determined
_TOUCHED = 1e-4  # share of a parameter in such directions from which on it isn't determined either
FREE_METHODS = ("baseline_fg", "no_constraint_no_geodesic")
CONSTRAINED_METHODS = ("constraint_no_geodesic", "constraint_geodesic")
IPOPT_METHODS = (*FREE_METHODS, *CONSTRAINED_METHODS)
# the equations' units are of the order of the noise, or below it
_SOLVER = SolverOptions(tolerance=1e-6, barrier=1e-3, bound_push=1e-6, largest_infeasibility=1e-5)
_Answer = tuple[InertiaModel, Solution, float]  # a solved program; seconds of process time, building included


def estimates_with_ipopt(
    recording: xr.Dataset, methods: Sequence[str], prior: InertialParameters, block: Mapping[str, Any]
) -> list[Estimate]:
    """Estimate an object's inertial parameters from one recording with hard constraints, by several methods.

    Parameters
    ----------
    recording
        In the canonical form (:mod:`contactid.inhand.readers.recordings`).
    methods
        Of :data:`IPOPT_METHODS`.
    prior
        Of the method that has one.
    block
        ``inhand: ipopt`` of the configuration.

    Returns
    -------
    list of Estimate
        In the given order. Not converged, with a message, where the solver fails or the recording can't tell what the
        method asks. The objective is half the sum of squares of all errors. Standard errors leave constraints and prior
        out; they are widened by the root of the reduced misfit where that is above 1. Seconds of work that is shared
        count for each method.

    Raises
    ------
    ContactIdError
        A missing solver, a recording that is too short, an unphysical prior.
    """
    begin = time.process_time()
    lost = unidentifiable(recording)
    message = "not identifiable: " + "; ".join(lost) if lost else ""
    if any("none of the ten" in statement for statement in lost):
        return [failed_estimate(method, IPOPT, message, time.process_time() - begin) for method in methods]
    hull, motion = recording["hull"].values, measured_motion(recording, block["residual"])
    # root mean square distance of the object's hull from B's origin, m
    size = max(float(np.sqrt(np.mean(np.sum(hull**2, axis=1)))), 1e-2)
    position, orientation, seen = smoothed_motion(motion)
    start = Start(position, orientation, projected(linear_start(seen, motion), size, hull))
    units = ParameterUnits(start.body.mass, size)
    shared = time.process_time() - begin
    found: dict[str, Estimate] = {}
    free: _Answer | None = None
    for method in sorted(set(methods), key=IPOPT_METHODS.index):
        rules = _rules(method, hull, prior, block)
        answer = free if method in FREE_METHODS else None
        if answer is None:
            begin = time.process_time()
            model = build_inertia_model(motion, start, units, rules, block)
            solution = solve(model.model, replace(_SOLVER, max_iterations=block["max_iterations"]))
            answer = model, solution, time.process_time() - begin
        if method in FREE_METHODS:
            free = answer
        found[method] = _estimate(method, answer, message, shared)
    return [found[method] for method in methods]


def _rules(method: str, hull: np.ndarray, prior: InertialParameters, block: Mapping[str, Any]) -> BodyRules:
    if method in FREE_METHODS:
        return BodyRules(VECTOR)
    form = block["parametrisation"]
    if method == "constraint_geodesic":
        return BodyRules(form, hull, prior, block["geodesic_weight"])
    weight = block["hull_weight"]
    return BodyRules(form, hull, uniform_body(1.0, hull) if weight else None, weight, prior_has_mass=False)


def _estimate(method: str, answer: _Answer, lost: str, shared: float) -> Estimate:
    begin = time.process_time()
    model, solution, seconds = answer
    errors = np.full(10, np.nan)
    if np.all(np.isfinite(model.vector)):
        errors = standard_errors(model.motion, model.position, model.orientation, model.vector)
        errors = errors * np.sqrt(max(1.0, reduced_misfit(model.motion, solution.objective)))
    determined = method in CONSTRAINED_METHODS or not lost
    return Estimate(
        method=method,
        solver=IPOPT,
        converged=solution.converged and determined,
        parameters=InertialParameters.from_vector(model.vector),
        iterations=solution.iterations,
        seconds=shared + seconds + time.process_time() - begin,
        objective=solution.objective,
        standard_errors=errors,
        message=lost or solution.status,
    )


def standard_errors(
    motion: MeasuredMotion, position: np.ndarray, orientation: np.ndarray, vector: np.ndarray
) -> np.ndarray:
    """Standard errors (10,) of the parameters, beside an unknown residual wrench; infinite where undetermined."""
    reach = REACH[FOURTH_ORDER]
    derived = body_motion(motion.time, matrices(orientation), position, motion.gravity, FOURTH_ORDER)
    inner = slice(reach, len(motion.time) - reach)
    columns = np.concatenate([regressor(derived), -motion.bias_columns[inner]], axis=2)
    deviations = np.repeat([motion.orientation_sd, motion.position_sd], 3)
    slopes = wrench_slope(derived, vector) * np.tile(deviations, 2 * reach + 1)
    whitening = np.linalg.inv(motion.factors[inner])
    jacobian = banded(whitening @ slopes)
    white = (whitening @ columns).reshape(jacobian.shape[0], -1)
    across = jacobian.T @ white
    precision = sp.csc_matrix(sp.identity(POSE * len(motion.time), format="csr") + jacobian.T @ jacobian)
    information = white.T @ white - across.T @ splu(precision).solve(across)
    finite = np.isfinite(motion.bias_sd)
    information[10:, 10:] += np.diag(np.where(finite, 1.0 / np.where(finite, motion.bias_sd, 1.0) ** 2, 0.0))
    return errors_of(information, _LOST, _TOUCHED)[:10]


def reduced_misfit(motion: MeasuredMotion, objective: float) -> float:
    """Sum of squares per degree of freedom: about 1 where the noise is as stated and nothing is unmodelled.

    There are as many measured as unknown pose coordinates; the inner samples' equations are what is left to spare.
    """
    spare = WRENCH * (len(motion.time) - 2) - 10 - len(motion.bias_sd)
    return 2.0 * objective / max(spare, 1)

"""One Gauss-Newton step of the graph at a cost that is linear in the number of samples.

The unknowns of sample k that only its own factors hold (forces, contact points, torques) are
eliminated first, sample by sample and exactly: with the precision D (diagonal) of their
measurements and the dynamics factor's covariance Omega, the dynamics of k become a factor on the
poses and the parameters with the covariance

    S = Omega + J D^-1 J^T.

What is left couples the poses within a stencil, k - 1 to k + 1 or k - 2 to k + 2: a banded matrix
of 18 or 30 diagonals, bordered by the ten parameters and, where there is one, a constant residual
wrench: q unknowns in all. It is factored by LAPACK's banded Cholesky, and the parameters follow
from its Schur complement, whose inverse is their covariance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

from contactid.inhand.identify.kinematics import POSE

# a little above what rounding leaves of a zero eigenvalue beside a unit diagonal
_LEAST_CURVATURE = 1e-13  # of the scaled Schur complement; directions below it don't move


@dataclass(frozen=True)
class Residuals:
    """Of all factors at one point, whitened only where said; n samples, d unknowns of a sample, m
    inner samples.

    Attributes
    ----------
    pose : (n, 6) whitened, with the derivative ``pose_rows`` (n, 6, 6)
    local : (n, d) of what acts at the samples, in the unknowns' units
    dynamics : (m, 6)
    own : (r,) whitened, of the parameters' own factors, with the derivative ``own_rows`` (r, q)
    """

    pose: np.ndarray
    pose_rows: np.ndarray
    local: np.ndarray
    dynamics: np.ndarray
    own: np.ndarray
    own_rows: np.ndarray


@dataclass(frozen=True)
class Linearization:
    """All factors at one point.

    Attributes
    ----------
    at : the residuals there
    local_precision : (n, d)
    dynamics_variance : (6,) of the dynamics factors
    by_pose, by_local, by_parameters : derivatives of the dynamics: (m, 6, s), s increments of its
        poses, (m, 6, d) and (m, 6, q)
    """

    at: Residuals
    local_precision: np.ndarray
    dynamics_variance: np.ndarray
    by_pose: np.ndarray
    by_local: np.ndarray
    by_parameters: np.ndarray

    @property
    def inner(self) -> slice:
        """The samples that have a dynamics factor."""
        # a scheme loses as many samples at either end, so half of the difference is its reach
        reach = (len(self.at.pose) - len(self.at.dynamics)) // 2
        return slice(reach, len(self.at.pose) - reach)


@dataclass(frozen=True)
class Step:
    """Increments of poses and parameters; what acts at the samples follows by :func:`local_step`.

    Attributes
    ----------
    poses : (n, 6)
    parameters : (q,)
    expected_decrease : of the cost by all increments, in the linear model; at a minimum it vanishes
    parameter_curvature : (q, q), the Schur complement
    """

    poses: np.ndarray
    parameters: np.ndarray
    expected_decrease: float
    parameter_curvature: np.ndarray


@dataclass(frozen=True)
class ReducedGraph:
    """Poses and parameters after the elimination of what acts at each sample.

    Attributes
    ----------
    residual, weight : (m, 6) dynamics with the sample's own unknowns at their best, and (m, 6, 6)
        their S^-1
    band : (s, 6 n) lower diagonals of the poses' matrix
    border : (6 n, q)
    corner : (q, q)
    pose_gradient, corner_gradient : (6 n,) and (q,)
    """

    residual: np.ndarray
    weight: np.ndarray
    band: np.ndarray
    border: np.ndarray
    corner: np.ndarray
    pose_gradient: np.ndarray
    corner_gradient: np.ndarray


def reduce_graph(graph: Linearization) -> ReducedGraph:
    """Eliminate what acts at each sample, and gather the normal equations of poses and parameters."""
    count = len(graph.at.pose)
    residual, weight = _eliminated(graph)
    # S^-1 J_p, (m, 6, s), and J_p^T S^-1 J_p, (m, s, s)
    weighted_poses = weight @ graph.by_pose
    blocks = np.swapaxes(graph.by_pose, 1, 2) @ weighted_poses
    size, unknowns = graph.by_pose.shape[2], graph.by_parameters.shape[2]
    # only lower diagonals are kept: LAPACK's banded solver reads no others
    band = np.zeros((size, POSE * count))
    border = np.zeros((POSE * count, unknowns))
    gradient = np.zeros(POSE * count)
    _add_blocks(band, blocks)
    # the pose factors are whitened and touch one pose each: blocks (n, 6, 6)
    _add_blocks(band, np.swapaxes(graph.at.pose_rows, 1, 2) @ graph.at.pose_rows)
    # (m, s, q) and (m, s): poses against parameters, and against the residual
    crossed = np.swapaxes(weighted_poses, 1, 2)
    cross, pull = crossed @ graph.by_parameters, np.einsum("kij,kj->ki", crossed, residual)
    # neighbours' stencils overlap, so each of their poses is added at its own shift
    for part in range(size // POSE):
        own = slice(POSE * part, POSE * (part + 1))
        rows = slice(POSE * part, POSE * (part + len(residual)))
        border[rows] += cross[:, own].reshape(-1, unknowns)
        gradient[rows] += pull[:, own].ravel()
    gradient += np.einsum("kij,ki->kj", graph.at.pose_rows, graph.at.pose).ravel()
    # S^-1 J_theta, (m, 6, q)
    weighted = weight @ graph.by_parameters
    corner = (
        np.einsum("kia,kib->ab", graph.by_parameters, weighted)
        + graph.at.own_rows.T @ graph.at.own_rows
    )
    slope = np.einsum("kia,ki->a", weighted, residual) + graph.at.own_rows.T @ graph.at.own
    return ReducedGraph(residual, weight, band, border, corner, gradient, slope)


def solve_step(graph: Linearization, reduced: ReducedGraph, damping: float) -> Step | None:
    """Levenberg's step with Marquardt's scaling on poses and parameters; None where the poses'
    matrix isn't definite.

    ``damping`` times the diagonals of the poses' matrix and of the Schur complement is added to
    them. What acts at a sample isn't damped: it enters linearly but for the lever arms, and follows
    the other unknowns.
    """
    # the first row of lower band storage is the diagonal
    band = reduced.band.copy()
    band[0] *= 1.0 + damping
    try:
        factor = cholesky_banded(band, lower=True, check_finite=False)
    except (LinAlgError, ValueError):
        return None
    # one back substitution serves border and gradient: (6 n, q + 1)
    right = np.column_stack([reduced.border, reduced.pose_gradient])
    solved = cho_solve_banded((factor, True), right, check_finite=False)
    # C - B^T A^-1 B; rounding leaves it a little unsymmetric
    schur = reduced.corner - reduced.border.T @ solved[:, :-1]
    schur = 0.5 * (schur + schur.T)
    slope = reduced.corner_gradient - reduced.border.T @ solved[:, -1]
    parameters = -_scaled_solve(schur, slope, damping)
    # back substitution: A dp = -(g + B dtheta)
    poses = -solved[:, -1] - solved[:, :-1] @ parameters
    # half of minus gradient times step: for an undamped step the whole decrease
    expected = -0.5 * float(reduced.pose_gradient @ poses + reduced.corner_gradient @ parameters)
    poses = poses.reshape(-1, POSE)
    return Step(poses, parameters, expected + _local_decrease(graph, reduced), schur)


def local_step(graph: Linearization, reduced: ReducedGraph, dynamics: np.ndarray) -> np.ndarray:
    """(n, d) increments of what acts at the samples, given the dynamics residuals (m, 6) with
    everything else moved.

    Given the residuals as they are after a step, instead of the linear model's, it also takes up
    what poses and parameters do to second order. That keeps steps long: dynamics are stiff beside
    the measurements of forces.
    """
    gap = graph.at.local
    # dynamics residual (m, 6) where the sample's unknowns are at their measurements
    model = dynamics - np.einsum("kid,kd->ki", graph.by_local, gap[graph.inner])
    multiplier = np.einsum("kij,kj->ki", reduced.weight, model)
    # without a dynamics factor, as at both ends, a measurement is met exactly
    step = -gap
    step[graph.inner] -= (
        np.einsum("kid,ki->kd", graph.by_local, multiplier) / graph.local_precision[graph.inner]
    )
    return step


def _eliminated(graph: Linearization) -> tuple[np.ndarray, np.ndarray]:
    precision, gap = graph.local_precision[graph.inner], graph.at.local[graph.inner]
    # S = Omega + J D^-1 J^T, (m, 6, 6)
    covariance = (graph.by_local / precision[:, None, :]) @ np.swapaxes(graph.by_local, 1, 2)
    covariance += np.diag(graph.dynamics_variance)
    return graph.at.dynamics - np.einsum("kid,kd->ki", graph.by_local, gap), np.linalg.inv(
        covariance
    )


def _local_decrease(graph: Linearization, reduced: ReducedGraph) -> float:
    """Decrease of the cost by the sample's own unknowns alone."""
    before = np.sum(graph.at.dynamics**2 / graph.dynamics_variance) + np.sum(
        graph.local_precision * graph.at.local**2
    )
    # with the sample's unknowns at their best the cost is r^T S^-1 r / 2
    after = np.einsum(
        "ki,ki->", np.einsum("kij,kj->ki", reduced.weight, reduced.residual), reduced.residual
    )
    return 0.5 * float(before - after)


def _add_blocks(band: np.ndarray, blocks: np.ndarray) -> None:
    """Add symmetric blocks (m, s, s) along the diagonal, one pose apart, to lower diagonals."""
    count, size, _ = blocks.shape
    # a scalar entry of all blocks at a time: 6 apart in the band, as the poses are
    for column in range(size):
        places = slice(column, column + POSE * count, POSE)
        for row in range(column, size):
            band[row - column, places] += blocks[:, row, column]


def _scaled_solve(matrix: np.ndarray, right: np.ndarray, damping: float) -> np.ndarray:
    """Damped solution with a unit diagonal; directions without curvature stay where they are."""
    # kg, kg m and kg m2 differ by decades: one threshold needs a common scale
    scale = _unit_scale(matrix)
    values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
    inverse = np.where(
        values > _LEAST_CURVATURE, 1.0 / np.maximum(values + damping, _LEAST_CURVATURE), 0.0
    )
    return scale * (vectors @ (inverse * (vectors.T @ (scale * right))))


def parameter_covariance(curvature: np.ndarray) -> np.ndarray:
    """(q, q) inverse of the Schur complement; nan for parameters that a direction without curvature
    touches.
    """
    scale = _unit_scale(curvature)
    values, vectors = np.linalg.eigh(curvature * np.outer(scale, scale))
    flat = values <= _LEAST_CURVATURE
    inverse = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, values))
    covariance = (vectors * inverse) @ vectors.T * np.outer(scale, scale)
    # an entry below 1e-6 of a unit vector counts as rounding
    unknown = np.any(np.abs(vectors[:, flat]) > 1e-6, axis=1)
    covariance[unknown] = covariance[:, unknown] = np.nan
    return covariance


def _unit_scale(matrix: np.ndarray) -> np.ndarray:
    diagonal = np.diag(matrix)
    # a parameter without curvature keeps its zero row instead of becoming nan
    return 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))

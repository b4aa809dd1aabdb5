"""The body that can exist and is likeliest by what data say, with a soft prior that knows the
object's hull alone.

A body is its pseudo-inertia matrix as ``P = L F F^T L^T``, L the factor of the uniform body's in
the hull and F lower triangular with a positive diagonal: positive definite at every step of the
search. The centre of mass is kept in the hull (eq. 37). The prior is the geodesic distance (eq. 20)
to the body of uniform density in the hull, whatever its mass, and a mass that the sensed forces
weigh, within a factor of e; no truth is in it. Without it (weight 0), what the data leave open
drifts to the edge, where a body is flat or has no mass.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from contactid.core.inertia import (
    InertialParameters,
    hull_halfspaces,
    pseudo_inertia,
    tensor_entries,
    uniform_body,
)

# of half the squared distance to the uniform body: each direction within about 0.07 of it
PRIOR_WEIGHT = 200.0
_MARGIN = 1e-3  # of the size, that the centre of mass keeps from the hull
# in sizes of the object: a centre outside by 1e-5 of it costs one standard error
_STIFF = 1e5
_FLATTEST = 10.0  # logarithm of the least diagonal, which the search meets where there is no prior
# the uniform body of 1 kg is at this and not at 0, where the first step would have no length
_AWAY = 1.0


def likeliest_body(
    answer: np.ndarray,
    known: np.ndarray,
    hull: np.ndarray,
    weight: float,
    start: InertialParameters,
    weighed: float,
) -> tuple[InertialParameters, bool]:
    """The body with the least squared error of the data and distance to the uniform body, centre of
    mass in the hull.

    And whether the search for it ended by itself.

    Parameters
    ----------
    answer, known
        (10,) parameters that the data want, and (10, 10) their information.
    hull
        (v, 3) m.
    weight
        Of half the squared geodesic distance, whatever the mass.
    start
        A body that can exist.
    weighed
        kg, the mass that is expected, within a factor of e where ``weight`` is
        :data:`PRIOR_WEIGHT`.
    """
    # a root of the information, from its unit-diagonal form
    values, vectors = np.linalg.eigh(known / np.outer(*[np.sqrt(np.diag(known))] * 2))
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T * np.sqrt(np.diag(known))
    normals, offsets = hull_halfspaces(hull)
    size = float(np.ptp(hull, axis=0).max())
    # in these coordinates the uniform body is the identity, whatever the units
    lower = np.linalg.cholesky(_homogeneous(uniform_body(1.0, hull).vector))
    inverse = np.linalg.inv(lower)
    rows = np.tril_indices(4)

    def matrix_of(x: np.ndarray) -> np.ndarray:
        factor = np.zeros((4, 4))
        factor[rows] = x - _AWAY
        # logarithms on the diagonal keep it positive
        factor[np.diag_indices(4)] = np.exp(np.clip(np.diag(factor), -_FLATTEST, _FLATTEST))
        return lower @ factor @ factor.T @ lower.T

    def errors(x: np.ndarray) -> np.ndarray:
        matrix = matrix_of(x)
        vector = _vector_of(matrix)
        values, axes = np.linalg.eigh(inverse @ matrix @ inverse.T)
        log = (axes * np.log(np.maximum(values, 1e-300))) @ axes.T
        # the mass's part scales all of P: taken off, so the prior doesn't weigh it here
        log -= 0.25 * np.trace(log) * np.eye(4)
        # (10,) whose norm is the Frobenius norm of log: off-diagonals count twice
        off = np.where(np.eye(4, dtype=bool), 1.0, np.sqrt(2.0))[rows] * log[rows]
        # distance beyond each face, in sizes of the object
        out = (normals @ (vector[1:4] / vector[0]) - offsets) / size + _MARGIN
        # within a factor of e: one deviation of log m
        heavier = np.sqrt(weight / PRIOR_WEIGHT) * np.log(vector[:1] / weighed)
        # sqrt(weight) d, with d = |log| / 2
        prior = 0.5 * np.sqrt(weight) * off
        return np.concatenate(
            # the hull is a stiff one-sided cost, so a search step may cross and come back
            [root @ (vector - answer), prior, heavier, _STIFF * np.maximum(out, 0.0)]
        )

    first = inverse @ _homogeneous(start.vector) @ inverse.T
    factor = np.linalg.cholesky(first)
    factor[np.diag_indices(4)] = np.log(np.diag(factor))
    # x_scale: columns are of very different size
    found = least_squares(errors, factor[rows] + _AWAY, method="trf", x_scale="jac", max_nfev=300)
    return InertialParameters.from_vector(_vector_of(matrix_of(found.x))), bool(found.success)


def _homogeneous(vector: np.ndarray) -> np.ndarray:
    """P (4, 4) over the coordinates (1, x, y, z) of a vector (10,)."""
    # mass first, so that the factor's first column is mass and first moments
    return np.roll(pseudo_inertia(vector), 1, axis=(0, 1))


def _vector_of(matrix: np.ndarray) -> np.ndarray:
    """(10,) of P (4, 4) over the coordinates (1, x, y, z)."""
    sigma = matrix[1:, 1:]
    return np.concatenate(
        [matrix[0, :1], matrix[0, 1:], tensor_entries(np.trace(sigma) * np.eye(3) - sigma)]
    )

"""Rotations: unit quaternions, real part first, with the logarithm and the means of the studies.

Conventions
-----------
* A quaternion ``q`` of shape ``(..., 4)`` is ``(w, x, y, z)`` and stands for the active rotation
  ``R`` with ``a_p = R b_p``: it takes coordinates in the body frame B to coordinates in the
  reference frame.
* Rotation vectors have shape ``(..., 3)``, in radians; a sequence of rotations is converted as a
  whole.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError


def skew(vectors: np.ndarray) -> np.ndarray:
    """Matrices ``(..., 3, 3)`` with ``skew(a) b = a x b``."""
    vectors = np.asarray(vectors, dtype=float)
    matrices = np.zeros((*vectors.shape[:-1], 3, 3))
    # the entries above the diagonal, and their opposites below it
    for row, column, axis, sign in ((0, 1, 2, -1.0), (0, 2, 1, 1.0), (1, 2, 0, -1.0)):
        matrices[..., row, column] = sign * vectors[..., axis]
        matrices[..., column, row] = -sign * vectors[..., axis]
    return matrices


def as_rotation(quaternions: np.ndarray) -> Rotation:
    """SciPy's rotation object for quaternions ``(..., 4)``, real part first."""
    return Rotation.from_quat(np.asarray(quaternions, dtype=float), scalar_first=True)


def as_quaternions(rotation: Rotation) -> np.ndarray:
    """Quaternions ``(..., 4)``, real part first."""
    return rotation.as_quat(scalar_first=True)


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices ``(..., 3, 3)`` of quaternions ``(..., 4)``."""
    return as_rotation(quaternions).as_matrix()


def from_matrices(rotation_matrices: np.ndarray) -> np.ndarray:
    """Quaternions ``(..., 4)`` of the rotations nearest to matrices ``(..., 3, 3)``,
    sign-continuous along axis 0.
    """
    quaternions = as_quaternions(Rotation.from_matrix(np.asarray(rotation_matrices, dtype=float)))
    return continuous(quaternions) if quaternions.ndim == 2 else quaternions


def continuous(quaternions: np.ndarray) -> np.ndarray:
    """Flip signs along axis 0 so that neighbours are in one hemisphere; ``q`` is ``-q``."""
    quaternions = np.asarray(quaternions, dtype=float)
    # a product of exactly zero is half a turn, of which either sign is as near
    steps = np.sign(np.einsum("ki,ki->k", quaternions[1:], quaternions[:-1]))
    signs = np.concatenate([[1.0], np.cumprod(np.where(steps == 0.0, 1.0, steps))])
    return quaternions * signs[:, None]


def log(quaternions: np.ndarray) -> np.ndarray:
    """Rotation vectors ``(..., 3)`` of angles in [0, pi] (the ``log`` of eq. 13, tossing).

    They are accurate near 0 and pi: the quaternion's half angle is well conditioned everywhere,
    unlike the arc cosine of the matrix's trace, whose derivative is infinite at pi.
    """
    return as_rotation(quaternions).as_rotvec()


def exp(rotation_vectors: np.ndarray) -> np.ndarray:
    """Quaternions ``(..., 4)`` of rotation vectors ``(..., 3)``; inverts :func:`log` below pi."""
    return as_quaternions(Rotation.from_rotvec(np.asarray(rotation_vectors, dtype=float)))


def angle_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Geodesic distance ``|log(R1^-1 R2)|`` in radians, in [0, pi], for quaternions ``(..., 4)``.

    Computed as ``4 asin(|q1 -+ q2| / 2)``, which is the quaternion form of ``2 asin(|R1 - R2|_F /
    sqrt 8)``.
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    chord = np.minimum(
        np.linalg.norm(first - second, axis=-1), np.linalg.norm(first + second, axis=-1)
    )
    # rounding can make half a chord larger than one
    return 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))


def karcher_mean(
    quaternions: np.ndarray, tolerance: float = 1e-12, max_iterations: int = 50
) -> np.ndarray:
    """Riemannian mean ``(4,)`` of rotations ``(n, 4)``: where the mean of the logarithms vanishes.

    Raises :class:`ContactIdError` where the rotations are spread so widely that the iteration
    doesn't settle.
    """
    rotations = as_rotation(np.atleast_2d(quaternions))
    # Newton-like steps from one of them; they converge fast where all are within half a turn
    mean = rotations[0]
    for _ in range(max_iterations):
        step = (mean.inv() * rotations).as_rotvec().mean(axis=0)
        mean = mean * Rotation.from_rotvec(step)
        if np.linalg.norm(step) < tolerance:
            return as_quaternions(mean)
    raise ContactIdError(
        "the Karcher mean of a set of rotations doesn't settle",
        "The rotations are too far apart to have one mean",
    )

"""What noise in the poses does to a fit that is linear in the parameters: it passes for motion, and so for information.

The regressor ``Y`` is taken at the likeliest poses. What is left of their errors, of covariance D, adds to the
information ``A = Y^T W Y`` on average what it would be of that noise alone, ``N_ij = tr(W B_i D B_j^T)``, where ``B_i``
is the slope by the poses of the wrench of the i-th parameter alone and ``W`` the inverse of the wrenches' covariance,
which has the poses' noise in it. The score ``Y^T W (w - Y theta)`` is zero on average at the truth, since the poses
follow the answer and what is left of their errors is independent of the residuals. Its variance is A, and its slope
``A - N`` and not A. So where it is zero, parameters have the covariance ``(A - N)^-1 A (A - N)^-1`` (the sandwich of
estimating equations; for errors in variables Carroll, Ruppert, Stefanski, Crainiceanu, *Measurement Error in Nonlinear
Models*, 2006). Under strong motion N is small beside A; under weak motion nearly all of A is noise.
"""

from __future__ import annotations

import numpy as np

from contactid.inhand.identify.kinematics import POSE, BodyMotion
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH, regressor

_SEEN = 9  # rate, its change and specific force
_LEAST_LEFT = 0.05  # share of the information that is left at least
_FLAT = 1e-13  # relative information; below it, what is lost to rounding is left large


def noise_information(motion: BodyMotion, vector: np.ndarray, weights: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """N (10, 10), see the module.

    Parameters
    ----------
    motion
        m samples, at the likeliest poses.
    vector
        (10,) parameters.
    weights
        W (6 m, 6 m).
    prior
        (6 n, 6 n) covariance of the errors of the measured poses, rotation then position; n samples, which the motion's
        derivatives reach.
    """
    m = len(motion.rate)
    blocks = np.concatenate([motion.d_rate, motion.d_rate_change, motion.d_specific_force], axis=1)
    seen = through(blocks, through(blocks, prior).T)  # covariance of what the measured poses show of the motion
    slopes = _slopes(motion)
    by_seen = np.einsum("kcja,j->kca", slopes, vector)
    wrench = np.matmul(by_seen, seen.reshape(m, _SEEN, -1)).reshape(m * WRENCH, -1)
    left = (seen - wrench.T @ (weights @ wrench)).reshape(m, _SEEN, m * _SEEN)
    stacked, total = slopes.reshape(m, WRENCH, -1), np.zeros((PARAMETERS, PARAMETERS))
    for k in range(m):
        row = weights[WRENCH * k : WRENCH * (k + 1)].reshape(WRENCH, m, WRENCH).transpose(1, 0, 2)
        weighted = np.matmul(row, stacked).reshape(m, WRENCH * PARAMETERS, _SEEN)
        each = weighted.transpose(1, 0, 2).reshape(WRENCH * PARAMETERS, -1) @ left[k].T
        total += np.einsum("cia,cja->ij", slopes[k], each.reshape(WRENCH, PARAMETERS, _SEEN))
    return 0.5 * (total + total.T)


def through(blocks: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """(r m, c): by what r values at m samples change, of derivatives (m, r, s) by poses around and changes (6 n, c)."""
    around = np.lib.stride_tricks.sliding_window_view(changes, blocks.shape[2], axis=0)[::POSE]
    return np.matmul(blocks, np.swapaxes(around, 1, 2)).reshape(-1, changes.shape[1])


def without_noise(information: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``A - N`` (d, d), and the covariance (d, d) of the zero of the score, of A (d, d) and N (10, 10).

    What is in A besides the ten parameters doesn't multiply the motion. At least a twentieth of A is left in every
    direction: N is an estimate, too.
    """
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    size = np.sqrt(np.maximum(values, _FLAT * values[-1]))
    root, inverse = scale[:, None] * vectors * size, (vectors / size).T / scale
    inner = inverse[:, :PARAMETERS] @ noise @ inverse[:, :PARAMETERS].T
    values, vectors = np.linalg.eigh(0.5 * (inner + inner.T))
    left = np.clip(1.0 - values, _LEAST_LEFT, 1.0)
    axes, spread = root @ vectors, inverse.T @ vectors / left
    return (axes * left) @ axes.T, spread @ spread.T


def _slopes(motion: BodyMotion) -> np.ndarray:
    """(m, 6, 10, 9) derivative of the regressor by what is seen of the motion, in which it is quadratic."""
    seen = np.concatenate([motion.rate, motion.rate_change, motion.specific_force], axis=1)
    slopes = np.empty((len(seen), WRENCH, PARAMETERS, _SEEN))
    for i, step in enumerate(np.eye(_SEEN)):
        up, down = (regressor(BodyMotion.alone(*np.split(one, 3, axis=1))) for one in (seen + step, seen - step))
        slopes[..., i] = 0.5 * (up - down)
    return slopes

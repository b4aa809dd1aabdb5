"""What noise in the poses does to a fit that is linear in the parameters: it passes for motion, and
so for information.

The regressor ``Y`` is taken at the likeliest poses. What is left of their errors, of covariance D,
adds to the information ``A = Y^T W Y`` on average what it would be of that noise alone, ``N_ij =
tr(W B_i D B_j^T)``, where ``B_i`` is the slope by the poses of the wrench of the i-th parameter
alone and ``W`` the inverse of the wrenches' covariance, which has the poses' noise in it. The score
``Y^T W (w - Y theta)`` is zero on average at the truth, since the poses follow the answer and what
is left of their errors is independent of the residuals. Its variance is A, and its slope ``A - N``
and not A. So where it is zero, parameters have the covariance ``(A - N)^-1 A (A - N)^-1`` (the
sandwich of estimating equations; for errors in variables Carroll, Ruppert, Stefanski, Crainiceanu,
*Measurement Error in Nonlinear Models*, 2006). Under strong motion N is small beside A; under weak
motion nearly all of A is noise.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from contactid.inhand.identify.kinematics import POSE, BodyMotion
from contactid.inhand.identify.latent_errors import LatentErrors
from contactid.inhand.identify.linearised import Linearised
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH, regressor

_SEEN = 9  # rate, its change and specific force
_DRAWS, _SEED = 8, 0  # of errors of the poses; every draw is a mean over all samples
_AT_ONCE = 4  # draws; more take memory in long recordings
_LEAST_LEFT = 0.05  # share of the information that is left at least
_FLAT = 1e-13  # relative information; below it, what is lost to rounding is left large


class NoiseInformation:
    """N (see the module) of equations at the likeliest poses; computed when it is first asked for.

    Parameters
    ----------
    present
        The equations.
    stated
        (6,) stated deviations of a pose's increment.
    errors
        With their precision at these equations.
    """

    def __init__(self, present: Linearised, stated: np.ndarray, errors: LatentErrors) -> None:
        self._present, self._stated, self._errors = present, stated, errors

    @cached_property
    def matrix(self) -> np.ndarray:
        """(10, 10)."""
        return noise_information(self._present, self._stated, self._errors)


def noise_information(present: Linearised, stated: np.ndarray, errors: LatentErrors) -> np.ndarray:
    """N (10, 10), see the module; a mean over draws of what is left of the poses' errors.

    Of equations at the likeliest poses, the stated deviations (6,) of a pose's increment, and the
    errors' precision.
    """
    motion, rows = present.motion, present.equations.rows
    # (m, 9, 30) by the poses around
    blocks = np.concatenate([motion.d_rate, motion.d_rate_change, motion.d_specific_force], axis=1)
    reach = blocks.shape[2] // POSE
    # whitened, (m, 6, 9, 10)
    slopes = np.linalg.solve(present.roots[:, None], np.moveaxis(_slopes(motion), 2, 1))
    drawn = errors.draw_pose_errors(_DRAWS, np.random.default_rng(_SEED)) * stated[:, None]
    # (m, 30, draws)
    around = np.concatenate([drawn[rows - reach // 2 + i] for i in range(reach)], axis=1)
    seen, total = blocks @ around, np.zeros((PARAMETERS, PARAMETERS))
    for some in np.split(seen, _DRAWS // _AT_ONCE, axis=2):
        # B_i times each draw, (m, 6, draws, 10), and their products with W
        moved = np.moveaxis(slopes @ some[:, None], 1, 3)
        products = errors.inner(moved.reshape(*moved.shape[:2], -1))
        whole = products.reshape(_AT_ONCE, PARAMETERS, _AT_ONCE, PARAMETERS)
        total += np.einsum("kikj->ij", whole) / _DRAWS
    return total


def without_noise(information: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``A - N`` (d, d), and the covariance (d, d) of the zero of the score, of A (d, d) and N (d,
    d).

    At least a twentieth of A is left in every direction: N is an estimate, too.
    """
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    size = np.sqrt(np.maximum(values, _FLAT * values[-1]))
    # A = root root^T
    root, inverse = scale[:, None] * vectors * size, (vectors / size).T / scale
    inner = inverse @ noise @ inverse.T
    values, vectors = np.linalg.eigh(0.5 * (inner + inner.T))
    # eigenvalues of A^-1/2 N A^-1/2 are the noise's share of each direction
    left = np.clip(1.0 - values, _LEAST_LEFT, 1.0)
    # (A - N)^-1 A (A - N)^-1 = spread spread^T
    axes, spread = root @ vectors, inverse.T @ vectors / left
    return (axes * left) @ axes.T, spread @ spread.T


def _slopes(motion: BodyMotion) -> np.ndarray:
    """(m, 6, 10, 9) derivative of the regressor by what is seen of the motion, in which it is
    quadratic.
    """
    seen = np.concatenate([motion.rate, motion.rate_change, motion.specific_force], axis=1)
    slopes = np.empty((len(seen), WRENCH, PARAMETERS, _SEEN))
    for i, step in enumerate(np.eye(_SEEN)):
        up, down = (
            regressor(BodyMotion.alone(*np.split(one, 3, axis=1)))
            for one in (seen + step, seen - step)
        )
        # quadratic, so central differences with a step of 1 are exact
        slopes[..., i] = 0.5 * (up - down)
    return slopes

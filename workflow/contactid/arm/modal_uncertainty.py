"""How sure a reconstructed post-impact velocity is: noise of the samples, of v-, of the impact time, of given poles.

All follow from the whitened Jacobian J of the model by all its parameters theta at the optimum. A small change e of the
target moves the parameters by ``J^+ e``, so that

* noise of variance s^2 gives ``s^2 (J^T J)^-1``;
* an error of v-, to which the offset is tied, changes the target by ``-W 1``;
* an impact time later by d makes every sample earlier by d: equivalent to a target changed by ``f'(t) d``;
* poles that were taken from another signal move the coefficients by ``-J^+ (df/dpoles)``.

These are first-order formulas; they say nothing of a model that is wrong (a mode too few).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.arm.modal_search import pole_slopes
from contactid.arm.modal_signal import TIED, ModalProblem


@dataclass(frozen=True)
class Linearised:
    """First-order behaviour of the d channels' post-impact velocities at the optimum.

    Attributes
    ----------
    per_variance : (d, d) covariance of v+ for unit variance of the whitened samples
    by_pre_velocity : (d, d) derivative of v+ by v-
    by_impact_time : (d,) derivative of v+ by the impact time at fixed samples and fixed v-, m/s^2
    by_poles : (d, 2 m) derivative of v+ by gamma_1, omega_1, ... where these were given, else zero
    pole_per_variance : (2 m, 2 m) covariance of the poles for unit variance; zero where they were given
    """

    per_variance: np.ndarray
    by_pre_velocity: np.ndarray
    by_impact_time: np.ndarray
    by_poles: np.ndarray
    pole_per_variance: np.ndarray


def linearise(problem: ModalProblem, poles: np.ndarray, coefficients: np.ndarray, *, fitted_poles: bool) -> Linearised:
    """Derivatives and covariances at poles (m,) and coefficients (p, d)."""
    p, channels = coefficients.shape
    waves, derivatives = problem.modes(poles)
    columns = problem.whiten(problem.columns(waves))
    slopes = pole_slopes(problem, derivatives, coefficients)
    q = slopes.shape[-1]
    linear = np.kron(columns, np.eye(channels))
    by_poles = slopes.reshape(-1, q)
    jacobian = np.column_stack([linear, by_poles]) if fitted_poles else linear
    scale = np.linalg.norm(jacobian, axis=0)
    scale[scale == 0.0] = 1.0
    inverse = np.linalg.pinv(jacobian / scale) / scale[:, None]
    wanted = np.zeros((channels, jacobian.shape[1]))
    wanted[:, : p * channels] = np.kron(_post_row(problem, p), np.eye(channels))
    response = wanted @ inverse  # (d, r d): of v+ to changes of the target
    ones = np.kron(problem.whiten(np.ones((len(problem.time), 1))), np.eye(channels))
    tied = problem.offset == TIED
    rate = problem.whiten(_rate(problem, waves, poles, coefficients))
    at_poles = inverse[p * channels :] if fitted_poles else np.zeros((q, jacobian.shape[0]))
    return Linearised(
        per_variance=response @ response.T,
        by_pre_velocity=np.eye(channels) - response @ ones if tied else np.zeros((channels, channels)),
        by_impact_time=response @ rate.ravel(),
        by_poles=np.zeros((channels, q)) if fitted_poles else -response @ by_poles,
        pole_per_variance=at_poles @ at_poles.T,
    )


def _post_row(problem: ModalProblem, p: int) -> np.ndarray:
    """(1, p): v+ (less v- where tied) from one channel's coefficients."""
    row = np.zeros((1, p))
    if problem.offset == TIED:
        row[0, problem.leading :: 2] = -1.0
    else:
        row[0, 1] = 1.0
    return row


def _rate(problem: ModalProblem, waves: np.ndarray, poles: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """(n, d) time derivative of the model."""
    bend = coefficients[problem.leading - 1] if problem.options.curved else 0.0
    affine = coefficients[0] + 2.0 * problem.time[:, None] * bend
    return affine + (waves @ (problem.amplitudes(coefficients) * poles[:, None])).real

"""Eq. 7 of the arm paper as a linear model for given poles: its columns, their derivatives, and the
noise's metric.

For poles ``s_k = gamma_k + i omega_k`` the velocity after an impact is

``f(t) = v- + a t + sum_k Re(z_k (e^{s_k t} - 1))``, ``z_k = A_k e^{i phi_k}`` (offset tied to v-,
eq. 7), or ``f(t) = v+ + a t + sum_k Re(z_k e^{s_k t})`` (free offset),

so it is linear in a, ``c_k = Re z_k = A_k cos phi_k`` and ``Im z_k`` (and v+).

Velocities from differences of noisy positions have correlated noise: neighbours share a position.
For n mean velocities between n + 1 positions with white noise, the metric ``(D D^T)^-1``, D the
differencing, is ``W^T W`` with W the running integral less its mean, of n + 1 rows. Least squares
in it is least squares on the positions with a free origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

TIED, FREE = "pre_velocity", "free"
WHITE, DIFFERENCED = "white", "differenced"
# (2,) bounds of gamma (1/s) and omega (rad/s): decays of 1 to 300 1/s, frequencies of 2 to 80 Hz,
# so no real poles
LOW, HIGH = np.array([-300.0, 2.0 * np.pi * 2.0]), np.array([-1.0, 2.0 * np.pi * 80.0])
_SMALL = 1e-4  # |s| times half the averaging time below which a series replaces sinh(x) / x


@dataclass(frozen=True)
class ModalProblem:
    """A signal and how eq. 7 is fitted to it.

    Attributes
    ----------
    time : (n,) since the impact, s
    values : (n, d) velocities, less v- where the offset is tied, m/s
    offset : ``pre_velocity`` or ``free``
    noise : ``white`` (as the paper: every velocity sample alike) or ``differenced`` (positions have
        the white noise)
    averaging : length of time over which a velocity sample is a mean, s; the sampling interval for
        differences
    """

    time: np.ndarray
    values: np.ndarray
    offset: str = TIED
    noise: str = WHITE
    averaging: float = 0.0

    @cached_property
    def target(self) -> np.ndarray:
        """(r, d) whitened velocities; r = n (+ 1 for differenced noise)."""
        return self.whiten(self.values)

    @property
    def step(self) -> float:
        """The sampling interval, s."""
        return (self.time[-1] - self.time[0]) / (len(self.time) - 1)

    @property
    def leading(self) -> int:
        """Number of columns before those of the modes."""
        return 1 + (self.offset == FREE)

    def whiten(self, values: np.ndarray) -> np.ndarray:
        """(..., r, k) from (..., n, k): samples in the metric of their noise."""
        if self.noise == WHITE:
            return values
        # running integral of the velocities: positions, whose noise is white
        integral = (
            np.concatenate([np.zeros_like(values[..., :1, :]), np.cumsum(values, axis=-2)], axis=-2)
            * self.step
        )
        # a free origin
        return integral - integral.mean(axis=-2, keepdims=True)

    def modes(self, poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., n, m) ``e^{s t}``, averaged over each sample, and its derivative by s, for poles
        (..., m).
        """
        t, s = self.time[:, None], np.asarray(poles)[..., None, :]
        # mean of e^(s t) over an interval: times sinh(s h / 2) / (s h / 2)
        half = 0.5 * self.averaging
        mean, slope = _mean_factor(s * half)
        wave = np.exp(s * t)
        return wave * mean, wave * (t * mean + half * slope)

    def columns(self, waves: np.ndarray) -> np.ndarray:
        """(..., n, p) columns for modes (..., n, m): t, (1,) then Re and -Im of every mode."""
        shape = (*waves.shape[:-1], 1)
        affine = [np.broadcast_to(self.time[:, None], shape)]
        if self.offset == FREE:
            affine.append(np.ones(shape))
        # tied: e^(s t) - 1, which vanishes at the impact
        shift = 1.0 if self.offset == TIED else 0.0
        pairs = np.stack([waves.real - shift, -waves.imag], axis=-1)
        return np.concatenate([*affine, pairs.reshape(*waves.shape[:-1], -1)], axis=-1)

    def amplitudes(self, coefficients: np.ndarray) -> np.ndarray:
        """(..., m, d) complex ``A e^{i phi}`` from coefficients (..., p, d)."""
        modal = coefficients[..., self.leading :, :]
        # Re z and Im z stand side by side
        return modal[..., 0::2, :] + 1j * modal[..., 1::2, :]


def _mean_factor(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sinh(x) / x and its derivative, for complex x."""
    # no division by zero where the series is taken
    safe = np.where(np.abs(x) < _SMALL, 1.0, x)
    value = np.where(np.abs(x) < _SMALL, 1.0 + x * x / 6.0, np.sinh(safe) / safe)
    slope = np.where(np.abs(x) < _SMALL, x / 3.0, (np.cosh(safe) - np.sinh(safe) / safe) / safe)
    return value, slope


def parts_of(poles: np.ndarray) -> np.ndarray:
    """(..., 2 m) gamma_1, omega_1, gamma_2, ... of poles (..., m)."""
    return np.stack([poles.real, poles.imag], axis=-1).reshape(*poles.shape[:-1], -1)


def poles_of(point: np.ndarray) -> np.ndarray:
    """(..., m) poles of gamma_1, omega_1, gamma_2, ... (..., 2 m)."""
    return point[..., 0::2] + 1j * point[..., 1::2]


def scaled_inverse(jacobian: np.ndarray) -> np.ndarray:
    """Pseudoinverse (q, r) of a Jacobian (r, q), columns first brought to length one."""
    scale = np.linalg.norm(jacobian, axis=0)
    # a column of zeros stays one
    scale[scale == 0.0] = 1.0
    return np.linalg.pinv(jacobian / scale) / scale[:, None]

"""Eq. 7 of the arm paper as a linear model for given poles: its columns, their derivatives, and the noise's metric.

For poles ``s_k = gamma_k + i omega_k`` the velocity after an impact is

``f(t) = v- + a t + sum_k Re(z_k (e^{s_k t} - 1))``, ``z_k = A_k e^{i phi_k}`` (offset tied to v-, eq. 7), or
``f(t) = v+ + a t + sum_k Re(z_k e^{s_k t})`` (free offset),

so it is linear in a, ``c_k = Re z_k = A_k cos phi_k`` and ``Im z_k`` (and v+). Beyond the paper, a term ``b t^2`` may
be added: a rigid arm that slides on changes its posture, and its velocity isn't quite affine.

Velocities from differences of noisy positions have correlated noise: neighbours share a position. For n mean velocities
between n + 1 positions with white noise, the metric ``(D D^T)^-1``, D the differencing, is ``W^T W`` with W the running
integral less its mean, of n + 1 rows. Least squares in it is least squares on the positions with a free origin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.errors import ContactIdError

TIED, FREE = "pre_velocity", "free"
WHITE, DIFFERENCED = "white", "differenced"
_SMALL = 1e-4  # |s| times half the averaging time below which a series replaces sinh(x) / x


@dataclass(frozen=True)
class ModalOptions:
    """How to fit eq. 7.

    Attributes
    ----------
    frequency_hz : lowest and highest frequency of a mode (omega / 2 pi), Hz; real poles are excluded by the lowest
    decay : smallest and largest -gamma, 1/s
    spacing : of the grid's frequencies, in units of 1 / (length of the signal)
    decays : number of the grid's decays, evenly spaced in their logarithm
    starts : lowest local minima of the grid that are polished
    iterations : limit of a polishing
    noise : ``white`` (as the paper: every velocity sample alike) or ``differenced`` (positions have the white noise)
    averaging : length of time over which a velocity sample is a mean, s; the sampling interval for differences
    curved : add a term b t^2 to the rigid response
    """

    frequency_hz: tuple[float, float] = (2.0, 80.0)
    decay: tuple[float, float] = (1.0, 300.0)
    spacing: float = 0.4
    decays: int = 6
    starts: int = 24
    iterations: int = 300
    noise: str = WHITE
    averaging: float = 0.0
    curved: bool = False

    def __post_init__(self) -> None:
        for name, (low, high) in (("frequency_hz", self.frequency_hz), ("decay", self.decay)):
            if not 0.0 < low < high:
                raise ContactIdError(f"modal fit: {name} is {low:g} to {high:g}", "Give an ascending positive range")
        if self.noise not in (WHITE, DIFFERENCED):
            raise ContactIdError(f"modal fit: unknown noise {self.noise!r}", f"Choose {WHITE} or {DIFFERENCED}")

    @property
    def low(self) -> np.ndarray:
        """(2,) lower bounds of gamma (1/s) and omega (rad/s)."""
        return np.array([-self.decay[1], 2.0 * np.pi * self.frequency_hz[0]])

    @property
    def high(self) -> np.ndarray:
        """(2,) upper bounds of gamma (1/s) and omega (rad/s)."""
        return np.array([-self.decay[0], 2.0 * np.pi * self.frequency_hz[1]])


@dataclass(frozen=True)
class ModalProblem:
    """A signal in the noise's metric.

    Attributes
    ----------
    time : (n,) since the impact, s
    target : (r, d) whitened velocities, less v- where the offset is tied; r = n (+ 1 for differenced noise)
    offset : ``pre_velocity`` or ``free``
    options : as given
    """

    time: np.ndarray
    target: np.ndarray
    offset: str
    options: ModalOptions

    @property
    def leading(self) -> int:
        """Number of columns before those of the modes."""
        return 1 + (self.offset == FREE) + self.options.curved

    def whiten(self, values: np.ndarray) -> np.ndarray:
        """(..., r, k) from (..., n, k): samples in the metric of their noise."""
        if self.options.noise == WHITE:
            return values
        step = (self.time[-1] - self.time[0]) / (len(self.time) - 1)
        integral = np.concatenate([np.zeros_like(values[..., :1, :]), np.cumsum(values, axis=-2)], axis=-2) * step
        return integral - integral.mean(axis=-2, keepdims=True)

    def modes(self, poles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., n, m) ``e^{s t}``, averaged over each sample, and its derivative by s, for poles (..., m)."""
        t, s = self.time[:, None], np.asarray(poles)[..., None, :]
        half = 0.5 * self.options.averaging
        mean, slope = _mean_factor(s * half)
        wave = np.exp(s * t)
        return wave * mean, wave * (t * mean + half * slope)

    def columns(self, waves: np.ndarray) -> np.ndarray:
        """(..., n, p) columns for modes (..., n, m): t, (1,) (t^2,) then Re and -Im of every mode."""
        shape = (*waves.shape[:-1], 1)
        affine = [np.broadcast_to(self.time[:, None], shape)]
        if self.offset == FREE:
            affine.append(np.ones(shape))
        if self.options.curved:
            affine.append(np.broadcast_to(self.time[:, None] ** 2, shape))
        shift = 1.0 if self.offset == TIED else 0.0
        pairs = np.stack([waves.real - shift, -waves.imag], axis=-1)
        return np.concatenate([*affine, pairs.reshape(*waves.shape[:-1], -1)], axis=-1)

    def amplitudes(self, coefficients: np.ndarray) -> np.ndarray:
        """(..., m, d) complex ``A e^{i phi}`` from coefficients (..., p, d)."""
        modal = coefficients[..., self.leading :, :]
        return modal[..., 0::2, :] + 1j * modal[..., 1::2, :]


def _mean_factor(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sinh(x) / x and its derivative, for complex x."""
    safe = np.where(np.abs(x) < _SMALL, 1.0, x)
    value = np.where(np.abs(x) < _SMALL, 1.0 + x * x / 6.0, np.sinh(safe) / safe)
    slope = np.where(np.abs(x) < _SMALL, x / 3.0, (np.cosh(safe) - np.sinh(safe) / safe) / safe)
    return value, slope

"""Positions around an impact, with the impact time among the unknowns: a line, then the integral of eq. 7.

With ``s = max(t - t_i, 0)`` a position is

``y(t) = y_i + v- (t - t_i) + a s^2 / 2 + sum_k Re(z_k ((e^{s_k s} - 1) / s_k - s))``, ``s_k = gamma_k + i omega_k``,

``z_k = A_k e^{i phi_k}`` (arm paper, eq. 7): continuous, with a continuous velocity, since the sensors sit on the
motors' side of elastic joints. Several positions share the impact time and the poles, each has its own coefficients, so
only t_i and the poles are searched (variable projection, as in :mod:`contactid.arm.modal_search`). Positions have white
noise: ordinary least squares is efficient, and its Jacobian gives the covariance of t_i, v- and v+ together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from contactid.arm.modal_fit import ModalOptions, fit_modes_jointly

_TIME = 1e-3  # s, unit of the impact time in the search
_LEAD = 3  # linear coefficients before those of the modes: y_i, v-, a


@dataclass(frozen=True)
class ImpactFit:
    """The fit of d positions.

    Attributes
    ----------
    impact_time, impact_time_se : s
    pre_velocity, post_velocity : (d,) v- and v+, m/s for positions in m
    pre_covariance, post_covariance : (d, d) of v- and v+, the impact time's uncertainty in them
    poles : (m,) complex, 1/s
    cost : sum of squares in units of ``noise_covariance``
    noise_sd : factor of the noise's Cholesky root; m for a unit covariance
    converged : the least-squares solver says so
    """

    impact_time: float
    impact_time_se: float
    pre_velocity: np.ndarray
    post_velocity: np.ndarray
    pre_covariance: np.ndarray
    post_covariance: np.ndarray
    poles: np.ndarray
    cost: float
    noise_sd: float
    converged: bool


def fit_impact(
    time: np.ndarray,
    position: np.ndarray,
    near: float,
    *,
    modes: int,
    options: ModalOptions | None = None,
    noise_covariance: np.ndarray | None = None,
    shifts: tuple[float, ...] = (-2e-3, 0.0, 2e-3),
) -> ImpactFit:
    """Fit positions (n, d) at evenly spaced times (n,), s, around an impact near the time ``near``.

    ``options`` bound the poles; ``noise_covariance`` (d, d), up to a factor, is that of the positions at one instant;
    ``shifts`` (s) move the starts of the search.
    """
    options = options or ModalOptions()
    channels = position.shape[1]
    mixing = np.linalg.cholesky(np.eye(channels) if noise_covariance is None else noise_covariance)
    white = np.linalg.solve(mixing, (position - position[0]).T).T
    problem = _Problem(time, white, near)
    low = np.array([-np.inf, *np.tile(options.low, modes)])
    high = np.array([np.inf, *np.tile(options.high, modes)])
    found: list[OptimizeResult] = []
    for shift in shifts:
        start = np.clip(_start(problem, near + shift, modes, options), low, high)
        found.append(least_squares(problem.rest, start, jac=problem.slopes, bounds=(low, high), x_scale="jac",
                                   xtol=1e-12, ftol=1e-13, gtol=1e-14, max_nfev=100))  # fmt: skip
    return _described(problem, min(found, key=lambda one: one.cost), mixing)


@dataclass(frozen=True)
class _Problem:
    """Whitened positions (n, d); a point is t_i in ms after ``near``, then gamma and omega of every mode."""

    time: np.ndarray
    target: np.ndarray
    near: float

    def design(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Columns (n, p), time since impact (n,), ``e^{s s}`` and its integral (n, m)."""
        lag = self.time - self.near - _TIME * point[0]
        since = np.maximum(lag, 0.0)[:, None]
        s = point[1::2] + 1j * point[2::2]
        wave = np.exp(since * s)
        integral = (wave - 1.0) / s
        modal = np.stack([integral.real - since, -integral.imag], axis=-1).reshape(len(lag), -1)
        lead = np.column_stack([np.ones_like(lag), lag, 0.5 * since[:, 0] ** 2])
        return np.column_stack([lead, modal]), since, wave, integral

    def solved(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Orthonormal columns (n, p), coefficients (p, d), rest (n, d)."""
        columns = self.design(point)[0]
        scale = np.linalg.norm(columns, axis=0)
        basis, _ = np.linalg.qr(columns / scale)
        beta = np.linalg.lstsq(columns / scale, self.target, rcond=None)[0] / scale[:, None]
        return basis, beta, self.target - basis @ (basis.T @ self.target)

    def rest(self, point: np.ndarray) -> np.ndarray:
        """(n d,) residuals after the best coefficients."""
        return self.solved(point)[2].ravel()

    def slopes(self, point: np.ndarray) -> np.ndarray:
        """(n d, q) their projected derivatives."""
        basis, beta, _ = self.solved(point)
        full = self.full_slopes(point, beta)
        flat = full.reshape(len(self.time), -1)
        return -(flat - basis @ (basis.T @ flat)).reshape(-1, len(point))

    def full_slopes(self, point: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """(n, d, q) derivatives of the model at fixed coefficients."""
        _, since, wave, integral = self.design(point)
        s = point[1::2] + 1j * point[2::2]
        z = (beta[_LEAD::2] + 1j * beta[_LEAD + 1 :: 2]).T[None]  # (1, d, m)
        by_pole = z * ((since * wave - integral) / s)[:, None, :]
        rate = beta[1] + since * beta[2] + ((wave - 1.0)[:, None, :] * z).real.sum(axis=-1)
        poles = np.stack([by_pole.real, -by_pole.imag], axis=-1).reshape(*by_pole.shape[:2], -1)
        return np.concatenate([-_TIME * rate[..., None], poles], axis=-1)


def _start(problem: _Problem, moment: float, modes: int, options: ModalOptions) -> np.ndarray:
    """A line before ``moment`` and the tied fit behind it."""
    time, y = problem.time, problem.target
    earlier = time < moment
    line = np.polynomial.polynomial.polyfit(time[earlier] - moment, y[earlier], 1)
    behind = np.flatnonzero(~earlier)
    step = float(time[-1] - time[0]) / (len(time) - 1)
    middle = 0.5 * (time[behind[1:]] + time[behind[:-1]]) - moment
    differenced = ModalOptions(
        frequency_hz=options.frequency_hz, decay=options.decay, noise="differenced", averaging=step
    )
    velocity = np.diff(y[behind], axis=0) / step
    poles = fit_modes_jointly(middle, velocity, line[1], modes=modes, options=differenced)[0].poles
    return np.array([(moment - problem.near) / _TIME, *np.column_stack([poles.real, poles.imag]).ravel()])


def _described(problem: _Problem, best: OptimizeResult, mixing: np.ndarray) -> ImpactFit:
    point = np.asarray(best.x)
    columns = problem.design(point)[0]
    _, beta, rest = problem.solved(point)
    p, channels = beta.shape
    jacobian = np.column_stack(
        [np.kron(columns, np.eye(channels)), problem.full_slopes(point, beta).reshape(-1, len(point))]
    )
    scale = np.linalg.norm(jacobian, axis=0)
    scale[scale == 0.0] = 1.0
    inverse = np.linalg.pinv(jacobian / scale) / scale[:, None]
    variance = float((rest**2).sum()) / max(rest.size - jacobian.shape[1], 1)
    wanted = np.zeros((2 * channels + 1, jacobian.shape[1]))
    pre, post = np.zeros((1, p)), np.zeros((1, p))
    pre[0, 1], post[0, 1], post[0, _LEAD::2] = 1.0, 1.0, -1.0
    wanted[:channels, : p * channels] = np.kron(pre, mixing)
    wanted[channels:-1, : p * channels] = np.kron(post, mixing)
    wanted[-1, p * channels] = _TIME
    response = wanted @ inverse
    covariance = variance * response @ response.T
    real = beta @ mixing.T
    poles = point[1::2] + 1j * point[2::2]
    return ImpactFit(
        impact_time=problem.near + _TIME * float(point[0]),
        impact_time_se=float(np.sqrt(covariance[-1, -1])),
        pre_velocity=real[1],
        post_velocity=real[1] - real[_LEAD::2].sum(axis=0),
        pre_covariance=covariance[:channels, :channels],
        post_covariance=covariance[channels:-1, channels:-1],
        poles=poles[np.argsort(poles.imag)],
        cost=float((rest**2).sum()),
        noise_sd=float(np.sqrt(variance)),
        converged=bool(best.success),
    )

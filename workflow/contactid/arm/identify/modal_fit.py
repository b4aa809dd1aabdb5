"""The rigid response under a post-impact oscillation: least-squares fit of eq. 7 and the velocity
it extrapolates to.

``f(t) = v- + a t + sum_k A_k (e^{gamma_k t} cos(omega_k t + phi_k) - cos phi_k)`` (arm paper, eq.
7, there with one mode). The virtual post-impact velocity of the rigid arm is the affine part at t =
0, ``v+ = v- - sum_k A_k cos phi_k``. In the other form the offset is free of v-: ``f(t) = v+ + a t
+ sum_k A_k e^{gamma_k t} cos(omega_k t + phi_k)``.

Poles are complex, ``s = gamma + i omega``, with gamma < 0 and omega > 0; A >= 0. Overdamped modes,
two real poles, are excluded by the lowest frequency; a fit that ends on a bound says so
(``at_bound``).

How sure v+ is follows from the whitened Jacobian J of the model by all its parameters theta at the
optimum. A small change e of the target moves the parameters by ``J^+ e``, so that

* noise of variance s^2 gives ``s^2 (J^T J)^-1``;
* an error of v-, to which the offset is tied, changes the target by ``-W 1``;
* an impact time later by d makes every sample earlier by d: equivalent to a target changed by
  ``f'(t) d``;
* poles that were taken from another signal move the coefficients by ``-J^+ (df/dpoles)``.

These are first-order formulas; they say nothing of a model that is wrong (a mode too few).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from contactid.arm.identify.modal_search import pole_slopes, search
from contactid.arm.models.modal_signal import HIGH, LOW, TIED, WHITE, ModalProblem, scaled_inverse
from contactid.core.errors import ContactIdError

_UNEVEN = 1e-6  # relative variation of the sampling interval
_ON_BOUND = 1e-6  # relative to the bound


def linearise(
    problem: ModalProblem, poles: np.ndarray, coefficients: np.ndarray, *, fitted_poles: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """First-order behaviour of the d channels' v+ at poles (m,) and coefficients (p, d).

    Returns
    -------
    per_variance : (d, d) covariance of v+ for unit variance of the whitened samples
    by_pre_velocity : (d, d) derivative of v+ by v-
    by_impact_time : (d,) derivative of v+ by the impact time at fixed samples and fixed v-, m/s^2
    by_poles : (d, 2 m) derivative of v+ by gamma_1, omega_1, ... where these were given, else zero
    pole_per_variance : (2 m, 2 m) covariance of the poles for unit variance; zero where they were
        given
    """
    p, channels = coefficients.shape
    waves, derivatives = problem.modes(poles)
    columns = problem.whiten(problem.columns(waves))
    slopes = pole_slopes(problem, derivatives, coefficients)
    q = slopes.shape[-1]
    # coefficients channel by channel: (r d, p d)
    linear = np.kron(columns, np.eye(channels))
    by_poles = slopes.reshape(-1, q)
    jacobian = np.column_stack([linear, by_poles]) if fitted_poles else linear
    inverse = scaled_inverse(jacobian)
    tied = problem.offset == TIED
    post = np.zeros((1, p))  # v+ (less v- where tied) from one channel's coefficients
    if tied:
        # v+ - v- = -sum of the cosine coefficients
        post[0, problem.leading :: 2] = -1.0
    else:
        # a free offset is v+ itself
        post[0, 1] = 1.0
    wanted = np.zeros((channels, jacobian.shape[1]))
    wanted[:, : p * channels] = np.kron(post, np.eye(channels))
    response = wanted @ inverse  # (d, r d): of v+ to changes of the target
    ones = np.kron(problem.whiten(np.ones((len(problem.time), 1))), np.eye(channels))
    # df/dt: a later impact is a target changed by it
    rate = problem.whiten(
        coefficients[0] + (waves @ (problem.amplitudes(coefficients) * poles[:, None])).real
    )
    at_poles = inverse[p * channels :] if fitted_poles else np.zeros((q, jacobian.shape[0]))
    return (
        response @ response.T,
        np.eye(channels) - response @ ones if tied else np.zeros((channels, channels)),
        response @ rate.ravel(),
        np.zeros((channels, q)) if fitted_poles else -response @ by_poles,
        at_poles @ at_poles.T,
    )


@dataclass(frozen=True)
class ModalFit:
    """One velocity component's fit; times count from the impact.

    Attributes
    ----------
    pre_velocity, post_velocity : v- as given and v+ as reconstructed, m/s
    post_velocity_se : standard error of v+: noise of the samples (and given poles'), v- and impact
        time together, m/s
    slope : a, m/s^2
    poles : (m,) complex, 1/s, ascending in frequency
    amplitude, phase : (m,) A >= 0 (m/s) and phi (rad) of the poles
    pole_covariance : (2 m, 2 m) of gamma_1, omega_1, gamma_2, ...
    residual_rms : of the velocities, m/s
    converged : the search's best minimum satisfies the first-order conditions
    at_bound : a pole lies on a bound
    """

    pre_velocity: float
    post_velocity: float
    post_velocity_se: float
    slope: float
    poles: np.ndarray
    amplitude: np.ndarray
    phase: np.ndarray
    pole_covariance: np.ndarray = field(repr=False)
    residual_rms: float
    converged: bool
    at_bound: bool

    @property
    def _dominant(self) -> complex:
        """The pole with the largest amplitude."""
        return self.poles[int(np.argmax(self.amplitude))]

    @property
    def frequency_hz(self) -> float:
        """Of the dominant mode, omega / 2 pi."""
        return float(self._dominant.imag / (2.0 * np.pi))

    @property
    def decay(self) -> float:
        """-gamma of the dominant mode, 1/s."""
        return float(-self._dominant.real)

    def affine(self, time: ArrayLike) -> np.ndarray:
        """The rigid response v+ + a t at times since impact (s), m/s."""
        return self.post_velocity + self.slope * np.asarray(time, dtype=float)

    def oscillation(self, time: ArrayLike) -> np.ndarray:
        """The decaying part at times since impact (s), m/s."""
        waves = np.exp(np.multiply.outer(np.asarray(time, dtype=float), self.poles))
        return (waves @ (self.amplitude * np.exp(1j * self.phase))).real

    def evaluate(self, time: ArrayLike) -> np.ndarray:
        """The fitted velocity at times since impact (s), m/s."""
        return self.affine(time) + self.oscillation(time)


def fit_modes(
    time: ArrayLike,
    velocity: ArrayLike,
    pre_velocity: float,
    *,
    pre_velocity_se: float = 0.0,
    **how: Any,
) -> ModalFit:
    """Fit one velocity component (n,) after an impact; for the rest see :func:`fit_modes_jointly`."""
    y = np.asarray(velocity, dtype=float)
    (fit,) = fit_modes_jointly(
        time, y[:, None], [pre_velocity], pre_velocity_se=[pre_velocity_se], **how
    )
    return fit


def fit_modes_jointly(
    time: ArrayLike,
    velocities: ArrayLike,
    pre_velocities: ArrayLike,
    *,
    modes: int = 1,
    offset: str = TIED,
    poles: np.ndarray | None = None,
    noise_covariance: ArrayLike | None = None,
    pole_covariance: np.ndarray | None = None,
    pre_velocity_se: Sequence[float] | np.ndarray | None = None,
    impact_time_se: float = 0.0,
    **kind: Any,
) -> tuple[ModalFit, ...]:
    """Fit d velocity components after an impact at once with the same poles.

    Parameters
    ----------
    time, velocities
        (n,) s since the impact, evenly spaced; (n, d) m/s. Of differences of positions: mid times,
        and ``averaging``.
    pre_velocities
        (d,) v-, m/s; without effect on a free offset's fit.
    modes
        Number of modes; without effect where ``poles`` are given.
    offset, kind
        As :class:`~contactid.arm.models.modal_signal.ModalProblem` has them; ``kind``: noise,
        averaging.
    poles
        (m,) complex, 1/s: taken as they are (the paper's fit of x with the poles of z), so the fit
        is linear.
    noise_covariance
        (d, d), up to a factor, that of the components' noise at one instant; unit if None.
    pole_covariance
        (2 m, 2 m) of given poles, :attr:`ModalFit.pole_covariance` of the fit they come from.
    pre_velocity_se, impact_time_se
        Standard errors of v- (m/s; zero if None) and of the impact time (s).

    Raises
    ------
    ContactIdError
        For signals that aren't finite, even and long enough.
    """
    t, y = np.asarray(time, dtype=float), np.asarray(velocities, dtype=float)
    before = np.asarray(pre_velocities, dtype=float)
    _check(t, y, before, modes if poles is None else len(poles))
    # channels made independent, of equal noise
    mixing = np.linalg.cholesky(
        np.eye(y.shape[1]) if noise_covariance is None else np.asarray(noise_covariance)
    )
    # tied fits leave v- out of the target
    unmixed = np.linalg.solve(mixing, (y - before if offset == TIED else y).T).T
    problem = ModalProblem(t, unmixed, offset, **kind)
    fitted, best, converged = poles is None, poles, True
    if best is None:
        found = search(problem, modes)
        best, converged = found.poles[0], bool(found.converged[0])
    # by frequency, so that covariances have one order
    best = best[np.argsort(best.imag, kind="stable")]
    columns = problem.columns(problem.modes(best)[0])
    white = problem.whiten(columns)
    beta = np.linalg.lstsq(white, problem.target, rcond=None)[0]
    channels = beta.shape[1]
    cost = float(((problem.target - white @ beta) ** 2).sum())
    samples = len(t) * channels
    parameters = beta.size + (2 * len(best) if fitted else 0)
    # by degrees of freedom, poles counted where they are fitted
    variance = cost / max(samples - parameters, 1)
    per_variance, by_pre, by_time, by_poles, pole_per_variance = linearise(
        problem, best, beta, fitted_poles=fitted
    )
    # given poles bring the covariance of the fit that they come from
    own = variance * pole_per_variance if fitted else pole_covariance
    of_poles = np.zeros((2 * len(best),) * 2) if own is None else own
    # back to the velocities' own units
    by_poles = mixing @ by_poles
    noise = variance * mixing @ per_variance @ mixing.T + by_poles @ of_poles @ by_poles.T
    by_pre, by_time = mixing @ by_pre @ np.linalg.inv(mixing), mixing @ by_time
    real = beta @ mixing.T
    wave = problem.amplitudes(real)
    after = before - wave.real.sum(axis=0) if offset == TIED else real[1]
    rest = problem.target - problem.whiten(columns) @ beta
    if problem.noise != WHITE:
        rest = np.diff(rest, axis=0) / problem.step  # of integrals, back to velocities
    rest = rest @ mixing.T
    se = np.zeros(channels) if pre_velocity_se is None else np.asarray(pre_velocity_se, dtype=float)
    of_pre, of_time = np.diag(by_pre) * se, by_time * impact_time_se
    return tuple(
        ModalFit(
            pre_velocity=float(before[d]), post_velocity=float(after[d]),
            post_velocity_se=_together(noise[d, d], of_pre[d], of_time[d]),
            slope=float(real[0, d]),
            poles=best, amplitude=np.abs(wave[:, d]), phase=np.angle(wave[:, d]),
            pole_covariance=of_poles, residual_rms=float(np.sqrt((rest[:, d] ** 2).mean())),
            converged=converged, at_bound=fitted and _at_bound(best),
        )
        for d in range(channels)
    )  # fmt: skip


def _together(variance: float, of_pre: float, of_time: float) -> float:
    """Standard error from the noise's variance and two more errors."""
    return float(np.sqrt(float(np.sqrt(variance)) ** 2 + float(of_pre) ** 2 + float(of_time) ** 2))


def _at_bound(poles: np.ndarray) -> bool:
    point = np.column_stack([poles.real, poles.imag])
    near = _ON_BOUND * np.abs(np.array([LOW, HIGH]))
    return bool((np.abs(point - LOW) <= near[0]).any() or (np.abs(point - HIGH) <= near[1]).any())


def _check(t: np.ndarray, y: np.ndarray, before: np.ndarray, modes: int) -> None:
    if t.ndim != 1 or y.ndim != 2 or len(t) != len(y) or before.shape != y.shape[1:]:
        shapes = f"times {t.shape}, velocities {y.shape}, pre-impact velocities {before.shape}"
        raise ContactIdError(
            f"modal fit: {shapes} don't belong together", "Give (n,), (n, d) and (d,)"
        )
    if not (np.isfinite(t).all() and np.isfinite(y).all() and np.isfinite(before).all()):
        raise ContactIdError(
            "modal fit: the signal has values that aren't finite",
            "Cut the window to what is recorded",
        )
    # two coefficients and two numbers of a pole each, slope, offset, and one to spare
    needed = 4 * modes + 3
    if len(t) < needed:
        raise ContactIdError(
            f"modal fit: {len(t)} samples for {modes} modes", f"Give {needed} or more"
        )
    steps = np.diff(t)
    if steps.min() <= 0.0 or np.ptp(steps) > max(_UNEVEN * steps.mean(), 1e-12):
        raise ContactIdError(
            "modal fit: the times aren't evenly spaced and ascending", "Resample the signal"
        )

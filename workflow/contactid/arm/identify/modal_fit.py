"""The rigid response under a post-impact oscillation: least-squares fit of eq. 7 and the velocity it extrapolates to.

``f(t) = v- + a t + sum_k A_k (e^{gamma_k t} cos(omega_k t + phi_k) - cos phi_k)`` (arm paper, eq. 7, there with one
mode). The virtual post-impact velocity of the rigid arm is the affine part at t = 0, ``v+ = v- - sum_k A_k cos phi_k``.
In the other form the offset is free of v-: ``f(t) = v+ + a t + sum_k A_k e^{gamma_k t} cos(omega_k t + phi_k)``.

Poles are complex, ``s = gamma + i omega``, with gamma < 0 and omega > 0; A >= 0. Overdamped modes, two real poles, are
excluded by the options' lowest frequency; a fit that ends on a bound says so (``at_bound``).

How sure v+ is follows from the whitened Jacobian J of the model by all its parameters theta at the optimum. A small
change e of the target moves the parameters by ``J^+ e``, so that

* noise of variance s^2 gives ``s^2 (J^T J)^-1``;
* an error of v-, to which the offset is tied, changes the target by ``-W 1``;
* an impact time later by d makes every sample earlier by d: equivalent to a target changed by ``f'(t) d``;
* poles that were taken from another signal move the coefficients by ``-J^+ (df/dpoles)``.

These are first-order formulas; they say nothing of a model that is wrong (a mode too few).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from contactid.arm.identify.modal_search import cost_at, pole_slopes, search
from contactid.arm.models.modal_signal import FREE, TIED, WHITE, ModalOptions, ModalProblem
from contactid.core.errors import ContactIdError


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


__all__ = ["FREE", "TIED", "ModalFit", "ModalOptions", "fit_modes", "fit_modes_jointly"]
_UNEVEN = 1e-6  # relative variation of the sampling interval
_ON_BOUND = 1e-6  # relative to the bound


@dataclass(frozen=True)
class ModalFit:
    """One velocity component's fit; times count from the impact.

    Attributes
    ----------
    offset : ``pre_velocity`` (eq. 7) or ``free``
    pre_velocity, post_velocity : v- as given and v+ as reconstructed, m/s
    noise_se : standard error of v+ from the samples' noise (and given poles'), m/s
    by_pre_velocity : derivative of v+ by v-
    by_impact_time : derivative of v+ by the impact time, samples and v- kept, m/s^2
    pre_velocity_se, impact_time_se : as given, m/s and s
    slope, curvature : a (m/s^2) and b (m/s^3; 0 unless the options ask for it)
    poles : (m,) complex, 1/s, ascending in frequency
    amplitude, phase : (m,) A >= 0 (m/s) and phi (rad) of the poles
    pole_covariance : (2 m, 2 m) of gamma_1, omega_1, gamma_2, ...
    residual_rms : of the velocities, m/s
    noise_sd : estimated sd of the white noise: of velocities (m/s) or of positions (m), as the options say
    cost : sum of whitened squares of the whole fit (all channels of a joint one)
    samples, parameters : of the whole fit; v- isn't one
    bic, aic : criteria for choosing the number of modes (aic with its correction for short signals)
    minima : costs of the polished local minima, ascending; one where the poles were given
    converged : the best one satisfies the first-order conditions
    at_bound : a pole lies on a bound of the options
    """

    offset: str
    pre_velocity: float
    post_velocity: float
    noise_se: float
    by_pre_velocity: float
    by_impact_time: float
    pre_velocity_se: float
    impact_time_se: float
    slope: float
    curvature: float
    poles: np.ndarray
    amplitude: np.ndarray
    phase: np.ndarray
    pole_covariance: np.ndarray = field(repr=False)
    residual_rms: float
    noise_sd: float
    cost: float
    samples: int
    parameters: int
    bic: float
    aic: float
    minima: np.ndarray = field(repr=False)
    converged: bool
    at_bound: bool

    @property
    def post_velocity_se(self) -> float:
        """Standard error of v+: noise, v- and impact time together, m/s."""
        pre = self.by_pre_velocity * self.pre_velocity_se
        instant = self.by_impact_time * self.impact_time_se
        return float(np.sqrt(self.noise_se**2 + pre**2 + instant**2))

    @property
    def dominant(self) -> int:
        """Index of the mode with the largest amplitude."""
        return int(np.argmax(self.amplitude))

    @property
    def frequency_hz(self) -> float:
        """Of the dominant mode, omega / 2 pi."""
        return float(self.poles[self.dominant].imag / (2.0 * np.pi))

    @property
    def decay(self) -> float:
        """-gamma of the dominant mode, 1/s."""
        return float(-self.poles[self.dominant].real)

    def affine(self, time: ArrayLike) -> np.ndarray:
        """The rigid response v+ + a t (+ b t^2) at times since impact (s), m/s."""
        t = np.asarray(time, dtype=float)
        return self.post_velocity + self.slope * t + self.curvature * t**2

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
    modes: int = 1,
    offset: str = TIED,
    poles: ArrayLike | None = None,
    options: ModalOptions | None = None,
    pole_covariance: np.ndarray | None = None,
    pre_velocity_se: float = 0.0,
    impact_time_se: float = 0.0,
) -> ModalFit:
    """Fit one velocity component after an impact.

    Parameters
    ----------
    time, velocity
        (n,) s since the impact, evenly spaced; m/s. Of differences of positions: mid times (see ``options.averaging``).
    pre_velocity
        v-, m/s; without effect on a free offset's fit.
    modes
        Number of modes; that of ``poles`` where these are given.
    offset
        ``pre_velocity`` (eq. 7) or ``free``.
    poles
        (m,) complex, 1/s: taken as they are (the paper's fit of x with the poles of z), so the fit is linear.
    pole_covariance
        (2 m, 2 m) of given poles, :attr:`ModalFit.pole_covariance` of the fit they come from.
    pre_velocity_se, impact_time_se
        Standard errors of v- (m/s) and of the impact time (s), for :attr:`ModalFit.post_velocity_se`.

    Raises
    ------
    ContactIdError
        For signals that aren't finite, even and long enough, and for impossible poles.
    """
    velocity = np.asarray(velocity, dtype=float)
    if velocity.ndim != 1:
        raise ContactIdError(f"modal fit: the velocity has shape {velocity.shape}", "Give one component, (n,)")
    (fit,) = fit_modes_jointly(
        time, velocity[:, None], [pre_velocity], modes=modes, offset=offset, poles=poles, options=options,
        pole_covariance=pole_covariance, pre_velocity_se=[pre_velocity_se], impact_time_se=impact_time_se,
    )  # fmt: skip
    return fit


def fit_modes_jointly(
    time: ArrayLike,
    velocities: ArrayLike,
    pre_velocities: ArrayLike,
    *,
    modes: int = 1,
    offset: str = TIED,
    poles: ArrayLike | None = None,
    options: ModalOptions | None = None,
    noise_covariance: ArrayLike | None = None,
    pole_covariance: np.ndarray | None = None,
    pre_velocity_se: Sequence[float] | None = None,
    impact_time_se: float = 0.0,
) -> tuple[ModalFit, ...]:
    """Fit d velocity components (n, d) at once with the same poles; see :func:`fit_modes`.

    ``noise_covariance`` (d, d), up to a factor, is that of the components' noise at one instant; unit if None.
    """
    options = options or ModalOptions()
    t, y = np.asarray(time, dtype=float), np.asarray(velocities, dtype=float)
    before = np.asarray(pre_velocities, dtype=float)
    given = None if poles is None else _canonical(poles)
    count = modes if given is None else len(given)
    _check(t, y, before, count, offset, options)
    mixing = np.linalg.cholesky(np.eye(y.shape[1]) if noise_covariance is None else np.asarray(noise_covariance))
    unmixed = np.linalg.solve(mixing, (y - before if offset == TIED else y).T).T
    problem = ModalProblem(t, np.zeros(0), offset, options)
    problem = replace(problem, target=problem.whiten(unmixed))
    if given is None:
        found = search(problem, count)
        best, minima, converged = found.poles[0], found.costs, bool(found.converged[0])
    else:
        best, minima, converged = given, cost_at(problem, given[None, :]), True
    best = best[np.argsort(best.imag, kind="stable")]
    return _described(problem, best, given is None, mixing, before, pole_covariance, minima, converged, pre_velocity_se,
                      impact_time_se)  # fmt: skip


def _described(
    problem: ModalProblem,
    poles: np.ndarray,
    fitted: bool,
    mixing: np.ndarray,
    before: np.ndarray,
    given_covariance: np.ndarray | None,
    minima: np.ndarray,
    converged: bool,
    pre_velocity_se: Sequence[float] | None,
    impact_time_se: float,
) -> tuple[ModalFit, ...]:
    """Everything about the optimum, a fit per channel."""
    columns = problem.columns(problem.modes(poles)[0])
    white = problem.whiten(columns)
    beta = np.linalg.lstsq(white, problem.target, rcond=None)[0]
    channels = beta.shape[1]
    cost = float(((problem.target - white @ beta) ** 2).sum())
    samples = len(problem.time) * channels
    parameters = beta.size + (2 * len(poles) if fitted else 0)
    variance = cost / max(samples - parameters, 1)
    line = linearise(problem, poles, beta, fitted_poles=fitted)
    own = variance * line.pole_per_variance if fitted else given_covariance
    pole_covariance = np.zeros((2 * len(poles),) * 2) if own is None else np.asarray(own)
    by_poles = mixing @ line.by_poles
    noise = variance * mixing @ line.per_variance @ mixing.T + by_poles @ pole_covariance @ by_poles.T
    unmixing = np.linalg.inv(mixing)
    by_pre = mixing @ line.by_pre_velocity @ unmixing
    by_time = mixing @ line.by_impact_time
    real = beta @ mixing.T
    bend = real[problem.leading - 1] if problem.options.curved else np.zeros(channels)
    wave = problem.amplitudes(real)
    after = before - wave.real.sum(axis=0) if problem.offset == TIED else real[1]
    rest = _rest(problem, columns, beta) @ mixing.T
    se = np.zeros(channels) if pre_velocity_se is None else np.asarray(pre_velocity_se, dtype=float)
    log_likelihood = -0.5 * samples * np.log(max(cost, np.finfo(float).tiny) / samples)
    free = parameters + 1  # and the noise's variance
    aic = 2.0 * free - 2.0 * log_likelihood + 2.0 * free * (free + 1) / max(samples - free - 1, 1)
    return tuple(
        ModalFit(
            offset=problem.offset, pre_velocity=float(before[d]), post_velocity=float(after[d]),
            noise_se=float(np.sqrt(noise[d, d])), by_pre_velocity=float(by_pre[d, d]),
            by_impact_time=float(by_time[d]), pre_velocity_se=float(se[d]), impact_time_se=impact_time_se,
            slope=float(real[0, d]), curvature=float(bend[d]), poles=poles,
            amplitude=np.abs(wave[:, d]), phase=np.angle(wave[:, d]), pole_covariance=pole_covariance,
            residual_rms=float(np.sqrt((rest[:, d] ** 2).mean())),
            noise_sd=float(np.sqrt(variance * (mixing @ mixing.T)[d, d])), cost=cost, samples=samples,
            parameters=parameters, bic=float(free * np.log(samples) - 2.0 * log_likelihood), aic=float(aic),
            minima=minima, converged=converged, at_bound=fitted and _at_bound(poles, problem.options),
        )
        for d in range(channels)
    )  # fmt: skip


def _rest(problem: ModalProblem, columns: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """(n, d) residuals of the velocities: differences of the whitened ones where these are integrals."""
    white = problem.target - problem.whiten(columns) @ beta
    if problem.options.noise == WHITE:
        return white
    return np.diff(white, axis=0) / ((problem.time[-1] - problem.time[0]) / (len(problem.time) - 1))


def _at_bound(poles: np.ndarray, options: ModalOptions) -> bool:
    point = np.column_stack([poles.real, poles.imag])
    near = _ON_BOUND * np.abs(np.array([options.low, options.high]))
    return bool((np.abs(point - options.low) <= near[0]).any() or (np.abs(point - options.high) <= near[1]).any())


def _canonical(poles: ArrayLike) -> np.ndarray:
    """(m,) poles with omega > 0."""
    s = np.atleast_1d(np.asarray(poles, dtype=complex))
    s = s.real + 1j * np.abs(s.imag)
    if s.ndim != 1 or not len(s) or not np.isfinite(s).all() or (s.real >= 0.0).any() or (s.imag == 0.0).any():
        raise ContactIdError("modal fit: given poles must decay and oscillate", "Give gamma + i omega with gamma < 0")
    return s


def _check(t: np.ndarray, y: np.ndarray, before: np.ndarray, modes: int, offset: str, options: ModalOptions) -> None:
    if offset not in (TIED, FREE):
        raise ContactIdError(f"modal fit: unknown offset {offset!r}", f"Choose {TIED} or {FREE}")
    if modes < 1:
        raise ContactIdError(f"modal fit: {modes} modes", "Fit one mode or more")
    if t.ndim != 1 or y.ndim != 2 or len(t) != len(y) or before.shape != y.shape[1:]:
        shapes = f"times {t.shape}, velocities {y.shape}, pre-impact velocities {before.shape}"
        raise ContactIdError(f"modal fit: {shapes} don't belong together", "Give (n,), (n, d) and (d,)")
    if not (np.isfinite(t).all() and np.isfinite(y).all() and np.isfinite(before).all()):
        raise ContactIdError(
            "modal fit: the signal has values that aren't finite", "Cut the window to what is recorded"
        )
    needed = 4 * modes + 3
    if len(t) < needed:
        raise ContactIdError(f"modal fit: {len(t)} samples for {modes} modes", f"Give {needed} or more")
    steps = np.diff(t)
    if steps.min() <= 0.0 or np.ptp(steps) > max(_UNEVEN * steps.mean(), 1e-12):
        raise ContactIdError("modal fit: the times aren't evenly spaced and ascending", "Resample the signal")

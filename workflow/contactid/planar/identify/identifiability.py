"""What a measured motion can tell about J/m before anything is fitted (planar paper, sections 5.2 and 5.3).

Eliminating the impulses of eq. 28: one contact's G^k (3, 2) has one left null vector, the moment about the contact
point, so a step leaves one equation, ``k . (GQ x a) = J/m d_omega`` (eq. 31), useless where the spin stays. Eq. 32 asks
the same J/m of every step. Two contacts' G^k has rank 3: such a step says nothing about J/m, and how they share their
impulse is undetermined.

Both sides of eq. 31 are measured. Plain least squares of ``k . (GQ x a)`` on d_omega takes d_omega as exact; noise in
it adds to ``sum d_omega^2`` and not to the products, so the slope is biased towards 0 however many steps there are.
Total least squares weighs each residual by its own variance, which depends on J/m, and has no such bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from scipy import optimize, stats

from contactid.planar.identify.contact_equations import ROUNDING, ContactSteps
from contactid.planar.simulate.geometry import contacts

_RESOLVED = 3.0  # standard deviations: above them a noisy quantity isn't 0
_SIGNIFICANCE = 0.01
_GRID = 720  # angles at which the total least squares cost is scanned


class Flag(StrEnum):
    """What limits a motion's information; each comes with a sentence in :attr:`Identifiability.flags`."""

    NO_CONTACT = "no contact"
    SEVERAL_CONTACTS = "several simultaneous contacts"
    NO_SPIN_CHANGE = "no change of spin"
    CENTRAL_IMPULSES = "impulses through the centre of mass"
    SINGLE_STEP = "a single informative step"


@dataclass(frozen=True)
class RatioEquations:
    """Eq. 31 without the division, ``moment = J/m spin``, for the m steps with one contact.

    Attributes
    ----------
    moment : (m,) ``k . (GQ x a)``, m2/s
    spin : (m,) d_omega, rad/s
    covariance : (m, 2, 2) of (moment, spin); where no noise is known that of equal noise of v and L omega, in any unit
    noise_known : whether standard errors mean anything
    """

    moment: np.ndarray
    spin: np.ndarray
    covariance: np.ndarray
    noise_known: bool

    def residual_variance(self, ratio: float | np.ndarray) -> np.ndarray:
        """(m,) variance of ``moment - ratio spin``."""
        c = self.covariance
        return c[:, 0, 0] - 2.0 * ratio * c[:, 0, 1] + ratio**2 * c[:, 1, 1]

    def resolved(self, unit: ContactSteps) -> tuple[np.ndarray, np.ndarray]:
        """(m,) moments and spins that aren't 0 within three deviations, or without noise by rounding."""
        if self.noise_known:
            level = _RESOLVED * np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        else:
            level = np.array([[ROUNDING * unit.speed * unit.length, ROUNDING * unit.speed / unit.length]])
        return np.abs(self.moment) > level[:, 0], np.abs(self.spin) > level[:, 1]

    def vanishing(self, unit: ContactSteps) -> tuple[bool, bool]:
        """Whether all moments and all spins together are 0 within their noise, or without noise by rounding."""
        if not self.noise_known:
            moments, spins = self.resolved(unit)
            return not moments.any(), not spins.any()
        variance = np.diagonal(self.covariance, axis1=1, axis2=2)
        squares = np.sum(np.column_stack([self.moment, self.spin]) ** 2 / variance, axis=0)
        moments_p, spins_p = stats.chi2.sf(squares, len(self.spin))
        return bool(moments_p > _SIGNIFICANCE), bool(spins_p > _SIGNIFICANCE)


def change_covariance(steps: ContactSteps, covariance: np.ndarray | None) -> np.ndarray:
    """(n, 3, 3) covariance of the velocity changes from one of (3, 3), (n, 3, 3) or none."""
    values = np.diag([1.0, 1.0, steps.length**-2]) if covariance is None else covariance
    return np.broadcast_to(values, (len(steps), 3, 3))


def _moments(steps: ContactSteps, turn: float = 0.0) -> np.ndarray:
    """(n,) ``r_t a_n - r_n a_t`` about the first closed contact, with the body turned by an angle (rad)."""
    q = steps.position + np.array([0.0, 0.0, turn])
    at, rows, which = contacts(steps.shape, steps.ground, q), np.arange(len(steps)), steps.closed.argmax(axis=1)
    a_n, a_t = steps.change[:, :2] @ steps.ground.normal, steps.change[:, :2] @ steps.ground.tangent
    return at.normal[rows, which, 2] * a_n + at.tangent[rows, which, 2] * a_t


def ratio_equations(
    steps: ContactSteps, covariance: np.ndarray | None = None, *, angle_deviation: float = 0.0
) -> RatioEquations:
    """Eq. 28 with the impulses eliminated, for the steps with one contact.

    Parameters
    ----------
    covariance : (3, 3) or (n, 3, 3) of the changes ``v^(k+1) - v^k``, (m/s, m/s, rad/s); none if there is no noise
    angle_deviation : standard deviation of theta^k, rad, independent of the velocities'. It moves the arms
    """
    one, small = steps.single, 1e-6
    lever = np.zeros((len(steps), 2, 3))
    n, t, rows, which = steps.ground.normal, steps.ground.tangent, np.arange(len(steps)), steps.closed.argmax(axis=1)
    lever[:, 0, :2] = steps.normal[rows, which, 2:] * n + steps.tangent[rows, which, 2:] * t
    lever[:, 1, 2] = 1.0
    c = lever @ change_covariance(steps, covariance) @ lever.transpose(0, 2, 1)
    slope = (_moments(steps, small) - _moments(steps, -small)) / (2.0 * small)
    c[:, 0, 0] += (angle_deviation * slope) ** 2
    return RatioEquations(_moments(steps)[one], steps.change[one, 2], c[one], covariance is not None)


@dataclass(frozen=True)
class RatioFit:
    """J/m over all steps with one contact, and whether they agree (eq. 32 for all pairs of steps at once).

    Attributes
    ----------
    total : m2, total least squares: each residual over its variance at this J/m
    p_value : of the residuals at ``total``, for independent noise
    """

    total: float
    p_value: float


def _total_least_squares(equations: RatioEquations) -> float:
    moment, spin = equations.moment, equations.spin
    unit = np.sqrt(np.mean(equations.covariance[:, 0, 0]) / np.mean(equations.covariance[:, 1, 1]))

    k = equations.covariance

    def cost(angle: Any) -> Any:
        """Of J/m = unit tan(angle), at one angle or (n, 1): finite also where J/m is not."""
        s, c = unit * np.sin(angle), np.cos(angle)
        variance = c * c * k[:, 0, 0] - 2.0 * s * c * k[:, 0, 1] + s * s * k[:, 1, 1]
        return np.sum((c * moment - s * spin) ** 2 / variance, axis=-1)

    step = np.pi / _GRID
    angles = -0.5 * np.pi + step * np.arange(_GRID)
    best = angles[np.argmin(cost(angles[:, None]))]
    found = optimize.minimize_scalar(
        cost, bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-12}
    )
    return float(unit * np.tan(found.x))


def fit_ratio(equations: RatioEquations) -> RatioFit:
    """Fit J/m to m equations; not numbers where there is none, or where every spin is exactly 0."""
    moment, spin, m = equations.moment, equations.spin, len(equations.spin)
    if not spin.any():
        return RatioFit(np.nan, np.nan)
    total = _total_least_squares(equations)
    chi_square = float(np.sum((moment - total * spin) ** 2 / equations.residual_variance(total)))
    known = equations.noise_known and m > 1
    return RatioFit(total, float(stats.chi2.sf(chi_square, m - 1)) if known else np.nan)


def sliding_steps(steps: ContactSteps, covariance: np.ndarray | None = None) -> np.ndarray:
    """(n,) steps that push, and end with all closed contacts sliding one way; ``covariance`` as in ratio_equations.

    The variance of ``v^(k+1)`` is taken as half the change's, which is right for equal independent errors before and
    after, and too much for differenced poses.
    """
    errors = change_covariance(steps, covariance)
    normal = np.array([*steps.ground.normal, 0.0])
    largest = np.abs(steps.after * [1.0, 1.0, steps.length]).max(initial=0.0)
    rounding = ROUNDING * max(largest, steps.speed)
    least_push = least_slip = np.array(rounding)
    if covariance is not None:
        variance = 0.5 * np.einsum("kji,kil,kjl->kj", steps.tangent, errors, steps.tangent)
        least_slip = _RESOLVED * np.sqrt(variance)
        least_push = _RESOLVED * np.sqrt(np.einsum("i,kil,l->k", normal, errors, normal))
    slip = np.einsum("kji,ki->kj", steps.tangent, steps.after)
    forwards = (~steps.closed | (slip > least_slip)).all(axis=1)
    backwards = (~steps.closed | (slip < -least_slip)).all(axis=1)
    return (steps.change @ normal > least_push) & (forwards | backwards)


@dataclass(frozen=True)
class Identifiability:
    """What section 5.2 says about a motion.

    Attributes
    ----------
    n_steps, n_single, n_sliding : steps with contact, those with one contact, and those that slide
    ratio : J/m of the steps with one contact; none without contact
    flags : what limits the information, each with a sentence
    """

    n_steps: int
    n_single: int
    n_sliding: int
    ratio: RatioFit | None
    flags: dict[Flag, str]


def identifiability(
    steps: ContactSteps, covariance: np.ndarray | None = None, *, angle_deviation: float = 0.0
) -> Identifiability:
    """Diagnose a motion's steps; noise as in :func:`ratio_equations`."""
    if not len(steps):
        sentence = "No step has contact: free flight says nothing about J/m, m or friction."
        return Identifiability(0, 0, 0, None, {Flag.NO_CONTACT: sentence})
    equations = ratio_equations(steps, covariance, angle_deviation=angle_deviation)
    single, sliding = len(equations.spin), int(sliding_steps(steps, covariance).sum())
    flags = _flags(steps, equations)
    return Identifiability(len(steps), single, sliding, fit_ratio(equations), flags)


def _flags(steps: ContactSteps, equations: RatioEquations) -> dict[Flag, str]:
    flags, single = {}, len(equations.spin)
    if len(steps) > single:
        flags[Flag.SEVERAL_CONTACTS] = (
            f"{len(steps) - single} of {len(steps)} steps have several contacts: how they share the impulse is "
            "undetermined, and these steps give no equation for J/m."
        )
    if not single:
        return flags
    moments_vanish, spins_vanish = equations.vanishing(steps)
    if spins_vanish:
        flags[Flag.NO_SPIN_CHANGE] = "No impulse of a single contact changes the spin: J/m is not identifiable."
    if moments_vanish:
        flags[Flag.CENTRAL_IMPULSES] = (
            "Every impulse of a single contact passes through the centre of mass, so none can change the spin."
        )
    if not spins_vanish and np.logical_or(*equations.resolved(steps)).sum() == 1:
        flags[Flag.SINGLE_STEP] = "One step alone carries the information: whether steps agree can't be checked."
    return flags

"""The equations of a planar motion's steps with contact as a linear system (planar paper, section
5.2.1).

A step from k to k + 1 with closed contacts obeys three equations that are linear in the mass, the
moment of inertia and the impulses (eq. 28). With ``a = (dv_x, dv_y + h g)``, the velocity change
without gravity's part,

    m a = N_xy c_n + T_xy c_t,    J d_omega = sum (r_t c_n - r_n c_t).

Stacked over the steps they read ``A w = 0`` (eqs. 29, 30). The motion of a rigid body with one
contact at a time gives A one null vector ``(1, J/m, c/m)``: only ratios to m are identifiable.
Noise takes it away as soon as there are two steps. Each step with several contacts adds null
vectors of its own, impulses that cancel each other out.

Eliminating the impulses of eq. 28: one contact's G^k (3, 2) has one left null vector, the moment
about the contact point, so a step leaves one equation, ``k . (GQ x a) = J/m d_omega`` (eq. 31),
useless where the spin stays. Eq. 32 asks the same J/m of every step. Two contacts' G^k has rank 3:
such a step says nothing about J/m. Both sides of eq. 31 are measured. Plain least squares takes
d_omega as exact; noise in it adds to ``sum d_omega^2`` and not to the products, so the slope is
biased towards 0 however many steps there are. Total least squares weighs each residual by its own
variance, which depends on J/m, and has no such bias.

Deviation: g is a magnitude here and acts along -y, hence ``dv_y + h g``; eq. 28's ``dv_y - h g``
holds for g = -9.81. Its ``c_{t,+} - c_{t,+}`` is read as ``c_{t,+} - c_{t,-}``, the impulse along
t; the y component of GQ has a sine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.geometry import Ground, Shape, contacts

ROUNDING = 1e-9  # relative: below it a noise-free quantity is 0
_RESOLVED = 3.0  # standard deviations: above them a noisy quantity isn't 0
_GRID = 720  # angles at which the total least squares cost is scanned


@dataclass(frozen=True)
class ContactSteps:
    """The n steps with contact of a motion.

    Attributes
    ----------
    shape, ground : what touches what
    position : (n, 3) q^k, m and rad
    after : (n, 3) v^(k+1), m/s and rad/s
    change : (n, 3) ``(a, d_omega)`` in S, m/s and rad/s
    closed : (n, n_c) contacts that may push in the step
    normal, tangent : (n, n_c, 3) columns of N and T at q^k, as rows
    """

    shape: Shape
    ground: Ground
    position: np.ndarray
    after: np.ndarray
    change: np.ndarray
    closed: np.ndarray
    normal: np.ndarray
    tangent: np.ndarray

    def __len__(self) -> int:
        return len(self.change)

    @property
    def length(self) -> float:
        """Unit of length, m: the uniform body's radius of gyration, so that ``J/(m L^2)`` is of
        order one.
        """
        return float(np.sqrt(self.shape.uniform_inertia_ratio))

    @property
    def speed(self) -> float:
        """Unit of speed, m/s: root mean square of ``(a, L d_omega)`` over the steps."""
        return float(np.sqrt(np.mean(np.sum((self.change * [1.0, 1.0, self.length]) ** 2, axis=1))))

    @property
    def single(self) -> np.ndarray:
        """(n,) steps with one closed contact, those to which eq. 31 applies."""
        return self.closed.sum(axis=1) == 1

    def grasp(self, k: int) -> np.ndarray:
        """(3, 2 n_closed) G^k: the closed contacts' columns of N, then those of T."""
        return np.concatenate([self.normal[k, self.closed[k]], self.tangent[k, self.closed[k]]]).T

    @property
    def split(self) -> int:
        """Number of impulse directions that move nothing: ``sum (2 n_closed - rank G^k)``."""
        # rows in one unit, or a rank's tolerance means nothing
        unit = np.array([1.0, 1.0, self.length])[:, None]
        grasps = [self.grasp(k) / unit for k in range(len(self))]
        return sum(g.shape[1] - int(np.linalg.matrix_rank(g, tol=ROUNDING)) for g in grasps)


def contact_steps(
    shape: Shape,
    ground: Ground,
    position: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    *,
    time_step: float,
    gravity: float,
    closed: np.ndarray,
) -> ContactSteps:
    """The steps of a motion in which a contact is closed and the body does more than fall.

    Parameters
    ----------
    position, before, after : (n, 3) q^k, v^k and v^(k+1) of every step
    time_step : h, s
    gravity : m/s2, positive, along -y
    closed : (n, n_c) closed contacts

    Raises
    ------
    ContactIdError
        Where a pose or velocity isn't finite.
    """
    if not (np.isfinite(position).all() and np.isfinite(before).all() and np.isfinite(after).all()):
        raise ContactIdError("a step's pose or velocity isn't finite", "Leave such steps out")
    at = contacts(shape, ground, position)
    # (n, 3) without gravity's part, (a, d_omega)
    change = after - before + [0.0, time_step * gravity, 0.0]
    unit = np.array([1.0, 1.0, np.sqrt(shape.uniform_inertia_ratio)])
    # what rounding is compared with
    largest = np.abs(np.stack([before, after]) * unit).max(initial=0.0) + abs(time_step * gravity)
    use = closed.any(axis=1) & (np.abs(change * unit).max(axis=1) > 1e-12 * largest)
    rows = (values[use] for values in (position, after, change, closed, at.normal, at.tangent))
    return ContactSteps(shape, ground, *rows)


def dynamic_matrix(steps: ContactSteps, *, scaled: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Matrix A of eq. 29 and the units of its columns.

    Returns
    -------
    matrix : (3 n, 2 + 2 sum n_closed); columns m, J, then every step's c_n and c_t
    units : (columns,) kg m2 and N s per kg. Scaled, A's unknowns are J over m L^2 and impulses over
        m V, and its rows are over V and L V, with :attr:`ContactSteps.length` and
        :attr:`ContactSteps.speed`
    """
    counts = 2 * steps.closed.sum(axis=1)
    starts = 2 + np.concatenate([[0], np.cumsum(counts)])
    matrix = np.zeros((3 * len(steps), int(starts[-1])))
    for k in range(len(steps)):
        rows = slice(3 * k, 3 * k + 3)
        # eq. 28 of step k: m a - N c_n - T c_t = 0, and J d_omega in the third row
        matrix[rows, 0] = [*steps.change[k, :2], 0.0]
        matrix[3 * k + 2, 1] = steps.change[k, 2]
        matrix[rows, starts[k] : starts[k + 1]] = -steps.grasp(k)
    if not scaled or not len(steps):
        return matrix, np.ones(matrix.shape[1])
    speed, length = steps.speed, steps.length
    units = np.concatenate([[1.0, length**2], np.full(matrix.shape[1] - 2, speed)])
    # rows of momentum per mass, and of angular momentum per mass
    row_units = np.tile([speed, speed, length * speed], len(steps))
    return matrix * units / row_units[:, None], units


@dataclass(frozen=True)
class Spectrum:
    """Singular values of the scaled A and its null vector.

    Attributes
    ----------
    singular : (columns,) over the largest, descending; zeros where there are more columns than rows
    nullity : how many are 0 by rounding
    split : how many are 0 because several contacts share an impulse (:attr:`ContactSteps.split`)
    per_mass : (columns,) ``(1, J/m, c/m)`` in SI units, of least norm among the splits; from noisy
        data the direction of the smallest singular value. Not numbers where J is free
    """

    singular: np.ndarray
    nullity: int
    split: int
    per_mass: np.ndarray

    @property
    def smallest(self) -> float:
        """Smallest relative singular value apart from the splits: 0 for a rigid body's motion, else
        due to noise.
        """
        return float(self.singular[-1 - self.split])

    @property
    def margin(self) -> float:
        """The next singular value: how far J/m is from being free."""
        return float(self.singular[-2 - self.split])


def spectrum(steps: ContactSteps) -> Spectrum:
    """Singular values of A (dense: a thousand steps take seconds)."""
    matrix, units = dynamic_matrix(steps, scaled=True)
    values, right = np.linalg.svd(matrix, full_matrices=matrix.shape[0] < matrix.shape[1])[1:]
    # with more columns than rows the missing singular values are 0
    singular = np.zeros(matrix.shape[1])
    singular[: len(values)] = values / values[0]
    nullity, split = int((singular <= ROUNDING).sum()), steps.split
    last = right[-1 - split :]
    null = last[:, 0] @ last  # projection of the mass's axis: least norm for a given mass
    # with another null vector J/m isn't told, nor where the mass has no part in it
    known = nullity - split <= 1 and null[0] > ROUNDING
    per_mass = null * units / null[0] if known else np.full(len(units), np.nan)
    return Spectrum(singular, nullity, split, per_mass)


@dataclass(frozen=True)
class RatioEquations:
    """Eq. 31 without the division, ``moment = J/m spin``, for m steps with one contact.

    Attributes
    ----------
    moment : (m,) ``k . (GQ x a)``, m2/s
    spin : (m,) d_omega, rad/s
    covariance : (m, 2, 2) of (moment, spin); where no noise is known that of equal noise of v and L
        omega, in any unit
    """

    moment: np.ndarray
    spin: np.ndarray
    covariance: np.ndarray


def ratio_equations(steps: ContactSteps, covariance: np.ndarray | None = None) -> RatioEquations:
    """Eq. 28 with the impulses eliminated, for the steps with one contact.

    ``covariance`` (3, 3) is that of the changes ``v^(k+1) - v^k``, (m/s, m/s, rad/s); None if there
    is no noise.
    """
    one = steps.single
    rows, which = np.flatnonzero(one), steps.closed[one].argmax(axis=1)
    r_t, minus_r_n = steps.normal[rows, which, 2:], steps.tangent[rows, which, 2:]
    lever = np.zeros((len(rows), 2, 3))  # from a change to (moment, spin)
    # k . (GQ x a) = r_t a_n - r_n a_t
    lever[:, 0, :2] = r_t * steps.ground.normal + minus_r_n * steps.ground.tangent
    lever[:, 1, 2] = 1.0
    change = np.diag([1.0, 1.0, steps.length**-2]) if covariance is None else covariance
    moment, spin = np.einsum("kij,kj->ik", lever, steps.change[one])
    return RatioEquations(moment, spin, lever @ change @ lever.transpose(0, 2, 1))


def turning_steps(steps: ContactSteps, equations: RatioEquations, noise_known: bool) -> np.ndarray:
    """(m,) steps whose spin changes by more than three deviations, or without noise by more than
    rounding.
    """
    deviation = np.sqrt(equations.covariance[:, 1, 1])
    # the division by the spin needs one that isn't 0
    level = _RESOLVED * deviation if noise_known else ROUNDING * steps.speed / steps.length
    return np.abs(equations.spin) > level


def total_least_squares(equations: RatioEquations) -> float:
    """J/m of m equations, m2, each residual over its variance at this J/m; NaN where every spin is
    exactly 0.
    """
    moment, spin, k = equations.moment, equations.spin, equations.covariance
    if not spin.any():
        return float("nan")
    # with it moment and spin have errors of one size
    unit = float(np.sqrt(np.mean(k[:, 0, 0]) / np.mean(k[:, 1, 1])))

    def cost(angle: Any) -> Any:
        """Of J/m = unit tan(angle), at one angle or (n, 1): finite also where J/m is not."""
        s, c = unit * np.sin(angle), np.cos(angle)
        variance = c * c * k[:, 0, 0] - 2.0 * s * c * k[:, 0, 1] + s * s * k[:, 1, 1]
        return np.sum((c * moment - s * spin) ** 2 / variance, axis=-1)

    # all lines first, half a circle of angles: the cost may have several minima
    step = np.pi / _GRID
    angles = -0.5 * np.pi + step * np.arange(_GRID)
    best = angles[np.argmin(cost(angles[:, None]))]
    ends = best - step, best + step
    found = minimize_scalar(cost, bounds=ends, method="bounded", options={"xatol": 1e-12})
    return float(unit * np.tan(found.x))

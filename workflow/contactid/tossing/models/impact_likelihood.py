"""The likelihood of impacts with errors in variables, minimised exactly over what each impact
leaves unknown.

Of an impact, both twists are measured with error: ``a = v^- + noise`` (covariance S^-) and ``d =
v^+ + noise`` (S^+), and ``v^+ = v^- + response P`` by the impact law. For given parameters the sum
of squares

    2 f = |v^- - a|^2 in (S^-)^-1  +  |d - v^- - response P|^2 in (S^+)^-1

is to be minimised over v^- and P under the law. The law fixes ``gamma^- = B^-1 (xi - G P)``, ``B =
1 + diag(e)``, so v^- can be eliminated, and what is left is a linear least-squares problem in ``y =
(T_x, T_y, N, xi_x, xi_y)`` with 9 rows,

    r = r0 + A(e) y,

over the union of the sticking set (``xi = 0``, ``|T| <= mu N``) and the sliding set ``T = -mu N
d``, ``xi = s d``, ``s >= 0``, d a direction. For a fixed d the latter is a non-negative
least-squares problem in (N, s), solved in closed form; over d it is a scan followed by a
golden-section search. The minimum is therefore global for each impact, and what remains is a
continuous function F(mu, e_N, e_T) of two or three parameters. The MPEC of
:mod:`contactid.tossing.models.impacts` minimises the same F with all unknowns at once; here is the
judge of its answer, and the source of standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
from scipy.optimize import minimize

from contactid.tossing.impacts.law import ImpactTable
from contactid.tossing.models.impacts import LARGEST_MU
from contactid.tossing.simulate.contact_kernel import OPTIONS

Point = tuple[float, float, float]  # mu, e_N, e_T

# of the scan; the best one and its neighbours bracket the minimum
_DIRECTIONS = 48
_GOLDEN = 0.6180339887498949
# golden sections, which narrow the bracket of 0.26 rad to 1e-9 rad
_BISECTIONS = 40
# of a parameter, for differences: far above rounding, far below what few impacts begin to slide in
_STEP = 1e-4
_GRID = (21, 11)  # points in mu and in e_N from which the search begins at the best one
_FIRST_STEPS = (0.02, 0.02, 0.05)  # of the search, in mu, e_N and e_T
_SEARCHES = 2  # a second simplex frees a search that shrank at a kink


@dataclass(frozen=True)
class Likelihood:
    """Impacts as whitened rows; build it with :func:`likelihood`."""

    table: ImpactTable  # the impacts, with the model's error in their covariance
    measured: ImpactTable  # the impacts with the measurements' covariance alone
    start: np.ndarray  # (n, 9) r0: 6 rows of twist change, 3 of contact velocity
    change: np.ndarray  # (n, 6, 3) d(first six rows)/dP
    contact: np.ndarray  # (n, 3, 3) whitening of the contact rows
    # (n, 3, 3) d(unwhitened contact rows)/dP that doesn't depend on restitution
    through: np.ndarray

    def rows(self, e_n: float, e_t: float) -> np.ndarray:
        """A(e): (n, 9, 5) derivative of the rows with respect to (T_x, T_y, N, xi_x, xi_y)."""
        shrink = 1.0 / (1.0 + np.array([e_t, e_t, e_n]))
        n = len(self.table)
        rows = np.zeros((n, 9, 5))
        rows[:, :6, :3] = self.change
        # gamma^- = B^-1 (xi - G P), of which the sign is turned
        rows[:, 6:, :3] = self.contact @ (self.through + shrink[:, None] * self.table.delassus)
        rows[:, 6:, 3:] = -self.contact[:, :, :2] * shrink[:2]
        return rows

    def fit(self, mu: float, e_n: float, e_t: float = 0.0) -> LatentFit:
        """The best unknowns of every impact at given parameters."""
        rows = self.rows(e_n, e_t)
        costs, unknowns = _best_unknowns(rows, self.start, mu)
        residuals = self.start + np.einsum("nij,nj->ni", rows, unknowns)
        return LatentFit(costs, unknowns, residuals)

    def objective(self, mu: float, e_n: float, e_t: float = 0.0) -> float:
        """F: half the sum of squares over all impacts."""
        return float(self.fit(mu, e_n, e_t).cost.sum())

    def by_noise_alone(self) -> Likelihood:
        """The same without the model's error."""
        return _whitened(self.measured, self.measured)

    def moved(self, twist: np.ndarray) -> Likelihood:
        """The same where ``twist`` (6,) is taken from every pre-impact twist and added to every
        post-impact one.
        """
        before, after = self.table.pre_twist - twist, self.table.post_twist + twist
        return _whitened(replace(self.table, pre_twist=before, post_twist=after), self.measured)

    def derivatives(
        self, fit: LatentFit, mu: float, e_n: float, e_t: float, free: Sequence[int]
    ) -> np.ndarray:
        """(n, 9, k) derivatives of the rows by the free parameters (0 mu, 1 e_N, 2 e_T) at fixed
        unknowns.
        """
        rows = self.rows(e_n, e_t)
        sliding = fit.on_rim(mu)
        size = np.linalg.norm(fit.unknowns[:, :2], axis=1)
        ray = np.where(
            sliding[:, None], fit.unknowns[:, :2] / np.where(size > 0.0, size, 1.0)[:, None], 0.0
        )
        # on the rim T = mu N u, so dT / dmu = N u; inside mu has no effect
        by_mu = np.einsum("nij,nj->ni", rows[:, :, :2], ray * fit.unknowns[:, 2:3])
        columns = [by_mu]
        # G P - xi, which the contact rows have over 1 + e
        pushed = np.einsum("nij,nj->ni", self.table.delassus, fit.unknowns[:, :3])
        pushed[:, :2] -= fit.unknowns[:, 3:]
        for axes, value in (((2,), e_n), ((0, 1), e_t)):
            part = np.zeros_like(pushed)
            # d / de of 1 / (1 + e)
            part[:, axes] = -pushed[:, axes] / (1.0 + value) ** 2
            column = np.zeros((len(part), 9))
            column[:, 6:] = np.einsum("nij,nj->ni", self.contact, part)
            columns.append(column)
        return np.stack([columns[index] for index in free], axis=2)

    def scores(self, at: Point, free: Sequence[int]) -> np.ndarray:
        """(n, k) gradient of each impact's cost, by the envelope theorem."""
        fit = self.fit(*at)
        # at the best unknowns the cost's derivative by them vanishes, so they may stay fixed
        return np.einsum("nij,ni->nj", self.derivatives(fit, *at, free), fit.residuals)

    def curvatures(self, at: Point, free: Sequence[int]) -> np.ndarray:
        """(n, k, k) share of each impact in F's Hessian, its own unknowns eliminated: differences
        of scores.
        """
        columns = []
        for k in free:
            step = np.zeros(3)
            step[k] = _STEP
            ahead, behind = (
                self.scores(_point(np.array(at) + sign * step), free) for sign in (1.0, -1.0)
            )
            columns.append((ahead - behind) / (2.0 * _STEP))
        shares = np.stack(columns, axis=2)
        # central differences leave them symmetric but for their own errors
        return 0.5 * (shares + np.swapaxes(shares, 1, 2))


@dataclass(frozen=True)
class LatentFit:
    """Best unknowns of every impact at given parameters."""

    cost: np.ndarray  # (n,) half the sum of squares
    unknowns: np.ndarray  # (n, 5) T_x, T_y, N in N s and xi_x, xi_y in m/s
    residuals: np.ndarray  # (n, 9) whitened

    def on_rim(self, mu: float) -> np.ndarray:
        """(n,) whether the impulse lies on the rim of the friction disk."""
        size = np.linalg.norm(self.unknowns[:, :2], axis=1)
        return size >= (1.0 - 1e-9) * mu * self.unknowns[:, 2]


def likelihood(table: ImpactTable, model_error: tuple[float, float] = (0.0, 0.0)) -> Likelihood:
    """Whiten impacts.

    Parameters
    ----------
    model_error : standard deviations (m/s, rad/s) per axis of what the law itself gets wrong in the
        post-impact twist
    """
    return _whitened(
        replace(table, post_covariance=table.post_covariance_with(*model_error)), table
    )


def minimise(problem: Likelihood, near: Point | None = None, *, free_e_t: bool = False) -> Point:
    """The parameters of least F: the best point of a grid (or ``near``), and a simplex search from
    there.

    F is continuous and has kinks, where impacts begin to slide; so no gradient is used.
    """
    if near is None:
        mus, bounces = np.linspace(0.0, LARGEST_MU, _GRID[0]), np.linspace(0.0, 1.0, _GRID[1])
        grid = [(float(mu), float(e_n), 0.0) for mu in mus for e_n in bounces]
        near = min(grid, key=lambda at: problem.objective(*at))
    cost: Any = lambda point: problem.objective(*point)  # noqa: E731
    k = 3 if free_e_t else 2
    at, steps = np.array(near[:k]), np.diag(_FIRST_STEPS[:k])
    bounds = [(0.0, LARGEST_MU), (0.0, 1.0), (0.0, 1.0)][:k]
    steps[1, 1] *= 1.0 if at[1] < 0.5 else -1.0  # inwards
    for _ in range(_SEARCHES):
        settings: Any = {
            "initial_simplex": np.vstack([at, at + steps]),
            "xatol": 1e-6,
            "fatol": 1e-8,
        }
        at = minimize(cost, at, method="Nelder-Mead", bounds=bounds, options=settings).x
        steps = 0.2 * steps
    return _point(np.append(at, 0.0))


def _point(values: np.ndarray) -> Point:
    """The first three of given values."""
    return float(values[0]), float(values[1]), float(values[2])


def _whitened(table: ImpactTable, measured: ImpactTable) -> Likelihood:
    before, after = np.linalg.inv(table.pre_covariance), np.linalg.inv(table.post_covariance)
    # covariance of the mean of both measurements
    pooled = np.linalg.inv(before + after)
    whiten = _root(np.linalg.inv(table.pre_covariance + table.post_covariance))
    contact = _root(np.linalg.inv(table.jacobian @ pooled @ np.swapaxes(table.jacobian, 1, 2)))
    change = whiten @ table.response
    # J v* = J (K a + (1 - K)(d - response P)): mean of both measurements, the impulse's change
    # taken back
    weight = table.jacobian @ pooled
    mean = np.einsum("nij,njk,nk->ni", weight, before, table.pre_twist)
    mean += np.einsum("nij,njk,nk->ni", weight, after, table.post_twist) - table.surface_velocity
    start = np.empty((len(table), 9))
    start[:, :6] = np.einsum("nij,nj->ni", whiten, table.pre_twist - table.post_twist)
    start[:, 6:] = np.einsum("nij,nj->ni", contact, mean)
    return Likelihood(table, measured, start, change, contact, -weight @ after @ table.response)


def _root(matrices: np.ndarray) -> np.ndarray:
    """L^T with ``L L^T`` the given (n, k, k)."""
    return np.swapaxes(np.linalg.cholesky(matrices), 1, 2)


@numba.njit(**OPTIONS)
def _two_signs(a00, a01, a11, b0, b1):
    """Minimise ``b.x + x.A x / 2`` over x >= 0 in the plane; returns (value, x0, x1)."""
    determinant = a00 * a11 - a01 * a01
    # parallel directions, up to rounding, have no inner minimum
    if determinant > 1e-14 * a00 * a11:
        x0, x1 = (a01 * b1 - a11 * b0) / determinant, (a01 * b0 - a00 * b1) / determinant
        if x0 >= 0.0 and x1 >= 0.0:
            return 0.5 * (b0 * x0 + b1 * x1), x0, x1
    # else it lies on one of the two edges
    y0, y1 = max(-b0 / a00, 0.0), max(-b1 / a11, 0.0)
    if b0 * y0 <= b1 * y1:
        return 0.5 * b0 * y0, y0, 0.0
    return 0.5 * b1 * y1, 0.0, y1


@numba.njit(**OPTIONS)
def _along(h, g, mu, angle):
    """Best (N, s) when sliding along a direction: (value, N, s); the cost is ``g.y + y.h y / 2``."""
    c, s = np.cos(angle), np.sin(angle)
    t0, t1 = -mu * c, -mu * s
    # y = N (t0, t1, 1, 0, 0) + slip (0, 0, 0, c, s)
    h0 = h[0, 0] * t0 + h[0, 1] * t1 + h[0, 2]
    h1 = h[1, 0] * t0 + h[1, 1] * t1 + h[1, 2]
    h2 = h[2, 0] * t0 + h[2, 1] * t1 + h[2, 2]
    h3 = h[3, 0] * t0 + h[3, 1] * t1 + h[3, 2]
    h4 = h[4, 0] * t0 + h[4, 1] * t1 + h[4, 2]
    a00 = t0 * h0 + t1 * h1 + h2
    a01 = c * h3 + s * h4
    a11 = c * (h[3, 3] * c + h[3, 4] * s) + s * (h[4, 3] * c + h[4, 4] * s)
    return _two_signs(a00, a01, a11, g[0] * t0 + g[1] * t1 + g[2], g[3] * c + g[4] * s)


@numba.njit(**OPTIONS)
def _best_unknowns(rows, start, mu):
    """Cost (n,) and y (n, 5) of every impact."""
    n = rows.shape[0]
    costs, unknowns = np.empty(n), np.zeros((n, 5))
    for i in range(n):
        a = rows[i]
        # normal equations: the cost is base + g.y + y.h y / 2
        h, g = a.T @ a, a.T @ start[i]
        base = 0.5 * (start[i] @ start[i])
        # sticking: three linear equations; inside the disk it can't be beaten from the sticking
        # set's rim
        p = np.linalg.solve(h[:3, :3], -g[:3])
        sticks = p[2] >= 0.0 and p[0] ** 2 + p[1] ** 2 <= (mu * p[2]) ** 2
        # at its minimum, -g.p is p.h p
        best = base + 0.5 * (g[:3] @ p) if sticks else np.inf
        if sticks:
            unknowns[i, :3] = p
        found, angle = np.inf, 0.0
        for k in range(_DIRECTIONS):
            trial = 2.0 * np.pi * k / _DIRECTIONS
            value = _along(h, g, mu, trial)[0]
            if value < found:
                found, angle = value, trial
        # one step of the scan on either side
        low, high = angle - 2.0 * np.pi / _DIRECTIONS, angle + 2.0 * np.pi / _DIRECTIONS
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = _along(h, g, mu, left)[0], _along(h, g, mu, right)[0]
        for _ in range(_BISECTIONS):
            if at_left < at_right:
                high, right, at_right = right, left, at_left
                left = high - _GOLDEN * (high - low)
                at_left = _along(h, g, mu, left)[0]
            else:
                low, left, at_left = left, right, at_right
                right = low + _GOLDEN * (high - low)
                at_right = _along(h, g, mu, right)[0]
        angle = 0.5 * (low + high)
        value, normal, slip = _along(h, g, mu, angle)
        if base + value < best:
            best = base + value
            c, s = np.cos(angle), np.sin(angle)
            unknowns[i, 0] = -mu * normal * c
            unknowns[i, 1] = -mu * normal * s
            unknowns[i, 2] = normal
            unknowns[i, 3], unknowns[i, 4] = slip * c, slip * s
        costs[i] = best
    return costs, unknowns

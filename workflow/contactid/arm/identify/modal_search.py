"""Poles that fit a post-impact velocity best: variable projection, a grid over the poles, every
local minimum polished.

For given poles the best coefficients follow from linear least squares, which leaves a function of
the poles alone. Its gradient is exact from the projected derivatives (Kaufman's simplification of
Golub and Pereyra's Jacobian): the rest r is orthogonal to the model's columns X, so ``d|r|^2/dp =
-2 r^T (dX/dp) beta``. The grid is fine enough that neighbours share a valley (a fraction of 1 /
length in frequency). One pole is searched over all grid points. Two are searched over all pairs of
grid points, which finds modes of similar strength, and by adding every grid point to the best
single poles, which finds a second mode so weak that the grid's misfit of the first would hide it. A
further pole is added to the best sets of one pole fewer in the second way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import minimum_filter

from contactid.arm.models.modal_signal import HIGH, LOW, ModalProblem, parts_of, poles_of

_RIDGE = 1e-11  # relative, in the grid's normal equations only; polishing uses QR
_SPACING = 0.4  # of the grid's frequencies, in units of 1 / (length of the signal)
_DECAYS = 6  # of the grid, evenly spaced in their logarithm
_STARTS = 24  # lowest local minima of the grid that are polished
_ITERATIONS = 300  # limit of a polishing
_KEPT = 6  # sets of poles that a further pole is added to
_CONVERGED = 1e-11  # relative decrease still promised by a Gauss-Newton step
_ROUNDING = 1e-24  # of the signal's square: a rest below it is zero
_DAMPING_START, _DAMPING_LEAST = 1e-3, 1e-12


@dataclass(frozen=True)
class Found:
    """Polished local minima, best first.

    Attributes
    ----------
    poles : (k, m) complex, 1/s, omega > 0
    costs : (k,) sums of whitened squares
    converged : (k,) bool
    """

    poles: np.ndarray
    costs: np.ndarray
    converged: np.ndarray


def search(problem: ModalProblem, modes: int) -> Found:
    """The local minima that the grid leads to."""
    grid = grid_poles(problem)
    fewer = search(problem, modes - 1).poles[:_KEPT] if modes > 1 else np.empty((1, 0))
    starts = _added_starts(problem, grid, fewer)
    if modes == 2:
        starts = np.concatenate([starts, _pair_starts(problem, grid)])
    return polish(problem, starts)


def grid_poles(problem: ModalProblem) -> np.ndarray:
    """(decays, frequencies) complex poles of the grid."""
    length = float(problem.time[-1] - problem.time[0])
    step = 2.0 * np.pi * _SPACING / length
    omega = np.linspace(LOW[1], HIGH[1], max(2, int(np.ceil((HIGH[1] - LOW[1]) / step)) + 1))
    gamma = -np.geomspace(-HIGH[0], -LOW[0], _DECAYS)
    return gamma[:, None] + 1j * omega[None, :]


def polish(problem: ModalProblem, poles: np.ndarray) -> Found:
    """Projected, damped Gauss-Newton from poles (k, m), all at once, within the bounds."""
    count, modes = poles.shape
    low, high = np.tile(LOW, modes), np.tile(HIGH, modes)
    point = np.clip(parts_of(poles), low, high)
    damping = np.full(count, _DAMPING_START)
    state = _State.at(problem, point)
    size = float((problem.target**2).sum())
    cost = state.cost.copy()
    active, converged = np.arange(count), np.zeros(count, dtype=bool)
    for _ in range(_ITERATIONS):
        gradient, curvature = state.quadratic()
        at = point[active]
        held = ((at <= low) & (gradient > 0.0)) | ((at >= high) & (gradient < 0.0))
        gradient = np.where(held, 0.0, gradient)
        promised = (gradient * _step(gradient, curvature, held, np.zeros(len(active)))).sum(axis=1)
        done = -promised <= _CONVERGED * state.cost + _ROUNDING * size
        converged[active[done]] = True
        if done.all():
            break
        going = ~done
        active, at, state = active[going], at[going], state.part(going)
        step = _step(gradient[going], curvature[going], held[going], damping[active])
        trial = np.clip(at + step, low, high)
        tried = _State.at(problem, trial)
        better = tried.cost < state.cost
        point[active] = np.where(better[:, None], trial, at)
        state = state.replaced(tried, better)
        cost[active] = state.cost
        relaxed, raised = (
            np.maximum(0.1 * damping[active], _DAMPING_LEAST),
            np.minimum(10.0 * damping[active], 1e12),
        )
        damping[active] = np.where(better, relaxed, raised)
    order = np.argsort(cost, kind="stable")
    return Found(poles_of(point)[order], cost[order], converged[order])


def cost_at(problem: ModalProblem, poles: np.ndarray) -> np.ndarray:
    """(k,) smallest sums of whitened squares for poles (k, m)."""
    return _State.at(problem, parts_of(poles)).cost


@dataclass(frozen=True)
class _State:
    """The projected problem at several sets of poles: k of them, r rows, d channels, q = 2 m
    parameters.

    ``rest`` (k, r, d), ``slopes`` (k, r, d, q) projected derivatives of the model, ``cost`` (k,).
    """

    rest: np.ndarray
    slopes: np.ndarray
    cost: np.ndarray

    @classmethod
    def at(cls, problem: ModalProblem, point: np.ndarray) -> _State:
        waves, derivatives = problem.modes(poles_of(point))
        basis, upper = np.linalg.qr(problem.whiten(problem.columns(waves)))
        seen = np.swapaxes(basis, -1, -2) @ problem.target
        rest = problem.target - basis @ seen
        coefficients = _back_substituted(upper, seen)
        slopes = pole_slopes(problem, derivatives, coefficients)
        k, rows, channels, q = slopes.shape
        flat = slopes.reshape(k, rows, channels * q)
        flat = flat - basis @ (np.swapaxes(basis, -1, -2) @ flat)
        return cls(rest, flat.reshape(k, rows, channels, q), (rest**2).sum(axis=(1, 2)))

    def quadratic(self) -> tuple[np.ndarray, np.ndarray]:
        """Half the gradient (k, q) of the cost, and half its Gauss-Newton curvature (k, q, q)."""
        k, q = self.slopes.shape[0], self.slopes.shape[-1]
        flat = self.slopes.reshape(k, -1, q)
        gradient = -np.einsum("knq,kn->kq", flat, self.rest.reshape(k, -1))
        return gradient, np.swapaxes(flat, 1, 2) @ flat

    def part(self, chosen: np.ndarray) -> _State:
        return _State(self.rest[chosen], self.slopes[chosen], self.cost[chosen])

    def replaced(self, other: _State, where: np.ndarray) -> _State:
        pick = where[:, None, None]
        return _State(
            np.where(pick, other.rest, self.rest),
            np.where(pick[..., None], other.slopes, self.slopes),
            np.where(where, other.cost, self.cost),
        )


def pole_slopes(
    problem: ModalProblem, derivatives: np.ndarray, coefficients: np.ndarray
) -> np.ndarray:
    """(..., r, d, 2 m) whitened derivatives of the model by gamma_1, omega_1, gamma_2, ... at fixed
    coefficients.

    ``derivatives`` (..., n, m) of the modes by s, ``coefficients`` (..., p, d).
    """
    z = problem.amplitudes(coefficients)
    by_pole = derivatives[..., :, None, :] * np.swapaxes(z, -1, -2)[..., None, :, :]
    slopes = np.stack([by_pole.real, -by_pole.imag], axis=-1)
    shape = slopes.shape[:-3]
    channels, q = slopes.shape[-3], 2 * slopes.shape[-2]
    white = problem.whiten(slopes.reshape(*shape, channels * q))
    return white.reshape(*white.shape[:-1], channels, q)


def _step(
    gradient: np.ndarray, curvature: np.ndarray, held: np.ndarray, damping: np.ndarray
) -> np.ndarray:
    """(k, q) damped Gauss-Newton steps; held parameters stay."""
    q = gradient.shape[1]
    free = ~held[:, :, None] & ~held[:, None, :]
    diagonal = np.einsum("kqq->kq", curvature)
    scale = np.sqrt(np.where(held | (diagonal <= 0.0), 1.0, diagonal))
    matrix = np.where(free, curvature, 0.0) / (scale[:, :, None] * scale[:, None, :])
    matrix = matrix + np.eye(q) * (damping[:, None, None] + held[:, :, None] + _RIDGE)
    return -np.linalg.solve(matrix, (gradient / scale)[..., None])[..., 0] / scale


def _back_substituted(upper: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Coefficients from R beta = Q^T y; columns that others imply get a tiny pivot instead of a
    zero.
    """
    diagonal = np.abs(np.einsum("...ii->...i", upper))
    floor = np.maximum(1e-14 * diagonal.max(axis=-1, keepdims=True), np.finfo(float).tiny)
    lacking = np.where(diagonal < floor, floor, 0.0)
    return np.linalg.solve(upper + lacking[..., None] * np.eye(upper.shape[-1]), seen)


def _pair_starts(problem: ModalProblem, grid: np.ndarray) -> np.ndarray:
    """Lowest local minima over all unordered pairs of grid poles."""
    poles = grid.ravel()
    columns = problem.whiten(problem.columns(problem.modes(poles)[0]))
    columns = columns / np.linalg.norm(columns, axis=0)
    gram, seen = columns.T @ columns, columns.T @ problem.target
    first, second = np.triu_indices(len(poles), 1)
    own = problem.leading + 2 * np.column_stack([first, second])[:, :, None] + np.arange(2)
    shared = np.tile(np.arange(problem.leading), (len(first), 1))
    picked = np.concatenate([shared, own.reshape(len(first), -1)], axis=1)  # columns of each pair
    matrix = gram[picked[:, :, None], picked[:, None, :]] + _RIDGE * np.eye(picked.shape[1])
    right = seen[picked]
    explained = (right * np.linalg.solve(matrix, right)).sum(axis=(1, 2))
    costs = np.full((len(poles), len(poles)), np.inf)
    costs[first, second] = float((problem.target**2).sum()) - explained
    costs = np.minimum(costs, costs.T)
    image = costs.reshape(*grid.shape, *grid.shape)
    lowest = (image == minimum_filter(image, size=3, mode="nearest")).reshape(
        costs.shape
    ) & np.isfinite(costs)
    rows, columns = np.nonzero(np.triu(lowest, 1))
    order = np.argsort(costs[rows, columns], kind="stable")[:_STARTS]
    return np.column_stack([poles[rows[order]], poles[columns[order]]])


def _added_starts(problem: ModalProblem, grid: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Every set of poles (k, m) with the grid poles that are local minima as its next pole."""
    starts, costs = [], []
    for poles in sets:
        full = np.column_stack([np.tile(poles, (grid.size, 1)), grid.ravel()])
        image = cost_at(problem, full).reshape(grid.shape)
        lowest = np.flatnonzero((image == minimum_filter(image, size=3, mode="nearest")).ravel())
        starts.append(full[lowest])
        costs.append(image.ravel()[lowest])
    order = np.argsort(np.concatenate(costs), kind="stable")[:_STARTS]
    return np.concatenate(starts)[order]

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
from typing import NamedTuple

import numpy as np
from scipy.ndimage import minimum_filter
from scipy.optimize import least_squares

from contactid.arm.models.modal_signal import HIGH, LOW, ModalProblem, parts_of, poles_of

_RIDGE = 1e-11  # relative, in the grid's normal equations only; polishing uses QR
_SPACING = 0.4  # of the grid's frequencies, in units of 1 / (length of the signal)
_DECAYS = 6  # of the grid, evenly spaced in their logarithm
_STARTS = 6  # lowest local minima of the grid that are polished
_EVALUATIONS = 100  # limit of a polishing
_KEPT = 6  # sets of poles that a further pole is added to
_CONVERGED = 1e-13  # relative tolerances of a polishing


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
    # recursion: the best sets of one pole fewer
    fewer = search(problem, modes - 1).poles[:_KEPT] if modes > 1 else np.empty((1, 0))
    starts = _added_starts(problem, grid, fewer)
    if modes == 2:
        starts = np.concatenate([starts, _pair_starts(problem, grid)])
    return polish(problem, starts)


def grid_poles(problem: ModalProblem) -> np.ndarray:
    """(decays, frequencies) complex poles of the grid."""
    length = float(problem.time[-1] - problem.time[0])
    step = 2.0 * np.pi * _SPACING / length
    # finer than the width of a valley in frequency, 1 / length
    omega = np.linspace(LOW[1], HIGH[1], max(2, int(np.ceil((HIGH[1] - LOW[1]) / step)) + 1))
    gamma = -np.geomspace(-HIGH[0], -LOW[0], _DECAYS)
    return gamma[:, None] + 1j * omega[None, :]


def polish(problem: ModalProblem, poles: np.ndarray) -> Found:
    """Least squares within the bounds from poles (k, m), the coefficients eliminated."""
    modes = poles.shape[1]
    bounds = np.tile(LOW, modes), np.tile(HIGH, modes)
    size = float(np.linalg.norm(problem.target)) or 1.0  # the tolerances are those of a unit signal

    def rest(point: np.ndarray) -> np.ndarray:
        return _project(problem, poles_of(point)).rest.ravel() / size

    def slopes(point: np.ndarray) -> np.ndarray:
        return _projected_slopes(problem, poles_of(point)) / size

    ends = [
        least_squares(rest, start, slopes, bounds, method="dogbox", x_scale="jac", ftol=_CONVERGED,
                      xtol=_CONVERGED, gtol=_CONVERGED, max_nfev=_EVALUATIONS)
        for start in np.clip(parts_of(poles), *bounds)
    ]  # fmt: skip
    ends.sort(key=lambda end: end.cost)
    return Found(
        poles_of(np.array([end.x for end in ends])),
        np.array([2.0 * size**2 * end.cost for end in ends]),
        np.array([end.status > 0 for end in ends]),
    )


def cost_at(problem: ModalProblem, poles: np.ndarray) -> np.ndarray:
    """(k,) smallest sums of whitened squares for poles (k, m)."""
    return (_project(problem, poles).rest ** 2).sum(axis=(-2, -1))


class _Projected(NamedTuple):
    """The best fit for given poles, of r rows, p columns and d channels.

    ``rest`` (..., r, d) of the target, ``basis`` (..., r, p) orthonormal columns, ``coefficients``
    (..., p, d), ``derivatives`` (..., n, m) of the modes by s.
    """

    rest: np.ndarray
    basis: np.ndarray
    coefficients: np.ndarray
    derivatives: np.ndarray


def _project(problem: ModalProblem, poles: np.ndarray) -> _Projected:
    waves, derivatives = problem.modes(poles)
    # QR and not normal equations: columns of close modes are nearly dependent
    basis, upper = np.linalg.qr(problem.whiten(problem.columns(waves)))
    seen = np.swapaxes(basis, -1, -2) @ problem.target
    rest = problem.target - basis @ seen
    return _Projected(rest, basis, _back_substituted(upper, seen), derivatives)


def _projected_slopes(problem: ModalProblem, poles: np.ndarray) -> np.ndarray:
    """(r d, 2 m) derivatives of the rest by gamma_1, omega_1, ..., by Kaufman's simplification."""
    best = _project(problem, poles)
    slopes = pole_slopes(problem, best.derivatives, best.coefficients)
    flat = slopes.reshape(len(slopes), -1)
    return -(flat - best.basis @ (best.basis.T @ flat)).reshape(-1, slopes.shape[-1])


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
    # every pair's normal equations are parts of this one Gram matrix
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
    # whole squares less those explained
    costs[first, second] = float((problem.target**2).sum()) - explained
    costs = np.minimum(costs, costs.T)
    # four dimensions: decay and frequency of both poles
    image = costs.reshape(*grid.shape, *grid.shape)
    # minima against all neighbours on the grid
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
        # a set with each grid pole added
        full = np.column_stack([np.tile(poles, (grid.size, 1)), grid.ravel()])
        image = cost_at(problem, full).reshape(grid.shape)
        lowest = np.flatnonzero((image == minimum_filter(image, size=3, mode="nearest")).ravel())
        starts.append(full[lowest])
        costs.append(image.ravel()[lowest])
    order = np.argsort(np.concatenate(costs), kind="stable")[:_STARTS]
    return np.concatenate(starts)[order]

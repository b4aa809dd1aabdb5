"""Lemke's complementary pivoting for small linear complementarity problems, compiled.

The problem: given M (n, n) and q (n,), find z with ``z >= 0``, ``w = M z + q >= 0`` and ``z . w = 0``. A covering
term makes it trivial, ``w = M z + q + z_0 d`` with ``d > 0`` and ``z_0`` large, and pivots that keep every pair (w_i,
z_i) complementary drive ``z_0`` to 0. Ties are broken lexicographically, so no basis comes back and the pivots end,
at a solution or on a ray.

On copositive matrices a ray can only appear if some ``v >= 0`` with ``M v >= 0`` and ``v . M v = 0`` has ``q . v <
0`` (Cottle, Pang and Stone, *The Linear Complementarity Problem*, section 4.4). In floating point it can also come of
rounding, where the path passes a nearly singular basis. Another covering vector d takes another path, so several are
tried, and what counts as solved is the residual, recomputed from M and q.

Tolerances are absolute: scale the problem so that its entries are of order one.
"""

from __future__ import annotations

import numba
import numpy as np

from contactid.planar.simulate.kernel import OPTIONS

SOLVED, RAY, TOO_LONG = 0, 1, 2  # status of :func:`lemke`
RESIDUAL = 1e-9  # at most, at a solution
_PIVOT = 1e-10  # a smaller entry is rounding: dividing by it would wreck the tableau
_TIE = 1e-12  # ratios closer than this are equal up to rounding
_PIVOTS_PER_ROW = 25
_PATHS = 8
_GOLDEN = 0.6180339887498949  # its multiples modulo 1 spread evenly: entries of the covering vectors


@numba.njit(**OPTIONS)
def lemke(matrix, vector):
    """Solve ``0 <= z perp M z + q >= 0`` for a matrix (n, n) and a vector (n,); returns (z, status).

    The status is SOLVED where the residual is at most 1e-9, else RAY or TOO_LONG, and z is the best of what was found.
    """
    n = vector.shape[0]
    best, status, least = np.zeros(n), SOLVED, complementarity_residual(matrix, vector, np.zeros(n))
    if least == 0.0:
        return best, status
    for path in range(_PATHS):
        z, status = _follow_path(matrix, vector, _covering_vector(n, path))
        residual = complementarity_residual(matrix, vector, z)
        if residual <= least:
            best, least = z, residual
        if least <= RESIDUAL:
            return best, SOLVED
    return best, max(status, RAY)


@numba.njit(**OPTIONS)
def _covering_vector(n, path):
    """(n,) ones for the first path, numbers between 1 and 2 for the others."""
    cover = np.ones(n)
    for i in range(n):
        cover[i] += (path * (i + 1) * _GOLDEN) % 1.0
    return cover


@numba.njit(**OPTIONS)
def _follow_path(matrix, vector, cover):
    """Pivot from the covering vector on; returns z (n,) and how the path ended."""
    n = vector.shape[0]
    z = np.zeros(n)
    row = _first_row(vector, cover)
    if row < 0:
        return z, SOLVED
    tableau = _first_tableau(matrix, vector, cover)
    basis = np.arange(n)
    entering = z_0 = 2 * n
    status = TOO_LONG
    for _ in range(_PIVOTS_PER_ROW * n):
        _pivot(tableau, row, entering)
        leaving = basis[row]
        basis[row] = entering
        if leaving == z_0:
            status = SOLVED
            break
        entering = leaving + n if leaving < n else leaving - n
        row = _leaving_row(tableau, basis, entering)
        if row < 0:
            status = RAY
            break
    for i in range(n):
        if n <= basis[i] < z_0:
            z[basis[i] - n] = max(tableau[i, z_0 + 1], 0.0)
    return z, status


@numba.njit(**OPTIONS)
def complementarity_residual(matrix, vector, z):
    """``max |min(z, M z + q)|``: 0 at a solution and only there; infinite where an entry isn't a number."""
    worst = 0.0
    for i in range(vector.shape[0]):
        w = vector[i]
        for j in range(vector.shape[0]):
            w += matrix[i, j] * z[j]
        violation = abs(min(z[i], w))
        if np.isnan(violation):
            return np.inf
        worst = max(worst, violation)
    return worst


@numba.njit(**OPTIONS)
def _first_row(vector, cover):
    """Row of the smallest negative ``q_i / d_i``, the lexicographic rule's last among equals; -1 if there is none."""
    row, least = -1, 0.0
    for i in range(vector.shape[0]):
        ratio = vector[i] / cover[i]
        if ratio < 0.0 and ratio <= least + _TIE:
            row, least = i, ratio
    return row


@numba.njit(**OPTIONS)
def _first_tableau(matrix, vector, cover):
    """(n, 2 n + 2) columns of w, z, z_0 and the right-hand side in ``w - M z - z_0 d = q``."""
    n = vector.shape[0]
    tableau = np.zeros((n, 2 * n + 2))
    for i in range(n):
        tableau[i, i] = 1.0
        for j in range(n):
            tableau[i, n + j] = -matrix[i, j]
        tableau[i, 2 * n] = -cover[i]
        tableau[i, 2 * n + 1] = vector[i]
    return tableau


@numba.njit(**OPTIONS)
def _pivot(tableau, row, column):
    """Gauss-Jordan step that makes ``column`` the unit vector of ``row``."""
    rows, columns = tableau.shape
    inverse = 1.0 / tableau[row, column]
    for j in range(columns):
        tableau[row, j] *= inverse
    tableau[row, column] = 1.0
    for i in range(rows):
        factor = tableau[i, column]
        if i != row and factor != 0.0:
            for j in range(columns):
                tableau[i, j] -= factor * tableau[row, j]
            tableau[i, column] = 0.0


@numba.njit(**OPTIONS)
def _leaving_row(tableau, basis, column):
    """Row whose variable the entering one drives to 0 first, ``z_0`` before all others; -1 if none."""
    n = tableau.shape[0]
    best, cover_row = -1, -1
    for i in range(n):
        if tableau[i, column] > _PIVOT:
            if best < 0 or _comes_before(tableau, i, best, column):
                best = i
            if basis[i] == 2 * n:
                cover_row = i
    if cover_row >= 0 and _ratio(tableau, cover_row, column) <= _ratio(tableau, best, column) + _TIE:
        return cover_row
    return best


@numba.njit(**OPTIONS)
def _ratio(tableau, row, column):
    """Value of the entering variable at which a row's variable is 0; a right-hand side below 0 is rounding."""
    return max(tableau[row, tableau.shape[1] - 1], 0.0) / tableau[row, column]


@numba.njit(**OPTIONS)
def _comes_before(tableau, row, other, column):
    """Whether a row's ratio is lexicographically smaller: ratios first, then the rows of the inverse basis."""
    difference = _ratio(tableau, row, column) - _ratio(tableau, other, column)
    if abs(difference) > _TIE:
        return difference < 0.0
    scale, scale_other = 1.0 / tableau[row, column], 1.0 / tableau[other, column]
    for j in range(tableau.shape[0]):
        difference = tableau[row, j] * scale - tableau[other, j] * scale_other
        if abs(difference) > _TIE:
            return difference < 0.0
    return False

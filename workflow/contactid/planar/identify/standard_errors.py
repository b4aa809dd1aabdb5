"""Standard errors at a solution: the reduced Hessian of a constrained least-squares model, by one
solve.

For ``min f(x)``, f half a sum of squared residuals in units of their noise, subject to ``c(x) = 0``
(equalities and whatever bounds and inequalities are active), the covariance of x to first order is
the upper left block of

``[[H, A^T], [A, 0]]^-1`` with the Hessian H of f and the Jacobian A of c.

It is what the inverse of the reduced Hessian gives, without a basis of A's null space. Directions
that neither f nor c determine get a large variance; small regularisations keep the matrix solvable
for them and for dependent constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from contactid.core.pair_sides import PairSides
from contactid.core.solve import PreparedModel
from contactid.planar.models.trajectory import TrajectoryModel

_ACTIVE = 1e-7  # distance from a bound that counts as on it
_FLAT = 1e-10  # curvature given to directions that have none
_DEPENDENT = 1e-12  # slack given to constraints that others imply


def standard_errors(built: TrajectoryModel, sides: PairSides) -> tuple[float, float]:
    """Of J/m (m2) and mu at a settled solution, with the zero side of every pair held at zero."""
    spread = covariance(sides.prepared, [built.model.inertia_ratio, built.model.friction_mu])
    variances = np.maximum(np.diag(spread), 0.0)
    return float(np.sqrt(variances[0])) * built.scales.length**2, float(np.sqrt(variances[1]))


def covariance(prepared: PreparedModel, wanted: Sequence[Any]) -> np.ndarray:
    """(p, p) covariance of p variables at a model's present point; its objective is f.

    A variable on one of its bounds has no variance, like everything else that active constraints
    fix.
    """
    written = prepared.written
    x, f, g = (written.program.problem[name] for name in ("x", "f", "g"))
    hessian, _ = casadi.hessian(f, x)
    at = casadi.Function("at", [x], [hessian, g, casadi.jacobian(g, x)])
    point = written.start()
    values = at(point)
    curvature, slopes = values[0].sparse(), values[2].sparse()
    x_low, x_high, g_low, g_high = written.bounds()
    # equalities lie on both their bounds, so they are among them
    rows = _active(np.array(values[1]).ravel(), g_low, g_high)
    fixed = _active(point, x_low, x_high)
    n = len(point)
    jacobian = sp.vstack([sp.csr_matrix(slopes)[rows], sp.identity(n, format="csr")[fixed]])
    m = jacobian.shape[0]
    # [[H, A^T], [A, 0]], regularised
    upper = sp.hstack([sp.csr_matrix(curvature) + _FLAT * sp.identity(n, format="csr"), jacobian.T])
    lower = sp.hstack([jacobian, -_DEPENDENT * sp.identity(m, format="csr")])
    matrix = sp.csc_matrix(sp.vstack([upper, lower]))
    place = {id(variable): index for index, variable in enumerate(written.variables)}
    columns = [place[id(variable)] for variable in wanted]
    right = np.zeros((n + m, len(columns)))
    # unit vectors: their solutions are columns of the inverse
    right[columns, np.arange(len(columns))] = 1.0
    return splu(matrix).solve(right)[columns]


def _active(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Indices of values on a bound."""
    return np.flatnonzero((values - low <= _ACTIVE) | (high - values <= _ACTIVE))

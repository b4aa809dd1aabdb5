"""Covariance of quantities at the solution of a constrained least-squares model: the reduced Hessian, by one solve.

For ``min f(x)``, f half a sum of squared residuals in units of their noise, subject to ``c(x) = 0`` (equalities and
whatever bounds and inequalities are active), the covariance of x to first order is the upper left block of

``[[H, A^T], [A, 0]]^-1`` with the Hessian H of f and the Jacobian A of c.

It is what the inverse of the reduced Hessian gives, without a basis of A's null space. Directions that neither f nor c
determine get a large variance; small regularisations keep the matrix solvable for them and for dependent constraints.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]
import scipy.sparse as sp
from pyomo.repn.plugins.nl_writer import NLWriter  # type: ignore[import-untyped]
from scipy.sparse.linalg import splu

_ACTIVE = 1e-7  # distance from a bound that counts as on it
_FLAT = 1e-10  # curvature given to directions that have none
_DEPENDENT = 1e-12  # slack given to constraints that others imply


def covariance(model: pyo.ConcreteModel, wanted: Sequence[Any]) -> np.ndarray:
    """(p, p) covariance of p variables at the model's present point; its active objective is f.

    A variable on one of its bounds has no variance, like everything else that active constraints fix.
    """
    with tempfile.TemporaryDirectory(prefix="contactid-") as folder:
        path = Path(folder) / "model.nl"
        with path.open("w", encoding="ascii") as stream:
            info = NLWriter().write(model, stream, linear_presolve=False, scale_model=False)
        nlp = casadi.NlpBuilder()
        nlp.import_nl(str(path))
    x, g = casadi.veccat(*nlp.x), casadi.veccat(*nlp.g)
    hessian, _ = casadi.hessian(nlp.f, x)
    at = casadi.Function("at", [x], [hessian, g, casadi.jacobian(g, x)])
    point = np.array([float(pyo.value(variable)) for variable in info.variables])
    values = at(point)
    curvature, slopes = values[0].sparse(), values[2].sparse()
    rows = _active(np.array(values[1]).ravel(), np.array(nlp.g_lb), np.array(nlp.g_ub))
    fixed = _active(point, np.array(nlp.x_lb), np.array(nlp.x_ub))
    n = len(point)
    jacobian = sp.vstack([sp.csr_matrix(slopes)[rows], sp.identity(n, format="csr")[fixed]])
    m = jacobian.shape[0]
    upper = sp.hstack([sp.csr_matrix(curvature) + _FLAT * sp.identity(n, format="csr"), jacobian.T])
    lower = sp.hstack([jacobian, -_DEPENDENT * sp.identity(m, format="csr")])
    matrix = sp.csc_matrix(sp.vstack([upper, lower]))
    place = {id(variable): index for index, variable in enumerate(info.variables)}
    columns = [place[id(variable)] for variable in wanted]
    right = np.zeros((n + m, len(columns)))
    right[columns, np.arange(len(columns))] = 1.0
    return splu(matrix).solve(right)[columns]


def _active(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Indices of values on a bound."""
    return np.flatnonzero((values - low <= _ACTIVE) | (high - values <= _ACTIVE))

"""The impact map: joint velocity after an impact, from the one before it and the posture.

The impact equation ``M (q+ - q-) = J_N^T Lambda`` with the inelastic impact law ``J_N q+ = 0``
(eqs. 3 and 4 of the arm paper) gives ``q+ = (I - M^-1 J_N^T (J_N M^-1 J_N^T)^-1 J_N) q-`` (eq. 5).

With the Cholesky factor ``M = L L^T`` and ``L^-1 J_N^T = Q R`` the matrix of eq. 5 is ``I - L^-T Q
Q^T L^T``: an orthogonal projection in the metric of the kinetic energy. This form is used, since it
keeps ``J_N q+`` and idempotence at rounding where the product of inverses doesn't.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular

from contactid.core.errors import ContactIdError

SMALLEST_MOBILITY = 1e-8  # 1/kg; below it the tip is as good as blocked along the normal


def impact_map(mass: np.ndarray, jacobian_n: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Joint velocity (n,) right after a frictionless inelastic impact, rad/s (eqs. 3 to 5).

    ``mass`` M (n, n) is positive definite, kg m^2; ``velocity`` q- (n,), rad/s; ``jacobian_n`` (n,)
    or (m, n) the Jacobian of the gap's or gaps' rate, m. Several rows all stay closed; where some
    may open instead, see :mod:`contactid.arm.models.impact`.

    Raises
    ------
    ContactIdError
        At a singular posture.
    """
    factor, basis = _factors(mass, jacobian_n)
    velocity = np.asarray(velocity, dtype=float)
    # projection in the metric of M: L^T q, less its part along the rows
    weighted = factor.T @ velocity
    lost = basis @ (basis.T @ weighted)
    lost += basis @ (basis.T @ (weighted - lost))  # a second pass removes the first one's rounding
    return velocity - solve_triangular(factor, lost, lower=True, trans="T")


def normal_impulse(mass: np.ndarray, jacobian_n: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """(m,) impulse Lambda (N s) of :func:`impact_map`, ``-(J_N M^-1 J_N^T)^-1 J_N q-``; (1,) for
    one row.
    """
    rows = np.atleast_2d(jacobian_n)
    _factors(mass, rows)  # refuses a singular posture
    return -np.linalg.solve(mobility(mass, rows), rows @ velocity)


def mobility(mass: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    """W = J M^-1 J^T (m, m), 1/kg: change of the contact point's velocity per impulse."""
    rows = np.atleast_2d(jacobian)
    # W = (L^-1 J^T)^T (L^-1 J^T)
    half = solve_triangular(cholesky(mass, lower=True), rows.T, lower=True)
    return half.T @ half


def sliding_ratio(mass: np.ndarray, tip_jacobian: np.ndarray) -> float:
    """r = W_xz / W_zz of a tip Jacobian (3, n): the tip's v_x+ is ``v_x- + r |v_z-|`` after an
    inelastic impact.

    Raises
    ------
    ContactIdError
        At a singular posture.
    """
    _factors(mass, tip_jacobian[2])
    w = mobility(mass, tip_jacobian)
    return float(w[0, 2] / w[2, 2])


def kinetic_energy(mass: np.ndarray, velocity: np.ndarray) -> float:
    """``q^T M q / 2`` in J."""
    return 0.5 * float(velocity @ mass @ velocity)


def _factors(mass: np.ndarray, jacobian_n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cholesky factor L (n, n) of the mass matrix and an orthonormal basis (n, m) of L^-1 J_N^T."""
    rows = np.atleast_2d(np.asarray(jacobian_n, dtype=float))
    factor = cholesky(np.asarray(mass, dtype=float), lower=True)
    half = solve_triangular(factor, rows.T, lower=True)
    # smallest eigenvalue of W; more rows than joints always depend on each other
    smallest = np.linalg.svd(half, compute_uv=False)[-1] ** 2 if len(rows) <= len(factor) else 0.0
    if not smallest >= SMALLEST_MOBILITY:
        raise ContactIdError(
            f"singular posture: an impulse along the normal hardly moves the tip (mobility {smallest:.2g} 1/kg,"
            f" least {SMALLEST_MOBILITY:.2g})",
            "Choose a posture with bent joints, and contacts that are independent",
        )
    return factor, qr(half, mode="economic")[0]

"""Factors of the graph (figure 3, in-hand paper): their residuals with exact derivatives, and the
parameters' charts.

Residuals here have units; the graph divides them by their standard deviations. ``pose``, ``force``
and ``contact`` are estimate less measurement, with the rotation's difference as a rotation vector.
A force or contact factor is the identity, so only the pose's, the dynamics' and the two factors of
the parameters need formulas.

A chart has ten coordinates of the inertial parameters for a solver that adds steps: a point, its
increment, its slope. The ``vector`` chart adds to the ten parameters as they are. The ``principal``
chart (eqs. 26 to 30) adds to mass (kg), centre of mass (m) and the second moments (kg m2) about the
principal axes, and turns the axes by ``R exp(d)``, so that a rotation stays one. Neither keeps a
body physical: masses and second moments may turn negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.inertia import InertialParameters, PrincipalForm, pseudo_inertia, tensor_entries
from contactid.core.rotations import skew
from contactid.inhand.identify.kinematics import (
    BodyMotion,
    inverse_jacobian,
    rotation_exp,
    rotation_log,
)
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH, regressor, wrench_slope

MASS, CENTER, MOMENTS, AXES = (
    0,
    slice(1, 4),
    slice(4, 7),
    slice(7, 10),
)  # of an increment in the principal chart


@dataclass(frozen=True)
class VectorChart:
    """The ten parameters themselves."""

    vector: np.ndarray

    @property
    def slope(self) -> np.ndarray:
        """(10, 10): derivative of the vector by an increment."""
        return np.eye(10)

    def plus(self, increment: np.ndarray) -> VectorChart:
        """The point an increment (10,) away."""
        return VectorChart(self.vector + increment)


@dataclass(frozen=True)
class PrincipalChart:
    """The principal-axes form; an increment is mass, centre of mass, second moments, rotation
    vector.
    """

    form: PrincipalForm

    @property
    def vector(self) -> np.ndarray:
        """(10,) parameters about B's origin."""
        return self.form.parameters().vector

    @property
    def slope(self) -> np.ndarray:
        """(10, 10): derivative of the vector by an increment."""
        mass, center = self.form.mass, self.form.center_of_mass
        axes, moments = self.form.rotation, self.form.second_moments
        # principal tensor: each moment of inertia is the sum of the other two second moments
        principal = np.diag(moments.sum() - moments)
        slope = np.zeros((10, 10))
        slope[0, MASS], slope[1:4, MASS] = 1.0, center
        # Steiner's part m (c.c 1 - c c^T), by the mass and by each coordinate of c
        slope[4:, MASS] = tensor_entries(center @ center * np.eye(3) - np.outer(center, center))
        slope[1:4, CENTER] = mass * np.eye(3)
        for i, unit in enumerate(np.eye(3)):
            moved = 2.0 * center[i] * np.eye(3) - np.outer(unit, center) - np.outer(center, unit)
            slope[4:, 1 + i] = mass * tensor_entries(moved)
            # a second moment counts in the two moments of inertia across it
            slope[4:, 4 + i] = tensor_entries(axes @ (np.eye(3) - np.outer(unit, unit)) @ axes.T)
            # R exp(d) D exp(-d) R^T to first order in d
            turned = skew(unit) @ principal - principal @ skew(unit)
            slope[4:, 7 + i] = tensor_entries(axes @ turned @ axes.T)
        return slope

    def plus(self, increment: np.ndarray) -> PrincipalChart:
        """The point an increment (10,) away."""
        form = self.form
        return PrincipalChart(
            PrincipalForm(
                form.mass + float(increment[MASS]),
                form.center_of_mass + increment[CENTER],
                form.second_moments + increment[MOMENTS],
                # from the right: the increment is in the principal axes
                form.rotation @ rotation_exp(increment[AXES]),
            )
        )


Chart = VectorChart | PrincipalChart
_LEAST_EIGENVALUE = 1e-4  # of P relative to the prior's; the logarithm goes on as a line below it
_ROOT_2 = np.sqrt(2.0)


def pose_residual(
    rotations: np.ndarray,
    positions: np.ndarray,
    measured_rotations: np.ndarray,
    measured_positions: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """(n, 6): ``log(R_measured^T R)`` in rad, ``p - p_measured`` in m; with (n, 6, 6) by the pose's
    increment.
    """
    phi = rotation_log(np.swapaxes(measured_rotations, 1, 2) @ rotations)
    slope = np.zeros((len(phi), 6, 6))
    # inverse right Jacobian, as the increment multiplies from the right
    slope[:, :3, :3] = np.swapaxes(inverse_jacobian(phi), 1, 2)
    slope[:, 3:, 3:] = np.eye(3)
    return np.concatenate([phi, positions - measured_positions], axis=1), slope


def dynamics_residual(motion: BodyMotion, acting: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """(m, 6): required less exerted force (N, eq. 18) and torque about B's origin (N m, eq. 19), in
    B.

    Parameters
    ----------
    motion
        Of the m inner samples.
    acting
        (m, 2, c, 3) forces, N, and contact points, m, at the same samples; or (m, 3, c, 3) with
        torques about the contact points, N m.
    vector
        (10,) inertial parameters.
    """
    forces, points = acting[:, 0], acting[:, 1]
    exerted = np.concatenate([forces.sum(axis=1), np.cross(points, forces).sum(axis=1)], axis=1)
    if acting.shape[1] > 2:
        exerted[:, 3:] += acting[:, 2].sum(axis=1)
    return regressor(motion) @ vector - exerted


def dynamics_slopes(
    motion: BodyMotion, acting: np.ndarray, vector: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Derivatives of :func:`dynamics_residual`: by the poses (m, 6, s), by what acts at k, by the
    vector (m, 6, 10).

    The second is (m, 6, 6 c), all forces and then all contact points, or (m, 6, 9 c) with the
    torques last.
    """
    count, kinds, contacts, _ = acting.shape
    slopes = np.zeros((count, WRENCH, kinds, contacts, 3))
    # exerted is subtracted: -1 by a force, -[r]x by its torque, +[f]x by its point
    slopes[:, :3, 0] = -np.eye(3)[:, None, :]
    slopes[:, 3:, 0] = -np.swapaxes(skew(acting[:, 1]), 1, 2)
    slopes[:, 3:, 1] = np.swapaxes(skew(acting[:, 0]), 1, 2)
    slopes[:, 3:, 2:] = -np.eye(3)[:, None, None, :]
    return (
        wrench_slope(motion, vector),
        slopes.reshape(count, WRENCH, kinds * contacts * 3),
        regressor(motion),
    )


def consistency_residual(
    form: PrincipalForm, normals: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Violations of eqs. 35 to 37, zero where there are none, with derivatives by the principal
    chart's increment.

    Parameters
    ----------
    form
        The present parameters.
    normals, offsets
        (h, 3) and (h,) m: the geometry's convex hull as ``normals @ c <= offsets``; h may be 0.

    Returns
    -------
    (4 + h,) and (4 + h, 10)
        Negative mass in kg, negative second moments in kg m2, distances of the centre of mass
        outside each face in m.
    """
    # positive where violated: eq. 35, eq. 36, eq. 37
    limits = np.concatenate(
        [[-form.mass], -form.second_moments, normals @ form.center_of_mass - offsets]
    )
    slope = np.zeros((len(limits), PARAMETERS))
    slope[0, 0] = -1.0
    slope[1:4, 4:7] = -np.eye(3)
    slope[4:, 1:4] = normals
    # a one-sided cost: it and its slope vanish within the limits
    violated = limits > 0.0
    return np.where(violated, limits, 0.0), slope * violated[:, None]


def geodesic_residual(
    vector: np.ndarray, prior: InertialParameters
) -> tuple[np.ndarray, np.ndarray]:
    """(10,) whose norm is the geodesic distance (eq. 20) to the prior, with (10, 10) by the
    parameters' vector.

    It is the half-vectorised ``1/2 log(W P W^T)`` with ``W P_prior W^T = Id``; off-diagonal entries
    count twice in the norm. The derivative is Daleckii and Krein's formula with divided
    differences.

    Deviation: the paper's distance has no value where P isn't positive definite, which an iterate
    may be. Below a share of 1e-4 of the prior, the logarithm of an eigenvalue goes on as its
    tangent.
    """
    # W with W P_prior W^T = 1: the distance is that to the identity
    frame = np.linalg.inv(np.linalg.cholesky(prior.pseudo_inertia))
    basis = np.stack([pseudo_inertia(unit) for unit in np.eye(PARAMETERS)])
    # P is linear in the parameters, so W P W^T has constant slopes (10, 4, 4)
    values, turn = np.linalg.eigh(frame @ np.tensordot(vector, basis, axes=1) @ frame.T)
    logarithm, slopes = _extended_log(values)
    gap = values[:, None] - values[None, :]
    # divided differences lose their digits there: the mean of both slopes is their limit
    near = np.abs(gap) <= 1e-6 * np.maximum(np.abs(values[:, None]), np.abs(values[None, :]))
    divided = (logarithm[:, None] - logarithm[None, :]) / np.where(near, 1.0, gap)
    divided = np.where(near, 0.5 * (slopes[:, None] + slopes[None, :]), divided)
    to_eigen = turn.T @ frame
    changes = turn @ (divided * (to_eigen @ basis @ to_eigen.T)) @ turn.T
    return _half_vector(turn @ np.diag(logarithm) @ turn.T), _half_vector(changes).T


def _extended_log(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logarithm and its derivative, continued as a line below the least eigenvalue."""
    low = values < _LEAST_EIGENVALUE
    held = np.maximum(values, _LEAST_EIGENVALUE)
    # slope 1 / least at the joint: value and slope go over steadily
    beyond = np.where(low, (values - _LEAST_EIGENVALUE) / _LEAST_EIGENVALUE, 0.0)
    return np.log(held) + beyond, 1.0 / held


def _half_vector(matrices: np.ndarray) -> np.ndarray:
    """(..., 10) of half of symmetric (..., 4, 4), with the Frobenius norm as its norm."""
    rows, columns = np.triu_indices(4)
    return 0.5 * matrices[..., rows, columns] * np.where(rows == columns, 1.0, _ROOT_2)

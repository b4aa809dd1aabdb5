"""Velocity and acceleration of a body from sampled poses (eqs. 10 to 17, in-hand paper), with exact
derivatives.

A pose is a rotation matrix R (body B to world W) and the position p of B's origin in W, in m. An
increment of a pose is ``(dphi, dp)``: R becomes ``R exp(dphi)`` with ``dphi`` in rad in B, and p
becomes ``p + dp`` in W. All functions take stacks: rotations ``(n, 3, 3)``, vectors ``(n, 3)``.

What the dynamics need at sample k, in the axes of B at k: the body's rate w, its derivative, and
``s = R^T (p'' - g)``, the acceleration of B's origin less gravity. The paper's symbols are lost, so
all schemes are derived here.

``paper``: the twist between two samples is constant, ``V+ = log(X_k^-1 X_k+1) / dt`` and ``V- =
log(X_k-1^-1 X_k) / dt`` (eqs. 10 to 13). The linear part of V- is turned to the frame at k (eqs. 14
and 15; the angular part keeps its coordinates), and accelerations are the differences over dt (eqs.
16 and 17); the rate is that of V+. The rate lags by half a step, and so do the axes of the
acceleration: errors of first order in dt.

``central`` and ``fourth_order``: in exponential coordinates at sample k, ``y(t) = log(R_k^T
R(t))``, the rate is y' and its derivative is y'' (the Magnus expansion's commutators enter y with
the third power of time). These and ``p''`` are the derivatives of the polynomial through the three
or five samples around k. For equal steps, the errors are of second and of fourth order in dt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.rotations import skew

PAPER, CENTRAL, FOURTH_ORDER = "paper", "central", "fourth_order"
REACH = {PAPER: 1, CENTRAL: 1, FOURTH_ORDER: 2}  # samples that a scheme uses on either side
SCHEMES = tuple(REACH)
POSE = 6  # size of a pose's increment: rotation, then position
_SMALL = 1e-2  # rad; below it a series of three terms is exact to rounding


@dataclass(frozen=True)
class BodyMotion:
    """Motion at the m inner samples, in the axes of B there, with derivatives by the increments of
    the poses around.

    Attributes
    ----------
    rate : (m, 3) rad/s
    rate_change : (m, 3) rad/s2
    specific_force : (m, 3) m/s2, acceleration of B's origin less gravity
    d_rate, d_rate_change, d_specific_force : (m, 3, 6 (2 reach + 1)), poses k - reach to k + reach
    """

    rate: np.ndarray
    rate_change: np.ndarray
    specific_force: np.ndarray
    d_rate: np.ndarray
    d_rate_change: np.ndarray
    d_specific_force: np.ndarray

    @classmethod
    def alone(
        cls, rate: np.ndarray, rate_change: np.ndarray, specific_force: np.ndarray
    ) -> BodyMotion:
        """Without derivatives by the poses."""
        none = np.zeros((len(rate), 3, 0))
        return cls(rate, rate_change, specific_force, none, none, none)


def rotation_exp(phi: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) of rotation vectors (..., 3)."""
    angle = np.linalg.norm(phi, axis=-1)[..., None, None]
    cross = skew(phi)
    # sin(a)/a and (1 - cos a)/a^2 = sinc(a/2)^2 / 2, exact at zero, too (Rodrigues)
    half = np.sinc(0.5 * angle / np.pi)  # numpy's sinc holds a pi
    return np.eye(3) + np.sinc(angle / np.pi) * cross + 0.5 * half**2 * (cross @ cross)


def rotation_log(rotations: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3) of rotations (..., 3, 3) by less than pi, accurate near the
    identity.

    The sine comes from the skew part and the cosine from the trace, so that small angles keep all
    their digits; close to pi the skew part vanishes, which relative rotations between samples don't
    reach.
    """
    transposed = np.swapaxes(rotations, -1, -2)
    # (R - R^T) at (2, 1), (0, 2), (1, 0)
    twice_sine_axis = (rotations - transposed)[..., [2, 0, 1], [1, 2, 0]]
    sine = 0.5 * np.linalg.norm(twice_sine_axis, axis=-1)
    angle = np.arctan2(sine, 0.5 * (np.trace(rotations, axis1=-2, axis2=-1) - 1.0))
    return 0.5 * twice_sine_axis / np.sinc(angle / np.pi)[..., None]


def inverse_jacobian(phi: np.ndarray) -> np.ndarray:
    """(..., 3, 3) inverse left Jacobian: ``log(exp(d) exp(phi)) = phi + J d`` to first order.

    ``J = Id - skew(phi) / 2 + c skew(phi)^2``; its transpose is the inverse right Jacobian.
    """
    cross = skew(phi)
    coefficient, _ = _cotangent_coefficient(np.linalg.norm(phi, axis=-1))
    return np.eye(3) - 0.5 * cross + coefficient[..., None, None] * (cross @ cross)


def quaternion_rate(orientation: np.ndarray, change: np.ndarray) -> np.ndarray:
    """(n, 3) vector part of ``2 conj(q) q'``: the rate in B of unit quaternions (n, 4) that change
    by (n, 4) per s.

    With second derivatives in place of first ones it is the rate's derivative.
    """
    w, v = orientation[:, :1], orientation[:, 1:]
    return 2.0 * (w * change[:, 1:] - change[:, :1] * v - np.cross(v, change[:, 1:]))


def body_motion(
    time: np.ndarray, rotations: np.ndarray, positions: np.ndarray, gravity: float, scheme: str
) -> BodyMotion:
    """Finite differences at the samples that have all the neighbours that the scheme needs.

    Parameters
    ----------
    time
        (n,) s; steps may differ.
    rotations, positions
        (n, 3, 3) and (n, 3) m.
    gravity
        m/s2, along -z of W.
    scheme
        One of :data:`SCHEMES`.
    """
    acceleration_of_gravity = np.array([0.0, 0.0, -gravity])
    if scheme == PAPER:
        return _paper(time, rotations, positions, acceleration_of_gravity)
    return _polynomial(time, rotations, positions, acceleration_of_gravity, REACH[scheme])


def _polynomial(
    time: np.ndarray, rotations: np.ndarray, positions: np.ndarray, g: np.ndarray, reach: int
) -> BodyMotion:
    """Derivatives of the polynomial through the samples k - reach to k + reach, at k."""
    count, points = len(time) - 2 * reach, 2 * reach + 1
    first, second = _difference_weights(time, reach)
    to_body = np.swapaxes(rotations[reach : reach + count], 1, 2)
    rate, change, world = np.zeros((3, count, 3))
    d_rate, d_change, d_force = np.zeros((3, count, 3, POSE * points))
    # columns of the middle pose's turn, against which all others are measured
    own = slice(POSE * reach, POSE * reach + 3)
    for j in range(points):
        there = slice(j, j + count)
        one, two = first[:, j, None], second[:, j, None]
        # second derivative of the position in W
        world += two * positions[there]
        # s = R^T (p'' - g) is linear in the positions
        d_force[:, :, POSE * j + 3 : POSE * (j + 1)] = two[..., None] * to_body
        # log(R_k^T R_k) = 0: the middle sample adds nothing
        if j == reach:
            continue
        phi = rotation_log(to_body @ rotations[there])
        left = inverse_jacobian(phi)
        other = slice(POSE * j, POSE * j + 3)
        for value, slope, weight in ((rate, d_rate, one), (change, d_change, two)):
            value += weight * phi
            # by the other pose's turn the inverse right Jacobian, by the middle one's minus the
            # left one
            slope[:, :, other] = weight[..., None] * np.swapaxes(left, 1, 2)
            slope[:, :, own] -= weight[..., None] * left
    force = np.einsum("kij,kj->ki", to_body, world - g)
    # turning R by d turns R^T v by -d x: its slope is skew(R^T v)
    d_force[:, :, own] += skew(force)
    return BodyMotion(rate, change, force, d_rate, d_change, d_force)


def _difference_weights(time: np.ndarray, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (m, 2 reach + 1) of the samples around k in the first and the second derivative
    there.
    """
    points = 2 * reach + 1
    around = np.lib.stride_tricks.sliding_window_view(time, points)
    # offsets in mean steps, so that the Vandermonde matrix is well conditioned
    step = (around[:, -1] - around[:, 0])[:, None] / (points - 1)
    offsets = (around - around[:, reach, None]) / step
    # (m, points, points): sum_j w_j offset_j^i is the derivative of t^i at 0
    powers = offsets[:, None, :] ** np.arange(points)[:, None]
    wanted = np.zeros((points, 2))
    wanted[1, 0], wanted[2, 1] = 1.0, 2.0
    weights = np.linalg.solve(powers, np.broadcast_to(wanted, (len(powers), points, 2)))
    return weights[..., 0] / step, weights[..., 1] / step**2


def _paper(
    time: np.ndarray, rotations: np.ndarray, positions: np.ndarray, g: np.ndarray
) -> BodyMotion:
    before, after = np.diff(time)[:-1, None], np.diff(time)[1:, None]
    b, a = before[..., None], after[..., None]
    phi = rotation_log(
        np.swapaxes(rotations[:-1], 1, 2) @ rotations[1:]
    )  # (n - 1, 3), eq. 12 times dt
    left = inverse_jacobian(
        phi
    )  # phi's derivative by the later rotation is left^T, by the earlier one -left
    right = np.swapaxes(left, 1, 2)
    count = len(before)
    # rates of V- and V+, (n - 2, 3)
    minus, plus = phi[:-1] / before, phi[1:] / after
    d_minus, d_plus, d_force = np.zeros((3, count, 3, 3 * POSE))
    d_minus[:, :, 0:3], d_minus[:, :, 6:9] = -left[:-1] / b, right[:-1] / b
    d_plus[:, :, 6:9], d_plus[:, :, 12:15] = -left[1:] / a, right[1:] / a
    linear, d_early, d_late = _linear_parts(phi, left, rotations, positions)
    # eq. 14: the linear part of V- in the axes at k
    relative = np.swapaxes(rotations[1:-1], 1, 2) @ rotations[:-2]  # B at k - 1 to B at k
    turned = np.einsum("kij,kj->ki", relative, linear[:-1])
    gravity = np.einsum("kji,j->ki", rotations[1:-1], g)
    # by the poses k - 1, k and k + 1 in turn
    d_force[:, :, 0:6] = -relative @ d_early[:-1] / (a * b)
    d_force[:, :, 0:3] += relative @ skew(linear[:-1]) / (a * b)
    d_force[:, :, 6:12] = d_early[1:] / a**2 - relative @ d_late[:-1] / (a * b)
    # the pose at k also turns both frames and gravity
    d_force[:, :, 6:9] -= skew(turned) / (a * b) + skew(gravity)
    d_force[:, :, 12:18] = d_late[1:] / a**2
    return BodyMotion(
        rate=plus,
        rate_change=(plus - minus) / after,
        specific_force=(linear[1:] / after - turned / before) / after - gravity,
        d_rate=d_plus,
        d_rate_change=(d_plus - d_minus) / a,
        d_specific_force=d_force,
    )


def _linear_parts(
    phi: np.ndarray, left: np.ndarray, rotations: np.ndarray, positions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Linear parts (n - 1, 3) of the twists between neighbours (eq. 13 times dt), in the earlier
    frame, and their derivatives (n - 1, 3, 6) by the increments of the earlier and the later
    pose."""
    to_body = np.swapaxes(rotations[:-1], 1, 2)
    shift = np.einsum("kij,kj->ki", to_body, np.diff(positions, axis=0))
    # product rule: J(phi) shift
    by_phi = _derivative_of_inverse_jacobian(phi, shift)
    # the earlier pose turns phi and the frame of the shift, and moves its start
    early = np.concatenate([by_phi @ -left + left @ skew(shift), -left @ to_body], axis=2)
    late = np.concatenate([by_phi @ np.swapaxes(left, 1, 2), left @ to_body], axis=2)
    return np.einsum("kij,kj->ki", left, shift), early, late


def _derivative_of_inverse_jacobian(phi: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """(n, 3, 3): derivative by phi of ``inverse_jacobian(phi) vector`` at a fixed vector (n, 3)."""
    coefficient, slope = (
        value[:, None, None] for value in _cotangent_coefficient(np.linalg.norm(phi, axis=-1))
    )
    dot = np.einsum("ki,ki->k", phi, vector)[:, None, None]
    column, row = phi[:, :, None], phi[:, None, :]
    squared = column * vector[:, None, :] + dot * np.eye(3) - 2.0 * vector[:, :, None] * row
    # phi x (phi x v), (n, 3, 1)
    twice_crossed = column * dot - np.sum(phi**2, axis=1)[:, None, None] * vector[:, :, None]
    return 0.5 * skew(vector) + coefficient * squared + slope * twice_crossed * row


def _cotangent_coefficient(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``c = (1 - (t/2) cot(t/2)) / t^2`` and ``c'(t) / t``, by series near zero."""
    small = angle < _SMALL
    # any angle but zero: these entries are replaced by the series
    t = np.where(small, 1.0, angle)
    half_cotangent = 0.5 * t / np.tan(0.5 * t)
    value = (1.0 - half_cotangent) / t**2
    slope = (0.25 * t**2 / np.sin(0.5 * t) ** 2 + half_cotangent - 2.0) / t**4
    square = angle**2
    series = 1.0 / 12.0 + square / 720.0 + square**2 / 30240.0
    # term by term the derivative of the series above over t
    slope_series = 1.0 / 360.0 + square / 7560.0 + square**2 / 201600.0
    return np.where(small, series, value), np.where(small, slope_series, slope)

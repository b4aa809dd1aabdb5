"""The wrench on a grasped object about the body frame's origin: what its motion asks for, what its
contacts exert.

*Asked for* (Newton and Euler; eqs. 6 to 9, 18 and 19, in-hand paper). With the rate w, its
derivative w', ``s = R^T (p'' - g)``, mass m, first moment ``h = m c`` and the tensor I about the
origin of B,

    force   m s + w' x h + w x (w x h)
    torque  I w' + w x (I w) + h x s

must be what the contacts exert about B's origin. Both are linear in the ten inertial parameters.

*Exerted*: the contacts' forces, points and torques are each measured with an error of their own. In
the estimation as the paper draws it (figure 3) they are unknown, but they occur in their own
sample's equations only, through ``[sum f_c; sum (r_c x f_c + tau_c)]``, so they can be minimised
out sample by sample. To first order about the measured values the minimum over them, given the
wrench W that the motion asks for, is ``1/2 (W - W_m)^T S^-1 (W - W_m)`` with

``S = sum_c [Id; [r_c]x] S_f,c [Id; [r_c]x]^T + [0; [f_c]x] S_r,c [0; [f_c]x]^T + [0; Id] S_tau,c
[0; Id]^T``.

Exact where the points or the forces are known exactly. Otherwise the torque's product of both
errors, ``dr x df``, is left out: smaller than what is kept by the ratio of a contact point's error
to its lever arm. The optimum is that of the full problem to second order in the errors.

*Not sensed*: a fingertip's mounting frame touches the object too (section VI). The equations then
read ``Y theta = W_m + beta``, beta a wrench that is constant in the body frame. Gravity turns in
that frame as the object turns, a constant doesn't, so the two are told apart by reorientation.
Constant forces at fixed contact points, one per finger, add up to nothing but these six numbers.

What can't be told apart is a share of the load that all fingertips miss: it is another mass at
every motion. Unknown gains ``f = (1 + beta_c) f_m`` aren't offered for that reason; gains towards
zero shrink the errors of the forces along with the forces, so least squares with given weights
prefers them.
"""

from __future__ import annotations

import numpy as np

from contactid.core.inertia import tensor
from contactid.core.rotations import skew
from contactid.inhand.identify.kinematics import BodyMotion
from contactid.inhand.readers.recordings import RecordedSignals

PARAMETERS = 10
WRENCH = 6


def regressor(motion: BodyMotion) -> np.ndarray:
    """(m, 6, 10): force and torque by the parameters' vector; force in the first three rows."""
    rate, change, force = motion.rate, motion.rate_change, motion.specific_force
    rows = np.zeros((len(rate), WRENCH, PARAMETERS))
    # w x (w x h) = [w]x [w]x h
    turning = skew(rate)
    rows[:, :3, 0] = force
    rows[:, :3, 1:4] = skew(change) + turning @ turning
    rows[:, 3:, 1:4] = -skew(force)
    rows[:, 3:, 4:] = _tensor_columns(change) + turning @ _tensor_columns(rate)
    return rows


def wrench_slope(motion: BodyMotion, vector: np.ndarray) -> np.ndarray:
    """(m, 6, s): derivative of the required wrench by the s increments of the poses around, for a
    vector (10,).
    """
    mass, first, inertia = vector[0], vector[1:4], tensor(vector[4:])
    crossing, turning = skew(first), skew(motion.rate)
    # slopes of m s + w' x h + w x (w x h), by s, w' and w in turn
    force = mass * motion.d_specific_force - crossing @ motion.d_rate_change
    force -= (skew(np.cross(motion.rate, first)) + turning @ crossing) @ motion.d_rate
    # the same of I w' + w x (I w) + h x s
    torque = inertia @ motion.d_rate_change + crossing @ motion.d_specific_force
    torque += (turning @ inertia - skew(motion.rate @ inertia)) @ motion.d_rate
    return np.concatenate([force, torque], axis=1)


def _tensor_columns(vectors: np.ndarray) -> np.ndarray:
    """(m, 3, 6) with ``I a = columns [I_xx, I_yy, I_zz, I_xy, I_xz, I_yz]`` for vectors a (m, 3)."""
    x, y, z = vectors.T
    columns = np.zeros((len(vectors), 3, 6))
    columns[:, 0, 0], columns[:, 0, 3], columns[:, 0, 4] = x, y, z
    columns[:, 1, 1], columns[:, 1, 3], columns[:, 1, 5] = y, x, z
    columns[:, 2, 2], columns[:, 2, 4], columns[:, 2, 5] = z, x, y
    return columns


def wrench_covariance(signals: RecordedSignals) -> np.ndarray:
    """(n, 6, 6) covariance of the contacts' wrench about B's origin, N and N m.

    Of the deviations of forces, of contact points (times the force), and of measured torques.
    """
    n, k = signals.forces.shape[:2]
    by_force = np.zeros((n, WRENCH, 3 * k))
    for i in range(k):
        by_force[:, :3, 3 * i : 3 * i + 3] = np.eye(3)
        by_force[:, 3:, 3 * i : 3 * i + 3] = skew(signals.points[:, i])
    # columns scaled by deviations: the covariance is the product with itself
    by_force *= signals.force_sd.reshape(n, 1, 3 * k)
    total = by_force @ np.swapaxes(by_force, 1, 2)
    # a point off by dr changes the torque by dr x f
    levers = signals.point_sd * skew(signals.forces)
    total[:, 3:, 3:] += np.einsum("nkij,nklj->nil", levers, levers)
    if signals.torques is not None:
        # one sensor's noise for each contact
        total[:, 3:, 3:] += k * signals.torque_sd**2 * np.eye(3)
    return total

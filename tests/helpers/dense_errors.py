"""The covariance of a recording's wrenches written out, against which its chain of unknown errors
is held.
"""

import numpy as np

from contactid.inhand.identify.latent_errors import SHORT, UNSENSED, Equations

_POSITION = np.diag([0.0, 0, 0, 1, 1, 1])
_ORIENTATION = np.eye(6) - _POSITION


def pose_kernels(one: Equations) -> list[np.ndarray]:
    """(6 n, 6 n) each: errors of poses in stated deviations, that the levels 1 to 4 stand for."""
    lag = np.abs(one.time[:, None] - one.time)
    spans = (np.eye(len(lag)), np.exp(-lag / SHORT))
    return [np.kron(span, axes) for span in spans for axes in (_POSITION, _ORIENTATION)]


def slopes(one: Equations) -> np.ndarray:
    """(6 m, 6 n) by all poses."""
    by_pose = np.zeros((len(one.rows), 6, len(one.time), 6))
    for k, row in enumerate(one.rows):
        by_pose[k, :, row - 2 : row + 3] = one.by_pose[k].reshape(6, 5, 6)
    return by_pose.reshape(6 * len(one.rows), -1)


def kernels(one: Equations) -> np.ndarray:
    """(k, 6 m, 6 m): what every level stands for, of the whitened wrenches."""
    by_pose, rank = slopes(one), one.by_force.shape[2]
    by_force = np.zeros((len(one.rows), 6, len(one.time), rank))
    for k, row in enumerate(one.rows):
        by_force[k, :, row] = one.by_force[k]
    by_force = by_force.reshape(len(by_pose), -1)
    lag = np.abs(one.time[:, None] - one.time)
    every = [np.eye(len(by_pose)), *(by_pose @ kernel @ by_pose.T for kernel in pose_kernels(one))]
    every += [
        by_force @ np.kron(np.exp(-lag / span), np.eye(rank)) @ by_force.T for span in UNSENSED
    ]
    return np.array(every)

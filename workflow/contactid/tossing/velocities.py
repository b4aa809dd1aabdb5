"""Velocities from sampled poses: central differences on SO(3) (eqs. 12 to 15, tossing) and smoothed speeds."""

from __future__ import annotations

import numpy as np

from contactid.core import rotations


def central_differences(position: np.ndarray, orientation: np.ndarray, time_step: float) -> np.ndarray:
    """Hybrid twists B[M] v_{M,B} by central Euler differences (eqs. 12 to 15, tossing).

    Parameters
    ----------
    position
        (n, 3) m, origin of B in M.
    orientation
        (n, 4) quaternions of R_MB, real part first.
    time_step
        Seconds between samples.

    Returns
    -------
    (n, 6): linear velocity (m/s) of B's origin and angular velocity (rad/s), both in M's orientation; the first and the
    last row are NaN, because eqs. 12 and 13 need both neighbours.
    """
    twist = np.full((len(position), 6), np.nan)
    if len(position) < 3:
        return twist
    rotation = rotations.as_rotation(orientation)
    here, after, before = rotation[1:-1], rotation[2:], rotation[:-2]
    in_body = ((here.inv() * after).as_rotvec() - (here.inv() * before).as_rotvec()) / (2.0 * time_step)
    twist[1:-1, :3] = (position[2:] - position[:-2]) / (2.0 * time_step)
    twist[1:-1, 3:] = here.apply(in_body)
    return twist


def local_fit(position: np.ndarray, time_step: float, half_window: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and acceleration (n, d) of the polynomial fitted to the samples within ``half_window`` of each sample.

    ``position`` is (n, d). Near the ends the window is cut, so that it stays within the recording; the acceleration is
    zero for ``degree`` 1.
    """
    n = len(position)
    velocity, acceleration = np.zeros(position.shape), np.zeros(position.shape)
    for k in range(n):
        first, end = max(0, k - half_window), min(n, k + half_window + 1)
        order = min(degree, end - first - 1)
        times = (np.arange(first, end) - k) * time_step
        coefficients = np.polynomial.polynomial.polyfit(times, position[first:end], order)
        if order >= 1:
            velocity[k] = coefficients[1]
        if order >= 2:
            acceleration[k] = 2.0 * coefficients[2]
    return velocity, acceleration

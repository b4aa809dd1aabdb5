"""What a recording of a moved object can't tell about its ten inertial parameters, in plain words.

Not identifiable is a direction of the parameters' vector whose standard error is more than the
natural size of such parameters for a body of this extent: ``M``, ``M L`` and ``M L^2``, with M the
mass that would weigh as much as the forces add up to, and L the mean distance of the object's hull
from B's origin. The recording then says less than one knows from looking at the object.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
import xarray as xr

from contactid.core import rotations
from contactid.inhand.identify.kinematics import BodyMotion, quaternion_rate
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH, regressor, wrench_covariance
from contactid.inhand.readers.recordings import RecordedSignals, recorded_signals

_WINDOW = 0.25  # s, over which a recording's motion is smoothed before it is looked at
_DEGREE = 3
_NOISE_FACTOR = (
    8.0  # stated deviations that motion must exceed: jitter of a tracker outlasts the smoothing
)
_STILL = 0.05  # rad/s; slower turning is told as none
_SPANNED = 1e-3  # relative; singular values of contact points below are their scatter
_INVOLVED = 0.3  # share in a unit vector from which on a parameter is named
_NAMES = ("m", "m c_x", "m c_y", "m c_z", "I_xx", "I_yy", "I_zz", "I_xy", "I_xz", "I_yz")


def unidentifiable(recording: xr.Dataset) -> list[str]:
    """What a recording can't tell, a plain sentence each; empty where all ten parameters can be
    estimated.

    Looks at the forces, at where the contacts are, and at the smoothed motion, of which what the
    poses' noise explains is taken away. Without a torque sensor, a torque about a single contact,
    or about the line through two, isn't measured, whatever a real fingertip exerts.
    """
    signals = recorded_signals(recording)
    if not np.any(signals.forces):
        return [
            "all contact forces are zero: none of the ten inertial parameters can be identified"
        ]
    motion = visible_motion(signals)
    kept, sensing = _balanced(signals)
    # information in units of the parameters' natural sizes: 1 is the size itself
    matrix, size = _projected_information(signals, motion, kept), _natural_sizes(signals)
    values, vectors = np.linalg.eigh(matrix * np.outer(size, size))
    # standard error above the natural size
    lost = vectors[:, values < 1.0]
    return [*_motion_statements(motion), *sensing, _lost_statement(lost)] if lost.size else []


def visible_motion(signals: RecordedSignals) -> BodyMotion:
    """Motion at all n samples from local cubics, shrunk towards rest by what noise of the poses
    explains.

    ``omega = 2 q* q'`` and ``omega' = 2 (q* q'')`` in B, with q the quaternion; derivatives by the
    poses are left out.
    """
    n, step = len(signals.time), float(np.median(np.diff(signals.time)))
    # odd, within the recording, and longer than the polynomial's degree
    window = min(2 * round(0.5 * _WINDOW / step) + 1, n - 1 + n % 2)
    window = max(window, _DEGREE + 2 - _DEGREE % 2)
    options: dict[str, Any] = {
        "window_length": window,
        "polyorder": _DEGREE,
        "delta": step,
        "axis": 0,
    }
    quaternion = rotations.from_matrices(signals.rotations)
    # white noise of deviation 1 comes out of the filter with these deviations
    noise = [
        np.linalg.norm(scipy.signal.savgol_coeffs(window, _DEGREE, deriv=order, delta=step))
        for order in (0, 1, 2)
    ]
    rate = quaternion_rate(quaternion, scipy.signal.savgol_filter(quaternion, deriv=1, **options))
    change = quaternion_rate(quaternion, scipy.signal.savgol_filter(quaternion, deriv=2, **options))
    acceleration = scipy.signal.savgol_filter(signals.positions, deriv=2, **options)
    # gravity is added after shrinking: it isn't motion
    apparent = _shrunk(acceleration, noise[2] * signals.position_sd) + np.array(
        [0.0, 0.0, signals.gravity]
    )
    return BodyMotion.alone(
        _shrunk(rate, noise[1] * signals.orientation_sd),
        _shrunk(change, noise[2] * signals.orientation_sd),
        np.einsum("nji,nj->ni", signals.rotations, apparent),
    )


def _shrunk(values: np.ndarray, deviation: np.floating) -> np.ndarray:
    """Columns of (n, 3) scaled down by the part that noise of a standard deviation can explain, to
    nothing if all.
    """
    power = np.mean(values**2, axis=0)
    # noise adds its variance to the power, so that much is taken off
    share = 1.0 - (_NOISE_FACTOR * deviation) ** 2 / np.maximum(power, np.finfo(float).tiny)
    return values * np.sqrt(np.maximum(share, 0.0))


def _motion_statements(motion: BodyMotion) -> list[str]:
    turning = np.sqrt(np.mean(motion.rate**2, axis=0)) > _STILL
    if not turning.any():
        return ["the object doesn't turn, as far as one can see"]
    if not turning.all():
        axes = ", ".join(axis for axis, turns in zip("xyz", turning, strict=True) if not turns)
        return [f"the object doesn't turn about its axes {axes}, as far as one can see"]
    return []


def _balanced(signals: RecordedSignals) -> tuple[list[np.ndarray], list[str]]:
    """Per sample a basis (6, r) of the combinations of force and torque that are measured, and what
    is amiss.
    """
    if signals.torques is not None:
        return [np.eye(WRENCH)] * len(signals.time), []
    # a contact that is open measures nothing at that sample
    places, engaged = signals.points.mean(axis=0), np.any(signals.forces != 0.0, axis=2)
    patterns, which = np.unique(engaged, axis=0, return_inverse=True)
    bases = [_measured_combinations(places[pattern]) for pattern in patterns]
    most = max(basis.shape[1] for basis in bases)
    if most == WRENCH:
        return [bases[index] for index in which], []
    about = "the line through its contacts" if most == WRENCH - 1 else "its only contact"
    statement = (
        f"no torque about {about} is measured, so that part of the equation of moments says nothing"
    )
    return [bases[index] for index in which], [statement]


def _measured_combinations(places: np.ndarray) -> np.ndarray:
    """(6, r): all but torques about the one point, or the one line, that (k, 3) contact points lie
    on.
    """
    if not len(places):
        return np.eye(WRENCH)
    # no spread: one point; one direction: a line; two: all torques are measured
    centered = places - places.mean(axis=0)
    _, lengths, directions = np.linalg.svd(centered)
    # scatter of the contact points counts against their distance from the origin
    size = max(float(np.linalg.norm(places, axis=1).max()), np.finfo(float).tiny)
    spanned = int(np.count_nonzero(lengths > _SPANNED * size))
    lost = {0: np.eye(3), 1: directions[:1]}.get(spanned, np.zeros((0, 3)))
    # right singular vectors of what is lost; the rest spans what is measured
    kept = np.linalg.svd(np.hstack([np.zeros((len(lost), 3)), lost]))[2][len(lost) :]
    return kept.T


def _projected_information(
    signals: RecordedSignals, motion: BodyMotion, kept: list[np.ndarray]
) -> np.ndarray:
    """(10, 10) information of the measured combinations of the equations."""
    total = np.zeros((PARAMETERS, PARAMETERS))
    for basis, variance, equations in zip(
        kept, wrench_covariance(signals), regressor(motion), strict=True
    ):
        if basis.shape[1]:
            seen = basis.T @ equations
            # sum of Y^T B (B^T S B)^-1 B^T Y
            total += seen.T @ np.linalg.solve(basis.T @ variance @ basis, seen)
    return total


def _natural_sizes(signals: RecordedSignals) -> np.ndarray:
    """(10,) sizes that the parameters of an object of this extent and weight may have."""
    mass = float(np.median(np.linalg.norm(signals.forces.sum(axis=1), axis=1))) / signals.gravity
    # forces that cancel weigh nothing; the largest one still gives a scale
    mass = mass or float(np.abs(signals.forces).max()) / signals.gravity
    length = float(np.linalg.norm(signals.hull, axis=1).mean())
    return mass * np.array([1.0] + [length] * 3 + [length**2] * 6)


def _lost_statement(lost: np.ndarray) -> str:
    """Names the parameters that take part in directions (10, d) of which nothing is known."""
    share = np.linalg.norm(lost, axis=1)
    names = [name for name, part in zip(_NAMES, share, strict=True) if part > _INVOLVED]
    if lost.shape[1] == PARAMETERS:
        return "none of the ten inertial parameters can be identified"
    what = (
        f"{lost.shape[1]} of the 10 inertial parameters or combinations of them can't be identified"
    )
    return f"{what}; they involve {', '.join(names)}"

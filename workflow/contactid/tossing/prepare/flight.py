"""Estimate the state at release from the whole free flight instead of two neighbouring samples.

In flight the centre of mass moves on a parabola and the body turns torque-free, so every sample
before the first contact tells about the state at release. A central difference (eqs. 12 to 15) uses
two of them: its velocity error is ``sigma / (sqrt 2 dt)``; the fit's falls with the flight's length
to the power 1.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core import rotations
from contactid.sources.motion import BodyProperties
from contactid.tossing.prepare.poses import central_differences
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate

_HIGH_ABOVE = 1e3  # m: flies without ever meeting the surface
_ITERATIONS = 6
# of neighbouring residuals; more can't be told from a wrong model in a short flight
_MOST_CORRELATED = 0.9


@dataclass(frozen=True)
class FlightFit:
    """The state at row 0 of a flight with what the flight leaves uncertain of it."""

    state: State  # pose and twist of B in C
    # (12, 12) of the errors (position of the centre of mass, m; rotation vector d in C, with true R
    # = exp(d) R, rad; velocity of the centre of mass, m/s; angular velocity in C, rad/s), in this
    # order
    covariance: np.ndarray


def central_difference_state(
    position: np.ndarray, orientation: np.ndarray, sample: int, time_step: float
) -> State:
    """The state at ``sample`` (1 or later) as the paper takes it: measured pose, central-difference
    twist (eq. 15).
    """
    around = slice(sample - 1, sample + 2)
    twist = central_differences(position[around], orientation[around], time_step)[1]
    return State(position[sample].copy(), orientation[sample].copy(), twist[:3], twist[3:])


def fit_flight(
    body: BodyProperties,
    position: np.ndarray,
    orientation: np.ndarray,
    time_step: float,
    gravity: np.ndarray,
) -> FlightFit:
    """Least-squares state at row 0 of a flight of n >= 4 samples, with its covariance.

    The covariance is that of least squares, with the noise taken from the residuals. Motion capture
    errors last for several samples, so it is multiplied by ``(1 + r) / (1 - r)``, the loss of
    independent samples under residuals whose neighbours correlate by r. Errors of turning also move
    an eccentric centre of mass; that correlation between the two halves of the state (micrometres)
    is left out. What is slower than the flight itself can't be seen in it.

    Parameters
    ----------
    body : its centre of mass is what flies on a parabola; its inertia says how it turns
    position, orientation : (n, 3) m and (n, 4) of B in C, free flight only
    gravity : (3,) m/s2 in C
    """
    times = np.arange(len(position)) * time_step
    design = np.column_stack([np.ones_like(times), times])
    quaternion, omega, turning = _fit_turning(body, orientation, time_step)
    offset = rotations.as_rotation(orientation).apply(body.center_of_mass)
    # what is left of a parabola without gravity's part is a straight line
    mass_center = position + offset - 0.5 * times[:, None] ** 2 * gravity
    (start, velocity), *_ = np.linalg.lstsq(design, mass_center, rcond=None)
    # from B's origin to the centre of mass at row 0, in C
    start_offset = rotations.as_rotation(quaternion).apply(body.center_of_mass)
    state = State(start - start_offset, quaternion, velocity - np.cross(omega, start_offset), omega)
    noise = _noise_variance(mass_center - design @ np.stack([start, velocity]))
    covariance = np.zeros((12, 12))
    # place and velocity; rotation and spin stand three behind each
    moving = np.r_[0:3, 6:9]
    # all three axes have the same variances
    covariance[np.ix_(moving, moving)] = noise * np.kron(
        np.linalg.inv(design.T @ design), np.eye(3)
    )
    covariance[np.ix_(moving + 3, moving + 3)] = turning
    return FlightFit(state, covariance)


def _noise_variance(residuals: np.ndarray) -> float:
    """Variance per sample of residuals (n, 3) of a fit with two parameters per column, raised for
    their correlation.
    """
    n = len(residuals)
    square = float((residuals**2).sum())
    if n <= 2 or square == 0.0:
        return 0.0
    neighbours = float((residuals[1:] * residuals[:-1]).sum()) / square
    correlation = min(max(neighbours, 0.0), _MOST_CORRELATED)
    # three axes with two parameters each; (1 + r) / (1 - r) as in fit_flight
    return square / (3 * (n - 2)) * (1.0 + correlation) / (1.0 - correlation)


def _fit_turning(
    body: BodyProperties, orientation: np.ndarray, time_step: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gauss-Newton for orientation (4,) and angular velocity (3,) in C at row 0, and their
    covariance (6, 6).
    """
    measured = rotations.as_rotation(orientation)
    times = np.arange(len(orientation)) * time_step
    # spin in C from sample to sample: the start of the search
    steps = (measured[1:] * measured[:-1].inv()).as_rotvec() / time_step
    start, omega = measured[0], steps.mean(axis=0)
    spherical = bool(np.ptp(np.linalg.eigvalsh(body.inertia)) < 1e-9 * body.inertia[0, 0])

    def residuals(turn: np.ndarray, rate: np.ndarray) -> np.ndarray:
        first = rotations.Rotation.from_rotvec(turn) * start
        # the spin is constant: no simulation is needed
        if spherical:
            model = rotations.Rotation.from_rotvec(times[:, None] * rate) * first
        else:
            model = rotations.as_rotation(
                _turn(body, rotations.as_quaternions(first), rate, time_step, len(times))
            )
        return (measured * model.inv()).as_rotvec().ravel()

    jacobian = np.empty((3 * len(times), 6))
    for _ in range(_ITERATIONS):
        base = residuals(np.zeros(3), omega)
        for k in range(3):
            nudge = np.zeros(3)
            nudge[k] = 1e-6
            # forward differences
            jacobian[:, k] = (residuals(nudge, omega) - base) / 1e-6
            jacobian[:, 3 + k] = (residuals(np.zeros(3), omega + nudge * 100.0) - base) / 1e-4
        step, *_ = np.linalg.lstsq(jacobian, -base, rcond=None)
        # the turn is in C, so it multiplies from the left
        start = rotations.Rotation.from_rotvec(step[:3]) * start
        omega = omega + step[3:]
        if np.abs(step).max() < 1e-9:
            break
    noise = _noise_variance(residuals(np.zeros(3), omega).reshape(-1, 3))
    return rotations.as_quaternions(start), omega, noise * np.linalg.inv(jacobian.T @ jacobian)


def _turn(
    body: BodyProperties, quaternion: np.ndarray, rate: np.ndarray, time_step: float, n: int
) -> np.ndarray:
    """Orientations (n, 4) of the body turning freely."""
    start = State(np.array([0.0, 0.0, _HIGH_ABOVE]), quaternion, np.zeros(3), rate)
    # without gravity: only the turning is wanted
    options = SteppingOptions(time_step, substeps=2, gravity=(0.0, 0.0, 0.0))
    return simulate(body, start, ContactParameters(0.0, 0.0), options, n).orientation

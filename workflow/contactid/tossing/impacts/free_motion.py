"""Free motion fitted to a few measured poses: the twist before or after an impact, with its
covariance.

In free flight the centre of mass moves on a parabola of known curvature and the body turns without
torque. Poses are fitted directly: a central difference (eq. 12) is a linear map of poses, so a line
fitted to central differences is a line fitted to the same poses with worse weights, and every
difference next to an impact mixes both sides of it.

The body's own angular velocity obeys ``I w' = -w x I w``; over a few samples its Taylor series and
the Magnus expansion of the rotation are exact to the fourth order in (angular velocity x time).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core import rotations
from contactid.sources.motion import BodyProperties
from contactid.tossing.impacts.impact import cross

_ITERATIONS = 8
_SETTLED = 1e-9  # rad and rad/s


@dataclass(frozen=True)
class PoseNoise:
    """Standard deviations per axis of one measured pose, independent from sample to sample."""

    position: float  # m
    rotation: float  # rad


@dataclass(frozen=True)
class FreeMotion:
    """A fitted free motion; time counts from the fit's reference time."""

    body: BodyProperties  # its centre of mass and inertia
    # center, center_velocity: (3,) m and m/s of the centre of mass in C at the reference time
    center: np.ndarray
    center_velocity: np.ndarray
    rotation: rotations.Rotation  # R_CB at the reference time
    spin: np.ndarray  # (3,) rad/s in B at the reference time
    gravity: np.ndarray  # (3,) m/s2 in C
    # sum of squared times about their mean, s2: the variance of a velocity is that of a sample
    # divided by it
    spread: float
    sample_times: np.ndarray  # (n,) s of the fitted samples
    # (n, 6) measured less fitted poses: position (m) of B's origin and rotation vector (rad) in B
    residuals: np.ndarray

    def poses(self, times: np.ndarray) -> tuple[np.ndarray, rotations.Rotation]:
        """Positions (n, 3) of B's origin and rotations R_CB at times (n,)."""
        turned = self.rotation * rotations.Rotation.from_rotvec(
            _turn(self.body.inertia, self.spin, times)
        )
        center = (
            self.center
            + times[:, None] * self.center_velocity
            + 0.5 * times[:, None] ** 2 * self.gravity
        )
        # back from the centre of mass to B's origin, which is what is measured
        return center - turned.apply(self.body.center_of_mass), turned

    def twist(self, time: float) -> np.ndarray:
        """Hybrid twist (6,) B[C] at a time: velocity of B's origin and angular velocity, both in C."""
        # the spin is kept in B, a hybrid twist has it in C
        turned = self.poses(np.array([time]))[1][0]
        omega = turned.apply(_spin_at(self.body.inertia, self.spin, time))
        velocity = self.center_velocity + time * self.gravity
        return np.concatenate(
            [velocity - cross(omega, turned.apply(self.body.center_of_mass)), omega]
        )

    def twist_covariance(self, noise: PoseNoise) -> np.ndarray:
        """Covariance (6, 6) of :meth:`twist` for a given noise of the poses, whatever the time.

        Diagonal even where the centre of mass is elsewhere: B's origin is what is measured, so what
        an error of the spin does to the velocity of the centre of mass, the way back to the origin
        undoes.
        """
        return np.diag(np.repeat([noise.position**2, noise.rotation**2], 3) / self.spread)

    def misfit(self, noise: PoseNoise) -> float:
        """Sum of squared standardised residuals per degree of freedom; 1 is expected in free
        motion.
        """
        n = len(self.residuals)
        square = (self.residuals[:, :3] ** 2).sum() / noise.position**2
        square += (self.residuals[:, 3:] ** 2).sum() / noise.rotation**2
        # six coordinates, each with a value and a rate fitted
        return float(square / max(6 * (n - 2), 1))

    def bend(self, time: float) -> np.ndarray:
        """Change (6,) of :meth:`twist` at a time if the residuals' curvature were real, in C.

        A body that pivots on a corner is accelerated throughout its window; this is what it does to
        the fitted twist.
        """
        n = len(self.residuals)
        shape = self.sample_times**2 - (self.sample_times**2).mean()
        # twice the coefficient of t^2, regressed on what is left of t^2 beside a constant
        acceleration = 2.0 * (shape @ self.residuals) / (shape @ shape) if n > 2 else np.zeros(6)
        turned = self.rotation.apply(acceleration[3:])
        return time * np.concatenate([acceleration[:3], turned])


def fit_free_motion(
    body: BodyProperties,
    times: np.ndarray,
    position: np.ndarray,
    orientation: np.ndarray,
    gravity: np.ndarray,
) -> FreeMotion:
    """Least-squares free motion through n >= 3 poses; the reference time is the middle of
    ``times``.

    Parameters
    ----------
    times : (n,) s; the returned motion counts time from their mean
    position, orientation : (n, 3) m and (n, 4): poses of B in C
    gravity : (3,) m/s2 in C
    """
    times = times - times.mean()
    spread = float(times @ times)
    measured = rotations.as_rotation(orientation)
    center = position + measured.apply(body.center_of_mass)
    # what is left of a parabola without its known curvature is a straight line
    fall = center - 0.5 * times[:, None] ** 2 * gravity
    velocity = times @ fall / spread
    start = fall.mean(axis=0)
    middle = len(times) // 2
    rotation, spin = measured[middle], np.zeros(3)
    turned = measured
    for _ in range(_ITERATIONS):
        turned = rotation * rotations.Rotation.from_rotvec(_turn(body.inertia, spin, times))
        # Gauss and Newton: small errors of turning are a line in time, too
        error = (turned.inv() * measured).as_rotvec()
        turn, rate = error.mean(axis=0), times @ error / spread
        rotation, spin = rotation * rotations.Rotation.from_rotvec(turn), spin + rate
        if np.abs(turn).max() < _SETTLED and np.abs(rate).max() < _SETTLED:
            break
    modelled = start + times[:, None] * velocity + 0.5 * times[:, None] ** 2 * gravity
    residuals = np.hstack([center - modelled, (turned.inv() * measured).as_rotvec()])
    return FreeMotion(
        body,
        start,
        velocity,
        rotation,
        spin,
        np.asarray(gravity, dtype=float),
        spread,
        times,
        residuals,
    )


def _derivatives(inertia: np.ndarray, spin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second time derivative of the angular velocity in B of a body that turns freely."""
    momentum = inertia @ spin
    inverse = np.linalg.inv(inertia)
    # Euler's equation, and its derivative in time
    first = -inverse @ cross(spin, momentum)
    second = -inverse @ (cross(first, momentum) + cross(spin, inertia @ first))
    return first, second


def _spin_at(inertia: np.ndarray, spin: np.ndarray, time: float) -> np.ndarray:
    first, second = _derivatives(inertia, spin)
    return spin + time * first + 0.5 * time**2 * second


def _turn(inertia: np.ndarray, spin: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Rotation vectors (n, 3) in B from the reference time to times (n,)."""
    first, second = _derivatives(inertia, spin)
    t = times[:, None]
    commutator = cross(spin, first) / 12.0  # of the Magnus expansion
    return t * spin + 0.5 * t**2 * first + t**3 * (second / 6.0 + commutator)

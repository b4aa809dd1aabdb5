"""Swings of an object about axes of its own, one after the other, about a point of it that stays.

About each axis the angle is ``a w(s) sin(2 pi s / T)`` for a whole number of periods T. The window
w rises as the squared sine of a quarter turn over the first period and falls alike over the last,
so angle, rate and angular acceleration start and end at zero. The body's axes are fixed in it, so
the rate is the angle's derivative times the axis, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core import rotations
from contactid.inhand.simulate.grasp_motion import PoseTrajectory

LEAST_SWINGS = 2  # one of which the swings rise, and one of which they fall
_LOOKED_AT = 400  # moments at which a swing's peaks are looked for


@dataclass(frozen=True, eq=False)
class Swing:
    """A motion of one axis after the other.

    Attributes
    ----------
    axes : (k, 3) unit vectors in B
    angle : rad, largest from the start to either side
    period : s
    swings : about each axis, :data:`LEAST_SWINGS` or more
    start : (4,) quaternion of R_WB before and after the swings about an axis
    pivot : (3,) m in B, the point that stays, at the origin of W
    """

    axes: np.ndarray
    angle: float
    period: float
    swings: int
    start: np.ndarray
    pivot: np.ndarray

    @property
    def seconds(self) -> float:
        """That it takes."""
        return len(self.axes) * self.swings * self.period

    def evaluate(self, time: np.ndarray) -> PoseTrajectory:
        """The motion at times (n,) in s, between 0 and :attr:`seconds`."""
        span = self.swings * self.period
        # the last moment belongs to the last axis
        number = np.minimum((time / span).astype(int), len(self.axes) - 1)
        axis = self.axes[number]
        angle, rate, change = (
            values[:, None] * axis for values in self._angle(time - span * number)
        )
        # about a body axis: multiplies from the right
        turned = rotations.as_rotation(self.start) * rotations.as_rotation(rotations.exp(angle))
        velocity = np.cross(rate, self.pivot)
        acceleration = np.cross(change, self.pivot) + np.cross(rate, velocity)
        return PoseTrajectory(
            time=time,
            # R c stays at zero: p = -R c, so velocity and acceleration follow with the sign
            position=-turned.apply(self.pivot),
            orientation=rotations.continuous(rotations.as_quaternions(turned)),
            velocity=-turned.apply(velocity),
            acceleration=-turned.apply(acceleration),
            angular_velocity=rate,
            angular_acceleration=change,
        )

    def _angle(self, since: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Angle (rad) and its first two derivatives at times (n,) s since swings about an axis
        began.
        """
        pace, left = 2.0 * np.pi / self.period, self.swings * self.period - since
        # the window falls as it rises: time from the nearer end
        edge, sign = np.minimum(since, left), np.where(since < left, 1.0, -1.0)
        rising = edge < self.period
        # sin^2 of a quarter turn over a period: pace / 4 times the time
        window = np.where(rising, np.sin(0.25 * pace * edge) ** 2, 1.0)
        slope = np.where(rising, 0.25 * sign * pace * np.sin(0.5 * pace * edge), 0.0)
        curve = np.where(rising, 0.125 * pace**2 * np.cos(0.5 * pace * edge), 0.0)
        sine, cosine = self.angle * np.sin(pace * since), self.angle * np.cos(pace * since)
        rate = slope * sine + pace * window * cosine
        change = (curve - pace**2 * window) * sine + 2.0 * pace * slope * cosine
        return window * sine, rate, change

    def peaks(self) -> tuple[float, float]:
        """Largest rate (rad/s) and angular acceleration (rad/s2)."""
        _, rate, change = self._angle(np.linspace(0.0, self.swings * self.period, _LOOKED_AT))
        return float(np.abs(rate).max()), float(np.abs(change).max())

"""Prescribed motion of a grasped object: every pose coordinate is a sum of sines that starts at
rest.

``q(t) = r(t) sum_k A_k sin(2 pi f_k t + phi_k)`` for each of six coordinates: the displacement of
B's origin in W, and the angles yaw, pitch, roll of ``R = R_z(yaw) R_y(pitch) R_x(roll)``, which
turns B against its orientation at the start. The ramp r goes from 0 to 1 with three vanishing
derivatives at both ends, so that velocity and acceleration start at zero. ``sum_k |A_k|`` bounds
every coordinate, so a motion never leaves its range.

Velocities and accelerations are exact derivatives: no differences are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from contactid.core import rotations

# 35 x^4 - 84 x^5 + 70 x^6 - 20 x^7: three derivatives vanish at 0 and at 1
_RAMP = np.polynomial.Polynomial([0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0])


def coordinate_limits(limits: Mapping[str, Any]) -> np.ndarray:
    """(6,) largest values of the coordinates, m and rad, of the block ``motion`` of a source."""
    return np.array([limits["displacement"]] * 3 + [limits["turn"]] * 3)


@dataclass(frozen=True, eq=False)
class PoseTrajectory:
    """A motion at n times, exact.

    Attributes
    ----------
    time : (n,) s
    position : (n, 3) m, B's origin in W
    orientation : (n, 4) unit quaternions of R_WB, real part first, sign-continuous
    velocity, acceleration : (n, 3) m/s and m/s2, of B's origin in W
    angular_velocity, angular_acceleration : (n, 3) rad/s and rad/s2, of B against W, in B's axes
    """

    time: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    angular_velocity: np.ndarray
    angular_acceleration: np.ndarray


@dataclass(frozen=True, eq=False)
class SineMotion:
    """A prescribed motion.

    Attributes
    ----------
    amplitudes, phases : (6, K) of the coordinates x, y, z, yaw, pitch, roll; m or rad, and rad
    frequencies : (K,) Hz
    ramp : s
    start_position : (3,) m, B's origin in W at time 0
    start_orientation : (4,) quaternion of R_WB at time 0
    """

    amplitudes: np.ndarray
    phases: np.ndarray
    frequencies: np.ndarray
    ramp: float
    start_position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    start_orientation: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    def coordinates(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates (n, 6) and their first and second derivatives at times (n,) in s."""
        rate = 2.0 * np.pi * np.asarray(self.frequencies)
        angle = np.asarray(time)[:, None, None] * rate + self.phases
        sine, cosine = self.amplitudes * np.sin(angle), self.amplitudes * np.cos(angle)
        wave, slope, curve = sine.sum(-1), (rate * cosine).sum(-1), -(rate**2 * sine).sum(-1)
        r0, r1, r2 = (values[:, None] for values in _ramp(np.asarray(time), self.ramp))
        return r0 * wave, r1 * wave + r0 * slope, r2 * wave + 2.0 * r1 * slope + r0 * curve

    def evaluate(self, time: np.ndarray) -> PoseTrajectory:
        """The motion at times (n,) in s."""
        time = np.asarray(time, dtype=float)
        value, first, second = self.coordinates(time)
        rotation = rotations.as_rotation(self.start_orientation) * Rotation.from_euler(
            "ZYX", value[:, 3:]
        )
        rate, growth = _body_rates(value[:, 3:], first[:, 3:], second[:, 3:])
        return PoseTrajectory(
            time=time,
            position=np.asarray(self.start_position) + value[:, :3],
            orientation=rotations.continuous(rotations.as_quaternions(rotation)),
            velocity=first[:, :3],
            acceleration=second[:, :3],
            angular_velocity=rate,
            angular_acceleration=growth,
        )


def random_motion(limits: Mapping[str, Any], random: np.random.Generator) -> SineMotion:
    """A motion that uses each coordinate's range: ``sum_k |A_k|`` equals the limit; shares and
    phases are random.

    ``limits`` is the block ``motion`` of a source: displacement (m), turn (rad), frequencies (Hz)
    and ramp (s).
    """
    shape = (6, len(limits["frequencies"]))
    # concentration 3: no sine takes nearly all of a coordinate's range
    share = random.dirichlet(np.full(shape[1], 3.0), size=6)
    return SineMotion(
        amplitudes=coordinate_limits(limits)[:, None] * share,
        phases=random.uniform(0.0, 2.0 * np.pi, shape),
        frequencies=np.array(limits["frequencies"]),
        ramp=limits["ramp"],
    )


def static_motion() -> SineMotion:
    """An object that is held still."""
    still = {"displacement": 0.0, "turn": 0.0, "frequencies": (1.0,), "ramp": 0.5}
    return random_motion(still, np.random.default_rng(0))


def _ramp(time: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """r, r' and r'' at times (n,); 0 before the start and 1 after the ramp."""
    share = np.clip(time / length, 0.0, 1.0)
    return _RAMP(share), _RAMP.deriv()(share) / length, _RAMP.deriv(2)(share) / length**2


def _body_rates(
    angle: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity and acceleration (n, 3) in B from yaw, pitch, roll (n, 3) and their
    derivatives.
    """
    # rates in B's axes of R_z(yaw) R_y(pitch) R_x(roll)
    (yaw1, pitch1, roll1), (yaw2, pitch2, roll2) = first.T, second.T
    sp, cp, sr, cr = (
        np.sin(angle[:, 1]),
        np.cos(angle[:, 1]),
        np.sin(angle[:, 2]),
        np.cos(angle[:, 2]),
    )
    # yaw's axis in B is (-sin p, sin r cos p, cos r cos p)
    across, along = sr * cp, cr * cp
    across1 = roll1 * cr * cp - pitch1 * sr * sp
    along1 = -roll1 * sr * cp - pitch1 * cr * sp
    rate = np.column_stack(
        [roll1 - yaw1 * sp, pitch1 * cr + yaw1 * across, -pitch1 * sr + yaw1 * along]
    )
    growth = np.column_stack(
        [
            roll2 - yaw2 * sp - yaw1 * pitch1 * cp,
            pitch2 * cr - pitch1 * roll1 * sr + yaw2 * across + yaw1 * across1,
            -pitch2 * sr - pitch1 * roll1 * cr + yaw2 * along + yaw1 * along1,
        ]
    )
    return rate, growth

"""Starts of a throw from its first impacts: free flights that meet on the ground.

After an impact, some frames of free flight tell the path; before it, so do the frames there are, and where it is one
alone, the path from that pose to the meeting point. The meeting point is where the body touches the ground. The jump
of the velocities there gives J/m (eq. 31), a bound of mu and a restitution. Two impacts may follow each other with one
frame between them: its pose and the second meeting point are the path between. Which frames an impact lies between
isn't known, so every interval gives starts, and most of them are wrong; a simulation tells which.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from contactid.planar.measured_throw import MeasuredThrow
from contactid.planar.simulate.geometry import Shape, contacts

_FRAMES = (2, 3, 4)  # of free flight after the last impact
_IMPACTS = 2  # at most, one after the other
_INSTANTS = 81  # within an interval, looked at for the meeting point
_AROUND = (-0.1, 0.0, 0.1)  # of an interval, by which the meeting point may be off
_APART = 1e-2  # m, from the ground: a flight that comes no nearer began with no impact there
_MORE_FRICTION = (1.0, 1.6)  # times the ratio of impulses, which is less than mu where the contact sticks


def weightless(throw: MeasuredThrow, gravity: float) -> np.ndarray:
    """(n_m, 3) poses less gravity's part since the first frame, m, m, rad: free flight is a straight line in them."""
    time = throw.time - throw.time[0]
    return throw.position + 0.5 * gravity * time[:, None] ** 2 * np.array([0.0, 1.0, 0.0])


class _Flights:
    """Free flights of one throw; a flight is the line (2, 3), constant and slope, of its poses less gravity's part."""

    def __init__(self, shape: Shape, throw: MeasuredThrow, gravity: float) -> None:
        self.shape, self.throw = shape, throw
        self.time = throw.time - throw.time[0]
        self.pull = np.array([0.0, -gravity, 0.0])
        self.poses = weightless(throw, gravity)

    def after(self, interval: int) -> Iterator[np.ndarray]:
        """Flights through the frames after an interval."""
        for frames in _FRAMES:
            if interval + frames <= self.throw.n_frames:
                yield self._through(slice(interval + 1, interval + 1 + frames))

    def _through(self, rows: slice) -> np.ndarray:
        return np.polynomial.polynomial.polyfit(self.time[rows], self.poses[rows], 1)

    def starts(self, after: np.ndarray, interval: int, impacts: int) -> Iterator[np.ndarray]:
        """(9,) starts of throws whose last impact lies in an interval, before a flight."""
        for instant in self._instants(after, interval):
            meeting = after[0] + instant * after[1]
            slope = (meeting - self.poses[interval]) / (instant - self.time[interval])
            since_frame = np.array([meeting - instant * slope, slope])
            whole = since_frame if interval == 0 else self._through(slice(0, interval + 1))
            for more in _MORE_FRICTION:
                start = self._start(whole, after, instant, more)
                if start is not None:
                    yield start
            if interval > 0 and impacts > 1:
                yield from self.starts(since_frame, interval - 1, impacts - 1)

    def _instants(self, after: np.ndarray, interval: int) -> Iterator[float]:
        """Times within an interval around that at which the flight after it touches the ground."""
        step = self.throw.frame_interval
        times = (interval + np.linspace(0.02, 0.98, _INSTANTS)) * step
        poses = after[0] + times[:, None] * after[1] + 0.5 * times[:, None] ** 2 * self.pull
        gap = contacts(self.shape, self.throw.ground, poses).gap.min(axis=1)
        touching = times[np.argmin(np.abs(gap))]
        if np.abs(gap).min() > _APART:
            return
        for shift in _AROUND:
            instant = float(touching + shift * step)
            if interval + 0.02 <= instant / step <= interval + 0.98:
                yield instant

    def _start(self, before: np.ndarray, after: np.ndarray, instant: float, more: float) -> np.ndarray | None:
        """The start of two flights that meet at an instant; None where they don't push each other apart."""
        pose = after[0] + instant * after[1] + 0.5 * instant**2 * self.pull
        at = contacts(self.shape, self.throw.ground, pose)
        touching = int(np.argmin(at.gap))
        normal, tangent = at.normal[touching], at.tangent[touching]
        jump = after[1] - before[1]
        push_n, push_t = float(normal[:2] @ jump[:2]), float(tangent[:2] @ jump[:2])
        closing = float(normal @ (before[1] + instant * self.pull))
        if push_n <= 0.0 or closing >= 0.0:
            return None
        twist = normal[2] * push_n + tangent[2] * push_t
        ratio = twist / jump[2] if jump[2] * twist > 0.0 else self.shape.uniform_inertia_ratio
        opening = float(normal @ (after[1] + instant * self.pull))
        return np.concatenate([before[0], before[1], [ratio, more * abs(push_t) / push_n, -opening / closing]])


def first_impact_starts(
    shape: Shape, throw: MeasuredThrow, gravity: float, last: int, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """(k, 9) starts: q, v at the first frame (m, rad, m/s, rad/s), J/m (m2), mu and e_N.

    Parameters
    ----------
    last
        Intervals that are looked at end at this frame.
    low, high : (9,)
        Bounds; starts are clipped.
    """
    flights = _Flights(shape, throw, gravity)
    starts = [
        start
        for interval in range(min(last, throw.n_frames - _FRAMES[0]))
        for after in flights.after(interval)
        for start in flights.starts(after, interval, _IMPACTS)
    ]
    found = np.array(starts).reshape(-1, 9)
    return np.clip(found[np.isfinite(found).all(axis=1)], low, high)

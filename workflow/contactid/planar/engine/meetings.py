"""Starts of throws whose first flight shows too few frames: free flights that meet on the ground.

After an impact, some frames of free flight tell the path; before it, so do the frames there are,
and where it is one alone, the path from that pose to the meeting point. The meeting point is where
the body touches the ground. The jump of the velocities there gives J/m (eq. 31), a bound of mu and
a restitution. Two impacts may follow each other with one frame between them: its pose and the
second meeting point are the path between. Which frames an impact lies between isn't known, so every
interval gives starts, and most of them are wrong; a simulation tells which.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from contactid.planar.simulate.geometry import Ground, Shape, contacts

_FRAMES = (2, 3, 4)  # of free flight after the last impact
_IMPACTS = 2  # at most, one after the other
_INSTANTS = 81  # within an interval, looked at for the meeting point
_AROUND = (-0.1, 0.0, 0.1)  # of an interval, by which the meeting point may be off
_APART = 1e-2  # m, from the ground: a flight that comes no nearer began with no impact there
# times the ratio of impulses, which is less than mu where the contact sticks
_MORE_FRICTION = (1.0, 1.6)


class Flights:
    """Free flights of one throw; a flight is the line (2, 3), constant and slope, of its poses less
    gravity's part.

    ``poses`` (n, 3) are the body's less what gravity adds since the first frame, ``interval`` (s)
    is between frames.
    """

    def __init__(
        self, shape: Shape, ground: Ground, poses: np.ndarray, interval: float, gravity: float
    ) -> None:
        self.shape, self.ground, self.poses, self.interval = shape, ground, poses, interval
        self.time = interval * np.arange(len(poses))
        self.pull = np.array([0.0, -gravity, 0.0])

    def starts(self, last: int) -> np.ndarray:
        """(k, 9) starts, q, v at the first frame (m, rad, m/s, rad/s), J/m (m2), mu and e_N, of
        impacts up to a frame.

        These are of two flights each that push each other apart, and aren't within any bounds.
        """
        starts = [
            start
            # every interval may hold the impact; flights of several lengths follow it
            for interval in range(min(last, len(self.poses) - 1 - _FRAMES[0]))
            for frames in _FRAMES
            if interval + frames < len(self.poses)
            for start in self._before(
                self._through(interval + 1, interval + 1 + frames), interval, _IMPACTS
            )
        ]
        rows = np.array(starts).reshape(-1, 9)
        return rows[np.isfinite(rows).all(axis=1)]

    def _through(self, start: int, end: int) -> np.ndarray:
        return np.polynomial.polynomial.polyfit(self.time[start:end], self.poses[start:end], 1)

    def _before(self, after: np.ndarray, interval: int, impacts: int) -> Iterator[np.ndarray]:
        """Starts of throws whose last impact lies in an interval, before a flight."""
        for instant in self._instants(after, interval):
            # (3,) less gravity's part, as all poses here
            meeting = after[0] + instant * after[1]
            slope = (meeting - self.poses[interval]) / (instant - self.time[interval])
            # the line from the last pose before the impact to the meeting point
            since_frame = np.array([meeting - instant * slope, slope])
            # with two poses or more before it, a line through these alone tells that flight
            whole = since_frame if interval == 0 else self._through(0, interval + 1)
            for more in _MORE_FRICTION:
                start = self._start(whole, after, instant, more)
                if start is not None:
                    yield start
            if interval > 0 and impacts > 1:
                # one pose between two impacts: the flight after the earlier one is that line
                yield from self._before(since_frame, interval - 1, impacts - 1)

    def _instants(self, after: np.ndarray, interval: int) -> Iterator[float]:
        """Times within an interval around that at which the flight after it touches the ground."""
        # not at the frames themselves, to which the path from a pose would have no length
        times = (interval + np.linspace(0.02, 0.98, _INSTANTS)) * self.interval
        poses = after[0] + times[:, None] * after[1] + 0.5 * times[:, None] ** 2 * self.pull
        # (81,) m, of the lowest contact
        gap = np.abs(contacts(self.shape, self.ground, poses).gap.min(axis=1))
        touching = times[np.argmin(gap)]
        if gap.min() > _APART:
            return
        for shift in _AROUND:
            instant = float(touching + shift * self.interval)
            if interval + 0.02 <= instant / self.interval <= interval + 0.98:
                yield instant

    def _start(
        self, before: np.ndarray, after: np.ndarray, instant: float, more: float
    ) -> np.ndarray | None:
        """The start of two flights that meet at an instant; None where they don't push each other
        apart.
        """
        pose = after[0] + instant * after[1] + 0.5 * instant**2 * self.pull
        at = contacts(self.shape, self.ground, pose)
        touching = int(np.argmin(at.gap))
        normal, tangent = at.normal[touching], at.tangent[touching]
        jump = after[1] - before[1]
        push_n, push_t = float(normal[:2] @ jump[:2]), float(tangent[:2] @ jump[:2])
        # the contact point's normal velocity before the impact; lines leave out gravity's part
        closing = float(normal @ (before[1] + instant * self.pull))
        if push_n <= 0.0 or closing >= 0.0:
            return None
        # eq. 31: twist = J/m times the change of spin; of another sign it tells no J/m
        twist = normal[2] * push_n + tangent[2] * push_t
        ratio = twist / jump[2] if jump[2] * twist > 0.0 else self.shape.uniform_inertia_ratio
        opening = float(normal @ (after[1] + instant * self.pull))
        return np.concatenate(
            # mu is at least the ratio of impulses; e_N is opening by closing speed
            [before[0], before[1], [ratio, more * abs(push_t) / push_n, -opening / closing]]
        )

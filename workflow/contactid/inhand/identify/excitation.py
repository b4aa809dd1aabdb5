"""Motions that tell most about a held object: sums of sines whose information matrix has the
largest determinant.

D-optimal: the volume of the confidence ellipsoid of the ten inertial parameters is smallest,
whatever their units. The motion keeps to what a random one of the same range does: displacements
and turns within the range, the same frequencies and ramp, and peaks of linear and angular
acceleration no larger than those of the motion it starts from. What is left to choose are the
shares of the frequencies in every coordinate and all phases.

The search takes the motion as known and the wrenches' noise as constant. What an optimised motion
buys with the noise of poses is evaluated afterwards (:func:`.information.pose_information`), and so
are actual estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from contactid.inhand.identify.information import information
from contactid.inhand.identify.kinematics import BodyMotion
from contactid.inhand.simulate.grasp_motion import PoseTrajectory, SineMotion
from contactid.inhand.simulate.grasped_object import specific_force

_PEAK = (
    12.0  # exponent of the norm that stands for a peak: smooth, and at most some per cent below it
)
_SLACK = 0.02  # share of a range that the start leaves unused, so that shares can grow
_DIFFERENCE = 1e-6
_EXCESS = 5e-3  # relative, by which accelerations may exceed those of the start


@dataclass(frozen=True, eq=False)
class Excitation:
    """A search's end.

    Attributes
    ----------
    motion : the best one found
    gain : of ``log det / 10`` of the information; ``exp(gain)`` recordings of the start tell as
        much as one of these
    evaluations : motions looked at
    converged : whether the search ended by itself
    """

    motion: SineMotion
    gain: float
    evaluations: int
    converged: bool


def exact_motion(trajectory: PoseTrajectory) -> BodyMotion:
    """Body rates and specific force at n samples, without derivatives by the poses."""
    return BodyMotion.alone(
        trajectory.angular_velocity, trajectory.angular_acceleration, specific_force(trajectory)
    )


def log_information(motion: SineMotion, time: np.ndarray, covariance: np.ndarray) -> float:
    """``log det / 10`` of the information, for a covariance (6, 6) of the wrench at each of the
    times (n,) s.
    """
    body = exact_motion(motion.evaluate(time))
    sign, value = np.linalg.slogdet(
        information(body, np.broadcast_to(covariance, (len(time), 6, 6))).matrix
    )
    return float(value) / 10.0 if sign > 0.0 else -np.inf


def peaks(trajectory: PoseTrajectory) -> np.ndarray:
    """(2,) smooth stand-ins for the largest linear (m/s2) and angular (rad/s2) acceleration."""
    sizes = np.stack(
        [
            np.linalg.norm(trajectory.acceleration, axis=1),
            np.linalg.norm(trajectory.angular_acceleration, axis=1),
        ]
    )
    largest = np.maximum(sizes.max(axis=1, keepdims=True), np.finfo(float).tiny)
    return largest[:, 0] * np.mean((sizes / largest) ** _PEAK, axis=1) ** (1.0 / _PEAK)


def optimise_motion(
    start: SineMotion,
    limits: np.ndarray,
    duration: float,
    covariance: np.ndarray,
    block: Mapping[str, Any],
) -> Excitation:
    """The D-optimal motion that a search from ``start`` finds.

    Parameters
    ----------
    start
        A motion within the range; its accelerations' peaks bound those of the result.
    limits
        (6,) largest values of the coordinates, m and rad.
    duration
        s, of the recording.
    covariance
        (6, 6) of the wrench about B's origin, N and N m.
    block
        ``inhand: excitation`` of the configuration says how long to search.
    """
    time = np.linspace(0.0, duration, block["samples"])
    bounds = peaks(start.evaluate(time))

    def looked_at(x: np.ndarray) -> np.ndarray:
        motion = _motion(x, start, limits)
        trajectory = motion.evaluate(time)
        room = 1.0 - peaks(trajectory) / bounds
        return np.append(room, -log_information(motion, time, covariance))

    cache = _Remembered(looked_at)
    first = _variables(start, limits)
    held = {
        "type": "ineq",
        "fun": lambda x: cache.value(x)[:-1],
        "jac": lambda x: cache.slope(x)[:-1],
    }
    search: Any = minimize  # its type stubs know no constraints with a Jacobian
    answer = search(
        lambda x: cache.value(x)[-1], first, jac=lambda x: cache.slope(x)[-1], method="SLSQP", constraints=held,
        options={"maxiter": block["iterations"], "ftol": block["tolerance"]},
    )  # fmt: skip
    gain = -cache.best[0] - log_information(start, time, covariance)
    if gain <= 0.0:
        return Excitation(start, 0.0, cache.evaluations, False)
    return Excitation(
        _motion(cache.best[1], start, limits), gain, cache.evaluations, bool(answer.success)
    )


class _Remembered:
    """Values and forward differences of a vector function, kept for the last point; goal and
    constraints share them.

    The goal comes last. ``best`` is the least goal so far whose constraints hold, with its point:
    an iteration that is cut short may end at a point that violates them.
    """

    def __init__(self, function: Callable[[np.ndarray], np.ndarray]) -> None:
        self._function = function
        self._point = np.empty(0)
        self._value = np.empty(0)
        self._slope: np.ndarray | None = None
        self.evaluations = 0
        self.best = (np.inf, np.empty(0))

    def value(self, x: np.ndarray) -> np.ndarray:
        if not np.array_equal(x, self._point):
            self._point, self._value, self._slope = x.copy(), self._evaluate(x), None
            if self._value[-1] < self.best[0] and np.all(self._value[:-1] > -_EXCESS):
                self.best = (float(self._value[-1]), self._point)
        return self._value

    def slope(self, x: np.ndarray) -> np.ndarray:
        value = self.value(x)
        if self._slope is None:
            shifted = x + _DIFFERENCE * np.eye(len(x))
            self._slope = np.stack(
                [(self._evaluate(one) - value) / _DIFFERENCE for one in shifted], axis=1
            )
        return self._slope

    def _evaluate(self, x: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        return self._function(x)


def _motion(x: np.ndarray, start: SineMotion, limits: np.ndarray) -> SineMotion:
    """The motion of variables (2, 6, K): logarithms of the frequencies' shares, up to a constant,
    and phases.

    Shares are those of a softmax with one more category, what is left unused: every value of x is
    within the range.
    """
    logits, phases = x.reshape(2, *start.amplitudes.shape)
    shares = softmax(np.column_stack([logits, np.zeros(len(logits))]), axis=1)[:, :-1]
    return replace(start, amplitudes=limits[:, None] * shares, phases=phases)


def _variables(start: SineMotion, limits: np.ndarray) -> np.ndarray:
    """The start in terms of the variables, a little within its range."""
    size = np.where(limits > 0.0, limits, 1.0)[:, None]
    shares = np.maximum(np.abs(start.amplitudes) / size, 1e-3)
    shares *= (1.0 - _SLACK) / np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    left = 1.0 - shares.sum(axis=1, keepdims=True)
    return np.stack([np.log(shares / left), start.phases]).ravel()

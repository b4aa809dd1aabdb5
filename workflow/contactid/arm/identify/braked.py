"""An arm that its joints' friction brakes: the mechanism behind a recording, and its velocity
without the friction.

Dry friction stops one motor after the other. The rigid response is no line then, and the vibration
changes with every stop, so no sum of modes (eq. 7) holds for long. What does hold is the mechanism
(:mod:`contactid.arm.identify.mechanism`): links, motors on springs, friction, a table. Before the
impact links and motors move at v-, which a parabola through the approach gives within
:data:`_AROUND`; where friction brakes, motors may lag behind the links. All of the links' M, B, K,
D, friction, F, the rebound, a shift of the impact time and both v- are fitted to the recorded
positions, up to a common scale that positions don't show. Then v+ is the answer of links and motors
that move as one (eq. 5 with M + B): what the affine part of eq. 7 is where there is no friction.

The given link table says where the search for M begins and, within a factor of :data:`_VAGUE`, what
it prefers; the recording overrules it (a test has a table that is off by a fifth). How M changes
with the posture is the table's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult, least_squares

from contactid.arm.identify.impact_time import link_jump
from contactid.arm.identify.mechanism import (
    STEP,
    Approach,
    Mechanisms,
    recorded,
    rigid_velocity,
    simulated,
)
from contactid.arm.identify.methods import NORMAL, WIDEST, Answer
from contactid.arm.identify.modal_fit import ModalFit
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError

# s after the impact. Windows grow by little, so that stops come into a search one after the other:
# a start that misses one ends in another minimum. The last ones' answers count.
_GROWING = np.linspace(0.03, 0.12, 10)
_WINDOWS = _GROWING[3::3]
_SETTLED = 5e-4  # s after the impact, while the contact gives way
_FREQUENCY = 2.0 * np.pi * 20.0  # rad/s, near the paper's oscillation, of a motor on its spring
_DAMPING_TIME = 4e-3  # s, of a vibration that lasts some periods
_MOTOR_SHARE = 0.1  # of a motor's inertia in the link's
_BRAKED = 0.05  # s, within which friction would stop a motor alone
_OTHER_FRICTION = 0.05  # of the kind that a start doesn't mean
_VAGUE = np.e  # factor, one standard deviation of a parameter about its start
_VAGUE_FRICTION = 3.0  # in its logarithm: it may be absent
_PRECISION = 1e-5  # rad, near what encoders resolve: the weight of positions against the start
# Of the approach's noise: what a mechanism may leave of the motion. The right minimum leaves 1 to
# 1.5 times it on MuJoCo's arms, others several times.
_EXPLAINED = 2.0
# Of the approach speed: a mechanism whose own interval of v+ would be no answer. Joints that
# stop, and stop again, tell more than the first swing does, so short windows often fail this.
_SURE = WIDEST / NORMAL
_FEWEST = 2
_ASTRAY = 2  # windows that none explains, one after the other: a search of all took up to a minute
# Of the approach speed: what all mechanisms miss by. Beside the right minimum others explain a motion
# nearly as well; on an exact motion of the tests the answer is within 0.01. A controller that switches
# late is in no mechanism: with it they explain a motion to its noise, all off by up to 0.12, as they
# are where encoders sit at the links of other robots.
_MISSED = 0.12
# of a search: with 60 half of them stopped on their way, and one that has not ended is no answer
_EVALUATIONS = 200
_CONVERGED = 1e-4  # relative, of the cost
_DIFFERENCE = 1e-5  # of a parameter, for derivatives
_BOUND = 6.0  # standard deviations about the start that a search may go
# One standard deviation of the pressing force, N, of the impact's shift, s, and its bound, and of
# the rebound. Where joints stop, an impact is detected some milliseconds off.
_PRESSING, _LATER, _LATEST, _REBOUND = 10.0, 2e-3, 6e-3, 0.3
_LITTLE = 0.05  # of a table that gives way, a rebound to start from
# s around the detected impact, in which positions aren't the approach's alone
_NEAR = 0.02
# rad/s, one standard deviation of links' and of motors' v- about a parabola's slope: on MuJoCo's arms
# the former is off by up to 3e-3, and a motor with friction lags by up to 7e-3
_AROUND = 5e-3
_TURN = 1e-4  # rad, of a posture for derivatives
_PLANE = np.array([0, 2])  # x and z of a tip
_LEVER = 0.05  # of the longest: a joint with less moves the tip out of its plane


@dataclass(frozen=True)
class BrakedFit(ModalFit):
    """One tip velocity of a mechanism, which has no poles.

    Attributes
    ----------
    time, velocity : (n,) s since the impact and m/s, as simulated
    """

    time: np.ndarray
    velocity: np.ndarray

    def evaluate(self, time: ArrayLike) -> np.ndarray:
        """The simulated velocity at times since impact (s), m/s; NaN beyond the fitted window."""
        return np.interp(np.asarray(time, dtype=float), self.time, self.velocity, right=np.nan)


def _start(approach: Approach, *, dry: bool) -> np.ndarray:
    """Where a search begins, as :func:`_mechanisms` reads it: friction is dry, or viscous."""
    # mass matrix of unit diagonal, as a triangular factor; links' sizes come back in _mechanisms
    size = np.sqrt(np.diag(approach.mass))
    factor = np.linalg.cholesky(approach.mass / np.outer(size, size))
    motor = _MOTOR_SHARE * np.diag(approach.mass)
    shares = (1.0, _OTHER_FRICTION) if dry else (_OTHER_FRICTION, 1.0)
    # gears have friction of one size, whatever the inertia
    # N m s/rad: a motor alone would stop within _BRAKED
    brake = np.full(len(motor), np.median(motor) / _BRAKED)
    joints = len(motor)
    lower = np.tril_indices(joints, -1)
    return np.concatenate(
        [
            # logarithms keep inertias, springs and friction positive; K = B omega^2
            factor[lower], np.log(np.diag(factor)[1:]), np.log(motor), np.log(motor * _FREQUENCY**2),
            np.log(shares[0] * brake * np.abs(approach.velocity).max()), np.log(shares[1] * brake),
            [np.log(_DAMPING_TIME), 0.0, 0.0, _LITTLE], np.zeros(2 * joints),
        ]
    )  # fmt: skip


def _spread(joints: int) -> np.ndarray:
    """Standard deviation of every number of :func:`_start`."""
    # the factor's first entry is fixed: it sets the scale
    of_mass, of_drives = joints * (joints + 1) // 2 - 1, 2 * joints
    vague = np.log(_VAGUE)
    # factor, motors and springs; both frictions; damping time, force, shift, rebound; both v-
    return np.concatenate(
        [
            np.full(of_mass + of_drives, vague), np.full(2 * joints, _VAGUE_FRICTION),
            [vague, _PRESSING, _LATER, _REBOUND], np.full(2 * joints, _AROUND),
        ]
    )  # fmt: skip


def _mechanisms(points: np.ndarray, approach: Approach) -> Mechanisms:
    """Of points (p, m); the first joint's inertia is the link table's, which sets the scale."""
    joints = len(approach.velocity)
    of_lower = joints * (joints - 1) // 2
    # in the order of _start
    ends = np.cumsum([of_lower, joints - 1, joints, joints, joints, joints, 1, 1, 1, 1, joints])
    (
        below, diagonal, motor, stiffness, dry, viscous, damping_time, pressing, later, rebound,
        of_links, of_motors,
    ) = np.split(points, ends, axis=1)  # fmt: skip
    factor = np.zeros((len(points), joints, joints))
    # positions don't show a common scale of M, B, K, D and friction
    factor[:, 0, 0] = 1.0
    rows, columns = np.tril_indices(joints, -1)
    factor[:, rows, columns] = below
    inner = np.arange(1, joints)
    factor[:, inner, inner] = np.exp(diagonal)
    factor *= np.sqrt(np.diag(approach.mass))[:, None]
    return Mechanisms(
        mass=factor @ np.swapaxes(factor, 1, 2), motor=np.exp(motor), stiffness=np.exp(stiffness),
        # D is K times one time
        damping=np.exp(damping_time + stiffness), dry=np.exp(dry), viscous=np.exp(viscous),
        pressing=pressing, later=later[:, 0], rebound=rebound,
        links_before=approach.velocity + of_links, motors_before=approach.velocity + of_motors,
    )  # fmt: skip


@dataclass(frozen=True)
class _Found:
    """The end of a search.

    Attributes
    ----------
    point : (m,) the mechanism
    covariance : (m, m) of it, to first order
    cost : half the sum of squares
    rest : what it leaves of the positions, rad rms
    converged : whether the search ended at a minimum, and not at its most evaluations
    """

    point: np.ndarray
    covariance: np.ndarray
    cost: float
    rest: float
    converged: bool


def _search(
    approach: Approach,
    since: np.ndarray,
    position: np.ndarray,
    duration: float,
    start: np.ndarray,
    centre: np.ndarray,
) -> _Found:
    """The mechanism nearest to positions (n, k), rad since the impact, at times (n,), s.

    From the point ``start``; ``centre`` is what is preferred.
    """
    # while the contact gives way, and at the window's end, nothing is compared
    inside = (since > _SETTLED) & (since < duration - _SETTLED)
    time, wanted = since[inside], position[inside]
    spread = _spread(position.shape[1])

    def rest(point: np.ndarray) -> np.ndarray:
        found = recorded(_mechanisms(point[None], approach), approach, time, duration)[0]
        # whitened positions, and distance from what is preferred
        return np.concatenate([((found - wanted) / _PRECISION).ravel(), (point - centre) / spread])

    def slopes(point: np.ndarray) -> np.ndarray:
        # forward differences, all sets in one simulation
        points = point + _DIFFERENCE * np.vstack([np.zeros(len(point)), np.eye(len(point))])
        found = recorded(_mechanisms(points, approach), approach, time, duration)
        by_point = (found[1:] - found[0]) / _DIFFERENCE / _PRECISION
        return np.vstack([by_point.reshape(len(point), -1).T, np.diag(1.0 / spread)])

    low, high = centre - _BOUND * spread, centre + _BOUND * spread
    # shift and rebound have bounds of their own
    later, rebound = (len(start) - 2 * position.shape[1] - back for back in (2, 1))
    low[later], high[later] = -_LATEST, _LATEST
    low[rebound], high[rebound] = 0.0, 1.0
    # a start on a bound has no way in
    inner = low + 1e-6 * (high - low), high - 1e-6 * (high - low)
    end: OptimizeResult = least_squares(rest, np.clip(start, *inner), slopes, (low, high), x_scale="jac",
                        ftol=_CONVERGED, max_nfev=_EVALUATIONS)  # fmt: skip
    left = end.fun[: wanted.size] * _PRECISION
    # rad, without the preference's part
    rms = float(np.sqrt((left**2).mean()))
    return _Found(end.x, np.linalg.inv(end.jac.T @ end.jac), float(end.cost), rms, end.success)


def _standard_error(found: _Found, approach: Approach) -> float:
    """Of v_x+ by eq. 5, to first order, m/s."""
    steps = _DIFFERENCE * np.vstack([np.zeros(len(found.point)), np.eye(len(found.point))])
    velocities = rigid_velocity(_mechanisms(found.point + steps, approach), approach.jacobian)
    # the common scale cancels in v+
    slope = (velocities[1:] - velocities[0]) / _DIFFERENCE
    return float(np.sqrt(slope @ found.covariance @ slope))


def _approach(robot: Robot, since: np.ndarray, position: np.ndarray) -> tuple[Approach, np.ndarray]:
    """The approach of the k joints that move the tip in its plane, and their positions (m, k) since
    the impact; the rest as :func:`braked`.
    """
    polynomial = np.polynomial.polynomial
    falling = since < 0.0
    jacobian = robot.tip_jacobian(position[falling][-1])[_PLANE]
    # joints that turn the tip out of its plane have next to no lever in it
    levers = np.linalg.norm(jacobian, axis=0)
    plane = np.flatnonzero(levers > _LEVER * levers.max())
    height = position[:, plane] @ jacobian[1, plane]
    # links jump at an impact, motors behind springs don't
    at_motors = link_jump(since, height, 0.0) is None
    before = since < 0.0
    # a parabola: its place and slope at the impact are the posture and v-
    posture, velocity, _ = polynomial.polyfit(since[before], position[before], 2)
    # a smooth approach has next to no third differences, and white noise's variance is 20-fold there
    third = np.diff(position[since < -_NEAR][:, plane], 3, axis=0)
    # central differences of what changes with the posture
    turns = _TURN * np.eye(len(posture))[plane]
    levers_by_joint, masses_by_joint = (
        np.array([(of(posture + turn) - of(posture - turn)) / (2.0 * _TURN) for turn in turns])
        for of in (robot.tip_jacobian, robot.mass_matrix)
    )
    approach = Approach(
        jacobian=robot.tip_jacobian(posture)[np.ix_(_PLANE, plane)],
        bend=levers_by_joint[:, _PLANE[1], plane],
        mass=robot.mass_matrix(posture)[np.ix_(plane, plane)],
        mass_slope=masses_by_joint[:, plane[:, None], plane],
        velocity=velocity[plane],
        noise=float(np.sqrt((third**2).mean() / 20.0)),
        at_motors=at_motors,
    )
    return approach, (position - posture)[:, plane]


def braked(robot: Robot, since: np.ndarray, position: np.ndarray) -> Answer:
    """v+ of the tip without friction, and as its interval how far mechanisms differ that explain
    the motion.

    Parameters
    ----------
    robot
        With its tip's motion in the plane of x and z; its mass matrix is where searches begin.
    since, position
        (m,) s since the impact, and (m, n) rad, from the approach on. Encoders sit at the motors
        where the tip's normal velocity doesn't jump.

    Raises
    ------
    ContactIdError
        Where no mechanism explains the motion, or those that do disagree.
    """
    approach, position = _approach(robot, since, position)
    # two starts, as either kind of friction may be the one
    starts = [_start(approach, dry=dry) for dry in (True, False)]
    ends = list(starts)
    counted: list[_Found] = []
    astray = 0
    # each search starts where the shorter window's ended, and prefers the start
    for duration in _GROWING:
        found = [
            _search(approach, since, position, duration, end, start)
            for end, start in zip(ends, starts, strict=True)
        ]
        # both astray: anew, as a shorter window's minimum may lead to none of a longer one
        if not any(_explains(one, approach) for one in found):
            found += [
                _search(approach, since, position, duration, start, start) for start in starts
            ]
        best = min(found, key=lambda one: one.cost)
        # of the searches begun last, one that went astray follows the best
        ends = [(one if _explains(one, approach) else best).point for one in found[-2:]]
        if duration in _WINDOWS:
            counted += [one for one in found if one.converged and _explains(one, approach)]
        # a longer window is harder to explain
        astray = 0 if _explains(best, approach) else astray + 1
        if astray == _ASTRAY:
            break
    # a mechanism that a longer window refutes is none
    if not any(_explains(one, approach) for one in found):
        counted.clear()
    speed = float(np.linalg.norm(approach.jacobian @ approach.velocity))
    # of each v+, to first order
    errors = np.array([_standard_error(one, approach) for one in counted])
    sure = errors <= _SURE * speed
    counted, errors = list(compress(counted, sure)), errors[sure]
    if len(counted) < _FEWEST:
        raise ContactIdError(
            f"v+ isn't found: {len(counted)} mechanisms with friction explain the motion and are sure of v+"
        )
    points = np.array([one.point for one in counted])
    along = rigid_velocity(_mechanisms(points, approach), approach.jacobian)
    # long windows know v+ several times better than short ones
    weights = errors**-2.0
    value = float(np.average(along, weights=weights))
    differ = NORMAL * float(np.sqrt(np.average((along - value) ** 2, weights=weights)))
    missed = _MISSED * speed
    noise = NORMAL * errors.min()  # the surest one's: what others don't know is in how they differ
    # independent causes: how they differ, noise, and what all miss
    half = float(np.sqrt(differ**2 + noise**2 + missed**2))
    if half > WIDEST * speed:
        raise ContactIdError(
            f"v+ isn't found: {len(counted)} mechanisms with friction leave it open by"
            f" +- {100.0 * half / speed:.0f} % of the approach's speed"
        )
    # drawn: the one nearest to the answer
    nearest = counted[int(np.argmin(np.abs(along - value)))]
    # eq. 5 leaves no normal velocity
    velocity = np.array([value, 0.0])
    se = np.array([half, missed]) / NORMAL
    return Answer(velocity, se, _fits(nearest, approach, velocity, se))


def _explains(found: _Found, approach: Approach) -> bool:
    return found.rest <= _EXPLAINED * approach.noise


def _fits(
    found: _Found, approach: Approach, velocity: np.ndarray, se: np.ndarray
) -> tuple[BrakedFit, ...]:
    """The tip's motion along the table and normal to it, with v+ (2,) and its standard error, m/s."""
    mechanism = _mechanisms(found.point[None], approach)
    motion = simulated(mechanism, approach, _WINDOWS[-1])[0, :, int(approach.at_motors)]
    # means over the steps, at their middles
    rates = np.diff(motion, axis=0) / STEP @ approach.jacobian.T
    time = mechanism.later[0] + STEP * (np.arange(len(rates)) + 0.5)
    before = approach.jacobian @ approach.velocity
    nothing = np.full(1, np.nan)
    return tuple(
        BrakedFit(
            pre_velocity=before[k], post_velocity=velocity[k], post_velocity_se=se[k],
            slope=0.0, poles=nothing, amplitude=nothing, phase=nothing,
            pole_covariance=np.full((2, 2), np.nan), residual_rms=np.nan, converged=True, at_bound=False,
            time=time, velocity=rates[:, k],
        )
        for k in range(2)
    )  # fmt: skip

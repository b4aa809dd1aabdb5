"""A robot arm with elastic joints that comes down onto a table in a straight line, and hits it
without friction.

Link positions q and motor positions theta (n each, behind the gears) obey the reduced elastic-joint
model

    M(q) q'' + n(q, q') = K (theta - q) + D (theta' - q') + J_N^T lambda
    B theta'' = tau - K (theta - q) - D (theta' - q')

with diagonal stiffness K, damping D and motor inertia B. The tip meets the table inelastically: an
impact changes the links' velocity by eq. 3 of the arm paper with M(q) alone, since motors feel it
only through their springs. Then the tip slides on the table for as long as the contact force lambda
pushes; where it would turn tensile the tip lifts off, and may come down again (the paper's model B,
for an arm).

*Before the impact* the tip moves at constant velocity, the probe vertical, in the x-z plane, where
joints 2, 4 and 6 move a tip of three coordinates x, z and tilt, so inverse kinematics is exact. The
controller tracks perfectly: motors are where elastic joints need them for the links to move so.
With D = K T (T the damping time) the joints' law K d + K T d' = M q'' + n, d = theta - q, gives d =
u - T u' + O(T^2 u''), u = K^-1 (M q'' + n).

*After it* motors compensate gravity, as the paper's arm does, and press the tip down with a
constant force: tau = g(q_s) + J(q_s)^T (0, 0, -F). Here q_s(theta) is the link position in static
balance with the motors, K (theta - q_s) = g(q_s) (Albu-Schaeffer, Ott and Hirzinger, Int. J.
Robotics Research 2007). It is also what the arm reports as its joint position: measured at the
motors, with the deflection under gravity taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from contactid.arm.rigid.impact_map import impact_map, normal_impulse
from contactid.arm.rigid.postures import in_plane, joint_velocity, plane_rates, upright_posture
from contactid.arm.rigid.robot import Robot
from contactid.core.errors import ContactIdError

IMPACT, SEPARATION, GRAZING = "impact", "separation", "grazing"
# of every step of Dormand and Prince's method of order 8; the second in rad and rad/s
_RTOL, _ATOL = 1e-10, 1e-12
_LONGEST_STEP = 2e-3  # s; shorter than any flight that matters
_SLOWEST_IMPACT = 1e-6  # m/s; a slower approach ends a flight without an impact
_MOST_EVENTS = 500  # beyond it the motion is given up as chattering
_STATIC_TOLERANCE = 1e-13  # rad
_MOST_STATIC_STEPS = 50
_DIFFERENCE = 1e-4  # s, of central differences in time


@dataclass(frozen=True, eq=False)
class FlexibleState:
    """Positions in rad and velocities in rad/s of links (q) and motors (theta): (n,), or (m, n) at
    m times.
    """

    q: np.ndarray
    theta: np.ndarray
    q_velocity: np.ndarray
    theta_velocity: np.ndarray

    def at(self, k: int) -> FlexibleState:
        """The state at one of several times."""
        return FlexibleState(self.q[k], self.theta[k], self.q_velocity[k], self.theta_velocity[k])


@dataclass(frozen=True)
class ContactEvent:
    """What happened to the contact at a time (s); ``impulse`` (N s) of an impact, else 0; ``lost``
    its energy, J.
    """

    time: float
    kind: str
    impulse: float = 0.0
    lost: float = 0.0


@dataclass(frozen=True, eq=False)
class FlexibleMotion(FlexibleState):
    """A motion at m times.

    Attributes
    ----------
    time : (m,) s since the impact
    dissipated, work : (m,) J, by the joints' dampers, and done by the motors
    contact_force : (m,) N, 0 off the table
    events : in the order of time; the first is the impact
    """

    time: np.ndarray
    dissipated: np.ndarray
    work: np.ndarray
    contact_force: np.ndarray
    events: tuple[ContactEvent, ...]


@dataclass(frozen=True, eq=False)
class FlexibleArm:
    """An arm, its drives, the table's height (m) in the base frame, and the force F (N) that
    presses the tip down.

    ``drives`` have, as the configuration's ``arm: twin: drives``, ``motor_inertia`` (n,): B, kg m2,
    seen behind the gear; of a torque-controlled joint the one that its inner loop leaves;
    ``stiffness`` (n,): K, N m/rad; ``damping_time``: D / K, s; damping in proportion to stiffness
    damps modes of vibration alone, fast ones most.
    """

    robot: Robot
    drives: Mapping[str, Any]
    table_height: float
    pressing_force: float = 0.0

    def __post_init__(self) -> None:
        if len(self.stiffness) != self.robot.model.nv:
            raise ContactIdError(
                f"drives of {len(self.stiffness)} joints for a robot of {self.robot.model.nv}",
                "Give one value per joint",
            )

    @cached_property
    def stiffness(self) -> np.ndarray:
        """K (n,), N m/rad."""
        return np.array(self.drives["stiffness"])

    @cached_property
    def motor_inertia(self) -> np.ndarray:
        """B (n,), kg m2."""
        return np.array(self.drives["motor_inertia"])

    @property
    def damping_time(self) -> float:
        """D / K, s."""
        return self.drives["damping_time"]

    def reported_position(self, theta: np.ndarray) -> np.ndarray:
        """q_s (n,): link positions in static balance with motor positions (n,), rad.

        Raises
        ------
        ContactIdError
            Where joints are too soft to carry the arm.
        """
        # fixed point of K (theta - q) = g(q): stiff joints settle in a few steps
        q = theta - self.robot.gravity_torque(theta) / self.stiffness
        for _ in range(_MOST_STATIC_STEPS):
            previous, q = q, theta - self.robot.gravity_torque(q) / self.stiffness
            if np.abs(q - previous).max() < _STATIC_TOLERANCE:
                return q
        raise ContactIdError("the joints are too soft to carry the arm", "Give stiffer ones")

    def motor_torque(self, theta: np.ndarray) -> np.ndarray:
        """tau (n,) after the impact, N m: gravity compensation and pressing."""
        q = self.reported_position(theta)
        # compensation at the position that the arm reports, and the pressing force through J^T
        return self.robot.gravity_torque(q) - self.robot.tip_jacobian(q)[2] * self.pressing_force

    def total_inertia(self, q: np.ndarray) -> np.ndarray:
        """M(q) + B (n, n), kg m2: of links and motors that move as one."""
        return self.robot.mass_matrix(q) + np.diag(self.motor_inertia)

    def gap(self, q: np.ndarray) -> float:
        """Height of the tip over the table, m."""
        return float(self.robot.tip_position(q)[2]) - self.table_height

    def accelerations(
        self, state: FlexibleState, torque: np.ndarray, *, touching: bool
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """q'' (n,), theta'' (n,) in rad/s2 and the contact force in N, tensile if negative; 0 where
        not touching.

        Eq. 1 for links that touch, eq. 2 for those in the air, with the springs' torque as tau.
        ``torque`` is that of the motors, :meth:`motor_torque`.
        """
        stretch = state.theta - state.q
        # K d + D d', with D = K T
        spring = self.stiffness * (
            stretch + self.damping_time * (state.theta_velocity - state.q_velocity)
        )
        theta_acceleration = (torque - spring) / self.motor_inertia
        net = spring - self.robot.bias_torque(state.q, state.q_velocity)
        mass = self.robot.mass_matrix(state.q)
        if not touching:
            return np.linalg.solve(mass, net), theta_acceleration, 0.0
        row = self.robot.tip_jacobian(state.q)[2]
        free, response = np.linalg.solve(mass, np.column_stack([net, row])).T
        # tip's normal acceleration is zero: J (free + response force) + J' q' = 0
        force = -(row @ free + self.robot.tip_drift(state.q, state.q_velocity)[2]) / (
            row @ response
        )
        return free + response * force, theta_acceleration, float(force)


def simulate_impact(arm: FlexibleArm, start: FlexibleState, time: np.ndarray) -> FlexibleMotion:
    """Motion at times (m,) since the impact, ascending from 0 on, s; ``start`` is the state just
    before it.

    Raises
    ------
    ContactIdError
        Where the tip isn't on the table or doesn't come down, the integration fails, or the tip
        chatters.
    """
    approach = float(arm.robot.tip_jacobian(start.q)[2] @ start.q_velocity)
    if abs(arm.gap(start.q)) > 1e-9 or approach >= 0.0:
        raise ContactIdError(
            f"no impact: the tip is {arm.gap(start.q):.3g} m over the table and moves at {approach:.3g} m/s",
            "Start with the tip on the table, coming down",
        )
    return _Simulation(arm).run(start, time)


class _Simulation:
    """Phases on and off the table, one after another; the state is q, theta, their rates,
    dissipated energy, work.
    """

    def __init__(self, arm: FlexibleArm) -> None:
        self.arm, self.n = arm, arm.robot.model.nv
        self.events: list[ContactEvent] = []

    def run(self, start: FlexibleState, time: np.ndarray) -> FlexibleMotion:
        state = np.concatenate(
            [start.q, start.theta, start.q_velocity, start.theta_velocity, [0.0, 0.0]]
        )
        state = self._impact(0.0, state)
        now, end = 0.0, float(time[-1])
        # right after the impact, by the sign of the contact force
        touching = self._pushes(state)
        rows, forces = [], []
        pending = time
        while len(pending):
            solution = self._phase(now, state, end, pending, touching)
            # an event may come before a sample
            found = solution.y.T if len(solution.t) else np.zeros((0, len(state)))
            rows.append(found)
            forces += [self._force(row) if touching else 0.0 for row in found]
            # samples behind the event belong to the next phase
            pending = pending[len(found) :]
            if solution.status == 0:
                break
            now, state = float(solution.t_events[0][0]), solution.y_events[0][0]
            state, touching = self._switch(now, state, touching)
        states = np.concatenate(rows)
        return FlexibleMotion(
            **vars(self._split(states)), time=time, dissipated=states[:, -2], work=states[:, -1],
            contact_force=np.array(forces), events=tuple(self.events),
        )  # fmt: skip

    def _phase(
        self, now: float, state: np.ndarray, end: float, pending: np.ndarray, touching: bool
    ) -> Any:
        solution = solve_ivp(
            # an event may leave no time to go: the span stays positive
            self._rates(touching), (now, max(end, now + 1e-12)), state, method="DOP853", t_eval=pending,
            events=self._end(touching), rtol=_RTOL, atol=_ATOL, max_step=_LONGEST_STEP,
        )  # fmt: skip
        if solution.status < 0:
            raise ContactIdError(
                f"the arm's motion cannot be integrated ({solution.message})", "Soften its joints"
            )
        return solution

    def _switch(self, now: float, state: np.ndarray, touching: bool) -> tuple[np.ndarray, bool]:
        """The state after an event, and whether the tip touches then."""
        if len(self.events) >= _MOST_EVENTS:
            raise ContactIdError(
                f"the tip chatters: {len(self.events)} events by {now:.4f} s",
                "Press it down harder",
            )
        if touching:
            self.events.append(ContactEvent(now, SEPARATION))
            return state, False
        approach = -float(
            self.arm.robot.tip_jacobian(state[: self.n])[2] @ state[2 * self.n : 3 * self.n]
        )
        # a slower touch is no impact: the tip just rests again
        if approach > _SLOWEST_IMPACT:
            state = self._impact(now, state)
        else:
            self.events.append(ContactEvent(now, GRAZING))
        return state, self._pushes(state)

    def _impact(self, now: float, state: np.ndarray) -> np.ndarray:
        """Eq. 3 on the links alone."""
        q, before = state[: self.n], state[2 * self.n : 3 * self.n]
        mass, row = self.arm.robot.mass_matrix(q), self.arm.robot.tip_jacobian(q)[2]
        after = impact_map(mass, row, before)
        lost = 0.5 * (before @ mass @ before - after @ mass @ after)
        self.events.append(
            ContactEvent(now, IMPACT, float(normal_impulse(mass, row, before)[0]), float(lost))
        )
        state = state.copy()
        state[2 * self.n : 3 * self.n] = after
        return state

    def _split(self, state: np.ndarray) -> FlexibleState:
        return FlexibleState(*(state[..., k * self.n : (k + 1) * self.n] for k in range(4)))

    def _force(self, state: np.ndarray) -> float:
        parts = self._split(state)
        return self.arm.accelerations(parts, self.arm.motor_torque(parts.theta), touching=True)[2]

    def _pushes(self, state: np.ndarray) -> bool:
        return self._force(state) > 0.0

    def _rates(self, touching: bool) -> Callable[[float, np.ndarray], np.ndarray]:
        def rates(_: float, state: np.ndarray) -> np.ndarray:
            parts = self._split(state)
            torque = self.arm.motor_torque(parts.theta)
            links, motors, _force = self.arm.accelerations(parts, torque, touching=touching)
            slip = parts.theta_velocity - parts.q_velocity
            # D d'^2 = T K d'^2
            dissipation = self.arm.damping_time * (self.arm.stiffness @ slip**2)
            power = torque @ parts.theta_velocity
            return np.concatenate(
                [parts.q_velocity, parts.theta_velocity, links, motors, [dissipation, power]]
            )

        return rates

    def _end(self, touching: bool) -> Callable[[float, np.ndarray], float]:
        """What falls through zero where the tip lifts off, or comes back to the table."""

        def pushing_or_height(_: float, state: np.ndarray) -> float:
            return self._force(state) if touching else self.arm.gap(state[: self.n])

        # only a fall through zero ends a phase
        pushing_or_height.terminal, pushing_or_height.direction = True, -1  # type: ignore[attr-defined]
        return pushing_or_height


def approach(
    arm: FlexibleArm, q_impact: np.ndarray, velocity: np.ndarray, time: np.ndarray
) -> FlexibleState:
    """The motion that brings the tip to its place at ``q_impact`` (n,), rad, in the plane, at time
    0.

    ``velocity`` (2,): the tip's v_x and v_z, m/s; ``time`` (m,) s, at most 0.
    """
    x, _, z = arm.robot.tip_position(q_impact)
    v_x, v_z = velocity
    q, q_velocity, theta, theta_velocity = [], [], [], []
    near = q_impact
    # backwards from the impact, each posture the next one's start
    for now in time[::-1]:
        near = upright_posture(arm.robot, x + v_x * now, z + v_z * now, near)
        # u at the neighbours, for its derivatives
        ahead, behind = (
            _stretch(
                arm, upright_posture(arm.robot, x + v_x * then, z + v_z * then, near), velocity
            )
            for then in (now + _DIFFERENCE, now - _DIFFERENCE)
        )
        here = _stretch(arm, near, velocity)
        rate = (ahead - behind) / (2.0 * _DIFFERENCE)
        curvature = (ahead - 2.0 * here + behind) / _DIFFERENCE**2
        lag = arm.damping_time
        links = joint_velocity(arm.robot, near, *velocity)
        q.append(near)
        q_velocity.append(links)
        # theta = q + u - T u', the module's series; the rate likewise
        theta.append(near + here - lag * rate)
        theta_velocity.append(links + rate - lag * curvature)
    return FlexibleState(*(np.array(rows[::-1]) for rows in (q, theta, q_velocity, theta_velocity)))


def _stretch(arm: FlexibleArm, q: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """K^-1 (M q'' + n) (n,), rad, where the tip moves at constant velocity."""
    rate = joint_velocity(arm.robot, q, *velocity)
    drift = arm.robot.tip_drift(q, rate)
    # so that the tip doesn't accelerate: J q'' = -J' q'
    acceleration = in_plane(plane_rates(arm.robot, q, -drift[[0, 2, 4]]), len(q))
    return (
        pin.rnea(arm.robot.model, arm.robot.model.createData(), q, rate, acceleration)
        / arm.stiffness
    )

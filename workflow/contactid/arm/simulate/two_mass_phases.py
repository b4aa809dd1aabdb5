"""The two-body impact of section IV: an environment m0 and a robot m1 - m2, its parameters and its stretches of motion.

    m0   gap   m1 -spring, damper- m2  <- F
    x0 <-----> x1                  x2          x to the right

A state is s = (x0, x1, x2, v0, v1, v2), m and m/s. x2 is measured from a place one spring's length to the right of
x1's origin, so that x1 = x2 is the spring without strain. The gap is g = x1 - x0 and the penetration delta = -g.

Deviation: the paper's model B writes ``delta := x1 - x0``, which is the gap, after having said ``delta = -g_N``; taken
literally eq. 6 would push the bodies together over a distance. Here the penetration is x0 - x1 everywhere, and an
impact is g = 0 with dg/dt < 0, as the paper's condition on the velocity says.

*Where no compliant contact acts* the motion is linear, hence exact. The bodies that move as one form groups (all three
apart; m0 with m1; m1 with m2; all together), and each group accelerates by its forces over its mass. With the constant
push that is s' = A s + b, whose solution is a matrix exponential. The instant at which a linear functional of the state
falls through zero is then a root of a known function. Its slope is looked at, too, so that a fall and a rise between
two instants of the grid aren't missed.

*The compliant contact* of eq. 6 (Hunt and Crossley) is integrated tightly and implicitly until the bodies part. It runs
in (delta, delta', r, r') with r = x1 - x2, and the centre of mass, which only the push moves, follows exactly. So
penetrations of some um keep their digits, and momentum is exact by construction.

Source: Aouaj, Padois, Saccon, "Predicting the post-impact velocity of a robotic arm via rigid multibody models",
ICRA 2021, section IV and Table I.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

from contactid.core.errors import ContactIdError

SIZE = 6  # of a state
GAP = np.array([-1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
GAP_RATE = np.array([0.0, 0.0, 0.0, -1.0, 1.0, 0.0])


@dataclass(frozen=True)
class TwoMass:
    """Parameters under the names of Table I.

    Attributes
    ----------
    m0, m1, m2 : masses of the environment, of the robot's contact side and of its sensing side, kg
    hertz_exponent_c : exponent of the penetration in eq. 6
    k_env, d_env : contact stiffness (N/m^c) and damping (N s/m^(c+1)) of eq. 6
    k_rob, d_rob : stiffness (N/m) and damping (N s/m) between m1 and m2
    initial_gap : between m0 and m1 at rest, m
    pushing_force : constant, on m2, to the left, N
    """

    m0: float
    m1: float
    m2: float
    hertz_exponent_c: float
    k_env: float
    d_env: float
    k_rob: float
    d_rob: float
    initial_gap: float
    pushing_force: float

    @property
    def masses(self) -> np.ndarray:
        """(3,) m0, m1, m2, kg."""
        return np.array([self.m0, self.m1, self.m2])

    @property
    def total_mass(self) -> float:
        """Of all three bodies, kg."""
        return self.m0 + self.m1 + self.m2

    @property
    def start(self) -> np.ndarray:
        """(6,) state at t = 0: at rest, the spring without strain, m0 at the origin."""
        return np.array([0.0, self.initial_gap, self.initial_gap, 0.0, 0.0, 0.0])

    def forces(self) -> tuple[np.ndarray, np.ndarray]:
        """Forces on the bodies apart from contact: (3, 6) per state and (3,) constant, N."""
        pull = np.array([0.0, -1.0, 1.0])  # of the spring on the bodies when m1 is to the right of m2's place
        strain = np.array([0.0, 1.0, -1.0])
        linear = np.outer(pull, np.concatenate([self.k_rob * strain, self.d_rob * strain]))
        return linear, np.array([0.0, 0.0, -self.pushing_force])


def impact_map_velocity(system: TwoMass, pre_velocity: float, environment_velocity: float = 0.0) -> float:
    """Common velocity after an inelastic impact of the rigid robot on m0 (eq. 5 for two bodies on a line), m/s.

    ``pre_velocity`` is that of the robot, m1 + m2, right before, ``environment_velocity`` that of m0, m/s.
    """
    robot = system.m1 + system.m2
    return (robot * pre_velocity + system.m0 * environment_velocity) / (robot + system.m0)


Groups = tuple[tuple[int, ...], ...]
APART: Groups = ((0,), (1,), (2,))
TOUCHING: Groups = ((0, 1), (2,))
RIGID_APART: Groups = ((0,), (1, 2))
RIGID_TOUCHING: Groups = ((0, 1, 2),)
_PER_RATE = 0.05  # grid step in units of the fastest rate of the linear motion
_COARSEST = 1e-3  # s


@dataclass(frozen=True)
class LinearPhase:
    """A stretch of linear motion.

    Attributes
    ----------
    system : parameters
    groups : bodies that move as one
    start : of the stretch, s
    state : (6,) at its start; bodies of a group have to have one velocity
    """

    system: TwoMass
    groups: Groups
    start: float
    state: np.ndarray

    @cached_property
    def generator(self) -> np.ndarray:
        """(7, 7) A and b of d/dt (s, 1)."""
        linear, constant = self.system.forces()
        generator = np.zeros((SIZE + 1, SIZE + 1))
        generator[:3, 3:SIZE] = np.eye(3)
        for group in self.groups:
            bodies = list(group)
            mass = self.system.masses[bodies].sum()
            generator[3 + np.array(bodies), :SIZE] = linear[bodies].sum(axis=0) / mass
            generator[3 + np.array(bodies), SIZE] = constant[bodies].sum() / mass
        return generator

    @property
    def touching(self) -> bool:
        """Whether m0 and m1 move as one."""
        return 0 in self.groups[0] and 1 in self.groups[0]

    @cached_property
    def force_row(self) -> np.ndarray:
        """(7,) the contact force as functional of (s, 1): what keeps m0 in its group, N."""
        return -self.system.m0 * self.generator[3] if self.touching else np.zeros(SIZE + 1)

    def states(self, times: np.ndarray) -> np.ndarray:
        """(n, 6) states at (n,) times, s."""
        passed = times - self.start
        return (expm(passed[:, None, None] * self.generator) @ self._augmented)[:, :SIZE]

    def contact_force(self, times: np.ndarray) -> np.ndarray:
        """(n,) contact force at (n,) times, positive where the bodies push each other apart, N."""
        return np.column_stack([self.states(times), np.ones(len(times))]) @ self.force_row

    def falls(self, functional: np.ndarray, until: float, *, unseen: float = 0.0) -> float | None:
        """First time at which ``functional`` (7,) of (s, 1) falls through zero, or None, s.

        A functional that is zero at the start counts from when it has been positive. The first ``unseen`` seconds are
        left out, for a functional that leaves zero so slowly that rounding decides its sign.
        """
        step = min(_PER_RATE / max(float(np.abs(np.linalg.eigvals(self.generator)).max()), 1e-9), _COARSEST)
        left, passed = until - self.start, unseen
        state, advance = self._advance(unseen, self._augmented), expm(step * self.generator)
        while passed < left:
            whole = passed + step <= left
            length = step if whole else left - passed
            after = advance @ state if whole else self._advance(length, state)
            found = self._fall_between(functional, state, after, length)
            if found is not None:
                return self.start + passed + found
            passed, state = passed + length, after
        return None

    def _fall_between(
        self, functional: np.ndarray, state: np.ndarray, after: np.ndarray, length: float
    ) -> float | None:
        """The fall within ``length`` seconds, also where the functional crosses zero and returns in between."""
        slope = functional @ self.generator
        first, last = float(functional @ state), float(functional @ after)
        rising, falling = float(slope @ state) > 0.0, float(slope @ state) < 0.0
        if last < 0.0 < first:
            return self._root(functional, state, 0.0, length)
        if last < 0.0 and first == 0.0 and rising:
            return self._root(functional, state, self._root(slope, state, 0.0, length), length)
        if first > 0.0 and last >= 0.0 and falling and float(slope @ after) > 0.0:
            bottom = self._root(slope, state, 0.0, length)
            if float(functional @ self._advance(bottom, state)) < 0.0:
                return self._root(functional, state, 0.0, bottom)
        return None

    def _root(self, row: np.ndarray, state: np.ndarray, low: float, high: float) -> float:
        def value(passed: float) -> float:
            return float(row @ self._advance(passed, state))

        return float(brentq(value, low, high, xtol=1e-15, rtol=1e-15))

    def _advance(self, passed: float, state: np.ndarray) -> np.ndarray:
        """(7,) state and 1 after so many seconds."""
        return np.asarray(expm(passed * self.generator) @ state)

    @property
    def _augmented(self) -> np.ndarray:
        return np.append(self.state, 1.0)


_RELATIVE = 1e-10  # tolerance of a step while the compliant contact acts
_SCALES = np.array([1e-5, 1.0, 1e-3, 1.0])  # m, m/s, m, m/s: what is small for delta, delta', r, r'


@dataclass(frozen=True)
class CompliantPhase:
    """A stretch with the contact force of eq. 6, lambda = delta^c (k_env + d_env delta').

    Attributes
    ----------
    system : parameters
    start, end : of the stretch, s
    centre : (2,) place and velocity of the centre of mass at the start
    solution : of (delta, delta', r, r') over time since the start, as a callable
    opened : whether it ends because the bodies part
    """

    system: TwoMass
    start: float
    end: float
    centre: np.ndarray
    solution: Callable[[np.ndarray], np.ndarray]
    opened: bool

    def states(self, times: np.ndarray) -> np.ndarray:
        """(n, 6) states at (n,) times, s."""
        passed = times - self.start
        return _from_relative(self.system, self.centre, passed, self.solution(passed))


def integrate_contact(system: TwoMass, start: float, state: np.ndarray, until: float) -> CompliantPhase:
    """The compliant contact from a closed gap until it opens or ``until``, s.

    Raises
    ------
    ContactIdError
        Where the integrator gives up.
    """
    relative = np.array([-GAP @ state, -GAP_RATE @ state, state[1] - state[2], state[4] - state[5]])
    share = system.masses / system.total_mass
    centre = np.array([share @ state[:3], share @ state[3:]])

    def opens(_: float, y: np.ndarray) -> float:
        return float(y[0])

    event: Any = opens
    event.terminal, event.direction = True, -1.0
    solved: Any = solve_ivp(
        lambda _, y: _relative_rates(system, y), (0.0, until - start), relative, method="LSODA", events=event,
        dense_output=True, rtol=_RELATIVE, atol=_RELATIVE * _SCALES, jac=lambda _, y: _jacobian(system, y),
    )  # fmt: skip
    if not solved.success:
        raise ContactIdError(
            f"two-mass model A: the integration stops at t = {start + solved.t[-1]:.6g} s, {solved.message}",
            "Lower k_env or d_env",
        )
    end = min(start + float(solved.t[-1]), until)
    return CompliantPhase(system, start, end, centre, solved.sol, opened=solved.status == 1)


def _from_relative(system: TwoMass, centre: np.ndarray, passed: np.ndarray, relative: np.ndarray) -> np.ndarray:
    """(n, 6) states from (4, n) relative coordinates and the centre of mass ``passed`` s earlier."""
    acceleration = -system.pushing_force / system.total_mass
    place = centre[0] + centre[1] * passed + 0.5 * acceleration * passed**2
    speed = centre[1] + acceleration * passed
    columns = []
    for middle, depth, strain in ((place, relative[0], relative[2]), (speed, relative[1], relative[3])):
        one = middle - (system.m0 * depth - system.m2 * strain) / system.total_mass
        columns += [one + depth, one, one - strain]
    return np.column_stack(columns)


def _contact_force(system: TwoMass, depth: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Eq. 6."""
    return np.maximum(depth, 0.0) ** system.hertz_exponent_c * (system.k_env + system.d_env * rate)


def _relative_rates(system: TwoMass, y: np.ndarray) -> np.ndarray:
    depth, rate, strain, strain_rate = y
    force = float(_contact_force(system, depth, rate))
    pull = system.k_rob * strain + system.d_rob * strain_rate
    at_contact = (force - pull) / system.m1
    return np.array(
        [rate, -force / system.m0 - at_contact, strain_rate, at_contact - (pull - system.pushing_force) / system.m2]
    )


def _jacobian(system: TwoMass, y: np.ndarray) -> np.ndarray:
    depth, rate = max(float(y[0]), 0.0), float(y[1])
    power = system.hertz_exponent_c
    by_depth = power * depth ** (power - 1.0) * (system.k_env + system.d_env * rate)
    by_rate = depth**power * system.d_env
    m0, m1, m2 = system.masses
    per_force, per_pull = np.array([-1.0 / m0 - 1.0 / m1, 1.0 / m1]), np.array([1.0 / m1, -1.0 / m1 - 1.0 / m2])
    jacobian = np.zeros((4, 4))
    jacobian[0, 1] = jacobian[2, 3] = 1.0
    jacobian[[1, 3], 0] = per_force * by_depth
    jacobian[[1, 3], 1] = per_force * by_rate
    jacobian[[1, 3], 2] = per_pull * system.k_rob
    jacobian[[1, 3], 3] = per_pull * system.d_rob
    return jacobian

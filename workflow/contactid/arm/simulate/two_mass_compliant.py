"""The compliant contact of eq. 6 (Hunt and Crossley): a tight implicit integration until the bodies part.

It runs in (delta, delta', r, r') with r = x1 - x2, and the centre of mass, which only the push moves, follows exactly.
So penetrations of some um keep their digits, and momentum is exact by construction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from contactid.arm.simulate.two_mass_system import GAP, GAP_RATE, SIZE, TwoMass
from contactid.core.errors import ContactIdError

_IMPLICIT = ("Radau", "BDF", "LSODA")
_SCALES = np.array([1e-5, 1.0, 1e-3, 1.0])  # m, m/s, m, m/s: what is small for delta, delta', r, r'


@dataclass(frozen=True)
class ContactTolerances:
    """Of the integration while the compliant contact acts.

    Attributes
    ----------
    relative : per step
    method : of :func:`scipy.integrate.solve_ivp`; implicit ones are given the Jacobian
    """

    relative: float = 1e-10
    method: str = "Radau"


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
        passed = np.asarray(times, dtype=float) - self.start
        if not len(passed):
            return np.empty((0, SIZE))
        return _from_relative(self.system, self.centre, passed, self.solution(passed))

    def contact_force(self, times: np.ndarray) -> np.ndarray:
        """(n,) contact force at (n,) times by eq. 6, N."""
        relative = self.solution(np.asarray(times, dtype=float) - self.start)
        return _contact_force(self.system, relative[0], relative[1])


def integrate_contact(
    system: TwoMass, start: float, state: np.ndarray, until: float, tolerances: ContactTolerances
) -> CompliantPhase:
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
    arguments: dict[str, Any] = {
        "method": tolerances.method,
        "rtol": tolerances.relative,
        "atol": tolerances.relative * _SCALES,
    }
    if tolerances.method in _IMPLICIT:
        arguments["jac"] = lambda _, y: _jacobian(system, y)
    solved: Any = solve_ivp(
        lambda _, y: _relative_rates(system, y), (0.0, until - start), relative, events=event, dense_output=True,
        **arguments,
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

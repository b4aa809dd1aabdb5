"""The two-body impact of section IV: an environment m0 and a robot m1 - m2, its parameters and its balances.

    m0   gap   m1 -spring, damper- m2  <- F
    x0 <-----> x1                  x2          x to the right

A state is s = (x0, x1, x2, v0, v1, v2), m and m/s. x2 is measured from a place one spring's length to the right of
x1's origin, so that x1 = x2 is the spring without strain. The gap is g = x1 - x0 and the penetration delta = -g.

Deviation: the paper's model B writes ``delta := x1 - x0``, which is the gap, after having said ``delta = -g_N``; taken
literally eq. 6 would push the bodies together over a distance. Here the penetration is x0 - x1 everywhere, and an
impact is g = 0 with dg/dt < 0, as the paper's condition on the velocity says.

Source: Aouaj, Padois, Saccon, "Predicting the post-impact velocity of a robotic arm via rigid multibody models",
ICRA 2021, section IV and Table I.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from contactid.core.errors import ContactIdError

SIZE = 6  # of a state
GAP = np.array([-1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
GAP_RATE = np.array([0.0, 0.0, 0.0, -1.0, 1.0, 0.0])
_MAY_VANISH = ("d_env", "d_rob")


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

    Raises
    ------
    ContactIdError
        Names the parameter that can't be: dampings have to be 0 or more, all others positive.
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

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not np.isfinite(value) or value < 0.0 or (value == 0.0 and field.name not in _MAY_VANISH):
                allowed = "0 or more" if field.name in _MAY_VANISH else "a positive number"
                raise ContactIdError(f"two-mass model: {field.name} is {value:g}", f"Give {allowed}{_why(field.name)}")

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


def _why(name: str) -> str:
    """What goes wrong otherwise, where that isn't plain."""
    return {
        "initial_gap": "; the bodies start apart",
        "pushing_force": "; it pushes m2 to the left, a force the other way never leads to an impact",
    }.get(name, "")


def momentum(system: TwoMass, states: np.ndarray) -> np.ndarray:
    """(n,) total momentum of (n, 6) states, kg m/s; from rest it is -F t, whatever happens between the bodies."""
    return states[:, 3:] @ system.masses


def energy(system: TwoMass, states: np.ndarray, *, compliant: bool = False) -> np.ndarray:
    """(n,) kinetic and elastic energy of (n, 6) states, J; ``compliant`` adds the elastic part of eq. 6."""
    kinetic = 0.5 * states[:, 3:] ** 2 @ system.masses
    elastic = 0.5 * system.k_rob * (states[:, 1] - states[:, 2]) ** 2
    depth = np.maximum(-states @ GAP, 0.0) if compliant else np.zeros(len(states))
    power = system.hertz_exponent_c + 1.0
    return kinetic + elastic + system.k_env * depth**power / power


def work_of_push(system: TwoMass, states: np.ndarray) -> np.ndarray:
    """(n,) work of the pushing force since the start, J."""
    return -system.pushing_force * (states[:, 2] - system.start[2])


def impact_map_velocity(system: TwoMass, pre_velocity: float, environment_velocity: float = 0.0) -> float:
    """Common velocity after an inelastic impact of the rigid robot on m0 (eq. 5 for two bodies on a line), m/s.

    Parameters
    ----------
    system
        Its masses count only.
    pre_velocity
        Of the robot, m1 + m2, right before, m/s.
    environment_velocity
        Of m0 right before, m/s.
    """
    robot = system.m1 + system.m2
    return (robot * pre_velocity + system.m0 * environment_velocity) / (robot + system.m0)

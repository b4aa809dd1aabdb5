"""Motion between two events where no compliant contact acts: linear, hence exact.

The bodies that move as one form groups (all three apart; m0 with m1; m1 with m2; all together), and each group
accelerates by its forces over its mass. With the constant push that is s' = A s + b, whose solution is a matrix
exponential. The instant at which a linear functional of the state falls through zero is then a root of a known
function. Its slope is looked at, too, so that a fall and a rise between two instants of the grid aren't missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from contactid.arm.simulate.two_mass_system import SIZE, TwoMass

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
        passed = np.asarray(times, dtype=float) - self.start
        if not len(passed):
            return np.empty((0, SIZE))
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

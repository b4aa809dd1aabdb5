"""Identify states, impulses, J/m and friction of a planar body from measured poses: the nonlinear
program of eq. 27.

Unknown are, at every instant of a grid that refines the frames (eq. 25), the pose ``q^k``, the
velocity ``v^k`` and the impulses per mass, and the ratio ``J/m`` and ``mu``. What is minimised is
the misfit of the poses at the frames in units of their noise, ``1/2 sum ((q - q_m)/sigma)^2``, so
no weight is set by hand.

Everything is dimensionless: lengths by the body's ``length``, velocities by a ``speed`` of the
throw, times by their ratio, impulses by ``m speed``, J by ``m length^2``.

Subject to eqs. 16 and 17 and, per potential contact, three complementarity pairs (eqs. 18 and 23):

* ``c_n perp g_n(q^k)``;
* ``s perp mu c_n + c_t``;
* ``s - u_t perp mu c_n - c_t`` with ``u_t = T(q^k)^T v^(k+1)``.

``s`` is the sliding speed along t. The paper has two non-negative parts of ``c_t`` and a multiplier
lambda in place of ``s``; the two forms have the same solutions, this one has a variable less.

Deviation: the sub-intervals between two frames have free durations of a given sum. On an even grid
an impact is late by up to h, which is several millimetres at 5 m/s and 1 ms, so either the poses
don't fit or impulses act at a distance; with free durations an instant of the grid moves to the
impact, and exact complementarity fits to within the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core.pair_sides import FIRST, IMPLIED, SECOND
from contactid.core.reformulations import Pair
from contactid.planar.simulate.geometry import Shape
from contactid.planar.simulate.throws import MeasuredThrow

LARGEST_MU = 2.0
TIME_SHIFT = 0.98  # how far a sub-interval may leave its even duration, as a share of it
# J/m by the scale length squared; with the outline's largest radius for length, no body exceeds 1
_LARGEST_RATIO = 1.0
# Slope of the objective in mu: where friction has no influence (rolling), the least one is taken
# unless a larger one explains the poses notably better. Where mu is known to 0.02, it shifts mu by
# 0.002.
_MU_PREFERENCE = 5.0
_EVEN_PREFERENCE = 1e-2  # weight of the squared shares by which durations leave the even ones


@dataclass(frozen=True)
class Scales:
    """Units of the model: length (m) and speed (m/s)."""

    length: float
    speed: float

    @property
    def time(self) -> float:
        """Unit of time, s."""
        return self.length / self.speed

    @property
    def pose(self) -> np.ndarray:
        """(3,) units of q: m, m, rad."""
        return np.array([self.length, self.length, 1.0])


class ContactMode(IntEnum):
    """What a contact does in a step; forward is along t."""

    OPEN = 0
    STICKING = 1
    SLIDING_FORWARD = 2
    SLIDING_BACKWARD = 3


_HELD = {
    ContactMode.OPEN: (
        FIRST,
        SECOND,
        IMPLIED,
    ),  # no normal impulse leaves no room for a tangential one
    ContactMode.STICKING: (SECOND, FIRST, FIRST),
    ContactMode.SLIDING_FORWARD: (SECOND, SECOND, FIRST),
    ContactMode.SLIDING_BACKWARD: (SECOND, FIRST, SECOND),
}
"""Which sides of a contact's three pairs are zero."""


@dataclass(frozen=True)
class GuessedThrow:
    """Where to start with a throw; n steps, n_c contacts, SI units.

    Attributes
    ----------
    share : (n,) durations of the steps by their even duration
    position, velocity : (n + 1, 3)
    impulse_n, impulse_t : (n, n_c) per mass, m/s
    near : (n, n_c) where a contact may push; elsewhere there are no impulses and no bound on the
        gap
    mode : (n, n_c) :class:`ContactMode` of every contact; None where the start doesn't know
    """

    share: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray
    near: np.ndarray
    mode: np.ndarray | None = None


@dataclass(frozen=True)
class Guess:
    """Where to start: J/m (m2), mu and the throw, and half the sum of squared residuals of what it
    was made from.
    """

    inertia_ratio: float
    friction_mu: float
    throw: GuessedThrow
    misfit: float = np.inf


@dataclass(frozen=True)
class TrajectoryModel:
    """A built model with what is needed to read it.

    Attributes
    ----------
    model : Pyomo's; ``inertia_ratio`` (J/m by length^2), ``friction_mu`` and the block ``throw``
    pairs : complementarity pairs, dimensionless
    held : (n,) which sides of the pairs are zero by the guess's modes; None where it has none
    misfit : expression, half the sum of squared residuals in units of their noise
    scales : its units
    n_s : sub-intervals per frame
    """

    model: pyo.ConcreteModel
    pairs: tuple[Pair, ...]
    held: np.ndarray | None
    misfit: Any
    scales: Scales
    n_s: int

    @property
    def inertia_ratio(self) -> float:
        """J/m at the model's present point, m2."""
        return float(pyo.value(self.model.inertia_ratio)) * self.scales.length**2

    @property
    def friction_mu(self) -> float:
        """Friction at the model's present point."""
        return float(pyo.value(self.model.friction_mu))


def sub_steps_of(throw: MeasuredThrow, longest_step: float) -> int:
    """n_s: sub-intervals per frame so that none is longer than ``longest_step``, s (section 5.1)."""
    # a quotient that is whole but for rounding needs no further step
    return max(1, int(np.ceil(throw.frame_interval / longest_step - 1e-9)))


def build_trajectory_model(
    shape: Shape,
    throw: MeasuredThrow,
    guess: Guess,
    scales: Scales,
    n_s: int,
    gravity: float,
) -> TrajectoryModel:
    """Build eq. 27 for a throw with ``n_s`` sub-intervals per frame. Gravity (m/s2) is along -y."""
    model = pyo.ConcreteModel(name="planar trajectory")
    model.inertia_ratio = pyo.Var(
        bounds=(1e-3, _LARGEST_RATIO), initialize=guess.inertia_ratio / scales.length**2
    )
    model.friction_mu = pyo.Var(bounds=(0.0, LARGEST_MU), initialize=guess.friction_mu)
    model.throw = pyo.Block(concrete=True)
    writer = _ThrowWriter(model, model.throw, shape, throw, guess.throw, scales, n_s, gravity)
    pairs, misfit = writer.write(), writer.misfit()
    # shares that no pose tells stay even
    uneven = _EVEN_PREFERENCE * writer.unevenness()
    model.misfit = pyo.Objective(expr=misfit + uneven + _MU_PREFERENCE * model.friction_mu)
    return TrajectoryModel(model, tuple(pairs), _held(guess.throw), misfit, scales, n_s)


def _held(guess: GuessedThrow) -> np.ndarray | None:
    """The guess's modes as sides, in the order of the pairs."""
    if guess.mode is None:
        return None
    return np.array(
        [side for mode in guess.mode[guess.near] for side in _HELD[ContactMode(mode)]], dtype=int
    )


@dataclass
class _ThrowWriter:
    """Writes one throw's variables, dynamics and pairs into its block."""

    model: pyo.ConcreteModel
    block: Any
    shape: Shape
    throw: MeasuredThrow
    guess: GuessedThrow
    scales: Scales
    n_s: int
    gravity: float

    def __post_init__(self) -> None:
        self.n = self.n_s * self.throw.n_frames
        self.sin = float(np.sin(self.throw.ground.slope))
        self.cos = float(np.cos(self.throw.ground.slope))

    def write(self) -> list[Pair]:
        """Everything; returns the pairs."""
        self._variables()
        pairs: list[Pair] = []
        for k in range(self.n):
            pairs.extend(self._step(k))
        return pairs

    def _variables(self) -> None:
        block, guess, scales, n = self.block, self.guess, self.scales, self.n
        # (n + 1, 3) dimensionless, as everything from here on
        pose = guess.position / scales.pose
        rate = guess.velocity / scales.pose * scales.time
        normal, tangential = guess.impulse_n / scales.speed, guess.impulse_t / scales.speed
        places = [(k, i) for k in range(n + 1) for i in range(3)]
        touching = [(int(k), int(c)) for k, c in np.argwhere(guess.near)]
        sliding = self._sliding_speeds(pose, rate)
        block.q = pyo.Var(places, initialize={(k, i): float(pose[k, i]) for k, i in places})
        block.v = pyo.Var(places, initialize={(k, i): float(rate[k, i]) for k, i in places})
        block.c_n = pyo.Var(
            touching, bounds=(0.0, None), initialize={at: float(normal[at]) for at in touching}
        )
        block.c_t = pyo.Var(touching, initialize={at: float(tangential[at]) for at in touching})
        block.s = pyo.Var(
            touching, bounds=(0.0, None), initialize={at: float(sliding[at]) for at in touching}
        )
        block.rules = pyo.ConstraintList()
        # durations are free in frames with a contact in reach alone: other steps stay equal
        frames = [
            i
            for i in range(self.throw.n_frames)
            if guess.near[self.n_s * i : self.n_s * (i + 1)].any()
        ]
        freed = [self.n_s * i + m for i in frames for m in range(self.n_s)] if self.n_s > 1 else []
        block.share = pyo.Var(
            freed,
            bounds=(1.0 - TIME_SHIFT, 1.0 + TIME_SHIFT),
            initialize={k: float(guess.share[k]) for k in freed},
        )
        if freed:
            for i in frames:
                # frames stay where the camera has them
                whole = pyo.quicksum(block.share[self.n_s * i + m] for m in range(self.n_s))
                block.rules.add(whole == float(self.n_s))

    def _sliding_speeds(self, pose: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """(n, n_c) s of the guess: the part of u_t along t."""
        phi = pose[:-1, 2] - self.throw.ground.slope
        # u_t = T(q^k)^T v^(k+1): arms at the step's begin, velocities after its impulse
        along = self.cos * rate[1:, 0] + self.sin * rate[1:, 1]
        arms = self.shape.arms(np.sin(phi), np.cos(phi))
        return np.column_stack(
            [np.maximum(along - r_n / self.scales.length * rate[1:, 2], 0.0) for _, r_n in arms]
        )

    def _step(self, k: int) -> list[Pair]:
        """Eqs. 16 and 17 from k to k + 1; returns the pairs at k, whose products are eq. 26."""
        block, sin, cos = self.block, self.sin, self.cos
        even = self.throw.frame_interval / self.n_s / self.scales.time
        h = even * block.share[k] if k in block.share else even
        # gravity over the unit of acceleration, speed / time
        fall = h * (self.gravity * self.scales.time / self.scales.speed)
        for i in range(3):
            block.rules.add(block.q[k + 1, i] == block.q[k, i] + h * block.v[k + 1, i])
        pairs: list[Pair] = []
        push_x = push_y = twist = 0.0
        active = np.flatnonzero(self.guess.near[k])
        if len(active):
            mu = self.model.friction_mu
            phi = block.q[k, 2] - self.throw.ground.slope
            arms = self.shape.arms(pyo.sin(phi), pyo.cos(phi))
            ground, length = self.throw.ground, self.scales.length
            # the centre's distance from the ground, in lengths
            height = -sin * (block.q[k, 0] - ground.x0 / length) + cos * (
                block.q[k, 1] - ground.y0 / length
            )
            along = cos * block.v[k + 1, 0] + sin * block.v[k + 1, 1]
            for c in map(int, active):
                r_t, r_n = (arm / length for arm in arms[c])
                c_n, c_t, s = block.c_n[k, c], block.c_t[k, c], block.s[k, c]
                push_x += -sin * c_n + cos * c_t
                push_y += cos * c_n + sin * c_t
                twist += r_t * c_n - r_n * c_t
                u_t = along - r_n * block.v[k + 1, 2]
                # eq. 23 has the gap at the step's begin; -mu c_n opposes s = max(u_t, 0), mu c_n
                # opposes s - u_t
                pairs += [(c_n, height + r_n), (s, mu * c_n + c_t), (s - u_t, mu * c_n - c_t)]
        block.rules.add(block.v[k + 1, 0] == block.v[k, 0] + push_x)
        block.rules.add(block.v[k + 1, 1] == block.v[k, 1] + push_y - fall)
        block.rules.add(self.model.inertia_ratio * (block.v[k + 1, 2] - block.v[k, 2]) == twist)
        return pairs

    def misfit(self) -> Any:
        """Half the sum of squared residuals (eq. 25) in units of their noise."""
        sigma, at = self.throw.sigma / self.scales.pose, self.throw.position / self.scales.pose
        return 0.5 * pyo.quicksum(
            ((self.block.q[self.n_s * i, a] - float(at[i, a])) / float(sigma[a])) ** 2
            for i in range(len(at))
            for a in range(3)
        )

    def unevenness(self) -> Any:
        """Sum of squared departures of the shares from 1."""
        return pyo.quicksum((share - 1.0) ** 2 for share in self.block.share.values())

"""Simulate planar bodies over a straight ground by impulse-restitution complementarity (planar
paper, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.geometry import Ground, Shape, contacts

GRAVITY = 9.81  # m/s2
_ROUNDING = 1e-9  # m: depth of a start that still is a contact


@dataclass(frozen=True)
class PlanarBody:
    """A rigid planar body: its shape, mass (kg) and moment of inertia about the centre of mass (kg
    m2).
    """

    shape: Shape
    mass: float
    inertia: float

    @property
    def mass_matrix(self) -> np.ndarray:
        """(3,) diagonal of M: kg, kg, kg m2."""
        return np.array([self.mass, self.mass, self.inertia])


class PlanarLaw(NamedTuple):
    """Coulomb friction, Newton's restitution along n (``e_N``, the paper's epsilon) and t (``e_T``,
    0 in the paper).
    """

    friction_mu: float
    restitution_e_n: float
    restitution_e_t: float = 0.0
    gravity: float = GRAVITY  # m/s2, along -y


@dataclass(frozen=True)
class PlanarMotion:
    """A simulated motion; row k of ``impulse_n`` and ``impulse_t`` belongs to the step that led to
    state k.

    Attributes
    ----------
    time : (n + 1,) s
    position : (n + 1, 3) q = (x, y, theta), m and rad
    velocity : (n + 1, 3) v, m/s and rad/s
    impulse_n, impulse_t : (n + 1, n_c) N s, along n and t
    gap : (n + 1, n_c) m
    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray
    gap: np.ndarray


def simulate(
    body: PlanarBody,
    ground: Ground,
    law: PlanarLaw,
    position: np.ndarray | Sequence[float],
    velocity: np.ndarray | Sequence[float],
    *,
    time_step: float,
    steps: int,
) -> PlanarMotion:
    """Step a body ``steps`` times from q (3,) and v (3,) with the exact solution of eqs. 16 to 19.

    Raises
    ------
    ContactIdError
        A start inside the ground, a time step that isn't positive, a state that isn't finite, a
        step without solution.
    """
    q, v = first_states(body.shape, ground, position, velocity, time_step, steps)
    # the Snakefile checks scenes by this module, and needs no compiler for that
    from contactid.planar.simulate.kernel import outline_of
    from contactid.planar.simulate.polygon import run_steps

    impulse_n, impulse_t, gap = (np.zeros((steps + 1, body.shape.n_contacts)) for _ in range(3))
    outline = outline_of(body.shape, ground, body.mass, body.inertia)
    run_steps(
        outline, PlanarLaw(*map(float, law)), float(time_step), q, v, impulse_n, impulse_t, gap
    )
    # a step that isn't solved makes all later states no numbers, so the last one tells
    if not np.isfinite(v[-1]).all():
        first = int(np.argmin(np.isfinite(v).all(axis=1)))
        raise ContactIdError(
            f"step {first} has no contact impulse", "Try a smaller time step or less friction"
        )
    return PlanarMotion(time_step * np.arange(steps + 1), q, v, impulse_n, impulse_t, gap)


def first_states(
    shape: Shape,
    ground: Ground,
    position: np.ndarray | Sequence[float],
    velocity: np.ndarray | Sequence[float],
    time_step: float,
    steps: int,
    fewest: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """(steps + 1, 3) rooms for q and v, with the start in their first rows.

    Raises
    ------
    ContactIdError
        A start inside the ground or not finite, a time step that isn't positive, fewer steps than
        ``fewest``.
    """
    if not 0.0 < time_step < np.inf:
        raise ContactIdError(f"the time step is {time_step:g} s", "It must be greater than 0")
    if steps < fewest:
        raise ContactIdError(f"the number of steps is {steps}", f"It must be {fewest} or more")
    if len(position) != 3 or len(velocity) != 3 or not np.isfinite([*position, *velocity]).all():
        raise ContactIdError(
            "a start state isn't six finite numbers", "Give x, y, theta and their rates"
        )
    refuse_start_inside(shape, ground, position)
    q, v = np.zeros((steps + 1, 3)), np.zeros((steps + 1, 3))
    q[0], v[0] = position, velocity
    return q, v


def refuse_start_inside(shape: Shape, ground: Ground, q: np.ndarray | Sequence[float]) -> None:
    """Raise :class:`ContactIdError` where a body at q (3,) reaches into the ground."""
    depth = -float(contacts(shape, ground, q).gap.min())
    if depth > _ROUNDING:
        raise ContactIdError(
            f"the body starts {depth:.3g} m inside the ground",
            f"Raise it by {depth:.3g} m along the ground's normal",
        )

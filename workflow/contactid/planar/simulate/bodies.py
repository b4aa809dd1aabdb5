"""Simulate planar bodies over a straight ground by impulse-restitution complementarity (planar paper, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.geometry import Ellipse, Ground, Shape, contacts

GRAVITY = 9.81  # m/s2


@dataclass(frozen=True)
class PlanarBody:
    """A rigid planar body: its shape, mass (kg) and moment of inertia about the centre of mass (kg m2)."""

    shape: Shape
    mass: float
    inertia: float

    def __post_init__(self) -> None:
        if not (0.0 < self.mass < np.inf and 0.0 < self.inertia < np.inf):
            raise ContactIdError(
                f"a body has mass {self.mass:g} kg and inertia {self.inertia:g} kg m2", "Give two positive numbers"
            )

    @property
    def mass_matrix(self) -> np.ndarray:
        """(3,) diagonal of M: kg, kg, kg m2."""
        return np.array([self.mass, self.mass, self.inertia])


@dataclass(frozen=True)
class PlanarLaw:
    """Coulomb friction, Newton's restitution along n (``e_N``, the paper's epsilon) and t (``e_T``, 0 in the paper)."""

    friction_mu: float
    restitution_e_n: float
    restitution_e_t: float = 0.0
    gravity: float = GRAVITY

    def __post_init__(self) -> None:
        if not 0.0 <= self.friction_mu < np.inf:
            raise ContactIdError(f"friction_mu is {self.friction_mu:g}", "It must be 0 or more")
        if not np.isfinite(self.gravity):
            raise ContactIdError(f"gravity is {self.gravity:g} m/s2", "Give a finite number")
        for name in ("restitution_e_n", "restitution_e_t"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ContactIdError(f"{name} is {getattr(self, name):g}", "It must lie between 0 and 1")


@dataclass(frozen=True)
class PlanarMotion:
    """A simulated motion; row k of ``impulse_n`` and ``impulse_t`` belongs to the step that led to state k.

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
        A start inside the ground, a time step that isn't positive, a state that isn't finite, a step without solution.
    """
    if not 0.0 < time_step < np.inf:
        raise ContactIdError(f"the time step is {time_step:g} s", "It must be greater than 0")
    if steps < 0:
        raise ContactIdError(f"the number of steps is {steps}", "It must be 0 or more")
    if len(position) != 3 or len(velocity) != 3:
        raise ContactIdError("a start state isn't six finite numbers", "Give x, y, theta and their rates")
    state = np.array([*position, *velocity], dtype=float)
    if not np.isfinite(state).all():
        raise ContactIdError("a start state isn't six finite numbers", "Give x, y, theta and their rates")
    refuse_start_inside(body.shape, ground, state[:3])
    # the Snakefile checks scenes by this module, and needs no compiler for that
    from contactid.planar.simulate.kernel import EllipseArrays, LawValues, run_ellipse
    from contactid.planar.simulate.polygon import run_polygon

    n_contacts = body.shape.n_contacts
    q, v = np.zeros((steps + 1, 3)), np.zeros((steps + 1, 3))
    q[0], v[0] = state[:3], state[3:]
    values = LawValues(law.friction_mu, law.restitution_e_n, law.restitution_e_t, law.gravity)
    if isinstance(body.shape, Ellipse):
        gap, impulse = np.zeros(steps + 1), np.zeros((steps + 1, 2))
        arrays = EllipseArrays(body.shape.a, body.shape.b, body.mass, body.inertia, ground.slope, ground.x0, ground.y0)
        run_ellipse(arrays, values, time_step, q, v, impulse, gap)
        gaps, impulse_n, impulse_t = gap[:, None], impulse[:, :1], impulse[:, 1:]
    else:
        gaps = np.zeros((steps + 1, n_contacts))
        impulse_n, impulse_t = np.zeros((steps + 1, n_contacts)), np.zeros((steps + 1, n_contacts))
        run_polygon(body.shape, body.mass, body.inertia, ground, values, time_step, q, v, impulse_n, impulse_t, gaps)
    if not np.isfinite(v[-1]).all():
        first = int(np.argmin(np.isfinite(v).all(axis=1)))
        raise ContactIdError(f"step {first} has no contact impulse", "Try a smaller time step or less friction")
    return PlanarMotion(time_step * np.arange(steps + 1), q, v, impulse_n, impulse_t, gaps)


def refuse_start_inside(shape: Shape, ground: Ground, q: np.ndarray, tolerance: float = 1e-9) -> None:
    """Raise :class:`ContactIdError` where a body at q (3,) reaches into the ground by more than a tolerance, m."""
    depth = -float(contacts(shape, ground, q).gap.min())
    if depth > tolerance:
        raise ContactIdError(
            f"the body starts {depth:.3g} m inside the ground", f"Raise it by {depth:.3g} m along the ground's normal"
        )

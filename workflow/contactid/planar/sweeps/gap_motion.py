"""A whole motion by impulse-gap complementarity (section 4), of a body with one potential contact.

A step has one unknown, the normal impulse that closes the gap at its end, so that its root is found
without a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq

from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, PlanarMotion, first_states
from contactid.planar.simulate.geometry import Ground, contacts
from contactid.planar.simulate.scenes import Scene

_EXACT = 1e-12  # of the impulse that stops the body and its weight


def gap_motion(scene: Scene, law: PlanarLaw, h: float) -> PlanarMotion:
    """A scene's motion with time step h (s); the law's e_N has no part in it."""
    body, ground, steps = scene.body, scene.ground, round(scene.duration / h)
    q, v = first_states(body.shape, ground, scene.position, scene.velocity, h, steps, fewest=1)
    impulse_n, impulse_t = np.zeros((2, steps + 1, 1))
    step = _GapStep(body, ground, law, h)
    for k in range(steps):
        v[k + 1], impulse_n[k + 1], impulse_t[k + 1] = step.after(q[k], v[k])
        q[k + 1] = q[k] + h * v[k + 1]
    gap = contacts(body.shape, ground, q).gap
    return PlanarMotion(h * np.arange(steps + 1), q, v, impulse_n, impulse_t, gap)


@dataclass(frozen=True)
class _GapStep:
    """Eqs. 16 to 18 over a step h (s); ``0 <= c_n perp g_n(q^(k+1)) >= 0`` replaces eq. 19."""

    body: PlanarBody
    ground: Ground
    law: PlanarLaw
    h: float

    @cached_property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """(2,) normal and tangent of the ground."""
        return self.ground.normal, self.ground.tangent

    def arm(self, q: np.ndarray) -> tuple[float, float]:
        """(r_t, r_n) of the contact, m."""
        phi = q[2] - self.ground.slope
        return self.body.shape.arms(np.sin(phi), np.cos(phi))[0]

    def gap(self, q: np.ndarray) -> float:
        """g_n at q (3,), m."""
        return float(self.axes[0] @ (q[:2] - self.ground.origin)) + self.arm(q)[1]

    def after(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Velocity (3,) after the step from q, v (3,), and the impulses c_n and c_t, N s."""
        free = v - np.array([0.0, self.h * self.law.gravity, 0.0])
        # without an impulse the gap stays open
        if self.gap(q + self.h * free) >= 0.0:
            return free, 0.0, 0.0
        inverse, mu = 1.0 / self.body.mass_matrix, self.law.friction_mu
        r_t, r_n = self.arm(q)
        normal, tangent = np.array([*self.axes[0], r_t]), np.array([*self.axes[1], -r_n])
        # u_t without friction is sliding + coupling c_n
        sliding = tangent @ free
        coupling, mobility = (normal * inverse) @ tangent, (tangent * inverse) @ tangent

        def friction(c_n: float) -> float:
            """c_t stops the contact point, or is at the edge of the cone."""
            return float(np.clip(-(sliding + coupling * c_n) / mobility, -mu * c_n, mu * c_n))

        def pushed(c_n: float) -> np.ndarray:
            return np.asarray(free + inverse * (normal * c_n + tangent * friction(c_n)))

        def gap_at_the_end(c_n: float) -> float:
            return self.gap(q + self.h * pushed(c_n))

        # what stops the body and carries it, doubled until it opens the gap
        most = unit = self.body.mass * (float(np.abs(normal @ free)) + self.h * self.law.gravity)
        while gap_at_the_end(most) <= 0.0:
            most *= 2.0
        c_n = float(brentq(gap_at_the_end, 0.0, most, xtol=_EXACT * unit))
        return pushed(c_n), c_n, friction(c_n)

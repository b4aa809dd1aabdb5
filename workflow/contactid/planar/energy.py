"""Where a simulated body's energy goes: friction, restitution, and the scheme itself (planar paper, sections 4.3, 4.4).

From state k to k + 1, with ``u = [N T]^T v^k``, ``u^+ = [N T]^T v^(k+1)`` (N and T at q^k) and impulses ``c``, the
scheme of eqs. 16 and 17 changes the kinetic and potential energy by exactly

``dE = c_n (u_n + u_n^+)/2 + c_t (u_t + u_t^+)/2 - (h/2) m g . (v^(k+1) - v^k)``.

The first term is lost in restitution, the second in friction. The third is the scheme's: it uses the new velocity for a
whole step. It telescopes to ``-(h/2) m g . (v^k - v^0)``, so it never accumulates: the energy with the potential taken
half a step back, ``E* = T + V(q^k - h v^k / 2)``, changes by the impulses' work alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.planar.simulate.bodies import PlanarBody, PlanarMotion
from contactid.planar.simulate.geometry import Ground, contacts

_AT_REST = 1e-4  # share of the potential energy below which a body counts as not having moved


@dataclass(frozen=True)
class EnergyBalance:
    """Energies and cumulative losses at every state, J, all (n + 1,); losses are positive where energy leaves.

    Attributes
    ----------
    kinetic, potential : potential is 0 where the centre of mass is at y = 0
    restitution : lost by the normal impulses so far
    friction : lost by the tangential impulses so far; negative steps are gains, which Newton's law allows
    scheme : lost by the scheme so far, bounded by its velocity change
    """

    kinetic: np.ndarray
    potential: np.ndarray
    restitution: np.ndarray
    friction: np.ndarray
    scheme: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """(n + 1,) kinetic and potential."""
        return self.kinetic + self.potential

    @property
    def staggered(self) -> np.ndarray:
        """(n + 1,) ``E*``, which contact impulses alone can change."""
        return self.total + self.scheme

    @property
    def closure(self) -> float:
        """Largest ``|E + losses - E_0|`` over the largest kinetic energy or change of potential.

        A body at rest has neither; the potential energy itself, of which rounding takes its share, is then the measure.
        """
        left = self.total + self.restitution + self.friction + self.scheme - self.total[0]
        moved = max(float(self.kinetic.max()), float(np.ptp(self.potential)))
        scale = max(moved, _AT_REST * float(np.abs(self.potential).max()), np.finfo(float).tiny)
        return float(np.abs(left).max()) / scale


def energy_balance(body: PlanarBody, ground: Ground, motion: PlanarMotion, gravity: float) -> EnergyBalance:
    """The balance of a simulated motion, from its states and impulses alone."""
    v = motion.velocity
    at = contacts(body.shape, ground, motion.position[:-1])
    mean = 0.5 * (v[:-1] + v[1:])
    work_n = (motion.impulse_n[1:] * np.einsum("kji,ki->kj", at.normal, mean)).sum(axis=1)
    work_t = (motion.impulse_t[1:] * np.einsum("kji,ki->kj", at.tangent, mean)).sum(axis=1)
    h = float(motion.time[1] - motion.time[0]) if len(motion.time) > 1 else 0.0

    def so_far(lost: np.ndarray) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum(lost)])

    return EnergyBalance(
        kinetic=0.5 * (v * v) @ body.mass_matrix,
        potential=body.mass * gravity * motion.position[:, 1],
        restitution=so_far(-work_n),
        friction=so_far(-work_t),
        scheme=-0.5 * h * body.mass * gravity * (v[:, 1] - v[0, 1]),
    )

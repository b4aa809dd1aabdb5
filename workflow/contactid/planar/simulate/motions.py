"""A scene's simulated motions as one dataset, with their energy balances.

============== ======================== ====== ==========================================================
variable       dimensions               unit   meaning
============== ======================== ====== ==========================================================
time           state                    s      since the start
position       run, state, axis         m, rad q = (x, y, theta)
velocity       run, state, axis         m/s    v, its last entry in rad/s
impulse_n      run, state, contact      N s    normal impulse of the step that led to the state
impulse_t      run, state, contact      N s    tangential impulse, along t
gap            run, state, contact      m
kinetic        run, state               J
potential      run, state               J      0 where the centre of mass is at y = 0
restitution    run, state               J      lost in restitution so far
friction       run, state               J      lost in friction so far
scheme         run, state               J      lost by the scheme so far (below)
closure        run                      1      largest relative gap of the balance
friction_mu    run                      1
restitution_e_n run                     1
============== ======================== ====== ==========================================================

Attributes: ``scene``, ``time_step`` (s), ``gravity`` (m/s2).

Where the energy goes (sections 4.3 and 4.4): friction, restitution, and the scheme itself.

From state k to k + 1, with ``u = [N T]^T v^k``, ``u^+ = [N T]^T v^(k+1)`` (N and T at q^k) and
impulses ``c``, the scheme of eqs. 16 and 17 changes the kinetic and potential energy by exactly

``dE = c_n (u_n + u_n^+)/2 + c_t (u_t + u_t^+)/2 - (h/2) m g . (v^(k+1) - v^k)``.

The first term is lost in restitution, the second in friction. The third is the scheme's: it uses
the new velocity for a whole step. It telescopes to ``-(h/2) m g . (v^k - v^0)``, so it never
accumulates: the energy with the potential taken half a step back, ``E* = T + V(q^k - h v^k / 2)``,
changes by the impulses' work alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from contactid.planar.simulate.bodies import PlanarBody, PlanarMotion
from contactid.planar.simulate.geometry import Ground, contacts
from contactid.planar.simulate.scenes import Scene, scene_of
from contactid.sources.motion import write_dataset

_AT_REST = 1e-4  # share of the potential energy below which a body counts as not having moved
_OF_MOTIONS = {
    "position": ("axis", "m, m, rad"),
    "velocity": ("axis", "m/s, m/s, rad/s"),
    "impulse_n": ("contact", "N s"),
    "impulse_t": ("contact", "N s"),
    "gap": ("contact", "m"),
}
_ENERGIES = "kinetic", "potential", "restitution", "friction", "scheme"


@dataclass(frozen=True)
class EnergyBalance:
    """Energies and cumulative losses at every state, J, all (n + 1,); losses are positive where
    energy leaves.

    Attributes
    ----------
    kinetic, potential : potential is 0 where the centre of mass is at y = 0
    restitution : lost by the normal impulses so far
    friction : lost by the tangential impulses so far; negative steps are gains, which Newton's law
        allows
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
    def closure(self) -> float:
        """Largest ``|E + losses - E_0|`` over the largest kinetic energy or change of potential.

        A body at rest has neither; the potential energy itself, of which rounding takes its share,
        is then the measure.
        """
        unclosed = self.total + self.restitution + self.friction + self.scheme - self.total[0]
        moved = max(float(self.kinetic.max()), float(np.ptp(self.potential)))
        scale = max(moved, _AT_REST * float(np.abs(self.potential).max()), np.finfo(float).tiny)
        return float(np.abs(unclosed).max()) / scale


def energy_balance(
    body: PlanarBody, ground: Ground, motion: PlanarMotion, gravity: float
) -> EnergyBalance:
    """The balance of a simulated motion, from its states and impulses alone."""
    v = motion.velocity
    at = contacts(body.shape, ground, motion.position[:-1])
    # (u + u^+) / 2 follows with N and T at q^k
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
        # the telescoped sum, with g along -y
        scheme=-0.5 * h * body.mass * gravity * (v[:, 1] - v[0, 1]),
    )


def simulate_scene(scene: Scene) -> xr.Dataset:
    """Simulate a scene under all its laws; variables as in the module's table."""
    motions = [scene.run(law) for law in scene.laws]
    balances = [
        energy_balance(scene.body, scene.ground, motion, law.gravity)
        for motion, law in zip(motions, scene.laws, strict=True)
    ]
    return xr.Dataset(
        {
            "time": ("state", motions[0].time, {"units": "s"}),
            **{
                name: (
                    ("run", "state", axis),
                    np.stack([getattr(motion, name) for motion in motions]),
                    {"units": unit},
                )
                for name, (axis, unit) in _OF_MOTIONS.items()
            },
            **{
                name: (
                    ("run", "state"),
                    np.stack([getattr(balance, name) for balance in balances]),
                    {"units": "J"},
                )
                for name in _ENERGIES
            },
            "closure": ("run", [balance.closure for balance in balances], {"units": "1"}),
            "friction_mu": ("run", [law.friction_mu for law in scene.laws], {"units": "1"}),
            "restitution_e_n": ("run", [law.restitution_e_n for law in scene.laws], {"units": "1"}),
        },
        attrs={"scene": scene.name, "time_step": scene.time_step, "gravity": scene.laws[0].gravity},
    )


def write_scenes(block: Mapping[str, Any], motions: Sequence[str]) -> None:
    """Simulate every scene of the study's block of the configuration, in its order, and write each."""
    for name, file in zip(block["scenes"], motions, strict=True):
        write_dataset(simulate_scene(scene_of(block, name)), file)

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
scheme         run, state               J      lost by the scheme so far (contactid.planar.energy)
closure        run                      1      largest relative gap of the balance
friction_mu    run                      1
restitution_e_n run                     1
============== ======================== ====== ==========================================================

Attributes: ``scene``, ``time_step`` (s), ``gravity`` (m/s2).
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from contactid.planar.energy import energy_balance
from contactid.planar.scenes import Scene

_UNITS = {
    "time": "s", "position": "m, m, rad", "velocity": "m/s, m/s, rad/s", "impulse_n": "N s", "impulse_t": "N s",
    "gap": "m", "kinetic": "J", "potential": "J", "restitution": "J", "friction": "J", "scheme": "J", "closure": "1",
    "friction_mu": "1", "restitution_e_n": "1",
}  # fmt: skip


def simulate_scene(scene: Scene) -> xr.Dataset:
    """Simulate a scene under all its laws; variables as in the module's table."""
    motions = [scene.run(law) for law in scene.laws]
    balances = [
        energy_balance(scene.body, scene.ground, motion, law.gravity)
        for motion, law in zip(motions, scene.laws, strict=True)
    ]
    by_state = {
        name: (("run", "state", axis), np.stack([getattr(motion, name) for motion in motions]))
        for name, axis in (
            ("position", "axis"), ("velocity", "axis"), ("impulse_n", "contact"), ("impulse_t", "contact"),
            ("gap", "contact"),
        )
    }  # fmt: skip
    energies = {
        name: (("run", "state"), np.stack([getattr(balance, name) for balance in balances]))
        for name in ("kinetic", "potential", "restitution", "friction", "scheme")
    }
    dataset = xr.Dataset(
        {
            "time": ("state", motions[0].time),
            **by_state,
            **energies,
            "closure": ("run", [balance.closure for balance in balances]),
            "friction_mu": ("run", [law.friction_mu for law in scene.laws]),
            "restitution_e_n": ("run", [law.restitution_e_n for law in scene.laws]),
        },
        attrs={"scene": scene.name, "time_step": scene.time_step, "gravity": scene.laws[0].gravity},
    )
    for name, unit in _UNITS.items():
        dataset[name].attrs["units"] = unit
    return dataset

"""MuJoCo as a peer.

Parameters, named as in MuJoCo's documentation: ``friction`` (sliding; of a pair of geoms the larger
counts, so both get it) and ``solref`` of the contact as its two numbers ``timeconst`` (s) and
``dampratio``; ``solref`` of a pair is their mean, so both geoms get it. ``refsafe`` is switched
off, because it would lengthen time constants below two steps.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from contactid.tossing.peers.simulator import PrincipalBody, matrices_of

_DIVERGED = tuple(
    int(kind)
    for kind in (
        mujoco.mjtWarning.mjWARN_BADQPOS,
        mujoco.mjtWarning.mjWARN_BADQVEL,
        mujoco.mjtWarning.mjWARN_BADQACC,
    )
)


class MuJoCo:
    """A free box over a plane; see :class:`contactid.tossing.peers.simulator.Simulator`."""

    name = "MuJoCo"
    version = str(mujoco.__version__)
    parameters: tuple[str, ...] = ("friction", "timeconst", "dampratio")

    def __init__(
        self, body: PrincipalBody, gravity: np.ndarray, step: float, parameters: Mapping[str, float]
    ) -> None:
        self.seconds = 0.0
        self._model = _model(body, gravity, step)
        # both geoms, see the module
        self._model.geom_friction[:, 0] = parameters["friction"]
        self._model.geom_solref[:] = (parameters["timeconst"], parameters["dampratio"])
        self._data = mujoco.MjData(self._model)
        self._state = np.zeros(
            mujoco.mj_stateSize(self._model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        )

    def simulate(
        self, start: np.ndarray, n_samples: int, substeps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Poses of P, (n_samples - 1, 3) and (n_samples - 1, 4), by the library's own loop."""
        mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:] = start[:7]
        self._data.qvel[:3] = start[7:10]
        # a free joint's spin is given in the body
        self._data.qvel[3:] = matrices_of(start[3:7]).T @ start[10:13]
        mujoco.mj_getState(
            self._model, self._data, self._state, mujoco.mjtState.mjSTATE_FULLPHYSICS
        )
        begin = time.process_time()
        states, _ = rollout.rollout(
            self._model, self._data, self._state[None], nstep=(n_samples - 1) * substeps
        )
        self.seconds += time.process_time() - begin
        # the loop then stops and repeats its last state
        if any(self._data.warning[kind].number for kind in _DIVERGED):
            raise RuntimeError("the motion diverged")
        poses = states[0, substeps - 1 :: substeps, 1:8]  # a state's first number is the time
        return poses[:, :3], poses[:, 3:]


def _text(values: Any) -> str:
    return " ".join(f"{value:.17g}" for value in values)


def _model(body: PrincipalBody, gravity: np.ndarray, step: float) -> Any:
    return mujoco.MjModel.from_xml_string(f"""
    <mujoco>
      <option timestep="{step:.17g}" gravity="{_text(gravity)}" cone="elliptic" integrator="implicitfast"
              solver="Newton" tolerance="1e-10" iterations="50">
        <flag refsafe="disable" autoreset="disable"/>
      </option>
      <worldbody>
        <geom type="plane" size="0 0 1"/>
        <body>
          <freejoint/>
          <inertial pos="0 0 0" mass="{body.mass:.17g}" diaginertia="{_text(body.moments)}"/>
          <geom type="box" size="{_text(body.half_extents)}" pos="{_text(body.box_position)}"
                quat="{_text(body.box_orientation)}" condim="3"/>
        </body>
      </worldbody>
    </mujoco>""")

"""MuJoCo as a peer: the same tosses, the same loss, its own contact model.

Parameters are named as in MuJoCo's documentation: ``friction`` (sliding) and ``solref`` (time constant in s, damping
ratio) of the contact. ``refsafe`` is switched off, because it would lengthen time constants below two steps. Run in its
own environment:  ``python -m contactid.peers.mujoco problem.npz request.json answer.json``, where the request is
``{"substeps": 4, "pairs": [[friction, timeconst, dampratio], ...], "repeat": 1}``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from contactid.peers.exchange import Problem, trajectory_errors


def build_model(problem: Problem, substeps: int) -> Any:
    """A free box over a plane; the body frame is B, its inertial frame sits at the centre of mass."""
    half = 0.5 * np.ptp(problem.vertices, axis=0)
    middle = 0.5 * (problem.vertices.max(axis=0) + problem.vertices.min(axis=0))
    inertia = problem.inertia
    full = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]

    def text(values: Any) -> str:
        return " ".join(f"{value:.12g}" for value in values)

    return mujoco.MjModel.from_xml_string(f"""
    <mujoco>
      <option timestep="{problem.time_step / substeps:.12g}" gravity="{text(problem.gravity)}" cone="elliptic"
              integrator="implicitfast" solver="Newton" tolerance="1e-10" iterations="50">
        <flag refsafe="disable"/>
      </option>
      <worldbody>
        <geom name="plane" type="plane" size="0 0 1"/>
        <body name="box">
          <freejoint/>
          <inertial pos="{text(problem.center_of_mass)}" mass="{problem.mass:.12g}" fullinertia="{text(full)}"/>
          <geom name="box" type="box" size="{text(half)}" pos="{text(middle)}" condim="3"/>
        </body>
      </worldbody>
    </mujoco>""")


def initial_states(problem: Problem, model: Any) -> np.ndarray:
    """Full-physics states (t, n): qpos is B's pose; qvel is B's velocity in the world and its spin in B."""
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states = np.zeros((problem.n_tosses, size))
    data = mujoco.MjData(model)
    for toss, start in enumerate(problem.starts):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = start[:7]
        matrix = np.empty(9)
        mujoco.mju_quat2Mat(matrix, start[3:7])
        data.qvel[:3] = start[7:10]
        data.qvel[3:] = matrix.reshape(3, 3).T @ start[10:13]
        mujoco.mj_getState(model, data, states[toss], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    return states


def run(problem: Problem, request: dict[str, Any]) -> dict[str, Any]:
    """Simulate every toss with every parameter set; errors per toss, and MuJoCo's own rollout's seconds per set."""
    substeps = int(request["substeps"])
    model = build_model(problem, substeps)
    states = initial_states(problem, model)
    data = mujoco.MjData(model)
    sizes = np.diff(problem.rows)
    seconds: list[float] = []
    steps = 0
    position_error, rotation_error = [], []
    for friction, time_constant, damping_ratio in request["pairs"]:
        model.geom_friction[:, 0] = friction
        model.geom_solref[:] = (time_constant, damping_ratio)
        errors = []
        spent = 0.0
        for toss in range(problem.n_tosses):
            count = (int(sizes[toss]) - 1) * substeps
            begin = time.perf_counter()
            trajectory, _ = rollout.rollout(model, data, states[toss : toss + 1], nstep=count)
            spent += time.perf_counter() - begin
            steps += count
            if request.get("errors", True):
                poses = trajectory[0, substeps - 1 :: substeps, 1:8]
                poses = np.vstack([problem.starts[toss, :7], poses])
                errors.append(trajectory_errors(problem, toss, poses[:, :3], poses[:, 3:]))
        seconds.append(spent)
        if errors:
            position_error.append([error[0] for error in errors])
            rotation_error.append([error[1] for error in errors])
    return {
        "simulator": f"MuJoCo {mujoco.__version__}",
        "seconds": seconds,
        "steps": steps,
        "position_error": position_error,
        "rotation_error": rotation_error,
    }


def main(problem_path: str, request_path: str, answer_path: str) -> None:
    """Read a problem and a request, write the answer."""
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    Path(answer_path).write_text(json.dumps(run(Problem.load(problem_path), request)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:4])

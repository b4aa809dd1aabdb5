"""The program that runs in another simulator's environment and simulates what it is asked for.

``python -m contactid.tossing.peers.run <simulator> problem.npz`` answers requests until its input
ends: each line it reads is two paths, request and answer, with a tab between, and each answer is
reported by a line ``done``, or by ``failed <reason>``.

Two things are done here alike for all simulators:

* A belt that moves in its own plane at constant velocity is at rest in another inertial frame, so
  starts and poses are taken into that frame and back. No simulator needs a moving surface.
* All of them take semi-implicit Euler steps of length h, x' = x + h (v + h g): with v taken at the
  start, a flight falls g h t / 2 too far. With v taken half a step earlier, v - g h / 2, every
  sample lies on the exact parabola.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.tossing.peers.exchange import Answer, Problem, Request, measured
from contactid.tossing.peers.simulator import PrincipalBody, Simulator, principal_body

# a simulator's package is imported with its class only
_CLASSES = {
    "mujoco": "contactid.tossing.peers.mujoco:MuJoCo",
    "drake": "contactid.tossing.peers.drake:Drake",
    "pybullet": "contactid.tossing.peers.pybullet:PyBullet",
}


def starts_at_rest_belt(problem: Problem, body: PrincipalBody, step: float) -> np.ndarray:
    """Starts (t, 13) of P in the belt's frame, with the velocity of half a step earlier."""
    belt = np.asarray(problem.surface_velocity, dtype=float)
    if np.abs(belt[:, 2]).max(initial=0.0) > 0.0:
        raise ContactIdError(
            "a surface moves along its own normal", "Give surface velocities within the surface"
        )
    starts = body.starts(problem.starts)
    # as seen from the belt, and half a step earlier: see the module
    starts[:, 7:10] -= belt + 0.5 * step * np.asarray(problem.gravity, dtype=float)
    return starts


def answer(kind: type[Simulator], problem: Problem, request: Request) -> Answer:
    """Simulate every toss with every parameter set."""
    names = tuple(str(name) for name in request.names)
    if sorted(names) != sorted(kind.parameters):
        raise ContactIdError(
            f"{kind.name} got the parameters {', '.join(names)}",
            f"It takes {', '.join(kind.parameters)}",
        )
    step = problem.time_step / request.substeps
    body = principal_body(problem)
    starts = starts_at_rest_belt(problem, body, step)
    gravity = np.asarray(problem.gravity, dtype=float)

    def run(parameters: dict[str, float]) -> tuple[np.ndarray, np.ndarray, str, float]:
        simulator = kind(body, gravity, step, parameters)
        position, orientation = (
            np.full_like(problem.position, np.nan),
            np.full_like(problem.orientation, np.nan),
        )
        message = ""
        for toss in range(problem.n_tosses):
            rows = problem.samples(toss)
            n = rows.stop - rows.start
            try:
                simulated = simulator.simulate(starts[toss], n, int(request.substeps))
            except (
                RuntimeError
            ) as error:  # what these libraries raise where their own solver gives up
                message = message or f"{problem.names[toss]}: {' '.join(str(error).split())}"
                continue
            position[rows], orientation[rows] = _measured_frame(problem, body, toss, *simulated)
            if not np.isfinite(position[rows]).all():
                message = message or f"{problem.names[toss]}: the motion is not finite"
        return position, orientation, message, simulator.seconds

    runs = (run(request.parameters(row)) for row in range(len(request.values)))
    return measured(problem, request, f"{kind.name} {kind.version}", runs)


def _measured_frame(
    problem: Problem, body: PrincipalBody, toss: int, position: np.ndarray, orientation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Poses of P in the belt's frame as poses of B in C, with the start as first row."""
    origin, turned = body.poses_of_b(position, orientation)
    times = problem.time_step * np.arange(1, len(position) + 1)
    # and back: the belt has moved on since the start
    origin = origin + times[:, None] * problem.surface_velocity[toss]
    start = problem.starts[toss]
    return np.vstack([start[:3], origin]), np.vstack([start[3:7], turned])


def serve(name: str, problem: Problem) -> None:
    """Answer requests from standard input until it ends."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        # what a simulator prints, even while it is imported, must not be taken for a reply
        os.dup2(2, 1)
        module, _, of_module = _CLASSES[name].partition(":")
        kind: Any = getattr(importlib.import_module(module), of_module)
        print("ready", file=replies, flush=True)
        for line in sys.stdin:
            request_path, answer_path = line.rstrip("\n").split("\t")
            try:
                answer(kind, problem, Request.load(request_path)).save(answer_path)
            except ContactIdError as error:
                print(f"failed {error}", file=replies, flush=True)
            else:
                print("done", file=replies, flush=True)


def main(arguments: list[str]) -> None:
    """Run with the command line's arguments."""
    name, problem = arguments
    serve(name, Problem.load(problem))


if __name__ == "__main__":
    main(sys.argv[1:])

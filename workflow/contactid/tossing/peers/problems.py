"""A tossing problem in the form other simulators take."""

from __future__ import annotations

import numpy as np

from contactid.tossing.peers.exchange import Problem as PeerProblem
from contactid.tossing.variants import Problem


def peer_problem(problem: Problem, first: int | None = None) -> PeerProblem:
    """The problem, or its first tosses alone."""
    tosses = problem.measured[:first]
    starts = [
        np.concatenate(
            [toss.start.position, toss.start.orientation, toss.start.linear_velocity, toss.start.angular_velocity]
        )
        for toss in tosses
    ]
    return PeerProblem(
        vertices=problem.body.vertices,
        center_of_mass=problem.body.center_of_mass,
        mass=problem.body.mass,
        inertia=problem.body.inertia,
        length=problem.length,
        gravity=np.array(problem.options.gravity),
        time_step=problem.options.time_step,
        rows=np.concatenate([[0], np.cumsum([len(toss.position) for toss in tosses])]).astype(int),
        position=np.concatenate([toss.position for toss in tosses]),
        orientation=np.concatenate([toss.orientation for toss in tosses]),
        starts=np.stack(starts),
        surface_velocity=np.stack([np.asarray(toss.surface_velocity, dtype=float) for toss in tosses]),
        names=np.array([toss.name for toss in tosses], dtype=str),
    )

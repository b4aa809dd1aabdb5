"""Small problems for the tests of the simulators: a cube of 0.1 m and its starts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from contactid.core import rotations
from contactid.tossing.peers.exchange import Problem

HALF, MASS, RATE, FRICTION = 0.05, 0.4, 240.0, 0.25
CUBE = np.eye(3) * MASS * (2 * HALF) ** 2 / 6.0
LOPSIDED = CUBE[0, 0] * np.array([[1.0, 0.1, 0.05], [0.1, 1.2, -0.1], [0.05, -0.1, 1.1]])
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
TURNED = tuple(rotations.exp(np.array([0.3, -0.2, 0.9])))
_DEFAULT = Path(__file__).parents[2] / "config/default.yaml"
BUDGET = yaml.safe_load(_DEFAULT.read_text(encoding="utf-8"))["tossing"]["benchmark"]


def problem(
    *starts,
    n=60,
    inertia=CUBE,
    center=(0.0, 0.0, 0.0),
    belt=(0.0, 0.0, 0.0),
    gravity=(0.0, 0.0, -9.81),
):
    corners = HALF * np.array(
        [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float
    )
    t = len(starts)
    return Problem(
        vertices=corners,
        center_of_mass=np.array(center),
        mass=MASS,
        inertia=inertia,
        length=2 * HALF,
        gravity=np.array(gravity),
        time_step=1.0 / RATE,
        rows=n * np.arange(t + 1),
        position=np.zeros((t * n, 3)),
        orientation=np.tile(UPRIGHT, (t * n, 1)),
        starts=np.array(starts, dtype=float),
        surface_velocity=np.tile(np.array(belt, dtype=float), (t, 1)),
        names=np.array([f"toss{index}" for index in range(t)]),
    )


def start(position, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), orientation=UPRIGHT):
    return np.concatenate([position, orientation, velocity, spin])

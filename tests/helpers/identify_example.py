"""The throws of ``examples/identify``: a rounded square that rolls over its corners, and one that
slides.

They are made by the twin of :mod:`rounded_twins`, whose time step and contact solver are its own,
and are as a camera sees them: the ground isn't at zero, the tracked point and axes are a little
off, poses are noisy, some frames are lost.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from contactid.core.atomic import write_text
from rounded_twins import Twin

RATIO, MU, RADIUS = 520e-6, 0.22, 3e-3  # J/m (m2), friction, corners' radius (m)
RATE, SECONDS = 240.0, 0.28
SIGMA = np.array([2e-4, 2e-4, 2e-3])
TURN, POINT, HEIGHT = (
    0.012,
    np.array([4e-4, -3e-4]),
    1e-3,
)  # of the tracked axes, rad and m; of the ground, m
STARTS = {
    "rolling": (0.0, 0.062, 0.5, 0.55, -0.7, -9.0),
    "sliding": (0.0, 0.062, 0.35, 1.9, -1.1, 2.0),
}
LOST = {"rolling": (17, 40), "sliding": (30, 31)}
_BODY = """\
# a square with rounded corners; its corner_radius is left to be found
shape: {polygon: [[-0.03, -0.03], [0.03, -0.03], [0.03, 0.03], [-0.03, 0.03]]}
mass: 0.05                                        # kg
noise: {position: 2.0e-4, orientation: 2.0e-3}    # m, rad
"""


def tracked(name: str) -> np.ndarray:
    """(n, 4) t, x, y, theta of a throw as measured, without its lost frames."""
    q = Twin(RADIUS, RATIO, MU, 0.35, STARTS[name]).poses(SECONDS, RATE)
    cos, sin = np.cos(q[:, 2]), np.sin(q[:, 2])
    shift = [
        POINT[0] * cos - POINT[1] * sin,
        POINT[0] * sin + POINT[1] * cos + HEIGHT,
        np.full(len(q), TURN),
    ]
    noise = np.random.default_rng([20, list(STARTS).index(name)]).normal(size=q.shape) * SIGMA
    table = np.column_stack([np.arange(len(q)) / RATE, q + np.column_stack(shift) + noise])
    return np.delete(table, LOST[name], axis=0)


def write_example(folder: Path) -> None:
    """Write the throws and the body's description."""
    for name in STARTS:
        rows = [",".join(f"{value:.6f}" for value in row) for row in tracked(name)]
        write_text(folder / f"{name}.csv", "\n".join(["t,x,y,theta", *rows]) + "\n")
    write_text(folder / "body.yaml", _BODY)

"""Planar throws of a square with known truth, as a camera sees them whose tracked point and axes
are off.
"""

from __future__ import annotations

import numpy as np

from contactid.planar.readers.csv_throws import read_own_throw
from contactid.planar.readers.throws import PlanarThrow, build_throws, square
from contactid.planar.simulate.geometry import Ground

SQUARE = square(0.06)
RATE = 250.0
RATIO = 500e-6
TURN, POINT = -0.036, np.array([3e-4, 4e-4])
GROUND = Ground(0.003, -0.4, 0.0015)
SIGMA = np.array([2e-5, 4e-5, 8e-4])


def tracked(position):
    """What a camera sees of a body whose tracked point and axes are off."""
    cos, sin = np.cos(position[:, 2]), np.sin(position[:, 2])
    x = position[:, 0] + POINT[0] * cos - POINT[1] * sin
    return np.column_stack(
        [x, position[:, 1] + POINT[0] * sin + POINT[1] * cos, position[:, 2] + TURN]
    )


def lying(side, x, tilt=0.0):
    """The square at rest on a side."""
    theta = side * np.pi / 2.0 + GROUND.slope + tilt
    foot = np.array([GROUND.x0, GROUND.y0]) + (x - GROUND.x0) * GROUND.tangent / GROUND.tangent[0]
    return np.array([*(foot + 0.03 * GROUND.normal), theta])


def throws_of(positions, shape=SQUARE):
    throws = [PlanarThrow(str(i), np.arange(len(q)) / RATE, q) for i, q in enumerate(positions)]
    return build_throws(
        throws, shape, object_name="demo", source="demo", licence="CC0", synthetic=True
    )


def resting(random, n=80, noise=0.0):
    """n throws that stand still, as tracked."""
    poses = [lying(i % 4, x) for i, x in enumerate(random.uniform(-0.6, -0.2, n))]
    return [tracked(np.tile(pose, (12, 1))) + noise * random.normal(size=(12, 3)) for pose in poses]


def flights(random, n, frames=40, noise=SIGMA, braking=0.0):
    """Throws from high up that never land: 9.81 m/s2 and a = -c v."""
    time = (np.arange(frames) / RATE)[:, None]
    for _ in range(n):
        start = np.array([0.0, 1.0, random.uniform(-3, 3)])
        v = np.array([random.uniform(-1, 1), random.uniform(-2.5, 2.0), random.uniform(-20, 20)])
        a = np.array([-braking * v[0], -9.81 - braking * v[1], 0.0])
        jerk = -braking * a
        yield (
            start
            + time * v
            + 0.5 * time**2 * a
            + time**3 / 6.0 * jerk
            + noise * random.normal(size=(frames, 3))
        )


def read_own_throws(path, shape, *, licence="unknown", inertia_ratio=None, object_name="own"):
    """A user's file, or every ``*.csv`` of a folder, as throws of one body."""
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    return build_throws(
        [read_own_throw(file) for file in files],
        shape,
        object_name=object_name,
        source=path.name,
        licence=licence,
        synthetic=False,
        inertia_ratio=inertia_ratio,
    )

"""The file through which a simulator in another environment gets tosses and hands back errors.

Only NumPy is imported here, because the other environment holds the other simulator and NumPy and nothing else.

A problem is an ``npz`` file: ``vertices`` (v, 3) m and ``center_of_mass`` (3,) m in B, ``mass`` kg, ``inertia`` (3, 3)
kg m2, ``length`` m, ``gravity`` (3,) m/s2, ``time_step`` s, ``rows`` (t + 1,) offsets of each toss's samples,
``position`` (n, 3) m and ``orientation`` (n, 4) of B in C, ``starts`` (t, 13): position, quaternion, velocity of B's
origin in C, angular velocity in C. Sample 0 of each toss is its start.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Tosses for another simulator; shapes and units as in the module's docstring."""

    vertices: np.ndarray
    center_of_mass: np.ndarray
    mass: float
    inertia: np.ndarray
    length: float
    gravity: np.ndarray
    time_step: float
    rows: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    starts: np.ndarray

    @property
    def n_tosses(self) -> int:
        """Number of tosses."""
        return len(self.rows) - 1

    @property
    def n_steps(self) -> int:
        """Samples to simulate, summed over tosses."""
        return int(self.rows[-1]) - self.n_tosses

    def save(self, path: str | Path) -> None:
        """Write the problem as ``npz``."""
        arrays: dict[str, Any] = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
        np.savez(path, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Problem:
        """Read what :meth:`save` wrote."""
        with np.load(path) as file:
            values = {field.name: file[field.name] for field in fields(cls)}
        scalars = {name: float(values[name]) for name in ("mass", "length", "time_step")}
        return cls(**{**values, **scalars})


def trajectory_errors(
    problem: Problem, toss: int, position: np.ndarray, orientation: np.ndarray
) -> tuple[float, float]:
    """Position error over length and rotation error (rad) of eq. 18 (tossing) for one simulated toss.

    ``position`` (n, 3) m and ``orientation`` (n, 4), real part first, include the start.
    """
    rows = slice(int(problem.rows[toss]), int(problem.rows[toss + 1]))
    distance = np.linalg.norm(problem.position[rows] - position, axis=1).mean() / problem.length
    measured = problem.orientation[rows]
    chord = np.minimum(np.linalg.norm(measured - orientation, axis=1), np.linalg.norm(measured + orientation, axis=1))
    return float(distance), float((4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))).mean())

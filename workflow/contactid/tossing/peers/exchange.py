"""The files through which a simulator in another environment gets tosses and hands back its
results.

Only NumPy is imported here, because the other environment holds the other simulator and NumPy and
nothing else. All three files are ``npz`` archives without pickled objects. An answer is gathered
parameter set by parameter set, keeping no more of the motions than was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

ERRORS, TRAJECTORY = "errors", "trajectory"


class _Archive:
    """A frozen dataclass of arrays, numbers and texts as one ``npz`` file."""

    def save(self, path: str | Path) -> None:
        """Write the fields."""
        arrays: dict[str, Any] = {
            field.name: np.asarray(getattr(self, field.name))
            for field in fields(self)  # type: ignore[arg-type]
        }
        np.savez(path, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; a file without one of the fields is a ``KeyError``."""
        with np.load(path, allow_pickle=False) as file:
            values = {field.name: file[field.name] for field in fields(cls)}  # type: ignore[arg-type]
        return cls(
            **{name: value if value.ndim else value.item() for name, value in values.items()}
        )


@dataclass(frozen=True)
class Problem(_Archive):
    """Tosses for a simulator: t tosses with n samples in all, sample 0 of each being its start."""

    vertices: np.ndarray  # (v, 3) m in B, the corners of a box
    center_of_mass: np.ndarray  # (3,) m in B
    mass: float  # kg
    inertia: np.ndarray  # (3, 3) kg m2 about the centre of mass, axes of B
    length: float  # l of eq. 18 (tossing), m
    gravity: np.ndarray  # (3,) m/s2 in C
    time_step: float  # s between samples
    rows: np.ndarray  # (t + 1,) offsets of each toss's samples
    # position, orientation: (n, 3) m and (n, 4), measured poses of B in C, quaternions real part
    # first
    position: np.ndarray
    orientation: np.ndarray
    # (t, 13) position, quaternion, velocity of B's origin in C, angular velocity in C
    starts: np.ndarray
    surface_velocity: np.ndarray  # (t, 3) m/s in C
    names: np.ndarray  # (t,) names of the recordings

    @property
    def n_tosses(self) -> int:
        """Number of tosses."""
        return len(self.rows) - 1

    @property
    def n_steps(self) -> int:
        """Samples to simulate, summed over tosses."""
        return int(self.rows[-1]) - self.n_tosses

    def samples(self, toss: int) -> slice:
        """Rows of one toss in the arrays of poses."""
        return slice(int(self.rows[toss]), int(self.rows[toss + 1]))

    def take(self, tosses: np.ndarray) -> Problem:
        """The same problem with these tosses (k,) alone, in this order."""
        chosen = [self.samples(int(toss)) for toss in tosses]
        sizes = [part.stop - part.start for part in chosen]
        return replace(
            self,
            rows=np.concatenate([[0], np.cumsum(sizes)]).astype(int),
            position=np.concatenate([self.position[part] for part in chosen]),
            orientation=np.concatenate([self.orientation[part] for part in chosen]),
            starts=self.starts[tosses],
            surface_velocity=self.surface_velocity[tosses],
            names=self.names[tosses],
        )


@dataclass(frozen=True)
class Request(_Archive):
    """What to simulate."""

    names: np.ndarray  # (p,) the parameters' names
    values: np.ndarray  # (k, p) one row per parameter set
    substeps: int  # simulation steps per sample
    want: str = ERRORS  # ``errors`` or ``trajectory`` (these and all poses)

    def parameters(self, row: int) -> dict[str, float]:
        """One parameter set by name."""
        return {
            str(name): float(value)
            for name, value in zip(self.names, self.values[row], strict=True)
        }


@dataclass(frozen=True)
class Answer(_Archive):
    """What came out of k parameter sets and t tosses with n samples in all.

    A simulation that threw or left the finite numbers is failed: its numbers are NaN, and nothing
    is left out.
    """

    simulator: str  # name and version
    # position_error, rotation_error: (k, t) the two terms of eq. 18 (tossing): over length, and rad
    position_error: np.ndarray
    rotation_error: np.ndarray
    failed: np.ndarray  # (k, t) bool
    message: np.ndarray  # (k,) the first failure's reason, empty where nothing failed
    seconds: np.ndarray  # (k,) CPU time spent in the simulator's own stepping
    steps: int  # simulation steps per parameter set
    # position, orientation: (k, n, 3) m and (k, n, 4); without rows unless asked for
    position: np.ndarray
    orientation: np.ndarray

    @property
    def loss(self) -> np.ndarray:
        """Eq. 18: (k, t)."""
        return self.position_error + self.rotation_error


def trajectory_errors(
    problem: Problem, toss: int, position: np.ndarray, orientation: np.ndarray
) -> tuple[float, float]:
    """Position error over length and rotation error (rad) of eq. 18 (tossing) for one simulated
    toss.

    ``position`` (n, 3) m and ``orientation`` (n, 4), real part first, include the start.
    """
    rows = problem.samples(toss)
    distance = np.linalg.norm(problem.position[rows] - position, axis=1).mean() / problem.length
    measured = problem.orientation[rows]
    # |log(R^-1 R~)| = 4 asin(|q - q~| / 2), of q~ and -q~ the nearer one, as our own sweep has it
    chord = np.minimum(
        np.linalg.norm(measured - orientation, axis=1),
        np.linalg.norm(measured + orientation, axis=1),
    )
    return float(distance), float((4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))).mean())


def measured(
    problem: Problem,
    request: Request,
    simulator: str,
    runs: Iterable[tuple[np.ndarray, np.ndarray, str, float]],
) -> Answer:
    """The simulated poses of each parameter set held against the measured ones.

    ``runs`` are of each parameter set the poses (n, 3) and (n, 4) of all tosses, NaN where one
    failed, the reason of the first failure, and the seconds spent.
    """
    n_tosses, n_samples = problem.n_tosses, len(problem.position)
    parts = [problem.samples(toss) for toss in range(n_tosses)]
    of_sets: list[np.ndarray] = []
    messages, seconds, poses = [], [], []
    for position, orientation, message, spent in runs:
        errors = np.array(
            [
                trajectory_errors(problem, toss, position[part], orientation[part])
                for toss, part in enumerate(parts)
            ]
        )
        errors[~np.isfinite(errors).all(axis=1)] = np.nan
        of_sets.append(errors)
        messages.append(message)
        seconds.append(spent)
        if request.want == TRAJECTORY:
            poses.append((position, orientation))
    every = np.array(of_sets).reshape(-1, n_tosses, 2)
    return Answer(
        simulator=simulator,
        position_error=every[:, :, 0],
        rotation_error=every[:, :, 1],
        failed=np.isnan(every).any(axis=2),
        message=np.array(messages, dtype=str),
        seconds=np.array(seconds, dtype=float),
        steps=problem.n_steps * int(request.substeps),
        position=np.array([pair[0] for pair in poses]).reshape(-1, n_samples, 3),
        orientation=np.array([pair[1] for pair in poses]).reshape(-1, n_samples, 4),
    )

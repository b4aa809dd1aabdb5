"""Gather an answer parameter set by parameter set, keeping no more of the motions than was asked for.

Only NumPy is imported: this runs in the other simulators' environments too.
"""

from __future__ import annotations

import numpy as np

from contactid.tossing.peers.exchange import REST, TRAJECTORY, Answer, Problem, Request, trajectory_errors


class Collector:
    """Measures the simulated poses of each parameter set against the measured ones."""

    def __init__(self, problem: Problem, request: Request) -> None:
        self._problem, self._request = problem, request
        self._errors: list[np.ndarray] = []
        self._messages: list[str] = []
        self._seconds: list[float] = []
        self._rests: list[tuple[np.ndarray, np.ndarray]] = []
        self._poses: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, position: np.ndarray, orientation: np.ndarray, message: str, seconds: float) -> None:
        """Take the poses (n, 3) and (n, 4) of all tosses at the next parameter set; NaN where a toss failed."""
        problem, want = self._problem, self._request.want
        parts = [problem.samples(toss) for toss in range(problem.n_tosses)]
        errors = np.array(
            [trajectory_errors(problem, toss, position[part], orientation[part]) for toss, part in enumerate(parts)]
        )
        errors[~np.isfinite(errors).all(axis=1)] = np.nan
        self._errors.append(errors)
        self._messages.append(message)
        self._seconds.append(seconds)
        if want in (REST, TRAJECTORY):
            last = np.asarray(problem.rows[1:]) - 1
            self._rests.append((position[last], orientation[last]))
        if want == TRAJECTORY:
            self._poses.append((position, orientation))

    def answer(self, simulator: str) -> Answer:
        """All of it; ``simulator`` is its name and version."""
        problem = self._problem
        errors = np.array(self._errors).reshape(-1, problem.n_tosses, 2)
        n_tosses, n_samples = problem.n_tosses, len(problem.position)
        return Answer(
            simulator=simulator,
            position_error=errors[:, :, 0],
            rotation_error=errors[:, :, 1],
            failed=np.isnan(errors).any(axis=2),
            message=np.array(self._messages, dtype=str),
            seconds=np.array(self._seconds, dtype=float),
            steps=problem.n_steps * int(self._request.substeps),
            rest_position=np.array([pair[0] for pair in self._rests]).reshape(-1, n_tosses, 3),
            rest_orientation=np.array([pair[1] for pair in self._rests]).reshape(-1, n_tosses, 4),
            position=np.array([pair[0] for pair in self._poses]).reshape(-1, n_samples, 3),
            orientation=np.array([pair[1] for pair in self._poses]).reshape(-1, n_samples, 4),
        )

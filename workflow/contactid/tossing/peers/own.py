"""This package's own simulator behind the same interface as the others."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

import numpy as np

from contactid.sources.motion import BodyProperties
from contactid.tossing.peers.catalogue import OWN
from contactid.tossing.peers.collect import Collector
from contactid.tossing.peers.exchange import ERRORS, Answer, Problem, Request
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from contactid.tossing.simulate.sweep import MeasuredToss, sweep


class OwnSession:
    """As :class:`contactid.tossing.peers.client.PeerSession`, in this very process, with the converged contact solver.

    A toss with a contact step that the solver did not solve counts as failed, as one with a number that is not finite.
    """

    def __init__(self, problem: Problem, name: str = OWN) -> None:
        self.problem, self.name = problem, name
        self._body = BodyProperties(problem.vertices, problem.mass, problem.inertia, problem.center_of_mass)
        self._tosses = [
            MeasuredToss(
                name=str(problem.names[toss]),
                start=State(start[0:3], start[3:7], start[7:10], start[10:13]),
                position=problem.position[problem.samples(toss)],
                orientation=problem.orientation[problem.samples(toss)],
                surface_velocity=problem.surface_velocity[toss],
            )
            for toss, start in enumerate(problem.starts)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is held open."""

    def ask(self, request: Request) -> Answer:
        """The answer to a request; parameters ``friction_mu``, ``restitution_e_n`` and maybe ``restitution_e_t``."""
        x, y, z = (float(value) for value in self.problem.gravity)
        options = SteppingOptions(self.problem.time_step, int(request.substeps), gravity=(x, y, z))
        return self._errors(request, options) if request.want == ERRORS else self._poses(request, options)

    def _errors(self, request: Request, options: SteppingOptions) -> Answer:
        laws = [_law(request, row) for row in range(len(request.values))]
        position = np.empty((len(laws), self.problem.n_tosses))
        rotation, unsolved, seconds = np.empty_like(position), np.empty_like(position), np.empty(len(laws))
        for e_t in sorted({law.restitution_e_t for law in laws}):  # sets that share it can share steps
            rows = [row for row, law in enumerate(laws) if law.restitution_e_t == e_t]
            mu = np.array([laws[row].friction_mu for row in rows])
            e_n = np.array([laws[row].restitution_e_n for row in rows])
            begin = time.perf_counter()
            result = sweep(self._body, self._tosses, mu, e_n, options, length=self.problem.length, restitution_e_t=e_t)
            seconds[rows] = (time.perf_counter() - begin) / len(rows)
            position[rows], rotation[rows] = result.position_error.T, result.rotation_error.T
            unsolved[rows] = result.failed_steps.T
        failed = (unsolved > 0) | ~np.isfinite(position + rotation)
        position[failed] = rotation[failed] = np.nan
        nothing = self.problem.n_tosses
        return Answer(
            simulator=self.name,
            position_error=position,
            rotation_error=rotation,
            failed=failed,
            message=np.array([_message(self.problem, row) for row in failed], dtype=str),
            seconds=seconds,
            steps=self.problem.n_steps * int(request.substeps),
            rest_position=np.empty((0, nothing, 3)),
            rest_orientation=np.empty((0, nothing, 4)),
            position=np.empty((0, len(self.problem.position), 3)),
            orientation=np.empty((0, len(self.problem.position), 4)),
        )

    def _poses(self, request: Request, options: SteppingOptions) -> Answer:
        collector = Collector(self.problem, request)
        for row in range(len(request.values)):
            law = _law(request, row)
            position = np.empty_like(self.problem.position)
            orientation = np.empty_like(self.problem.orientation)
            unsolved = np.zeros(self.problem.n_tosses, dtype=bool)
            begin = time.perf_counter()
            for index, toss in enumerate(self._tosses):
                rows = self.problem.samples(index)
                motion = simulate(self._body, toss.start, law, options, rows.stop - rows.start, toss.surface_velocity)
                unsolved[index] = bool((motion.iterations > options.max_iterations).any())
                position[rows] = np.nan if unsolved[index] else motion.position
                orientation[rows] = np.nan if unsolved[index] else motion.orientation
            seconds = time.perf_counter() - begin
            collector.add(position, orientation, _message(self.problem, unsolved), seconds)
        return collector.answer(self.name)


def _law(request: Request, row: int) -> ContactParameters:
    return ContactParameters(**request.parameters(row))


def _message(problem: Problem, failed: np.ndarray) -> str:
    names = problem.names[failed]
    return f"{names[0]}: a contact step was not solved" if len(names) else ""

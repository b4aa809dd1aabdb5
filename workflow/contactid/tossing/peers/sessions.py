"""A problem for a simulator, and sessions that ask one: another in its own environment, or this
package's own.

Each other simulator lives alone in a virtual environment: ``.venv-<name>`` beside the checkout
(``make peers``), or whatever the environment variable ``CONTACTID_<NAME>_PYTHON`` names.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import IO, Self
from zipfile import BadZipFile

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.peers.catalogue import OWN, OWN_INCREMENTAL, parameters_of
from contactid.tossing.peers.exchange import Answer, Problem, Request
from contactid.tossing.prepare.tosses import Problem as TossingProblem
from contactid.tossing.simulate.box import State, SteppingOptions
from contactid.tossing.simulate.sweep import MeasuredToss, sweep

# a reference, so that fingerprints know of the peers' code
_PROGRAM = "contactid.tossing.peers.run:main"
_WORKFLOW = Path(__file__).resolve().parents[3]
_REMEDY = "Run make peers"


def peer_python(name: str) -> Path:
    """The Python of a simulator's environment.

    Raises :class:`ContactIdError` where the simulator is unknown or its environment is missing.
    """
    parameters_of(name)
    variable = f"CONTACTID_{name.upper()}_PYTHON"
    named = os.environ.get(variable)
    python = Path(named) if named else _WORKFLOW.parent / f".venv-{name}" / "bin" / "python"
    if not python.is_file():
        raise ContactIdError(
            f"{python}, the Python that {name} is in, does not exist",
            f"{_REMEDY} or set {variable}",
        )
    return python


def peer_environment() -> dict[str, str]:
    """Environment variables of a process in another simulator's environment."""
    return {**os.environ, "PYTHONPATH": str(_WORKFLOW), "OMP_NUM_THREADS": "1"}


class PeerSession:
    """One simulator with one problem, answering requests until the session is closed.

    ``python`` is of the simulator's environment, found by :func:`peer_python` by default; an answer
    may take as long as the ``timeout`` (s).
    """

    def __init__(
        self, name: str, problem: Problem, python: str | Path | None = None, timeout: float = 3600.0
    ) -> None:
        self.name, self.problem, self._timeout = name, problem, timeout
        self._python = str(Path(python or peer_python(name)).absolute())
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="contactid-")
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
            self._errors.close()
        self._folder.cleanup()

    def _start(self) -> None:
        self._scratch = Path(self._folder.name)
        self.problem.save(self._scratch / "problem.npz")
        self._errors: IO[str] = (self._scratch / "errors.txt").open(
            "w+", encoding="utf-8", errors="replace"
        )
        command = [
            self._python,
            "-m",
            _PROGRAM.partition(":")[0],
            self.name,
            str(self._scratch / "problem.npz"),
        ]
        try:
            self._process = subprocess.Popen(
                command,
                cwd=self._scratch,  # MuJoCo leaves a log where it runs
                env=peer_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
            )
        except OSError as error:
            self._errors.close()
            raise ContactIdError(
                f"{self._python} can't be run ({error.strerror or error})", _REMEDY
            ) from error
        if self._reply() != "ready":
            raise self._crash("did not start")

    def ask(self, request: Request) -> Answer:
        """The answer to a request.

        Raises :class:`ContactIdError` where the simulator refuses, crashes, takes too long, or
        answers something else than was asked.
        """
        assert self._process is not None and self._process.stdin is not None, (
            "the session is not open"
        )
        request_path, answer_path = self._scratch / "request.npz", self._scratch / "answer.npz"
        # an old answer must not be taken for this one
        answer_path.unlink(missing_ok=True)
        request.save(request_path)
        try:
            self._process.stdin.write(f"{request_path}\t{answer_path}\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._crash("ended early") from error
        reply = self._reply()
        if reply is None:
            raise self._crash("ended or went silent while it simulated")
        if reply != "done":
            raise ContactIdError(
                f"{self.name} refused: {reply.removeprefix('failed ').rstrip('. ')}", ""
            )
        return read_answer(self.name, answer_path, self.problem, request)

    def _reply(self) -> str | None:
        """The next line of the simulator's process, or nothing where it ended or took too long.

        To each request there is one line, so none can be left in the buffer behind the one that is
        read.
        """
        assert self._process is not None and self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(self._timeout):
                self._process.kill()
                return None
        line = self._process.stdout.readline()
        return line.rstrip("\n") if line else None

    def _crash(self, what: str) -> ContactIdError:
        assert self._process is not None
        # its last words may come after it closed its output
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5.0)
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().splitlines() if line.strip()]
        last = lines[-1] if lines else f"no message, exit code {self._process.returncode}"
        return ContactIdError(f"{self.name} {what} ({last})", _REMEDY)


def read_answer(name: str, path: Path, problem: Problem, request: Request) -> Answer:
    """Read an answer and hold its shapes against what was asked.

    Raises :class:`ContactIdError` where the file is missing, damaged, or of other parameter sets or
    tosses.
    """
    try:
        answer = Answer.load(path)
    except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
        raise ContactIdError(f"{name} gave no readable answer ({error})", _REMEDY) from error
    shape = (len(request.values), problem.n_tosses)
    steps = problem.n_steps * request.substeps
    shapes = {
        getattr(answer, field).shape for field in ("position_error", "rotation_error", "failed")
    }
    if shapes != {shape} or answer.steps != steps:
        raise ContactIdError(
            f"{name} answered for {sorted(shapes)} sets and tosses and {answer.steps} steps, not {shape} and {steps}",
            _REMEDY,
        )
    return answer


class OwnSession:
    """As :class:`PeerSession`, in this very process, with the converged contact solver.

    A toss with a contact step that the solver did not solve counts as failed, as one with a number
    that is not finite.
    """

    def __init__(self, problem: Problem, name: str = OWN) -> None:
        self.problem, self.name = problem, name
        self._body = BodyProperties(
            problem.vertices, problem.mass, problem.inertia, problem.center_of_mass
        )
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

    def __exit__(self, *error: object) -> None:
        """Nothing is held open."""

    def ask(self, request: Request) -> Answer:
        """The errors that a request asks for; parameters ``friction_mu`` and ``restitution_e_n``."""
        x, y, z = (float(value) for value in self.problem.gravity)
        law = "incremental" if self.name == OWN_INCREMENTAL else "newton"
        options = SteppingOptions(
            self.problem.time_step, int(request.substeps), law, gravity=(x, y, z)
        )
        sets = [request.parameters(row) for row in range(len(request.values))]
        mu = np.array([one["friction_mu"] for one in sets])
        e_n = np.array([one["restitution_e_n"] for one in sets])
        begin = time.process_time()
        result = sweep(self._body, self._tosses, mu, e_n, options, length=self.problem.length)
        # the sweep shares steps between parameter sets, so a set's time is its share
        seconds = np.full(len(sets), (time.process_time() - begin) / len(sets))
        position, rotation = result.position_error.T, result.rotation_error.T
        # any step that isn't solved, as a peer's simulation that threw
        failed = (result.failed_steps.T > 0) | ~np.isfinite(position + rotation)
        position[failed] = rotation[failed] = np.nan
        n_samples = len(self.problem.position)
        return Answer(
            simulator=self.name,
            position_error=position,
            rotation_error=rotation,
            failed=failed,
            message=np.array([_message(self.problem, row) for row in failed], dtype=str),
            seconds=seconds,
            steps=self.problem.n_steps * int(request.substeps),
            position=np.empty((0, n_samples, 3)),
            orientation=np.empty((0, n_samples, 4)),
        )


def _message(problem: Problem, failed: np.ndarray) -> str:
    names = problem.names[failed]
    return f"{names[0]}: a contact step was not solved" if len(names) else ""


def peer_problem(problem: TossingProblem, first: int | None = None) -> Problem:
    """The problem, or its first tosses alone."""
    tosses = problem.measured[:first]
    return Problem(
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
        starts=np.stack([np.concatenate(astuple(toss.start)) for toss in tosses]),
        surface_velocity=np.stack(
            [np.asarray(toss.surface_velocity, dtype=float) for toss in tosses]
        ),
        names=np.array([toss.name for toss in tosses], dtype=str),
    )

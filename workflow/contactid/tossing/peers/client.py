"""Ask a simulator in its own environment, from the main one.

Each simulator lives alone in a virtual environment: ``.venv-<name>`` beside the checkout (``make peers``), or whatever
the environment variable ``CONTACTID_<NAME>_PYTHON`` names.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from zipfile import BadZipFile

from contactid.core.errors import ContactIdError
from contactid.tossing.peers import run as peer_program  # also makes the peers' code part of the callers' fingerprints
from contactid.tossing.peers.catalogue import parameters_of
from contactid.tossing.peers.exchange import Answer, Problem, Request

_WORKFLOW = Path(__file__).resolve().parents[3]
_REMEDY = "Run make peers"


def peer_python(name: str) -> Path:
    """The Python of a simulator's environment.

    Raises
    ------
    ContactIdError
        Where the simulator is unknown or its environment is missing.
    """
    parameters_of(name)
    variable = f"CONTACTID_{name.upper()}_PYTHON"
    named = os.environ.get(variable)
    python = Path(named) if named else _WORKFLOW.parent / f".venv-{name}" / "bin" / "python"
    if not python.is_file():
        raise ContactIdError(f"{python}, the Python that {name} is in, does not exist", f"{_REMEDY} or set {variable}")
    return python


class PeerSession:
    """One simulator with one problem, answering requests until the session is closed.

    Parameters
    ----------
    name
        ``mujoco``, ``drake`` or ``pybullet``.
    problem
        Body and tosses.
    python
        Of the simulator's environment; found by :func:`peer_python` by default.
    timeout
        Seconds to wait for an answer.
    """

    def __init__(self, name: str, problem: Problem, python: str | Path | None = None, timeout: float = 3600.0) -> None:
        self.name, self.problem, self._timeout = name, problem, timeout
        self._python = str(Path(python or peer_python(name)).absolute())
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="contactid-")
        try:
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
            self._errors.close()
        self._folder.cleanup()

    def _start(self) -> None:
        self._scratch = Path(self._folder.name)
        self.problem.save(self._scratch / "problem.npz")
        self._errors: IO[str] = (self._scratch / "errors.txt").open("w+", encoding="utf-8", errors="replace")
        command = [self._python, "-m", peer_program.__name__, self.name, str(self._scratch / "problem.npz")]
        try:
            self._process = subprocess.Popen(
                command,
                cwd=self._scratch,  # MuJoCo leaves a log where it runs
                env={**os.environ, "PYTHONPATH": str(_WORKFLOW), "OMP_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
            )
        except OSError as error:
            self._errors.close()
            raise ContactIdError(f"{self._python} can't be run ({error.strerror or error})", _REMEDY) from error
        if self._reply() != "ready":
            raise self._crash("did not start")

    def ask(self, request: Request) -> Answer:
        """The answer to a request.

        Raises
        ------
        ContactIdError
            Where the simulator refuses, crashes, takes too long, or answers something else than was asked.
        """
        assert self._process is not None and self._process.stdin is not None, "the session is not open"
        request_path, answer_path = self._scratch / "request.npz", self._scratch / "answer.npz"
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
            raise ContactIdError(f"{self.name} refused: {reply.removeprefix('failed ').rstrip('. ')}", "")
        return read_answer(self.name, answer_path, self.problem, request)

    def _reply(self) -> str | None:
        """The next line of the simulator's process, or nothing where it ended or took too long.

        To each request there is one line, so none can be left in the buffer behind the one that is read.
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
        with suppress(subprocess.TimeoutExpired):  # its last words may come after it closed its output
            self._process.wait(timeout=5.0)
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().splitlines() if line.strip()]
        last = lines[-1] if lines else f"no message, exit code {self._process.returncode}"
        return ContactIdError(f"{self.name} {what} ({last})", _REMEDY)


def read_answer(name: str, path: Path, problem: Problem, request: Request) -> Answer:
    """Read an answer and hold its shapes against what was asked.

    Raises
    ------
    ContactIdError
        Where the file is missing, damaged, or of other parameter sets or tosses.
    """
    try:
        answer = Answer.load(path)
    except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
        raise ContactIdError(f"{name} gave no readable answer ({error})", _REMEDY) from error
    shape = (len(request.values), problem.n_tosses)
    steps = problem.n_steps * request.substeps
    shapes = {getattr(answer, field).shape for field in ("position_error", "rotation_error", "failed")}
    if shapes != {shape} or answer.steps != steps:
        raise ContactIdError(
            f"{name} answered for {sorted(shapes)} sets and tosses and {answer.steps} steps, not {shape} and {steps}",
            _REMEDY,
        )
    return answer

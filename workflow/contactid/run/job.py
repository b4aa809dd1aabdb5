"""Run a rule's main function: everything goes to its log, and a failure prints one plain line.

The file descriptors themselves are redirected, so that what a compiled solver prints lands in the
log too. The log's last line tells how the job ended: ``ERROR ...``, or :data:`FINISHED`; a job that
was killed says neither.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, TextIO

from contactid.core.atomic import NOT_WRITABLE, cannot_be_written, process_lives
from contactid.core.errors import ContactIdError

FINISHED = "Finished."
#: Names the process number of the Snakemake that starts jobs (workflow/rules/one_run.smk).
OWNER = "CONTACTID_OWNER"
#: Starts a log's first line, which ends with the checksum of the environment's lock file
#: (contactid.review.provenance).
LOCK = "Environment: requirements.lock, sha256 "
_LOCK_FILE = Path(__file__).resolve().parents[3] / "envs/requirements.lock"
# of Linux's prctl: the signal that a process gets when its parent dies
_PR_SET_PDEATHSIG = 1
_THREADS = tuple(f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"))
# new objects before each of Python's collections of garbage; its own 700 cost 7 % of a job that
# builds models
_COLLECTIONS = (100_000, 10, 5)


@contextmanager
def job(rule: str, wildcards: Mapping[str, str], log: str | Path) -> Iterator[int]:
    """Redirect stdout and stderr to ``log``; a failure is one plain line, and status 1.

    Gives the file descriptor of what was stderr before.

    Parameters
    ----------
    rule, wildcards : named in that line
    log : holds everything else, the traceback of an unexpected error included
    """
    _end_with_owner()
    # jobs run side by side on all cores, and sums of several threads have other last digits; read
    # as NumPy is imported
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    gc.set_threshold(*_COLLECTIONS)
    label = rule + "".join(f" {key}={value}" for key, value in wildcards.items())
    terminal = os.dup(2)
    sys.stdout.flush()
    sys.stderr.flush()
    with _opened(log, label, terminal) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        logging.basicConfig(
            stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s", force=True
        )
        try:
            if _LOCK_FILE.is_file():
                print(LOCK + hashlib.sha256(_LOCK_FILE.read_bytes()).hexdigest(), flush=True)
            yield terminal
            sys.stdout.flush()
            # what a compiled solver has printed is in buffers that Python doesn't know
            ctypes.CDLL(None).fflush(None)
            print(FINISHED, file=sys.stderr, flush=True)
        except ContactIdError as error:
            _fail(terminal, f"{label}: {error} Log: {log}")
        except MemoryError:
            problem = "not enough memory. Free some or run fewer jobs at once"
            _fail(terminal, f"{label}: {problem}. Log: {log}")
        except KeyboardInterrupt:
            problem = "interrupted. Run the same command again, finished jobs are kept"
            _fail(terminal, f"{label}: {problem}. Log: {log}")
        except ImportError as error:
            problem = f"{error}. Install the pinned environment (make env)"
            _fail(terminal, f"{label}: {problem}. Log: {log}")
        except Exception as error:
            number = error.errno if isinstance(error, OSError) else None
            if number in NOT_WRITABLE:
                where = getattr(error, "filename", None) or log
                _fail(terminal, f"{label}: {cannot_be_written(where, number)} Log: {log}")
            # a defect of ours: say so, and where the traceback is
            problem = f"unexpected {type(error).__name__}: {error}. Please report it with the log"
            _fail(terminal, f"{label}: {problem}. Log: {log}")


def leave() -> NoReturn:
    """End a job's process at once, as all is written: tidying up takes a quarter of a second."""
    os._exit(0)


def _opened(log: str | Path, label: str, terminal: int) -> TextIO:
    try:
        Path(log).parent.mkdir(parents=True, exist_ok=True)
        # line by line: whoever looks into it sees how far the job is
        return Path(log).open("w", buffering=1, encoding="utf-8")
    except OSError as error:
        os.write(terminal, _plain(f"{label}: {cannot_be_written(log, error.errno)}"))
        sys.exit(1)


def _fail(terminal: int, line: str) -> None:
    os.write(terminal, _plain(line))
    # the disk that is full may be the log's
    with suppress(OSError):
        traceback.print_exc()
        sys.stderr.flush()
        sys.stdout.flush()
        # the log's last line, where failures() finds it
        os.write(2, _plain(line))
    # what a full log didn't take would be tried again at Python's end, and turn the exit status
    # into 120
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.exit(1)


def _plain(line: str) -> bytes:
    return (" ".join(f"ERROR {line}".split()) + "\n").encode()


def _end_with_owner() -> None:
    """Have the system end this process with its Snakemake: a killed run leaves no job at work."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    owner = os.environ.get(OWNER, "")
    # it died before that
    if owner.isdigit() and not process_lives(int(owner)):
        sys.exit(1)

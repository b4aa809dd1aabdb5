"""Run a rule's main function: everything goes to its log, and a failure prints one plain line.

The file descriptors themselves are redirected, so that what a compiled solver prints lands in the log too.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from contactid.errors import ContactIdError


@contextmanager
def job(rule: str, wildcards: Mapping[str, str], log: str | Path) -> Iterator[None]:
    """Redirect stdout and stderr to ``log``; exit with status 1 and one plain line where the body fails.

    Parameters
    ----------
    rule, wildcards
        Named in that line.
    log
        Holds everything else, the traceback of an unexpected error included.
    """
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    terminal = os.dup(2)
    sys.stdout.flush()
    sys.stderr.flush()
    with Path(log).open("w", buffering=1, encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s", force=True)
        label = rule + "".join(f" {key}={value}" for key, value in wildcards.items())
        try:
            yield
        except ContactIdError as error:
            traceback.print_exc()
            _fail(terminal, f"{label}: {error} Log: {log}")
        except MemoryError:
            traceback.print_exc()
            _fail(terminal, f"{label}: not enough memory. Free some or run fewer jobs at once. Log: {log}")
        except Exception as error:  # a defect of ours: say so, and where the traceback is
            traceback.print_exc()
            _fail(
                terminal,
                f"{label}: unexpected {type(error).__name__}: {error}. Please report it with the log. Log: {log}",
            )


def _fail(terminal: int, line: str) -> None:
    plain = " ".join(f"ERROR {line}".split())
    print(plain, file=sys.stderr, flush=True)  # the log's last line, where failures() finds it
    os.write(terminal, f"{plain}\n".encode())
    sys.exit(1)


def failures(logs: str | Path, since: float) -> list[str]:
    """The plain lines of the jobs that failed since a time (s since the epoch): the last lines of their logs."""
    lines = []
    for log in sorted(Path(logs).rglob("*.log")):
        if log.stat().st_mtime >= since:
            last = log.read_text(encoding="utf-8", errors="replace").rstrip().rsplit("\n", 1)[-1]
            if last.startswith("ERROR "):
                lines.append(last)
    return lines

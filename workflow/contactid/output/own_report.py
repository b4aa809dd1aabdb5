"""The folder that a command on a user's own data writes: it appears when all is there."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from contactid.core.errors import ContactIdError
from contactid.output.escape import one_line

if TYPE_CHECKING:
    from contactid.output.result import Result

PARAMETERS, PREDICTIONS = "parameters.json", "predictions.csv"
# a folder with one of them is an earlier report
_MARKS = (PARAMETERS, PREDICTIONS)


def cpu_seconds() -> float:
    """CPU time of this process so far and of those that it ran to their ends, s."""
    # in steps of 10 ms; of the process itself there is a finer clock
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def refuse_missing(*paths: str | Path) -> None:
    """Refuse a path that isn't there before anything heavy is imported; an empty one is skipped.

    Raises :class:`ContactIdError` with the first.
    """
    for path in filter(None, map(str, paths)):
        if not os.path.lexists(path):
            raise ContactIdError(f"{path}: no such file", "Correct the path")


@contextmanager
def own_report(folder: str | Path) -> Iterator[Path]:
    """Give an empty folder to write a report into; it replaces ``folder`` when all went well.

    Entered before the work begins, it tells at once that nothing can be written there.

    Raises
    ------
    ContactIdError
        Where ``folder`` is a file, holds other things than an earlier report, or can't be written.
    """
    folder = Path(folder)
    # never replace what a user keeps there
    if folder.is_dir():
        if any(folder.iterdir()) and not any((folder / mark).is_file() for mark in _MARKS):
            raise ContactIdError(
                f"{folder}: holds other things than a report", "Name another folder"
            )
    elif folder.exists():
        raise ContactIdError(f"{folder}: is a file", "Name a folder")
    # beside it, so that renaming stays in one file system
    partial = folder.with_name(f".{folder.name}.partial")
    old = folder.with_name(f".{folder.name}.old")
    try:
        # what a command that was killed left behind
        for rest in (partial, old):
            shutil.rmtree(rest, ignore_errors=True)
        partial.mkdir(parents=True)
        yield partial
        if folder.exists():
            folder.rename(old)
        partial.rename(folder)
    except OSError as error:
        raise ContactIdError(
            f"{folder}: cannot be written ({error.strerror or error})",
            "Check space and permissions",
        ) from error
    finally:
        for rest in (partial, old):
            shutil.rmtree(rest, ignore_errors=True)


def say(line: str) -> None:
    """Print a line at once, whatever names are in it."""
    print(one_line(line), flush=True)


def reported(folder: str | Path, source: str, make: Callable[[], Result]) -> Sequence[str]:
    """Write the report of a command's answer, print the answer, and give what not to trust of it.

    Parameters
    ----------
    folder : of the report
    source : what a refusal names
    make : the answer; called when it is sure that the folder can be written

    Raises
    ------
    ContactIdError
        As :func:`own_report`, and where the answer isn't valid; nothing is written then.
    """
    with own_report(folder) as partial:
        answer = make()
        if not answer.valid:
            raise ContactIdError(f"{source}: {'; '.join(answer.reasons)}", answer.remedy)
        answer.save(partial)
    for line in [*answer.lines(), *answer.notes]:
        say(line)
    return answer.warnings

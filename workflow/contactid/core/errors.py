"""The one error class that a user is meant to read."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class ContactIdError(Exception):
    """A problem the user can mend: its text is one line that names the thing and the remedy.

    Everything else that escapes from the package is a defect of the package. A rule turns this
    error into a single plain line on the terminal and a non-zero exit (see
    :mod:`contactid.run.job`).
    """

    def __init__(self, problem: str, remedy: str = "") -> None:
        self.problem = problem
        self.remedy = remedy
        text = f"{problem}. {remedy}." if remedy else f"{problem}."
        # one line, whatever a library put into the reason
        super().__init__(" ".join(text.split()))


@contextmanager
def told_plainly() -> Iterator[None]:
    """For commands: where there is something to mend, one plain line, and status 1."""
    # any other error keeps its traceback: a report of a defect needs it
    try:
        yield
    except ContactIdError as error:
        sys.exit(f"ERROR {error}")

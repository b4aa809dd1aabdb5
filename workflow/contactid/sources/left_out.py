"""What a reader says of the recordings it leaves out: all problems of each, in one bounded line."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from contactid.core.errors import ContactIdError

_LOG = logging.getLogger(__name__)
# of a recording: one that has more is wrong as a whole, and a line must stay readable
_MOST_PROBLEMS = 8
# in an error's text; the log has all
_MOST_RECORDINGS = 3
# characters
_LONGEST_REASON = 200


def joined(problems: Sequence[str], most: int = _MOST_PROBLEMS) -> str:
    """Problems as one text; beyond the first eight their number only."""
    text = "; ".join(problems[:most])
    more = len(problems) - most
    return f"{text}; and {more} more" if more > 0 else text


def reason_of(error: BaseException) -> str:
    """What a library said, in one line and bounded: it may repeat what is in a damaged file."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


def summary(left_out: Mapping[str, str]) -> str:
    """``recording: reason`` of the first three, and how many more there are."""
    lines = [f"{name}: {reason}" for name, reason in left_out.items()]
    text = " | ".join(lines[:_MOST_RECORDINGS])
    more = len(lines) - _MOST_RECORDINGS
    return f"{text} (and {more} more)" if more > 0 else text


def log_left_out(left_out: Mapping[str, str]) -> None:
    """One line per recording in the log."""
    for name, reason in left_out.items():
        _LOG.warning("%s: left out: %s", name, reason)


class NothingUsable(ContactIdError):
    """Every recording was left out; ``left_out`` has all reasons, the message the first ones."""

    def __init__(self, problem: str, remedy: str, left_out: Mapping[str, str]) -> None:
        super().__init__(problem, remedy)
        self.left_out = dict(left_out)


def nothing_usable(
    source: object, what: str, left_out: Mapping[str, str], remedy: str
) -> NothingUsable:
    """The error for data of which every recording was left out."""
    text = f"{source}: none of the {len(left_out)} {what} is usable; {summary(left_out)}"
    return NothingUsable(text, remedy, left_out)

"""What a page shows of a command, and whether that is what the command prints."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

from contactid.__main__ import main

OWN = Path(__file__).parents[2] / "docs/own.md"
_NUMBER = re.compile(r"-?\d+(?:\.(\d+))?(?:e([-+]\d+))?")
_LAST = 2.0  # of the last digit that is shown: processors differ


def printed_by(*arguments: str | Path) -> str:
    """What a command prints that ends well."""
    with redirect_stdout(io.StringIO()) as told:
        assert main([str(one) for one in arguments]) == 0
    return told.getvalue()


def shown(command: str) -> list[str]:
    """The lines that docs/own.md shows below ``make COMMAND``."""
    block = rf"^```\nmake {command} (?:.*\\\n)*.*\n((?:(?!```).+\n)+)```"
    found = re.search(block, OWN.read_text(encoding="utf-8"), re.M)
    assert found, f"{OWN} shows nothing of {command}"
    return found[1].splitlines()


def differing(command: str, printed: str) -> list[str]:
    """The lines of the page that a command's text hasn't: the same words in the same order, numbers
    to their digits.
    """
    left, wrong = printed.splitlines(), []
    for line in shown(command):
        at = next((number for number, one in enumerate(left) if _agree(line, one)), None)
        if at is None:
            wrong.append(line)
        else:
            del left[: at + 1]
    return wrong


def _agree(line: str, printed: str) -> bool:
    if _NUMBER.sub("#", line) != _NUMBER.sub("#", printed):
        return False
    pairs = zip(_NUMBER.finditer(line), _NUMBER.finditer(printed), strict=True)
    digits = [
        (here, float(there[0]), int(here[2] or 0) - len(here[1] or "")) for here, there in pairs
    ]
    return all(
        abs(float(here[0]) - there) <= _LAST * 10.0**place * 1.001 for here, there, place in digits
    )

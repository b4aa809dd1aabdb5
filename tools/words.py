"""Run a command with variables put into its words, so that no shell reads them: ``words.py COMMAND
WORD...``.

The Makefile's recipes name variables of the environment, ``make`` exports them as they were typed:

* ``{NAME}`` within a word is the variable's text as it is; ``{NAME:json}`` the same as JSON;
  ``{NAME:list}`` a JSON list of it, without items where it is empty.
* ``{NAME:words}`` as a word of its own is as many words as the text names: see :func:`words`.
* ``{NAME!}`` and ``{NAME:words!}`` mustn't be empty.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_PLACE = re.compile(r"\{([A-Z][A-Z0-9_]*)(:json|:list|:words)?(!)?\}")


def filled(command: Sequence[str], given: Mapping[str, str]) -> Iterator[str]:
    """A command's words with the variables in them; a variable that isn't given is empty.

    Raises
    ------
    ValueError : where one is empty and mustn't be, or as :func:`words` does, after the variable's
        name
    """

    def written(place: re.Match[str]) -> str:
        name, form, _ = place.groups()
        text = given.get(name, "")
        if form == ":list":
            return json.dumps([text] if text else [], ensure_ascii=False)
        return json.dumps(text, ensure_ascii=False) if form == ":json" else text

    for word in command:
        for name, _, is_needed in _PLACE.findall(word):
            if is_needed and not given.get(name):
                raise ValueError(f"{name} isn't given. Add {name}=... to the command (make help).")
        place = _PLACE.fullmatch(word)
        if place and place[2] == ":words":
            try:
                yield from words(given.get(place[1], ""))
            except ValueError as error:
                raise ValueError(f"{place[1]}: {error}") from None
        else:
            yield _PLACE.sub(written, word)


def words(text: str) -> list[str]:
    """The names in a text: one where the text is a file's or folder's name, else its words by a
    shell's quotes.

    A word with ``*``, ``?`` or ``[]`` stands for the files that it matches, in order, unless it is
    a name itself or matches nothing. ``~`` is the home folder. Nothing else is special.

    Raises
    ------
    ValueError : where a quote isn't closed; its text is a line that says so and how it is written
    """
    # a file whose name has blanks
    if text and _is_there(text):
        return [text]
    try:
        split = [os.path.expanduser(word) for word in shlex.split(text)]  # noqa: PTH111 - a Path loses "./"
    except ValueError:
        raise ValueError(
            f"a quote isn't closed in {text}. Write names with spaces or quotes as in a shell: \"it's 1.csv\" b.csv."
        ) from None
    names = []
    for word in split:
        matching = [] if _is_there(word) else sorted(glob.glob(word))  # noqa: PTH207 - a Path takes no absolute pattern
        # what matches nothing is named all the same: the command says that it isn't there
        names += matching or [word]
    return names


def _is_there(name: str) -> bool:
    try:
        return Path(name).exists()
    # too long for a name, or a NUL
    except (OSError, ValueError):
        return False


def main() -> None:
    """Fill in the command's words and become it."""
    try:
        command = list(filled(sys.argv[1:], os.environ))
    except ValueError as error:
        sys.exit(f"ERROR {' '.join(str(error).split())}")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()

"""Why a result would be made again: ``python -m contactid.run.why results/default/...`` (``make why FILE=...``).

Snakemake says which jobs it would run for the file, and for what. Where the reason is a fingerprint, the definitions
that differ are named from the lists that runs keep (:mod:`contactid.run.fingerprint`); where it is a setting, the keys.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contactid.core.errors import ContactIdError, told_plainly
from contactid.run.fingerprint import LISTS
from contactid.run.records import FOLDER, path_of_record

ENVIRONMENT = Path("envs/environment.yaml")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_PARAMS = re.compile(r"Params have changed.*?: before: (.*) now: (.*)", re.S)


def why(file: str, options: Sequence[str] = ()) -> list[str]:
    """Plain lines: for each job that would run, its rule and reason; for the file itself, whether the libraries
    changed.

    Parameters
    ----------
    file : a result, relative to the working directory
    options : of the run, for Snakemake: ``--configfile config/public.yaml``

    Raises
    ------
    ContactIdError : where the run doesn't make such a file, or its configuration is wrong
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "host", *options, "--", file]
    ended = subprocess.run(command, capture_output=True, text=True)
    said = ended.stdout + ended.stderr
    if ended.returncode:
        told = [line for line in said.splitlines() if line.startswith("ERROR ")]
        raise ContactIdError(
            *(told[0].removeprefix("ERROR ").split(". ", 1) if told else (f"{file}: no rule of this run makes it", ""))
        )
    lines = []
    for rule, reason in re.findall(r"^(?:local)?rule (\w+):\n(?:    .*\n)*?    reason: (.*)$", said, re.M):
        lines += [f"{rule}: {text}" for text in explain(reason)]
    return (lines or [f"{file}: nothing would make it again"]) + _libraries(file)


def explain(reason: str, lists: Path = LISTS) -> list[str]:
    """Snakemake's reason for a job in plain words, a line for each thing that changed."""
    params = _PARAMS.search(reason)
    if params is None:
        return [reason.strip()]
    before, now = (_values(text) for text in params.groups())
    lines = []
    for old, new in zip(before, now, strict=False):
        if all(isinstance(value, str) and _FINGERPRINT.fullmatch(value) for value in (old, new)):
            lines += _definitions(old, new, lists)
        else:
            lines += [f"setting {where or 'value'}: {was!r} is now {now!r}" for where, was, now in _changes(old, new)]
    return lines if lines and len(before) == len(now) else [*lines, reason.strip()]


def _values(text: str) -> list[Any]:
    """The params of one side, which Snakemake writes one after the other."""
    try:
        return list(ast.literal_eval(f"[{text.strip()}]"))
    except (SyntaxError, ValueError):
        return [text.strip()]


def _definitions(before: str, now: str, lists: Path) -> list[str]:
    try:
        old, new = (json.loads((lists / f"{name}.json").read_text(encoding="utf-8")) for name in (before, now))
    except (OSError, ValueError):
        return [f"code: fingerprint {before} is now {now}; what was behind it isn't kept any more"]
    words = {name: "edited" if name in old and name in new else "new" if name in new else "gone" for name in old | new}
    return [f"code: {name} ({words[name]})" for name in sorted(words) if old.get(name) != new.get(name)]


def _changes(old: Any, new: Any, where: str = "") -> list[tuple[str, Any, Any]]:
    """The innermost values that differ, each with the keys that lead to it."""
    if type(old) is type(new) and isinstance(old, dict | list) and len(old) == len(new):
        pairs = [list(value.items() if isinstance(value, dict) else enumerate(value)) for value in (old, new)]
        if [key for key, _ in pairs[0]] == [key for key, _ in pairs[1]]:
            both = zip(*pairs, strict=True)
            return [change for (key, a), (_, b) in both for change in _changes(a, b, f"{where}.{key}".lstrip("."))]
    return [] if old == new else [(where, old, new)]


def _libraries(file: str) -> list[str]:
    try:
        record = json.loads((FOLDER / path_of_record(file)).read_text(encoding="utf-8"))
        made_with = base64.b64decode(record["conda_env"]).decode()
    except (OSError, ValueError, KeyError, TypeError):
        return []
    old, new = set(made_with.splitlines()), set(ENVIRONMENT.read_text(encoding="utf-8").splitlines())
    changed = ", ".join(sorted(line.strip(" -") for line in new - old)) or "a package less"
    return (
        []
        if old == new
        else [f"library: since it was made {ENVIRONMENT} has changed ({changed}); nothing reruns for that"]
    )


@told_plainly()
def main(arguments: Sequence[str]) -> None:
    """The command: a file, then options for Snakemake."""
    if not any(arguments):
        raise ContactIdError("no file is named", "Name a result: make why FILE=results/default/checks.csv")
    print(*why(arguments[0], arguments[1:]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

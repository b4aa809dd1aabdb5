"""Why a result would be made again: ``make why FILE=results/default/...``.

Snakemake says which jobs it would run for the file, and for what. Where the reason is a
fingerprint, the definitions that differ are named from the lists that runs keep
(:mod:`contactid.run.fingerprint`); where it is a setting, the keys.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from textwrap import shorten
from typing import Any

from contactid.core.errors import ContactIdError, told_plainly
from contactid.run.fingerprint import LISTS
from contactid.run.records import FOLDER, path_of_record

ENVIRONMENT = Path("envs/environment.yaml")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
# three files, and those after them
_MANY_FILES = re.compile(r"((?:[^ ,;]+, ){2}[^ ,;]+)((?:, [^ ,;]+)+)")
# characters of a value, and of a reason that isn't taken apart
_LONGEST = 140
_PARAMS = re.compile(r"Params have changed.*?: before: (.*) now: (.*)", re.S)
# in a dry run's text, a rule and its reason
_JOBS = re.compile(r"^(?:local)?rule (\w+):\n(?:    .*\n)*?    reason: (.*)$", re.M)


def why(file: str, options: Sequence[str] = ()) -> list[str]:
    """Plain lines: each job's rule and reason; for the file itself, whether libraries changed.

    Parameters
    ----------
    file : a result, relative to the working directory
    options : of the run, for Snakemake: ``--configfile config/public.yaml``

    Raises
    ------
    ContactIdError : where the run doesn't make such a file, or its configuration is wrong
    """
    status, output = _planned(*options, "--", file)
    if status:
        errors = [line for line in output.splitlines() if line.startswith("ERROR ")]
        if errors:
            raise ContactIdError(*errors[0].removeprefix("ERROR ").split(". ", 1))
        # all files of the run, those that needn't be made again included
        _, plan = _planned("--forceall", *options)
        raise ContactIdError(f"{file}: no rule of this run makes it", nearest(file, plan))
    lines = []
    for rule, reason in _JOBS.findall(output):
        lines += [f"{rule}: {text}" for text in explain(reason)]
    return (lines or [f"{file}: nothing would make it again"]) + _libraries(file)


def _planned(*words: str) -> tuple[int, str]:
    """Status and text of a dry run of Snakemake's."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "host", *words]
    ended = subprocess.run(command, capture_output=True, text=True)
    return ended.returncode, ended.stdout + ended.stderr


def nearest(file: str, planned: str) -> str:
    """A question after the file of a plan that is named most like this one; nothing where none is."""
    outputs: list[str] = []
    for names in re.findall(r"^    output: (.*)$", planned, re.M):
        outputs += names.split(", ")
    matches = get_close_matches(file, outputs, n=1)
    return f"Did you mean {matches[0]}" if matches else ""


def explain(reason: str, lists: Path = LISTS) -> list[str]:
    """Snakemake's reason for a job in plain words, a line for each thing that changed."""
    params = _PARAMS.search(reason)
    if params is None:
        return [_shortened(reason)]
    before, now = (_values(text) for text in params.groups())
    lines = []
    for old, new in zip(before, now, strict=False):
        if _is_fingerprint(old) and _is_fingerprint(new):
            lines += _definitions(old, new, lists)
        else:
            lines += _changes(old, new)
    # Snakemake's own words where these don't say all of it
    if not lines or len(before) != len(now):
        lines.append(_cut(reason))
    return lines


def _is_fingerprint(value: Any) -> bool:
    return isinstance(value, str) and _FINGERPRINT.fullmatch(value) is not None


def _values(text: str) -> list[Any]:
    """The params of one side, which Snakemake writes one after the other."""
    try:
        return list(ast.literal_eval(f"[{text.strip()}]"))
    except (SyntaxError, ValueError):
        return [text.strip()]


def _definitions(before: str, now: str, lists: Path) -> list[str]:
    try:
        old = json.loads((lists / f"{before}.json").read_text(encoding="utf-8"))
        new = json.loads((lists / f"{now}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return [f"code: fingerprint {before} is now {now}; what was behind it isn't kept any more"]
    lines = []
    for name in sorted(old | new):
        if name not in old:
            lines.append(f"code: {name} (new)")
        elif name not in new:
            lines.append(f"code: {name} (gone)")
        elif old[name] != new[name]:
            lines.append(f"code: {name} (edited)")
    return lines


def _changes(old: Any, new: Any, where: str = "") -> list[str]:
    """A line for each innermost value that differs, and for each part that is new or gone."""
    if old == new:
        return []
    if type(old) is not type(new) or not isinstance(old, dict | list):
        return [f"setting {where or 'value'}: {_cut(repr(old))} is now {_cut(repr(new))}"]
    are_artefacts = isinstance(old, list) and all(map(_is_artefact, old + new))
    # one artefact more would otherwise move all that follow it, and each would be named
    keep_places = not are_artefacts and len(old) == len(new)
    before = _parts(old, keep_places)
    now = _parts(new, keep_places)
    what = f"setting {where}".strip()
    # the list of a rule's artefacts is no setting
    if are_artefacts and not where:
        what = "declared"
    lines = []
    for key in dict.fromkeys([*before, *now]):
        if key in before and key in now:
            lines += _changes(before[key], now[key], f"{where}.{key}".lstrip("."))
        else:
            change = "new" if key in now else "gone"
            lines.append(f"{what}: {change} {_cut(str(key))}")
    return lines or [f"setting {where or 'value'}: in another order"]


def _is_artefact(part: Any) -> bool:
    return isinstance(part, dict) and "place" in part


def _parts(value: dict[str, Any] | list[Any], keep_places: bool) -> dict[Any, Any]:
    """A mapping as it is; a list's parts by position, or by an artefact's place or a text."""
    if isinstance(value, dict):
        return value
    if keep_places:
        return dict(enumerate(value))
    parts = {}
    for part in value:
        name = part["place"] if _is_artefact(part) else repr(part)
        parts[name] = part
    return parts


def _cut(text: str) -> str:
    return shorten(text, _LONGEST, placeholder=" ...")


def _shortened(reason: str) -> str:
    """Snakemake's words, with the first of many files."""

    def cut(match: re.Match[str]) -> str:
        first_files, others = match.groups()
        return f"{first_files} and {others.count(',')} more"

    return _MANY_FILES.sub(cut, reason.strip())


def _libraries(file: str) -> list[str]:
    try:
        record = json.loads((FOLDER / path_of_record(file)).read_text(encoding="utf-8"))
        made_with = base64.b64decode(record["conda_env"]).decode()
    except (OSError, ValueError, KeyError, TypeError):
        return []
    old = set(made_with.splitlines())
    new = set(ENVIRONMENT.read_text(encoding="utf-8").splitlines())
    if old == new:
        return []
    changed = ", ".join(sorted(line.strip(" -") for line in new - old)) or "a package less"
    since = f"since it was made {ENVIRONMENT} has changed ({changed})"
    return [f"library: {since}; nothing reruns for that"]


@told_plainly()
def main(arguments: Sequence[str]) -> None:
    """The command: a file, then options for Snakemake."""
    if not any(arguments):
        raise ContactIdError(
            "no file is named", "Name a result: make why FILE=results/default/checks.csv"
        )
    print(*why(arguments[0], arguments[1:]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

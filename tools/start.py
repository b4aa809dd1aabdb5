"""Start Snakemake, without what it would end by in many lines: ``start.py SNAKEMAKE WORD...``.

* A configuration file that isn't there, or isn't YAML, is one line that names the place.
* Where the home folder can't be written, as on the nodes of some clusters, Snakemake's cache lies in ``.snakemake``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import yaml

CACHE = Path(".snakemake/cache")


def configuration_files(command: Sequence[str]) -> Iterator[str]:
    """The files that a Snakemake command names as its configuration."""
    for place, word in enumerate(command):
        if word in ("--configfile", "--configfiles"):
            yield from takewhile(lambda name: not name.startswith("-"), command[place + 1 :])


def problem_of(file: str) -> str:
    """What is wrong with a configuration file, as a line with the remedy; nothing of a good one."""
    try:
        content = yaml.compose(Path(file).read_text(encoding="utf-8-sig"))  # no alias is filled in
    except (OSError, UnicodeDecodeError) as error:
        return f"{file}: {getattr(error, 'strerror', None) or 'no text'}. Name a configuration file, as in config/."
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = " ".join(filter(None, (getattr(error, name, None) for name in ("context", "problem")))) or "no YAML"
        return f"{file}{place}: {what}. Correct it there, or just before."
    return "" if isinstance(content, yaml.MappingNode) else f"{file}: no settings in it. Write key: value lines."


def cache_folder() -> str:
    """The folder for ``XDG_CACHE_HOME``: the user's own where Snakemake can write there, else one in ``.snakemake``."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        (folder / "snakemake").mkdir(parents=True, exist_ok=True)
        if os.access(folder / "snakemake", os.W_OK | os.X_OK):
            return str(folder)
    except (OSError, RuntimeError):  # RuntimeError: no home at all
        pass
    return str(CACHE.absolute())


def main(command: Sequence[str]) -> None:
    """Look at the configuration and the cache, then become Snakemake."""
    problem = next(filter(None, map(problem_of, configuration_files(command))), "")
    if problem:
        sys.exit(f"ERROR {' '.join(problem.split())}")
    os.environ["XDG_CACHE_HOME"] = cache_folder()
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])

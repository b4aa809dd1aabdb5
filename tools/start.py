"""Start Snakemake, without what it would end by in many lines: ``start.py SNAKEMAKE WORD...``.

* A configuration file that isn't there, isn't YAML, or stands for more than it says, is one line
  that names the place.
* Where the home folder can't be written, as on the nodes of some clusters, Snakemake's cache lies
  in ``.snakemake``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import yaml

# as contactid/core/reading.py has them, which needs the package
_DEEPEST, _MOST_VALUES = 20, 100_000
CACHE = Path(".snakemake/cache")


def configuration_files(command: Sequence[str]) -> Iterator[str]:
    """The files that a Snakemake command names as its configuration."""
    for place, word in enumerate(command):
        if word in ("--configfile", "--configfiles"):
            yield from takewhile(lambda name: not name.startswith("-"), command[place + 1 :])


def problem_of(file: str) -> str:
    """What is wrong with a configuration file, as a line with the remedy; nothing of a good one."""
    if Path(file).exists() and not Path(file).is_file():
        return f"{file}: a folder, pipe or device. Name a configuration file, as in config/."
    try:
        # composed, not loaded: no alias is filled in
        content = yaml.compose(Path(file).read_text(encoding="utf-8-sig"))
    except RecursionError:
        return f"{file}: nested more than {_DEEPEST} deep. Correct it."
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no text"
        return f"{file}: {reason}. Name a configuration file, as in config/."
    except yaml.YAMLError as error:
        # counted from zero
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        words = [getattr(error, name, None) for name in ("context", "problem")]
        what = " ".join(filter(None, words)) or "no YAML"
        return f"{file}{place}: {what}. Correct it there, or just before."
    if not isinstance(content, yaml.MappingNode):
        return f"{file}: no settings in it. Write key: value lines."
    return f"{file}: nested or repeated without end. Correct it." if _is_endless(content) else ""


def _is_endless(content: yaml.Node) -> bool:
    """Whether what the file stands for, with aliases filled in, is deeper or more than any
    configuration.
    """
    waiting, count = [(content, 0)], 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        if depth > _DEEPEST or count > _MOST_VALUES:
            return True
        if isinstance(node, yaml.MappingNode):
            waiting += [(part, depth + 1) for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [(part, depth + 1) for part in node.value]
    return False


def cache_folder() -> str:
    """The folder for ``XDG_CACHE_HOME``: the user's own where Snakemake can write there, else one
    in ``.snakemake``.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        (folder / "snakemake").mkdir(parents=True, exist_ok=True)
        if os.access(folder / "snakemake", os.W_OK | os.X_OK):
            return str(folder)
    # RuntimeError: no home at all
    except (OSError, RuntimeError):
        pass
    return str(CACHE.absolute())


def main(command: Sequence[str]) -> None:
    """Look at the configuration and the cache, then become Snakemake."""
    problem = next(filter(None, map(problem_of, configuration_files(command))), "")
    if problem:
        sys.exit(f"ERROR {' '.join(problem.split())}")
    os.environ["XDG_CACHE_HOME"] = cache_folder()
    os.execvp(command[0], list(command))


if __name__ == "__main__":
    main(sys.argv[1:])

"""The heading of a study's prose. The Snakefile reads it, so it needs PyYAML alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_LINE = "---\n"


def read_parts(path: str | Path) -> tuple[dict[str, Any], str]:
    """The heading, with ``runs``, ``files`` and ``values``, and the text below it."""
    whole = Path(path).read_text(encoding="utf-8")
    _, heading, text = whole.split(_LINE, 2)
    return yaml.safe_load(heading), text


def about_run(path: str | Path, run: str) -> bool:
    """Whether a prose is about the run of that name."""
    heading, _ = read_parts(path)
    return run in heading["runs"]


def files_of(path: str | Path) -> list[str]:
    """The csv files that a prose's values come from.

    They are of this repository where they begin with ``workflow/``, else below the run's results.
    """
    heading, _ = read_parts(path)
    return list(heading["files"].values())

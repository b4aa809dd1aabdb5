"""The report's playback of a measured toss against a predicted one."""

from __future__ import annotations

from pathlib import Path


def playback_section(results: Path) -> str | None:
    """An HTML fragment with its own script and style; None where the run has no toss to play."""
    return None

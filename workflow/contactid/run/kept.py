"""Studies that a run has and a configuration lacks: they, and what is made of all, are kept."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def studies_of(results: str | Path, rules: str | Path) -> list[str]:
    """The studies that a run's folder has verdicts of, sorted; those that there are rules for."""
    studies = sorted(file.parent.name for file in Path(results).glob("*/checks.csv"))
    return [name for name in studies if (Path(rules) / f"{name}.smk").is_file()]


def tell_kept(results: Path, chosen: Sequence[str], kept: Sequence[str]) -> None:
    """Print a line where a run has studies that the configuration lacks."""
    if kept:
        print(
            f"{results} has {', '.join(kept)} besides: they stay as they are, and so do report, "
            f"checks.csv, summary and crate. {', '.join(chosen)} alone is computed; "
            "the same command for all studies renews them.",
            file=sys.stderr,
        )

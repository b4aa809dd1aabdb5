"""A paper's ledger as it is written: its sentences and statements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def read_ledger(ledger: str | Path) -> dict[str, list[dict[str, Any]]]:
    """A ledger's ``statements`` and ``sentences``.

    Ledgers are long, and libyaml's loader is ten times as fast; where PyYAML lacks it, its own
    reads the same.
    """
    # the Snakefile reads ledgers whenever it starts
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    content: dict[str, list[dict[str, Any]]] = yaml.load(
        Path(ledger).read_text(encoding="utf-8"), Loader=loader
    )
    return content


def named_in(ledger: str | Path) -> list[str]:
    """The predicates and functions of evidence that its statements name, each once."""
    # a dictionary without values: a set that keeps its order
    names: dict[str, None] = {}
    for statement in read_ledger(ledger)["statements"]:
        for part in ("predicate", "evidence"):
            if part in statement:
                names[statement[part]] = None
    return list(names)

"""Fit records, one JSON file per identification with the same keys in every study, and JSON for
what else is kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError

KEYS = (
    "parameters", "objective", "status", "converged", "residuals", "iterations", "seconds", "seed", "data", "model",
    "reformulation",
)  # fmt: skip


def write_fit(path: str | Path, record: dict[str, Any]) -> None:
    """Write a record; all of :data:`KEYS` must be there, further ones may follow."""
    missing = [key for key in KEYS if key not in record]
    if missing:
        raise KeyError(f"a fit record lacks {missing}")
    write_json(path, record)


def write_json(path: str | Path, content: dict[str, Any]) -> None:
    """Write a JSON file, atomically and with a stable layout."""
    write_text(path, json.dumps(content, indent=2) + "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON file that :func:`write_json` wrote."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ContactIdError(
            f"{path}: not a readable JSON file ({error})", "Delete it and run again"
        ) from None


def compact_json(content: Any) -> str:
    """One line of JSON; whole floats lose their ``.0``.

    >>> compact_json({"a": [1.0, 2.5, True]})
    '{"a":[1,2.5,true]}'
    """
    return json.dumps(_whole(content), separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _whole(content: Any) -> Any:
    # a page has many such numbers, and each is two characters shorter
    if isinstance(content, dict):
        return {key: _whole(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_whole(value) for value in content]
    is_whole = isinstance(content, float) and content.is_integer()
    return int(content) if is_whole else content

"""JSON without blanks, for data that a page carries."""

from __future__ import annotations

import json
from typing import Any


def compact_json(content: Any) -> str:
    """One line of JSON; whole floats lose their ``.0``.

    >>> compact_json({"a": [1.0, 2.5, True]})
    '{"a":[1,2.5,true]}'
    """
    return json.dumps(_whole(content), separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _whole(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _whole(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_whole(value) for value in content]
    return int(content) if isinstance(content, float) and content.is_integer() else content

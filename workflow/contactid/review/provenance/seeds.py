"""Every seed of a configuration, by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_ENDINGS = ("seed", "seeds")


def seeds_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Values of all keys that are ``seed`` or ``seeds`` or end with it, by path such as ``tossing.split.seed``."""
    return dict(_seeds(config, ""))


def _seeds(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            here = f"{path}.{key}" if path else str(key)
            if str(key).rsplit("_", 1)[-1] in _ENDINGS and not isinstance(inner, Mapping):
                yield here, inner
            else:
                yield from _seeds(inner, here)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _seeds(inner, f"{path}[{number}]")

"""Functions named in a text, as ``"contactid.module:function"``, and the arguments they ask for."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any


def resolve(reference: str) -> Callable[..., Any]:
    """The function behind ``"contactid.module:function"``."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def arguments(function: Callable[..., Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Those of ``named`` that a function asks for; defaults fill in.

    Raises TypeError where it asks for something else.
    """
    wanted = list(inspect.signature(function).parameters.values())
    missing = [
        item.name
        for item in wanted
        if item.name not in named and item.default is inspect.Parameter.empty
    ]
    if missing:
        raise TypeError(
            f"{function.__module__}:{function.__qualname__} is given no {', '.join(missing)}"
        )
    return {item.name: named[item.name] for item in wanted if item.name in named}

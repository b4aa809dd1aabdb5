"""Identify bodies from impacts: the mathematics behind the workflow, with no Snakemake in it.

>>> import contactid
>>> contactid.toss  # doctest: +ELLIPSIS
<function toss at ...>
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contactid.arm.own.impact import impact as impact
    from contactid.inhand.own.result import estimate as estimate
    from contactid.inhand.own.slip import slip as slip
    from contactid.output.result import Result as Result
    from contactid.planar.own.result import identify as identify
    from contactid.sources.recorded_table import read as read
    from contactid.tossing.own.result import predict as predict
    from contactid.tossing.toss.identify import toss as toss

__version__ = "1.0.0"

#: Where the public names are; a name's module, and all that is heavy, is imported when it is first
#: used.
_PLACES = {
    "Result": "contactid.output.result",
    "estimate": "contactid.inhand.own.result",
    "identify": "contactid.planar.own.result",
    "impact": "contactid.arm.own.impact",
    "predict": "contactid.tossing.own.result",
    "read": "contactid.sources.recorded_table",
    "slip": "contactid.inhand.own.slip",
    "toss": "contactid.tossing.toss.identify",
}
__all__ = ["Result", "estimate", "identify", "impact", "predict", "read", "slip", "toss"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'contactid' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])

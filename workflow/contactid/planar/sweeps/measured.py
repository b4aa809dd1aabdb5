"""The table of measures as its readers have it, without the simulators that make it: these take
long to import.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

STATED, UNIFORM = "stated", "uniform"
IDENTIFICATION = "identification"  # stands for section 6.1's throw among the scenes


class Measure(NamedTuple):
    """A value of a quantity.

    ``at`` is the time step (ms), duration (s), mu, e_N, noise (mm), weight or impact (s) that it
    belongs to; ``scene`` is what it depends on.
    """

    scene: str
    quantity: str
    at: float
    value: float


class Measured:
    """The table of :func:`contactid.planar.sweeps.measures.write_measures`, by quantity and what it
    was found at.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        keys = zip(table["body"], table["quantity"], table["at"].round(6), strict=True)
        self._values = dict(zip(keys, table["value"].astype(float), strict=True))

    def __call__(self, quantity: str, at: float, body: str = STATED) -> float:
        """A number, of the stated body or the uniform one."""
        return self._values[body, quantity, round(at, 6)]

    def uniform(self, quantity: str, at: float) -> dict[str, float]:
        """The naive answer: the number of the uniform body."""
        return {"uniform body": self(quantity, at, UNIFORM)}

    def of(self, quantity: str) -> dict[float, float]:
        """All numbers of a quantity, of the stated body, ascending in what they were found at."""
        found = {
            at: value
            for (body, name, at), value in self._values.items()
            if (body, name) == (STATED, quantity)
        }
        return dict(sorted(found.items()))

    def same_motion(self) -> dict[float, float]:
        """For each friction of table 1 the least friction under which the body moves in the very
        same way.
        """
        return self.of("throw_same_as_mu")

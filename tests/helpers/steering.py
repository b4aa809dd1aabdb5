"""What half and twice of each steering number does to an answer: ``python
tests/helpers/steering.py`` writes the table.

Six throws of a simulator that shares nothing with the identification (:mod:`own_throws`). Shifts of
J/m are in units of the usual answer's standard error, errors relative to it.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.planar.engine.steering import STEERING, Steering
from contactid.planar.own.body import OwnBody, OwnThrows, read_own_body, read_own_throws_of
from contactid.planar.own.identify import identify_own
from own_throws import write_case

CASES = (
    ("ellipse", 150),
    ("ellipse, e_N varies", 151),
    ("stated radius", 150),
    ("unknown radius", 151),
    ("square, e_N varies", 150),
    ("rectangle", 151),
)
TABLE = Path(__file__).parents[2] / "workflow/resources/steering.csv"


def half(value: Any) -> Any:
    """Half a number, every second value of a grid."""
    if isinstance(value, tuple):
        return value[::2]
    return max(1, value // 2) if isinstance(value, int) else 0.5 * value


def twice(value: Any) -> Any:
    """Twice a number, a grid with its middles."""
    if isinstance(value, tuple):
        middles = [0.5 * (one + other) for one, other in itertools.pairwise(value)]
        return tuple(sorted([*value, *middles]))
    return 2 * value


def answers(
    read: Mapping[tuple[str, int], tuple[OwnBody, OwnThrows]], steering: Steering
) -> np.ndarray:
    """(cases, 2) J/m and its standard error, m2; NaN where the throw is refused."""
    rows = np.full((len(read), 2), np.nan)
    for row, (body, throws) in zip(rows, read.values(), strict=True):
        try:
            fit = identify_own(body, throws, steering=steering).fit
        except ContactIdError:
            continue
        row[:] = fit.inertia_ratio, fit.inertia_ratio_se
    return rows


def read_cases() -> dict[tuple[str, int], tuple[OwnBody, OwnThrows]]:
    """The six cases, as the command reads them."""
    read = {}
    for kind, seed in CASES:
        with tempfile.TemporaryDirectory() as folder:
            files, description, _ = write_case(Path(folder), kind, seed)
            body = read_own_body(description)
            read[kind, seed] = body, read_own_throws_of(body, files)
    return read


def effect(usual: np.ndarray, changed: np.ndarray) -> dict[str, float]:
    """Shifts in units of the usual standard error, and errors relative to it, over the cases that
    both answer.
    """
    answered = np.isfinite(usual[:, 0] + changed[:, 0])
    error = usual[answered, 1]
    shift = np.abs(changed[answered, 0] - usual[answered, 0]) / error
    ratio = changed[answered, 1] / error
    return {
        "n_answered": int(answered.sum()),
        "shift_median_se": float(np.median(shift)),
        "shift_largest_se": float(shift.max()),
        "error_ratio_least": float(ratio.min()),
        "error_ratio_median": float(np.median(ratio)),
        "error_ratio_largest": float(ratio.max()),
    }


def main() -> None:
    """Write the table."""
    read = read_cases()
    usual = answers(read, STEERING)
    rows = []
    for field in fields(STEERING):
        value = getattr(STEERING, field.name)
        for change, changed in (("half", half(value)), ("twice", twice(value))):
            row = {
                "number": field.name,
                "value": str(value),
                "unit": field.metadata["unit"],
                "why": field.metadata["why"],
                "change": change,
            }
            if changed != value:
                row |= effect(usual, answers(read, replace(STEERING, **{field.name: changed})))
                rows.append(row)
                print(row["number"], change, row["shift_largest_se"], flush=True)
    write_csv(pd.DataFrame(rows), TABLE)


if __name__ == "__main__":
    main()

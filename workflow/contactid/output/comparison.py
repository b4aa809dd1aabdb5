"""Hold reproduced numbers against printed ones: one row per printed number, with a verdict and its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

AGREES, BETTER, DIFFERS, INPUT, NOT_COMPARABLE = "agrees", "better", "differs", "input", "not_comparable"
VERDICTS = (AGREES, BETTER, DIFFERS, INPUT, NOT_COMPARABLE)
MEANINGS = {
    AGREES: "within the tolerance that the row states",
    BETTER: "an error that is smaller than the printed one, by more than the tolerance",
    DIFFERS: "further off than the tolerance",
    INPUT: "what the run starts from, used as printed: no result; it only shows that it was written down right",
    NOT_COMPARABLE: "made from other data than the paper's, or not computed by this run; the row's note says which",
}
COLUMNS = (
    "study", "artefact", "quantity", "condition", "published", "reproduced", "unit", "tolerance", "verdict", "note",
)  # fmt: skip

Key = tuple[str, str, str]


class Tolerance(NamedTuple):
    """The largest difference that agrees, and where it comes from."""

    value: float
    origin: str


@dataclass(frozen=True)
class Reproduced:
    """A number of ours that answers to a printed one.

    Attributes
    ----------
    value : in the printed number's unit
    tolerance : in place of the printed number's own, where what ours is made from limits the comparison
    comparable : whether it was made from what the paper's number was made from
    note : reason of a ``not_comparable``, or how ours was found
    is_error : the number is an error, so a smaller magnitude than the printed one is better
    is_input : the run takes the printed number as its own, so that agreeing is no result
    """

    value: float
    tolerance: Tolerance | None = None
    comparable: bool = True
    note: str = ""
    is_error: bool = False
    is_input: bool = False


def compare(
    study: str, published: pd.DataFrame, reproduced: Mapping[Key, Reproduced], reasons: Mapping[str, str]
) -> pd.DataFrame:
    """One row per printed number; the note of a comparable one ends with its tolerance's origin.

    Parameters
    ----------
    published : columns artefact, quantity, condition, value, unit, tolerance, tolerance_from, where
    reproduced : our numbers by (artefact, quantity, condition)
    reasons : why an artefact's numbers without a counterpart can't be compared, by artefact; ``""`` for all others
    """
    rows = []
    for printed in published.to_dict("records"):
        ours = reproduced.get((printed["artefact"], printed["quantity"], printed["condition"]))
        tolerance = Tolerance(float(printed["tolerance"]), str(printed["tolerance_from"]))
        if ours is None:
            value, verdict = np.nan, NOT_COMPARABLE
            note = reasons.get(printed["artefact"], reasons.get("", "not reproduced by this run"))
        else:
            value, note = ours.value, ours.note
            tolerance = tolerance if ours.tolerance is None else ours.tolerance
            # the last digit of a difference of rounded numbers must not decide
            agrees = abs(ours.value - float(printed["value"])) <= tolerance.value * (1.0 + 1e-9)
            smaller = ours.is_error and abs(ours.value) < abs(float(printed["value"]))
            apart = BETTER if smaller else DIFFERS
            verdict = NOT_COMPARABLE if not ours.comparable else apart
            if ours.comparable and agrees:
                verdict = INPUT if ours.is_input else AGREES
            if ours.comparable:
                note = "; ".join(part for part in (note, f"tolerance: {tolerance.origin}") if part)
        rows.append(
            (
                study, printed["artefact"], printed["quantity"], printed["condition"], printed["value"], value,
                printed["unit"], tolerance.value, verdict, note,
            )
        )  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))

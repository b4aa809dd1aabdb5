"""Hold our numbers against printed ones: a row each, with what it rests on, whether it could fail, and a verdict.

A printed number counts as reproduced only where ours was made without it and the same check would have refused wrong
answers: nothing, half, twice, the other sign, and the study's naive answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

# what a number of ours rests on
COMPUTED, PREDICTED, FITTED, PRINT, INPUT = "computed", "predicted", "fitted", "print", "input"
BASES = {
    COMPUTED: "made without this printed number and those related to it",
    PREDICTED: "fitted to other printed rows, held against this one",
    FITTED: "fitted to this printed row, among others",
    PRINT: "arithmetic on printed numbers alone",
    INPUT: "starts from the printed number: the run uses it, or the twin behind ours was made with it or a related one",
}

REPRODUCED, PRINT_CONSISTENT, UNINFORMATIVE = "reproduced", "print_consistent", "uninformative"
BETTER, DIFFERS, NOT_COMPARABLE = "better", "differs", "not_comparable"
#: The verdicts, in the order in which they are told.
VERDICTS = (REPRODUCED, PRINT_CONSISTENT, FITTED, DIFFERS, BETTER, UNINFORMATIVE, INPUT, NOT_COMPARABLE)
MEANINGS = {
    REPRODUCED: "computed or predicted, within the tolerance, and the check would have refused every wrong answer",
    PRINT_CONSISTENT: "printed numbers alone give it, within the tolerance: the paper agrees with itself",
    FITTED: "within the tolerance, but fitted to this very row",
    DIFFERS: "further off than the tolerance",
    BETTER: "an error that is smaller than the printed one, by more than the tolerance",
    UNINFORMATIVE: "within the tolerance, and so is a wrong answer: it shows nothing",
    INPUT: "what the run starts from, used as printed: it only shows that it was written down right",
    NOT_COMPARABLE: "the run lacks the dataset or the quantity that the row's note names",
}
_WITHIN = {FITTED: FITTED, PRINT: PRINT_CONSISTENT, INPUT: INPUT}

COLUMNS = (
    "study", "artefact", "quantity", "condition", "published", "reproduced", "unit", "tolerance", "basis", "data",
    "wrong_answers", "rejects", "repeats", "verdict", "note",
)  # fmt: skip

#: Unit of a statement that has no number: 1 where it holds, 0 where it doesn't.
STATEMENT = "holds"
#: Tried in place of a printed zero, plus and minus, by unit: the least that a reader would call more than zero.
SCALES = {
    "%": 5.0,
    "m/s": 0.01,
    "mm": 1.0,
    "deg": 1.0,
    "rad": 0.01,
    "1": 0.1,
    "m": 0.005,
    "kg": 0.01,
    "kg*m2": 1e-4,
    "kg*mm2": 10.0,
}

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
    basis : what it rests on, of :data:`BASES`
    data : the registry's names of the datasets that it was made from, with ``, `` between them
    missing : why it can't be compared: the dataset or the quantity that this run lacks; empty where it can
    tolerance : in place of the printed number's own, where what ours is made from limits the comparison
    naive : the study's naive answers, by name
    signed : whether the number could have the other sign
    is_error : the number is an error, so a smaller magnitude than the printed one is better
    repeats : the condition of the row that tells of the same experiment already; such a row isn't counted
    note : how ours was found
    """

    value: float
    basis: str = COMPUTED
    data: str = ""
    missing: str = ""
    tolerance: Tolerance | None = None
    naive: Mapping[str, float] = field(default_factory=dict)
    signed: bool = False
    is_error: bool = False
    repeats: str = ""
    note: str = ""


def statement(
    holds: Callable[[Any], bool], given: Any, counterexample: Any, basis: str = COMPUTED, data: str = "", note: str = ""
) -> Reproduced:
    """Whether a printed statement holds for what is given; what it must refuse is its counterexample."""
    refused = {"counterexample": float(holds(counterexample))}
    return Reproduced(float(holds(given)), basis, data, tolerance=Tolerance(0.0, "none"), naive=refused, note=note)


def compare(
    study: str, published: pd.DataFrame, reproduced: Mapping[Key, Reproduced], reasons: Mapping[str, str]
) -> pd.DataFrame:
    """One row per printed number; the note of a comparable one ends with its tolerance's origin.

    Parameters
    ----------
    published : columns artefact, quantity, condition, value, unit, tolerance, tolerance_from, where
    reproduced : our numbers by (artefact, quantity, condition)
    reasons : what is missing of an artefact's numbers without a counterpart, by artefact
    """
    rows = []
    for printed in published.to_dict("records"):
        ours = reproduced.get((printed["artefact"], printed["quantity"], printed["condition"]))
        if ours is None:
            missing = reasons.get(printed["artefact"], f"{printed['quantity']} isn't computed by this run")
            ours = Reproduced(np.nan, basis="", missing=missing)
        rows.append((study, *(printed[name] for name in ("artefact", "quantity", "condition")), *_held(printed, ours)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _held(printed: Mapping[Any, Any], ours: Reproduced) -> tuple[Any, ...]:
    """The columns of a row from ``published`` on."""
    published, unit = float(printed["value"]), str(printed["unit"])
    tolerance = ours.tolerance or Tolerance(float(printed["tolerance"]), str(printed["tolerance_from"]))
    tried = {} if np.isnan(ours.value) else wrong_answers(published, unit, ours.naive, ours.signed)
    refused = [name for name, value in tried.items() if not agrees(value, published, tolerance.value)]
    basis = "" if np.isnan(ours.value) else ours.basis
    if ours.missing:
        verdict, note = NOT_COMPARABLE, "; ".join(filter(None, (ours.missing, ours.note)))
    else:
        verdict = judge(ours.value, published, tolerance.value, ours.basis, refused == [*tried] != [], ours.is_error)
        note = "; ".join(filter(None, (ours.note, f"tolerance: {tolerance.origin}")))
    told = ";".join(f"{name}={value:.6g}" for name, value in tried.items())
    return (
        printed["value"], ours.value, unit, tolerance.value, basis, ours.data, told, ";".join(refused),
        ours.repeats, verdict, note,
    )  # fmt: skip


def wrong_answers(published: float, unit: str, naive: Mapping[str, float], signed: bool = False) -> dict[str, float]:
    """What a check must refuse before its agreement says anything, by name."""
    if unit == STATEMENT:
        return dict(naive)
    if published == 0.0:
        return {"above": SCALES[unit], "below": -SCALES[unit], **naive}
    turned = {"sign": -published} if signed else {}
    return {"zero": 0.0, "half": 0.5 * published, "twice": 2.0 * published, **turned, **naive}


def tried_answers(told: str) -> dict[str, float]:
    """The wrong answers of a row's column, by name.

    >>> tried_answers("half=0.5;uniform body=2")
    {'half': 0.5, 'uniform body': 2.0}
    """
    pairs = (entry.rpartition("=") for entry in told.split(";") if entry)
    return {name: float(value) for name, _, value in pairs}


def agrees(value: float, published: float, tolerance: float) -> bool:
    """Whether a number is within the tolerance; the last digit of a difference of rounded numbers doesn't decide."""
    return bool(abs(value - published) <= tolerance * (1.0 + 1e-9))


def judge(value: float, published: float, tolerance: float, basis: str, could_fail: bool, is_error: bool) -> str:
    """The verdict on a number that can be compared; ``could_fail``: every wrong answer would be refused."""
    if not agrees(value, published, tolerance):
        return BETTER if is_error and abs(value) < abs(published) else DIFFERS
    return _WITHIN.get(basis, REPRODUCED if could_fail else UNINFORMATIVE)


def counted(checks: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: of several that tell of one experiment the first alone."""
    return checks[checks["repeats"].fillna("") == ""]

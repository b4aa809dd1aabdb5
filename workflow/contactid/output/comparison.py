"""Hold our numbers against printed ones: a row each, with its basis, rigour and verdict.

What must be refused before agreement says anything: nothing, half, twice, the other sign, and the
study's naive answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from contactid.output.verdicts import (
    ARCHIVE,
    COMPUTED,
    INPUT,
    LACKS,
    NOT_DONE,
    PREDICTED,
    PRINT,
    PRINTED,
    RECORDING,
    SIMULATION,
    TWIN,
    TWIN_OF_PRINT,
    Lack,
    agrees,
    judge_number,
)

COLUMNS = (
    "study", "artefact", "quantity", "condition", "published", "reproduced", "unit", "tolerance", "basis", "origin",
    "data", "wrong_answers", "rejects", "moved", "cases", "repeats", "verdict", "note", "where",
)  # fmt: skip
KEY = ("artefact", "quantity", "condition")
NUMBERS = ("published", "reproduced", "tolerance")

#: Unit of a statement that has no number: 1 where it holds, 0 where it doesn't.
STATEMENT = "holds"
#: The row that stands for all numbers of a table that the run starts from.
INPUTS = "inputs_as_printed"
#: Tried in place of a printed zero, plus and minus, by unit: the least that a reader would call
#: more than zero.
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


class Provenance(Protocol):
    """What is asked of a dataset's origin (:class:`contactid.sources.origin.Origin`)."""

    @property
    def kind(self) -> str:
        """One of :data:`contactid.output.verdicts.ORIGINS`."""

    def rests_on(self, artefact: str, quantity: str, condition: str) -> bool:
        """Whether the dataset was made with this printed number."""


Origins = Mapping[str, Provenance]


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
    basis : what it rests on, of :data:`contactid.output.verdicts.BASES`
    data : the registry's names of the datasets that it was made from, with ``, `` between them
    lack : why it can't be compared: the dataset or the quantity that this run lacks; None where it
        can
    tolerance : in place of the printed number's own, where what ours is made from limits the
        comparison
    naive : the study's naive answers, by name
    signed : whether the number could have the other sign
    is_error : the number is an error, so a smaller magnitude than the printed one is better
    repeats : the condition of the row that tells of the same experiment already; such a row isn't
        counted
    note : how ours was found
    """

    value: float
    basis: str = COMPUTED
    data: str = ""
    lack: Lack | None = None
    tolerance: Tolerance | None = None
    naive: Mapping[str, float] = field(default_factory=dict)
    signed: bool = False
    is_error: bool = False
    repeats: str = ""
    note: str = ""


def compare(
    study: str,
    published: pd.DataFrame,
    reproduced: Mapping[Key, Reproduced],
    reasons: Mapping[str, Lack] | None = None,
    origins: Origins | None = None,
) -> pd.DataFrame:
    """One row per printed number, and one for all that the run starts from in a table.

    Parameters
    ----------
    published : columns artefact, quantity, condition, value, unit, tolerance, tolerance_from, where
    reproduced : our numbers by (artefact, quantity, condition)
    reasons : what is missing of an artefact's numbers without a counterpart, by artefact
    origins : of the datasets, by name
    """
    rows = []
    inputs: dict[str, list[tuple[Mapping[Any, Any], Reproduced]]] = {}
    for printed in published.to_dict("records"):
        artefact, quantity = printed["artefact"], printed["quantity"]
        ours = reproduced.get((artefact, quantity, printed["condition"]))
        if ours is None:
            lack = (reasons or {}).get(artefact)
            if not lack:
                lack = Lack(NOT_DONE, f"{quantity} isn't computed by this run")
            ours = Reproduced(np.nan, basis="", lack=lack)
        # a table of inputs says one thing, that they were written down right: hundreds of rows of
        # its numbers would hide those that could fail
        if ours.basis == INPUT and not ours.data:
            inputs.setdefault(artefact, []).append((printed, ours))
        else:
            rows.append(_row(printed, ours, origins or {}))
    rows += [_inputs_row(artefact, pairs) for artefact, pairs in inputs.items()]
    return as_table([{"study": study, **row} for row in rows])


def as_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as ``checks.csv`` has them; what a row lacks is an empty text, or NaN of a number."""
    empty: dict[str, Any] = {name: np.nan if name in NUMBERS else "" for name in COLUMNS}
    return pd.DataFrame([{**empty, **row} for row in rows], columns=list(COLUMNS))


def _row(printed: Mapping[Any, Any], ours: Reproduced, origins: Origins) -> dict[str, Any]:
    """The row of a printed number, without its study."""
    published = float(printed["value"])
    own = Tolerance(float(printed["tolerance"]), str(printed["tolerance_from"]))
    tolerance = ours.tolerance or own
    # whichever function computed it: what is made from a printed number can't confirm it
    basis = INPUT if rests_on_print(printed, ours.data, origins) else ours.basis
    row = {name: printed[name] for name in (*KEY, "unit", "where")}
    row |= {
        # as it stands in its file: a whole number stays one
        "published": printed["value"],
        "reproduced": ours.value,
        "tolerance": tolerance.value,
        "data": ours.data,
        "repeats": ours.repeats,
    }
    tried: dict[str, float] = {}
    if not np.isnan(ours.value):
        tried = wrong_answers(published, str(printed["unit"]), ours.naive, ours.signed)
        refused = []
        for name, value in tried.items():
            if not agrees(value, published, tolerance.value):
                refused.append(name)
        row |= {
            "basis": basis,
            "origin": origin_of(basis, ours.data, origins),
            "wrong_answers": ";".join(f"{name}={value:.6g}" for name, value in tried.items()),
            "rejects": ";".join(refused),
        }
    if ours.lack:
        row["verdict"] = ours.lack.kind
        notes = (ours.lack.words, ours.note)
    else:
        row["verdict"] = judge_number(
            ours.value, published, tolerance.value, basis, tried.values(), ours.is_error
        )
        notes = (ours.note, f"tolerance: {tolerance.origin}")
    return row | {"note": "; ".join(filter(None, notes))}


def rests_on_print(printed: Mapping[Any, Any], data: str, origins: Origins) -> bool:
    """Whether one of the datasets in ``data`` was made with this printed number."""
    row = (str(printed["artefact"]), str(printed["quantity"]), str(printed["condition"]))
    return any(origins[name].rests_on(*row) for name in datasets_of(data))


def datasets_of(data: str) -> list[str]:
    """The registry's names in a row's ``data``, of whose parts ``inhand_twin:wrist_ft`` is one."""
    return list(dict.fromkeys(name.split(":")[0] for name in data.split(", ") if name))


def origin_of(basis: str, data: str, origins: Origins) -> str:
    """Where the data of a number come from: of several the one that speaks least for it."""
    kinds = {origins[name].kind for name in datasets_of(data)}
    # a twin that was made with print can't confirm it, whatever else a number was made from
    for weakest in (TWIN_OF_PRINT, TWIN, RECORDING, ARCHIVE):
        if weakest in kinds:
            return weakest
    return PRINTED if basis in (PRINT, INPUT, PREDICTED) else SIMULATION


def _inputs_row(
    artefact: str, pairs: Sequence[tuple[Mapping[Any, Any], Reproduced]]
) -> dict[str, Any]:
    """One row for a table's numbers that the run starts from: how many are used as printed."""
    lines, changed = [], []
    for printed, ours in pairs:
        value, quantity = float(printed["value"]), printed["quantity"]
        lines.append(f"{quantity},{printed['condition']},{value:.9g}")
        if not agrees(ours.value, value, float(printed["tolerance"])):
            changed.append(quantity)
    # so that an edit of a printed number shows in a comparison of two runs, though it has no row
    checksum = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    note = f"numbers of the table that the run starts from; sha256 of them as printed: {checksum}"
    if changed:
        note = f"not as printed: {', '.join(changed)}; {note}"
    n_numbers = len(pairs)
    n_as_printed = n_numbers - len(changed)
    return {
        "artefact": artefact,
        "quantity": INPUTS,
        "condition": "",
        "published": n_numbers,
        "reproduced": n_as_printed,
        "unit": "numbers",
        "tolerance": 0.0,
        "basis": INPUT,
        "origin": PRINTED,
        "cases": f"{n_as_printed} of {n_numbers}",
        "verdict": judge_number(n_as_printed, n_numbers, 0.0, INPUT, (), is_error=False),
        "note": note,
        "where": pairs[0][0]["where"],
    }


def wrong_answers(
    published: float, unit: str, naive: Mapping[str, float], signed: bool = False
) -> dict[str, float]:
    """What a check of a number must refuse before its agreement says anything, by name."""
    # half and twice of zero are zero again
    if published == 0.0:
        return {"above": SCALES[unit], "below": -SCALES[unit], **naive}
    turned = {"sign": -published} if signed else {}
    return {"zero": 0.0, "half": 0.5 * published, "twice": 2.0 * published, **turned, **naive}


def tried_answers(wrong_answers: str) -> dict[str, float]:
    """The wrong answers of a row's column, by name.

    >>> tried_answers("half=0.5;uniform body=2")
    {'half': 0.5, 'uniform body': 2.0}
    """
    # a naive answer's name may hold an equals sign, a number doesn't
    pairs = (entry.rpartition("=") for entry in wrong_answers.split(";") if entry)
    return {name: float(value) for name, _, value in pairs}


def comparable(checks: pd.DataFrame) -> pd.Series:
    """Which rows have a verdict on a number or a statement, not what is missing for one."""
    return ~checks["verdict"].isin(LACKS)


def counted(checks: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: of several that tell of one experiment the first alone."""
    return checks[checks["repeats"].fillna("") == ""]

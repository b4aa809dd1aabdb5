"""Which of the tossing paper's printed numbers a run answers to, and why the others can't be compared."""

from __future__ import annotations

import numpy as np
import pandas as pd

from contactid.checks import Key, Reproduced
from contactid.tossing.results import SIMULATOR

_TWIN = "synthetic twin stands in for the 4TU archive"
_OTHER_BODY = "made from other data than the paper's"

REASONS = {
    "": "not reproduced by this run: the paper's archive is not part of it",
    "tab04": "not reproduced by this run: it identifies e_N instead of setting it to zero",
}


def reproduced_numbers(
    properties: pd.DataFrame, parameters: pd.DataFrame, rest: pd.DataFrame, scheme: str
) -> dict[Key, Reproduced]:
    """Our numbers by the printed number they answer to, from tables I to III; ``scheme`` is the paper's."""
    numbers: dict[Key, Reproduced] = {}
    for row in properties.to_dict("records"):
        numbers |= _homogeneous_inertia(row)
    for row in _ours(parameters, scheme).to_dict("records"):
        condition = f"object={row['object']};parameters=trajectory;simulator=matlab"
        for quantity in ("friction_mu", "restitution_e_n"):
            value = float(row[quantity])
            note = _why(row) + f"; 95 % interval {row[f'{quantity}_low']:.3g} to {row[f'{quantity}_high']:.3g}"
            numbers["tab02", quantity, condition] = Reproduced(value, comparable=False, note=note)
        if row["object"] == "Box006":
            numbers["text", "restitution_insensitive_below", "section=IV-B;object=Box006"] = Reproduced(
                float(row["restitution_flat_to"]),
                comparable=False,
                note=_why(row) + "; largest e_N whose mean loss is within 2 % of the optimum",
            )
    for row in _ours(rest[rest["subset"] == "all"], scheme).to_dict("records"):
        condition = f"object={row['object']};parameters=trajectory;simulator=matlab"
        for quantity in (
            "position_error_mean_cm", "position_error_std_cm", "rotation_error_mean_deg", "rotation_error_std_deg",
        ):  # fmt: skip
            numbers["tab03", quantity, condition] = Reproduced(
                float(row[quantity]), comparable=False, note=f"{_why(row)}; {row['n_tosses']} tosses"
            )
    return numbers


def _ours(table: pd.DataFrame, scheme: str) -> pd.DataFrame:
    return table[(table["simulator"] == SIMULATOR) & (table["scheme"] == scheme)]


def _why(row: dict) -> str:
    return _TWIN if row["data"] == "synthetic twin" else _OTHER_BODY


def _homogeneous_inertia(row: dict) -> dict[Key, Reproduced]:
    """The inertia that printed size and mass imply, against the printed inertia.

    Size is printed to 1 mm and mass to 1 g, so the implied inertia is known to the sum of their effects.
    """
    size = np.array([row["length_mm"], row["width_mm"], row["height_mm"]])
    mass = float(row["mass_kg"])
    numbers: dict[Key, Reproduced] = {}
    for axis, k in enumerate("xyz"):
        others = np.delete(size, axis)
        rounding = mass / 6.0 * 0.5 * float(others.sum()) + 0.0005 * float((others**2).sum()) / 12.0 + 0.5
        numbers["tab01", f"inertia_{k}{k}_kg_mm2", f"object={row['object']}"] = Reproduced(
            float(row[f"homogeneous_inertia_{k}{k}_kg_mm2"]),
            tolerance=rounding,
            note="inertia of a homogeneous box of the printed size and mass; tolerance: their printed rounding",
        )
    return numbers

"""Which of the planar paper's printed numbers and statements a run answers to.

The evidence for statements is in :mod:`contactid.planar.claims`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import PRINT, Key, Reproduced, compare
from contactid.output.statements import judge_statements
from contactid.output.stored import read_stored
from contactid.output.tables import read_csv, write_csv
from contactid.output.verdicts import NEVER_PUBLISHED, NOT_DONE, Lack
from contactid.planar.printed_scenes import SAMPLES, Tables, as_printed
from contactid.planar.sweeps.measured import IDENTIFICATION, UNIFORM, Measured
from contactid.planar.table1 import INERTIA, MASS, table_numbers

_STICKING = "friction of 1, under which sticking impacts stop the contact point's tangential motion"
_NULL_SPACE = "null space of eq. 29's matrix; for the uniform body it is the same"
#: By artefact, quantity and condition: the measure, what it was found at, and how.
_MEASURED: dict[Key, tuple[str, float, str]] = {
    ("fig07", "peak_impulse_drop_ns", "scene=drop"): ("drop_peak_ns", 1.0, ""),
    ("fig07", "peak_impulse_drop_ns", "scene=drop;time_step_ms=2"): ("drop_peak_ns", 2.0, ""),
    ("fig07", "peak_impulse_drop_ns", "scene=drop;time_step_ms=5"): ("drop_peak_ns", 5.0, ""),
    ("fig08", "peak_impulse_throw_ns", "scene=throw"): ("throw_peak_ns", 1.0, ""),
    ("fig11", "liftoff_friction_mu", "scene=sliding;duration_s=1"): (
        "liftoff_mu", 1.0, "gap above 10 mm within figure 12's second; ext_liftoff has other waits",
    ),
    ("fig12", "energy_change_pct", "scene=sliding;friction_mu=0"): (
        "sliding_energy_change_pct", 0.0, "nothing turns or brakes the body",
    ),
    ("fig14", "energy_change_pct", "scene=restitution;restitution_e_n=1"): (
        "bounce_energy_change_pct", 1.0, _STICKING,
    ),
    ("fig14", "lost_in_friction_pct", "scene=restitution;restitution_e_n=0"): (
        "bounce_friction_pct", 0.0, _STICKING,
    ),
    ("fig19", "rolling_friction_mu", "section=6.1;restitution_e_n=0.2"): (
        "rolling_mu", 0.2, "largest share of tangential in normal impulse where nothing slides",
    ),
    ("text", "free_directions", "section=5.2.2;noise_mm=0"): ("free_directions", 0.0, _NULL_SPACE),
    ("text", "free_directions", "section=5.2.3;noise_mm=1"): ("free_directions", 1.0, _NULL_SPACE),
}  # fmt: skip


def check(
    published: str,
    ledger: str,
    tables: Sequence[str],
    stored: Sequence[str],
    block: Mapping[str, Any],
    checks: str,
) -> None:
    """Hold print against the run's ``tables`` and table 1's ``stored`` samples; write a row each.

    The study's ``block`` of the configuration tells which scenes are the paper's.
    """
    every = {Path(file).stem: read_csv(file) for file in tables}
    kept = as_printed({**every, SAMPLES: read_stored(stored)[0]}, block)
    write_csv(all_rows(kept, read_csv(published), ledger), checks)


def all_rows(tables: Tables, printed: pd.DataFrame, ledger: str) -> pd.DataFrame:
    """A row for each printed number, then for each statement; ``tables`` of scenes as printed."""
    lacks = {
        name: Lack(NOT_DONE, f"numbers of {name}, whose scene or throw this configuration changes")
        for name in printed["artefact"].unique()
    }
    numbers = compare("planar", printed, all_numbers(tables, printed), lacks, {})
    statements = judge_statements("planar", ledger, {**tables, "published": printed}, {}, {})
    return pd.concat([numbers, statements], ignore_index=True)


def all_numbers(tables: Tables, printed: pd.DataFrame) -> dict[Key, Reproduced]:
    """Our number for each printed one."""
    numbers = unpublished(printed) | printed_numbers(printed) | measured_numbers(tables)
    if f"measures_{IDENTIFICATION}" in tables:
        same = Measured(tables[f"measures_{IDENTIFICATION}"]).same_motion()
        numbers |= table_numbers(printed, tables[SAMPLES], same)
    return numbers


def unpublished(printed: pd.DataFrame) -> dict[Key, Reproduced]:
    """Section 6.2's numbers, which are of measured throws."""
    numbers = {}
    for row in printed[printed["condition"].str.startswith("section=6.2")].to_dict("records"):
        words = f"{row['quantity']} of section 6.2's throws, whose videos were never published"
        key = row["artefact"], row["quantity"], row["condition"]
        numbers[key] = Reproduced(np.nan, basis="", lack=Lack(NEVER_PUBLISHED, words))
    return numbers


def measured_numbers(tables: Tables) -> dict[Key, Reproduced]:
    """Numbers of simulated motions; the uniform body is a naive answer wherever J enters."""
    parts = [table for name, table in tables.items() if name.startswith("measures_")]
    if not parts:
        return {}
    found, numbers = Measured(pd.concat(parts)), {}
    for key, (quantity, at, note) in _MEASURED.items():
        if at not in found.of(quantity):
            continue
        ours, uniform = found(quantity, at), found(quantity, at, UNIFORM)
        # where J has no part the uniform body is no wrong answer
        naive = {"uniform body": uniform} if uniform != ours else {}
        # other time steps of one drop are one experiment
        repeats = "scene=drop" if key[2].startswith("scene=drop;") else ""
        naive |= _other_answers(key, found, tables)
        note = note or f"IRC at h = {at:g} ms"
        numbers[key] = Reproduced(ours, naive=naive, note=note, repeats=repeats)
    return numbers


def _other_answers(key: Key, found: Measured, tables: Tables) -> dict[str, float]:
    """Naive answers of another model or friction, of flight, noiseless poses or another wait."""
    artefact, quantity, condition = key
    measure, at, _ = _MEASURED[key]
    if artefact in ("fig07", "fig08"):
        return {"gap complementarity": found(measure.replace("_peak", "_gap_peak"), at)}
    if artefact == "fig12":
        change = found.of("sliding_energy_change_pct")
        least = min(mu for mu in change if mu > 0.0)
        return {f"friction {least:g}": change[least], "nothing touches": 0.0}
    if artefact == "fig11":
        # the wait is our choice: a check that takes another wait's threshold as well hangs on it
        waits = tables["ext_liftoff"].query("clearance_mm == 10 and duration_s != 1")
        pairs = zip(waits["duration_s"], waits["friction_mu"], strict=True)
        return {f"within {seconds:g} s": float(mu) for seconds, mu in pairs}
    if condition == "section=5.2.3;noise_mm=1":
        return {"without noise": found(quantity, 0.0)}
    return {}


def printed_numbers(published: pd.DataFrame) -> dict[Key, Reproduced]:
    """What printed numbers alone give: J/m by J and m, and figure 22's error by its J/m."""
    value = published.set_index(["quantity", "condition"])["value"].astype(float).to_dict()
    fig22, true = "section=6.2;throw=fig22", ("true_inertia_ratio_mm2", "body=plywood_ellipse")
    error = 100.0 * (value["inertia_ratio_mm2", fig22] / value[true] - 1.0)
    numbers: dict[Key, Reproduced] = {}
    told = "stated inertia by stated mass"
    numbers["text", *true] = Reproduced(1e6 * INERTIA / MASS, basis=PRINT, note=told)
    told = "printed J/m by the printed true one"
    key = ("fig22", "inertia_ratio_error_pct", fig22)
    numbers[key] = Reproduced(error, basis=PRINT, signed=True, note=told)
    return numbers

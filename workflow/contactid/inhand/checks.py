"""Hold the in-hand paper's printed numbers and statements against a run's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from contactid.inhand.artefacts.estimates import PRINTED
from contactid.inhand.artefacts.printed import ARTEFACTS, SIGNS, off_diagonals_of, printed_table
from contactid.inhand.claims import RECORDINGS, block_of, twins_of
from contactid.inhand.identify.methods import (
    FACTOR_GRAPH,
    GROUND_TRUTH,
    LEAST_SQUARES,
    LIKELIHOOD,
    METHODS,
    PARAMETER_COLUMNS,
    SOLVER_LABELS,
    parameter_values,
)
from contactid.inhand.readers.objects import InHandObject, load_objects, object_of
from contactid.inhand.readers.sources import APPENDIX_TABLES, SIMULATION, SOURCE_LABELS
from contactid.output.comparison import Key, Reproduced, compare
from contactid.output.statements import judge_statements
from contactid.output.tables import read_csv, write_csv
from contactid.output.verdicts import COMPUTED, FITTED, INPUT, NEVER_PUBLISHED, Lack
from contactid.sources.origin import read_origins

Tables = Mapping[str, pd.DataFrame]
Objects = Mapping[str, InHandObject]
#: What a printed number without a counterpart of ours lacks, by artefact.
REASONS = {
    ARTEFACTS[source]: Lack(NEVER_PUBLISHED, f"{RECORDINGS}: {told}, table {ARTEFACTS[source][3:]}")
    for source, told in SOURCE_LABELS.items()
} | {
    ARTEFACTS[SIMULATION]: Lack(
        NEVER_PUBLISHED, "the paper's simulated motion and noise, which it doesn't print, table A1"
    ),
    "text": Lack(
        NEVER_PUBLISHED,
        "the BioTac test set of reference [28], and the errors of its model there (section V-A)",
    ),
}


def check(
    published: str,
    objects: str,
    ledger: str,
    cards: Sequence[str],
    tables: Sequence[str],
    names: Sequence[str],
    checks: str,
) -> None:
    """Judge the printed numbers and the ledger's statements by tables, which ``names`` names."""
    found = {name: read_csv(file) for name, file in zip(names, tables, strict=True)}
    printed, things, origins = read_csv(published), load_objects(objects), read_origins(cards)
    named = {"objects": things, "printed": printed_table(printed)}
    numbers = compare("inhand", printed, reproduced_numbers(found, things), REASONS, origins)
    statements = judge_statements("inhand", ledger, found, named, origins)
    write_csv(pd.concat([numbers, statements], ignore_index=True), checks)


def reproduced_numbers(tables: Tables, objects: Objects) -> dict[Key, Reproduced]:
    """Our numbers by (artefact, quantity, condition) of ``published/inhand.csv``.

    A printed ground truth is what the twins start from. A printed estimate has the median of the
    twins' runs beside it, by the paper's own way of solving, and isn't compared: its recordings
    were never published. All numbers keep the sign of the off-diagonals that their printed row has.
    """
    numbers = _force_model(tables["ext_force_sensing"])
    for source, name in APPENDIX_TABLES.items():
        numbers |= _ground_truths(source, tables[name], objects)
        numbers |= _estimates(source, tables[name], objects)
    return numbers


def _key(source: str, quantity: str, name: str, method: str) -> Key:
    condition = f"source={block_of(source)};object={name};method={method}"
    return ARTEFACTS[source], quantity, condition


def _as_printed(source: str, method: str, values: Mapping[Any, Any]) -> dict[str, float]:
    """The ten numbers with the off-diagonals' sign of the method's printed row."""
    sign = SIGNS[off_diagonals_of(source, method)]
    # the tensor's off-diagonals, the last three
    turned = set(PARAMETER_COLUMNS[7:])
    return {
        name: float(values[name]) * (sign if name in turned else 1.0) for name in PARAMETER_COLUMNS
    }


def _ground_truths(source: str, table: pd.DataFrame, objects: Objects) -> dict[Key, Reproduced]:
    numbers: dict[Key, Reproduced] = {}
    for name in table.loc[table["method"] == GROUND_TRUTH, "object"].unique():
        truth = parameter_values(object_of(objects, name).parameters)
        for quantity, value in _as_printed(source, GROUND_TRUTH, truth).items():
            numbers[_key(source, quantity, name, GROUND_TRUTH)] = Reproduced(value, INPUT)
    return numbers


def _estimates(source: str, table: pd.DataFrame, objects: Objects) -> dict[Key, Reproduced]:
    numbers: dict[Key, Reproduced] = {}
    estimates = table[table["method"].isin(METHODS)]
    for (name, method), part in estimates.groupby(["object", "method"], sort=False):
        as_printed = partial(_as_printed, source, str(method))
        rows = {row["origin"]: row for row in part.to_dict("records")}
        # the paper's own way of solving; the baseline has least squares only
        solver = FACTOR_GRAPH if FACTOR_GRAPH in rows else LEAST_SQUARES
        if PRINTED not in rows or solver not in rows:
            continue
        ours, exact = rows[solver], as_printed(rows[LIKELIHOOD]) if LIKELIHOOD in rows else {}
        uniform = as_printed(parameter_values(object_of(objects, str(name)).uniform_body))
        counted = f"median of {ours['converged']} of {ours['runs']} runs on twins"
        for quantity, value in as_printed(ours).items():
            best = f"; {SOLVER_LABELS[LIKELIHOOD]}: {exact[quantity]:.4g}" if exact else ""
            mass = quantity == PARAMETER_COLUMNS[0]
            numbers[_key(source, quantity, str(name), str(method))] = Reproduced(
                value,
                # forces that no fingertip of the twins senses were chosen by the mass lost in print
                FITTED if mass and source.startswith("in_hand") else COMPUTED,
                twins_of(source),
                REASONS[ARTEFACTS[source]],
                naive={} if mass else {"uniform body": uniform[quantity]},  # a hull has no mass
                # mass and moments of inertia have no other sign
                signed=quantity.startswith("com_") or quantity in PARAMETER_COLUMNS[7:],
                note=f"{counted}, {SOLVER_LABELS[solver]}{best}; printed row: {rows[PRINTED]['verdict']}",
            )
    return numbers


def _force_model(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """Section V-A: how much better the force model is than the one before it."""
    # models with a reference
    rows = table[np.isfinite(table["magnitude_improvement"])]
    if rows.empty:
        return {}
    note = (
        f"{str(rows['model'].iloc[0]).replace('_', ' ')} on a simulated sensor, against the same model without its"
        " way to uncertainty; median error of the magnitude, of the angle"
        f" {rows['angle_improvement'].median():.2f}"
    )
    value = float(rows["magnitude_improvement"].median())
    data = "inhand_twin:electrode_sensor"
    ours = Reproduced(value, COMPUTED, data, REASONS["text"], note=note)
    return {("text", "force_model_improvement", ""): ours}

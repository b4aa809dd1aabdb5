"""Which of the in-hand paper's printed numbers and statements a run answers to, and what it lacks for the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from contactid.inhand.artefacts.estimates import PRINTED
from contactid.inhand.artefacts.printed import ARTEFACTS, SIGNS, off_diagonals_of, printed_table
from contactid.inhand.claims import block_of, method_claims, printed_consistency_claims, twins_of
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
from contactid.inhand.readers.sources import APPENDIX_TABLES, ERROR_FIGURES, SOURCE_LABELS
from contactid.output.comparison import COMPUTED, FITTED, INPUT, Key, Reproduced, compare
from contactid.output.tables import read_csv, write_csv

Tables = Mapping[str, pd.DataFrame]
_HELD_AT = "sites.google.com/view/tactile-obj-dynamics, without a DOI"
REASONS = {
    **{
        ARTEFACTS[source]: f"needs a twin of {told}, for table {ARTEFACTS[source][3:]}"
        for source, told in SOURCE_LABELS.items()
    },
    **{
        name.split("_")[0]: f"needs errors of a twin of {SOURCE_LABELS[source]}, for {name}"
        for source, name in ERROR_FIGURES.items()
    },
    "fig06": "needs trials of the warped and the other surfaces, for figure 6",
    "text": "needs a number of sections IV to VI that this run didn't make",
}
_FORCE_MODELS = ("dropout_network", "bayesian_features")  # the paper's kind of model first


def check(published: str, objects: str, tables: Sequence[str], names: Sequence[str], forces: str, checks: str) -> None:
    """Hold the study's printed numbers against those of its tables, which ``names`` names in order, and figure 9's."""
    found = {name: read_csv(file) for name, file in zip(names, tables, strict=True)}
    printed = read_csv(published)
    numbers = reproduced_numbers(found, load_objects(objects), printed, read_csv(forces))
    write_csv(compare("inhand", printed, numbers, REASONS), checks)


def reproduced_numbers(
    tables: Tables, objects: Mapping[str, InHandObject], published: pd.DataFrame, forces: pd.DataFrame
) -> dict[Key, Reproduced]:
    """Our numbers by (artefact, quantity, condition) of ``published/inhand.csv``.

    A printed ground truth answers to the twins' truth. A printed estimate has the median of the twins' runs beside it,
    by the paper's own way of solving, which is not comparable; the note has ours and the verdict on the printed row.
    All numbers keep the sign of the off-diagonals that their printed row has. Statements are those of :mod:`.claims`.
    """
    printed = printed_table(published)
    numbers = printed_consistency_claims(printed) | method_claims(tables, objects, printed, forces)
    numbers |= _force_model(tables["ext_force_sensing"])
    for source, name in APPENDIX_TABLES.items():
        numbers |= _ground_truths(source, tables[name], objects) | _estimates(source, tables[name], objects)
    return numbers


def _condition(source: str, name: str, method: str) -> str:
    return f"source={block_of(source)};object={name};method={method}"


def _as_printed(source: str, method: str, values: Mapping[Any, Any]) -> dict[str, float]:
    """The ten numbers with the off-diagonals' sign of the method's printed row."""
    sign = SIGNS[off_diagonals_of(source, method)]
    turned = set(PARAMETER_COLUMNS[7:])
    return {name: float(values[name]) * (sign if name in turned else 1.0) for name in PARAMETER_COLUMNS}


def _ground_truths(source: str, table: pd.DataFrame, objects: Mapping[str, InHandObject]) -> dict[Key, Reproduced]:
    off_diagonals = off_diagonals_of(source, GROUND_TRUTH).replace("_", " ")
    note = f"truth of the twin; read about the origin, off-diagonals as {off_diagonals}"
    numbers: dict[Key, Reproduced] = {}
    for name in table.loc[table["method"] == GROUND_TRUTH, "object"].unique():
        truth = parameter_values(object_of(objects, name).parameters)
        for quantity, value in _as_printed(source, GROUND_TRUTH, truth).items():
            key = (ARTEFACTS[source], quantity, _condition(source, name, GROUND_TRUTH))
            numbers[key] = Reproduced(value, INPUT, signed=_signed(quantity), note=note)
    return numbers


def _signed(quantity: str) -> bool:
    """Mass and moments of inertia have no other sign."""
    return quantity.startswith("com_") or quantity in PARAMETER_COLUMNS[7:]


def _estimates(source: str, table: pd.DataFrame, objects: Mapping[str, InHandObject]) -> dict[Key, Reproduced]:
    numbers: dict[Key, Reproduced] = {}
    for (name, method), part in table[table["method"].isin(METHODS)].groupby(["object", "method"], sort=False):
        as_printed = partial(_as_printed, source, str(method))
        rows = {row["origin"]: row for row in part.to_dict("records")}
        solver = FACTOR_GRAPH if FACTOR_GRAPH in rows else LEAST_SQUARES
        if PRINTED not in rows or solver not in rows:
            continue
        ours, exact = rows[solver], as_printed(rows[LIKELIHOOD]) if LIKELIHOOD in rows else {}
        uniform = as_printed(parameter_values(object_of(objects, str(name)).uniform_body))
        counted = f"median of {ours['converged']} of {ours['runs']} runs on twins, {SOLVER_LABELS[solver]}"
        for quantity, value in as_printed(ours).items():
            best = f"; {SOLVER_LABELS[LIKELIHOOD]}: {exact[quantity]:.4g}" if exact else ""
            mass = quantity == PARAMETER_COLUMNS[0]
            numbers[ARTEFACTS[source], quantity, _condition(source, str(name), str(method))] = Reproduced(
                value,
                # forces that no fingertip of the twins senses were chosen so that the mass is lost as in print
                FITTED if mass and source.startswith("in_hand") else COMPUTED,
                twins_of(source),
                missing=f"needs {quantity} from the paper's recordings {SOURCE_LABELS[source]} ({_HELD_AT})",
                naive={} if mass else {"uniform body": uniform[quantity]},  # the hull doesn't say the mass
                signed=_signed(quantity),
                note=f"{counted}{best}; printed row: {rows[PRINTED]['verdict']}",
            )
    return numbers


def _force_model(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """Section V-A: how much better the force model is than the one before it."""
    for model in _FORCE_MODELS:
        rows = table[(table["model"] == model) & np.isfinite(table["magnitude_improvement"])]
        if len(rows):
            note = (
                f"{model.replace('_', ' ')} on a simulated sensor, against the same model without its way to"
                f" uncertainty; median error of the magnitude, of the angle {rows['angle_improvement'].median():.2f}"
            )
            missing = "needs the BioTac test set of reference [28] and the errors of its model there (section V-A)"
            value = float(rows["magnitude_improvement"].median())
            ours = Reproduced(value, data="inhand_twin:electrode_sensor", missing=missing, note=note)
            return {("text", "force_model_improvement", ""): ours}
    return {}

"""Which of the in-hand paper's printed numbers a run answers to, and why the others can't be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.inhand.artefacts.estimates import PRINTED
from contactid.inhand.artefacts.printed import ARTEFACTS, BLOCKS, ground_truth_reading
from contactid.inhand.identify.methods import (
    FACTOR_GRAPH,
    GROUND_TRUTH,
    IPOPT,
    LEAST_SQUARES,
    METHODS,
    PARAMETER_COLUMNS,
    SOLVER_LABELS,
    parameter_values,
)
from contactid.inhand.readers.objects import InHandObject, load_objects, object_of
from contactid.inhand.readers.sources import APPENDIX_TABLES
from contactid.output.comparison import Key, Reproduced, compare
from contactid.output.tables import read_csv, write_csv

Tables = Mapping[str, pd.DataFrame]
_NO_RUN = "measured; the paper's recordings can't be fetched, and this run has no twin of this one"
REASONS = {"": "not reproduced by this run", **dict.fromkeys(ARTEFACTS.values(), _NO_RUN)}
_SYNTHETIC = "from synthetic recordings, which stand in for the paper's: other trajectories and noise"
_BLOCKS = {source: block for block, source in BLOCKS.items()}
_FORCE_MODELS = ("dropout_network", "bayesian_features")  # the paper's kind of model first


def check(published: str, objects: str, tables: Sequence[str], names: Sequence[str], checks: str) -> None:
    """Hold the study's printed numbers against those of its tables, which ``names`` names in order."""
    found = {name: read_csv(file) for name, file in zip(names, tables, strict=True)}
    numbers = reproduced_numbers(found, load_objects(objects))
    write_csv(compare("inhand", read_csv(published), numbers, REASONS), checks)


def reproduced_numbers(tables: Tables, objects: Mapping[str, InHandObject]) -> dict[Key, Reproduced]:
    """Our numbers by (artefact, quantity, condition) of ``published/inhand.csv``.

    A printed ground truth answers to the twins' truth. A printed estimate has the median of the twins' runs beside it,
    by the paper's own way of solving, which is not comparable; the note has IPOPT's and the verdict on the printed row.
    All numbers keep the sign and the point that their printed table has.
    """
    numbers = _force_model(tables["ext_force_sensing"])
    for source, name in APPENDIX_TABLES.items():
        numbers |= _ground_truths(source, tables[name], objects) | _estimates(source, tables[name])
    return numbers


def _condition(source: str, name: str, method: str) -> str:
    return f"source={_BLOCKS.get(source, source)};object={name};method={method}"


def _as_printed(source: str, values: Mapping[Any, Any]) -> dict[str, float]:
    """The ten numbers with the off-diagonals' sign of the source's printed table."""
    sign = ground_truth_reading(source).sign
    turned = set(PARAMETER_COLUMNS[7:])
    return {name: float(values[name]) * (sign if name in turned else 1.0) for name in PARAMETER_COLUMNS}


def _ground_truths(source: str, table: pd.DataFrame, objects: Mapping[str, InHandObject]) -> dict[Key, Reproduced]:
    reading = ground_truth_reading(source)
    off_diagonals = reading.off_diagonals.replace("_", " ")
    note = f"truth of the twin; read about the {reading.point}, off-diagonals as {off_diagonals}"
    numbers: dict[Key, Reproduced] = {}
    for name in table.loc[table["method"] == GROUND_TRUTH, "object"].unique():
        truth = parameter_values(object_of(objects, name).parameters)
        for quantity, value in _as_printed(source, truth).items():
            key = (ARTEFACTS[source], quantity, _condition(source, name, GROUND_TRUTH))
            numbers[key] = Reproduced(value, note=note, is_input=True)
    return numbers


def _estimates(source: str, table: pd.DataFrame) -> dict[Key, Reproduced]:
    numbers: dict[Key, Reproduced] = {}
    for (name, method), part in table[table["method"].isin(METHODS)].groupby(["object", "method"], sort=False):
        rows = {row["origin"]: row for row in part.to_dict("records")}
        solver = FACTOR_GRAPH if FACTOR_GRAPH in rows else LEAST_SQUARES
        if PRINTED not in rows or solver not in rows:
            continue
        ours, exact = rows[solver], _as_printed(source, rows[IPOPT]) if IPOPT in rows else {}
        counted = f"median of {ours['converged']} of {ours['runs']} runs, {SOLVER_LABELS[solver]}"
        for quantity, value in _as_printed(source, ours).items():
            key = (ARTEFACTS[source], quantity, _condition(source, str(name), str(method)))
            best = f"; {SOLVER_LABELS[IPOPT]}: {exact[quantity]:.4g}" if exact else ""
            note = f"{_SYNTHETIC}; {counted}{best}; printed row: {rows[PRINTED]['verdict']}"
            numbers[key] = Reproduced(value, comparable=False, note=note)
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
            value = float(rows["magnitude_improvement"].median())
            return {("text", "force_model_improvement", ""): Reproduced(value, comparable=False, note=note)}
    return {}

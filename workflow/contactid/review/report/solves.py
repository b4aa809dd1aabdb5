"""Every numerical solve of a study that left a record, the failed and the implausible ones first.

Records are JSON files with one fit each, or tables with a column ``converged`` and a row per fit;
their other columns differ from study to study and are mapped here to one form.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.output.tables import read_csv

# where the studies keep records of solves, below the study's folder
_TABLES = ("fits/*.csv", "identification/*.csv", "tables/ext_fit_methods.csv")
_FITS = "fits/*.json"
_CASE = (
    "source", "object", "noise_model", "mu", "fps", "throw", "experiment", "seed", "sample", "timing", "component",
    "modes", "start",
)  # fmt: skip
_METHOD = ("method", "reformulation", "solver")
_STATUS = ("status", "message", "reason")
_PLAUSIBLE = ("plausible", "physically_consistent")
_RESIDUAL = ("complementarity", "residual_rms", "residual_mm")
# solves of a study on the page, the failed ones first: its files have all
MOST_LISTED = 400
COLUMNS = ("group", "case", "method", "status", "iterations", "residual", "seconds", "standing")


def solves_of(folder: Path) -> pd.DataFrame:
    """All recorded solves of a study, failed ones first, then implausible ones, otherwise in the
    files' order.

    Returns
    -------
    DataFrame
        ``group`` (files of a kind), ``case``, ``method``, ``status``, ``iterations``, ``residual``
        (the largest), ``seconds``, NaN and "" where it isn't recorded; ``standing``: ``failed``,
        ``implausible`` where the answer contradicts its own data or physics, else ``good``.
    """
    solves = pd.DataFrame([*_of_fits(folder), *_of_tables(folder)], columns=list(COLUMNS))
    standing = pd.Categorical(solves["standing"], ("failed", "implausible", "good"), ordered=True)
    return solves.assign(standing=standing).sort_values(
        "standing", kind="stable", ignore_index=True
    )


def group_solves(solves: pd.DataFrame) -> list[dict[str, Any]]:
    """The solves in numbers, by kind and method, in order of kind and method."""
    return [
        {
            "group": group,
            "method": method,
            "solves": len(members),
            "failed": (members["standing"] == "failed").sum(),
            "implausible": (members["standing"] == "implausible").sum(),
            "iterations": members["iterations"].median(),
            "residual": members["residual"].abs().max(),
            "seconds": members["seconds"].median(),
        }
        for (group, method), members in solves.groupby(["group", "method"])
    ]


def _of_fits(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob(_FITS)):
        try:
            fit = json.loads(file.read_text(encoding="utf-8"))
        # a table of samples or a cut-off file is no fit
        except ValueError:
            continue
        if not isinstance(fit, dict) or "converged" not in fit:
            continue
        # studies say differently of what data a fit is
        data = fit.get("data")
        dataset = data.get("dataset", "") if isinstance(data, dict) else str(data or "")
        names_dataset = not dataset or file.stem.startswith(dataset)
        yield {
            "group": "fits",
            "case": file.stem if names_dataset else f"{dataset}: {file.stem}",
            "method": str(fit.get("reformulation") or fit.get("model") or ""),
            "status": str(fit.get("status", "")),
            "iterations": _number(fit.get("iterations")),
            "residual": _largest_residual(fit.get("residuals")),
            "seconds": _number(fit.get("seconds")),
            "standing": "good" if fit["converged"] else "failed",
        }


def _largest_residual(residuals: object) -> float:
    """The largest magnitude of a fit's residuals; NaN where it has none."""
    if not isinstance(residuals, dict):
        return math.nan
    sizes = [abs(_number(value)) for value in residuals.values()]
    return max((size for size in sizes if not math.isnan(size)), default=math.nan)


def _of_tables(folder: Path) -> Iterator[dict[str, Any]]:
    for pattern in _TABLES:
        for file in sorted(folder.glob(pattern)):
            table = read_csv(file)
            if "converged" not in table:
                continue
            group = file.parent.name if file.parent.name != "tables" else file.stem
            for row in table.to_dict("records"):
                yield _of_row(group, file, {str(key): value for key, value in row.items()})


def _of_row(group: str, file: Path, row: dict[str, Any]) -> dict[str, Any]:
    filled = {name: value for name, value in row.items() if value != "" and not pd.isna(value)}
    cases = [f"{name} {_short(filled[name])}" for name in _CASE if name in filled]
    methods = [str(filled[name]) for name in _METHOD if name in filled]
    # of fits.rest.csv or rest_fits.csv, the file's first word
    first_word = file.stem.split(".")[0].split("_")[0]
    return {
        "group": group,
        "case": ", ".join(cases) or file.stem,
        "method": ", ".join(methods) or first_word,
        "status": str(_first(filled, _STATUS, "")),
        "iterations": _number(row.get("iterations")),
        "residual": _number(_first(row, _RESIDUAL, None)),
        "seconds": _number(row.get("seconds")),
        "standing": _standing(row["converged"], _first(filled, _PLAUSIBLE, True)),
    }


def _first(row: Mapping[str, Any], names: Sequence[str], default: Any) -> Any:
    """The value of the first of these columns that a row has."""
    return next((row[name] for name in names if name in row), default)


def _standing(converged: object, plausible: object) -> str:
    if not _true(converged):
        return "failed"
    return "good" if _true(plausible) else "implausible"


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _true(value: object) -> bool:
    return str(value) in ("True", "1", "1.0")


def _number(value: object) -> float:
    return float(pd.to_numeric(value, errors="coerce")) if value is not None else math.nan  # type: ignore[call-overload]

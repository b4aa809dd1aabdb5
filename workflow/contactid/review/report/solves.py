"""Every numerical solve of a study that left a record, the failed and the implausible ones first.

Records are JSON files with one fit each, or tables with a column ``converged`` and a row per fit;
their other columns differ from study to study and are mapped here to one form.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
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
        except ValueError:  # a table of samples or a cut-off file is no fit
            continue
        if not isinstance(fit, dict) or "converged" not in fit:
            continue
        data = fit.get("data")
        case = data.get("dataset", "") if isinstance(data, dict) else str(data or "")
        residuals = fit.get("residuals")
        numbers = (
            [_number(value) for value in residuals.values()] if isinstance(residuals, dict) else []
        )
        yield {
            "group": "fits",
            "case": f"{case}: {file.stem}"
            if case and not file.stem.startswith(case)
            else file.stem,
            "method": str(fit.get("reformulation") or fit.get("model") or ""),
            "status": str(fit.get("status", "")),
            "iterations": _number(fit.get("iterations")),
            "residual": max(
                (abs(value) for value in numbers if not math.isnan(value)), default=math.nan
            ),
            "seconds": _number(fit.get("seconds")),
            "standing": "good" if fit["converged"] else "failed",
        }


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
    plausible = next((_true(filled[name]) for name in _PLAUSIBLE if name in filled), True)
    return {
        "group": group,
        "case": ", ".join(f"{name} {_short(filled[name])}" for name in _CASE if name in filled)
        or file.stem,
        "method": ", ".join(str(filled[name]) for name in _METHOD if name in filled)
        or file.stem.split(".")[0].split("_")[0],
        "status": next((str(filled[name]) for name in _STATUS if name in filled), ""),
        "iterations": _number(row.get("iterations")),
        "residual": next((_number(row[name]) for name in _RESIDUAL if name in row), math.nan),
        "seconds": _number(row.get("seconds")),
        "standing": "failed"
        if not _true(row["converged"])
        else "good"
        if plausible
        else "implausible",
    }


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _true(value: object) -> bool:
    return str(value) in ("True", "1", "1.0")


def _number(value: object) -> float:
    return float(pd.to_numeric(value, errors="coerce")) if value is not None else math.nan  # type: ignore[call-overload]

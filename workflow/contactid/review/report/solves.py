"""Every numerical solve of a study that left a record, the failed and the implausible ones first.

Records are JSON files with one fit each, or tables with a column ``converged`` and a row per fit; their other columns
differ from study to study and are mapped here to one form.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from contactid.output.tables import read_csv
from contactid.review.report.model import Solve, SolveGroup

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


def solves_of(folder: Path) -> list[Solve]:
    """All recorded solves of a study, failed ones first, then implausible ones, otherwise in the files' order."""
    found = [*_of_fits(folder), *_of_tables(folder)]
    order = ("failed", "implausible", "good")
    return sorted(found, key=lambda solve: order.index(solve.standing))  # a stable sort keeps the files' order


def group_solves(solves: list[Solve]) -> list[SolveGroup]:
    """The solves in numbers, by kind and method, in order of kind and method."""
    groups: dict[tuple[str, str], list[Solve]] = {}
    for solve in solves:
        groups.setdefault((solve.group, solve.method), []).append(solve)
    return [
        SolveGroup(
            group=group,
            method=method,
            solves=len(members),
            failed=sum(solve.standing == "failed" for solve in members),
            implausible=sum(solve.standing == "implausible" for solve in members),
            iterations=_median([solve.iterations for solve in members]),
            residual=_largest([solve.residual for solve in members]),
            seconds=_median([solve.seconds for solve in members]),
        )
        for (group, method), members in sorted(groups.items())
    ]


def _of_fits(folder: Path) -> Iterator[Solve]:
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
        numbers = [_number(value) for value in residuals.values()] if isinstance(residuals, dict) else []
        yield Solve(
            group="fits",
            case=f"{case}: {file.stem}" if case and not file.stem.startswith(case) else file.stem,
            method=str(fit.get("reformulation") or fit.get("model") or ""),
            status=str(fit.get("status", "")),
            converged=bool(fit["converged"]),
            plausible=None,
            iterations=_number(fit.get("iterations")),
            residual=_largest(numbers),
            seconds=_number(fit.get("seconds")),
        )


def _of_tables(folder: Path) -> Iterator[Solve]:
    for pattern in _TABLES:
        for file in sorted(folder.glob(pattern)):
            table = read_csv(file)
            if "converged" not in table:
                continue
            group = file.parent.name if file.parent.name != "tables" else file.stem
            for row in table.to_dict("records"):
                yield _of_row(group, file, {str(key): value for key, value in row.items()})


def _of_row(group: str, file: Path, row: dict[str, Any]) -> Solve:
    case = ", ".join(f"{name} {_short(row[name])}" for name in _CASE if name in row and not _empty(row[name]))
    plausible = next((row[name] for name in _PLAUSIBLE if name in row and not _empty(row[name])), None)
    method = ", ".join(str(row[name]) for name in _METHOD if name in row and not _empty(row[name]))
    return Solve(
        group=group,
        case=case or file.stem,
        method=method or file.stem.split(".")[0].split("_")[0],
        status=next((str(row[name]) for name in _STATUS if name in row and not _empty(row[name])), ""),
        converged=_true(row["converged"]),
        plausible=None if plausible is None else _true(plausible),
        iterations=_number(row.get("iterations")),
        residual=next((_number(row[name]) for name in _RESIDUAL if name in row), math.nan),
        seconds=_number(row.get("seconds")),
    )


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _true(value: object) -> bool:
    return str(value) in ("True", "1", "1.0")


def _empty(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _number(value: object) -> float:
    number = pd.to_numeric(value, errors="coerce")  # type: ignore[call-overload]
    return float(number) if isinstance(value, int | float) or number is not None else math.nan


def _median(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return median(known) if known else math.nan


def _largest(values: list[float]) -> float:
    return max((abs(value) for value in values if not math.isnan(value)), default=math.nan)

"""What estimates cost: the table of finite differences, and time against the number of samples as
table and figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.optimize import nnls

from contactid.inhand.identify.methods import FACTOR_GRAPH, LEAST_SQUARES, LIKELIHOOD, SOLVER_LABELS
from contactid.output import style
from contactid.output.tables import read_csv

_MEASURED, _LINE = "measured", "line"  # series of the data
_LOOKS = {
    LEAST_SQUARES: (style.ACCENT, "^"),
    FACTOR_GRAPH: (style.RELEASE, "s"),
    LIKELIHOOD: (style.LINE, "o"),
}
_PANELS = {
    "seconds": "CPU time of an estimate (s)",
    "ms_per_iteration": "CPU time per iteration (ms)",
}


def differences(errors: str) -> pd.DataFrame:
    """``ext_differences``, as :func:`.cost.write_differences` kept it."""
    return read_csv(errors)


def choices_made(choices: str) -> pd.DataFrame:
    """``ext_choices``, as :func:`.cost.write_differences` kept it."""
    return read_csv(choices)


def time_by_samples(times: str, speed: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """``ext_speed`` as table and figure, of what :func:`.cost.write_speed` kept and the block
    ``inhand: speed``.
    """
    table = with_lines(read_csv(times))
    label = f"synthetic data: twin {speed['source']}, {speed['object']}; process CPU time of this run; contactid inhand"
    return {"tables/ext_speed": table, "figures/ext_speed": speed_points(table, label)}


def with_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """Each solver's straight line through time per iteration, beside its rows.

    ``us_per_sample_iteration`` and ``fixed_ms_iteration``, neither below zero, and ``exponent``,
    the slope of the iteration's time over the samples in logarithms: 1 is linear. The number of
    iterations changes with the recording, so the time of a whole estimate is no line.
    """
    lines = {}
    for solver, part in rows[rows["converged"]].groupby("solver", sort=False):
        slope = fixed = exponent = np.nan
        if part["samples"].nunique() > 1:
            rows_of = np.column_stack([part["samples"], np.ones(len(part))])
            slope, fixed = nnls(rows_of, part["ms_per_iteration"].to_numpy(dtype=float))[0]
            exponent = np.polyfit(np.log(part["samples"]), np.log(part["ms_per_iteration"]), 1)[0]
        lines[solver] = (1e3 * slope, fixed, exponent)
    names = ("us_per_sample_iteration", "fixed_ms_iteration", "exponent")
    none = (np.nan,) * len(names)
    extra = pd.DataFrame(
        [lines.get(solver, none) for solver in rows["solver"]],
        columns=list(names),
        index=rows.index,
    )
    return pd.concat([rows, extra], axis=1)


def speed_points(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """What the figure shows: ``quantity, solver, series, samples, value, iterations, source``;
    lines have none.
    """
    parts = []
    for solver, part in table.groupby("solver", sort=False):
        counts, first = part["samples"].to_numpy(dtype=float), part.iloc[0]
        ends = np.array([0.0, counts.max()])
        curves = {
            ("seconds", _MEASURED): (counts, part["seconds"]),
            ("ms_per_iteration", _MEASURED): (counts, part["ms_per_iteration"]),
            ("ms_per_iteration", _LINE): (
                ends, first["fixed_ms_iteration"] + 1e-3 * first["us_per_sample_iteration"] * ends
            ),
        }  # fmt: skip
        for (quantity, series), (x, y) in curves.items():
            labels = {"quantity": quantity, "solver": solver, "series": series}
            iterations = part["iterations"].to_numpy() if series == _MEASURED else np.nan
            points = {
                "samples": x,
                "value": np.asarray(y),
                "iterations": iterations,
                "source": source,
            }
            parts.append(pd.DataFrame({**labels, **points}))
    return pd.concat(parts, ignore_index=True)


def draw_speed(data: pd.DataFrame) -> Figure:
    """Time, with the number of iterations, and time per iteration with straight lines, against
    samples.
    """
    figure, panels = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN, 2.7))
    solvers = [solver for solver in _LOOKS if solver in set(data["solver"])]
    for axes, (quantity, label) in zip(panels, _PANELS.items(), strict=True):
        for solver in solvers:
            colour, marker = _LOOKS[solver]
            part = data[(data["quantity"] == quantity) & (data["solver"] == solver)]
            points, line = part[part["series"] == _MEASURED], part[part["series"] == _LINE]
            axes.plot(line["samples"], line["value"], color=colour, lw=0.9)
            axes.plot(points["samples"], points["value"], marker, color=colour, ms=4.0, mfc="white")
            if quantity == "seconds":
                _number_iterations(axes, points, colour)
        axes.set(xlabel="samples", ylabel=label, xlim=(0.0, None), ylim=(0.0, None))
        axes.margins(y=0.12)
    handles = []
    for solver in solvers:
        (colour, marker), label = _LOOKS[solver], f"{SOLVER_LABELS[solver]}; numbers: iterations"
        handles.append(
            Line2D([], [], color=colour, marker=marker, ms=4.0, mfc="white", label=label)
        )
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _number_iterations(axes: Axes, points: pd.DataFrame, colour: str) -> None:
    for _, point in points.iterrows():
        axes.annotate(
            f"{point['iterations']:.0f}", (point["samples"], point["value"]), xytext=(0.0, 4.0),
            textcoords="offset points", fontsize=5.5, color=colour, ha="center", va="bottom",
        )  # fmt: skip

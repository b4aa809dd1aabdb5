"""What recordings can tell about an object's inertia, and what an optimised motion buys: tables and
figures.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.inhand.identify.excitation_gain import OPTIMISED, RECORDED, REFERENCE
from contactid.inhand.identify.methods import PARAMETER_COLUMNS, PARAMETER_LABELS
from contactid.inhand.readers.sources import IN_HAND_KINEMATIC, IN_HAND_VISION, SIMULATION, WRIST
from contactid.output import style
from contactid.output.tables import read_csv

_TWINS = "synthetic data: twins of the recordings, contactid inhand"
_QUIET_TWINS = "synthetic data: twins of the recordings without residual forces, contactid inhand"
_LOOKS = {  # colour, marker and name of every source
    SIMULATION: (style.LINE, "o", "simulation, levels 1 to 4"),
    WRIST: (style.ACCENT, "s", "wrist force-torque"),
    IN_HAND_VISION: (style.SIMULATED, "^", "in hand, vision"),
    IN_HAND_KINEMATIC: (style.RELEASE, "D", "in hand, kinematic"),
}
_RELATIVE = r"relative to $m$, $L$ and $m L^2$"
_NOISE_FREE = "noise_level_0"
_WIDTH = 0.6  # of a parameter's column that its marks fill


def identifiability_of_recordings(identifiability: str) -> dict[str, pd.DataFrame]:
    """``ext_identifiability`` as table and figure, of
    :func:`.excitation_gain.identifiability_table`.
    """
    table = read_csv(identifiability)
    return {
        "tables/ext_identifiability": table,
        "figures/ext_identifiability": _identifiability_points(table),
    }


def excitation_gains(gains: str) -> dict[str, pd.DataFrame]:
    """``ext_excitation`` as table and figure, of :func:`.excitation_gain.gain_table`."""
    table = read_csv(gains)
    return {"tables/ext_excitation": table, "figures/ext_excitation": excitation_points(table)}


def _identifiability_points(table: pd.DataFrame) -> pd.DataFrame:
    """``setting, object, parameter, relative_error, condition_number, source`` of the recordings
    that suffice.
    """
    known = (
        table[table["case"] == RECORDED].rename(columns={"source": "setting"}).assign(source=_TWINS)
    )
    parts = [
        known[["setting", "object", "condition_number", "source"]].assign(
            parameter=name, relative_error=known[f"relative_{name}"]
        )
        for name in PARAMETER_COLUMNS
    ]
    return pd.concat(parts, ignore_index=True)


def excitation_points(table: pd.DataFrame) -> pd.DataFrame:
    """``setting, object, seed, panel, parameter, reference, optimised, source``.

    Panels: ``standard_error`` (relative to m, L and m L^2), and ``error`` of actual estimates in
    the same units, with the geodesic error as one more parameter.
    """
    keys = ["source", "object", "seed"]
    sides = table.set_index([*keys, "motion"]).unstack("motion")
    parts = []
    for panel, prefix, names in (
        ("standard_error", "relative_", PARAMETER_COLUMNS),
        ("error", "error_", PARAMETER_COLUMNS),
        ("error", "", ("geodesic_error",)),
    ):
        for name in names:
            part = sides[f"{prefix}{name}"].reset_index()
            parts.append(part[[*keys, REFERENCE, OPTIMISED]].assign(panel=panel, parameter=name))
    points = pd.concat(parts, ignore_index=True).rename(columns={"source": "setting"})
    return points.assign(source=_QUIET_TWINS)


def draw_identifiability(data: pd.DataFrame) -> Figure:
    """Standard errors by parameter: range over a source's objects or noise levels, and each one as
    a mark.
    """
    data = data[data["object"] != _NOISE_FREE]
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, 2.9))
    sources = _shown(data)
    handles = []
    for number, source in enumerate(sources):
        rows, (colour, marker, name) = data[data["setting"] == source], _LOOKS[source]
        for place, parameter in enumerate(PARAMETER_COLUMNS):
            values = 100.0 * rows.loc[rows["parameter"] == parameter, "relative_error"]
            at = place + _offset(number, len(sources))
            axes.plot([at, at], [values.min(), values.max()], color=colour, lw=0.7, zorder=1)
            axes.plot([at] * len(values), values, marker, color=colour, ms=2.6, mew=0.0)
        low, high = rows["condition_number"].min(), rows["condition_number"].max()
        handles.append(_handle(source, f"{name}; condition {low:.1f} to {high:.1f}"))
    axes.set_yscale("log")
    axes.set_xticks(range(len(PARAMETER_COLUMNS)), list(PARAMETER_LABELS.values()))
    axes.set_ylabel(f"standard error (%),\n{_RELATIVE}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y", lw=0.3, color="#dddddd")
    axes.set_axisbelow(True)
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def draw_excitation(data: pd.DataFrame) -> Figure:
    """Standard errors under the optimised motion over those under the reference, and errors of
    actual estimates.
    """
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(style.DOUBLE_COLUMN, 3.1), width_ratios=(1.35, 1.0)
    )
    sources = _shown(data)
    _draw_ratios(left, data[data["panel"] == "standard_error"], sources)
    _draw_errors(right, data[data["panel"] == "error"], sources)
    handles = [_handle(source, _LOOKS[source][2].partition(", levels")[0]) for source in sources]
    star = Line2D(
        [], [], color="black", marker="*", ls="none", ms=6.0, mfc="none", label="geodesic error"
    )
    figure.legend(handles=[*handles, star], loc="outside upper center", ncols=len(handles) + 1)
    return figure


def _shown(data: pd.DataFrame) -> list[str]:
    return [source for source in _LOOKS if source in set(data["setting"])]


def _handle(source: str, label: str) -> Line2D:
    colour, marker, _ = _LOOKS[source]
    return Line2D([], [], color=colour, marker=marker, ls="none", ms=4.0, label=label)


def _draw_ratios(axes: Axes, data: pd.DataFrame, sources: list[str]) -> None:
    for number, source in enumerate(sources):
        rows, (colour, marker, _) = data[data["setting"] == source], _LOOKS[source]
        for place, name in enumerate(PARAMETER_COLUMNS):
            one = rows[rows["parameter"] == name]
            at = [place + _offset(number, len(sources))] * len(one)
            axes.plot(
                at, one["optimised"] / one["reference"], marker, color=colour, ms=3.2, mew=0.0
            )
    axes.axhline(1.0, color="black", lw=0.5, zorder=0)
    axes.set_xticks(range(len(PARAMETER_COLUMNS)), list(PARAMETER_LABELS.values()))
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("standard error,\noptimised / reference motion")


def _draw_errors(axes: Axes, data: pd.DataFrame, sources: list[str]) -> None:
    finite = data[np.isfinite(data["reference"]) & np.isfinite(data["optimised"])]
    for source in sources:
        rows, (colour, own, _) = finite[finite["setting"] == source], _LOOKS[source]
        geodesic = rows["parameter"] == "geodesic_error"
        for part, marker, size in ((rows[~geodesic], own, 3.0), (rows[geodesic], "*", 7.0)):
            face = "none" if marker == "*" else colour
            axes.plot(
                part["reference"],
                part["optimised"],
                marker,
                color=colour,
                ms=size,
                mfc=face,
                mew=0.8,
                ls="none",
            )
    values = finite[["reference", "optimised"]].to_numpy()
    bounds = [0.6 * values[values > 0.0].min(), 1.6 * values.max()]
    axes.plot(bounds, bounds, color="black", lw=0.5, zorder=0)
    axes.set(xscale="log", yscale="log", xlim=bounds, ylim=bounds, aspect="equal")
    axes.set_xlabel(f"error with the reference motion\n({_RELATIVE})")
    axes.set_ylabel("error with the optimised motion")


def _offset(number: int, count: int) -> float:
    return _WIDTH * ((number + 0.5) / count - 0.5)

"""What recordings can tell about an object's inertia, and what an optimised motion buys: tables and figures."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.inhand.identify.excitation_gain import OPTIMISED, RECORDED, REFERENCE
from contactid.inhand.identify.methods import PARAMETER_COLUMNS
from contactid.inhand.readers.exact_tables import read_exact
from contactid.inhand.readers.sources import SOURCES
from contactid.output import style
from contactid.output.computing import Shown

_TWINS = "synthetic data: twins of the recordings, contactid inhand"
_QUIET_TWINS = "synthetic data: twins of the recordings without residual forces, contactid inhand"
_BRIEF = ["condition_number", "se_mass_kg", "se_com_x_m", "se_com_z_m", "se_i_xx", "se_i_zz"]
_LABELS = dict(
    zip(
        (*PARAMETER_COLUMNS, "geodesic_error"),
        (
            "$m$", "$c_x$", "$c_y$", "$c_z$", "$I_{xx}$", "$I_{yy}$", "$I_{zz}$", "$I_{xy}$", "$I_{xz}$", "$I_{yz}$",
            "geodesic error",
        ),
        strict=True,
    )
)  # fmt: skip
_COLOURS = dict(zip(SOURCES, (style.LINE, style.ACCENT, style.SIMULATED, style.RELEASE), strict=True))
_MARKERS = dict(zip(SOURCES, ("o", "s", "^", "D"), strict=True))
_SHORT = dict(
    zip(
        SOURCES,
        ("simulation, levels 1 to 4", "wrist force-torque", "in hand, vision", "in hand, kinematic"),
        strict=True,
    )
)
_RELATIVE = r"relative to $m$, $L$ and $m L^2$"
_NOISE_FREE = "noise_level_0"
_WIDTH = 0.6  # of a parameter's column that its marks fill


def identifiability_of_recordings(identifiability: str) -> dict[str, Shown]:
    """``ext_identifiability`` as table and figure, of :func:`.excitation_gain.identifiability_table`."""
    table = read_exact(identifiability)
    return {
        "tables/ext_identifiability": Shown(table, tex=table[["source", "object", "case", *_BRIEF]]),
        "figures/ext_identifiability": Shown(_identifiability_points(table)),
    }


def excitation_gains(gains: str) -> dict[str, Shown]:
    """``ext_excitation`` as table and figure, of :func:`.excitation_gain.gain_table`."""
    table = read_exact(gains)
    shown = table[["source", "object", "seed", "motion", *_BRIEF, "gain", "geodesic_error"]]
    return {
        "tables/ext_excitation": Shown(table, tex=shown),
        "figures/ext_excitation": Shown(excitation_points(table)),
    }


def _identifiability_points(table: pd.DataFrame) -> pd.DataFrame:
    """``setting, object, parameter, relative_error, condition_number, source`` of the recordings that suffice."""
    known = table[table["case"] == RECORDED].rename(columns={"source": "setting"}).assign(source=_TWINS)
    parts = [
        known[["setting", "object", "condition_number", "source"]].assign(
            parameter=name, relative_error=known[f"relative_{name}"]
        )
        for name in PARAMETER_COLUMNS
    ]
    return pd.concat(parts, ignore_index=True)


def excitation_points(table: pd.DataFrame) -> pd.DataFrame:
    """``setting, object, seed, panel, parameter, reference, optimised, source``.

    Panels: ``standard_error`` (relative to m, L and m L^2), and ``error`` of actual estimates in the same units, with
    the geodesic error as one more parameter.
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
    """Standard errors by parameter: range over a source's objects or noise levels, and each one as a mark."""
    data = data[data["object"] != _NOISE_FREE]
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, 2.9))
    sources = [source for source in SOURCES if source in set(data["setting"])]
    handles = []
    for number, source in enumerate(sources):
        rows, offset = data[data["setting"] == source], _offset(number, len(sources))
        for place, name in enumerate(PARAMETER_COLUMNS):
            values = 100.0 * rows.loc[rows["parameter"] == name, "relative_error"]
            at = place + offset
            axes.plot([at, at], [values.min(), values.max()], color=_COLOURS[source], lw=0.7, zorder=1)
            axes.plot([at] * len(values), values, _MARKERS[source], color=_COLOURS[source], ms=2.6, mew=0.0)
        low, high = rows["condition_number"].min(), rows["condition_number"].max()
        label = f"{_SHORT[source]}; condition {low:.1f} to {high:.1f}"
        handles.append(Line2D([], [], color=_COLOURS[source], marker=_MARKERS[source], ls="none", ms=4.0, label=label))
    axes.set_yscale("log")
    axes.set_xticks(range(len(PARAMETER_COLUMNS)), [_LABELS[name] for name in PARAMETER_COLUMNS])
    axes.set_ylabel(f"standard error (%),\n{_RELATIVE}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y", lw=0.3, color="#dddddd")
    axes.set_axisbelow(True)
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def draw_excitation(data: pd.DataFrame) -> Figure:
    """Standard errors under the optimised motion over those under the reference, and errors of actual estimates."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN, 3.1), width_ratios=(1.35, 1.0))
    sources = [source for source in SOURCES if source in set(data["setting"])]
    _draw_ratios(left, data[data["panel"] == "standard_error"], sources)
    _draw_errors(right, data[data["panel"] == "error"], sources)
    handles = [
        Line2D([], [], color=_COLOURS[source], marker=_MARKERS[source], ls="none", ms=4.0, label=_title(source))
        for source in sources
    ]
    star = Line2D([], [], color="black", marker="*", ls="none", ms=6.0, mfc="none", label="geodesic error")
    figure.legend(handles=[*handles, star], loc="outside upper center", ncols=len(handles) + 1)
    return figure


def _title(source: str) -> str:
    return _SHORT[source].partition(", levels")[0]


def _draw_ratios(axes: Axes, data: pd.DataFrame, sources: list[str]) -> None:
    for number, source in enumerate(sources):
        rows, offset = data[data["setting"] == source], _offset(number, len(sources))
        for place, name in enumerate(PARAMETER_COLUMNS):
            one = rows[rows["parameter"] == name]
            axes.plot(
                [place + offset] * len(one), one["optimised"] / one["reference"], _MARKERS[source],
                color=_COLOURS[source], ms=3.2, mew=0.0,
            )  # fmt: skip
    axes.axhline(1.0, color="black", lw=0.5, zorder=0)
    axes.set_xticks(range(len(PARAMETER_COLUMNS)), [_LABELS[name] for name in PARAMETER_COLUMNS])
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("standard error,\noptimised / reference motion")


def _draw_errors(axes: Axes, data: pd.DataFrame, sources: list[str]) -> None:
    finite = data[np.isfinite(data["reference"]) & np.isfinite(data["optimised"])]
    for source in sources:
        rows = finite[finite["setting"] == source]
        geodesic = rows["parameter"] == "geodesic_error"
        for part, marker, size in ((rows[~geodesic], _MARKERS[source], 3.0), (rows[geodesic], "*", 7.0)):
            face = "none" if marker == "*" else _COLOURS[source]
            axes.plot(
                part["reference"], part["optimised"], marker, color=_COLOURS[source], ms=size, mfc=face, mew=0.8,
                ls="none",
            )  # fmt: skip
    values = finite[["reference", "optimised"]].to_numpy()
    bounds = [0.6 * values[values > 0.0].min(), 1.6 * values.max()]
    axes.plot(bounds, bounds, color="black", lw=0.5, zorder=0)
    axes.set(xscale="log", yscale="log", xlim=bounds, ylim=bounds, aspect="equal")
    axes.set_xlabel(f"error with the reference motion\n({_RELATIVE})")
    axes.set_ylabel("error with the optimised motion")


def _offset(number: int, count: int) -> float:
    return _WIDTH * ((number + 0.5) / count - 0.5)

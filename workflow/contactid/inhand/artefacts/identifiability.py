"""What recordings can tell about an object's inertia: table and figure."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.inhand.identify.methods import PARAMETER_COLUMNS, PARAMETER_LABELS
from contactid.inhand.identify.recorded_information import RECORDED
from contactid.inhand.readers.sources import IN_HAND_KINEMATIC, IN_HAND_VISION, SIMULATION, WRIST
from contactid.output import style
from contactid.output.tables import read_csv

_TWINS = "synthetic data: twins of the recordings, contactid inhand"
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
    :func:`.recorded_information.identifiability_table`.
    """
    table = read_csv(identifiability)
    return {
        "tables/ext_identifiability": table,
        "figures/ext_identifiability": _identifiability_points(table),
    }


def _identifiability_points(table: pd.DataFrame) -> pd.DataFrame:
    """``setting, object, parameter, relative_error, condition_number, source`` of the recordings
    that suffice.
    """
    recorded = (
        table[table["case"] == RECORDED].rename(columns={"source": "setting"}).assign(source=_TWINS)
    )
    parts = [
        recorded[["setting", "object", "condition_number", "source"]].assign(
            parameter=name, relative_error=recorded[f"relative_{name}"]
        )
        for name in PARAMETER_COLUMNS
    ]
    return pd.concat(parts, ignore_index=True)


def draw_identifiability(data: pd.DataFrame) -> Figure:
    """Standard errors by parameter: range over a source's objects or noise levels, and each one as
    a mark.
    """
    data = data[data["object"] != _NOISE_FREE]
    figure, axes = plt.subplots(figsize=(style.DOUBLE_COLUMN, 2.9))
    sources = [source for source in _LOOKS if source in set(data["setting"])]
    handles = []
    for number, source in enumerate(sources):
        rows, (colour, marker, name) = data[data["setting"] == source], _LOOKS[source]
        for place, parameter in enumerate(PARAMETER_COLUMNS):
            values = 100.0 * rows.loc[rows["parameter"] == parameter, "relative_error"]
            at = place + _WIDTH * ((number + 0.5) / len(sources) - 0.5)
            axes.plot([at, at], [values.min(), values.max()], color=colour, lw=0.7, zorder=1)
            axes.plot([at] * len(values), values, marker, color=colour, ms=2.6, mew=0.0)
        low, high = rows["condition_number"].min(), rows["condition_number"].max()
        label = f"{name}; condition {low:.1f} to {high:.1f}"
        handles.append(Line2D([], [], color=colour, marker=marker, ls="none", ms=4.0, label=label))
    axes.set_yscale("log")
    axes.set_xticks(range(len(PARAMETER_COLUMNS)), list(PARAMETER_LABELS.values()))
    axes.set_ylabel(f"standard error (%),\n{_RELATIVE}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y", lw=0.3, color="#dddddd")
    axes.set_axisbelow(True)
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure

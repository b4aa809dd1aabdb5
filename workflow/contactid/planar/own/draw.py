"""Draw what was identified from a user's own throws; nothing is computed here.

The tables are those of :func:`contactid.planar.own.report.scene_table` and
:func:`contactid.planar.own.report.states_table`.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.escape import mathtext
from contactid.planar.artefacts.time_lapse import name_lines, scene_panels

_CONTACTS = (style.LINE, style.RELEASE, style.ACCENT, style.SIMULATED)
_HEIGHT = 1.25  # inches of a throw's row
_AROUND = 0.9
_NONE = 1e-4  # m/s: impulses per mass below it are none


def draw_trajectory(scene: pd.DataFrame) -> Figure:
    """Measured centres, the identified path and outlines on it, a panel per throw, in equal scales."""
    scene = scene.assign(label=scene["label"].map(mathtext))
    figure, panels = scene_panels(scene, shared=False)
    for panel, axes in panels.items():
        _draw_panel(axes, scene[scene["panel"] == panel])
    name_lines(figure, next(iter(panels.values())))
    return figure


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    for item, outline in data[data["kind"] == "outline"].groupby("item"):
        label = "identified body" if item == 0 else None
        axes.plot(
            outline["x_m"],
            outline["y_m"],
            color=style.REST_EDGE,
            lw=0.6,
            alpha=0.7,
            zorder=2,
            label=label,
        )
    measured, path = (data[data["kind"] == kind] for kind in ("measured", "com"))
    axes.plot(
        measured["x_m"], measured["y_m"], "o", color=style.MEASURED, mfc="none", ms=2.5, mew=0.6, zorder=3,
        label="measured centre",
    )  # fmt: skip
    axes.plot(
        path["x_m"], path["y_m"], color=style.LINE, lw=0.9, zorder=4, label="identified centre"
    )


def draw_impulses(states: pd.DataFrame) -> Figure:
    """Impulses per mass against time, normal ones upwards and tangential ones as they are, a row
    per throw.
    """
    names = list(dict.fromkeys(states["throw"]))
    figure, rows = plt.subplots(
        len(names),
        2,
        squeeze=False,
        sharex="row",
        figsize=(style.DOUBLE_COLUMN, _HEIGHT * len(names) + _AROUND),
    )
    columns = [str(column) for column in states if str(column).startswith("impulse_n_")]
    contacts = [column.split("_")[2] for column in columns if (states[column] > _NONE).any()]
    for name, (left, right) in zip(names, rows, strict=True):
        part = states[states["throw"] == name]
        for place, contact in enumerate(contacts):
            colour = _CONTACTS[place % len(_CONTACTS)]
            label = "contact point" if len(columns) == 1 else f"corner {contact}"
            for axes, kind in ((left, "n"), (right, "t")):
                _stems(axes, part["time_s"], part[f"impulse_{kind}_{contact}_m_s"], colour, label)
        for axes in (left, right):
            axes.axhline(0.0, color="black", lw=0.5, zorder=1)
            axes.set_xlim(part["time_s"].min(), part["time_s"].max())
        left.set_title(mathtext(name), loc="left")
        left.set_ylabel("$c_n/m$ (m/s)")
        right.set_ylabel("$c_t/m$ (m/s)")
    for axes in rows[-1]:
        axes.set_xlabel("time (s)")
    if len(columns) > 1 and contacts:
        figure.legend(
            *rows[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(contacts)
        )
    return figure


def _stems(axes: Axes, time: pd.Series, impulse: pd.Series, colour: str, label: str) -> None:
    pushes = np.flatnonzero(np.abs(impulse.fillna(0.0)) > _NONE)
    axes.vlines(time.iloc[pushes], 0.0, impulse.iloc[pushes], color=colour, lw=0.9, zorder=2)
    axes.plot(
        time.iloc[pushes],
        impulse.iloc[pushes],
        "o",
        color=colour,
        ms=2.5,
        mew=0.0,
        zorder=3,
        label=label,
    )

"""Draw what was identified from a user's own throws; nothing is computed here.

The tables are those of :mod:`contactid.planar.own.result`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.escape import mathtext
from contactid.output.plain_panels import fixed_room, plain_panels
from contactid.planar.artefacts.time_lapse import name_lines, scene_panels
from contactid.planar.own.doubts import MM2

_SCALES = np.array([[MM2], [1.0]])  # of J/m and friction, as drawn
# squared radii that hold so much of a normal distribution in two dimensions: chi-square's quantiles
_REGIONS = {"50 %": (1.386, 0.674), "95 %": (5.991, 1.960)}
_SHADES = {"50 %": 0.45, "95 %": 0.2}
_CONTACTS = (style.LINE, style.RELEASE, style.ACCENT, style.SIMULATED)
_BETWEEN = 0.4  # inches between two rows of throws
_NONE = 1e-4  # m/s: impulses per mass below it are none


def draw_region(params: pd.DataFrame, covariance: pd.DataFrame) -> Figure:
    """Regions of 50 and 95 % of J/m and friction together; above a bound of friction those of J/m
    alone.

    ``params`` and ``covariance`` are a result's.
    """
    figure, ((axes,),) = plain_panels(1, 1, width=style.DOUBLE_COLUMN / 2.0, height=1.6)
    ratio, mu = params.loc["inertia_ratio"], params.loc["friction_mu"]
    together = ["inertia_ratio", "friction_mu"]
    for label, (squared, deviations) in reversed(_REGIONS.items()):
        shade = {"color": style.LINE, "alpha": _SHADES[label], "lw": 0.0, "label": label}
        if "friction_mu" in covariance.index:
            outline = np.sqrt(squared) * _unit_ellipse(covariance.loc[together, together])
            axes.fill(*(outline + params.loc[together, "value"].to_numpy()).T * _SCALES, **shade)
        else:
            reach = deviations * ratio["error"]
            # above its bound friction is open: the band goes up to twice the bound
            ends = MM2 * (ratio["value"] + np.array([-reach, reach]))
            axes.fill_between(ends, mu["low"], 2.0 * mu["low"], **shade)
    axes.plot(MM2 * ratio["value"], mu["value"], "+", color=style.RELEASE, label="identified")
    axes.set(xlabel="J/m (mm²)", ylabel="friction μ")
    figure.legend(loc="upper right", ncols=3)
    return figure


def _unit_ellipse(covariance: pd.DataFrame) -> np.ndarray:
    """(n, 2) one standard deviation away in every direction."""
    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    # a circle mapped by the covariance's root
    return circle @ np.linalg.cholesky(covariance.to_numpy()).T


def draw_trajectory(scene: pd.DataFrame) -> Figure:
    """Measured centres, the identified path and outlines on it, a panel per throw, in equal scales."""
    scene = scene.assign(label=scene["label"].map(mathtext))
    figure, panels = scene_panels(scene, shared=False)
    grid = panels[0].get_gridspec()
    assert grid is not None  # panels of a figure's own grid
    figure.set_layout_engine("none")
    width, height = figure.get_size_inches()
    grid.update(**fixed_room(width, height, grid.nrows, grid.ncols, _BETWEEN))
    for panel, axes in panels.items():
        # plain text: a first formula builds a parser, which takes long
        axes.set(
            xlabel=axes.get_xlabel().replace("$", ""), ylabel=axes.get_ylabel().replace("$", "")
        )
        _draw_panel(axes, scene[scene["panel"] == panel])
    name_lines(figure, next(iter(panels.values())))
    return figure


def _draw_panel(axes: Axes, data: pd.DataFrame) -> None:
    for item, outline in data[data["kind"] == "outline"].groupby("item"):
        label = "identified body" if item == 0 else None
        x, y = outline["x_m"], outline["y_m"]
        axes.plot(x, y, color=style.REST_EDGE, lw=0.6, alpha=0.7, zorder=2, label=label)
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
    figure, rows = plain_panels(len(names), 2)
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
        left.set_ylabel("normal (m/s)")
        right.set_ylabel("tangential (m/s)")
    for axes in rows[-1]:
        axes.set_xlabel("time (s)")
    if len(columns) > 1 and contacts:
        figure.legend(
            *rows[0, 0].get_legend_handles_labels(), loc="upper right", ncols=len(contacts)
        )
    return figure


def _stems(axes: Axes, time: pd.Series, impulse: pd.Series, colour: str, label: str) -> None:
    pushes = np.flatnonzero(np.abs(impulse.fillna(0.0)) > _NONE)
    at, height = time.iloc[pushes], impulse.iloc[pushes]
    axes.vlines(at, 0.0, height, color=colour, lw=0.9, zorder=2)
    axes.plot(at, height, "o", color=colour, ms=2.5, mew=0.0, zorder=3, label=label)

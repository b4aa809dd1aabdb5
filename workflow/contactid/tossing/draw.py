"""Draw the figures of the tossing study from their data files; nothing is computed here.

Figures 10 to 13 are here; the others are in the modules that this one gathers.
"""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from contactid.output import style
from contactid.tossing import draw_impacts, draw_sensitivity, draw_setup
from contactid.tossing.draw_costs import draw_costs


def draw_height(data: pd.DataFrame) -> Figure:
    """Figure 10: moments of release and rest."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.2))
    axes.plot(data["sample"], data["height_m"], color=style.LINE)
    for event, colour, name in (
        ("release", style.RELEASE, r"release $k_\mathrm{rel}$"),
        ("rest", style.REST, r"rest $k_\mathrm{rest}$"),
    ):
        row = data[data["event"] == event]
        axes.plot(row["sample"], row["height_m"], "o", color=colour, mec="black", mew=0.5, ms=5, label=name, ls="none")
    axes.set(xlabel=r"sample $k$", ylabel=r"height $({}^C\mathbf{o}_B)_z$ (m)", ylim=(0, None))
    axes.set_title(f"{data['object'].iloc[0]}, toss {data['toss'].iloc[0]}", loc="left")
    axes.legend(loc="upper right")
    return figure


def draw_trajectory(data: pd.DataFrame) -> Figure:
    """Figure 11: the measured toss from release to rest."""
    figure = plt.figure(figsize=(style.DOUBLE_COLUMN * 0.7, 2.9))
    axes = figure.add_subplot(projection="3d")
    looks = {
        "path": (style.LINE, 0.8, 1.0),
        "between": (style.MEASURED, 0.5, 0.7),
        "release": (style.RELEASE, 1.4, 1.0),
        "rest": (style.REST_EDGE, 1.4, 1.0),
    }
    ends = data[["x0_m", "y0_m", "z0_m", "x1_m", "y1_m", "z1_m"]].to_numpy().reshape(-1, 2, 3)
    for kind, (colour, width, alpha) in looks.items():
        segments = ends[(data["kind"] == kind).to_numpy()]
        label = None if kind == "between" else {"path": r"path of $\mathbf{o}_B$"}.get(kind, kind)
        axes.add_collection3d(Line3DCollection(segments, colors=colour, linewidths=width, alpha=alpha, label=label))
    low, high = _roomy(ends.reshape(-1, 3))
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=1.15)
    axes.set_xlabel(r"$x_C$ (m)", labelpad=4)
    axes.set_ylabel(r"$y_C$ (m)", labelpad=0)
    axes.set_zlabel(r"$z_C$ (m)", labelpad=-4)
    for axis, steps in ((axes.xaxis, 6), (axes.yaxis, 3), (axes.zaxis, 3)):
        axis.set_major_locator(plt.MaxNLocator(steps, steps=[1, 2, 5, 10]))
        axis.set_tick_params(pad=-2)
    axes.view_init(elev=22, azim=-62)
    axes.legend(loc="upper center", ncols=3)
    axes.set_title(f"{data['object'].iloc[0]}, toss {data['toss'].iloc[0]}", loc="left", pad=0)
    return figure


def _roomy(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limits (3,), (3,) around points (n, 3): the surface in view, no side shorter than a third of the longest."""
    low, high = points.min(axis=0), points.max(axis=0)
    low[2] = min(low[2], 0.0)
    missing = np.maximum((high - low).max() / 3.0 - (high - low), 0.0)
    low[:2] -= 0.5 * missing[:2]
    high[:2] += 0.5 * missing[:2]
    high[2] += missing[2]
    return low, high


def draw_rest_poses(data: pd.DataFrame) -> Figure:
    """Figure 13: measured and predicted rest poses from above, a row per object and kind of parameters."""
    rows = list(dict.fromkeys(zip(data["dataset"], data["parameters"], strict=True)))
    rows.sort(key=lambda row: (list(dict.fromkeys(data["dataset"])).index(row[0]), row[1] != "velocity"))
    columns = int(data["panel"].max()) + 1
    figure, panels = plt.subplots(
        len(rows), columns, figsize=(style.DOUBLE_COLUMN * 0.75, 1.5 * len(rows) + 0.4), squeeze=False
    )
    for row, (name, parameters) in enumerate(rows):
        of_dataset = data[data["dataset"] == name]
        reach = 1.05 * float(of_dataset[["x_m", "y_m"]].abs().to_numpy().max())
        for column in range(columns):
            panel = panels[row, column]
            part = of_dataset[(of_dataset["panel"] == column) & (of_dataset["parameters"] == parameters)]
            if part.empty:
                panel.set_visible(False)
                continue
            for kind, colour, alpha in (("measured", style.MEASURED, 0.7), ("simulated", style.SIMULATED, 0.55)):
                outline = part[part["kind"] == kind][["x_m", "y_m"]].to_numpy()
                panel.fill(*outline.T, facecolor=colour, edgecolor="black", lw=0.6, alpha=alpha, label=kind)
            panel.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            panel.set_title(f"toss {str(part['toss'].iloc[0]).removeprefix('Rec_')}", loc="left", fontsize=6)
            if row == len(rows) - 1:
                panel.set_xlabel(r"$x_C$ (m)")
            if column == 0:
                panel.set_ylabel(f"{part['object'].iloc[0]}\n{parameters}\n$y_C$ (m)")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    **draw_setup.DRAWINGS,
    **draw_impacts.DRAWINGS,
    "fig10_release_and_rest": draw_height,
    "fig11_trajectory": draw_trajectory,
    "fig12_trajectory_costs": lambda data: draw_costs(data, r"mean $L_\mathrm{traj}$"),
    "fig13_rest_poses": draw_rest_poses,
    **draw_sensitivity.DRAWINGS,
}


def draw(name: str, data: pd.DataFrame, source: str, stem: str) -> None:
    """Draw a figure and save it as pdf, png and svg; ``source`` is printed in it."""
    with style.styled():
        figure = DRAWINGS[name](data)
        style.label_data(figure, source)
        style.save(figure, stem)
        plt.close(figure)

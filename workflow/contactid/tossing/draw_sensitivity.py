"""Draw figure 14 of the tossing paper, and what goes beyond its sensitivity analysis, from their data files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from contactid.output import style

_SYMBOLS = {"friction_mu": r"$\mu$", "restitution_e_n": r"$e_N$"}
_INPUTS = {
    "friction_mu": r"friction $\mu$",
    "restitution_e_n": r"restitution $e_N$",
    "inertia": "inertia",
    "center_of_mass": "centre of mass",
    "tilt": "surface tilt",
    "release_velocity": "release: velocity",
    "release_position": "release: position",
    "release_angular_velocity": "release: spin",
    "release_orientation": "release: orientation",
}
# which tosses each panel is about: an angle means nothing where the face changes
_PANELS = {"position": "all", "orientation": "steady", "face": "all"}
_LEVELS = {
    "parameters": ("parameters only", style.LINE, "o"),
    "release": ("+ release", style.ACCENT, "s"),
    "model_error": ("+ model error", style.SIMULATED, "^"),
    "conformal": ("conformal", style.RELEASE, "D"),
}


def draw_variation(data: pd.DataFrame) -> Figure:
    """Figure 14: rest poses from above with mu or e_N varied, a row per object and parameter."""
    rows = list(data[["dataset", "parameter"]].drop_duplicates().itertuples(index=False, name=None))
    columns = int(data["panel"].max()) + 1
    figure, panels = plt.subplots(
        len(rows), columns, figsize=(style.DOUBLE_COLUMN * 0.85, 2.0 * len(rows) + 0.6), squeeze=False
    )
    reach = 1.05 * float(data[["x_m", "y_m"]].abs().to_numpy().max())
    for row, (dataset, parameter) in enumerate(rows):
        of_row = data[(data["dataset"] == dataset) & (data["parameter"] == parameter)]
        for column in range(columns):
            panel, part = panels[row, column], of_row[of_row["panel"] == column]
            if part.empty:
                panel.set_visible(False)
                continue
            measured = part[part["kind"] == "measured"]
            _fill(panel, measured, style.MEASURED, 0.75)
            varied = part[part["kind"] == "varied"]
            for _, outline in varied.groupby("value"):
                _fill(panel, outline, style.SIMULATED, 0.13, line=0.3)
            _fill(panel, part[part["kind"] == "median"], style.SIMULATED, 1.0)
            # its edge once more on top, or a good prediction would hide it
            _fill(panel, measured, "none", None, line=0.9, dashes="--")
            panel.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            low, high = varied["value"].min(), varied["value"].max()
            panel.set_title(
                f"toss {part['toss'].iloc[0]}\n{_SYMBOLS[parameter]} = {low:.2f} to {high:.2f}", loc="left", fontsize=6
            )
            panel.label_outer()
            if column == 0:
                panel.set_ylabel(f"{part['object'].iloc[0]}, varying {_SYMBOLS[parameter]}\n$y_C$ (m)")
            if row == len(rows) - 1:
                panel.set_xlabel(r"$x_C$ (m)")
    _spread_out(figure)
    handles = [
        Patch(facecolor=(style.MEASURED, 0.75), edgecolor="black", lw=0.9, ls="--", label="measured"),
        Patch(facecolor=style.SIMULATED, edgecolor="black", lw=0.6, label="simulated, median"),
        Patch(facecolor=(style.SIMULATED, 0.25), edgecolor="black", lw=0.3, label="simulated, one parameter varied"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _fill(
    panel: Axes, outline: pd.DataFrame, colour: str, alpha: float | None, line: float = 0.6, dashes: str = "-"
) -> None:
    face = colour if alpha is None else (colour, alpha)
    panel.fill(outline["x_m"], outline["y_m"], facecolor=face, edgecolor="black", lw=line, ls=dashes)


def _spread_out(figure: Figure) -> None:
    """More room between rows, for titles of two lines."""
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.set(h_pad=0.07)  # type: ignore[call-arg]


def draw_sobol(data: pd.DataFrame) -> Figure:
    """``ext_sobol``: total and first-order indices per input; a row per object, a panel per output."""
    names = list(dict.fromkeys(data["object"]))
    outputs = [name for name, subset in _PANELS.items() if _chosen(data, name, subset).size]
    figure, panels = plt.subplots(
        len(names),
        len(outputs),
        figsize=(style.DOUBLE_COLUMN * (0.4 + 0.2 * len(outputs)), 1.75 * len(names) + 0.6),
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    places = np.arange(len(_INPUTS))[::-1]
    for row, name in enumerate(names):
        for column, output in enumerate(outputs):
            panel = panels[row, column]
            part = _chosen(data[data["object"] == name], output, _PANELS[output])
            if part.empty:
                panel.text(0.5, 0.5, "no toss", transform=panel.transAxes, ha="center", color=style.MEASURED)
                continue
            part = part.set_index("input").loc[list(_INPUTS)]
            for shift, label, colour in ((0.19, "total", style.LINE), (-0.19, "first_order", style.SIMULATED)):
                values = part[label].to_numpy()
                ends = np.abs(part[[f"{label}_low", f"{label}_high"]].to_numpy().T - values)
                panel.barh(places + shift, values.clip(min=0.0), height=0.36, color=colour)
                panel.errorbar(
                    values, places + shift, xerr=ends, fmt="none", ecolor="black", elinewidth=0.6, capsize=1.2
                )
            first = part.iloc[0]
            spread = "" if first["unit"] == "1" else f", sd {first['standard_deviation']:.3g} {first['unit']}"
            count = int(data.loc[data["object"] == name, "n_tosses"].max())
            tosses = (
                f"{count} tosses" if first["n_tosses"] == count else f"{first['n_tosses']} steady of {count} tosses"
            )
            panel.set_title(f"{output}{spread}\n{tosses}", loc="left", fontsize=7)
            panel.set_yticks(places, list(_INPUTS.values()))
            panel.set_xlim(-0.05, 1.1)
            panel.label_outer()
            if row == len(names) - 1:
                panel.set_xlabel("Sobol index")
        panels[row, 0].set_ylabel(name)
    handles = [
        Patch(color=style.LINE, label="total"),
        Patch(color=style.SIMULATED, label="first order"),
        Line2D([], [], color="black", lw=0.6, label="95 % interval"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _chosen(data: pd.DataFrame, output: str, subset: str) -> pd.DataFrame:
    return data[(data["output"] == output) & (data["subset"] == subset)]


def draw_calibration_curve(data: pd.DataFrame) -> Figure:
    """``ext_calibration_curve``: share of held-out rest poses inside the regions of each nominal probability."""
    names = list(dict.fromkeys(data["object"]))
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    width = style.SINGLE_COLUMN if columns == 1 else style.DOUBLE_COLUMN * (0.34 * columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(width, 2.45 * rows + 0.6), squeeze=False, sharex=True, sharey=True
    )
    for panel in panels.flat[len(names) :]:
        panel.set_visible(False)
    for index, (panel, name) in enumerate(zip(panels.flat, names, strict=False)):
        part = data[data["object"] == name]
        band = part[part["level"] == "model_error"].sort_values("nominal_pct")
        panel.fill_between(
            band["nominal_pct"], band["band_low_pct"], band["band_high_pct"], color="#dddddd", lw=0, step=None
        )
        panel.plot([0, 100], [0, 100], color="black", lw=0.7, ls="--")
        for level, (_, colour, marker) in _LEVELS.items():
            curve = part[part["level"] == level].sort_values("nominal_pct")
            panel.plot(curve["nominal_pct"], curve["covered_pct"], color=colour, marker=marker, ms=2.6, lw=0.9)
        title = "all objects" if name == "all" else name
        panel.set_title(f"{title}, {band['n_tosses'].iloc[0]} tosses", loc="left")
        panel.set(xlim=(0, 100), ylim=(-2, 102), aspect="equal", xticks=range(0, 101, 25), yticks=range(0, 101, 25))
        if index % columns == 0:
            panel.set_ylabel("rest poses covered (%)")
        if index >= len(names) - columns:
            panel.set_xlabel("nominal probability (%)")
            panel.tick_params(labelbottom=True)
    handles = [
        Line2D([], [], color=colour, marker=marker, ms=3, lw=0.9, label=label)
        for label, colour, marker in _LEVELS.values()
    ]
    handles.append(Line2D([], [], color="black", lw=0.7, ls="--", label="right regions"))
    band_patch = Patch(color="#dddddd", label="95 % range of chance")
    figure.legend(handles=[*handles, band_patch], loc="outside upper center", ncols=min(columns + 1, 3))
    return figure


def draw_rest_pose_distribution(data: pd.DataFrame) -> Figure:
    """``ext_rest_pose_distribution``: predicted positions, regions and outlines from above, a row per object."""
    names = list(dict.fromkeys(data["object"]))
    columns = int(data["panel"].max()) + 1
    figure, panels = plt.subplots(
        2 * len(names), columns, figsize=(style.DOUBLE_COLUMN * 0.85, 4.0 * len(names) + 0.8), squeeze=False
    )
    for row, name in enumerate(names):
        of_object = data[data["object"] == name]
        reach = _reach(of_object, ["region_90", "measured", "predicted"])
        near = 1e3 * _reach(of_object, ["region_90"])
        for column in range(columns):
            whole, detail = panels[2 * row : 2 * row + 2, column]
            part = of_object[of_object["panel"] == column]
            if part.empty:
                whole.set_visible(False)
                detail.set_visible(False)
                continue
            kinds = {str(kind): shape for kind, shape in part.groupby("kind")}
            _fill(whole, kinds["measured"], style.MEASURED, 0.35)
            outline = kinds["predicted"]
            whole.fill(outline["x_m"], outline["y_m"], facecolor="none", edgecolor=style.RELEASE, lw=0.9, ls="--")
            _cloud(whole, kinds, 1.0)
            _cloud(detail, kinds, 1e3)
            whole.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            detail.set(xlim=(-near, near), ylim=(-near, near), aspect="equal", xlabel=r"$x_C$ (mm)")
            share = part["measured_face_pct"].iloc[0]
            title = f"toss {part['toss'].iloc[0]}\nprobability of its face: {share:.0f} %"
            whole.set_title(title, loc="left", fontsize=6)
            whole.set_xlabel(r"$x_C$ (m)")
        panels[2 * row, 0].set_ylabel(f"{name}\n$y_C$ (m)")
        panels[2 * row + 1, 0].set_ylabel("detail\n$y_C$ (mm)")
    dots: dict[str, Any] = {"ls": "none", "marker": "o", "ms": 3, "mew": 0}
    handles = [
        Patch(facecolor=(style.MEASURED, 0.35), edgecolor="black", lw=0.6, label="measured (its centre: +)"),
        Line2D([], [], color=style.RELEASE, lw=0.9, ls="--", label="predicted"),
        Line2D([], [], color="black", lw=1.0, label="50 % and 90 % of positions"),
        Line2D([], [], color=style.LINE, label="parameters and release", **dots),
        Line2D([], [], color=style.SIMULATED, label="+ model error", **dots),
        Line2D([], [], color=style.ACCENT, label="+ model error, another face", **dots),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _reach(data: pd.DataFrame, kinds: Sequence[str]) -> float:
    """Half the side of a square around the origin with room for these kinds of shapes, m."""
    return 1.12 * float(data.loc[data["kind"].isin(kinds), ["x_m", "y_m"]].abs().to_numpy().max())


def _cloud(panel: Axes, kinds: dict[str, pd.DataFrame], scale: float) -> None:
    """Dots, ellipses and the measured centre, in units of 1 m over ``scale``."""
    size = 1.6 if scale == 1.0 else 2.2
    dots = {"drawn": style.SIMULATED, "drawn_other_face": style.ACCENT, "simulated": style.LINE}
    for kind, colour in dots.items():
        if kind in kinds:
            points = scale * kinds[kind][["x_m", "y_m"]].to_numpy()
            panel.plot(*points.T, ".", color=colour, ms=size, mew=0, alpha=0.8)
    for percent, width in ((50, 1.2), (90, 0.8)):
        ellipse = scale * kinds[f"region_{percent}"][["x_m", "y_m"]].to_numpy()
        panel.plot(*ellipse.T, color="black", lw=width)
    panel.plot(0.0, 0.0, "+", color="black", ms=7, mew=1.0)


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "fig14_sensitivity": draw_variation,
    "ext_sobol": draw_sobol,
    "ext_calibration_curve": draw_calibration_curve,
    "ext_rest_pose_distribution": draw_rest_pose_distribution,
}

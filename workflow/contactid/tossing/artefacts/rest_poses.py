"""Predicted distributions of rest poses: how they cover the measured ones, and what they look like from above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from contactid.output import style
from contactid.output.computing import Shown
from contactid.output.tables import read_csv
from contactid.tossing.artefacts.data import Case, by_name, data_label, of_cases, shown, two_cases
from contactid.tossing.artefacts.sensitivity import fill_outline
from contactid.tossing.predict.rest_pose_distribution import coverage_table, read_scores

_LEVELS = {
    "parameters": ("parameters only", style.LINE, "o"),
    "release": ("+ release", style.ACCENT, "s"),
    "model_error": ("+ model error", style.SIMULATED, "^"),
    "conformal": ("conformal", style.RELEASE, "D"),
}
_CURVE = tuple(np.round(np.arange(0.05, 1.0, 0.05), 2))


def rest_pose_figures(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    scores: Sequence[str],
    outlines: Sequence[str],
    figures: Mapping[str, Any],
) -> dict[str, Shown]:
    """``ext_calibration_curve`` and ``ext_rest_pose_distribution``; ``scores`` and ``outlines`` are of the cases."""
    data = by_name(prepared, datasets)
    pair = two_cases(data, cases, figures["object"])
    files = dict(zip(cases, outlines, strict=True))
    curve = coverage_table(dict(map(read_scores, scores)), _CURVE)
    distribution = pd.concat([read_csv(files[case]) for case in pair], ignore_index=True)
    return {
        "figures/ext_calibration_curve": shown(curve, data, of_cases(cases)),
        "figures/ext_rest_pose_distribution": shown(distribution, data, of_cases(pair)),
    }


def rest_pose_tables(
    prepared: Sequence[str],
    datasets: Sequence[str],
    rest_pose_cases: Sequence[tuple[str, str, str]],
    scores: Sequence[str],
    errors: Sequence[str],
) -> dict[str, pd.DataFrame]:
    """``ext_rest_pose_coverage`` and ``ext_rest_pose_errors``.

    ``scores`` and ``errors`` are files of (identified on, predicted on, variant), of which there are several.
    """
    data = by_name(prepared, datasets)
    coverage, rows = [], []
    for variant in dict.fromkeys(variant for *_, variant in rest_pose_cases):
        places = [k for k, case in enumerate(rest_pose_cases) if case[2] == variant]
        names = [rest_pose_cases[k][1] for k in places]
        label = ", ".join(dict.fromkeys(data_label(data[name]) for name in names))
        coverage.append(coverage_table(dict(read_scores(scores[k]) for k in places)).assign(scheme=variant, data=label))
        rows += [
            read_csv(errors[k]).assign(dataset=name, scheme=variant, data=data_label(data[name]))
            for k, name in zip(places, names, strict=True)
        ]
    return {
        "tables/ext_rest_pose_coverage": pd.concat(coverage, ignore_index=True),
        "tables/ext_rest_pose_errors": pd.concat(rows, ignore_index=True),
    }


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
            fill_outline(whole, kinds["measured"], style.MEASURED, 0.35)
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

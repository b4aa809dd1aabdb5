"""Draw predictions of a user's own tosses; nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from contactid.core import rotations
from contactid.output import style
from contactid.tossing.own.predict import NAIVE, label
from contactid.tossing.own.regions import face_name
from contactid.tossing.predict.rest_pose_cloud import UNKNOWN
from contactid.tossing.predict.rest_pose_regions import RestPrediction
from contactid.tossing.prepare.poses import top_outline

_HEIGHT, _LEAST = 0.24, 2.2  # inches: of a scheme's row, of the figure
_PANELS = 6  # tosses whose regions are shown
_SHADES = {0.5: 0.55, 0.8: 0.3, 0.9: 0.15}  # opacity of a region by level


def draw_predictions(predictions: pd.DataFrame, means: pd.DataFrame, scheme: str, identified_on: str) -> Figure:
    """Losses of all schemes, and measured and predicted places at rest by one of them, seen from above.

    ``predictions`` and ``means`` are of :func:`contactid.tossing.own.predict.predict_own` and ``means`` there.
    """
    height = max(_LEAST, _HEIGHT * len(means) + 0.9)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(style.DOUBLE_COLUMN, height), gridspec_kw={"width_ratios": [1.15, 1.0]}
    )
    _draw_losses(left, predictions, means)
    shown = predictions[(predictions["scheme"] == scheme) & (predictions["identified_on"] == identified_on)]
    _draw_rest(right, shown, scheme)
    return figure


def _draw_losses(axes: Axes, predictions: pd.DataFrame, means: pd.DataFrame) -> None:
    for place, (_, row) in enumerate(means.iterrows()):
        of_scheme = predictions["scheme"] == row["scheme"]
        part = predictions[of_scheme & (predictions["identified_on"] == row["identified_on"])]
        colour = style.MEASURED if row["parameters"] == NAIVE else style.LINE
        axes.plot(part["loss"], np.full(len(part), place), ".", color=colour, ms=3, mew=0, alpha=0.5, zorder=2)
        error = row["sem_loss"] if np.isfinite(row["sem_loss"]) else 0.0
        axes.errorbar(row["mean_loss"], place, xerr=error, fmt="d", color="black", ms=3.5, lw=0.9, capsize=2, zorder=4)
        if np.isfinite(row["run_mean_loss"]):
            axes.plot(row["run_mean_loss"], place, "|", color=style.RELEASE, ms=9, mew=1.4, zorder=3)
    axes.set_yticks(range(len(means)), [label(row, means) for _, row in means.iterrows()])
    axes.set_ylim(len(means) - 0.5, -0.5)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("loss of a toss (eq. 18)")
    axes.plot([], [], ".", color=style.LINE, ms=4, mew=0, label="toss")
    axes.errorbar([], [], xerr=[], fmt="d", color="black", ms=3.5, lw=0.9, capsize=2, label="mean, standard error")
    axes.plot([], [], "|", color=style.RELEASE, ms=7, mew=1.4, label="the run's own test tosses")
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=6, columnspacing=0.8, handletextpad=0.2
    )


def _draw_rest(axes: Axes, predictions: pd.DataFrame, scheme: str) -> None:
    for _, toss in predictions.iterrows():
        ends = [[toss[f"{kind}_{axis}"] for kind in ("measured", "simulated")] for axis in "xy"]
        axes.plot(*ends, color=style.MEASURED, lw=0.6, zorder=1)
    for kind, colour, name in (
        ("measured", style.MEASURED, "measured at rest"),
        ("simulated", style.SIMULATED, f"predicted by {scheme}"),
    ):
        places = predictions[f"{kind}_x"], predictions[f"{kind}_y"]
        axes.plot(*places, "o", color=colour, ms=3.5, mew=0, zorder=2, label=name)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("$x_C$ (m)")
    axes.set_ylabel("$y_C$ (m)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=6, handletextpad=0.2)


def draw_regions(predictions: Sequence[RestPrediction], vertices: np.ndarray) -> Figure:
    """Regions of a few tosses from above: half of them spread over all, half those whose face is the least sure.

    ``vertices`` (v, 3) m are the body's in B.
    """
    by_sureness = sorted(predictions, key=lambda one: -one.faces[one.likely_face])
    n, half = len(by_sureness), _PANELS // 2
    unsure = range(max(n - half, 0), n)
    spread = np.linspace(0, max(n - half - 1, 0), half).round().astype(int).tolist()
    places = sorted({*spread, *unsure})
    columns = min(3, len(places))
    rows = -(-len(places) // columns)
    size = style.DOUBLE_COLUMN / 3.0
    figure, panels = plt.subplots(rows, columns, figsize=(size * max(columns, 2), size * rows + 0.7), squeeze=False)
    for panel in panels.flat[len(places) :]:
        panel.set_visible(False)
    for panel, place in zip(panels.flat, places, strict=False):
        _draw_toss(panel, by_sureness[place], vertices)
    for panel in panels[:, 0]:
        panel.set_ylabel("$y_C$ (m)")
    for panel in panels[-1]:
        panel.set_xlabel("$x_C$ (m)")
    handles: list[Patch | Line2D] = [
        Patch(facecolor=(style.LINE, _SHADES[region.level]), label=f"{100 * region.level:.0f} % region")
        for region in predictions[0].regions
    ]
    handles += [
        Line2D([], [], color=style.ACCENT, lw=0.9, ls="--", label="on another face"),
        Patch(facecolor="none", edgecolor="black", lw=0.9, label="measured at rest"),
        Line2D([], [], color=style.RELEASE, ls="none", marker="+", ms=6, label="by the parameters alone"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _draw_toss(panel: Axes, one: RestPrediction, vertices: np.ndarray) -> None:
    for region in reversed(one.regions):
        for face, corners in region.outlines:
            if face == one.likely_face:
                panel.fill(*corners.T, facecolor=(style.LINE, _SHADES[region.level]), edgecolor="none")
                panel.plot(*corners.T, color=style.LINE, lw=0.6)
            else:
                panel.plot(*corners.T, color=style.ACCENT, lw=0.9, ls="--")
    probability = 100 * one.faces[one.likely_face]
    title = f"toss {one.cloud.toss}\n{face_name(one.likely_face)} up: {probability:.0f} %"
    measured = one.cloud.measured
    if int(measured.face[0]) != UNKNOWN:
        quaternion = rotations.from_matrices(measured.matrices())[0]
        outline = top_outline(np.r_[measured.pose[0, :2], 0.0, quaternion], vertices)
        panel.fill(*outline.T, facecolor="none", edgecolor="black", lw=0.9)
        panel.plot(*measured.pose[0, :2], "o", color="black", ms=2.5)
        title += f", was {face_name(int(measured.face[0]))}"
    panel.plot(*one.cloud.central.pose[0, :2], "+", color=style.RELEASE, ms=6)
    panel.set_title(title, loc="left", fontsize=7)
    panel.set_aspect("equal", adjustable="datalim")
    panel.locator_params(nbins=4)

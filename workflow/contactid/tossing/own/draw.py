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
from contactid.tossing.predict.rest_pose_regions import LEVELS, RestPrediction
from contactid.tossing.prepare.poses import top_outline

_HEIGHT, _LEAST = 0.24, 2.2  # inches: of a scheme's row, of the figure
_PANELS = 6  # tosses whose regions are shown
_SHADES = (0.55, 0.3, 0.15)  # opacity of regions by level


def draw_losses(predictions: pd.DataFrame, means: pd.DataFrame) -> Figure:
    """Losses of all schemes.

    ``predictions`` and ``means`` are of :func:`contactid.tossing.own.predict.predict_own` and ``means`` there.
    """
    height = max(_LEAST, _HEIGHT * len(means) + 0.9)
    figure, axes = plt.subplots(figsize=(0.7 * style.DOUBLE_COLUMN, height))
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
    return figure


def draw_regions(predictions: Sequence[RestPrediction], vertices: np.ndarray) -> Figure:
    """Regions of a few tosses from above: half of them spread over all, half those whose face is the least sure.

    ``vertices`` (v, 3) m are the body's in B.
    """
    sorted_by_face = sorted(predictions, key=lambda one: -one.faces[one.likely_face])
    n, half = len(predictions), _PANELS // 2
    spread = np.linspace(0, max(n - half - 1, 0), half).round().astype(int).tolist()
    shown = [sorted_by_face[place] for place in sorted({*spread, *range(max(n - half, 0), n)})]
    rows, size = -(-len(shown) // 3), style.DOUBLE_COLUMN / 3.0
    figure, panels = plt.subplots(rows, 3, figsize=(3.0 * size, size * rows + 0.7), squeeze=False)
    for panel in panels.flat[len(shown) :]:
        panel.set_visible(False)
    for panel, one in zip(panels.flat, shown, strict=False):
        _draw_toss(panel, one, vertices)
    panels[0, 0].set_ylabel("$y_C$ (m)")
    panels[-1, 0].set(xlabel="$x_C$ (m)", ylabel="$y_C$ (m)")
    handles: list[Patch | Line2D] = [
        Patch(facecolor=(style.LINE, shade), label=f"{100 * level:.0f} % region")
        for level, shade in zip(LEVELS, _SHADES, strict=True)
    ]
    handles += [
        Line2D([], [], color=style.ACCENT, lw=0.9, ls="--", label="the same on another face"),
        Patch(facecolor="none", edgecolor="black", lw=0.9, label="measured at rest"),
        Line2D([], [], color=style.RELEASE, ls="none", marker="+", ms=6, label="by the parameters alone"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _draw_toss(panel: Axes, one: RestPrediction, vertices: np.ndarray) -> None:
    likely, measured = one.likely_face, one.cloud.measured
    for outlines, shade in zip(one.outlines[::-1], _SHADES[::-1], strict=True):
        for face, corners in outlines:
            if face == likely:
                panel.fill(*corners.T, facecolor=(style.LINE, shade), edgecolor=style.LINE, lw=0.6)
            else:
                panel.plot(*corners.T, color=style.ACCENT, lw=0.9, ls="--")
    title = f"toss {one.cloud.toss}\n{face_name(likely)} up: {100 * one.faces[likely]:.0f} %"
    if int(measured.face[0]) != UNKNOWN:
        quaternion = rotations.from_matrices(measured.matrices())[0]
        outline = top_outline(np.r_[measured.pose[0, :2], 0.0, quaternion], vertices)
        panel.fill(*outline.T, facecolor="none", edgecolor="black", lw=0.9)
        panel.plot(*measured.pose[0, :2], "o", color="black", ms=2.5)
        title += f"; measured: {face_name(int(measured.face[0]))}"
    panel.plot(*one.cloud.central.pose[0, :2], "+", color=style.RELEASE, ms=6)
    panel.set_title(title, loc="left", fontsize=7)
    panel.set_aspect("equal", adjustable="datalim")
    panel.locator_params(nbins=4)

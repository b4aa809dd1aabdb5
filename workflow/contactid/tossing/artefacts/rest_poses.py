"""Predicted distributions of rest poses: how they cover the measured ones, and what they look like
from above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from contactid.output import style
from contactid.output.computing import Shown
from contactid.output.tables import read_csv
from contactid.tossing.artefacts.data import Case, by_name, data_label, of_cases, shown, two_cases
from contactid.tossing.predict.rest_pose_distribution import coverage_table
from contactid.tossing.predict.rest_pose_regions import read_scores

_SHADES = {"region_50": 0.55, "region_80": 0.3, "region_90": 0.15}  # opacity of regions
_COLUMNS = 3  # panels of a row


def rest_pose_figure(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    outlines: Sequence[str],
    figures: Mapping[str, Any],
) -> Shown:
    """``ext_rest_pose_distribution``; ``outlines`` are of the cases."""
    data = by_name(prepared, datasets)
    pair = two_cases(data, cases, figures["object"])
    files = dict(zip(cases, outlines, strict=True))
    distribution = pd.concat([read_csv(files[case]) for case in pair], ignore_index=True)
    return shown(distribution, data, of_cases(pair))


def rest_pose_tables(
    prepared: Sequence[str],
    datasets: Sequence[str],
    rest_pose_cases: Sequence[tuple[str, str, str]],
    scores: Sequence[str],
) -> pd.DataFrame:
    """``ext_rest_pose_coverage``; ``scores`` are files of (identified on, predicted on, variant), of
    which there are several.
    """
    data, coverage = by_name(prepared, datasets), []
    for variant in dict.fromkeys(variant for *_, variant in rest_pose_cases):
        places = [k for k, case in enumerate(rest_pose_cases) if case[2] == variant]
        label = ", ".join(dict.fromkeys(data_label(data[rest_pose_cases[k][1]]) for k in places))
        covered = coverage_table(dict(read_scores(scores[k]) for k in places))
        coverage.append(covered.assign(scheme=variant, data=label))
    return pd.concat(coverage, ignore_index=True)


def draw_regions(data: pd.DataFrame) -> Figure:
    """Regions of rest poses from above, a panel per toss of :func:`region_table`, by ``object``."""
    panels = data.groupby(["object", "toss"], sort=False)
    rows, size = -(-len(panels) // _COLUMNS), style.DOUBLE_COLUMN / _COLUMNS
    figure, axes = plt.subplots(
        rows, _COLUMNS, figsize=(style.DOUBLE_COLUMN, size * rows + 0.7), squeeze=False
    )
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, ((name, toss), part) in zip(axes.flat, panels, strict=False):
        for _, shape in part.groupby("polygon", sort=False):
            _draw_shape(axis, shape)
        axis.set_title(f"{name}, toss {toss}\n{part['title'].iloc[0]}", loc="left", fontsize=7)
        axis.set_aspect("equal", adjustable="datalim")
        axis.locator_params(nbins=4)
    axes[0, 0].set_ylabel("$y_C$ (m)")
    axes[-1, 0].set(xlabel="$x_C$ (m)", ylabel="$y_C$ (m)")
    handles: list[Patch | Line2D] = [
        Patch(facecolor=(style.LINE, shade), label=f"{kind.removeprefix('region_')} % region")
        for kind, shade in _SHADES.items()
    ]
    handles += [
        Line2D([], [], color=style.ACCENT, lw=0.9, ls="--", label="the same on another face"),
        Patch(facecolor="none", edgecolor="black", lw=0.9, label="measured at rest"),
        Line2D(
            [],
            [],
            color=style.RELEASE,
            ls="none",
            marker="+",
            ms=6,
            label="by the parameters alone",
        ),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _draw_shape(axis: Axes, shape: pd.DataFrame) -> None:
    """A region on the likely face or on another, the measured box, or a place of its origin."""
    kind, likely = shape["kind"].iloc[0], bool(shape["likely"].iloc[0])
    x, y = shape["x_m"], shape["y_m"]
    if kind == "measured":
        axis.fill(x, y, facecolor="none", edgecolor="black", lw=0.9)
    elif kind == "center":
        axis.plot(x, y, "o", color="black", ms=2.5)
    elif kind == "predicted":
        axis.plot(x, y, "+", color=style.RELEASE, ms=6)
    elif likely:
        axis.fill(x, y, facecolor=(style.LINE, _SHADES[kind]), edgecolor=style.LINE, lw=0.6)
    else:
        axis.plot(x, y, color=style.ACCENT, lw=0.9, ls="--")

"""Draw figure 5: forces against predictions with their uncertainty, and its calibration; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.output import style

_NAMES = {
    "dropout_network": "network, multi-sample dropout",
    "plain_network": "plain network",
    "bayesian_features": "Bayesian regression on random features",
    "linear": "linear regression",
}
_COLOURS = {
    "dropout_network": style.LINE,
    "plain_network": style.RELEASE,
    "bayesian_features": style.ACCENT,
    "linear": style.SIMULATED,
}
_ONE_SD = 0.6827


def draw_force_sensing(data: pd.DataFrame) -> Figure:
    """Figure 5: three force components over time on the left, calibration curves on the right."""
    figure = plt.figure(figsize=(style.DOUBLE_COLUMN, 3.3))
    left, right = np.ravel(np.asarray(figure.subfigures(1, 2, width_ratios=(1.35, 1.0))))
    panels = np.atleast_1d(left.subplots(3, 1, sharex=True))
    stretch = data[data["panel"] == "stretch"]
    for axes, (axis, part) in zip(panels, stretch.groupby("axis", sort=True), strict=True):
        _draw_component(axes, str(axis), part)
    panels[-1].set_xlabel("time (s)")
    left.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    axes = right.subplots()
    _draw_calibration(axes, data[data["panel"] == "calibration"])
    right.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=1)
    return figure


def _draw_component(axes: Axes, axis: str, part: pd.DataFrame) -> None:
    model = str(part["model"].iloc[0])
    low, high = part["mean_n"] - part["sd_n"], part["mean_n"] + part["sd_n"]
    axes.fill_between(part["t_s"], low, high, color=_COLOURS[model], alpha=0.3, lw=0.0, label="one standard deviation")
    axes.plot(part["t_s"], part["mean_n"], color=_COLOURS[model], lw=0.9, label=_NAMES[model])
    axes.plot(part["t_s"], part["truth_n"], color="black", lw=0.9, ls="--", label="true force")
    axes.set_ylabel(rf"$f_{axis}$ (N)")
    axes.margins(x=0.0)


def _draw_calibration(axes: Axes, data: pd.DataFrame) -> None:
    axes.plot([0.0, 1.0], [0.0, 1.0], color="black", lw=0.5, zorder=0)
    axes.axvline(_ONE_SD, color=style.MEASURED, lw=0.6, ls=":", zorder=0)
    axes.annotate(
        "one standard\ndeviation", (_ONE_SD, 0.02), xytext=(3.0, 0.0), textcoords="offset points", fontsize=6,
        color="#555555",
    )  # fmt: skip
    for (model, scaled), part in data.groupby(["model", "scaled"], sort=False):
        line: dict[str, Any] = {"lw": 1.1, "label": _NAMES[str(model)]} if scaled else {"lw": 0.8, "ls": "--"}
        axes.plot(part["level"], part["share"], color=_COLOURS[str(model)], **line)
    styles = [
        Line2D([], [], color="black", lw=0.8, ls="--", label="as trained"),
        Line2D([], [], color="black", lw=1.1, label="scaled on\nvalidation sessions"),
    ]
    axes.legend(handles=styles, loc="upper left", borderpad=0.0, handlelength=1.6, fontsize=6)
    axes.set(
        xlim=(0.0, 1.0), ylim=(0.0, 1.0), xlabel="stated probability (1)", ylabel="share of true components inside (1)",
        aspect="equal",
    )  # fmt: skip


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {"fig05_force_sensing": draw_force_sensing}

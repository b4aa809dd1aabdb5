"""Force models on the simulated tactile sensor: their accuracy, and figure 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from contactid.core.errors import ContactIdError
from contactid.inhand.tactile.accuracy import (
    LEVELS,
    accuracy_table,
    calibration_curve,
    scale_on_validation,
)
from contactid.output import style
from contactid.sources.motion import read_dataset

_SOURCE = "synthetic data: simulated sensor with 19 electrodes; contactid inhand"
_COLUMNS = (
    "panel",
    "model",
    "scaled",
    "axis",
    "t_s",
    "truth_n",
    "mean_n",
    "sd_n",
    "level",
    "share",
    "source",
)
_NAMES = {
    "bayesian_features": "Bayesian regression on random features",
    "linear": "linear regression",
}
_COLOURS = {
    "bayesian_features": style.ACCENT,
    "linear": style.SIMULATED,
}
_ONE_SD = 0.6827


def accuracy(predictions: str, force_sensing: Mapping[str, Any]) -> pd.DataFrame:
    """``ext_force_sensing``, of the predictions that :func:`.training.write_predictions` keeps."""
    return accuracy_table(read_dataset(predictions), force_sensing["least_force"])


def forces_and_calibration(predictions: str, force_sensing: Mapping[str, Any]) -> pd.DataFrame:
    """The data of figure 5, with the first seed of every model.

    Panel ``stretch``: axis, t_s, truth_n, mean_n, sd_n of the first model on the test session that
    is shown (counted from 0), its standard deviation scaled on the validation sessions. Panel
    ``calibration``: model, scaled, level, share.

    Raises
    ------
    ContactIdError
        Where there is no such session.
    """
    every, shown = read_dataset(predictions), force_sensing["shown_session"]
    found = every.isel(training=every["seed"].values == force_sensing["training_seeds"][0])
    truth, time = found["test_force"].values, found["time"].values
    count = len(truth) // len(time)
    if not 0 <= shown < count:
        raise ContactIdError(
            f"figure 5 can't show test session {shown} of {count}", "Choose another shown_session"
        )
    rows, tables = slice(shown * len(time), (shown + 1) * len(time)), []
    for number in range(found.sizes["training"]):
        one = found.isel(training=number)
        name, scale = str(one["model"].values), scale_on_validation(one)
        mean, sd = one["test_mean"].values, one["test_sd"].values
        if number == 0:
            stretch = {"panel": "stretch", "model": name, "t_s": time}
            tables += [
                pd.DataFrame(
                    stretch
                    | {
                        "axis": axis,
                        "truth_n": truth[rows, k],
                        "mean_n": mean[rows, k],
                        "sd_n": scale * sd[rows, k],
                    }
                )
                for k, axis in enumerate("xyz")
            ]
        for factor in (1.0, scale):
            share = calibration_curve(truth, mean, factor * sd)
            curve = {
                "panel": "calibration",
                "model": name,
                "scaled": factor != 1.0,
                "level": LEVELS,
                "share": share,
            }
            tables.append(pd.DataFrame(curve))
    return (
        pd.concat(tables, ignore_index=True).assign(source=_SOURCE).reindex(columns=list(_COLUMNS))
    )


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
    axes.fill_between(
        part["t_s"],
        low,
        high,
        color=_COLOURS[model],
        alpha=0.3,
        lw=0.0,
        label="one standard deviation",
    )
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
        line: dict[str, Any] = (
            {"lw": 1.1, "label": _NAMES[str(model)]} if scaled else {"lw": 0.8, "ls": "--"}
        )
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

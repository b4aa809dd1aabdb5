"""Draw figure 2, joint velocities around an impact, from its data file; nothing is computed here."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style

_HEIGHT = 5.6  # inches
_IMPACT = "impact time"


def draw_joint_velocities(data: pd.DataFrame) -> Figure:
    """Figure 2: a panel per joint, each with its own scale; a vertical line at the impact."""
    joints = sorted(data["joint"].unique())
    figure, panels = plt.subplots(len(joints), 1, sharex=True, figsize=(style.SINGLE_COLUMN, _HEIGHT), squeeze=False)
    for axes, joint in zip(panels[:, 0], joints, strict=True):
        _panel(axes, data[data["joint"] == joint], int(joint))
    panels[0, 0].legend(loc="lower right", bbox_to_anchor=(1.0, 0.95), borderaxespad=0.0, handlelength=1.4)
    panels[-1, 0].set_xlabel("time (s)")
    figure.supylabel("joint velocity (rad/s)", fontsize=8)
    figure.align_ylabels(panels[:, 0])
    return figure


def _panel(axes: Axes, part: pd.DataFrame, joint: int) -> None:
    axes.plot(part["time_s"], part["velocity_rad_s"], color=style.LINE, lw=0.7)
    axes.axvline(float(part["impact_time_s"].iloc[0]), color=style.RELEASE, lw=0.9, label=_IMPACT)
    axes.set_ylabel(rf"$\dot q_{joint}$", rotation=0, labelpad=8, va="center")
    axes.margins(x=0.0, y=0.12)
    axes.locator_params(axis="y", nbins=3)
    axes.ticklabel_format(axis="y", useOffset=False)

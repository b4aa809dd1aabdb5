"""Figure 2: joint velocities around the impact, by finite differences of recorded joint positions."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from contactid.arm.readers.impacts import arm_recording
from contactid.output import style
from contactid.output.tables import read_csv
from contactid.sources.motion import read_dataset

SHOWN_SPEED = 0.2  # m/s straight down, the paper's figure 2
_BEFORE, _AFTER = 0.15, 0.30  # s of the recording that is drawn


def shown_velocities(data: str, fits: str) -> pd.DataFrame:
    """Figure 2 from the canonical dataset and the recordings' fits: the impact nearest to the
    paper's, as measured.
    """
    found = read_csv(fits).drop_duplicates("experiment").dropna(subset="impact_time_s")
    apart = np.hypot(found["vx_minus"].to_numpy(), found["vz_minus"].to_numpy() + SHOWN_SPEED)
    shown = found.iloc[int(apart.argmin())].to_dict()
    return joint_velocities(
        read_dataset(data), str(shown["experiment"]), float(shown["impact_time_s"])
    )


def joint_velocities(impacts: xr.Dataset, experiment: str, impact_time: float) -> pd.DataFrame:
    """Joint velocities (rad/s) of one experiment between its samples, around the impact.

    ``experiment, joint, time_s, velocity_rad_s, impact_time_s, source``; ``joint`` counts from 1,
    as in the paper's figure 1; times are those of the recording, s.
    """
    recording = arm_recording(impacts, experiment)
    velocity = np.diff(recording.joint_position, axis=0) / np.diff(recording.time)[:, None]
    time = 0.5 * (recording.time[1:] + recording.time[:-1])
    shown = (time >= impact_time - _BEFORE) & (time <= impact_time + _AFTER)
    made_from = "synthetic data: twin" if impacts.attrs["synthetic"] else "recorded data"
    joints = np.arange(1, velocity.shape[1] + 1)
    return pd.DataFrame(
        {
            "experiment": experiment,
            "joint": np.repeat(joints, np.count_nonzero(shown)),
            "time_s": np.tile(time[shown], len(joints)),
            "velocity_rad_s": velocity[shown].T.ravel(),
            "impact_time_s": impact_time,
            "source": f"{made_from}: {experiment}",
        }
    )


_HEIGHT = 5.6  # inches


def draw_joint_velocities(data: pd.DataFrame) -> Figure:
    """Figure 2: a panel per joint, each with its own scale; a vertical line at the impact."""
    joints = sorted(data["joint"].unique())
    figure, panels = plt.subplots(
        len(joints), 1, sharex=True, figsize=(style.SINGLE_COLUMN, _HEIGHT), squeeze=False
    )
    for axes, joint in zip(panels[:, 0], joints, strict=True):
        part = data[data["joint"] == joint]
        axes.plot(part["time_s"], part["velocity_rad_s"], color=style.LINE, lw=0.7)
        axes.axvline(
            float(part["impact_time_s"].iloc[0]), color=style.RELEASE, lw=0.9, label="impact time"
        )
        axes.set_ylabel(rf"$\dot q_{joint}$", rotation=0, labelpad=8, va="center")
        axes.margins(x=0.0, y=0.12)
        axes.locator_params(axis="y", nbins=3)
        axes.ticklabel_format(axis="y", useOffset=False)
    panels[0, 0].legend(
        loc="lower right", bbox_to_anchor=(1.0, 0.95), borderaxespad=0.0, handlelength=1.4
    )
    panels[-1, 0].set_xlabel("time (s)")
    figure.supylabel("joint velocity (rad/s)", fontsize=8)
    figure.align_ylabels(panels[:, 0])
    return figure

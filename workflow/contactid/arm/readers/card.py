"""What a data card says of an arm's recorded impacts."""

from __future__ import annotations

import numpy as np
import xarray as xr

from contactid.arm.readers.impacts import iterate_arm_recordings
from contactid.sources.card import Panel, Signals, gaps, series, spread, white_noise


def arm_signals(impacts: xr.Dataset) -> Signals:
    """Of impacts of an arm (:mod:`contactid.arm.readers.impacts`)."""
    recordings = list(iterate_arm_recordings(impacts))
    first = recordings[0]
    moved = first.joint_position - first.joint_position[0]
    joints = [
        series(first.time, moved[:, number], str(name))
        for number, name in enumerate(impacts["joint"].values)
    ]
    # the joint that moves most shows the impact best
    farthest = int(np.argmax(np.ptp(moved, axis=0)))
    some = [recordings[index] for index in spread(len(recordings))]
    of_one = [
        series(
            one.time, one.joint_position[:, farthest] - one.joint_position[0, farthest], one.name
        )
        for one in some
    ]
    steps = [
        series(one.time[1:], np.diff(one.joint_position[:, farthest]) / np.diff(one.time), one.name)
        for one in some
    ]
    return Signals(
        what="joint positions of a robot arm that hits a table",
        recordings=len(recordings),
        samples=sum(len(one.time) for one in recordings),
        durations=[float(one.time[-1] - one.time[0]) for one in recordings],
        gaps=sum(gaps(one.time, one.time[1] - one.time[0]) for one in recordings),
        noise={"joint_position_rad": [white_noise(one.joint_position) for one in recordings]},
        panels=[
            Panel(f"joints, {first.name}", "time (s)", "from the start (rad)", joints),
            Panel(
                f"{impacts['joint'].values[farthest]}", "time (s)", "from the start (rad)", of_one
            ),
            Panel(f"{impacts['joint'].values[farthest]}", "time (s)", "differences (rad/s)", steps),
        ],
    )

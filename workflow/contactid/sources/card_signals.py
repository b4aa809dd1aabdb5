"""What a data card says of the signals of each canonical form: how much, how noisy, and a few of them to look at.

Noise is estimated as if it were white, from third differences: those of a smooth signal are small, while those of
white noise have 1 + 9 + 9 + 1 = 20 times its variance. The median absolute value makes impacts and jumps count little.
What varies slowly, like the drift of a motion capture system, doesn't show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from contactid.arm.readers.impacts import iterate_arm_recordings
from contactid.core import rotations
from contactid.planar.readers.throws import iterate_throws
from contactid.sources.motion import iterate_recordings

_SHOWN = 6  # recordings in a panel
_HEARD = 24  # recordings of an archive that its noise is estimated from
_MOST_POINTS = 400  # of a line
_SIGMA_OF_MEDIAN = 0.6745  # median absolute value of a standard normal
_WHITE_NOISE_GAIN = np.sqrt(20.0)
_GAP = 1.5  # sample intervals; a longer step is a gap


@dataclass(frozen=True)
class Series:
    """One line or cloud of points; ``label`` is empty where it needs none."""

    x: list[float]
    y: list[float]
    label: str = ""


@dataclass(frozen=True)
class Panel:
    """One small plot; ``kind`` is ``line`` or ``points``."""

    title: str
    x_label: str
    y_label: str
    series: list[Series]
    kind: str = "line"


@dataclass(frozen=True)
class Signals:
    """What a card says of a dataset's signals.

    Attributes
    ----------
    what : one sentence
    recordings, samples : how many
    durations : of each recording, s; empty where there is no time
    gaps : steps of the time that are longer than 1.5 sample intervals
    noise : standard deviation by quantity, the unit in its name; empty where it can't be estimated
    panels : to look at
    """

    what: str
    recordings: int
    samples: int
    durations: list[float]
    gaps: int
    noise: dict[str, float]
    panels: list[Panel] = field(default_factory=list)


def white_noise(values: np.ndarray) -> float:
    """Standard deviation of white noise on a smooth signal (n,) or (n, k), all components together."""
    if len(values) < 8:
        return float("nan")
    return float(np.median(np.abs(np.diff(values, 3, axis=0))) / _SIGMA_OF_MEDIAN / _WHITE_NOISE_GAIN)


def rotation_noise(orientation: np.ndarray) -> float:
    """As :func:`white_noise`, per axis (rad), for quaternions (n, 4): from the turns between frames."""
    if len(orientation) < 8:
        return float("nan")
    rotation = rotations.as_rotation(orientation)
    steps = (rotation[:-1].inv() * rotation[1:]).as_rotvec()
    return float(np.median(np.abs(np.diff(steps, 2, axis=0))) / _SIGMA_OF_MEDIAN / _WHITE_NOISE_GAIN)


def motion_signals(motion: xr.Dataset) -> Signals:
    """Of tosses (:mod:`contactid.sources.motion`), one recording in memory at a time."""
    frequency = float(motion.attrs["sample_frequency"])
    sizes = motion["row_size"].values
    shown, heard = _spread(len(sizes), _SHOWN), _spread(len(sizes), _HEARD)
    noise: dict[str, list[float]] = {"position_m": [], "orientation_rad": []}
    height, above, turn = [], [], []
    for index, (name, samples) in enumerate(iterate_recordings(motion)):
        if index not in shown and index not in heard:
            continue
        position, orientation = samples["position"].values, samples["orientation"].values
        noise["position_m"].append(white_noise(position))
        noise["orientation_rad"].append(rotation_noise(orientation))
        if index in shown:
            time = np.arange(len(position)) / frequency
            height.append(_series(time, position[:, 2], name))
            above.append(_series(position[:, 0], position[:, 1], name))
            turn.append(_series(time, rotations.angle_between(orientation, orientation[:1]), name))
    return Signals(
        what=f"poses of the body {motion.attrs['object']} in the reference frame M",
        recordings=len(sizes),
        samples=int(sizes.sum()),
        durations=((sizes - 1) / frequency).tolist(),
        gaps=0,  # the readers leave out recordings with gaps
        noise=_medians(noise),
        panels=[
            Panel("height", "time (s)", "z (m)", height),
            Panel("from above", "x (m)", "y (m)", above),
            Panel("turn from the first frame", "time (s)", "angle (rad)", turn),
        ],
    )


def throw_signals(data: xr.Dataset) -> Signals:
    """Of planar throws (:mod:`contactid.planar.readers.throws`)."""
    throws = list(iterate_throws(data))
    noise: dict[str, list[float]] = {"position_m": [], "angle_rad": []}
    for throw in throws:
        noise["position_m"].append(white_noise(throw.position[:, :2]))
        noise["angle_rad"].append(white_noise(throw.position[:, 2]))
    some = [throws[index] for index in _spread(len(throws), _SHOWN)]
    return Signals(
        what=f"planar poses of the tracked point of {data.attrs['object']}",
        recordings=len(throws),
        samples=int(data["row_size"].values.sum()),
        durations=[float(throw.time[-1]) for throw in throws],
        gaps=sum(_gaps(throw.time, 1.0 / throw.sample_frequency) for throw in throws),
        noise=_medians(noise),
        panels=[
            Panel("path", "x (m)", "y (m)", [_series(t.position[:, 0], t.position[:, 1], t.name) for t in some]),
            Panel("height", "time (s)", "y (m)", [_series(t.time, t.position[:, 1], t.name) for t in some]),
            Panel("angle", "time (s)", "theta (rad)", [_series(t.time, t.position[:, 2], t.name) for t in some]),
        ],
    )


def impact_signals(impacts: xr.Dataset) -> Signals:
    """Of planar impacts (:mod:`contactid.planar.readers.impacts`): velocities before and after, without time."""
    before, after = impacts["velocity_before"].values, impacts["velocity_after"].values
    panels = []
    for column, (title, unit) in enumerate((("v_x", "m/s"), ("v_y", "m/s"), ("omega", "rad/s"))):
        series = [Series(_rounded(before[:, column]), _rounded(after[:, column]))]
        panels.append(Panel(title, f"before ({unit})", f"after ({unit})", series, kind="points"))
    return Signals(
        what=f"states of {impacts.attrs['object']} before and after single impacts on the ground",
        recordings=len(before),
        samples=2 * len(before),
        durations=[],
        gaps=0,
        noise={},
        panels=panels,
    )


def arm_signals(impacts: xr.Dataset) -> Signals:
    """Of impacts of an arm (:mod:`contactid.arm.readers.impacts`)."""
    recordings = list(iterate_arm_recordings(impacts))
    interval = float(impacts.attrs["sample_interval"])
    first = recordings[0]
    moved = first.joint_position - first.joint_position[0]
    joints = [_series(first.time, moved[:, number], str(name)) for number, name in enumerate(impacts["joint"].values)]
    farthest = int(np.argmax(np.ptp(moved, axis=0)))
    some = [recordings[index] for index in _spread(len(recordings), _SHOWN)]
    of_one = [
        _series(one.time, one.joint_position[:, farthest] - one.joint_position[0, farthest], one.setting.name)
        for one in some
    ]
    steps = [
        _series(one.time[1:], np.diff(one.joint_position[:, farthest]) / interval, one.setting.name) for one in some
    ]
    return Signals(
        what="joint positions of a robot arm that hits a table",
        recordings=len(recordings),
        samples=sum(len(one.time) for one in recordings),
        durations=[float(one.time[-1] - one.time[0]) for one in recordings],
        gaps=sum(_gaps(one.time, interval) for one in recordings),
        noise=_medians({"joint_position_rad": [white_noise(one.joint_position) for one in recordings]}),
        panels=[
            Panel(f"joints, {first.setting.name}", "time (s)", "from the start (rad)", joints),
            Panel(f"{impacts['joint'].values[farthest]}", "time (s)", "from the start (rad)", of_one),
            Panel(f"{impacts['joint'].values[farthest]}", "time (s)", "differences (rad/s)", steps),
        ],
    )


SIGNALS: dict[str, Callable[[xr.Dataset], Signals]] = {
    "iam": motion_signals,
    "contactnets": motion_signals,
    "planar_throws": throw_signals,
    "planar_impacts": impact_signals,
    "arm_mat": arm_signals,
}


def _spread(count: int, most: int) -> list[int]:
    """Up to ``most`` numbers, evenly over the recordings."""
    return sorted({int(index) for index in np.linspace(0, count - 1, min(count, most))})


def _series(x: np.ndarray, y: np.ndarray, label: str) -> Series:
    step = -(-len(x) // _MOST_POINTS)
    return Series(_rounded(x[::step]), _rounded(y[::step]), label)


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


def _gaps(time: np.ndarray, interval: float) -> int:
    return int(np.count_nonzero(np.diff(time) > _GAP * interval))


def _medians(noise: dict[str, list[float]]) -> dict[str, float]:
    """The median over recordings, to three digits; without the quantities that no recording tells."""
    found = {name: np.array(values)[np.isfinite(values)] for name, values in noise.items()}
    return {name: float(f"{np.median(values):.3g}") for name, values in found.items() if len(values)}

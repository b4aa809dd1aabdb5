"""What a data card says of the signals of each canonical form: how much, how noisy, and a few of them to look at.

Noise is estimated as if it were white, from third differences: those of a smooth signal are small, while those of
white noise have 1 + 9 + 9 + 1 = 20 times its variance. The median absolute value makes impacts and jumps count little.
What varies slowly, like the drift of a motion capture system, doesn't show.


A dataset's card: what it is, how much, how noisy, from where, under which licence, and what was left out of it.

The card is a JSON file; :mod:`contactid.sources.card` draws the signals in it.


Draw the signals of a data card; nothing is computed here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from contactid.arm.readers.impacts import iterate_arm_recordings
from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.planar.readers.throws import iterate_throws
from contactid.sources.left_out import left_out_of
from contactid.sources.motion import iterate_recordings, opened_dataset
from contactid.sources.registry import Dataset

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


def make_card(dataset: Dataset, data: str | Path, raw: str | Path) -> dict[str, Any]:
    """The card of a dataset.

    Parameters
    ----------
    dataset
        The registry's entry.
    data
        The canonical file.
    raw
        The file or folder that it was read from.

    Returns
    -------
    dict
        ``name``, ``study``, ``what``, ``object``, ``synthetic``; ``recordings``, ``samples``, ``duration_s``,
        ``shortest_s``, ``longest_s`` (None without time), ``sample_frequency_hz``, ``gaps``, ``left_out`` (recording:
        reason), ``noise`` (quantity: standard deviation); ``licence``, ``citation``, ``source``, ``version``,
        ``files``, ``bytes``, ``sha256``; ``panels``, what :mod:`contactid.sources.card` draws.

    Raises
    ------
    ContactIdError
        For a reader without a card, and where a file can't be read.
    """
    if dataset.reader not in SIGNALS:
        raise ContactIdError(
            f"configuration: {dataset.name} has the reader {dataset.reader}, of whose data there is no card",
            f"Known are {', '.join(SIGNALS)}",
        )
    with opened_dataset(data) as canonical:
        signals = SIGNALS[dataset.reader](canonical)
        attributes = dict(canonical.attrs)
    interval = attributes.get("sample_interval")
    frequency = 1.0 / float(interval) if interval else float(attributes["sample_frequency"])
    durations = np.array(signals.durations)
    return {
        "name": dataset.name,
        "study": dataset.study,
        "what": signals.what,
        "object": str(attributes.get("object", "")),
        "synthetic": bool(attributes["synthetic"]),
        "recordings": signals.recordings,
        "samples": signals.samples,
        "duration_s": _digits(durations.sum()) if len(durations) else None,
        "shortest_s": _digits(durations.min()) if len(durations) else None,
        "longest_s": _digits(durations.max()) if len(durations) else None,
        "sample_frequency_hz": _digits(frequency),
        "gaps": signals.gaps,
        "left_out": left_out_of(attributes),
        "noise": signals.noise,
        "licence": str(attributes["licence"]),
        "citation": dataset.citation,
        "source": dataset.source,
        "version": dataset.version,
        **_files(Path(raw)),
        "panels": [asdict(panel) for panel in signals.panels],
    }


def headline(card: dict[str, Any]) -> str:
    """How much there is, in one line."""
    duration = "" if card["duration_s"] is None else f", {card['duration_s']:.4g} s"
    left_out = f", {len(card['left_out'])} left out" if card["left_out"] else ""
    return (
        f"{card['recordings']} recordings, {card['samples']} samples{duration} at {card['sample_frequency_hz']:.4g} Hz"
        f"{left_out}"
    )


def _files(raw: Path) -> dict[str, Any]:
    """Number, size and checksum of the files; a folder's checksum is that of the list ``checksum  name``, sorted."""
    try:
        files = [raw] if raw.is_file() else sorted(file for file in raw.rglob("*") if file.is_file())
        lines = []
        for file in files:
            with file.open("rb") as stream:
                lines.append((hashlib.file_digest(stream, "sha256").hexdigest(), file))
        size = sum(file.stat().st_size for file in files)
    except OSError as error:
        raise ContactIdError(f"{raw}: cannot be read ({error.strerror})", "Check the path") from None
    if raw.is_file():
        checksum = lines[0][0]
    else:
        listed = "".join(f"{digest}  {file.relative_to(raw).as_posix()}\n" for digest, file in lines)
        checksum = hashlib.sha256(listed.encode()).hexdigest()
    return {"files": len(files), "bytes": size, "sha256": checksum}


def _digits(value: float) -> float:
    return float(f"{value:.6g}")


FORMATS = ("png", "svg")


_HEIGHT = 2.2  # inches


_MOST_LABELS = 7


def draw_card(card: dict[str, Any], stem: str | Path) -> None:
    """Write the card's panels side by side as ``stem`` with the extensions png and svg."""
    with style.styled():
        figure, axes = plt.subplots(1, len(card["panels"]), figsize=(style.DOUBLE_COLUMN, _HEIGHT), squeeze=False)
        for panel, place in zip(card["panels"], axes[0], strict=True):
            _draw_panel(place, panel)
        figure.suptitle(f"{card['name']}: {headline(card)}", fontsize=8, x=0.01, ha="left")
        kind = "synthetic data" if card["synthetic"] else "measured data"
        style.label_data(figure, f"{kind}; {card['what']}; licence: {card['licence']}")
        style.save(figure, stem, FORMATS)
        plt.close(figure)


def _draw_panel(axes: Axes, panel: dict[str, Any]) -> None:
    colours = plt.get_cmap("viridis")
    count = max(len(panel["series"]) - 1, 1)
    for number, series in enumerate(panel["series"]):
        if panel["kind"] == "points":
            axes.plot(series["x"], series["y"], ".", color=style.LINE, ms=1.5, alpha=0.4)
        else:
            axes.plot(series["x"], series["y"], color=colours(0.9 * number / count), lw=0.7, label=series["label"])
    if 1 < len(panel["series"]) <= _MOST_LABELS and panel["title"].startswith("joints"):
        axes.legend(fontsize=5, ncols=2)
    axes.set(xlabel=panel["x_label"], ylabel=panel["y_label"])
    axes.set_title(panel["title"], loc="left")

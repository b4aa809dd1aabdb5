"""Real recordings of a force-torque sensor at a robot's wrist, as two laboratories published them,
in one canonical form.

============ ================== ==== ==============================================================
variable     dimensions         unit meaning
============ ================== ==== ==============================================================
recording    sample                  the name of the recording that a sample is of
time         sample             s    from its first sample on; NaN of poses that are held still
position     sample, xyz        m    of the hand in the world, z upwards
orientation  sample, wxyz       1    quaternion, hand to world, real part first
wrench       sample, component  N,   force and torque on the payload, in the sensor's axes and about
                                N m  its origin, the sensor's zero in them
============ ================== ==== ==============================================================

Attributes: ``aligned`` (1 where the sensor's axes are the hand's; 0 where they are turned by a
constant that isn't stated), ``source``, ``licence``, ``synthetic`` (0).

Both laboratories publish what acts on the sensor: the sign is turned here. Two layouts are known by
their files' names:

* ``data_file_<name>.txt``, a recording in motion (elenamck/inertial_parameter_application): below a
  header 19 numbers a row, position, accelerometer, quaternion with the real part first, gyroscope,
  force, torque. There is no clock: :data:`RATE` is nominal. Rows that lack numbers are left out.
* ``recorded_messages_pose<name>.txt`` with ``recorded_messages_wrench<name>.txt`` beside it, poses
  that are held still (leledeyuan00/Gravity-Compensation-F-T-sensor): 7 numbers, position and
  quaternion with the real part last, and 6, the wrench in axes of the base.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.core.reading import content_of
from contactid.sources.card import Panel, Signals, series, white_noise

RATE = 1000.0  # Hz, nominal: at this rate accelerations of the positions are 2 % of g
_MOVED, _STILL, _WRENCH = "data_file_", "recorded_messages_pose", "recorded_messages_wrench"
_COLUMNS = 19
_LARGEST = 1 << 24  # bytes of a file: a recording has 3.5 MB
_PARTS = (slice(0, 3), slice(3, 6))  # force and torque
_NORM = 0.01  # by which a quaternion's length may differ from 1


def read_wrist(path: str | Path, *, source: str, licence: str) -> xr.Dataset:
    """All recordings below a folder, of one of the two layouts.

    Raises
    ------
    ContactIdError
        Where there is none, or a file doesn't have these numbers.
    """
    moved = sorted(Path(path).rglob(f"{_MOVED}*.txt"))
    still = sorted(Path(path).rglob(f"{_STILL}*.txt"))
    if bool(moved) == bool(still):
        raise ContactIdError(
            f"{path}: neither {_MOVED}*.txt alone nor {_STILL}*.txt alone",
            "Name the folder of one publication",
        )
    recordings = [_in_motion(file) for file in moved] or [_held_still(file) for file in still]
    joined = xr.concat(recordings, "sample")
    if moved:
        joined = joined.assign_attrs(sample_frequency=RATE)
    return joined.assign_attrs(aligned=int(not moved), source=source, licence=licence, synthetic=0)


def _in_motion(file: Path) -> xr.Dataset:
    lines = content_of(file, _LARGEST).decode("utf-8", "replace").splitlines()[1:]
    # rows that lack numbers are left out; each of them took its time
    words = [line.split() for line in lines]
    whole = [place for place, row in enumerate(words) if len(row) == _COLUMNS]
    rows = _numbers(file, [words[place] for place in whole])
    time = np.array(whole, dtype=float) / RATE
    name = file.stem.removeprefix(_MOVED)
    # sign turned: published is what acts on the sensor
    return _recording(name, file, time, rows[:, :3], rows[:, 6:10], -rows[:, 13:])


def _held_still(file: Path) -> xr.Dataset:
    beside = file.with_name(file.name.replace(_STILL, _WRENCH))
    pose, wrench = (
        _numbers(one, [line.split(",") for line in content_of(one, _LARGEST).decode().splitlines()])
        for one in (file, beside)
    )
    if pose.shape[1:] != (7,) or wrench.shape != (len(pose), 6):
        raise ContactIdError(
            f"{file}: {pose.shape} numbers beside {wrench.shape}", "Take the published files"
        )
    # real part last in these files, as scipy has it
    to_base = Rotation.from_quat(pose[:, 3:])
    # from the base's axes to the hand's, and the sign turned
    on_payload = np.column_stack([-to_base.inv().apply(wrench[:, part]) for part in _PARTS])
    orientation = to_base.as_quat(scalar_first=True)
    time = np.full(len(pose), np.nan)
    return _recording(f"{len(pose)} poses", file, time, pose[:, :3], orientation, on_payload)


def _numbers(file: Path, rows: list[list[str]]) -> np.ndarray:
    try:
        numbers = np.array(rows, dtype=float)
    except ValueError as error:
        raise ContactIdError(f"{file}: {error}", "Take the published file") from None
    if numbers.ndim != 2 or not np.isfinite(numbers).all():
        raise ContactIdError(f"{file}: no table of finite numbers", "Take the published file")
    return numbers


def _recording(
    name: str,
    file: Path,
    time: np.ndarray,
    position: np.ndarray,
    orientation: np.ndarray,
    wrench: np.ndarray,
) -> xr.Dataset:
    norm = np.linalg.norm(orientation, axis=1, keepdims=True)
    if np.abs(norm - 1.0).max() > _NORM:
        raise ContactIdError(f"{file}: quaternions aren't of unit length", "Take another file")
    return xr.Dataset(
        {
            "recording": ("sample", [name] * len(time)),
            "time": ("sample", time, {"units": "s"}),
            "position": (("sample", "xyz"), position, {"units": "m"}),
            "orientation": (("sample", "wxyz"), orientation / norm, {"units": "1"}),
            "wrench": (("sample", "component"), wrench, {"units": "N, N m"}),
        }
    )


def recordings_of(wrist: xr.Dataset) -> dict[str, xr.Dataset]:
    """Each recording by its name."""
    names = wrist["recording"].values
    return {str(name): wrist.isel(sample=names == name) for name in dict.fromkeys(names)}


def wrist_signals(wrist: xr.Dataset) -> Signals:
    """What a data card says of them."""
    recordings = recordings_of(wrist)
    moved = {name: one for name, one in recordings.items() if np.isfinite(one["time"]).all()}
    force = []
    for name, one in recordings.items():
        along = one["time"].values if name in moved else np.arange(float(one.sizes["sample"]))
        force.append(series(along, np.linalg.norm(one["wrench"].values[:, :3], axis=1), name))
    return Signals(
        what="force and torque at a robot's wrist with a payload, and the hand's pose",
        recordings=len(recordings),
        samples=wrist.sizes["sample"],
        durations=[float(one["time"].values[-1]) for one in moved.values()],
        gaps=0,
        noise={"force_n": [white_noise(one["wrench"].values[:, :3]) for one in moved.values()]},
        panels=[Panel("force", "time (s)" if moved else "pose", "size (N)", force)],
    )

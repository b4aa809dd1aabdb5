"""Recorded impacts of a robot arm on a table, in one canonical form.

================ ================== ====== ==========================================================================
variable         dimensions         unit   meaning
================ ================== ====== ==========================================================================
joint_position   experiment, sample rad    as the arm reports them, along ``joint``, too; NaN after a recording's end
                 , joint
time             experiment, sample s      from the recording's first sample; NaN after its end
================ ================== ====== ==========================================================================

Coordinates along ``experiment``: its name (``set1_v010_a30``), ``set`` (1 or 2), ``nominal_velocity`` (m/s) and
``nominal_angle_deg`` (of the tip's motion against the table; 90 is vertical), both as in the name, not as measured.
``joint`` has the joints' names, from the base on. Attributes: ``sample_interval`` (s), ``source``, ``licence``,
``synthetic`` (0 or 1), and ``left_out``, a JSON text with the reason for each recording that was left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.sources.left_out import joined

N_JOINTS = 7
JOINTS = tuple(f"joint_{number}" for number in range(N_JOINTS))
SAMPLE_INTERVAL = 1e-3  # s
LEAST_SAMPLES = 50
_INTERVAL_TOLERANCE = 0.5  # of the interval; a dropped sample doubles a step, and clocks scatter far less
_UNITS = {"joint_position": "rad", "time": "s", "nominal_velocity": "m/s", "nominal_angle_deg": "degree"}


@dataclass(frozen=True)
class Setting:
    """What an experiment was meant to be: number of its set, m/s, and degrees against the table."""

    set_number: int
    velocity: float
    angle_deg: float

    @property
    def name(self) -> str:
        """For example ``set1_v010_a30``."""
        return f"set{self.set_number}_v{round(100.0 * self.velocity):03d}_a{round(self.angle_deg):02d}"


@dataclass(frozen=True, eq=False)
class ArmRecording:
    """One experiment: ``time`` (n,) in s, ``joint_position`` (n, 7) in rad."""

    setting: Setting
    time: np.ndarray
    joint_position: np.ndarray


def recording_problems(time: np.ndarray, joint_position: np.ndarray, limits: np.ndarray | None = None) -> list[str]:
    """Everything that makes a recording unusable, one sentence each; empty where it is usable.

    ``time`` (n,) in s, ``joint_position`` (n, 7) in rad; ``limits`` (7, 2), lowest and highest positions, rad, None
    doesn't look.
    """
    problems = []
    if len(time) < LEAST_SAMPLES:
        problems.append(f"{len(time)} samples where at least {LEAST_SAMPLES} are needed")
    missing = ~np.isfinite(joint_position).all(axis=1)
    if missing.any():
        problems.append(f"NaN in {np.count_nonzero(missing)} samples, the first at sample {np.argmax(missing)}")
    problems += _time_problems(time)
    columns = () if limits is None else zip(JOINTS, joint_position.T, limits, strict=True)
    for name, column, (low, high) in columns:
        finite = column[np.isfinite(column)]
        if len(finite) and (finite.min() < low or finite.max() > high):
            problems.append(
                f"{name} goes from {finite.min():.4g} to {finite.max():.4g} rad, "
                f"beyond its limits {low:.4g} and {high:.4g}"
            )
    return problems


def _time_problems(time: np.ndarray) -> list[str]:
    problems = []
    missing = ~np.isfinite(time)
    if missing.any():
        problems.append(
            f"NaN in {np.count_nonzero(missing)} samples of the time, the first at sample {np.argmax(missing)}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(time)
        backward = steps <= 0.0
        uneven = (
            np.isfinite(steps) & ~backward & (np.abs(steps - SAMPLE_INTERVAL) > _INTERVAL_TOLERANCE * SAMPLE_INTERVAL)
        )
    if backward.any():
        problems.append(f"time does not increase at sample {np.argmax(backward) + 1}")
    if uneven.any() and (uneven | backward).all():
        problems.append(
            f"time steps of {1e3 * np.median(steps[uneven]):.4g} ms instead of {1e3 * SAMPLE_INTERVAL:g} ms"
        )
    elif uneven.any():
        first = int(np.argmax(uneven))
        problems.append(
            f"{np.count_nonzero(uneven)} time steps are not {1e3 * SAMPLE_INTERVAL:g} ms, "
            f"the first {1e3 * steps[first]:.4g} ms at sample {first + 1} (dropped samples)"
        )
    return problems


def build_arm_impacts(
    recordings: Sequence[ArmRecording],
    *,
    source: str,
    licence: str,
    synthetic: bool,
    left_out: Mapping[str, str] | None = None,
) -> xr.Dataset:
    """Assemble the canonical dataset, experiments in the order of set, velocity, angle.

    Raises
    ------
    ContactIdError
        Without a recording, with two of one setting, and for what :func:`validate_arm_impacts` finds.
    """
    if not recordings:
        raise ContactIdError(f"{source}: no usable recording of an impact", "Check the folder or archive")
    recordings = sorted(recordings, key=lambda one: (one.setting.set_number, one.setting.velocity, one.setting.name))
    longest = max(len(recording.time) for recording in recordings)
    settings = [recording.setting for recording in recordings]
    impacts = xr.Dataset(
        {
            "joint_position": (
                ("experiment", "sample", "joint"),
                np.stack([_padded(recording.joint_position, longest) for recording in recordings]),
            ),
            "time": (
                ("experiment", "sample"),
                np.stack([_padded(one.time - one.time[0], longest) for one in recordings]),
            ),
        },
        coords={
            "experiment": np.array([setting.name for setting in settings], dtype=object),
            "set": ("experiment", np.array([setting.set_number for setting in settings], dtype="int64")),
            "nominal_velocity": ("experiment", np.array([setting.velocity for setting in settings])),
            "nominal_angle_deg": ("experiment", np.array([setting.angle_deg for setting in settings])),
            "joint": np.array(JOINTS, dtype=object),
        },
        attrs={
            "sample_interval": SAMPLE_INTERVAL,
            "source": source,
            "licence": licence,
            "synthetic": int(synthetic),
            "left_out": json.dumps(dict(left_out or {})),
        },
    )
    for name, unit in _UNITS.items():
        impacts[name].attrs["units"] = unit
    validate_arm_impacts(impacts)
    return impacts


def _padded(values: np.ndarray, n_samples: int) -> np.ndarray:
    full = np.full((n_samples, *values.shape[1:]), np.nan)
    full[: len(values)] = values
    return full


def validate_arm_impacts(impacts: xr.Dataset) -> None:
    """Raise :class:`ContactIdError` with everything that is not as the canonical form says."""
    source = impacts.attrs.get("source", "arm data")
    missing = [f"variable {name} is missing" for name in _UNITS if name not in impacts.variables]
    if missing:
        raise ContactIdError(f"{source}: {joined(missing)}", "Read the data again")
    problems = [
        f"{name} is in {impacts[name].attrs.get('units')!r} instead of {unit!r}"
        for name, unit in _UNITS.items()
        if impacts[name].attrs.get("units") != unit
    ]
    if impacts.sizes["joint"] != N_JOINTS:
        problems.append(f"{impacts.sizes['joint']} joints instead of {N_JOINTS}")
    names = [str(name) for name in impacts["experiment"].values]
    problems += [f"more than one recording is {name}" for name in sorted({n for n in names if names.count(n) > 1})]
    for recording in iterate_arm_recordings(impacts):
        found = recording_problems(recording.time, recording.joint_position)
        problems += [f"{recording.setting.name}: {problem}" for problem in found]
    if problems:
        raise ContactIdError(f"{source}: {joined(problems)}", "Leave such recordings out, and read the data again")


def arm_recording(impacts: xr.Dataset, experiment: str) -> ArmRecording:
    """One experiment, without the padding.

    Raises
    ------
    ContactIdError
        Where the dataset has no such experiment; those it has are named.
    """
    names = [str(name) for name in impacts["experiment"].values]
    if experiment not in names:
        raise ContactIdError(f"no experiment {experiment}", f"There are {', '.join(names)}")
    part = impacts.isel(experiment=names.index(experiment))
    n_samples = int(np.count_nonzero(np.isfinite(part["time"].values)))
    setting = Setting(int(part["set"]), float(part["nominal_velocity"]), float(part["nominal_angle_deg"]))
    return ArmRecording(setting, part["time"].values[:n_samples], part["joint_position"].values[:n_samples])


def iterate_arm_recordings(impacts: xr.Dataset) -> Iterator[ArmRecording]:
    """Yield every experiment in the dataset's order."""
    for name in impacts["experiment"].values:
        yield arm_recording(impacts, str(name))


def experiment_at(impacts: xr.Dataset, *, velocity: float, angle_deg: float) -> str:
    """Name of the first experiment with these nominal values.

    Raises
    ------
    ContactIdError
        Where there is none.
    """
    same = np.isclose(impacts["nominal_velocity"], velocity) & np.isclose(impacts["nominal_angle_deg"], angle_deg)
    if not same.any():
        have = ", ".join(str(name) for name in impacts["experiment"].values)
        raise ContactIdError(f"no experiment at {velocity:g} m/s and {angle_deg:g} degrees", f"There are {have}")
    return str(impacts["experiment"].values[int(np.argmax(same))])

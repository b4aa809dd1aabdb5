"""Recorded impacts of a robot arm on a table, in one canonical form.

================ ================== ====== ==========================================================================
variable         dimensions         unit   meaning
================ ================== ====== ==========================================================================
joint_position   experiment, sample rad    as the arm reports them, along ``joint``, too; NaN after a recording's end
                 , joint
time             experiment, sample s      from the recording's first sample, in even steps; NaN after its end
================ ================== ====== ==========================================================================

Coordinates along ``experiment``: its name (``set1_v010_a30``; a repetition of it
``set1_v010_a30_2``; a recording whose file tells less is named by its file), ``set`` (1 or 2),
``nominal_velocity`` (m/s) and ``nominal_angle_deg`` (of the tip's motion against the table; 90 is
vertical), all as in the name, not as measured; 0 and NaN where it doesn't tell. ``joint`` has the
joints' names, from the base on. Attributes: ``sample_interval`` (s, the recordings' median),
``source``, ``licence``, ``synthetic`` (0 or 1), and two JSON texts: ``left_out``, why each
recording that was left out was, and ``remarks``, what was done to or assumed of each that wasn't.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.sources.left_out import joined

N_JOINTS = 7
JOINTS = tuple(f"joint_{number}" for number in range(N_JOINTS))
SAMPLE_INTERVAL = 1e-3  # s
LEAST_SAMPLES = 50
MOST_MISSING = 2  # samples in a row that are bridged
EVEN = 1e-6  # s; stamps this near to even steps are even, and the canonical form's are
_UNITS = {
    "joint_position": "rad",
    "time": "s",
    "nominal_velocity": "m/s",
    "nominal_angle_deg": "degree",
}


@dataclass(frozen=True)
class Setting:
    """What an experiment was meant to be: number of its set, m/s, and degrees against the table."""

    set_number: int
    velocity: float
    angle_deg: float

    @property
    def name(self) -> str:
        """For example ``set1_v010_a30``."""
        return (
            f"set{self.set_number}_v{round(100.0 * self.velocity):03d}_a{round(self.angle_deg):02d}"
        )


@dataclass(frozen=True, eq=False)
class ArmRecording:
    """One experiment: ``time`` (n,) in s, ``joint_position`` (n, 7) in rad.

    ``own_name`` is what it is called where that isn't its setting's name; ``remarks`` say what was
    done to it.
    """

    setting: Setting
    time: np.ndarray
    joint_position: np.ndarray
    own_name: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.own_name or self.setting.name


def is_told(setting: Setting) -> bool:
    """Whether a setting is known whole; a set of 0, and NaN, are unknown."""
    return bool(
        setting.set_number and np.isfinite(setting.velocity) and np.isfinite(setting.angle_deg)
    )


def recording_problems(joint_position: np.ndarray, limits: np.ndarray) -> list[str]:
    """Everything that makes joint positions (n, joints), rad, unusable, one sentence each.

    ``limits`` (joints, 2): lowest and highest positions, rad.
    """
    problems = []
    if len(joint_position) < LEAST_SAMPLES:
        problems.append(f"{len(joint_position)} samples where at least {LEAST_SAMPLES} are needed")
    missing = ~np.isfinite(joint_position).all(axis=1)
    if missing.any() and not _is_bridged(missing):
        problems.append(
            f"NaN in {np.count_nonzero(missing)} samples, the first at sample {np.argmax(missing)}"
        )
    for number, (column, (low, high)) in enumerate(zip(joint_position.T, limits, strict=True)):
        finite = column[np.isfinite(column)]
        if len(finite) and (finite.min() < low or finite.max() > high):
            problems.append(
                f"joint_{number} goes from {finite.min():.4g} to {finite.max():.4g} rad, "
                f"beyond its limits {low:.4g} and {high:.4g}"
            )
    return problems


def _is_bridged(missing: np.ndarray) -> bool:
    """Whether only a few samples in a row are missing, and samples lie on both sides of them."""
    in_a_row = np.convolve(missing, np.ones(MOST_MISSING + 1))
    return bool(in_a_row.max() <= MOST_MISSING and not missing[[0, -1]].any())


def build_arm_impacts(
    recordings: Sequence[ArmRecording],
    *,
    source: str,
    licence: str,
    synthetic: bool,
    left_out: Mapping[str, str] | None = None,
) -> xr.Dataset:
    """Assemble the canonical dataset, experiments in the order of set, velocity, angle and name."""
    recordings = sorted(recordings, key=lambda one: (*_order(one), one.name))
    longest = max(len(recording.time) for recording in recordings)
    settings = [recording.setting for recording in recordings]
    positions = [_padded(one.joint_position, longest) for one in recordings]
    times = [_padded(one.time - one.time[0], longest) for one in recordings]
    along = "experiment"
    impacts = xr.Dataset(
        {
            "joint_position": ((along, "sample", "joint"), np.stack(positions)),
            "time": ((along, "sample"), np.stack(times)),
        },
        coords={
            along: np.array([one.name for one in recordings], dtype=object),
            "set": (along, np.array([one.set_number for one in settings], dtype="int64")),
            "nominal_velocity": (along, np.array([one.velocity for one in settings])),
            "nominal_angle_deg": (along, np.array([one.angle_deg for one in settings])),
            "joint": np.array(JOINTS, dtype=object),
        },
        attrs={
            "sample_interval": float(np.median([one.time[1] - one.time[0] for one in recordings])),
            "source": source,
            "licence": licence,
            "synthetic": int(synthetic),
            "left_out": json.dumps(dict(left_out or {})),
            "remarks": json.dumps(
                {one.name: joined(one.remarks) for one in recordings if one.remarks}
            ),
        },
    )
    for name, unit in _UNITS.items():
        impacts[name].attrs["units"] = unit
    return impacts


def _order(one: ArmRecording) -> tuple[float, ...]:
    # what isn't told comes last
    setting = one.setting
    told = (setting.set_number or np.inf, setting.velocity, setting.angle_deg)
    return tuple(value if np.isfinite(value) else 1e9 for value in told)


def _padded(values: np.ndarray, n_samples: int) -> np.ndarray:
    full = np.full((n_samples, *values.shape[1:]), np.nan)
    full[: len(values)] = values
    return full


def arm_recording(impacts: xr.Dataset, experiment: str) -> ArmRecording:
    """One experiment, without the padding."""
    part = impacts.sel(experiment=experiment)
    # times are NaN after a recording's end
    n_samples = int(np.count_nonzero(np.isfinite(part["time"].values)))
    setting = Setting(
        int(part["set"]), float(part["nominal_velocity"]), float(part["nominal_angle_deg"])
    )
    remarks = json.loads(impacts.attrs.get("remarks", "{}"))
    return ArmRecording(
        setting, part["time"].values[:n_samples], part["joint_position"].values[:n_samples], experiment,
        tuple(filter(None, [remarks.get(experiment)])),
    )  # fmt: skip


def iterate_arm_recordings(impacts: xr.Dataset) -> Iterator[ArmRecording]:
    """Yield every experiment in the dataset's order."""
    for name in impacts["experiment"].values:
        yield arm_recording(impacts, str(name))

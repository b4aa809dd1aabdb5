"""One impact of a user's arm: its time, v-, v+ with an interval, the impact map's v+, and what not
to trust of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from contactid.arm.identify.methods import ADMISSIBLE, NORMAL, Answer
from contactid.arm.identify.reconstruction import ExperimentFit, evaluate_experiment
from contactid.arm.readers.impacts import ArmRecording
from contactid.arm.rigid.heading import turned
from contactid.arm.rigid.impact_map import sliding_ratio
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.core.errors import ContactIdError
from contactid.core.reading import require_plain

#: ``arm: fit`` of the default configuration.
SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "window": 0.15, "before": 0.06, "motor_inertia": (),
        "impact": {"before": 0.06, "bend": 0.02, "after": 0.15, "modes": 2, "slowest": 0.01, "share": 0.2,
                   "significance": 20.0},
    }
)  # fmt: skip
LWR4 = Path(__file__).parents[1] / "robots" / "lwr4.csv"
# Of the approach speed: a tip whose speed along the table lies below it, by the whole interval,
# sticks. Slower sliding is no different for any use of v+, and an interval that also holds faster
# sliding says neither.
_STICKS = 0.1
_LONGEST_PROBE = 2.0  # m; beyond it millimetres were taken for metres
_ASIDE = 0.1  # of the speed: velocity across the plane of motion that is worth a warning
_LABEL = 0.2  # relative: measured speed that contradicts a label


def own_robot(table: str | Path, probe_length: float) -> Robot:
    """The robot of a link table, the LWR 4+ for an empty one, with a probe of a length in m."""
    if abs(probe_length) > _LONGEST_PROBE:
        raise ContactIdError(
            f"--probe {probe_length:g}: a probe of {probe_length:g} m", "Give its length in metres"
        )
    if table:
        require_plain(table, 1 << 20)
    return load_robot(
        table or LWR4, name=Path(table).stem if table else "lwr4", probe_length=probe_length
    )


@dataclass(frozen=True)
class OwnImpact:
    """A recording's impact; x is along the motion, z normal to the table, velocities in m/s.

    Attributes
    ----------
    name, file : of the recording
    evaluated : times, posture, velocities
    answer : v+ by admissible models
    ratio : r of the impact map, v_x+ = v_x- + r |v_z-|
    remarks, warnings : sentences on this recording
    """

    name: str
    file: str
    evaluated: ExperimentFit
    answer: Answer
    ratio: float
    remarks: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def speed(self) -> float:
        """Of the approach, m/s."""
        return self.evaluated.window.speed

    @property
    def half_width(self) -> np.ndarray:
        """(2,) half of v+'s 95 % interval, m/s."""
        return NORMAL * self.answer.se

    @property
    def velocity(self) -> np.ndarray:
        """(2,) v+, x and z."""
        return self.answer.velocity

    @property
    def state(self) -> str:
        """``lifts off``, ``slides``, ``sticks``, or ``undetermined`` where the interval holds the
        last two.
        """
        along, normal = self.velocity
        along_error, normal_error = self.half_width
        # in this order: a tip in the air neither slides nor sticks
        if normal > normal_error:
            return "lifts off"
        if abs(along) > along_error:
            return "slides"
        if abs(along) + along_error <= _STICKS * self.speed:
            return "sticks"
        return "undetermined"

    def row(self) -> dict[str, Any]:
        """The columns of predictions.csv, which the command's docstring explains."""
        one, window = self.evaluated, self.evaluated.window
        x, z = self.velocity
        low, high = self.velocity - self.half_width, self.velocity + self.half_width
        vibration = self.answer.fits[0]
        numbers = {
            "impact_time_s": window.impact_time, "impact_time_se_s": window.impact_time_se,
            "direction_deg": np.rad2deg(one.heading),
            "vx_minus": window.pre_velocity[0], "vz_minus": window.pre_velocity[1],
            "vx_minus_se": window.pre_velocity_se[0], "vz_minus_se": window.pre_velocity_se[1],
            "vx_plus": x, "vz_plus": z,
            "vx_plus_low": low[0], "vx_plus_high": high[0], "vz_plus_low": low[1], "vz_plus_high": high[1],
            "vx_plus_map": one.map_velocity[0], "vz_plus_map": round(float(one.map_velocity[1]), 12) + 0.0,
            "sliding_ratio": self.ratio, "lateral_minus": one.lateral[0], "lateral_plus": one.lateral[1],
            "frequency_hz": vibration.frequency_hz, "decay_1_s": vibration.decay,
        }  # fmt: skip
        return {
            "recording": self.name, "file": self.file, **{name: float(value) for name, value in numbers.items()},
            "state": self.state, "remarks": "; ".join(self.remarks), "warnings": "; ".join(self.warnings),
        }  # fmt: skip

    def line(self) -> str:
        """What a terminal shows."""
        row, half = self.row(), 1e3 * self.half_width
        return (
            f"{self.name}: impact at {row['impact_time_s']:.4f} s, v- = ({1e3 * row['vx_minus']:.1f},"
            f" {1e3 * row['vz_minus']:.1f}) mm/s, v+ = ({1e3 * row['vx_plus']:.1f} +- {half[0]:.1f},"
            f" {1e3 * row['vz_plus']:.1f} +- {half[1]:.1f}) mm/s, map {1e3 * row['vx_plus_map']:.1f} mm/s; {self.state}"
        )


def own_impact(robot: Robot, recording: ArmRecording, file: str = "") -> OwnImpact:
    """Evaluate a recording.

    Raises
    ------
    ContactIdError
        Where the tip doesn't come down onto a table, or not within the recording, or where no models
        agree on v+.
    """
    found = evaluate_experiment(robot, recording, SETTINGS)
    if ADMISSIBLE not in found.answers:
        raise found.failures[ADMISSIBLE]
    # the ratio is that of the plane of motion
    facing = turned(robot, found.heading)
    ratio = sliding_ratio(facing.mass_matrix(found.q), facing.tip_jacobian(found.q))
    remarks = list(recording.remarks)
    if found.heading:
        remarks.append(
            f"moves in a plane {np.rad2deg(found.heading):.1f} degrees from x, and x stands for that direction"
        )
    draft = OwnImpact(
        recording.name, file, found, found.answers[ADMISSIBLE], ratio, tuple(remarks), ()
    )
    return replace(draft, warnings=tuple(_warnings(draft, recording.setting.velocity)))


def _warnings(one: OwnImpact, told_speed: float) -> list[str]:
    found, warnings = one.evaluated, []
    if abs(one.velocity[1]) > one.half_width[1]:
        warnings.append(
            f"v_z+ is {1e3 * one.velocity[1]:.1f} mm/s: the tip doesn't stay on a level table"
            " (it bounces, the table or the robot's base leans, or a joint's zero is off)"
        )
    lateral = max(abs(value) for value in found.lateral)
    if lateral > _ASIDE * one.speed:
        warnings.append(
            f"the tip moves across its plane of motion by {1e3 * lateral:.0f} mm/s, which v+ leaves out"
        )
    if np.isfinite(told_speed) and abs(one.speed / told_speed - 1.0) > _LABEL:
        warnings.append(f"its name says {told_speed:g} m/s, but it hits at {one.speed:.3f} m/s")
    return warnings

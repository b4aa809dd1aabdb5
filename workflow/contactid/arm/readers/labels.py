"""What an arm's recording was meant to be, as its path tells: ``data/Set 1/v0.10_30deg.mat`` for
example.

A label helps readers of tables. It may be told in part, wrongly or not at all: results rest on what
was measured.
"""

from __future__ import annotations

import re

import numpy as np

from contactid.arm.readers.impacts import Setting

# patterns, searched in a recording's path without its ending; the last match counts
_SET = r"(?:data[ _-]?)?set[ _-]?0*([12])(?!\d)"
_VELOCITY = (
    r"(?:^|[ _/.-])v(?:el(?:ocity)?)?[ _-]?(?P<bare>\d+(?:[.p]\d+)?)"
    r"|(?P<number>\d+(?:[.p]\d+)?)[ _-]?(?P<unit>cm|m)[ _-]?(?:ps|s|/s)"
)
_ANGLE = r"(?:^|[ _/.-])a(?:ng(?:le)?)?[ _-]?(\d+)|(\d+)[ _-]?deg"
# a velocity written as a number from this on is in cm/s, a smaller one in m/s
_CENTIMETRES_FROM = 1.0
_SETS = (1, 2)
_VELOCITIES, _ANGLES_DEG = (0.02, 1.0), (5.0, 90.0)  # ranges of the settings, m/s and degrees


def label_of(name: str) -> Setting:
    """The label in a path: 0 and NaN where it isn't told, or can mean two things."""
    # a structure in a file is one more part of the path
    stem = re.sub(r"\.(mat|csv)$", "", name.lower().replace(".mat:", "/"))
    number, angle = _last(_SET, stem), _last(_ANGLE, stem)
    setting = Setting(
        int(_number(number)) if number else 0,
        _velocity(stem),
        _number(angle) if angle else np.nan,
    )
    # a number out of range wasn't meant as a label
    return setting if _in_range(setting) else Setting(0, np.nan, np.nan)


def _in_range(setting: Setting) -> bool:
    """Whether an experiment can be one of the archive's; what isn't told can be anything."""
    return setting.set_number in (0, *_SETS) and all(
        not np.isfinite(value) or low <= value <= high
        for value, (low, high) in (
            (setting.velocity, _VELOCITIES),
            (setting.angle_deg, _ANGLES_DEG),
        )
    )


def _velocity(stem: str) -> float:
    """m/s; NaN where it isn't told, or can mean two things: 02 is 2 cm/s, or 0.2 m/s without its
    point.
    """
    found = list(re.finditer(_VELOCITY, stem))
    if not found:
        return np.nan
    # the last one: the file's own name, and not its folders'
    match = found[-1]
    if match["number"]:
        return _number(match["number"]) / (100.0 if match["unit"] == "cm" else 1.0)
    digits = match["bare"]
    value = _number(digits)
    readings = {value / 100.0 if value >= _CENTIMETRES_FROM else value}
    if digits.isdigit() and digits.startswith("0"):
        # 02 may be 0.2 with its point left out
        readings.add(float(f"0.{digits[1:] or 0}"))
        # if only one reading is a setting of the archive's, it is that
        readings = {one for one in readings if _VELOCITIES[0] <= one <= _VELOCITIES[1]}
    return readings.pop() if len(readings) == 1 else np.nan


def _last(pattern: str, text: str) -> str | None:
    found = list(re.finditer(pattern, text))
    return next(group for group in found[-1].groups() if group) if found else None


def _number(text: str) -> float:
    return float(text.replace("p", "."))

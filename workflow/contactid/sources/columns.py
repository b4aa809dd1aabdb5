"""What a table's columns are, by the names and units that recordings give them.

A name is taken apart into words; case, blanks and marks between words don't matter. Each column
means at most one of

==================================== ====== =====================================================
quantity                             unit   for example
==================================== ====== =====================================================
``time``                             s      ``t``, ``time``, ``timestamp_ms``, ``Time [s]``
``position_x`` (y, z)                m      ``x``, ``pos_x``, ``object_position_x``, ``tx [mm]``
``orientation_w`` (x, y, z)          1      ``qw``, ``object_orientation_w``, ``quat.w``
``theta``                            rad    ``theta``, ``angle``, ``yaw_deg``
``joint_1`` and so on                rad    ``q1``, ``joint_1``, ``panda_joint1``, ``position_0``
``contact_force_<contact>_x``        N      ``contact_force_thumb_x``, ``force_thumb_x``
``contact_force_sd_<contact>_x``     N      ``contact_force_sd_thumb_x``
``contact_position_<contact>_x``     m      ``contact_position_thumb_x``, ``contact_thumb_x``
``contact_torque_<contact>_x``       N m    ``contact_torque_wrist_x``, ``torque_wrist_x``
``surface_normal_x`` (y, z)          1      ``surface_normal_x``, ``normal.x``
==================================== ====== =====================================================

A unit in brackets, or as the last word, is the column's.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: What one of a unit is in the quantity's own unit, by dimension.
UNITS = {
    "s": {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0},
    "m": {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254, "ft": 0.3048},
    "rad": {"rad": 1.0, "mrad": 1e-3, "deg": 0.017453292519943295, "degrees": 0.017453292519943295},
    "N": {"n": 1.0, "mn": 1e-3, "kn": 1e3, "gf": 9.80665e-3, "kgf": 9.80665, "lbf": 4.4482216},
    "N m": {"nm": 1.0, "nmm": 1e-3, "mnm": 1e-3},
    "1": {},
}
_DIMENSIONS = {
    "time": "s",
    "position": "m",
    "orientation": "1",
    "theta": "rad",
    "joint": "rad",
    "contact_force": "N",
    "contact_position": "m",
    "contact_torque": "N m",
    "surface_normal": "1",
}
_TIME = {"t", "time", "times", "timestamp", "timestamps", "stamp", "stamps", "clock"}
_ANGLE = {"theta", "th", "angle", "yaw", "phi", "psi", "rotation", "heading"}
_POSITION = {"position", "positions", "pos", "translation", "p"}
_ORIENTATION = {"orientation", "quaternion", "quat", "rotation", "rot", "q"}
_JOINT = {"joint", "joints", "q", "j", "a", "axis", "position", "positions", "pos", "angle"}
# what robots log of their joints beside the measured angle
_NOT_A_JOINT = {
    *("velocity", "velocities", "vel", "dq", "ddq"),
    *("effort", "torque", "tau", "force", "command", "desired"),
}
_DEVIATION = {"sd", "std"}
#: Words of a pose's name that say nothing of what it is.
_OF_A_POSE = {"object", "body", "pose", "field", "msg", "data", "com", "rigid", "rigidbody"}
# names under which docs/own.md asks for a quantity: these go before other names of the same
_ASKED_FOR = re.compile(r"t|time|x|y|z|theta|q\d|(object|contact|surface)_.*")
_LETTERS = str.maketrans({"\u00b5": "u", "\u03bc": "u", "\u00b0": "deg"})
_BRACKETS = re.compile(r"[\[(](.*?)[\])]")


class Column(NamedTuple):
    """What a column means: a quantity of the module's table, and its unit, "" where it has none."""

    quantity: str
    unit: str


def dimension(quantity: str) -> str:
    """The unit in which a quantity of the module's table is taken."""
    for group, unit in _DIMENSIONS.items():
        # the underscore: joint_1 is a joint, jointly is none
        if f"{quantity}_".startswith(f"{group}_"):
            return unit
    return "1"


def meaning(name: str) -> Column | None:
    """What a column of this name is; None where it is nothing that a command asks for."""
    # both signs that are written for micro, and a degree's
    text = name.strip().lower().translate(_LETTERS)
    in_brackets = _BRACKETS.search(text)
    words = re.findall(r"[a-z]+|\d+", _BRACKETS.sub("", text))
    unit = re.sub(r"[^a-z]", "", in_brackets[1]) if in_brackets else ""
    quantity = _quantity(words)
    # the last word may be a unit
    if quantity is None and len(words) > 1:
        quantity, unit = _quantity(words[:-1]), words[-1]
        if quantity is None or unit not in UNITS[dimension(quantity)]:
            return None
    if quantity is None:
        return None
    return Column(quantity, unit if unit in UNITS[dimension(quantity)] else "")


def fitting_unit(kind: str, size: float, low: float, high: float) -> str:
    """The largest smaller unit of a dimension in which a number is of a possible size, or ""."""
    smaller = {unit: factor for unit, factor in UNITS[kind].items() if factor < 1.0}
    return next((unit for unit, factor in smaller.items() if low <= factor * size <= high), "")


def is_asked_for(name: str) -> bool:
    """Whether a column has the very name under which its quantity is asked for."""
    return bool(_ASKED_FOR.fullmatch(name.strip().lower()))


def _quantity(words: list[str]) -> str | None:
    if len(words) == 1 and words[0] in _TIME:
        return "time"
    split = _with_axis_apart(words)
    # the last one: x of "y_stage_x"
    axes = [word for word in split if word in ("w", "x", "y", "z")]
    if axes:
        split.remove(axes[-1])
        return _of_an_axis(split, axes[-1])
    numbers = [word for word in words if word.isdigit()]
    vocabulary = set(words)
    # two numbers: perhaps a robot's and its joint's, in an order that nobody says
    if len(numbers) == 1 and vocabulary & _JOINT and not vocabulary & _NOT_A_JOINT:
        return f"joint_{int(numbers[0])}"
    rest = [word for word in words if word not in _OF_A_POSE]
    return "theta" if len(rest) == 1 and rest[0] in _ANGLE else None


def _with_axis_apart(words: list[str]) -> list[str]:
    """``qx`` is a quaternion's x, ``tx`` and ``px`` a position's."""
    split = []
    for word in words:
        vector = {"q": "quaternion", "t": "position", "p": "position"}.get(word[0], "")
        is_component = len(word) == 2 and vector and word[1] in "wxyz"
        split += [vector, word[1]] if is_component else [word]
    return split


def _of_an_axis(words: list[str], axis: str) -> str | None:
    vocabulary = set(words)
    # the surface's, whatever contact its name is of
    if "normal" in vocabulary:
        return f"surface_normal_{axis}" if axis != "w" else None
    # in this order: contact_force has the words of a force and of a contact
    for vector, sign in (
        ("contact_torque", "torque"),
        ("contact_force", "force"),
        ("contact_position", "contact"),
    ):
        if sign in vocabulary:
            is_deviation = bool(_DEVIATION & vocabulary)
            # no command asks for another one, and as a value it would be wrong
            if is_deviation and vector != "contact_force":
                return None
            own = {"contact", "force", "torque", "position", *_DEVIATION}
            contact = "_".join(word for word in words if word not in own)
            parts = (vector, "sd" if is_deviation else "", contact, axis)
            return "_".join(filter(None, parts))
    rest = [word for word in words if word not in _OF_A_POSE]
    if rest and set(rest) <= _ORIENTATION:
        return f"orientation_{axis}"
    return f"position_{axis}" if set(rest) <= _POSITION and axis != "w" else None

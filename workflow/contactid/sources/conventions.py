"""How a recording is written: its columns, units and frames.

One convention holds for all commands. ``--columns``, ``--units`` and ``--frame`` state what differs
from what a command asks for (docs/own.md):

* ``--columns t=time,x=-pos_x``: the column of a quantity; a minus turns its sign;
* ``--units t=ms,x=mm`` or ``--units ms,mm``: the unit of a quantity, or of all of its dimension;
* ``--frame up=-y,quaternion=xyzw``: axes and signs, :data:`FRAMES`.

Where data don't fit under the stated convention, others are tried
(:mod:`contactid.sources.explaining`).
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from contactid.core.errors import ContactIdError
from contactid.sources.columns import UNITS, dimension, is_asked_for, meaning

QUATERNION, UP, MIRROR = "quaternion", "up", "mirror"
FORCE, AXES, THETA = "force", "axes", "theta"
#: Values of each part of a frame: the first is what a command asks for (of ``up`` its own).
FRAMES: Mapping[str, tuple[str, ...]] = {
    QUATERNION: ("wxyz", "xyzw", "wxyz-inverse", "xyzw-inverse"),
    UP: ("z", "-z", "y", "-y", "x", "-x"),
    MIRROR: ("none", "x", "y", "z"),
    FORCE: ("on-object", "on-finger"),
    AXES: ("body", "world"),
    THETA: ("counter-clockwise", "clockwise"),
}
_WORDS = {
    QUATERNION: {
        "wxyz": "the quaternions are w x y z",
        "xyzw": "the quaternions are x y z w",
        "wxyz-inverse": "the quaternions are conjugate (world to body)",
        "xyzw-inverse": "the quaternions are x y z w and conjugate (world to body)",
    },
    FORCE: {
        "on-object": "the forces act on the object",
        "on-finger": "the forces act on the finger or sensor, not on the object (their sign)",
    },
    AXES: {
        "body": "the forces are along the body's axes",
        "world": "the forces are along the world's axes",
    },
    THETA: {
        "counter-clockwise": "theta is counter-clockwise",
        "clockwise": "theta is clockwise (its sign)",
    },
}
# what has a unit, in a sentence: a quantity, or all of a dimension
_PLURALS = {
    "position": "positions",
    "contact_position": "contact points",
    "s": "times",
    "m": "lengths",
    "rad": "angles",
    "N": "forces",
    "N m": "torques",
}


class Place(NamedTuple):
    """Where a quantity stands in a table, and what a number there is in the quantity's unit."""

    column: int
    factor: float


_EXAMPLES = {
    "columns": "{'x': 'pos_x'}",
    "units": "{'m': 'mm'}",
    "frame": "{'quaternion': 'xyzw'}",
}


@dataclass(frozen=True)
class Convention:
    """What a recording's writer meant.

    Attributes
    ----------
    columns : name of the column of each quantity of :mod:`contactid.sources.columns`; a minus turns
        its sign
    units : unit of a quantity, of all that begin with its name, or ("m", "s", "rad", "N") of a
        dimension
    frame : the parts of :data:`FRAMES` that are stated

    A quantity may be named in any of the ways that a table's header may.

    Raises
    ------
    ContactIdError
        For a quantity, unit or part of a frame that isn't known.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    frame: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("columns", "units", "frame"):
            if not isinstance(getattr(self, name), Mapping):
                problem = f"{name} is {getattr(self, name)!r}, which says nothing of which"
                raise ContactIdError(problem, f"Give a mapping, as {name}={_EXAMPLES[name]}")
        columns = {_quantity(name): column for name, column in self.columns.items()}
        units = dict(_known_unit(name, unit) for name, unit in self.units.items())
        # the one way to set what is frozen: afterwards all names are the quantities' own
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "units", units)
        for part, value in self.frame.items():
            _check_frame(part, value, FRAMES)

    def places(self, header: Sequence[str]) -> dict[str, Place]:
        """The quantities of a table's header: stated columns first, then names asked for.

        Raises
        ------
        ContactIdError
            Where a stated column isn't there, or two columns are one quantity.
        """
        names = [name.strip().lower() for name in header]
        by_meaning: dict[str, int] = {}
        for index, name in enumerate(header):
            column = meaning(name)
            if column is None:
                continue
            other = by_meaning.get(column.quantity)
            if other is None:
                by_meaning[column.quantity] = index
                continue
            asked_for, other_asked_for = is_asked_for(name), is_asked_for(header[other])
            if asked_for and not other_asked_for:
                by_meaning[column.quantity] = index
            # neither name goes before the other, and the user doesn't say which
            elif asked_for == other_asked_for and column.quantity not in self.columns:
                raise ContactIdError(
                    f"columns {header[other].strip()} and {name.strip()} are the same",
                    f"Keep one of them, or say which: --columns {column.quantity}={name.strip()}",
                )
        stated = {quantity: self._stated(quantity, names, by_meaning) for quantity in self.columns}
        return {
            quantity: Place(index, self._factor(quantity, header[index]))
            for quantity, index in {**by_meaning, **stated}.items()
        }

    def _stated(self, quantity: str, names: Sequence[str], by_meaning: Mapping[str, int]) -> int:
        """The place of a stated column: by its name, else by the quantity that the name means."""
        wanted = self.columns[quantity].removeprefix("-").lower()
        if wanted in names:
            return names.index(wanted)
        column = meaning(wanted)
        if column is None or column.quantity not in by_meaning:
            raise ContactIdError(
                f"no column {wanted} (--columns {quantity}={self.columns[quantity]})",
                "Name one of its header",
            )
        return by_meaning[column.quantity]

    def unit(self, quantity: str) -> float:
        """What one of a quantity's stated unit is in its own; 1 where none is stated."""
        kind = dimension(quantity)
        own = [name for name in self.units if name == quantity or quantity.startswith(f"{name}_")]
        # the longest name says most: position_x before position, both before all lengths
        unit = self.units[max(own, key=len)] if own else self.units.get(kind, "")
        return UNITS[kind][unit] if unit else 1.0

    def _factor(self, quantity: str, name: str) -> float:
        sign = -1.0 if self.columns.get(quantity, "").startswith("-") else 1.0
        stated = self.unit(quantity)
        if stated != 1.0:
            return sign * stated
        column = meaning(name)
        if column is None or not column.unit:
            return sign
        return sign * UNITS[dimension(quantity)][column.unit]

    def states(self, dimension_: str) -> bool:
        """Whether a unit of a dimension is stated for any quantity."""
        return any(name == dimension_ or dimension(name) == dimension_ for name in self.units)

    def with_frame(self, **parts: str) -> Convention:
        """The same with parts of the frame that are others."""
        return replace(self, frame={**self.frame, **parts})

    def with_units(self, **units: str) -> Convention:
        """The same with other units of whole dimensions."""
        return replace(self, units={**self.units, **units})

    def options(self) -> str:
        """The command's options that state it."""
        texts = {
            "--columns": [f"{quantity}={column}" for quantity, column in self.columns.items()],
            "--frame": [f"{part}={value}" for part, value in self.frame.items()],
            # of a dimension the unit says it
            "--units": [
                unit if name in UNITS else f"{name}={unit}" for name, unit in self.units.items()
            ],
        }
        return " ".join(f"{option} {','.join(words)}" for option, words in texts.items() if words)

    def words(self, stated: Convention) -> str:
        """In what it differs from another, as a sentence."""
        clauses = []
        for part, value in _others(self.frame, stated.frame).items():
            clauses.append(_words(part, value))
        for name, column in _others(self.columns, stated.columns).items():
            clauses.append(f"{name} is in column {column}")
        for name, unit in _others(self.units, stated.units).items():
            measured = _PLURALS.get(name) or _PLURALS[dimension(name)]
            clauses.append(f"{measured} are in {unit}")
        return " and ".join(clauses)


def _others(values: Mapping[str, str], stated: Mapping[str, str]) -> dict[str, str]:
    """The entries that aren't as stated."""
    return {name: value for name, value in values.items() if stated.get(name) != value}


STATED = Convention()


def _words(part: str, value: str) -> str:
    if part == UP:
        # "-z" upwards: z points downwards
        direction = "downwards" if value.startswith("-") else "upwards"
        return f"{value[-1]} points {direction}"
    if part == MIRROR:
        return f"the frame is left-handed ({value} is mirrored)"
    return _WORDS[part][value]


def options(parser: ArgumentParser, *parts: str) -> None:
    """Declare the options that state a convention; ``parts`` are those of the frame that it has."""
    parser.add_argument(
        "--columns", default="", metavar="t=time,..", help="column of a quantity; x=-y turns a sign"
    )
    parser.add_argument(
        "--units", default="", metavar="ms,mm", help="units that aren't SI; t=ms: of one quantity"
    )
    if parts:
        values = "; ".join(f"{part}: {', '.join(FRAMES[part])}" for part in parts)
        parser.add_argument(
            "--frame", default="", metavar=f"{parts[0]}=..", help=f"axes and signs ({values})"
        )
    parser.set_defaults(frame_parts=parts)


def stated_by(given: Namespace) -> Convention:
    """The convention that a command's options state.

    Raises
    ------
    ContactIdError
        For a quantity, unit or part of a frame that isn't known.
    """
    # a command without forces or poses has no such option
    frame = dict(_pairs(getattr(given, "frame", ""), "frame"))
    for part, value in frame.items():
        _check_frame(part, value, given.frame_parts)
    columns = dict(_pairs(given.columns, "columns"))
    return Convention(columns, dict(_units(given.units)), frame)


def _pairs(text: str, option: str) -> list[tuple[str, str]]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    for name, mark, value in pairs:
        if not (mark and name.strip() and value.strip()):
            raise ContactIdError(
                f"--{option} {name.strip()} says no value",
                f"Write --{option} name=value,name=value",
            )
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _check_frame(part: str, value: str, parts: Iterable[str]) -> None:
    if part not in parts or value not in FRAMES[part]:
        named = "; ".join(f"{part}={'|'.join(FRAMES[part])}" for part in parts)
        raise ContactIdError(f"--frame {part}={value} isn't known", f"Known are {named}")


def _quantity(name: str) -> str:
    column = meaning(name)
    if column is None:
        raise ContactIdError(
            f"--columns {name}: no quantity that is asked for", "docs/own.md names them"
        )
    return column.quantity


def _units(text: str) -> Iterable[tuple[str, str]]:
    """Pairs of a quantity, or a dimension, and its unit."""
    for part in text.split(","):
        if not part.strip():
            continue
        name, mark, unit = (word.strip() for word in part.partition("="))
        if mark:
            yield name, unit
        else:
            # a unit alone: the dimension that has it
            kind = next((kind for kind, units in UNITS.items() if name.lower() in units), "")
            yield kind, name


def _known_unit(name: str, unit: str) -> tuple[str, str]:
    """A quantity or dimension by its own name, and its unit."""
    quantity = name
    if name in UNITS:
        kind = name
    else:
        column = meaning(name)
        if column is not None:
            quantity = column.quantity
        kind = dimension(quantity)
    if unit.lower() not in UNITS[kind]:
        known = ", ".join(unit for units in UNITS.values() for unit in units)
        stated = f"{name}={unit}" if name else unit
        raise ContactIdError(f"--units {stated} isn't known", f"Known are {known}")
    return quantity, unit.lower()

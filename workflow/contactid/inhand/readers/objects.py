"""The in-hand study's objects: printed inertial parameters, inferred shapes and chosen contact
points, read as data.

A recording's object is named as in the appendix: ``noise_level_0`` to ``noise_level_4`` are the one
simulated object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, tensor, uniform_body

SIMULATED = "simulated"
_LEVEL = "noise_level_"


@dataclass(frozen=True, eq=False)
class Part:
    """An axis-aligned box of an object: ``low`` and ``high`` corners (3,) in m, in B."""

    name: str
    material: str
    low: np.ndarray
    high: np.ndarray

    @property
    def vertices(self) -> np.ndarray:
        """(8, 3) m."""
        return np.array(list(product(*zip(self.low, self.high, strict=True))))


@dataclass(frozen=True, eq=False)
class InHandObject:
    """An object of the study.

    Attributes
    ----------
    name : as in the resource
    parameters : the printed ones, about the origin of B
    parts : its geometry
    contact_names : k fingertips
    contact_positions : (k, 3) m in B
    contact_normals : (k, 3) unit vectors in B, into the object
    friction : coefficient of friction at the contacts
    wrist : (3,) m in B, where a force-torque sensor is attached
    """

    name: str
    parameters: InertialParameters
    parts: tuple[Part, ...]
    contact_names: tuple[str, ...]
    contact_positions: np.ndarray
    contact_normals: np.ndarray
    friction: float
    wrist: np.ndarray

    @property
    def hull_vertices(self) -> np.ndarray:
        """(v, 3) m in B; the convex hull of these points holds the object."""
        return np.concatenate([part.vertices for part in self.parts])

    @property
    def uniform_body(self) -> InertialParameters:
        """What one would say without any recording: the true mass, spread evenly over the hull."""
        return uniform_body(self.parameters.mass, self.hull_vertices)


def noise_level(recording_object: str) -> int:
    """Number of the noise level in a recording's name; 0 for the boxes."""
    return int(recording_object.removeprefix(_LEVEL)) if recording_object.startswith(_LEVEL) else 0


def load_objects(path: str | Path) -> dict[str, InHandObject]:
    """Every object by name, in the file's order.

    Raises
    ------
    ContactIdError
        Where the file can't be read, or an entry lacks a key or has values of another shape.
    """
    try:
        entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ContactIdError(
            f"{path}: no readable list of objects ({error})", "Restore or correct the file"
        ) from None
    return {name: _object(name, entry, str(path)) for name, entry in entries.items()}


def object_of(objects: Mapping[str, InHandObject], recording_object: str) -> InHandObject:
    """The object of a recording.

    Raises
    ------
    ContactIdError
        Where there is none of this name.
    """
    name = SIMULATED if recording_object.startswith(_LEVEL) else recording_object
    if name not in objects:
        raise ContactIdError(
            f"no object {recording_object!r}",
            f"There are {', '.join(objects)} and {_LEVEL}0 to {_LEVEL}4",
        )
    return objects[name]


def _object(name: str, entry: Mapping[str, Any], where: str) -> InHandObject:
    try:
        contacts = entry["contacts"]
        inertia = _numbers(entry["inertia"], 6)
        return InHandObject(
            name=name,
            parameters=InertialParameters(
                float(entry["mass"]), _numbers(entry["center_of_mass"], 3), tensor(inertia)
            ),
            parts=tuple(
                Part(
                    part["name"],
                    part["material"],
                    _numbers(part["low"], 3),
                    _numbers(part["high"], 3),
                )
                for part in entry["parts"]
            ),
            contact_names=tuple(contact["name"] for contact in contacts),
            contact_positions=np.array([_numbers(contact["position"], 3) for contact in contacts]),
            contact_normals=np.array([_numbers(contact["normal"], 3) for contact in contacts]),
            friction=float(entry["friction"]),
            wrist=_numbers(entry["wrist"], 3),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ContactIdError(
            f"{where}: object {name!r} is incomplete or wrong ({error})", "Correct it"
        ) from None


def _numbers(values: Sequence[Any], length: int) -> np.ndarray:
    numbers = np.array([float(value) for value in values])
    if numbers.shape != (length,) or not np.isfinite(numbers).all():
        raise ValueError(f"{values} instead of {length} numbers")
    return numbers

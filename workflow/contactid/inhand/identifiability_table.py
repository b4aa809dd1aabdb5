"""Condition numbers and standard errors of the twins' recordings, and what is lost when motion or sensors are poor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.inhand.identifiability import unidentifiable
from contactid.inhand.information import Information, recording_information
from contactid.inhand.names import IN_HAND_KINEMATIC, OBJECTS, PARAMETER_COLUMNS, SOURCES, WRIST
from contactid.inhand.readers.objects import object_of
from contactid.inhand.readers.twin_options import TwinOptions
from contactid.inhand.readers.twins import recording_motion, simulate_recording
from contactid.inhand.simulate.grasp_motion import SineMotion, static_motion

RECORDED = "recorded"
_TURNS = slice(3, 6)  # rows of a motion's amplitudes: yaw, pitch, roll
_POOR_OBJECT = "box_0"


def identifiability_table(options: TwinOptions, seed: int) -> pd.DataFrame:
    """A row per recording of the twins with this seed, and rows for motions and sensors that don't suffice.

    ``source, object, noise_level, case, samples, condition_number, se_<parameter>, relative_<parameter>,
    not_identifiable``: standard errors are those of mass (kg), centre of mass (m) and tensor entries (kg m2) about B's
    origin, with the poses' noise; relative ones are in units of m, L and m L^2, L the mean distance of the object's
    hull from B's origin. Without full rank they are infinite. ``not_identifiable`` says in words what isn't known.
    """
    rows = [
        _row(RECORDED, *simulate_recording(source, name, seed, options))
        for source in SOURCES
        for name in OBJECTS[source]
    ]
    return pd.DataFrame(rows + _poor_rows(options, seed))


def _poor_rows(options: TwinOptions, seed: int) -> list[dict[str, Any]]:
    """Still, turning about one axis, only displaced, with a single contact, and with no force at all."""
    source = IN_HAND_KINEMATIC
    own = recording_motion(source, seed, options)
    motions = {
        "held_still": static_motion(),
        "turned_about_x": replace(own, amplitudes=_kept(own, [5])),
        "displaced_only": replace(own, amplitudes=_kept(own, [0, 1, 2])),
    }
    rows = [
        _row(case, *simulate_recording(one, _POOR_OBJECT, seed, options, motion=motion))
        for one in (WRIST, source)
        for case, motion in motions.items()
    ]
    changes: dict[str, Callable[[xr.Dataset], xr.Dataset]] = {
        "one_contact": lambda recording: recording.isel(contact=[0]),
        "no_force": lambda recording: recording.assign(contact_force=0.0 * recording["contact_force"]),
    }
    for case, change in changes.items():
        recording, truth = simulate_recording(source, _POOR_OBJECT, seed, options)
        changed = change(recording)
        rows.append(_row(case, changed.assign(contact_force=changed["contact_force"]), truth, known=False))
    return rows


def _kept(motion: SineMotion, coordinates: list[int]) -> np.ndarray:
    amplitudes = np.zeros_like(motion.amplitudes)
    amplitudes[coordinates] = motion.amplitudes[coordinates]
    return amplitudes


def _row(case: str, recording: xr.Dataset, truth: xr.Dataset, *, known: bool = True) -> dict[str, Any]:
    attributes = recording.attrs
    row: dict[str, Any] = {name: attributes[name] for name in ("source", "object", "noise_level")}
    row |= {"case": case, "samples": recording.sizes["sample"]}
    if known:
        row |= error_columns(recording_information(recording, truth), str(attributes["object"]))
    return row | {"not_identifiable": "; ".join(unidentifiable(recording))}


def error_columns(known: Information, object_name: str) -> dict[str, float]:
    """Condition number and standard errors of an object's mass, centre of mass and tensor, absolute and relative."""
    body = object_of(object_name)
    errors = known.body_errors(body.parameters.vector)
    relative = errors / parameter_sizes(object_name)
    return {
        "condition_number": known.condition_number,
        **{f"se_{name}": value for name, value in zip(PARAMETER_COLUMNS, errors, strict=True)},
        **{f"relative_{name}": value for name, value in zip(PARAMETER_COLUMNS, relative, strict=True)},
    }


def parameter_sizes(object_name: str) -> np.ndarray:
    """(10,) m, L and m L^2 of an object, for mass, centre of mass and tensor entries."""
    body = object_of(object_name)
    length = float(np.linalg.norm(body.hull_vertices, axis=1).mean())
    mass = body.parameters.mass
    return np.array([mass] + [length] * 3 + [mass * length**2] * 6)

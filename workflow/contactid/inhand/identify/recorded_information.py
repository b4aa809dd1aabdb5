"""What the twins' recordings can tell about their objects: condition numbers and standard errors of
every recording, and what is lost where motion or sensors are poor.

The information is that of the estimation by likelihood
(:mod:`contactid.inhand.identify.latent_errors`) at the true motion with the stated noise and no
unsensed force: what is left when all poses are estimated with the parameters, to first order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core import rotations
from contactid.inhand.identify.identifiability import unidentifiable
from contactid.inhand.identify.latent_errors import LEVELS, LatentErrors
from contactid.inhand.identify.likelihood import told_errors
from contactid.inhand.identify.linearised import PresentRecording, linearised
from contactid.inhand.identify.methods import PARAMETER_COLUMNS
from contactid.inhand.identify.wrench import PARAMETERS
from contactid.inhand.readers.recordings import recorded_signals, true_parameters
from contactid.inhand.readers.sources import IN_HAND_KINEMATIC, WRIST, simulated
from contactid.inhand.readers.twins import recording_motion, simulate_recording, twin_options
from contactid.inhand.simulate.grasp_motion import SineMotion, static_motion
from contactid.output.tables import write_exact

RECORDED = "recorded"
_POOR_OBJECT = "box_0"
_NONE = (
    1e-12  # level of what a twin's stated noise hasn't: the chain of errors needs a little of it
)
_STATED = np.array([1.0] * 3 + [_NONE] * (len(LEVELS) - 3))
_OF_TABLE = np.r_[:4, 10:16]  # of told parameters: mass, centre of mass, tensor about B's origin


def write_identifiability(
    objects: str, twin: Mapping[str, Any], seed: int, identifiability: str
) -> None:
    """Keep :func:`identifiability_table` as a csv."""
    write_exact(identifiability_table(twin_options(twin, objects), seed), identifiability)


def identifiability_table(options: Mapping[str, Any], seed: int) -> pd.DataFrame:
    """A row per recording of the twins with this seed, and rows for motions and sensors that don't
    suffice.

    ``source, object, noise_level, case, samples, condition_number, se_<parameter>,
    relative_<parameter>, not_identifiable``: standard errors are those of mass (kg), centre of mass
    (m) and tensor entries (kg m2) about B's origin, with the poses' noise; relative ones are in
    units of m, L and m L^2, L the mean distance of the object's hull from B's origin. Where
    something is lost there are none, and ``not_identifiable`` says in words what.
    """
    rows = [
        _row(RECORDED, *simulate_recording(source, name, seed, options))
        for source, name, seed in simulated([seed])
    ]
    return pd.DataFrame(rows + _poor_rows(options, seed))


def _poor_rows(options: Mapping[str, Any], seed: int) -> list[dict[str, Any]]:
    """Still, turning about one axis, only displaced, with a single contact, and with no force at
    all.
    """
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
    recording, truth = simulate_recording(source, _POOR_OBJECT, seed, options)
    no_force = recording.assign(contact_force=0.0 * recording["contact_force"])
    one_contact = recording.isel(contact=[0])
    return [*rows, _row("one_contact", one_contact, truth), _row("no_force", no_force, truth)]


def _kept(motion: SineMotion, coordinates: list[int]) -> np.ndarray:
    amplitudes = np.zeros_like(motion.amplitudes)
    amplitudes[coordinates] = motion.amplitudes[coordinates]
    return amplitudes


def _row(case: str, recording: xr.Dataset, truth: xr.Dataset) -> dict[str, Any]:
    row: dict[str, Any] = {
        name: recording.attrs[name] for name in ("source", "object", "noise_level")
    }
    row |= {"case": case, "samples": recording.sizes["sample"]}
    lost = unidentifiable(recording)
    if not lost:
        row |= error_columns(recording, truth)
    return row | {"not_identifiable": "; ".join(lost)}


def error_columns(recording: xr.Dataset, truth: xr.Dataset) -> dict[str, float]:
    """Condition number and standard errors of an object's mass, centre of mass and tensor, absolute
    and relative.

    The condition number is that of the whitened regressor with columns of unit length, so that it
    doesn't depend on units.
    """
    vector = true_parameters(truth).vector
    information = recording_information(recording, truth)
    # of mass, centre, tensor: first moments alone are hard to read
    errors = told_errors(np.linalg.inv(information), vector)[_OF_TABLE]
    scale = np.sqrt(np.diag(information))
    # of the regressor, whose square the information is
    condition_number = np.sqrt(np.linalg.cond(information / np.outer(scale, scale)))
    relative = errors / parameter_sizes(truth)
    return {
        "condition_number": condition_number,
        **{f"se_{name}": value for name, value in zip(PARAMETER_COLUMNS, errors, strict=True)},
        **{
            f"relative_{name}": value
            for name, value in zip(PARAMETER_COLUMNS, relative, strict=True)
        },
    }


def recording_information(recording: xr.Dataset, truth: xr.Dataset) -> np.ndarray:
    """(10, 10) information of a synthetic recording's parameters at the true motion."""
    signals = recorded_signals(recording)
    turned = rotations.matrices(truth["object_orientation"].values)
    exact = PresentRecording(
        signals, [slice(0, signals.samples)], turned, truth["object_position"].values
    )
    # true poses: no noise in the regressor
    equations = linearised(exact, true_parameters(truth).vector).equations
    return LatentErrors(equations, _STATED).information[:PARAMETERS, :PARAMETERS]


def parameter_sizes(truth: xr.Dataset) -> np.ndarray:
    """(10,) m, L and m L^2 of an object, for mass, centre of mass and tensor entries."""
    length = float(np.linalg.norm(truth["hull"].values, axis=1).mean())
    mass = true_parameters(truth).mass
    return np.array([mass] + [length] * 3 + [mass * length**2] * 6)

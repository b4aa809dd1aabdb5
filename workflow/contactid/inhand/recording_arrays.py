"""A recording's signals as plain arrays, in the order in which the estimators work on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError

_SHORTEST = 5  # samples; three inner ones give more equations than there are parameters


@dataclass(frozen=True)
class RecordedSignals:
    """n samples of a grasped object with c contacts; SI units.

    Attributes
    ----------
    time : (n,)
    rotations : (n, 3, 3), B to W
    positions : (n, 3), B's origin in W
    forces : (n, c, 3) on the object, in B
    force_sd : (n, c, 3), standard deviations of the forces
    points : (n, c, 3), contact points in B
    torques : (n, c, 3) about the contact points, in B; None where torques aren't measured
    gravity : m/s2, along -z of W
    """

    time: np.ndarray
    rotations: np.ndarray
    positions: np.ndarray
    forces: np.ndarray
    force_sd: np.ndarray
    points: np.ndarray
    torques: np.ndarray | None
    gravity: float

    @property
    def samples(self) -> int:
        """Number n of samples."""
        return len(self.time)

    @property
    def contacts(self) -> int:
        """Number c of contacts."""
        return self.forces.shape[1]

    @property
    def wrench(self) -> np.ndarray:
        """(n, 6): sum of the forces and of their torques about B's origin, in B (left sides of eqs. 8 and 9)."""
        torque = np.cross(self.points, self.forces).sum(axis=1)
        if self.torques is not None:
            torque = torque + self.torques.sum(axis=1)
        return np.concatenate([self.forces.sum(axis=1), torque], axis=1)


def recorded_signals(recording: xr.Dataset) -> RecordedSignals:
    """Arrays of a canonical recording.

    Raises
    ------
    ContactIdError
        Where there are fewer than five samples, or a value isn't finite.
    """
    values = {
        name: np.asarray(recording[name].values, dtype=float)
        for name in (
            "time", "object_position", "object_orientation", "contact_force", "contact_force_sd", "contact_position",
            "contact_torque",
        )
        if name in recording
    }  # fmt: skip
    if len(values["time"]) < _SHORTEST:
        raise ContactIdError(
            f"a recording has {len(values['time'])} samples", f"Accelerations by differences need {_SHORTEST} or more"
        )
    broken = [name for name, value in values.items() if not np.all(np.isfinite(value))]
    if broken:
        raise ContactIdError(f"{', '.join(broken)} of a recording isn't finite", "Remove or fill these samples")
    return RecordedSignals(
        time=values["time"],
        rotations=rotations.matrices(values["object_orientation"]),
        positions=values["object_position"],
        forces=values["contact_force"],
        force_sd=values["contact_force_sd"],
        points=values["contact_position"],
        torques=values.get("contact_torque"),
        gravity=float(recording.attrs["gravity"]),
    )

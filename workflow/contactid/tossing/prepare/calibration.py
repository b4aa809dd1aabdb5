"""What a body really is: its scale, centre of mass and inertia, and a dataset with these.

:mod:`contactid.tossing.identify.body` finds them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.sources.motion import BodyProperties
from contactid.tossing.prepare.poses import fit_plane
from contactid.tossing.prepare.preprocess import IDENTIFICATION

_GRAVITY = 9.81
_SYMMETRIC = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]


@dataclass(frozen=True)
class Calibration:
    """A calibrated body, in metres of gravity (lengths in which things fall with 9.81 m/s2)."""

    # scale, scale_se: true length per length of the data, from free flight
    scale: float
    scale_se: float
    # scale_from_rest, scale_from_rest_se: the same from the height at rest
    scale_from_rest: float
    scale_from_rest_se: float
    gravity: tuple[float, ...]  # (3,) m/s2 measured in flight, in C and in the data's lengths
    gravity_se: tuple[float, ...]  # (3,)
    # center_of_mass, center_of_mass_se: (3,) m in B
    center_of_mass: tuple[float, ...]
    center_of_mass_se: tuple[float, ...]
    # inertia, inertia_se: (6,) kg m2 about the centre of mass in B: xx, yy, zz, xy, xz, yz
    inertia: tuple[float, ...]
    inertia_se: tuple[float, ...]
    # n_tosses, n_impacts: what it was estimated from
    n_tosses: int
    n_impacts: int

    def inertia_matrix(self) -> np.ndarray:
        """Inertia (3, 3) kg m2."""
        return _tensor(np.array(self.inertia))

    def apply(self, prepared: xr.Dataset) -> xr.Dataset:
        """The prepared dataset in true metres and with the calibrated body, which rests on the
        surface z = 0.

        Scaling lengths lifts what was put on the surface before, so the plane is fitted again: to
        the rest poses of the identification part, or to all of a dataset that is only tested on.
        """
        vertices, resting = (
            prepared["vertices"].values,
            np.isfinite(prepared["rest_position"].values).all(axis=1),
        )
        part = resting & (prepared["split"].values == IDENTIFICATION)
        # a dataset that is only predicted has no identification part
        part = part if part.any() else resting
        position, rest = (
            self.scale * prepared[name].values for name in ("position", "rest_position")
        )
        turned, rest_turned = (
            prepared["orientation"].values,
            prepared["rest_orientation"].values.copy(),
        )
        plane = fit_plane(rest[part], rest_turned[part], vertices)
        rest[resting], rest_turned[resting] = plane.apply(rest[resting], rest_turned[resting])
        position, turned = plane.apply(position, turned)
        changed = {
            "position": position,
            "orientation": turned,
            # only the plane's slope turns it: its size stays 9.81 in true metres
            "gravity": plane.rotation.inv().apply(prepared["gravity"].values),
            "rest_position": rest,
            "rest_orientation": rest_turned,
            "center_of_mass": np.array(self.center_of_mass),
            "inertia": self.inertia_matrix(),
        }
        return prepared.assign(
            {name: prepared[name].copy(data=values) for name, values in changed.items()}
        )


def uncalibrated(body: BodyProperties) -> Calibration:
    """The calibration that keeps a body as it is: applying it only puts the tosses on their surface
    again.
    """
    unknown, inertia = (np.nan,) * 3, tuple(float(body.inertia[axes]) for axes in _SYMMETRIC)
    return Calibration(
        scale=1.0,
        scale_se=np.nan,
        scale_from_rest=1.0,
        scale_from_rest_se=np.nan,
        gravity=(0.0, 0.0, -_GRAVITY),
        gravity_se=unknown,
        center_of_mass=tuple(map(float, body.center_of_mass)),
        center_of_mass_se=unknown,
        inertia=inertia,
        inertia_se=2 * unknown,
        n_tosses=0,
        n_impacts=0,
    )


def _tensor(elements: np.ndarray) -> np.ndarray:
    tensor = np.zeros((3, 3))
    for value, (i, j) in zip(elements, _SYMMETRIC, strict=True):
        tensor[i, j] = tensor[j, i] = value
    return tensor

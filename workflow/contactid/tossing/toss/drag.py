"""What air may add to the scale that flights tell: a box that falls more slowly looks like one of
longer lengths.

Air pushes against the way with drag |v| v per mass. Along the surface nothing else does, so flights
tell the drag by how they slow down sideways; upwards it is taken for less gravity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.sources.motion import body_of, iterate_recordings
from contactid.tossing.identify.body import GRAVITY, block_jackknife

# 1/m, prior standard deviation of the drag per mass: a box of 10 cm and 0.2 kg has 0.03 in air
_USUAL = 0.03
_ASKEW = 0.07  # m/s2: tosses fall askew by this much, as a calibration has it
_FEWEST = 8  # samples of a flight
_SURELY = 3.0  # standard errors


@dataclass(frozen=True)
class Drag:
    """Drag per mass (1/m) with its standard error, and what a unit of it does to the scale (m)."""

    value: float
    error: float
    effect: float

    @property
    def scale_error(self) -> float:
        """By how much the scale may be off."""
        return abs(self.effect) * float(np.hypot(self.value, self.error))

    def warnings(self) -> list[str]:
        """Whether air surely holds the box back."""
        if self.value < _SURELY * self.error:
            return []
        share = 100.0 * self.value * self.effect
        return [f"Air holds the box back in flight, and makes the scale {share:.1f} % too large"]


def drag_of(calibrated: xr.Dataset) -> Drag:
    """By the flights of a calibrated body's usable tosses."""
    step, center = (
        1.0 / float(calibrated.attrs["sample_frequency"]),
        body_of(calibrated).center_of_mass,
    )
    equations, pushes = [], []
    for _, samples in iterate_recordings(calibrated):
        rows = slice(int(samples["release"]), int(samples["contact"]))
        position, turned = samples["position"].values[rows], samples["orientation"].values[rows]
        if str(samples["reason"].values) or len(position) < _FEWEST:
            continue
        path = position + rotations.matrices(turned) @ center
        time = step * (np.arange(len(path)) - 0.5 * (len(path) - 1))
        fitted, (squares, *_) = np.polynomial.polynomial.polyfit(time, path, 2, full=True)
        velocity = fitted[1] + 2.0 * time[:, None] * fitted[2]
        # a parabola's bend weighs what acts in the middle of a flight most
        weights = (1.0 - (time / time[-1]) ** 2) ** 2
        against = np.linalg.norm(velocity, axis=1)[:, None] * velocity
        push = weights @ against / weights.sum()
        # errors of the acceleration: of its fit, and sideways of a toss that falls askew
        bend = np.polynomial.polynomial.polyvander(time, 2)
        variance = 4.0 * np.linalg.inv(bend.T @ bend)[2, 2] * squares / (len(path) - 3)
        variance = variance + np.array([_ASKEW, _ASKEW, 0.0]) ** 2
        design = np.column_stack([-push, [0.0, 0.0, -1.0]])
        # what isn't gravity as it is stated, whose size is to be found
        measured = 2.0 * fitted[2] - samples["gravity"].values
        # upwards is its deviation from what is stated
        equations.append((design.T / variance @ design, design.T / variance @ measured))
        pushes.append(push[2])
    if len(equations) < 2:
        return Drag(0.0, _USUAL, 0.0)
    (value, _), (error, _) = block_jackknife(equations)
    # a fall of v_z < 0 is held back upwards; gravity then seems smaller, and lengths longer
    effect = -float(np.mean(pushes)) / GRAVITY
    weight = _USUAL**2 / (_USUAL**2 + error**2)
    return Drag(float(weight * value), float(np.sqrt(weight) * error), effect)

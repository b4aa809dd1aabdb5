"""Measured velocities of the biped's landings against rigid laws: which law predicts v+, and do
motors count.

Joint rates are derivatives of recorded positions: the recorded rates of the unactuated joints lag
them (see :mod:`contactid.arm.readers.landings`). v- is that of some samples before the first foot
touches, v+ that of some milliseconds behind the second's touch, when the feet's normal velocity has
gone. An error is ``|v+ - predicted|`` in the norm of the kinetic energy, over that of the measured
jump ``v+ - v-``: no impact has 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from scipy.signal import savgol_filter

from contactid.arm.rigid.biped import LAWS, Biped, Stance
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_exact
from contactid.sources.motion import read_dataset

WAITS = (4, 6, 8)  # ms after the second foot's touch
# samples and degree of the polynomial whose slope is a rate: 3.5 ms, a seventh of a swing
_SMOOTHED, _DEGREE = 7, 2
_BEFORE = 4  # samples before the first touch
_FALLING = 4  # samples of the approach's speed, which all recordings have before a touch
_SLOWED = 0.15  # of its speed, by which a foot that touches is slower
_SPARE = 4  # samples at a recording's end, where a slope isn't known
_ON_GROUND = 0.02  # m above the lowest end of the feet


@dataclass(frozen=True, eq=False)
class Landing:
    """Postures q (n, 23), velocities v (n, 22), and of the feet's ends heights (n, 4), m, and
    vertical velocities.
    """

    q: np.ndarray
    v: np.ndarray
    height: np.ndarray
    vertical: np.ndarray


def landing(biped: Biped, recorded: xr.Dataset, rates: np.ndarray) -> Landing:
    """A landing, with joint rates (n, 16), rad/s."""
    values = {str(name): recorded[name].values for name in recorded}
    q, v, height, vertical = [], [], [], []
    for k in range(recorded.sizes["sample"]):
        here = biped.posture(
            values["base_orientation"][k], values["base_position"][k], values["joint_position"][k]
        )
        moving = biped.velocity(
            here, values["base_velocity"][k], values["base_rotation"][k], rates[k]
        )
        stance = biped.stance(here)
        q.append(here)
        v.append(moving)
        height.append(stance.place[:, 2])
        vertical.append(stance.jacobian[:, 2] @ moving)
    return Landing(np.array(q), np.array(v), np.array(height), np.array(vertical))


def differentiated(recorded: xr.Dataset) -> np.ndarray:
    """(n, 16) slopes of the joints' positions, rad/s."""
    step = float(np.median(np.diff(recorded["time"])))
    return savgol_filter(
        recorded["joint_position"].values, _SMOOTHED, _DEGREE, deriv=1, delta=step, axis=0
    )


def touches(vertical: np.ndarray) -> np.ndarray:
    """(2,) samples at which the left and the right foot touch, from their ends' vertical velocities
    (n, 4), m/s.

    Raises
    ------
    ContactIdError
        Where a foot isn't slowed.
    """
    found = []
    for ends in (slice(0, 2), slice(2, 4)):
        # of the two ends the one that falls faster
        foot = vertical[:, ends].min(axis=1)
        falling = np.median(foot[:_FALLING])
        # the first sample that is slower by a share of the approach
        slower = np.flatnonzero(foot > falling + _SLOWED * abs(falling))
        if not len(slower):
            raise ContactIdError("a foot never touches the ground", "Leave the landing out")
        found.append(int(slower[0]))
    return np.array(found)


def law_errors(biped: Biped, one: Landing, step: float) -> list[dict[str, object]]:
    """Rows ``wait_ms, law, error`` of a landing; ``step`` is the sampling interval, s.

    And ``jump_rad_s, error_rad_s``: root mean squares over the joints; ``touching``: ends of feet
    on the ground.
    """
    touch = touches(one.vertical)
    # v- before either foot, v+ behind both
    start = max(touch.min() - _BEFORE, 1)
    rows: list[dict[str, object]] = []
    for wait in WAITS:
        end = min(touch.max() + round(1e-3 * wait / step), len(one.q) - _SPARE)
        # heights count from the lowest end
        touching = one.height[end] - one.height[end].min() < _ON_GROUND
        # all laws at the posture behind, where the feet are
        stance, before, after = biped.stance(one.q[end]), one.v[start], one.v[end]
        jump = after - before
        for law in LAWS:
            rest = after - biped.after(law, stance, touching, before)
            rows.append(
                {
                    "wait_ms": wait, "law": law, "error": _norm(biped, stance, rest) / _norm(biped, stance, jump),
                    "jump_rad_s": _rms(biped, jump), "error_rad_s": _rms(biped, rest), "touching": int(touching.sum()),
                }
            )  # fmt: skip
    return rows


def _norm(biped: Biped, stance: Stance, v: np.ndarray) -> float:
    # rotors count in the norm of all laws alike
    return float(np.sqrt(v @ biped.with_rotors(stance) @ v))


def _rms(biped: Biped, v: np.ndarray) -> float:
    return float(np.sqrt((v[biped.joint_places[1]] ** 2).mean()))


def write_landings(data: str, urdf: str, table: str) -> None:
    """Rows of :func:`law_errors` for every landing of a canonical dataset, with its number."""
    landings, biped = read_dataset(data), Biped(urdf)
    rows = []
    for number in landings["landing"].values:
        recorded = landings.sel(landing=number)
        step = float(np.median(np.diff(recorded["time"])))
        one = landing(biped, recorded, differentiated(recorded))
        try:
            found = law_errors(biped, one, step)
        except ContactIdError as error:
            raise ContactIdError(f"landing {number}: {error.problem}", error.remedy) from None
        rows += [{"landing": int(number)} | row for row in found]
    write_exact(pd.DataFrame(rows), table)

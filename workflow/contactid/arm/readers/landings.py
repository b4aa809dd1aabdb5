"""Landings of the biped Cassie as DAIRLab published them (cassie_impact_dataset), in one canonical
form.

================= ==================== ======= ========================================================================
variable          dimensions           unit    meaning
================= ==================== ======= ========================================================================
time              landing, sample      s       from the landing's first sample
base_orientation  landing, sample, w   1       quaternion, real part first, of the pelvis in the world
base_position     landing, sample, xyz m       of the pelvis
base_rotation     landing, sample, xyz rad/s   angular velocity of the pelvis in world axes, as estimated on the robot
base_velocity     landing, sample, xyz m/s     of the pelvis in world axes, as estimated on the robot
joint_position    landing, sample      rad     as measured; of the heel springs by the robot's inverse kinematics
                  , joint
joint_rate        landing, sample      rad/s   as recorded, for tests alone: those of the four unactuated joints lag the
                  , joint                      positions by 4.5 to 5 ms, those of the heel springs are zero
================= ==================== ======= ========================================================================

``landing`` has the files' numbers, ``joint`` the joints' names in the publishers' order.
Attributes: ``sample_interval`` (s, the median), ``source``, ``licence``, ``synthetic`` (0),
``left_out`` (JSON: reason by number). Files are ``.npy`` arrays; no pickle is loaded, so the
publishers' legends aren't: their README has the order.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.arm.rigid.biped import JOINTS
from contactid.core.errors import ContactIdError
from contactid.core.reading import content_of
from contactid.sources.card import Panel, Signals, gaps, series, white_noise
from contactid.sources.left_out import joined, log_left_out, nothing_usable

# quaternion and place; columns of positions, and of velocities
_BASE, _POSITIONS, _VELOCITIES = 7, 23, 22
_LARGEST = 1 << 22  # bytes of a file: a landing has 36 kB
_STATE = re.compile(r"x_(\d+)\.npy")
_UNITS = {
    "time": "s", "base_orientation": "1", "base_position": "m", "base_rotation": "rad/s", "base_velocity": "m/s",
    "joint_position": "rad", "joint_rate": "rad/s",
}  # fmt: skip


def read_landings(path: str | Path, *, source: str, licence: str) -> xr.Dataset:
    """All landings below a folder: ``x_<number>.npy`` (n, 45) and ``t_<number>.npy`` (n,) beside
    each.

    Raises
    ------
    ContactIdError
        Where a file is no array of this shape, or there is none.
    """
    files = sorted(file for file in Path(path).rglob("x_*.npy") if _STATE.fullmatch(file.name))
    landings, left_out = {}, {}
    for file in files:
        number = int(file.stem[2:])
        try:
            landings[number] = _landing(file)
        except ContactIdError as error:
            left_out[str(number)] = error.problem
    if not landings:
        if left_out:
            raise nothing_usable(path, "landings", left_out, "Take the published files")
        raise ContactIdError(
            f"{path}: no x_<number>.npy", "Name the folder of the published arrays"
        )
    log_left_out(left_out)
    # all as long as the shortest
    samples = min(len(time) for time, _ in landings.values())
    time = np.array([time[:samples] - time[0] for time, _ in landings.values()])
    state = np.array([state[:samples] for _, state in landings.values()])
    rates = state[..., _POSITIONS:]
    axes = ("landing", "sample")
    data = {
        "time": (axes, time),
        "base_orientation": ((*axes, "wxyz"), state[..., :4]),
        "base_position": ((*axes, "xyz"), state[..., 4:_BASE]),
        "base_rotation": ((*axes, "xyz"), rates[..., :3]),
        "base_velocity": ((*axes, "xyz"), rates[..., 3:6]),
        "joint_position": ((*axes, "joint"), state[..., _BASE:_POSITIONS]),
        "joint_rate": ((*axes, "joint"), rates[..., 6:]),
    }
    found = xr.Dataset(data, {"landing": list(landings), "joint": list(JOINTS)})
    for name, unit in _UNITS.items():
        found[name].attrs["units"] = unit
    step = float(np.median(np.diff(time, axis=1)))
    return found.assign_attrs(
        source=source,
        licence=licence,
        synthetic=0,
        sample_interval=step,
        left_out=json.dumps(left_out),
    )


def _landing(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) and state (n, 45) of a landing."""
    state, time = _array(file), _array(file.with_name(f"t_{file.name[2:]}"))
    problems = []
    if state.ndim != 2 or state.shape[1] != _POSITIONS + _VELOCITIES:
        problems.append(f"its shape is {state.shape}, not (n, {_POSITIONS + _VELOCITIES})")
    elif time.shape != state.shape[:1]:
        problems.append(f"{len(state)} states, times {time.shape}")
    elif not (np.isfinite(state).all() and np.isfinite(time).all()):
        problems.append("values that aren't finite")
    elif not (np.diff(time) > 0.0).all():
        problems.append("its time doesn't increase")
    if problems:
        raise ContactIdError(f"{file.name}: {joined(problems)}", "Leave it out")
    return time, state


def _array(file: Path) -> np.ndarray:
    """An array of numbers; a pickled one is refused."""
    try:
        # no pickle: it could run code
        found = np.load(io.BytesIO(content_of(file, _LARGEST)), allow_pickle=False)
        return np.asarray(found, dtype=float)
    except (ValueError, TypeError, EOFError, OSError) as error:
        raise ContactIdError(
            f"{file.name}: no array of numbers ({error})", "Take the published file"
        ) from None


def landing_signals(landings: xr.Dataset) -> Signals:
    """What a data card says of them."""
    one = landings.isel(landing=0)
    time, step = one["time"].values, float(np.diff(one["time"]).mean())
    name = str(landings["landing"].values[0])
    height = [series(time, one["base_velocity"].values[:, 2], name)]
    joints = [
        series(time, one["joint_position"].values[:, k], joint) for k, joint in enumerate(JOINTS)
    ]
    times = landings["time"].values
    return Signals(
        what="landings of a biped, its pelvis and joints",
        recordings=landings.sizes["landing"],
        samples=landings.sizes["landing"] * landings.sizes["sample"],
        durations=[float(row[-1] - row[0]) for row in times],
        gaps=sum(gaps(row, step) for row in times),
        noise={
            "joint_position_rad": [white_noise(row) for row in landings["joint_position"].values]
        },
        panels=[
            Panel(f"joints, landing {name}", "time (s)", "position (rad)", joints),
            Panel(f"pelvis, landing {name}", "time (s)", "vertical velocity (m/s)", height),
        ],
    )

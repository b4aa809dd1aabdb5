"""From a recording's rows to stretches of signals that can be estimated from, with what was done to
them.

A row without a pose, or with a force that is no number, is lost. A few lost rows are no gap:
differences take the times as they are. A row that repeats the pose before it is lost, too, for a
tracker that held it says nothing; so are one or two rows that jump away from what is around them,
and rows in which a force sensor repeats itself or is at its limit. The others are averaged
(:mod:`contactid.inhand.identify.averaging`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.core.inertia import hull_halfspaces
from contactid.core.rotations import from_matrices, matrices
from contactid.inhand.identify.averaging import FEWEST, STEP, averaged_stretches
from contactid.inhand.own.conventions import in_frame
from contactid.inhand.own.files import (
    Hull,
    Noise,
    OwnTable,
    force_deviations,
    read_hull,
    read_noise,
    read_table,
)
from contactid.inhand.readers.recordings import RecordedSignals
from contactid.sources.conventions import STATED, Convention
from contactid.sources.recorded_table import Source, name_of

_SLOWEST = 0.2  # s between rows; beyond it milliseconds were taken for seconds
_FASTEST, _FARTHEST = 10.0, 100.0  # m/s and m; beyond them millimetres were taken for metres
_NORMS = (0.9, 1.1)  # of quaternions that are normalised
_FEWEST_POSES = 5.0  # new ones a second: fewer are a still object's whose tracker has no noise
# times the distance from the neighbours' middle that nine of ten rows stay below
_JUMP = 4.0
_OFF_BY_NOISE = 3.0  # deviations: that distance where white noise alone moves what is measured
_FEW_JUMPS = 0.05  # share of rows; of more, the noise itself is such
_WIDEST_JUMP = 2  # rows
# rows with one force to its last digit, which noise hardly ever brings
_STUCK = 5
# times as many as 19 of 20 values last for, where a sensor is slower than the rows or rounds
_LASTS = 4.0
_DEAD = 0.9  # share of rows in which a channel that isn't connected reads zero
_MOSTLY_STUCK = 0.3  # share of rows; more of them aren't a lapse of the sensor
_OUTSIDE = 5e-3  # m, or 3 deviations, that contacts may lie outside the hull
_UPRIGHT = 0.5  # cosine between forces and the vertical
# change of the vertical's direction in the body, from which on a sensor's zero is told from the
# weight
_TURNED = 0.1
_SHOWN = 500  # orientations that are compared


@dataclass(frozen=True, eq=False)
class OwnRecording:
    """A recording, ready to be estimated from.

    Attributes
    ----------
    name : of its file
    contacts : names
    stretches : of averaged signals; of still poses one, with their numbers for the time
    still : whether these are poses without a time
    gain_sd : relative standard deviation of the forces' calibration, of each contact and of all in
        common
    unsensed_share : of the load, at most, that bypasses the sensors
    rows, lost : read, and left out
    notes, warnings : sentences for the report
    averaged : rows at a time
    """

    name: str
    contacts: tuple[str, ...]
    stretches: tuple[RecordedSignals, ...]
    still: bool
    gain_sd: float
    unsensed_share: float
    rows: int
    lost: int
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    averaged: int = 1

    @property
    def hull(self) -> np.ndarray:
        """(v, 3) m in B."""
        return self.stretches[0].hull


def read_own_recording(
    recording: Source, hull: Hull, noise: Noise, convention: Convention = STATED
) -> OwnRecording:
    """Read a recording with its hull and its noise (:mod:`contactid.inhand.own.files`) and prepare
    it.

    Raises
    ------
    ContactIdError
        For whatever is wrong with one of the files; it names the file.
    """
    table, corners, stated = read_table(recording, convention), read_hull(hull), read_noise(noise)
    name = name_of(recording)
    try:
        return _prepared(in_frame(table, convention), corners, stated, Path(name).name)
    except ContactIdError as error:
        raise ContactIdError(f"{name}: {error.problem}", error.remedy) from None


def _prepared(
    table: OwnTable, hull: np.ndarray, noise: Mapping[str, float], name: str
) -> OwnRecording:
    # before rows are judged: an open contact has no place to be missed
    table = _with_places(table)
    rows = _usable_rows(table, noise)
    signals = _signals(table, rows.good, hull, noise)
    notes, warnings = list(rows.notes), list(rows.warnings)
    still = table.time is None
    if still:
        stretches, count = [signals], 1
        warnings.append(
            "There is no column time: rows are taken for poses in which the object is held still."
        )
    else:
        stretches, count = averaged_stretches(signals)
    if not stretches:
        step = np.median(np.diff(signals.time))
        raise ContactIdError(
            f"no stretch of {FEWEST * STEP:.2g} s without a gap (median step {step:.3g} s)",
            "Give a longer recording, or one with fewer lost rows",
        )
    if len(stretches) > 1:
        notes.append(f"{len(stretches)} stretches are estimated from jointly.")
    if count > 1:
        notes.append(f"{count} rows at a time are averaged.")
    warnings += _pull(stretches) + _outside(table.contacts, signals)
    return OwnRecording(
        name=name,
        contacts=table.contacts,
        stretches=tuple(stretches),
        still=still,
        gain_sd=noise["force_gain_sd"],
        unsensed_share=noise["unsensed_share"],
        rows=len(rows.good),
        lost=int(np.count_nonzero(~rows.good)),
        notes=tuple(notes),
        warnings=tuple(warnings),
        averaged=count,
    )


class _Rows(NamedTuple):
    """Which rows (n,) of a table can be used, and sentences on the others."""

    good: np.ndarray
    notes: list[str]
    warnings: list[str]


def _usable_rows(table: OwnTable, noise: Mapping[str, float]) -> _Rows:
    notes, warnings = [], []
    complete = _complete(table)
    if not complete.all():
        lacking = np.flatnonzero(~complete)
        notes.append(f"{len(lacking)} rows lack a number, the first is row {lacking[0] + 1}.")
    good = complete
    # still poses may be alike, and jump from one to the next
    if table.time is not None:
        held = _held(table, complete)
        if held.any():
            notes.append(
                f"{np.count_nonzero(held)} rows repeat the pose before them; they aren't used."
            )
        good = complete & ~held
        usable = np.flatnonzero(good)
        stuck = _stuck(table, usable) if len(usable) else {}
        wild = usable[_wild(table, noise, usable)]
        for column, where in stuck.items():
            good[where] = False
            warnings.append(
                f"{column} stays the same in {len(where)} rows, the first is row {where[0] + 1}: they aren't used."
            )
        if len(wild):
            good[wild] = False
            warnings.append(
                f"{len(wild)} rows jump away from the rows before and after them, the first is row {wild[0] + 1}: "
                "they aren't used."
            )
    if not good.any():
        raise ContactIdError(
            f"none of its {len(good)} rows has all numbers", "Correct the recording"
        )
    return _Rows(good, notes, warnings)


def _complete(table: OwnTable) -> np.ndarray:
    """(n,) rows in which nothing is missing."""
    size = np.linalg.norm(table.orientation, axis=1)
    no_rotation = (size < _NORMS[0]) | (size > _NORMS[1])
    # single bad rows are lost; if most are, the columns mean something else
    if np.count_nonzero(no_rotation) > 0.5 * len(size):
        raise ContactIdError(
            f"object_orientation has lengths around {np.nanmedian(size):.3g}",
            "Give unit quaternions, real part first",
        )
    values = [table.position, table.orientation, table.force, table.point]
    values += [one for one in (table.time, table.force_sd, table.torque) if one is not None]
    finite = [np.isfinite(one).reshape(len(size), -1).all(axis=1) for one in values]
    return np.all(finite, axis=0) & ~no_rotation


def _signals(
    table: OwnTable, good: np.ndarray, hull: np.ndarray, noise: Mapping[str, float]
) -> RecordedSignals:
    """Of the good rows (n,), which are numbered where there is no time."""
    if table.force_sd is not None and np.any(table.force_sd[good] < 0.0):
        raise ContactIdError("contact_force_sd is negative", "Give standard deviations in N")
    rows = np.flatnonzero(good)
    time = rows.astype(float)
    if table.time is not None:
        time = table.time[good]
        _check_time(time, rows)
    position, point = table.position[good], table.point[good]
    _check_units(time, position, point, hull)
    return RecordedSignals(
        time=time,
        rotations=matrices(table.orientation[good]),
        positions=position,
        forces=table.force[good],
        force_sd=force_deviations(table, dict(noise))[good],
        points=point,
        torques=None if table.torque is None else table.torque[good],
        gravity=noise["gravity"],
        position_sd=noise["position_sd"],
        orientation_sd=noise["orientation_sd"],
        point_sd=noise["contact_position_sd"],
        torque_sd=noise["contact_torque_sd"],
        hull=hull,
    )


def _with_places(table: OwnTable) -> OwnTable:
    """A table in which a contact without force has its mean place where it has none."""
    # no force and no place: open, and not lost
    broken = np.all((table.force == 0.0) | np.isnan(table.force), axis=2) & np.isnan(
        table.point
    ).any(axis=2)
    with np.errstate(invalid="ignore"):
        seen = np.isfinite(table.point)
        # (c, 3) over the rows that have a place
        mean = np.where(seen, table.point, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return replace(
        table,
        point=np.where(broken[..., None], mean, table.point),
        force=np.where(broken[..., None], 0.0, table.force),
    )


def _held(table: OwnTable, complete: np.ndarray) -> np.ndarray:
    """(n,) rows that repeat the last pose while others move; none of a still object's, whose rows
    all do.
    """
    pose = np.column_stack([table.position, table.orientation])
    # equal to the last digit, as noise hardly ever is
    same = np.concatenate([[False], np.all(pose[1:] == pose[:-1], axis=1)]) & complete
    assert table.time is not None
    new = table.time[~same & complete]
    # if the poses hardly ever change, the object is still and all are kept
    moves = len(new) > 1 and len(new) > _FEWEST_POSES * float(np.ptp(new))
    return same if moves else np.zeros_like(same)


def _wild(table: OwnTable, noise: Mapping[str, float], rows: np.ndarray) -> np.ndarray:
    """(n,) of these rows, one or two in a row that lie far off the middle of their neighbours, which
    lie close together: a tracker's or a sensor's slip.

    A step, as where a contact opens, parts the neighbours: no row of it is wild.
    """
    wild = np.zeros(len(rows), dtype=bool)
    turned = table.orientation[rows]
    # matrices: q and -q are one
    turned = matrices(turned / np.linalg.norm(turned, axis=1, keepdims=True))
    signals = [turned.reshape(-1, 9), table.position[rows]]
    signals += list(np.moveaxis(table.force[rows], 1, 0))
    force_sd = float(np.nanmedian(force_deviations(table, dict(noise))))
    # a matrix moves by the root of two times the angle
    deviations = [np.sqrt(2.0) * noise["orientation_sd"], noise["position_sd"]]
    deviations += [force_sd] * len(table.contacts)
    for values, sd in zip(signals, deviations, strict=True):
        for width in range(1, min(_WIDEST_JUMP, len(rows) - 2) + 1):
            before, after = values[: -width - 1], values[width + 1 :]
            inner = [values[1 + i : len(values) - width + i] for i in range(width)]
            # of two rows the nearer one: both have jumped
            distance = np.min(
                [np.linalg.norm(one - 0.5 * (before + after), axis=1) for one in inner], axis=0
            )
            # of rounded values most distances are 0
            usual = max(float(np.quantile(distance, 0.9)), _OFF_BY_NOISE * sd)
            gap = np.linalg.norm(after - before, axis=1)
            far = np.flatnonzero((distance > _JUMP * usual) & (gap < distance))
            wild[far[:, None] + 1 + np.arange(width)] = True
    return wild if np.count_nonzero(wild) <= _FEW_JUMPS * len(wild) else np.zeros_like(wild)


def _stuck(table: OwnTable, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Of these rows, by the name of a column, those in which a sensor repeats its last force or
    torque, or has a component at its limit.

    Raises
    ------
    ContactIdError
        Where that is more than a lapse, or a single sensor's component is zero throughout.
    """
    stuck: dict[str, np.ndarray] = {}
    if len(table.contacts) == 1:
        _refuse_dead_channel(table, rows)
    torque = table.force[:, :0] if table.torque is None else table.torque
    for kind, signal in (("force", table.force), ("torque", torque)):
        for i, contact in enumerate(table.contacts[: signal.shape[1]]):
            name, values = "_".join(filter(None, [f"contact_{kind}", contact])), signal[rows, i]
            changes = np.any(values[1:] != values[:-1], axis=1)
            whole = _of_many(np.cumsum(np.append(False, changes)))
            each = {name: whole & np.any(values != 0.0, axis=1)}
            for axis, one in zip("xyz", values.T, strict=True):
                # how often a value occurs: noise around a limit parts the rows that are at it
                limit = _of_many(np.unique(one, return_inverse=True)[1]) & ~whole
                each[f"{name}_{axis}"] = (
                    limit & (one != 0.0) & ((one == one.max()) | (one == one.min()))
                )
            stuck |= {column: rows[where] for column, where in each.items() if where.any()}
    for column, where in stuck.items():
        if len(where) > _MOSTLY_STUCK * len(rows):
            raise ContactIdError(
                f"{column} stays the same in {len(where)} of {len(rows)} rows, the first is row {where[0] + 1}",
                "Check that sensor: it repeats itself, or is at its limit",
            )
    return stuck


def _refuse_dead_channel(table: OwnTable, rows: np.ndarray) -> None:
    """A single sensor carries all of the load, so no component of a turned object's is zero; a
    fingertip's may be.
    """
    torque = table.force if table.torque is None else table.torque
    for kind, signal in (("force", table.force), ("torque", torque)):
        zero = np.count_nonzero(signal[rows, 0] == 0.0, axis=0)
        dead = zero > _DEAD * len(rows)
        if dead.any() and not dead.all():
            axis = int(np.argmax(dead))
            column = "_".join(filter(None, [f"contact_{kind}", table.contacts[0], "xyz"[axis]]))
            raise ContactIdError(
                f"{column} is 0 in {zero[axis]} of {len(rows)} rows, while the sensor's others change",
                "Check that channel. Turn it about other axes, too, if a simulated motion is why",
            )


def _of_many(number: np.ndarray) -> np.ndarray:
    """(n,) whether a row's value, by its number, is that of far more rows than values are."""
    rows = np.bincount(number)
    return (rows >= max(_STUCK, _LASTS * float(np.quantile(rows, 0.95))))[number]


def _check_time(time: np.ndarray, rows: np.ndarray) -> None:
    step = np.diff(time)
    if np.any(step <= 0.0):
        place = int(np.argmax(step <= 0.0))
        raise ContactIdError(
            f"time doesn't increase from row {rows[place] + 1} to row {rows[place + 1] + 1}",
            "Correct it, or sort the rows; recordings that follow each other are files of their own",
        )
    if len(step) and np.median(step) > _SLOWEST:
        raise ContactIdError(
            f"time has {np.median(step):g} s between rows",
            "Give it in seconds, 5 rows a second or more",
        )


def _check_units(
    time: np.ndarray, position: np.ndarray, point: np.ndarray, hull: np.ndarray
) -> None:
    speed = np.linalg.norm(np.diff(position, axis=0), axis=1) / np.diff(time)
    # a quantile: single jumps of a tracker are no unit
    fast = float(np.quantile(speed, 0.9)) if len(speed) else 0.0
    far = float(np.abs(position).max())
    if fast > _FASTEST or far > _FARTHEST:
        raise ContactIdError(
            f"object_position reaches {far:.3g} m and {fast:.3g} m/s", "Give it in metres"
        )
    size, middle = float(np.ptp(hull, axis=0).max()), hull.mean(axis=0)
    away = float(np.median(np.linalg.norm(point - middle, axis=2)))
    # five hulls away: another unit or another frame
    if away > 5.0 * size:
        raise ContactIdError(
            f"contacts lie {away:.3g} m from the middle of a hull of {size:.3g} m",
            "Give both in metres in the body frame",
        )


def _pull(stretches: list[RecordedSignals]) -> list[str]:
    """Whether the contacts hold the object up, by how their force follows the vertical in the body.

    A sensor's zero doesn't follow it. Where the object hardly turns, the mean force is asked, and a
    torque sensor's isn't refused, since its zero may be larger than the weight.
    """
    if not stretches[0].gravity:
        return []
    force = np.concatenate([one.wrench[:, :3] for one in stretches])
    # (n, 3) world's z in B: the last row of R
    vertical = np.concatenate([one.rotations[:, 2] for one in stretches])
    if np.linalg.norm(force, axis=1).max() < 1e-9:
        raise ContactIdError(
            "all forces add up to nothing, so nothing holds the object", "Check the force columns"
        )
    # parts that change: a zero in the body has none
    turning = vertical - vertical.mean(axis=0)
    by_mean = _cosine(force.mean(axis=0), vertical.mean(axis=0))
    turned = float(np.sqrt(np.mean(np.sum(turning**2, axis=1)))) > _TURNED
    upright = _cosine(force - force.mean(axis=0), turning) if turned else by_mean
    # a turned force sensor with a large zero isn't refused by its mean
    if upright < -_UPRIGHT and (turned or stretches[0].torques is None):
        raise ContactIdError(
            "the forces pull the object down"
            + (", a constant force in the body apart" if turned else " on average"),
            "Give the forces that act on the object and not on the sensor, and a world frame with z upwards",
        )
    if max(upright, by_mean) < _UPRIGHT:
        return [
            "The forces don't point upwards, as gravity asks: check the world frame, the quaternions (body to world, "
            "real part first) and that forces are in the body frame."
        ]
    return []


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(
        np.vdot(one, other) / max(np.linalg.norm(one) * np.linalg.norm(other), np.finfo(float).tiny)
    )


def _outside(contacts: tuple[str, ...], signals: RecordedSignals) -> list[str]:
    # a wrist's sensor is beside the object
    if signals.torques is not None and len(contacts) == 1:
        return []
    normals, offsets = hull_halfspaces(signals.hull)
    allowed, outside = max(3.0 * signals.point_sd, _OUTSIDE), []
    for i, contact in enumerate(contacts):
        touching = np.any(signals.forces[:, i] != 0.0, axis=1)
        if touching.any():
            # beyond the nearest face, of the median place
            place = np.median(signals.points[touching, i], axis=0)
            out = float(np.max(normals @ place - offsets))
            if out > allowed:
                outside.append(f"{contact or 'the only one'} by {1e3 * out:.0f} mm")
    if not outside:
        return []
    return [
        f"Contacts lie outside the hull ({', '.join(outside)}): check the hull's frame and its units."
    ]


def turning(recording: OwnRecording) -> float:
    """Largest angle (rad) between two orientations of a recording."""
    rotations = from_matrices(np.concatenate([one.rotations for one in recording.stretches]))
    # each against each: few enough to compare
    rotations = rotations[:: -(-len(rotations) // _SHOWN)]
    # angle between quaternions is 2 arccos |q . p|
    return float(2.0 * np.arccos(np.clip(np.abs(rotations @ rotations.T), 0.0, 1.0)).max())

"""What else may be wrong with a recording that no rigid body explains: faults that leave a mark in
time, or in a column.

Those in time add unknowns to the linear fit of :mod:`contactid.inhand.own.splined_rows`. One that
takes away most of the squared residuals is named in the refusal; nothing is answered by it. Else
a sensor is named that reads nothing, or poses that are slower than the forces.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.spatial.transform import Rotation

from contactid.core.rotations import as_rotation
from contactid.inhand.identify.wrench import PARAMETERS, WRENCH
from contactid.inhand.own.files import OwnTable
from contactid.inhand.own.splined_rows import SplinedRows, least_squares, splined
from contactid.sources.conventions import Convention
from contactid.sources.frames import quaternion_matrix

# of the squared residuals: what is left of them where a fault is named
_MOST_LEFT = 0.2
# powers of time that a warming sensor's zero follows well enough to be named
_DRIFT_POWERS = 4
# s, of first-order filters: a slower one passes no motion of a hand, a faster one is a lag that the
# estimate takes out
_FILTER_LAGS = (0.05, 0.1, 0.2, 0.4)
# of three angles that became quaternions
Order = Literal["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]
_ORDERS: tuple[Order, ...] = get_args(Order)
# enough for rows that are closer than a filter's lag
_MOST_ROWS = 1500
# share of rows that repeat a pose: the tracker is slower than the sensor
_MOSTLY_HELD = 0.3
# times the usual step from row to row: a seam between two recordings
_SEAM = 20.0


class _Fault(NamedTuple):
    """The squared residuals that it leaves, what it is, and what to do."""

    squares: float
    sentence: str
    remedy: str


def cause_of_misfit(
    table: OwnTable, hull: np.ndarray, noise: dict[str, float], convention: Convention
) -> tuple[str, str]:
    """A fault of the recording that would explain most of its misfit, and its remedy; or two
    empty texts.
    """
    whole = None if table.time is None else splined(table, hull, noise, _MOST_ROWS)
    if whole is None:
        return _silent(table)
    plain = _squares([whole], convention, own_zeros=False)
    faults = [
        _joined(table, hull, noise, convention, plain),
        _drifting(whole, convention),
        _filtered(whole, convention),
        *(_other_angles(table, hull, noise, convention, order) for order in _ORDERS),
    ]
    likeliest = min(faults, key=lambda fault: fault.squares)
    if likeliest.squares > _MOST_LEFT * plain:
        return _silent(table)
    return likeliest.sentence, likeliest.remedy


def _silent(table: OwnTable) -> tuple[str, str]:
    """A force sensor's component without a reading, or poses that hardly change from row to row;
    and the remedy.
    """
    still = np.all((table.force == 0.0) | np.isnan(table.force), axis=0)
    for contact, axes in zip(table.contacts, still, strict=True):
        if axes.any():
            which = "" if axes.all() else f" along {' and '.join(np.array(list('xyz'))[axes])}"
            return (
                f"{contact or 'the contact'} feels no force{which} in any row",
                "Check its sensor",
            )
    pose = np.column_stack([table.position, table.orientation])
    held = float(np.mean(np.all(pose[1:] == pose[:-1], axis=1)))
    if held > _MOSTLY_HELD:
        return (
            f"{100.0 * held:.0f} % of its rows repeat the pose before them, so poses may be late",
            "Give a row per pose, with the force at its time",
        )
    return "", ""


def _joined(
    table: OwnTable, hull: np.ndarray, noise: dict[str, float], convention: Convention, plain: float
) -> _Fault:
    """Two recordings in one table, with a zero of the sensor or a grip of their own each."""
    seam, rows = _seam(table), np.arange(len(table.position))
    halves = (rows < seam, rows >= seam) if seam else ()
    splines = [splined(_rows(table, half), hull, noise, _MOST_ROWS) for half in halves]
    both = [one for one in splines if one is not None]
    if len(both) < 2:
        return _Fault(np.inf, "", "")
    squares = _squares(both, convention, own_zeros=True)
    # a mere pause is no fault: splines of each part have to need two zeros, or a jump of the pose
    # that one spline can't follow
    needs_two = squares < _MOST_LEFT * _squares(both, convention, own_zeros=False)
    jumps = squares < _MOST_LEFT * plain
    return _Fault(
        squares if needs_two or jumps else np.inf,
        f"from row {seam + 1} on it looks like another recording, with a zero or a grip of its own",
        "Give the two as two files",
    )


def _rows(table: OwnTable, rows: np.ndarray) -> OwnTable:
    """A table's rows (n,) alone."""
    signals = {one.name: getattr(table, one.name) for one in fields(table)}
    arrays = {name: value[rows] for name, value in signals.items() if isinstance(value, np.ndarray)}
    return replace(table, **arrays)


def _seam(table: OwnTable) -> int:
    """The first row after the largest jump in time or in the pose, or 0 where there is none."""
    assert table.time is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        position = np.linalg.norm(np.diff(table.position, axis=0), axis=1)
        unit = table.orientation / np.linalg.norm(table.orientation, axis=1, keepdims=True)
        # q and -q are one
        turned = np.arccos(np.clip(np.abs(np.sum(unit[1:] * unit[:-1], axis=1)), 0.0, 1.0))
        steps = np.array([np.diff(table.time), position, turned])
        usual = np.nanquantile(steps, 0.9, axis=1)
        jumps = np.nan_to_num(steps / usual[:, None], posinf=0.0).max(axis=0)
    row = int(np.argmax(jumps))
    return row + 1 if jumps[row] > _SEAM else 0


def _squares(parts: list[SplinedRows], convention: Convention, own_zeros: bool) -> float:
    """Squared residuals of one body and a constant wrench, of all parts or of each."""
    equations = [part.equations(convention, convention) for part in parts]
    zeros = len(parts) if own_zeros else 1
    columns = []
    for number, (slope, _) in enumerate(equations):
        wrenches = np.zeros((len(slope), WRENCH, zeros * WRENCH))
        place = WRENCH * min(number, zeros - 1)
        wrenches[:, :, place : place + WRENCH] = np.eye(WRENCH)
        columns.append(np.concatenate([slope, wrenches], axis=2))
    numbers, squares = least_squares(
        np.concatenate([part.root for part in parts]),
        np.concatenate(columns),
        np.concatenate([wrench for _, wrench in equations]),
    )
    # a negative mass explains nothing
    return squares if numbers[0] > 0.0 else np.inf


def _drifting(part: SplinedRows, convention: Convention) -> _Fault:
    """A constant wrench that becomes a polynomial in time."""
    slope, wrench = part.equations(convention, convention)
    share = (part.time - part.time[0]) / np.ptp(part.time)
    powers = share[:, None] ** np.arange(_DRIFT_POWERS)
    wrenches = np.einsum("mk,ij->mikj", powers, np.eye(WRENCH)).reshape(len(share), WRENCH, -1)
    numbers, squares = least_squares(part.root, np.concatenate([slope, wrenches], axis=2), wrench)
    drift = powers @ numbers[PARAMETERS:].reshape(_DRIFT_POWERS, WRENCH)
    size = float(np.linalg.norm(np.ptp(drift[:, :3], axis=0)))
    return _Fault(
        squares if numbers[0] > 0.0 else np.inf,
        f"a sensor's zero that drifts by about {size:.2g} N would explain most of it",
        "Let the sensor warm up, or give shorter recordings as files of their own",
    )


def _filtered(part: SplinedRows, convention: Convention) -> _Fault:
    """Forces behind a low-pass filter, which poses aren't: the equations pass it, too."""
    slope, wrench = part.equations(convention, convention)
    constant = np.broadcast_to(np.eye(WRENCH), (len(wrench), WRENCH, WRENCH))
    columns = np.concatenate([slope, constant], axis=2)
    tried = []
    for lag in _FILTER_LAGS:
        numbers, squares = least_squares(part.root, _low_passed(columns, part.time, lag), wrench)
        tried.append((squares if numbers[0] > 0.0 else np.inf, lag))
    squares, lag = min(tried)
    return _Fault(
        squares,
        f"forces that a filter delays by about {1e3 * lag:.0f} ms would explain most of it",
        "Record them without a filter, or pass the poses through the same one",
    )


def _other_angles(
    table: OwnTable, hull: np.ndarray, noise: dict[str, float], convention: Convention, order: Order
) -> _Fault:
    """Euler angles about the body's axes that were taken for angles about the world's."""
    good = np.isfinite(table.orientation).all(axis=1) & table.orientation.any(axis=1)
    # as the convention means them, and back as they would have been written
    meant = quaternion_matrix(convention.frame)
    rotations = as_rotation(table.orientation[good] @ meant.T)
    other = Rotation.from_euler(order.lower(), rotations.as_euler(order, suppress_warnings=True))
    orientation = np.full_like(table.orientation, np.nan)
    orientation[good] = other.as_quat(scalar_first=True) @ np.linalg.inv(meant).T
    whole = splined(replace(table, orientation=orientation), hull, noise, _MOST_ROWS)
    return _Fault(
        np.inf if whole is None else _squares([whole], convention, own_zeros=False),
        f"orientations by Euler angles of the other kind ({order}, about the body's axes instead of "
        "the world's) would explain most of it",
        "Make the quaternions from the angles anew",
    )


def _low_passed(values: np.ndarray, time: np.ndarray, lag: float) -> np.ndarray:
    """Values (m, ...) at times (m,) behind a first-order filter, from its steady state."""
    passed = values.copy()
    shares = 1.0 - np.exp(-np.diff(time) / lag)
    for row, share in enumerate(shares, start=1):
        passed[row] = passed[row - 1] + share * (values[row] - passed[row - 1])
    return passed

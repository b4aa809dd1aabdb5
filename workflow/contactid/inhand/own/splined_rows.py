"""Newton and Euler's equations along a recording as written, from splines through its poses.

They are linear in the ten inertial parameters and a constant wrench
(:mod:`contactid.inhand.identify.wrench`), so what a convention or a fault of a sensor explains is
told by one small least-squares problem each, before anything is fitted whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import UnivariateSpline

from contactid.core.rotations import as_rotation, continuous
from contactid.inhand.identify.kinematics import BodyMotion, quaternion_rate
from contactid.inhand.identify.smoothing import WIDER
from contactid.inhand.identify.wrench import WRENCH, regressor, wrench_covariance
from contactid.inhand.own.files import OwnTable, force_deviations
from contactid.inhand.readers.recordings import RecordedSignals
from contactid.sources.conventions import AXES, FORCE, Convention
from contactid.sources.frames import columns_matrix, position_matrix, quaternion_matrix

_STEP = 0.02  # s over which rows are averaged: a hand's motion lasts longer
MOST_ROWS = 300  # that are fitted: more cost time and rank alike
_FLOOR = 1e-12 * np.eye(WRENCH)  # N2 and N2 m2, where contacts measure no torque


def to_object(frame: Mapping[str, str], rotations: np.ndarray) -> np.ndarray:
    """(n, 3, 3): forces as written to those on the object in B, at poses of rotations (n, 3, 3)."""
    # forces on the finger are the opposite of those on the object
    sign = -1.0 if frame.get(FORCE) == "on-finger" else 1.0
    if frame.get(AXES) != "world":
        return np.broadcast_to(sign * np.eye(3), rotations.shape)
    to_body = np.swapaxes(rotations, 1, 2)
    return sign * to_body @ position_matrix(frame)


def turned(rotations: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, c, 3) of c contacts, by (n, 3, 3)."""
    return vectors @ np.swapaxes(rotations, 1, 2)


@dataclass(frozen=True, eq=False)
class SplinedRows:
    """Poses as written with their derivatives in time, m rows, and what the contacts exert.

    Attributes
    ----------
    time : (m,) s
    quaternion, rate, change : (m, 4), first and second derivatives
    acceleration : (m, 3) m/s2 in the frame as written
    force, point : (m, c, 3) N and m, as written
    torque : (m, c, 3) N m, as written; None where it isn't measured
    root : the Cholesky factors (m, 6, 6) of the wrench's covariance
    gravity : m/s2
    """

    time: np.ndarray
    quaternion: np.ndarray
    rate: np.ndarray
    change: np.ndarray
    acceleration: np.ndarray
    force: np.ndarray
    point: np.ndarray
    torque: np.ndarray | None
    root: np.ndarray
    gravity: float

    def equations(
        self, convention: Convention, stated: Convention
    ) -> tuple[np.ndarray, np.ndarray]:
        """Columns (m, 6, 10) of the inertial parameters about B's origin, and the sensed wrenches
        (m, 6) in B, under a convention; positions are written by the stated one's columns.
        """
        turn, frame = quaternion_matrix(convention.frame), position_matrix(convention.frame)
        size = np.linalg.norm(self.quaternion, axis=1, keepdims=True)
        # derivatives divided by the same length: the part along q drops out of the rate
        quaternion, first, second = (
            one / size @ turn.T for one in (self.quaternion, self.rate, self.change)
        )
        acceleration = self.acceleration @ (frame @ columns_matrix(convention, stated)).T
        # acceleration less gravity, z upwards
        upwards = acceleration + np.array([0.0, 0.0, self.gravity])
        rotations = as_rotation(quaternion)
        motion = BodyMotion.alone(
            quaternion_rate(quaternion, first),
            quaternion_rate(quaternion, second),
            rotations.inv().apply(upwards),
        )
        return regressor(motion), self._wrench(to_object(convention.frame, rotations.as_matrix()))

    def _wrench(self, turn: np.ndarray) -> np.ndarray:
        """(m, 6) on the object in B, N and N m; ``turn`` takes forces as written to B."""
        force = turned(turn, self.force)
        torque = np.cross(self.point, force).sum(axis=1)
        if self.torque is not None:
            torque += turned(turn, self.torque).sum(axis=1)
        return np.concatenate([force.sum(axis=1), torque], axis=1)


def least_squares(
    root: np.ndarray, columns: np.ndarray, wrench: np.ndarray
) -> tuple[np.ndarray, float]:
    """The numbers (d,) that columns (m, 6, d) are multiplied by, and the squared residuals of the
    wrenches (m, 6) in units of their noise, whose Cholesky factors are ``root`` (m, 6, 6).
    """
    slope = np.linalg.solve(root, columns).reshape(-1, columns.shape[2])
    value = np.linalg.solve(root, wrench[..., None]).ravel()
    numbers, *_ = np.linalg.lstsq(slope, value, rcond=None)
    return numbers, float(np.sum((value - slope @ numbers) ** 2))


def splined(
    table: OwnTable, hull: np.ndarray, noise: Mapping[str, float], most_rows: int = MOST_ROWS
) -> SplinedRows | None:
    """None where too few rows have all numbers, or time doesn't increase."""
    time = np.arange(float(len(table.position))) if table.time is None else table.time
    sd = force_deviations(table, dict(noise))
    values = [time, table.position, table.orientation, table.force, table.point, sd]
    values += [] if table.torque is None else [table.torque]
    good = np.all([np.isfinite(one).reshape(len(time), -1).all(axis=1) for one in values], axis=0)
    # a quaternion of zeros is no orientation
    good &= table.orientation.any(axis=1)
    if good.sum() < 3 * WRENCH or (np.diff(time[good]) <= 0.0).any():
        return None
    still = table.time is None
    count = 1 if still else max(1, round(_STEP / float(np.median(np.diff(time[good])))))
    averaged = [
        _averaged(one[good], count)
        # quaternions first: their signs must agree before they are averaged
        for one in (_continuous_rows(values[2], good), *values[:2], *values[3:])
    ]
    quaternion, time, position, force, point, sd = averaged[:6]
    # 6 equations a row for 16 unknowns, with room to spare
    if len(time) < 3 * WRENCH:
        return None
    quaternion = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    signals = RecordedSignals(
        time=time, rotations=as_rotation(quaternion).as_matrix(), positions=position, forces=force,
        force_sd=sd / np.sqrt(count), points=point, torques=averaged[6] if len(averaged) > 6 else None,
        gravity=noise["gravity"], position_sd=noise["position_sd"] / np.sqrt(count),
        orientation_sd=noise["orientation_sd"] / np.sqrt(count), point_sd=noise["contact_position_sd"],
        torque_sd=noise["contact_torque_sd"], hull=hull,
    )  # fmt: skip
    rows = np.unique(np.linspace(0, len(time) - 1, min(len(time), most_rows)).astype(int))
    none = np.zeros((len(rows), 4))
    rate, change, acceleration = none, none, none[:, :3]
    if not still:
        _, _, second = _with_derivatives(time, position, WIDER * signals.position_sd)
        quaternion, first, change = _with_derivatives(
            time, quaternion, 0.5 * WIDER * signals.orientation_sd
        )
        rate, change, acceleration = first[rows], change[rows], second[rows]
    root = np.linalg.cholesky(wrench_covariance(signals)[rows] + _FLOOR)
    return SplinedRows(
        time[rows], quaternion[rows], rate, change, acceleration, force[rows], point[rows],
        None if signals.torques is None else signals.torques[rows], root, signals.gravity,
    )  # fmt: skip


def _with_derivatives(time: np.ndarray, values: np.ndarray, sd: float) -> list[np.ndarray]:
    """Smoothing splines through values (m, d) with a deviation, and their first two derivatives."""
    # a spline's misfit is one deviation a value
    weights = np.full(len(time), 1.0 / sd)
    # under a wrong unit no spline may be near enough: that convention then explains nothing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        splines = [
            UnivariateSpline(time, column, w=weights, k=5, s=len(time)) for column in values.T
        ]
    return [
        np.column_stack([spline.derivative(order)(time) for spline in splines])
        for order in range(3)
    ]


def _continuous_rows(quaternion: np.ndarray, good: np.ndarray) -> np.ndarray:
    """(n, 4) with signs that don't flip from one good row to the next."""
    found = quaternion.copy()
    found[good] = continuous(quaternion[good])
    return found


def _averaged(values: np.ndarray, count: int) -> np.ndarray:
    """Means of ``count`` rows at a time."""
    n = len(values) // count * count
    return values[:n].reshape(-1, count, *values.shape[1:]).mean(axis=1)

"""Which conventions explain a recording of an object in hand, by one linear fit each.

Newton and Euler's equations are linear in the ten inertial parameters and a constant wrench
(:mod:`contactid.inhand.identify.wrench`). Splines through the poses are made once, as written: a
frame only permutes and turns their columns. So each convention costs a small least-squares problem,
and the whole fit is made of the best few alone. A common factor of all forces is another mass at
every motion: their unit is told by the density.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.interpolate import UnivariateSpline
from scipy.spatial import ConvexHull

from contactid.core.errors import ContactIdError
from contactid.core.rotations import as_rotation, continuous
from contactid.inhand.identify.kinematics import BodyMotion, quaternion_rate
from contactid.inhand.identify.smoothing import WIDER
from contactid.inhand.identify.wrench import WRENCH, regressor, wrench_covariance
from contactid.inhand.own.files import OwnTable, force_deviations
from contactid.inhand.readers.recordings import RecordedSignals
from contactid.sources.columns import UNITS, fitting_unit
from contactid.sources.conventions import FORCE, Convention
from contactid.sources.frames import (
    changes,
    columns_matrix,
    frames_in_space,
    other_positions,
    position_matrix,
    quaternion_matrix,
)

_SLOWEST, _FASTEST = 0.2, 1e-4  # s between rows
_STEP = 0.02  # s over which rows are averaged: a hand's motion lasts longer
_MOST_ROWS = 300  # that are fitted: more cost time and rank alike
_QUICK = 1.0  # m/s: a hand is slower, mostly
_FAR, _NEAR = 5.0, 1.5  # hull's lengths from its middle: contacts in another unit, and in their own
# of the stated convention's squares: a cheap fit that is no better than that isn't tried whole
_CLEARLY = 0.6
_ALIKE = 1.3  # times the least squares: a cheap fit doesn't rank these
_FLOOR = 1e-12 * np.eye(WRENCH)  # N2 and N2 m2, where contacts measure no torque
_DENSEST = (
    1.2e4  # kg/m3, lead's; over it forces have another unit, if that gives a density between these:
)
_USUAL = (100.0, 9000.0)
_LIGHTEST = 20.0  # a usual body by kgf; below it the hull is a wide one


def in_frame(table: OwnTable, convention: Convention) -> OwnTable:
    """A table with the poses and forces that a convention means."""
    # forces on the finger are the opposite of those on the object
    sign = -1.0 if convention.frame.get(FORCE) == "on-finger" else 1.0
    return replace(
        table,
        position=table.position @ position_matrix(convention.frame).T,
        orientation=table.orientation @ quaternion_matrix(convention.frame).T,
        force=sign * table.force,
        torque=None if table.torque is None else sign * table.torque,
    )


class _Trial(NamedTuple):
    """A convention, its squared residuals (infinite where mass is negative), and how many things it
    changes.
    """

    convention: Convention
    squares: float
    changes: int


def likelier(
    table: OwnTable, hull: np.ndarray, noise: Mapping[str, float], stated: Convention
) -> Iterator[Convention]:
    """Conventions that explain a table, as read by the stated one's columns and units, better;
    likeliest first.
    """
    trials, limit = [], np.inf
    for units in _units_by_size(table, hull, stated):
        splines = _splined(_in_units(table, units, stated), hull, noise)
        if splines is None:
            continue
        # the stated convention's own squares set what is clearly better
        if units == stated:
            limit = _CLEARLY * _trial(splines, stated, stated, turned=False).squares
        of_frames = [
            _trial(splines, units.with_frame(**frame), stated)
            for frame in frames_in_space(stated.frame)
        ]
        # positions in other axes are tried with the stated frame and with the best one
        first = min(of_frames, key=lambda one: (one.squares, one.changes)).convention
        positions = (
            ()
            if table.time is None
            else (*other_positions(units, stated), *other_positions(first, stated))
        )
        trials += [*of_frames, *(_trial(splines, other, stated) for other in positions)]
    trials = [one for one in trials if one.squares < limit]
    least = min((one.squares for one in trials), default=0.0)
    alike = [one for one in trials if one.squares <= _ALIKE * least]
    # alike in squares: those that change least come first, each once
    ranked = sorted(alike, key=lambda trial: (trial.changes, trial.squares))
    named = {one.convention.options(): one.convention for one in ranked}
    yield from named.values()


def _in_units(table: OwnTable, units: Convention, stated: Convention) -> OwnTable:
    """A table in other units than those that it was read by."""
    return replace(
        table,
        time=None if table.time is None else table.time * _ratio(units, stated, "time"),
        position=table.position * _ratio(units, stated, "position_x"),
        point=table.point * _ratio(units, stated, "contact_position"),
    )


def doubt_unit_of_forces(mass: float, hull: np.ndarray, stated: Convention) -> list[str]:
    """A warning of a body denser than copper or as light as foam, where forces in another unit make
    it a usual one.

    Hollow bodies and wide hulls are as light, too, so that alone refuses none.

    Raises
    ------
    ContactIdError
        Where it is denser than lead.
    """
    # over the hull, so the object's own is at least that
    density = mass / float(ConvexHull(hull).volume)
    light = _LIGHTEST <= density < _USUAL[0]
    if not (light or density > _USUAL[1]) or stated.states("N"):
        return []
    # as if the numbers had been in this unit
    units = ("lbf", "kgf") if light else ("gf", "mN")
    other = {unit: density * UNITS["N"][unit.lower()] for unit in units}
    usual = {unit: value for unit, value in other.items() if _USUAL[0] <= value <= _USUAL[1]}
    if not usual:
        return []
    told = " or ".join(f"{unit} ({value:.3g} kg/m3)" for unit, value in usual.items())
    found = f"{mass:.3g} kg in this hull are {density:.3g} kg/m3"
    option = " or ".join(f"--units {unit}" for unit in usual)
    if density <= _DENSEST:
        doubt = "as light as foam" if light else "denser than copper"
        return [f"{found}, {doubt}: are the forces in {told}? Then give {option}."]
    raise ContactIdError(f"{found}, denser than lead: the forces are in {told}", f"Give {option}")


def _ratio(units: Convention, stated: Convention, quantity: str) -> float:
    return units.unit(quantity) / stated.unit(quantity)


def _units_by_size(table: OwnTable, hull: np.ndarray, stated: Convention) -> list[Convention]:
    """The stated units, with others of time and contact points where theirs have a size that can't
    be; and others of the positions where these are quick."""
    found = dict(stated.units)
    # a step that can't be seconds between rows
    step = np.nanmedian(np.diff(table.time)) if table.time is not None else 0.0
    if step > _SLOWEST:
        found["time"] = fitting_unit("s", step / stated.unit("time"), _FASTEST, _SLOWEST)
    size = float(np.ptp(hull, axis=0).max())
    away = float(np.nanmedian(np.linalg.norm(table.point - hull.mean(axis=0), axis=2)))
    if away > _FAR * size:
        found["contact_position"] = fitting_unit(
            "m", away / stated.unit("contact_position"), 0.0, _NEAR * size
        )
    found = {quantity: unit for quantity, unit in found.items() if unit}
    units = replace(stated, units=found)
    time = _in_units(table, units, stated).time
    if time is None:
        return [units]
    steps = np.diff(time)
    speed = float(
        np.nanquantile(np.linalg.norm(np.diff(table.position, axis=0), axis=1) / steps, 0.9)
    )
    others = ("mm", "cm") if speed > _QUICK else ()
    return [units, *(replace(units, units={**found, "position": name}) for name in others)]


@dataclass(frozen=True, eq=False)
class _Splines:
    """Poses as written with their derivatives in time, m rows, and what the contacts exert.

    Attributes
    ----------
    quaternion, rate, change : (m, 4), first and second derivatives
    acceleration : (m, 3) m/s2 in the frame as written
    wrench, root : (m, 6) N and N m, and the Cholesky factors (m, 6, 6) of its covariance
    gravity : m/s2
    """

    quaternion: np.ndarray
    rate: np.ndarray
    change: np.ndarray
    acceleration: np.ndarray
    wrench: np.ndarray
    root: np.ndarray
    gravity: float


def _splined(table: OwnTable, hull: np.ndarray, noise: Mapping[str, float]) -> _Splines | None:
    """None where too few rows have all numbers, or time doesn't increase."""
    time = np.arange(float(len(table.position))) if table.time is None else table.time
    sd = force_deviations(table, dict(noise))
    values = [time, table.position, table.orientation, table.force, table.point, sd]
    values += [] if table.torque is None else [table.torque]
    good = np.all([np.isfinite(one).reshape(len(time), -1).all(axis=1) for one in values], axis=0)
    # a quaternion of zeros is no orientation
    good &= table.orientation.any(axis=1)
    # 6 equations a row for 16 unknowns, with room to spare
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
    quaternion = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    signals = RecordedSignals(
        time=time, rotations=as_rotation(quaternion).as_matrix(), positions=position, forces=force,
        force_sd=sd / np.sqrt(count), points=point, torques=averaged[6] if len(averaged) > 6 else None,
        gravity=noise["gravity"], position_sd=noise["position_sd"] / np.sqrt(count),
        orientation_sd=noise["orientation_sd"] / np.sqrt(count), point_sd=noise["contact_position_sd"],
        torque_sd=noise["contact_torque_sd"], hull=hull,
    )  # fmt: skip
    rows = np.unique(np.linspace(0, len(time) - 1, min(len(time), _MOST_ROWS)).astype(int))
    none = np.zeros((len(rows), 4))
    rate, change, acceleration = none, none, none[:, :3]
    if not still:
        _, _, second = _with_derivatives(time, position, WIDER * signals.position_sd)
        quaternion, first, change = _with_derivatives(
            time, quaternion, 0.5 * WIDER * signals.orientation_sd
        )
        rate, change, acceleration = first[rows], change[rows], second[rows]
    root = np.linalg.cholesky(wrench_covariance(signals)[rows] + _FLOOR)
    return _Splines(
        quaternion[rows], rate, change, acceleration, signals.wrench[rows], root, signals.gravity
    )


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


def _trial(
    splines: _Splines, convention: Convention, stated: Convention, turned: bool = True
) -> _Trial:
    """Least squares by mass, first moment, tensor and a constant wrench.

    A negative mass says that forces have the other sign; with ``turned`` it becomes a part of the
    convention.
    """
    turn, frame = quaternion_matrix(convention.frame), position_matrix(convention.frame)
    size = np.linalg.norm(splines.quaternion, axis=1, keepdims=True)
    # derivatives divided by the same length: the part along q drops out of the rate
    quaternion, first, second = (
        one / size @ turn.T for one in (splines.quaternion, splines.rate, splines.change)
    )
    acceleration = splines.acceleration @ (frame @ columns_matrix(convention, stated)).T
    # acceleration less gravity, z upwards
    upwards = acceleration + np.array([0.0, 0.0, splines.gravity])
    force = as_rotation(quaternion).inv().apply(upwards)
    motion = BodyMotion.alone(
        quaternion_rate(quaternion, first), quaternion_rate(quaternion, second), force
    )
    # the sign is free here: the wrench is only a nuisance
    constant = np.broadcast_to(np.eye(WRENCH), (len(quaternion), WRENCH, WRENCH))
    columns = np.concatenate([regressor(motion), constant], axis=2)
    slope = np.linalg.solve(splines.root, columns).reshape(-1, columns.shape[2])
    value = np.linalg.solve(splines.root, splines.wrench[..., None]).ravel()
    numbers, *_ = np.linalg.lstsq(slope, value, rcond=None)
    squares = float(np.sum((value - slope @ numbers) ** 2))
    pulls = numbers[0] < 0.0  # in the table's sign of forces, which is the stated one's
    frame_parts = dict(convention.frame)
    if pulls and turned:
        frame_parts[FORCE] = "on-object" if stated.frame.get(FORCE) == "on-finger" else "on-finger"
        convention, pulls = replace(convention, frame=frame_parts), False
    # how many things a user would have to change
    number = changes(frame_parts, stated.frame)
    number += sum(stated.columns.get(name) != column for name, column in convention.columns.items())
    number += sum(stated.units.get(name) != unit for name, unit in convention.units.items())
    # a negative mass explains nothing
    return _Trial(convention, np.inf if pulls else squares, number)

"""Which conventions explain a recording of an object in hand, by one linear fit each.

Newton and Euler's equations are linear in the ten inertial parameters and a constant wrench
(:mod:`contactid.inhand.identify.wrench`). Splines through the poses are made once, as written: a
frame only permutes and turns their columns. So each convention costs a small least-squares problem,
and the whole fit is made of the best few alone. A common factor of all forces is another mass at
every motion: their unit is told by the density.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from contactid.core.errors import ContactIdError
from contactid.core.rotations import matrices
from contactid.inhand.identify.wrench import WRENCH
from contactid.inhand.own.files import OwnTable
from contactid.inhand.own.splined_rows import (
    SplinedRows,
    least_squares,
    splined,
    to_object,
    turned,
)
from contactid.sources.columns import UNITS, fitting_unit
from contactid.sources.conventions import AXES, FORCE, FRAMES, Convention
from contactid.sources.frames import (
    changes,
    frames_in_space,
    other_positions,
    position_matrix,
    quaternion_matrix,
)

_SLOWEST, _FASTEST = 0.2, 1e-4  # s between rows
_QUICK = 1.0  # m/s: a hand is slower, mostly
_FAR, _NEAR = 5.0, 1.5  # hull's lengths from its middle: contacts in another unit, and in their own
# of the stated convention's squares: a cheap fit that is no better than that isn't tried whole
_CLEARLY = 0.6
_ALIKE = 1.3  # times the least squares: a cheap fit doesn't rank these
# densities over the hull, kg/m3. Lead's: over it forces have another unit, if that gives a usual one
_LEAD = 1.2e4
_USUAL = (100.0, 9000.0)
# of a usual body by kgf; below it the hull is a wide one
_LIGHTEST = 20.0


def in_frame(table: OwnTable, convention: Convention) -> OwnTable:
    """A table with the poses and forces that a convention means."""
    frame = convention.frame
    orientation = table.orientation @ quaternion_matrix(frame).T
    # a lost orientation, or one of zeros, loses the forces that it would turn
    whole = np.linalg.norm(orientation, axis=1) > 0.0
    rotations = np.full((len(orientation), 3, 3), np.nan)
    rotations[whole] = matrices(orientation[whole])
    turn = to_object(frame, rotations)
    deviation = table.force_sd
    if deviation is not None:
        # variances of turned components add up by the squares
        deviation = np.sqrt(turned(turn**2, deviation**2))
    return replace(
        table,
        position=table.position @ position_matrix(frame).T,
        orientation=orientation,
        force=turned(turn, table.force),
        torque=None if table.torque is None else turned(turn, table.torque),
        force_sd=deviation,
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
        splines = splined(_in_units(table, units, stated), hull, noise)
        if splines is None:
            continue
        # the stated convention's own squares set what is clearly better; beside stated units that
        # can't be, anything is
        if units == stated:
            limit = _CLEARLY * _trial(splines, stated, stated, any_sign=False).squares
        of_frames = [
            _trial(splines, units.with_frame(**frame), stated) for frame in _frames(stated.frame)
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


def _frames(stated: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Frames of the poses, and each with the forces along other axes than stated."""
    own = stated.get(AXES, FRAMES[AXES][0])
    [other] = (axes for axes in FRAMES[AXES] if axes != own)
    for frame in frames_in_space(stated):
        yield frame
        yield {**frame, AXES: other}


def _in_units(table: OwnTable, units: Convention, stated: Convention) -> OwnTable:
    """A table in other units than those that it was read by."""
    return replace(
        table,
        time=None if table.time is None else table.time * _ratio(units, stated, "time"),
        position=table.position * _ratio(units, stated, "position_x"),
        point=table.point * _ratio(units, stated, "contact_position"),
        torque=None
        if table.torque is None
        else table.torque * _ratio(units, stated, "contact_torque"),
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
    if density <= _LEAD:
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
    if table.torque is not None:
        # torques about the contacts, over forces: a lever of no more than the hull and its distance
        torque, force = (
            float(np.nanmedian(np.linalg.norm(one, axis=2))) for one in (table.torque, table.force)
        )
        longest = max(size, away)
        if torque > _FAR * longest * force:
            found["contact_torque"] = fitting_unit(
                "N m", torque / stated.unit("contact_torque"), 0.0, _NEAR * longest * force
            )
    found = {quantity: unit for quantity, unit in found.items() if unit}
    units = replace(stated, units=found)
    time = _in_units(table, units, stated).time
    if time is None:
        return [units]
    speeds = np.linalg.norm(np.diff(table.position, axis=0), axis=1) / np.diff(time)
    speeds = speeds[np.isfinite(speeds)]
    speed = float(np.quantile(speeds, 0.9)) if len(speeds) else 0.0
    others = ("mm", "cm") if speed > _QUICK else ()
    return [units, *(replace(units, units={**found, "position": name}) for name in others)]


def _trial(
    splines: SplinedRows, convention: Convention, stated: Convention, any_sign: bool = True
) -> _Trial:
    """Least squares by mass, first moment, tensor and a constant wrench.

    A negative mass says that forces have the other sign; with ``any_sign`` it becomes a part of the
    convention.
    """
    columns, wrench = splines.equations(convention, stated)
    constant = np.broadcast_to(np.eye(WRENCH), (len(wrench), WRENCH, WRENCH))
    numbers, squares = least_squares(
        splines.root, np.concatenate([columns, constant], axis=2), wrench
    )
    pulls = numbers[0] < 0.0
    frame = dict(convention.frame)
    if pulls and any_sign:
        opposite = frame.get(FORCE) == "on-finger"
        frame[FORCE] = "on-object" if opposite else "on-finger"
        convention, pulls = replace(convention, frame=frame), False
    # how many things a user would have to change
    number = changes(frame, stated.frame)
    number += sum(stated.columns.get(name) != column for name, column in convention.columns.items())
    number += sum(stated.units.get(name) != unit for name, unit in convention.units.items())
    # a negative mass explains nothing
    return _Trial(convention, np.inf if pulls else squares, number)

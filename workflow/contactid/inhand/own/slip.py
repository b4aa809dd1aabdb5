"""Friction of a surface, and how the surface warps, from a user's own trials in which a fingertip
slips.

Rows of a trial that lack a number are left out, and rows faster than 100 a second are averaged,
since the slip detector counts samples of about that rate.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.inhand.friction.line import SurfaceFriction, surface_friction
from contactid.inhand.friction.slip import UNSEEN, SlipEstimate, estimate_friction, unit_normal
from contactid.inhand.own.draw import draw_slip
from contactid.inhand.own.files import FORM, contacts_of
from contactid.output.result import NORMAL_95, Result, parameter_row, parameter_table
from contactid.sources.conventions import REFUTED, STATED, Convention
from contactid.sources.recorded_table import (
    SUFFIXES,
    RecordedTable,
    Source,
    name_of,
    several,
    table_parts,
)

TRIAL = "trial"
_STEP = 0.01  # s; faster rows are averaged over it
_FAST = 0.75  # of it, between rows that are
_ROUNDING = 1e-6  # of it, that times are rounded by
_SLOWEST = 0.0505  # s between rows: 20 a second, with times that are rounded
_FARTHEST = 0.5  # m that a contact point goes; beyond it millimetres were taken for metres
_PRESSING = 0.5  # least share of rows with a force into the object
# of the normal about its mean in one trial; beyond it the surface isn't flat there
_ROLLS = np.cos(np.deg2rad(10.0))
_DIRECTIONS, _ZEROS = (0.01, 20.0), (0.0, 10.0)  # degrees and N that may be stated
_LAST = 6  # samples before a slip, in which the force hardly changes
_ZERO = 0.1  # N, of a zero whose effect is told
_WIDE = 0.1  # relative standard error from which on a warning tells of it
_MOST_NAMES = 5  # trials that a warning names


def slip(
    trials: Source | Sequence[str | Path],
    *,
    direction: float | str = 1.0,
    zero: float | str = 0.0,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Result:
    """Friction of a fingertip with a surface that may warp, from trials in which it slips.

    In a trial the finger holds a tangential force while its normal force falls until it slips.
    Trials with two or more tangential forces tell friction from warp.

    Parameters
    ----------
    trials
        A row per instant, 20 a second or more: ``time`` (s); ``contact_force_x``, ``_y``, ``_z``
        (N, of the finger on the object, the sensor's zero taken off: nothing in a trial shows it),
        ``contact_position_x`` and so on (m) and ``surface_normal_x`` and so on (of the undeformed
        surface, into the object), all in the object's frame. A folder with a file per trial,
        files, or a DataFrame or Dataset whose ``trial`` names the trial that a row belongs to.
    direction
        Standard deviation of the force's direction by the sensor's calibration, degrees; one error
        a trial.
    zero
        Standard deviation of what remains of the sensor's zero, N a component; one for all trials.
    columns, units
        What is otherwise than stated above (:class:`contactid.sources.conventions.Convention`).

    Returns
    -------
    Result
        ``params``: ``friction_mu``, ``warp`` (degrees/N), and ``friction_bound``, which mu exceeds
        with 99 %. Of trials at one load ``apparent_mu`` and ``apparent_bound``, with the surface's
        warp in them; where none slipped, that bound alone. ``residuals``: ``angle`` (trial,), at
        slip off the line, degrees. Table ``trials``: what each trial shows alone by eq. 5 with the
        undeformed normal.

    Raises
    ------
    ContactIdError
        For whatever is wrong with a file, ``direction`` or ``zero``.
    """
    convention = Convention(columns or {}, units or {})
    return result_of(estimate_slip(trials, direction, convention, zero))


@dataclass(frozen=True, eq=False)
class OwnTrial:
    """A trial of n samples, ready to be estimated from: ``time`` (n,) s, ``force`` and ``point``
    (n, 3), ``normal``.
    """

    name: str
    time: np.ndarray
    force: np.ndarray
    point: np.ndarray
    normal: np.ndarray


@dataclass(frozen=True, eq=False)
class OwnFriction:
    """Estimated friction.

    Attributes
    ----------
    trials, estimates : each trial and what it shows alone
    surface : what they show together; None where none slipped
    direction_sd : rad, as stated
    seconds : that it took
    """

    trials: tuple[OwnTrial, ...]
    estimates: tuple[SlipEstimate, ...]
    surface: SurfaceFriction | None
    direction_sd: float
    seconds: float

    @property
    def held(self) -> float:
        """Largest lower bound of a trial alone, of what eq. 5 shows; 0 where no trial pressed for
        long enough.
        """
        bounds = [one.lower_bound for one in self.estimates if np.isfinite(one.lower_bound)]
        return max(bounds, default=0.0)

    @property
    def slipped(self) -> list[SlipEstimate]:
        """Of the trials that slipped."""
        return [one for one in self.estimates if one.slipped]


def estimate_slip(
    trials: Source | Sequence[str | Path],
    direction: str | float,
    convention: Convention = STATED,
    zero: str | float = 0.0,
) -> OwnFriction:
    """Read trials and estimate, as :func:`slip`."""
    begin, zero_sd = time.perf_counter(), _stated(zero, "a zero's", "N", _ZEROS)
    sd = float(np.deg2rad(_stated(direction, "a direction's", "degrees", _DIRECTIONS)))
    read, estimates = read_trials(trials, convention), []
    for trial in read:
        try:
            estimates.append(estimate_friction(trial.force, trial.point, trial.normal, sd))
        # the trial's name in front, as several are read at once
        except ContactIdError as error:
            raise ContactIdError(f"{trial.name}: {error.problem}", error.remedy) from None
    slipped = [one for one in estimates if one.slipped]
    friction, errors, load = (
        np.array([getattr(one, name) for one in slipped])
        for name in ("friction", "standard_error", "normal_force")
    )
    pairs = zip(read, estimates, strict=True)
    by_zero = np.array([_by_zero(trial, one) for trial, one in pairs if one.slipped])
    surface = surface_friction(friction, errors, load, sd, by_zero, zero_sd) if slipped else None
    return OwnFriction(tuple(read), tuple(estimates), surface, sd, time.perf_counter() - begin)


def _by_zero(trial: OwnTrial, found: SlipEstimate) -> np.ndarray:
    """(3,) rad/N, change of the angle between force and normal at slip by a force that is added."""
    force = trial.force[max(found.onset - _LAST, 0) : found.onset].mean(axis=0)
    pressing = force @ trial.normal
    along = force - pressing * trial.normal
    across = pressing * along / np.linalg.norm(along) - np.linalg.norm(along) * trial.normal
    return np.asarray(across / (force @ force))


def _stated(given: str | float, whose: str, unit: str, within: tuple[float, float]) -> float:
    """A deviation that is stated."""
    try:
        value = float(given)
    except ValueError:
        value = np.nan
    if not within[0] <= value <= within[1]:
        raise ContactIdError(
            f"{whose} deviation of {given} {unit}", f"Give one of {within[0]:g} to {within[1]:g}"
        )
    return value


# Reading


def read_trials(
    trials: Source | Sequence[str | Path], convention: Convention = STATED
) -> list[OwnTrial]:
    """The trials of a folder by name, of files, or of a table; a folder's other files are passed
    over.

    Raises
    ------
    ContactIdError
        Where there is none, and for the first that can't be used.
    """
    return [_read_trial(name, source, convention) for name, source in _sources(trials)]


def _sources(trials: Source | Sequence[str | Path]) -> Iterator[tuple[str, Source]]:
    """Names of trials, and what holds each."""
    if isinstance(trials, pd.DataFrame | xr.Dataset):
        yield from table_parts(trials, TRIAL)
        return
    for path in map(Path, several(trials)):
        files = [path]
        if path.is_dir():
            files = sorted(one for one in path.iterdir() if one.suffix.lower() in SUFFIXES)
            if not files:
                raise ContactIdError(
                    f"{path}: no trial (.csv) is in it", "Name a folder with a file per trial"
                )
        yield from ((file.name, file) for file in files)


def _read_trial(name: str, source: Source, convention: Convention) -> OwnTrial:
    table = RecordedTable.read(source, convention)
    contacts = contacts_of(table) or ("",)
    if len(contacts) > 1:
        raise ContactIdError(
            f"{name_of(source)}: forces of {', '.join(contacts)}", "Give one finger's alone"
        )
    of_contact = [f"contact_{kind}_{contacts[0]}".rstrip("_") for kind in ("force", "position")]
    wanted = [
        "time",
        *(f"{kind}_{axis}" for kind in (*of_contact, "surface_normal") for axis in "xyz"),
    ]
    table.refuse_without(wanted, FORM)
    rows = table.values(wanted)
    rows = rows[np.isfinite(rows).all(axis=1)]
    try:
        return _averaged(name, *np.split(rows, [1, 4, 7], axis=1))
    except ContactIdError as error:
        raise ContactIdError(f"{name_of(source)}: {error.problem}", error.remedy) from None


def _averaged(
    name: str, clock: np.ndarray, force: np.ndarray, point: np.ndarray, normals: np.ndarray
) -> OwnTrial:
    """A trial from its rows, checked, at 100 samples a second at most."""
    clock, step = clock[:, 0], np.diff(clock[:, 0])
    if not len(step):
        raise ContactIdError(f"{len(clock)} rows with all numbers", "Correct the recording")
    if np.any(step <= 0.0):
        raise ContactIdError(
            f"time doesn't increase after {clock[np.argmax(step <= 0.0)]:g} s", "Sort or correct it"
        )
    if np.median(step) > _SLOWEST:
        raise ContactIdError(
            f"time has {np.median(step):g} s between rows", "Give it in s, 20 rows a second or more"
        )
    if np.ptp(point, axis=0).max() > _FARTHEST:
        raise ContactIdError(
            f"contact_position goes {np.ptp(point, axis=0).max():.3g} m far", "Give it in metres"
        )
    directions = unit_normal(normals)
    # one normal a trial: the mean direction
    normal = unit_normal(directions.mean(axis=0))
    if (directions @ normal).min() < _ROLLS:
        raise ContactIdError(
            "surface_normal turns by more than 10 degrees", "Slide on a flat part of the surface"
        )
    pressing = float(np.mean(force @ normal > 0.0))
    if pressing < _PRESSING:
        raise ContactIdError(
            f"the finger presses into the object in {100.0 * pressing:.0f} % of the rows only",
            "Give the finger's force on the object, and a normal into it",
        )
    # slower rows are taken as they are
    fast = np.median(step) < _FAST * _STEP
    # rounded up a little: a time on an edge isn't put a bin too early
    bins = np.floor((clock - clock[0]) / _STEP + _ROUNDING) if fast else np.arange(len(clock))
    # first row of each bin; empty bins have none
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    counts = np.diff(np.append(starts, len(bins)))[:, None]
    clock, force, point = (
        np.add.reduceat(one, starts, axis=0) / counts for one in (clock[:, None], force, point)
    )
    return OwnTrial(name, clock[:, 0], force, point, normal)


# What it says


def result_of(found: OwnFriction) -> Result:
    """Estimated friction as a :class:`Result`."""
    params, covariance = _params(found)
    table = trial_table(found)
    return Result(
        title=f"Friction of a surface, from {len(found.trials)} trials",
        params=params,
        covariance=covariance,
        residuals=_residuals(found),
        reasons=_reasons(found.surface),
        warnings=tuple(_warnings(found)),
        notes=(
            "The angle at slip is atan(mu) + warp N, N the normal force: a line over the trials, whose directions are "
            f"stated to {np.degrees(found.direction_sd):.2g} degrees.",
        ),
        record=_record(found),
        tables={"trials": table},
        figures={"Angle at slip": partial(draw_slip, table, found.surface)},
        headline=_headline(found),
        limits=_limits(found.surface),
        shown=("trials",),
        remedy="State the error of the force's direction (--direction), or slide at one place",
    )


def _params(found: OwnFriction) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``Result.params`` and ``Result.covariance``."""
    surface = found.surface
    if surface is None:
        return parameter_table([_bound("apparent_bound", found.held)]), pd.DataFrame()
    name = "friction" if surface.line else "apparent"
    # an interval of the angle, whose ends' tangents are those of mu
    reach = NORMAL_95 * np.sqrt(surface.covariance[0, 0])
    low, high = np.tan(surface.angle[0] + np.array([-reach, reach]))
    mu, error = surface.friction, surface.standard_error
    rows = [parameter_row(f"{name}_mu", mu, error, "1", ends=(low, high))]
    # d tan(a) / da = 1 + tan^2 a
    slopes = [1.0 + mu**2]  # of mu by the angle
    if surface.line:
        warp, error = np.degrees([surface.warp, surface.warp_error])
        rows.append(parameter_row("warp", warp, error, "degrees/N"))
        slopes.append(np.degrees(1.0))
    count = len(rows)
    matrix = np.outer(slopes, slopes) * surface.covariance[:count, :count]
    named = [row["parameter"] for row in rows]
    params = parameter_table([*rows, _bound(f"{name}_bound", surface.lower_bound)])
    return params, pd.DataFrame(matrix, index=named, columns=named)


def _bound(name: str, value: float) -> dict[str, Any]:
    return parameter_row(name, value, np.nan, "1", ends=(value, np.inf))


def _residuals(found: OwnFriction) -> xr.Dataset:
    """Angles at slip off the line, degrees."""
    slipped, surface = found.slipped, found.surface
    load = np.array([one.normal_force for one in slipped])
    friction = np.array([one.friction for one in slipped])
    line = 0.0 if surface is None else surface.angle[0] + surface.angle[1] * load
    names = [t.name for t, one in zip(found.trials, found.estimates, strict=True) if one.slipped]
    noise = {"units": "degrees", "noise": float(np.degrees(found.direction_sd))}
    return xr.Dataset(
        {"angle": (TRIAL, np.degrees(np.arctan(friction) - line), noise)},
        coords={TRIAL: names, "normal_force": (TRIAL, load, {"units": "N"})},
    )


def _reasons(surface: SurfaceFriction | None) -> tuple[str, ...]:
    if surface is None or surface.scatter**2 < REFUTED:
        return ()
    return (
        f"angles scatter {surface.scatter:.2g} times as much about the line as stated: no one friction and warp",
    )


def _limits(surface: SurfaceFriction | None) -> tuple[str, ...]:
    limits = ["An error of direction that all trials share isn't counted."]
    if surface is not None:
        limits.append(
            f"No trial shows the sensor's zero: {_ZERO:g} N that isn't taken off moves mu by up to "
            f"{_ZERO * surface.by_zero:.2g}. State what may remain of it (--zero)."
        )
    return tuple(limits)


def _headline(found: OwnFriction) -> tuple[str, ...]:
    counted = f"{len(found.slipped)} of {len(found.trials)} trials slipped"
    surface = found.surface
    if surface is None:
        return (f"{counted}; mu, with the surface's warp, is at least {found.held:.3f}",)
    load = [one.normal_force for one in found.slipped]
    loads = f"{min(load):.3g} to {max(load):.3g} N"
    friction = (
        f"{surface.friction:.3f} +- {surface.standard_error:.2g} (standard error), at least"
        f" {surface.lower_bound:.3f} (99 %)"
    )
    alone = np.median([one.friction for one in found.slipped])
    naive = f"naive: eq. 5 with the undeformed normal, median = {alone:.3f}"
    if not surface.line:
        return (
            f"{counted}, at a normal force of {loads}",
            f"mu with the surface's warp = {friction}",
            naive,
        )
    warp, error = np.degrees([surface.warp, surface.warp_error])
    return (
        f"{counted}, at normal forces of {loads}",
        f"mu = {friction}",
        f"warp = {warp:.2f} +- {error:.2g} degrees/N",
        naive,
    )


def _warnings(found: OwnFriction) -> Iterator[str]:
    surface = found.surface
    if surface is None:
        yield "No trial slipped: there is a lower bound alone. Let the normal force fall further."
    elif surface.unlikely:
        yield (
            f"Angles scatter {surface.scatter:.2g} times as much about the line as stated: friction that follows "
            "no line, trials at different places, or a worse direction. Errors are by the scatter."
        )
    if surface is not None and not surface.line:
        yield (
            "All slips are at about one normal force, so friction can't be told from the surface's warp. Repeat "
            "with another tangential force, twice as large or half."
        )
    if surface is not None and surface.line:
        if surface.warp < -2.0 * surface.warp_error:
            yield "The angle falls with the load, as no warp does: friction itself depends on it."
        if surface.standard_error > _WIDE * surface.friction:
            yield (
                f"mu is known to {100.0 * surface.standard_error / surface.friction:.0f} % only: more trials, and "
                "loads further apart, tell more."
            )
    pairs = zip(found.trials, found.estimates, strict=True)
    unseen = [trial.name for trial, one in pairs if UNSEEN in one.message]
    if unseen:
        names = ", ".join(unseen[:_MOST_NAMES]) + ", ..." * (len(unseen) > _MOST_NAMES)
        yield (
            f"Both forces fell together in {len(unseen)} trials without a slip that is seen ({names}): {UNSEEN}. "
            "Only bounds are taken of them; trials.csv has how short a slide would be seen."
        )


def trial_table(found: OwnFriction) -> pd.DataFrame:
    """A row per trial: what eq. 5 shows in it alone, with the undeformed normal.

    The bound is a ratio of tangential to normal force that held, less two deviations of the force's
    direction. Both have the surface's warp in them.
    """
    both = list(zip(found.trials, found.estimates, strict=True))
    return pd.DataFrame(
        {
            "trial": [trial.name for trial, _ in both],
            "slipped": [one.slipped for _, one in both],
            "slip_time": [trial.time[one.onset] if one.slipped else np.nan for trial, one in both],
            "normal_force": [one.normal_force for _, one in both],
            "apparent_friction": [one.friction for _, one in both],
            "standard_error": [one.standard_error for _, one in both],
            "apparent_lower_bound": [one.lower_bound for _, one in both],
            "seen": [one.message for _, one in both],
        }
    )


def _record(found: OwnFriction) -> dict[str, Any]:
    """What ``parameters.json`` holds; what isn't known is null."""
    surface, slipped = found.surface, [one.friction for one in found.slipped]
    line = surface if surface is not None and surface.line else None
    shown = surface.lower_bound if surface else found.held
    return {
        "parameters": {
            "friction_mu": line and line.friction,
            "warp_deg_per_n": line and float(np.degrees(line.warp)),
        },
        "standard_errors": {
            "friction_mu": line and line.standard_error,
            "warp_deg_per_n": line and float(np.degrees(line.warp_error)),
        },
        "lower_bound": line and line.lower_bound,
        "apparent_friction": float(np.median(slipped)) if slipped else None,
        "apparent_lower_bound": None if line else shown,
        "objective": None,
        "status": "line" if line else "one load" if surface else "no slip",
        "converged": line is not None,
        "residuals": {"scatter_over_stated": surface and surface.scatter},
        "iterations": 1,
        "seconds": found.seconds,
        "seed": None,
        "data": {
            "trials": [trial.name for trial in found.trials],
            "slipped": len(slipped),
            "direction_sd_deg": float(np.degrees(found.direction_sd)),
        },
        "model": "atan of eq. 5 at slip = atan(mu) + warp N",
        "reformulation": "none",
        "units": {
            "normal_force": "N",
            "slip_time": "s",
            "friction_mu": "1",
            "warp_deg_per_n": "degrees/N",
        },
        "warnings": list(_warnings(found)),
    }

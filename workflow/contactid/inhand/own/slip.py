"""Friction of a surface, and how the surface warps, from a user's own trials in which a fingertip
slips.
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
from contactid.core.threads import one_blas_thread
from contactid.inhand.friction.line import SurfaceFriction, surface_friction
from contactid.inhand.friction.slip import UNSEEN, SlipEstimate, estimate_friction
from contactid.inhand.own.draw import draw_slip
from contactid.inhand.own.slip_trials import TRIAL, OwnTrial, read_trials
from contactid.output.result import NORMAL_95, Result, parameter_row, parameter_table
from contactid.sources.conventions import STATED, Convention
from contactid.sources.explaining import REFUTED
from contactid.sources.recorded_table import Source

_DIRECTIONS, _ZEROS = (0.01, 20.0), (0.0, 10.0)  # degrees and N that may be stated
_LAST = 6  # samples before a slip, in which the force hardly changes
_ZERO = 0.1  # N, of a zero whose effect is told
_WIDE = 0.1  # relative standard error from which on a warning tells of it
_MOST_NAMES = 5  # trials that a warning names
# of the angle at the smallest load, that is laid to the surface's warp: with 4 degrees/N it is a third
_MOSTLY_WARP = 0.5
_OTHER_LOAD = 1.2  # times the load before it
_SHARED = 2.0  # degrees, of an error of direction that all trials share, whose effect is told


@one_blas_thread
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
        warp in them; the same, at the largest load, where friction falls with it; where none
        slipped, that bound alone. ``residuals``: ``angle`` (trial,), at slip off the line, degrees.
        Table ``trials``: what each trial shows alone by eq. 5 with the undeformed normal.

    Raises
    ------
    ContactIdError
        For whatever is wrong with a file, ``direction`` or ``zero``.
    """
    convention = Convention(columns or {}, units or {})
    return result_of(estimate_slip(trials, direction, convention, zero))


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
        limits=_limits(found),
        shown=("trials",),
        remedy="State the error of the force's direction (--direction), or slide at one place",
    )


def _params(found: OwnFriction) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``Result.params`` and ``Result.covariance``."""
    surface = found.surface
    if surface is None:
        return parameter_table([_bound("apparent_bound", found.held)]), pd.DataFrame()
    name = "friction" if surface.line and not surface.by_load else "apparent"
    # an interval of the angle, whose ends' tangents are those of mu
    reach = NORMAL_95 * surface.angle_error
    low, high = np.tan(np.arctan(surface.friction) + np.array([-reach, reach]))
    mu, error = surface.friction, surface.standard_error
    rows = [parameter_row(f"{name}_mu", mu, error, "1", ends=(low, high))]
    matrix = np.array([[error**2]])
    if name == "friction":
        warp, warp_error = np.degrees([surface.warp, surface.warp_error])
        rows.append(parameter_row("warp", warp, warp_error, "degrees/N"))
        # d tan(a) / da = 1 + tan^2 a
        slopes = [1.0 + mu**2, np.degrees(1.0)]  # of mu and of the warp by the line's numbers
        matrix = np.outer(slopes, slopes) * surface.covariance
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


def _limits(found: OwnFriction) -> tuple[str, ...]:
    surface = found.surface
    if surface is None:
        return ("An error of direction that all trials share isn't counted.",)
    # d tan(a) = (1 + tan^2 a) da
    by_shared = (1.0 + surface.friction**2) * np.deg2rad(_SHARED)
    limits = [
        "An error of direction that all trials share, as of the surface's normal, isn't counted: "
        f"{_SHARED:g} degrees move mu by {by_shared:.2g}."
    ]
    load = np.sort([one.normal_force for one in found.slipped])
    if surface.line and np.count_nonzero(load[1:] > _OTHER_LOAD * load[:-1]) == 1:
        limits.append("Through two loads any line goes: a third shows whether it is one.")
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
    if surface.by_load:
        least = np.tan(surface.angle @ [1.0, min(load)])
        return (
            f"{counted}, at normal forces of {loads}",
            f"mu at {max(load):.3g} N = {friction}, falling from {least:.3f} at {min(load):.3g} N",
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
        load = [one.normal_force for one in found.slipped]
        alone = [one.friction for one in found.slipped]
        if surface.by_load:
            yield (
                "The angle falls with the load, as no warp does: friction itself depends on it, and is stated at the "
                "largest load."
            )
        elif surface.warp * min(load) > _MOSTLY_WARP * np.arctan(min(alone)):
            yield (
                f"Trials alone show {min(alone):.3g} to {max(alone):.3g}. Most of the angle at every load is laid to "
                "the surface's warp, but friction that grows with the load looks the same: add smaller loads."
            )
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


def _status(surface: SurfaceFriction | None) -> str:
    if surface is None:
        return "no slip"
    if surface.by_load:
        return "friction by load"
    return "line" if surface.line else "one load"


def _record(found: OwnFriction) -> dict[str, Any]:
    """What ``parameters.json`` holds; what isn't known is null."""
    surface, slipped = found.surface, [one.friction for one in found.slipped]
    line = surface if surface is not None and surface.line and not surface.by_load else None
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
        "status": _status(surface),
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
